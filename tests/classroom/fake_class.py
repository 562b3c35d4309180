"""A class of 120 made-up students, handed in as Moodle, Canvas and a plain folder would have it.

Every submission says what it must come to. Among honest ones stand all the ways in which a class
grader has been seen to take points from an honest student.
"""

from __future__ import annotations

import csv
import io
import json
import os
import zipfile
from dataclasses import dataclass, field

from classroom.sheets import sheets
from tests.grading.sample_tasks import SOFTMAX
from tests.grading.sample_tasks import notebook as bytes_of

SHEET = 2
RIGHT = {"stable_softmax": SOFTMAX, "query_context": "query_context = [2.0, 1.0]"}
HALF = RIGHT | {"query_context": "query_context = [4.0, 2.0]"}
STUB = {
    "stable_softmax": 'def stable_softmax(scores):\n    """Weights along the last axis."""',
    "query_context": "query_context = ...",
}
FULL, SOME, NONE = 14.0, 10.0, 0.0
FIRST = "import numpy as np\nfrom grading import check, progress"
OTHER = sheets()[5].items[0].task
OTHER_SHEET = [f"def {OTHER}(x):\n    return x\n\n\ncheck('{OTHER}')"]
LECTURE = ["import numpy as np", f"def {sheets()[7].items[0].task}(x):\n    return x\nx = 3"]
EARLY, LATER = 1_700_000_000, 1_700_100_000


def sheet(answers, *more):
    """A sheet with these answers, as a notebook's bytes."""
    cells = [source + f'\n\n\ncheck("{name}")' for name, source in answers.items()]
    return bytes_of([FIRST, *cells, *more])


@dataclass
class Made:
    """A student: what was handed in, and what must come of it."""

    number: int
    name: str
    files: dict[str, tuple[bytes, int]] = field(default_factory=dict)
    """By name: content and time."""
    points: float = 0.0
    status: str = "ok"
    look: str = ""
    """What must stand in the list of what a person should see."""

    @property
    def email(self):
        return f"s{self.number}@example.org"


def zipped(**members):
    """A zip as bytes."""
    made = io.BytesIO()
    with zipfile.ZipFile(made, "w") as archive:
        for name, data in members.items():
            archive.writestr(name.replace("__slash__", "/").replace("__dot__", "."), data)
    return made.getvalue()


def mac_zip(data):
    """What macOS makes of one notebook."""
    made = io.BytesIO()
    with zipfile.ZipFile(made, "w") as archive:
        archive.writestr("02_sheet.ipynb", data)
        archive.writestr("__MACOSX/._02_sheet.ipynb", b"\0\5\26\7")
        archive.writestr(".DS_Store", b"\0")
    return made.getvalue()


def two_in_a_zip(first, second):
    """Two notebooks that kept the course's names."""
    made = io.BytesIO()
    with zipfile.ZipFile(made, "w") as archive:
        archive.writestr("02_sheet.ipynb", first)
        archive.writestr("05_sheet.ipynb", second)
    return made.getvalue()


CONFLICT = b'{"cells": [\n<<<<<<< HEAD\n"mine"\n=======\n"theirs"\n>>>>>>> main\n], "nbformat": 4}'
ODD = [
    # what was handed in, its points, its status, what a person should see
    ({"02_sheet.zip": (mac_zip(sheet(RIGHT)), EARLY)}, FULL, "ok", ""),
    ({"work.zip": (mac_zip(sheet(HALF)), EARLY)}, SOME, "ok", ""),
    ({"all.zip": (two_in_a_zip(sheet(RIGHT), bytes_of(OTHER_SHEET)), EARLY)}, FULL, "ok", ""),
    ({"all.zip": (two_in_a_zip(sheet(HALF), bytes_of(OTHER_SHEET)), EARLY)}, SOME, "ok", ""),
    (  # the untouched template again, later
        {"a.ipynb": (sheet(RIGHT), EARLY), "b.ipynb": (sheet(STUB), LATER)},
        FULL,
        "ok",
        "contains no answers",
    ),
    (  # a lecture's notebook, later
        {"a.ipynb": (sheet(RIGHT), EARLY), "02_lecture.ipynb": (bytes_of(LECTURE), LATER)},
        FULL,
        "ok",
        "",
    ),
    (  # another week's sheet, later
        {"a.ipynb": (sheet(HALF), EARLY), "b.ipynb": (bytes_of(OTHER_SHEET), LATER)},
        SOME,
        "ok",
        "",
    ),
    ({"a.ipynb": (bytes_of(OTHER_SHEET), EARLY)}, NONE, "It is sheet 5", "It is sheet 5"),
    ({"a.ipynb": (bytes_of(LECTURE), EARLY)}, NONE, "", "not graded"),
    ({"a.ipynb": (sheet(STUB), EARLY)}, NONE, "ok", ""),
    (  # equal times: the one with the number is the later one
        {"x.ipynb": (sheet(STUB | HALF), EARLY), "x-1.ipynb": (sheet(RIGHT), EARLY)},
        FULL,
        "ok",
        "same time",
    ),
    ({"a.ipynb": (sheet(HALF), EARLY), "b.ipynb": (sheet(RIGHT), LATER)}, FULL, "ok", ""),
    ({"a.py": (b"x = 1", EARLY)}, NONE, "It is not a notebook (.py)", "not graded"),
    ({"a.html": (b"<html>", EARLY)}, NONE, "It is not a notebook (.html)", "not graded"),
    ({"a.ipynb.txt": (sheet(RIGHT), EARLY)}, FULL, "ok", ""),
    ({"a.rar": (b"Rar!", EARLY)}, NONE, "It is an archive that is not opened", "not graded"),
    ({}, NONE, "submitted nothing", ""),
    ({"a.ipynb": (CONFLICT, EARLY)}, NONE, "marks of an unfinished merge", "not graded"),
    ({"a.ipynb": (sheet(RIGHT), EARLY), "figure.png": (b"\x89PNG", EARLY)}, FULL, "ok", ""),
    ({"a.ipynb": (b"", EARLY)}, NONE, "The file is empty", "not graded"),
]


def students(count=120):
    """The class: numbers, names (two of each name), what each handed in."""
    made = []
    for number in range(count):
        name = f"{'Ada Bea Cem Dana Eva'.split()[number // 2 % 5]} {'XYZ'[number // 10 % 3]}ander"
        one = Made(501 + number, name)
        if number < 2 * len(ODD):
            one.files, one.points, one.status, one.look = ODD[number // 2]
        else:
            answers, one.points = ((RIGHT, FULL), (HALF, SOME), (STUB, NONE))[number % 3]
            one.files = {"02_sheet.ipynb": (sheet(answers, f"# {number}"), EARLY + number)}
        made.append(one)
    return made


def put(path, data, when):
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(data)
    os.utime(path, (when, when))


def moodle(folder, members, blind=False, layout="/"):
    """One folder a student, with the number in its name; and Moodle's grading worksheet.

    The layout is what stands before a file's own name: "/" or "_/" with folders, "_" without.
    """
    for one in members:
        name = "Participant" if blind else one.name
        for file, (data, when) in one.files.items():
            put(folder / f"{name}_{one.number}_assignsubmission_file{layout}{file}", data, when)
    table = folder.parent / "worksheet.csv"
    who = [] if blind else ["Full name", "Email address"]
    with open(table, "w", encoding="utf-8", newline="") as file:
        writer = csv.writer(file)
        head = ["Identifier", *who, "Status", "Grade", "Maximum Grade"]
        writer.writerow([*head, "Grade can be changed", "Last modified (grade)"])
        for one in members:
            mine = [] if blind else [one.name, one.email]
            head = [f"Participant {one.number}", *mine, "Submitted for grading", "", "98.00"]
            writer.writerow([*head, "Yes", "-"])
    return table


def canvas(folder, members, anonymous=False):
    """All files in one zip, as Canvas names them; and its gradebook."""
    folder.mkdir(parents=True)
    with zipfile.ZipFile(folder / "submissions.zip", "w") as archive:
        for one in members:
            short = "".join(reversed(one.name.lower().split()))
            late = "_LATE" if one.number % 10 == 7 else ""
            uploads = sorted(one.files.items(), key=lambda item: (item[1][1], "-1" in item[0]))
            for upload, (file, (data, _)) in enumerate(uploads):
                who = f"{short}{late}_{one.number}"
                if anonymous:  # no name; LATE stands before the word for nobody
                    who = f"{late}_anon_{one.number:05}".strip("_")
                name = f"{who}_{9000 + 10 * one.number + upload}_{file}"
                archive.writestr(zipfile.ZipInfo(name, (2026, 11, 1, 10, 0, 0)), data)
    table = folder.parent / "gradebook.csv"
    with open(table, "w", encoding="utf-8", newline="") as file:
        writer = csv.writer(file)
        writer.writerow(["Student", "ID", "SIS User ID", "SIS Login ID", "Section", "Sheet 2 (77)"])
        writer.writerow(["    Points Possible", "", "", "", "", "98"])
        writer.writerow(["Student, Test", 3, "abcdef0123", "", "A", ""])  # Canvas's own
        for one in members:
            given, family = one.name.split()
            id = f"u{one.number}"
            writer.writerow([f"{family}, {given}", one.number, id, one.email, "A", ""])
    return table


def plain(folder, members):
    """A folder for each student, named by the identifier; and a list of the class."""
    for one in members:
        place = folder / f"u{one.number}"
        place.mkdir(parents=True)
        for file, (data, when) in one.files.items():
            put(place / file, data, when)
    table = folder.parent / "class.csv"
    lines = ["id;name;email", *(f"u{one.number};{one.name};{one.email}" for one in members)]
    table.write_text("\n".join(lines), encoding="cp1252")
    return table


def run_here(cells, tasks, slot):
    """In place of the sandbox, for submissions that we wrote ourselves: the cells, run here."""
    from classroom.sandbox.examiner import Answers
    from classroom.sandbox.worker import describe
    from grading.runner.run import MISSING, run

    space: dict = {"__name__": "__main__"}
    found = Answers()
    for number, source in enumerate(cells):
        try:
            exec(source.replace("from grading import check, progress", ""), space)
        except NameError:  # check
            continue
        except Exception as error:
            found.notes[number] = f"Code cell {number + 1}: {describe(error)}"
    for prepared in tasks:
        answer = space.get(prepared.task.name, MISSING)
        found.outcomes[prepared.task.name] = run(prepared.task, answer, prepared.cases)
    return found


def as_json(data):
    return json.loads(data)
