"""check("name") and progress(): what a student calls in a notebook."""

from __future__ import annotations

import json
import sys
from pathlib import Path

from grading.judge import MISSING, grade
from grading.task import Task, all_tasks, load

PUBLIC_SEED = 0
ORDER = Path(__file__).with_name("order.json")
"""The names of each lecture's tasks as they follow in the notebook; written by `generate`."""

_earned: dict[str, int] = {}
"""Points on the public cases, by task, in this session."""


def check(name: str, answer: object = MISSING) -> None:
    """Run the answer to a task on the public cases, and say what came of it.

    Args:
        name: of the task, which is also the name of the answer.
        answer: taken from where `check` is called, if not given.

    Raises:
        ValueError: if there is no such task.
    """
    task = load(name)
    if answer is MISSING:
        answer = sys._getframe(1).f_globals.get(name, MISSING)
    verdict = grade(task, answer, PUBLIC_SEED)
    _earned[name] = verdict.points
    sign = "✓" if verdict.points else "…" if verdict.review else "✗"
    print(f"{sign} {name}: {verdict.points} of {task.points} points")
    print(verdict.message)
    if verdict.printed:
        print("Your code printed:")
        print(verdict.printed)


def progress(lecture: int) -> None:
    """Say how many tasks of a lecture are done, and what is left."""
    tasks = of_lecture(lecture)
    done = [task for task in tasks if _earned.get(task.name, 0) == task.points]
    points = sum(_earned.get(task.name, 0) for task in tasks)
    print(
        f"{len(done)} of {len(tasks)} tasks, {points} of {sum(t.points for t in tasks)} points "
        "on the public cases"
    )
    left = [f"{n}. {task.name}" for n, task in enumerate(tasks, 1) if task not in done]
    if left:
        print("Still open: " + ", ".join(left))


def of_lecture(lecture: int) -> list[Task]:
    """The tasks of one lecture, in the order of its notebook."""
    names = json.loads(ORDER.read_text(encoding="utf-8")).get(str(lecture), [])
    place = {name: number for number, name in enumerate(names)}
    tasks = [task for task in all_tasks().values() if task.lecture == lecture]
    return sorted(tasks, key=lambda task: (place.get(task.name, len(place)), task.name))
