"""The benchmark runs, and what it stored is whole. No test depends on how fast a machine is."""

import json
import statistics
import subprocess
import sys

import pytest

from tests.conftest import ROOT

STORED = ROOT / "benchmarks" / "results"
RESULTS = [path for name in ("cpu", "cuda") if (path := STORED / f"{name}.json").exists()]
SMALL = ("--quick", "--repeats", "1")


def check_rows(results: dict) -> None:
    """Every row holds times and their ratio; the median is that of the rows."""
    for row in results["modules"]:
        assert row["ours"] > 0
        assert row["torch"] > 0
        assert row["ratio"] == pytest.approx(row["ours"] / row["torch"], rel=0.02)
    ratios = [row["ratio"] for row in results["modules"]]
    assert results["median ratio"] == pytest.approx(statistics.median(ratios), abs=0.006)
    for row in results["functions"]:
        assert row["fused"]["MiB"] >= 0
        assert row["fused"]["microseconds"] > 0


@pytest.mark.full
def test_quick_run(tmp_path):
    """Small sizes, through to the stored file; the outputs of the modules are compared inside."""
    path = tmp_path / "results.json"
    command = [sys.executable, "benchmarks/attention.py", *SMALL, "--output", str(path)]
    output = subprocess.run(
        command, cwd=ROOT, capture_output=True, text=True, check=True, timeout=900
    )
    results = json.loads(path.read_text(encoding="utf-8"))
    check_rows(results)
    assert len(results["modules"]) == 4
    assert "median ratio" in output.stdout
    if sys.platform == "linux":
        (row,) = results["functions"]
        assert row["naive"]["MiB"] > row["fused"]["MiB"]


@pytest.mark.parametrize("path", RESULTS, ids=lambda path: path.stem)
def test_stored_results_are_whole(path):
    results = json.loads(path.read_text(encoding="utf-8"))
    check_rows(results)
    assert results["repeats"] >= 15
    found = {(row["batch"], row["length"], row["width"]) for row in results["modules"]}
    batches, lengths, widths = (sorted({size[i] for size in found}) for i in range(3))
    whole = {(b, n, w) for b in batches for n in lengths for w in widths}
    assert whole - found == {tuple(size) for size in results["left out"]}
    assert len(results["modules"]) == 4 * len(found)


def test_results_for_the_page_are_stored():
    assert "cpu" in [path.stem for path in RESULTS], "make bench"


# --------------------------------------------------------------------------- decoding


def check_decoding(results: dict) -> None:
    """Every row holds both times and their ratio."""
    for row in results["rows"]:
        assert row["with cache"] > 0
        assert row["without"] > 0
        assert row["ratio"] == pytest.approx(row["without"] / row["with cache"], rel=0.02)


@pytest.mark.full
def test_quick_decoding_run(tmp_path):
    """A few tokens, through to the stored file; that both ways agree is checked inside."""
    path = tmp_path / "results.json"
    command = [sys.executable, "benchmarks/decoding.py", *SMALL, "--output", str(path)]
    output = subprocess.run(
        command, cwd=ROOT, capture_output=True, text=True, check=True, timeout=900
    )
    results = json.loads(path.read_text(encoding="utf-8"))
    check_decoding(results)
    assert len(results["rows"]) == 2
    assert "without ÷ with" in output.stdout


def test_stored_decoding_results_are_whole():
    """Two sizes, four numbers of tokens; enough repeats."""
    path = STORED / "decoding.json"
    assert path.exists(), "make bench"
    results = json.loads(path.read_text(encoding="utf-8"))
    check_decoding(results)
    assert results["repeats"] >= 5
    sizes = {(row["width"], row["layers"]) for row in results["rows"]}
    found = {(row["width"], row["layers"], row["tokens"]) for row in results["rows"]}
    assert sizes == {(64, 2), (128, 4)}
    assert found == {(*size, n) for size in sizes for n in (64, 128, 256, 512)}
    assert len(results["rows"]) == len(found)
