"""`make check` finds the tests of what is named, and fails when they do."""

import math
from pathlib import Path

import pytest

from tests.conftest import ROOT
from tests.repo_copy import copy_project
from tools import check

INSIDE = {"classroom/sandbox/grading_stub.py", "classroom/sandbox/ipython_cells.py"}
"""Modules that only a sandbox imports: whatever is graded there tests them."""
MODULES = sorted(
    path.relative_to(ROOT).as_posix()
    for folder in ("helpers", "grading", "classroom", "tools")
    for path in (ROOT / folder).rglob("[!_]*.py")
    if "tasks" not in path.parts
)


@pytest.mark.parametrize("module", sorted({*MODULES} - INSIDE))
def test_every_module_has_tests(module):
    """The tests that concern all modules are not enough, but for a module's own bad calls."""
    table = ROOT / "tests" / "helpers" / "bad_calls" / Path(module).name
    shared = {"tests/helpers/test_annotations.py"}
    shared |= {"tests/helpers/test_bad_calls.py"} if not table.exists() else set()
    own, others = check.tests_of(module)
    assert {*own, *others} - shared
    assert {*check.chosen(module)[0]} & check.seconds().keys(), "nothing that runs is timed"


def test_the_index_names_every_test():
    """`tests/README.md`; those named after a module need no line of their own."""
    index = (ROOT / "tests" / "README.md").read_text(encoding="utf-8")
    modules = {path.stem for path in (ROOT / "helpers").rglob("*.py")}
    for path in (ROOT / "tests").rglob("test_*.py"):
        of_a_module = any(f"_{name}_" in f"{path.stem}_" for name in modules)
        known = of_a_module or path.name in ("test_check.py", "test_mutations.py")
        assert known or path.name in index, path.name


def test_own_tests_are_told_from_those_of_importers():
    own, others = check.tests_of("helpers/masks.py")
    names = ("masks", "bad_calls", "annotations")
    assert own == [f"tests/helpers/test_{name}.py" for name in names]
    assert "tests/helpers/test_attention.py" in others and not {*own} & {*others}
    assert "tests/grading/test_mistake_variants.py" not in check.tests_of("helpers/variants.py")[1]


@pytest.fixture
def stored(monkeypatch):
    """Seconds as they are stored, to be changed at will; three files import a module."""
    monkeypatch.setattr(check, "tests_of", lambda file: (["own"], ["a", "b", "c"]))
    taken = {"own": 500.0, "a": 1.0, "b": 59.0, "c": 0.5}
    monkeypatch.setattr(check, "seconds", lambda: taken)
    return taken


def test_importers_run_within_the_budget(stored):
    assert check.chosen("x.py") == (["own", "a", "b"], ["c"])
    said = check.not_run("x.py")
    assert said.endswith('; other tests that import x.py, 0 s: make check FILE="c"')
    stored["b"] = 59.1
    assert check.chosen("x.py") == (["own", "a"], ["b", "c"])
    del stored["b"]
    assert "60 s or more" in check.not_run("x.py")


def test_a_module_without_own_tests_gets_one_file(stored, monkeypatch):
    stored["a"] = 100.0
    assert check.chosen("x.py")[0] == ["own"]
    monkeypatch.setattr(check, "tests_of", lambda file: ([], ["a", "b", "c"]))
    assert check.chosen("x.py") == (["a"], ["b", "c"])
    monkeypatch.setattr(check, "tests_of", lambda file: ([], []))
    assert check.not_run("x.py") == "No test names or imports x.py; make test tries everything."


def test_importers_come_in_the_order_of_their_seconds():
    taken = check.seconds()
    others = check.tests_of("helpers/masks.py")[1]
    found = [taken.get(test, math.inf) for test in others]
    assert found == sorted(found)
    assert all((ROOT / test).is_file() for test in taken)


def test_what_is_not_there_is_refused():
    for argument in ("NB=lectures/99.ipynb", "FILE=helpers/nothing.py", "TASK=no_such_task", "X=1"):
        with pytest.raises(SystemExit):
            check.main([argument])


@pytest.mark.full
def test_a_fault_is_found(tmp_path, monkeypatch, capsys):
    copy_project(tmp_path, without=("lectures", "solutions", "exercises", "_static"))
    monkeypatch.setattr(check, "ROOT", tmp_path)
    right = check.steps({"NB": [], "FILE": ["helpers/adapters.py"], "TASK": []})
    monkeypatch.setattr(check, "steps", lambda wanted: [right[0], right[-1]])
    assert check.main([]) == 0
    file = tmp_path / "helpers" / "adapters.py"
    text = file.read_text(encoding="utf-8")
    file.write_text(text.replace("alpha / rank", "alpha * rank"), encoding="utf-8")
    assert check.main([]) == 1
    assert "✗ tests of helpers/adapters.py" in capsys.readouterr().out
