"""Who is in the class, and whose a file is.

A student is an identifier, never a name: two of the same name are two, and what cannot be assigned
for certain is nobody's until a person says whose it is.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path

from grading.classroom import tables
from grading.classroom.submissions import Handed, Owner

# Columns by which a table is known, in the words of whoever exported it.
OWN = {"id": "id", "name": "name", "email": "email"}
MOODLE = {"id": "Identifier", "name": "Full name", "email": "Email address", "other": "ID number"}
MOODLE["handed"] = "Last modified (submission)"
CANVAS = {"id": "ID", "name": "Student", "email": "SIS Login ID", "other": "SIS User ID"}
WANTED = (
    "the columns id, name, email; or Moodle's grading worksheet (Identifier, Full name, …); or "
    "Canvas's gradebook (Student, ID, …)"
)


@dataclass(frozen=True)
class Student:
    """One student. `id` is what stands in every table."""

    id: str
    name: str = ""
    email: str = ""
    handed: str = ""
    """When Moodle's worksheet says that this student handed in, in its words."""
    also: frozenset[str] = field(default_factory=frozenset)
    """By what else files may name this student, in lower case: "moodle 501", a login."""


def read_roster(paths: Sequence[Path]) -> list[Student]:
    """The students of all tables; rows with the same identifier or e-mail are the same student.

    The first table that has a student gives the identifier.

    Raises:
        ValueError: if a table is none of those known, or says two things about one student.
    """
    students: list[Student] = []
    for path in paths:
        seen: dict[str, int] = {}
        for number, made in _rows(path):
            where = f"{path.name}, row {number}"
            for word in made.also:
                if word in seen:
                    raise ValueError(f"{where}: {word!r} stands in row {seen[word]} too")
                seen[word] = number
            same = [i for i, s in enumerate(students) if s.also & made.also]
            if len(same) > 1:
                both = " and ".join(students[i].id for i in same)
                raise ValueError(f"{where}: this fits two students, {both}")
            if same:
                old = students[same[0]]
                students[same[0]] = replace(
                    old,
                    name=old.name or made.name,
                    email=old.email or made.email,
                    handed=old.handed or made.handed,
                    also=old.also | made.also,
                )
            else:
                students.append(made)
    return students


def _rows(path: Path) -> Iterable[tuple[int, Student]]:
    columns, rows = tables.read(path)
    for names, system in ((MOODLE, "moodle"), (CANVAS, "canvas"), (OWN, "")):
        if names["id"] in columns and (system != "canvas" or names["name"] in columns):
            break
    else:
        raise ValueError(f"{path.name}: no roster; wanted are {WANTED}")
    for number, row in enumerate(rows, 2):
        given = {key: row.get(column, "").strip() for key, column in names.items()}
        if system == "canvas" and (not given["id"] or given["name"] == "Student, Test"):
            continue  # the row of points possible, and Canvas's test student
        if not given["id"]:
            raise ValueError(f"{path.name}, row {number}: the identifier is empty")
        yield number, _student(system, given)


def _student(system: str, given: Mapping[str, str]) -> Student:
    words = {given.get("email", ""), given.get("other", "")} - {""}
    name = given["name"]
    if system == "moodle":
        # Moodle numbers the participants of each assignment anew: not the student's identifier.
        digits = re.sub(r"\D", "", given["id"])
        id = given["email"] or given["other"] or given["id"]
        words |= {f"moodle {digits}"}
    elif system == "canvas":
        id = given["other"] or given["email"] or given["id"]
        words |= {f"canvas {given['id']}"}
    else:
        id = given["id"]
        words |= {id, f"moodle {id}", f"canvas {id}"}
    when = given.get("handed", "").strip("-")
    return Student(id, name, given["email"], when, frozenset(word.lower() for word in words))


@dataclass
class Class:
    """The students that are known, and how files find them.

    Without a roster the files themselves say who there is.
    """

    students: dict[str, Student] = field(default_factory=dict)
    closed: bool = False
    """Whether there is a roster: nobody else is in the class."""
    assigned: Mapping[str, str] = field(default_factory=dict)
    """By file, the identifier that a person gave."""

    @classmethod
    def of(cls, paths: Sequence[Path], assigned: Mapping[str, str]) -> Class:
        """The class that the tables name.

        Raises:
            ValueError: as `read_roster`.
        """
        students = {student.id: student for student in read_roster(paths)}
        return cls(students, bool(paths), assigned)

    def id_of(self, said: str) -> str:
        """The identifier of whom a person names: by it, by e-mail, login, or the system's number.

        What fits nobody, or several, comes back as it is.
        """
        ways = {said.lower(), f"moodle {said}", f"canvas {said}"}
        fits = [student.id for student in self.students.values() if student.also & ways]
        return fits[0] if said not in self.students and len(fits) == 1 else said

    def whose(self, handed: Handed) -> tuple[Student | None, str]:
        """The student of a file, and if there is none, why; if there is one, what is odd."""
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
                said = f"{owner.name or 'the file'} has number {owner.id}, which the roster has not"
                return None, said + _table_hint(owner.system)
            return fits[0], _name_differs(owner, fits[0])
        words = {word.lower() for word in owner.words}
        fits = [s for s in self.students.values() if s.also & words]
        if len(fits) == 1:
            return fits[0], ""
        if fits:
            return None, "its path names several: " + ", ".join(sorted(s.id for s in fits))
        return None, "nothing in its path is the identifier or e-mail of anybody on the roster"

    def _by_name(self, owner: Owner) -> tuple[Student, str]:
        """Without a roster: one student an identifier, and two where it bears two names."""
        word = f"{owner.system} {owner.id}"
        for student in self.students.values():
            if word in student.also and student.name == owner.name:
                return student, ""
        id, odd = owner.id, ""
        if id in self.students:
            id = f"{id} {owner.name or owner.system}".strip()
            odd = f"{owner.id!r} stands for {self.students[owner.id].name!r} too: a roster decides"
        student = self.students[id] = Student(id, owner.name, also=frozenset({word}))
        return student, odd


def _table_hint(system: str) -> str:
    made = {"moodle": "Moodle's grading worksheet", "canvas": "Canvas's gradebook"}[system]
    return f" (is {made} for this assignment among the rosters?)"


def _name_differs(owner: Owner, student: Student) -> str:
    """A sentence, if the name in the path cannot be the one on the roster."""

    def letters(name: str) -> list[str]:
        return sorted("".join(re.findall(r"\w", name.lower().replace("_", ""))))

    if not owner.name or not student.name or letters(owner.name) == letters(student.name):
        return ""
    if owner.system == "moodle" and owner.name.startswith("Participant"):
        return ""
    return f"the path says {owner.name!r}, the roster {student.name!r}"
