"""What the model answer, the known mistakes and pairs of them give on the cases of one seed."""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

from grading.runner.compare import difference
from grading.runner.outcome import Outcome
from grading.runner.run import run
from grading.task import Case, Pair, Task

Same = Callable[[object, object], bool]


@dataclass(frozen=True)
class Catalogue:
    """What the model answer and the known mistakes give, case by case.

    Args:
        right: what the model answer gives on each case.
        wrong: what each known mistake gives on each case.
        sentences: of the known mistakes; those with the same one are one candidate.
        n_outcomes: number of different outcomes on each case.
    """

    right: Sequence[object]
    wrong: Sequence[Sequence[object]]
    sentences: Sequence[str]
    n_outcomes: Sequence[int]

    @classmethod
    def of(
        cls,
        right: Sequence[object],
        wrong: Sequence[Sequence[object]],
        sentences: Sequence[str],
        same: Same,
    ) -> Catalogue:
        """Count how many different outcomes each case has."""
        counts = []
        for case, first in enumerate(right):
            different = [first]
            for theirs in wrong:
                if not any(same(theirs[case], known) for known in different):
                    different.append(theirs[case])
            counts.append(len(different))
        return cls(right, wrong, sentences, counts)


class BadTask(ValueError):
    """A task that can judge nobody: without cases, or with a model answer that fails on one.

    Args:
        name: of the task.
        case: on which the model answer has no result, counted from 0.
        outcome: what it gave there.
    """

    def __init__(self, name: str, case: int = 0, outcome: Outcome | None = None) -> None:
        super().__init__(name, case, outcome)
        self.name, self.case, self.outcome = name, case, outcome


class Baseline:
    """Runs an answer of ours on a case when it is first asked for, and keeps the outcome.

    Args:
        task: whose answers are run.
        cases: on which they are run.

    Raises:
        BadTask: if there are no cases, or the model answer has no result on one.
    """

    def __init__(self, task: Task, cases: Sequence[Case]) -> None:
        if not cases:
            raise BadTask(task.name)
        self.task = task
        self.cases = cases
        self._right: dict[int, Outcome] = {}
        self._mistakes: dict[tuple[int, int], Outcome] = {}
        self._of_pairs: dict[tuple[int, int], Outcome] = {}
        self._pairs: list[Pair] | None = None
        self._catalogue: Catalogue | None = None
        self._announce: Callable[[], None] | None = None

    @contextlib.contextmanager
    def announcing(self, announce: Callable[[], None]) -> Iterator[None]:
        """Call `announce`, as long as this lasts, each time that a known mistake has to be run."""
        self._announce = announce
        try:
            yield
        finally:
            self._announce = None

    def right(self, case: int) -> Outcome:
        """What the model answer gives on a case."""
        if case not in self._right:
            [outcome] = run(self.task, self.task.reference, [self.cases[case]])
            if not outcome.ok:
                raise BadTask(self.task.name, case, outcome)
            self._right[case] = outcome
        return self._right[case]

    def mistake(self, which: int, case: int) -> Outcome:
        """What a known mistake gives on a case."""
        if (which, case) not in self._mistakes:
            answer = self.task.mistakes[which].answer
            self._mistakes[which, case] = self._run(answer, case)
        return self._mistakes[which, case]

    def pair(self, which: int, case: int) -> Outcome:
        """What an answer with two known mistakes gives on a case."""
        if (which, case) not in self._of_pairs:
            self._of_pairs[which, case] = self._run(self.pairs[which].answer, case)
        return self._of_pairs[which, case]

    def all_right(self) -> list[Outcome]:
        """What the model answer gives, case by case."""
        return [self.right(case) for case in range(len(self.cases))]

    def all_of_mistake(self, which: int) -> list[Outcome]:
        """What a known mistake gives, case by case."""
        return [self.mistake(which, case) for case in range(len(self.cases))]

    @property
    def pairs(self) -> list[Pair]:
        """The answers with two known mistakes that the task has."""
        if self._pairs is None:
            self._pairs = list(self.task.pairs()) if self.task.pairs else []
        return self._pairs

    @property
    def catalogue(self) -> Catalogue:
        """Everything that the model answer and the known mistakes give, for a diagnosis."""
        if self._catalogue is None:
            right = self.all_right()
            wrong = [self.all_of_mistake(which) for which in range(len(self.task.mistakes))]
            sentences = [mistake.why for mistake in self.task.mistakes]
            self._catalogue = Catalogue.of(right, wrong, sentences, self.same)
        return self._catalogue

    @property
    def n_outcomes(self) -> Sequence[int] | None:
        """Number of different outcomes on each case, if all known mistakes have been run."""
        return self._catalogue.n_outcomes if self._catalogue else None

    def share_alike(self, which: int, case: int) -> float:
        """The share of the known mistakes that give on a case what one of them gives."""
        theirs = [outcomes[case] for outcomes in self.catalogue.wrong]
        return sum(self.same(other, theirs[which]) for other in theirs) / len(theirs)

    def same(self, one: Outcome, other: Outcome) -> bool:
        """Whether the first outcome passes for the second."""
        return same(self.task, one, other)

    def _run(self, answer: object, case: int) -> Outcome:
        if self._announce:
            self._announce()
        [outcome] = run(self.task, answer, [self.cases[case]])
        return outcome


def same(task: Task, one: Outcome, other: Outcome) -> bool:
    """Whether the first outcome passes for the second, which is taken as what was expected.

    For nearly all outcomes this is the same both ways; see `difference`.
    """
    if not (one.ok and other.ok):
        ends = [(outcome.status, outcome.error, outcome.form) for outcome in (one, other)]
        return ends[0] == ends[1]
    if difference(one.value, other.value, task.rtol, task.atol) is not None:
        return False
    return (one.mutated, one.mutation) == (other.mutated, other.mutation)
