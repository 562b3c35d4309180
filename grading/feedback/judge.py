"""From an answer to its verdict: run, compare, diagnose, render, one after the other."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import nullcontext
from dataclasses import replace

from grading.feedback import messages, partial_credit
from grading.feedback.baseline import BadTask, Baseline
from grading.feedback.diagnosis import Certainty, Diagnosis, diagnose, in_one_result, two_mistakes
from grading.feedback.findings import (
    BelowThreshold,
    Different,
    MissingLetters,
    Mutated,
    NoText,
    OnCase,
    TooShort,
    WrongLetter,
    compare,
    may_be_judged,
    on_choice,
    on_text,
    was_mutated,
)
from grading.feedback.partial_credit import AllEqual, Earned, Guessable, OrdinaryFails
from grading.feedback.training_facts import explained
from grading.feedback.verdict import Verdict
from grading.runner.outcome import Outcome, Status
from grading.runner.run import run
from grading.task import Case, Task

FEW_ALIKE = 0.2
"""The share of the known mistakes that may look like the named one on a case that shows it."""


def judge(
    task: Task,
    cases: Sequence[Case],
    outcomes: Sequence[Outcome],
    baseline: Baseline | None = None,
) -> Verdict:
    """The verdict on what an answer gave on these cases.

    Args:
        task: to which the answer belongs.
        cases: on which it was run.
        outcomes: what it gave, case by case.
        baseline: what our own answers give on these cases, kept for the next answer.
    """
    if task.kind == "choose":
        verdict = _of_choice(task, outcomes[0])
    elif task.kind == "written":
        verdict = _of_text(task, outcomes[0])
    else:
        verdict = _of_cases(task, cases, outcomes, baseline or Baseline(task, cases))
    message = messages.render(task, cases, verdict)
    part = messages.partial_points(verdict.earned) if _has_part(task, verdict) else ""
    return replace(verdict, message=message, part=part)


def _has_part(task: Task, verdict: Verdict) -> bool:
    """Whether there is something to say about partial credit."""
    earned = verdict.earned or Earned()
    return earned.of(task.points) > 0 or isinstance(earned.reason, OrdinaryFails | AllEqual)


_baselines: dict[tuple[str, int], Baseline] = {}
"""What our own answers to a task give, by its name and the seed."""


def grade(
    task: Task, answer: object, seed: int, announce: Callable[[], None] | None = None
) -> Verdict:
    """Run an answer on the cases of a seed and judge it, in this process.

    `announce` is called each time that a known mistake has to be run.

    Raises:
        ValueError: if the task has no cases, or its model answer has no result on one.
    """
    try:
        baseline = baseline_of(task, seed)
        outcomes = run(task, answer, baseline.cases)
        with baseline.announcing(announce) if announce else nullcontext():
            return judge(task, baseline.cases, outcomes, baseline)
    except BadTask as error:
        raise ValueError(messages.bad_task(error)) from error


def baseline_of(task: Task, seed: int) -> Baseline:
    """What `grade` keeps of our own answers on the cases of a seed."""
    kept = _baselines.get((task.name, seed))
    if kept is None or kept.task is not task:
        kept = _baselines[task.name, seed] = Baseline(task, task.cases(seed))
    return kept


def _of_cases(
    task: Task, cases: Sequence[Case], outcomes: Sequence[Outcome], baseline: Baseline
) -> Verdict:
    """The student is told about one case that is wrong; see `_case_to_tell`."""
    findings = compare(task, cases, outcomes, baseline)
    wrong = [i for i, finding in enumerate(findings) if finding]
    if not wrong:
        return Verdict(task.points, score=_lowest_score(task, cases, outcomes))
    diagnosis, pair = None, ()
    if may_be_judged(task, outcomes) and not all(map(_is_none, outcomes)):
        diagnosis, pair = _causes(task, outcomes, baseline)
        different = any(isinstance(findings[i], Different) for i in wrong)
        if not (diagnosis or pair) and different and any(map(was_mutated, outcomes)):
            values = [replace(outcome, mutated=(), mutation=None) for outcome in outcomes]
            diagnosis, pair = _causes(task, values, baseline)
    seen = None
    if isinstance(findings[wrong[0]], BelowThreshold):
        seen = explained(task, outcomes, wrong[0], diagnosis, baseline)
        diagnosis = None if seen else diagnosis
    case = _case_to_tell(wrong, diagnosis, baseline)
    as_given = task.kind == "find the bug" and diagnosis is not None and diagnosis.mistake == 0
    earned = Earned() if as_given else _earned(task, cases, outcomes, findings, baseline)
    return Verdict(
        earned.of(task.points),
        outcomes[case].status,
        case,
        findings[case],
        outcomes[case],
        diagnosis,
        pair,
        seen,
        earned,
    )


def _is_none(outcome: Outcome) -> bool:
    """Whether a function ran and returned None, mostly because it is not written yet."""
    return outcome.ok and outcome.value is None


def _causes(
    task: Task, outcomes: Sequence[Outcome], baseline: Baseline
) -> tuple[Diagnosis | None, tuple[str, ...]]:
    """The known mistake that a wrong answer shows, or the sentences of two."""
    diagnosis, pair = diagnose(task, outcomes, baseline), ()
    if task.pairs is not None and (diagnosis is None or diagnosis.unexplained):
        pair = two_mistakes(outcomes, baseline)
        diagnosis = None if pair else diagnosis
    if diagnosis is None and not pair:
        diagnosis = in_one_result(task, outcomes, baseline)
    return diagnosis, pair


def _lowest_score(task: Task, cases: Sequence[Case], outcomes: Sequence[Outcome]) -> float | None:
    if task.score is None:
        return None
    pairs = zip(cases, outcomes, strict=True)
    return min(float(task.score(case.args, outcome.value)) for case, outcome in pairs)


def _case_to_tell(wrong: Sequence[int], diagnosis: Diagnosis | None, baseline: Baseline) -> int:
    """The case that the student is told about.

    It shows the mistake that is named, and is the first on which the known mistakes differ: a case
    so small that many of them look alike says little, unless few of them look like the one that is
    named for sure.
    """
    n_outcomes = baseline.n_outcomes
    shown = [i for i in wrong if diagnosis is None or i in diagnosis.cases] or list(wrong)
    if n_outcomes is None:
        return shown[0]

    def tells(case: int) -> bool:
        if 3 * n_outcomes[case] >= max(n_outcomes):
            return True
        sure = diagnosis is not None and diagnosis.certainty is Certainty.ALL_AGREE
        return sure and baseline.share_alike(diagnosis.mistake, case) <= FEW_ALIKE

    return next(filter(tells, shown), shown[0])


def _earned(
    task: Task,
    cases: Sequence[Case],
    outcomes: Sequence[Outcome],
    findings: Sequence[OnCase | None],
    baseline: Baseline,
) -> Earned:
    """The share of the points that a wrong answer earns, and why."""
    if not may_be_judged(task, outcomes) or task.score is not None:
        return Earned()
    if task.kind == "predict":
        return partial_credit.of_entries(task, outcomes[0].value)
    clean = [not was_mutated(outcome) for outcome in outcomes]
    right = [finding is None or isinstance(finding, Mutated) for finding in findings]
    given = None
    if task.kind == "find the bug":
        numbers = range(len(cases))
        given = [baseline.same(baseline.right(i), baseline.mistake(0, i)) for i in numbers]
    kinds = [case.kind for case in cases]
    return partial_credit.of_code(kinds, right, clean, given)


def _of_choice(task: Task, outcome: Outcome) -> Verdict:
    finding = on_choice(task, outcome)
    match finding:
        case None:
            return Verdict(task.points)
        case MissingLetters(number=slips):
            earned = partial_credit.of_slips(slips, Guessable.LETTER)
        case WrongLetter(more=more):
            earned = partial_credit.of_slips(1 + more, Guessable.LETTER)
        case _:
            earned = Earned()
    points = earned.of(task.points)
    return Verdict(points, outcome.status, finding=finding, outcome=outcome, earned=earned)


def _of_text(task: Task, outcome: Outcome) -> Verdict:
    """What a person writes, a person reads."""
    finding = on_text(outcome, task.sentences)
    if finding is None or isinstance(finding, TooShort):
        return Verdict(0, finding=finding, needs_review=True)
    status = Status.UNWRITTEN if isinstance(finding, NoText) else outcome.status
    return Verdict(0, status, finding=finding, outcome=outcome)
