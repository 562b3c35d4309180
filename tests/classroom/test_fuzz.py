"""Odd files, tables and rules, drawn by Hypothesis: a run ends with a sentence, or finishes.

Everything around the sandbox runs as it is; code of a submission runs only where it is ours. What
was found stands as a test of its own in `test_ordinary_files.py` and its neighbours.
"""

import contextlib
import io
import re
import tempfile
from functools import partial
from pathlib import Path

import pytest
from hypothesis import HealthCheck, Phase, given, settings
from hypothesis import strategies as st

from classroom import cli, pipeline, tables
from tests.classroom import odd_files
from tests.classroom.fake_class import run_here
from tests.grading.sample_tasks import ANSWERS, STUBS, TASKS, notebook

pytestmark = pytest.mark.grader

GRADED = {name: TASKS[name] for name in ("stable_softmax", "query_context", "essay")}
RIGHT = {name: ANSWERS[name] for name in GRADED}
FIRST = "import numpy as np"
OURS = {FIRST, *ANSWERS.values(), *STUBS.values()}
PYTHONS = re.compile(
    r"Traceback|codec|could not convert|invalid literal|cannot convert|has no attribute|NoneType|"
    r"not subscriptable|out of range|Expecting|must be|unhashable|too large|embedded null"
)
"""Words of Python's own errors, which are no sentences for a teacher."""
STEADY = {
    "honest": ({**RIGHT}, 10 + 4),
    "half": (RIGHT | {"query_context": "query_context = 1"}, 10),
}
"""Students with an ordinary notebook, and their points without the essay, which a person reads."""
DRAWN = partial(
    settings,
    derandomize=True,
    database=None,
    deadline=None,
    suppress_health_check=list(HealthCheck),
    phases=[Phase.generate],  # a smaller example would take minutes, and is seldom clearer
)


def our_code(cells, tasks, slot):
    """In place of the sandbox: runs cells of ours, and no others."""
    return run_here([cell if cell in OURS else "" for cell in cells], tasks, slot)


def graded(*arguments):
    """The exit status of the command line, and what it said."""
    said = io.StringIO()
    with pytest.MonkeyPatch.context() as patch:
        whole = partial(pipeline.grade_class, tasks=GRADED, examiner=our_code)
        patch.setattr(cli, "grade_class", whole)
        patch.setenv("LAMPLIGHT_QUIET", "1")
        with contextlib.redirect_stdout(said), contextlib.redirect_stderr(said):
            status = cli.main([str(argument) for argument in (*arguments, "--seed", "7")])
    return status, said.getvalue()


def put(folder, name, data):
    """Write a file whose name may be none on this machine."""
    with contextlib.suppress(OSError, ValueError):
        folder.mkdir(parents=True, exist_ok=True)
        (folder / name).write_bytes(data)


def everything(folder, but):
    """What lies in a folder, without one folder in it."""
    found = {}
    for path in folder.rglob("*"):
        if but not in (path, *path.parents):
            found[path] = path.read_bytes() if path.is_file() else None
    return found


@contextlib.contextmanager
def a_class():
    """A folder with submissions of the steady students, and the list of the class."""
    with tempfile.TemporaryDirectory() as name:
        top = Path(name)
        for id, (answers, _) in STEADY.items():
            put(top / "in" / id, "02_sheet.ipynb", notebook([FIRST, *answers.values()]))
        ids = [*STEADY, "ada", "jörg", "007", "nobody"]
        lines = [
            "id;name;email",
            *(f"{id};Name of {id};{n}@example.org" for n, id in enumerate(ids)),
        ]
        (top / "class.csv").write_text("\n".join(lines), encoding="utf-8")
        yield top, ids


TABLES = ["--roster", "--points", "--participants", "--table", "look.csv", "written.csv"]
ENTERED = st.one_of(
    st.tuples(st.sampled_from(TABLES), odd_files.tables()),
    st.tuples(st.just("--policy"), odd_files.rules()),
)
"""What a person enters: an option, or a table of the results, and the bytes of the file."""


def rows_of(top):
    return {row["id"]: row for row in tables.read(top / "out" / "grades.csv")[1]}


def require_steady(top, ids):
    """Every student has a row, and those with ordinary notebooks their points."""
    rows = rows_of(top)
    assert set(ids) <= set(rows)
    for id, (_, points) in STEADY.items():
        assert float(rows[id]["points"]) == points, rows[id]


@DRAWN(max_examples=100)
@given(odd_files.FOLDERS, st.sampled_from([["--roster", "class.csv"], []]), st.booleans())
def test_no_file_stops_a_class(folders, roster, lecture):
    with a_class() as (top, ids):
        for folder, files in folders.items():
            for name, data in files:
                put(top / "in" / folder, name, data)
        roster = [roster[0], top / roster[1]] if roster else []
        wanted = [top / "in", "--out", top / "out", *roster, *(["--lecture", 2] if lecture else [])]
        before = everything(top, top / "out")
        status, said = graded(*wanted)
        assert status == 0 and not PYTHONS.search(said), said
        require_steady(top, ids if roster else STEADY)
        first = rows_of(top)
        assert graded(*wanted)[0] == 0
        assert rows_of(top) == first
        assert everything(top, top / "out") == before


@DRAWN(max_examples=100)
@given(ENTERED)
def test_odd_tables_end_with_a_sentence(entered):
    """Of persons, of a learning management system, and class.toml."""
    option, data = entered
    with a_class() as (top, ids):
        wanted = [top / "in", "--out", top / "out", "--lecture", 2]
        steady = ["--roster", top / "class.csv"]
        assert graded(*wanted, *steady)[0] == 0
        before = rows_of(top)
        if option.startswith("--"):
            (top / "entered").write_bytes(data)
            more = [option, top / "entered", *(steady if option != "--roster" else [])]
        else:
            (top / "out" / option).write_bytes(data)
            more = steady
        status, said = graded(*wanted, *more)
        assert status in (0, 1, 2) and not PYTHONS.search(said), said
        if status == 2:
            assert (
                said.startswith(("Not started: ", "Nothing more was graded: ")) and len(said) > 40
            ), said
            assert rows_of(top) == before
        elif option not in ("--roster", "--policy", "--points"):
            require_steady(top, ids)
