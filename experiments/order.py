"""The long trainings of lecture 6: `python experiments/order.py`.

Writes `helpers/stored/order.json`: agreement, as in lecture 1, by a transformer with each position
encoding, trained on 0 to 3 attractors and tested on sentences up to eight times as long, in which
all attractors oppose the subject. Heads have `d_k = 16`; in "rotary, wide" it is 64. Each entry of
`runs` is one training from its own seed:

    encoding, seed, parameters
    accuracy    one list for each number of steps in `steps`: the share of right verbs for each
                number of attractors in `attractors`, whose sentences have the mean number of
                words in `words`

The result depends on the seeds and, in the second digit, on the processor.
"""

from __future__ import annotations

import json
import os
import time
from collections.abc import Callable
from pathlib import Path

os.environ["LAMPLIGHT_QUIET"] = "1"  # one bar for all runs instead of one for each

import torch
from tqdm import tqdm

from helpers.data import AGREEMENT_VOCABULARY, PAD, agreement_batch
from helpers.models import TransformerModel
from helpers.positions import (
    ALiBiPositions,
    LearnedPositions,
    Positions,
    RotaryPositions,
    SinusoidalPositions,
)
from helpers.training import Batch, accuracy, count_parameters, set_seed, train

TABLE = Path(__file__).parents[1] / "helpers" / "stored" / "order.json"
SEEDS = (0, 1, 2, 3, 4)
BATCH = 64
HELD_OUT = 500
D_MODEL, N_HEADS = 32, 2
WIDE = {"rotary, wide": (64, 1)}  # d_model and heads where they are not these
TRAINED_ATTRACTORS = 3
ATTRACTORS = (3, 7, 16, 33)  # 1, 2, 4 and 8 times as many words on average
STEPS = (300, 600, 1200)
VOCAB = len(AGREEMENT_VOCABULARY)
LONGEST = 5 * ATTRACTORS[-1] + 5  # words in the longest sentence

ENCODINGS: dict[str, Callable[[], Positions]] = {
    "none": Positions,
    "learned": lambda: LearnedPositions(LONGEST, D_MODEL),
    "sinusoidal": SinusoidalPositions,
    "rotary": RotaryPositions,
    "ALiBi": lambda: ALiBiPositions(N_HEADS),
    "rotary, wide": RotaryPositions,
}


def held_out() -> list[Batch]:
    """Sentences for each entry of `ATTRACTORS`, all attractors opposing."""
    generator = torch.Generator().manual_seed(1000)
    return [agreement_batch(HELD_OUT, n, generator, opposing=True) for n in ATTRACTORS]


def run(encoding: str, seed: int, tests: list[Batch]) -> dict:
    """Train one model and measure it after each number of steps in `STEPS`."""
    generator = set_seed(seed)
    positions, (d_model, n_heads) = ENCODINGS[encoding](), WIDE.get(encoding, (D_MODEL, N_HEADS))
    model = TransformerModel(VOCAB, d_model, VOCAB, 2, n_heads, d_ff=96, positions=positions)
    measured: list[list[float]] = []
    done = 0

    def measure() -> None:
        measured.append([round(accuracy(model, test), 3) for test in tests])

    def batch() -> Batch:
        nonlocal done
        if done in STEPS:
            measure()
        done += 1
        return agreement_batch(BATCH, (0, TRAINED_ATTRACTORS), generator, every_word=True)

    train(model, batch, STEPS[-1])
    measure()
    row = {"encoding": encoding, "seed": seed, "parameters": count_parameters(model)}
    return row | {"accuracy": measured}


def main() -> None:
    """Run everything and write the table."""
    torch.set_num_threads(1)
    start = time.process_time()
    tests = held_out()
    plan = [(encoding, seed) for encoding in ENCODINGS for seed in SEEDS]
    rows = [run(*job, tests) for job in tqdm(plan, desc="trainings")]
    seconds = time.process_time() - start
    words = [round((tokens != PAD).sum(dim=1).double().mean().item(), 1) for tokens, _ in tests]
    head = {
        "made_by": "experiments/order.py",
        "torch": torch.__version__.split("+")[0],
        "threads": 1,
        "cpu_seconds": round(seconds),
        "batch": BATCH,
        "held_out": HELD_OUT,
        "steps": STEPS,
        "attractors": ATTRACTORS,
        "words": words,
    }
    lines = ",\n".join("  " + json.dumps(row) for row in rows)
    text = json.dumps(head, indent=1)[:-2] + ',\n "runs": [\n' + lines + "\n ]\n}\n"
    json.loads(text)
    TABLE.parent.mkdir(exist_ok=True)
    TABLE.write_text(text, encoding="utf-8")
    print(f"{len(rows)} trainings, {seconds:.0f} s of CPU time: {TABLE}")


if __name__ == "__main__":
    main()
