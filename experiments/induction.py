"""Copying what came before, with one layer and with two: `python -m experiments.induction`.

A segment of different symbols at random comes again and again. Settings:

    random   each sequence has a segment length of its own
    fixed    all segments have one length, so that looking back a constant number of places does;
             one layer only

Models have equally many parameters, within 1 %. Writes `helpers/results/stored/induction.json`:

    right                    share of right symbols, of those that can be known
    other_lengths            the same, with segments longer than any in training
    by_length                the same at each length of `each`
    curve                    at each number of steps in `checkpoints`: the share, the largest
                             weight of any head on the symbol before, and the largest
                             prefix-matching score of any head
    before, matching         both scores for each layer and head at the end
    without                  by "zero", "mean" and "resample", the share without each head
    without_layer            the same without all heads of each layer
    writes                   for each layer and head, the share of symbols whose own logit the head
                             raises most when it looks at them
"""

from __future__ import annotations

import torch
from torch import Tensor

from experiments.search import search  # first: it silences the progress bars
from helpers.config import TransformerConfig
from helpers.interp.ablation import ablated
from helpers.interp.hooks import head_columns
from helpers.interp.induction import prefix_matching_scores, repeated_segments
from helpers.models import TransformerModel
from helpers.positions import RotaryPositions
from helpers.tokens import IGNORE_INDEX, Batch
from helpers.training import count_parameters, set_seed, train

VOCAB, LENGTH, BATCH, STEPS, WARMUP = 32, 24, 16, 300, 50
SEGMENTS = {"random": (4, 10), "fixed": (7, 7)}
LONGER = (11, 16)
EACH = tuple(range(4, 11))
HELD_OUT, TEST_SEED, VALIDATION_SEED = 200, 1000, 2000
CHECKPOINTS = (0, 25, 50, 75, 100, 125, 150, 175, 200, 250, 300)
MODELS = {"one layer": (1, 40, 4, 120), "two layers": (2, 32, 2, 64)}


def build(model: str) -> TransformerModel:
    """One layer of four heads, or two layers of two."""
    n_layers, d_model, n_heads, d_ff = MODELS[model]
    config = TransformerConfig(VOCAB, d_model, n_layers, n_heads, d_ff)
    return TransformerModel(config, RotaryPositions())


def test_set(segment: tuple[int, int], seed: int) -> tuple[Tensor, Tensor, Tensor]:
    """Held-out sequences."""
    generator = torch.Generator().manual_seed(seed)
    return repeated_segments(HELD_OUT, LENGTH, VOCAB, segment, generator)


@torch.no_grad()
def share(network: TransformerModel, tokens: Tensor, targets: Tensor) -> float:
    """Of the symbols that can be known, those that are right."""
    asked = targets != IGNORE_INDEX
    right = network(tokens).argmax(-1)[asked] == targets[asked]
    return round(right.double().mean().item(), 3)


@torch.no_grad()
def scores(network: TransformerModel, tokens: Tensor, lengths: Tensor) -> list[list[list[float]]]:
    """For each layer, the scores of its heads: on the symbol before, and matching."""
    _, weights = network(tokens, return_weights=True)
    pairs = [prefix_matching_scores(w, lengths) for w in weights]
    return [[[round(x, 3) for x in kind.tolist()] for kind in pair] for pair in pairs]


@torch.no_grad()
def writes(network: TransformerModel) -> list[list[float]]:
    """How often a head that looks at one symbol alone raises that symbol's logit most."""
    shares = []
    symbols = torch.arange(VOCAB)
    for layer, block in enumerate(network.blocks):
        words = block.norm_attention(network.embedding(symbols))  # (V, d_model)
        values = block.attention.W_value(words)  # (V, heads * d_v)
        own = []
        for head in range(block.attention.n_heads):
            columns = head_columns(network, layer, head)
            added = values[:, columns] @ block.attention.W_out.weight[:, columns].T
            added = added - added.mean(dim=0)  # what it adds for every symbol alike is no copying
            logits = (added * network.stack.norm.weight) @ network.lm_head.weight.T  # (V, V)
            own.append(round((logits.argmax(-1) == symbols).double().mean().item(), 3))
        shares.append(own)
    return shares


def trial(model: str, setting: str, lr: float, seed: int) -> dict:
    """Train one model, and measure it on sequences that it has not seen."""
    segment = SEGMENTS[setting]
    tokens, targets, lengths = test_set(segment, TEST_SEED)
    generator = set_seed(seed)
    network = build(model)
    curve: list[list[float]] = []
    done = 0

    def look() -> None:
        by_layer = scores(network, tokens, lengths)
        best = [max(max(pair[kind]) for pair in by_layer) for kind in (0, 1)]
        curve.append([share(network, tokens, targets), *best])

    def batch() -> Batch:
        nonlocal done
        if done in CHECKPOINTS:
            look()
        done += 1
        return repeated_segments(BATCH, LENGTH, VOCAB, segment, generator)[:2]

    train(network, batch, STEPS, lr, warmup=WARMUP)
    look()
    row = {
        "validation": share(network, *test_set(segment, VALIDATION_SEED)[:2]),
        "parameters": count_parameters(network),
    }
    by_layer = scores(network, tokens, lengths)
    heads = [(i, h) for i, b in enumerate(network.blocks) for h in range(b.attention.n_heads)]
    layers = [[head for head in heads if head[0] == i] for i in range(len(network.blocks))]

    def without(off: list[list[tuple[int, int]]]) -> dict[str, list[float]]:
        found: dict[str, list[float]] = {}
        for by in ("zero", "mean", "resample"):
            found[by] = []
            for these in off:
                with ablated(network, these, by, torch.Generator().manual_seed(0)):
                    found[by].append(share(network, tokens, targets))
        return found

    return row | {
        "right": share(network, tokens, targets),
        "other_lengths": share(network, *test_set(LONGER, TEST_SEED)[:2]),
        "by_length": [share(network, *test_set((n, n), TEST_SEED)[:2]) for n in EACH],
        "curve": curve,
        "before": [pair[0] for pair in by_layer],
        "matching": [pair[1] for pair in by_layer],
        "without": without([[head] for head in heads]),
        "without_layer": without(layers),
        "writes": writes(network),
    }


if __name__ == "__main__":
    search(
        "induction",
        trial,
        list(MODELS),
        list(SEGMENTS),
        equal=0.01,
        skip=lambda model, setting: (model, setting) == ("two layers", "fixed"),
        about={
            "steps": STEPS,
            "batch": BATCH,
            "length": LENGTH,
            "vocab": VOCAB,
            "segments": SEGMENTS,
            "longer": LONGER,
            "each": EACH,
            "checkpoints": CHECKPOINTS,
            "held_out": HELD_OUT,
        },
    )
