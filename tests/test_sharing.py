"""Which tests run together: by worker, and by part of `make test-all`.

Tests of a file, or of the tasks of a lecture, stay with one worker.
"""

import shutil
import subprocess
import sys

import pytest
import yaml

from tests.conftest import PARTS, ROOT, part_of, scope_of

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
    (tmp_path / "tests" / "grading").mkdir(parents=True)
    shared = ("conftest.py", "file_seconds.py", "file_seconds.json", "unchanged.py")
    for name in ("__init__.py", *shared, "grading/__init__.py"):
        shutil.copy(ROOT / "tests" / name, tmp_path / "tests" / name)
    for name in ("test_a", "test_b", "test_c", "grading/test_tasks"):
        (tmp_path / "tests" / f"{name}.py").write_text(FILE)
    tool = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", "-p", "no:nbval"]
    tool += ["--rootdir", ".", "tests"]
    result = subprocess.run(
        [*tool, "-n", "2", "--no-loadscope-reorder"], cwd=tmp_path, capture_output=True, text=True
    )
    assert result.returncode == 0, result.stdout + result.stderr
    made = (tmp_path / "made").read_text().split()
    assert sorted(made)[-3:] == ["tests.test_a", "tests.test_b", "tests.test_c"]
    assert made.count("tests.grading.test_tasks") <= 2  # one by one, it may be made on both
    pairs = set((tmp_path / "ran").read_text().splitlines())
    assert len([pair for pair in pairs if "grading" not in pair]) == 3
    assert {pair.split()[1] for pair in pairs} == {"gw0", "gw1"}


def test_task_tests_of_a_lecture_share_a_worker():
    where = "tests/grading/test_tasks.py::test_it"
    for name in ("masked_row", "masked_row-1", "04_masks"):
        assert scope_of(f"{where}[{name}]") == "lecture_04"
    assert scope_of("tests/grading/test_mistake_variants.py::test_it[4]") == "lecture_04"
    assert scope_of("tests/helpers/test_masks.py::test_it[4]") == "tests/helpers/test_masks.py"
    assert scope_of(where) == "tests/grading/test_tasks.py"
    assert scope_of("lectures/04_masks.ipynb::Cell 3") == "lectures/04_masks.ipynb"


def test_parts_exist_and_public_ci_runs_each():
    tests = ROOT / "tests"
    for place in (place for places in PARTS.values() for place in places):
        assert (tests / place).exists()
    assert part_of(tests / "helpers" / "test_masks.py") == "code"
    assert part_of(tests / "helpers" / "viz" / "test_explorables.py") == "site"
    assert part_of(tests / "classroom" / "test_class.py") == "grader"
    assert part_of(ROOT / "lectures" / "04_masks.ipynb") == "notebooks"
    jobs = yaml.safe_load((ROOT / ".github/workflows/test.yml").read_text(encoding="utf-8"))["jobs"]
    assert sorted(jobs["everything"]["strategy"]["matrix"]["part"]) == sorted(PARTS)
