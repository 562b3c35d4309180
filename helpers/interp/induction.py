"""Induction heads: texts that repeat, and how much of a head's attention continues them."""

from __future__ import annotations

from typing import TYPE_CHECKING

import torch
from torch import Tensor

from helpers.tokens import IGNORE_INDEX
from helpers.validation import require, require_dims, require_sizes

if TYPE_CHECKING:
    from jaxtyping import Float, Int


def repeated_segments(
    batch: int,
    length: int,
    vocab: int,
    segment: tuple[int, int],
    generator: torch.Generator,
) -> tuple[Int[Tensor, "batch T"], Int[Tensor, "batch T"], Int[Tensor, " batch"]]:
    """Different symbols at random, the same again and again: tokens, targets, segment lengths.

    Targets are the next symbols wherever they can be known, which is from the first symbol of
    the second turn on; elsewhere they are `IGNORE_INDEX`.

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
    return text[:, :-1], text[:, 1:].masked_fill(~known, IGNORE_INDEX), lengths


def prefix_matching_scores(
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
