"""The language models of lecture 8: their texts, sizes and settings, what is measured, one trained.

Lecture 8 builds and trains the model step by step; `experiments/language_model.py` trains it from
several seeds and stores one of them, which `trained_language_model` loads.
"""

from __future__ import annotations

import math
from importlib import resources
from typing import TYPE_CHECKING, Literal

import numpy as np
import torch
import torch.nn.functional as F
from torch import Tensor, nn

from helpers.config import TransformerConfig
from helpers.data.agreement import AGREEMENT_VOCABULARY, ANSWERS, GAP, agreement_batch
from helpers.data.stories import (
    CITIES,
    MEN,
    STORY_VOCABULARY,
    THINGS,
    WOMEN,
    story_probabilities,
    tell_stories,
)
from helpers.models import LanguageModel
from helpers.positions import PositionEncoding, RotaryPositions
from helpers.rnn import RecurrentModel
from helpers.tokens import IGNORE_INDEX, PAD, Batch, next_word_batch
from helpers.validation import require

if TYPE_CHECKING:
    from jaxtyping import Float, Int

VOCAB = len(STORY_VOCABULARY)
N_TEXTS = 12_000
CONFIG = TransformerConfig(VOCAB, d_model=64, n_layers=2, n_heads=4, d_ff=128)
STEPS, BATCH, LR, WARMUP = 800, 32, 0.005, 50

START_STD = 0.05
"""Standard deviation of tied embeddings before training."""

LAST_WORD = STORY_VOCABULARY.ids["night"]
"""Every story ends with "good night"."""

PERSONS = (*WOMEN, *MEN, "she", "he", "nobody")
FACTS = (*PERSONS, *THINGS, *CITIES)

_LIES_LIE = STORY_VOCABULARY.encode(" ".join(ANSWERS))  # (2,): singular, plural


def language_model(positions: PositionEncoding | None = None) -> LanguageModel:
    """The model of lecture 8, untrained: two blocks of four heads, rotary if nothing is given."""
    positions = RotaryPositions() if positions is None else positions
    model = LanguageModel(CONFIG, positions)
    nn.init.normal_(model.embedding.weight, std=START_STD)
    return model


def recurrent_model(cell: Literal["rnn", "lstm"]) -> RecurrentModel:
    """A recurrent model of the same size within 1 %, with the starts that lecture 1 recommends.

    The forget gates of an LSTM start with a bias of 1, the recurrence of an RNN with the identity.
    """
    if cell == "rnn":
        return RecurrentModel(VOCAB, 148, VOCAB, "rnn", identity_start=True)
    return RecurrentModel(VOCAB, 84, VOCAB, "lstm", forget_bias=1.0)


def stories(n: int, seed: int) -> Int[Tensor, "n T"]:
    """Stories from a seed: 1 for training, 2 for testing, 3 for the choice of a rate."""
    return tell_stories(n, torch.Generator().manual_seed(seed))


def story_batch(texts: Int[Tensor, "n T"], generator: torch.Generator) -> Batch:
    """`BATCH` stories drawn at random, and their next words."""
    drawn = texts[torch.randint(len(texts), (BATCH,), generator=generator)]  # (BATCH, T)
    longest = int((drawn != PAD).sum(dim=1).max())
    return next_word_batch(drawn[:, :longest])


def first_words(n: int) -> Int[Tensor, "n 1"]:
    """Every story begins with "the"."""
    return STORY_VOCABULARY.encode("the").expand(n, 1)


def is_consistent(story: Int[Tensor, " T"]) -> bool:
    """Whether the storyteller could have told it, up to "good night"."""
    chances = story_probabilities(story)
    return chances[-1] > 0.0 and LAST_WORD in story[: len(chances)]


def floor(tokens: Int[Tensor, "n T"]) -> float:
    """The least mean cross-entropy in nats: that of the storyteller, first words not asked."""
    chances = [p for story in tokens for p in story_probabilities(story)[1:]]
    return -sum(map(math.log, chances)) / len(chances)


def asked_sentences(
    attractors: int, n: int = 500
) -> tuple[Int[Tensor, "n T"], Int[Tensor, " n"], Int[Tensor, " n"]]:
    """Sentences with that many attractors, all opposing, up to where the verb is to come.

    Returns:
        Tokens, in which the verb and what follows it are hidden by a gap; where the last word
        before the gap stands; and whether the verb is plural (1) or singular (0).
    """
    generator = torch.Generator().manual_seed(1000)
    tokens, targets = agreement_batch(n, attractors, generator, opposing=True)  # (n, T)
    at_gap = tokens == AGREEMENT_VOCABULARY.ids[GAP]  # (n, T), one in each row
    plural = (targets[at_gap] == _LIES_LIE[1]).long()  # (n,)
    return tokens, at_gap.int().argmax(dim=1) - 1, plural


@torch.no_grad()
def above_floor(model: nn.Module, tokens: Int[Tensor, "n T"]) -> tuple[float, float]:
    """What facts, and what all other words, add to the loss above the floor, in nats a word.

    Facts are persons, things and cities. The two sum to the loss less `floor`.
    """
    inputs, targets = next_word_batch(tokens)
    surprise = F.cross_entropy(model(inputs).transpose(1, 2), targets, reduction="none")  # (n, T)
    for row, story in zip(surprise, tokens, strict=True):
        chances = torch.tensor(story_probabilities(story)[1:])
        row[: len(chances)] += chances.log()  # less the storyteller's surprise
    above = surprise / (targets != IGNORE_INDEX).sum()  # (n, T), 0 where nothing is asked
    is_fact = torch.isin(targets, STORY_VOCABULARY.encode(" ".join(FACTS)))
    return above[is_fact].sum().item(), above[~is_fact].sum().item()


@torch.no_grad()
def margins(model: nn.Module, attractors: int, n: int = 500) -> Float[Tensor, " n"]:
    """How much larger the logit of the right one of "lie" and "lies" is than that of the other.

    Asked at the word before the verb, all attractors opposing. The model is causal, so what
    stands behind that word changes nothing.
    """
    tokens, last, plural = asked_sentences(attractors, n)
    logits = model(tokens)[torch.arange(n), last][:, _LIES_LIE]  # (n, 2)
    return (logits[:, 1] - logits[:, 0]) * (2 * plural - 1)


def agreement(model: nn.Module, attractors: int, n: int = 500) -> float:
    """The share of sentences in which the right verb is likelier than the wrong one."""
    return (margins(model, attractors, n) > 0).double().mean().item()


@torch.no_grad()
def attention_to_subject(
    model: LanguageModel, attractors: int, n: int = 500
) -> Float[Tensor, "2 layers heads"]:
    """Mean weights from the word before the verb to the subject, and to the word behind that."""
    tokens, last, _ = asked_sentences(attractors, n)
    _, weights = model(tokens, return_weights=True)
    rows = torch.stack([w[torch.arange(n), :, last] for w in weights])  # (layers, n, heads, T)
    return rows[..., 1:3].mean(dim=1).permute(2, 0, 1)  # the subject stands behind "the"


def save(model: LanguageModel) -> None:
    """Write the weights to `helpers/results/stored/language_model.npz`, in half precision.

    With them go the words and the number of heads, so that the file can be read without us: the
    site does so, on which the model runs in the reader's browser.
    """
    numbers = {name: p.detach().half().numpy() for name, p in model.named_parameters()}
    n_heads = np.array([block.attention.n_heads for block in model.blocks])
    np.savez_compressed(_file(), words=np.array(STORY_VOCABULARY.words), n_heads=n_heads, **numbers)


def trained_language_model() -> LanguageModel:
    """The model without positions that `experiments/language_model.py` trained from seed 0.

    Raises:
        ValueError: if the stored weights are not those of `language_model(PositionEncoding())`.
    """
    model = language_model(PositionEncoding()).eval()
    with np.load(_file()) as stored, torch.no_grad():
        names = {name: tuple(p.shape) for name, p in model.named_parameters()}
        about = ("words", "n_heads")
        found = {name: stored[name].shape for name in stored.files if name not in about}
        require(found == names, "language_model.npz", found, f"{names}")
        for name, p in model.named_parameters():
            p.copy_(torch.from_numpy(stored[name]))
    return model


def _file() -> str:
    return str(resources.files("helpers") / "results" / "stored" / "language_model.npz")
