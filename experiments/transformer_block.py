"""The long trainings of lecture 7: `python experiments/transformer_block.py [--jobs 2] [--keep]`.

Writes `helpers/stored/transformer_block.json`: stacks of twelve blocks, with one part or another
left out, trained on the last digit of the sum of two neighbouring digits, and three stacks trained
on words that hold both digits themselves. Each entry of `runs` is one training from its own seed:

    stack, lr, warmup    what was trained, the learning rate, the steps of warm-up
    seed, parameters
    curve                the mean loss of each 20 steps, in nats
    accuracy             share of right answers on held-out digits
    alike                mean cosine of different words after the last block, at the end
    alike_curve          the same before every 20th step (settings in `WATCHED` only)
    first, last          share right at the first and at the last word (both digits in one word)

`Sublayers`, `Stack`, `start_wide`, `digit_batch`, `BothDigits` and `own_batch` are those of the
lecture, which trains some of the rows again. The result depends on the seeds and, in the second
digit, on the processor.
"""

from __future__ import annotations

import argparse
import json
import os
import time
from concurrent.futures import ProcessPoolExecutor, as_completed
from pathlib import Path

os.environ["LAMPLIGHT_QUIET"] = "1"  # one bar for all runs instead of one for each

import torch
import torch.nn.functional as F
from torch import Tensor, nn
from tqdm import tqdm

from helpers.attention import MultiHeadAttention
from helpers.blocks import FeedForward
from helpers.masks import causal_mask
from helpers.positions import RotaryPositions
from helpers.training import IGNORE, Batch, accuracy, count_parameters, set_seed, train

TABLE = Path(__file__).parents[1] / "helpers" / "stored" / "transformer_block.json"
SEEDS = range(3)
STEPS, BATCH, LENGTH = 300, 32, 16
HELD_OUT = 500
WINDOW = 20
LR, WARMUP = 0.003, 100

STACKS: dict[str, dict] = {
    "pre-norm": {},
    "post-norm": {"norm": "post"},
    "no feed-forward": {"feed_forward": False},
    "no residual": {"residual": False},
    "no norm": {"norm": "none"},
    "no norm, no feed-forward": {"norm": "none", "feed_forward": False},
    "no norm, wide start": {"norm": "none", "xavier": True},
    "pre-norm, wide start": {"xavier": True},
}
"""Switches of `Stack`, and whether its matrices start by Xavier's rule."""

OWN_DIGITS: dict[str, dict] = {
    "one block, no norm": {"n_blocks": 1, "norm": "none"},
    "twelve, no norm, no feed-forward": {"norm": "none", "feed_forward": False},
    "twelve, pre-norm, no feed-forward": {"feed_forward": False},
}
"""Switches of `Stack`, for words that hold two digits each."""

GRID = [(lr, warmup) for lr in (0.001, 0.003, 0.01) for warmup in (0, 100)]
"""Learning rates and warm-ups tried with pre-norm and with post-norm."""

WATCHED = [("post-norm", LR, WARMUP), ("post-norm", LR, 0), ("pre-norm", LR, 0)]
"""Settings in which alikeness is followed through the training."""


class Sublayers(nn.Module):
    """Attention and feed-forward, with parts that can be left out."""

    def __init__(
        self,
        norm: str = "pre",
        residual: bool = True,
        feed_forward: bool = True,
        d_model: int = 32,
    ) -> None:
        super().__init__()
        self.norm, self.residual = norm, residual
        attention = MultiHeadAttention(d_model, 2, positions=RotaryPositions())
        parts = [attention, FeedForward(d_model, 4 * d_model)]
        self.parts = nn.ModuleList(parts if feed_forward else parts[:1])
        make_norm = nn.Identity if norm == "none" else nn.LayerNorm
        self.norms = nn.ModuleList(make_norm(d_model) for _ in self.parts)

    def forward(self, x: Tensor, mask: Tensor) -> Tensor:
        """The stream (batch, T, d_model) after this block."""
        for part, norm in zip(self.parts, self.norms, strict=True):
            inside = norm(x) if self.norm == "pre" else x
            y = part(inside, mask=mask) if part is self.parts[0] else part(inside)
            x = x + y if self.residual else y  # (batch, T, d_model)
            x = norm(x) if self.norm == "post" else x
        return x


class Stack(nn.Module):
    """Embedding, blocks with a causal mask, a linear readout: ten digits in, ten logits out."""

    def __init__(
        self, n_blocks: int = 12, norm: str = "pre", d_model: int = 32, **switches: bool
    ) -> None:
        super().__init__()
        self.embedding = nn.Embedding(10, d_model)
        blocks = (Sublayers(norm, d_model=d_model, **switches) for _ in range(n_blocks))
        self.blocks = nn.ModuleList(blocks)
        self.last = nn.LayerNorm(d_model) if norm == "pre" else nn.Identity()
        self.readout = nn.Linear(d_model, 10)

    def stream(self, tokens: Tensor) -> list[Tensor]:
        """What enters the first block, and what leaves each of them, (batch, T, d_model) each."""
        mask = causal_mask(tokens.shape[1])
        xs = [self.embedding(tokens)]
        for block in self.blocks:
            xs.append(block(xs[-1], mask))
        return xs

    def forward(self, tokens: Tensor) -> Tensor:
        """Logits (batch, T, 10) for tokens (batch, T)."""
        return self.readout(self.last(self.stream(tokens)[-1]))


def start_wide(model: Stack) -> None:
    """Start all matrices of the blocks by Xavier's rule, as nn.Transformer does."""
    for module in model.blocks.modules():
        if isinstance(module, nn.Linear):
            nn.init.xavier_uniform_(module.weight)


def digit_batch(batch: int, T: int, generator: torch.Generator) -> Batch:
    """Digits; the target is the last digit of the sum of a digit and the one before it."""
    tokens = torch.randint(10, (batch, T), generator=generator)
    targets = torch.full_like(tokens, IGNORE)
    targets[:, 1:] = (tokens[:, 1:] + tokens[:, :-1]) % 10
    return tokens, targets


class BothDigits(nn.Module):
    """Embeds a number from 0 to 99 as the sum of two vectors, one for each digit."""

    def __init__(self, d_model: int = 32) -> None:
        super().__init__()
        self.tens = nn.Embedding(10, d_model)
        self.ones = nn.Embedding(10, d_model)

    def forward(self, tokens: Tensor) -> Tensor:
        """Vectors (batch, T, d_model) for tokens (batch, T)."""
        return self.tens(tokens // 10) + self.ones(tokens % 10)


def own_batch(batch: int, T: int, generator: torch.Generator) -> Batch:
    """Numbers from 0 to 99; the target is the last digit of the sum of the number's own digits."""
    tokens = torch.randint(100, (batch, T), generator=generator)
    return tokens, (tokens // 10 + tokens % 10) % 10


@torch.no_grad()
def alikeness(x: Tensor) -> float:
    """Mean cosine of all pairs of different words; x is (batch, T, d_model)."""
    x, T = F.normalize(x, dim=-1), x.shape[1]
    return (((x @ x.mT).sum(dim=(1, 2)) - T) / (T * (T - 1))).mean().item()


def run(stack: str, lr: float, warmup: int, seed: int) -> dict:
    """Train one stack and measure it on digits that it has not seen."""
    torch.set_num_threads(1)
    start = time.process_time()
    generator = set_seed(seed)
    own = stack in OWN_DIGITS
    switches = dict(OWN_DIGITS[stack] if own else STACKS[stack])
    make = own_batch if own else digit_batch
    wide = switches.pop("xavier", False)
    model = Stack(**switches)
    if wide:
        start_wide(model)
    if own:
        model.embedding = BothDigits()
    test = make(HELD_OUT, LENGTH, torch.Generator().manual_seed(1000))
    watched = (stack, lr, warmup) in WATCHED
    alike_curve: list[float] = []
    steps = iter(range(STEPS))

    def batch() -> Batch:
        """The next batch; if watched, every 20th time, alikeness before the step."""
        if watched and next(steps) % WINDOW == 0:
            with torch.no_grad():
                alike_curve.append(round(alikeness(model.stream(test[0][:50])[-1]), 3))
        return make(BATCH, LENGTH, generator)

    history = train(model, batch, STEPS, lr, warmup=warmup)
    with torch.no_grad():
        alike = alikeness(model.stream(test[0])[-1])
        right = (model(test[0]).argmax(dim=-1) == test[1]).double().mean(dim=0)  # (T,)
    row = {
        "stack": stack,
        "lr": lr,
        "warmup": warmup,
        "seed": seed,
        "parameters": count_parameters(model),
        "curve": [round(loss, 3) for loss in history.smoothed(WINDOW)],
        "accuracy": round(accuracy(model, test), 3),
        "alike": round(alike, 3),
    }
    if watched:
        row["alike_curve"] = alike_curve
    if own:
        row |= {"first": round(right[0].item(), 3), "last": round(right[-1].item(), 3)}
    return row | {"cpu_seconds": time.process_time() - start}


def jobs() -> list[tuple[str, float, int, int]]:
    """Everything that is trained."""
    plan = [(stack, LR, WARMUP) for stack in STACKS]
    plan += [(stack, *setting) for stack in ("pre-norm", "post-norm") for setting in GRID]
    plan += [(stack, LR, WARMUP) for stack in OWN_DIGITS]
    return [(*job, seed) for job in dict.fromkeys(plan) for seed in SEEDS]


def kept() -> tuple[list[dict], float]:
    """What the table holds already and need not be trained again, and the seconds it took."""
    table = json.loads(TABLE.read_text(encoding="utf-8"))
    rows = [
        row
        for row in table["runs"]
        if ((row["stack"], row["lr"], row["warmup"]) in WATCHED) == ("alike_curve" in row)
    ]
    return rows, table["cpu_seconds"] * len(rows) / len(table["runs"])


def write(rows: list[dict], seconds: float) -> None:
    """The table, one training a line, in an order that does not depend on who finished first."""
    order = [*STACKS, *OWN_DIGITS]
    rows.sort(key=lambda row: (order.index(row["stack"]), row["lr"], row["warmup"], row["seed"]))
    seconds += sum(row.pop("cpu_seconds", 0) for row in rows)
    head = {
        "made_by": "experiments/transformer_block.py",
        "torch": torch.__version__.split("+")[0],
        "threads": 1,
        "cpu_seconds": round(seconds),
        "steps": STEPS,
        "batch": BATCH,
        "length": LENGTH,
        "held_out": HELD_OUT,
        "window": WINDOW,
        "lr": LR,
        "warmup": WARMUP,
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
    parser.add_argument("--keep", action="store_true", help="train only what the table lacks")
    arguments = parser.parse_args()
    rows, seconds = kept() if arguments.keep else ([], 0.0)
    done = {(row["stack"], row["lr"], row["warmup"], row["seed"]) for row in rows}
    plan = [job for job in jobs() if job not in done]
    with ProcessPoolExecutor(arguments.jobs) as pool:
        futures = [pool.submit(run, *job) for job in plan]
        for future in tqdm(as_completed(futures), total=len(plan), desc="trainings"):
            rows.append(future.result())
    write(rows, seconds)


if __name__ == "__main__":
    main()
