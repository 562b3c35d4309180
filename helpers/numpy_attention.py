"""Softmax and scaled dot-product attention in NumPy, written to be read.

`helpers.attention` has the same for torch. This module does not import torch, which takes seconds.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import numpy as np

from helpers.validation import require, require_broadcastable, require_qkv

if TYPE_CHECKING:
    from jaxtyping import Bool, Float


def softmax(x: Float[np.ndarray, "..."], axis: int = -1) -> Float[np.ndarray, "..."]:
    """Softmax: positive numbers that sum to 1 along `axis`, larger where `x` is larger.

    The maximum is subtracted first. That changes nothing in exact arithmetic and keeps `exp`
    from overflowing. A slice that is −∞ throughout gives zeros.
    """
    x = 1.0 * x  # whole numbers become floats
    top = x.max(axis=axis, keepdims=True, initial=-np.inf)
    exp = np.exp(x - np.where(np.isneginf(top), 0.0, top))
    total = exp.sum(axis=axis, keepdims=True)
    return exp / np.where(total == 0.0, 1.0, total)


def scaled_dot_product_attention_numpy(
    q: Float[np.ndarray, "*batch T_q d_k"],
    k: Float[np.ndarray, "*batch T_k d_k"],
    v: Float[np.ndarray, "*batch T_k d_v"],
    mask: Bool[np.ndarray, "..."] | None = None,
    *,
    scale: float | None = None,
) -> tuple[Float[np.ndarray, "*batch T_q d_v"], Float[np.ndarray, "*batch T_q T_k"]]:
    """Scaled dot-product attention in NumPy, as `helpers.attention.scaled_dot_product_attention`.

    Returns:
        The context vectors and the attention weights.

    Raises:
        ValueError: as `scaled_dot_product_attention`.
    """
    require_qkv(q, k, v)
    scale = 1.0 / math.sqrt(q.shape[-1]) if scale is None else scale
    scores = q @ np.swapaxes(k, -2, -1) * scale  # (*batch, T_q, T_k)
    if mask is not None:
        require(mask.dtype == np.bool_, "mask", f"dtype {mask.dtype}", "bool (True = may attend)")
        require_broadcastable("mask", mask.shape, scores.shape)
        scores = np.where(mask, scores, -np.inf)
    weights = softmax(scores)  # (*batch, T_q, T_k)
    return weights @ v, weights  # (*batch, T_q, d_v)
