"""The program inside the sandbox: runs a student's cells, then the answers on the cases.

It gets one JSON document on its standard input, and writes one JSON object a line to the open file
whose number the document names. It knows inputs only: no expected value, no model answer, no known
mistake. What runs here may do whatever the sandbox lets it do, also to this program, so nothing
that comes out is trusted.

torch is imported before anything of the student's runs, or not at all: where the grader saw no need
for it and something asks for it after all, this program says so and ends, and the grader begins
again with torch. So a result never depends on whether the need was seen.
"""

import __future__

import contextlib
import functools
import gc
import json
import linecache
import os
import re
import signal
import sys
import traceback
import types
import warnings
from time import monotonic, sleep

MOST = 12_000_000  # bytes of one message
# What is Python too, but something else to IPython: `In [5]: x = 1` annotates an item of `In`.
ONLY_IPYTHON = re.compile(r"\A\s*[%!]|IPython|get_ipython|^\s*In ?\[\d+\]:", re.MULTILINE)
# What IPython remembers: `_` and `Out[3]`, but not the `_` of `for _ in x` and `_, y = pair`.
REMEMBERED = re.compile(
    r"(?<![\w.*])(?:(?:__?|_i?\d+|_i{1,3}|_[iod]h)(?!\w|\)?,| in\b|\)?\s*=[^=])|(?:Out|In)\[)"
)
# What Colab alone has, at the left edge, where no `try` expects it to fail.
COLAB = re.compile(
    r"^(?:(?:from|import) google\.colab\b|drive\.mount\(|files\.\w+\().*", re.MULTILINE
)
WIDGET = re.compile(r"\btqdm[._]notebook\b")
FUTURE = functools.reduce(
    int.__or__, (getattr(__future__, name).compiler_flag for name in __future__.all_feature_names)
)
"""The flags of `from __future__ import …`, which hold for all later cells."""

# Kept under names of our own: a notebook that patches `json` or `os` harms itself only.
dumps, loads = json.dumps, json.loads
write, read, getpid, leave = os.write, os.read, os.getpid, os._exit
modules = sys.modules


def send(event: dict) -> None:
    """Write one event."""
    left = memoryview(dumps(event).encode() + b"\n")
    while left:
        left = left[write(job["channel"], left) :]


class WithoutTorch:
    """Stands first where Python looks for a module, in a run that is to do without torch."""

    @staticmethod
    def find_spec(name: str, path: object = None, target: object = None) -> None:
        """Find nothing; if it is torch that is wanted, end the run."""
        if name == "torch":
            ask_for_torch()


def ask_for_torch() -> None:
    """Say that the run has to begin again with torch, and end."""
    send({"state": "torch"})
    leave(0)


def look_for_torch() -> None:
    """What calls itself torch, however it came there, is a reason to begin again with torch."""
    if not job["torch"] and "torch" in modules:
        ask_for_torch()


def confine(uid: int | None, limits: dict[str, int]) -> None:
    """Give up what the student's code must not have. Linux and macOS only."""
    import ctypes
    import resource

    if uid is not None:
        os.setgroups([])
        os.setresgid(uid, uid, uid)
        os.setresuid(uid, uid, uid)
    if sys.platform == "linux":
        prctl = ctypes.CDLL(None).prctl
        prctl(38, 1, 0, 0, 0)  # PR_SET_NO_NEW_PRIVS
        prctl(1, signal.SIGKILL, 0, 0, 0)  # PR_SET_PDEATHSIG: end when the grader ends
    for name, most in limits.items():
        kind = getattr(resource, f"RLIMIT_{name}", None)
        if kind is not None:
            hard = resource.getrlimit(kind)[1]
            most = most if hard == resource.RLIM_INFINITY else min(most, hard)
            resource.setrlimit(kind, (most, most))
    null = os.open(os.devnull, os.O_RDONLY)
    os.dup2(null, 0)  # input() is at its end
    os.close(null)


def compiled(source: str, name: str, flags: int = 0) -> types.CodeType | None:
    """A cell as code, or None if only IPython can tell what it is."""
    if ONLY_IPYTHON.search(source):
        return None
    try:
        return compile(source, name, "exec", flags)
    except SyntaxError:
        return None


def in_words(error: BaseException) -> str:
    """An error in one line, whatever its class does."""
    try:
        text = " ".join(str(error).split())
    except BaseException:
        text = "(its text cannot be read)"
    return f"{type(error).__name__}: {text[:300]}"


def describe(error: BaseException) -> str:
    """One line about an error in a cell, and where it arose."""
    line = ""
    for frame in traceback.extract_tb(error.__traceback__):
        if frame.filename.startswith("<cell "):
            line = f" (line {frame.lineno} of code {frame.filename[1:-1]})"
    return in_words(error) + line


def notebook_space() -> dict:
    """The names that a notebook finds: a fresh `__main__` with what IPython would add."""
    main = types.ModuleType("__main__")
    sys.modules["__main__"] = main

    def nothing(*args: object, **kwargs: object) -> None:
        """Show nothing."""

    for name in ("display", "exit", "quit", "help"):  # the last is missing without `site`
        main.__dict__[name] = nothing
    return main.__dict__


def ipython_shell() -> object:
    """IPython's shell on the notebook's names, for cells that are more than Python."""
    from classroom.sandbox.ipython_cells import Shell

    return Shell(modules["__main__"])


def without_widgets(source: str) -> str:
    """A cell without Colab's own modules, and with progress bars that need no browser."""
    source = COLAB.sub("pass", source) if "google.colab" in source else source
    return WIDGET.sub("tqdm", source)


def sweep(most: int = 0) -> None:
    """End all other processes of this user, if there are more than `most`.

    Process 1 is left out: it holds the sandbox, and no signal reaches it from inside. Only where
    the user is nobody else: in a sandbox, or under a number that was taken for this.
    """
    until = monotonic() + 5
    while job["alone"] and monotonic() < until:
        with contextlib.suppress(OSError):
            while os.waitpid(-1, os.WNOHANG)[0]:
                pass
        with contextlib.suppress(OSError):
            others = {n for n in os.listdir("/proc") if n.isdigit()} - {"1", str(getpid())}
            if sum(owner(n) == os.getuid() for n in others) <= most:
                return
            os.kill(-1, signal.SIGKILL)  # reaches all that we may end, but not ourselves
        most = 0
        sleep(0.02)  # they count against the limit until they are gone


def owner(number: str) -> int:
    """The user that a process belongs to; -1 if it has just ended."""
    try:
        return os.stat(f"/proc/{number}").st_uid
    except OSError:
        return -1


def run_cells(cells: list[str], skip: list[int], space: dict) -> None:
    """Run the cells in turn; one that raises is reported, and the next one runs."""
    home, shell, flags = getpid(), None, 0
    remembers = any(map(REMEMBERED.search, cells))
    for number, source in enumerate(map(without_widgets, cells)):
        if number in skip:
            continue
        name = f"<cell {number + 1}>"
        linecache.cache[name] = (len(source), None, source.splitlines(True), name)
        send({"cell": number, "state": "start"})
        error = ""
        try:
            code = None if remembers else compiled(source, name, flags)
            if code is None:
                shell = shell or ipython_shell()
                caught, flags = shell.run(source, name, flags)
                error = describe(caught) if caught else ""
            else:
                flags |= code.co_flags & FUTURE
                exec(code, space)
        except BaseException as caught:
            error = describe(caught)
        if getpid() != home:
            leave(0)  # a copy that the cell forked must not go on as if it were us
        look_for_torch()
        sweep(most=20)
        send({"cell": number, "state": "done", "error": error})


def settle() -> None:
    """Put global state that a cell may have changed to where it was."""
    import random

    import numpy as np

    warnings.resetwarnings()
    warnings.simplefilter("ignore")
    random.seed(0)
    np.random.seed(0)  # noqa: NPY002
    np.seterr(divide="warn", over="warn", under="ignore", invalid="warn")
    if job["torch"]:
        import torch

        torch.set_default_dtype(torch.float32)
        torch.set_default_device(None)
        torch.set_grad_enabled(True)
        torch.set_num_threads(1)


def as_sent(outcome: object, value: object = None) -> dict:
    """An outcome as it is sent, with its value as `encode` gives it."""
    form, mutation, line = outcome.form, outcome.mutation, outcome.line
    return {
        "status": outcome.status,
        "value": value,
        "error": outcome.error[:500],
        "form": form and [form.kind, form.name[:200], list(form.size)],
        "mutated": list(outcome.mutated),
        "mutation": mutation and [mutation.target, mutation.name[:200]],
        "line": line and [line.number, line.text[:200]],
        "undefined": outcome.undefined[:200],
        "training": outcome.training and vars(outcome.training),
    }


def outcomes_of(task: dict, space: dict, torch_seed: int, runner: types.ModuleType) -> list[dict]:
    """Run an answer on the cases, in this process, which is there for nothing else."""
    settle()
    home = getpid()
    harness = None
    if task["harness"]:
        own: dict = {}
        exec(task["harness"]["source"], own)
        harness = own[task["harness"]["name"]]
    fields = {key: task[key] for key in ("name", "kind", "forbidden")}
    like_task = types.SimpleNamespace(**fields, harness=harness)
    outcomes = []
    for inputs in task["inputs"]:
        try:
            case = runner.Case(tuple(decode(item) for item in inputs))
            answer = space.get(task["name"], runner.MISSING)
            [outcome] = runner.run(like_task, answer, [case], torch_seed)
            sent = as_sent(outcome, encode(outcome.value))
        except SerializeError as caught:
            sent = as_sent(runner.Outcome(runner.Status.UNSENDABLE, error=str(caught)))
        except BaseException as caught:
            line = runner.location_of(sys.exc_info()[2].tb_next)  # the first frame is ours
            stopped = runner.Outcome(runner.Status.RAISED, error=in_words(caught), line=line)
            sent = as_sent(stopped)
        if getpid() != home:
            leave(0)
        look_for_torch()
        outcomes.append(sent)
    return outcomes


def ask(task: dict, space: dict, torch_seed: int, runner: types.ModuleType) -> dict:
    """What came of a task: its outcomes, or the status with which its process ended."""
    if task["name"] not in space:  # nothing of the student's is to run: no process for it
        like_task = types.SimpleNamespace(name=task["name"])
        [missing] = runner.run(like_task, runner.MISSING, [None])
        return {"outcomes": [as_sent(missing)] * len(task["inputs"])}
    ours, theirs = os.pipe()
    child = os.fork()
    if child == 0:
        try:
            os.setpgid(0, 0)
            os.close(job["channel"])
            os.close(ours)
            job["channel"] = theirs
            send({"outcomes": outcomes_of(task, space, torch_seed, runner)})
        finally:
            leave(0)
    os.close(theirs)
    said = bytearray()
    while len(said) <= MOST and not said.endswith(b"\n") and (piece := read(ours, 1 << 16)):
        said += piece
    os.close(ours)
    with contextlib.suppress(OSError):
        os.killpg(child, signal.SIGKILL)  # also what it left running
    _, status = os.waitpid(child, 0)
    try:
        event = loads(said.partition(b"\n")[0])
        if event.get("state") == "torch" and not job["torch"]:
            ask_for_torch()
        return {"outcomes": event["outcomes"]}
    except (ValueError, TypeError, KeyError, AttributeError, RecursionError):
        too_long = len(said) > MOST
        return {"died": "too long" if too_long else os.waitstatus_to_exitcode(status)}


if __name__ == "__main__":
    gc.disable()  # while modules are imported: of torch's time a sixth
    job = json.load(sys.stdin)
    confine(job["uid"], job["limits"])
    here = os.path.abspath(__file__).removesuffix("/classroom/sandbox/worker.py")
    sys.path[:0] = [here]
    sys.path += job["packages"]
    warnings.simplefilter("ignore")

    if job["torch"]:
        import torch

        torch.set_num_threads(1)
        torch.manual_seed(job["torch_seed"])
    from classroom.sandbox.serialize import SerializeError, decode, encode
    from grading.runner import run as runner

    if not job["torch"]:
        sys.meta_path.insert(0, WithoutTorch)
    gc.freeze()
    gc.enable()
    send({"state": "ready"})
    names = notebook_space()
    sys.path.append("")  # where it runs: a notebook may import what it wrote
    run_cells(job["cells"], job["skip"], names)
    for wanted in job["tasks"]:
        sweep()
        send({"task": wanted["name"], "state": "start"})
        send({"task": wanted["name"], **ask(wanted, names, job["torch_seed"], runner)})
    send({"state": "end"})
    leave(0)
