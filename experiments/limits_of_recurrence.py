"""The long trainings of lecture 1: `python experiments/limits_of_recurrence.py [--jobs 2]`.

Writes `helpers/stored/limits_of_recurrence.json`, from which the lecture draws what would take
too long to train while reading. Each entry of `runs` is one training from its own seed:

    task, model, steps, size   what was trained, for how long, and how large the task is
    seed, parameters
    accuracy                   for agreement: a list, one number per entry of `attractors`, all
                               opposing; otherwise the share of right answers
    curve                      for agreement: accuracy at 3 opposing attractors after each number
                               of steps in `checkpoints`

The result depends on the seeds and, in the second digit, on the processor.
"""

from __future__ import annotations

import argparse
import json
import os
import time
from collections.abc import Callable
from concurrent.futures import ProcessPoolExecutor, as_completed
from pathlib import Path

os.environ["LAMPLIGHT_QUIET"] = "1"  # one bar for all runs instead of one for each

import torch
from torch import nn
from tqdm import tqdm

from helpers.data import (
    AGREEMENT_VOCABULARY,
    agreement_batch,
    associative_recall_batch,
    first_token_recall_batch,
)
from helpers.models import RecurrentModel, TransformerModel
from helpers.positions import RotaryPositions
from helpers.training import Batch, accuracy, count_parameters, set_seed, train

TABLE = Path(__file__).parents[1] / "helpers" / "stored" / "limits_of_recurrence.json"
SEEDS = {"agreement": range(6), "recall": range(3), "association": range(3)}
BATCH = 64
HELD_OUT = 500
ATTRACTORS = (0, 1, 2, 3, 4, 6, 8, 12)
CHECKPOINTS = (50, 100, 150, 200, 300, 400, 500, 600, 800, 1000, 1200, 1600, 2000, 2400)
VOCAB = len(AGREEMENT_VOCABULARY)


def attention(vocab: int, n_outputs: int, n_layers: int = 2, d_ff: int = 64) -> TransformerModel:
    """The transformer of these experiments."""
    positions = RotaryPositions()
    return TransformerModel(vocab, 32, n_outputs, n_layers, 2, d_ff=d_ff, positions=positions)


# Widths are chosen so that the models of a task have equal numbers of parameters, within 3 %.
MODELS: dict[str, dict[str, Callable[[], nn.Module]]] = {
    "agreement": {
        "RNN": lambda: RecurrentModel(VOCAB, 84, VOCAB),
        "LSTM": lambda: RecurrentModel(VOCAB, 48, VOCAB, "lstm"),
        "transformer": lambda: attention(VOCAB, VOCAB, d_ff=96),
    },
    "recall": {
        "RNN": lambda: RecurrentModel(17, 88, 8),
        "LSTM": lambda: RecurrentModel(17, 45, 8, "lstm"),
        "LSTM, forget bias 3": lambda: RecurrentModel(17, 45, 8, "lstm", forget_bias=3),
        "transformer": lambda: attention(17, 8),
    },
    "association": {
        "RNN": lambda: RecurrentModel(32, 85, 16),
        "LSTM": lambda: RecurrentModel(32, 45, 16, "lstm"),
        "attention, 1 layer": lambda: attention(32, 16, n_layers=1, d_ff=196),
        "attention, 2 layers": lambda: attention(32, 16),
    },
}


def make_batch(task: str, batch: int, size: int, generator: torch.Generator) -> Batch:
    """One batch of a recall task, of length or number of pairs `size`."""
    if task == "recall":
        return first_token_recall_batch(batch, size, generator)
    return associative_recall_batch(batch, size, generator, n_keys=16, n_values=16)


def run(task: str, model: str, steps: int, size: int, seed: int) -> dict:
    """Train one model and measure it on sentences or sequences that it has not seen."""
    torch.set_num_threads(1)
    start = time.process_time()
    generator = set_seed(seed)
    network = MODELS[task][model]()
    row = {"task": task, "model": model, "steps": steps, "size": size, "seed": seed}
    row["parameters"] = count_parameters(network)
    if task == "agreement":
        row["curve"] = train_agreement(network, steps, size, generator)
        row["accuracy"] = [agreement_accuracy(network, n) for n in ATTRACTORS]
    else:
        train(network, lambda: make_batch(task, BATCH, size, generator), steps)
        held_out = torch.Generator().manual_seed(1000)
        row["accuracy"] = round(accuracy(network, make_batch(task, HELD_OUT, size, held_out)), 3)
    return row | {"cpu_seconds": round(time.process_time() - start, 1)}


def agreement_accuracy(network: nn.Module, attractors: int) -> float:
    """Accuracy at the gap behind that many attractors, all opposing."""
    held_out = torch.Generator().manual_seed(1000)
    batch = agreement_batch(HELD_OUT, attractors, held_out, opposing=True)
    return round(accuracy(network, batch), 3)


def train_agreement(
    network: nn.Module, steps: int, attractors: int, generator: torch.Generator
) -> list[float]:
    """Train on 0 to `attractors` attractors; accuracy at `attractors` at each checkpoint."""
    curve: list[float] = []
    done = 0

    def batch() -> Batch:
        nonlocal done
        if done in CHECKPOINTS:
            curve.append(agreement_accuracy(network, attractors))
        done += 1
        return agreement_batch(BATCH, (0, attractors), generator, every_word=True)

    train(network, batch, steps)
    return [*curve, agreement_accuracy(network, attractors)]


def jobs() -> list[tuple[str, str, int, int, int]]:
    """Everything that is trained, the longest first."""
    plan = [("agreement", m, CHECKPOINTS[-1], 3) for m in MODELS["agreement"]]
    plan += [("recall", m, 300, T) for m in MODELS["recall"] for T in (10, 20, 50, 100)]
    plan += [
        ("recall", m, 1500, T) for m in MODELS["recall"] if m != "transformer" for T in (20, 50)
    ]
    plan += [("association", m, 400, n) for m in MODELS["association"] for n in (2, 4, 8, 16)]
    plan += [("association", "LSTM", 8000, n) for n in (2, 4, 8)]
    plan.sort(key=lambda job: job[2] * job[3], reverse=True)
    return [(*job, seed) for job in plan for seed in SEEDS[job[0]]]


def write(rows: list[dict]) -> None:
    """The table, one training a line, in an order that does not depend on who finished first."""
    rows.sort(key=lambda row: [row[k] for k in ("task", "model", "steps", "size", "seed")])
    seconds = sum(row.pop("cpu_seconds") for row in rows)
    head = {
        "made_by": "experiments/limits_of_recurrence.py",
        "torch": torch.__version__.split("+")[0],
        "threads": 1,
        "cpu_seconds": round(seconds),
        "batch": BATCH,
        "held_out": HELD_OUT,
        "attractors": ATTRACTORS,
        "checkpoints": CHECKPOINTS,
    }
    lines = ",\n".join("  " + json.dumps(row) for row in rows)
    text = json.dumps(head, indent=1)[:-2] + ',\n "runs": [\n' + lines + "\n ]\n}\n"
    json.loads(text)
    TABLE.parent.mkdir(exist_ok=True)
    TABLE.write_text(text, encoding="utf-8")
    print(f"{len(rows)} trainings, {seconds:.0f} s of CPU time: {TABLE}")


def main() -> None:
    """Run everything and write the table."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--jobs", type=int, default=1, help="processes, one thread each")
    plan = jobs()
    rows = []
    with ProcessPoolExecutor(parser.parse_args().jobs) as pool:
        futures = [pool.submit(run, *job) for job in plan]
        for future in tqdm(as_completed(futures), total=len(plan), desc="trainings"):
            rows.append(future.result())
    write(rows)


if __name__ == "__main__":
    main()
