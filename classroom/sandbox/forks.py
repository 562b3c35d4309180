"""Workers that a fork server forks, with NumPy or torch, whose import takes longest.

`fork_server` is the program that forks; this is the grader's side.
"""

from __future__ import annotations

import os
import selectors
import socket
import subprocess
import threading
from pathlib import Path

from classroom.sandbox.bubblewrap import HOME, INSIDE, ROOT, environment, packages, python

CHANNEL = 3
"""The open file to which a forked worker writes, as `fork_server` has it."""
PATIENCE = 300.0
"""Seconds that the server may take to import its library, or to fork."""


def loader() -> str:
    """The system's program that loads Python.

    A forked worker reaches the file that it runs, `/proc/self/exe`, past the read-only folders of
    its sandbox. Python may be a file of the teacher's, whose rights the worker could change then.

    Raises:
        OSError: if there is none, or if it is a file of the teacher's, too.
    """
    for line in Path("/proc/self/maps").read_text().splitlines():
        path = line.split(maxsplit=5)[-1]
        if "/ld-" in path and (os.geteuid() == 0 or os.stat(path).st_uid != os.geteuid()):
            return path
    raise FileNotFoundError("no loader of the system")


class Forked:
    """A worker that was forked into a sandbox, with as much of `Popen` as the supervisor uses."""

    def __init__(self, pid: int, status: int) -> None:
        self.pid, self.status = pid, status

    def poll(self, timeout: float = 0) -> bool | None:
        """None as long as it runs."""
        with selectors.DefaultSelector() as selector:
            selector.register(self.status, selectors.EVENT_READ)
            return bool(selector.select(timeout)) or None

    def wait(self, timeout: float) -> int:
        """The exit code.

        Raises:
            TimeoutExpired: if there is none yet.
        """
        if not self.poll(timeout):
            raise subprocess.TimeoutExpired("worker", timeout)
        return int(os.read(self.status, 20) or 1)

    def close(self) -> None:
        """Close what is open for it."""
        os.close(self.status)


class ForkServer:
    """A fork server, which starts when it is first needed; use it in a `with` statement."""

    def __init__(self, torch: bool) -> None:
        """Its workers have imported NumPy, and torch if that is wanted."""
        self.libraries = "torch" if torch else "numpy"
        self.lock = threading.Lock()
        self.socket, self.theirs = socket.socketpair()
        self.socket.settimeout(PATIENCE)
        self.popen: subprocess.Popen | None = None

    def __enter__(self) -> ForkServer:
        return self

    def __exit__(self, *_: object) -> None:
        self.socket.close()
        self.theirs.close()
        if self.popen:
            self.popen.kill()
            self.popen.wait()

    def _start(self) -> None:
        programs = ROOT / "classroom" / "sandbox"
        command = [python(), "-I", "-S", programs / "fork_server.py", programs / "worker.py"]
        inside = f"{INSIDE}/classroom/sandbox/worker.py"
        self.popen = subprocess.Popen(
            [loader(), *command, inside, HOME, self.libraries, *packages()],
            stdin=self.theirs,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            env=environment(),
            cwd="/",
            start_new_session=True,
        )
        self.theirs.close()

    def fork(self, sandbox: int, job: int, channel: int, printed: int) -> Forked:
        """Fork a worker into the sandbox in which the process `sandbox` runs.

        Args:
            job, channel, printed: its open files: what it reads, answers to and prints to.

        Raises:
            OSError: if the sandbox or the server has ended, or the server does not answer.
        """
        place = os.pidfd_open(sandbox)
        status, end = os.pipe()
        try:
            with self.lock:
                if self.popen is None:
                    self._start()
                socket.send_fds(self.socket, [b"."], [place, job, channel, printed, end])
                pid = self.socket.recv(20)
        except OSError:  # nobody is to read an answer that comes too late
            self.socket.close()
            os.close(status)
            raise
        finally:
            os.close(place)
            os.close(end)
        return Forked(int(pid or 0), status)
