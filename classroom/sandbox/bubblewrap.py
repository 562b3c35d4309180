"""The sandbox: the bubblewrap command, and the files of the course inside.

The sandbox has its own process, network, IPC and host-name spaces. It sees the Python installation,
the installed packages and the course's helpers read-only, and it can write only into memory-backed
folders of limited size.
"""

from __future__ import annotations

import compileall
import os
import shutil
import subprocess
import sys
import sysconfig
import tempfile
from pathlib import Path

from classroom.sandbox.limits import Limits

ROOT = Path(__file__).resolve().parents[2]
SENT = ("grading/task.py", "classroom/__init__.py", "classroom/sandbox/__init__.py")
SENT += tuple(f"classroom/sandbox/{name}.py" for name in ("serialize", "worker", "ipython_cells"))
SENT += tuple(f"grading/runner/{path.name}" for path in (ROOT / "grading/runner").glob("*.py"))
"""The files of `grading` and `classroom` in the sandbox: none of them knows an answer."""
STUB = Path(__file__).with_name("grading_stub.py")
HOME, INSIDE = "/sandbox/home", "/sandbox/course"


class Unavailable(RuntimeError):
    """The sandbox cannot be used here; the text says why and what to do."""


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
    with tempfile.TemporaryDirectory() as folder:
        Path(folder, "course").mkdir()
        arguments = [program, *bwrap_arguments(Path(folder), Limits()), "true"]
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
    for place in (python(), sys.base_prefix, *packages()):
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


def packages() -> list[str]:
    """The folders with installed packages, in the order of `sys.path`."""
    own = {sysconfig.get_path("purelib"), sysconfig.get_path("platlib")}
    return [
        path
        for path in dict.fromkeys(sys.path)
        if path and Path(path).is_dir() and (path in own or Path(path).name.endswith("-packages"))
    ]


def python() -> str:
    """The path of this Python, without links."""
    return os.path.realpath(sys.executable)


def environment() -> dict[str, str]:
    """The environment variables of a worker."""
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


def bwrap_arguments(folder: Path, limits: Limits) -> list[str]:
    """The arguments of bubblewrap: namespaces, mounts, environment."""
    size = str(limits.disk)
    arguments = ["--unshare-pid", "--unshare-net", "--unshare-ipc", "--unshare-uts"]
    arguments += ["--unshare-cgroup-try", "--die-with-parent", "--new-session", "--clearenv"]
    if os.geteuid() == 0:
        # Root needs no user namespace, and Python may lie where only root may enter. The worker
        # uses the two rights that are left to become somebody else, which takes them from it.
        arguments += ["--cap-drop", "ALL", "--cap-add", "CAP_SETUID", "--cap-add", "CAP_SETGID"]
    else:
        arguments += ["--unshare-user"]
    arguments += ["--proc", "/proc", "--dev", "/dev"]
    for path in ("/dev/shm", "/tmp", HOME):  # first: what is bound may lie below one of them
        arguments += ["--perms", "1777", "--size", size, "--tmpfs", path]
    for path in ("/lib", "/lib32", "/lib64", "/libx32", "/bin", "/sbin"):
        arguments += ["--ro-bind-try", path, path]
    for path in ("/etc/ld.so.cache", "/etc/alternatives", "/etc/fonts"):
        arguments += ["--ro-bind-try", path, path]
    empty = ["--perms", "0555", "--size", "4096", "--tmpfs"]
    system, installed = dict.fromkeys(["/usr", sys.base_prefix]), packages()
    for path in (*system, *installed):
        for parent in list(Path(path).parents)[-2::-1]:  # else only root could enter them
            arguments += ["--perms", "0755", "--dir", str(parent)]
        arguments += ["--ro-bind-try", path, path]
        if ROOT.is_relative_to(path) or (path in installed and Path(path, "grading").is_dir()):
            # The tasks with their answers, where the course lies in a folder that is shown.
            arguments += [*empty, str(ROOT if ROOT.is_relative_to(path) else Path(path, "grading"))]
    arguments += ["--ro-bind", str(folder / "course"), INSIDE]
    arguments += ["--remount-ro", "/dev", "--remount-ro", "/", "--chdir", HOME]
    arguments += ["--hostname", "sandbox"]
    for name, value in environment().items():
        arguments += ["--setenv", name, value]
    return arguments
