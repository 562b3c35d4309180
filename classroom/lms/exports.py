"""Back into the learning system: the tables that Moodle and Canvas import, and the feedback.

A table is the system's own, filled in: Moodle's grading worksheet (it matches by the number in
`Identifier`), or Canvas's gradebook (by `ID`). Of feedback, Moodle takes a zip with one folder
named NAME_NUMBER_assignfeedback_file_ a student, Canvas one with files that begin as the ones
handed in.
"""

from __future__ import annotations

import csv
import io
import re
import zipfile
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from classroom import tables
from classroom.gradebook.grades import SheetGrade
from classroom.intake.submissions import CANVAS, NOTEBOOK

MADE = ("upload.csv", "feedback.zip")
NAMED = 5
"""Of rows that are not of the class, so many are named."""


@dataclass(frozen=True)
class Filled:
    """A learning system's table with the points in it, not yet written."""

    columns: Sequence[str]
    rows: Sequence[dict[str, str]]
    said: str
    """Who is in it, in words."""


def require_fits(table: Path, column: str, possible: float | None) -> None:
    """Stop before anything is graded if the points cannot be filled in afterwards.

    Args:
        table: of the learning system.
        column: how the name of the one that is meant begins, for Canvas.
        possible: the maximum of the sheet; None if the points are scaled to the table's.

    Raises:
        ValueError: if the table is none of these systems', it has no such column, or its maximum
            is another.
    """
    columns, rows = tables.read(table, exact=True)
    if _is_moodle(table, columns):
        found = {_most(row) for row in rows}
    else:
        found = {_points_possible(rows, _named(table, columns, column))}
    for most in found if possible is not None else ():
        _require_same(table.name, most, possible)


def fill(sheets: Sequence[SheetGrade], table: Path, column: str, scale: bool) -> Filled:
    """Put the points into the table.

    Raises:
        ValueError: if the table is none of these systems', nobody on it is in the class, or its
            maximum is not the sheet's.
    """
    columns, rows = tables.read(table, exact=True)
    by_word: dict[str, SheetGrade] = {}
    lectures = {sheet.lecture for sheet in sheets}
    if len(lectures) != 1:
        raise ValueError(f"{table.name}: grade one sheet at a time to fill it in (--lecture)")
    for sheet in sheets:
        for word in sheet.student.also:
            by_word[word] = sheet
    if _is_moodle(table, columns):
        others = _moodle(table, rows, by_word, scale)
    else:
        others = _canvas(table, columns, rows, by_word, column, scale)
    if len(others) == len(rows):
        raise ValueError(f"{table.name}: nobody on it is in the class; is it of this assignment?")
    filled = sum(bool(sheet.graded or sheet.given) for sheet in sheets)
    said = f"{len(rows) - len(others)} of {len(rows)} rows are of the class"
    if others:
        more = f" and {len(others) - NAMED} more" if len(others) > NAMED else ""
        said += f" (not {'; '.join(others[:NAMED])}{more})"
    said += f", {filled} of the class have points"
    if above := sum(sheet.points > sheet.possible for sheet in sheets):
        said += f", {above} more than the maximum"
    return Filled(columns, rows, said)


def write(out: Path, sheets: Sequence[SheetGrade], filled: Filled | None, final: bool) -> str:
    """Write the table and pack the feedback; while grades are not final, there is neither.

    Returns:
        What was written, in words; nothing if there is no table, or grades are not final.
    """
    for name in MADE:
        (out / name).unlink(missing_ok=True)
    if not final:
        return ""
    _feedback(out, sheets)
    if filled is None:
        return ""
    made = io.StringIO()
    writer = csv.DictWriter(made, filled.columns, extrasaction="ignore", lineterminator="\r\n")
    writer.writeheader()
    # but for the grades as the system wrote it, which it must know again
    writer.writerows(filled.rows)
    (out / MADE[0]).write_bytes(made.getvalue().encode("utf-8-sig"))
    return f"{out / MADE[0]}, {filled.said}; {out / MADE[1]}"


def _is_moodle(table: Path, columns: Sequence[str]) -> bool:
    """Whether it is Moodle's worksheet, and not Canvas's gradebook."""
    if "Identifier" in columns and "Grade" in columns:
        return True
    if "ID" in columns and "Student" in columns:
        return False
    said = "a plain folder has no such table, grades.csv is all"
    raise ValueError(f"{table.name}: neither Moodle's worksheet nor Canvas's gradebook; {said}")


def _same(most: str, possible: float) -> bool:
    """Whether two maxima agree to the hundredth: 8.3 and 8.4 points add up to 100 only nearly."""
    return abs(tables.number(most) - possible) < 0.005


def _require_same(where: str, most: str, possible: float) -> None:
    if most and not _same(most, possible):
        said = f"the maximum is {most} there and {possible:g} on the sheet"
        raise ValueError(f"{where}: {said}; set it there, or say --scale")


def _scaled(where: str, sheet: SheetGrade, most: str, scale: bool) -> str:
    """The points as the table wants them."""
    if not scale:
        _require_same(where, most, sheet.possible)
    elif most and not _same(most, sheet.possible):
        return f"{round(sheet.points * tables.number(most) / sheet.possible, 2):.10g}"
    return f"{sheet.points:.10g}"


def _most(row: Mapping[str, str]) -> str:
    """Moodle's maximum; one of its versions writes the column's second word small."""
    return next((most for name, most in row.items() if name.lower() == "maximum grade"), "")


def _moodle(
    table: Path, rows: list[dict[str, str]], by_word: Mapping[str, SheetGrade], scale: bool
) -> list[str]:
    """Fill in the rows of the class; the others, as they are called."""
    others = []
    for row in rows:
        number = re.sub(r"\D", "", row["Identifier"])
        sheet = by_word.get(f"moodle {number}")
        if sheet is None:
            others.append(row.get("Full name") or row["Identifier"])
        if sheet and (sheet.graded or sheet.given):
            row["Grade"] = _scaled(table.name, sheet, _most(row), scale)
    return others


def _canvas(
    table: Path,
    columns: Sequence[str],
    rows: list[dict[str, str]],
    by_word: Mapping[str, SheetGrade],
    column: str,
    scale: bool,
) -> list[str]:
    """As `_moodle`."""
    name = _named(table, columns, column)
    most, others = _points_possible(rows, name), []
    for row in rows:
        sheet = by_word.get(f"canvas {row['ID'].strip()}") if row["ID"].strip() else None
        if sheet and (sheet.graded or sheet.given):
            row[name] = _scaled(table.name, sheet, most, scale)
        if sheet is None:
            others.append(row["Student"].strip() or row["ID"])
    return others


def _named(table: Path, columns: Sequence[str], column: str) -> str:
    """The column of Canvas's gradebook that is meant."""
    begins = [name for name in columns if column and name.startswith(column)]
    exact = [name for name in begins if re.sub(r" \(\d+\)$", "", name) == column]
    fits = exact or begins
    if len(fits) != 1:
        said = f"--column {column!r} fits {len(fits)} columns" if column else "no --column is named"
        tasks = [name for name in columns if re.search(r" \(\d+\)$", name)] or columns
        raise ValueError(f"{table.name}: {said}; one is wanted of: {', '.join(tasks)}")
    return fits[0]


def _points_possible(rows: Sequence[Mapping[str, str]], name: str) -> str:
    """Canvas's maximum of a column stands in a row of its own."""
    return next((row[name] for row in rows if "Points Possible" in row["Student"]), "")


def _feedback(out: Path, sheets: Sequence[SheetGrade]) -> None:
    """The pages, each under the name by which the system finds its student."""
    from classroom.reports.reports import feedback_name

    with zipfile.ZipFile(out / MADE[1], "w", zipfile.ZIP_DEFLATED) as archive:
        for sheet in sheets:
            if sheet.row is None and not sheet.given:
                continue
            page = (out / "feedback" / feedback_name(sheet.student.id)).read_bytes()
            archive.writestr(_place(sheet), page)


def _place(sheet: SheetGrade) -> str:
    """Where a page lies; of who handed in nothing, the roster knows the system's number."""
    file = f"feedback-sheet-{sheet.lecture}.html"
    if sheet.row is None:
        by_system = dict(sorted(word.split(maxsplit=1) for word in sheet.student.numbers))
        name = re.sub(r"[_/\\:]", " ", sheet.student.name or "Participant")
        if "moodle" in by_system:
            return f"{name}_{by_system['moodle']}_assignfeedback_file_/{file}"
        if "canvas" in by_system:
            return f"{re.sub(r'[^a-z]', '', name.lower())}_{by_system['canvas']}_{file}"
        return f"{re.sub(r'[/:]', '_', sheet.student.id)}/{file}"
    owner = sheet.row.handed.owner
    if owner.system == "moodle":
        # Moodle splits the folder's name at each _, so none may stand in the student's name.
        name = re.sub(r"[_/\\]", " ", owner.name)
        return f"{name}_{owner.id}_assignfeedback_file_/{file}"
    if owner.system == "canvas":
        parts = sheet.file.split("/")
        own = next(part for part in parts if CANVAS.match(part))
        return f"{CANVAS.match(own)[0]}{NOTEBOOK.sub('', own[CANVAS.match(own).end() :])}.html"
    return f"{re.sub(r'[/:]', '_', sheet.student.id)}/{file}"
