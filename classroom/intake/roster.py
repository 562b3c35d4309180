"""The students of the class, and the student of each file.

A student is an identifier, never a name: two students may have the same name. A file whose student
is not certain belongs to nobody until a person decides.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path

from classroom import tables
from classroom.intake.files import Handed
from classroom.intake.owners import Owner
from classroom.tables import normal

# Columns by which a table is known, in the words of whoever exported it.
OWN = {"id": "id", "name": "name", "email": "email"}
MOODLE = {"id": "Identifier", "name": "Full name", "email": "Email address", "other": "ID number"}
MOODLE["handed"] = "Last modified (submission)"
CANVAS = {"id": "ID", "name": "Student", "email": "SIS Login ID", "other": "SIS User ID"}
LOST = {"?", "\ufffd"}
"""What an encoding without a letter writes in its place."""
PAIRS = "participant, and id or email; or Moodle's worksheet with e-mail addresses"
WANTED = (
    "the columns id, name, email, spelled like this; or Moodle's grading worksheet in English "
    "(Identifier, Full name, …); or Canvas's gradebook (Student, ID, …)"
)


@dataclass(frozen=True)
class Student:
    """One student; `id` identifies the student in every table."""

    id: str
    name: str = ""
    email: str = ""
    handed: str = ""
    """The time of handing in, as Moodle's worksheet writes it."""
    also: frozenset[str] = field(default_factory=frozenset)
    """Other words for this student in files, in lower case: "moodle 501", a login."""
    numbers: frozenset[str] = field(default_factory=frozenset)
    """The systems' own numbers for this student, as "moodle 501"; an `id` is never one of them."""
    blind: bool = False
    """Whether the student is known only by a number that changes with every assignment."""


def read_roster(paths: Sequence[Path]) -> list[Student]:
    """The students of all tables; rows with the same identifier or e-mail are the same student.

    The first table that has a student gives the identifier, unless that is the number of one
    assignment only.

    Raises:
        ValueError: if a table is none of those known, or says two things about one student.
    """
    students: list[Student] = []
    for path in paths:
        seen: dict[str, int] = {}
        for number, made in _rows(path):
            where = f"{path.name}, row {number}"
            for word in sorted(made.also, key=lambda word: (" " in word, word)):
                if word in seen:
                    raise ValueError(f"{path.name}: {word} is in rows {seen[word]} and {number}")
                seen[word] = number
            same = [i for i, s in enumerate(students) if s.also & made.also]
            if len(same) > 1:
                both = " and ".join(students[i].id for i in same)
                raise ValueError(f"{where}: this fits two students, {both}")
            if same:
                students[same[0]] = _one(students[same[0]], made, where)
            else:
                students.append(made)
    if not any(student.numbers for student in students):  # then an `id` may be the system's
        students = [replace(s, also=s.also | {f"moodle {s.id}".lower()}) for s in students]
    return students


def _one(old: Student, new: Student, where: str) -> Student:
    """Merge two rows about one student.

    Raises:
        ValueError: if these are two people: they share a number, and e-mails or names differ.
    """
    shared = old.also & new.also
    emails, names = (old.email, new.email), (old.name, new.name)
    two = emails[0].lower() != emails[1].lower() if all(emails) else all(names) and _apart(*names)
    if two and all(word.startswith(("moodle ", "canvas ")) for word in shared):
        was, now = emails if all(emails) else names
        said = f"{min(shared)!r} is {was} in another table and {now} here"
        raise ValueError(f"{where}: {said}; leave out the table that is of another assignment")
    first, second = (new, old) if old.blind and not new.blind else (old, new)
    return replace(
        first,
        name=max(first.name, second.name, key=lambda name: (bool(name), not LOST & {*name})),
        email=first.email or second.email,
        handed=first.handed or second.handed,
        also=first.also | second.also,
        numbers=first.numbers | second.numbers,
    )


def _apart(one: str, other: str) -> bool:
    """Whether two names have no part in common."""
    return not {*re.findall(r"\w+", _key(one))} & {*re.findall(r"\w+", _key(other))}


def _rows(path: Path) -> Iterable[tuple[int, Student]]:
    columns, rows = tables.read(path)
    for names, system in ((MOODLE, "moodle"), (CANVAS, "canvas"), (OWN, "")):
        if names["id"] in columns and (system != "canvas" or names["name"] in columns):
            break
    else:
        there = ", ".join(column[:30] for column in columns[:12]) or "none"
        said = f"the columns of its first row are: {there}; missing: {OWN['id']}"
        raise ValueError(f"{path.name} is not a roster; {said}. It needs {WANTED}")
    for number, row in enumerate(rows, 2):
        given = {key: row.get(column, "").strip() for key, column in names.items()}
        if system == "canvas" and (not given["id"] or given["name"] == "Student, Test"):
            continue  # the row of points possible, and Canvas's test student
        if not given["id"]:
            raise ValueError(f"{path.name}, row {number}: the identifier is empty")
        yield number, _student(system, given)


def _student(system: str, given: Mapping[str, str]) -> Student:
    words = {given.get("email", ""), given.get("other", "")} - {""}
    name, numbers, blind = given["name"], set(), system == "moodle" and not words
    if system == "moodle":
        # Moodle numbers the participants of each assignment anew: not the student's identifier.
        digits = re.sub(r"\D", "", given["id"])
        id = given["email"] or given["other"] or given["id"]
        numbers = {f"moodle {digits}"}
    elif system == "canvas":
        id = given["other"] or given["email"] or given["id"]
        numbers = {f"canvas {given['id']}"}
    else:
        id = given["id"]
        words |= {id, f"canvas {id}"}
    when, words = given.get("handed", "").strip("-"), words | numbers
    also = frozenset(map(_key, words))
    return Student(id, name, given["email"], when, also, frozenset(numbers), blind)


def read_pairs(path: Path, members: Class) -> dict[str, str]:
    """Students' identifiers, by the number of the participant, as "moodle 903".

    The table has the columns participant and id or email, or is Moodle's worksheet with names.

    Raises:
        ValueError: if a row names nobody of the class, or if a participant or a student is named
            twice: two people would become one.
    """
    columns, rows = tables.read(path)
    moodles = MOODLE["id"] in columns
    whose = [MOODLE["email"], MOODLE["other"]] if moodles else ["email", "id"]
    which = MOODLE["id"] if moodles else "participant"
    if which not in columns or not set(whose) & set(columns):
        raise ValueError(
            f"{path.name}: wanted are {PAIRS}; the columns are: {', '.join(columns) or 'none'}"
        )
    made: dict[str, str] = {}
    for line, row in enumerate(rows, 2):
        where = f"{path.name}, row {line}"
        given, said = row[which], next((row[c] for c in whose if row.get(c)), "")
        number = _number(re.sub(r"\D", "", given) if moodles else given)
        if not given and said:
            continue  # handed in nothing
        if not number or not said:
            raise ValueError(f"{where}: a participant's number, and an id or e-mail, are needed")
        fits = [s.id for s in members.students.values() if _key(said) in {_key(s.id), *s.also}]
        if len(fits) != 1:  # a number is none here: it would be another participant's
            raise ValueError(f"{where}: {said!r} is not on the roster")
        [id] = fits
        if number in made or id in made.values():
            raise ValueError(f"{where}: {given!r} or {said!r} is also in another row")
        made[number] = id
    return made


def _key(word: str) -> str:
    """One form for all spellings of an identifier."""
    return normal(word).lower()


def _number(said: str) -> str:
    """A participant's number as files have it: Moodle's digits, or Canvas's anonymous word."""
    if re.fullmatch(r"anon_\w{5}", said.strip()):
        return f"canvas {said.strip().lower()}"
    digits = re.fullmatch(r"(?:participant)?\s*(\d+)", said.strip(), re.IGNORECASE)
    return f"moodle {digits[1]}" if digits else ""


@dataclass
class Class:
    """The known students, and the rules that assign files to them.

    Without a roster the files themselves say who is in the class.
    """

    students: dict[str, Student] = field(default_factory=dict)
    closed: bool = False
    """Whether there is a roster; then nobody else is in the class."""
    assigned: Mapping[str, str] = field(default_factory=dict)
    """Students whom a person named, by file."""
    seen: dict[str, str] = field(default_factory=dict)
    """Maps an LMS student or upload id to our student id."""
    former: dict[tuple[int, str], str] = field(default_factory=dict)
    """The student's id now, by lecture (0: all) and an id of an earlier run."""
    doubtful: list[tuple[int, str, tuple[str, ...]]] = field(default_factory=list)
    """Lectures and students, with several ids of earlier runs that cannot all be that student."""

    @classmethod
    def of(cls, paths: Sequence[Path], assigned: Mapping[str, str]) -> Class:
        """The class that the tables name.

        Raises:
            ValueError: as `read_roster`.
        """
        students = {student.id: student for student in read_roster(paths)}
        return cls(students, bool(paths), assigned)

    def id_of(self, said: str) -> str:
        """The id of the student whom a person names by id, e-mail address, login or number.

        A word that fits nobody, or several students, is returned as it is.
        """
        said = normal(said)
        ways = {_key(said), f"canvas {said}", _number(said)}
        fits = [student.id for student in self.students.values() if student.also & ways]
        return fits[0] if said not in self.students and len(fits) == 1 else said

    def tie(self, pairs: Mapping[str, str]) -> None:
        """Identify participants, by number, with the students that a person named.

        Raises:
            ValueError: if the roster says of a participant that it is somebody else.
        """
        if pairs:  # numbers are known, so an `id` is none
            for s in list(self.students.values()):
                no = {w for w in s.also if w.startswith("moodle ") and w not in s.numbers}
                self.students[s.id] = replace(s, also=s.also - no)
        for number, id in pairs.items():
            student = self.students[id]
            for other in [s for s in self.students.values() if number in s.numbers and s.id != id]:
                if not other.blind:
                    said = f"{number!r} is {other.id} on the roster and {id} in the table of pairs"
                    raise ValueError(f"{said}; the right one: --participants TABLE")
                student = _one(student, self.students.pop(other.id), number)
            words = frozenset({number})
            self.students[id] = replace(
                student, also=student.also | words, numbers=student.numbers | words
            )

    def recognise(self, known: Iterable[tuple[int, str, str]], named: Collection[str] = ()) -> None:
        """Recognize students who had another identifier in earlier runs.

        Two students are the same if the learning management system gave them the same number in the
        same assignment, or if they have the same e-mail address. If one student would then be
        several participants, none of them is recognized.

        Args:
            known: of earlier runs the lecture, a word for a student, and the identifier.
            named: who had a name there: nobody becomes a number again.
        """
        now = {word: s.id for s in self.students.values() for word in words_of(s)} | self.seen
        found: dict[tuple[int, str], dict[str, set[str]]] = {}
        for lecture, word, old in known:
            again = word in now and old in named and self.students[now[word]].blind
            if word in now and old not in self.students and not again:
                mine = found.setdefault((lecture, now[word]), {})
                mine.setdefault(old, set()).add(word)
        self.former, self.doubtful = {}, []
        leads: dict[tuple[int, str], set[str]] = {}
        for (lecture, new), olds in sorted(found.items()):
            if len(olds) > 1 and not set.intersection(*olds.values()):
                self.doubtful.append((lecture, new, tuple(sorted(olds))))
            else:
                for old in olds:
                    leads.setdefault((lecture, old), set()).add(new)
        self.former = {place: min(new) for place, new in leads.items() if len(new) == 1}

    def now(self, lecture: int | None, id: str) -> str:
        """The present id of a student of an earlier run."""
        return self.former.get((lecture or 0, id)) or self.former.get((0, id), id)

    def whose(self, handed: Handed) -> tuple[Student | None, str]:
        """The student of a file and what is odd about that; without a student, the reason."""
        if handed.name in self.assigned:
            id = self.assigned[handed.name]
            if self.closed and id not in self.students:
                return None, f"it was given to {id!r}, who is not on the roster"
            return self.students.setdefault(id, Student(id)), ""
        owner = handed.owner
        if not self.closed:
            return self._by_name(owner)
        if owner.system:
            wanted = f"{owner.system} {owner.id}".lower()
            fits = [s for s in self.students.values() if wanted in s.also]
            if not fits:
                who = owner.name or "the file"
                said = f"{who} has number {owner.id}, which is not on the roster"
                words = (word for student in self.students.values() for word in student.numbers)
                known = any(word.startswith(f"{owner.system} ") for word in words)
                return None, said + _table_hint(owner.system, known)
            self._saw(owner, fits[0])
            return fits[0], _name_differs(owner, fits[0])
        words = set(map(_key, owner.words))
        fits = [s for s in self.students.values() if s.also & words]
        if len(fits) == 1:
            return fits[0], ""
        if fits:
            return None, "its path names several students: " + ", ".join(sorted(s.id for s in fits))
        return None, "no part of its path is an identifier or e-mail address on the roster"

    def _by_name(self, owner: Owner) -> tuple[Student, str]:
        """The student of a file without a roster: one for each identifier and name."""
        word = f"{owner.system} {owner.id}"
        for student in self.students.values():
            if word in student.also and student.name == owner.name:
                self._saw(owner, student)
                return student, ""
        id, odd = owner.id, ""
        if id in self.students:
            id = f"{id} {owner.name or owner.system}".strip()
            other = self.students[owner.id].name
            odd = f"{owner.id!r} is also {other!r}; a roster tells them apart"
        blind = owner.system == "moodle" or owner.id.startswith("anon_")
        made = Student(id, owner.name, also=frozenset({word}), blind=blind)
        student = self.students[id] = made
        self._saw(owner, student)
        return student, odd

    def _saw(self, owner: Owner, student: Student) -> None:
        """Remember the export's numbers for a student and for Canvas's uploads."""
        if owner.system:
            self.seen[f"{owner.system} {owner.id}".lower()] = student.id
        if owner.upload:
            self.seen[f"upload {owner.upload}"] = student.id


def words_of(student: Student) -> Collection[str]:
    """Words by which later runs recognize a student."""
    email = {f"email {student.email}".lower()} if student.email else set()
    return student.numbers | email


def _table_hint(system: str, known: bool) -> str:
    """Why a number may be on no roster; `known`: whether there are numbers of this system."""
    made = {"moodle": "Moodle's grading worksheet", "canvas": "Canvas's gradebook"}[system]
    if known:
        theirs = "this class" if system == "canvas" else "this class and this assignment"
        return f" (a guest, or is {made} not that of {theirs}?)"
    more = ", or a table for --participants" if system == "moodle" else ""
    return f" (is {made} for this assignment among the rosters{more}?)"


def _name_differs(owner: Owner, student: Student) -> str:
    """A sentence if the name in the path is not the name on the roster; ? fits any letter."""

    def letters(name: str) -> Counter[str]:
        return Counter("".join(re.findall(r"\w", _key(name).replace("_", ""))))

    known, lost = letters(student.name), sum(letter in LOST for letter in student.name)

    def same(name: str) -> bool:
        return not known - letters(name) and (letters(name) - known).total() == lost

    if not owner.name or not student.name:
        return ""
    # Where groups hand in, Moodle puts the group's name and a dash before the student's.
    cut = [i + 1 for i, sign in enumerate(owner.name) if sign == "-"]
    if any(same(owner.name[start:]) for start in [0, *cut]):
        return ""
    if owner.system == "moodle" and owner.name.startswith("Participant"):
        return ""
    number = f"{'participant' if owner.system == 'moodle' else 'student'} number {owner.id}"
    return f"the path says {owner.name!r}, but the roster says {student.name!r} for {number}"
