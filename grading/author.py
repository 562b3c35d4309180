"""What the file of a task is written with.

A file `tasks/lecture_NN/NAME.py` holds, from the top:

- `task = TaskFile("implement", points=…, minutes=…, outcome="…", …)`: what the student plans with,
  and all of the task that is not code;
- between `# %% the cell` and `# %%` the notebook's cell before the check: the model answer between
  `# BEGIN SOLUTION` and `# END SOLUTION`, and what a student finds in its place after `#| `. This
  is its one home; the answer is what the cell defines under the file's name. A cell that the
  notebook needs for it stands between `# %% given` and `# %%`;
- correct answers that are written differently, each under `@task.alternative`;
- known mistakes, the likeliest first, each under `@task.mistake("what went wrong")`. A value or a
  lambda is an argument: `task.mistake("what went wrong", answer)`. If a mistake differs from the
  model answer by a few words, write `task.edit("what went wrong", "old", "new")`. In a bug hunt the
  first one is `task.as_given("…")`: the cell as a student finds it;
- `@task.cases`, and where the task needs them `@task.harness`, `@task.diagnostic`, `@task.score`.
"""

from __future__ import annotations

import contextlib
import importlib
import inspect
import linecache
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from itertools import combinations, permutations, product
from pathlib import Path
from types import CodeType, FunctionType, ModuleType
from typing import TypeVar

from grading.feedback.baseline import Baseline
from grading.task import Case, Enough, Kind, Mistake, Pair, Task
from helpers.validation import require

__all__ = ["Case", "Enough", "TaskFile", "correct", "functions_of", "incorrect"]

BEGIN, END, STUB = "# BEGIN SOLUTION", "# END SOLUTION", "#| "
CELL = re.compile(r"^# %% (the cell|given)\n(.*?)^# %%$", re.DOTALL | re.MULTILINE)

Answer = TypeVar("Answer")
"""A function, a class or a value; a decorator returns what it was given."""


@dataclass(frozen=True)
class Edit:
    """A known mistake that differs from the model answer by a few words: old and new in turn."""

    why: str
    changes: tuple[str, ...]


@dataclass(frozen=True)
class AsGiven:
    """The known mistake of a student who has not changed the cell."""

    why: str


class TaskFile:
    """What the file of a task defines; `build` makes the task of it.

    Args:
        kind, points, minutes: what the student plans with.
        reasons: for "choose", the reason of each option by its letter, each written as
            `correct("…")` or `incorrect("…")`.
        two_at_once: whether an answer that shows no known mistake is compared with every two of
            them in one answer: edits, functions that change what the model answer takes or
            gives, and classes that override different methods of one class.
            For quick answers that end however they are changed; and no sentence may say that the
            rest of the answer is right.
        redraw: whether cases are drawn again until they tell all known mistakes apart, for a task
            where few draws fail to; see `told_apart`. For quick answers.
        fields: other fields of `Task`. Name and lecture are those of the file.
    """

    def __init__(
        self,
        kind: Kind,
        *,
        points: int,
        minutes: int,
        reasons: Mapping[str, tuple[bool, str]] | None = None,
        two_at_once: bool = False,
        redraw: bool = False,
        **fields: object,
    ) -> None:
        self._fields = {"kind": kind, "points": points, "minutes": minutes, **fields}
        self._reasons = reasons or {}
        self._two_at_once, self._redraw = two_at_once, redraw
        self._alternatives: list[object] = []
        self._diagnostics: list[Callable] = []
        self._mistakes: list[Mistake | Edit | AsGiven] = []
        self._unanswered: list[str] = []
        """Known mistakes that still lack an answer."""

    def alternative(self, answer: Answer) -> Answer:
        """Add a correct answer that is written differently: a decorator."""
        self._alternatives.append(answer)
        return answer

    def mistake(self, why: str, *answers: object) -> Callable[[Answer], Answer]:
        """Add a known mistake: a decorator for a working wrong answer.

        Args:
            why: the sentence that a student reads.
            answers: the wrong answers themselves, if there is nothing to decorate.
        """
        self._mistakes += [Mistake(answer, why) for answer in answers]
        if not answers:
            self._unanswered.append(why)

        def decorate(answer: Answer) -> Answer:
            self._mistakes.append(Mistake(answer, why))
            if not answers:
                self._unanswered.remove(why)
            return answer

        return decorate

    def edit(self, why: str, *changes: str) -> None:
        """Add a known mistake that differs from the model answer by a few words.

        Args:
            why: the sentence that a student reads.
            changes: words of the model answer, which occur there once, and what replaces them,
                in turn.
        """
        self._mistakes.append(Edit(why, changes))

    def as_given(self, why: str) -> None:
        """Add the first known mistake of a bug hunt: the cell as a student finds it."""
        self._mistakes.append(AsGiven(why))

    def cases(self, function: Answer) -> Answer:
        """Make the inputs by this function of a seed: a decorator."""
        self._fields["cases"] = function
        return function

    def harness(self, function: Answer) -> Answer:
        """Use the answer on a case by this function: a decorator. See `Task.harness`."""
        self._fields["harness"] = function
        return function

    def score(self, function: Answer) -> Answer:
        """Rate what a training returns by this function: a decorator. See `Task.score`."""
        self._fields["score"] = function
        return function

    def diagnostic(self, function: Answer) -> Answer:
        """Ask this function what is wrong with a result: a decorator. See `Task.diagnostics`."""
        self._diagnostics.append(function)
        return function

    def build(self, module: ModuleType) -> Task:
        """The task, from all that its file has added.

        Raises:
            ValueError: if the reasons are correct for other options than the key names, a known
                mistake has no answer, or the words of an edit do not occur just once.
        """
        _, _, folder, name = module.__name__.rsplit(".", 3)
        space = vars(module)
        file = f"{folder}/{name}.py"
        require(name in space, file, f"nothing named {name}", "the answer, under the file's name")
        without = f"no answer for {self._unanswered}"
        require(not self._unanswered, f"{file}, known mistakes", without, "one each")
        if self._fields["kind"] == "choose":
            right = sorted(letter for letter, (is_right, _) in self._reasons.items() if is_right)
            key = sorted(space[name])
            require(right == key, f"{file}, reasons that are correct", right, key)
        mistakes = [Mistake(letter, why) for letter, (_, why) in self._reasons.items()]
        for number, known in enumerate(self._mistakes):
            mistakes.append(_with_an_answer(known, space, number))
        edits = [known for known in self._mistakes if isinstance(known, Edit)]
        written = [known for known in self._mistakes if isinstance(known, Mistake)]
        task = Task(
            name=name,
            lecture=int(folder.removeprefix("lecture_")),
            reference=space[name],
            alternatives=tuple(self._alternatives),
            mistakes=tuple(mistakes),
            pairs=(lambda: _pairs(space, edits, written)) if self._two_at_once else None,
            diagnostics=tuple(self._diagnostics),
            **self._fields,
        )
        return replace(task, cases=partial(_redrawn, task)) if self._redraw else task


DRAWS = 50
"""Number of draws of cases after which a task is refused."""


def _redrawn(task: Task, seed: int) -> Sequence[Case]:
    """The first cases that tell all known mistakes apart, drawn from this seed and others.

    Raises:
        ValueError: if none of `DRAWS` draws does.
    """
    for draw in range(DRAWS):
        cases = task.cases(seed + draw * 1_000_003)
        if told_apart(task, cases):
            return cases
    raise ValueError(f"task {task.name!r}: of {DRAWS} draws none tells all known mistakes apart")


def told_apart(task: Task, cases: Sequence[Case]) -> bool:
    """Whether each known mistake fails on some case, and no two with other sentences are alike."""
    baseline = Baseline(task, cases)
    catalogue, same = baseline.catalogue, baseline.same
    rows = [("", catalogue.right), *zip(catalogue.sentences, catalogue.wrong, strict=True)]
    for (why, ours), (other_why, theirs) in permutations(rows, 2):
        if why != other_why and all(map(same, ours, theirs)):
            return False
    return True


def _with_an_answer(
    known: Mistake | Edit | AsGiven, space: Mapping[str, object], number: int
) -> Mistake:
    """A known mistake with its wrong answer; `number` tells it from others in a traceback."""
    match known:
        case Edit(why, changes):
            return Mistake(_changed(space, changes, f"edited {number}"), why)
        case AsGiven(why):
            return Mistake(_given(space), why)
        case Mistake():
            return known


def _changed(space: Mapping[str, object], changes: Sequence[str], label: str) -> object:
    """The model answer of a file after some changes.

    Raises:
        ValueError: if what is to be changed does not occur just once.
    """
    path = Path(space["__file__"])
    lines = cell_of(path).splitlines()
    source = "\n".join(line for line in lines if not line.lstrip().startswith("#"))
    for old, new in zip(changes[::2], changes[1::2], strict=True):
        require(source.count(old) == 1, f"{path.name}, {old!r}", source.count(old), "it once")
        source = source.replace(old, new)
    return _defined(space, source, f"{path.name}, {label}")


def _given(space: Mapping[str, object]) -> object:
    """The answer as a student finds it."""
    path = Path(space["__file__"])
    return _defined(space, stub(cell_of(path)), f"{path.name} as given")


def _defined(space: Mapping[str, object], source: str, label: str) -> object:
    """What some source defines under the name of a task's file, with the names of that file."""
    names = dict(space)
    exec(_compiled(source, label), names)
    return names[Path(space["__file__"]).stem]


def _pairs(
    space: Mapping[str, object], edits: Sequence[Edit], written: Sequence[Mistake]
) -> Iterator[Pair]:
    """Every two known mistakes with different sentences that fit into one answer."""
    for one, other in combinations(edits, 2):
        if one.why != other.why:
            with contextlib.suppress(ValueError, SyntaxError):
                answer = _changed(space, one.changes + other.changes, f"{one.why}, {other.why}")
                yield Pair(answer, (one.why, other.why))
    name = Path(space["__file__"]).stem
    around = [known for known in written if _calls(known.answer, name)]
    for edit, known in product(edits, around):
        if edit.why != known.why:
            inner = _changed(space, edit.changes, f"{edit.why}, {known.why}")
            yield Pair(_with_names(known.answer, {**space, name: inner}), (edit.why, known.why))
    classes = [known for known in written if isinstance(known.answer, type)]
    for one, other in combinations(classes, 2):
        if one.why != other.why and _override_different_methods(one.answer, other.answer):
            both = type(one.answer.__name__, (one.answer, other.answer), {})
            yield Pair(both, (one.why, other.why))


def _calls(answer: object, name: str) -> bool:
    """Whether an answer is a function that uses this global name."""
    return isinstance(answer, FunctionType) and name in answer.__code__.co_names


def _with_names(function: FunctionType, names: dict[str, object]) -> FunctionType:
    """The function with other global names."""
    code, defaults, closure = function.__code__, function.__defaults__, function.__closure__
    return FunctionType(code, names, function.__name__, defaults, closure)


def _override_different_methods(one: type, other: type) -> bool:
    """Whether both classes change a third one, and each of them something else in it."""
    base = next(kind for kind in one.__mro__ if kind in other.__mro__)
    if base in (one, other) or base.__module__ != one.__module__:
        return False
    changes = [
        {name for kind in some.__mro__ if kind not in base.__mro__ for name in vars(kind)}
        for some in (one, other)
    ]
    return not {name for name in changes[0] & changes[1] if name not in vars(type("", (), {}))}


def _compiled(source: str, name: str) -> CodeType:
    """Code whose lines `inspect` finds, although no file holds them."""
    linecache.cache[name] = (len(source), None, source.splitlines(keepends=True), name)
    return compile(source, name, "exec")


def correct(why: str) -> tuple[bool, str]:
    """The reason why an option of a choice task is correct."""
    return True, why


def incorrect(why: str) -> tuple[bool, str]:
    """The reason why an option of a choice task is incorrect."""
    return False, why


def functions_of(module: str) -> tuple[str, ...]:
    """The public functions of a module by their dotted names, for `forbidden`."""
    names = vars(importlib.import_module(module))
    return tuple(
        f"{module}.{name}"
        for name, thing in names.items()
        if inspect.isfunction(thing) and thing.__module__ == module and not name.startswith("_")
    )


def cell_of(path: Path) -> str:
    """The part of a task's file that is the notebook's cell before the check.

    Raises:
        ValueError: if the file marks no such part, or several.
    """
    found = [text for mark, text in _cells(path) if mark == "the cell"]
    require(len(found) == 1, f"{path.name}, parts marked '# %% the cell'", len(found), "1")
    return found[0]


def given_in(path: Path) -> list[str]:
    """Other cells of the notebook that the task's file holds."""
    return [text for mark, text in _cells(path) if mark == "given"]


def _cells(path: Path) -> list[tuple[str, str]]:
    text = path.read_text(encoding="utf-8")
    return [(mark, cell.strip("\n")) for mark, cell in CELL.findall(text)]


def stub(source: str) -> str:
    """A code cell as a student finds it.

    Raises:
        ValueError: if begin and end marks do not pair up.
    """
    kept, inside = [], False
    for number, line in enumerate(source.splitlines(), 1):
        word = line.strip()
        if word in (BEGIN, END):
            pairs = inside == (word == END)
            require(pairs, f"line {number}", repr(word), f"{BEGIN!r} and {END!r} in turn")
            inside = not inside
        elif not inside:
            kept.append(re.sub(rf"^(\s*){re.escape(STUB)}", r"\1", line))
    require(not inside, "the end of a cell", f"an open {BEGIN!r}", repr(END))
    return "\n".join(kept).rstrip()
