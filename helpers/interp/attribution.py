"""The effect of each head on a score: activation patching, and attribution patching.

*Activation patching* replaces the context vectors of a head by those of another run and measures
how much a score changes, with one run of the model for each head. *Attribution patching* (Nanda,
2023; Syed et al., 2023) estimates all these changes at once, to first order: the difference between
the two runs times the gradient of the score.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

import torch
from torch import Tensor

from helpers.models import TransformerModel
from helpers.validation import require

if TYPE_CHECKING:
    from jaxtyping import Float, Int

Score = Callable[[Tensor], Tensor]
"""Maps the logits of the last position, (batch, vocab), to a number for each text, (batch,)."""
Contexts = list[Tensor]
"""For each layer the context vectors of all heads side by side: (batch, T, heads · d_v)."""


def head_contexts(
    model: TransformerModel, tokens: Int[Tensor, "batch T"], score: Score
) -> tuple[Contexts, Contexts, Float[Tensor, " batch"]]:
    """Context vectors of all heads for these texts, the gradients of the score there, the score."""
    kept: Contexts = []

    def keep(_module: torch.nn.Module, args: tuple) -> None:
        args[0].retain_grad()
        kept.append(args[0])

    hooks = [b.attention.W_out.register_forward_pre_hook(keep) for b in model.blocks]
    try:
        with torch.enable_grad():
            found = score(model(tokens, last_only=True)[:, -1])  # (batch,)
            found.sum().backward()
    finally:
        for hook in hooks:
            hook.remove()
    gradients = [z.grad for z in kept]
    model.zero_grad(set_to_none=True)
    return [z.detach() for z in kept], gradients, found.detach()


def head_attribution(
    model: TransformerModel,
    tokens: Int[Tensor, "batch T"],
    other: Int[Tensor, "batch T"],
    score: Score,
) -> Float[Tensor, "layers heads"]:
    """Mean change of the score if a head's context vectors came from the other texts, estimated.

    Args:
        model: with an equal number of heads in each block.
        tokens: the texts.
        other: texts of the same shape, row by row.
        score: the quantity to attribute.

    Raises:
        ValueError: if the shapes differ.
    """
    _check(tokens, other)
    contexts, gradients, _ = head_contexts(model, tokens, score)
    others, _, _ = head_contexts(model, other, score)
    rows = []
    for block, z, g, z_other in zip(model.blocks, contexts, gradients, others, strict=True):
        each = ((z_other - z) * g).sum(dim=(0, 1)) / len(tokens)  # (heads · d_v,)
        rows.append(each.view(block.attention.n_heads, -1).sum(dim=1))
    return torch.stack(rows)


@torch.no_grad()
def head_effects(
    model: TransformerModel,
    tokens: Int[Tensor, "batch T"],
    score: Score,
    replace: Callable[[int, int, Tensor], Tensor],
    heads: Iterable[tuple[int, int]],
) -> dict[tuple[int, int], float]:
    """Mean change of the score when the context vectors of one head are replaced, for each head.

    The layers before the head are computed once for all heads.

    Args:
        model: in evaluation mode.
        tokens: the texts.
        score: the quantity to measure.
        replace: maps (layer, head, context vectors) to new context vectors, (batch, T, d_v).
        heads: as (layer, head), both counted from 0.

    Raises:
        ValueError: if there is no such head.
    """
    streams: list[Tensor] = []
    hooks = [
        b.register_forward_pre_hook(lambda _, args: streams.append(args[0])) for b in model.blocks
    ]
    try:
        clean = score(model(tokens, last_only=True)[:, -1])  # (batch,)
    finally:
        for hook in hooks:
            hook.remove()
    effects = {}
    for layer, head in heads:
        with _replaced(model, layer, head, replace):
            x = streams[layer]
            for block in model.blocks[layer:]:
                x = block(x, causal=True)  # (batch, T, d_model)
        changed = score(model.lm_head(model.stack.norm(x[:, -1])))  # (batch,)
        effects[layer, head] = (changed - clean).mean().item()
    return effects


@contextmanager
def _replaced(
    model: TransformerModel,
    layer: int,
    head: int,
    replace: Callable[[int, int, Tensor], Tensor],
) -> Iterator[None]:
    n_layers = len(model.blocks)
    require(0 <= layer < n_layers, "heads", f"layer {layer}", f"numbers from 0 to {n_layers - 1}")
    attention = model.blocks[layer].attention
    last = attention.n_heads - 1
    require(0 <= head <= last, "heads", f"head {head}", f"numbers from 0 to {last}")
    own = slice(head * attention.d_v, (head + 1) * attention.d_v)

    def change(_module: torch.nn.Module, args: tuple) -> Tensor:
        contexts = args[0].clone()  # (batch, T, heads · d_v)
        contexts[..., own] = replace(layer, head, contexts[..., own])
        return contexts

    hook = attention.W_out.register_forward_pre_hook(change)
    try:
        yield
    finally:
        hook.remove()


def _check(tokens: Tensor, other: Tensor) -> None:
    needed = f"shape {tuple(tokens.shape)}, as tokens"
    require(other.shape == tokens.shape, "other", f"shape {tuple(other.shape)}", needed)
