"""Running an answer on cases.

This is apart from the verdict on purpose: a class grader runs answers inside a sandbox, where only
plain data comes out, and gives the verdict outside.
"""

from __future__ import annotations

import contextlib
import copy
import dis
import inspect
import io
import linecache
import random
import sys
import warnings
from collections.abc import Callable, Sequence
from types import TracebackType

import numpy as np

from grading.runner.compare import NotPlain, difference, form_of, plain
from grading.runner.error_location import location_of
from grading.runner.isolation import ForbiddenCall, forbid, one_thread, restored
from grading.runner.mutation_guard import MutationGuard
from grading.runner.outcome import Outcome, Status
from grading.runner.tensors import is_tensor, torch_if_there
from grading.runner.training_trace import TrainingTrace
from grading.task import VALUES, Case, Task

MISSING = object()
"""Stands for an answer that is not there."""
KEPT_LINES, KEPT = 20, 2_000
"""How much is kept of what an answer prints on one case: lines, and characters."""
PRINTED = 10_000_000
"""How many characters an answer may print on one case."""


class _Drain(io.TextIOBase):
    """Collects the beginning of what an answer prints, warnings included."""

    def __init__(self) -> None:
        self.left = PRINTED
        self.kept = ""

    def write(self, text: str) -> int:
        self.left -= len(text)
        if self.left < 0:
            raise RuntimeError("it prints more than 10 million characters")
        self.kept += text[: KEPT + 1 - len(self.kept)]
        return len(text)

    def warn(self, message: object, category: type, filename: str, lineno: int, *_: object) -> None:
        """Stands for `warnings.showwarning`: the warning, and the line that it is about."""
        line = linecache.getline(filename, lineno).strip()
        said = str(message).partition(" (Triggered internally at ")[0]  # a place in torch's source
        self.write(f"{category.__name__}: {said}\n" + (f"  in {line}\n" if line else ""))

    def beginning(self) -> str:
        """The first lines, and a sign if there was more."""
        shown = "\n".join(self.kept[:KEPT].splitlines()[:KEPT_LINES])
        return shown if shown == self.kept.rstrip("\n") else shown + "\n…"


def run(task: Task, answer: object, cases: Sequence[Case], torch_seed: int = 0) -> list[Outcome]:
    """Run an answer on every case. Nothing that it raises gets out."""
    return [_run_one(task, answer, case, torch_seed) for case in cases]


def _run_one(task: Task, answer: object, case: Case, torch_seed: int) -> Outcome:
    if answer is MISSING:
        return Outcome(Status.MISSING)
    if answer is ...:
        return Outcome(Status.UNWRITTEN)
    if task.kind in VALUES:
        try:
            return Outcome(value=plain(answer))
        except NotPlain as error:
            return Outcome(Status.NOT_PLAIN, form=error.form)
        except (TypeError, ValueError, RecursionError):  # such as a list that holds itself
            return Outcome(Status.NOT_PLAIN, form=form_of(answer))
    if not callable(answer):
        return Outcome(Status.NOT_CALLABLE, form=form_of(answer))
    return _called(task, answer, case, torch_seed)


def _called(task: Task, answer: Callable, case: Case, torch_seed: int) -> Outcome:
    """The outcome of a function or a class that is called on a case."""
    trace = TrainingTrace() if task.kind == "train" else None
    args, drain, guard = _fresh(case.args), _Drain(), MutationGuard(trace)
    before = plain(args)
    try:
        with (
            restored(),
            one_thread() if task.kind == "train" else contextlib.nullcontext(),
            forbid(task.forbidden, answer),
            contextlib.redirect_stdout(drain),
            warnings.catch_warnings(),
        ):
            warnings.showwarning = drain.warn
            used = guard.around(answer) if task.harness else answer
            result = plain(_value(task, used, args, torch_seed))
            training = trace.seen() if trace else None
    except ForbiddenCall as error:
        return Outcome(Status.FORBIDDEN, error=str(error), stdout=drain.beginning())
    except NotPlain as error:
        return Outcome(Status.NOT_PLAIN, form=error.form, stdout=drain.beginning())
    except (Exception, SystemExit) as error:
        trace = sys.exc_info()[2]  # not the error's own, whose class may be the student's
        return _stopped(task, error, trace, drain.beginning(), guard.gave_none)
    pairs = enumerate(zip(before, args, strict=True))
    mutated = tuple(i for i, (old, arg) in pairs if _is_other(arg, old))
    return Outcome(
        value=result,
        mutated=mutated,
        mutation=guard.seen,
        stdout=drain.beginning(),
        training=training,
    )


def _value(task: Task, answer: Callable, args: tuple, torch_seed: int) -> object:
    random.seed(torch_seed)
    np.random.seed(torch_seed)  # noqa: NPY002
    if torch := torch_if_there():
        torch.default_generator.manual_seed(torch_seed)  # no accelerators are asked
    return task.harness(answer, *args) if task.harness else answer(*args)


def call(task: Task, answer: Callable, case: Case, torch_seed: int = 0) -> object:
    """What the answer gives on a case, called as in `run`; what it raises gets out."""
    with restored(), one_thread() if task.kind == "train" else contextlib.nullcontext():
        return _value(task, answer, _fresh(case.args), torch_seed)


def _stopped(
    task: Task,
    error: BaseException,
    trace: TracebackType | None,
    stdout: str,
    gave_none: str | None,
) -> Outcome:
    """The outcome of a run that an error ended; see `MutationGuard` for `gave_none`."""
    text = one_line(error)
    if type(error) is NotImplementedError and not str(error):
        return Outcome(Status.UNWRITTEN, stdout=stdout)
    if task.harness and (place := _place_in(task.harness, trace)):
        if place == "RAISE_VARARGS":
            return Outcome(Status.REFUSED, error=text, stdout=stdout)
        if not place.startswith(("CALL", "PRECALL")):  # a call: of the answer, with its arguments
            if gave_none is not None and "NoneType" in text:
                return Outcome(Status.GAVE_NONE, error=gave_none, stdout=stdout)
            return Outcome(Status.REFUSED, error=f"the result does not fit: {text}", stdout=stdout)
    return Outcome(
        Status.RAISED,
        error=f"{type(error).__name__}: {text}",
        stdout=stdout,
        line=location_of(trace),
        undefined=undefined_name(error),
    )


def undefined_name(error: BaseException) -> str:
    """The name that a `NameError` of Python's own is about; empty for any other error."""
    name = error.name if type(error) is NameError else None
    return name if type(name) is str else ""


def one_line(error: BaseException) -> str:
    """The text of an error in one line, cut if it is long."""
    try:
        text = " ".join(str(error).split())
    except Exception:  # a class of the student's
        text = "(its text cannot be read)"
    return text if len(text) <= 200 else text[:199] + "…"


def _place_in(harness: Callable[..., object], trace: TracebackType | None) -> str:
    """Name of the bytecode operation that raised an error in the harness, or in a function in it.

    Empty if the error arose in the answer, or in a library that the harness called.
    """
    while trace is not None and trace.tb_next is not None:
        trace = trace.tb_next
    if trace is None or not inspect.isfunction(harness):
        return ""
    code, own = trace.tb_frame.f_code, harness.__code__
    inside = f"{code.co_qualname}.".startswith(f"{own.co_qualname}.")
    if not inside or code.co_filename != own.co_filename:
        return ""
    return dis.opname[code.co_code[trace.tb_lasti]]


def _is_other(arg: object, old: object) -> bool:
    """Whether an argument is no longer what it was, or no longer plain data at all."""
    try:
        return difference(plain(arg), old, 0, 0) is not None
    except (NotPlain, RecursionError):
        return True


def _fresh(args: tuple) -> tuple:
    """Copies of the arguments, so that no case sees what an answer did to another."""
    return tuple(arg.clone() if is_tensor(arg) else copy.deepcopy(arg) for arg in args)
