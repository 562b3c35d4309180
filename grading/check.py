"""check("name"), progress() and keep_back(): what is called in a notebook."""

from __future__ import annotations

import os
import sys
from collections import Counter
from collections.abc import Callable
from time import monotonic

from grading.feedback import messages
from grading.feedback.findings import BelowThreshold, Different, Mutated
from grading.feedback.judge import baseline_of, grade
from grading.feedback.verdict import Verdict
from grading.repair.search import Place, locate
from grading.runner.compare import difference
from grading.runner.outcome import ERRORS, UNTRIED, Status
from grading.runner.run import MISSING, call, run
from grading.task import CODE, Task, UnknownTask, load, names_by_lecture, of_lecture

PUBLIC_SEED = 0

PATIENCE = 1.0
"""Seconds of search before `check` says that it looks for the cause; at once in a training task."""
TRIES = 5
"""Wrong answers after which `check` points at the model answer."""

_earned: dict[str, float] = {}
"""Points on the public cases, by task, in this session: those of the last try."""
_best: dict[str, float] = {}
"""The most that a try has earned, by task, in this session."""
_for_review: set[str] = set()
"""Tasks whose answer waits for a person."""
_tries: Counter = Counter()
_kept_back: set[str] = set()
"""Tasks whose model answer `check` does not point at; ALL stands for every task."""
ALL = "*"


def check(name: str, answer: object = MISSING, *, debug: bool = False) -> None:
    """Run the answer to a task on the public cases, and print the verdict.

    Args:
        name: of the task, which is also the name of the answer.
        answer: taken from where `check` is called, if not given.
        debug: whether an error of the answer is raised again after the verdict, with its whole
            traceback, so that `%debug` can look into it.

    If there is no such task, it says so, and names the one that is probably meant.
    """
    try:
        task = load(name)
    except UnknownTask as error:
        print(messages.no_task(name, error.like))
        return
    if answer is MISSING:
        answer = sys._getframe(1).f_globals.get(name, MISSING)
    looking = _Looking(task)
    verdict = grade(task, answer, PUBLIC_SEED, looking)
    _earned[name] = verdict.points
    _best[name] = max(verdict.points, _best.get(name, 0))
    (_for_review.add if verdict.needs_review else _for_review.discard)(name)
    random = _is_random(task, answer, verdict)
    place = None if random else _place(task, answer, verdict, looking)
    print(messages.points(task, verdict))
    known = verdict.diagnosis is not None or verdict.two_mistakes or verdict.seen
    named = known or random or place
    if looking.announced and not named and not _speaks_for_itself(verdict):
        print(messages.not_found())
    print(verdict.message)
    if random:
        print(messages.random(verdict.case, baseline_of(task, PUBLIC_SEED).cases))
    if place:
        print(messages.one_change(place.line, place.part))
    if verdict.part:
        print(verdict.part)
    if verdict.stdout:
        print(messages.printed(verdict.stdout))
    if where := _closure(task, verdict):
        print(where)
    if debug and verdict.status in ERRORS:
        call(task, answer, baseline_of(task, PUBLIC_SEED).cases[verdict.case])


def _speaks_for_itself(verdict: Verdict) -> bool:
    """Whether the finding is the cause.

    It is for an undefined name, an input that was changed, a refusal, why a score is 0, and what a
    task itself says of a result.
    """
    found, outcome = verdict.finding, verdict.outcome
    if isinstance(found, Different) and found.diagnostic:
        return True
    told = isinstance(found, BelowThreshold) and found.score == 0 and bool(found.diagnostic)
    undefined = outcome is not None and bool(outcome.undefined)
    changed = isinstance(found, Mutated)
    return told or undefined or changed or verdict.status is Status.REFUSED


def _is_random(task: Task, answer: object, verdict: Verdict) -> bool:
    """Whether an answer that no known mistake explains gives something else with other draws."""
    if task.kind not in CODE or verdict.mistake is not None or verdict.two_mistakes:
        return False
    if not isinstance(verdict.finding, Different):
        return False
    cases = [baseline_of(task, PUBLIC_SEED).cases[verdict.case]]

    def differs(function: Callable) -> bool:
        [one], [other] = (run(task, function, cases, torch_seed) for torch_seed in (0, 1))
        both = one.ok and other.ok
        return both and bool(difference(one.value, other.value, task.rtol, task.atol))

    return differs(answer) and not differs(task.reference)


def _place(
    task: Task, answer: object, verdict: Verdict, looking: Callable[[], None]
) -> Place | None:
    """Where one small change would do, if no known mistake explains what an answer gives."""
    named = verdict.mistake is not None or verdict.two_mistakes
    if task.kind not in CODE or verdict.case is None or named:
        return None
    if verdict.status not in (Status.OK, *ERRORS):
        return None
    return locate(task, answer, announce=looking)


class _Looking:
    """Says once that the search for the cause goes on, as soon as it takes long."""

    def __init__(self, task: Task) -> None:
        self.patience = 0.0 if task.kind == "train" else PATIENCE
        self.since: float | None = None
        self.announced = False

    def __call__(self) -> None:
        self.since = monotonic() if self.since is None else self.since
        if not self.announced and monotonic() - self.since >= self.patience:
            print(messages.looking(), flush=True)
            self.announced = True


def keep_back(*names: str) -> None:
    """Keep `check` from pointing at the model answers of these tasks, or of all if none is named.

    A course in which the points count adds this line to the notebook that it hands out.
    """
    _kept_back.update(names or [ALL])


def _closure(task: Task, verdict: Verdict) -> str:
    """Where the model answer is, for a student who is done with a task or stuck in it."""
    if os.environ.get("LAMPLIGHT_QUIET") == "1" or _kept_back & {ALL, task.name}:
        return ""  # outputs are recorded: they stand beside the model answers
    done = verdict.points == task.points or verdict.needs_review
    if not done and verdict.status not in UNTRIED:
        _tries[task.name] += 1
    if not done and _tries[task.name] < TRIES:
        return ""
    number = names_by_lecture()[task.lecture].index(task.name) + 1
    return messages.model_answer(task, number, None if done else _tries[task.name])


def progress(lecture: int) -> None:
    """Say how many tasks of a lecture are done, and what is left."""
    tasks = of_lecture(lecture)
    read = [task for task in tasks if task.name in _for_review]
    done = [task for task in tasks if _earned.get(task.name, 0) == task.points]
    points = sum(_earned.get(task.name, 0) for task in tasks)
    fallen = [task for task in tasks if _earned.get(task.name, 0) < _best.get(task.name, 0)]
    print(messages.progress(tasks, done, read, points, fallen))
