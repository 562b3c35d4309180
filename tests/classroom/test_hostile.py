"""The class grader against hostile submissions, some graded twice: what must come out.

The second time they come in the opposite order, with four workers in place of two, and with another
seed of torch, so that none of these may change a grade.
"""

import csv
import os
import re
import socket
import sys
import time
import zipfile
from pathlib import Path

import pytest

from classroom import tables
from classroom.gradebook.store import Store
from classroom.options import Options
from classroom.pipeline import grade_class
from classroom.sandbox.bubblewrap import Unavailable, bubblewrap
from classroom.sandbox.limits import Limits
from tests.classroom.hostile import BROKEN, CASES, ODD_NAMES, ZOO_SAYS
from tests.conftest import ROOT, system_program
from tests.grading.sample_tasks import SEED, SHEET, SLEEPER, TASKS, cells_with, notebook

ON_LINUX = pytest.mark.skipif(sys.platform != "linux", reason="the sandbox is one of Linux")
pytestmark = [pytest.mark.grader, ON_LINUX]
LIMITS = Limits(cell=4, task=4, train=4, total=200, patience=6, memory=900 << 20, printed=2 << 20)
AGAIN = {"model-0", "model-1", "untouched", "mistake-stable_softmax-0", "mistake-Scale-0", "raises"}
AGAIN |= {"loop", "kills-all", "threads-and-orphans", "floods", "garbage", "patches", "magics"}
AGAIN |= {"global-state", "shadows-torch", "full-marks-please"}
"""What is graded a second time: what draws at random, or might disturb what runs beside it."""
unpickled: list[tuple] = []
watching = False


def watch_pickle(event, arguments):
    if watching and event == "pickle.find_class":
        unpickled.append(arguments)


def handed_in(folder, port, names):
    """These submissions and every file that is none, in a folder, a zip, a zip in a zip."""
    folder.mkdir(parents=True)
    for name in names:
        data = CASES[name].data.replace(b"PORT", str(port).encode())
        (folder / f"{name}.ipynb").write_bytes(data)
    for name, (data, _) in BROKEN.items():
        (folder / name).write_bytes(data)
    for name in ODD_NAMES:
        (folder / name).write_bytes(notebook(cells_with()))
    (folder / "link.ipynb").symlink_to(folder / "model-1.ipynb")
    (folder / "pickled.pkl").write_bytes(b"cos\nsystem\n(S'touch /tmp/lamplight-trap'\ntR.")
    twice = folder / "02_course_name"
    for number, source in enumerate(("query_context = 1", "query_context = [2.0, 1.0]")):
        path = folder / "Twice_7_assignsubmission_file_" / f"02_course_name{number}.ipynb"
        path.parent.mkdir(exist_ok=True)
        path.write_bytes(notebook([source]))
        os.utime(path, (10**9 + 100 * number,) * 2)
    assert not twice.exists()
    with zipfile.ZipFile(folder / "class.zip", "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("in zip.ipynb", notebook(["query_context = [2.0, 1.0]"]))
        archive.writestr("../../climbs.ipynb", notebook(["query_context = [2.0, 1.0]"]))
        archive.writestr("/rooted.ipynb", notebook(["query_context = [2.0, 1.0]"]))
        archive.writestr("bomb.ipynb", bytes(50_000_001))
        archive.writestr("other/big.bin", bytes(50_000_000))
        entry = zipfile.ZipInfo("leads-out.ipynb")
        entry.external_attr = 0o120777 << 16
        archive.writestr(entry, "/etc/passwd")
        inner = folder.parent / "inner.zip"
        with zipfile.ZipFile(inner, "w") as small:
            small.writestr("02_course_name.ipynb", notebook(["query_context = [2.0, 1.0]"]))
        archive.write(inner, "nested.zip")
    (folder / "torn.zip").write_bytes((folder / "class.zip").read_bytes()[:3000])


@pytest.fixture(scope="module")
def graded(tmp_path_factory):
    """Both runs: what the database and the tables say, by file."""
    global watching
    system_program("bwrap")
    try:
        bubblewrap()
    except Unavailable as error:
        pytest.fail(str(error)) if os.environ.get("CI") == "true" else pytest.skip(str(error))
    top = tmp_path_factory.mktemp("class")
    os.environ["LAMPLIGHT_TOKEN"] = "secret-of-the-teacher"
    sys.addaudithook(watch_pickle)
    runs = []
    with socket.socket() as listener, socket.socket(socket.AF_UNIX) as local:
        listener.bind(("127.0.0.1", 0))
        listener.listen()
        port = listener.getsockname()[1]
        local.bind(f"\0lamplight-{port}")  # this run's own: another may go on beside it
        local.listen()
        watching = True
        for run, (options, order) in enumerate(
            (
                (Options(seed=SEED, jobs=2), lambda rows: rows),
                (Options(seed=SEED, jobs=4, torch_seed=7), lambda rows: rows[::-1]),
            )
        ):
            folder, out = top / f"run-{run}" / "handed-in", top / f"secret-results-{run}"
            handed_in(folder, port, AGAIN if run else CASES)
            start = time.perf_counter()
            done = grade_class(folder, out, options, tasks=TASKS, limits=LIMITS, order=order)
            print(f"run {run}: {time.perf_counter() - start:.0f} s")
            table = {row["file"]: row for row in tables.read(out / "files.csv")[1]}
            for row in tables.read(out / "grades.csv")[1]:
                table[row["file"]] |= {k: v for k, v in row.items() if k != "status"}
            store = Store(out / "grades.sqlite")
            keys = dict(store.base.execute("SELECT file, key FROM submission"))
            runs.append((done.failures, table, {f: store.get(key) for f, key in keys.items()}, out))
        watching = False
    del os.environ["LAMPLIGHT_TOKEN"]
    return runs


RUNS = ["two workers", "four workers"]


@pytest.mark.parametrize(
    ("name", "run"),
    [
        pytest.param(name, run, id=f"{name}-{RUNS[run]}")
        for name in CASES
        if name != "zoo"
        for run in (0, 1)
        if run == 0 or name in AGAIN
    ],
)
def test_submission(graded, name, run):
    case, (_, table, details, _) = CASES[name], graded[run]
    assert table[f"{name}.ipynb"]["status"] == "ok"
    found = details[f"{name}.ipynb"]
    points = {r.task: r.points for r in found.results if r.task != "essay"}
    wanted = {
        task: case.kept.get(task, 0) if task in case.lost else TASKS[task].points
        for task in SHEET
        if task != "essay"
    }
    story = "\n".join([*found.notes, *(f"{r.task}: {r.message}" for r in found.results)])
    assert points == wanted, story + str(found.flags)
    for flag in case.flags:
        assert flag in found.flags, story + str(found.flags)
    if case.clean:
        assert found.flags == []
    for sentence in case.says:
        assert sentence in story.replace("\n", " "), story
    for sentence in case.never:
        assert sentence not in story, story
    assert "Traceback" not in story


@pytest.mark.parametrize("name", [name for name, task in TASKS.items() if "zoo_" in name])
def test_function(graded, name):
    found = graded[0][2]["zoo.ipynb"]
    [result] = [result for result in found.results if result.task == name]
    zoo = CASES["zoo"]
    wanted = zoo.kept.get(name, 0) if name in zoo.lost else 1
    assert result.points == wanted, result.message
    assert ZOO_SAYS.get(name.removeprefix("zoo_"), "") in result.message


def test_grades_do_not_depend_on_workers_order_or_seed(graded):
    first, second = (run[1] for run in graded)
    for file, row in second.items():
        both = row.keys() - {"flags", "handed in"}  # the second run has no columns for the zoo
        assert {key: row[key] for key in both} == {key: first[file][key] for key in both}
    assert {f"{name}.ipynb" for name in AGAIN} <= set(second)
    assert [run[0] for run in graded] == [0, 0]


@pytest.mark.parametrize("name", BROKEN)
def test_files_that_are_no_notebooks(graded, name):
    for _, table, _, _ in graded:
        assert BROKEN[name][1] in table[name]["status"]
        assert table[name]["points"] == "0"
        assert table[name]["id"] == name.removesuffix(".ipynb")


def test_zips(graded):
    table = graded[0][1]
    told = {file.removeprefix("class.zip/"): row for file, row in table.items()}
    assert told["in zip.ipynb"]["query_context"] == "4"
    [inner] = [row for file, row in told.items() if file.startswith("nested.zip/")]
    assert (inner["id"], inner["query_context"]) == ("nested", "4")
    for name, word in {
        "../../climbs.ipynb": "leads out",
        "/rooted.ipynb": "leads out",
        "bomb.ipynb": "larger than 50 MB",
        "other/big.bin": "zip bomb",
        "leads-out.ipynb": "a link in a zip",
        "torn.zip": "cannot be opened",
        "link.ipynb": "a link",
    }.items():
        assert word in told[name]["status"], name


def test_nothing_was_unpickled(graded):
    assert unpickled == []
    assert not Path("/tmp/lamplight-trap").exists()
    for path in [*(ROOT / "grading").glob("*.py"), *(ROOT / "classroom").rglob("*.py")]:
        loads = re.findall(r"pickle|torch\.load|np\.load|marshal|shelve|\beval\(", path.read_text())
        assert [word for word in loads if word != "pickle"] == [], path
        assert not re.search(r"import .*pickle", path.read_text()), path


def test_no_process_is_left(graded):
    for path in Path("/proc").glob("[0-9]*/cmdline"):
        try:
            command = path.read_bytes()
        except OSError:
            continue
        assert SLEEPER.encode() not in command
        assert b"worker.py" not in command or str(os.getpid()).encode() not in command


def test_the_same_student_twice(graded):
    for _, table, _, _ in graded:
        first, second = (
            table[f"Twice_7_assignsubmission_file_/02_course_name{n}.ipynb"] for n in (0, 1)
        )
        assert "not counted" in first["status"]
        assert (second["id"], second["query_context"]) == ("7", "4")


def test_odd_names_and_no_formulas(graded):
    out = graded[0][3]
    for name in ODD_NAMES:
        row = graded[0][1][name]
        assert row["status"] == "ok"
        assert row["id"] == name.removesuffix(".ipynb")
    for path in out.glob("*.csv"):
        with open(path, encoding="utf-8-sig", newline="") as file:
            for row in csv.reader(file):
                assert not any(cell.startswith(("=", "+", "-", "@", "\t")) for cell in row)


def test_feedback_is_escaped_and_says_what_check_says(graded):
    out = graded[0][3]
    pages = {path.name.rpartition("-")[0]: path for path in (out / "feedback").iterdir()}
    text = pages["script"].read_text(encoding="utf-8")
    assert "&lt;script&gt;alert(1)" in text
    assert "<script" not in text
    assert "<img" not in text
    text = pages["mistake-stable-softmax-0"].read_text(encoding="utf-8")
    assert "The sum runs over axis −2" in text
    text = pages["not-installed"].read_text(encoding="utf-8")
    assert "The grader does not have these packages: no_such_package_here" in text
    assert "will mark this answer" in pages["model-0"].read_text(encoding="utf-8")


def test_the_overview_counts_points_and_mistakes(graded):
    text = (graded[0][3] / "summary.html").read_text(encoding="utf-8")
    assert "1 ×: The sum runs over axis −2" in text
    assert "Lecture 2: share of the points" in text
    assert "class.zip/bomb.ipynb" in text
