"""The language model of lecture 8: its texts, its size, what is measured, and a trained one.

Lecture 8 builds and trains the model step by step; `experiments/language_model.py` trains it from
several seeds and stores one of them, which `trained_language_model` loads.
"""

from __future__ import annotations

import math
from importlib import resources
from typing import TYPE_CHECKING

import numpy as np
import torch
from torch import Tensor, nn

from helpers.checks import require
from helpers.data import (
    AGREEMENT_VOCABULARY,
    ANSWERS,
    GAP,
    STORY_VOCABULARY,
    agreement_batch,
    next_word_batch,
    story_probabilities,
    tell_stories,
)
from helpers.models import LanguageModel
from helpers.positions import Positions, RotaryPositions
from helpers.training import Batch

if TYPE_CHECKING:
    from jaxtyping import Float, Int

VOCAB = len(STORY_VOCABULARY)
N_TEXTS, N_HELD_OUT = 12_000, 500
STEPS, BATCH, LR, WARMUP = 800, 32, 0.005, 50
START = 0.05
"""Standard deviation of the embeddings before training. From the model's own start, 1 / d_model,
copying words took more steps to learn (with the one seed that was tried)."""

LAST_WORD = STORY_VOCABULARY.ids["night"]
"""Every story ends with "good night"."""

_LIES_LIE = STORY_VOCABULARY.encode(" ".join(ANSWERS))  # (2,): singular, plural


def language_model(positions: Positions | None = None) -> LanguageModel:
    """The model of lecture 8, untrained: two blocks of four heads, rotary if nothing is given."""
    positions = RotaryPositions() if positions is None else positions
    model = LanguageModel(VOCAB, 64, n_layers=2, n_heads=4, d_ff=128, positions=positions)
    nn.init.normal_(model.embedding.weight, std=START)
    return model


def stories() -> tuple[Int[Tensor, "n T"], Int[Tensor, "m T_new"]]:
    """The stories that it reads, and others that it is tested on."""
    texts = tell_stories(N_TEXTS, torch.Generator().manual_seed(1))
    return texts, tell_stories(N_HELD_OUT, torch.Generator().manual_seed(2))


def story_batch(texts: Int[Tensor, "n T"], generator: torch.Generator) -> Batch:
    """`BATCH` stories drawn at random, and their next words."""
    return next_word_batch(texts[torch.randint(len(texts), (BATCH,), generator=generator)])


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
def looks(model: LanguageModel, attractors: int, n: int = 500) -> Float[Tensor, "2 layers heads"]:
    """Mean weights from the word before the verb to the subject, and to the word behind that."""
    tokens, last, _ = asked_sentences(attractors, n)
    _, weights = model(tokens, return_weights=True)
    rows = torch.stack([w[torch.arange(n), :, last] for w in weights])  # (layers, n, heads, T)
    return rows[..., 1:3].mean(dim=1).permute(2, 0, 1)  # the subject stands behind "the"


def save(model: LanguageModel) -> None:
    """Write the weights to `helpers/stored/language_model.npz`, in half precision."""
    numbers = {name: p.detach().half().numpy() for name, p in model.named_parameters()}
    np.savez_compressed(_file(), **numbers)


def trained_language_model() -> LanguageModel:
    """The model without positions that `experiments/language_model.py` trained from seed 0.

    Raises:
        ValueError: if the stored weights are not those of `language_model(Positions())`.
    """
    model = language_model(Positions()).eval()
    with np.load(_file()) as stored, torch.no_grad():
        names = {name: tuple(p.shape) for name, p in model.named_parameters()}
        found = {name: stored[name].shape for name in stored.files}
        require(found == names, "language_model.npz", found, f"{names}")
        for name, p in model.named_parameters():
            p.copy_(torch.from_numpy(stored[name]))
    return model


def _file() -> str:
    return str(resources.files("helpers") / "stored" / "language_model.npz")
