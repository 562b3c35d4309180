"""Which known mistake a wrong answer shows, and how sure that is.

An answer is compared with each known mistake on every case. Where they agree on all of them, the
mistake is named. Where a student made the same mistake in another spelling, an edge case may come
out differently; then the evidence is weighed: agreement counts on cases where the answer is wrong
and where few other mistakes give the same. Two candidates that explain about as much name none, and
an error text alone says nothing about its cause.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Literal

Sure = Literal["all agrees", "most agrees", "the error only"]
MARGIN = 1.5
"""How many times more than any other the best candidate must explain."""
LEAST = 0.5
"""How much it must explain at least: about one case on which the mistakes differ."""

Same = Callable[[object, object], bool]


@dataclass(frozen=True)
class Named:
    """A known mistake that fits, how well, and the cases that show it."""

    which: int
    sure: Sure
    cases: tuple[int, ...]


@dataclass(frozen=True)
class Known:
    """What the model answer and the known mistakes give, case by case.

    Args:
        right: what the model answer gives on each case.
        wrong: what each known mistake gives on each case.
        sentences: of the known mistakes; those with the same one are one candidate.
        kinds: how many different outcomes there are on each case.
    """

    right: Sequence[object]
    wrong: Sequence[Sequence[object]]
    sentences: Sequence[str]
    kinds: Sequence[int]


def known(
    right: Sequence[object], wrong: Sequence[Sequence[object]], sentences: Sequence[str], same: Same
) -> Known:
    """Count how many different outcomes each case has."""
    counts = []
    for case, first in enumerate(right):
        kinds = [first]
        for theirs in wrong:
            if not any(same(theirs[case], kind) for kind in kinds):
                kinds.append(theirs[case])
        counts.append(len(kinds))
    return Known(right, wrong, sentences, counts)


def named(
    got: Sequence[object], known: Known, same: Same, stopped: Callable[[object], bool]
) -> Named | None:
    """The known mistake that an answer shows, if it shows one.

    Args:
        got: what the answer gave, case by case.
        known: what the model answer and the known mistakes give.
        same: whether two outcomes cannot be told apart.
        stopped: whether an outcome is an error, which has many possible causes.
    """
    wrong = {i for i, (g, r) in enumerate(zip(got, known.right, strict=True)) if not same(g, r)}
    agrees = [[same(g, t) for g, t in zip(got, theirs, strict=True)] for theirs in known.wrong]
    whole = [k for k, row in enumerate(agrees) if all(row)]
    if whole:
        if len({known.sentences[k] for k in whole}) > 1:
            return None
        sure = "the error only" if all(map(stopped, got)) else "all agrees"
        return Named(whole[0], sure, tuple(sorted(wrong)))
    telling = [i for i in sorted(wrong) if not stopped(got[i])]
    best: dict[str, tuple[float, int]] = {}
    for k, row in enumerate(agrees):
        shown = [i for i in telling if row[i]]
        escaped = sum(not agree for i, agree in enumerate(row) if i not in wrong)
        against = len(telling) - len(shown)
        if len(shown) <= against or against + escaped > max(1, len(shown) / 2):
            continue
        weight = sum(_weight(i, known, agrees) for i in shown)
        if weight > best.get(known.sentences[k], (0.0, 0))[0]:
            best[known.sentences[k]] = weight, k
    ranked = sorted(best.values(), reverse=True)
    second = ranked[1][0] if len(ranked) > 1 else 0.0
    if not ranked or ranked[0][0] < max(LEAST, MARGIN * second):
        return None
    which = ranked[0][1]
    return Named(which, "most agrees", tuple(i for i in telling if agrees[which][i]))


def _weight(case: int, known: Known, agrees: Sequence[Sequence[bool]]) -> float:
    """How much an agreement on a case says.

    Little, where many candidates agree, and nothing where an outcome is one of two, such as True.
    """
    many = {said for said, row in zip(known.sentences, agrees, strict=True) if row[case]}
    return (1 - 2 / max(2, known.kinds[case])) / len(many)
