"""Induction heads: sequences that repeat, and prefix-matching scores."""

from __future__ import annotations

import base64
from typing import TYPE_CHECKING

import torch
from torch import Tensor

from helpers.config import TransformerConfig
from helpers.models import TransformerModel
from helpers.positions import RotaryPositions
from helpers.results.store import stored
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
    """Random segments of different symbols, repeated: tokens, targets, segment lengths.

    Targets are the next symbols where they are predictable, from the first symbol of the second
    repetition on; elsewhere they are `IGNORE_INDEX`.

    Args:
        batch: number of sequences.
        length: T.
        vocab: number of symbols.
        segment: shortest and longest segment, with all lengths between equally likely.
        generator: random generator.

    Raises:
        ValueError: if a size is below 1, there are too few symbols for a segment, or a segment is
            not shorter than the sequence.
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
    """Each head's mean weight on the previous token, and its prefix-matching score.

    The prefix-matching score (Olsson et al., 2022) is the mean weight on the token that followed
    the current token one segment earlier. Both are means over the positions from the second
    repetition on.

    Raises:
        ValueError: if `weights` has not four dimensions, there is not one length for each row, or
            no row has a second repetition.
    """
    require_dims("weights", weights, 4, "(batch, heads, T, T)")
    needed = f"shape ({len(weights)},), one for each row of weights"
    require(lengths.shape == (len(weights),), "lengths", f"shape {tuple(lengths.shape)}", needed)
    T = weights.shape[-1]
    at, lengths = torch.arange(T, device=weights.device), lengths.to(weights.device)  # (T,)
    asked = at >= lengths[:, None]  # (batch, T)
    require(bool(asked[:, 1:].any()), "lengths", lengths[:3].tolist(), f"one below T = {T}")
    before = weights.diagonal(-1, dim1=-2, dim2=-1)  # (batch, heads, T - 1)
    following = (at - lengths[:, None] + 1).clamp(min=0)  # (batch, T)
    index = following[:, None, :, None].expand(-1, weights.shape[1], -1, 1)
    matching = weights.gather(-1, index)[..., 0]  # (batch, heads, T)
    shares = [
        (found * where[:, None]).sum(dim=(0, 2)) / where.sum()
        for found, where in ((before, asked[:, 1:]), (matching, asked))
    ]
    return shares[0], shares[1]


def broken_turns(
    batch: int, vocab: int, segment: int, generator: torch.Generator
) -> tuple[Int[Tensor, "batch T"], Int[Tensor, "batch T"]]:
    """Segments whose repetition starts in the middle, such as abcd cdab: tokens and targets.

    Targets are the next symbols wherever this pair of symbols has occurred before; elsewhere they
    are `IGNORE_INDEX`. In `repeated_segments` the next symbol is always the one seen longest ago;
    here that holds in the second half of the repetition only.

    Args:
        batch: number of sequences.
        vocab: number of symbols.
        segment: the length of a segment, even; T is twice as long.
        generator: random generator.

    Raises:
        ValueError: if a size is below 1, `segment` is odd or below 4, or there are too few symbols.
    """
    require_sizes(batch=batch)
    fits = segment >= 4 and segment % 2 == 0 and segment <= vocab
    require(fits, "segment", segment, f"an even number from 4 to {vocab}")
    turn = torch.rand(batch, vocab, generator=generator).argsort(dim=1)[:, :segment]
    text = torch.cat([turn, turn.roll(segment // 2, dims=1)], dim=1)  # (batch, T)
    targets = torch.full_like(text, IGNORE_INDEX)
    targets[:, segment:-1] = text[:, segment + 1 :]
    targets[:, segment + segment // 2 - 1] = IGNORE_INDEX  # the seam is new
    return text, targets


def trained_copier() -> TransformerModel:
    """The two-layer model trained by `experiments/copier.py`, with weights stored in 8 bits."""
    config = TransformerConfig(32, 32, n_layers=2, n_heads=2, d_ff=64)
    model = TransformerModel(config, RotaryPositions()).eval()
    arrays = stored("copier")["arrays"]
    with torch.no_grad():
        for name, parameter in model.named_parameters():
            numbers = bytearray(base64.b64decode(arrays[name]["base64"]))
            whole = torch.frombuffer(numbers, dtype=torch.int8).view(arrays[name]["shape"])
            parameter.copy_(whole * arrays[name]["step"])
    return model
