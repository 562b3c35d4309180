"""Canvas: its gradebook, filled in, and the paths at which it finds feedback files."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from pathlib import Path

from classroom.gradebook.grades import SheetGrade
from classroom.intake.files import NOTEBOOK
from classroom.intake.owners import CANVAS
from classroom.lms.moodle import Points
from classroom.tables import whole


def is_gradebook(columns: Sequence[str]) -> bool:
    """Whether a table with these columns is a gradebook."""
    return "ID" in columns and "Student" in columns


def column_named(table: Path, columns: Sequence[str], name: str) -> str:
    """The assignment's column of a gradebook, by its name or the beginning of the name.

    Raises:
        ValueError: if the name fits no column, or several.
    """
    begins = [column for column in columns if name and column.startswith(name)]
    exact = [column for column in begins if re.sub(r" \(\d+\)$", "", column) == name]
    fits = exact or begins
    if len(fits) != 1:
        said = f"--column {name!r} fits {len(fits)} columns" if name else "no --column is named"
        tasks = [column for column in columns if re.search(r" \(\d+\)$", column)] or columns
        raise ValueError(f"{table.name}: {said}; one is wanted of: {', '.join(tasks)}")
    return fits[0]


def is_excused(grade: str) -> bool:
    """Whether a grade is Canvas's word for a student who need not submit; points would undo it."""
    return grade.strip().upper() == "EX"


def maximum(rows: Sequence[Mapping[str, str]], column: str) -> str:
    """The maximum of an assignment, which stands in a row of its own."""
    return next((row[column] for row in rows if "Points Possible" in row["Student"]), "")


def fill(
    rows: list[dict[str, str]],
    sheets: Mapping[str, SheetGrade],
    points: Points,
    column: str,
) -> list[str]:
    """Fill in the rows of the class; returns the names of the students in all other rows.

    Args:
        sheets: by the words that name a student, as "canvas 17".
    """
    most, others = maximum(rows, column), []
    for row in rows:
        sheet = sheets.get(f"canvas {whole(row['ID'])}") if row["ID"].strip() else None
        if sheet is None:
            others.append(row["Student"].strip() or row["ID"])
        elif (sheet.graded or sheet.given) and not is_excused(row[column]):
            row[column] = points(sheet, most)
    return others


def feedback_path(handed_in: str) -> str:
    """The path of a student's feedback in the zip that Canvas takes: it begins as the file did."""
    own = next(part for part in handed_in.split("/") if CANVAS.match(part))
    begins = CANVAS.match(own)
    return f"{begins[0]}{NOTEBOOK.sub('', own[begins.end() :])}.html"
