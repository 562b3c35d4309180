"""Wrong answers that are not in the catalogue, made by rules from those that are.

Each rule says what a student's version of a known mistake may do otherwise: an edge case handled
after all, or not at all; another spelling; another precision; a second mistake on top. So a variant
comes with the sentences that may be said about it.
"""

from __future__ import annotations

import ast
import inspect
import textwrap
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

import numpy as np

from grading.check import PUBLIC_SEED
from grading.feedback.baseline import same
from grading.feedback.judge import baseline_of, judge
from grading.feedback.verdict import Verdict
from grading.runner.outcome import Outcome, Status
from grading.task import Task

ERROR = "IndexError: index 7 is out of bounds for axis 0 with size 3"
ELSEWHERE = Outcome(Status.RAISED, error=ERROR)


@dataclass(frozen=True)
class Variant:
    """What an answer gave, the rule that made it, and the sentences that are true of it."""

    rule: str
    outcomes: tuple[Outcome, ...]
    true: frozenset[str]


class Sheet:
    """What the model answer and the known mistakes of a task give on the cases of a seed.

    The cases are made once, and each answer is run once, when it is first asked for; both are kept
    where `grade` looks for them, too.
    """

    def __init__(self, task: Task, seed: int = PUBLIC_SEED) -> None:
        self.task, self.baseline = task, baseline_of(task, seed)
        self.cases = self.baseline.cases

    def outcomes(self, which: int) -> list[Outcome]:
        """What a known mistake gave, by its number."""
        return self.baseline.all_of_mistake(which)

    @property
    def right(self) -> list[Outcome]:
        """What the model answer gave."""
        return self.baseline.all_right()

    @property
    def known(self) -> list[list[Outcome]]:
        """What each known mistake gave."""
        return [self.outcomes(which) for which in range(len(self.task.mistakes))]

    def verdict(self, outcomes: Sequence[Outcome]) -> Verdict:
        return judge(self.task, self.cases, outcomes, self.baseline)

    def wrong(self, which: int) -> list[int]:
        """The cases on which a known mistake shows."""
        pairs = zip(self.known[which], self.right, strict=True)
        return [i for i, (a, b) in enumerate(pairs) if not same(self.task, a, b)]


_SHEETS: dict[tuple[int, int], Sheet] = {}


def sheet_of(task: Task, seed: int = PUBLIC_SEED) -> Sheet:
    """The sheet of a task, which all tests share."""
    key = (id(task), seed)  # a task may hold lists, and has no hash
    if key not in _SHEETS:
        _SHEETS[key] = Sheet(task, seed)
    return _SHEETS[key]


def of_outcomes(sheet: Sheet, which: int) -> Iterator[Variant]:
    """Variants of a known mistake that differ from it on some case, and from every other."""
    for variant in _of_outcomes(sheet, which):
        others = (known for k, known in enumerate(sheet.known) if k != which)
        if not any(_alike(sheet.task, variant.outcomes, known) for known in others):
            yield variant


def _alike(task: Task, one: Sequence[Outcome], other: Sequence[Outcome]) -> bool:
    return all(same(task, a, b) for a, b in zip(one, other, strict=True))


def _of_outcomes(sheet: Sheet, which: int) -> Iterator[Variant]:
    outcomes, wrong = sheet.known[which], sheet.wrong(which)
    sentence = sheet.task.mistakes[which].why
    true = frozenset({sentence})

    def put(case: int, outcome: Outcome) -> tuple[Outcome, ...]:
        return (*outcomes[:case], outcome, *outcomes[case + 1 :])

    if len(wrong) > 1:
        for case in (wrong[0], wrong[-1]):
            yield Variant("an edge case handled", put(case, sheet.right[case]), true)
            yield Variant("stops on a case", put(case, ELSEWHERE), true)
    lower = tuple(replace(outcome, value=_single(outcome.value)) for outcome in outcomes)
    yield Variant("another precision", lower, true)
    for other, mistake in enumerate(sheet.task.mistakes):
        shows = sheet.wrong(other)
        if mistake.why != sentence and other % 4 == which % 4 and set(shows) < set(wrong):
            mixed = (sheet.known[other][i] if i in shows else o for i, o in enumerate(outcomes))
            yield Variant("two mistakes at once", tuple(mixed), true | {mistake.why})


def _single(value: object) -> object:
    if isinstance(value, np.ndarray) and value.dtype == np.float64:
        with np.errstate(over="ignore"):
            return value.astype(np.float32)
    return type(value)(_single(v) for v in value) if isinstance(value, list | tuple) else value


# ------------------------------------------------------------------ other spellings


class Spelling(ast.NodeTransformer):
    """Writes the same in another way, as far as it knows one."""

    def visit_BinOp(self, node: ast.BinOp) -> ast.AST:
        """`a @ b` as a product by the method of an array, `a * b` turned round."""
        self.generic_visit(node)
        if isinstance(node.op, ast.MatMult):
            return _expression(f"({ast.unparse(node.left)}).__matmul__({ast.unparse(node.right)})")
        if isinstance(node.op, ast.Mult):
            return ast.BinOp(node.right, node.op, node.left)
        return node

    def visit_Compare(self, node: ast.Compare) -> ast.AST:
        """`a < b` as `b > a`."""
        self.generic_visit(node)
        turned = {ast.Lt: ast.Gt, ast.Gt: ast.Lt, ast.LtE: ast.GtE, ast.GtE: ast.LtE}
        if len(node.ops) == 1 and type(node.ops[0]) in turned:
            op = turned[type(node.ops[0])]()
            return ast.Compare(node.comparators[0], [op], [node.left])
        return node


def _expression(text: str) -> ast.expr:
    return ast.parse(text, mode="eval").body


def spelled(answer: object) -> object | None:
    """A function in another spelling, or None where there is no other."""
    if not inspect.isfunction(answer) or answer.__closure__ or answer.__name__ == "<lambda>":
        return None
    if answer.__code__.co_filename != answer.__globals__["__file__"]:
        return None  # made of the cell: its lines stand elsewhere
    tree = ast.parse(textwrap.dedent(inspect.getsource(answer)))
    [function] = tree.body
    function.decorator_list = []
    before = ast.dump(function)
    Spelling().visit(function)
    if ast.dump(function) == before:
        return None
    space = dict(answer.__globals__)
    exec(compile(ast.fix_missing_locations(tree), "another spelling", "exec"), space)
    return space[answer.__name__]


# ------------------------------------------------------------------ changed model answers


class Change(ast.NodeTransformer):
    """Makes one small change, the one of this number, in a model answer."""

    def __init__(self, number: int) -> None:
        self.left = number

    def _turn(self, node: ast.AST, changed: ast.AST) -> ast.AST:
        self.left -= 1
        return changed if self.left == -1 else node

    def visit_Constant(self, node: ast.Constant) -> ast.AST:
        """Another number: −1 is 0, others are one more; another truth value."""
        if isinstance(node.value, bool):
            return self._turn(node, ast.Constant(not node.value))
        if isinstance(node.value, int | float):
            return self._turn(node, ast.Constant(node.value + 1))
        return node

    def visit_UnaryOp(self, node: ast.UnaryOp) -> ast.AST:
        """Without its sign, or without its not."""
        self.generic_visit(node)
        return self._turn(node, node.operand)

    def visit_BinOp(self, node: ast.BinOp) -> ast.AST:
        """Plus for minus, times for divided by; for others the left side alone."""
        self.generic_visit(node)
        other = {ast.Add: ast.Sub, ast.Sub: ast.Add, ast.Mult: ast.Div, ast.Div: ast.Mult}
        if type(node.op) in other:
            return self._turn(node, ast.BinOp(node.left, other[type(node.op)](), node.right))
        return self._turn(node, node.left)

    def visit_Compare(self, node: ast.Compare) -> ast.AST:
        """Or equal, or not equal any more."""
        self.generic_visit(node)
        other = {ast.Lt: ast.LtE, ast.LtE: ast.Lt, ast.Gt: ast.GtE, ast.GtE: ast.Gt}
        if len(node.ops) == 1 and type(node.ops[0]) in other:
            op = other[type(node.ops[0])]()
            return self._turn(node, ast.Compare(node.left, [op], node.comparators))
        return node


def changed(source: str, name: str, space: dict, number: int) -> object | None:
    """The model answer with the change of this number, or None if there are not so many."""
    tree, change = ast.parse(source), Change(number)
    tree = change.visit(tree)
    if change.left >= 0:
        return None
    own = dict(space)
    exec(compile(ast.fix_missing_locations(tree), f"{name}, changed", "exec"), own)
    return own[name]
