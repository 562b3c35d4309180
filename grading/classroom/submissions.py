"""What was handed in: notebooks in folders and zip files, as learning systems export them.

Nothing of a zip is ever written to disk, nothing is followed out of the folder, and no file that
is not a notebook is read.
"""

from __future__ import annotations

import io
import json
import re
import stat
import struct
import time
import unicodedata
import zipfile
import zlib
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path, PurePosixPath

from nbformat import NotebookNode

PIECE = 1 << 16
MOST_BYTES = 10_000_000
MOST_ZIP = 200_000_000
MOST_ENTRIES = 20_000
IGNORED = {"__MACOSX", ".ipynb_checkpoints"}
MOODLE = re.compile(r"(.+?)_\d+_assignsubmission_\w+")
CANVAS = re.compile(r"(.+?)(?:_LATE)?_\d+_\d+_")
AGAIN = re.compile(r"(?: ?\(\d+\)| - Copy)+$")  # not "-1": that may be another student
COURSE_FILE = re.compile(r"\d\d_\w+")


# What reading a file or a torn zip can raise.
BROKEN = (OSError, EOFError, KeyError, RuntimeError, zipfile.BadZipFile, zlib.error, struct.error)


class Refused(ValueError):
    """A file that cannot be graded; the text says why, for the student too."""


@dataclass(frozen=True)
class Handed:
    """One file that was handed in. `inside` leads into a zip, and a zip in a zip."""

    path: Path
    name: str
    student: str
    when: float
    inside: tuple[str, ...] = ()
    problem: str = ""

    def read(self) -> bytes:
        """Its bytes.

        Raises:
            Refused: if it is too large or cannot be read.
        """
        if self.problem:
            raise Refused(self.problem)
        try:
            with open(self.path, "rb") as file:
                return _bounded(_member(file, self.inside, MOST_BYTES), MOST_BYTES)
        except BROKEN as error:
            raise Refused(f"It cannot be read: {error}") from error


def _member(file: io.BufferedIOBase, inside: tuple[str, ...], most: int = MOST_ZIP) -> io.BytesIO:
    """A member of a zip, and of the zip that this is, in memory."""
    for number, name in enumerate(inside, 1):
        with zipfile.ZipFile(file) as archive, archive.open(name) as member:
            file = io.BytesIO(_bounded(member, most if number == len(inside) else MOST_ZIP))
    return file


def _bounded(file: io.BufferedIOBase, most: int) -> bytes:
    """Never more than `most` bytes, whatever a zip says that it holds.

    In pieces: `read(most)` sets aside all of it at once, however small the file is.
    """
    data = bytearray()
    while piece := file.read(PIECE):
        data += piece
        if len(data) > most:
            raise Refused(f"It is larger than {most // 1_000_000} MB.")
    return bytes(data)


def find(source: Path) -> list[Handed]:
    """Every notebook and every refused file in a folder, a zip or a notebook, in a fixed order.

    Raises:
        FileNotFoundError: if there is no such folder or file.
    """
    if not source.exists():
        raise FileNotFoundError(f"{source}: there is no such folder, zip or notebook")
    top = source if source.is_dir() else source.parent
    found: list[Handed] = []
    for path in sorted(source.rglob("*")) if source.is_dir() else [source]:
        name = _readable(path.relative_to(top).as_posix())
        if IGNORED & set(path.parts) or path.name.startswith("._"):
            continue
        if path.suffix.lower() not in (".ipynb", ".zip") or path.is_dir():
            continue
        if path.is_symlink() or not path.is_file():
            problem = "It is a link or a special file, which is refused."
            found.append(Handed(path, name, student_of(name), 0.0, problem=problem))
        elif path.suffix.lower() == ".zip":
            found += _in_zip(path, name, (), source.is_dir())
        else:
            found.append(Handed(path, name, student_of(name), path.stat().st_mtime // 1))
    return found


def _readable(name: str) -> str:
    """A name as it can be written anywhere: file systems hold bytes that are no text."""
    return unicodedata.normalize("NFC", name).encode(errors="replace").decode()


def _in_zip(path: Path, name: str, inside: tuple[str, ...], own: bool) -> Iterator[Handed]:
    """What a zip holds; of a zip in a zip too, but no deeper.

    A zip with one notebook that lies among others is taken for a student's `own`, named after the
    student; a zip of the class names its students inside.
    """
    student, when = student_of(name), path.stat().st_mtime // 1
    try:
        with open(path, "rb") as file, zipfile.ZipFile(_member(file, inside)) as archive:
            entries = archive.infolist()
    except (Refused, *BROKEN) as error:
        problem = f"It is no zip that can be read: {error}"
        yield Handed(path, name, student, when, inside, problem)
        return
    if len(entries) > MOST_ENTRIES:
        problem = f"It holds more than {MOST_ENTRIES} files."
        yield Handed(path, name, student, when, inside, problem)
        return
    own = own and sum(e.filename.lower().endswith(".ipynb") for e in entries) == 1
    for entry in sorted(entries, key=lambda entry: entry.filename):
        parts = PurePosixPath(entry.filename.replace("\\", "/")).parts
        whole = _readable(f"{name}/{entry.filename}")
        who = student if own else student_of(_readable(entry.filename))
        made = time.mktime((*entry.date_time, 0, 0, -1)) if entry.date_time[0] >= 1980 else when
        problem = _bad_entry(entry, parts)
        if problem:
            yield Handed(path, whole, who, made, (*inside, entry.filename), problem)
        elif entry.is_dir() or IGNORED & set(parts) or parts[-1].startswith("._"):
            continue
        elif entry.filename.lower().endswith(".ipynb"):
            yield Handed(path, whole, who, made, (*inside, entry.filename))
        elif entry.filename.lower().endswith(".zip") and not inside:
            yield from _in_zip(path, whole, (entry.filename,), True)


def _bad_entry(entry: zipfile.ZipInfo, parts: tuple[str, ...]) -> str:
    if ".." in parts or entry.filename.startswith(("/", "\\")) or re.match(r"\w:", entry.filename):
        return "Its path in the zip leads out of the zip, which is refused."
    if stat.S_ISLNK(entry.external_attr >> 16):
        return "It is a link in a zip, which is refused."
    if entry.flag_bits & 1:
        return "It is encrypted."
    bomb = entry.file_size > 1_000_000 and entry.file_size > 200 * max(entry.compress_size, 1)
    if bomb or entry.file_size > MOST_ZIP:
        return "It unpacks to far more than it holds, as a zip bomb does, and is refused."
    return ""


def student_of(name: str) -> str:
    """The student, from the names of the folders and of the file as learning systems write them."""
    parts = PurePosixPath(name.replace("\\", "/")).parts
    for part in parts:
        if match := MOODLE.match(part):
            return match[1].strip()
    stem = re.sub(r"(\.ipynb|\.zip)$", "", parts[-1], flags=re.IGNORECASE)
    if match := CANVAS.match(stem):
        return match[1]
    stem = AGAIN.sub("", stem).strip()
    if COURSE_FILE.fullmatch(stem) and len(parts) > 1:  # the file kept the course's own name
        return parts[-2] if parts[-2] not in (".", "..") else stem
    return stem or parts[-1]


def cells_of(data: bytes) -> list[str]:
    """The sources of the code cells of a notebook.

    Raises:
        Refused: if it is no notebook; the sentence says what it is.
    """
    return [source for kind, source in _cells(data) if kind == "code"]


def _cells(data: bytes) -> list[tuple[str, str]]:
    if not data.strip():
        raise Refused("The file is empty.")
    try:
        text = data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise Refused("It is not UTF-8 text, so it is no notebook.") from error
    try:
        notebook = json.loads(text)
    except (ValueError, RecursionError) as error:
        raise Refused("It is not JSON, so it is no notebook.") from error
    if type(notebook) is not dict or type(notebook.get("nbformat")) is not int:
        raise Refused("It is JSON, but no notebook.")
    if notebook["nbformat"] < 4:
        notebook = _converted(notebook)
    cells = notebook.get("cells")
    if type(cells) is not list or not cells:
        raise Refused("The notebook has no cells.")
    found = []
    for cell in cells:
        source = cell.get("source", "") if isinstance(cell, dict) else None
        if type(source) is list and all(type(line) is str for line in source):
            source = "".join(source)
        if type(source) is not str:
            raise Refused("The notebook has a cell without a text.")
        found.append((str(cell.get("cell_type")), source))
    return found


def _converted(notebook: dict) -> NotebookNode:
    import nbformat

    try:
        return nbformat.convert(nbformat.from_dict(notebook), 4)
    except Exception as error:  # whatever a broken old notebook makes the converter do
        old = notebook["nbformat"]
        raise Refused(f"The notebook has format {old} and cannot be converted to 4.") from error
