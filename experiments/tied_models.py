"""Recurrent models with a tied readout on the stories of lecture 8.

    python -m experiments.tied_models [--jobs 2]

The stories and the search are those of `experiments.story_models`. The readout is the embedding, as
that of the transformer, so the state is as wide as a word's vector. The setting is the start, and
a factor that goes with it:

    small     the embedding starts at 0.05 and is multiplied by √d_model on the way in, as the
              transformer's
    PyTorch   it starts at 1 and is not multiplied

Sizes are equal to the transformer's within 1 %. Writes `helpers/results/stored/tied_models.json`, a
quarter of an hour of one core.
"""

from __future__ import annotations

import math

from torch import Tensor, nn

from experiments.search import SEARCH_SEEDS, search  # first: it silences the progress bars
from experiments.story_models import RATES, loss, texts
from helpers.apps import story_model
from helpers.rnn import identity_rnn, set_forget_bias
from helpers.training import count_parameters, set_seed, train

WIDTHS = {"LSTM": 89, "RNN": 168}
SETTINGS = ("small", "PyTorch")


class TiedModel(nn.Module):
    """Embedding, a recurrent network, and the embedding once more."""

    def __init__(self, model: str, setting: str) -> None:
        super().__init__()
        d_model = WIDTHS[model]
        self.embedding = nn.Embedding(story_model.VOCAB, d_model)
        self.scale = 1.0
        if setting == "small":
            nn.init.normal_(self.embedding.weight, std=story_model.START_STD)
            self.scale = math.sqrt(d_model)
        self.recurrence = recurrence(model, d_model)

    def forward(self, tokens: Tensor) -> Tensor:
        """Logits (batch, T, vocab) of tokens (batch, T)."""
        states, _ = self.recurrence(self.scale * self.embedding(tokens))  # (batch, T, d_model)
        return states @ self.embedding.weight.T


def recurrence(model: str, d_model: int) -> nn.Module:
    """With the start that lecture 1 recommends: forget bias 1, or the identity and ReLU."""
    if model == "RNN":
        return identity_rnn(d_model)
    lstm = nn.LSTM(d_model, d_model, batch_first=True)
    set_forget_bias(lstm, 1.0)
    return lstm


def trial(model: str, setting: str, lr: float, seed: int) -> dict:
    """Train one model, and measure it on stories that it has not seen."""
    read, new, others = texts()
    generator = set_seed(seed)
    network = TiedModel(model, setting)

    def batch() -> tuple[Tensor, Tensor]:
        return story_model.story_batch(read, generator)

    train(network, batch, story_model.STEPS, lr, warmup=story_model.WARMUP)
    row = {"validation": loss(network, others), "parameters": count_parameters(network)}
    return row if seed in SEARCH_SEEDS else row | {"loss": loss(network, new)}


if __name__ == "__main__":
    search(
        "tied_models",
        trial,
        ["LSTM", "RNN"],
        SETTINGS,
        rates=RATES,
        lower_is_better=True,
        equal=0.001,
        about={
            "steps": story_model.STEPS,
            "batch": story_model.BATCH,
            "warmup": story_model.WARMUP,
            "floor": round(story_model.floor(texts()[1]), 4),
            "validation_floor": round(story_model.floor(texts()[2]), 4),
        },
    )
