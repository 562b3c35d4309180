"""Formatting, lint and names, so that `make test` is the one command."""

import ast
import subprocess
import sys
from pathlib import Path

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


LONGEST_NAME = 50
"""Characters of a test's name: the unit and its behaviour. More belongs in the docstring."""


def long_names(folder: Path) -> list[str]:
    """Tests below a folder whose names are too long, as FILE:LINE NAME."""
    return [
        f"{path.relative_to(folder)}:{node.lineno} {node.name}"
        for path in sorted(folder.rglob("test_*.py"))
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8")))
        if isinstance(node, ast.FunctionDef)
        and node.name.startswith("test_")
        and len(node.name) > LONGEST_NAME
    ]


def test_names_of_tests_are_short():
    assert long_names(ROOT / "tests") == []


def test_long_name_of_a_test_is_noticed(tmp_path):
    (tmp_path / "tools").mkdir()
    names = "test_" + 45 * "x", "test_" + 46 * "x", 51 * "x"
    text = "".join(f"def {name}():\n    pass\n" for name in names)
    (tmp_path / "tools" / "test_it.py").write_text(text)
    assert long_names(tmp_path) == [f"tools/test_it.py:3 {names[1]}"]
