"""The trainings of lecture 7: `python -m experiments.transformer_block`.

Stacks of twelve blocks, whole or with one part left out, learn one of two tasks (the setting):

    sums     digits; the last digit of the sum of a digit and the one before it
    facts    words of two parts; a fixed random digit for each of the 400 words

The learning rate rises during the first 100 of 300 steps; "sums, no warm-up" leaves that out, and
"facts, 1,000 steps" goes on for longer. Three seeds try every rate.

What is measured of a training, on rows that it has not seen:

    validation   share right on other rows; with facts, at the first word of each row
    accuracy     share right
    first, last  with facts: share right at the first and at the last word
    alike        mean cosine of different words after the last block
    curve        the mean loss of each 20 steps, in nats

`Sublayers`, `Stack`, `start_aligned`, `sum_batch`, `TwoParts` and `fact_batch` are those of the
lecture. The result depends on the seeds and, in the second digit, on the processor.
"""

from __future__ import annotations

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from experiments.search import search
from helpers.attention import MultiHeadAttention
from helpers.blocks import FeedForward
from helpers.masks import causal_mask
from helpers.positions import RotaryPositions
from helpers.tokens import IGNORE_INDEX, Batch
from helpers.training import accuracy, count_parameters, set_seed, train

STEPS, WARMUP, ROWS, LENGTH = 300, 100, 32, 16
HELD_OUT = 500
WINDOW = 20

STACKS: dict[str, dict] = {
    "pre-norm": {},
    "post-norm": {"norm": "post"},
    "no feed-forward": {"feed_forward": False},
    "no norm": {"norm": "none"},
    "no residual": {"residual": False},
    "queries and keys frozen": {},
    "attention only": {"residual": False, "feed_forward": False},
    "attention only, aligned start": {"residual": False, "feed_forward": False},
    "one block": {"n_blocks": 1},
    "one block, no feed-forward": {"n_blocks": 1, "feed_forward": False},
}
"""Switches of `Stack`. The last one is for `experiments.block_without_network`."""

TASKS: dict[str, tuple[str, ...]] = {
    "sums": tuple(STACKS)[:-2],
    "sums, no warm-up": ("pre-norm", "post-norm"),
    "facts": ("one block", "no feed-forward"),
    "facts, 1,000 steps": ("one block", "no feed-forward"),
}
"""The stacks that are compared on each task."""


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
        self.lm_head = nn.Linear(d_model, 10)

    def stream(self, tokens: Tensor) -> list[Tensor]:
        """What enters the first block, and what leaves each of them, (batch, T, d_model) each."""
        mask = causal_mask(tokens.shape[1])
        xs = [self.embedding(tokens)]
        for block in self.blocks:
            xs.append(block(xs[-1], mask))
        return xs

    def forward(self, tokens: Tensor) -> Tensor:
        """Logits (batch, T, 10) for tokens (batch, T)."""
        return self.lm_head(self.last(self.stream(tokens)[-1]))


def start_aligned(model: Stack) -> None:
    """Orthogonal matrices, zero biases, and keys that are like queries from the start.

    After He et al. (2023), who train deep transformers without residual connections.
    """
    for module in model.blocks.modules():
        if isinstance(module, nn.Linear):
            nn.init.orthogonal_(module.weight)
            nn.init.zeros_(module.bias)
    with torch.no_grad():
        for block in model.blocks:
            attention = block.parts[0]
            attention.W_key.weight.copy_(2 * attention.W_query.weight)


def freeze_queries_and_keys(model: Stack) -> None:
    """Leave the queries and keys of all blocks as they began."""
    for block in model.blocks:
        attention = block.parts[0]
        for projection in (attention.W_query, attention.W_key):
            projection.requires_grad_(False)


def sum_batch(batch: int, T: int, generator: torch.Generator) -> Batch:
    """Digits; the target is the last digit of the sum of a digit and the one before it."""
    tokens = torch.randint(10, (batch, T), generator=generator)
    targets = torch.full_like(tokens, IGNORE_INDEX)
    targets[:, 1:] = (tokens[:, 1:] + tokens[:, :-1]) % 10
    return tokens, targets


class TwoParts(nn.Module):
    """Embeds a word from 0 to 399 as the sum of two vectors, one for each of its two parts."""

    def __init__(self, d_model: int = 32) -> None:
        super().__init__()
        self.front = nn.Embedding(20, d_model)
        self.back = nn.Embedding(20, d_model)

    def forward(self, tokens: Tensor) -> Tensor:
        """Vectors (batch, T, d_model) for tokens (batch, T)."""
        return self.front(tokens // 20) + self.back(tokens % 20)


FACTS = torch.randint(10, (400,), generator=torch.Generator().manual_seed(0))
"""A digit for each word, drawn once."""


def fact_batch(batch: int, T: int, generator: torch.Generator) -> Batch:
    """Words from 0 to 399; the target is the word's own digit in `FACTS`."""
    tokens = torch.randint(400, (batch, T), generator=generator)
    return tokens, FACTS[tokens]


@torch.no_grad()
def alikeness(x: Tensor) -> float:
    """Mean cosine of all pairs of different words; x is (batch, T, d_model)."""
    x, T = F.normalize(x, dim=-1), x.shape[1]
    return (((x @ x.mT).sum(dim=(1, 2)) - T) / (T * (T - 1))).mean().item()


def make(stack: str, task: str) -> Stack:
    """A fresh model with its start."""
    model = Stack(**STACKS[stack])
    if stack == "attention only, aligned start":
        start_aligned(model)
    if stack == "queries and keys frozen":
        freeze_queries_and_keys(model)
    if task.startswith("facts"):
        model.embedding = TwoParts()
    return model


@torch.no_grad()
def right_by_place(model: nn.Module, batch: Batch) -> Tensor:
    """Share right at each place, (T,)."""
    tokens, targets = batch
    return (model(tokens).argmax(dim=-1) == targets).double().mean(dim=0)


def trial(stack: str, task: str, lr: float, seed: int) -> dict:
    """Train one stack on one task."""
    generator = set_seed(seed)
    facts = task.startswith("facts")
    model, draw = make(stack, task), fact_batch if facts else sum_batch
    warmup = 0 if task == "sums, no warm-up" else WARMUP
    steps = 1000 if task == "facts, 1,000 steps" else STEPS
    history = train(model, lambda: draw(ROWS, LENGTH, generator), steps, lr, warmup=warmup)
    tests = [draw(HELD_OUT, LENGTH, torch.Generator().manual_seed(s)) for s in (2000, 1000)]
    row = {"validation": accuracy(model, tests[0]), "accuracy": accuracy(model, tests[1])}
    if facts:
        places = right_by_place(model, tests[1])  # (T,)
        row["validation"] = right_by_place(model, tests[0])[0].item()
        row |= {"first": places[0].item(), "last": places[-1].item()}
    return {name: round(value, 3) for name, value in row.items()} | {
        "alike": round(alikeness(model.stream(tests[1][0])[-1]), 3),
        "curve": [round(loss, 3) for loss in history.smoothed(WINDOW)],
        "parameters": count_parameters(model),
    }


def main() -> None:
    """Search, compare, write the table."""
    search(
        "transformer_block",
        trial,
        models=tuple(STACKS),
        settings=tuple(TASKS),
        skip=lambda stack, task: stack not in TASKS[task],
        equal=0.03,
        about={
            "steps": STEPS,
            "warmup": WARMUP,
            "rows": ROWS,
            "length": LENGTH,
            "held_out": HELD_OUT,
            "window": WINDOW,
        },
    )


if __name__ == "__main__":
    main()
