"""One head, from the quiet start and with more steps: `python -m experiments.one_head_quiet`.

`experiments.one_head` gives one head either five times as many steps or the quieter start. Here it
gets both, from seeds that served for nothing else. Writes
`helpers/results/stored/one_head_quiet.json`, two minutes of one core.
"""

from __future__ import annotations

import json
import time
from pathlib import Path

import torch

from experiments.one_head import MORE, RATE
from experiments.two_heads import trial

SEEDS = tuple(range(200, 208))
FILE = Path(__file__).parent.parent / "helpers" / "results" / "stored" / "one_head_quiet.json"


def measure() -> dict:
    """The accuracy on each question, and on both at once, for each seed."""
    torch.set_num_threads(1)
    start = time.process_time()
    rows = [trial("one head", "quiet start", RATE, seed, MORE) for seed in SEEDS]
    return {
        "made_by": "experiments/one_head_quiet.py",
        "torch": torch.__version__.split("+")[0],
        "steps": MORE,
        "lr": RATE,
        "seeds": list(SEEDS),
        **{field: [r[field] for r in rows] for field in ("previous", "flagged", "both")},
        "threads": 1,
        "cpu_seconds": round(time.process_time() - start),
    }


if __name__ == "__main__":
    FILE.write_text(json.dumps(measure(), indent=1) + "\n", encoding="utf-8")
