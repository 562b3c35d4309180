"""Which known mistake a wrong answer shows, and how sure that is.

An answer is compared with each known mistake on every case. Where they agree on all of them, the
mistake is named. Where a student made the same mistake in another spelling, an edge case may come
out differently; then the evidence is weighed: agreement counts on cases where the answer is wrong
and where few other mistakes give the same. Two candidates that explain about as much name none. An
error alone, or a result of nothing but NaN or zeros, says little about its cause: many mistakes
that nobody has listed end in the same way.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from enum import StrEnum

import numpy as np

from grading.feedback.baseline import Baseline, Catalogue, Same
from grading.runner.compare import difference
from grading.runner.outcome import ERRORS, Outcome
from grading.task import Task

MARGIN = 1.5
"""How many times more than any other the best candidate must explain."""
LEAST = 0.5
"""How much it must explain at least: about one case on which the mistakes differ."""


class Certainty(StrEnum):
    """How well a known mistake fits."""

    ALL_AGREE = "all agree"
    """The answer gives on every case what the known mistake gives."""
    MOST_AGREE = "most agree"
    """The known mistake explains most of what is wrong, and no other explains as much."""
    SYMPTOM_ONLY = "symptom only"
    """Both end with the same error, NaN or zeros, or train as badly, for one of many causes."""


@dataclass(frozen=True)
class Diagnosis:
    """A known mistake that fits, how well, and the cases that show it.

    `unexplained` are the cases that are wrong, but not as the known mistake makes them, and
    `otherwise` those of them for which it has a result: where it ends in an error, the same mistake
    in another spelling may end in another one. `more` is how many entries of a list of values are
    wrong that the known mistake does not make so.
    """

    mistake: int
    certainty: Certainty
    cases: tuple[int, ...]
    unexplained: tuple[int, ...] = ()
    otherwise: tuple[int, ...] = ()
    more: int = 0


def shown_mistake(
    got: Sequence[object],
    catalogue: Catalogue,
    same: Same,
    says_little: Callable[[object], bool],
) -> Diagnosis | None:
    """The known mistake that an answer shows, if it shows one.

    Args:
        got: what the answer gave, case by case.
        catalogue: what the model answer and the known mistakes give.
        same: whether two outcomes cannot be told apart.
        says_little: whether an outcome has many possible causes.
    """
    pairs = enumerate(zip(got, catalogue.right, strict=True))
    wrong = [i for i, (ours, right) in pairs if not same(ours, right)]
    agrees = [[same(g, t) for g, t in zip(got, theirs, strict=True)] for theirs in catalogue.wrong]
    everywhere = [k for k, row in enumerate(agrees) if all(row)]
    if everywhere:
        if len({catalogue.sentences[k] for k in everywhere}) > 1:
            return None
        symptom_only = all(map(says_little, got))
        certainty = Certainty.SYMPTOM_ONLY if symptom_only else Certainty.ALL_AGREE
        return Diagnosis(everywhere[0], certainty, tuple(wrong))
    telling = [i for i in wrong if not says_little(got[i])]
    which = _likeliest(catalogue, agrees, wrong, telling)
    if which is None:
        return None
    shown = tuple(i for i in telling if agrees[which][i])
    unexplained = tuple(i for i in wrong if not agrees[which][i])
    otherwise = tuple(i for i in unexplained if has_result(catalogue.wrong[which][i]))
    return Diagnosis(which, Certainty.MOST_AGREE, shown, unexplained, otherwise)


def _likeliest(
    catalogue: Catalogue,
    agrees: Sequence[Sequence[bool]],
    wrong: Sequence[int],
    telling: Sequence[int],
) -> int | None:
    """The known mistake that explains clearly more than those with any other sentence.

    Args:
        agrees: for each known mistake, on which cases the answer gives the same.
        wrong: the cases on which the answer is wrong.
        telling: those of them whose outcome has few possible causes.
    """
    best: dict[str, tuple[float, int]] = {}
    for k, (sentence, row) in enumerate(zip(catalogue.sentences, agrees, strict=True)):
        shown = [i for i in telling if row[i]]
        against = len(telling) - len(shown)
        escaped = sum(not agree for i, agree in enumerate(row) if i not in wrong)
        if len(shown) <= against or against + escaped > max(1, len(shown) / 2):
            continue
        weight = sum(_weight(i, catalogue, agrees) for i in shown)
        if weight > best.get(sentence, (0.0, 0))[0]:
            best[sentence] = weight, k
    ranked = sorted(best.values(), reverse=True)
    if not ranked:
        return None
    weight, which = ranked[0]
    second = ranked[1][0] if len(ranked) > 1 else 0.0
    return which if weight >= max(LEAST, MARGIN * second) else None


def _weight(case: int, catalogue: Catalogue, agrees: Sequence[Sequence[bool]]) -> float:
    """How much an agreement on a case says.

    Little, where many candidates agree, and nothing where an outcome is one of two, such as True.
    """
    pairs = zip(catalogue.sentences, agrees, strict=True)
    many = {sentence for sentence, row in pairs if row[case]}
    return (1 - 2 / max(2, catalogue.n_outcomes[case])) / len(many)


def has_result(outcome: object) -> bool:
    """Whether an outcome is a value, and no error."""
    return getattr(outcome, "ok", True)


def says_little(outcome: Outcome) -> bool:
    """Whether an outcome is an error, or holds no number but NaN, or none but 0."""
    if not outcome.ok:
        return outcome.status in ERRORS
    numbers = np.array([number for part in _arrays(outcome.value) for number in part.flat])
    return bool(numbers.size) and bool(np.isnan(numbers).all() or not numbers.any())


def _arrays(value: object) -> Iterator[np.ndarray]:
    """The arrays and numbers in plain data."""
    if isinstance(value, list | tuple | set):
        for item in value:
            yield from _arrays(item)
    elif isinstance(value, dict):
        yield from _arrays(list(value.values()))
    elif isinstance(value, np.ndarray | bool | int | float):
        yield np.asarray(value, dtype=float)


def diagnose(task: Task, outcomes: Sequence[Outcome], baseline: Baseline) -> Diagnosis | None:
    """The known mistake that the outcomes of a wrong answer show."""
    if task.score is not None:
        return _same_training(task, outcomes, baseline)
    found = shown_mistake(outcomes, baseline.catalogue, baseline.same, says_little)
    if found is None and task.kind == "predict":
        return _among_others(task, outcomes[0].value)
    return found


def in_one_result(task: Task, outcomes: Sequence[Outcome], baseline: Baseline) -> Diagnosis | None:
    """The known mistake in the first wrong one of several results, whatever the others hold.

    It is named only if it gives this result on every case, and none with another sentence does.
    """
    count = len(task.results)
    if not count:
        return None
    right, wrong = baseline.catalogue.right, baseline.catalogue.wrong
    if not all(_holds(outcome, count) for outcome in (*outcomes, *right)):
        return None

    def alike(part: int, one: Sequence[Outcome], other: Sequence[Outcome]) -> list[bool]:
        pairs = zip(one, other, strict=True)
        return [baseline.same(_part(a, part), _part(b, part)) for a, b in pairs]

    for part in range(count):
        as_wanted = alike(part, outcomes, right)
        if not all(as_wanted):
            break
    else:
        return None
    if all(says_little(_part(outcome, part)) for outcome in outcomes):
        return None
    fits: dict[str, int] = {}
    for which, theirs in enumerate(wrong):
        if all(_holds(outcome, count) for outcome in theirs) and all(alike(part, outcomes, theirs)):
            fits.setdefault(task.mistakes[which].why, which)
    if len(fits) != 1:
        return None
    [which] = fits.values()
    cases = tuple(i for i, fine in enumerate(as_wanted) if not fine)
    return Diagnosis(which, Certainty.MOST_AGREE, cases)


def _holds(outcome: Outcome, count: int) -> bool:
    """Whether an outcome is several results, as many as are wanted."""
    value = outcome.value
    return outcome.ok and isinstance(value, list | tuple) and len(value) == count


def _part(outcome: Outcome, part: int) -> Outcome:
    """One of several results, as an outcome of its own."""
    return replace(outcome, value=outcome.value[part])


def _same_training(task: Task, outcomes: Sequence[Outcome], baseline: Baseline) -> Diagnosis | None:
    """The first known mistake that trains about as badly; others may do so, too.

    The model answer trains for long, and is not needed.
    """
    if any(outcome.ok and outcome.value is None for outcome in outcomes):
        return None  # nothing was trained: no mistake has to be, to say so
    for which in range(len(task.mistakes)):
        theirs = (baseline.mistake(which, case) for case in range(len(outcomes)))
        if all(baseline.same(a, b) for a, b in zip(outcomes, theirs, strict=True)):
            return Diagnosis(which, Certainty.SYMPTOM_ONLY, tuple(range(len(outcomes))))
    return None


def _among_others(task: Task, got: object) -> Diagnosis | None:
    """The known mistake in the first wrong entry of a list that also has other wrong entries.

    It is named only if the answer has every wrong entry that this mistake alone would produce.
    """
    want = task.reference
    if not _is_list_like(got, want):
        return None

    def differs(one: Sequence, other: Sequence) -> set[int]:
        pairs = enumerate(zip(one, other, strict=True))
        return {i for i, pair in pairs if difference(*pair, task.rtol, task.atol)}

    first = min(differs(got, want))
    fits: dict[str, int] = {}
    for which, mistake in enumerate(task.mistakes):
        if _is_list_like(mistake.answer, want):
            shown = differs(mistake.answer, want)
            if first in shown and not shown & differs(got, mistake.answer):
                fits.setdefault(mistake.why, which)
    if len(fits) != 1:
        return None
    [which] = fits.values()
    more = len(differs(got, want) - differs(task.mistakes[which].answer, want))
    return Diagnosis(which, Certainty.MOST_AGREE, (0,), more=more)


def _is_list_like(value: object, want: object) -> bool:
    """Whether both are lists or tuples, of one length."""
    both = isinstance(value, list | tuple) and isinstance(want, list | tuple)
    return both and len(value) == len(want)


def two_mistakes(outcomes: Sequence[Outcome], baseline: Baseline) -> tuple[str, ...]:
    """The sentences of the two known mistakes that together give just this.

    Of several such pairs, what all have in common; nothing where what came can have many causes.
    """
    if all(map(says_little, outcomes)):
        return ()
    fits = [
        pair.whys
        for which, pair in enumerate(baseline.pairs)
        if all(baseline.same(baseline.pair(which, i), o) for i, o in enumerate(outcomes))
    ]
    if not fits:
        return ()
    return tuple(why for why in dict.fromkeys(fits[0]) if all(why in whys for whys in fits))
