"""Selection: each file is read once, and one file of each student is graded for each sheet."""

from __future__ import annotations

import hashlib
from collections import Counter
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime

from classroom.intake.files import Handed, Refused
from classroom.intake.notebook_cells import all_cells, cells_of
from classroom.intake.owners import distinct_name, download, file_name, settled
from classroom.intake.roster import Class, Student
from classroom.sandbox.examiner import GraderError
from classroom.sheets import Holds, best, holds, is_lecture, own_texts
from classroom.states import State
from grading.task import Tasks

OK = "ok"
"""What is said of a file that counts."""
CHOOSE = "to choose this file instead, use --count"
WHOSE = "say whose it is with --assign (add the person to a roster first), or sign to leave it out"


class OtherSheet(Refused):
    """A notebook of another sheet than the one that is graded."""


@dataclass
class Listed:
    """A file that was handed in, and what becomes of it."""

    handed: Handed
    student: Student | None = None
    status: str = OK
    """For people: `OK`, or in words why the file does not count; code asks for the `state`."""
    lecture: int | None = None
    key: str = ""
    """Id of the submission; it changes with the content and with all that may change the grade."""
    content: str = ""
    """SHA-256 of the file."""
    holds: Holds = field(default_factory=lambda: Holds(0))
    when: datetime | None = None
    """When it was handed in, as far as its time can be believed."""
    own: bool = False
    """Whether it answers tasks of the lecturer's own, and none of the course's."""
    beside: tuple[Handed, ...] = ()
    """Notebooks with answers to the lecturer's own tasks; their cells run after the sheet's."""
    texts: Sequence[str] = ()
    """What the student wrote in text cells."""
    state: State = State.COUNTS

    def reject(self, state: State, why: str) -> None:
        """Do not count the file; `why` is for its student too."""
        self.state, self.status = state, why

    def fail(self, error: Exception) -> None:
        """Do not count the file, since the grader itself failed on it; the next run tries again."""
        said = str(error) if type(error) is GraderError else f"{type(error).__name__}: {error}"
        self.reject(State.GRADER_FAILED, f"not graded, the grader failed: {said}")

    def supersede(self, why: str) -> None:
        """Do not count the file, since another file of the student counts."""
        self.reject(State.SUPERSEDED, why)

    @property
    def counts(self) -> bool:
        """Whether the file is graded and its grade counts."""
        return self.state is State.COUNTS

    @property
    def refused(self) -> bool:
        """Whether the file cannot be graded."""
        return self.state not in (State.COUNTS, State.SUPERSEDED)

    @property
    def late(self) -> bool:
        """Whether Canvas marks the file, or one that counts with it, as late."""
        return any(handed.owner.late for handed in (self.handed, *self.beside))

    @property
    def by_hand(self) -> bool:
        """Whether no system exported the file, or one that counts with it."""
        return not all(handed.owner.system for handed in (self.handed, *self.beside))

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
    """Another file that `what` mentions."""

    @property
    def said(self) -> str:
        """What a person reads: `what`, with the files' own names in place of their paths."""
        what = self.what
        if self.other:
            what = what.replace(self.other, distinct_name(self.other, self.file))
        return what.replace(self.file, file_name(self.file)) if self.file else what

    @property
    def id(self) -> str:
        """Stable id of this item; it survives the identification of an anonymous student."""
        own, what = settled(self.file), self.what
        who = self.student.id if self.student and own == self.file else ""
        for file in (self.file, self.other):
            what = what.replace(file, settled(file)) if file else what
        words = repr((what, self.lecture, who, own))
        return "look-" + hashlib.sha256(words.encode(errors="replace")).hexdigest()[:12]


def select(
    found: Sequence[Handed],
    tasks: Tasks,
    lecture: int | None,
    version: Mapping[int, str],
    members: Class,
    preferred: Mapping[str, str],
    own: Collection[str] = (),
) -> tuple[list[Listed], list[ReviewItem]]:
    """Read every file once, and select the file of each student that counts.

    Args:
        lecture: the lecture whose sheet is graded; found in each notebook if not given.
        version: by lecture, a digest of all that decides about a grade besides the file.
        preferred: files that a person said count, the last choice last.
        own: names of the lecturer's own tasks.

    Raises:
        ValueError: if most notebooks are of another sheet than the one that is graded.
    """
    rows, items = [], []
    for handed in found:
        row = Listed(handed, lecture=lecture)
        rows.append(row)
        try:
            _read(row, tasks, lecture, version, members, items, own)
        except OtherSheet as error:
            row.reject(State.OTHER_SHEET, str(error))
        except Refused as error:
            row.reject(State.REFUSED, str(error))
        except Exception as error:  # one file must not stop those of all others
            row.fail(error)
            if row.student is None:
                items.append(ReviewItem(row.status, lecture, None, handed.name))
    _require_most_of(lecture, rows)
    by_sheet: dict[tuple[str, int], list[Listed]] = {}
    for row in rows:
        if row.counts:
            by_sheet.setdefault((row.student.id, row.lecture), []).append(row)
    for several in by_sheet.values():
        items += _select_one(several, preferred)
    served = {row.student.id for row in rows if row.counts}
    for row in rows:
        if row.student and row.student.id not in served:
            items.append(
                ReviewItem(f"not graded: {row.status}", lecture, row.student, row.handed.name)
            )
    return rows, items


def _require_most_of(lecture: int | None, rows: Sequence[Listed]) -> None:
    """Refuse a lecture if most students have another sheet, and none that fits.

    Raises:
        ValueError: in this case.
    """
    right = {row.student.id for row in rows if row.counts}
    others = [row for row in rows if row.state is State.OTHER_SHEET]
    pairs = {(row.student.id, row.holds.lecture) for row in others if row.student.id not in right}
    if len({id for id, _ in pairs}) > max(len(right), 1):
        sheet, count = Counter(lecture for _, lecture in pairs).most_common(1)[0]
        of = f"{count} of {count + len(right)} notebooks are sheet {sheet}"
        raise ValueError(f"LECTURE={lecture}, but {of}; LECTURE={sheet} grades those")


def _select_one(several: list[Listed], preferred: Mapping[str, str]) -> list[ReviewItem]:
    """Select one of a student's files for a sheet; returns items for review."""
    numbers = {row.handed.owner.id for row in several if row.handed.owner.system}
    if len(numbers) > 1 and not any(row.handed.name in preferred for row in several):
        said = f"It was given to nobody: the tables make one of {' and '.join(sorted(numbers))}"
        for row in several:
            row.reject(State.REFUSED, f"{said}; correct them, or choose the file with --count")
        return []
    beside = [row for row in several if row.own and row.handed.name not in preferred]
    if len(beside) in (0, len(several)):
        return _choose(several, preferred)
    sheets = [row for row in several if row not in beside]
    items = _choose(sheets, preferred)
    [chosen] = [row for row in sheets if row.counts]
    return items + _put_beside(chosen, beside)


def _read(
    row: Listed,
    tasks: Tasks,
    lecture: int | None,
    version: Mapping[int, str],
    members: Class,
    items: list[ReviewItem],
    own: Collection[str],
) -> None:
    """Find out whose a file is and what it holds.

    Raises:
        Refused: if it cannot be graded.
    """
    handed = row.handed
    if handed.other_format and not members.closed:
        known = handed.owner.system or handed.owner.id in members.students
        row.student = members.whose(handed)[0] if known else None
        if row.student is None:
            items.append(ReviewItem(f"nobody's file: {handed.problem}", lecture, None, handed.name))
        raise Refused(handed.problem)
    row.student, odd = members.whose(handed)
    if row.student is None:
        said = f"nobody's file: {odd}; {WHOSE}"
        items.append(ReviewItem(said, lecture, None, handed.name))
        raise Refused(f"It was given to nobody: {odd}.")
    if odd:
        items.append(ReviewItem(odd, lecture, row.student, handed.name))
    data = handed.read()
    cells = all_cells(data)
    held = holds(cells, tasks)
    if is_lecture(cells, held):
        raise Refused("It is the lecture. Hand in the sheet with your answers.")
    if not held:
        raise Refused("It contains no task of the course. Hand in the sheet with your answers.")
    guess = best(held)
    row.holds = held[guess if lecture is None else lecture] if lecture in (None, *held) else None
    more = row.holds is not None and len(held[guess].defined) > len(row.holds.defined)
    if row.holds is None or (more and row.holds.strength < 2):  # a notebook may hold several sheets
        row.holds = held[guess]
        if not row.holds.defined and not row.holds.marked:  # a word of its code is a task's name
            raise Refused(f"It contains no task of sheet {lecture}. Hand in that sheet.")
        raise OtherSheet(f"It is sheet {guess}. Hand in sheet {lecture}.")
    row.lecture = row.holds.lecture
    also = [n for n, one in held.items() if one.strength == 2 and n != row.lecture]
    if lecture is None and also:
        said = f"answers sheet {also[0]} too, which is not graded here: use --lecture {also[0]}"
        items.append(ReviewItem(said, row.lecture, row.student, handed.name))
    others = holds(cells, tasks.without(own))
    course = any(one.defined or one.marked for one in others.values())
    row.own = bool(row.holds.answered) and not course
    row.texts = own_texts(cells, row.lecture)
    row.content = hashlib.sha256(data).hexdigest()
    words = f"{version[row.lecture]} {settled(handed.name)} {row.content}"
    row.key = hashlib.sha256(words.encode()).hexdigest()


def _put_beside(chosen: Listed, own: Sequence[Listed]) -> list[ReviewItem]:
    """Let notebooks with answers to the lecturer's own tasks count together with the sheet.

    Of two notebooks with the same task the later one counts; an answer in the sheet itself comes
    first. A download holds all that was handed in at its time, so only files of the same download
    are put together.
    """
    items, name, in_sheet = [], chosen.handed.name, chosen.holds.answered
    for row in sorted(own, key=lambda row: row.handed.order, reverse=True):
        held, twice = chosen.holds, sorted(row.holds.answered & chosen.holds.answered)
        if download(row.handed.name) != download(name):
            row.supersede(f"not counted: it is from another download than {name}")
        elif twice:
            row.supersede(f"not counted: {name}, or a later file, answers {', '.join(twice)} too")
            if in_sheet & row.holds.answered:
                said = f"also answers {', '.join(twice)}; the answer in {name} counts"
                items.append(ReviewItem(said, row.lecture, row.student, row.handed.name, name))
        else:
            row.supersede(f"not counted alone: its answers count with {name}")
            chosen.beside = (row.handed, *chosen.beside)
            chosen.holds = replace(held, answered=held.answered | row.holds.answered)
            chosen.key = hashlib.sha256(f"{chosen.key} {row.key}".encode()).hexdigest()
    return items


def _choose(several: list[Listed], preferred: Mapping[str, str]) -> list[ReviewItem]:
    """Choose one of a student's files for a sheet; returns items for review about odd choices.

    The later file counts. But a sheet without answers never replaces one with answers, nor does a
    notebook that is hardly the sheet. A file that a person chose comes first, the last choice first
    of all.
    """
    chosen_by = list(preferred)

    def rank(row: Listed) -> tuple:
        name = row.handed.name
        said = chosen_by.index(name) if name in preferred else -1
        return said, row.holds.strength, row.handed.order

    *others, chosen = sorted(several, key=rank)
    items = []
    name, by_person = chosen.handed.name, chosen.handed.name in preferred

    told = set()  # a file that lies in two downloads is told once
    for row in sorted(others, key=lambda row: download(row.handed.name) != download(name)):
        why, odd = _why_not(row, chosen, by_person)
        row.supersede(why)
        if odd and not by_person and row.content not in told:
            told.add(row.content)
            items.append(ReviewItem(odd, chosen.lecture, chosen.student, row.handed.name, name))
    if chosen.holds.strength == 1:
        what = f"contains tasks of the sheet ({len(chosen.holds.defined)}), but is hardly the sheet"
        items.append(ReviewItem(what, chosen.lecture, chosen.student, name))
    return items


def _why_not(row: Listed, chosen: Listed, by_person: bool) -> tuple[str, str]:
    """Why a file does not count beside the chosen one, and what a person should know about it."""
    name, mine = chosen.handed.name, row.handed.name
    if row.content == chosen.content:
        return f"not counted: the same as {name}", ""
    if by_person:
        return f"not counted: a person chose {name}", ""
    if row.holds.strength < chosen.holds.strength:
        if row.holds.answered:
            what, why = "is hardly the sheet", f"it is hardly the sheet, but {name} is"
        else:
            what, why = "contains no answers", f"it contains no answers, but {name} does"
        later = row.handed.order > chosen.handed.order
        odd = f"{mine} is later but {what}, so {name} counts; {CHOOSE}" if later else ""
        return f"not counted: {why}", odd
    more = len(row.holds.answered) > len(chosen.holds.answered)
    besides = ", and contains more answers" if more else ""
    if row.handed.order[:2] != chosen.handed.order[:2]:
        odd = f"contains more answers than {name}, which is later and counts; {CHOOSE}"
        odd = odd if more else ""
        return f"not counted: {name} of the same student is later", odd
    if download(mine) != download(name):  # the times are those of two downloads
        said = f"which counts{besides}; if this one is later, choose it with --count"
        odd = f"is from another download than {name}, {said}"
        return f"not counted: {name} from another download counts", odd
    odd = f"submitted at the same time as {name}, which counts{besides}; {CHOOSE}"
    return f"not counted: {name}, submitted at the same time, counts", odd
