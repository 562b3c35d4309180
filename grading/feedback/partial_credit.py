"""What a part of an answer is worth.

Code counts by the kind that each case says: ordinary cases, other shapes, batches, edges. Half of
the points are for the ordinary cases, and an answer that fails one of these earns nothing. The
other kinds of a task share the other half equally. In a task to find bugs, only the kinds count on
which the code as given fails. Lists count by entry. Letters, and lists of words or truth values,
are quickly guessed: one slip costs half, a second one the rest. A training counts as a whole.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from fractions import Fraction

from grading.runner.compare import difference
from grading.task import ORDINARY, Task

SLIP = Fraction(1, 2)
"""What a slip costs where an answer is quickly guessed, or where an input was changed in place."""


@dataclass(frozen=True)
class ByKind:
    """Kinds of cases on which all is right, kinds on which it is not, and what each is worth."""

    right: tuple[str, ...]
    wrong: tuple[str, ...]
    worth: Mapping[str, Fraction]
    mutated: bool
    """Whether an input was changed in place on a case that is right, which costs a slip."""


@dataclass(frozen=True)
class ByEntry:
    """How many entries of a list are right, and how many there are."""

    right: int
    entries: int


class Guessable(StrEnum):
    """What is quickly guessed, so that one slip costs half of the points."""

    LETTER = "letter"
    ENTRY = "entry"


@dataclass(frozen=True)
class OrdinaryFails:
    """An ordinary case fails, so that whatever else is right earns nothing."""

    bugs: bool
    """Whether the task is to find bugs."""


@dataclass(frozen=True)
class AllEqual:
    """A list with the same value everywhere, of which some entries are right by chance."""


@dataclass(frozen=True)
class Earned:
    """The share of the points that an answer earns, and the reason if it is only a part or none."""

    share: Fraction = Fraction(0)
    reason: ByKind | ByEntry | Guessable | OrdinaryFails | AllEqual | None = None

    def of(self, points: float) -> float:
        """The points, in halves, rounded down."""
        return math.floor(2 * points * self.share) / 2


def of_code(
    kinds: Sequence[str], right: Sequence[bool], clean: Sequence[bool], given: Sequence[bool] | None
) -> Earned:
    """What is earned by code.

    Args:
        kinds: of the cases.
        right: case by case, whether the result is right.
        clean: whether nothing was changed that is not the answer's own.
        given: whether the code as given is right, in a task to find bugs.
    """
    order = list(dict.fromkeys(kinds))
    whole = {k: all(r for r, kind in zip(right, kinds, strict=True) if kind == k) for k in order}
    if not whole.get(ORDINARY):
        some = given is not None or any(right)
        return Earned(reason=OrdinaryFails(given is not None) if some else None)
    counted = order
    if given is not None:
        counted = list(dict.fromkeys(k for k, r in zip(kinds, given, strict=True) if not r))
    worth = _worth(counted)
    had = tuple(kind for kind in counted if whole[kind])
    share = sum((worth[kind] for kind in had), Fraction(0))
    if not share:
        return Earned()
    missing = tuple(kind for kind in counted if not whole[kind])
    mutated = not all(c for c, kind in zip(clean, kinds, strict=True) if whole[kind])
    return Earned(share * SLIP if mutated else share, ByKind(had, missing, worth, mutated))


def _worth(counted: Sequence[str]) -> dict[str, Fraction]:
    """The share of each kind of case: half for the ordinary ones, if others count too."""
    others = [kind for kind in counted if kind != ORDINARY]
    if ORDINARY not in counted:
        ordinary = Fraction(0)
    elif others:
        ordinary = Fraction(1, 2)
    else:
        ordinary = Fraction(1)
    return {ORDINARY: ordinary} | {kind: (1 - ordinary) / len(others) for kind in others}


def of_entries(task: Task, got: object) -> Earned:
    """What is earned by a list of predicted values."""
    want = task.reference
    if not isinstance(want, list | tuple) or len(want) < 2:
        return Earned()
    if not isinstance(got, list | tuple) or len(got) != len(want):
        return Earned()
    pairs = list(zip(got, want, strict=True))
    right = sum(difference(g, w, task.rtol, task.atol) is None for g, w in pairs)
    if all(type(entry) in (bool, str) for entry in want):
        return of_slips(len(want) - right, Guessable.ENTRY)
    if all(difference(g, got[0], 0, 0) is None for g in got):
        return Earned(reason=AllEqual() if right else None)
    return Earned(Fraction(right, len(want)), ByEntry(right, len(want)))


def of_slips(slips: int, what: Guessable) -> Earned:
    """What is earned where every entry is one of a few: guessing must not pay."""
    return Earned(max(Fraction(0), 1 - slips * SLIP), what)
