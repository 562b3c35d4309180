"""check("name"), progress() and keep_back(): what is called in a notebook."""

from __future__ import annotations

import json
import os
import sys
from collections import Counter
from pathlib import Path
from time import monotonic

import torch  # noqa: F401, now, with all that takes time, and not at the first check

from grading.judge import MISSING, UNWRITTEN, Verdict, grade
from grading.task import PROJECT, Task, all_tasks, load

PUBLIC_SEED = 0
ORDER = Path(__file__).with_name("order.json")
"""The names of each lecture's tasks as they follow in the notebook; written by `generate`."""

PATIENCE = 1.0
"""Seconds of search before `check` says that it looks for the cause; at once in a training task."""
TRIES = 5
"""Wrong answers after which `check` points at the model answer."""

_earned: dict[str, float] = {}
"""Points on the public cases, by task, in this session."""
_read: set[str] = set()
"""Tasks whose answer waits for a person."""
_tries: Counter = Counter()
_kept_back: set[str] = set()
"""Tasks whose model answer `check` does not point at; ALL stands for every task."""
ALL = "*"


def check(name: str, answer: object = MISSING) -> None:
    """Run the answer to a task on the public cases, and print the verdict.

    Args:
        name: of the task, which is also the name of the answer.
        answer: taken from where `check` is called, if not given.

    Raises:
        ValueError: if there is no such task.
    """
    task = load(name)
    if answer is MISSING:
        answer = sys._getframe(1).f_globals.get(name, MISSING)
    verdict = grade(task, answer, PUBLIC_SEED, _Looking(task))
    _earned[name] = verdict.points
    (_read.add if verdict.review else _read.discard)(name)
    full = verdict.points == task.points
    sign = "✓" if full else "◐" if verdict.points else "…" if verdict.review else "✗"
    earned = f"{verdict.points:g} of" if not verdict.review else "a person gives up to"
    print(f"{sign} {name}: {earned} {task.points} points")
    print(verdict.message)
    if verdict.part:
        print(verdict.part)
    if verdict.printed:
        print("Your code printed:")
        print(verdict.printed)
    if where := _closure(task, verdict):
        print(where)


class _Looking:
    """Says once that the cause is looked for, where that takes longer."""

    def __init__(self, task: Task) -> None:
        self.patience = 0.0 if task.kind == "train" else PATIENCE
        self.since: float | None = None
        self.told = False

    def __call__(self) -> None:
        self.since = monotonic() if self.since is None else self.since
        if not self.told and monotonic() - self.since >= self.patience:
            print("Not right yet. Looking for the cause …", flush=True)
            self.told = True


def keep_back(*names: str) -> None:
    """Let `check` not point at the model answers of these tasks, or of any if none is named.

    For a course in which they count: a line in the notebook that is handed out.
    """
    _kept_back.update(names or [ALL])


def _closure(task: Task, verdict: Verdict) -> str:
    """Where the model answer is, for a student who is done with a task or stuck in it."""
    if os.environ.get("LAMPLIGHT_QUIET") == "1" or _kept_back & {ALL, task.name}:
        return ""  # outputs are recorded: they stand beside the model answers
    done = verdict.points == task.points or verdict.review
    if not done and not any(words in verdict.message for words in UNWRITTEN):
        _tries[task.name] += 1
    if not done and _tries[task.name] < TRIES:
        return ""
    names = [other.name for other in of_lecture(task.lecture)]
    number = names.index(task.name) + 1
    sheet = "of the project" if task.lecture == PROJECT else f"{task.lecture}"
    place = f'task {number} of "Model answers {sheet}" on the course\'s site'
    if done:
        return f"To compare, see {place}."
    tries = _tries[task.name]
    return f"After {tries} attempts: you find the model answer with its reasons in {place}."


def progress(lecture: int) -> None:
    """Say how many tasks of a lecture are done, and what is left."""
    tasks = of_lecture(lecture)
    read = [task for task in tasks if task.name in _read]
    done = [task for task in tasks if _earned.get(task.name, 0) == task.points]
    points = sum(_earned.get(task.name, 0) for task in tasks)
    print(
        f"{len(done)} of {len(tasks)} tasks, {points:g} of {sum(t.points for t in tasks)} points "
        "on the public cases"
    )
    left = [f"{n}. {task.name}" for n, task in enumerate(tasks, 1) if task not in done + read]
    if read:
        print("A person reads: " + ", ".join(task.name for task in read))
    if left:
        print("Still open: " + ", ".join(left))


def of_lecture(lecture: int) -> list[Task]:
    """The tasks of one lecture, in the order of its notebook."""
    names = json.loads(ORDER.read_text(encoding="utf-8")).get(str(lecture), [])
    place = {name: number for number, name in enumerate(names)}
    tasks = [task for task in all_tasks().values() if task.lecture == lecture]
    return sorted(tasks, key=lambda task: (place.get(task.name, len(place)), task.name))
