"""Similar answers: tokens are compared after renaming, in runs of eight.

Runs of the template, of the model answer and of many students are removed first, so nothing is left
of short answers, and they are not compared. A high share is a reason to read both answers, and no
proof: two students may have learned from the same page.
"""

from __future__ import annotations

import html
import io
import itertools
import keyword
import tokenize
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from classroom import tables
from classroom.gradebook.grades import SheetGrade
from classroom.reports import page
from classroom.sheets import sheets as all_sheets

RUN = 8
"""Tokens that are compared at a time."""
LEAST = 16
"""Runs that an answer must have of its own to be compared."""
COMMON = 0.2
"""Runs that a larger share of the class has are removed."""
ALIKE = 0.6
MOST = 60
"""Pairs that are shown."""
SKIPPED = {tokenize.COMMENT, tokenize.NL, tokenize.NEWLINE, tokenize.INDENT, tokenize.DEDENT}


@dataclass(frozen=True)
class Pair:
    """Two answers to one task, and the share of the shorter one's runs that both have."""

    share: float
    task: str
    one: SheetGrade
    other: SheetGrade

    @property
    def students(self) -> tuple[str, str]:
        """The identifiers of the two students."""
        return self.one.student.id, self.other.student.id


def words(source: str) -> list[str]:
    """The tokens of code without comments and layout; names of the student's own become one word.

    Names after a dot and names that are called stay: they are the library's, and tell methods
    apart. Text that is no Python is taken by its words.
    """
    try:
        tokens = list(tokenize.generate_tokens(io.StringIO(source).readline))
    except (tokenize.TokenError, SyntaxError):
        return source.lower().split()
    kept = [token for token in tokens if token.type not in SKIPPED and token.string]
    found = []
    for before, token, after in zip([None, *kept], kept, [*kept[1:], None], strict=False):
        own = token.type == tokenize.NAME and not keyword.iskeyword(token.string)
        named = before and before.string == "."
        called = after and after.string == "(" and before and before.string != "def"
        found.append("x" if own and not named and not called else token.string)
    return found


def runs(source: str) -> set[tuple[str, ...]]:
    """All runs of `RUN` tokens."""
    found = words(source)
    return set(zip(*(found[i:] for i in range(RUN)), strict=False))


def pairs(graded: Sequence[SheetGrade]) -> Iterator[Pair]:
    """Pairs of similar answers of different students, task by task."""
    by_task: dict[str, list[tuple[SheetGrade, set]]] = {}
    for sheet in graded:
        known = all_sheets().get(sheet.lecture)
        for grade in sheet.grades:
            if grade.result and grade.result.answer and sheet.graded:
                given = known.template.get(grade.task, "") if known else ""
                model = known.answers.get(grade.task, "") if known else ""
                own = runs(grade.result.answer) - runs(given) - runs(model)
                by_task.setdefault(grade.task, []).append((sheet, own))
    for task, mine in by_task.items():
        held = Counter(run for _, own in mine for run in own)
        common = {run for run, n in held.items() if n > max(3, COMMON * len(mine))}
        left = [(sheet, own - common) for sheet, own in mine]
        left = [(sheet, own) for sheet, own in left if len(own) >= LEAST]
        for (one, first), (other, second) in itertools.combinations(left, 2):
            share = len(first & second) / min(len(first), len(second))
            if share >= ALIKE:
                yield Pair(share, task, one, other)


def same_files(graded: Sequence[SheetGrade]) -> list[list[SheetGrade]]:
    """Groups of students who handed in identical files with answers."""
    by_content: dict[str, list[SheetGrade]] = {}
    for sheet in graded:
        if sheet.graded and sheet.row.holds.answered:
            by_content.setdefault(sheet.row.content, []).append(sheet)
    return [group for group in by_content.values() if len({s.student.id for s in group}) > 1]


def write(out: Path, graded: Sequence[SheetGrade]) -> int:
    """Write `similar.csv` with every pair, and `similar.html` with the two answers of each.

    Identical files are listed first, because copied model answers form no pair. Then come the
    students with the most similar answers in common.
    """
    found = list(pairs(graded))
    shared = Counter(p.students for p in found)
    found.sort(key=lambda p: (-shared[p.students], p.students, -p.share, p.task))
    columns = ("share", "task", "id", "name", "other id", "other name")
    rows, lines = [], []
    for group in same_files(graded):
        first, *others = (sheet.student for sheet in group)
        rows += [[1.0, "the whole file", first.id, first.name, o.id, o.name] for o in others]
        said = f"Identical files: {', '.join(_called(sheet) for sheet in group)}"
        lines.append(f"<h2>{html.escape(said)}</h2>")
    for p in found:
        one, other = p.one.student, p.other.student
        rows.append([round(p.share, 2), p.task, one.id, one.name, other.id, other.name])
    tables.write(out / "similar.csv", columns, rows)
    said = "This is a reason to read both answers, not a proof. Short answers are not compared."
    if len(found) > MOST:
        said += f" Only {MOST} of {len(found)} pairs of answers are here; similar.csv lists all."
    lines.append(f"<p>{said}</p>")
    before = None
    for p in found[:MOST]:
        if p.students != before:
            number = shared[p.students]
            who = f"{_called(p.one)} and {_called(p.other)}"
            who += f": {number} similar answer{'s' * (number > 1)}"
            lines.append(f"<h2>{html.escape(who)}</h2>")
            before = p.students
        lines.append(f"<h3>{p.task}: {p.share:.0%}</h3>")  # a task's name is an identifier
        for sheet in (p.one, p.other):
            lines.append(f"<pre>{html.escape(_answer(sheet, p.task))}</pre>")
    page.write(out / "similar.html", "Similar answers", "\n".join(lines))
    return len(found)


def _called(sheet: SheetGrade) -> str:
    """The student's name and identifier."""
    student = sheet.student
    return f"{student.name} ({student.id})" if student.name else student.id


def _answer(sheet: SheetGrade, task: str) -> str:
    by_task: Mapping[str, str] = {g.task: g.result.answer for g in sheet.grades if g.result}
    return by_task[task]
