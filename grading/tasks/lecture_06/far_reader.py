"""Train: a model that finds a distance on short texts, and keeps it on long ones."""

import numpy as np
import torch
from torch import nn

from grading.task import Case, Mistake, Task
from helpers.attention import MultiHeadAttention
from helpers.masks import causal_mask
from helpers.positions import (
    LearnedPositions,
    Positions,
    RotaryPositions,
    SinusoidalPositions,
)

VOCAB = 16


class _Reader(nn.Module):
    """The lecture's reader: embedding, causal attention, readout."""

    def __init__(self, vocab, d_model, n_layers, encoding, d_k):
        super().__init__()
        self.encoding = encoding
        self.embedding = nn.Embedding(vocab, d_model)
        layers = [
            MultiHeadAttention(d_model, n_heads=2, d_k=d_k, positions=encoding)
            for _ in range(n_layers)
        ]
        self.layers = nn.ModuleList(layers)
        self.readout = nn.Linear(d_model, vocab)

    def forward(self, tokens):
        mask = causal_mask(tokens.shape[1])
        x = self.encoding.embed(self.embedding(tokens))
        for layer in self.layers:
            x = layer(x, mask=mask)
        return self.readout(x)


def far_reader(vocab):
    """The model answer."""
    return _Reader(vocab, 64, 1, RotaryPositions(), 64)


def as_given(vocab):
    """Wrong: no positions."""
    return _Reader(vocab, 64, 1, Positions(), 16)


def sinusoidal(vocab):
    """Wrong: codes that do not carry the distance to places that were not trained."""
    return _Reader(vocab, 64, 1, SinusoidalPositions(), 16)


def narrow(vocab):
    """Wrong: the encoding that holds, in heads that are too narrow for it."""
    return _Reader(vocab, 64, 1, RotaryPositions(), 16)


def long_table(vocab):
    """Wrong: rows beyond the training texts were never trained."""
    return _Reader(vocab, 64, 1, LearnedPositions(64, 64), 16)


def drive(answer, tokens, targets, asked):
    """Train the model on short texts, and return the tokens that it names in long ones."""
    import contextlib
    import io

    import torch

    from helpers.training import train

    batches = iter(zip(tokens.split(32), targets.split(32), strict=True))
    threads = torch.get_num_threads()
    torch.set_num_threads(1)  # several hinder each other in a model as small as this
    try:
        model = answer(16)
        with contextlib.redirect_stderr(io.StringIO()):  # no progress bar
            train(model, lambda: next(batches), steps=len(tokens) // 32, lr=5e-3)
        with torch.no_grad():
            return model(asked).argmax(dim=-1)
    finally:
        torch.set_num_threads(threads)


def cases(seed):
    """300 batches of texts of 16 tokens, and 100 texts of 64; the distance is one from 2 to 5."""
    generator = torch.Generator().manual_seed(seed)
    back = int(torch.randint(2, 6, (1,), generator=generator))
    tokens = torch.randint(VOCAB, (300 * 32, 16), generator=generator)
    targets = torch.full_like(tokens, -100)
    targets[:, back:] = tokens[:, :-back]
    asked = torch.randint(VOCAB, (100, 64), generator=generator)
    return [Case((tokens, targets, asked))]


def share_right(args, named):
    """The share of right tokens in the second half of the long texts."""
    tokens, targets, asked = (np.asarray(arg) for arg in args)
    back = next(n for n in range(1, 16) if (targets[:, n:] == tokens[:, :-n]).all())
    return (np.asarray(named)[:, 32:] == asked[:, 32 - back : -back]).mean()


TASK = Task(
    name="far_reader",
    lecture=6,
    kind="train",
    points=10,
    difficulty=3,
    minutes=12,
    outcome="read a table of accuracies on texts longer than the training texts, without naming a "
    "winner that the figures do not show",
    reference=far_reader,
    cases=cases,
    drive=drive,
    score=share_right,
    reach=0.95,
    mistakes=(
        Mistake(
            as_given,
            "This is the model as given, with Positions(), which stands for no encoding. One "
            "causal layer sees a bag then, and cannot single out a distance even in short texts.",
        ),
        Mistake(
            sinusoidal,
            "Sinusoidal codes can be computed for any place. But as in the lecture's first task, "
            "what training finds on 16 places does not hold beyond them. Which encoding did?",
        ),
        Mistake(
            narrow,
            "This encoding can carry a distance to long texts. But a head of 16 features has 8 "
            "clock hands, and its peak comes back at distances that short texts do not show. Give "
            "it more hands.",
        ),
        Mistake(
            long_table,
            "The table is long enough, but training reaches its first 16 rows only. The others "
            "stay as they were made.",
        ),
    ),
    hints=(
        "Look at the first of the lecture's two tables of accuracies: which encoding carried the "
        "shift to 4×?",
        "The lecture measured that encoding with heads of two widths, and with one layer and two. "
        "What was different?",
    ),
)
