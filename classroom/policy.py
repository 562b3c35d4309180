"""The lecturer's policy: one file, `class.toml`, read and checked before anything is graded."""

from __future__ import annotations

import importlib.util
import os
import tomllib
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, fields, replace
from datetime import date, datetime, timedelta, tzinfo
from pathlib import Path

from classroom.policy_file import PolicyError, Table, elapsed, meant, moment
from classroom.tables import decoded
from grading.task import Task, Tasks

ROOT = Path(__file__).resolve().parents[1]
EXAMPLE = Path(__file__).with_name("class.toml")
VISIBLE = ("visible", "after_due_date", "after_published", "hidden")
"""What Gradescope knows: https://gradescope-autograders.readthedocs.io/en/latest/specs/"""


@dataclass(frozen=True)
class SheetRules:
    """The rules of one sheet."""

    due: datetime | None = None
    extensions: Mapping[str, datetime] = field(default_factory=dict)
    excluded: frozenset[str] = frozenset()
    bonus: frozenset[str] = frozenset()
    full_points: frozenset[str] = frozenset()
    """Tasks, such as wrong ones, whose points everybody gets whose file is graded."""
    points: Mapping[str, float] = field(default_factory=dict)
    partial: bool = True


@dataclass(frozen=True)
class Policy:
    """All rules. Without a file: every task counts, nothing is late, nothing is kept back."""

    rosters: tuple[Path, ...] = ()
    sheets: Mapping[int, SheetRules] = field(default_factory=dict)
    grace: timedelta = timedelta(0)
    percent_per_day: float = 0.0
    days: int | None = None
    """Later than this many days, a sheet has no points; None if there is no such end."""
    times: str | Path = ""
    """The source of the times of handing in: "files", "moodle" (its worksheet), or a table."""
    zone: tzinfo | None = None
    """The zone of times without one; None means the zone of this machine."""
    answers_from: datetime | None = None
    """The time from which the feedback shows model answers."""
    keep_back: frozenset[str | int] = frozenset()
    """Names of tasks, and numbers of sheets, whose model answers are never shown."""
    inputs: bool = True
    """Whether the feedback shows the hidden input on which an answer failed."""
    visibility: str = "visible"
    site: str = ""
    """The address of the course's site, for links from the feedback."""
    private: Path | None = None
    packages: tuple[str, ...] = ()

    def without_deadlines(self) -> Policy:
        """The same rules where nothing is late."""
        rules = {n: replace(r, due=None, extensions={}) for n, r in self.sheets.items()}
        return replace(self, sheets=rules, times="")

    def of(self, lecture: int | None) -> SheetRules:
        """The rules of one sheet."""
        return self.sheets.get(lecture or 0, SheetRules())

    def by(self, id_of: Callable[[str], str]) -> Policy:
        """The same rules, with every student replaced by the student's id."""
        sheets = {
            number: replace(
                rules, extensions={id_of(said): when for said, when in rules.extensions.items()}
            )
            for number, rules in self.sheets.items()
        }
        return replace(self, sheets=sheets)

    def due(self, lecture: int, student: str) -> datetime | None:
        """The deadline of a student; an extension never ends before that of all others."""
        rules = self.of(lecture)
        return max(filter(None, (rules.due, rules.extensions.get(student))), default=None)

    def days_late(self, lecture: int, student: str, handed: datetime | None) -> int:
        """Number of days that began after the deadline; 0 within its grace."""
        due = self.due(lecture, student)
        if due is None or handed is None or elapsed(due, handed) <= self.grace:
            return 0
        # A day ends at the time of day at which it began, also where the clocks change.
        began, ended = (time.astimezone(self.zone).replace(tzinfo=None) for time in (due, handed))
        return max(1, -(-(ended - began) // timedelta(days=1)))

    def keeps_back(self, task: Task) -> bool:
        """Whether the feedback never shows the model answer of a task."""
        return task.name in self.keep_back or task.lecture in self.keep_back

    def share(self, late: int) -> float:
        """The share of the points that remains after so many days."""
        if self.days is not None and late > self.days:
            return 0.0
        return max(0.0, 1 - late * self.percent_per_day / 100)


def read_policy(path: Path, deadlines: bool = True) -> Policy:
    """The policy of a file.

    Args:
        deadlines: whether they hold; in Gradescope, which has its own, no times are wanted.

    Raises:
        PolicyError: if it is no TOML, has a key that is not known, or a value that cannot be.
    """
    try:
        given = tomllib.loads(decoded(path).replace("\r\n", "\n"))
    except tomllib.TOMLDecodeError as error:
        raise PolicyError(f"{path.name}: {error}") from error
    top = Table(path, "", given)
    feedback, late = top.table("feedback"), top.table("late")
    sheets, tables, zone = {}, [top, feedback, late], late.zone("time_zone")
    for name, rules in top.tables("sheets").items():
        if not name.isdecimal():
            raise PolicyError(f"{path.name}: [sheets.{name}]: a lecture's number is wanted")
        sheets[int(name)] = SheetRules(
            due=rules.time("due", zone),
            extensions=rules.times("extensions", zone),
            excluded=frozenset(rules.names("excluded")),
            bonus=frozenset(rules.names("bonus")),
            full_points=frozenset(rules.names("full_points")),
            points=rules.numbers("points"),
            partial=rules.one("partial", bool, True),
        )
        tables.append(rules)
    times = late.one("times", str, "")
    released = feedback.get("model_answers", (bool, datetime, date), False)
    if released is True:
        released = datetime.fromtimestamp(0)
    elif released:
        released = feedback.time("model_answers", zone)
    policy = Policy(
        rosters=tuple(top.paths("roster")),
        sheets=sheets,
        grace=timedelta(minutes=late.number("grace_minutes", 0)),
        percent_per_day=late.number("percent_per_day", 0),
        days=late.one("days", int, None),
        times=_source(path, times),
        zone=zone,
        answers_from=moment(released, zone),
        keep_back=frozenset(feedback.names_or_sheets("keep_back")),
        inputs=feedback.one("inputs", bool, True),
        visibility=feedback.one("gradescope", str, "visible"),
        site=feedback.one("site", str, ""),
        private=next(iter(top.paths("private")), None),
        packages=tuple(top.names("packages")),
    )
    homes = {table.name: table.asked for table in tables}
    homes["sheets.4"] = {rule.name for rule in fields(SheetRules)}
    for table in tables:  # first of all: a misspelled key is the cause of what is missing
        table.done(homes)
    if deadlines and not times and any(rules.due or rules.extensions for rules in sheets.values()):
        said = 'late.times: "files", "moodle" or a table is wanted, since a sheet has a deadline'
        raise PolicyError(f"{path.name}: {said}")
    if policy.visibility not in VISIBLE:
        said = f"feedback.gradescope is {policy.visibility!r}; of: {', '.join(VISIBLE)}"
        raise PolicyError(f"{path.name}: {said}{meant(policy.visibility, VISIBLE)}")
    if policy.private and policy.private.resolve().is_relative_to(ROOT):
        raise PolicyError(f"{path.name}: private: this folder lies inside the course's repository")
    missing = [name for name in policy.packages if not _can_be_imported(name)]
    if missing:
        said = f"{', '.join(missing)} cannot be imported here"
        raise PolicyError(f"{path.name}: packages: {said}; install it into .venv")
    return policy


def _can_be_imported(name: str) -> bool:
    """Whether there is a module of this name; also where no module can have it."""
    try:
        return importlib.util.find_spec(name) is not None
    except (ImportError, ValueError):
        return False


def _source(path: Path, times: str) -> str | Path:
    """Where times come from: a word, or a table that is there."""
    words = ("", "files", "moodle")
    place = path.parent / times
    if times in words or os.path.exists(place):
        return times if times in words else place
    said = meant(times, words) if not place.suffix else ""
    raise PolicyError(f"{path.name}: late.times: {place} is not there{said}")


def possible_points(policy: Policy, tasks: Tasks, lecture: int) -> dict[str, float]:
    """The points that make up the maximum of a sheet, by task, without bonus tasks."""
    rules = policy.of(lecture)
    mine = [name for name in tasks.of_lecture(lecture) if name not in rules.bonus]
    return {name: rules.points.get(name, tasks[name].points) for name in mine}
