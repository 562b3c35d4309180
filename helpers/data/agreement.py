"""Subject-verb agreement with distracting nouns in between (lecture 1)."""

from __future__ import annotations

from collections.abc import Sequence

import torch
from torch import Tensor

from helpers.tokens import IGNORE_INDEX, PAD, Batch, Vocabulary
from helpers.validation import require

NOUNS = (
    ("letter", "letters"),
    ("drawer", "drawers"),
    ("lamp", "lamps"),
    ("book", "books"),
    ("parcel", "parcels"),
    ("door", "doors"),
    ("window", "windows"),
    ("lid", "lids"),
    ("clock", "clocks"),
    ("jar", "jars"),
    ("basket", "baskets"),
    ("trunk", "trunks"),
    ("box", "boxes"),
)
"""Pairs (singular, plural). Any of them may be the subject, and any an attractor."""


VERBS = tuple(
    (verb + "s", verb)
    for verb in ("hum", "creak", "rattle", "shine", "fall", "open", "lean", "tremble", "move")
)
"""Pairs (singular, plural) of the verbs in relative clauses."""


PREPOSITIONS = ("in", "under", "behind", "beside", "above", "near", "on")


OUTCOMES = ("unopened", "untouched", "unnoticed", "forgotten")


ANSWERS = ("lies", "lie")
"""What fills the gap: singular, plural."""


GAP = "___"


AGREEMENT_VOCABULARY = Vocabulary(
    ["the", "that", ".", GAP, *ANSWERS]
    + [word for pair in NOUNS + VERBS for word in pair]
    + [*PREPOSITIONS, *OUTCOMES]
)


def agreement_batch(
    batch: int,
    attractors: int | tuple[int, int],
    generator: torch.Generator,
    *,
    opposing: bool = False,
    every_word: bool = False,
) -> Batch:
    """Sentences with a gap for a verb, which must agree with the first noun.

    "The letters in the drawer under the lamp that hums ___ unopened." A subject, then phrases
    with one further noun each, the attractors: a preposition, "the" and a noun, in half of the
    phrases followed by "that" and a verb, which agrees with the noun beside it. The target at the
    gap is the id of "lies" or "lie", so a model needs `len(AGREEMENT_VOCABULARY)` outputs.
    Pad tokens stand on the right.

    With `opposing=False`, as for training, all nouns and their numbers are sampled independently
    and uniformly. Wherever there is an attractor, its number, its opposite, the form of the last
    verb and the majority of the attractors are therefore right in half of the sentences: none of
    them is a shortcut. With `opposing=True` every attractor has the other number than the
    subject, so that a model which follows the nearest attractor is always wrong. ("The opposite of
    the nearest attractor" would always be right, but nothing in training teaches it.)

    Args:
        batch: number of sentences.
        attractors: their number, or the smallest and the largest number, all equally likely.
        generator: random generator.
        opposing: see above.
        every_word: whether each word has the next one as its target, as in language modelling, and
            the gap the verb. If not, all targets but that at the gap are `IGNORE_INDEX`.

    Raises:
        ValueError: if `batch` is less than 1, or `attractors` is negative or an empty range.
    """
    low, high = (attractors, attractors) if isinstance(attractors, int) else attractors
    require(batch >= 1, "batch", batch, "at least 1")
    require(0 <= low <= high, "attractors", attractors, "0 <= least <= greatest")

    def draw(n: int, *shape: int) -> Tensor:
        return torch.randint(n, (batch, *shape), generator=generator)

    subject = draw(2)  # (batch,): 0 singular, 1 plural
    numbers = draw(2, high)  # (batch, high)
    if opposing:
        numbers = (1 - subject)[:, None].expand(-1, high)
    the, that, stop, gap = (
        torch.full((batch, 1), AGREEMENT_VOCABULARY.ids[word]) for word in ("the", "that", ".", GAP)
    )
    phrases = torch.stack(
        [
            _ids(PREPOSITIONS)[draw(len(PREPOSITIONS), high)],
            the.expand(-1, high),
            _ids(NOUNS)[draw(len(NOUNS), high), numbers],
            that.expand(-1, high),
            _ids(VERBS)[draw(len(VERBS), high), numbers],
        ],
        dim=-1,
    )  # (batch, high, 5)
    noun = _ids(NOUNS)[draw(len(NOUNS)), subject][:, None]  # (batch, 1)
    outcome = _ids(OUTCOMES)[draw(len(OUTCOMES), 1)]  # (batch, 1)
    words = torch.cat([the, noun, phrases.flatten(1), gap, outcome, stop], dim=1)

    present = torch.arange(high) < low + draw(high - low + 1, 1)  # (batch, high)
    clause = draw(2, high).bool()  # (batch, high)
    keep = torch.stack([present] * 3 + [present & clause] * 2, dim=-1)  # (batch, high, 5)
    keep = torch.nn.functional.pad(keep.flatten(1), (2, 3), value=True)  # as wide as `words`
    order = torch.argsort((~keep).int(), dim=1, stable=True)  # kept words first, in their order
    longest = int(keep.sum(dim=1).max())
    tokens = words.masked_fill(~keep, PAD).gather(1, order)[:, :longest]  # (batch, T)
    targets = torch.full_like(tokens, IGNORE_INDEX)
    if every_word:
        targets[:, :-1] = tokens[:, 1:]
        targets[targets == PAD] = IGNORE_INDEX
    return tokens, torch.where(tokens == gap, _ids(ANSWERS)[subject][:, None], targets)


def _ids(words: Sequence[str] | Sequence[tuple[str, str]]) -> Tensor:
    """The ids of words (n,), or of pairs of words (n, 2)."""
    rows = [[word] if isinstance(word, str) else word for word in words]
    return torch.tensor([[AGREEMENT_VOCABULARY.ids[w] for w in row] for row in rows]).squeeze(1)
