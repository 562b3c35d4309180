"""What is wrong with what an answer gave: facts, from which `messages` makes sentences."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from grading.feedback.baseline import Baseline
from grading.runner.compare import Aspect, Difference, difference, form_of
from grading.runner.outcome import ERRORS, Form, Outcome
from grading.task import CODE, Case, Task


@dataclass(frozen=True)
class NotRun:
    """The run did not end with a value."""

    outcome: Outcome


@dataclass(frozen=True)
class ReturnsNone:
    """A function came to its end without returning a value."""


@dataclass(frozen=True)
class Unscorable:
    """What a training returned cannot be scored; `form` is what it is."""

    form: Form


@dataclass(frozen=True)
class BelowThreshold:
    """A score that is too low; `diagnostic` is the task's own sentence about the result."""

    score: float
    diagnostic: str | None


@dataclass(frozen=True)
class Different:
    """A wrong result; `diagnostic` is the task's own sentence about it."""

    difference: Difference
    diagnostic: str | None


@dataclass(frozen=True)
class Mutated:
    """A right result, but something was changed in place that is not the answer's own."""

    outcome: Outcome


@dataclass(frozen=True)
class NoLetters:
    """A choice is wanted, and something else came."""


@dataclass(frozen=True)
class UnknownLetters:
    """Letters that are no options; none at all if nothing was chosen."""

    letters: tuple[str, ...]


@dataclass(frozen=True)
class MissingLetters:
    """All letters are right, and so many more are."""

    number: int


@dataclass(frozen=True)
class WrongLetter:
    """The first letter that is wrong, its reason, and how many more are wrong or missing."""

    letter: str
    reason: str
    more: int


@dataclass(frozen=True)
class NoText:
    """A text is wanted, and there is none."""


@dataclass(frozen=True)
class TooShort:
    """A text of fewer sentences than the task asks for."""

    sentences: int
    wanted: int


OnCase = NotRun | ReturnsNone | Unscorable | BelowThreshold | Different | Mutated
SENTENCE_END = re.compile(r"[.!?][\"'”’)]*(?=\s)|$")
"""Where a sentence of a stripped text ends; the last one may lack its full stop."""
OnChoice = NotRun | NoLetters | UnknownLetters | MissingLetters | WrongLetter
Finding = OnCase | OnChoice | NoText | TooShort


def compare(
    task: Task, cases: Sequence[Case], outcomes: Sequence[Outcome], baseline: Baseline
) -> list[OnCase | None]:
    """What is wrong on each case; None where nothing is."""
    return [
        _on_case(task, case, outcome, number, baseline)
        for number, (case, outcome) in enumerate(zip(cases, outcomes, strict=True))
    ]


def _on_case(
    task: Task, case: Case, outcome: Outcome, number: int, baseline: Baseline
) -> OnCase | None:
    if not outcome.ok:
        return NotRun(outcome)
    if outcome.value is None and task.kind != "predict":
        return ReturnsNone()
    if task.score is not None:
        return _below_threshold(task, case, outcome)
    expected = baseline.right(number)
    wrong = difference(outcome.value, expected.value, task.rtol, task.atol)
    if wrong:
        ask = task.kind != "predict" and not is_other_number_of_results(task, wrong)
        return Different(wrong, _diagnostic(task, case, outcome) if ask else None)
    return Mutated(outcome) if was_mutated(outcome) else None


def _below_threshold(task: Task, case: Case, outcome: Outcome) -> OnCase | None:
    try:
        score = float(task.score(case.args, outcome.value))
    except Exception:
        return Unscorable(form_of(outcome.value))
    if score >= task.threshold:
        return None
    return BelowThreshold(score, _diagnostic(task, case, outcome))  # also where it is NaN


def _diagnostic(task: Task, case: Case, outcome: Outcome) -> str | None:
    """The task's own sentence about the first property that does not hold."""
    sentences = (_sentence(check, case.args, outcome.value) for check in task.diagnostics)
    return next(filter(None, sentences), None)


def _sentence(
    check: Callable[[tuple, object], str | None], args: tuple, value: object
) -> str | None:
    try:
        return check(args, value)
    except Exception:  # the result has a form for which the property makes no sense
        return None


def is_other_number_of_results(task: Task, wrong: Difference) -> bool:
    """Whether an answer returns more or fewer things than it has to."""
    return bool(task.results) and not wrong.path and wrong.aspect is Aspect.FORM


def was_mutated(outcome: Outcome) -> bool:
    """Whether something was changed in place that is not the answer's own."""
    return bool(outcome.mutated or outcome.mutation)


def may_be_judged(task: Task, outcomes: Sequence[Outcome]) -> bool:
    """Whether the outcomes are those of an answer that is there and was allowed to run."""
    return all(
        outcome.ok or (task.kind in CODE and outcome.status in ERRORS) for outcome in outcomes
    )


def on_choice(task: Task, outcome: Outcome) -> OnChoice | None:
    """What is wrong with a choice; None if nothing is.

    Only the first wrong letter is given its reason, or ticking every option would show them all.
    """
    letters = outcome.value
    if not outcome.ok:
        return NotRun(outcome)
    if not _are_texts(letters):
        return NoLetters()
    reasons = {mistake.answer: mistake.why for mistake in task.mistakes}
    chosen = {letter.lower() for letter in letters} - set(", ")  # as in "a, c"
    right = set(task.reference)
    unknown = chosen - set(reasons)
    if unknown or not chosen:
        return UnknownLetters(tuple(sorted(unknown)))
    wrong, left_out = sorted(chosen - right), len(right - chosen)
    if wrong:
        return WrongLetter(wrong[0], reasons[wrong[0]], len(wrong) - 1 + left_out)
    return MissingLetters(left_out) if left_out else None


def _are_texts(letters: object) -> bool:
    return isinstance(letters, set | list | tuple | str) and all(type(x) is str for x in letters)


def on_text(outcome: Outcome, wanted: int = 0) -> NotRun | NoText | TooShort | None:
    """Whether there is no text that a person could read, or one of fewer sentences than wanted."""
    if not outcome.ok:
        return NotRun(outcome)
    if not isinstance(outcome.value, str) or not outcome.value.strip():
        return NoText()
    sentences = len(SENTENCE_END.findall(outcome.value.strip()))
    return TooShort(sentences, wanted) if sentences < wanted else None
