"""What the command line asks for, and what a run reports back."""

from __future__ import annotations

import argparse
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, fields
from pathlib import Path


@dataclass(frozen=True)
class Options:
    """What the command line asks for, apart from the folders and the policy."""

    lecture: int | None = None
    rosters: Sequence[Path] = ()
    student: str = ""
    """The one student who handed in everything, as in an autograder's container."""
    points: Sequence[Path] = ()
    """Tables with points that persons gave."""
    correct: Sequence[Sequence[str]] = ()
    """Corrections, each a student, a task, points and a comment."""
    author: str = ""
    """Who gives these points."""
    assign: Sequence[Sequence[str]] = ()
    """Files, each with the student who owns it."""
    count: Sequence[str] = ()
    """Files that count even if the student has a later one."""
    table: Path | None = None
    """Moodle's worksheet or Canvas's gradebook, to be filled in."""
    column: str = ""
    """Name of the gradebook's column, or the beginning of the name."""
    scale: bool = False
    """Whether points are scaled to the maximum of that table."""
    term: Path | None = None
    """Folder for all sheets of a term; it holds the database and the totals."""
    participants: Sequence[Path] = ()
    """Tables that say which participant of a blind marking is which student."""
    seed: int | None = None
    """Seed of the hidden cases; drawn in the first run if not given, then kept."""
    jobs: int = 1
    """Number of submissions that run at the same time."""
    torch_seed: int = 0
    unsafe: bool = False
    """Whether students' code may run without a sandbox."""

    @classmethod
    def of(cls, given: argparse.Namespace) -> Options:
        """The options among the parsed arguments, matched by name."""
        return cls(**{option.name: getattr(given, option.name) for option in fields(cls)})


@dataclass(frozen=True)
class Summary:
    """What a run did, and what is left to do."""

    failures: int = 0
    """Number of submissions that the grader itself failed on."""
    open_items: int = 0
    """Number of items in look.csv that nobody has looked at."""
    waiting: int = 0
    """Number of written answers that nobody has marked."""
    filled: str = ""
    """The tables that were written for the learning management system, in words."""
    renamed: int = 0
    """Number of students who have another identifier than in the previous run."""
    ungoverned: bool = False
    """Whether an earlier run had a policy, and this one has none."""
    blind: int = 0
    """Number of sheets in the term's folder whose students are known by a number only."""
    changed: int = 0
    """Number of students whose points changed since the previous run."""
    lost: int = 0
    """Number of students who had a file in an earlier run but have no row in this one."""
    counts: Mapping[str, int] = field(default_factory=dict)
    """Number of sheets graded, not graded, and not handed in."""
    system: bool = False
    """Whether files come from a learning management system with a table to fill in."""
    own_cases: Sequence[str] = ()
    """Tasks graded on the lecturer's own cases, and the kinds of those cases."""
    late: int = 0
    """Number of counted files that Canvas marks as late."""
    maxima: Sequence[str] = ()
    """Sheets with another maximum than in the previous run, in words."""
    own_tasks: Sequence[str] = ()
    """Tasks that the lecturer wrote."""
    replaced: Sequence[int] = ()
    """Other sheets that earlier runs graded into the same folder, whose tables are gone."""
