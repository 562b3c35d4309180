"""Grade a class: `python -m grading.classroom SUBMISSIONS [--out DIR] [--lecture N] …`.

Each submission runs in a sandbox of its own, on private cases; what comes out of it is data, and
the verdict is given here. Results are kept as they come, so that a run that was stopped goes on
where it was.
"""

from __future__ import annotations

import argparse
import contextlib
import csv
import hashlib
import inspect
import os
import platform
import re
import secrets
import signal
import sys
import textwrap
import threading
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import FIRST_COMPLETED, Future, ThreadPoolExecutor, wait
from dataclasses import dataclass, field
from pathlib import Path

import torch
from tqdm import tqdm

from grading.classroom import reports, sandbox
from grading.classroom.sandbox import Limits
from grading.classroom.store import Graded, Result, Store
from grading.classroom.submissions import Handed, Refused, cells_of, find
from grading.classroom.wire import WireError, decode, encode
from grading.judge import Outcome, judge
from grading.task import Case, Task, all_tasks
from helpers.checks import require

try:
    import resource
except ImportError:  # Windows, where only the tests of the parts run
    resource = None

GRADING = Path(__file__).resolve().parents[1]
JUDGING_MEMORY = 8 << 30
LONGEST = 4_000
LIMITS = Limits()
UNSAFE = """\
--unsafe: students' code runs on this machine WITHOUT a sandbox, as this user or, if this is root,
as a user without rights. It can use the network, read what that user can read (as this user: the
tasks with their answers, other submissions, your files), and leave processes running. Do this
only with code that you trust, or inside a container or virtual machine that is thrown away."""

WHY = {
    "time": ("did not end within {seconds:g} s and was stopped", "stopped for time"),
    "total": ("was running when the time for the whole notebook was used up", "stopped for time"),
    "memory": ("took more memory than is allowed and was stopped", "too much memory"),
    "printed": ("printed more than is allowed and was stopped", "too much output"),
    "answers": ("flooded the answer channel and was stopped", "answer channel flooded"),
    "died": ("ended the Python process ({code})", "ended its process"),
}
FORGED = "More than one answer, or an answer that nobody asked for, came for this task."


class GraderError(RuntimeError):
    """The grader itself cannot go on; no student's fault."""


@dataclass
class Prepared:
    """A task with its private cases, and what of it the worker may know."""

    task: Task
    cases: Sequence[Case]
    seconds: float
    sent: dict
    known: dict = field(default_factory=dict)

    @classmethod
    def of(cls, task: Task, seed: int, limits: Limits) -> Prepared:
        """Make the cases of a seed.

        Raises:
            GraderError: if an input of the task is no plain data.
        """
        cases = task.cases(seed)
        try:
            inputs = [[encode(arg) for arg in case.args] for case in cases]
        except WireError as error:
            raise GraderError(f"task {task.name!r}: an input is {error}") from error
        drive = None
        if task.drive is not None:
            source = textwrap.dedent(inspect.getsource(task.drive))
            drive = {"name": task.drive.__name__, "source": source}
        names = {"name": task.name, "kind": task.kind, "forbidden": list(task.forbidden)}
        seconds = limits.train if task.kind == "train" else limits.task
        return cls(task, cases, seconds, {**names, "drive": drive, "inputs": inputs})


@dataclass
class Answers:
    """What came out of the sandbox for one submission."""

    outcomes: dict[str, list[Outcome]] = field(default_factory=dict)
    failed: dict[str, str] = field(default_factory=dict)
    notes: dict[int, str] = field(default_factory=dict)
    flags: set[str] = field(default_factory=set)


@dataclass
class Examiner:
    """Runs the cells of a submission in sandboxes until every task is answered or given up."""

    limits: Limits
    course: sandbox.CourseFiles
    program: str | None
    torch_seed: int = 0
    stop: threading.Event = field(default_factory=threading.Event)

    def __call__(self, cells: list[str], tasks: Sequence[Prepared], slot: int) -> Answers:
        """Run the cells; a cell or task that has to be stopped is left out of the next start."""
        found, todo = Answers(), {p.task.name: p for p in tasks}
        skip: dict[int, str] = {}
        deadline, unready = time.monotonic() + self.limits.total, 0
        for _ in range(self.limits.starts):
            job = {
                "cells": cells,
                "skip": sorted(skip),
                "tasks": [prepared.sent for prepared in todo.values()],
                "torch_seed": self.torch_seed,
            }
            seconds = {name: prepared.seconds for name, prepared in todo.items()}
            heard = sandbox.listen(
                job, seconds, self.limits, slot, self.course, self.program, deadline, self.stop
            )
            if heard.why == "interrupted":
                raise GraderError("interrupted")
            unready += not heard.ready
            if unready > 1:
                said = " ".join(heard.said.split())
                raise GraderError(f"the worker does not start ({heard.why} {heard.code}): {said}")
            found.notes |= {i: f"Cell {i + 1}: {error}" for i, error in heard.cell_errors.items()}
            found.flags |= {"forged or garbled answers"} if heard.garbled else set()
            for name, event in heard.answers.items():
                self._take(found, todo[name], event)
            found.failed |= {name: FORGED for name in heard.forged}
            if heard.why and heard.ready:
                what, flag = WHY[heard.why]
                found.flags.add(flag)
                limit = self.limits.cell if heard.at_cell is not None else 0
                limit = limit or seconds.get(heard.at_task or "", 0)
                said = what.format(seconds=limit, code=_code(heard.code))
                if heard.at_cell is not None:
                    skip[heard.at_cell] = (
                        f"Cell {heard.at_cell + 1} {said}; the others ran without it."
                    )
                elif heard.at_task:
                    found.failed.setdefault(heard.at_task, f"It {said}.")
            done = found.failed.keys() | found.outcomes.keys()
            todo = {name: prepared for name, prepared in todo.items() if name not in done}
            if heard.ended or not todo or heard.why == "total":
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
            except WireError:
                found.flags.add("forged or garbled answers")
                found.failed[name] = "The answer came back garbled."
        elif died == "too long":
            found.failed[name] = "It returns more data than is allowed."
        else:
            code = _code(died if type(died) is int else 0)
            found.failed[name] = f"It ended the Python process ({code}) and did not return."


def outcomes_from(coded: object, cases: Sequence[Case]) -> list[Outcome]:
    """Outcomes as the worker sent them.

    Raises:
        WireError: if they are not exactly what one run on these cases can give.
    """
    if type(coded) is not list or len(coded) != len(cases):
        raise WireError("not one outcome a case")
    outcomes = []
    for item, case in zip(coded, cases, strict=True):
        if type(item) is not dict or set(item) != {"value", "error", "changed"}:
            raise WireError("not an outcome")
        error, changed = item["error"], item["changed"]
        if type(error) is not str or len(error) > 500 or type(changed) is not list:
            raise WireError("not an outcome")
        if not all(type(i) is int and 0 <= i < len(case.args) for i in changed):
            raise WireError("arguments that there are not")
        outcomes.append(Outcome(decode(item["value"]), error, tuple(changed)))
    return outcomes


def _code(code: int) -> str:
    number = -code if code < 0 else code - 128
    with contextlib.suppress(ValueError):
        if number > 0:
            return signal.Signals(number).name
    return f"exit code {code}"


def results_of(answers: Answers, tasks: Sequence[Prepared]) -> list[Result]:
    """The verdict on each task. Here, outside, is where expected values are."""
    results = []
    for prepared in tasks:
        task = prepared.task
        result = Result(task.name, 0, task.points, answers.failed.get(task.name, ""))
        outcomes = answers.outcomes.get(task.name)
        if not result.message and outcomes is not None:
            try:
                with _memory_limit():
                    verdict = judge(task, prepared.cases, outcomes, prepared.known)
            except Exception as error:
                answers.flags.add("could not be judged")
                result.message = f"The result could not be judged ({type(error).__name__})."
            else:
                result.points, result.mistake = verdict.points, verdict.mistake
                result.message, result.review = verdict.message, verdict.review
                if verdict.review:
                    result.answer = outcomes[0].value
        if len(result.message) > LONGEST:
            result.message = result.message[:LONGEST] + "…"
        results.append(result)
    return results


@contextlib.contextmanager
def _memory_limit() -> Iterator[None]:
    """A result of an odd shape must not make a comparison take all the memory there is."""
    if resource is None:
        yield
        return
    soft, hard = resource.getrlimit(resource.RLIMIT_AS)
    bound = JUDGING_MEMORY if hard == resource.RLIM_INFINITY else min(JUDGING_MEMORY, hard)
    with contextlib.suppress(ValueError, OSError):  # macOS refuses
        resource.setrlimit(resource.RLIMIT_AS, (bound, hard))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_AS, (soft, hard))


def lecture_of(cells: Sequence[str], tasks: Mapping[str, Task]) -> int | None:
    """The lecture most of whose tasks a notebook names."""
    words = set(re.findall(r"\w+", "\n".join(cells)))
    counts: dict[int, int] = {}
    for task in tasks.values():
        counts[task.lecture] = counts.get(task.lecture, 0) + (task.name in words)
    best = max(counts, key=lambda lecture: (counts[lecture], -lecture), default=None)
    return best if best is not None and counts[best] else None


def version(tasks: Mapping[str, Task], lecture: int) -> str:
    """Changes whenever grades might: with the grader, the tasks, Python and torch."""
    digest = hashlib.sha256(f"{platform.python_version()} {torch.__version__}".encode())
    folders = (".", "classroom", "tasks", f"tasks/lecture_{lecture:02}")
    for path in sorted(path for folder in folders for path in (GRADING / folder).glob("*.py")):
        digest.update(path.name.encode() + path.read_bytes())
    points = sorted((task.name, task.points) for task in tasks.values() if task.lecture == lecture)
    digest.update(repr((lecture, points)).encode())
    return digest.hexdigest()


@dataclass
class Listed:
    """A file that was handed in, and what is to become of it."""

    handed: Handed
    status: str = "ok"
    lecture: int | None = None
    key: str = ""


def listed(
    found: Sequence[Handed], tasks: Mapping[str, Task], lecture: int | None, seed: int
) -> list[Listed]:
    """Read every file once; of two that can be read, a student's later one counts."""
    rows, counts = [], {}
    versions = {number: version(tasks, number) for number in {t.lecture for t in tasks.values()}}
    for handed in found:
        row = Listed(handed)
        rows.append(row)
        try:
            data = handed.read()
            cells = cells_of(data)
            row.lecture = lecture if lecture is not None else lecture_of(cells, tasks)
            if row.lecture not in versions:
                raise Refused("It names no task of the course.")
        except Refused as error:
            row.status = str(error)
            continue
        words = f"{versions[row.lecture]} {seed} {handed.name} ".encode()
        row.key = hashlib.sha256(words + data).hexdigest()
        place = (handed.student, row.lecture)
        later = counts.get(place)
        if later is not None:
            first, second = sorted((later, row), key=lambda r: (r.handed.when, r.handed.name))
            first.status = f"not counted: {second.handed.name} of the same student is later"
            counts[place] = second
        else:
            counts[place] = row
    return rows


def grade_class(
    source: Path,
    out: Path,
    *,
    tasks: Mapping[str, Task] | None = None,
    lecture: int | None = None,
    seed: int | None = None,
    jobs: int = 1,
    limits: Limits = LIMITS,
    unsafe: bool = False,
    torch_seed: int = 0,
    order: Callable[[list[Listed]], list[Listed]] = lambda rows: rows,
    examiner: Callable[[list[str], Sequence[Prepared], int], Answers] | None = None,
    review: Path | None = None,
) -> int:
    """Grade what is in `source` and write everything into `out`; returns how many failed.

    Args:
        tasks: by name; all of the course if not given.
        lecture: whose tasks; found in each notebook if not given.
        seed: of the private cases. If not given, the one of the earlier run, or a new one.
        order: in which submissions are graded; for tests.
        examiner: in place of the sandbox; for tests of everything around it.

    Raises:
        Unavailable: if there is no sandbox and `unsafe` does not say to do without.
        ValueError: if the table of reviewed points has a row that fits nothing.
    """
    tasks = all_tasks() if tasks is None else tasks
    lectures = sorted({task.lecture for task in tasks.values()})
    require(lecture in (None, *lectures), "--lecture", lecture, f"one of {lectures}")
    program = None if unsafe or examiner else sandbox.bubblewrap()
    if unsafe:
        sandbox.require_others_may_read()
    out.mkdir(parents=True, exist_ok=True)
    store = Store(out / "grades.sqlite")
    seed = seed if seed is not None else int(store.setting("seed") or secrets.randbelow(2**31))
    store.set("seed", str(seed))
    rows = listed(find(source), tasks, lecture, seed)
    if review is not None:
        store.review(points_from(review, rows, tasks))
    wanted = order([row for row in rows if row.status == "ok"])
    todo = [row for row in wanted if not store.has(row.key)]
    prepared: dict[int, list[Prepared]] = {}
    for number in {row.lecture for row in todo}:
        chosen = sorted(name for name, task in tasks.items() if task.lecture == number)
        prepared[number] = [Prepared.of(tasks[name], seed, limits) for name in chosen]
    failures = 0
    quiet = os.environ.get("LAMPLIGHT_QUIET") == "1"
    with sandbox.CourseFiles() as course, contextlib.ExitStack() as stack:
        bar = stack.enter_context(
            tqdm(total=len(wanted), initial=len(wanted) - len(todo), unit="file", disable=quiet)
        )
        own = examiner or Examiner(limits, course, program, torch_seed)
        for row, answers, seconds in _answered(todo, prepared, own, jobs):
            bar.update()
            if isinstance(answers, Exception):
                failures += 1
                row.status = f"not graded, the grader failed: {answers}"
                continue
            results = results_of(answers, prepared[row.lecture])
            notes = [answers.notes[i] for i in sorted(answers.notes)]
            handed, flags = row.handed, sorted(answers.flags)
            head = row.key, handed.name, handed.student, row.lecture
            store.add(Graded(*head, flags, notes, seconds, results))
    reports.write(out, rows, store, tasks)
    store.close()
    return failures


def _answered(
    todo: Sequence[Listed],
    prepared: Mapping[int, Sequence[Prepared]],
    examiner: Callable,
    jobs: int,
) -> Iterator[tuple[Listed, Answers | Exception, float]]:
    """Run submissions, `jobs` at a time; never more than these are in memory."""
    slots = list(range(jobs))

    def one(row: Listed) -> tuple[Answers, float]:
        start, slot = time.perf_counter(), slots.pop()
        try:
            answers = examiner(cells_of(row.handed.read()), prepared[row.lecture], slot)
            return answers, time.perf_counter() - start
        finally:
            slots.append(slot)

    running: dict[Future, Listed] = {}
    waiting = iter(todo)
    with ThreadPoolExecutor(jobs) as pool:
        try:
            while True:
                while len(running) < jobs and (row := next(waiting, None)):
                    running[pool.submit(one, row)] = row
                if not running:
                    return
                for future in wait(running, return_when=FIRST_COMPLETED).done:
                    row = running.pop(future)
                    error = future.exception()
                    if isinstance(error, GraderError | Refused | OSError):
                        yield row, error, 0.0
                    else:
                        yield row, *future.result()
        finally:
            if isinstance(examiner, Examiner):
                examiner.stop.set()  # on Ctrl-C, do not wait for the limits of what still runs


def points_from(
    path: Path, rows: Sequence[Listed], tasks: Mapping[str, Task]
) -> Iterator[tuple[str, str, float]]:
    """Points that persons gave, from a table with the columns student, task, points.

    Raises:
        ValueError: on a row that fits no student, no written task, or too many points.
    """
    students = {reports.cell(row.handed.student): row.handed.student for row in rows}
    with open(path, encoding="utf-8-sig", newline="") as file:
        for number, line in enumerate(csv.DictReader(file), 2):
            student, name = students.get(line.get("student") or ""), line.get("task")
            task = tasks.get(name or "")
            where = f"{path.name}, line {number}"
            if not (line.get("points") or "").strip():
                continue
            if student is None or task is None or task.kind != "written":
                raise ValueError(f"{where}: no such student, or {name!r} is no written task")
            try:
                points = float(line["points"])
            except ValueError:
                points = -1.0
            if not 0 <= points <= task.points:
                raise ValueError(f"{where}: points must be a number from 0 to {task.points}")
            yield student, task.name, points


def cores() -> int:
    """How many processors this process may use."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def main(arguments: Sequence[str] | None = None) -> int:
    """The command line."""
    parser = argparse.ArgumentParser(prog="python -m grading.classroom", description=__doc__)
    parser.add_argument("submissions", type=Path, help="a folder, a zip, or one notebook")
    parser.add_argument("--out", type=Path, help="folder of results (SUBMISSIONS-graded)")
    parser.add_argument("--lecture", type=int, help="whose tasks (found in each notebook)")
    parser.add_argument("--seed", type=int, help="of the private cases (drawn once, then kept)")
    parser.add_argument("--jobs", type=int, default=cores())
    parser.add_argument("--review", type=Path, help="CSV: student, task, points")
    parser.add_argument("--torch-seed", type=int, default=0, help=argparse.SUPPRESS)
    parser.add_argument("--unsafe", action="store_true", help="without a sandbox: see the message")
    given = parser.parse_args(arguments)
    out = given.out or given.submissions.with_name(given.submissions.stem + "-graded")
    if given.unsafe:
        print(UNSAFE, file=sys.stderr)
    try:
        failures = grade_class(
            given.submissions,
            out,
            lecture=given.lecture,
            seed=given.seed,
            jobs=max(1, min(given.jobs, 16)),
            unsafe=given.unsafe,
            torch_seed=given.torch_seed,
            review=given.review,
        )
    except sandbox.Unavailable as error:
        print(f"{error}\nNothing was graded.")
        if not given.unsafe:
            print(f"To grade without a sandbox: --unsafe. What that means:\n\n{UNSAFE}")
        return 2
    except (ValueError, OSError, GraderError) as error:
        print(f"Nothing more was graded: {error}")
        return 2
    except KeyboardInterrupt:
        print("Stopped. The same command goes on where it was.")
        return 130
    print(f"Grades: {out / 'grades.csv'}; overview: {out / 'summary.html'}")
    if failures:
        print(f"{failures} could not be graded, see grades.csv. The same command tries them again.")
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main())
