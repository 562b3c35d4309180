"""Agreement after an opening of random length: `python -m experiments.order_opening` (`--help`).

In the agreement sentences of `experiments.order` the subject is always the second token, so a model
that knows absolute positions can look there and need no grammar. Here 0 to 8 words stand before the
sentence, drawn from eight that occur nowhere else, so that the subject is the first noun but at no
fixed position. The next word of the opening is not asked. Models, steps, rates, seeds and tests are
otherwise those of `experiments.order`: 0 to 3 attractors in training; 3 to 33, all opposing, in the
tests.

`accuracy` is the share right at each number of `attractors`, `by_opening` the same at 33 of them
for the sentences without an opening and for those with the longest. `validation` is the mean share
right on other sentences with the first two numbers. Writes
`helpers/results/stored/order_opening.json`, about seven minutes of one core.
"""

from __future__ import annotations

from statistics import fmean

import torch
from torch import nn

from experiments.order import ATTRACTORS, ENCODINGS, HELD_OUT, LONGEST, STEPS, WORDS
from experiments.search import search
from helpers.config import TransformerConfig
from helpers.data.agreement import agreement_batch
from helpers.models import TransformerModel
from helpers.positions import LearnedPositions
from helpers.tokens import IGNORE_INDEX, PAD, Batch
from helpers.training import accuracy, count_parameters, set_seed, train

OPENERS = 8
"""Different words of the openings; their ids follow those of the agreement words."""
LONGEST_OPENING = 8


def put_opening(batch: Batch, generator: torch.Generator) -> Batch:
    """The sentences, each with 0 to `LONGEST_OPENING` words before it, which are not asked."""
    tokens, targets = batch
    n = len(tokens)
    count = torch.randint(LONGEST_OPENING + 1, (n, 1), generator=generator)
    words = WORDS + torch.randint(OPENERS, (n, LONGEST_OPENING), generator=generator)
    keep = torch.cat([torch.arange(LONGEST_OPENING) < count, tokens != PAD], dim=1)
    order = torch.argsort((~keep).int(), dim=1, stable=True)  # kept words first, in their order
    longest = int(keep.sum(dim=1).max())
    silent = torch.full_like(words, IGNORE_INDEX)
    tokens = torch.cat([words, tokens], dim=1).masked_fill(~keep, PAD)
    targets = torch.cat([silent, targets], dim=1).masked_fill(~keep, IGNORE_INDEX)
    return tokens.gather(1, order)[:, :longest], targets.gather(1, order)[:, :longest]


def make(encoding: str) -> nn.Module:
    """A fresh model: two blocks, as for agreement in `experiments.order`."""
    positions = ENCODINGS[encoding].encoding(32)
    if encoding == "learned":
        positions = LearnedPositions(LONGEST + LONGEST_OPENING, 32)
    sizes = {"d_model": 32, "n_layers": 2, "n_heads": 2, "d_ff": 96, "n_outputs": WORDS}
    return TransformerModel(TransformerConfig(WORDS + OPENERS, **sizes), positions)


def tests(seed: int) -> list[Batch]:
    """Sentences with each number of attractors, all opposing, after openings."""
    generator = torch.Generator().manual_seed(seed)
    n = HELD_OUT["agreement"]
    return [
        put_opening(agreement_batch(n, a, generator, opposing=True), generator) for a in ATTRACTORS
    ]


def trial(encoding: str, _: str, lr: float, seed: int) -> dict:
    """Train one model."""
    generator = set_seed(seed)
    model = make(encoding)

    def batch() -> Batch:
        return put_opening(agreement_batch(64, (0, 3), generator, every_word=True), generator)

    history = train(model, batch, STEPS["agreement"], lr)
    right, other = tests(1000), tests(2000)[:2]
    tokens, targets = right[-1]
    opening = (tokens >= WORDS).sum(dim=1)  # (batch,): words before the sentence
    ends = [opening == length for length in (0, LONGEST_OPENING)]
    return {
        "validation": round(fmean(accuracy(model, test) for test in other), 3),
        "accuracy": [round(accuracy(model, test), 3) for test in right],
        "by_opening": [round(accuracy(model, (tokens[e], targets[e])), 3) for e in ends],
        "loss": round(history.smoothed(50)[-1], 3),
        "parameters": count_parameters(model),
    }


if __name__ == "__main__":
    search(
        "order_opening",
        trial,
        models=tuple(ENCODINGS),
        about={
            "steps": STEPS["agreement"],
            "held_out": HELD_OUT["agreement"],
            "attractors": ATTRACTORS,
            "openers": OPENERS,
            "longest_opening": LONGEST_OPENING,
        },
    )
