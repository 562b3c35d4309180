"""What the tests of this folder share; the settings of all tests stand in `../conftest.py`."""

import os
import re
import shutil
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT))


def skip_or_fail(reason: str) -> None:
    """Leave a test out where its tool is missing; under CI=true a missing tool is a failure."""
    if os.environ.get("CI") == "true":
        pytest.fail(reason)
    pytest.skip(reason)


def system_program(*names: str) -> str:
    """The path of the first of these programs that is installed."""
    for name in names:
        if path := shutil.which(name):
            return path
    skip_or_fail(f"{names[0]} is not installed: sh tools/system.sh {names[0]}")


@pytest.fixture(scope="session")
def chromium() -> str:
    """The path of a Chromium."""
    return system_program("chromium", "chromium-browser", "google-chrome")


# Minutes each: they begin first, so that nobody waits for one of them at the end.
LONG = ("test_faults", "test_grader_cases", "test_site", "test_variants", "test_grader_parts")
LONG = (*LONG, "test_needs", "test_class")
# Tests that share nothing, or only what is of one task: they fill what is left on either side.
APART = ("test_grading.py::", "test_verdicts_do_not_depend_on_the_seed_of_torch[")


def pytest_collection_modifyitems(items) -> None:
    """Notebooks come first, then the long files, and last what can be handed out one by one."""

    def turn(item) -> int:
        if "test_runs_alone[" in item.nodeid:
            return 0
        if any(part in item.nodeid for part in APART):
            return 3
        return 1 if item.path.stem in LONG else 2

    items.sort(key=turn)


@pytest.hookimpl(optionalhook=True)  # of pytest-xdist
def pytest_xdist_make_scheduler(config, log):
    """Tests of a file, or of a task, share what they need, so one worker gets them all."""
    from xdist.scheduler import LoadScopeScheduling

    class ByFile(LoadScopeScheduling):
        def _split_scope(self, nodeid: str) -> str:
            file, _, test = nodeid.partition("::")
            if file.endswith("test_grading.py") and "[" in test:
                return re.split(r"[-\]]", test.partition("[")[2])[0]  # the task, without the seed
            alone = any(part in nodeid for part in ("test_runs_alone[", *APART))
            return nodeid if alone else file

    return ByFile(config, log)


def pytest_terminal_summary(terminalreporter) -> None:
    """Say how many wrong answers to exercises were tried, and how many were named."""
    noted: dict[str, list] = {}
    for reports in terminalreporter.stats.values():
        for report in reports:
            for name, value in getattr(report, "user_properties", ()):
                if getattr(report, "when", "") == "call":
                    noted.setdefault(name, []).append(value)
    if counts := noted.get("wrong answers"):
        tried, named = (sum(numbers) for numbers in zip(*counts, strict=True))
        terminalreporter.write_line(
            f"Exercises: {tried} wrong answers to {len(counts)} tasks were tried; "
            f"{named} were rejected with the name of their mistake."
        )
    for tried, kept in noted.get("kept", ()):
        terminalreporter.write_line(
            f"Partial points: {tried} known mistakes in code keep {kept:.1%} of them on average."
        )
    for lecture, tried, right, wrong in sorted(noted.get("variants", ())):
        terminalreporter.write_line(
            f"Exercises {lecture}: of {tried} variants of known mistakes, {right / tried:.0%} were "
            f"named right, {wrong / tried:.1%} wrong, the others not."
        )
    for lecture, tried, named in sorted(noted.get("unseen", ())):
        terminalreporter.write_line(
            f"Exercises {lecture}: of {tried} mistakes taken out of the catalogue, {named} were "
            "called by the name of another."
        )
    for lecture, tried, passed in sorted(noted.get("changed answers", ())):
        terminalreporter.write_line(
            f"Exercises {lecture}: of {tried} changed model answers, {passed} passed the public "
            "cases and failed others."
        )
