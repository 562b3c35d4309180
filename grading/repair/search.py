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
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from time import thread_time

from grading.feedback.findings import was_mutated
from grading.feedback.judge import baseline_of
from grading.repair.edits import Change, Source
from grading.runner.compare import difference
from grading.runner.isolation import one_thread, restored
from grading.runner.run import run
from grading.task import CODE, Case, Task

SEEDS = (0, 1, 2, 3)
"""Of the cases on which a repair has to be right; the first one is that of `check`."""
VARIANT = "<variant>"
"""The name of the file in which variants stand, for Python."""
CANDIDATES = 2_000
"""How many variants are tried at most."""
STEPS = 1_000_000
"""How many lines of variants and calls of Python functions the search may take in all."""
SECONDS = 15.0
"""How long the search may compute in all, where a single line takes long."""
OUTSIDE = set(
    "input open display plt matplotlib show sleep os shutil subprocess socket urllib requests "
    "pathlib Path logging threading Thread multiprocessing concurrent tqdm save savez savetxt "
    "tofile to_csv write_text write_bytes get_ipython setrecursionlimit".split()
)
"""Names in code that waits, or acts on what outlasts a run, such as a file or a figure."""


@dataclass(frozen=True)
class Place:
    """Where one small change makes every case right: the line of the cell, and a part of it."""

    line: int
    part: str


class _OutOfSteps(BaseException):
    """A variant takes much longer than the answer; no handler of the student's catches this."""


@dataclass
class _Steps:
    """Counts the lines of variants and of the notebook that run, and calls of any function.

    After `left` of them, or after a time, it raises `_OutOfSteps`; only in such a line, since what
    puts the output and the warnings back must run to its end.
    """

    left: int
    until: float

    def __enter__(self) -> None:
        sys.settrace(self._trace)

    def __exit__(self, *_: object) -> None:
        sys.settrace(None)

    def _trace(self, frame: types.FrameType, event: str, arg: object) -> Callable | None:
        self.left -= 1
        name = frame.f_globals.get("__name__")
        own = name == "__main__" or frame.f_code.co_filename == VARIANT
        if own and (self.left < 0 or thread_time() > self.until):
            raise _OutOfSteps
        return self._trace if own else None


def locate(
    task: Task,
    answer: object,
    seeds: Sequence[int] = SEEDS,
    announce: Callable[[], None] = lambda: None,
) -> Place | None:
    """The one line in which a small change makes a wrong answer right on all cases of all seeds.

    None if there is no such line, if changes in several lines would do, or if the answer's source
    is not known. Code with a `while` or a bare `except` is left alone, and code that acts on more
    than its arguments; see `OUTSIDE`.

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
        with restored(), one_thread(), contextlib.redirect_stderr(io.StringIO()):
            search = _Search(task, answer.__name__, source, space, seeds)
            change = search.repair(announce) if search.may_be_repeated() else None
    except (Exception, SystemExit, _OutOfSteps):  # the code does not even run as it is
        return None
    return Place(change.node.lineno, source.part(change.node)) if change else None


def _source_of(answer: object) -> tuple[Source | None, dict]:
    """The answer's definition and those of the same cell that it uses; and its global names."""
    name = getattr(answer, "__name__", None)
    functions = [f for f in _functions(answer) if f.__globals__.get(name) is answer]
    if not functions:
        return None, {}
    text = "".join(linecache.getlines(functions[0].__code__.co_filename))
    lines = text.split("\n")  # as Python counts them; others end one at a form feed, too
    try:
        tree = ast.parse(text)
    except SyntaxError:
        return None, {}
    kinds = (ast.FunctionDef, ast.ClassDef)
    defined = {node.name: node for node in tree.body if isinstance(node, kinds)}
    used = [name] if name in defined else []
    for one in used:
        names = (node.id for node in ast.walk(defined[one]) if isinstance(node, ast.Name))
        used += [other for other in dict.fromkeys(names) if other in defined and other not in used]
    if not used or any(_may_not_end(n) for one in used for n in ast.walk(defined[one])):
        return None, {}
    kept: set[int] = set()
    for node in (defined[one] for one in used):
        first = min([node.lineno, *(each.lineno for each in node.decorator_list)])
        kept |= set(range(first, node.end_lineno + 1))
    text = "\n".join(line if i in kept else "" for i, line in enumerate(lines, 1))
    return Source(text), functions[0].__globals__


def _may_not_end(node: ast.AST) -> bool:
    """Whether this is a loop that a change can make endless, or catches what would end it."""
    if isinstance(node, ast.ExceptHandler):
        return node.type is None or "BaseException" in ast.dump(node.type)
    return isinstance(node, ast.While)


def _reached(names: Iterable[str], space: dict) -> set[str]:
    """These names, and those in the functions and classes of the notebook that have them."""
    found: set[str] = set()
    todo = list(names)
    while todo:
        name = todo.pop()
        if name in found:
            continue
        found.add(name)
        codes = [f.__code__ for f in _functions(space.get(name)) if f.__globals__ is space]
        for code in codes:
            codes += [inner for inner in code.co_consts if isinstance(inner, types.CodeType)]
            todo += code.co_names
    return found


def _functions(thing: object) -> list[types.FunctionType]:
    """The function that something is, or those that a class has, without their decorators."""
    members = vars(thing).values() if isinstance(thing, type) else [thing]
    members = [getattr(member, "__func__", member) for member in members]
    found = [inspect.unwrap(member) for member in members if callable(member)]
    return [member for member in found if isinstance(member, types.FunctionType)]


@dataclass
class _Search:
    """Tries the changes of one answer."""

    task: Task
    name: str
    source: Source
    space: dict
    seeds: Sequence[int]
    left: int = 0
    until: float = 0.0

    def __post_init__(self) -> None:
        nodes = list(ast.walk(self.source.tree))
        self.names = _reached([n.id for n in nodes if isinstance(n, ast.Name)], self.space)
        self.attributes = {n.attr for n in nodes if isinstance(n, ast.Attribute)}

    def may_be_repeated(self) -> bool:
        """Whether the answer may run many times, since it acts on nothing but its arguments."""
        things = map(self.space.get, self.names)
        modules = {m.__name__.split(".")[0] for m in things if isinstance(m, types.ModuleType)}
        return not OUTSIDE & (self.names | self.attributes | modules)

    def repair(self, announce: Callable[[], None]) -> Change | None:
        """A change that mends the answer, if none of its rank does so in another line."""
        self.left, self.until = STEPS, thread_time() + SECONDS
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
            if self.left <= 0 or thread_time() > self.until:
                break
            if found and found.rank < change.rank:
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
        steps = _Steps(limit, self.until)
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
        own = {name: self.space[name] for name in self.names if name in self.space}
        own = {k: v for k, v in own.items() if not isinstance(v, types.ModuleType)}
        space = self.space | copy.deepcopy(own)
        for name, thing in own.items():
            if isinstance(thing, types.FunctionType) and thing.__globals__ is self.space:
                parts = thing.__name__, thing.__defaults__, thing.__closure__
                space[name] = types.FunctionType(thing.__code__, space, *parts)
                space[name].__kwdefaults__ = thing.__kwdefaults__
        with (
            contextlib.redirect_stdout(io.StringIO()),
            contextlib.redirect_stderr(io.StringIO()),
            warnings.catch_warnings(),
        ):
            warnings.simplefilter("ignore")
            exec(compile(text, VARIANT, "exec"), space)
        return space[self.name]
