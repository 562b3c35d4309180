"""Which tests run together: by worker, and by part of `make test-all`.

Tests of a file, or of the tasks of a lecture, stay with one worker.
"""

import shutil
import subprocess
import sys

import pytest
import yaml
from conftest import PARTS, ROOT, part_of, scope_of

FILE = """
import os
import pytest

@pytest.fixture(scope="module")
def shared():
    with open("made", "a") as log:
        log.write(__name__ + "\\n")

@pytest.mark.parametrize("n", range(6))
def test_it(shared, n):
    with open("ran", "a") as log:
        log.write(f"{__name__} {os.environ['PYTEST_XDIST_WORKER']}\\n")
"""


@pytest.mark.full
def test_what_a_file_shares_is_made_once(tmp_path):
    pytest.importorskip("xdist")
    for name in ("conftest.py", "unchanged.py"):
        shutil.copy(ROOT / "tests" / name, tmp_path)
    for name in ("test_a", "test_b", "test_c", "test_grading"):
        (tmp_path / f"{name}.py").write_text(FILE)
    tool = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", "-p", "no:nbval"]
    result = subprocess.run(
        [*tool, "-n", "2", "--no-loadscope-reorder"], cwd=tmp_path, capture_output=True, text=True
    )
    assert result.returncode == 0, result.stdout + result.stderr
    made = (tmp_path / "made").read_text().split()
    assert sorted(made)[:3] == ["test_a", "test_b", "test_c"]
    assert made.count("test_grading") <= 2  # handed out one by one, it may be made on both
    pairs = set((tmp_path / "ran").read_text().splitlines())
    assert len([pair for pair in pairs if "grading" not in pair]) == 3
    assert {pair.split()[1] for pair in pairs} == {"gw0", "gw1"}


def test_tests_about_the_tasks_of_a_lecture_stay_together():
    where = "tests/test_grading.py::test_it"
    for name in ("masked_row", "masked_row-1", "04_masks"):
        assert scope_of(f"{where}[{name}]") == "lecture_04"
    assert scope_of("tests/test_variants.py::test_it[4]") == "lecture_04"
    assert scope_of("tests/test_masks.py::test_it[4]") == "tests/test_masks.py"
    assert scope_of(where) == "tests/test_grading.py"
    assert scope_of("lectures/04_masks.ipynb::Cell 3") == "lectures/04_masks.ipynb"


def test_parts_name_files_that_are_there_and_public_ci_runs_each():
    files = {path.stem for path in (ROOT / "tests").glob("test_*.py")}
    assert set.union(*PARTS.values()) <= files
    assert part_of(ROOT / "tests" / "test_masks.py") == "code"
    assert part_of(ROOT / "lectures" / "04_masks.ipynb") == "notebooks"
    jobs = yaml.safe_load((ROOT / ".github/workflows/test.yml").read_text(encoding="utf-8"))["jobs"]
    assert sorted(jobs["everything"]["strategy"]["matrix"]["part"]) == sorted(PARTS)
