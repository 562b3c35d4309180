"""CPU seconds of each test file, by which `make check FILE=…` chooses what it runs.

They are stored in `file_seconds.json` by naming this plugin, for the files that run:

    python -m pytest -p tests.file_seconds -m "not full and not network" tests/helpers
"""

import json
from collections import Counter
from pathlib import Path

import psutil
import pytest

TABLE = Path(__file__).with_suffix(".json")
TAKEN: Counter[str] = Counter()


def stored() -> dict[str, float]:
    """Seconds by test file, named from the root of the repository."""
    return json.loads(TABLE.read_text(encoding="utf-8"))


def cpu_seconds() -> float:
    """CPU seconds that this process and all that it started have taken."""
    own = psutil.Process()
    total = sum(own.cpu_times()[:4])  # user, system, and both of children that ended
    for child in own.children(recursive=True):
        try:
            total += sum(child.cpu_times()[:4])
        except psutil.NoSuchProcess:
            continue
    return total


@pytest.hookimpl(hookwrapper=True)
def pytest_runtest_protocol(item):
    """Add what a test takes, with the fixtures that it is the first to need."""
    before = cpu_seconds()
    yield
    taken = cpu_seconds() - before  # below 0 where a program ended for which nobody waited
    TAKEN[item.nodeid.partition("::")[0]] += max(0.0, taken)


def pytest_sessionfinish():
    """Write the table; files that did not run keep their figures."""
    table = stored() | {file: round(seconds, 1) for file, seconds in TAKEN.items()}
    table = {file: table[file] for file in sorted(table) if (TABLE.parents[1] / file).is_file()}
    TABLE.write_text(json.dumps(table, indent=1) + "\n", encoding="utf-8")
