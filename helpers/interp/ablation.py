"""Ablation of heads, to measure what they contribute.

There are three kinds of ablation. Zero ablation also removes a constant part of the output, which
later layers may rely on. Mean ablation, by the mean over other inputs, removes only what depends
on the input. Resample ablation inserts the value of another input, which later layers know from
training (Zhang and Nanda, 2024, compare such choices).
"""

from __future__ import annotations

import contextlib
import copy
from collections.abc import Callable, Iterable, Iterator
from typing import Literal

import torch
from torch import Tensor, nn

from helpers.models import TransformerModel
from helpers.validation import require

By = Literal["zero", "mean", "resample"]


@contextlib.contextmanager
def ablated(
    model: nn.Module,
    heads: Iterable[tuple[int, int]],
    by: By = "zero",
    generator: torch.Generator | None = None,
) -> Iterator[nn.Module]:
    """Within the block, the context vectors of these heads are replaced.

        with ablated(model, [(1, 2)], "mean"):
            logits = model(tokens)

    Args:
        model: any module that contains `MultiHeadAttention`, or another attention module with
            `n_heads` and a linear layer `W_out`. It gets hooks, which are removed at the end of
            the block.
        heads: as (layer, head), both counted from 0. A layer is one of the model's attention
            modules, in the order of `model.modules()`.
        by: "zero"; "mean", over the sentences of the batch, at each position; or "resample", the
            context vectors of the same head and position for another sentence of the batch.
        generator: random generator for the choice of the other sentences.

    Raises:
        ValueError: if there is no such layer, head or way, or if a batch has no other sentence.
    """
    ways = {"zero": _zero, "mean": _mean, "resample": _resample(generator)}
    require(by in ways, "by", repr(by), " or ".join(map(repr, ways)))
    layers = [m for m in model.modules() if hasattr(m, "W_out") and hasattr(m, "n_heads")]
    require(len(layers) >= 1, "model", type(model).__name__, "one with MultiHeadAttention in it")
    with contextlib.ExitStack() as stack:
        for layer, head in heads:
            fits = 0 <= layer < len(layers)
            require(fits, "heads", f"layer {layer}", f"numbers from 0 to {len(layers) - 1}")
            attention = layers[layer]
            fits = 0 <= head < attention.n_heads
            require(fits, "heads", f"head {head}", f"numbers from 0 to {attention.n_heads - 1}")
            d_v = attention.W_out.in_features // attention.n_heads
            own = slice(head * d_v, (head + 1) * d_v)
            hook = attention.W_out.register_forward_pre_hook(_replacing(own, ways[by]))
            stack.callback(hook.remove)
        yield model


def _replacing(own: slice, way: Callable[[Tensor], Tensor]) -> Callable:
    def replace(_module: nn.Module, args: tuple[Tensor]) -> Tensor:
        context = args[0].clone()  # (batch, T_q, heads · d_v)
        context[..., own] = way(context[..., own])
        return context

    return replace


def _zero(found: Tensor) -> Tensor:
    return torch.zeros_like(found)


def _mean(found: Tensor) -> Tensor:
    require(len(found) >= 2, "batch", f"{len(found)} sentence", "at least 2 to take a mean over")
    return found.mean(dim=0, keepdim=True).expand_as(found)


def _resample(generator: torch.Generator | None) -> Callable[[Tensor], Tensor]:
    def way(found: Tensor) -> Tensor:
        batch = len(found)
        require(batch >= 2, "batch", f"{batch} sentence", "at least 2 to take another's value")
        order = torch.randperm(batch, generator=generator)
        other = torch.empty_like(order)
        other[order] = order.roll(1)  # a cycle, so that no sentence gets its own value
        return found[other]

    return way


def without_heads(model: TransformerModel, heads: Iterable[tuple[int, int]]) -> TransformerModel:
    """A copy of the model with some heads ablated by zeros, each given as (layer, head).

    As in lecture 5, the columns of the head in `W_out` are set to zero, so that the head adds
    nothing to the residual stream. The model itself is not changed.

    Raises:
        ValueError: if there is no such layer or head.
    """
    copied = copy.deepcopy(model)
    for layer, head in heads:
        n_layers = len(copied.blocks)
        fits = 0 <= layer < n_layers
        require(fits, "heads", f"layer {layer}", f"numbers from 0 to {n_layers - 1}")
        attention = copied.blocks[layer].attention
        fits = 0 <= head < attention.n_heads
        require(fits, "heads", f"head {head}", f"numbers from 0 to {attention.n_heads - 1}")
        d_v = attention.d_v
        with torch.no_grad():
            attention.W_out.weight[:, head * d_v : (head + 1) * d_v] = 0.0
    return copied
