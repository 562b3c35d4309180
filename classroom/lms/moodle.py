"""Moodle: its grading worksheet, filled in, and the paths at which it finds feedback files."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence

from classroom.gradebook.grades import SheetGrade

Points = Callable[[SheetGrade, str], str]
"""From a sheet and the table's maximum to the points as the table wants them."""


def is_worksheet(columns: Sequence[str]) -> bool:
    """Whether a table with these columns is a grading worksheet."""
    return "Identifier" in columns and "Grade" in columns


def maximum(row: Mapping[str, str]) -> str:
    """The maximum in a row; some versions of Moodle write the column's name in lower case."""
    return next((most for name, most in row.items() if name.lower() == "maximum grade"), "")


def is_locked(row: Mapping[str, str]) -> bool:
    """Whether Moodle leaves the grade of this row as it is, whatever is imported."""
    return row.get("Grade can be changed", "").strip().lower() == "no"


def fill(rows: list[dict[str, str]], sheets: Mapping[str, SheetGrade], points: Points) -> list[str]:
    """Fill in the rows of the class; returns the names of the students in all other rows.

    Args:
        sheets: by the words that name a student, as "moodle 501".
    """
    others = []
    for row in rows:
        number = re.sub(r"\D", "", row["Identifier"])
        sheet = sheets.get(f"moodle {number}")
        if sheet is None:
            others.append(row.get("Full name") or row["Identifier"])
        elif sheet.graded or sheet.given:
            row["Grade"] = points(sheet, maximum(row))
    return others


def feedback_path(name: str, number: str, file: str) -> str:
    """The path of a student's feedback in the zip that Moodle takes."""
    # Moodle splits the folder's name at each _, so none may stand in the student's name.
    plain = re.sub(r"[_/\\]", " ", name)
    return f"{plain}_{number}_assignfeedback_file_/{file}"
