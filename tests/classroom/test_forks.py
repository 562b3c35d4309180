"""Workers from a fork server: the walls of a new Python, and nothing that two of them share."""

import contextlib
import os
import signal
import subprocess
import sys
import threading
import time
import types
from pathlib import Path

import pytest

from classroom import execute
from classroom.execute import case_seed
from classroom.sandbox import fork_server, forks, supervisor, worker
from classroom.sandbox.bubblewrap import CourseFiles, bubblewrap
from classroom.sandbox.examiner import Examiner, Prepared
from classroom.sandbox.forks import ForkServer
from classroom.sandbox.limits import Limits
from tests.conftest import ROOT, system_program
from tests.grading.sample_tasks import TASKS

pytestmark = [
    pytest.mark.grader,
    pytest.mark.skipif(sys.platform != "linux", reason="the sandbox is one of Linux"),
]
SAME = ("Uid", "Gid", "Groups", "NoNewPrivs", "Seccomp", "Umask", "SigBlk", "SigIgn", "Threads")
CAPABILITIES = ("CapInh", "CapPrm", "CapEff", "CapBnd", "CapAmb")
LEAVE = """
import os, socket, subprocess, time, torch, numpy
for folder in ("/tmp", "/dev/shm", os.environ["HOME"]):
    open(folder + "/left", "w").close()
open_socket = socket.socket(socket.AF_UNIX); open_socket.bind(chr(0) + "left"); open_socket.listen()
port = socket.socket(); port.bind(("127.0.0.1", 40404)); port.listen()
torch.left = numpy.left = os.left = True
os.environ["LEFT"] = "yes"
subprocess.Popen(["sleep", "50"])
time.sleep(50)
"""
FIND = """
import os, socket, sys, torch, numpy
found = [f for f in ("/tmp", "/dev/shm", os.environ["HOME"]) if os.path.exists(f + "/left")]
for family, place in ((socket.AF_UNIX, chr(0) + "left"), (socket.AF_INET, ("127.0.0.1", 40404))):
    try:
        socket.socket(family).connect(place)
        found.append(place)
    except OSError:
        pass
found += sys.argv[1:]
found += [module for module in (torch, numpy, os) if hasattr(module, "left")]
found += [n for n in os.listdir("/proc") if n.isdigit() and n not in ("1", str(os.getpid()))]
found += [] if os.environ["PWD"] == os.getcwd() else ["PWD"]
found += [path for path in sys.path if sys.path.count(path) > 1]
found += [os.environ["LEFT"]] if "LEFT" in os.environ else []
for number in range(2, 40):  # whoever may be there
    if number != os.getpid():
        try:
            os.kill(number, 9)
            found.append(number)
        except ProcessLookupError:
            pass
assert not found, found
"""


@pytest.fixture(scope="module")
def sandbox():
    system_program("bwrap")
    with CourseFiles() as course, ForkServer(True) as server:
        yield course, bubblewrap(), server


@pytest.fixture(scope="module")
def numpy_sandbox(sandbox):
    with ForkServer(False) as server:
        yield *sandbox[:2], server


def job(*cells, torch=True):
    return {"cells": cells, "skip": [], "tasks": [], "torch": torch, "torch_seed": 0}


@contextlib.contextmanager
def at_work(sandbox, forked, slot=0, cell="import time; time.sleep(50)", torch=True):
    """The folder in /proc of a worker that runs a cell."""
    course, program, server = sandbox
    asked = job(cell, torch=torch), Limits(), slot, course, program, server if forked else None
    with supervisor.Worker(*asked) as worker:
        said = b""
        while b'"cell"' not in said:
            said += os.read(worker.channel, 1000) or pytest.fail("the worker ended")
        yield list(worker._processes())[1 if forked else 2]


def namespaces(process):
    return {path.name: os.readlink(path) for path in (process / "ns").iterdir()}


def seen(process):
    """What surrounds a process: its rights, files, mounts, limits and environment."""
    lines = (process / "status").read_text().splitlines()
    status = dict(line.split(":\t", 1) for line in lines if ":\t" in line)
    files = sorted(os.readlink(path).split(":")[0] for path in (process / "fd").iterdir())
    mounts = [line.split()[4:6] for line in (process / "mountinfo").read_text().splitlines()]
    environment = (process / "environ").read_text().split("\0")
    ours = namespaces(Path("/proc/self"))
    return {
        **{name: status[name] for name in SAME},
        "capabilities": [int(status[name], 16) for name in CAPABILITIES],
        "files": files,
        "mounts": mounts,
        "limits": (process / "limits").read_text(),
        "environment": sorted(set(environment) - {"", "PWD=/sandbox/home"}),
        "root": sorted(os.listdir(process / "root")),
        "place": os.readlink(process / "cwd"),
        "apart": {name for name, space in namespaces(process).items() if space != ours[name]},
        "leaders outside": [n for n in ("NSsid", "NSpgid") if status[n].split()[-1] == "0"],
    }


def test_both_sides_mean_the_same_open_file():
    """The server is a program of its own and imports nothing of the grader."""
    assert fork_server.CHANNEL == forks.CHANNEL


@pytest.mark.parametrize("torch", [False, True])
def test_forked_worker_has_the_walls_of_a_new_one(request, monkeypatch, torch):
    monkeypatch.setattr(supervisor, "_processes_of_user", lambda: 60)  # their limit follows it
    sandbox = request.getfixturevalue("sandbox" if torch else "numpy_sandbox")
    with at_work(sandbox, False, torch=torch) as process:
        new = seen(process)
    with at_work(sandbox, True, torch=torch) as process:
        forked = seen(process)
    before, now = new.pop("capabilities"), forked.pop("capabilities")
    assert all(mine & ~theirs == 0 for mine, theirs in zip(now, before, strict=True))
    assert forked == new
    assert {"cgroup", "ipc", "mnt", "net", "pid", "uts"} <= forked["apart"]
    assert not forked["leaders outside"]
    assert not any(now[:3]) and not now[4]
    assert now[3] & ~(0b11000000 if os.geteuid() == 0 else 0) == 0  # at most to become another user


def test_forked_worker_runs_no_file_of_the_teacher(sandbox):
    """It could change its rights, past the sandbox's read-only folders."""
    with at_work(sandbox, True) as process:
        assert not (process / "exe").samefile(sys.executable)
        assert os.geteuid() == 0 or (process / "exe").owner() == "root"


def test_loader_of_the_teacher_is_not_used(monkeypatch):
    assert Path(forks.loader()).exists()
    monkeypatch.setattr(os, "geteuid", lambda: 1000)
    monkeypatch.setattr(os, "stat", lambda path: types.SimpleNamespace(st_uid=1000))
    with pytest.raises(OSError, match="no loader"):
        forks.loader()


def test_worker_does_not_count_what_holds_the_sandbox(monkeypatch):
    """Else it would wait for five seconds before each task, where the user of all is the same."""
    processes, killed = ["1", str(os.getpid()), "self"], []

    def kill(number, which):
        killed.append((number, which))
        processes.remove("77")

    monkeypatch.setattr(worker, "job", {"alone": True}, raising=False)
    monkeypatch.setattr(worker, "owner", lambda number: os.getuid())
    monkeypatch.setattr(os, "listdir", lambda folder: list(processes))
    monkeypatch.setattr(os, "kill", kill)
    monkeypatch.setattr(os, "waitpid", lambda number, how: (0, 0))
    worker.sweep()
    assert killed == []
    processes.append("77")
    worker.sweep(most=1)
    assert killed == []
    worker.sweep()
    assert killed == [(-1, signal.SIGKILL)]


def test_capabilities_are_given_up():
    kept = 0b11000000 if os.geteuid() == 0 else 0
    source = (
        "from classroom.sandbox import fork_server as f; f.give_up_capabilities(int(input())); "
    )
    command = [sys.executable, "-c", source + "print(open('/proc/self/status').read())"]
    told = subprocess.check_output(command, input=str(kept), cwd=ROOT, text=True)
    status = dict(line.split(":\t", 1) for line in told.splitlines() if ":\t" in line)
    assert [int(status[name], 16) for name in CAPABILITIES[:3]] == [0, kept, kept]
    assert status["NoNewPrivs"] == "1"


def test_end_of_a_forked_worker_is_told(sandbox):
    """Also where a process that it leaves keeps its open files."""
    course, program, server = sandbox
    orphan = "import os\nif os.fork() == 0:\n    os._exit(0 if os.fork() else 7)\n"
    orphan += "assert {os.WEXITSTATUS(os.wait()[1]) for _ in range(2)} == {0, 7}"
    end = "import os, time\nif os.fork():\n    os._exit(3)\ntime.sleep(100)"
    with at_work(sandbox, True):
        pass  # now the server runs
    ours, theirs = (Path("/proc", str(pid), "fd") for pid in (os.getpid(), server.popen.pid))
    before = [len(os.listdir(folder)) for folder in (ours, theirs)]
    asked = ({}, Limits(), 0, course, program, 100, time.monotonic() + 30, threading.Event())
    report = supervisor.listen(job(orphan, end), *asked, server)
    assert (report.cell_errors, report.why, report.code) == ({}, "died", 3)
    assert [len(os.listdir(folder)) for folder in (ours, theirs)] == before


def test_forked_worker_ends_with_the_server(sandbox):
    with ForkServer(True) as server, at_work((*sandbox[:2], server), True) as process:
        assert os.getsid(server.popen.pid) == server.popen.pid
        server.popen.kill()
        until = time.monotonic() + 20
        while process.exists() and time.monotonic() < until:
            time.sleep(0.02)
        assert not process.exists()


def test_two_forked_workers_share_no_namespace(sandbox):
    with at_work(sandbox, True) as one, at_work(sandbox, True, 1) as other:
        both = set(namespaces(one).items()) & set(namespaces(other).items())
        whole_machine = {"time", "time_for_children", *(["user"] if os.geteuid() == 0 else [])}
        assert {name for name, _ in both} <= whole_machine


def test_nothing_of_a_submission_reaches_the_next(sandbox):
    """Neither while it runs nor afterwards."""
    course, program, server = sandbox
    stop, deadline = threading.Event(), time.monotonic() + 200

    def found():
        asked = ({}, Limits(), 1, course, program, 100, deadline, stop, server)
        report = supervisor.listen(job(FIND), *asked)
        assert report.ended
        return report.cell_errors

    with at_work(sandbox, True, cell=LEAVE) as process:
        children, until = process / "task" / process.name / "children", time.monotonic() + 60
        while not children.read_text() and time.monotonic() < until:
            time.sleep(0.05)
        assert (process / "root/tmp/left").exists()
        assert found() == {}
    assert not process.exists()
    assert found() == {}


@pytest.mark.parametrize("ended", [False, True])
def test_server_that_ended_is_done_without(sandbox, numpy_sandbox, ended):
    """Whichever of the two ends; then neither is asked."""
    course, program, with_torch = sandbox
    servers = {False: numpy_sandbox[2], True: with_torch}
    prepared = [Prepared.of(TASKS["query_context"], case_seed(1, "query_context"), Limits())]
    with ForkServer(ended) as servers[ended]:
        examiner = Examiner(Limits(), course, program, servers=servers)
        for alive in (True, False):
            for torch in (ended, not ended):
                cell = "import torch\n" * torch + "query_context = [2.0, 1.0]"
                answers = examiner([cell], prepared, 0)
                assert answers.outcomes["query_context"][0].value == [2.0, 1.0]
                assert answers.flags == set()
                assert bool(examiner.servers) == alive
                assert servers[ended].popen  # the first of the two was its own
            servers[ended].popen.kill()
            servers[ended].popen.wait()


def test_each_server_has_what_it_is_asked_for(monkeypatch):
    found = {}
    monkeypatch.setattr(execute, "_answered", lambda *asked: found.update(asked[2].servers) or ())
    options = types.SimpleNamespace(torch_seed=0, jobs=1)
    run = types.SimpleNamespace(store=None, options=options)
    execute.execute(run, [], Limits(), "bwrap")
    libraries = {torch: server.libraries for torch, server in found.items()}
    assert libraries == {False: "numpy", True: "torch"}


def test_numpy_worker_that_asks_for_torch_begins_again(sandbox):
    """It has no torch, and then a worker of the other server has it from the start."""
    course, program, server = sandbox
    cell = "torch = __import__('to' + 'rch')\nseen = torch.ones(2).tolist()"
    asked = ({}, Limits(), 0, course, program, 100, time.monotonic() + 60, threading.Event())
    with ForkServer(False) as numpy_server:
        first = supervisor.listen(job(cell, torch=False), *asked, numpy_server)
        again = supervisor.listen(job(cell), *asked, server)
        assert numpy_server.popen.poll() is None
    assert (first.why, first.answers) == ("torch", {})
    assert (again.ended, again.cell_errors) == (True, {})


def test_numpy_server_has_not_imported_torch():
    with ForkServer(False) as server:
        server._start()
        maps = Path("/proc", str(server.popen.pid), "maps")
        until = time.monotonic() + 60
        while "numpy/random" not in maps.read_text() and time.monotonic() < until:
            time.sleep(0.02)
        assert "numpy/random" in maps.read_text()
        assert "torch" not in maps.read_text()
