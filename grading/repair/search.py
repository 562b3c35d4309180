"""Where a mistake is that nobody has listed: one small change that makes every case right.

The search runs variants of the student's own code, so it belongs to `check` in a notebook, and not
to the class grader, which gives its verdict where no student's code runs.
"""

from __future__ import annotations

import ast
import contextlib
import copy
import inspect
import io
import linecache
import sys
import types
import warnings
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from grading.feedback.findings import was_mutated
from grading.feedback.judge import baseline_of
from grading.repair.edits import Change, Source
from grading.runner.compare import difference
from grading.runner.run import run
from grading.task import CODE, Case, Task

SEEDS = (0, 1, 2, 3)
"""Of the cases on which a repair has to be right; the first one is that of `check`."""
VARIANT = "<variant>"
"""The name of the file in which variants stand, for Python."""
CANDIDATES = 1_000
"""How many variants are tried at most."""
STEPS = 1_000_000
"""How many lines of variants and calls of Python functions the search may take in all."""


@dataclass(frozen=True)
class Place:
    """Where one small change makes every case right: the line of the cell, and a part of it."""

    line: int
    part: str


class _OutOfSteps(BaseException):
    """A variant takes much longer than the answer; no handler of the student's catches this."""


@dataclass
class _Steps:
    """Counts the lines of variants that run, and calls of any function in Python.

    After `left` of them it raises `_OutOfSteps`.
    """

    left: int

    def __enter__(self) -> None:
        sys.settrace(self._trace)

    def __exit__(self, *_: object) -> None:
        sys.settrace(None)

    def _trace(self, frame: types.FrameType, event: str, arg: object) -> Callable | None:
        self.left -= 1
        if self.left < 0:
            raise _OutOfSteps
        return self._trace if frame.f_code.co_filename == VARIANT else None


def locate(
    task: Task,
    answer: object,
    seeds: Sequence[int] = SEEDS,
    announce: Callable[[], None] = lambda: None,
) -> Place | None:
    """The one line in which a small change makes a wrong answer right on all cases of all seeds.

    None if there is no such line, if changes in several lines would do, or if the answer's source
    is not known. Code with a `while` is left alone.

    Args:
        task: which asks for code and trains nothing.
        answer: a function or a class that is wrong on a case of the first seed.
        seeds: of the cases.
        announce: is called each time that a variant has been tried.
    """
    if task.kind not in CODE or sys.gettrace() is not None:
        return None
    try:
        source, space = _source_of(answer)
        if source is None:
            return None
        change = _Search(task, answer.__name__, source, space, seeds).repair(announce)
    except (Exception, SystemExit, _OutOfSteps):  # the code does not even run as it is
        return None
    return Place(change.node.lineno, source.part(change.node)) if change else None


def _source_of(answer: object) -> tuple[Source | None, dict]:
    """The answer's definition and those of the same cell that it uses; and its global names."""
    name = getattr(answer, "__name__", None)
    members = vars(answer).values() if isinstance(answer, type) else [answer]
    functions = [f for f in map(_function, members) if f and f.__globals__.get(name) is answer]
    if not functions:
        return None, {}
    lines = linecache.getlines(functions[0].__code__.co_filename)
    try:
        tree = ast.parse("".join(lines))
    except SyntaxError:
        return None, {}
    kinds = (ast.FunctionDef, ast.ClassDef)
    defined = {node.name: node for node in tree.body if isinstance(node, kinds)}
    used = [name] if name in defined else []
    for one in used:
        names = (node.id for node in ast.walk(defined[one]) if isinstance(node, ast.Name))
        used += [other for other in dict.fromkeys(names) if other in defined and other not in used]
    if not used or any(isinstance(n, ast.While) for one in used for n in ast.walk(defined[one])):
        return None, {}
    kept: set[int] = set()
    for node in (defined[one] for one in used):
        first = min([node.lineno, *(each.lineno for each in node.decorator_list)])
        kept |= set(range(first, node.end_lineno + 1))
    text = "".join(line if i in kept else "\n" for i, line in enumerate(lines, 1))
    return Source(text), functions[0].__globals__


def _function(member: object) -> types.FunctionType | None:
    """The function that a member of a class is, without its decorators."""
    member = inspect.unwrap(getattr(member, "__func__", member)) if callable(member) else None
    return member if isinstance(member, types.FunctionType) else None


@dataclass
class _Search:
    """Tries the changes of one answer."""

    task: Task
    name: str
    source: Source
    space: dict
    seeds: Sequence[int]
    left: int = 0

    def repair(self, announce: Callable[[], None]) -> Change | None:
        """A change that mends the answer, if none of its rank does so in another line."""
        self.left = STEPS
        cases = baseline_of(self.task, self.seeds[0]).cases
        right, usual = [], 0
        for case in range(len(cases)):
            fine, steps = self._tried(self.source.between(0), self.seeds[0], [case], STEPS)
            right.append(fine)
            usual += steps
        if all(right):
            return None
        order = sorted(range(len(right)), key=lambda case: right[case])  # the wrong ones first
        found = None
        for change in self.source.changes()[:CANDIDATES]:
            if self.left <= 0 or (found and found.rank < change.rank):
                break
            if found and found.node.lineno == change.node.lineno:
                continue
            if self._mends(self.source.changed(change), order, 20 * usual + 2_000):
                if found:
                    return None
                found = change
            announce()
        return found

    def _mends(self, text: str, order: Sequence[int], limit: int) -> bool:
        """Whether a variant is right, on the cases of the first seed and then of the others."""
        mends, steps = self._tried(text, self.seeds[0], order, min(limit, self.left))
        self.left -= steps
        for seed in self.seeds[1:]:
            if not mends:
                return False
            numbers = range(len(baseline_of(self.task, seed).cases))
            mends, _ = self._tried(text, seed, numbers, STEPS)
        return mends

    def _tried(self, text: str, seed: int, cases: Sequence[int], limit: int) -> tuple[bool, int]:
        """Whether a variant is right on cases of a seed, and after how many steps that is clear."""
        baseline = baseline_of(self.task, seed)
        wanted = [baseline.right(case).value for case in cases]
        steps = _Steps(limit)
        try:
            with steps:
                answer = self._variant(text)
                pairs = zip(cases, wanted, strict=True)
                right = all(self._gives(answer, baseline.cases[i], want) for i, want in pairs)
        except (Exception, SystemExit, _OutOfSteps):
            right = False
        return right, limit - steps.left

    def _gives(self, answer: object, case: Case, want: object) -> bool:
        """Whether an answer gives this on a case, and leaves its arguments as they are."""
        [outcome] = run(self.task, answer, [case])
        if not outcome.ok or was_mutated(outcome):
            return False
        return difference(outcome.value, want, self.task.rtol, self.task.atol) is None

    def _variant(self, text: str) -> object:
        """The answer that a changed source defines, among copies of the student's own objects."""
        used = {node.id for node in ast.walk(self.source.tree) if isinstance(node, ast.Name)}
        own = {name: self.space[name] for name in used if name in self.space}
        own = {k: v for k, v in own.items() if not isinstance(v, types.ModuleType)}
        space = self.space | copy.deepcopy(own)
        with (
            contextlib.redirect_stdout(io.StringIO()),
            contextlib.redirect_stderr(io.StringIO()),
            warnings.catch_warnings(),
        ):
            warnings.simplefilter("ignore")
            exec(compile(text, VARIANT, "exec"), space)
        return space[self.name]
