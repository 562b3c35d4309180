"""Two heads with ReLU, from more seeds: `python -m experiments.two_heads_more` (`--help`).

The reader, the questions and the search are those of `experiments.two_heads`. Writes
`helpers/results/stored/two_heads_more.json`, two or three minutes of one core.
"""

from __future__ import annotations

from experiments.search import search
from experiments.two_heads import BATCH, D_HIDDEN, HELD_OUT, STEPS, trial

if __name__ == "__main__":
    search(
        "two_heads_more",
        trial,
        ["two heads"],
        ["ReLU"],
        seeds=range(200, 232),
        equal=0.01,
        about={"steps": STEPS, "batch": BATCH, "held_out": HELD_OUT, "d_hidden": D_HIDDEN},
    )
