"""The tasks that a class is graded on: the course's and the lecturer's own, by the policy."""

from __future__ import annotations

import contextlib
import importlib.util
import inspect
import sys
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

from classroom.policy import Policy
from classroom.policy_file import PolicyError, meant
from classroom.sandbox.serialize import SerializeError, encode
from classroom.sheets import without_marks
from grading.author import TaskFile, cell_of
from grading.feedback import messages
from grading.feedback.judge import grade
from grading.runner.compare import NotPlain, form_of, plain
from grading.task import ORDINARY, Case, Task, Tasks

ARGUMENTS = (
    "numbers, texts, booleans, arrays and tensors of numbers or booleans, and lists, "
    "tuples, sets and dictionaries of these"
)
"""What a case may hold: it goes into the sandbox."""


def applied(policy: Policy, tasks: Tasks) -> Tasks:
    """The tasks that are graded: points as the policy has them, hidden cases, own tasks.

    Raises:
        PolicyError: if the policy names a task that is not there.
    """
    made = tasks
    if policy.private:
        made |= {task.name: task for task in own_tasks(policy.private)}
        made |= with_own_cases(policy.private, made)
    numbers = sorted({*tasks.lectures.values(), *made.lectures.values()})
    there = ", ".join(map(str, numbers))
    for lecture, rules in policy.sheets.items():
        if lecture not in numbers:
            raise PolicyError(f"[sheets.{lecture}]: no sheet {lecture}; the sheets are: {there}")
        mine = set(made.of_lecture(lecture))
        for key in ("excluded", "bonus", "full_points", "points"):
            for name in getattr(rules, key):
                if name not in mine:
                    there = ", ".join(sorted(mine)) or "none"
                    said = f"[sheets.{lecture}] {key}: no task {name!r}{meant(name, mine)}"
                    raise PolicyError(f"{said}; it has: {there}")
        if both := rules.excluded & rules.bonus:
            raise PolicyError(f"[sheets.{lecture}]: {min(both)!r} is excluded and a bonus")
        if both := rules.excluded & rules.full_points:
            raise PolicyError(f"[sheets.{lecture}]: {min(both)!r} is excluded and full_points")
        if read := [name for name in sorted(rules.full_points) if made[name].kind == "written"]:
            said = f"{read[0]!r} is marked by a person; give its points in written.csv"
            raise PolicyError(f"[sheets.{lecture}] full_points: {said}")
        made = made.without(rules.excluded)
    known = {*tasks, *made}
    for name in policy.keep_back:
        if isinstance(name, int) and name not in numbers:
            raise PolicyError(f"feedback.keep_back: no sheet {name}; the sheets are: {there}")
        if isinstance(name, str) and name not in known:
            near = "; a sheet's number has no quotes" if name.isdigit() else meant(name, known)
            raise PolicyError(f"feedback.keep_back: no task {name!r}{near}")
    return made


def _module(path: Path) -> object:
    name = f"private.{path.parent.parent.name}.{path.parent.name}.{path.stem}"
    spec = importlib.util.spec_from_file_location(name, path)
    module = importlib.util.module_from_spec(spec)
    sys.modules[name] = module  # where `inspect` looks for the source of a harness
    try:
        spec.loader.exec_module(module)
    except Exception as error:
        raise PolicyError(f"{path}: {type(error).__name__}: {error}") from error
    return module


def own_tasks(folder: Path) -> list[Task]:
    """The lecturer's own tasks: `tasks/lecture_NN/NAME.py`, written as those of the course."""
    found = []
    for path in sorted((folder / "tasks").glob("lecture_*/[!._]*.py")):
        module = _module(path)
        defined = getattr(module, "task", None)
        if not isinstance(defined, TaskFile):
            raise PolicyError(f"{path}: `task = TaskFile(…)` is wanted")
        try:
            task = defined.build(module)
        except (TypeError, ValueError) as error:
            raise PolicyError(f"{path}: {error}") from error
        _require_passed(path, task)
        found.append(task)
    return found


def own_answer(folder: Path | None, task: Task) -> str:
    """The model answer of one of the lecturer's own tasks as its file has it; nothing of others."""
    path = next(folder.glob(f"tasks/lecture_*/{task.name}.py"), None) if folder else None
    if path is None:
        return ""
    with contextlib.suppress(ValueError):  # the file marks no cell
        return without_marks(cell_of(path), task.name)
    with contextlib.suppress(TypeError, OSError):  # no function, or no text of it
        return inspect.getsource(task.reference)
    return f"{task.name} = {task.reference!r}"


def with_own_cases(folder: Path, tasks: Tasks) -> dict[str, Task]:
    """The tasks for which `cases/NAME.py` has a function `cases(seed)` of its own."""
    found = {}
    for path in sorted((folder / "cases").glob("[!._]*.py")):
        cases = getattr(_module(path), "cases", None)
        if path.stem not in tasks or not callable(cases):
            raise PolicyError(f"{path}: a function cases(seed) for a task of this name is wanted")
        found[path.stem] = replace(tasks[path.stem], cases=cases)
        _require_passed(path, found[path.stem])
    return found


def _require_cases(path: Path, task: Task) -> None:
    """Say of cases that cannot be used which one it is, and what is wanted."""
    try:
        made = task.cases(0)
    except Exception as error:
        raise PolicyError(f"{path}: cases(0) stops: {type(error).__name__}: {error}") from error
    cases = isinstance(made, Sequence) and all(isinstance(case, Case) for case in made)
    if not cases or not made:
        raise PolicyError(f"{path}: cases(seed) must return a list of grading.task.Case, not empty")
    for number, case in enumerate(made, 1):
        where = f"{path}: case {number}" + f" ({case.note})" * bool(case.note)
        if type(case.args) is not tuple:
            said = f"its arguments are {messages.form(form_of(case.args))}"
            raise PolicyError(f"{where}: {said}; one tuple is wanted, as in Case((x,))")
        try:
            for arg in case.args:
                encode(plain(arg))
        except (NotPlain, SerializeError) as error:
            came = messages.not_plain(error.form) if isinstance(error, NotPlain) else error
            raise PolicyError(f"{where}: an argument is {came}; wanted are {ARGUMENTS}") from error
    if ORDINARY not in {case.kind for case in made}:
        said = "no case is an ordinary one, which half of the points are for"
        raise PolicyError(f"{path}: {said}; leave out kind= where nothing is special")


def _require_passed(path: Path, task: Task) -> None:
    """Cases that the model answer fails would take points from everybody who is right."""
    _require_cases(path, task)
    try:
        verdict = grade(task, task.reference, seed=0)
    except ValueError as error:
        raise PolicyError(f"{path}: {error}") from error
    if verdict.points < task.points and not verdict.needs_review:
        said = f"the model answer itself has {verdict.points:g} of {task.points:g} points on these"
        raise PolicyError(f"{path}: {said}: {verdict.message}")
