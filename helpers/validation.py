"""Checks of arguments, with messages that say the name, what came and what was needed."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import numpy as np
    from torch import Tensor

    Array = np.ndarray | Tensor


def require(condition: bool, name: str, got: object, needed: str) -> None:
    """Raise `ValueError("name: got …; needed …")` unless `condition` holds."""
    if not condition:
        raise ValueError(f"{name}: got {got}; needed {needed}")


def shape_text(*sizes: int | str) -> str:
    """A shape as text, for instance "shape (2, T_k, 8)"; sizes may be names."""
    return f"shape ({', '.join(map(str, sizes))})"


def require_sizes(**sizes: int | None) -> None:
    """Refuse sizes below 1; None is a size that was not given."""
    for name, size in sizes.items():
        require(size is None or size >= 1, name, size, "at least 1")


def require_share(name: str, p: float) -> None:
    """Refuse a dropout probability that is negative, or 1 or more."""
    require(0.0 <= p < 1.0, name, p, "a share from 0 up to, but not including, 1")


def require_length(name: str, positions: int, longest: int | None) -> None:
    """Refuse more positions than a model's `context_length`; None allows any number."""
    # A message made for every call would tie a compiled model to this number of positions.
    if longest is not None and positions > longest:
        require(False, name, f"{positions} positions", f"at most context_length = {longest}")


def require_dims(name: str, array: object, dims: int, needed: str) -> None:
    """Refuse an array that does not have `dims` dimensions; `needed` is the shape in words."""
    shape = tuple(array.shape)
    require(len(shape) == dims, name, f"shape {shape}", f"shape {needed}")


def require_broadcastable(name: str, shape: Sequence[int], target: Sequence[int]) -> None:
    """Refuse a shape that does not broadcast to `target` without enlarging it."""
    last = target[max(len(target) - len(shape), 0) :]
    fits = len(shape) == len(last) and all(n in (1, m) for n, m in zip(shape, last, strict=True))
    require(fits, name, f"shape {tuple(shape)}", f"a shape that broadcasts to {tuple(target)}")


def require_qkv(q: Array, k: Array, v: Array) -> None:
    """Refuse queries, keys and values whose shapes do not fit together."""
    for name, x in (("q", q), ("k", k), ("v", v)):
        require(len(x.shape) >= 2, name, f"shape {tuple(x.shape)}", "shape (…, T, d)")
    require(q.shape[-1] >= 1, "q", f"shape {tuple(q.shape)}", "a last axis of at least 1")
    lead, T_k, d_k = tuple(q.shape[:-2]), k.shape[-2], q.shape[-1]
    k_needed = f"{shape_text(*lead, 'T_k', d_k)} to go with q of shape {tuple(q.shape)}"
    fits = tuple(k.shape[:-2]) == lead and k.shape[-1] == d_k
    require(fits, "k", f"shape {tuple(k.shape)}", k_needed)
    v_needed = f"{shape_text(*lead, T_k, 'd_v')} to go with k of shape {tuple(k.shape)}"
    require(tuple(v.shape[:-1]) == (*lead, T_k), "v", f"shape {tuple(v.shape)}", v_needed)
