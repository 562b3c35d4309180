"""The public CI's files have the form that GitHub wants."""

import subprocess
import sys

import pytest

from tests.conftest import ROOT


@pytest.mark.parametrize(
    "path", sorted((ROOT / ".github/workflows").glob("*.yml")), ids=lambda path: path.stem
)
def test_workflow_is_well_formed(path):
    command = [sys.executable, "-m", "check_jsonschema", "--builtin-schema"]
    result = subprocess.run(
        [*command, "vendor.github-workflows", str(path)], capture_output=True, text=True
    )
    assert result.returncode == 0, result.stdout


def test_a_workflow_without_jobs_is_noticed(tmp_path):
    (tmp_path / "broken.yml").write_text("name: broken\non: push\n")
    command = [sys.executable, "-m", "check_jsonschema", "--builtin-schema"]
    broken = str(tmp_path / "broken.yml")
    assert subprocess.run([*command, "vendor.github-workflows", broken]).returncode != 0


def test_only_one_job_runs_the_notebooks():
    """`--part` chooses among the files of tests; of notebooks, the path decides."""

    def asked(part):
        command = ["make", "--dry-run", "test-all", f"PART={part}"]
        lines = subprocess.run(command, cwd=ROOT, capture_output=True, text=True).stdout
        return next(line for line in lines.splitlines() if f"--part {part}" in line)

    for part in ("code", "site", "grader"):
        assert f"--part {part} tests ||" in asked(part)
    assert "tests ||" not in asked("notebooks")
