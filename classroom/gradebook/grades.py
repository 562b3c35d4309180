"""The grades of a sheet: what the grader found, corrections by persons, the policy, lateness."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime, timedelta

from classroom.gradebook.store import Correction, Corrections, Graded, Result, Store
from classroom.intake.files import DOCUMENT
from classroom.intake.roster import Student
from classroom.intake.select import Listed, ReviewItem
from classroom.policy import Policy
from classroom.policy_file import elapsed
from classroom.sandbox.examiner import Flag
from classroom.sheets import PICTURE, items_of
from classroom.states import By, State
from grading.task import Tasks

NOTHING = "submitted nothing"
"""What is said of a student without a file."""
WHOLE = "In this class a task counts all or nothing."
FOR_ALL = "Everyone gets all points for this task."
READ_IT = "read it and give points with --correct, or sign"
SHOWN_TEXT = 80
"""How much of a text cell is shown, in characters."""
HANDED_OUT = 3
"""A text that so many students have was handed out, or is copied."""
REVIEWED_FLAGS = (Flag.FORGED, Flag.FLOODED, Flag.NOT_JUDGED)
"""Flags that a person should see before a grade is final."""


@dataclass
class Grade:
    """The points of one task."""

    task: str
    points: float
    possible: float
    by: By
    result: Result | None = None
    correction: Correction | None = None
    found: float = 0.0
    """The points of the grader."""
    stale: bool = False
    """Whether the answer changed since a person gave points."""

    @property
    def waiting(self) -> bool:
        """Whether a person still has to read the answer."""
        return self.by is By.WAITING

    @property
    def corrected(self) -> bool:
        """Whether a person gave other points than the grader."""
        return self.by is By.PERSON and not self.result.review and self.points != self.found

    @property
    def author(self) -> str:
        """The person who gave the points, as named; empty if no person did."""
        return (self.correction.author or "a person") if self.by is By.PERSON else ""


@dataclass
class SheetGrade:
    """The grades of one student for one sheet."""

    student: Student
    lecture: int | None
    row: Listed | None = None
    """The file that counts, or a file that cannot be graded."""
    graded: Graded | None = None
    grades: list[Grade] = field(default_factory=list)
    late: int = 0
    """Days after the deadline."""
    share: float = 1.0
    """Share of the points that remains after lateness."""
    final: bool = True
    after: timedelta = timedelta(0)
    """Time after the deadline, if it is late."""

    @property
    def file(self) -> str:
        """Name of the file that counts."""
        return self.row.handed.name if self.row else ""

    @property
    def state(self) -> State:
        """What becomes of the sheet."""
        return self.row.state if self.row else State.MISSING

    @property
    def status(self) -> str:
        """The state in words; why it was not graded."""
        return self.row.status if self.row else NOTHING

    @property
    def earned(self) -> float:
        """Sum of the points before lateness."""
        return sum(grade.points for grade in self.grades)

    @property
    def points(self) -> float:
        """Sum of the points after lateness."""
        return round(self.share * self.earned, 6)

    @property
    def possible(self) -> float:
        """Maximum of the sheet, without bonus tasks."""
        return round(sum(grade.possible for grade in self.grades), 6)

    @property
    def given(self) -> bool:
        """Whether a person gave points in it; then there is something to hand back."""
        return any(grade.correction for grade in self.grades)

    @property
    def waiting(self) -> int:
        """Number of answers that a person has to read."""
        return sum(grade.waiting for grade in self.grades)


def grade_sheets(
    rows: Sequence[Listed],
    students: Iterable[Student],
    lectures: Sequence[int],
    store: Store,
    tasks: Tasks,
    policy: Policy,
    corrections: Corrections,
    former: Mapping[tuple[int, str], str],
) -> tuple[list[SheetGrade], list[ReviewItem]]:
    """One sheet for every student and lecture, and the items for review in them.

    Args:
        lectures: whose sheets every student was to hand in.
        former: by lecture (0: all) and an id of an earlier run, the student's id now.
    """
    items, sheets = [], []
    texts = Counter(text for row in rows if row.counts for text in set(row.texts))
    own = {text for text, number in texts.items() if number < HANDED_OUT or text == PICTURE}
    accepted = {(row.student.id, row.lecture): row for row in rows if row.counts}
    served = {id for id, _ in accepted}  # a picture beside a sheet is no other sheet
    others = [row for row in rows if row.student and row.refused]
    others = [row for row in others if row.student.id not in served or not row.handed.other_format]
    refused = {row.student.id: row for row in others}
    for student in students:
        mine = {lecture for id, lecture in accepted if id == student.id}
        for lecture in sorted(mine | set(lectures) or {None}, key=lambda n: n or 0):
            row = accepted.get((student.id, lecture))
            if row is None:
                sheet = SheetGrade(student, lecture, refused.get(student.id))
                results = _no_results(sheet, tasks)
                items += _grade(sheet, results, corrections, policy)
            else:
                sheet = SheetGrade(student, lecture, row, store.get(row.key))
                by_name = {result.task: result for result in sheet.graded.results}
                order = [i.task for i in items_of(lecture, tasks) if i.task in by_name]
                items += _grade(sheet, [by_name[name] for name in order], corrections, policy)
                items += _open_texts(sheet, rows, tasks, own)
                items += _lateness(sheet, policy)
                ids = {student.id}
                ids |= {
                    o for (n, o), new in former.items() if new == student.id and n in (0, lecture)
                }
                items += _better_before(sheet, ids, store, tasks, corrections, policy)
                seen = [flag for flag in sheet.graded.flags if flag in REVIEWED_FLAGS]
                items += [ReviewItem(flag, lecture, student, sheet.file) for flag in seen]
            sheets.append(sheet)
    return sheets, items


def _no_results(sheet: SheetGrade, tasks: Tasks) -> list[Result]:
    """Results of 0 points for every task of a sheet that was not graded."""
    wanted = items_of(sheet.lecture, tasks) if sheet.lecture else []
    return [Result(item.task, 0, tasks[item.task].points, sheet.status) for item in wanted]


def _grade(
    sheet: SheetGrade,
    results: Sequence[Result],
    corrections: Corrections,
    policy: Policy,
) -> list[ReviewItem]:
    """Add the grades to a sheet; returns items about corrections of answers that changed."""
    rules, items = policy.of(sheet.lecture), []
    for result in results:
        possible = rules.points.get(result.task, result.possible)
        share = result.points / result.possible
        points = possible if share == 1 else min(possible, round(share * possible, 2))
        if not rules.partial and points < possible:
            points, result.part = 0.0, WHOLE if points else ""
        if sheet.graded and result.task in rules.full_points and points < possible:
            points, result.part = possible, FOR_ALL
        grade = Grade(result.task, points, possible, By.GRADER, result, found=points)
        text = result.answer_id if result.review else ""  # points belong to a text
        given = corrections.get((sheet.student.id, result.task), text)
        if result.review:
            grade.points, grade.by = 0.0, By.WAITING
        if given:
            grade.correction = given
            grade.stale = given.answer != result.answer_id
            if not (grade.stale and result.review):  # another text is another answer: read it again
                grade.points, grade.by = given.points, By.PERSON
            if grade.stale and not result.review:
                changed = "the answer changed since"
                what = changed if result.answer_id else "no answer is there now, and"
                what = f"{result.task}: {what} {given.points:g} points were given"
                items.append(ReviewItem(what, sheet.lecture, sheet.student, sheet.file))
        if result.task in rules.bonus:
            grade.possible = 0.0
        sheet.grades.append(grade)
    return items


def _open_texts(
    sheet: SheetGrade, rows: Sequence[Listed], tasks: Tasks, own: Collection[str]
) -> list[ReviewItem]:
    """Items about written tasks that are open, while the student wrote a text elsewhere.

    Args:
        own: texts that are a student's own.
    """
    mine = [r for r in rows if r.student and r.student.id == sheet.student.id and r.refused]
    files = [r.handed.name for r in mine if DOCUMENT.search(r.handed.name)]
    texts, items = [text for text in sheet.row.texts if text in own], []
    for grade in sheet.grades:
        if tasks[grade.task].kind != "written" or grade.result.review or grade.correction:
            continue
        said = f"the written task {grade.task} is open, but there is text in"
        if texts:
            cell = max(texts, key=len)[:SHOWN_TEXT]
            what = f"{said} a text cell ({cell} …): {READ_IT}"
            items.append(ReviewItem(what, sheet.lecture, sheet.student, sheet.file))
        for file in files:
            what = f"{said} {file}: {READ_IT}"
            items.append(ReviewItem(what, sheet.lecture, sheet.student, file))
    return items


def _lateness(sheet: SheetGrade, policy: Policy) -> list[ReviewItem]:
    """Set how late the sheet is and what that costs; returns items about doubtful times."""
    student, row = sheet.student, sheet.row
    sheet.late = policy.days_late(sheet.lecture, student.id, row.when)
    sheet.share = policy.share(sheet.late) if sheet.late else 1.0
    due = policy.due(sheet.lecture, student.id)
    if due is None:
        return []
    sheet.after = elapsed(due, row.when) if sheet.late else timedelta(0)
    canvas = row.handed.owner.system == "canvas" and not row.by_hand
    if row.when is None and canvas and not row.late:
        return []  # Canvas marks who was late
    if row.when is None:
        what = "the submission time is not known, so no deadline was applied"
    elif row.late and not sheet.late:
        what = "Canvas marks it as late, but by the policy it is on time"
    else:
        return []
    return [ReviewItem(what, sheet.lecture, student, sheet.file)]


def _better_before(
    sheet: SheetGrade,
    ids: set[str],
    store: Store,
    tasks: Tasks,
    corrections: Corrections,
    policy: Policy,
) -> list[ReviewItem]:
    """Items about a late file that counts for less than a file of the student before it.

    Args:
        ids: the identifiers that the student has and had.
    """
    if not sheet.late:
        return []
    items = []
    for graded in store.earlier(ids, sheet.lecture, sheet.row.key):
        when = datetime.fromisoformat(graded.handed) if graded.handed else sheet.row.when
        if when >= sheet.row.when:
            continue
        other = SheetGrade(sheet.student, sheet.lecture, graded=graded)
        results = [result for result in graded.results if result.task in tasks]
        _grade(other, results, corrections, policy)
        other.late = policy.days_late(sheet.lecture, sheet.student.id, when)
        other.share = policy.share(other.late) if other.late else 1.0
        if other.points > sheet.points:
            said = f"is late and counts for {sheet.points:g} points; an earlier file, "
            said += f"{when:%d %b %H:%M}, would count for {other.points:g}: {graded.file}"
            item = ReviewItem(said, sheet.lecture, sheet.student, sheet.file, graded.file)
            items.append(item)
    return items
