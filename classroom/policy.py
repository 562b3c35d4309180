"""The lecturer's policy: one file, `class.toml`, read and checked before anything is graded."""

from __future__ import annotations

import contextlib
import difflib
import importlib.util
import inspect
import sys
import tomllib
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, fields, replace
from datetime import date, datetime, timedelta, tzinfo
from pathlib import Path
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError

from classroom.sandbox.serialize import SerializeError, encode
from classroom.sheets import without_marks
from classroom.tables import decoded
from grading.author import cell_of
from grading.feedback import messages, partial_credit
from grading.feedback.judge import grade
from grading.runner.compare import NotPlain, form_of, plain
from grading.task import Case, Task

ROOT = Path(__file__).resolve().parents[1]
EXAMPLE = Path(__file__).with_name("class.toml")
VISIBLE = ("visible", "after_due_date", "after_published", "hidden")
"""What Gradescope knows: https://gradescope-autograders.readthedocs.io/en/latest/specs/"""
ARGUMENTS = (
    "numbers, texts, booleans, arrays and tensors of numbers or booleans, and lists, "
    "tuples, sets and dictionaries of these"
)
"""What a case may hold: it goes into the sandbox."""


class PolicyError(ValueError):
    """Something in the policy cannot be; the sentence names the place and what is wanted."""


@dataclass(frozen=True)
class SheetRules:
    """What holds for one sheet."""

    due: datetime | None = None
    extensions: Mapping[str, datetime] = field(default_factory=dict)
    excluded: frozenset[str] = frozenset()
    bonus: frozenset[str] = frozenset()
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
    """Where the times of handing in come from: "files", "moodle" (its worksheet), or a table."""
    zone: tzinfo | None = None
    """The zone of times that name none; None: that of this machine."""
    answers_from: datetime | None = None
    """When the model answers stand in the feedback."""
    keep_back: frozenset[str | int] = frozenset()
    """Names of tasks, and numbers of sheets all of whose tasks are meant."""
    inputs: bool = True
    """Whether the feedback shows the private input on which an answer failed."""
    visibility: str = "visible"
    site: str = ""
    """Where the course's site stands, for links from the feedback."""
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
        """The same rules, with every student named by the identifier."""
        sheets = {
            number: replace(
                rules, extensions={id_of(said): when for said, when in rules.extensions.items()}
            )
            for number, rules in self.sheets.items()
        }
        return replace(self, sheets=sheets)

    def due(self, lecture: int, student: str) -> datetime | None:
        """When a student must have handed in."""
        rules = self.of(lecture)
        return rules.extensions.get(student, rules.due)

    def days_late(self, lecture: int, student: str, handed: datetime | None) -> int:
        """How many days have begun after the deadline and its grace."""
        due = self.due(lecture, student)
        if due is None or handed is None:
            return 0
        if handed <= due + self.grace:
            return 0
        return -(-(handed - due) // timedelta(days=1))

    def keeps_back(self, task: Task) -> bool:
        """Whether the model answer of a task never stands in the feedback."""
        return task.name in self.keep_back or task.lecture in self.keep_back

    def share(self, late: int) -> float:
        """Which share of the points a sheet keeps that is so many days late."""
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
    top = _Table(path, "", given)
    feedback, late = top.table("feedback"), top.table("late")
    sheets, tables, zone = {}, [top, feedback, late], late.zone("time_zone")
    for name, rules in top.tables("sheets").items():
        if not name.isdigit():
            raise PolicyError(f"{path.name}: [sheets.{name}]: a lecture's number is wanted")
        sheets[int(name)] = SheetRules(
            due=rules.time("due", zone),
            extensions=rules.times("extensions", zone),
            excluded=frozenset(rules.names("excluded")),
            bonus=frozenset(rules.names("bonus")),
            points=rules.numbers("points"),
            partial=rules.one("partial", bool, True),
        )
        tables.append(rules)
    times = late.one("times", str, "")
    released = feedback.get("model_answers", (bool, datetime, date), False)
    released = datetime.fromtimestamp(0) if released is True else released
    policy = Policy(
        rosters=tuple(top.paths("roster")),
        sheets=sheets,
        grace=timedelta(minutes=late.number("grace_minutes", 0)),
        percent_per_day=late.number("percent_per_day", 0),
        days=late.one("days", int, None),
        times=_source(path, times),
        zone=zone,
        answers_from=_moment(released, zone),
        keep_back=frozenset(feedback.names_or_sheets("keep_back")),
        inputs=feedback.one("inputs", bool, True),
        visibility=feedback.one("gradescope", str, "visible"),
        site=feedback.one("site", str, ""),
        private=next(iter(top.paths("private")), None),
        packages=tuple(top.names("packages")),
    )
    for table in tables:  # first of all: a key written wrongly is the cause of what is missing
        table.done(tables)
    if deadlines and not times and any(rules.due or rules.extensions for rules in sheets.values()):
        said = 'late.times: "files", "moodle" or a table is wanted, since a sheet has a deadline'
        raise PolicyError(f"{path.name}: {said}")
    if policy.visibility not in VISIBLE:
        said = f"feedback.gradescope is {policy.visibility!r}; of: {', '.join(VISIBLE)}"
        raise PolicyError(f"{path.name}: {said}{meant(policy.visibility, VISIBLE)}")
    if policy.private and policy.private.resolve().is_relative_to(ROOT):
        raise PolicyError(f"{path.name}: private: this folder lies inside the course's repository")
    missing = [name for name in policy.packages if importlib.util.find_spec(name) is None]
    if missing:
        said = f"{', '.join(missing)} cannot be imported here"
        raise PolicyError(f"{path.name}: packages: {said}; install it into .venv")
    return policy


def meant(word: str, known: Iterable[str]) -> str:
    """Which of the known words was probably meant, as the end of a sentence; else nothing."""
    known = sorted(known)
    near = difflib.get_close_matches(word, known, 1)
    near = near or [name for name in known if len(word) > 2 and name.startswith(word)]
    return f"; {near[0]!r} was probably meant" if near else ""


def _source(path: Path, times: str) -> str | Path:
    """Where times come from: a word, or a table that is there."""
    words = ("", "files", "moodle")
    place = path.parent / times
    if times in words or place.exists():
        return times if times in words else place
    said = meant(times, words) if not place.suffix else ""
    raise PolicyError(f"{path.name}: late.times: {place} is not there{said}")


def _there(path: Path, key: str, place: Path) -> Path:
    if not place.exists():
        raise PolicyError(f"{path.name}: {key}: {place} is not there")
    return place


def with_zone(value: datetime, zone: tzinfo | None) -> datetime:
    """A time with a zone: where it names none, this one, or this machine's."""
    if value.tzinfo:
        return value
    return value.replace(tzinfo=zone) if zone else value.astimezone()


def _moment(value: datetime | date | bool, zone: tzinfo | None) -> datetime | None:
    """A time with a zone; a day counts to its end."""
    if value is False:
        return None
    if not isinstance(value, datetime):
        value = datetime(value.year, value.month, value.day, 23, 59, 59)
    return with_zone(value, zone)


class _Table:
    """One table of the file; every key must be asked for."""

    def __init__(self, path: Path, name: str, given: dict):
        self.path, self.name, self.given, self.asked = path, name, given, set()

    def _fault(self, key: str, wanted: str) -> PolicyError:
        where = f"{self.name}.{key}" if self.name else key
        return PolicyError(f"{self.path.name}: {where} is {self.given[key]!r}; wanted: {wanted}")

    def get(self, key: str, kinds: tuple[type, ...], default: object) -> object:
        self.asked.add(key)
        value = self.given.get(key, default)
        if value is not default and type(value) not in kinds:
            raise self._fault(key, " or ".join(kind.__name__ for kind in kinds))
        return value

    def one(self, key: str, kind: type, default: object) -> object:
        return self.get(key, (kind,), default)

    def number(self, key: str, default: float) -> float:
        value = self.get(key, (int, float), default)
        if value < 0:
            raise self._fault(key, "a number that is not negative")
        return value

    def names(self, key: str) -> list[str]:
        values = self.get(key, (list,), [])
        if not all(type(value) is str for value in values):
            raise self._fault(key, "a list of names")
        return values

    def names_or_sheets(self, key: str) -> list[str | int]:
        values = self.get(key, (list,), [])
        if not all(type(value) in (str, int) for value in values):
            raise self._fault(key, "a list of names of tasks and numbers of sheets")
        return values

    def paths(self, key: str) -> list[Path]:
        values = self.get(key, (list, str), [])
        values = [values] if isinstance(values, str) else values
        return [_there(self.path, key, self.path.parent / Path(v).expanduser()) for v in values]

    def numbers(self, key: str) -> dict[str, float]:
        values = self.get(key, (dict,), {})
        if not all(type(value) in (int, float) and value > 0 for value in values.values()):
            raise self._fault(key, "names with numbers above 0")
        return {name: float(value) for name, value in values.items()}

    def zone(self, key: str) -> tzinfo | None:
        name = self.one(key, str, "")
        try:
            return ZoneInfo(name) if name else None
        except (ZoneInfoNotFoundError, ValueError) as error:
            raise self._fault(key, "a zone that this machine knows, as Europe/Berlin") from error

    def time(self, key: str, zone: tzinfo | None) -> datetime | None:
        return _moment(self.get(key, (datetime, date), False), zone)

    def times(self, key: str, zone: tzinfo | None) -> dict[str, datetime]:
        values = self.get(key, (dict,), {})
        if not all(isinstance(value, date) for value in values.values()):
            raise self._fault(key, "identifiers with dates, as 2026-11-09T23:59:00+01:00")
        return {id: _moment(value, zone) for id, value in values.items()}

    def table(self, key: str) -> _Table:
        if type(self.given.get(key, {})) is not dict:
            raise self._fault(key, f"a table, [{key}]")
        return _Table(self.path, key, self.get(key, (dict,), {}))

    def tables(self, key: str) -> dict[str, _Table]:
        self.asked.add(key)
        inner = self.given.get(key, {})
        if type(inner) is not dict or not all(type(value) is dict for value in inner.values()):
            raise self._fault(key, f"tables, as [{key}.4]")
        return {name: _Table(self.path, f"{key}.{name}", value) for name, value in inner.items()}

    def done(self, tables: Sequence[_Table]) -> None:
        """Refuse what nobody asked for: a key written wrongly would be without effect."""
        for key in sorted(self.given.keys() - self.asked):
            where = f"[{self.name}]" if self.name else "it"
            kind = "table" if type(self.given[key]) is dict else "key"
            said = f"{self.path.name}: {where} has no {kind} {key!r}"
            homes = {table.name: table.asked for table in tables}
            homes["sheets.4"] = {rule.name for rule in fields(SheetRules)}
            elsewhere = [name for name, keys in homes.items() if key in keys]
            if key.isdigit() and not self.name:
                raise PolicyError(f"{said}; a sheet's table is [sheets.{key}]")
            if elsewhere:
                home = f"under [{elsewhere[0]}]" if elsewhere[0] else "above the first [table]"
                raise PolicyError(f"{said}; it belongs {home}")
            near = meant(key, self.asked)
            raise PolicyError(f"{said}{near}; known: {', '.join(sorted(self.asked))}")


def applied(policy: Policy, tasks: Mapping[str, Task]) -> dict[str, Task]:
    """The tasks that are graded: points as the policy has them, private cases, own tasks.

    Raises:
        PolicyError: if the policy names a task that is not there.
    """
    made = dict(tasks)
    if policy.private:
        made |= {task.name: task for task in own_tasks(policy.private)}
        made |= with_own_cases(policy.private, made)
    for lecture, rules in policy.sheets.items():
        mine = {name for name, task in made.items() if task.lecture == lecture}
        for key in ("excluded", "bonus", "points"):
            for name in getattr(rules, key):
                if name not in mine:
                    there = ", ".join(sorted(mine)) or "none"
                    said = f"[sheets.{lecture}] {key}: no task {name!r}{meant(name, mine)}"
                    raise PolicyError(f"{said}; it has: {there}")
        if both := rules.excluded & rules.bonus:
            raise PolicyError(f"[sheets.{lecture}]: {min(both)!r} is excluded and a bonus")
        made = {name: task for name, task in made.items() if name not in rules.excluded}
    known = {*tasks, *made}
    numbers = sorted({task.lecture for task in (*tasks.values(), *made.values())})
    for name in policy.keep_back:
        if isinstance(name, int) and name not in numbers:
            there = ", ".join(map(str, numbers))
            raise PolicyError(f"feedback.keep_back: no sheet {name}; the sheets are: {there}")
        if isinstance(name, str) and name not in known:
            near = "; a sheet's number has no quotes" if name.isdigit() else meant(name, known)
            raise PolicyError(f"feedback.keep_back: no task {name!r}{near}")
    return made


def possible_points(policy: Policy, tasks: Mapping[str, Task], lecture: int) -> dict[str, float]:
    """By task, the points that make up the maximum of a sheet: those of bonus tasks do not."""
    rules = policy.of(lecture)
    mine = [t for t in tasks.values() if t.lecture == lecture and t.name not in rules.bonus]
    return {task.name: rules.points.get(task.name, task.points) for task in mine}


def _module(path: Path) -> object:
    name = f"private.{path.parent.parent.name}.{path.parent.name}.{path.stem}"
    spec = importlib.util.spec_from_file_location(name, path)
    module = importlib.util.module_from_spec(spec)
    sys.modules[name] = module  # where `inspect` looks for the source of a drive
    try:
        spec.loader.exec_module(module)
    except Exception as error:
        raise PolicyError(f"{path}: {type(error).__name__}: {error}") from error
    return module


def own_tasks(folder: Path) -> list[Task]:
    """The lecturer's own tasks: `tasks/lecture_NN/NAME.py`, written as those of the course."""
    found = []
    for path in sorted((folder / "tasks").glob("lecture_*/*.py")):
        task = getattr(_module(path), "TASK", None)
        if not isinstance(task, Task) or task.name != path.stem:
            raise PolicyError(f"{path}: a TASK of the name {path.stem!r} is wanted")
        _require_passed(path, task)
        found.append(task)
    return found


def own_answer(folder: Path | None, task: Task) -> str:
    """The model answer of one of the lecturer's own tasks as its file has it; nothing of others."""
    path = next(folder.glob(f"tasks/lecture_*/{task.name}.py"), None) if folder else None
    if path is None:
        return ""
    with contextlib.suppress(ValueError):  # the file marks no cell
        return without_marks(cell_of(path), task.name)
    with contextlib.suppress(TypeError, OSError):  # no function, or no text of it
        return inspect.getsource(task.reference)
    return f"{task.name} = {task.reference!r}"


def with_own_cases(folder: Path, tasks: Mapping[str, Task]) -> dict[str, Task]:
    """The tasks for which `cases/NAME.py` has a function `cases(seed)` of its own."""
    found = {}
    for path in sorted((folder / "cases").glob("*.py")):
        cases = getattr(_module(path), "cases", None)
        if path.stem not in tasks or not callable(cases):
            raise PolicyError(f"{path}: a function cases(seed) for a task of this name is wanted")
        found[path.stem] = replace(tasks[path.stem], cases=cases)
        _require_passed(path, found[path.stem])
    return found


def _require_cases(path: Path, task: Task) -> None:
    """Say of cases that cannot be used which one it is, and what is wanted."""
    try:
        made = task.cases(0)
    except Exception as error:
        raise PolicyError(f"{path}: cases(0) stops: {type(error).__name__}: {error}") from error
    cases = isinstance(made, Sequence) and all(isinstance(case, Case) for case in made)
    if not cases or not made:
        raise PolicyError(f"{path}: cases(seed) must return a list of grading.task.Case, not empty")
    for number, case in enumerate(made, 1):
        where = f"{path}: case {number}" + f" ({case.note})" * bool(case.note)
        if type(case.args) is not tuple:
            said = f"its arguments are {messages.form(form_of(case.args))}"
            raise PolicyError(f"{where}: {said}; one tuple is wanted, as in Case((x,))")
        try:
            for arg in case.args:
                encode(plain(arg))
        except (NotPlain, SerializeError) as error:
            came = messages.not_plain(error.form) if isinstance(error, NotPlain) else error
            raise PolicyError(f"{where}: an argument is {came}; wanted are {ARGUMENTS}") from error
    if partial_credit.ORDINARY not in partial_credit.told(made):
        said = "no case is an ordinary one, which half of the points are for"
        raise PolicyError(f"{path}: {said}; leave out kind= where nothing is special")


def _require_passed(path: Path, task: Task) -> None:
    """Cases that the model answer fails would take points from everybody who is right."""
    _require_cases(path, task)
    verdict = grade(task, task.reference, seed=0)
    if verdict.points < task.points and not verdict.needs_review:
        said = f"the model answer itself has {verdict.points:g} of {task.points:g} points on these"
        raise PolicyError(f"{path}: {said}: {verdict.message}")
