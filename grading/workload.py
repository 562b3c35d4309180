"""How long a sheet takes: a task's stars, and the core of four hours at most.

The project is no sheet for a week: all of it belongs together.
"""

from __future__ import annotations

from collections.abc import Sequence

from grading.task import PROJECT, Task

CORE = 240
"""The most minutes of a sheet's core."""
ONE_STAR, TWO_STARS = 10, 18
"""Up to so many minutes a task has one star, or two; a longer one has three."""


def stars(task: Task) -> int:
    """One to three, by how long the task takes."""
    return 1 + (task.minutes > ONE_STAR) + (task.minutes > TWO_STARS)


def minutes(tasks: Sequence[Task]) -> int:
    """How long they take together."""
    return sum(task.minutes for task in tasks)


def core(tasks: Sequence[Task]) -> list[Task]:
    """The tasks of a sheet that belong to its core; the others are extra.

    What is not marked as extra, less the longest tasks (of equals the last) until the rest takes
    four hours at most. Of the project nothing is left out.
    """
    kept = [task for task in tasks if not task.extra]
    while minutes(kept) > CORE and kept[0].lecture != PROJECT:
        longest = max(minutes([task]) for task in kept)
        kept.remove([task for task in kept if task.minutes == longest][-1])
    return kept


def hours(minutes: int) -> str:
    """A time to five minutes, as people say it: "3 h 10 min", "40 min"."""
    whole, rest = divmod(5 * round(minutes / 5), 60)
    if not whole:
        return f"{rest} min"
    return f"{whole} h {rest} min" if rest else f"{whole} h"
