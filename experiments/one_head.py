"""One head with a ReLU readout, from more seeds: `python -m experiments.one_head` (`--help`).

The reader, the questions and the search are those of `experiments.two_heads`. Writes
`helpers/stored/one_head.json`, a minute of one core.
"""

from __future__ import annotations

from experiments.search import search
from experiments.two_heads import BATCH, D_HIDDEN, HELD_OUT, STEPS, trial

if __name__ == "__main__":
    search(
        "one_head",
        trial,
        ["one head"],
        ["ReLU"],
        seeds=range(5, 29),
        equal=0.01,
        about={"steps": STEPS, "batch": BATCH, "held_out": HELD_OUT, "d_hidden": D_HIDDEN},
    )
