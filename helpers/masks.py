"""Masks: which query may attend to which key.

Throughout the course a mask is boolean and **True means "may attend"**, the convention of
`torch.nn.functional.scaled_dot_product_attention`. Two other conventions are in use: boolean
masks in which True *blocks* (`attn_mask` and `key_padding_mask` of `torch.nn.MultiheadAttention`)
and float masks that are *added* to the scores (0 allows, −∞ blocks). The functions at the end
convert by name, so that no reader has to guess.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import torch
from torch import Tensor

from helpers.validation import require, require_dims

if TYPE_CHECKING:
    from jaxtyping import Bool, Float, Int


def causal_mask(
    T_q: int, T_k: int | None = None, *, device: torch.device | str | None = None
) -> Bool[Tensor, "T_q T_k"]:
    """A mask under which a query attends to its own position and all earlier ones.

    With `T_k > T_q` the queries are the *last* `T_q` of the `T_k` positions, as in generation
    with cached keys: the last row is always True throughout.

    Raises:
        ValueError: if `T_q < 0` or `T_k < T_q`.
    """
    T_k = T_q if T_k is None else T_k
    require(0 <= T_q <= T_k, "T_q, T_k", (T_q, T_k), "0 <= T_q <= T_k")
    return torch.ones(T_q, T_k, dtype=torch.bool, device=device).tril(diagonal=T_k - T_q)


def window_mask(
    T_q: int, T_k: int | None, window: int, *, device: torch.device | str | None = None
) -> Bool[Tensor, "T_q T_k"]:
    """A causal mask cut to the last `window` positions, the query's own among them.

    The queries are the last `T_q` of the `T_k` positions, as in `causal_mask`.

    Raises:
        ValueError: if `window` is below 1, and as `causal_mask`.
    """
    require(window >= 1, "window", window, "at least 1")
    seen = causal_mask(T_q, T_k, device=device)  # (T_q, T_k)
    return seen.triu(diagonal=seen.shape[1] - T_q - window + 1)


def padding_mask(lengths: Int[Tensor, " batch"], T_k: int) -> Bool[Tensor, "batch 1 1 T_k"]:
    """A mask that hides padding: the keys at and after the length of each sequence.

    The two middle axes broadcast over heads and queries.

    Raises:
        ValueError: if `lengths` is not one-dimensional or holds anything but whole numbers from
            0 to T_k.
    """
    require_dims("lengths", lengths, 1, "(batch,)")
    whole = not (lengths.is_floating_point() or lengths.dtype == torch.bool)
    require(whole, "lengths", f"dtype {lengths.dtype}", "a dtype of whole numbers")
    inside = bool(((lengths >= 0) & (lengths <= T_k)).all())
    require(inside, "lengths", lengths.tolist(), f"numbers from 0 to T_k = {T_k}")
    keys = torch.arange(T_k, device=lengths.device)  # (T_k,)
    return (keys < lengths[:, None])[:, None, None, :]  # (batch, 1, 1, T_k)


def combine_masks(*masks: Bool[Tensor, "..."] | None) -> Bool[Tensor, "..."] | None:
    """The mask that allows what every given mask allows. `None` allows everything.

    Raises:
        ValueError: if a mask is not boolean or does not broadcast with those before it.
    """
    combined = None
    for number, mask in enumerate(masks, 1):
        if mask is None:
            continue
        require_bool(f"mask {number}", mask)
        if combined is not None:
            before = tuple(combined.shape)
            pairs = zip(reversed(mask.shape), reversed(before), strict=False)
            fits = all(n == m or 1 in (n, m) for n, m in pairs)
            needed = f"a shape that broadcasts with {before}"
            require(fits, f"mask {number}", f"shape {tuple(mask.shape)}", needed)
        combined = mask if combined is None else combined & mask
    return combined


def to_blocking(mask: Bool[Tensor, "..."]) -> Bool[Tensor, "..."]:
    """Convert "True may attend" to "True is blocked", as in `nn.MultiheadAttention`."""
    require_bool("mask", mask)
    return ~mask


def from_blocking(blocking: Bool[Tensor, "..."]) -> Bool[Tensor, "..."]:
    """Convert "True is blocked" to "True may attend"."""
    require_bool("blocking", blocking)
    return ~blocking


def to_additive(
    mask: Bool[Tensor, "..."], dtype: torch.dtype = torch.float32
) -> Float[Tensor, "..."]:
    """Convert "True may attend" to numbers added to the scores: 0 allows, −∞ blocks."""
    require_bool("mask", mask)
    require(dtype.is_floating_point, "dtype", dtype, "a floating-point dtype: it must hold −inf")
    return torch.zeros(mask.shape, dtype=dtype, device=mask.device).masked_fill(~mask, -torch.inf)


def from_additive(additive: Float[Tensor, "..."]) -> Bool[Tensor, "..."]:
    """Convert numbers added to the scores (0 or −∞) to "True may attend".

    Raises:
        ValueError: if the mask is boolean, or any number is neither 0 nor −∞. A large negative
            number such as −1e9 is refused on purpose: it does not block a row in which every
            score is that low.
    """
    is_float = additive.is_floating_point()
    require(is_float, "additive", f"dtype {additive.dtype}", "a floating-point dtype")
    clean = (additive == 0) | (additive == -torch.inf)
    strange = additive[~clean].flatten()[:3].tolist()
    require(bool(clean.all()), "additive", f"values such as {strange}", "only 0 and −inf")
    return additive == 0


def require_bool(name: str, mask: Tensor) -> None:
    """Refuse a mask that is not boolean."""
    needed = "torch.bool (True = may attend); masks.from_… converts"
    require(mask.dtype == torch.bool, name, f"dtype {mask.dtype}", needed)
