"""What the file of a task is written with.

A file `tasks/lecture_NN/NAME.py` holds, from the top:

- between `# %% the cell` and `# %%` what stands in the notebook before the check, with the marks
  of `generate`: the model answer, and what a student finds in its place. This is its one home. What
  the notebook defines for it in a cell of its own stands between `# %% given` and `# %%`;
- right answers in another way, each under `@also_right`;
- known mistakes, each under `@mistake("what went wrong")`, the likeliest first. A value, or an
  answer that is made by a call, is handed over: `mistake("what went wrong", answer)`. One that is
  the model answer but for some words is `edited("what went wrong", "old", "new")`. In a task to
  find bugs the first one is `as_given("…")`: the cell as a student finds it;
- the cases, and what else the task needs; at the end `TASK = task(…)`, which collects all these.
"""

from __future__ import annotations

import contextlib
import importlib
import inspect
import linecache
import re
import sys
from collections import defaultdict
from collections.abc import Callable, Iterator, Mapping, Sequence
from itertools import combinations
from pathlib import Path
from types import CodeType

from grading.task import Case, Kind, Mistake, Pair, Task
from helpers.validation import require

__all__ = [
    "Case",
    "also_right",
    "as_given",
    "edited",
    "fails",
    "functions_of",
    "holds",
    "mistake",
    "plan",
    "task",
]

BEGIN, END, STUB = "# BEGIN SOLUTION", "# END SOLUTION", "#| "
CELL = re.compile(r"^# %% (the cell|given)\n(.*?)^# %%$", re.DOTALL | re.MULTILINE)

_right: dict[str, list[object]] = defaultdict(list)
_mistakes: dict[str, list[Mistake]] = defaultdict(list)
"""What the decorators have collected, by the file (the module's name) in which they stand."""
_bare: dict[str, list[str]] = defaultdict(list)
"""The sentences of known mistakes that still lack an answer."""
_edits: dict[str, list[tuple[str, tuple[str, ...]]]] = defaultdict(list)
"""The known mistakes that are the model answer but for some words: sentence and changes."""


def _here() -> dict:
    """The names of the file from which the caller was called."""
    return sys._getframe(2).f_globals


def also_right(answer: object) -> object:
    """A right answer, written in another way."""
    _right[_here()["__name__"]].append(answer)
    return answer


def mistake(why: str, *answers: object) -> Callable[[object], object]:
    """A known mistake: a decorator for a working wrong answer, with what went wrong in it.

    Args:
        why: the sentence that a student reads.
        answers: the wrong answers themselves, where there is nothing to decorate.
    """
    file = _here()["__name__"]
    known, bare = _mistakes[file], _bare[file]
    known += [Mistake(answer, why) for answer in answers]
    if not answers:
        bare.append(why)

    def decorate(answer: object) -> object:
        known.append(Mistake(answer, why))
        if not answers:
            bare.remove(why)
        return answer

    return decorate


def edited(why: str, *changes: str) -> object:
    """A known mistake that is the model answer but for some words.

    Args:
        why: the sentence that a student reads.
        changes: what stands in the model answer and what stands there instead, in turn.

    Raises:
        ValueError: if what is to be changed does not stand there just once.
    """
    here = _here()
    answer = _changed(here, changes, f"edited {len(_mistakes[here['__name__']])}")
    _mistakes[here["__name__"]].append(Mistake(answer, why))
    _edits[here["__name__"]].append((why, changes))
    return answer


def _changed(space: dict, changes: Sequence[str], name: str) -> object:
    """The model answer of a file but for some words.

    Raises:
        ValueError: if what is to be changed does not stand there just once.
    """
    path = Path(space["__file__"])
    lines = cell_of(path).splitlines()
    source = "\n".join(line for line in lines if not line.lstrip().startswith("#"))
    for old, new in zip(changes[::2], changes[1::2], strict=True):
        require(source.count(old) == 1, f"{path.name}, {old!r}", source.count(old), "it once")
        source = source.replace(old, new)
    names = dict(space)
    exec(_compiled(source, f"{path.name}, {name}"), names)
    return names[path.stem]


def _pairs(space: dict, edits: Sequence[tuple[str, tuple[str, ...]]]) -> Iterator[Pair]:
    """Every two edited mistakes in one answer, where both changes find their words."""
    for (one, first), (other, second) in combinations(edits, 2):
        with contextlib.suppress(ValueError, SyntaxError):
            yield Pair(_changed(space, first + second, f"{one}, {other}"), (one, other))


def as_given(why: str) -> object:
    """The first known mistake of a task to find bugs: the cell as a student finds it."""
    here = _here()
    names = dict(here)
    path = Path(here["__file__"])
    exec(_compiled(stub(cell_of(path)), f"{path.name} as given"), names)
    answer = names[path.stem]
    _mistakes[here["__name__"]].append(Mistake(answer, why))
    return answer


def _compiled(source: str, name: str) -> CodeType:
    """Code whose lines `inspect` finds, although no file holds them."""
    linecache.cache[name] = (len(source), None, source.splitlines(keepends=True), name)
    return compile(source, name, "exec")


def plan(kind: Kind, *, points: int, minutes: int, extra: bool = False) -> dict[str, object]:
    """What the student plans with; the fields are those of `Task`."""
    return {"kind": kind, "points": points, "minutes": minutes, "extra": extra}


def holds(why: str) -> tuple[bool, str]:
    """The reason why an option of a task to choose is right."""
    return True, why


def fails(why: str) -> tuple[bool, str]:
    """The reason why an option of a task to choose is not right."""
    return False, why


def functions_of(module: str) -> tuple[str, ...]:
    """The public functions of a module by their dotted names, for `forbidden`."""
    names = vars(importlib.import_module(module))
    return tuple(
        f"{module}.{name}"
        for name, thing in names.items()
        if inspect.isfunction(thing) and thing.__module__ == module and not name.startswith("_")
    )


def task(
    plan: Mapping[str, object],
    *,
    reasons: Mapping[str, tuple[bool, str]] | None = None,
    two_at_once: bool = False,
    **facts: object,
) -> Task:
    """The task of this file, with all that was collected for it.

    Args:
        plan: kind, points and minutes.
        reasons: for "choose", the reason of each option by its letter, each written as
            `holds("…")` or `fails("…")`.
        two_at_once: whether an answer that shows no known mistake is compared with every two that
            are `edited`. For answers that end however they are changed, and quickly.
        facts: the other fields of `Task`. Name and lecture are those of the file, and the
            reference is what the file calls by that name.

    Raises:
        ValueError: if the reasons hold for other options than the key names, or a known mistake
            has no answer.
    """
    here = _here()
    file = here["__name__"]
    bare, known, also, edits = (
        collected.pop(file, ()) for collected in (_bare, _mistakes, _right, _edits)
    )
    require(not bare, f"{file}, known mistakes", f"no answer for {bare}", "an answer, or @mistake")
    _, _, folder, name = file.rsplit(".", 3)
    reasons = reasons or {}
    if plan["kind"] == "choose":
        right = {letter for letter, (is_right, _) in reasons.items() if is_right}
        agree = right == set(here[name])
        require(agree, f"task {name!r}, reasons that hold", sorted(right), sorted(here[name]))
    mistakes = [Mistake(letter, why) for letter, (_, why) in reasons.items()]
    return Task(
        name=name,
        lecture=int(folder.removeprefix("lecture_")),
        reference=here[name],
        also_right=tuple(also),
        mistakes=(*mistakes, *known),
        pairs=(lambda: _pairs(here, edits)) if two_at_once else None,
        **plan,
        **facts,
    )


def cell_of(path: Path) -> str:
    """What stands in the notebook before the check, by the task's file.

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
    """What a student finds of a code cell.

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
