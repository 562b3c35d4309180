"""The class grader's parts: the wire, magics, resuming, memory, tables, the command, Gradescope."""

import ast
import csv
import io
import json
import math
import os
import shutil
import signal
import subprocess
import sys
import time
import tracemalloc
import zipfile
from pathlib import Path

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import array_shapes, arrays

from classroom import tables
from classroom.benchmark import graders
from classroom.gradebook.store import Store
from classroom.intake.owners import owner_of
from classroom.intake.submissions import find
from classroom.options import Options
from classroom.pipeline import grade_class
from classroom.sandbox import worker
from classroom.sandbox.bubblewrap import (
    SENT,
    Unavailable,
    bubblewrap,
    bwrap_arguments,
    require_others_may_read,
)
from classroom.sandbox.examiner import Answers, GraderError, Prepared, outcomes_from
from classroom.sandbox.limits import Limits
from classroom.sandbox.serialize import DTYPES, SerializeError, decode, encode
from classroom.sandbox.supervisor import WorkerReport
from classroom.sheets import sheets
from classroom.tables import cell
from classroom.verdicts import results_of
from grading.runner.compare import plain
from grading.runner.run import run
from grading.task import Case
from tests.conftest import ROOT, system_program
from tests.grading.sample_tasks import ANSWERS, FULL, SHEET, TASKS, cells_with, example, notebook
from tools import autograder

linux = pytest.mark.skipif(sys.platform != "linux", reason="the sandbox is one of Linux")

# ------------------------------------------------------------------ the wire

some_arrays = st.sampled_from(sorted(DTYPES)).flatmap(
    lambda name: arrays(name, array_shapes(min_dims=0, max_dims=3, min_side=0, max_side=3))
)
scalars = (
    st.none()
    | st.booleans()
    | st.integers(-(2**63), 2**64 - 1)
    | st.floats(allow_nan=True)
    | st.text(max_size=20)
)
values = st.recursive(
    scalars | some_arrays,
    lambda inner: (
        st.lists(inner, max_size=4)
        | st.lists(inner, max_size=4).map(tuple)
        | st.dictionaries(st.text(max_size=5), inner, max_size=4)
        | st.sets(scalars.filter(lambda x: x == x), max_size=4)
    ),
    max_leaves=12,
)
json_values = st.recursive(
    scalars.filter(lambda x: not isinstance(x, float) or math.isfinite(x)),
    lambda inner: (
        st.lists(inner, max_size=4)
        | st.dictionaries(
            st.sampled_from(["is", "items", "value", "dtype", "shape", "data", "grad"])
            | st.text(max_size=4),
            inner
            | st.sampled_from(["tuple", "set", "dict", "array", "tensor", "scalar", "float"])
            | st.sampled_from(["float64", "bool", "int8", "AAAA", "AAAAAAAAAAA=", "nan"]),
            max_size=5,
        )
    ),
    max_leaves=15,
)


def alike(one, other):
    """Equal, and of the same types all the way down."""
    if type(one) is not type(other):
        return False
    if isinstance(one, np.ndarray):
        same_form = one.dtype == other.dtype and one.shape == other.shape
        return same_form and one.tobytes() == other.tobytes()
    if isinstance(one, list | tuple):
        return len(one) == len(other) and all(map(alike, one, other))
    if isinstance(one, dict):
        return list(one) == list(other) and all(alike(one[key], other[key]) for key in one)
    return one == other or (one != one and other != other)


@given(values)
def test_plain_data_comes_back_as_it_was(value):
    there = json.loads(json.dumps(encode(value)))
    assert alike(decode(there), value)


@pytest.mark.parametrize("dtype", [torch.bfloat16, torch.float16, torch.bool, torch.int64])
def test_tensors_come_back_as_they_were(dtype):
    value = torch.arange(6).reshape(2, 3).to(dtype)
    back = decode(json.loads(json.dumps(encode(value.T))))
    assert (back.dtype, back.shape) == (dtype, (3, 2))
    assert torch.equal(back, value.T)
    wanted = torch.ones(2, requires_grad=True)
    assert decode(encode(wanted)).requires_grad
    assert type(decode(encode(np.float32(3)))) is np.float32


@pytest.mark.parametrize("value", [object(), 1 + 2j, b"x", 2**70, len, np.array([1j]), range(3)])
def test_what_is_no_plain_data_is_refused(value):
    with pytest.raises(SerializeError):
        encode(value)


def test_hidden_case_that_stops_our_answer_is_refused():
    task = example(reference=max, cases=lambda seed: [Case(([1.0],)), Case(([1.0] * (seed == 0),))])
    assert Prepared.of(task, 0, Limits()).task is task
    with pytest.raises(GraderError, match="model answer of doubled has no result on case 2"):
        Prepared.of(task, 1, Limits())


@given(json_values)
@settings(max_examples=400, deadline=None)
def test_garbage_is_refused_or_is_plain_data(garbage):
    try:
        value = decode(garbage)
    except SerializeError:
        return
    plain(value)


cases = TASKS["stable_softmax"].cases(1)[:2]
prepared = Prepared(TASKS["stable_softmax"], cases, 1.0, {})
MESSAGE = {"status": "ok", "value": None, "error": "", "undefined": ""}
MESSAGE |= {"form": None, "mutated": [], "mutation": None, "line": None, "training": None}


@given(json_values)
@settings(max_examples=300, deadline=None)  # the first one runs every known mistake
def test_garbage_outcomes_earn_nothing(garbage):
    """The answer channel as a whole: what a stranger sends is refused or judged, and is worth 0."""
    messages = [garbage, [garbage] * 2]
    messages.append([MESSAGE | {"value": garbage}] * 2)
    messages += [[MESSAGE | {field: garbage}] * 2 for field in MESSAGE]
    task = TASKS["stable_softmax"]
    for message in messages:
        try:
            outcomes = outcomes_from(message, cases)
        except SerializeError:
            continue
        answers = Answers(outcomes={task.name: outcomes})
        [result] = results_of(answers, [prepared])
        assert result.points == 0


def test_outcome_with_printed_text_is_refused():
    """`check` shows it in the notebook; from a sandbox an outcome that brings it is refused."""
    task = TASKS["stable_softmax"]
    [first, _] = outcomes_from([MESSAGE] * 2, cases)
    assert first.stdout == ""
    with pytest.raises(SerializeError):
        outcomes_from([MESSAGE | {"stdout": "secret"}] * 2, cases)
    loud = run(task, lambda scores: print("secret"), cases)
    [result] = results_of(Answers({task.name: loud}), [Prepared(task, cases, 1.0, {})])
    assert "returns None" in result.message and "secret" not in result.message


@given(st.lists(st.binary(max_size=60) | json_values.map(lambda v: json.dumps(v).encode())))
@settings(max_examples=300, deadline=None)
def test_only_the_expected_message_is_accepted(lines):
    """Garbage in a channel that waits for cells and tasks is counted and changes nothing."""
    from classroom.sandbox.supervisor import Worker

    made = Worker.__new__(Worker)
    made.report, made.limits, made.cells = WorkerReport(ready=True), Limits(), 2
    made.tasks, made.seconds = ["stable_softmax"], {"stable_softmax": 1.0}
    made.popen = subprocess.Popen(["true"])
    made.computed = made.started = 0.0
    for line in lines:
        made._event(line)
    assert made.report.answers == {}
    assert made.report.garbled == len(lines)
    made._event(b'{"task": "stable_softmax", "state": "start"}')
    made._event(b'{"task": "stable_softmax", "outcomes": [1]}')
    assert made.report.answers["stable_softmax"]["outcomes"] == [1]
    assert not made.report.forged
    made._event(b'{"task": "stable_softmax", "outcomes": [2]}')
    assert made.report.forged == {"stable_softmax"}


# ------------------------------------------------------------------ cells


CELLS = (
    ("%matplotlib inline\nx = 1", {"x": 1}),
    ("if True:\n    %pip install a\nx = 2", {"x": 2}),
    ("!ls | grep 'a\nx = 3", {"x": 3}),
    ("words = !echo a b\nx = words[0]", {"words": ["a b"], "x": "a b"}),
    ("%%time\nx = 5", {"x": 5}),
    ("%time x = 5", {"x": 5}),
    ("%%bash\nx=6", {}),
    ("%%writefile made.py\ny = 6", {}),
    ("x = 7\nx?\n?x", {"x": 7}),
    ("x = '''\n% a\n! b'''", {"x": "\n% a\n! b"}),
    ("x = (7\n% 4)", {"x": 3}),
    ("!a \\\n  b\nx = 8", {"x": 8}),
    ("  x = 9\n  y = x", {"x": 9, "y": 9}),
    (">>> x = 10", {"x": 10}),
    ("In [5]: x = 11", {"x": 11}),
    ("async def f():\n    return 12\nx = await f()", {"x": 12}),
    ("from IPython import get_ipython\nget_ipython().run_line_magic('env', '')", {}),
)
NOTEBOOKS = {  # at which project it was reported: the cells, and the names that they make
    "xeus-python 359": (["1 + 41", "x = _"], {"x": 42}),
    "ipython-in-depth 7": (["41 + 1", "x = Out[1] + _1"], {"x": 84}),
    "ipython 12530": (["%%timeit -o -n1 -r1\n3", "x = _.loops"], {"x": 1}),
    "scalene 1008": (
        ["from __future__ import annotations", "def f(a: B): ...", "x = 3"],
        {"x": 3},
    ),
    "ipython 14096": (["%autosave 60\nx = 4"], {"x": 4}),
    "course-content-dl 583": (
        ["%load_ext tensorboard\nx = 5", "%tensorboard a"],
        {"x": 5},
    ),
    "otter-grader 604": (["%%package\nx = 6"], {"x": 6}),
    "MXNet-GluonCV 1": (["from google.colab import drive\ndrive.mount('/a')\nx = 7"], {"x": 7}),
    "tqdm 1072": (["from tqdm.notebook import tqdm\nx = sum(tqdm([8]))"], {"x": 8}),
    "ipython 13137": (["def f(x):\n    %time x + 1\n    return x\nx = f(9)"], {"x": 9}),
}
IN_A_PROCESS = """
import json, sys
sys.path.insert(0, sys.argv[1])
from IPython.core.interactiveshell import InteractiveShell
from classroom.sandbox import worker
found, errors, worker.job = [], [], {"torch": True, "alone": False}
worker.send = lambda event: errors.append(event.get("error", ""))
for cells in json.loads(sys.argv[2]):
    space = worker.notebook_space()
    errors.clear()
    worker.run_cells(cells, [], space)
    kinds = {k: v for k, v in space.items() if isinstance(v, int | str | list) and k[0] != "_"}
    kinds.pop("In", None)
    found.append(["".join(errors), kinds])
    for kind in list(InteractiveShell.__subclasses__()):
        kind.clear_instance()
print("NAMES", json.dumps(found))
"""


def test_cells_run_as_in_jupyter(tmp_path):
    """In one process of its own, since IPython's shell is one for each process."""
    notebooks = [([source], names) for source, names in CELLS] + list(NOTEBOOKS.values())
    sources = json.dumps([cells for cells, _ in notebooks])
    command = [sys.executable, "-c", IN_A_PROCESS, str(ROOT), sources]
    run = subprocess.run(command, capture_output=True, text=True, cwd=tmp_path)
    assert run.returncode == 0, run.stderr
    found = json.loads(run.stdout.rpartition("NAMES ")[2])
    assert found == [["", names] for _, names in notebooks]


def test_python_that_is_none_is_left_to_ipython():
    assert worker.compiled("def f(:\n  pass", "cell") is None


@pytest.mark.parametrize(
    ("name", "system", "student"),
    [
        ("ada.ipynb", "", "ada"),
        ("Ada Lovelace_1234_assignsubmission_file_/02_x.ipynb", "moodle", "1234"),
        ("Ada Lovelace_1234_assignsubmission_file/work.zip/02_x.ipynb", "moodle", "1234"),
        ("Ada Lovelace_1234_assignsubmission_file_02_x.ipynb", "moodle", "1234"),
        ("Participant_501_assignsubmission_file/02_x.ipynb", "moodle", "501"),
        ("lovelaceada_LATE_123_4567_02_x.ipynb", "canvas", "123"),
        ("lovelaceada_123_4567_02_x-1.ipynb", "canvas", "123"),
        ("LATE_anon_aB3dE_4567_02_x.ipynb", "canvas", "anon_aB3dE"),
        ("anon_aB3dE_4567_02_x.ipynb", "canvas", "anon_aB3dE"),
        ("submission_77/02_self_attention.ipynb", "", "submission_77"),
        ("sheet_2_3_final.ipynb", "", "sheet_2_3_final"),
        ("ada (1).ipynb", "", "ada"),
        ("Zoë O'Neil.ipynb", "", "Zoë O'Neil"),
    ],
)
def test_students_are_found_in_names_of_files(name, system, student):
    owner = owner_of(name)
    assert (owner.system, owner.id) == (system, student)


def test_class_zip_and_student_zip_name_owners(tmp_path):
    for name, members in {
        "class.zip": ("ada.ipynb", "bob.ipynb"),
        "eve.zip": ("02_x.ipynb", "notes.txt"),
    }.items():
        with zipfile.ZipFile(tmp_path / name, "w") as archive:
            for member in members:
                archive.writestr(member, "{}")
    assert [h.owner.id for h in find(tmp_path) if not h.problem] == ["ada", "bob", "eve"]
    with zipfile.ZipFile(tmp_path / "class.zip", "w") as archive:
        archive.writestr("ada.ipynb", "{}")
    assert [handed.owner.id for handed in find(tmp_path / "class.zip")] == ["ada"]


@linux
def test_names_that_are_no_text_can_be_written(tmp_path):
    folder = tmp_path / "in"
    folder.mkdir()
    Path(os.fsdecode(os.fsencode(folder) + b"/\xff\xfe.ipynb")).write_bytes(
        notebook(["query_context = 1"])
    )
    quick = {"query_context": TASKS["query_context"]}
    assert grade_class(folder, tmp_path / "out", tasks=quick, examiner=fake).failures == 0
    assert "ÿþ" in (tmp_path / "out" / "grades.csv").read_text(encoding="utf-8")


@given(st.text(max_size=10))
def test_no_cell_of_a_table_begins_a_formula(text):
    made = cell(text)
    assert not made.lstrip().startswith(("=", "+", "-", "@"))
    assert not made.startswith("\t")
    file = io.StringIO()
    csv.writer(file).writerow([made])


# ------------------------------------------------------------------ the batch


def fake(cells, tasks, slot):
    """In place of the sandbox: the model answer to every task, without running a cell."""
    found = Answers()
    for prepared in tasks:
        task = prepared.task
        found.outcomes[task.name] = run(task, task.reference, prepared.cases)
    return found


@pytest.mark.grader
def test_five_hundred_submissions_take_bounded_memory(tmp_path, capfd, monkeypatch):
    """100 MB of notebooks, with a runner that starts no process: the batch keeps none of them."""
    monkeypatch.delenv("LAMPLIGHT_QUIET")
    folder = tmp_path / "in"
    folder.mkdir()
    for number in range(500):
        data = notebook(["query_context = [2.0, 1.0]", "#" * 200_000, f"# {number}"])
        (folder / f"student{number:03}.ipynb").write_bytes(data)
    quick = {"query_context": TASKS["query_context"]}
    tracemalloc.start()
    grade_class(folder, tmp_path / "out", Options(jobs=4), tasks=quick, examiner=fake)
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert peak < 5_000_000
    shown = capfd.readouterr().err
    assert "500/500" in shown
    assert "<" in shown  # tqdm: elapsed<remaining
    with open(tmp_path / "out" / "grades.csv", encoding="utf-8-sig") as file:
        assert sum(row["points"] == "4" for row in csv.DictReader(file)) == 500


def test_a_second_run_grades_nothing_again(tmp_path):
    folder = tmp_path / "in"
    folder.mkdir()
    (folder / "ada.ipynb").write_bytes(notebook(["query_context = 1"]))
    quick, calls = {"query_context": TASKS["query_context"]}, []

    def counted(*arguments):
        calls.append(1)
        return fake(*arguments)

    for _ in range(2):
        grade_class(folder, tmp_path / "out", tasks=quick, examiner=counted)
    assert len(calls) == 1
    (folder / "ada.ipynb").write_bytes(notebook(["query_context = 2"]))
    grade_class(folder, tmp_path / "out", tasks=quick, examiner=counted)
    assert len(calls) == 2
    grade_class(folder, tmp_path / "out", Options(seed=12345), tasks=quick, examiner=counted)
    assert len(calls) == 3


def command(*arguments, **more):
    return [sys.executable, "-m", "classroom", *map(str, arguments)]


def class_of(folder, count):
    folder.mkdir()
    for number in range(count):
        answers = {name: ANSWERS[name] for name in ("stable_softmax", "query_context")}
        if number % 2:
            answers["query_context"] = "query_context = [4.0, 2.0]"
        data = notebook(cells_with(answers, after=[f"# {number}"]))
        (folder / f"student{number}.ipynb").write_bytes(data)
    return folder


@linux
@pytest.mark.grader
def test_limit_counts_cpu_time_not_the_clock(tmp_path):
    """With a limit of one second: who sleeps for three keeps all, who computes is stopped."""
    system_program("bwrap")
    folder = tmp_path / "in"
    folder.mkdir()
    answers = {"query_context": "query_context = [2.0, 1.0]"}
    cells = {"sleeps": "time.sleep(3)\nslept = True", "computes": "while True: pass"}
    for name, source in cells.items():
        (folder / f"{name}.ipynb").write_bytes(notebook(cells_with(answers, before=[source])))
    quick = {"query_context": TASKS["query_context"]}
    limits = Limits(cell=1, patience=60)
    grade_class(folder, tmp_path / "out", Options(seed=1), tasks=quick, limits=limits)
    rows = {row["id"]: row for row in tables.read(tmp_path / "out" / "grades.csv")[1]}
    assert {id: row["flags"] for id, row in rows.items()} == {
        "sleeps": "",
        "computes": "stopped for time",
    }
    assert {row["points"] for row in rows.values()} == {"4"}


@linux
@pytest.mark.grader
def test_a_killed_run_goes_on_where_it_was(tmp_path):
    system_program("bwrap")
    folder = class_of(tmp_path / "in", 5)
    options = ("--lecture", 2, "--seed", 3, "--jobs", 2)
    killed, whole = tmp_path / "killed", tmp_path / "whole"
    process = subprocess.Popen(command(folder, "--out", killed, *options), cwd=ROOT)

    def stored():
        try:
            store = Store(killed / "grades.sqlite")
            return store.base.execute("SELECT count(*) FROM submission").fetchone()[0]
        except Exception:
            return 0

    until = time.monotonic() + 120
    while stored() < 2 and time.monotonic() < until:
        time.sleep(0.05)
    process.send_signal(signal.SIGKILL)
    process.wait()
    store = Store(killed / "grades.sqlite")
    assert store.base.execute("PRAGMA integrity_check").fetchone() == ("ok",)
    before = store.base.execute("SELECT key, seconds FROM submission").fetchall()
    assert 2 <= len(before) < 5
    store.close()
    for out in (killed, whole):
        done = subprocess.run(command(folder, "--out", out, *options), cwd=ROOT)
        assert done.returncode == 0
    same = [(out / "grades.csv").read_bytes() for out in (killed, whole)]
    assert same[0] == same[1]
    store = Store(killed / "grades.sqlite")
    assert set(before) <= set(store.base.execute("SELECT key, seconds FROM submission"))


def as_others_see_it():
    """A prefix under which Python lies where all may read it, if it lies in root's own folder."""
    try:
        require_others_may_read()
    except Unavailable:
        home, base = os.path.expanduser("~root"), sys.base_prefix
        if not base.startswith(home):
            pytest.skip("Python lies in a folder that only root may enter")
        view = [system_program("bwrap"), "--dev-bind", "/", "/", "--cap-add", "ALL"]
        view += ["--perms", "0755", "--tmpfs", home]
        for parent in list(Path(base).parents)[::-1]:
            view += ["--perms", "0755", "--dir", str(parent)] if len(str(parent)) > 5 else []
        return [*view, "--ro-bind", base, base]
    return []


@pytest.mark.skipif(sys.platform != "linux" or os.geteuid() != 0, reason="for root")
def test_root_never_runs_students_code_as_root(monkeypatch, tmp_path):
    monkeypatch.setattr("classroom.sandbox.bubblewrap.packages", lambda: [str(tmp_path)])
    tmp_path.chmod(0o700)
    with pytest.raises(Unavailable, match="never run as root"):
        require_others_may_read()


@linux
@pytest.mark.grader
def test_missing_bubblewrap_explains_unsafe(tmp_path):
    folder = class_of(tmp_path / "in", 1)
    env = {**os.environ, "PATH": str(tmp_path)}
    refused = subprocess.run(
        command(folder), cwd=ROOT, env=env, capture_output=True, text=True, timeout=900
    )
    assert refused.returncode == 2
    assert "bubblewrap is not installed" in refused.stdout
    assert "WITHOUT a sandbox" in refused.stdout
    assert not (tmp_path / "in-graded").exists()
    done = subprocess.run(
        [*as_others_see_it(), *command(folder, "--unsafe")],
        cwd=ROOT,
        env=env,
        capture_output=True,
        text=True,
        timeout=900,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    assert "WITHOUT a sandbox" in done.stderr
    with open(tmp_path / "in-graded" / "grades.csv", encoding="utf-8-sig") as file:
        [row] = csv.DictReader(file)
    assert (row["status"], row["stable_softmax"], row["query_context"]) == ("ok", "10", "4")


@pytest.fixture(scope="module")
def container(tmp_path_factory):
    """What Gradescope holds: the zip unpacked, a submission, a folder for the results."""
    system_program("bwrap")
    top = tmp_path_factory.mktemp("container") / "autograder"
    autograder.make(top.parent / "autograder.zip", 2, 20417)
    for name in ("source", "submission", "results"):
        (top / name).mkdir(parents=True)
    with zipfile.ZipFile(top.parent / "autograder.zip") as archive:
        names = set(archive.namelist())
        archive.extractall(top / "source")
    assert {"setup.sh", "run_autograder", "gradescope/settings.sh", "requirements.txt"} <= names
    return top


OTHER = sheets()[5].items[0].task


def in_container(top, *, settings="LECTURE=2\nSEED=20417\n", python=sys.executable, **files):
    """Run the script that Gradescope starts: its exit status, and the results if there are any."""
    shutil.rmtree(top / "submission")
    (top / "submission").mkdir()
    for name, data in files.items():
        (top / "submission" / f"{name}.ipynb").write_bytes(data)
    (top / "source" / "gradescope" / "settings.sh").write_text(settings)
    env = {**os.environ, "AUTOGRADER": str(top), "LAMPLIGHT_PYTHON": str(python)}
    script = ["bash", str(top / "source" / "run_autograder")]
    done = subprocess.run(script, env=env, timeout=900, capture_output=True, text=True)
    results = top / "results" / "results.json"
    return done, json.loads(results.read_text()) if results.exists() else None


@linux
@pytest.mark.grader
def test_gradescope_runs_the_same_grader(container):
    answers = {name: ANSWERS[name] for name in ("stable_softmax", "query_context")}
    answers["query_context"] = "query_context = [4.0, 2.0]"
    done, results = in_container(container, any_name=notebook(cells_with(answers)))
    assert done.returncode == 0, done.stderr
    assert "The sandbox is bubblewrap." in done.stdout
    tests = {test["extra_data"]["task"]: test for test in results["tests"]}
    scores = {name: (test["score"], test["max_score"]) for name, test in tests.items()}
    assert scores["stable_softmax"] == (10, 10)
    assert scores["query_context"] == (0, 4)
    assert "This is the sum of the first two vectors." in tests["query_context"]["output"]


@linux
@pytest.mark.parametrize(
    ("files", "said"),
    [
        ({}, "submitted nothing"),
        ({"sheet": notebook([f"check('{OTHER}')"])}, "It is sheet 5. Hand in sheet 2"),
        ({"sheet": b"<<<<<<< HEAD\n"}, "marks of an unfinished merge"),
    ],
)
@pytest.mark.grader
def test_gradescope_explains_an_unusable_file(container, files, said):
    done, results = in_container(container, **files)
    assert done.returncode == 0, done.stderr
    assert results["score"] == 0 and said in results["output"]


@linux
@pytest.mark.parametrize(
    "fault",
    [{"settings": "LECTURE=2\n"}, {"settings": "LECTURE=77\nSEED=1\n"}, {"python": "/bin/false"}],
    ids=["no seed", "no such lecture", "python does not work"],
)
@pytest.mark.grader
def test_gradescope_gives_no_points_on_a_grader_error(container, fault):
    """No points is not 0 points: there is no result at all."""
    done, results = in_container(container, **fault, sheet=notebook(cells_with()))
    assert (done.returncode, results) == (1, None)
    assert "The autograder failed, no points were given" in done.stderr


def test_sandbox_has_the_workers_modules_and_no_tasks():
    wanted, found = ["classroom/sandbox/worker.py"], set()
    for name in wanted:
        found.add(name)
        for node in ast.walk(ast.parse((ROOT / name).read_text(encoding="utf-8"))):
            module = node.module or "" if isinstance(node, ast.ImportFrom) else ""
            if module.split(".")[0] in ("grading", "classroom"):
                package = (ROOT / module.replace(".", "/")).is_dir()
                several = [f"{module}.{a.name}" for a in node.names] if package else [module]
                wanted += [name.replace(".", "/") + ".py" for name in several]
        wanted[:] = [name for name in wanted if not name.startswith("grading/tasks")]
        if len(found) > 50:
            raise AssertionError("an import runs in a circle")
    inits = {f"{name}/__init__.py" for name in ("classroom", "classroom/sandbox", "grading/runner")}
    assert {*SENT} == found | inits


def masked(options):
    """The folders over which an empty one is laid."""
    return [options[i + 1] for i, word in enumerate(options) if options[i - 1] == "4096"]


@linux
def test_tasks_are_hidden_in_visible_folders(monkeypatch, tmp_path):
    """As after `pip install .`, or with the course's folder somewhere below /usr."""
    monkeypatch.setattr("classroom.sandbox.bubblewrap.packages", lambda: [str(tmp_path)])
    assert masked(bwrap_arguments(tmp_path, Limits())) == []
    (tmp_path / "grading").mkdir()
    assert masked(bwrap_arguments(tmp_path, Limits())) == [str(tmp_path / "grading")]
    monkeypatch.setattr("classroom.sandbox.bubblewrap.ROOT", Path("/usr/share/lamplight"))
    assert "/usr/share/lamplight" in masked(bwrap_arguments(tmp_path, Limits()))


@linux
def test_a_sandbox_that_does_not_work_is_said(monkeypatch, tmp_path):
    broken = tmp_path / "bwrap"
    broken.write_text("#!/bin/sh\necho no namespaces for you >&2\nexit 1\n")
    broken.chmod(0o755)
    monkeypatch.setenv("PATH", f"{tmp_path}:/usr/bin:/bin")
    with pytest.raises(Unavailable, match="no namespaces for you"):
        bubblewrap()


def test_the_number_of_points_is_what_tests_believe():
    assert sum(TASKS[name].points for name in SHEET) == FULL + TASKS["essay"].points


def test_graders_page_matches_stored_benchmark():
    results = json.loads(
        (ROOT / "classroom" / "benchmark" / "graders.json").read_text(encoding="utf-8")
    )
    text = (ROOT / "classroom" / "benchmark" / "graders.md").read_text(encoding="utf-8")
    assert text == graders.tables(results)
    each = graders.seconds_each(results)
    for form in graders.FORMS:
        assert each[form, graders.OURS][1] >= 50
        assert each[form, graders.NBGRADER][1] >= 50
        for tool in (graders.OURS, graders.OURS_ALONE):
            assert each[form, tool][1] == each[form, tool][3], "a score that is not right"
    for form, times in (("NumPy", 5), ("torch", 3)):
        assert times * each[form, graders.OURS][0] <= each[form, graders.NBGRADER][0]
    for kind, row in results["hostile"].items():
        assert row[graders.OURS]["score"] == row["fair"], kind
        assert row[graders.OURS]["classmate"] == 10, kind
    assert set(results["hostile"]) == set(graders.HOSTILE)
