"""What was handed in: notebooks in folders and zip files, as learning systems export them.

Nothing of a zip is ever written to disk, nothing is followed out of the folder, and no file that
is not a notebook is read. But every file is listed: who handed in what cannot be graded is told so.
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

from classroom.tables import writable

PIECE = 1 << 16
MOST_BYTES = 50_000_000
"""Of a notebook with its outputs: pictures and viewers make some of them large."""
MOST_SOURCE = 2_000_000
"""Of what a student wrote in it."""
MOST_ZIP = 200_000_000
MOST_ENTRIES = 20_000
MOST_DEEP = 4
"""Zips within each other that are opened: that of the class, and three of a student's."""
MOST_WITHIN = 200_000_000
"""Bytes that the notebooks and zips in a zip within a zip may come to, with what lies deeper."""
IGNORED = {"__MACOSX", ".ipynb_checkpoints"}
LITTER = {".DS_Store", "Thumbs.db", "desktop.ini"}
NOTEBOOK = re.compile(r"\.ipynb(\.txt|\.json)?$", re.IGNORECASE)
"""Some browsers put an ending of their own behind the notebook's."""
ARCHIVES = (".rar", ".7z", ".tar", ".gz", ".tgz", ".bz2", ".xz")
MOODLE = re.compile(r"(?P<name>.+?)_(?P<id>\d+)_assignsubmission_")
LAYOUT = re.compile(r"(\d+_assignsubmission_[a-z]*)_?(.*)", re.DOTALL)
"""With folders, Moodle's file lies behind this word; without them, its name goes on with it."""
CANVAS = re.compile(
    r"(?:(?P<name>(?!(?:LATE_)?anon_\w{5}_\d).+?)_)?(?:(?P<late>LATE)_)?(?P<id>\d+|anon_\w{5})_(?P<upload>\d{3,})_"
)
AGAIN = re.compile(r"(?: ?\(\d+\)| - Copy)+$")  # not "-1": that may be another student
NUMBERED = re.compile(r"(?:-| ?\()(\d+)\)?$")
COURSE_FILE = re.compile(r"\d\d_\w+")


# What reading a file or a torn zip can raise.
BROKEN = (OSError, EOFError, KeyError, RuntimeError, zipfile.BadZipFile, zlib.error, struct.error)


class Refused(ValueError):
    """A file that cannot be graded; the text says why, for the student too."""


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


@dataclass(frozen=True)
class Handed:
    """One file that was handed in. `inside` leads into a zip, and a zip in a zip."""

    path: Path
    name: str
    owner: Owner
    when: float
    inside: tuple[str, ...] = ()
    problem: str = ""

    @property
    def order(self) -> tuple[int, float, int, str]:
        """Sorts a student's files, the one that was handed in last at the end."""
        stem = NOTEBOOK.sub("", PurePosixPath(self.name).name)
        again = NUMBERED.search(stem)
        return self.owner.upload, self.when, int(again[1]) if again else 0, self.name

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
    """Every file in a folder, a zip or a notebook, in a fixed order; also what is no notebook.

    Raises:
        FileNotFoundError: if there is no such folder or file.
    """
    if not source.exists():
        raise FileNotFoundError(f"{source}: there is no such folder, zip or notebook")
    top = source if source.is_dir() else source.parent
    found: list[Handed] = []
    for path in sorted(source.rglob("*")) if source.is_dir() else [source]:
        name = _readable(path.relative_to(top).as_posix())
        if _is_litter(PurePosixPath(name).parts):
            continue
        if path.is_symlink() or not (path.is_file() or path.is_dir()):
            problem = "It is a link or a special file, which is refused."
            found.append(Handed(path, name, owner_of(name), 0.0, problem=problem))
        elif path.is_dir():
            if not any(path.iterdir()):
                problem = "The folder is empty."
                found.append(Handed(path, name, owner_of(name), 0.0, problem=problem))
        elif _is_zip(path.name):
            found += _in_zip(path, name, (), source.is_dir())
        else:
            when, problem = path.stat().st_mtime // 1, _no_notebook(name)
            found.append(Handed(path, name, owner_of(name), when, problem=problem))
    return found


def _is_litter(parts: tuple[str, ...]) -> bool:
    """What operating systems and Jupyter leave beside the files."""
    return bool(IGNORED & set(parts)) or parts[-1] in LITTER or parts[-1].startswith("._")


def _no_notebook(name: str) -> str:
    """Why a file cannot be a notebook, or nothing."""
    if NOTEBOOK.search(name):
        return ""
    ending = PurePosixPath(name).suffix.lower()
    if ending in ARCHIVES:
        return f"It is an archive that is not read ({ending}); a notebook or a zip is wanted."
    return f"It is no notebook ({ending or 'no ending'}); the file that ends in .ipynb is wanted."


def _readable(name: str) -> str:
    """A name as it can be written anywhere: file systems hold bytes that are no text."""
    return unicodedata.normalize("NFC", name).encode(errors="replace").decode()


@dataclass
class _Left:
    """What may still come out of a student's zip and of all zips in it."""

    entries: int
    size: int

    def take(self, entries: list[zipfile.ZipInfo]) -> str:
        """Count in what is listed and read of these; a sentence, if it is too much."""
        read = [e for e in entries if NOTEBOOK.search(e.filename) or _is_zip(e.filename)]
        self.entries -= len(entries)
        self.size -= sum(entry.file_size for entry in read)
        wanted = "hand in the notebook itself."
        if self.entries < 0:
            return f"With the zips around it, it holds more than {MOST_ENTRIES} files; {wanted}"
        if self.size < 0:
            said = f"With the zips around it, it unpacks to more than {MOST_WITHIN // 1_000_000} MB"
            return f"{said}; {wanted}"
        return ""


def _is_zip(name: str) -> bool:
    return name.lower().endswith(".zip")


def _in_zip(
    path: Path,
    name: str,
    inside: tuple[str, ...],
    own: bool,
    speaks: str = "",
    left: _Left | None = None,
) -> Iterator[Handed]:
    """What a zip holds; of zips in it too, down to `MOST_DEEP`.

    A zip that lies among others is taken for a student's `own`, if there is one notebook in it (or
    one zip and no notebook) or all kept the course's names; a zip of the class names its students
    inside.

    Args:
        inside: the way to it, if it lies in another zip.
        speaks: the name of the student's zip in which it lies, if that is known.
        left: what may still come out of the zips around it.
    """
    when = path.stat().st_mtime // 1
    try:
        with open(path, "rb") as file, zipfile.ZipFile(_member(file, inside)) as archive:
            entries = [e for e in archive.infolist() if not _is_litter(_parts(e))]
    except (Refused, *BROKEN) as error:
        problem = f"It is no zip that can be read: {error}"
        yield Handed(path, name, owner_of(name, speaks), when, inside, problem)
        return
    if left is None and inside:  # the first zip in that of the class
        left = _Left(MOST_ENTRIES, MOST_WITHIN)
    problem = left.take(entries) if inside else ""
    if len(entries) > MOST_ENTRIES:
        problem = f"It holds more than {MOST_ENTRIES} files."
    if problem:
        yield Handed(path, name, owner_of(name, speaks), when, inside, problem)
        return
    books = [_parts(e)[-1] for e in entries if NOTEBOOK.search(e.filename)]
    zips = [_parts(e)[-1] for e in entries if _is_zip(e.filename)]
    if own and not books and not zips:
        problem = "The zip holds no notebook."
        yield Handed(path, name, owner_of(name, speaks), when, inside, problem)
    stems = {_stem(held) for held in books or zips}
    among, own = own, own and (len(books or zips) <= 1 or all(map(COURSE_FILE.match, stems)))
    speaks = speaks or (name if own else "")
    if left is None and among:  # one of several zips: a student's, or that of a group
        left = _Left(MOST_ENTRIES, MOST_WITHIN if own else 10 * MOST_WITHIN)
    for entry in sorted(entries, key=lambda entry: entry.filename):
        whole = _readable(f"{name}/{entry.filename}")
        inner = _readable(entry.filename)
        owner = owner_of(whole, speaks or inner)
        made = time.mktime((*entry.date_time, 0, 0, -1)) if entry.date_time[0] >= 1980 else when
        problem = _bad_entry(entry, _parts(entry))
        if problem:
            yield Handed(path, whole, owner, made, (*inside, entry.filename), problem)
        elif entry.is_dir():
            if not any(e.filename.startswith(entry.filename) and e != entry for e in entries):
                problem = "The folder is empty."
                yield Handed(path, whole, owner, made, (*inside, entry.filename), problem)
        elif _is_zip(entry.filename):
            deeper = (*inside, entry.filename)
            if len(deeper) < MOST_DEEP:
                yield from _in_zip(path, whole, deeper, True, speaks, left)
            else:
                problem = f"It is a zip within {MOST_DEEP} others, and no more are opened; hand in"
                yield Handed(path, whole, owner, made, deeper, f"{problem} the notebook itself.")
        else:
            problem = _no_notebook(inner)
            yield Handed(path, whole, owner, made, (*inside, entry.filename), problem)


def _parts(entry: zipfile.ZipInfo) -> tuple[str, ...]:
    return PurePosixPath(entry.filename.replace("\\", "/")).parts or ("",)


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
    words = (*map(_stem, parts), PurePosixPath(parts[-1]).stem)
    parts = PurePosixPath((speaks or name).replace("\\", "/")).parts
    stem = _stem(parts[-1])
    if COURSE_FILE.fullmatch(stem) and len(parts) > 1:  # the file kept the course's own name
        stem = _stem(parts[-2]) if parts[-2] not in (".", "..") else stem
    return Owner("", stem or parts[-1], "", words)


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


def _stem(part: str) -> str:
    stem = re.sub(r"(\.ipynb(\.txt|\.json)?|\.zip)$", "", part, flags=re.IGNORECASE)
    return AGAIN.sub("", stem).strip()


def cells_of(data: bytes) -> list[str]:
    """The sources of the code cells of a notebook.

    Raises:
        Refused: if it is no notebook; the sentence says what it is.
    """
    return [source for kind, source in all_cells(data) if kind == "code"]


def all_cells(data: bytes) -> list[tuple[str, str]]:
    """The kind and the source of every cell.

    Raises:
        Refused: as `cells_of`.
    """
    if not data.strip():
        raise Refused("The file is empty.")
    try:
        text = data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise Refused("It is not UTF-8 text, so it is no notebook.") from error
    if re.search(r"^(<{7}|={7}|>{7})( |$)", text, re.MULTILINE):
        raise Refused(
            "It holds the marks of a merge that was not finished (<<<<<<<, =======, >>>>>>>)."
        )
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
        found.append((str(cell.get("cell_type")), writable(source)))
    if sum(len(source) for _, source in found) > MOST_SOURCE:
        raise Refused(f"Its cells hold more than {MOST_SOURCE // 1_000_000} MB of text.")
    return found


def _converted(notebook: dict) -> NotebookNode:
    import nbformat

    try:
        return nbformat.convert(nbformat.from_dict(notebook), 4)
    except Exception as error:  # whatever a broken old notebook makes the converter do
        old = notebook["nbformat"]
        raise Refused(f"The notebook has format {old} and cannot be converted to 4.") from error
