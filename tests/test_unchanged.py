"""What need not run again is what rests on nothing that changed, and only if it passed."""

import shutil
import subprocess
import sys

import nbformat
import pytest
from nbformat.v4 import new_markdown_cell, new_output

from tests import unchanged
from tests.conftest import ROOT
from tests.repo_copy import copy_project


@pytest.fixture
def project(tmp_path, monkeypatch):
    """A copy in which anything may be changed."""
    copy_project(tmp_path, without=("_static", "experiments", "benchmarks"))
    monkeypatch.setattr(unchanged, "ROOT", tmp_path)
    return tmp_path


def changed(project, name, old, new):
    """Which names have another key after a change of a file."""
    before, path = unchanged.keys(), project / name
    text = path.read_text(encoding="utf-8")
    assert old in text
    path.write_text(text.replace(old, new, 1), encoding="utf-8")
    after = unchanged.keys()
    path.write_text(text, encoding="utf-8")
    return {key for key in before if before[key] != after[key]}


def test_prose_of_a_lecture_leaves_its_code_alone(project):
    [path] = project.glob("lectures/04_*.ipynb")
    name = path.relative_to(project).as_posix()
    notebook = nbformat.read(path, as_version=4)
    notebook.cells.append(new_markdown_cell("One more sentence."))
    before = unchanged.keys()
    nbformat.write(notebook, path)
    after = unchanged.keys()
    assert {key for key in before if before[key] != after[key]} == {"lecture_04"}
    code = next(cell for cell in notebook.cells if cell.cell_type == "code" and cell.outputs)
    code.outputs = [*code.outputs, new_output("stream", text="?")]
    nbformat.write(notebook, path)
    assert unchanged.keys()[name] != before[name]


def test_a_module_is_what_everything_rests_on(project):
    everything = set(unchanged.keys())
    assert changed(project, "helpers/masks.py", "def causal_mask", "def  causal_mask") == everything
    assert changed(project, "tests/notebooks/nbval_sanitize.cfg", "regex:", "regex: ") == everything


def test_task_change_affects_its_sheet_and_lecture(project):
    [path] = project.glob("grading/tasks/lecture_04/masked_row.py")
    name = path.relative_to(project).as_posix()
    solution = next(project.glob("solutions/04_*")).relative_to(project).as_posix()
    assert changed(project, name, "import", "import ") == {"lecture_04", solution}
    lectures = {name for name in set(unchanged.keys()) if name.startswith("lectures/")}
    assert not changed(project, "tests/grading/mistake_variants.py", "import", "import ") & lectures


FILE = """
import pytest

@pytest.mark.parametrize("task", ["masked_row", "stable_softmax"])
def test_it(task):
    assert task != {wrong!r}
"""


@pytest.mark.full
def test_only_what_failed_runs_again(tmp_path):
    copy_project(tmp_path, without=("_static", "experiments", "lectures", "solutions", "classroom"))
    for path in tmp_path.glob("tests/**/test_*.py"):
        path.unlink()
    for path in tmp_path.glob("grading/tasks/lecture_*"):
        if path.name != "lecture_04":
            shutil.rmtree(path)
    tool = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", "-n", "0"]

    def run(wrong, *part):
        (tmp_path / "tests" / "grading" / "test_tasks.py").write_text(FILE.format(wrong=wrong))
        command = [*tool, "--skip-unchanged", *(part or ["tests"])]
        environment = {"PYTHONPATH": str(tmp_path), "PATH": ""}
        done = subprocess.run(
            command, cwd=tmp_path, capture_output=True, text=True, env=environment
        )
        return done.stdout

    assert "1 failed, 1 passed" in run("masked_row")
    assert "lecture_04" not in run("masked_row").partition("Not run again")[2]
    (tmp_path / "tests" / "grading" / "test_task_rules.py").write_text(FILE.format(wrong=""))
    for part in (["tests/grading/test_tasks.py"], ["tests", "-k", "softmax"]):
        assert "2 passed" in run("nothing", *part)  # and of the rest nothing is known
    assert "4 passed" in run("nothing")
    again = run("nothing")
    assert "passed" not in again.partition("Not run again")[0] and "lecture_04" in again
    assert ROOT != tmp_path
