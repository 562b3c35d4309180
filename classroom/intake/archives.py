"""Zip files that were handed in: what they hold, read in memory and bounded."""

from __future__ import annotations

import contextlib
import re
import stat
import zipfile
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import datetime, tzinfo
from pathlib import Path, PurePosixPath

from classroom.intake.files import (
    MOST_BYTES,
    MOST_ZIP,
    NOTEBOOK,
    Handed,
    has_other_format,
    is_litter,
    is_zip,
    member,
    no_notebook,
    readable,
    too_large,
)
from classroom.intake.owners import COURSE_FILE, owner_of, stem

MOST_ENTRIES = 20_000
MOST_DEEP = 4
"""Zips within each other that are opened: that of the class, and three of a student's."""
MOST_WITHIN = 200_000_000
"""Bytes that the notebooks and zips in a zip within a zip may come to, with what lies deeper."""


@dataclass
class _Left:
    """What may still come out of a student's zip and of all zips in it."""

    entries: int
    size: int

    def take(self, entries: list[zipfile.ZipInfo]) -> str:
        """Count in what is listed and read of these; a sentence, if it is too much."""
        read = [e for e in entries if NOTEBOOK.search(e.filename) or is_zip(e.filename)]
        self.entries -= len(entries)
        self.size -= sum(entry.file_size for entry in read)
        wanted = "Hand in the notebook itself."
        if self.entries < 0:
            return f"With the zips around it, it contains more than {MOST_ENTRIES} files. {wanted}"
        if self.size < 0:
            said = f"With the zips around it, it unpacks to more than {MOST_WITHIN // 1_000_000} MB"
            return f"{said}. {wanted}"
        return ""


def files_in_zip(
    path: Path,
    name: str,
    inside: tuple[str, ...],
    own: bool,
    speaks: str = "",
    left: _Left | None = None,
    zone: tzinfo | None = None,
) -> Iterator[Handed]:
    """What a zip holds; of zips in it too, down to `MOST_DEEP`.

    A zip that lies among others is taken for a student's `own`, if there is one notebook in it (or
    one zip and no notebook) or all kept the course's names; a zip of the class names its students
    inside.

    Args:
        inside: the way to it, if it lies in another zip.
        speaks: the name of the student's zip in which it lies, if that is known.
        left: what may still come out of the zips around it.
        zone: of the times in it, which name none; this machine's if not given.
    """
    when = path.stat().st_mtime // 1
    try:
        with open(path, "rb") as file, zipfile.ZipFile(member(file, inside)) as archive:
            entries = [e for e in archive.infolist() if not is_litter(_parts(e))]
    except Exception as error:  # whatever a torn zip makes its reader do
        problem = f"The zip cannot be opened: {error}. Hand in the notebook itself."
        yield Handed(path, name, owner_of(name, speaks), when, inside, problem)
        return
    if left is None and inside:  # the first zip in that of the class
        left = _Left(MOST_ENTRIES, MOST_WITHIN)
    problem = left.take(entries) if inside else ""
    if len(entries) > MOST_ENTRIES:
        problem = f"The zip contains more than {MOST_ENTRIES} files. Hand in the notebook itself."
    if problem:
        yield Handed(path, name, owner_of(name, speaks), when, inside, problem)
        return
    books = [_parts(e)[-1] for e in entries if NOTEBOOK.search(e.filename)]
    zips = [_parts(e)[-1] for e in entries if is_zip(e.filename)]
    if own and not books and not zips:
        problem = "The zip contains no notebook. Hand in the file that ends in .ipynb."
        yield Handed(path, name, owner_of(name, speaks), when, inside, problem)
    stems = {stem(held) for held in books or zips}
    among, own = own, own and (len(books or zips) <= 1 or all(map(COURSE_FILE.match, stems)))
    speaks = speaks or (name if own else "")
    if left is None and among:  # one of several zips: a student's, or that of a group
        left = _Left(MOST_ENTRIES, MOST_WITHIN if own else 10 * MOST_WITHIN)
    for entry in sorted(entries, key=lambda entry: entry.filename):
        inner = readable(_name(entry))
        whole = f"{name}/{inner}"
        owner = owner_of(whole, speaks or inner)
        made = _time(entry, zone) or when
        problem = _bad_entry(entry, _parts(entry))
        if problem:
            yield Handed(path, whole, owner, made, (*inside, entry.filename), problem)
        elif entry.is_dir():
            if not any(e.filename.startswith(entry.filename) and e != entry for e in entries):
                problem = "The folder is empty."
                yield Handed(path, whole, owner, made, (*inside, entry.filename), problem)
        elif is_zip(entry.filename):
            deeper = (*inside, entry.filename)
            if len(deeper) < MOST_DEEP:
                yield from files_in_zip(path, whole, deeper, True, speaks, left, zone)
            else:
                problem = f"It is a zip within {MOST_DEEP} others, and no more are opened."
                problem += " Hand in the notebook itself."
                yield Handed(path, whole, owner, made, deeper, problem)
        else:
            problem, other = no_notebook(inner), has_other_format(inner)
            yield Handed(path, whole, owner, made, (*inside, entry.filename), problem, other)


def _parts(entry: zipfile.ZipInfo) -> tuple[str, ...]:
    return PurePosixPath(_name(entry).replace("\\", "/")).parts or ("",)


def _name(entry: zipfile.ZipInfo) -> str:
    """Its name: macOS writes UTF-8 without saying so, and then it is read as code page 437."""
    if not entry.flag_bits & 0x800:
        with contextlib.suppress(UnicodeError):
            return entry.filename.encode("cp437").decode()
    return entry.filename


def _time(entry: zipfile.ZipInfo, zone: tzinfo | None) -> float | None:
    """When it was changed last; None if no calendar has that time."""
    with contextlib.suppress(ValueError, OverflowError):
        return datetime(*entry.date_time, tzinfo=zone).timestamp()
    return None


def _bad_entry(entry: zipfile.ZipInfo, parts: tuple[str, ...]) -> str:
    if ".." in parts or entry.filename.startswith(("/", "\\")) or re.match(r"\w:", entry.filename):
        return "Its path leads out of the zip, which is refused. Hand in the notebook itself."
    if stat.S_ISLNK(entry.external_attr >> 16):
        return "It is a link in a zip, which is refused. Hand in the notebook itself."
    if entry.flag_bits & 1:
        return "It is encrypted. Hand it in without a password."
    if NOTEBOOK.search(entry.filename):  # outputs can repeat a line as often as they like
        return too_large(MOST_BYTES) if entry.file_size > MOST_BYTES else ""
    bomb = entry.file_size > 1_000_000 and entry.file_size > 200 * max(entry.compress_size, 1)
    if bomb or entry.file_size > MOST_ZIP:
        return "It unpacks to far more than its size, like a zip bomb. Hand in the notebook itself."
    return ""
