"""Which rows of a learned table agreement needs: `python -m experiments.learned_rows`.

Trains the models with learned positions of `experiments.order_opening`, from the same seeds and at
the same rate, replaces some rows of the table by Gaussian noise, and measures agreement at 8 times
the length of training. In `runs`, one entry a seed:

    trained      number of rows that training has changed, all at the beginning of the table
    spread       standard deviation of the entries of trained rows, and of the rows beyond
    accuracy     with the table as it is; with noise of the spread of trained rows in all rows
                 beyond; in the rows at which the subject can stand; and in every row
    on_subject   largest mean weight that a head of block 1 has, at the gap, on the subject

Writes `helpers/results/stored/learned_rows.json`, a minute of one core.
"""

from __future__ import annotations

import json
import os
import time

os.environ["LAMPLIGHT_QUIET"] = "1"

import torch
from torch import nn

from experiments.order import STEPS, WORDS
from experiments.order_opening import LONGEST_OPENING, make, put_opening, tests
from experiments.search import ROOT, SEEDS
from helpers.data.agreement import agreement_batch
from helpers.results.comparison import results
from helpers.tokens import IGNORE_INDEX, Batch
from helpers.training import accuracy, set_seed, train

FILE = ROOT / "helpers" / "results" / "stored" / "learned_rows.json"


@torch.no_grad()
def with_noise(model: nn.Module, rows: slice, spread: float, test: Batch) -> float:
    """Accuracy while these rows of the table hold noise."""
    table = model.positions.table.weight
    kept = table[rows].clone()
    table[rows] = spread * torch.randn(kept.shape, generator=torch.Generator().manual_seed(5))
    share = accuracy(model, test)
    table[rows] = kept
    return round(share, 3)


@torch.no_grad()
def on_subject(model: nn.Module, test: Batch) -> float:
    """Mean weight on the subject at the gap, of the head of the last block that has most."""
    tokens, targets = test
    row = torch.arange(len(tokens))
    gap = (targets != IGNORE_INDEX).int().argmax(dim=1)  # (batch,)
    subject = (tokens >= WORDS).sum(dim=1) + 1  # (batch,): after the opening and "the"
    weights = model(tokens, return_weights=True)[1][-1]  # (batch, heads, T, T)
    return round(weights[row, :, gap, subject].mean(dim=0).max().item(), 2)


def run(seed: int) -> dict:
    """Train one model and measure it."""
    generator = set_seed(seed)
    model = make("learned")
    table = model.positions.table.weight
    before = table.detach().clone()

    def batch() -> Batch:
        return put_opening(agreement_batch(64, (0, 3), generator, every_word=True), generator)

    train(model, batch, STEPS["agreement"], results("order_opening").rate("learned"))
    changed = (table != before).any(dim=1)  # (longest,)
    n, test = int(changed.sum()), tests(1000)[-1]
    assert changed[:n].all()
    spread = table[:n].std().item()
    return {
        "seed": seed,
        "trained": n,
        "spread": [round(spread, 2), round(table[n:].std().item(), 2)],
        "accuracy": {
            "as it is": round(accuracy(model, test), 3),
            "noise beyond": with_noise(model, slice(n, None), spread, test),
            "noise at the subject": with_noise(model, slice(LONGEST_OPENING + 2), spread, test),
            "noise everywhere": with_noise(model, slice(None), spread, test),
        },
        "on_subject": on_subject(model, test),
    }


def main() -> None:
    """Train, measure, and write the file."""
    torch.set_num_threads(1)
    start = time.process_time()
    runs = [run(seed) for seed in SEEDS]
    head = {"made_by": "experiments/learned_rows.py", "torch": torch.__version__.split("+")[0]}
    head["threads"] = 1
    table = {**head, "cpu_seconds": round(time.process_time() - start), "runs": runs}
    FILE.write_text(json.dumps(table, indent=1) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
