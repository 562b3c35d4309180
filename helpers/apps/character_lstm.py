"""The LSTM of lecture 1, which continues Shakespeare's plays character by character."""

from __future__ import annotations

from importlib import resources

import numpy as np
import torch

from helpers.data.shakespeare import characters
from helpers.rnn import RecurrentModel
from helpers.validation import require

D_MODEL = 128
"""Width of the embeddings, of the hidden state and of the cell state."""


def model() -> RecurrentModel:
    """The LSTM with new weights."""
    vocab = len(characters()) + 1  # 0 is the pad token
    return RecurrentModel(vocab, D_MODEL, vocab, "lstm", forget_bias=1.0)


def save(trained: RecurrentModel) -> None:
    """Write the weights to `helpers/results/stored/character_lstm.npz`, in half precision."""
    numbers = {name: p.detach().half().numpy() for name, p in trained.named_parameters()}
    np.savez_compressed(_file(), **numbers)


def trained_character_lstm() -> RecurrentModel:
    """The LSTM that `experiments/character_lstm.py` trained.

    Raises:
        ValueError: if the stored weights are not those of `model()`.
    """
    trained = model().eval()
    with np.load(_file()) as stored, torch.no_grad():
        names = {name: tuple(p.shape) for name, p in trained.named_parameters()}
        found = {name: stored[name].shape for name in stored.files}
        require(found == names, "character_lstm.npz", found, f"{names}")
        for name, p in trained.named_parameters():
            p.copy_(torch.from_numpy(stored[name]))
    return trained


def _file() -> str:
    return str(resources.files("helpers") / "results" / "stored" / "character_lstm.npz")
