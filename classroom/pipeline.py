"""One run of the grader: intake, execution, marking, publication.

Each stage reads what it needs from the `Run` and hands the next one its result.
"""

from __future__ import annotations

import contextlib
import secrets
import sqlite3
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import replace
from pathlib import Path

from classroom.execute import Execute, execute
from classroom.gradebook.decisions import read_decisions
from classroom.gradebook.mark import mark
from classroom.gradebook.store import Store
from classroom.intake.intake import Intake, intake
from classroom.intake.select import Listed, ReviewItem
from classroom.intake.submissions import require_there
from classroom.lms import exports
from classroom.options import Options, Summary
from classroom.policy import Policy, possible_points
from classroom.private_tasks import applied
from classroom.publish import publish
from classroom.run import Run
from classroom.sandbox.bubblewrap import bubblewrap, require_others_may_read
from classroom.sandbox.limits import Limits
from classroom.states import State
from grading.task import Task, Tasks, all_tasks
from helpers.validation import require


class NotStarted(ValueError):
    """What kept a run from starting, in words; nothing was graded."""


@contextlib.contextmanager
def before_grading() -> Iterator[None]:
    """Everything before the first submission runs.

    Raises:
        NotStarted: on anything that a person entered and that cannot be.
    """
    try:
        yield
    except (ValueError, OSError) as error:
        raise NotStarted(str(error)) from error


def grade_class(
    source: Path,
    out: Path,
    options: Options | None = None,
    *,
    policy: Policy | None = None,
    tasks: Mapping[str, Task] | None = None,
    limits: Limits | None = None,
    order: Callable[[list[Listed]], list[Listed]] = lambda rows: rows,
    examiner: Execute | None = None,
) -> Summary:
    """Grade the submissions in `source` and write all results into `out`.

    Args:
        options: what the command line asks for.
        policy: the lecturer's rules.
        tasks: by name; all tasks of the course if not given.
        order: the order in which submissions are graded; for tests.
        examiner: replaces the sandbox; for tests of everything around it.

    Raises:
        Unavailable: if there is no sandbox, and `options.unsafe` does not allow to do without.
        NotStarted: if something that a person entered fits nothing; then nothing was changed.
        ValueError: if the table to be filled in fits nobody.
    """
    options, course = options or Options(), all_tasks() if tasks is None else Tasks.of(tasks)
    rules = policy or Policy()
    if options.student:  # as in Gradescope, which has deadlines of its own
        rules = rules.without_deadlines()
    graded = applied(rules, course)
    with contextlib.ExitStack() as stack:
        with before_grading():
            require_there(source)
            _require_apart(source, (options.term, out))
            _require_fits(options, rules, graded)
            program = None if options.unsafe or examiner else bubblewrap()
            if options.unsafe:
                require_others_may_read()
            store = stack.enter_context(contextlib.closing(_store(out, options)))
            seed = _seed(store, options.seed)
            run = Run(source, out, options, rules, course, graded, store, seed)
            handed = intake(run)
            ungoverned = _remember_rules(run, handed, policy is not None)
            run.policy = rules.by(handed.members.id_of)
            decisions = read_decisions(run, handed.members)
        execute(run, order(handed.accepted), limits or Limits(), program, examiner)
        failures = sum(row.state is State.GRADER_FAILED for row in handed.rows)
        marked = mark(run, handed, decisions)
        return replace(publish(run, handed, marked, failures), ungoverned=ungoverned)


def _store(out: Path, options: Options) -> Store:
    """The database of grades; its folder and file, if they are new, are the owner's alone."""
    for folder in filter(None, (options.term, out)):
        folder.parent.mkdir(parents=True, exist_ok=True)
        folder.mkdir(mode=0o700, exist_ok=True)
    path = (options.term or out) / "grades.sqlite"
    path.touch(mode=0o600)
    try:
        return Store(path)
    except sqlite3.Error as error:
        said = "is another run going on? If the file is damaged, give another --out"
        raise ValueError(f"{path}: {error}; {said}") from error


def _require_apart(source: Path, folders: Iterable[Path | None]) -> None:
    """Refuse a folder for results among the submissions: the next run would take them for some.

    Raises:
        ValueError: in this case.
    """
    for folder in filter(None, folders):
        if folder.resolve().is_relative_to(source.resolve()):
            raise ValueError(f"{folder} lies in the folder of submissions; give another --out")


def _require_fits(options: Options, policy: Policy, tasks: Tasks) -> None:
    """Refuse a sheet or table that is not there, and a table whose maximum is not the sheet's.

    Raises:
        ValueError: in these cases.
    """
    lectures = sorted(set(tasks.lectures.values()))
    require(
        options.lecture in (None, *lectures), "--lecture", options.lecture, f"one of {lectures}"
    )
    tables = [(path, "roster") for path in options.rosters]
    tables += [(path, "table of points") for path in options.points]
    tables += [(path, "table of participants") for path in options.participants]
    for path, what in [*tables, *([(options.table, "table")] if options.table else [])]:
        if not path.exists():
            raise ValueError(f"there is no {what} {path}")
    if not options.lecture:
        return
    possible = sum(possible_points(policy, tasks, options.lecture).values())
    if not options.scale:
        for roster in options.rosters:
            exports.require_roster_fits(roster, options.column, possible)
    if options.table:
        exports.require_fits(options.table, options.column, None if options.scale else possible)


def _seed(store: Store, seed: int | None) -> int:
    """The seed of the hidden cases: the given one, that of an earlier run, or a new one."""
    if seed is None:
        seed = int(store.setting("seed") or secrets.randbits(128))
    store.set("seed", str(seed))
    return seed


def _remember_rules(run: Run, handed: Intake, ruled: bool) -> bool:
    """Add an item for review if an earlier run had a policy and this one has none.

    Returns:
        Whether that is so.
    """
    if ruled:
        run.store.set("ruled", "yes")
    elif run.store.setting("ruled"):
        said = "a run before this one had the rules of a class (POLICY), and this one has none"
        handed.items.insert(0, ReviewItem(said, run.options.lecture))
        return True
    return False
