"""Which file counts: every file is read once; of a student's files for a sheet one is graded."""

from __future__ import annotations

import hashlib
from collections import Counter
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime

from classroom.intake.roster import Class, Student
from classroom.intake.submissions import (
    Handed,
    Refused,
    all_cells,
    cells_of,
    download,
    settled,
)
from classroom.sheets import Holds, best, holds, is_lecture
from grading.task import Task


@dataclass
class Listed:
    """A file that was handed in, and what is to become of it."""

    handed: Handed
    student: Student | None = None
    status: str = "ok"
    lecture: int | None = None
    key: str = ""
    """Of the submission: changes with its content and with whatever may change its grade."""
    content: str = ""
    holds: Holds = field(default_factory=lambda: Holds(0))
    when: datetime | None = None
    """When it was handed in, as far as its time can be believed."""
    own: bool = False
    """Whether it answers tasks of the lecturer's own, and holds none of the course's."""
    beside: tuple[Handed, ...] = ()
    """Notebooks with answers to the lecturer's own tasks; their cells run behind the sheet's."""

    @property
    def late(self) -> bool:
        """Whether Canvas calls it late, or what goes with it."""
        return any(handed.owner.late for handed in (self.handed, *self.beside))

    def cells(self) -> list[str]:
        """The sources of all its code cells.

        Raises:
            Refused: if a file changed, and is no notebook any more.
        """
        files = (self.handed, *self.beside)
        return [source for handed in files for source in cells_of(handed.read())]


@dataclass(frozen=True)
class ReviewItem:
    """Something that a person should see before the grades are final."""

    what: str
    lecture: int | None
    student: Student | None = None
    file: str = ""
    other: str = ""
    """Another file of which `what` speaks."""

    @property
    def item(self) -> str:
        """The same as long as what is to be seen is the same, whoever it turns out to be."""
        own, what = settled(self.file), self.what
        who = self.student.id if self.student and own == self.file else ""
        for file in (self.file, self.other):
            what = what.replace(file, settled(file)) if file else what
        words = repr((what, self.lecture, who, own))
        return "look-" + hashlib.sha256(words.encode(errors="replace")).hexdigest()[:12]


def list_files(
    found: Sequence[Handed],
    tasks: Mapping[str, Task],
    lecture: int | None,
    version: Mapping[int, str],
    members: Class,
    preferred: Mapping[str, str],
    own: Collection[str] = (),
) -> tuple[list[Listed], list[ReviewItem]]:
    """Read every file once, and decide which of a student's files counts.

    Args:
        lecture: whose sheet is graded; found in each notebook if not given.
        version: by lecture, what besides the file's content decides about its grade.
        preferred: by file, "yes" where a person said that it counts.
        own: which tasks are the lecturer's own.

    Raises:
        ValueError: if most notebooks are of another sheet than the one that is graded.
    """
    rows, looks = [], []
    for handed in found:
        row = Listed(handed, lecture=lecture)
        rows.append(row)
        try:
            _read(row, tasks, lecture, version, members, looks, own)
        except Refused as error:
            row.status = str(error)
    wrong = Counter(row.holds.lecture for row in rows if row.status.startswith("It is sheet"))
    right = sum(row.status == "ok" for row in rows)
    if wrong.total() > max(right, 1):
        sheet, count = wrong.most_common(1)[0]
        raise ValueError(
            f"--lecture {lecture}, but {count} of {count + right} notebooks are sheet {sheet}"
        )
    by_place: dict[tuple[str, int], list[Listed]] = {}
    for row in rows:
        if row.status == "ok":
            by_place.setdefault((row.student.id, row.lecture), []).append(row)
    for several in by_place.values():
        numbers = {row.handed.owner.id for row in several if row.handed.owner.system}
        if len(numbers) > 1 and not any(row.handed.name in preferred for row in several):
            said = f"It was given to nobody: the tables make one of {' and '.join(sorted(numbers))}"
            for row in several:
                row.status = f"{said}; mend them, or say which file counts (--count)"
        else:
            beside = [row for row in several if row.own and row.handed.name not in preferred]
            if len(beside) in (0, len(several)):
                looks += _choose(several, preferred)
            else:
                sheets = [row for row in several if row not in beside]
                looks += _choose(sheets, preferred)
                [chosen] = [row for row in sheets if row.status == "ok"]
                looks += _put_beside(chosen, beside)
    served = {row.student.id for row in rows if row.status == "ok"}
    for row in rows:
        if row.student and row.student.id not in served:
            looks.append(
                ReviewItem(f"not graded: {row.status}", lecture, row.student, row.handed.name)
            )
    return rows, looks


def _read(
    row: Listed,
    tasks: Mapping[str, Task],
    lecture: int | None,
    version: Mapping[int, str],
    members: Class,
    looks: list[ReviewItem],
    own: Collection[str],
) -> None:
    """Find out whose a file is and what it holds.

    Raises:
        Refused: if it cannot be graded.
    """
    handed = row.handed
    if handed.problem.startswith("It is no notebook") and not members.closed:
        known = handed.owner.system or handed.owner.id in members.students
        row.student = members.whose(handed)[0] if known else None
        if row.student is None:
            looks.append(
                ReviewItem(f"{handed.problem[:-1]}, and nobody's", lecture, None, handed.name)
            )
        raise Refused(handed.problem)
    row.student, odd = members.whose(handed)
    if row.student is None:
        looks.append(ReviewItem(f"nobody's: {odd}", lecture, None, handed.name))
        raise Refused(f"It was given to nobody: {odd}.")
    if odd:
        looks.append(ReviewItem(odd, lecture, row.student, handed.name))
    data = handed.read()
    cells = all_cells(data)
    held = holds(cells, tasks)
    if is_lecture(cells, held):
        raise Refused("It is the lecture, not the sheet.")
    if not held:
        raise Refused("It names no task of the course.")
    guess = best(held)
    row.holds = held[guess if lecture is None else lecture] if lecture in (None, *held) else None
    if row.holds is None or len(held[guess].defined) > len(row.holds.defined):
        row.holds = held[guess]
        if not row.holds.defined and not row.holds.marked:  # a word of its code is a task's name
            raise Refused(f"It holds no task of sheet {lecture}.")
        raise Refused(f"It is sheet {guess}, and sheet {lecture} is graded.")
    row.lecture = row.holds.lecture
    others = {name: task for name, task in tasks.items() if name not in own}
    course = any(one.defined or one.marked for one in holds(cells, others).values())
    row.own = bool(row.holds.answered) and not course
    row.content = hashlib.sha256(data).hexdigest()
    words = f"{version[row.lecture]} {settled(handed.name)} {row.content}"
    row.key = hashlib.sha256(words.encode()).hexdigest()


def _put_beside(chosen: Listed, own: Sequence[Listed]) -> list[ReviewItem]:
    """Let notebooks with answers to the lecturer's own tasks count with the student's sheet.

    Of two with the same task the later one counts; what the sheet itself answers stands. A download
    holds all that was handed in then, so nothing of another one comes to it.
    """
    looks, name, in_sheet = [], chosen.handed.name, chosen.holds.answered
    for row in sorted(own, key=lambda row: row.handed.order, reverse=True):
        held, twice = chosen.holds, sorted(row.holds.answered & chosen.holds.answered)
        if download(row.handed.name) != download(name):
            row.status = f"not counted: it is of another download than {name}"
        elif twice:
            row.status = f"not counted: {name}, or a later file, answers {', '.join(twice)} too"
            if in_sheet & row.holds.answered:
                said = f"answers {', '.join(twice)} too: what stands in {name} counts"
                looks.append(ReviewItem(said, row.lecture, row.student, row.handed.name, name))
        else:
            row.status = f"not counted alone: its answers count with {name}"
            chosen.beside = (row.handed, *chosen.beside)
            chosen.holds = replace(held, answered=held.answered | row.holds.answered)
            chosen.key = hashlib.sha256(f"{chosen.key} {row.key}".encode()).hexdigest()
    return looks


def _choose(several: list[Listed], preferred: Mapping[str, str]) -> list[ReviewItem]:
    """Of one student's files for one sheet, let one count; say what of this is no matter of course.

    The later one counts. But a sheet without answers never takes the place of one with answers,
    nor does a notebook that is hardly the sheet. What a person chose counts, the last choice first.
    """
    chosen_by = list(preferred)

    def rank(row: Listed) -> tuple:
        name = row.handed.name
        said = chosen_by.index(name) if name in preferred else -1
        return said, row.holds.strength, row.handed.order

    *others, chosen = sorted(several, key=rank)
    looks = []
    student, lecture = chosen.student, chosen.lecture

    def look(what: str, row: Listed) -> None:
        if chosen.handed.name not in preferred:
            looks.append(ReviewItem(what, lecture, student, row.handed.name, chosen.handed.name))

    for row in others:
        name, mine = chosen.handed.name, row.handed.name
        if row.content == chosen.content:
            row.status = f"not counted: the same as {name}"
        elif chosen.handed.name in preferred:
            row.status = f"not counted: a person chose {name}"
        elif row.holds.strength < chosen.holds.strength:
            what = "holds no answers" if not row.holds.answered else "is hardly the sheet"
            row.status = f"not counted: it {what}, and {name} does"
            if not row.holds.answered:
                row.status = f"not counted: it holds no answers, and {name} holds some"
            if row.handed.order > chosen.handed.order:
                look(f"{mine} is later and {what}: {name} counts", row)
        else:
            same = row.handed.order[:2] == chosen.handed.order[:2]
            apart = same and download(mine) != download(name)  # times of two downloads, not theirs
            row.status = f"not counted: {name} of the same student is later"
            if apart:
                row.status = f"not counted: {name} of another download counts"
            elif same:
                row.status = f"not counted: {name}, handed in at the same time, counts"
            more = len(row.holds.answered) > len(chosen.holds.answered)
            besides = ", and holds more answers" * more
            if apart:
                said = f"which counts{besides}; is this one the later? Then --count it"
                look(f"is of another download than {name}, {said}", row)
            elif same:
                look(f"handed in at the same time as {name}, which counts{besides}", row)
            elif more:
                look(f"holds more answers than {name}, which is later and counts", row)
    if chosen.holds.strength == 1:
        what = f"holds {len(chosen.holds.defined)} tasks and is hardly the sheet"
        looks.append(ReviewItem(what, lecture, student, chosen.handed.name))
    return looks
