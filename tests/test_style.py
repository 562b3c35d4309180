"""Formatting and lint, so that `make test` is the one command."""

import subprocess
import sys

from tests.conftest import ROOT


def ruff(*arguments):
    return subprocess.run(
        [sys.executable, "-m", "ruff", *arguments, "."], cwd=ROOT, capture_output=True, text=True
    )


def test_formatted():
    result = ruff("format", "--check")
    assert result.returncode == 0, result.stdout


def test_lint():
    result = ruff("check")
    assert result.returncode == 0, result.stdout
