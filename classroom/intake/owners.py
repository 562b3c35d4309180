"""The owner of a file, from its path as learning management systems write it."""

from __future__ import annotations

import re
from dataclasses import dataclass
from itertools import zip_longest
from pathlib import PurePosixPath

MOODLE = re.compile(r"(?P<name>.+?)_(?P<id>\d+)_assignsubmission_")
LAYOUT = re.compile(r"(\d+_assignsubmission_[a-z]*)_?(.*)", re.DOTALL)
"""With folders, Moodle's file comes after this word; without them, its name continues it."""
DATE = r"20\d\d[01]\d[0-3]\d"
CANVAS = re.compile(
    r"(?:(?P<name>(?!(?:LATE_)?anon_\w{5}_\d).+?)_)?(?:(?P<late>LATE)_)?"
    rf"(?!\d\d?_{DATE}_|{DATE}_\d{{6}}_)"
    r"(?P<id>[1-9]\d*|anon_\w{5})_(?P<upload>(?!20\d\d_)[1-9]\d{2,})_"
)
"""Its numbers begin with no 0, and are no year, date or time: those are a student's own words."""
AGAIN = re.compile(r"(?: ?\(\d+\)| - Copy)+$")  # not "-1": that may be another student
COURSE_FILE = re.compile(r"\d\d_\w+")


@dataclass(frozen=True)
class Owner:
    """The owner that a file claims, by the names of its folders, its zip and itself."""

    system: str
    """"moodle" or "canvas", if the names are as these write them, else nothing."""
    id: str
    """The identifier of that system; else what the names say best."""
    name: str = ""
    words: tuple[str, ...] = ()
    """What else may be an identifier, where no system wrote the names."""
    late: bool = False
    upload: int = 0
    """Canvas numbers what is uploaded: a later one has a higher number."""


def owner_of(name: str, speaks: str = "") -> Owner:
    """The owner of a file, from its path.

    Args:
        name: the whole path, through zips too.
        speaks: the part of it that names the student, if no system wrote it; else all of it.
    """
    parts = PurePosixPath(name.replace("\\", "/")).parts
    for part in parts:
        if match := MOODLE.match(part):
            return Owner("moodle", match["id"], match["name"].strip())
    for part in parts:
        if match := CANVAS.match(part):
            late, upload = bool(match["late"]), int(match["upload"])
            return Owner("canvas", match["id"], match["name"] or "", (), late, upload)
    words = (*map(stem, parts), PurePosixPath(parts[-1]).stem)
    parts = PurePosixPath(speaks.replace("\\", "/")).parts or parts  # "./" in a zip says nothing
    said = stem(parts[-1])
    if COURSE_FILE.fullmatch(said) and len(parts) > 1:  # the file kept the course's own name
        said = stem(parts[-2]) if parts[-2] not in (".", "..") else said
    return Owner("", said or parts[-1], "", words)


def settled(name: str) -> str:
    """The part of a path that stays the same when the system reveals a student's name.

    It begins with Moodle's number or with that of Canvas's upload, and is the same with and without
    folders; for other files it is the whole path.
    """
    return _split(name)[1]


def file_name(name: str) -> str:
    """The name that the student gave a file, without folders and without the system's own words."""
    last = PurePosixPath(name).name
    uploaded = CANVAS.match(last)
    return (last[uploaded.end() :] if uploaded else PurePosixPath(settled(name)).name) or last


def distinct_name(name: str, other: str) -> str:
    """A file's own name; with the folder or download that differs, if the other has the same."""
    said, places = file_name(name), []
    for path in (name, other):
        exported = settled(path) != path  # then the folder only names the student
        places.append(PurePosixPath(download(path)).parts if exported else path.split("/")[:-1])
    differs = [a for a, b in zip_longest(*places, fillvalue="") if a != b]
    return f"{said} in {differs[0]}" if said == file_name(other) and any(differs[:1]) else said


def download(name: str) -> str:
    """The download that a file belongs to: the path before the system's own words."""
    return _split(name)[0]


def _split(name: str) -> tuple[str, str]:
    parts = PurePosixPath(name.replace("\\", "/")).parts
    for form, group in ((MOODLE, "id"), (CANVAS, "upload")):
        for i, part in enumerate(parts):
            if match := form.match(part):
                own = [part[match.start(group) :]]
                if form is MOODLE:
                    head, file = LAYOUT.fullmatch(own[0]).groups()
                    own = [f"{head}_", *filter(None, [file])]
                return "/".join(parts[:i]), "/".join([*own, *parts[i + 1 :]])
    return "", name


def stem(part: str) -> str:
    """A part of a path without its ending, and without the number of a repeated download."""
    bare = re.sub(r"(\.ipynb(\.txt|\.json)?|\.zip)$", "", part, flags=re.IGNORECASE)
    return AGAIN.sub("", bare).strip()
