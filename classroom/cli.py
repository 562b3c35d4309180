"""The command line: `python -m classroom SUBMISSIONS [--roster class.csv] [--lecture N] …`."""

from __future__ import annotations

import argparse
import os
import sqlite3
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path

from classroom.gradebook.grades import NOTHING
from classroom.options import Options, Summary
from classroom.pipeline import NotStarted, before_grading, grade_class
from classroom.policy import read_policy
from classroom.sandbox.bubblewrap import Unavailable
from classroom.sandbox.examiner import GraderError

DESCRIPTION = """Grade a class.

Each submission runs in a sandbox of its own, on hidden cases; its results are plain data, and the
verdict is reached outside the sandbox. Results are stored one by one, so a run that was stopped
continues where it stopped. Points and decisions that people enter are checked before anything is
written, and they are never lost."""
MOST_JOBS = 16
TABLE = "add the table that should be filled in: TABLE=…"
UNSAFE = """\
--unsafe: students' code runs on this machine WITHOUT a sandbox, as this user or, if this is root,
as a user without rights. It can use the network, read what that user can read (as this user: the
tasks with their answers, other submissions, your files), and leave processes running. Do this
only with code that you trust, or inside a container or virtual machine that is thrown away."""


def main(arguments: Sequence[str] | None = None) -> int:
    """Grade a class as the command line says; returns the exit status."""
    command = parser()
    given = command.parse_args(arguments)
    if given.term and not given.lecture:
        command.error("--term needs --lecture too: each sheet has a folder of its own there")
    if given.student and not given.lecture:
        command.error("--student needs --lecture too: its results are those of one sheet")
    if given.unsafe:
        print(UNSAFE, file=sys.stderr)
    options, out = Options.of(given), results_folder(given)
    try:
        # With one student, as in Gradescope, no deadlines hold.
        with before_grading():
            no_due = bool(given.student)
            policy = read_policy(given.policy, deadlines=not no_due) if given.policy else None
        summary = grade_class(given.submissions, out, options, policy=policy)
    except Unavailable as error:
        print(f"{error}\nNothing was graded.")
        if not given.unsafe:
            print(f"To grade without a sandbox: --unsafe. What that means:\n\n{UNSAFE}")
        return 2
    except NotStarted as error:
        print(f"Not started: {error}")
        return 2
    except (ValueError, OSError, GraderError, sqlite3.Error) as error:
        print(f"Nothing more was graded: {error}")
        return 2
    except KeyboardInterrupt:
        print("Stopped. The same command continues where this one stopped.")
        return 130
    print(f"Grades: {out / 'grades.csv'}; overview: {out / 'summary.html'}")
    for line in [*run_lines(summary, options, out), *remaining_lines(summary, options, out)]:
        print(line)
    return 1 if summary.failures else 0


def parser() -> argparse.ArgumentParser:
    """The arguments; those that are fields of `Options` have the same names."""
    command = argparse.ArgumentParser(
        prog="python -m classroom",
        description=DESCRIPTION,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    add = command.add_argument
    tables = {"type": Path, "action": "append", "default": []}
    add("submissions", type=Path, help="a folder, a zip, or one notebook")
    add("--out", type=Path, help="folder for the results (default: SUBMISSIONS-graded)")
    add(
        "--lecture",
        type=int,
        help="the sheet, 14 for the project (default: found in each notebook)",
    )
    add("--roster", dest="rosters", metavar="ROSTER", help="who is in the class", **tables)
    add("--policy", type=Path, help="the rules: class.toml")
    said = "CSV with id, task, points and, if you like, comment and author"
    add("--points", "--review", metavar="TABLE", help=said, **tables)
    correction = ("ID", "TASK", "POINTS", "COMMENT")
    said = "give points for one task; - as POINTS withdraws them; COMMENT is required, if only ''"
    add("--correct", nargs=4, action="append", default=[], metavar=correction, help=said)
    add("--author", default="", help="who gives these points")
    owner, said = ("FILE", "ID"), "say which student a file belongs to"
    add("--assign", nargs=2, action="append", default=[], metavar=owner, help=said)
    said = "CSV with participant, and id or email: who is who after blind marking"
    add("--participants", metavar="TABLE", help=said, **tables)
    add("--count", action="append", default=[], metavar="FILE", help="let this file count")
    add("--table", type=Path, help="Moodle's worksheet or Canvas's gradebook, to be filled in")
    add("--column", default="", help="column of the gradebook: its name, or the beginning of it")
    add("--scale", action="store_true", help="scale points to the maximum in that table")
    add("--term", type=Path, help="a folder for all sheets: totals, and who needs help (--lecture)")
    add("--student", default="", help="all submissions are by this one student")
    add("--seed", type=int, help="seed of the hidden cases (drawn once, then kept)")
    add("--jobs", type=jobs, default=str(cores()), help="how many notebooks run at the same time")
    add("--torch-seed", type=int, default=0, help=argparse.SUPPRESS)
    said = "run students' code without a sandbox: only for code that you trust"
    add("--unsafe", action="store_true", help=said)
    return command


def jobs(text: str) -> int:
    """Number of submissions that run at the same time, from 1 to `MOST_JOBS`."""
    return max(1, min(int(text), MOST_JOBS))


def cores() -> int:
    """Number of processors that this process may use."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def results_folder(given: argparse.Namespace) -> Path:
    """The folder for results: --out, the sheet's folder in --term, or beside the submissions."""
    if given.out:
        return given.out
    if given.term:
        return given.term / f"sheet-{given.lecture}"
    return beside(given.submissions)


def beside(submissions: Path) -> Path:
    """The folder for results beside the submissions, named after them."""
    whole = submissions.resolve() if submissions.name in ("", "..") else submissions
    name = whole.stem if whole.suffix.lower() in (".zip", ".ipynb") else whole.name
    return whole.with_name(f"{name}-graded")


def run_lines(summary: Summary, options: Options, out: Path) -> Iterator[str]:
    """Lines about what was graded, and what differs from the previous run."""
    most_first = sorted(summary.counts.items(), key=lambda pair: (-pair[1], pair[0]))
    counts = ", ".join(f"{number} {what}" for what, number in most_first)
    total, what = sum(summary.counts.values()), "student" if options.lecture else "sheet"
    yield f"{total} {what}{'s' * (total != 1)}: {counts}; see the columns status and flags"
    if options.rosters and summary.open_items and list(summary.counts) == [NOTHING]:
        yield "No file belongs to anybody on the roster: is it the table of this class and sheet?"
    if summary.own_cases:
        yield f"With cases of your own for: {', '.join(summary.own_cases)}"
    if summary.own_tasks:
        yield f"With tasks of your own: {', '.join(summary.own_tasks)}"
    if summary.late:
        yield f"Canvas marks {summary.late} as late: column flags of grades.csv"
    if summary.replaced:
        others = ", ".join(map(str, summary.replaced))
        said = f"These tables replace those of sheet {others}"
        yield f"{said}: give each sheet an --out of its own, or all of them a --term"
    if summary.lost:
        said = "student of an earlier run has"
        said = said if summary.lost == 1 else "students of earlier runs have"
        yield (
            f"{summary.lost} {said} no row now: is the roster complete? "
            "A second class needs a folder of its own (OUT=…)."
        )
    for said in summary.maxima:
        more = "points given by hand stay the same, scaled ones change: return the grades again"
        yield f"The maximum of {said} in the last run: {more}"
    if summary.changed:
        students = "1 student" if summary.changed == 1 else f"{summary.changed} students"
        yield f"The points of {students} changed since the last run: {out / 'changed.csv'}"


def remaining_lines(summary: Summary, options: Options, out: Path) -> Iterator[str]:
    """Lines about what is left to do: to decide, to mark, to return, to grade again."""
    if summary.open_items or summary.waiting:
        yield "Not final yet:"
    if summary.open_items:
        items = f"item{'s' * (summary.open_items != 1)} to decide"
        yield f"  {summary.open_items} {items}: {out / 'look.csv'}, column seen"
    if summary.waiting:
        answers = f"written answer{'s' * (summary.waiting != 1)} to mark"
        yield f"  {summary.waiting} {answers}: {out / 'written.csv'}, column points"
    if summary.ungoverned:
        yield "An earlier run had a policy, and this one has none: add POLICY=… and run it again."
    if summary.renamed:
        said = "students have a new identifier; their points and decisions moved with them."
        yield f"{summary.renamed} {said}"
    if summary.blind:
        table = options.term / "blind.csv"
        said = f"{summary.blind} sheets belong to participants without a name"
        yield f"{said}: {table}, not in the totals"
    if summary.filled:
        yield f"To return: {summary.filled}"
    elif options.rosters and not (summary.open_items or summary.waiting or summary.failures):
        said = TABLE if summary.system else f"send the pages in {out / 'feedback'}"
        yield f"Nothing is open. To return the grades, {said}"
    if summary.failures:
        said = f"{summary.failures} could not be graded, see grades.csv"
        yield f"{said}. The same command tries them again."
