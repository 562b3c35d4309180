"""Gradescope: the results of a single submission, in its format."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path

from classroom.gradebook.grades import NOTHING, SheetGrade
from classroom.policy import Policy
from classroom.sheets import items_of
from classroom.tables import printable
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
                "score": grade.points,
                "max_score": grade.possible,
                "output": printable(f"{grade.result.message}\n{grade.result.part}".strip()),
                "output_format": "text",
                "visibility": policy.visibility,
                "extra_data": {"task": item.task},
            }
            for item in items_of(sheet.lecture, tasks)
            for grade in sheet.grades
            if grade.task == item.task
        ]
        said = printable("\n".join([*sheet.graded.notes, *sheet.graded.flags]))
        document = {"score": sheet.points, "output": said, "output_format": "text", "tests": tests}
    document["visibility"] = policy.visibility
    path.write_text(json.dumps(document, indent=1) + "\n", encoding="utf-8")
