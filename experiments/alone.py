"""Facts that every word learns alone: `python -m experiments.alone` (`--help`).

The stacks, the 400 facts and the 300 steps are those of `experiments.transformer_block`, in rows of
a single word, so that attention has nothing but the word itself. The setting is the number of rows
of a batch: 512, as many words as 32 rows of 16 have, and 32, as many as there stand first in a row.
`validation` and `accuracy` are shares of right answers. Writes `helpers/results/stored/alone.json`,
a few minutes of one core.
"""

from __future__ import annotations

import torch

from experiments.search import search
from experiments.transformer_block import STEPS, TASKS, WARMUP, fact_batch, make
from helpers.training import accuracy, count_parameters, set_seed, train

HELD_OUT = 8000


def trial(stack: str, rows: int, lr: float, seed: int) -> dict:
    """Train one stack on rows of one word."""
    generator = set_seed(seed)
    model = make(stack, "facts")
    train(model, lambda: fact_batch(rows, 1, generator), STEPS, lr, warmup=WARMUP)
    shares = [
        accuracy(model, fact_batch(HELD_OUT, 1, torch.Generator().manual_seed(s)))
        for s in (2000, 1000)
    ]
    return {
        "validation": round(shares[0], 3),
        "accuracy": round(shares[1], 3),
        "parameters": count_parameters(model),
    }


if __name__ == "__main__":
    search(
        "alone",
        trial,
        models=TASKS["facts"],
        settings=(512, 32),
        equal=0.03,
        about={"steps": STEPS, "warmup": WARMUP, "held_out": HELD_OUT},
    )
