"""`make check` finds the tests of what is named, and fails when they do."""

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
    """The bad calls of other modules are not enough."""
    table = ROOT / "tests" / "helpers" / "bad_calls" / Path(module).name
    own = {"tests/helpers/test_bad_calls.py"} if not table.exists() else set()
    assert set(check.tests_of(module)) - own


def test_the_index_names_every_test():
    """`tests/README.md`; those named after a module need no line of their own."""
    index = (ROOT / "tests" / "README.md").read_text(encoding="utf-8")
    modules = {path.stem for path in (ROOT / "helpers").rglob("*.py")}
    for path in (ROOT / "tests").rglob("test_*.py"):
        of_a_module = any(f"_{name}_" in f"{path.stem}_" for name in modules)
        known = of_a_module or path.name in ("test_check.py", "test_mutations.py")
        assert known or path.name in index, path.name


def test_names_come_before_imports():
    """A test with another name that imports the module belongs to it, too."""
    found = check.tests_of("helpers/masks.py")
    assert found[0] == "tests/helpers/test_masks.py"
    assert {"tests/helpers/test_attention.py", "tests/helpers/test_bad_calls.py"} < {*found}
    assert len(found) == len({*found})
    assert "tests/grading/test_mistake_variants.py" not in check.tests_of("helpers/variants.py")
    assert check.tests_of("tests/helpers/test_masks.py") == ["tests/helpers/test_masks.py"]


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
