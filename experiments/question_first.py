"""Lecture 1, a question before or after the facts: `python -m experiments.question_first`.

A sequence holds pairs of a room and a colour, as in `associative_recall_batch`, and one question: a
room, whose colour is asked for at the last token. A setting is [order, pairs, steps]:

    last     blank, room, colour, room, colour, …, the room asked for
    first    the room asked for, room, colour, room, colour, …, blank

So both orders have the same tokens and the same length. The colours come bound to their rooms, as
in the models called *tied* of `experiments.limits_of_recurrence`, whose sizes these models have.

    test: share of right answers on sequences that were neither trained nor searched on

The result depends on the seeds and, in the second digit, on the processor.
"""

from __future__ import annotations

import torch
from torch import nn

from experiments.search import search
from helpers.config import TransformerConfig
from helpers.data.recall import associative_recall_batch
from helpers.models import TransformerModel
from helpers.positions import RotaryPositions
from helpers.rnn import RecurrentModel
from helpers.tokens import IGNORE_INDEX, Batch
from helpers.training import accuracy, count_parameters, set_seed, train

BATCH, HELD_OUT = 64, 1000
VALIDATION_SEED, TEST_SEED = 2000, 1000
N_ROOMS = N_COLOURS = 16
BLANK = N_ROOMS + N_COLOURS
SEEDS = (0, 1, 2, 3, 4)
SETTINGS = [[order, n, 1000] for n in (2, 8) for order in ("last", "first")]
"""Attention is trained on eight pairs only."""


class BoundEmbedding(nn.Embedding):
    """Adds to the vector of each colour that of its room, the token before it."""

    def forward(self, tokens: torch.Tensor) -> torch.Tensor:
        """Tokens (batch, T) → vectors (batch, T, d_model)."""
        vectors = super().forward(tokens)  # (batch, T, d_model)
        is_colour = (tokens >= N_ROOMS) & (tokens < BLANK)  # (batch, T)
        return vectors + is_colour[..., None] * vectors.roll(1, dims=1)


def lstm() -> nn.Module:
    """The LSTM with a forget bias of 3."""
    return RecurrentModel(BLANK + 1, 45, N_COLOURS, "lstm", forget_bias=3.0)


def attention() -> nn.Module:
    """One layer of attention, with as many parameters within 4 %."""
    config = TransformerConfig(BLANK + 1, 32, 1, n_heads=2, d_ff=196, n_outputs=N_COLOURS)
    return TransformerModel(config, RotaryPositions())


MODELS = {"LSTM, bias 3": lstm, "attention, 1 layer": attention}


def one_question(batch: int, n_pairs: int, generator: torch.Generator, *, order: str) -> Batch:
    """Pairs and one question, first or last; the only target is at the last token."""
    pairs = {"n_keys": N_ROOMS, "n_values": N_COLOURS}
    tokens, targets = associative_recall_batch(batch, n_pairs, generator, **pairs)
    facts, asked = tokens[:, : 2 * n_pairs], tokens[:, 2 * n_pairs, None]
    blank = torch.full_like(asked, BLANK)  # (batch, 1)
    before, after = (asked, blank) if order == "first" else (blank, asked)
    tokens = torch.cat([before, facts, after], dim=1)  # (batch, 2 · n_pairs + 2)
    answers = torch.full_like(tokens, IGNORE_INDEX)
    answers[:, -1] = targets[:, 2 * n_pairs]
    return tokens, answers


def trial(model: str, setting: list, lr: float, seed: int) -> dict:
    """Train one model; right answers on data for the choice of the rate, and on data to report."""
    order, n_pairs, steps = setting
    generator = set_seed(seed)
    network = MODELS[model]()
    weight = network.embedding.weight
    network.embedding = BoundEmbedding.from_pretrained(weight, freeze=False)
    train(network, lambda: one_question(BATCH, n_pairs, generator, order=order), steps, lr)

    def measure(seed: int) -> float:
        held_out = torch.Generator().manual_seed(seed)
        batch = one_question(HELD_OUT, n_pairs, held_out, order=order)
        return round(accuracy(network, batch), 3)

    return {
        "validation": measure(VALIDATION_SEED),
        "test": measure(TEST_SEED),
        "parameters": count_parameters(network),
    }


def main() -> None:
    """Search, compare, write the table."""
    search(
        "question_first",
        trial,
        list(MODELS),
        SETTINGS,
        seeds=SEEDS,
        skip=lambda model, setting: model.startswith("attention") and setting[1] < 8,
        equal=0.03,
        about={"batch": BATCH, "held_out": HELD_OUT},
    )


if __name__ == "__main__":
    main()
