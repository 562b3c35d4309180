"""One way to refuse bad input: name the argument, what came, and what was needed."""

from __future__ import annotations

from collections.abc import Sequence


def require(condition: bool, name: str, got: object, needed: str) -> None:
    """Raise `ValueError("name: got …; needed …")` unless `condition` holds."""
    if not condition:
        raise ValueError(f"{name}: got {got}; needed {needed}")


def require_dims(name: str, array: object, dims: int, needed: str) -> None:
    """Refuse an array that has not exactly `dims` dimensions; `needed` shows the shape in words."""
    shape = tuple(array.shape)
    require(len(shape) == dims, name, f"shape {shape}", f"shape {needed}")


def require_broadcastable(name: str, shape: Sequence[int], target: Sequence[int]) -> None:
    """Refuse a shape that does not broadcast to `target` without enlarging it."""
    pairs = zip(reversed(shape), reversed(target), strict=False)
    fits = len(shape) <= len(target) and all(n in (1, m) for n, m in pairs)
    require(fits, name, f"shape {tuple(shape)}", f"a shape that broadcasts to {tuple(target)}")
