"""The supervisor: starts a worker inside the sandbox and watches it from outside.

Time and memory are watched here, where the student's code cannot reach.
"""

from __future__ import annotations

import contextlib
import json
import math
import os
import selectors
import shutil
import signal
import subprocess
import tempfile
import threading
import time
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

from classroom.sandbox.bubblewrap import (
    INSIDE,
    CourseFiles,
    bwrap_arguments,
    environment,
    packages,
    python,
)
from classroom.sandbox.forks import CHANNEL, ForkServer
from classroom.sandbox.limits import Limits

TICK = 0.05
PIECE = 1 << 20
try:
    import fcntl
except ImportError:  # Windows, where only the tests of the parts run
    fcntl = None
PAGE = os.sysconf("SC_PAGE_SIZE") if hasattr(os, "sysconf") else 4096
HERTZ = os.sysconf("SC_CLK_TCK") if hasattr(os, "sysconf") else 100


@dataclass
class WorkerReport:
    """The messages of one worker, and how it ended."""

    ready: bool = False
    ended: bool = False
    why: str = ""
    """Why it stopped early: a key of `examiner.WHY`, "torch" if it needs that, or nothing."""
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
    server: ForkServer | None = None,
) -> WorkerReport:
    """Run the worker on a job until it ends or has to be stopped; nothing of it is left running.

    Args:
        job: cells, skip, tasks, torch and torch_seed, as the worker wants them.
        seconds: how long each task may take.
        slot: tells submissions that run at the same time apart.
        program: bubblewrap; None runs the worker without a sandbox.
        left: CPU seconds that remain for the whole submission.
        deadline: in wall-clock time (`time.monotonic`), for the whole submission.
        stop: when set, the run ends.
        server: forks the worker; without it, the worker is a new Python.
    """
    with Worker(job, limits, slot, course, program, server) as worker:
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


class Worker:
    """A worker that was started, and its messages."""

    def __init__(
        self,
        job: dict,
        limits: Limits,
        slot: int,
        course: CourseFiles,
        program: str | None,
        server: ForkServer | None = None,
    ):
        self.limits, self.course, self.program, self.server = limits, course, program, server
        self.uid = _uid(slot) if os.geteuid() == 0 else None
        self.cells = len(job["cells"])
        self.tasks = [task["name"] for task in job["tasks"]]
        caps = {"AS": limits.address_space, "FSIZE": limits.disk, "CORE": 0, "NOFILE": 256}
        caps["NPROC"] = limits.processes + (0 if self.uid else _processes_of_user())
        alone = bool(program or self.uid)
        self.job = {**job, "alone": alone, "uid": self.uid, "limits": caps, "packages": packages()}
        self.report = WorkerReport()
        self.computed = 0.0
        self.memory = 0

    def __enter__(self) -> Worker:
        self.channel, channel = os.pipe()
        self.printed, printed = os.pipe()
        self.own = None
        number = CHANNEL if self.server else channel
        with tempfile.TemporaryFile() as source:
            source.write(json.dumps({**self.job, "channel": number}).encode())
            source.seek(0)
            if self.server:
                self._fork(source.fileno(), channel, printed)
            else:
                self._start_python(source.fileno(), channel, printed)
        for end in (channel, printed):
            os.close(end)
        return self

    def _start_python(self, source: int, channel: int, printed: int) -> None:
        """Start the worker as a new Python."""
        place = Path(INSIDE) if self.program else self.course.folder / "course"
        command = [python(), "-I", "-S", str(place / "classroom" / "sandbox" / "worker.py")]
        where: dict = {}
        if not self.program:
            self.own = tempfile.mkdtemp(dir=self.course.folder / "work")
            if self.uid:
                os.chown(self.own, self.uid, self.uid)
            home = {"HOME": self.own, "TMPDIR": self.own}
            where = {"cwd": self.own, "env": {**environment(), **home}}
        self._start(command, channel, stdin=source, stdout=printed, stderr=printed, **where)

    def _fork(self, source: int, channel: int, printed: int) -> None:
        """Start a sandbox in which process 1 only sleeps, and let the server fork the worker there.

        No signal from inside reaches process 1; its end is the end of all.
        """
        command = ["--as-pid-1", "sh", "-c", "echo; exec sleep infinity"]
        null = subprocess.DEVNULL
        self._start(command, stdin=null, stdout=subprocess.PIPE, stderr=printed)
        with self.starter.stdout as told:
            told.read(1)  # now bubblewrap has built the walls, or has ended
        try:
            self.popen = self.server.fork(self.first, source, channel, printed)
        except OSError:
            self.starter.kill()

    def _start(self, command: list[str], *passed: int, **more: object) -> None:
        """Start a program, in a sandbox if there is one."""
        info_out, info = os.pipe()
        if self.program:
            arguments = bwrap_arguments(self.course.folder, self.limits)
            command = [self.program, *arguments, "--info-fd", str(info), *command]
        self.starter = self.popen = subprocess.Popen(  # of these the second may become a forked one
            command, pass_fds=(info, *passed), start_new_session=True, **more
        )
        os.close(info)
        self.first = self.starter.pid  # the process whose end is the end of all others
        with open(info_out, "rb") as told, contextlib.suppress(ValueError, KeyError):
            self.first = json.loads(told.read())["child-pid"] if self.program else self.first

    def __exit__(self, *_: object) -> None:
        """End every process, and wait until they are gone."""
        watched = None
        with contextlib.suppress(OSError, AttributeError):  # gone already, or no Linux
            watched = os.pidfd_open(self.first)
        with contextlib.suppress(OSError):
            os.kill(self.first, signal.SIGKILL) if self.program else os.killpg(
                self.first, signal.SIGKILL
            )
        self.starter.kill()
        self.starter.wait()
        if self.popen is not self.starter:
            self.popen.close()
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
        """Read the worker's messages, and stop the worker when it exceeds a limit."""
        report, limits = self.report, self.limits
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
            while not report.ended and not report.why:
                gone = self.popen.poll() is not None
                ready = [key.fd for key, _ in selector.select(TICK)]
                now = time.monotonic()
                if self.printed in ready:
                    piece = os.read(self.printed, PIECE)
                    printed += len(piece)
                    if not report.ready:
                        report.said = (report.said + piece.decode(errors="replace"))[-300:]
                    if not piece:
                        selector.unregister(self.printed)
                if self.channel in ready:
                    piece = os.read(self.channel, PIECE)
                    answered += len(piece)
                    line += piece
                    line = self._lines(line)
                    if not piece:
                        report.why = "died"
                elif gone:
                    report.why = "died"
                if report.ended or report.why:
                    continue
                if now - sampled > TICK:
                    sampled = now
                    self._sample()
                    if self.memory > limits.memory < self._memory():
                        report.why = "memory"
                if printed > limits.printed:
                    report.why = "printed"
                elif len(line) > limits.message or answered > limits.answers or report.garbled > 99:
                    report.why = "answers"
                elif now > deadline or report.computed > left:
                    report.why = "total"
                elif self.computed > self.most:
                    report.why = "time"
                elif now > self.until:
                    report.why = "wait"
                elif stop.is_set():
                    report.why = "interrupted"
        self._rest(line)
        if report.why == "died":
            with contextlib.suppress(subprocess.TimeoutExpired):
                report.code = self.popen.wait(5)
        return report

    def _allow(self, most: float, clock: float) -> None:
        """Allow this many seconds of CPU time and of wall-clock time, from now on."""
        self.most, self.until = self.computed + most, time.monotonic() + clock

    def _lines(self, line: bytearray) -> bytearray:
        """Process the complete lines; returns the rest after the last one."""
        *whole, rest = line.split(b"\n")
        for text in whole:
            self._event(bytes(text))
        return rest

    def _rest(self, line: bytearray) -> None:
        """Process all messages that were written before the worker ended."""
        with contextlib.suppress(OSError):
            while len(line) <= self.limits.message and (piece := os.read(self.channel, PIECE)):
                line = self._lines(line + piece)

    def _event(self, text: bytes) -> None:
        """Process one message; only the message that has to come next is accepted."""
        report = self.report
        try:
            event = json.loads(text)
        except (ValueError, RecursionError):
            return report.forge()
        if type(event) is not dict:
            return report.forge()
        cell, task, state = event.get("cell"), event.get("task"), event.get("state")
        idle = report.ready and report.at_cell is None and report.at_task is None
        if type(task) is str and task in self.tasks:
            if idle and state == "start" and task == self._next_task():
                report.at_task = task
                self._sample()
                self._allow(self.seconds[task], self.limits.patience * self.seconds[task])
            elif report.at_task == task and state is None and task not in report.answers:
                report.answers[task], report.at_task = event, None
            else:
                report.forge(task)
        elif type(cell) is int and state == "start" and idle and 0 <= cell < self.cells:
            report.at_cell = cell
            self._sample()
            self._allow(self.limits.cell, self.limits.patience * self.limits.cell)
        elif type(cell) is int and state == "done" and cell == report.at_cell:
            report.at_cell = None
            if error := event.get("error"):
                report.cell_errors[cell] = str(error)[:500]
        elif state == "torch" and report.ready and not self.job["torch"]:
            report.why = "torch"
        elif state == "ready" and not report.ready:
            report.ready = True
            self._sample()
            self.started = self.computed
            self._allow(self.limits.cell, self.limits.patience * self.limits.cell)
        elif state == "end" and idle and self._next_task() is None:
            report.ended = True
        else:
            report.forge()

    def _next_task(self) -> str | None:
        return next((task for task in self.tasks if task not in self.report.answers), None)

    def _processes(self) -> Iterator[Path]:
        """The folders in /proc of the worker's processes."""
        todo = [self.popen.pid]
        while todo:
            path = Path(f"/proc/{todo.pop()}")
            with contextlib.suppress(OSError, ValueError):
                for thread in os.listdir(path / "task"):
                    todo += map(int, (path / "task" / thread / "children").read_text().split())
                yield path

    def _sample(self) -> None:
        """Measure the memory of the worker's processes and the time that they computed.

        Shared pages are counted for each process. The time of a process that has ended belongs to
        its parent, so the sum can only grow.
        """
        self.memory, ticks = 0, 0
        for path in self._processes():
            with contextlib.suppress(OSError, ValueError, IndexError):
                self.memory += int((path / "statm").read_text().split()[1]) * PAGE
                after_name = (path / "stat").read_text().rpartition(")")[2].split()
                ticks += sum(map(int, after_name[11:15]))  # its own and its children's
        self.computed = max(self.computed, ticks / HERTZ)
        if self.report.ready:
            self.report.computed = self.computed - self.started

    def _memory(self) -> int:
        """Bytes of memory of all processes of the worker; shared pages are counted once."""
        total = 0
        for path in self._processes():
            with contextlib.suppress(OSError, ValueError, IndexError):
                rollup = (path / "smaps_rollup").read_text()
                total += int(rollup.partition("\nPss:")[2].split()[0]) * 1024
        return total
