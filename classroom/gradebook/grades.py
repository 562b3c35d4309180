"""From what the machine found to what counts: persons' points, the policy, lateness."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from pathlib import Path

from classroom import tables
from classroom.gradebook.store import Correction, Graded, Result, Store
from classroom.intake.roster import Student
from classroom.intake.select import Listed, ReviewItem
from classroom.policy import Policy
from classroom.sheets import items_of
from grading.task import Task

NOTHING = "nothing handed in"
"""The status of a student of whom there is no file."""

WHOLE = "In this class a task counts all or nothing."
LOOKED_AT = ("forged or garbled answers", "answer channel flooded", "could not be judged")
"""Flags that a person should see before a grade is final."""


@dataclass
class Grade:
    """What one task is worth in the end."""

    task: str
    points: float
    possible: float
    by: str
    """"grader", "waiting" for a person, or who gave the points."""
    result: Result | None = None
    correction: Correction | None = None
    stale: bool = False
    """Whether the answer changed since a person gave points."""


@dataclass
class SheetGrade:
    """What a student has for one sheet."""

    student: Student
    lecture: int | None
    status: str
    row: Listed | None = None
    graded: Graded | None = None
    grades: list[Grade] = field(default_factory=list)
    late: int = 0
    share: float = 1.0
    final: bool = True

    @property
    def file(self) -> str:
        """The file that counts."""
        return self.row.handed.name if self.row else ""

    @property
    def points(self) -> float:
        """The sum, less what lateness takes."""
        return round(self.share * sum(grade.points for grade in self.grades), 6)

    @property
    def possible(self) -> float:
        """The most, without bonus tasks."""
        return round(sum(grade.possible for grade in self.grades), 6)

    @property
    def given(self) -> bool:
        """Whether a person gave points in it: then there is something to hand back."""
        return any(grade.correction for grade in self.grades)

    @property
    def waiting(self) -> int:
        """How many answers a person has to read."""
        return sum(grade.by == "waiting" for grade in self.grades)


def mark(
    rows: Sequence[Listed],
    students: Iterable[Student],
    lectures: Sequence[int | None],
    store: Store,
    tasks: Mapping[str, Task],
    policy: Policy,
    corrections: Mapping[tuple[str, str], Correction],
    former: Mapping[tuple[int, str], str],
) -> tuple[list[SheetGrade], list[ReviewItem]]:
    """One sheet for every student and lecture, and what a person should see in it.

    `former` says by which identifiers, sheet by sheet, earlier runs knew a student.
    """
    looks, sheets = [], []
    good = {(row.student.id, row.lecture): row for row in rows if row.status == "ok"}
    failed: dict[str, Listed] = {}
    for row in rows:
        if row.student and row.status != "ok" and not row.status.startswith("not counted"):
            failed[row.student.id] = row
    for student in students:
        served = {lecture for id, lecture in good if id == student.id}
        for lecture in sorted(served | set(lectures) or {None}, key=lambda n: n or 0):
            row = good.get((student.id, lecture))
            if row is None:
                other = failed.get(student.id)
                status = other.status if other else NOTHING
                sheet = SheetGrade(student, lecture, status, other)
                wanted = items_of(lecture, tasks) if lecture else []
                empty = [Result(i.task, 0, tasks[i.task].points, status) for i in wanted]
                looks += _grades(sheet, empty, corrections, policy)
            else:
                sheet = SheetGrade(student, lecture, "ok", row, store.get(row.key))
                by_name = {result.task: result for result in sheet.graded.results}
                order = [i.task for i in items_of(lecture, tasks) if i.task in by_name]
                looks += _grades(sheet, [by_name[name] for name in order], corrections, policy)
                looks += _lateness(sheet, policy)
                before = [
                    o for (n, o), new in former.items() if new == student.id and n in (0, lecture)
                ]
                looks += _worth_less(sheet, before, store, tasks, corrections, policy)
                seen = [flag for flag in sheet.graded.flags if flag in LOOKED_AT]
                looks += [ReviewItem(flag, lecture, student, sheet.file) for flag in seen]
            sheets.append(sheet)
    return sheets, looks


def _grades(
    sheet: SheetGrade,
    results: Sequence[Result],
    corrections: Mapping[tuple[str, str], Correction],
    policy: Policy,
) -> list[ReviewItem]:
    """Fill in the grades of a sheet."""
    rules, looks = policy.of(sheet.lecture), []
    for result in results:
        possible = rules.points.get(result.task, result.possible)
        points = round(result.points * possible / result.possible, 2)
        if not rules.partial and 0 < points < possible:
            points, result.part = 0.0, WHOLE
        grade = Grade(result.task, points, possible, "grader", result)
        given = corrections.get((sheet.student.id, result.task))
        if result.review:
            grade.points, grade.by = 0.0, "waiting"
        if given:
            grade.correction = given
            grade.stale = given.answer != result.answer_id
            if not (grade.stale and result.review):  # another text is another answer: read it again
                grade.points, grade.by = given.points, given.author or "a person"
            if grade.stale and not result.review:
                what = (
                    "the answer changed since"
                    if result.answer_id
                    else "no answer is there now, and"
                )
                what = f"{result.task}: {what} {given.points:g} points were given"
                looks.append(ReviewItem(what, sheet.lecture, sheet.student, sheet.file))
        if result.task in rules.bonus:
            grade.possible = 0.0
        sheet.grades.append(grade)
    return looks


def _lateness(sheet: SheetGrade, policy: Policy) -> list[ReviewItem]:
    """Whether it was late, and what that costs."""
    student, row = sheet.student, sheet.row
    sheet.late = policy.days_late(sheet.lecture, student.id, row.when)
    sheet.share = policy.share(sheet.late) if sheet.late else 1.0
    if policy.due(sheet.lecture, student.id) is None:
        return []
    if row.when is None and row.handed.owner.system == "canvas" and not row.late:
        return []  # Canvas marks who was late
    if row.when is None:
        return [
            ReviewItem("when it was handed in is not known", sheet.lecture, student, sheet.file)
        ]
    if row.late and not sheet.late:
        what = "Canvas says late, the policy does not"
        return [ReviewItem(what, sheet.lecture, student, sheet.file)]
    return []


def _worth_less(
    sheet: SheetGrade,
    before: Sequence[str],
    store: Store,
    tasks: Mapping[str, Task],
    corrections: Mapping[tuple[str, str], Correction],
    policy: Policy,
) -> list[ReviewItem]:
    """Whether a late file counts for less than one that the student had handed in before."""
    if not sheet.late:
        return []
    looks = []
    ids = {sheet.student.id, *before}
    for graded in store.earlier(ids, sheet.lecture, sheet.row.key):
        when = datetime.fromisoformat(graded.handed) if graded.handed else sheet.row.when
        if when < sheet.row.when:
            other = SheetGrade(sheet.student, sheet.lecture, "ok", graded=graded)
            results = [result for result in graded.results if result.task in tasks]
            _grades(other, results, corrections, policy)
            other.late = policy.days_late(sheet.lecture, sheet.student.id, when)
            other.share = policy.share(other.late) if other.late else 1.0
            if other.points > sheet.points:
                said = f"is late and counts for {sheet.points:g}; what came before, "
                said += f"{when:%d %b %H:%M}, would have {other.points:g}: {graded.file}"
                looks.append(
                    ReviewItem(said, sheet.lecture, sheet.student, sheet.file, graded.file)
                )
    return looks


# ------------------------------------------------------------------ what persons write

WRITTEN = ("id", "name", "lecture", "task", "points", "possible", "comment", "author")
LOOKS = ("item", "id", "name", "lecture", "file", "what", "seen")


def read_points(
    path: Path,
    ids: Iterable[str],
    tasks: Mapping[str, Task],
    policy: Policy,
    author: str,
    id_of: Callable[[str], str] = str,
) -> list[Correction]:
    """Points that persons gave, from a table with the columns id, task, points.

    Columns comment, author and answer id are read too; a row without points is left out, and
    points "-" take an earlier correction back. `id_of` finds who is meant by what stands in `id`.

    Raises:
        ValueError: on a row that fits no student or task, or has points that cannot be.
    """
    known, made = set(ids), []
    _, rows = tables.read(path, ("id", "task", "points"))
    for number, row in enumerate(rows, 2):
        if row["points"]:
            where = f"{path.name}, line {number}"
            row = row | {"id": id_of(row["id"])}
            made.append(correction(where, row, known, tasks, policy, author))
    return made


def correction(
    where: str,
    row: Mapping[str, str],
    known: set[str],
    tasks: Mapping[str, Task],
    policy: Policy,
    author: str,
) -> Correction:
    """One row of such a table.

    Raises:
        ValueError: as `read_points`.
    """
    id, name, said = row["id"], row["task"], row["points"]
    if id not in known:  # spreadsheets drop zeros in front
        same = [one for one in known if one.lstrip("0") == id.lstrip("0")]
        id = same[0] if len(same) == 1 else id
    if id not in known:
        told = "the column id of grades.csv has them"
        raise ValueError(f"{where}: no student has the identifier {id!r}; {told}")
    if name not in tasks:
        told = "if it is one of your own, name the policy that has it (POLICY=class.toml)"
        raise ValueError(f"{where}: no task {name!r} is graded; {told}")
    task = tasks[name]
    most, points = policy.of(task.lecture).points.get(name, task.points), None
    if said != "-":
        try:
            points = tables.number(said)
        except ValueError:
            points = -1.0
        if not 0 <= points <= most:
            raise ValueError(f"{where}: points are {said!r}; a number from 0 to {most:g} is wanted")
    who = row.get("author") or author
    return Correction(id, name, points, row.get("comment", ""), who, "", row.get("answer id", ""))


def marked_twice(given: Sequence[Correction]) -> dict[tuple[str, str], str]:
    """Of answers for which tables say different points, by different persons: in words."""
    first: dict[tuple[str, str], Correction] = {}
    words: dict[tuple[str, str], str] = {}
    for one in given:
        place = one.student, one.task
        other = first.setdefault(place, one)
        both = None not in (one.points, other.points)
        if both and one.points != other.points and one.author != other.author:
            says = [f"{c.author or 'one'} gave {c.points:g}" for c in (other, one)]
            words[place] = f"{says[0]}, {says[1]} points, and the latter count"
    return words


def is_new(given: Correction, held: Mapping[tuple[str, str], Correction]) -> bool:
    """Whether it says anything that is not known yet."""
    old = held.get((given.student, given.task))
    if old is None:
        return given.points is not None
    mine, known = (given.points, given.comment), (old.points, old.comment)
    if given.author != old.author and given.points == old.points and not given.comment:
        mine = known  # somebody else who agrees takes no comment away
    elif given.author != old.author:
        return True
    return mine != known or given.answer not in ("", old.answer)


def write_written(path: Path, sheets: Sequence[SheetGrade], policy: Policy) -> int:
    """The table of written answers, with the points that are given; how many wait."""
    rows, waiting = [], 0
    for sheet in sheets:
        for grade in sheet.grades:
            if grade.result and grade.result.review:
                waits = grade.by == "waiting"
                waiting += waits
                given, earlier = grade.correction, ""
                if given and waits:
                    earlier = f"{given.points:g} for an earlier answer. {given.comment}"
                shown = ["", "", ""] if waits else [given.points, given.comment, given.author]
                head = [sheet.student.id, sheet.student.name, sheet.lecture, grade.task, shown[0]]
                result = grade.result
                most = policy.of(sheet.lecture).points.get(grade.task, result.possible)
                tail = [most, *shown[1:], result.answer_id, earlier, result.answer]
                rows.append([*head, *tail])
    tables.write(path, [*WRITTEN, "answer id", "earlier", "answer"], rows)
    return waiting


def write_looks(path: Path, looks: Sequence[ReviewItem], looked: Mapping[str, str]) -> set[str]:
    """The list of what a person should see; returns the items that nobody has looked at."""
    rows, open_ = [], set()
    for look in sorted(set(looks), key=lambda x: (x.item in looked, x.student is not None, x.file)):
        who = [look.student.id, look.student.name] if look.student else ["", ""]
        seen = looked.get(look.item, "")
        rows.append([look.item, *who, look.lecture or "", look.file, look.what, seen])
        if not seen:
            open_.add(look.item)
    tables.write(path, LOOKS, rows)
    return open_


def read_looks(path: Path) -> list[tuple[str, str]]:
    """What persons wrote into the column `seen`.

    Raises:
        ValueError: if the table lost its columns.
    """
    _, rows = tables.read(path, ("item", "seen"))
    return [(row["item"], row["seen"]) for row in rows if row["seen"]]
