"""Activations of a model: cache them, and patch them with those of another run.

A *place* in a model is a name and a layer, as in lecture 12:

    ("stream", i)     residual stream before block i; with i = n_layers, after the last block
    ("queries", i)    queries of all heads side by side, before rotary positions
    ("keys", i)       keys, likewise
    ("values", i)     values, likewise
    ("contexts", i)   context vectors of all heads of layer i side by side, before `W_out`
"""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import TYPE_CHECKING

import torch
from torch import Tensor, nn

from helpers.models import TransformerModel
from helpers.validation import require

if TYPE_CHECKING:
    from jaxtyping import Float, Int

Place = tuple[str, int]
NAMES = ("stream", "queries", "keys", "values", "contexts")


@torch.no_grad()
def cache_activations(
    model: TransformerModel, tokens: Int[Tensor, "batch T"]
) -> dict[Place, Float[Tensor, "batch T width"]]:
    """The activations at every place for these tokens."""
    found: dict[Place, Tensor] = {}
    n_layers = len(model.blocks)
    places = [(name, i) for i in range(n_layers) for name in NAMES] + [("stream", n_layers)]
    with contextlib.ExitStack() as stack:
        for place in places:

            def keep(value: Tensor, place: Place = place) -> Tensor:
                found[place] = value
                return value

            stack.enter_context(patch(model, place, keep))
        model(tokens)
    return found


@contextlib.contextmanager
def patch(
    model: TransformerModel, place: Place, change: Callable[[Tensor], Tensor]
) -> Iterator[nn.Module]:
    """Within the block, `change` replaces the activation at a place.

        with patch(model, ("stream", 1), lambda found: other):
            logits = model(tokens)

    Args:
        model: it gets a hook, which is removed at the end of the block.
        place: see above.
        change: maps the activation, (batch, T, width), to the one that takes its place.

    Raises:
        ValueError: if the model has no such place.
    """
    name, layer = place
    require(name in NAMES, "place", repr(name), " or ".join(map(repr, NAMES)))
    last = len(model.blocks) - (name != "stream")
    require(0 <= layer <= last, "place", f"layer {layer}", f"numbers from 0 to {last}")
    if name == "stream":
        module = model.stack.norm if layer == len(model.blocks) else model.blocks[layer]
    else:
        attention = model.blocks[layer].attention
        projections = {"queries": "W_query", "keys": "W_key", "values": "W_value"}
        module = getattr(attention, projections.get(name, "W_out"))
    if name in ("stream", "contexts"):
        hook = module.register_forward_pre_hook(lambda _, args: (change(args[0]), *args[1:]))
    else:
        hook = module.register_forward_hook(lambda _, args, found: change(found))
    try:
        yield model
    finally:
        hook.remove()


def head_columns(model: TransformerModel, layer: int, head: int) -> slice:
    """The columns of one head in queries, keys, values and contexts.

    Raises:
        ValueError: if there is no such layer or head, its queries and values differ in width, or
            several heads share keys and values.
    """
    n_layers = len(model.blocks)
    require(0 <= layer < n_layers, "layer", layer, f"a number from 0 to {n_layers - 1}")
    attention = model.blocks[layer].attention
    last = attention.n_heads - 1
    require(0 <= head <= last, "head", head, f"a number from 0 to {last}")
    d_k, d_v = attention.d_k, attention.d_v
    require(d_k == d_v, "model", f"d_k = {d_k} and d_v = {d_v}", "heads whose widths are equal")
    of_keys = attention.W_key.out_features // d_k
    came = f"{of_keys} heads of keys for {last + 1} of queries"
    require(of_keys == last + 1, "model", came, "keys and values of its own for each head")
    return slice(head * d_v, (head + 1) * d_v)


@contextlib.contextmanager
def patch_from(
    model: TransformerModel,
    found: Mapping[Place, Float[Tensor, "batch T width"]],
    names: Iterable[str],
    layer: int,
    head: int | None = None,
    word: int | slice = slice(None),
) -> Iterator[nn.Module]:
    """Within the block, activations of another run replace those at these places.

        other = cache_activations(model, other_tokens)
        with patch_from(model, other, ["values"], layer=1, head=3):
            logits = model(tokens)

    Args:
        model: it gets hooks, which are removed at the end of the block.
        found: from `cache_activations` of the other run, on texts of the same shape.
        names: those of `NAMES` to patch.
        layer: of these places.
        head: the head to patch; all columns if not given.
        word: the position to patch; all positions if not given.

    Raises:
        ValueError: if there is no such place, layer or head, or the other run's texts had another
            shape.
    """
    columns = slice(None) if head is None else head_columns(model, layer, head)

    def taking(other: Tensor) -> Callable[[Tensor], Tensor]:
        def change(stream: Tensor) -> Tensor:
            came, needed = tuple(other.shape), f"shape {tuple(stream.shape)}, as in this run"
            require(other.shape == stream.shape, "found", f"shape {came}", needed)
            new = stream.clone()  # (batch, T, width)
            new[:, word, columns] = other[:, word, columns]
            return new

        return change

    with contextlib.ExitStack() as stack:
        for name in names:
            known = name in NAMES and (head is None or name != "stream")
            which = NAMES if head is None else NAMES[1:]
            require(known, "names", repr(name), " or ".join(map(repr, which)))
            require((name, layer) in found, "layer", layer, "one that was recorded")
            stack.enter_context(patch(model, (name, layer), taking(found[name, layer])))
        yield model
