"""The head that a reader of lecture 3 plays with: `python -m experiments.seed_swap`.

Trains the seed swap's head of `experiments.attention_head` with one seed, and writes
`helpers/results/stored/seed_swap.json`: for eight labels, the eight wishes for them and the eight
kinds of seeds, in this order, the score that each of these 24 parts adds as a query to each of them
as a key, and the logits that each adds as a value. A gardener is the sum of three parts and the
projections are linear, so these numbers give the weights and the answer for every swap of eight.
Four seconds of one core.
"""

from __future__ import annotations

import json
import math
import time
from pathlib import Path

import torch

from experiments.attention_head import (
    BATCH,
    D_MODEL,
    HELD_OUT,
    N_LABELS,
    N_SEEDS,
    Lookup,
    swap_batch,
)
from helpers.training import accuracy, set_seed, train

FILE = Path(__file__).parents[1] / "helpers" / "results" / "stored" / "seed_swap.json"
SEED, D_K, STEPS, LR, JARS = 2, 16, 200, 0.01, 8


@torch.no_grad()
def swap(model: Lookup, table: torch.Tensor, g: torch.Generator) -> dict:
    """One swap of eight, and what every part of its vectors adds to scores and logits."""
    labels = torch.randperm(N_LABELS, generator=g)[:JARS]
    parts = torch.cat([labels, N_LABELS + labels, 2 * N_LABELS + torch.arange(N_SEEDS)])
    x = table[parts]  # (24, D_MODEL)
    scores = model.W_query(x) @ model.W_key(x).mT / math.sqrt(D_K)  # (24, 24)
    logits = model.W_value(x) @ model.lm_head.weight.mT  # (24, N_SEEDS)
    return {
        "labels": labels.tolist(),
        "wishes": torch.randint(JARS, (JARS,), generator=g).tolist(),
        "seeds": torch.randint(N_SEEDS, (JARS,), generator=g).tolist(),
        "scores": [[round(v, 2) for v in row] for row in scores.tolist()],
        "logits": [[round(v, 2) for v in row] for row in logits.tolist()],
        "bias": [round(v, 2) for v in model.lm_head.bias.tolist()],
    }


def main() -> None:
    """Train, measure, round, and write the file."""
    torch.set_num_threads(1)
    start = time.process_time()
    set_seed(SEED)
    g = torch.Generator().manual_seed(1000 + SEED)  # another stream than that of the weights
    table = torch.randn(2 * N_LABELS + N_SEEDS, D_MODEL, generator=g) / math.sqrt(3)
    model = Lookup("divided by √d_k", D_K)
    train(model, lambda: swap_batch(table, BATCH, g), STEPS, LR)
    found = {
        "made_by": "experiments/seed_swap.py",
        "torch": torch.__version__.split("+")[0],
        "threads": 1,
        "seed": SEED,
        "d_k": D_K,
        "steps": STEPS,
        "lr": LR,
        "accuracy": round(accuracy(model, swap_batch(table, HELD_OUT, g)), 4),
        "swap": swap(model, table, g),
        "cpu_seconds": round(time.process_time() - start),
    }
    FILE.write_text(json.dumps(found) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
