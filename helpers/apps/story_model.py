"""The language models of lecture 8: texts, sizes, training settings, measures, stored weights.

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
"""Initial standard deviation of the tied embeddings."""

LAST_WORD = STORY_VOCABULARY.ids["night"]
"""Every story ends with "good night"."""

PERSONS = (*WOMEN, *MEN, "she", "he", "nobody")
FACTS = (*PERSONS, *THINGS, *CITIES)

_LIES_LIE = STORY_VOCABULARY.encode(" ".join(ANSWERS))  # (2,): singular, plural


def language_model(positions: PositionEncoding | None = None) -> LanguageModel:
    """The untrained model of lecture 8; its positions are rotary if not given."""
    positions = RotaryPositions() if positions is None else positions
    model = LanguageModel(CONFIG, positions)
    nn.init.normal_(model.embedding.weight, std=START_STD)
    return model


def recurrent_model(cell: Literal["rnn", "lstm"]) -> RecurrentModel:
    """A recurrent model of the same size within 1 %, with the initialization of lecture 1.

    An LSTM's forget gates start with a bias of 1, an RNN's recurrent matrix is the identity.
    """
    if cell == "rnn":
        return RecurrentModel(VOCAB, 148, VOCAB, "rnn", identity_init=True)
    return RecurrentModel(VOCAB, 84, VOCAB, "lstm", forget_bias=1.0)


def stories(n: int, seed: int) -> Int[Tensor, "n T"]:
    """Stories from a seed: 1 for training, 2 for testing, 3 for the learning-rate search."""
    return tell_stories(n, torch.Generator().manual_seed(seed))


def story_batch(texts: Int[Tensor, "n T"], generator: torch.Generator) -> Batch:
    """`BATCH` random stories, and their next tokens as targets."""
    drawn = texts[torch.randint(len(texts), (BATCH,), generator=generator)]  # (BATCH, T)
    longest = int((drawn != PAD).sum(dim=1).max())
    return next_word_batch(drawn[:, :longest])


def first_words(n: int) -> Int[Tensor, "n 1"]:
    """The prompt "the", with which every story begins, n times."""
    return STORY_VOCABULARY.encode("the").expand(n, 1)


def is_consistent(story: Int[Tensor, " T"]) -> bool:
    """Whether the storyteller could have told this story, up to "good night"."""
    chances = story_probabilities(story)
    return chances[-1] > 0.0 and LAST_WORD in story[: len(chances)]


def floor(tokens: Int[Tensor, "n T"]) -> float:
    """Entropy of the stories: the storyteller's mean cross-entropy in nats, without first words."""
    chances = [p for story in tokens for p in story_probabilities(story)[1:]]
    return -sum(map(math.log, chances)) / len(chances)


def asked_sentences(
    attractors: int, n: int = 500
) -> tuple[Int[Tensor, "n T"], Int[Tensor, " n"], Int[Tensor, " n"]]:
    """Sentences up to the verb, with that many attractors, all of the other number.

    Returns:
        Tokens, with a gap in place of the verb; the position of the last word before the gap; and
        1 for a plural verb, 0 for a singular one.
    """
    generator = torch.Generator().manual_seed(1000)
    tokens, targets = agreement_batch(n, attractors, generator, opposing=True)  # (n, T)
    at_gap = tokens == AGREEMENT_VOCABULARY.ids[GAP]  # (n, T), one in each row
    plural = (targets[at_gap] == _LIES_LIE[1]).long()  # (n,)
    return tokens, at_gap.int().argmax(dim=1) - 1, plural


@torch.no_grad()
def above_floor(model: nn.Module, tokens: Int[Tensor, "n T"]) -> tuple[float, float]:
    """Loss above the floor in nats per word, from facts and from all other words.

    Facts are persons, things and cities. The sum of both is the loss minus `floor`.
    """
    inputs, targets = next_word_batch(tokens)
    surprise = F.cross_entropy(model(inputs).transpose(1, 2), targets, reduction="none")  # (n, T)
    for row, story in zip(surprise, tokens, strict=True):
        chances = torch.tensor(story_probabilities(story)[1:])
        row[: len(chances)] += chances.log()  # minus the storyteller's surprise
    above = surprise / (targets != IGNORE_INDEX).sum()  # (n, T), 0 where there is no target
    is_fact = torch.isin(targets, STORY_VOCABULARY.encode(" ".join(FACTS)))
    return above[is_fact].sum().item(), above[~is_fact].sum().item()


@torch.no_grad()
def logit_differences(model: nn.Module, attractors: int, n: int = 500) -> Float[Tensor, " n"]:
    """Logit difference between the right and the wrong form of the verb, "lie" or "lies".

    It is measured at the word before the verb, with all attractors of the other number. The model
    is causal, so the words after that do not matter.
    """
    tokens, last, plural = asked_sentences(attractors, n)
    logits = model(tokens)[torch.arange(n), last][:, _LIES_LIE]  # (n, 2)
    return (logits[:, 1] - logits[:, 0]) * (2 * plural - 1)


def agreement(model: nn.Module, attractors: int, n: int = 500) -> float:
    """Share of sentences in which the right form of the verb is likelier than the wrong one."""
    return (logit_differences(model, attractors, n) > 0).double().mean().item()


@torch.no_grad()
def attention_to_subject(
    model: LanguageModel, attractors: int, n: int = 500
) -> Float[Tensor, "2 layers heads"]:
    """Mean attention from the word before the verb to the subject, and to the word after it."""
    tokens, last, _ = asked_sentences(attractors, n)
    _, weights = model(tokens, return_weights=True)
    rows = torch.stack([w[torch.arange(n), :, last] for w in weights])  # (layers, n, heads, T)
    return rows[..., 1:3].mean(dim=1).permute(2, 0, 1)  # the subject follows "the"


def save(model: LanguageModel) -> None:
    """Write the weights to `helpers/results/stored/language_model.npz`, in half precision.

    The file also holds the words and the number of heads, because the site reads it to run the
    model in the browser.
    """
    numbers = {name: p.detach().half().numpy() for name, p in model.named_parameters()}
    n_heads = np.array([block.attention.n_heads for block in model.blocks])
    np.savez_compressed(_file(), words=np.array(STORY_VOCABULARY.words), n_heads=n_heads, **numbers)


def trained_language_model() -> LanguageModel:
    """The model without positions, trained by `experiments/language_model.py` from seed 0.

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
