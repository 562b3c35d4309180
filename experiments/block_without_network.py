"""The facts of lecture 7 without a network: `python -m experiments.block_without_network`.

`experiments.transformer_block` compares one block that has a feed-forward network with twelve
attention layers that have none, so depth and network change together. Here is the missing control:
the same single block, trained once with its network and once without. The facts, rows, steps,
warm-up and what is measured are those of `experiments.transformer_block`. Writes
`helpers/results/stored/block_without_network.json`, three minutes of one core.
"""

from __future__ import annotations

from experiments import transformer_block
from experiments.search import search

MODELS = {"one block": "one block", "no network": "one block, no feed-forward"}
"""The names of the table, and those of `experiments.transformer_block`."""


def trial(model: str, task: str, lr: float, seed: int) -> dict:
    """Train one block, with its network or without."""
    return transformer_block.trial(MODELS[model], task, lr, seed)


if __name__ == "__main__":
    search(
        "block_without_network",
        trial,
        models=tuple(MODELS),
        settings=("facts", "facts, 1,000 steps"),
        equal=0.03,
        about={
            "steps": transformer_block.STEPS,
            "warmup": transformer_block.WARMUP,
            "rows": transformer_block.ROWS,
            "length": transformer_block.LENGTH,
            "held_out": transformer_block.HELD_OUT,
        },
    )
