"""What the tests of this folder share; the settings of all tests stand in `../conftest.py`."""

import gc
import math
import os
import re
import shutil
import sqlite3
from pathlib import Path

import pytest

from tests import file_seconds, unchanged
from tests.unchanged import ABOUT_TASKS

ROOT = Path(__file__).resolve().parent.parent


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


def first_and_full(*values) -> list:
    """Values of one parameter: `make test` tries the first, `make test-all` the others too."""
    return [*values[:1], *(pytest.param(value, marks=pytest.mark.full) for value in values[1:])]


@pytest.fixture(scope="session")
def chromium() -> str:
    """The path of a Chromium."""
    return system_program("chromium", "chromium-browser", "google-chrome")


@pytest.fixture(scope="session", autouse=True)
def no_waiting_for_the_disk():
    """SQLite does not wait until what it writes has reached the disk: tests do not need it."""

    def connect(*arguments, **more):
        base = on_disk(*arguments, **more)
        base.execute("PRAGMA synchronous = OFF")
        return base

    on_disk, sqlite3.connect = sqlite3.connect, connect
    yield
    sqlite3.connect = on_disk


@pytest.fixture(scope="session")
def browser(chromium):
    """One Chromium for all tests that look at a page; each opens pages or contexts of its own."""
    try:
        from playwright.sync_api import sync_playwright
    except ImportError:
        skip_or_fail("playwright is not installed: make test installs it")
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=chromium, args=CHROMIUM_FLAGS)
        yield browser
        browser.close()


FORGET = """() => {
  for (const kept of [localStorage, sessionStorage]) kept.clear();
  Storage.prototype.setItem = () => {};  // what a page still keeps as it is left
}"""


def empty(tab) -> None:
    """Leave the page in a tab, with all that was stored, set or opened there, as if it were new."""
    for other in tab.context.pages:
        if other is not tab:
            other.close()
    if tab.url != "about:blank":
        tab.evaluate(FORGET)
    tab.goto("about:blank")
    tab.unroute_all()
    tab.emulate_media(media="null", color_scheme="null")
    tab.set_viewport_size({"width": 1280, "height": 720})
    tab.set_default_timeout(30_000)


@pytest.fixture(scope="session")
def one_tab(browser):
    """The tab that `page` empties after each test."""
    tab = browser.new_page()
    yield tab
    tab.close()


@pytest.fixture
def page(one_tab):
    """An empty tab. All tests share one, since a new one takes Chromium longer than most pages."""
    yield one_tab
    empty(one_tab)


CHROMIUM_FLAGS = [
    "--no-sandbox",
    "--disable-gpu",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
]

# ------------------------------------------------------------------ which tests run

# `make test` leaves out what is marked `full` or `grader`; `make test-all` runs everything. Public
# CI runs that in four parts side by side: PART=notebooks, and so on. All other files are `code`.
# A part is a list of folders and files of `tests/`.
BROWSER = [
    f"helpers/viz/test_{name}.py"
    for name in ("attention_viewer", "dependency_trees", "explorables", "plotting_quiz")
]
OF_NOTEBOOKS = [f"tools/test_{name}.py" for name in ("execute", "seeds", "times")]
PARTS = {
    "notebooks": ("notebooks", *OF_NOTEBOOKS),
    "site": ("site", "tools/test_audit.py", *BROWSER),
    "grader": ("classroom", "test_mutations.py"),
    "code": (),
}


def part_of(path: Path) -> str:
    """The part of `make test-all` to which a file belongs."""
    if path.suffix == ".ipynb":
        return "notebooks"
    for part, places in PARTS.items():
        if any(path.is_relative_to(ROOT / "tests" / place) for place in places):
            return part
    return "code"


def pytest_addoption(parser) -> None:
    """A part of all tests can be asked for."""
    parser.addoption("--part", choices=sorted(PARTS), help="run only this part of all tests")
    parser.addoption(
        "--skip-unchanged",
        action="store_true",
        help="do not run notebooks and tasks again that passed and rest on nothing that changed",
    )


GRADER = re.compile(r"^pytestmark = .*\bpytest\.mark\.grader\b", re.MULTILINE)


def pytest_ignore_collect(collection_path, config):
    """What would be left out as a whole is not even imported."""
    if not collection_path.is_file() or collection_path.stem == "conftest":
        return None
    part = config.getoption("--part", None)
    if part and part_of(collection_path) != part:
        return True
    if "not grader" in config.option.markexpr and collection_path.suffix == ".py":
        return GRADER.search(collection_path.read_text(encoding="utf-8")) is not None or None
    return None


# ------------------------------------------------------------------ which worker runs what

# All tests of the tasks of a lecture go to one worker, which runs each model answer and each known
# mistake once for all of them.
SHARING = (*ABOUT_TASKS, "tests/grading/test_mistake_variants.py")
LECTURES = {path.stem: path.parent.name for path in ROOT.glob("grading/tasks/lecture_*/*.py")}


def scope_of(nodeid: str) -> str:
    """What has to run on one worker with this test: its file, or the tasks of its lecture."""
    file, _, test = nodeid.partition("::")
    if file in SHARING and "[" in test:
        for word in re.split(r"[-\]]", test.partition("[")[2]):
            if word in LECTURES:
                return LECTURES[word]
            if number := re.fullmatch(r"(\d{1,2})(_.*)?", word):
                return f"lecture_{int(number[1]):02d}"
    return file


# ------------------------------------------------------------------ what need not run again


def pytest_configure(config) -> None:
    """Look, before anything runs, what has not changed since it passed."""
    config.unchanged, config.now = set(), {}
    if config.getoption("--skip-unchanged", False):
        config.now, before = unchanged.keys(), unchanged.passed()
        config.unchanged = {name for name, key in config.now.items() if before.get(name) == key}


def pytest_sessionfinish(session, exitstatus) -> None:
    """Keep what ran and passed as a whole; a run of a part, or a stopped one, says nothing."""
    config = session.config
    if hasattr(config, "workerinput") or not config.now or exitstatus not in (0, 1):
        return
    if config.option.keyword or any("::" in argument for argument in config.args):
        return
    reporter = config.pluginmanager.get_plugin("terminalreporter")
    ran, files, wrong = set(), set(), set()
    for kind in ("passed", "skipped", "xfailed", "failed", "error"):
        for report in reporter.stats.get(kind, ()):
            scope = scope_of(report.nodeid)
            (wrong if kind in ("failed", "error") else ran).add(scope)
            files.add(report.nodeid.partition("::")[0])
    about_tasks = {name for name in ABOUT_TASKS if (ROOT / name).is_file()}
    known = unchanged.passed()
    for name, key in config.now.items():
        if name in wrong:
            known.pop(name, None)
        elif name in ran and (name.endswith(".ipynb") or about_tasks <= files):
            known[name] = key
    unchanged.remember(known)


@pytest.hookimpl(trylast=True)  # after the notebooks, which come first
def pytest_collection_modifyitems(config, items) -> None:
    """Notebooks, then the longest files: nobody waits for one of these at the end."""
    left_out = [item for item in items if scope_of(item.nodeid) in config.unchanged]
    config.hook.pytest_deselected(items=left_out)
    items[:] = [item for item in items if scope_of(item.nodeid) not in config.unchanged]

    taken = file_seconds.stored()

    def turn(item) -> tuple:
        scope = scope_of(item.nodeid)
        if item.path.suffix == ".ipynb":
            return (0, 0, "")
        untimed = 60 if scope.startswith("lecture_") else math.inf  # such as those of the site
        return (1, -taken.get(scope, untimed), scope)

    items.sort(key=turn)


@pytest.hookimpl(trylast=True)
def pytest_collection_finish() -> None:
    """What has been imported and collected stays: the garbage collector need not visit it again."""
    gc.freeze()


@pytest.hookimpl(optionalhook=True)  # of pytest-xdist
def pytest_xdist_make_scheduler(config, log):
    """Tests of a file, or of a lecture's tasks, share what they need: one worker gets them all."""
    from xdist.scheduler import LoadScopeScheduling

    class Shared(LoadScopeScheduling):
        def _split_scope(self, nodeid: str) -> str:
            return scope_of(nodeid)

    return Shared(config, log)


def pytest_terminal_summary(terminalreporter, config) -> None:
    """Say how many wrong answers to exercises were tried, and how many were named."""
    if config.unchanged:
        terminalreporter.write_line(
            "Not run again, since it passed and nothing that it rests on has changed: "
            + ", ".join(sorted(config.unchanged))
        )
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
    if kept := noted.get("kept", []):
        tried = sum(count for count, _ in kept)
        share = sum(count * share for count, share in kept) / tried
        terminalreporter.write_line(
            f"Partial credit: {tried} known mistakes in code keep {share:.1%} of them on average."
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
