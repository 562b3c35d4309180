"""What every stage of one run needs to know."""

from __future__ import annotations

from collections.abc import Sequence, Set
from dataclasses import dataclass
from pathlib import Path

from classroom.gradebook.store import Store
from classroom.options import Options
from classroom.policy import Policy
from grading.task import Tasks


@dataclass
class Run:
    """One run of the grader."""

    source: Path
    out: Path
    options: Options
    policy: Policy
    course: Tasks
    """The course's own tasks, by name."""
    tasks: Tasks
    """The tasks that are graded, by name; the lecturer's own are among them."""
    store: Store
    seed: int
    """Seed of the hidden cases."""

    @property
    def lectures(self) -> list[int]:
        """Every lecture with graded tasks."""
        return sorted(set(self.tasks.lectures.values()))

    @property
    def sheets(self) -> Sequence[int]:
        """The lectures whose sheets this run grades."""
        return self.lectures if self.options.lecture is None else [self.options.lecture]

    @property
    def own_tasks(self) -> Set[str]:
        """Names of the tasks that the lecturer wrote."""
        return self.tasks.keys() - self.course.keys()
