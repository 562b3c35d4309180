"""Generated tasks: agreement, recalling one token or many, two relations, stories.

Every `…_batch` function draws from the generator that it is given and returns tokens (batch, T)
and targets (batch, T). A target is `IGNORE` wherever nothing is asked, so that
`training.train` and `training.accuracy` take the batches as they are. (The task that asks two
questions at once has targets (batch, 2 · T), as its model has logits.)
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Generator, Iterable, Sequence
from contextlib import suppress
from importlib import resources
from typing import TYPE_CHECKING

import torch
from torch import Tensor

from helpers.checks import require, require_dims
from helpers.training import IGNORE, Batch

if TYPE_CHECKING:
    from jaxtyping import Int

PAD = 0
"""The id of the filler that brings the sentences of a batch to one length."""


class Vocabulary:
    """Words and their ids. Id 0 is the filler `<pad>`, the words follow in the order given.

    Raises:
        ValueError: if a word occurs twice.
    """

    def __init__(self, words: Iterable[str]) -> None:
        self.words = ("<pad>", *words)
        self.ids = {word: i for i, word in enumerate(self.words)}
        twice = sorted({word for word in self.words if self.words.count(word) > 1})
        require(not twice, "words", f"{twice} more than once", "different words")

    def __len__(self) -> int:
        return len(self.words)

    def encode(self, text: str) -> Int[Tensor, " T"]:
        """The ids of the words and punctuation marks of `text`, without regard to case.

        Raises:
            ValueError: if a word is not in the vocabulary.
        """
        found = re.findall(r"\w+|[^\w\s]", text.lower())
        unknown = [word for word in found if word not in self.ids]
        require(not unknown, "text", f"the unknown words {unknown}", "words of the vocabulary")
        return torch.tensor([self.ids[word] for word in found], dtype=torch.long)

    def decode(self, ids: Int[Tensor, " T"] | Sequence[int]) -> str:
        """The words of one sentence as text, without filler.

        Raises:
            ValueError: if an id lies outside the vocabulary.
        """
        numbers = [int(i) for i in ids]
        self.require_known(numbers)
        text = " ".join(self.words[i] for i in numbers if i != PAD)
        text = re.sub(r" (?=[^\w\s])", "", text)
        return text[:1].upper() + text[1:]

    def require_known(self, ids: Sequence[int]) -> None:
        """Refuse ids outside the vocabulary.

        Raises:
            ValueError: if there are any.
        """
        outside = [i for i in ids if not 0 <= i < len(self)]
        require(not outside, "ids", outside, f"numbers from 0 to {len(self) - 1}")


# --------------------------------------------------------------------------- agreement

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
    Filler stands on the right.

    With `opposing=False`, as for training, all nouns and their numbers are drawn independently
    and uniformly. Wherever there is an attractor, its number, its opposite, the form of the last
    verb and the majority of the attractors are therefore right in half of the sentences: none of
    them is a shortcut. With `opposing=True` every attractor has the other number than the
    subject, so that whoever goes by the nearest attractor is always wrong. ("The opposite of the
    nearest attractor" would be always right, but in training nothing would teach it.)

    Args:
        batch: number of sentences.
        attractors: how many, or the least and the greatest number, each equally likely.
        generator: where all choices come from.
        opposing: see above.
        every_word: ask for the next word wherever there is one, as a language model is trained,
            and for the verb at the gap. If not, everything but the gap is `IGNORE`.

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
    targets = torch.full_like(tokens, IGNORE)
    if every_word:
        targets[:, :-1] = tokens[:, 1:]
        targets[targets == PAD] = IGNORE
    return tokens, torch.where(tokens == gap, _ids(ANSWERS)[subject][:, None], targets)


def _ids(words: Sequence[str] | Sequence[tuple[str, str]]) -> Tensor:
    """The ids of words (n,), or of pairs of words (n, 2)."""
    rows = [[word] if isinstance(word, str) else word for word in words]
    return torch.tensor([[AGREEMENT_VOCABULARY.ids[w] for w in row] for row in rows]).squeeze(1)


# --------------------------------------------------------------------------- recall


def first_token_recall_batch(
    batch: int, length: int, generator: torch.Generator, *, n_symbols: int = 8
) -> Batch:
    """One symbol, then filler that carries no information, then the question what it was.

    Tokens 0 … n_symbols − 1 are symbols, the next n_symbols are filler, and the last one,
    2 · n_symbols, asks. The only target stands at the question, `length − 1` steps after the
    symbol. Guessing is right with probability 1 / n_symbols.

    Raises:
        ValueError: if `batch` is less than 1, or `length` or `n_symbols` less than 2.
    """
    require(batch >= 1, "batch", batch, "at least 1")
    require(length >= 2, "length", length, "at least 2: a symbol and a question")
    require(n_symbols >= 2, "n_symbols", n_symbols, "at least 2")
    tokens = torch.randint(n_symbols, 2 * n_symbols, (batch, length), generator=generator)
    tokens[:, 0] -= n_symbols
    tokens[:, -1] = 2 * n_symbols
    targets = torch.full_like(tokens, IGNORE)
    targets[:, -1] = tokens[:, 0]
    return tokens, targets


def associative_recall_batch(
    batch: int, n_pairs: int, generator: torch.Generator, *, n_keys: int = 64, n_values: int = 64
) -> Batch:
    """Key, value, key, value, …, then every key once more, in a random order.

    Tokens 0 … n_keys − 1 are keys, the next n_keys … n_keys + n_values − 1 are values. Keys of a
    sequence differ, values are drawn independently. The target at each repeated key is its value,
    counted from 0, so a model needs `n_values` outputs. T = 3 · n_pairs.

    Source: after the multi-query recall of Arora et al. (2023), "Zoology".

    Raises:
        ValueError: if `batch` or `n_values` is less than 1 or `n_pairs` is not in 1 … n_keys.
    """
    require(batch >= 1, "batch", batch, "at least 1")
    require(n_values >= 1, "n_values", n_values, "at least 1")
    require(1 <= n_pairs <= n_keys, "n_pairs", n_pairs, f"1 to n_keys = {n_keys}: keys differ")
    keys = torch.rand(batch, n_keys, generator=generator).argsort(dim=1)[:, :n_pairs]
    values = torch.randint(n_values, (batch, n_pairs), generator=generator)  # (batch, n_pairs)
    order = torch.rand(batch, n_pairs, generator=generator).argsort(dim=1)  # (batch, n_pairs)
    facts = torch.stack([keys, n_keys + values], dim=-1).flatten(1)  # (batch, 2 · n_pairs)
    tokens = torch.cat([facts, keys.gather(1, order)], dim=1)  # (batch, 3 · n_pairs)
    return tokens, torch.cat([torch.full_like(facts, IGNORE), values.gather(1, order)], dim=1)


# --------------------------------------------------------------------------- two relations


def two_relations_batch(
    batch: int, length: int, generator: torch.Generator, *, n_symbols: int = 52
) -> Batch:
    """Symbols, one of them flagged, and two questions at once: which came before, which has a flag?

    A token is a symbol, plus `n_symbols` if it is flagged. The flagged one stands in the first
    half. Each position of the second half is asked for the symbol just before it, and for the
    flagged symbol. The targets are (batch, 2 · length): the first question's, then the second's.
    Guessing is right with probability 1 / n_symbols.

    Raises:
        ValueError: if `batch` is less than 1, or `length` or `n_symbols` less than 2.
    """
    require(batch >= 1, "batch", batch, "at least 1")
    require(length >= 2, "length", length, "at least 2")
    require(n_symbols >= 2, "n_symbols", n_symbols, "at least 2")
    half = length // 2
    symbols = torch.randint(n_symbols, (batch, length), generator=generator)
    flagged = torch.randint(half, (batch, 1), generator=generator)
    targets = torch.full((batch, 2, length), IGNORE)
    targets[:, 0, half:] = symbols[:, half - 1 : -1]
    targets[:, 1, half:] = symbols.gather(1, flagged)
    tokens = symbols.scatter_add(1, flagged, torch.full_like(flagged, n_symbols))
    return tokens, targets.flatten(1)


# --------------------------------------------------------------------------- stories

WOMEN, MEN = ("ada", "cleo", "ida"), ("ben", "emil", "noah")
THINGS = ("key", "coin", "map", "ring", "candle", "feather", "stamp", "ribbon")
CITIES = ("cairo", "delhi", "lima", "oslo", "quito", "rome")

STORY_VOCABULARY = Vocabulary(
    [
        *AGREEMENT_VOCABULARY.words[1:],
        *(*WOMEN, *MEN, *THINGS, *CITIES, "she", "he", "finds", "a", "takes", "from"),
        *("to", "gives", "loses", "nobody", "where", "who", "is", "has", "?", "good", "night"),
    ]
)
"""The words of `AGREEMENT_VOCABULARY`, with the same ids, and those of the stories."""

Storyteller = Generator[dict[str, float], str, None]
"""Yields which words may come next, with their probabilities, and is sent the word that came."""


def scene(attractors: int = 3) -> Storyteller:
    """One sentence as those of `agreement_batch`, with the verb in place of the gap.

    Each number of attractors from 0 to `attractors` is equally likely.

    Raises:
        ValueError: if `attractors` is negative.
    """
    require(attractors >= 0, "attractors", attractors, "at least 0")
    nouns = _one_of(*(word for pair in NOUNS for word in pair))
    yield _one_of("the")
    noun = yield nouns
    verb = ANSWERS[_is_plural(noun)]
    for left in range(attractors, -1, -1):  # how many attractors may still come
        end_or_phrase = _mix(1 / (left + 1), _one_of(verb), _one_of(*PREPOSITIONS))
        clause = 0.5 if left < attractors else 0.0  # only an attractor has one
        word = yield _mix(clause, _one_of("that"), end_or_phrase)
        if word == "that":
            yield _one_of(*(pair[_is_plural(noun)] for pair in VERBS))
            word = yield end_or_phrase
        if word == verb:
            break
        yield _one_of("the")
        noun = yield nouns
    yield _one_of(*OUTCOMES)
    yield _one_of(".")


def storyteller() -> Storyteller:
    """A scene, then somebody who finds a thing, takes it about, gives it away or loses it.

    Every choice is between different words, so the probability of each word, given those before
    it, is known exactly, and with it the least loss that any language model can have. What the
    thing is, who has it and where it is follows from the sentences before: the answers to the two
    questions at the end have probability 1.
    """
    yield from scene()
    name = yield _one_of(*WOMEN, *MEN)
    yield from _say("finds a")
    thing = yield _one_of(*THINGS)
    yield _one_of("in")
    place = yield _one_of(*CITIES)
    yield _one_of(".")
    for n_events in range(4):  # at least one and at most three
        start = _one_of(name, "she" if name in WOMEN else "he")
        enough = (0.0, 0.25, 0.25, 1.0)[n_events]
        if (yield _mix(enough, _one_of("who"), start)) == "who":
            break
        deed = yield _one_of("takes", "gives", "loses")
        yield from _say(f"the {thing}")
        if deed == "takes":
            yield from _say(f"from {place} to")
            place = yield _one_of(*(city for city in CITIES if city != place))
        elif deed == "gives":
            yield _one_of("to")
            name = yield _one_of(*(MEN if name in WOMEN else WOMEN))
            yield from _say(f"in {place}")
        else:
            yield from _say(f"in {place}")
            name = "nobody"
        yield _one_of(".")
        if deed == "loses":
            yield _one_of("who")
            break
    yield from _say(f"has the {thing} ? {name} . where is the {thing} ? in {place} .")
    yield from _say("good night .")


def tell_stories(
    n: int, generator: torch.Generator, teller: Callable[[], Storyteller] = storyteller
) -> Int[Tensor, "n T"]:
    """Stories as tokens, one a row, with filler on the right.

    Raises:
        ValueError: if `n` is less than 1.
    """
    require(n >= 1, "n", n, "at least 1")
    rows = []
    for _ in range(n):
        story, words = teller(), []
        with suppress(StopIteration):
            options = next(story)
            while True:
                words.append(_draw(options, generator))
                options = story.send(words[-1])
        rows.append(torch.tensor([STORY_VOCABULARY.ids[word] for word in words]))
    return torch.nn.utils.rnn.pad_sequence(rows, batch_first=True, padding_value=PAD)


def story_probabilities(
    tokens: Int[Tensor, " T"] | Sequence[int], teller: Callable[[], Storyteller] = storyteller
) -> list[float]:
    """The probability that the storyteller gives to each word of a story, filler left out.

    A word that the teller would never say has probability 0, and the list ends with it. The list
    also ends where the story does.

    Raises:
        ValueError: if an id lies outside the vocabulary.
    """
    numbers = [int(i) for i in tokens]
    STORY_VOCABULARY.require_known(numbers)
    story = teller()
    options, found = next(story), []
    with suppress(StopIteration):
        for number in numbers:
            if number == PAD:
                break
            word = STORY_VOCABULARY.words[number]
            found.append(options.get(word, 0.0))
            if found[-1] == 0.0:
                break
            options = story.send(word)
    return found


def story_text(tokens: Int[Tensor, " T"] | Sequence[int]) -> str:
    """A story as text, with capital letters for names and at the beginnings of sentences.

    Raises:
        ValueError: if an id lies outside the vocabulary.
    """
    text = STORY_VOCABULARY.decode(tokens)
    capital = rf"(?<=[.?] )[a-z]|\b({'|'.join(WOMEN + MEN + CITIES)})\b"
    return re.sub(capital, lambda found: found[0].capitalize(), text)


def next_word_batch(tokens: Int[Tensor, "batch T"]) -> Batch:
    """Texts, and as the target at each word the next one; nothing is asked where filler follows.

    Raises:
        ValueError: if `tokens` are not (batch, T).
    """
    require_dims("tokens", tokens, 2, "(batch, T)")
    targets = torch.full_like(tokens, IGNORE)
    targets[:, :-1] = tokens[:, 1:].masked_fill(tokens[:, 1:] == PAD, IGNORE)
    return tokens, targets


def _one_of(*words: str) -> dict[str, float]:
    return dict.fromkeys(words, 1 / len(words))


def _mix(share: float, one: dict[str, float], other: dict[str, float]) -> dict[str, float]:
    """A choice from `one` with probability `share`, and else from `other`."""
    mixed = {word: share * p for word, p in one.items()}
    mixed |= {word: (1 - share) * p for word, p in other.items()}
    return {word: p for word, p in mixed.items() if p > 0}


def _say(text: str) -> Storyteller:
    """Words that leave no choice."""
    for word in text.split():
        yield {word: 1.0}


def _draw(options: dict[str, float], generator: torch.Generator) -> str:
    if len(options) == 1:
        return next(iter(options))
    at = torch.rand((), generator=generator).item()
    for word, p in options.items():
        at -= p
        if at < 0:
            return word
    return word  # rounding may leave a rest of 1e-16


def _is_plural(word: str) -> bool:
    return any(word == plural for _, plural in NOUNS)


# --------------------------------------------------------------------------- stored results


def stored(name: str) -> dict:
    """The results that `experiments/<name>.py` wrote to `helpers/stored/<name>.json`.

    Raises:
        ValueError: if there are none of that name.
    """
    folder = resources.files("helpers") / "stored"
    names = sorted(
        entry.name.removesuffix(".json")
        for entry in folder.iterdir()
        if entry.name.endswith(".json")
    )
    require(name in names, "name", repr(name), f"one of {names}")
    return json.loads((folder / f"{name}.json").read_text(encoding="utf-8"))


def course_prose() -> str:
    """The plain sentences of the lectures, a paragraph a line: real text for a model of letters.

    `tools/prose.py` takes them from the pages.
    """
    file = resources.files("helpers") / "stored" / "prose.txt"
    return file.read_text(encoding="utf-8")
