"""The database of grades: one SQLite file, one transaction a submission.

Plain `sqlite3`, without another layer: it comes with Python, there are few small tables, and a
transaction is whole or not there at all, also when the grader is killed in the middle of one.

Results of the grader (`submission`, `result`) and decisions of persons (`correction`, `look`,
`decision`) have tables of their own, and no run deletes from the latter.
"""

from __future__ import annotations

import hashlib
import json
import sqlite3
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from typing import NamedTuple

from classroom import tables
from classroom.states import By, State

VERSION = 2
TABLES = f"""
CREATE TABLE IF NOT EXISTS setting (name TEXT PRIMARY KEY, value TEXT NOT NULL);
CREATE TABLE IF NOT EXISTS student (
    id TEXT PRIMARY KEY, name TEXT NOT NULL, email TEXT NOT NULL, blind INTEGER NOT NULL DEFAULT 0);
CREATE TABLE IF NOT EXISTS identity (
    lecture INTEGER NOT NULL, word TEXT NOT NULL, student TEXT NOT NULL, made TEXT NOT NULL,
    PRIMARY KEY (lecture, word, student));
CREATE TABLE IF NOT EXISTS submission (
    key TEXT PRIMARY KEY, file TEXT NOT NULL, student TEXT NOT NULL, lecture INTEGER NOT NULL,
    handed TEXT NOT NULL, graded TEXT NOT NULL, counts INTEGER NOT NULL DEFAULT 0,
    flags TEXT NOT NULL, notes TEXT NOT NULL, seconds REAL NOT NULL);
CREATE TABLE IF NOT EXISTS result (
    key TEXT NOT NULL REFERENCES submission (key), task TEXT NOT NULL, points REAL NOT NULL,
    possible REAL NOT NULL, message TEXT NOT NULL, mistake INTEGER, review INTEGER NOT NULL,
    answer TEXT NOT NULL, input TEXT NOT NULL, part TEXT NOT NULL DEFAULT '',
    PRIMARY KEY (key, task));
CREATE TABLE IF NOT EXISTS correction (
    number INTEGER PRIMARY KEY, student TEXT NOT NULL, task TEXT NOT NULL, points REAL,
    comment TEXT NOT NULL, author TEXT NOT NULL, made TEXT NOT NULL, answer TEXT NOT NULL);
CREATE TABLE IF NOT EXISTS look (
    item TEXT PRIMARY KEY, seen TEXT NOT NULL, made TEXT NOT NULL);
CREATE TABLE IF NOT EXISTS decision (
    lecture INTEGER NOT NULL, file TEXT NOT NULL, what TEXT NOT NULL, value TEXT NOT NULL,
    PRIMARY KEY (lecture, file, what));
CREATE TABLE IF NOT EXISTS grade (
    student TEXT NOT NULL, lecture INTEGER NOT NULL, task TEXT NOT NULL, points REAL NOT NULL,
    possible REAL NOT NULL, by TEXT NOT NULL CHECK (by IN {(*map(str, By),)}),
    author TEXT NOT NULL, PRIMARY KEY (student, lecture, task));
CREATE TABLE IF NOT EXISTS sheet (
    student TEXT NOT NULL, lecture INTEGER NOT NULL,
    state TEXT NOT NULL CHECK (state IN {(*map(str, State),)}), status TEXT NOT NULL,
    file TEXT NOT NULL, points REAL NOT NULL, possible REAL NOT NULL, late INTEGER NOT NULL,
    final INTEGER NOT NULL, PRIMARY KEY (student, lecture));
"""


@dataclass
class Result:
    """What one task earned, and why."""

    task: str
    points: float
    possible: float
    message: str
    mistake: int | None = None
    review: bool = False
    answer: str = ""
    """What the student wrote: the cell, or the text where a person has to read it."""
    input: str = ""
    """The hidden input on which it failed, where there is one."""
    part: str = ""
    """Why it is a part of the points, and which."""

    @property
    def answer_id(self) -> str:
        """Changes with the answer, but not with the space around it."""
        return answer_id(self.answer)


def answer_id(answer: str) -> str:
    """A short fingerprint of an answer; nothing for no answer.

    It begins with a letter: a spreadsheet would make a number of 12345e67.
    """
    bare = "\n".join(line.rstrip() for line in answer.strip().splitlines())
    return "a" + hashlib.sha256(bare.encode(errors="replace")).hexdigest()[:8] if bare else ""


@dataclass(frozen=True)
class Correction:
    """Points that a person gave; None takes an earlier correction back."""

    student: str
    task: str
    points: float | None
    comment: str = ""
    author: str = ""
    made: str = ""
    answer: str = ""
    """The fingerprint of the answer that the person saw."""


@dataclass(frozen=True)
class Corrections:
    """Corrections that hold, by student and task: the newest for each text, the last one last."""

    held: Mapping[tuple[str, str], Sequence[Correction]] = field(default_factory=dict)

    def get(self, place: tuple[str, str], text: str = "") -> Correction | None:
        """The correction of this very text, by its fingerprint; else the last one."""
        mine = self.held.get(place, ())
        same = [one for one in mine if text and one.answer == text]
        return [*mine, *same][-1] if mine else None


@dataclass
class Graded:
    """A submission that was graded."""

    key: str
    file: str
    student: str
    lecture: int
    handed: str = ""
    flags: list[str] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)
    seconds: float = 0.0
    results: list[Result] = field(default_factory=list)


def text(value: object) -> object:
    """A text that SQLite can store: a student's may hold half of a pair of surrogates."""
    return tables.writable(value) if isinstance(value, str) else value


def now() -> str:
    """The current time, as it is stored."""
    return datetime.now(UTC).isoformat(timespec="seconds")


class BlindSheet(NamedTuple):
    """A sheet of an anonymous participant."""

    lecture: int
    student: str
    name: str
    points: float
    possible: float
    final: int


@dataclass(frozen=True)
class Previous:
    """A student's points for a sheet after the previous run."""

    points: float
    late: int
    file: str
    tasks: Mapping[str, float]
    possible: float = 0.0
    waiting: frozenset[str] = frozenset()
    """Tasks whose answers nobody had marked."""


class Store:
    """The database in the folder of results.

    Raises:
        ValueError: if another version of the grader made it.
    """

    def __init__(self, path: Path):
        self.base = sqlite3.connect(path, isolation_level=None)
        [version] = self.base.execute("PRAGMA user_version").fetchone()
        there = self.base.execute("SELECT count(*) FROM sqlite_master").fetchone()[0]
        if there and version != VERSION:
            self.base.close()
            raise ValueError(f"{path}: another version of the grader made this; give another --out")
        self.base.executescript(TABLES)
        self.base.execute(f"PRAGMA user_version = {VERSION}")

    def setting(self, name: str) -> str | None:
        """A setting that an earlier run stored."""
        row = self.base.execute("SELECT value FROM setting WHERE name = ?", (name,)).fetchone()
        return row and row[0]

    def set(self, name: str, value: str) -> None:
        """Store a setting for later runs."""
        self.base.execute("INSERT OR REPLACE INTO setting VALUES (?, ?)", (name, value))

    def has(self, key: str) -> bool:
        """Whether this submission was graded before."""
        query = "SELECT 1 FROM submission WHERE key = ?"
        return self.base.execute(query, (key,)).fetchone() is not None

    def add(self, graded: Graded) -> None:
        """Store a submission and its results, all or nothing."""

        submission = {
            "key": graded.key,
            "file": graded.file,
            "student": graded.student,
            "lecture": graded.lecture,
            "handed": graded.handed,
            "graded": now(),
            "flags": json.dumps([text(flag) for flag in graded.flags]),
            "notes": json.dumps([text(note) for note in graded.notes]),
            "seconds": graded.seconds,
        }
        with self._whole():
            self._insert("submission", submission)
            for result in graded.results:
                values = {name: text(value) for name, value in vars(result).items()}
                self._insert("result", {"key": graded.key, **values})

    def _insert(self, table: str, values: Mapping[str, object]) -> None:
        """Insert a row; the names in `values` are those of the columns."""
        names = ", ".join(values)
        marks = ", ".join(f":{name}" for name in values)
        self.base.execute(f"INSERT INTO {table} ({names}) VALUES ({marks})", dict(values))

    def get(self, key: str) -> Graded:
        """A graded submission, without corrections."""
        query = "SELECT key, file, student, lecture, handed, flags, notes, seconds FROM submission"
        row = self.base.execute(f"{query} WHERE key = ?", (key,)).fetchone()
        *head, flags, notes, seconds = row
        query = "SELECT * FROM result WHERE key = ? ORDER BY rowid"
        results = [
            Result(task, points, possible, message, mistake, bool(review), *texts)
            for _, task, points, possible, message, mistake, review, *texts in (
                self.base.execute(query, (key,))
            )
        ]
        return Graded(*head, json.loads(flags), json.loads(notes), seconds, results)

    def earlier(self, students: Collection[str], lecture: int, key: str) -> list[Graded]:
        """Other graded submissions of a student for a sheet, of this run or an earlier one.

        Args:
            students: the identifiers that the student has and had.
            key: the submission that is left out.
        """
        marks = ", ".join("?" * len(students))
        query = f"SELECT key FROM submission WHERE student IN ({marks}) AND lecture = ?"
        found = self.base.execute(f"{query} AND key != ?", (*students, lecture, key))
        return [self.get(row[0]) for row in found.fetchall()]

    def counts(self, pairs: Iterable[tuple[str, int]], keys: Mapping[str, str]) -> None:
        """Store which submissions count for these students and lectures, and who owns them.

        Args:
            pairs: students and lectures.
            keys: by submission, its student; no other submission counts.
        """
        with self._whole():
            for student, lecture in pairs:
                query = "UPDATE submission SET counts = 0 WHERE student = ? AND lecture = ?"
                self.base.execute(query, (student, lecture))
            for key, student in keys.items():
                query = "UPDATE submission SET counts = 1, student = ? WHERE key = ?"
                self.base.execute(query, (student, key))

    def correct(self, corrections: Iterable[Correction]) -> None:
        """Store corrections. The last one counts; earlier ones stay for the record."""
        with self._whole():
            for c in corrections:
                values = c.student, c.task, c.points, c.comment, c.author, c.made or now(), c.answer
                query = "INSERT INTO correction VALUES (NULL, ?, ?, ?, ?, ?, ?, ?)"
                self.base.execute(query, values)

    def corrections(self, now: Callable[[str, str], str] = lambda id, task: id) -> Corrections:
        """Corrections that hold; `now` gives a present id. "-" withdraws all of a task."""
        query = "SELECT student, task, points, comment, author, made, answer FROM correction"
        rows = self.base.execute(f"{query} ORDER BY number")
        held: dict[tuple[str, str], list[Correction]] = {}
        for made in (Correction(*row) for row in rows):
            place = now(made.student, made.task), made.task
            others = [one for one in held.get(place, ()) if one.answer != made.answer]
            held[place] = [] if made.points is None else [*others, made]
        return Corrections(held)

    def look(self, items: Iterable[tuple[str, str]]) -> None:
        """Store the items of look.csv that a person has looked at, with that person's note."""
        with self._whole():
            for item, seen in items:
                query = "INSERT OR REPLACE INTO look VALUES (?, ?, ?)"
                self.base.execute(query, (item, seen, now()))

    def looked(self) -> dict[str, str]:
        """Notes of persons, by item that they looked at."""
        return dict(self.base.execute("SELECT item, seen FROM look"))

    def submitted(self, file: str) -> tuple[str, int, set[str]] | None:
        """The student and the lecture of a file that was graded, and its keys."""
        query = "SELECT student, lecture, key FROM submission WHERE file = ? ORDER BY rowid"
        rows = self.base.execute(query, (file,)).fetchall()
        return (*rows[-1][:2], {row[2] for row in rows}) if rows else None

    def decide(self, lecture: int | None, file: str, what: str, value: str) -> None:
        """Store a decision about a file: its student, or that it counts."""
        values = lecture or 0, file, what, value
        self.base.execute("INSERT OR REPLACE INTO decision VALUES (?, ?, ?, ?)", values)

    def decisions(self, lecture: int | None, what: str) -> dict[str, str]:
        """All decisions of one kind, by file, the last one last."""
        query = "SELECT file, value FROM decision WHERE lecture = ? AND what = ? ORDER BY rowid"
        return dict(self.base.execute(query, (lecture or 0, what)))

    def identities(self) -> list[tuple[int, str, str]]:
        """Words by which students were known: the lecture, the word, the student's id then."""
        return self.base.execute("SELECT lecture, word, student FROM identity").fetchall()

    def remember(self, words: Iterable[tuple[int, str, str]]) -> None:
        """Store words by which students are known, so that later runs recognize them."""
        for row in words:
            query = "INSERT OR IGNORE INTO identity VALUES (?, ?, ?, ?)"
            self.base.execute(query, (*row, now()))

    def students(self) -> set[str]:
        """Ids of all students of earlier runs."""
        return {row[0] for row in self.base.execute("SELECT id FROM student")}

    def named(self) -> set[str]:
        """Ids of the students of earlier runs who are not anonymous participants."""
        return {row[0] for row in self.base.execute("SELECT id FROM student WHERE NOT blind")}

    def blind(self, lecture: int | None = None) -> list[BlindSheet]:
        """Sheets of anonymous participants that have a submission or points."""
        query = (
            "SELECT lecture, id, name, points, possible, final FROM sheet JOIN student "
            "ON student = id WHERE blind AND (state = ? OR points > 0) ORDER BY lecture, id"
        )
        sheets = [BlindSheet(*row) for row in self.base.execute(query, (State.COUNTS,))]
        return [sheet for sheet in sheets if lecture in (None, sheet.lecture)]

    def rename(self, former: Mapping[tuple[int, str], str]) -> int:
        """Move what earlier runs stored under another identifier to the student's id, by sheet.

        Corrections stay under the identifier under which they were given.

        Args:
            former: by lecture (0: all) and an id of an earlier run, the student's id now.

        Returns:
            Number of students with another identifier than in the previous run.
        """
        before = self.students()
        with self._whole():
            for (lecture, old), new in former.items():
                for table in ("sheet", "grade", "submission"):
                    there = f"student = ? AND {lecture} IN (0, lecture)"
                    query = f"UPDATE OR IGNORE {table} SET student = ? WHERE {there}"
                    self.base.execute(query, (new, old))
                    if table != "submission":  # of these, the student has the newer ones
                        self.base.execute(f"DELETE FROM {table} WHERE {there}", (old,))
                query = "DELETE FROM student WHERE id = ? AND id NOT IN (SELECT student FROM sheet)"
                self.base.execute(query, (old,))
        return len({old for _, old in former} & before)

    def published(self) -> dict[tuple[str, int], Previous]:
        """What the previous run published, by student and lecture."""
        tasks: dict[tuple[str, int], dict[str, float]] = {}
        waiting: dict[tuple[str, int], set[str]] = {}
        for student, lecture, task, points, by in self.base.execute(
            "SELECT student, lecture, task, points, by FROM grade"
        ):
            tasks.setdefault((student, lecture), {})[task] = points
            if by == By.WAITING:
                waiting.setdefault((student, lecture), set()).add(task)
        rows = self.base.execute("SELECT student, lecture, points, late, file, possible FROM sheet")
        return {
            (place := (student, lecture)): Previous(
                *was, tasks.get(place, {}), possible, frozenset(waiting.get(place, ()))
            )
            for student, lecture, *was, possible in rows
        }

    def publish(self, students: Iterable, sheets: Sequence) -> None:
        """Store the grades that count: the tables for sums and lists."""
        with self._whole():
            for s in students:
                values = s.id, s.name, s.email, s.blind
                self.base.execute("INSERT OR REPLACE INTO student VALUES (?, ?, ?, ?)", values)
            for sheet in sheets:
                place = sheet.student.id, sheet.lecture or 0
                self.base.execute("DELETE FROM grade WHERE student = ? AND lecture = ?", place)
                rows = [
                    (*place, g.task, g.points, g.possible, g.by, g.author) for g in sheet.grades
                ]
                self.base.executemany("INSERT INTO grade VALUES (?, ?, ?, ?, ?, ?, ?)", rows)
                values = (*place, sheet.state, sheet.status, sheet.file, sheet.points)
                values = (*values, sheet.possible, sheet.late, sheet.final)
                query = "INSERT OR REPLACE INTO sheet VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)"
                self.base.execute(query, values)

    def _whole(self) -> _Transaction:
        return _Transaction(self.base)

    def close(self) -> None:
        """Close the file."""
        self.base.close()


class _Transaction:
    """All of it, or nothing."""

    def __init__(self, base: sqlite3.Connection):
        self.base = base

    def __enter__(self) -> None:
        self.base.execute("BEGIN IMMEDIATE")

    def __exit__(self, kind: type | None, *_: object) -> None:
        self.base.execute("COMMIT" if kind is None else "ROLLBACK")
