"""The long table of lecture 5: `python experiments/two_heads.py [--jobs 2]`.

Writes `helpers/stored/two_heads.json`. Each entry of `runs` is one training from its own seed, of
an `AttentionReader` that is asked at once for the previous symbol and for the flagged one:

    heads, flag_start, steps   how many heads, how loud the flag is before training, and for how
                               many steps it is trained
    seed, parameters
    previous, flagged, both    share of held-out positions at which that answer is right
    on_previous, on_flagged    for each head, its mean weight on the symbol that is asked for
    spread                     for each head, the standard deviation of its weight on the previous
                               symbol over the positions that are asked, but for the first

The result depends on the seeds and, near the edge between success and failure, on the processor.
"""

from __future__ import annotations

import argparse
import json
import os
import time
from concurrent.futures import ProcessPoolExecutor, as_completed
from itertools import product
from pathlib import Path

os.environ["LAMPLIGHT_QUIET"] = "1"  # one bar for all runs instead of one for each

import torch
from tqdm import tqdm

from helpers.data import two_relations_batch
from helpers.models import AttentionReader
from helpers.training import IGNORE, count_parameters, set_seed, train

TABLE = Path(__file__).parents[1] / "helpers" / "stored" / "two_heads.json"
SEEDS = range(10)
HEADS = (1, 2, 4)
FLAG_STARTS = (1.0, 0.5)
STEPS = (300, 1200)
N_SYMBOLS, LENGTH, BATCH, LR = 52, 12, 64, 0.005
HELD_OUT = 1000


def run(heads: int, flag_start: float, steps: int, seed: int) -> dict:
    """Train one model and measure it on sequences that it has not seen."""
    torch.set_num_threads(1)
    begun = time.process_time()
    generator = set_seed(seed)
    model = AttentionReader(N_SYMBOLS, LENGTH, heads, n_questions=2, flag_start=flag_start)
    train(model, lambda: two_relations_batch(BATCH, LENGTH, generator), steps, LR)
    previous, flagged, both = shares(model)
    on_previous, on_flagged, spread = looks(model)
    return {
        "heads": heads,
        "flag_start": flag_start,
        "steps": steps,
        "seed": seed,
        "parameters": count_parameters(model),
        "previous": previous,
        "flagged": flagged,
        "both": both,
        "on_previous": on_previous,
        "on_flagged": on_flagged,
        "spread": spread,
        "cpu_seconds": time.process_time() - begun,
    }


@torch.no_grad()
def shares(model: AttentionReader) -> list[float]:
    """Share of right answers to the first question, the second, and both at once."""
    held_out = torch.Generator().manual_seed(1000)
    tokens, targets = two_relations_batch(HELD_OUT, LENGTH, held_out)
    right = (model(tokens).argmax(-1) == targets)[targets != IGNORE]  # batch, question, position
    right = right.view(HELD_OUT, 2, -1)
    counts = (right[:, 0], right[:, 1], right.all(dim=1))
    return [round(share.double().mean().item(), 3) for share in counts]


@torch.no_grad()
def looks(model: AttentionReader) -> list[list[float]]:
    """For each head its mean weight on the previous symbol, on the flagged one, and the spread."""
    tokens, _ = two_relations_batch(HELD_OUT, LENGTH, torch.Generator().manual_seed(1000))
    _, weights = model(tokens, return_weights=True)  # (batch, heads, T, T)
    # Not the first position that is asked: there the previous symbol may be the flagged one.
    asked = weights[:, :, LENGTH // 2 + 1 :]  # (batch, heads, positions, T)
    on_previous = asked.diagonal(LENGTH // 2, dim1=-2, dim2=-1)  # (batch, heads, positions)
    at = (tokens >= N_SYMBOLS).int().argmax(dim=1)  # (batch,)
    on_flagged = asked[torch.arange(HELD_OUT), :, :, at]  # (batch, heads, positions)
    flat = on_previous.transpose(0, 1).flatten(1)  # (heads, batch * positions)
    means = (flat.mean(dim=1), on_flagged.mean(dim=(0, 2)), flat.std(dim=1))
    return [[round(number, 3) for number in row.tolist()] for row in means]


def main() -> None:
    """Run everything and write the table."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--jobs", type=int, default=1, help="processes, one thread each")
    plan = list(product(HEADS, FLAG_STARTS, STEPS, SEEDS))
    rows = []
    with ProcessPoolExecutor(parser.parse_args().jobs) as pool:
        futures = [pool.submit(run, *job) for job in plan]
        for future in tqdm(as_completed(futures), total=len(plan), desc="trainings"):
            rows.append(future.result())
    rows.sort(key=lambda row: [row[k] for k in ("heads", "flag_start", "steps", "seed")])
    seconds = sum(row.pop("cpu_seconds") for row in rows)
    head = {
        "made_by": "experiments/two_heads.py",
        "torch": torch.__version__.split("+")[0],
        "threads": 1,
        "cpu_seconds": round(seconds),
        "batch": BATCH,
        "held_out": HELD_OUT,
        "lr": LR,
    }
    lines = ",\n".join("  " + json.dumps(row) for row in rows)
    text = json.dumps(head, indent=1)[:-2] + ',\n "runs": [\n' + lines + "\n ]\n}\n"
    json.loads(text)
    TABLE.parent.mkdir(exist_ok=True)
    TABLE.write_text(text, encoding="utf-8")
    print(f"{len(rows)} trainings, {seconds:.0f} s of CPU time: {TABLE.name}")


if __name__ == "__main__":
    main()
