"""Tables of results: grades.csv, files.csv, changed.csv."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from pathlib import Path

from classroom import tables
from classroom.gradebook.grades import SheetGrade
from classroom.gradebook.store import Previous
from classroom.intake.owners import settled
from classroom.intake.select import Listed
from classroom.policy import Policy

GRADES = ("id", "name", "email", "lecture", "status", "points", "possible", "final", "days late")
GRADES = (*GRADES, "extended until", "needs review", "flags", "file")
FILES = ("file", "id", "name", "lecture", "status", "handed in")
CHANGED = ("id", "name", "lecture", "before", "now", "what changed")


def write_grades(
    path: Path, sheets: Sequence[SheetGrade], names: Sequence[str], policy: Policy
) -> None:
    """Write a row for each sheet, with a column for each task of `names`."""
    tables.write(path, (*GRADES, *names), (_grades(sheet, names, policy) for sheet in sheets))


def write_files(path: Path, rows: Sequence[Listed]) -> None:
    """Write a row for each file that was handed in."""
    tables.write(path, FILES, map(_file, rows))


def write_changed(
    path: Path, sheets: Sequence[SheetGrade], before: Mapping[tuple[str, int], Previous]
) -> int:
    """Write every student whose points changed since the previous run; returns their number.

    Args:
        before: by student and lecture, what the previous run published.
    """
    rows = []
    for sheet in sheets:
        was = before.get((sheet.student.id, sheet.lecture or 0))
        if was is None or abs(was.points - sheet.points) < 0.005:
            continue
        had = was.tasks
        now = {grade.task: grade.points for grade in sheet.grades}
        open_now = {grade.task for grade in sheet.grades if grade.waiting}
        both = [task for task in [*now, *had] if now.get(task, 0) != had.get(task, 0)]
        said = [
            f"{task}: {_before_or_now(task, had, was.waiting)} → "
            f"{_before_or_now(task, now, open_now)}"
            for task in dict.fromkeys(both)
        ]
        said += [f"days late: {was.late} → {sheet.late}"] * (was.late != sheet.late)
        other = settled(was.file) != settled(sheet.file)  # and not only the name of the zip
        said += [f"file: {was.file} → {sheet.file}"] * other
        who = [sheet.student.id, sheet.student.name, sheet.lecture or ""]
        rows.append([*who, float(was.points), float(sheet.points), "; ".join(said)])
    path.unlink(missing_ok=True)
    if rows:
        tables.write(path, CHANGED, rows)
    return len(rows)


def _before_or_now(task: str, points: Mapping[str, float], waiting: Collection[str]) -> str:
    """The points of a task in one of two runs, in words."""
    if task in waiting:
        return "not marked"
    return f"{points[task]:g}" if task in points else "not graded"


def _file(row: Listed) -> list[object]:
    """A row of files.csv."""
    who = [row.student.id, row.student.name] if row.student else ["", ""]
    when = row.when.isoformat(timespec="seconds") if row.when and row.handed.when else ""
    return [row.handed.name, *who, row.lecture or "", row.status, when]


def _grades(sheet: SheetGrade, names: Sequence[str], policy: Policy) -> list[object]:
    """A row of grades.csv."""
    who = [sheet.student.id, sheet.student.name, sheet.student.email]
    points = {grade.task: float(grade.points) for grade in sheet.grades if sheet.graded}
    given = {g.task: float(g.points) for g in sheet.grades if not sheet.graded and g.correction}
    flags = list(sheet.graded.flags) if sheet.graded else []
    flags += ["late, says Canvas"] * bool(sheet.row and sheet.row.late)
    flags += ["no task is answered"] * bool(sheet.graded and not sheet.row.holds.answered)
    final = "yes" if sheet.final else "no"
    due = policy.of(sheet.lecture).extensions.get(sheet.student.id)
    longer = due.isoformat(" ", "minutes") if due else ""
    counts = [float(sheet.points), float(sheet.possible), final, sheet.late or ""]
    head = [
        *who,
        sheet.lecture or "",
        sheet.status,
        *counts,
        longer,
        sheet.waiting,
        "; ".join(flags),
    ]
    head.append(sheet.file)
    return [*head, *((points | given).get(name, "") for name in names)]
