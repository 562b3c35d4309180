"""Which line of an answer stopped: told by `check` and the class grader, never compared."""

import linecache

import numpy as np
import pytest

from classroom.sandbox import worker
from classroom.sandbox.serialize import SerializeError, decode, encode
from grading.author import Case
from grading.feedback.baseline import same
from grading.feedback.judge import grade
from grading.runner import error_location
from grading.runner import run as runner
from grading.runner.outcome import Location, Outcome, Status
from grading.task import Mistake
from tests.grading import sample_tasks

CELL = """\
import functools

def helper(x):
    return x[7]

def doubled(x):
    if len(x) > 2:
        return 2 * helper(x)
    return 2 * x
"""


def cell(source, name="<cell 4>", **given):
    """What a cell defines, as in a notebook or in the class grader."""
    linecache.cache[name] = (len(source), None, source.splitlines(True), name)
    space = {"__name__": "__main__", "np": np, **given}
    exec(compile(source, name, "exec"), space)
    return space


def example(**changes):
    def cases(seed):
        return [Case((np.arange(float(n)),), f"n = {n}") for n in (2, 3, 4)]

    return sample_tasks.example(**{"cases": cases} | changes)


def told(answer, task=None):
    return grade(task or example(), answer, 0).message


def test_error_names_the_line_of_the_cell():
    """No line of the course's own code is named."""
    said = told(cell(CELL)["doubled"])
    assert said.startswith("On case 2 of 3 (n = 3): It stops with IndexError: index 7")
    assert said.endswith("\n  in line 4 of your cell: return x[7]")
    assert "/" not in said and "<" not in said


def test_error_in_another_cell_names_the_calling_line():
    given = cell(CELL, "<cell 3>")["helper"]
    own = "def doubled(x):\n    y = 2 * x\n    return np.sort(helper(y))\n"
    assert told(cell(own, helper=given)["doubled"]).endswith(
        "in line 3 of your cell: return np.sort(helper(y))"
    )


def test_error_in_a_library_names_the_calling_line():
    source = "def doubled(x):\n    return np.concatenate(\n        [x, np.ones((2, 2))]\n    )\n"
    assert "\n  in line 2 of your cell: return np.concatenate(" in told(cell(source)["doubled"])


def test_without_code_of_the_students_there_is_no_line():
    """A wrong number of arguments, a stub, and code of ours."""
    assert "in line" not in told(cell("def doubled():\n    pass\n")["doubled"])
    stub = "def doubled(x):\n    raise NotImplementedError\n"
    assert told(cell(stub)["doubled"]).endswith("doubled is not written yet.")
    assert "in line" not in told(lambda x: x[7])

    def harness(answer, x):
        try:
            return answer(x)
        except IndexError:
            raise ValueError("a pair is wanted") from None

    assert "in line" not in told(cell(CELL)["doubled"], example(harness=harness))


def test_a_long_line_is_cut():
    source = f"def doubled(x):\n    return x[7] + {' + '.join(['x'] * 90)}\n"
    line = told(cell(source)["doubled"]).rpartition("your cell: ")[2]
    assert (
        len(line) == error_location.SHOWN
        and line.startswith("return x[7] + x")
        and line.endswith("…")
    )


NOISY = """\
class Odd(Exception):
    def __str__(self):
        raise RuntimeError
    def __getattribute__(self, name):
        raise SystemExit

class doubled:
    def __getattr__(self, name):
        raise Odd
    def __call__(self, x):
        raise Odd

doubled = doubled()
"""


@pytest.mark.parametrize(
    ("source", "line"),
    [
        ("def doubled(x):\n    exec('x[7]')\n", "line 2 of your cell: exec('x[7]')"),
        ("doubled = eval('lambda x: x[7]')\n", "line 1 of your cell"),
        ("def doubled(x):\n    return doubled(x)\n", "line 2 of your cell: return doubled(x)"),
        (NOISY, "line 9 of your cell: raise Odd"),
    ],
)
def test_odd_code_has_its_line(source, line):
    said = told(cell(source)["doubled"])
    assert "It stops with" in said and said.endswith(f"\n  in {line}")


def test_error_without_traceback_is_reported():
    source = NOISY.replace("def __str__", "__traceback__ = property()\n    def __str__")
    assert "It stops with" in told(cell(source)["doubled"])


@pytest.mark.parametrize("kept", [{}, {"<cell 4>": None}, {"<cell 4>": (1, 2, [3, 4, 5, 6])}])
def test_line_number_is_shown_without_its_text(kept, monkeypatch):
    answer = cell(CELL)["doubled"]
    monkeypatch.setattr(linecache, "cache", kept)
    assert "\n  in line 4 of your cell" in told(answer)


def test_names_that_are_no_texts_are_no_cells():
    class Equal(str):
        def __eq__(self, other):
            raise RuntimeError

        __hash__ = str.__hash__

    space = cell(CELL)
    space["__name__"] = Equal("__main__")
    assert "in line" not in told(space["doubled"])


def test_the_line_is_no_evidence():
    """A known mistake that stops with the same error is found, wherever it stands."""
    fixed = Mistake(lambda x: 2 * x[:2] + 0 * x[7], "Fixed length.")
    task = example(mistakes=(fixed, Mistake(lambda x: x + 1, "Added.")))
    own = cell("def doubled(x):\n\n    y = x[:2]\n    return 2 * y + 0 * x[7]\n")["doubled"]
    assert "in line 4 of your cell" in told(own, task)
    assert "Possible cause: Fixed length." in told(own, task)
    one, other = (Outcome(Status.RAISED, error="no", line=line) for line in (Location(1), None))
    assert same(task, one, other)


def answers(source):
    """What the worker sends about one task."""
    task = {"name": "stable_softmax", "kind": "implement", "forbidden": (), "harness": None}
    space, inputs = cell(source), [[encode(np.ones((2, 3)))]]
    return worker.outcomes_of(task | {"inputs": inputs}, space, 0, runner)


@pytest.fixture
def in_worker(monkeypatch):
    names = {
        "SerializeError": SerializeError,
        "decode": decode,
        "encode": encode,
        "job": {"torch": True},
    }
    for name, value in names.items():
        monkeypatch.setattr(worker, name, value, raising=False)
    monkeypatch.setattr(worker, "settle", lambda: None)
    monkeypatch.setitem(worker.__dict__, "__name__", "__main__")  # as in the sandbox


@pytest.mark.parametrize(
    "error", ["ValueError", "SystemExit", "KeyboardInterrupt", "BaseException"]
)
def test_the_class_grader_says_the_same(error, in_worker):
    source = f"def stable_softmax(scores):\n    raise {error}('no')\n"
    [sent] = answers(source)
    assert (sent["status"], sent["error"]) == ("raised", f"{error}: no")
    assert sent["line"] == [2, f"raise {error}('no')"]
