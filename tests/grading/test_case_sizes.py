"""Cases have at least two values of every size and number that an answer reads.

Otherwise an answer passes that holds the one value instead, such as the size of the example. Found
so were four tasks: a warm-up, a tolerance, a number of search seeds, and eps and base of a model.
"""

import ast
import inspect
from collections import defaultdict
from pathlib import Path

import numpy as np
import pytest

import grading.tasks
from grading.author import cell_of
from grading.runner.run import run
from grading.task import CODE, Case, all_tasks
from tests.grading.sample_tasks import example

TASKS = [t for t in all_tasks().values() if t.kind in CODE and t.name != "cache_test"]
"""All but the one whose cases are programs to be tested, not sizes."""


class Recorder(ast.NodeTransformer):
    """Passes what the functions of a source read through `_read(what, value)`."""

    def __init__(self) -> None:
        self.depth = 0

    def visit_FunctionDef(self, node: ast.FunctionDef) -> ast.AST:
        self.depth += 1
        node.body = [self.visit(line) for line in node.body]
        self.depth -= 1
        return node

    def visit_Call(self, node: ast.Call) -> ast.AST:
        what = ast.unparse(node)
        if what.startswith("super("):
            return node
        self.generic_visit(node)
        return self._recorded(what, node) if what.startswith("len(") else node

    def _visit_place(self, node: ast.Name | ast.Attribute | ast.Subscript) -> ast.AST:
        what = ast.unparse(node)
        self.generic_visit(node)
        return self._recorded(what, node) if isinstance(node.ctx, ast.Load) else node

    visit_Name = visit_Attribute = visit_Subscript = _visit_place

    def _recorded(self, what: str, node: ast.expr) -> ast.expr:
        if not self.depth:
            return node
        return ast.Call(ast.Name("_read", ast.Load()), [ast.Constant(what), node], [])


def of_one_value(task, source, space):
    """What the model answer reads on several cases and finds the same, with that number.

    Zero is where sums begin, and constants of the task's file are not read from a case.
    """
    read, case = defaultdict(lambda: defaultdict(set)), 0

    def note(what, value):
        if isinstance(value, int | float) and not isinstance(value, bool):
            read[what][case].add(value)
        return value

    names = {**space, "_read": note}
    tree = ast.fix_missing_locations(Recorder().visit(ast.parse(source)))
    exec(compile(tree, f"{task.name}, read", "exec"), names)
    for case, one in enumerate(task.cases(0)):  # noqa: B007
        [outcome] = run(task, names[task.name], [one])
        assert outcome.ok, outcome
    found = {what: set().union(*values.values()) for what, values in read.items()}
    return {
        what: min(values)
        for what, values in found.items()
        if len(values) == 1 and values != {0} and len(read[what]) > 1
        if what.partition(".")[0] not in space
    }


@pytest.mark.full
@pytest.mark.parametrize("task", TASKS, ids=lambda task: task.name)
def test_no_number_read_is_the_same_in_all_cases(task):
    [folder] = grading.tasks.__path__
    path = Path(folder) / f"lecture_{task.lecture:02d}" / f"{task.name}.py"
    space = vars(inspect.getmodule(task.cases.args[0].cases if _redrawn(task) else task.cases))
    assert of_one_value(task, cell_of(path), space) == {}


def _redrawn(task):
    return hasattr(task.cases, "args")


def test_a_size_of_its_own_is_found():
    source = "def doubled(x):\n    n = len(x)\n    return 2 * x * n / n\n"
    alike = example(cases=lambda seed: [Case((np.arange(2.0) + i,)) for i in range(2)])
    assert of_one_value(alike, source, {}) == {"len(x)": 2, "n": 2}
    assert of_one_value(example(), source, {}) == {}
