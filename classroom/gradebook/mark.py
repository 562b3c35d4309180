"""Marking: the points of every sheet, what a person still has to do, and which grades are final."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from classroom import tables
from classroom.gradebook.decisions import (
    Decisions,
    current_student,
    disagreement_items,
    store_decisions,
)
from classroom.gradebook.grades import SheetGrade, grade_sheets
from classroom.gradebook.store import Store
from classroom.intake.intake import Intake
from classroom.intake.roster import Class, Student
from classroom.intake.select import ReviewItem
from classroom.policy import Policy
from classroom.run import Run
from classroom.states import State

WRITTEN = ("id", "name", "lecture", "task", "points", "possible", "comment", "author")
WRITTEN = (*WRITTEN, "answer id", "earlier", "answer")
REVIEW = ("item", "id", "name", "lecture", "file", "what", "seen")


@dataclass
class Marked:
    """The grades of the class, and what a person still has to do before they are final."""

    students: Sequence[Student]
    sheets: Sequence[SheetGrade]
    lectures: Sequence[int]
    """The lectures whose sheets everybody in the class was to hand in."""
    open_items: int
    waiting: int
    """Number of written answers that nobody has marked."""


def mark(run: Run, handed: Intake, decisions: Decisions) -> Marked:
    """Store what persons decided, compute all grades, and write written.csv and look.csv."""
    members, graded = handed.members, handed.accepted
    store_decisions(run, decisions, graded)
    lectures = _lectures(run, handed)
    students = sorted(members.students.values(), key=lambda student: student.id)
    corrections = run.store.corrections(current_student(run, members))
    sheets, items = grade_sheets(
        handed.rows,
        students,
        lectures,
        run.store,
        run.tasks,
        run.policy,
        corrections,
        members.former,
    )
    if not members.closed and not run.options.student:
        sheets = [sheet for sheet in sheets if sheet.row]
    sheets = [sheet for sheet in sheets if not _may_be_anonymous(sheet, members)]
    items = [*handed.items, *items, *_unidentified_items(run.store, members, lectures)]
    on_sheets = {sheet.lecture for sheet in sheets if sheet.lecture}
    items += disagreement_items(run.store, members, on_sheets)
    waiting = write_written(run.out / "written.csv", sheets, run.policy)
    open_items = write_items(run.out / "look.csv", items, run.store.looked())
    _set_final(sheets, items, open_items)
    return Marked(students, sheets, lectures, len(open_items), waiting)


def _lectures(run: Run, handed: Intake) -> list[int]:
    """The lectures whose sheets everybody in the class was to hand in."""
    if run.options.lecture:
        return [run.options.lecture]
    return sorted({row.lecture for row in handed.accepted}) if handed.members.closed else []


def _may_be_anonymous(sheet: SheetGrade, members: Class) -> bool:
    """Whether a student on the list, without a file, may be an anonymous participant."""
    student = sheet.student
    numbered = any(word.startswith("moodle ") or "anon_" in word for word in student.numbers)
    nothing = sheet.row is None and not sheet.given
    blind = any(other.blind for other in members.students.values())
    return blind and nothing and not (student.blind or numbered)


def _unidentified_items(store: Store, members: Class, lectures: Sequence[int]) -> list[ReviewItem]:
    """Items for review about anonymous participants whom no table identifies."""
    items = []
    for lecture, id, several in members.doubtful:
        if lecture in lectures:
            said = f"points of {' and of '.join(several)} both lead here, so nobody gets them"
            said += "; correct the table"
            items.append(ReviewItem(said, lecture, members.students[id]))
    if not members.closed or any(student.blind for student in members.students.values()):
        return items  # no names are wanted yet
    for lecture in lectures:
        ids = [sheet.student for sheet in store.blind(lecture)]
        ids = [id for id in ids if id not in members.students and members.now(lecture, id) == id]
        if ids:
            said = f"no table says who these are, so nobody gets their points: {', '.join(ids)}"
            items.append(ReviewItem(said, lecture))
    return items


def _set_final(
    sheets: Sequence[SheetGrade], items: Sequence[ReviewItem], open_items: set[str]
) -> None:
    """Mark grades as final where no answer waits, no item is open and the grader did not fail."""
    for sheet in sheets:
        mine = [item for item in items if item.student == sheet.student and item.id in open_items]
        about = [item for item in mine if item.lecture in (None, sheet.lecture)]
        failed = sheet.state is State.GRADER_FAILED
        sheet.final = not about and not sheet.waiting and not failed


def write_written(path: Path, sheets: Sequence[SheetGrade], policy: Policy) -> int:
    """Write the table of written answers and their points; returns how many are not marked."""
    rows, waiting = [], 0
    for sheet in sheets:
        for grade in sheet.grades:
            if not (grade.result and grade.result.review):
                continue
            result, given = grade.result, grade.correction
            points = comment = author = earlier = ""
            if grade.waiting:
                waiting += 1
                if given:
                    said = f"{given.points:g} for another text of this student. {given.comment}"
                    earlier = said.strip()
            else:
                points, comment, author = given.points, given.comment, given.author
            possible = policy.of(sheet.lecture).points.get(grade.task, result.possible)
            who = [sheet.student.id, sheet.student.name, sheet.lecture, grade.task]
            marks = [points, possible, comment, author]
            rows.append([*who, *marks, result.answer_id, earlier, result.answer])
    tables.write(path, WRITTEN, rows)
    return waiting


def write_items(path: Path, items: Sequence[ReviewItem], looked: Mapping[str, str]) -> set[str]:
    """Write the table of what a person should see; returns the items that nobody has looked at."""
    rows, open_items = [], set()
    order = sorted(set(items), key=lambda x: (x.id in looked, x.student is not None, x.file))
    for item in {item.id: item for item in order}.values():  # one row, also for two downloads
        who = [item.student.id, item.student.name] if item.student else ["", ""]
        seen = looked.get(item.id, "")
        rows.append([item.id, *who, item.lecture or "", item.file, item.said, seen])
        if not seen:
            open_items.add(item.id)
    tables.write(path, REVIEW, rows)
    return open_items
