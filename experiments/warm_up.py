"""Post-norm with warm-up and without, watched from inside: `python -m experiments.warm_up`.

Trains the post-norm stack of `experiments.transformer_block` on the sums at one learning rate, and
measures every `EVERY` steps how similar the tokens are at depth 12. Each entry of `runs` is one
training:

    accuracy   share right on new rows, after the last step
    cosine     mean cosine of different tokens after the last block, before step 0, 20, 40, …

Writes `helpers/results/stored/warm_up.json`, over a minute of one core.
"""

from __future__ import annotations

import os
import time

os.environ["LAMPLIGHT_QUIET"] = "1"

import torch

from experiments.search import SEEDS, write_table
from experiments.transformer_block import (
    HELD_OUT,
    LENGTH,
    ROWS,
    STEPS,
    WARMUP,
    alikeness,
    make,
    sum_batch,
)
from helpers.tokens import Batch
from helpers.training import accuracy, set_seed, train

LR, EVERY, WATCHED = 0.003, 20, 50


def run(warmup: int, seed: int) -> dict:
    """Train one stack."""
    generator, new = set_seed(seed), torch.Generator().manual_seed(1000)
    model = make("post-norm", "sums")
    test, steps, cosines = sum_batch(HELD_OUT, LENGTH, new), iter(range(STEPS)), []

    def draw() -> Batch:
        if next(steps) % EVERY == 0:
            with torch.no_grad():
                cosines.append(round(alikeness(model.stream(test[0][:WATCHED])[-1]), 3))
        return sum_batch(ROWS, LENGTH, generator)

    train(model, draw, STEPS, LR, warmup=warmup)
    share = round(accuracy(model, test), 3)
    return {"warmup": warmup, "seed": seed, "accuracy": share, "cosine": cosines}


def main() -> None:
    """Train, write the table."""
    torch.set_num_threads(1)
    start = time.process_time()
    runs = [run(warmup, seed) for warmup in (WARMUP, 0) for seed in SEEDS]
    head = {
        "made_by": "experiments/warm_up.py",
        "torch": torch.__version__.split("+")[0],
        "threads": 1,
        "steps": STEPS,
        "lr": LR,
        "every": EVERY,
        "cpu_seconds": round(time.process_time() - start),
    }
    write_table("warm_up", head, runs=runs)


if __name__ == "__main__":
    main()
