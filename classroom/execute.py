"""Execution: run the submissions that were not graded before, and store their results."""

from __future__ import annotations

import contextlib
import hashlib
import os
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import FIRST_COMPLETED, Future, ThreadPoolExecutor, wait

from tqdm import tqdm

from classroom.gradebook.store import Graded
from classroom.intake.select import Listed
from classroom.run import Run
from classroom.sandbox.bubblewrap import CourseFiles
from classroom.sandbox.examiner import Answers, Examiner, Prepared
from classroom.sandbox.forks import ForkServer
from classroom.sandbox.limits import Limits
from classroom.verdicts import results_of

Execute = Callable[[list[str], Sequence[Prepared], int], Answers]
"""From a submission's code cells, the tasks and the number of a worker to the task's outcomes."""


def execute(
    run: Run,
    rows: Sequence[Listed],
    limits: Limits,
    program: str | None,
    examiner: Execute | None = None,
) -> None:
    """Grade the submissions that are not in the database yet.

    Args:
        program: bubblewrap; None runs students' code without a sandbox.
        examiner: replaces the sandbox.
    """
    store = run.store
    todo = [row for row in rows if not store.has(row.key)]
    prepared = {n: _prepare(run, n, limits) for n in {row.lecture for row in todo}}
    with contextlib.ExitStack() as stack:
        if examiner is None:
            course = stack.enter_context(CourseFiles())
            kinds = (False, True) if program else ()
            servers = {torch: stack.enter_context(ForkServer(torch)) for torch in kinds}
            examiner = Examiner(limits, course, program, run.options.torch_seed, servers=servers)
        quiet = os.environ.get("LAMPLIGHT_QUIET") == "1"
        done = len(rows) - len(todo)
        bar = stack.enter_context(tqdm(total=len(rows), initial=done, unit="file", disable=quiet))
        stack.enter_context(_no_other_bars())
        for row, answers, seconds in _answered(todo, prepared, examiner, run.options.jobs):
            bar.update()
            try:
                if isinstance(answers, Exception):
                    raise answers
                store.add(_graded(row, answers, prepared[row.lecture], seconds))
            except Exception as error:  # one submission must not stop those of all others
                row.fail(error)


def case_seed(secret: int, task: str) -> int:
    """The seed of one task's hidden cases.

    The feedback shows inputs, and the input of some tasks is a seed. Nobody can derive the secret
    from it, nor the cases of another task.
    """
    return int.from_bytes(hashlib.sha256(f"{secret} {task}".encode()).digest()[:4]) >> 1


def _prepare(run: Run, lecture: int, limits: Limits) -> list[Prepared]:
    """The tasks of a lecture with their hidden cases."""
    names = sorted(run.tasks.of_lecture(lecture))
    return [Prepared.of(run.tasks[name], case_seed(run.seed, name), limits) for name in names]


def _graded(row: Listed, answers: Answers, tasks: Sequence[Prepared], seconds: float) -> Graded:
    """The graded submission."""
    results = results_of(answers, tasks, row.cells())
    return Graded(
        key=row.key,
        file=row.handed.name,
        student=row.student.id,
        lecture=row.lecture,
        handed=row.when.isoformat(timespec="seconds") if row.when else "",
        flags=sorted(answers.flags),
        notes=[answers.notes[cell] for cell in sorted(answers.notes)],
        seconds=seconds,
        results=results,
    )


@contextlib.contextmanager
def _no_other_bars() -> Iterator[None]:
    """Hide the progress bars of known mistakes that train something for the verdict."""
    before = os.environ.get("LAMPLIGHT_QUIET")
    os.environ["LAMPLIGHT_QUIET"] = "1"
    try:
        yield
    finally:
        if before is None:
            del os.environ["LAMPLIGHT_QUIET"]
        else:
            os.environ["LAMPLIGHT_QUIET"] = before


def _answered(
    todo: Sequence[Listed],
    prepared: Mapping[int, Sequence[Prepared]],
    examiner: Execute,
    jobs: int,
) -> Iterator[tuple[Listed, Answers | Exception, float]]:
    """Run submissions, `jobs` at a time; only these are in memory."""
    workers = list(range(jobs))

    def run_one(row: Listed) -> tuple[Answers, float]:
        start, worker = time.perf_counter(), workers.pop()
        try:
            answers = examiner(row.cells(), prepared[row.lecture], worker)
            return answers, time.perf_counter() - start
        finally:
            workers.append(worker)

    running: dict[Future, Listed] = {}
    waiting = iter(todo)
    with ThreadPoolExecutor(jobs) as pool:
        try:
            while True:
                while len(running) < jobs and (row := next(waiting, None)):
                    running[pool.submit(run_one, row)] = row
                if not running:
                    return
                for future in wait(running, return_when=FIRST_COMPLETED).done:
                    row = running.pop(future)
                    error = future.exception()
                    if isinstance(error, Exception):
                        yield row, error, 0.0
                    else:
                        yield row, *future.result()
        finally:
            if isinstance(examiner, Examiner):
                examiner.stop.set()  # on Ctrl-C, do not wait for the limits of what still runs
