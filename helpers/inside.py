"""A trained model opened: what flows through it is recorded, and replaced by that of another run.

A *place* in a model is a name and a layer, both as in lecture 12:

    ("stream", i)     what enters block i; with i = n_layers, what leaves the last one
    ("queries", i)    of all heads side by side, before positions turn them
    ("keys", i)       the same
    ("values", i)     the same
    ("contexts", i)   what all heads of layer i have found, side by side, before `W_out`
"""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import TYPE_CHECKING

import torch
from torch import Tensor, nn

from helpers.checks import require, require_dims, require_sizes
from helpers.models import TransformerModel
from helpers.training import IGNORE

if TYPE_CHECKING:
    from jaxtyping import Float, Int

Place = tuple[str, int]
NAMES = ("stream", "queries", "keys", "values", "contexts")


@torch.no_grad()
def record(
    model: TransformerModel, tokens: Int[Tensor, "batch T"]
) -> dict[Place, Float[Tensor, "batch T width"]]:
    """What stands at every place while the model reads."""
    found: dict[Place, Tensor] = {}
    n_layers = len(model.blocks)
    places = [(name, i) for i in range(n_layers) for name in NAMES] + [("stream", n_layers)]
    with contextlib.ExitStack() as stack:
        for place in places:

            def keep(value: Tensor, place: Place = place) -> Tensor:
                found[place] = value
                return value

            stack.enter_context(patched(model, place, keep))
        model(tokens)
    return found


@contextlib.contextmanager
def patched(
    model: TransformerModel, place: Place, change: Callable[[Tensor], Tensor]
) -> Iterator[nn.Module]:
    """Within the block, the model goes on with `change(found)` wherever it found `found`.

        with patched(model, ("stream", 1), lambda found: other):
            logits = model(tokens)

    Args:
        model: it is itself changed, and restored at the end of the block.
        place: see above.
        change: gets what stands at the place, (batch, T, width), and returns what shall stand
            there.

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
    """The columns of queries, keys, values and contexts that belong to one head.

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
def swapped(
    model: TransformerModel,
    found: Mapping[Place, Float[Tensor, "batch T width"]],
    names: Iterable[str],
    layer: int,
    head: int | None = None,
    word: int | slice = slice(None),
) -> Iterator[nn.Module]:
    """Within the block, the model goes on with what stood at these places in another run.

        other = record(model, other_tokens)
        with swapped(model, other, ["values"], layer=1, head=3):
            logits = model(tokens)

    Args:
        model: it is itself changed, and restored at the end of the block.
        found: what `record` found in the other run, over texts of the same shape.
        names: which of `NAMES` come from there.
        layer: of these places.
        head: the one whose columns are taken; all columns, if not given.
        word: where in the texts; everywhere, if not given.

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
            stack.enter_context(patched(model, (name, layer), taking(found[name, layer])))
        yield model


def in_order(scores: Float[Tensor, " n"], positive: Int[Tensor, " n"]) -> float:
    """Of all pairs of a positive and a negative case, the share in which the positive scores more.

    1 if some threshold parts the two kinds, 0.5 if the scores know nothing of them. A constant
    added to all scores changes nothing, so this tells what is lost from what is only tilted. It
    is the area under the ROC curve.

    Raises:
        ValueError: if there is not one `positive` for each score, or all cases are of one kind.
    """
    needed = f"shape {tuple(scores.shape)}, one for each of scores"
    require(positive.shape == scores.shape, "positive", f"shape {tuple(positive.shape)}", needed)
    yes, no = scores[positive == 1], scores[positive == 0]
    counts = f"{len(yes)} positive and {len(no)} negative cases"
    require(len(yes) > 0 and len(no) > 0, "positive", counts, "at least one of each")
    apart = yes[:, None] - no  # (positive, negative)
    return ((apart > 0).double() + (apart == 0).double() / 2).mean().item()


def repeated_segments(
    batch: int,
    length: int,
    vocab: int,
    segment: tuple[int, int],
    generator: torch.Generator,
) -> tuple[Int[Tensor, "batch T"], Int[Tensor, "batch T"], Int[Tensor, " batch"]]:
    """Different symbols at random, the same again and again: tokens, targets, segment lengths.

    Targets are the next symbols wherever they can be known, which is from the first symbol of
    the second turn on; elsewhere they are `IGNORE`.

    Args:
        batch: number of sequences.
        length: T.
        vocab: number of symbols.
        segment: the least and the greatest length of a segment, each equally likely.
        generator: where all choices come from.

    Raises:
        ValueError: if a size is below 1, there are too few symbols for a segment, or nothing of it
            would come twice.
    """
    require_sizes(batch=batch)
    low, high = segment
    require(1 <= low <= high <= vocab, "segment", segment, f"1 <= least <= greatest <= {vocab}")
    require(high < length, "segment", segment, f"less than length = {length}")
    order = torch.rand(batch, vocab, generator=generator).argsort(dim=1)  # (batch, vocab)
    lengths = torch.randint(low, high + 1, (batch,), generator=generator)  # (batch,)
    at = torch.arange(length + 1)  # (T + 1,)
    text = order.gather(1, at % lengths[:, None])  # (batch, T + 1)
    known = at[:-1] >= lengths[:, None]  # (batch, T)
    return text[:, :-1], text[:, 1:].masked_fill(~known, IGNORE), lengths


def pattern_scores(
    weights: Float[Tensor, "batch heads T T"], lengths: Int[Tensor, " batch"]
) -> tuple[Float[Tensor, " heads"], Float[Tensor, " heads"]]:
    """Each head's mean weight on the symbol before, and on the one *behind the last same symbol*.

    The second is the prefix-matching score of Olsson et al. (2022): from a symbol that was there
    before, one segment back, to the symbol that followed it then. Both are means over the places
    from the second turn on.

    Raises:
        ValueError: if `weights` has not four dimensions, there is not one length for each row, or
            no row has a second turn.
    """
    require_dims("weights", weights, 4, "(batch, heads, T, T)")
    needed = f"shape ({len(weights)},), one for each row of weights"
    require(lengths.shape == (len(weights),), "lengths", f"shape {tuple(lengths.shape)}", needed)
    T = weights.shape[-1]
    at, lengths = torch.arange(T, device=weights.device), lengths.to(weights.device)  # (T,)
    asked = at >= lengths[:, None]  # (batch, T)
    require(bool(asked[:, 1:].any()), "lengths", lengths[:3].tolist(), f"one below T = {T}")
    before = weights.diagonal(-1, dim1=-2, dim2=-1)  # (batch, heads, T - 1)
    behind = (at - lengths[:, None] + 1).clamp(min=0)  # (batch, T)
    index = behind[:, None, :, None].expand(-1, weights.shape[1], -1, 1)
    matching = weights.gather(-1, index)[..., 0]  # (batch, heads, T)
    shares = [
        (found * where[:, None]).sum(dim=(0, 2)) / where.sum()
        for found, where in ((before, asked[:, 1:]), (matching, asked))
    ]
    return shares[0], shares[1]
