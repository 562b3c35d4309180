"""Whose a file is, by its path as learning management systems write it."""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import PurePosixPath

MOODLE = re.compile(r"(?P<name>.+?)_(?P<id>\d+)_assignsubmission_")
LAYOUT = re.compile(r"(\d+_assignsubmission_[a-z]*)_?(.*)", re.DOTALL)
"""With folders, Moodle's file lies behind this word; without them, its name goes on with it."""
CANVAS = re.compile(
    r"(?:(?P<name>(?!(?:LATE_)?anon_\w{5}_\d).+?)_)?(?:(?P<late>LATE)_)?(?P<id>\d+|anon_\w{5})_(?P<upload>\d{3,})_"
)
AGAIN = re.compile(r"(?: ?\(\d+\)| - Copy)+$")  # not "-1": that may be another student
COURSE_FILE = re.compile(r"\d\d_\w+")


@dataclass(frozen=True)
class Owner:
    """Whose a file claims to be, by the names of its folders, its zip and itself."""

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
    """Whose a file is, by its path as learning systems write it.

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
    parts = PurePosixPath((speaks or name).replace("\\", "/")).parts
    said = stem(parts[-1])
    if COURSE_FILE.fullmatch(said) and len(parts) > 1:  # the file kept the course's own name
        said = stem(parts[-2]) if parts[-2] not in (".", "..") else said
    return Owner("", said or parts[-1], "", words)


def settled(name: str) -> str:
    """What of a path stays the same when the system reveals who a student is.

    That is Moodle's number, or that of Canvas's upload, and what follows, with or without folders;
    else the whole path.
    """
    return _split(name)[1]


def download(name: str) -> str:
    """In which of several downloads a file lies: what stands before the system's own words."""
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
