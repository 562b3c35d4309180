"""Where grades are kept: one SQLite file, one transaction a submission.

Plain `sqlite3`, without another layer: it comes with Python, there are few small tables, and a
transaction is whole or not there at all, also when the grader is killed in the middle of one.

What a machine found (`submission`, `result`) and what persons said (`correction`, `look`,
`decision`) lie in tables of their own, and no run deletes from the latter.
"""

from __future__ import annotations

import hashlib
import json
import re
import sqlite3
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path

from classroom import tables

VERSION = 4
TABLES = """
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
    possible REAL NOT NULL, by TEXT NOT NULL, PRIMARY KEY (student, lecture, task));
CREATE TABLE IF NOT EXISTS sheet (
    student TEXT NOT NULL, lecture INTEGER NOT NULL, status TEXT NOT NULL, file TEXT NOT NULL,
    points REAL NOT NULL, possible REAL NOT NULL, late INTEGER NOT NULL, final INTEGER NOT NULL,
    PRIMARY KEY (student, lecture));
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
    """The private input on which it failed, where there is one."""
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
    """A text as SQLite can keep it: a student's may hold half of a pair of surrogates."""
    return tables.writable(value) if isinstance(value, str) else value


def now() -> str:
    """The time, as it is kept."""
    return datetime.now(UTC).isoformat(timespec="seconds")


@dataclass(frozen=True)
class Previous:
    """What a student had for a sheet after an earlier run."""

    points: float
    late: int
    file: str
    tasks: Mapping[str, float]
    possible: float = 0.0


class Store:
    """The database in the folder of results.

    Raises:
        ValueError: if an older or newer grader made it.
    """

    def __init__(self, path: Path):
        self.base = sqlite3.connect(path, isolation_level=None)
        [version] = self.base.execute("PRAGMA user_version").fetchone()
        there = self.base.execute("SELECT count(*) FROM sqlite_master").fetchone()[0]
        if there and version not in (2, 3, VERSION):
            self.base.close()
            raise ValueError(f"{path}: another version of the grader made this; give another --out")
        self.base.executescript(TABLES)
        if version in (2, 3):  # a term that was begun before partial points, or before identities
            self._add("result", "part", "TEXT NOT NULL DEFAULT ''")
            self._add("student", "blind", "INTEGER NOT NULL DEFAULT 0")
            self._find_participants()
        self.base.execute(f"PRAGMA user_version = {VERSION}")

    def _add(self, table: str, column: str, kind: str) -> None:
        there = {row[1] for row in self.base.execute(f"PRAGMA table_info({table})")}
        if column not in there:
            self.base.execute(f"ALTER TABLE {table} ADD COLUMN {column} {kind}")

    def _find_participants(self) -> None:
        """Of a term that was begun before identities were kept: who had only a number."""
        for student, lecture in self.base.execute("SELECT student, lecture FROM sheet").fetchall():
            if number := re.fullmatch(r"Participant (\d+)", student):
                self.remember([(lecture, f"moodle {number[1]}", student)])
                self.base.execute("UPDATE student SET blind = 1 WHERE id = ?", (student,))

    def setting(self, name: str) -> str | None:
        """A setting of an earlier run."""
        row = self.base.execute("SELECT value FROM setting WHERE name = ?", (name,)).fetchone()
        return row and row[0]

    def set(self, name: str, value: str) -> None:
        """Keep a setting for later runs."""
        self.base.execute("INSERT OR REPLACE INTO setting VALUES (?, ?)", (name, value))

    def has(self, key: str) -> bool:
        """Whether this submission was graded before."""
        query = "SELECT 1 FROM submission WHERE key = ?"
        return self.base.execute(query, (key,)).fetchone() is not None

    def add(self, graded: Graded) -> None:
        """Keep a submission and its results, all or nothing."""

        def more(r: Result) -> tuple:
            return r.mistake, r.review, text(r.answer), text(r.input), text(r.part)

        rows = [
            (graded.key, r.task, r.points, r.possible, text(r.message), *more(r))
            for r in graded.results
        ]
        texts = (
            json.dumps([text(line) for line in lines]) for lines in (graded.flags, graded.notes)
        )
        head = graded.key, graded.file, graded.student, graded.lecture, graded.handed, now(), 0
        with self._whole():
            marks = ", ".join("?" * 10)
            values = (*head, *texts, graded.seconds)
            self.base.execute(f"INSERT INTO submission VALUES ({marks})", values)
            self.base.executemany(f"INSERT INTO result VALUES ({marks})", rows)

    def get(self, key: str) -> Graded:
        """A graded submission, as the machine found it."""
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
        """What else of a student was graded for a sheet, in this run or before.

        `students` are the identifiers that the student has and had.
        """
        marks = ", ".join("?" * len(students))
        query = f"SELECT key FROM submission WHERE student IN ({marks}) AND lecture = ?"
        found = self.base.execute(f"{query} AND key != ?", (*students, lecture, key))
        return [self.get(row[0]) for row in found.fetchall()]

    def counts(self, pairs: Iterable[tuple[str, int]], keys: Mapping[str, str]) -> None:
        """Say which submissions count, and whose they are: of these students and lectures, these
        and no others.
        """
        with self._whole():
            for student, lecture in pairs:
                query = "UPDATE submission SET counts = 0 WHERE student = ? AND lecture = ?"
                self.base.execute(query, (student, lecture))
            for key, student in keys.items():
                query = "UPDATE submission SET counts = 1, student = ? WHERE key = ?"
                self.base.execute(query, (student, key))

    def correct(self, corrections: Iterable[Correction]) -> None:
        """Take what persons decided. The last one counts; the earlier ones stay for the record."""
        with self._whole():
            for c in corrections:
                values = c.student, c.task, c.points, c.comment, c.author, c.made or now(), c.answer
                query = "INSERT INTO correction VALUES (NULL, ?, ?, ?, ?, ?, ?, ?)"
                self.base.execute(query, values)

    def corrections(
        self, now: Callable[[str, str], str] = lambda id, task: id
    ) -> dict[tuple[str, str], Correction]:
        """What holds now, by student and task. `now` says who a student of earlier runs is."""
        query = "SELECT student, task, points, comment, author, made, answer FROM correction"
        rows = self.base.execute(f"{query} ORDER BY number")
        last = {(now(row[0], row[1]), row[1]): Correction(*row) for row in rows}
        return {place: c for place, c in last.items() if c.points is not None}

    def look(self, items: Iterable[tuple[str, str]]) -> None:
        """Keep which items of the list a person has looked at, and what the person wrote."""
        with self._whole():
            for item, seen in items:
                query = "INSERT OR REPLACE INTO look VALUES (?, ?, ?)"
                self.base.execute(query, (item, seen, now()))

    def looked(self) -> dict[str, str]:
        """What persons wrote beside the items that they looked at."""
        return dict(self.base.execute("SELECT item, seen FROM look"))

    def decide(self, lecture: int | None, file: str, what: str, value: str) -> None:
        """Keep a decision about a file: whose it is, or that it counts."""
        values = lecture or 0, file, what, value
        self.base.execute("INSERT OR REPLACE INTO decision VALUES (?, ?, ?, ?)", values)

    def decisions(self, lecture: int | None, what: str) -> dict[str, str]:
        """All decisions of one kind, by file, the last one last."""
        query = "SELECT file, value FROM decision WHERE lecture = ? AND what = ? ORDER BY rowid"
        return dict(self.base.execute(query, (lecture or 0, what)))

    def identities(self) -> list[tuple[int, str, str]]:
        """By which words students were known: the lecture, the word, the identifier then."""
        return self.base.execute("SELECT lecture, word, student FROM identity").fetchall()

    def remember(self, words: Iterable[tuple[int, str, str]]) -> None:
        """Keep by which words students are known, so that they are known again."""
        for row in words:
            query = "INSERT OR IGNORE INTO identity VALUES (?, ?, ?, ?)"
            self.base.execute(query, (*row, now()))

    def blind(self, lecture: int | None = None) -> list[tuple]:
        """Of who is known by a number only and has handed in or was given points, what there is."""
        query = (
            "SELECT lecture, id, name, points, possible, final FROM sheet JOIN student "
            "ON student = id WHERE blind AND (status = 'ok' OR points > 0) ORDER BY lecture, id"
        )
        rows = self.base.execute(query).fetchall()
        return [row for row in rows if lecture in (None, row[0])]

    def rename(self, former: Mapping[tuple[int, str], str]) -> int:
        """Give to students what earlier runs had under another identifier, sheet by sheet.

        What persons gave stays under the name under which it was given.

        Returns:
            How many have another identifier now than in the run before.
        """
        before = {row[0] for row in self.base.execute("SELECT id FROM student")}
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
        """By student and lecture, what the last run published."""
        tasks: dict[tuple[str, int], dict[str, float]] = {}
        for student, lecture, task, points in self.base.execute(
            "SELECT student, lecture, task, points FROM grade"
        ):
            tasks.setdefault((student, lecture), {})[task] = points
        rows = self.base.execute("SELECT student, lecture, points, late, file, possible FROM sheet")
        return {
            (student, lecture): Previous(*was, tasks.get((student, lecture), {}), possible)
            for student, lecture, *was, possible in rows
        }

    def publish(self, students: Iterable, sheets: Sequence) -> None:
        """Write down what counts now: the tables to ask for sums and lists."""
        with self._whole():
            for s in students:
                values = s.id, s.name, s.email, s.blind
                self.base.execute("INSERT OR REPLACE INTO student VALUES (?, ?, ?, ?)", values)
            for sheet in sheets:
                place = sheet.student.id, sheet.lecture or 0
                self.base.execute("DELETE FROM grade WHERE student = ? AND lecture = ?", place)
                rows = [(*place, g.task, g.points, g.possible, g.by) for g in sheet.grades]
                self.base.executemany("INSERT INTO grade VALUES (?, ?, ?, ?, ?, ?)", rows)
                values = (*place, sheet.status, sheet.file, sheet.points, sheet.possible)
                values = (*values, sheet.late, sheet.final)
                query = "INSERT OR REPLACE INTO sheet VALUES (?, ?, ?, ?, ?, ?, ?, ?)"
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
