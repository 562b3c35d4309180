"""check("name") and progress(): what a student calls in a notebook."""

from __future__ import annotations

import sys

from grading.judge import MISSING, grade
from grading.task import Task, all_tasks, load

PUBLIC_SEED = 0

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


def progress(lecture: int) -> None:
    """Say how many tasks of a lecture are done, and what is left."""
    tasks = of_lecture(lecture)
    done = [task for task in tasks if _earned.get(task.name, 0) == task.points]
    points = sum(_earned.get(task.name, 0) for task in tasks)
    print(
        f"{len(done)} of {len(tasks)} tasks, {points} of {sum(t.points for t in tasks)} points "
        "on the public cases"
    )
    left = [task.name for task in tasks if task not in done]
    if left:
        print("Still open: " + ", ".join(left))


def of_lecture(lecture: int) -> list[Task]:
    """The tasks of one lecture, by name."""
    tasks = all_tasks()
    return [tasks[name] for name in sorted(tasks) if tasks[name].lecture == lecture]
