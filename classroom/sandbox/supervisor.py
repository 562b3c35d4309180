"""One run of the worker inside a bubblewrap sandbox, watched from outside.

The sandbox has its own process, network, IPC and host-name spaces, sees the Python installation,
the installed packages and the course's helpers read-only, and can write into memory-backed folders
of limited size only. Time and memory are watched here, where the student's code cannot reach.
"""

from __future__ import annotations

import compileall
import contextlib
import json
import math
import os
import selectors
import shutil
import signal
import subprocess
import sys
import sysconfig
import tempfile
import threading
import time
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
SENT = ("grading/task.py", "classroom/__init__.py", "classroom/sandbox/__init__.py")
SENT += tuple(f"classroom/sandbox/{name}.py" for name in ("serialize", "worker", "ipython_cells"))
SENT += tuple(f"grading/runner/{path.name}" for path in (ROOT / "grading/runner").glob("*.py"))
"""The files of `grading` and `classroom` in the sandbox: none of them knows an answer."""
STUB = Path(__file__).with_name("grading_stub.py")
TICK = 0.05
PIECE = 1 << 20
HOME, INSIDE = "/sandbox/home", "/sandbox/course"
try:
    import fcntl
except ImportError:  # Windows, where only the tests of the parts run
    fcntl = None
PAGE = os.sysconf("SC_PAGE_SIZE") if hasattr(os, "sysconf") else 4096
HERTZ = os.sysconf("SC_CLK_TCK") if hasattr(os, "sysconf") else 100


@dataclass(frozen=True)
class Limits:
    """What one submission may use. Sizes in bytes; times in seconds that it computes.

    What its processes compute does not depend on what else the machine does. The clock ends only
    what sleeps or waits: after `patience` times as long, and all of it after `clock`.
    """

    start: float = 300.0
    cell: float = 60.0
    task: float = 20.0
    train: float = 120.0
    total: float = 900.0
    patience: float = 10.0
    clock: float = 3600.0
    starts: int = 12
    memory: int = 2 << 30
    address_space: int = 4 << 30
    processes: int = 64
    disk: int = 64 << 20
    printed: int = 10 << 20
    message: int = 12 << 20
    answers: int = 64 << 20


class Unavailable(RuntimeError):
    """The sandbox cannot be used here; the text says why and what to do."""


@dataclass
class WorkerReport:
    """What was heard from one worker."""

    ready: bool = False
    ended: bool = False
    why: str = ""
    """Why it stopped early: a key of `execute.WHY`, "torch" if it needs that, or nothing."""
    code: int = 0
    at_cell: int | None = None
    at_task: str | None = None
    cell_errors: dict[int, str] = field(default_factory=dict)
    answers: dict[str, dict] = field(default_factory=dict)
    forged: set[str] = field(default_factory=set)
    """Tasks with an answer that came unasked, twice or garbled."""
    garbled: int = 0
    computed: float = 0.0
    """Seconds that its processes computed, starting not counted."""
    said: str = ""
    """What was printed before the student's code ran, in case that does not happen."""

    def forge(self, name: str | None = None) -> None:
        """Note an answer that cannot be one; without a name, it counts against what runs now."""
        name = name or self.at_task
        if name:
            self.forged.add(name)
        self.garbled += 1


def bubblewrap() -> str:
    """The path of a bubblewrap that works here.

    Raises:
        Unavailable: if there is none.
    """
    program = shutil.which("bwrap")
    if program is None:
        raise Unavailable(
            "bubblewrap is not installed. Install it: sudo apt-get install bubblewrap"
        )
    with CourseFiles() as course:
        arguments = [program, *_options(course.folder, Limits()), "true"]
        try:
            tried = subprocess.run(arguments, capture_output=True, text=True, timeout=60)
        except subprocess.TimeoutExpired:
            raise Unavailable("bubblewrap is installed, but does not start here.") from None
    if tried.returncode:
        raise Unavailable(
            f"bubblewrap is installed, but this system does not let it work: {tried.stderr.strip()}"
        )
    return program


def require_others_may_read() -> None:
    """Root may run students' code without a sandbox only as somebody else.

    Raises:
        Unavailable: if another user could not run Python here.
    """
    if os.geteuid():
        return
    for place in (_python(), sys.base_prefix, *_packages()):
        for path in (Path(place), *Path(place).parents):
            if not path.stat().st_mode & 0o001:
                raise Unavailable(
                    f"{path} is closed to all but root, and Python lies in it. Students' code is "
                    "never run as root: start the grader as another user, or install Python "
                    "where all may read it."
                )


class CourseFiles:
    """The files of the course that the worker may see, in a folder of their own.

    `grading` in there holds no task: its `__init__` is `grading_stub.py`.
    """

    def __enter__(self) -> CourseFiles:
        self.folder = Path(tempfile.mkdtemp(prefix="lamplight-grader-"))
        self.folder.chmod(0o755)
        (self.folder / "work").mkdir(mode=0o755)
        target = self.folder / "course"
        ignored = shutil.ignore_patterns("__pycache__")
        shutil.copytree(ROOT / "helpers", target / "helpers", ignore=ignored)
        for name in SENT:
            (target / name).parent.mkdir(parents=True, exist_ok=True)
            shutil.copy(ROOT / name, target / name)
        for name in ("__init__.py", "check.py"):
            shutil.copy(STUB, target / "grading" / name)
        compileall.compile_dir(target, quiet=2)  # once here, and not in every sandbox
        for path in [target, *target.rglob("*")]:
            path.chmod(0o755 if path.is_dir() else 0o644)
        return self

    def __exit__(self, *_: object) -> None:
        shutil.rmtree(self.folder, ignore_errors=True)


def _packages() -> list[str]:
    """The folders with installed packages, in the order of `sys.path`."""
    own = {sysconfig.get_path("purelib"), sysconfig.get_path("platlib")}
    return [
        path
        for path in dict.fromkeys(sys.path)
        if path and Path(path).is_dir() and (path in own or Path(path).name.endswith("-packages"))
    ]


def _python() -> str:
    return os.path.realpath(sys.executable)


def _environment() -> dict[str, str]:
    threads = {f"{name}_NUM_THREADS": "1" for name in ("OMP", "MKL", "OPENBLAS")}
    return {
        "PATH": "/usr/bin:/bin",
        "HOME": HOME,
        "USER": "student",
        "LOGNAME": "student",
        "TMPDIR": "/tmp",
        "LANG": "C.UTF-8",
        "MPLBACKEND": "agg",
        "LAMPLIGHT_QUIET": "1",
        "PYTHONHASHSEED": "0",
        "PYTHONDONTWRITEBYTECODE": "1",
        **threads,
    }


def _options(folder: Path, limits: Limits) -> list[str]:
    """What bubblewrap is told: namespaces, mounts, environment."""
    size = str(limits.disk)
    options = ["--unshare-pid", "--unshare-net", "--unshare-ipc", "--unshare-uts"]
    options += ["--unshare-cgroup-try", "--die-with-parent", "--new-session", "--clearenv"]
    if os.geteuid() == 0:
        # Root needs no user namespace, and Python may lie where only root may enter. The worker
        # uses the two rights that are left to become somebody else, which takes them from it.
        options += ["--cap-drop", "ALL", "--cap-add", "CAP_SETUID", "--cap-add", "CAP_SETGID"]
    else:
        options += ["--unshare-user"]
    options += ["--proc", "/proc", "--dev", "/dev"]
    for path in ("/dev/shm", "/tmp", HOME):  # first: what is bound may lie below one of them
        options += ["--perms", "1777", "--size", size, "--tmpfs", path]
    for path in ("/lib", "/lib32", "/lib64", "/libx32", "/bin", "/sbin"):
        options += ["--ro-bind-try", path, path]
    for path in ("/etc/ld.so.cache", "/etc/alternatives", "/etc/fonts"):
        options += ["--ro-bind-try", path, path]
    empty = ["--perms", "0555", "--size", "4096", "--tmpfs"]
    system, packages = dict.fromkeys(["/usr", sys.base_prefix]), _packages()
    for path in (*system, *packages):
        for parent in list(Path(path).parents)[-2::-1]:  # else only root could enter them
            options += ["--perms", "0755", "--dir", str(parent)]
        options += ["--ro-bind-try", path, path]
        if ROOT.is_relative_to(path) or (path in packages and Path(path, "grading").is_dir()):
            # The tasks with their answers, where the course lies in a folder that is shown.
            options += [*empty, str(ROOT if ROOT.is_relative_to(path) else Path(path, "grading"))]
    options += ["--ro-bind", str(folder / "course"), INSIDE]
    options += ["--remount-ro", "/dev", "--remount-ro", "/", "--chdir", HOME]
    options += ["--hostname", "sandbox"]
    for name, value in _environment().items():
        options += ["--setenv", name, value]
    return options


def listen(
    job: dict,
    seconds: dict[str, float],
    limits: Limits,
    slot: int,
    course: CourseFiles,
    program: str | None,
    left: float,
    deadline: float,
    stop: threading.Event,
) -> WorkerReport:
    """Run the worker on a job until it ends or has to be stopped; nothing of it is left running.

    Args:
        job: cells, skip, tasks, torch and torch_seed, as the worker wants them.
        seconds: how long each task may take.
        slot: tells submissions that run at the same time apart.
        program: bubblewrap; None runs the worker without a sandbox.
        left: how many seconds all of it may still compute.
        deadline: on the clock of `time.monotonic`, for all of it.
        stop: when set, the run ends.
    """
    with _Worker(job, limits, slot, course, program) as worker:
        return worker.follow(seconds, left, deadline, stop)


def _uid(slot: int) -> int:
    """A user without rights, not the same for two graders that run at the same time."""
    return 40_000 + (os.getpid() * 16 + slot) % 20_000


def _processes_of_user() -> int:
    """How many processes and threads this user has: on older systems they count too."""
    count = 0
    for path in Path("/proc").glob("[0-9]*"):
        with contextlib.suppress(OSError):
            if path.stat().st_uid == os.getuid():
                count += len(os.listdir(path / "task"))
    return count


class _Worker:
    """A worker that was started, and what comes out of it."""

    def __init__(
        self, job: dict, limits: Limits, slot: int, course: CourseFiles, program: str | None
    ):
        self.limits, self.course, self.program = limits, course, program
        self.uid = _uid(slot) if os.geteuid() == 0 else None
        self.cells = len(job["cells"])
        self.tasks = [task["name"] for task in job["tasks"]]
        caps = {"AS": limits.address_space, "FSIZE": limits.disk, "CORE": 0, "NOFILE": 256}
        caps["NPROC"] = limits.processes + (0 if self.uid else _processes_of_user())
        alone = bool(program or self.uid)
        self.job = {**job, "alone": alone, "uid": self.uid, "limits": caps, "packages": _packages()}
        self.heard = WorkerReport()
        self.computed = 0.0
        self.memory = 0

    def __enter__(self) -> _Worker:
        self.channel, channel = os.pipe()
        self.printed, printed = os.pipe()
        info_out, info = os.pipe()
        place = Path(INSIDE) if self.program else self.course.folder / "course"
        command = [_python(), "-I", "-S", str(place / "classroom" / "sandbox" / "worker.py")]
        self.own = None
        if self.program:
            options = _options(self.course.folder, self.limits)
            command = [self.program, *options, "--info-fd", str(info), *command]
            where: dict = {}
        else:
            self.own = tempfile.mkdtemp(dir=self.course.folder / "work")
            if self.uid:
                os.chown(self.own, self.uid, self.uid)
            home = {"HOME": self.own, "TMPDIR": self.own}
            where = {"cwd": self.own, "env": {**_environment(), **home}}
        with tempfile.TemporaryFile() as source:
            source.write(json.dumps({**self.job, "channel": channel}).encode())
            source.seek(0)
            self.popen = subprocess.Popen(
                command,
                stdin=source,
                stdout=printed,
                stderr=printed,
                pass_fds=(channel, info),
                start_new_session=True,
                **where,
            )
        for end in (channel, printed, info):
            os.close(end)
        self.first = self.popen.pid  # the process whose end is the end of all others
        with open(info_out, "rb") as told, contextlib.suppress(ValueError, KeyError):
            self.first = json.loads(told.read())["child-pid"] if self.program else self.first
        return self

    def __exit__(self, *_: object) -> None:
        """End every process, and wait until they are gone."""
        watched = None
        with contextlib.suppress(OSError, AttributeError):  # gone already, or no Linux
            watched = os.pidfd_open(self.first)
        with contextlib.suppress(OSError):
            os.kill(self.first, signal.SIGKILL) if self.program else os.killpg(
                self.first, signal.SIGKILL
            )
        self.popen.kill()
        self.popen.wait()
        if watched is not None:
            with selectors.DefaultSelector() as selector:
                selector.register(watched, selectors.EVENT_READ)
                selector.select(10)
            os.close(watched)
        if self.own:
            self._end_stragglers()
            shutil.rmtree(self.own, ignore_errors=True)
        os.close(self.channel)
        os.close(self.printed)

    def _end_stragglers(self) -> None:
        """Without a sandbox, processes may have left their group; as root their user tells them."""
        for path in Path("/proc").glob("[0-9]*") if self.uid else ():
            with contextlib.suppress(OSError):
                if path.stat().st_uid == self.uid:
                    os.kill(int(path.name), signal.SIGKILL)

    def follow(
        self, seconds: dict[str, float], left: float, deadline: float, stop: threading.Event
    ) -> WorkerReport:
        """Read what comes, and stop the worker when it exceeds a limit."""
        heard, limits = self.heard, self.limits
        self.seconds = seconds
        self.started = 0.0
        self._allow(math.inf, limits.start)
        line, printed, answered, sampled = bytearray(), 0, 0, 0.0
        with selectors.DefaultSelector() as selector:
            for pipe in (self.channel, self.printed):
                os.set_blocking(pipe, False)
                with contextlib.suppress(OSError, AttributeError):  # Linux: fewer, larger pieces
                    fcntl.fcntl(pipe, fcntl.F_SETPIPE_SZ, PIECE)
                selector.register(pipe, selectors.EVENT_READ)
            while not heard.ended and not heard.why:
                gone = self.popen.poll() is not None
                ready = [key.fd for key, _ in selector.select(TICK)]
                now = time.monotonic()
                if self.printed in ready:
                    piece = os.read(self.printed, PIECE)
                    printed += len(piece)
                    if not heard.ready:
                        heard.said = (heard.said + piece.decode(errors="replace"))[-300:]
                    if not piece:
                        selector.unregister(self.printed)
                if self.channel in ready:
                    piece = os.read(self.channel, PIECE)
                    answered += len(piece)
                    line += piece
                    line = self._lines(line)
                    if not piece:
                        heard.why = "died"
                elif gone:
                    heard.why = "died"
                if heard.ended or heard.why:
                    continue
                if now - sampled > TICK:
                    sampled = now
                    self._sample()
                    if self.memory > limits.memory < self._memory():
                        heard.why = "memory"
                if printed > limits.printed:
                    heard.why = "printed"
                elif len(line) > limits.message or answered > limits.answers or heard.garbled > 99:
                    heard.why = "answers"
                elif now > deadline or heard.computed > left:
                    heard.why = "total"
                elif self.computed > self.most:
                    heard.why = "time"
                elif now > self.until:
                    heard.why = "wait"
                elif stop.is_set():
                    heard.why = "interrupted"
        self._rest(line)
        if heard.why == "died":
            with contextlib.suppress(subprocess.TimeoutExpired):
                heard.code = self.popen.wait(5)
        return heard

    def _allow(self, most: float, clock: float) -> None:
        """From now on: so many seconds of computing, and so many on the clock."""
        self.most, self.until = self.computed + most, time.monotonic() + clock

    def _lines(self, line: bytearray) -> bytearray:
        """Take the whole lines; returns what comes after the last one."""
        *whole, rest = line.split(b"\n")
        for text in whole:
            self._event(bytes(text))
        return rest

    def _rest(self, line: bytearray) -> None:
        """Take what was written before the end, whenever this program came to read it."""
        with contextlib.suppress(OSError):
            while len(line) <= self.limits.message and (piece := os.read(self.channel, PIECE)):
                line = self._lines(line + piece)

    def _event(self, text: bytes) -> None:
        """Take one message; only the one that has to come next is believed."""
        heard = self.heard
        try:
            event = json.loads(text)
        except (ValueError, RecursionError):
            return heard.forge()
        if type(event) is not dict:
            return heard.forge()
        cell, task, state = event.get("cell"), event.get("task"), event.get("state")
        idle = heard.ready and heard.at_cell is None and heard.at_task is None
        if type(task) is str and task in self.tasks:
            if idle and state == "start" and task == self._next_task():
                heard.at_task = task
                self._sample()
                self._allow(self.seconds[task], self.limits.patience * self.seconds[task])
            elif heard.at_task == task and state is None and task not in heard.answers:
                heard.answers[task], heard.at_task = event, None
            else:
                heard.forge(task)
        elif type(cell) is int and state == "start" and idle and 0 <= cell < self.cells:
            heard.at_cell = cell
            self._sample()
            self._allow(self.limits.cell, self.limits.patience * self.limits.cell)
        elif type(cell) is int and state == "done" and cell == heard.at_cell:
            heard.at_cell = None
            if error := event.get("error"):
                heard.cell_errors[cell] = str(error)[:500]
        elif state == "torch" and heard.ready and not self.job["torch"]:
            heard.why = "torch"
        elif state == "ready" and not heard.ready:
            heard.ready = True
            self._sample()
            self.started = self.computed
            self._allow(self.limits.cell, self.limits.patience * self.limits.cell)
        elif state == "end" and idle and self._next_task() is None:
            heard.ended = True
        else:
            heard.forge()

    def _next_task(self) -> str | None:
        return next((task for task in self.tasks if task not in self.heard.answers), None)

    def _processes(self) -> Iterator[Path]:
        """The folders of all its processes in /proc."""
        todo = [self.popen.pid]
        while todo:
            path = Path(f"/proc/{todo.pop()}")
            with contextlib.suppress(OSError, ValueError):
                for thread in os.listdir(path / "task"):
                    todo += map(int, (path / "task" / thread / "children").read_text().split())
                yield path

    def _sample(self) -> None:
        """What its processes hold in memory (shared pages counted for each), and have computed.

        What a process computed that has ended is its parent's: the sum can only grow.
        """
        self.memory, ticks = 0, 0
        for path in self._processes():
            with contextlib.suppress(OSError, ValueError, IndexError):
                self.memory += int((path / "statm").read_text().split()[1]) * PAGE
                after_name = (path / "stat").read_text().rpartition(")")[2].split()
                ticks += sum(map(int, after_name[11:15]))  # its own and its children's
        self.computed = max(self.computed, ticks / HERTZ)
        if self.heard.ready:
            self.heard.computed = self.computed - self.started

    def _memory(self) -> int:
        """Bytes that all its processes hold, pages that they share counted once."""
        total = 0
        for path in self._processes():
            with contextlib.suppress(OSError, ValueError, IndexError):
                rollup = (path / "smaps_rollup").read_text()
                total += int(rollup.partition("\nPss:")[2].split()[0]) * 1024
        return total
