"""Two workers share the tests, and each file's tests stay with one of them."""

import shutil
import subprocess
import sys

import pytest
from conftest import ROOT

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


def test_what_a_file_shares_is_made_once(tmp_path):
    pytest.importorskip("xdist")
    shutil.copy(ROOT / "tests" / "conftest.py", tmp_path)
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
