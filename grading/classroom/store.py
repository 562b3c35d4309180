"""Where grades are kept: one SQLite file, one transaction a submission.

Plain `sqlite3`, without another layer: it comes with Python, there are four small tables, and a
transaction is whole or not there at all, also when the grader is killed in the middle of one.
"""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Iterable
from dataclasses import dataclass, field
from pathlib import Path

TABLES = """
CREATE TABLE IF NOT EXISTS setting (name TEXT PRIMARY KEY, value TEXT NOT NULL);
CREATE TABLE IF NOT EXISTS submission (
    key TEXT PRIMARY KEY, file TEXT NOT NULL, student TEXT NOT NULL, lecture INTEGER NOT NULL,
    flags TEXT NOT NULL, notes TEXT NOT NULL, seconds REAL NOT NULL);
CREATE TABLE IF NOT EXISTS result (
    key TEXT NOT NULL REFERENCES submission (key), task TEXT NOT NULL, points REAL NOT NULL,
    possible INTEGER NOT NULL, message TEXT NOT NULL, mistake INTEGER, review INTEGER NOT NULL,
    answer TEXT NOT NULL, PRIMARY KEY (key, task));
CREATE TABLE IF NOT EXISTS review (
    student TEXT NOT NULL, task TEXT NOT NULL, points REAL NOT NULL, PRIMARY KEY (student, task));
"""


@dataclass
class Result:
    """What one task earned, and why."""

    task: str
    points: float
    possible: int
    message: str
    mistake: int | None = None
    review: bool = False
    answer: str = ""
    """The text, where a person has to read it."""


@dataclass
class Graded:
    """A submission that was graded."""

    key: str
    file: str
    student: str
    lecture: int
    flags: list[str] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)
    seconds: float = 0.0
    results: list[Result] = field(default_factory=list)


class Store:
    """The database in the folder of results."""

    def __init__(self, path: Path):
        self.base = sqlite3.connect(path, isolation_level=None)
        self.base.executescript(TABLES)

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
        rows = [
            (graded.key, r.task, r.points, r.possible, r.message, r.mistake, r.review, r.answer)
            for r in graded.results
        ]
        texts = json.dumps(graded.flags), json.dumps(graded.notes)
        head = graded.key, graded.file, graded.student, graded.lecture, *texts, graded.seconds
        self.base.execute("BEGIN IMMEDIATE")
        try:
            self.base.execute("INSERT INTO submission VALUES (?, ?, ?, ?, ?, ?, ?)", head)
            self.base.executemany("INSERT INTO result VALUES (?, ?, ?, ?, ?, ?, ?, ?)", rows)
            self.base.execute("COMMIT")
        except BaseException:
            self.base.execute("ROLLBACK")
            raise

    def get(self, key: str) -> Graded:
        """A graded submission, with the points that persons gave."""
        query = "SELECT * FROM submission WHERE key = ?"
        key, file, student, lecture, flags, notes, seconds = self.base.execute(
            query, (key,)
        ).fetchone()
        given = dict(
            self.base.execute("SELECT task, points FROM review WHERE student = ?", (student,))
        )
        query = "SELECT * FROM result WHERE key = ? ORDER BY rowid"
        results = []
        for _, task, points, possible, message, mistake, review, answer in self.base.execute(
            query, (key,)
        ):
            if task in given:
                points, review = given[task], False
                message = f"Read by a person: {points:g} of {possible} points."
            results.append(Result(task, points, possible, message, mistake, bool(review), answer))
        lists = json.loads(flags), json.loads(notes)
        return Graded(key, file, student, lecture, *lists, seconds, results)

    def review(self, points: Iterable[tuple[str, str, float]]) -> None:
        """Take points that persons gave: student, task, points."""
        with self.base:
            self.base.execute("BEGIN")
            self.base.executemany("INSERT OR REPLACE INTO review VALUES (?, ?, ?)", points)

    def close(self) -> None:
        """Close the file."""
        self.base.close()
