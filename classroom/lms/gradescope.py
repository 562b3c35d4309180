"""Gradescope: the results of a single submission, in its format."""

from __future__ import annotations

import json
import re
from collections.abc import Sequence
from pathlib import Path

from classroom.gradebook.grades import NOTHING, SheetGrade
from classroom.policy import Policy
from classroom.sheets import items_of
from classroom.tables import writable
from grading.task import Tasks


def write(path: Path, sheets: Sequence[SheetGrade], tasks: Tasks, policy: Policy) -> None:
    """The results of a single submission, as Gradescope reads them."""
    good = [sheet for sheet in sheets if sheet.graded]
    if not good:
        said = [sheet.status for sheet in sheets if sheet.row]
        output = said[0] if said else f"{NOTHING} that is a notebook (.ipynb)"
        document: dict = {"score": 0, "output": output, "tests": []}
    else:
        [sheet] = good
        tests = [
            {
                "name": f"{item.number}. {item.title}",
                "number": str(item.number),
                "score": round(grade.points, 4),
                "max_score": grade.possible,
                "output": readable(f"{grade.result.message}\n{grade.result.part}".strip()),
                "output_format": "text",
                "visibility": policy.visibility,
                "extra_data": {"task": item.task},
            }
            for item in items_of(sheet.lecture, tasks)
            for grade in sheet.grades
            if grade.task == item.task
        ]
        said = readable("\n".join([*sheet.graded.notes, *sheet.graded.flags]))
        points = round(sheet.points, 4)  # 0.1 + 0.2 is 0.30000000000000004
        document = {"score": points, "output": said, "output_format": "text", "tests": tests}
    document["visibility"] = policy.visibility
    path.write_text(json.dumps(document, indent=1) + "\n", encoding="utf-8")


def readable(text: str) -> str:
    """A text without what Gradescope's database refuses: control characters, half of a pair."""
    return re.sub(r"[\x00-\x08\x0b-\x1f\x7f]", " ", writable(text))
