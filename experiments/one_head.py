"""One head with a ReLU readout, from more seeds: `python -m experiments.one_head` (`--help`).

The reader, the questions and the search are those of `experiments.two_heads`, and so is the setting
`quiet start`, in which two heads are the control. Writes `helpers/results/stored/one_head.json`,
nine minutes of one core.

In the head, `more_steps`: the shares from the same seeds at the same rate, after five times as many
steps.
"""

from __future__ import annotations

import torch

from experiments.search import search
from experiments.two_heads import BATCH, D_HIDDEN, HELD_OUT, STEPS, trial

SEEDS = tuple(range(5, 29))
MORE, RATE = 5 * STEPS, 0.003
"""The rate that the search chose, with 300 steps."""


def more_steps() -> dict:
    """What the same seeds have when training goes on for longer."""
    torch.set_num_threads(1)
    rows = [trial("one head", "ReLU", RATE, seed, MORE) for seed in SEEDS]
    measured = {field: [r[field] for r in rows] for field in ("previous", "flagged", "both")}
    return {"steps": MORE, "lr": RATE, **measured}


if __name__ == "__main__":
    search(
        "one_head",
        trial,
        ["one head", "two heads"],
        ["ReLU", "quiet start"],
        seeds=SEEDS,
        skip=lambda model, setting: (model, setting) == ("two heads", "ReLU"),
        equal=0.01,
        about={
            "steps": STEPS,
            "batch": BATCH,
            "held_out": HELD_OUT,
            "d_hidden": D_HIDDEN,
            "more_steps": more_steps(),
        },
    )
