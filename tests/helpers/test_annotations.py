"""The shapes in the annotations are true: beartype checks them in every kind of valid call."""

import json
import os
import subprocess
import sys

from tests.conftest import ROOT


def test_annotated_shapes_are_true():
    """In a process of its own, since the package is imported in another way there."""
    result = subprocess.run(
        [sys.executable, "-m", "tests.helpers.annotated_calls"],
        cwd=ROOT,
        env=os.environ | {"MPLBACKEND": "agg"},
        capture_output=True,
        text=True,
        timeout=900,
    )
    assert result.returncode == 0, result.stderr[-3000:]
    report = json.loads(result.stdout)
    missing = report["not called"]
    assert missing == [], f"add a valid call of each to tests/helpers/annotated_calls.py: {missing}"
    assert len(report["annotated"]) >= 30
    assert "helpers.attention.MultiHeadAttention.forward" in report["annotated"]
