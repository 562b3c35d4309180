"""What a task is."""

from __future__ import annotations

import functools
import importlib
import pkgutil
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from difflib import get_close_matches
from typing import Literal

from helpers.validation import require

Kind = Literal["implement", "find the bug", "predict", "choose", "train", "written"]
CODE: tuple[Kind, ...] = ("implement", "find the bug")
VALUES: tuple[Kind, ...] = ("predict", "choose", "written")
"""Kinds of tasks whose answer is a value, which is not called."""
ORDINARY = "ordinary cases"
"""The kind of case that earns half of the points."""
PROJECT = 14
"""The number of the course's project, a sheet without a lecture of its own."""


@dataclass(frozen=True)
class Case:
    """One input.

    Args:
        note: what is special about it, for the student.
        kind: the group of cases that earns points together (see
            `grading.feedback.partial_credit`): "ordinary cases", "other shapes", "batches", "edge
            cases", or a name that the task makes up.
    """

    args: tuple
    note: str = ""
    kind: str = ORDINARY


@dataclass(frozen=True)
class Mistake:
    """A working wrong answer, and the sentence that tells what went wrong in it."""

    answer: object
    why: str


@dataclass(frozen=True)
class Pair:
    """A working wrong answer in which two known mistakes are made, and both sentences."""

    answer: object
    whys: tuple[str, str]


@dataclass(frozen=True)
class Enough:
    """A training that is enough: steps, examples in each, and the peak of Adam's learning rate."""

    steps: int
    examples: int
    rate: float


@dataclass(frozen=True)
class Task:
    """One thing that a student writes, under the name `name`.

    Args:
        name: of the function, class or variable that holds the answer; also of the task's file.
        lecture: the number of the lecture that it belongs to, or `PROJECT`.
        kind: "implement" and "find the bug" want a function or class; "predict" a value;
            "choose" a set of letters; "train" a function whose result reaches a score; "written"
            a text, which a person reads and marks.
        points, minutes: for the student's planning; `grading.workload` makes stars of the minutes.
        outcome: the outcome of the lecture that the task gives practice in, in the same words.
        reference: the model answer (for "predict" and "choose", the right value; for "written", a
            text as it might be).
        cases: for a seed, the inputs, smallest first. The notebook uses seed 0, the class grader
            seeds of its own. Tasks that want a value have none.
        mistakes: what is known to go wrong. For "predict" the wrong values; for "choose" one
            entry per option, whose answer is that option's letter and whose `why` is the reason.
        pairs: makes answers with two of the known mistakes at once, for an answer that shows no
            single one.
        alternatives: correct answers that are written differently, which must be accepted.
        diagnostics: functions of a case's arguments and the plain result. Each returns a sentence
            if a property is violated ("row 2 sums to 0.8, not to 1"). They are called when the
            result is wrong or misses the threshold.
        harness: how the answer is used on a case, if not by calling it: gets the answer and the
            arguments. A class is built and called here, a gradient is taken here.
        results: what the answer returns, if these are several things, each with its article, such
            as "the weights".
        forbidden: dotted names of functions that the answer must not call. A function that other
            modules import from its own is listed under each of these names.
        score, threshold: for "train": gets the arguments and the result, and what it must return at
            least. Of a score of 0 the diagnostics say why.
        enough: for "train", what the statement says to be enough or, if it does not, what the model
            answer takes. Messages compare with it what an answer did.
        nats: whether the score is exp(−n) for a loss of n nats above the entropy. Messages then
            show n in place of the score.
        rtol, atol: how close numbers must come.
        hints: unfold one after the other in the notebook.
        sentences: for "written", how many the text must have at least, if the task asks for some.
        extra: whether it comes on top of the sheet's core.
        section: the heading in the lecture that the feedback links to.
    """

    name: str
    lecture: int
    kind: Kind
    points: int
    minutes: int
    outcome: str
    reference: object
    cases: Callable[[int], Sequence[Case]] = field(default=lambda seed: [Case(())])
    mistakes: tuple[Mistake, ...] = ()
    pairs: Callable[[], Iterable[Pair]] | None = None
    alternatives: tuple[object, ...] = ()
    diagnostics: tuple[Callable[[tuple, object], str | None], ...] = ()
    harness: Callable[..., object] | None = None
    results: tuple[str, ...] = ()
    forbidden: tuple[str, ...] = ()
    score: Callable[[tuple, object], float] | None = None
    threshold: float = 0.0
    enough: Enough | None = None
    nats: bool = False
    rtol: float = 1e-4
    atol: float = 1e-5
    hints: tuple[str, ...] = ()
    sentences: int = 0
    extra: bool = False
    section: str = ""

    def __post_init__(self) -> None:
        where = f"task {self.name!r}"
        require(self.name.isidentifier(), where, "this name", "a Python identifier")
        require(self.points > 0, f"{where}, points", self.points, "more than 0")
        require(self.minutes > 0, f"{where}, minutes", self.minutes, "more than 0")
        trains = self.kind == "train"
        require(trains == (self.score is not None), f"{where}, score", self.score, "one to train")
        if self.kind == "choose":
            letters = {mistake.answer for mistake in self.mistakes}
            known = set(self.reference) <= letters
            require(known, f"{where}, mistakes", sorted(letters), "a reason for every option")


@functools.cache
def names_by_lecture() -> Mapping[int, Sequence[str]]:
    """Names of the tasks by lecture, in the order of the sheets; imports no task."""
    import grading.tasks as folder

    lectures = sorted(found.name for found in pkgutil.iter_modules(folder.__path__))
    return {
        int(name.removeprefix("lecture_")): importlib.import_module(f"grading.tasks.{name}").TASKS
        for name in lectures
    }


class UnknownTask(ValueError):
    """There is no task of this name; `like` is the most similar name, empty if none is similar."""

    def __init__(self, name: str, like: str) -> None:
        closest = f"; the most similar name is {like!r}" if like else ""
        super().__init__(f"there is no task {name!r}{closest}")
        self.like = like


@functools.cache
def _from_file(lecture: int, name: str) -> Task:
    """The task of one file, `tasks/lecture_NN/NAME.py`, which is imported."""
    module = importlib.import_module(f"grading.tasks.lecture_{lecture:02d}.{name}")
    return module.task.build(module)


def load(name: str) -> Task:
    """The task of this name; only its own file is imported.

    Raises:
        UnknownTask: if there is none.
    """
    lectures = {name: n for n, names in names_by_lecture().items() for name in names}
    if not isinstance(name, str):  # such as the answer, whose name was meant
        name = getattr(name, "__name__", "")
        raise UnknownTask(name, name if name in lectures else "")
    if name not in lectures:
        raise UnknownTask(name, next(iter(get_close_matches(name, lectures, 1)), ""))
    return _from_file(lectures[name], name)


def of_lecture(lecture: int) -> list[Task]:
    """The tasks of one lecture, in the order of its sheet."""
    return [_from_file(lecture, name) for name in names_by_lecture().get(lecture, ())]


@dataclass(frozen=True)
class Tasks(Mapping[str, Task]):
    """Tasks by name, in the order of the sheets; one of the course's is imported when looked up."""

    lectures: Mapping[str, int]
    """The lecture of each task, by the task's name."""
    made: Mapping[str, Task] = field(default_factory=dict)
    """Those that stand in no file of the course, or in another form."""

    @classmethod
    def of(cls, tasks: Mapping[str, Task]) -> Tasks:
        """Any tasks by name."""
        if isinstance(tasks, cls):
            return tasks
        return cls({name: task.lecture for name, task in tasks.items()}, tasks)

    def __getitem__(self, name: str) -> Task:
        lecture = self.lectures[name]
        return self.made[name] if name in self.made else _from_file(lecture, name)

    def __contains__(self, name: object) -> bool:
        return name in self.lectures

    def __iter__(self) -> Iterator[str]:
        return iter(self.lectures)

    def __len__(self) -> int:
        return len(self.lectures)

    def __or__(self, more: Mapping[str, Task]) -> Tasks:
        """These tasks and others, which replace those of the same name."""
        others = Tasks.of(more)
        kept = {name: task for name, task in self.made.items() if name not in others.lectures}
        return Tasks({**self.lectures, **others.lectures}, {**kept, **others.made})

    def without(self, names: Collection[str]) -> Tasks:
        """These tasks but for some."""
        kept = {name: lecture for name, lecture in self.lectures.items() if name not in names}
        return Tasks(kept, self.made)

    def of_lecture(self, lecture: int) -> list[str]:
        """The names of a lecture's tasks."""
        return [name for name, number in self.lectures.items() if number == lecture]


def all_tasks() -> Tasks:
    """Every task of the course by name, in the order of the sheets."""
    found: dict[str, int] = {}
    for lecture, names in names_by_lecture().items():
        for name in names:
            require(name not in found, f"task {name!r}", "two of them", "one")
            found[name] = lecture
    return Tasks(found)
