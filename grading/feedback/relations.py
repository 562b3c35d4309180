"""What a wrong array has in common with the right one, where no known mistake explains it."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import combinations

import numpy as np

RTOL = 1e-4
"""How close entries must come for a relation, as a share of the largest right one."""
NEARLY = 1e-3
"""The same, for a result that is nearly right."""
LEAST = 4
"""How many different numbers a right array must hold: with fewer, relations hold by chance."""


@dataclass(frozen=True)
class Scaled:
    """Each entry is the right one times this factor."""

    factor: float


@dataclass(frozen=True)
class Nearly:
    """No entry is far off."""


@dataclass(frozen=True)
class Exchanged:
    """The result is right with these two axes exchanged."""

    axes: tuple[int, int]


@dataclass(frozen=True)
class Reordered:
    """The right entries are there, but in another order along this axis."""

    axis: int


@dataclass(frozen=True)
class Scattered:
    """All the right entries are there, but in other places."""


Relation = Scaled | Nearly | Exchanged | Reordered | Scattered


def relation(got: np.ndarray, want: np.ndarray) -> Relation | None:
    """The first relation that holds between two arrays of one shape, if one does."""
    if len(np.unique(want)) < LEAST or not (np.isfinite(got).all() and np.isfinite(want).all()):
        return None
    got, want = got.astype(float), want.astype(float)
    size = np.abs(want).max()

    def alike(one: np.ndarray, other: np.ndarray, share: float = RTOL) -> bool:
        return one.shape == other.shape and bool(np.abs(one - other).max() <= share * size)

    if alike(got, want, NEARLY):
        return Nearly()
    factor = float((got * want).sum() / (want * want).sum())
    if abs(factor) > RTOL and alike(got, factor * want, RTOL * abs(factor)):
        return Scaled(factor)
    for one, other in combinations(range(want.ndim), 2):
        if alike(got.swapaxes(one, other), want):
            return Exchanged((one, other))
    for axis in range(want.ndim):
        if alike(_in_order(got, axis), _in_order(want, axis)):
            return Reordered(axis)
    if alike(np.sort(got, axis=None), np.sort(want, axis=None)):
        return Scattered()
    return None


def _in_order(array: np.ndarray, axis: int) -> np.ndarray:
    """The slices along an axis as rows, in the order of their entries."""
    rows = np.moveaxis(array, axis, 0).reshape(array.shape[axis], -1)
    return rows[np.lexsort(rows.T[::-1].round(6))]
