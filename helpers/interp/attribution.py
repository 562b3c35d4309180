"""What each head contributes to a score: real patching, and its estimate from one gradient.

*Activation patching* replaces what a head has found by what it found in another run, and measures
by how much a score changes: one run of the model for each head. *Attribution patching* (Nanda,
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
"""Logits of the last position (batch, vocab) to one number for each text (batch,)."""
Contexts = list[Tensor]
"""For each layer what its heads have found, side by side: (batch, T, heads · d_v)."""


def head_contexts(
    model: TransformerModel, tokens: Int[Tensor, "batch T"], score: Score
) -> tuple[Contexts, Contexts, Float[Tensor, " batch"]]:
    """What all heads find in these texts, the gradient of the score there, and the score."""
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
    """By how much the score would change, on average, if a head had read the other texts.

    Args:
        model: with an equal number of heads in each block.
        tokens: the texts.
        other: texts of the same shape, row by row.
        score: what is measured.

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
    """The mean change of the score when one head's context vectors are replaced, head by head.

    What happens before the head's layer is computed once and not again for each head.

    Args:
        model: in evaluation mode.
        tokens: the texts.
        score: what is measured.
        replace: (layer, head, found) to what shall stand in place of `found`, (batch, T, d_v).
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
