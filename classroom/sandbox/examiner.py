"""One submission: its cells run in sandboxes until every task has outcomes or is given up."""

from __future__ import annotations

import contextlib
import inspect
import signal
import textwrap
import threading
import time
from collections.abc import Sequence
from dataclasses import dataclass, field, fields, replace
from enum import StrEnum

from classroom.sandbox import supervisor
from classroom.sandbox.bubblewrap import CourseFiles
from classroom.sandbox.forks import ForkServer
from classroom.sandbox.limits import Limits
from classroom.sandbox.serialize import SerializeError, decode, encode
from classroom.sandbox.torch_import import holds_tensor, needs_torch
from grading.feedback import messages
from grading.feedback.baseline import BadTask, Baseline
from grading.runner.outcome import (
    Form,
    FormKind,
    Location,
    Mutation,
    Outcome,
    Status,
    Target,
    Training,
)
from grading.runner.tensors import torch_if_there
from grading.task import CODE, Case, Task


class Flag(StrEnum):
    """What happened in a run, in the words of the tables."""

    TIME = "stopped for time"
    MEMORY = "too much memory"
    OUTPUT = "too much output"
    FLOODED = "answer channel flooded"
    DIED = "ended its process"
    FORGED = "forged or garbled answers"
    NOT_JUDGED = "could not be judged"
    BROKEN_CELL = "answer in a cell with a syntax error"


WHY = {
    "time": ("did not end within {seconds:g} s of computing and was stopped", Flag.TIME),
    "wait": ("did not end within {wait:g} s, mostly waiting, and was stopped", Flag.TIME),
    "total": ("was running when the time for the whole notebook was used up", Flag.TIME),
    "memory": ("took more memory than is allowed and was stopped", Flag.MEMORY),
    "printed": ("printed more than is allowed and was stopped", Flag.OUTPUT),
    "answers": ("flooded the answer channel and was stopped", Flag.FLOODED),
    "died": ("ended the Python process ({code})", Flag.DIED),
}
FORGED = "More than one answer, or an answer that nobody asked for, came for this task."


class GraderError(RuntimeError):
    """The grader itself cannot continue; no student is at fault."""


@dataclass
class Prepared:
    """A task with its hidden cases, and the data about it that a worker gets."""

    task: Task
    cases: Sequence[Case]
    seconds: float
    sent: dict
    torch: bool = False
    """Whether its cases or its harness need torch."""
    baseline: Baseline = field(init=False)
    """What our own answers give on these cases."""

    def __post_init__(self) -> None:
        task = self.task
        if torch_if_there() is None:  # then no answer of ours calls a function of torch
            task = replace(task, forbidden=tuple(self.without_torch()["forbidden"]))
        self.baseline = Baseline(task, self.cases)

    @classmethod
    def of(cls, task: Task, seed: int, limits: Limits) -> Prepared:
        """Make the cases of a seed, which is the task's own.

        Raises:
            GraderError: if an input is no plain data, or the model answer fails on a case.
        """
        cases = task.cases(seed)
        try:
            inputs = [[encode(arg) for arg in case.args] for case in cases]
        except SerializeError as error:
            raise GraderError(f"task {task.name!r}: an input is {error}") from error
        harness = None
        if task.harness is not None:
            source = textwrap.dedent(inspect.getsource(task.harness))
            source = source[source.index("def ") :]  # without its decorator
            harness = {"name": task.harness.__name__, "source": source}
        names = {"name": task.name, "kind": task.kind, "forbidden": list(task.forbidden)}
        seconds = limits.train if task.kind == "train" else limits.task
        sent = {**names, "harness": harness, "inputs": inputs}
        torch = needs_torch(harness["source"]) if harness else False
        torch = torch or any(holds_tensor(case.args) for case in cases)
        prepared = cls(task, cases, seconds, sent, torch)
        if task.kind in CODE and task.score is None:
            try:
                prepared.baseline.all_right()
            except BadTask as error:
                raise GraderError(f"hidden cases: {messages.bad_task(error)}") from error
        return prepared

    def without_torch(self) -> dict:
        """The data for a worker without torch, where functions of torch need not be forbidden."""
        forbidden = [name for name in self.sent["forbidden"] if not needs_torch(f"import {name}")]
        return {**self.sent, "forbidden": forbidden}


@dataclass
class Answers:
    """The outcomes of one submission from the sandbox."""

    outcomes: dict[str, list[Outcome]] = field(default_factory=dict)
    failed: dict[str, str] = field(default_factory=dict)
    notes: dict[int, str] = field(default_factory=dict)
    flags: set[Flag] = field(default_factory=set)


@dataclass
class Examiner:
    """Runs the cells of a submission in sandboxes until every task is answered or given up."""

    limits: Limits
    course: CourseFiles
    program: str | None
    torch_seed: int = 0
    stop: threading.Event = field(default_factory=threading.Event)
    servers: dict[bool, ForkServer] = field(default_factory=dict)
    """By whether it has imported torch; empty once a forked worker did not start."""

    def __call__(self, cells: list[str], tasks: Sequence[Prepared], slot: int) -> Answers:
        """Run the cells; with torch if they or the tasks name it, or ask for it on the way."""
        named = any(map(needs_torch, cells)) or any(prepared.torch for prepared in tasks)
        return self._run(cells, tasks, slot, named) or self._run(cells, tasks, slot, True)

    def _run(
        self, cells: list[str], tasks: Sequence[Prepared], slot: int, torch: bool
    ) -> Answers | None:
        """A cell or task that has to be stopped is left out of the next start.

        Returns:
            None if something asked for torch where there was none.
        """
        found, todo = Answers(), {p.task.name: p for p in tasks}
        skip: dict[int, str] = {}
        left, deadline, unready = self.limits.total, time.monotonic() + self.limits.clock, 0
        for _ in range(self.limits.starts):
            job = {
                "cells": cells,
                "skip": sorted(skip),
                "tasks": [p.sent if torch else p.without_torch() for p in todo.values()],
                "torch": torch,
                "torch_seed": self.torch_seed,
            }
            seconds = {name: prepared.seconds for name, prepared in todo.items()}
            server = self.servers.get(torch)
            report = supervisor.listen(
                job,
                seconds,
                self.limits,
                slot,
                self.course,
                self.program,
                left,
                deadline,
                self.stop,
                server,
            )
            if report.why == "interrupted":
                raise GraderError("interrupted")
            if report.why == "torch":
                return None
            if server and not report.ready:
                self.servers = {}  # a system that does not let it in: new Pythons from now on
                continue
            left -= report.computed
            unready += not report.ready
            if unready > 1:
                said = " ".join(report.said.split())
                raise GraderError(f"the worker does not start ({report.why} {report.code}): {said}")
            found.notes |= {
                i: f"Code cell {i + 1}: {error}" for i, error in report.cell_errors.items()
            }
            found.flags |= {Flag.FORGED} if report.garbled else set()
            for name, event in report.answers.items():
                self._take(found, todo[name], event)
            found.failed |= {name: FORGED for name in report.forged}
            if report.why and report.ready:
                what, flag = WHY[report.why]
                found.flags.add(flag)
                limit = self.limits.cell if report.at_cell is not None else 0
                limit = limit or seconds.get(report.at_task or "", 0)
                wait = limit * self.limits.patience
                said = what.format(seconds=limit, wait=wait, code=_code(report.code))
                if report.at_cell is not None:
                    skip[report.at_cell] = (
                        f"Code cell {report.at_cell + 1} {said}; the others ran without it."
                    )
                elif report.at_task:
                    found.failed.setdefault(report.at_task, f"It {said}.")
            done = found.failed.keys() | found.outcomes.keys()
            todo = {name: prepared for name, prepared in todo.items() if name not in done}
            if report.ended or not todo or report.why == "total":
                break
        for name in todo:
            found.failed[name] = "It was not run: the notebook had to be stopped too often."
        found.notes |= skip
        return found

    @staticmethod
    def _take(found: Answers, prepared: Prepared, event: dict) -> None:
        """Read the outcomes of one task, or say why there are none."""
        name, died = prepared.task.name, event.get("died")
        if "outcomes" in event:
            try:
                found.outcomes[name] = outcomes_from(event["outcomes"], prepared.cases)
            except SerializeError:
                found.flags.add(Flag.FORGED)
                found.failed[name] = "The answer came back garbled."
        elif died == "too long":
            found.failed[name] = "It returns more data than is allowed."
        else:
            code = _code(died if type(died) is int else 0)
            found.failed[name] = f"It ended the Python process ({code}) and did not return."


MOST = {"error": 500, "undefined": 200}
"""The texts of an outcome, and how long each may be."""
FIELDS = {"status", "value", "form", "mutated", "mutation", "line", "training", *MOST}
NAME = 200
"""How long a name or a line may be."""


def outcomes_from(coded: object, cases: Sequence[Case]) -> list[Outcome]:
    """Outcomes as the worker sent them.

    Raises:
        SerializeError: if they are not exactly what one run on these cases can give.
    """
    if type(coded) is not list or len(coded) != len(cases):
        raise SerializeError("not one outcome a case")
    return [_outcome_from(item, case) for item, case in zip(coded, cases, strict=True)]


def _outcome_from(item: object, case: Case) -> Outcome:
    if type(item) is not dict or set(item) != FIELDS:
        raise SerializeError("not an outcome")
    if not all(_is_text(item[name], most) for name, most in MOST.items()):
        raise SerializeError("not an outcome")
    if item["undefined"] and not item["undefined"].isidentifier():
        raise SerializeError("not a name")
    if type(item["mutated"]) is not list:
        raise SerializeError("not an outcome")
    if not all(type(i) is int and 0 <= i < len(case.args) for i in item["mutated"]):
        raise SerializeError("arguments that there are not")
    status, form = _member(Status, item["status"]), _form_from(item["form"])
    if (form is not None) != (status in (Status.NOT_PLAIN, Status.NOT_CALLABLE)):
        raise SerializeError("not an outcome")
    return Outcome(
        status,
        decode(item["value"]) if status is Status.OK else None,
        item["error"],
        form,
        tuple(item["mutated"]),
        _mutation_from(item["mutation"]),
        line=_line_from(item["line"]),
        undefined=item["undefined"],
        training=_training_from(item["training"]),
    )


def _is_text(text: object, most: int = NAME) -> bool:
    return type(text) is str and len(text) <= most


def _member(kind: type[StrEnum], text: object) -> StrEnum:
    if not _is_text(text) or text not in set(kind):
        raise SerializeError(f"not a {kind.__name__.lower()}")
    return kind(text)


def _form_from(item: object) -> Form | None:
    match item:
        case None:
            return None
        case [kind, name, list(size)] if _is_text(name) and all(type(n) is int for n in size):
            form = Form(_member(FormKind, kind), name, tuple(size))
            if form.kind is FormKind.CONTAINER and len(size) != 1:
                raise SerializeError("not a form")
            return form
    raise SerializeError("not a form")


def _mutation_from(item: object) -> Mutation | None:
    match item:
        case None:
            return None
        case [target, name] if _is_text(name):
            return Mutation(_member(Target, target), name)
    raise SerializeError("not a mutation")


def _line_from(item: object) -> Location | None:
    match item:
        case None:
            return None
        case [number, text] if type(number) is int and _is_text(text):
            return Location(number, text)
    raise SerializeError("not a line")


def _training_from(item: object) -> Training | None:
    """Numbers that a training can have; see `Training`."""
    if item is None:
        return None
    wanted = {field.name: type(field.default) for field in fields(Training)}
    if type(item) is not dict or set(item) != set(wanted):
        raise SerializeError("not a training")
    if not all(
        type(item[name]) is kind and -1 <= item[name] < 2**31 for name, kind in wanted.items()
    ):
        raise SerializeError("not a training")
    return Training(**item)


def _code(code: int) -> str:
    number = -code if code < 0 else code - 128
    with contextlib.suppress(ValueError):
        if number > 0:
            return signal.Signals(number).name
    return f"exit code {code}"
