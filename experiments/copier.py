"""Two layers that copy, with weights small enough for a page: `python -m experiments.copier`.

The model, task and learning rate are those of `experiments.induction`, which compares two layers
with one; here one of them is trained for longer, from one seed. Its weights are rounded to 8 bits,
so that lecture 12 can put them into the reader's browser; all numbers are those of the rounded
model. Writes `helpers/results/stored/copier.json`, 15 seconds of one core:

    arrays          by name: shape, step, and the rounded weights as signed bytes in base64; a
                    weight is its byte times the step
    right           the share of right symbols among those that can be known
    other_lengths   the same, with segments longer than any in training
    broken          the same, where the second turn begins in the middle of the segment
    heads           the four heads as (layer, head), and for each: `before`, its mean weight on the
                    symbol before, and `matching`, its prefix-matching score
    without         for each set of ablated heads (named "0.0" or "0.0+1.1") the share of right
                    symbols by "zero", "mean" and "resample"
"""

from __future__ import annotations

import base64
import itertools
import json
import os
import time
from functools import partial

os.environ["LAMPLIGHT_QUIET"] = "1"

import torch

from experiments.induction import BATCH, LENGTH, LONGER, SEGMENTS, VOCAB, WARMUP, build, test_set
from experiments.search import ROOT
from helpers.interp.ablation import ablated
from helpers.interp.induction import broken_turns, prefix_matching_scores, repeated_segments
from helpers.models import TransformerModel
from helpers.results.comparison import results
from helpers.training import accuracy, set_seed, train

SEED, STEPS, TEST_SEED = 0, 1000, 1000
FILE = ROOT / "helpers" / "results" / "stored" / "copier.json"


def rounded(model: TransformerModel) -> dict[str, dict]:
    """Round the model's weights to 127 steps on either side of 0, and return them as stored."""
    arrays = {}
    with torch.no_grad():
        for name, array in model.named_parameters():
            step = float(f"{array.abs().max().item() / 127:.6g}") or 1.0
            numbers = (array / step).round().clamp(-127, 127).to(torch.int8)
            array.copy_(numbers * step)
            text = base64.b64encode(numbers.numpy().tobytes()).decode()
            arrays[name] = {"shape": list(array.shape), "step": step, "base64": text}
    return arrays


@torch.no_grad()
def measure(model: TransformerModel) -> dict:
    """What the table holds beside the weights."""
    tokens, targets, lengths = test_set(SEGMENTS["random"], TEST_SEED)
    _, weights = model(tokens, return_weights=True)
    pairs = [prefix_matching_scores(w, lengths) for w in weights]
    heads = [(i, h) for i, b in enumerate(model.blocks) for h in range(b.attention.n_heads)]
    without = {}
    for several in (1, 2):
        for off in itertools.combinations(heads, several):
            name = "+".join(f"{i}.{h}" for i, h in off)
            without[name] = {}
            for by in ("zero", "mean", "resample"):
                with ablated(model, off, by, torch.Generator().manual_seed(0)):
                    without[name][by] = round(accuracy(model, (tokens, targets)), 3)
    dice = torch.Generator().manual_seed(TEST_SEED)
    return {
        "right": round(accuracy(model, (tokens, targets)), 3),
        "other_lengths": round(accuracy(model, test_set(LONGER, TEST_SEED)[:2]), 3),
        "broken": round(accuracy(model, broken_turns(200, VOCAB, 8, dice)), 3),
        "heads": {
            "at": heads,
            "before": [round(x, 3) for before, _ in pairs for x in before.tolist()],
            "matching": [round(x, 3) for _, matching in pairs for x in matching.tolist()],
        },
        "without": without,
    }


def main() -> None:
    """Train, round, measure, and write the table."""
    torch.set_num_threads(1)
    start = time.process_time()
    lr = results("induction").rate("two layers", "random")
    dice = set_seed(SEED)
    model = build("two layers")
    draw = partial(repeated_segments, BATCH, LENGTH, VOCAB, SEGMENTS["random"], dice)
    train(model, lambda: draw()[:2], STEPS, lr, warmup=WARMUP)
    arrays = rounded(model)
    head = {
        "made_by": "experiments/copier.py",
        "torch": torch.__version__.split("+")[0],
        "threads": 1,
        "seed": SEED,
        "lr": lr,
        "steps": STEPS,
        "batch": BATCH,
        "warmup": WARMUP,
        **measure(model.eval()),
        "cpu_seconds": round(time.process_time() - start),
        "arrays": arrays,
    }
    FILE.write_text(json.dumps(head, indent=1) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
