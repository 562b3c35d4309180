"""The public CI's files have the form that GitHub wants."""

import subprocess
import sys

import pytest
from conftest import ROOT


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
