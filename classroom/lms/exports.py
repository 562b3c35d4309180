"""Tables and feedback for the learning management system, to be imported there.

A table is the system's own, filled in: Moodle's grading worksheet, which it matches by the number
in `Identifier`, or Canvas's gradebook, which it matches by `ID`. The feedback is a zip of pages,
each at the path where the system looks for its student.
"""

from __future__ import annotations

import csv
import io
import math
import re
import zipfile
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from classroom import tables
from classroom.gradebook.grades import SheetGrade
from classroom.lms import canvas, moodle
from classroom.reports.feedback import feedback_name

UPLOAD, FEEDBACK = "upload.csv", "feedback.zip"
NAMED = 5
"""Number of rows of other students that are named."""


@dataclass(frozen=True)
class Filled:
    """A learning management system's table with the points filled in, not yet written."""

    columns: Sequence[str]
    rows: Sequence[dict[str, str]]
    said: str
    """In words, the students in it."""


def require_fits(table: Path, column: str, possible: float | None) -> None:
    """Refuse a table that could not be filled in after grading.

    Args:
        column: how the name of the assignment's column begins, for Canvas.
        possible: the maximum of the sheet; None if the points are scaled to the table's.

    Raises:
        ValueError: if the table is of neither system, has no such column, or has another maximum.
    """
    columns, rows = tables.read(table, exact=True)
    if _is_moodle(table, columns):
        maxima = {moodle.maximum(row) for row in rows}
    else:
        maxima = {canvas.maximum(rows, canvas.column_named(table, columns, column))}
    for most in filter(str.strip, maxima):
        if possible is None:
            _maximum(table.name, most)
        else:
            _require_same(table.name, most, possible)


def require_roster_fits(roster: Path, column: str, possible: float) -> None:
    """Refuse a roster that is a system's table with another maximum than the sheet's.

    A gradebook is compared once its column is named.

    Raises:
        ValueError: in this case.
    """
    columns, _ = tables.read(roster)
    named = bool(column) and any(name.startswith(column) for name in columns)
    if moodle.is_worksheet(columns) or (canvas.is_gradebook(columns) and named):
        require_fits(roster, column, possible)


def fill(sheets: Sequence[SheetGrade], table: Path, column: str, scale: bool) -> Filled:
    """Fill the points into a table.

    Raises:
        ValueError: if the table is of neither system, nobody on it is in the class, or its maximum
            is not the sheet's.
    """
    columns, rows = tables.read(table, exact=True)
    if len({sheet.lecture for sheet in sheets}) != 1:
        raise ValueError(f"{table.name}: grade one sheet at a time to fill it in (--lecture)")
    by_word = {word: sheet for sheet in sheets for word in sheet.student.also}
    filled: list[SheetGrade] = []

    def points(sheet: SheetGrade, most: str) -> str:
        filled.append(sheet)
        return _points(table.name, sheet, most, scale)

    if _is_moodle(table, columns):
        others = moodle.fill(rows, by_word, points)
        kept, why = sum(map(moodle.is_locked, rows)), "Moodle lets nobody change"
    else:
        name = canvas.column_named(table, columns, column)
        others = canvas.fill(rows, by_word, points, name)
        kept, why = (
            sum(canvas.is_excused(row[name]) for row in rows),
            "are excused (EX) and stay so",
        )
    if len(others) == len(rows):
        raise ValueError(f"{table.name}: nobody on it is in the class; is it of this assignment?")
    said = _in_words(sheets, filled, len(rows), others) + f"; {kept} {why}" * bool(kept)
    return Filled(columns, rows, said)


def _in_words(
    sheets: Sequence[SheetGrade], filled: Sequence[SheetGrade], rows: int, others: Sequence[str]
) -> str:
    """How many rows were filled in, who on them is not in the class, and who has no row."""
    said = f"{rows - len(others)} of {rows} rows belong to your class"
    if others:
        said += f" (not {_named(others)})"
    said += f"; {len(filled)} row{'s' * (len(filled) != 1)} filled in"
    if above := sum(sheet.points > sheet.possible for sheet in filled):
        said += f", {above} with more than the maximum"
    there = set(map(id, filled))
    without = [s.student for s in sheets if (s.graded or s.given) and id(s) not in there]
    if without:
        who = "student with points has" if len(without) == 1 else "students with points have"
        said += f"; {len(without)} {who} no row in it: {_named([s.name or s.id for s in without])}"
    return said


def _named(students: Sequence[str]) -> str:
    more = f" and {len(students) - NAMED} more" if len(students) > NAMED else ""
    return "; ".join(students[:NAMED]) + more


def write(out: Path, sheets: Sequence[SheetGrade], filled: Filled | None, final: bool) -> str:
    """Write the table and pack the feedback; while grades are not final, there is neither.

    Returns:
        What was written, in words; nothing if there is no table, or grades are not final.
    """
    for name in (UPLOAD, FEEDBACK):
        (out / name).unlink(missing_ok=True)
    if not final:
        return ""
    _write_feedback(out, sheets)
    if filled is None:
        return ""
    made = io.StringIO()
    writer = csv.DictWriter(made, filled.columns, extrasaction="ignore", lineterminator="\r\n")
    writer.writeheader()
    # The cells stay as the system wrote them, since it must recognize them; only grades are new.
    writer.writerows(filled.rows)
    (out / UPLOAD).write_bytes(made.getvalue().encode("utf-8-sig"))
    return f"{out / UPLOAD}, {filled.said}; {out / FEEDBACK}"


def _is_moodle(table: Path, columns: Sequence[str]) -> bool:
    """Whether a table is Moodle's worksheet, and not Canvas's gradebook.

    Raises:
        ValueError: if it is neither.
    """
    if moodle.is_worksheet(columns):
        return True
    if canvas.is_gradebook(columns):
        return False
    said = "a plain folder has no such table, grades.csv is all"
    raise ValueError(f"{table.name}: neither Moodle's worksheet nor Canvas's gradebook; {said}")


def _maximum(where: str, most: str) -> float:
    """The maximum that a table names.

    Raises:
        ValueError: if it is no number above 0.
    """
    try:
        number = tables.number(most)
    except ValueError:
        number = 0.0
    if not 0 < number < math.inf:
        raise ValueError(f"{where}: the maximum is {most!r} there; a number above 0 is wanted")
    return number


def _same(most: float, possible: float) -> bool:
    """Whether two maxima agree to the hundredth: 8.3 and 8.4 points add up to 100 only nearly."""
    return abs(most - possible) < 0.005


def _require_same(where: str, most: str, possible: float) -> None:
    """Refuse a table whose maximum is not the sheet's.

    Raises:
        ValueError: in this case.
    """
    if most.strip() and not _same(_maximum(where, most), possible):
        said = f"the maximum is {most} there and {possible:g} on the sheet"
        raise ValueError(
            f"{where}: {said}; set it to {possible:g} there and download the table again, "
            f"or add OPTIONS=--scale"
        )


def _points(where: str, sheet: SheetGrade, most: str, scale: bool) -> str:
    """The points as the table wants them."""
    if not scale:
        _require_same(where, most, sheet.possible)
    elif most.strip() and sheet.possible:
        maximum = _maximum(where, most)
        if sheet.points == sheet.possible:
            return f"{maximum:.10g}"  # rounded it might be more, or less
        if not _same(maximum, sheet.possible):
            return f"{round(sheet.points * maximum / sheet.possible, 2):.10g}"
    return f"{sheet.points:.10g}"


def _write_feedback(out: Path, sheets: Sequence[SheetGrade]) -> None:
    """Pack the pages, each at the path where the system looks for its student."""
    with zipfile.ZipFile(out / FEEDBACK, "w", zipfile.ZIP_DEFLATED) as archive:
        for sheet in sheets:
            if sheet.row is not None or sheet.given:
                page = (out / "feedback" / feedback_name(sheet.student.id)).read_bytes()
                archive.writestr(_feedback_path(sheet), page)


def _feedback_path(sheet: SheetGrade) -> str:
    """The path of a page; for a student without a file, the roster knows the system's number."""
    file = f"feedback-sheet-{sheet.lecture}.html"
    if sheet.row is None:
        numbers = dict(sorted(word.split(maxsplit=1) for word in sheet.student.numbers))
        name = re.sub(r"[_/\\:]", " ", sheet.student.name or "Participant")
        if "moodle" in numbers:
            return moodle.feedback_path(name, numbers["moodle"], file)
        if "canvas" in numbers:
            return f"{re.sub(r'[^a-z]', '', name.lower())}_{numbers['canvas']}_{file}"
    else:
        owner = sheet.row.handed.owner
        if owner.system == "moodle":
            return moodle.feedback_path(owner.name, owner.id, file)
        if owner.system == "canvas":
            return canvas.feedback_path(sheet.file)
    return f"{_folder(sheet.student.id)}/{file}"


def _folder(student: str) -> str:
    """A folder of a student's own wherever the zip is unpacked, also where case does not count."""
    plain = student == student.lower() and re.fullmatch(r"\w[\w@.+-]*", student)
    return student if plain else feedback_name(student).removesuffix(".html")
