"""Files that were handed in, and how they are read: never more bytes than a bound allows."""

from __future__ import annotations

import io
import re
import unicodedata
import zipfile
from dataclasses import dataclass
from pathlib import Path, PurePosixPath

from classroom.intake.owners import Owner

PIECE = 1 << 16
MOST_BYTES = 50_000_000
"""Of a notebook with its outputs: pictures and viewers make some of them large."""
MOST_ZIP = 200_000_000
IGNORED = {"__MACOSX", ".ipynb_checkpoints", "__pycache__", ".git", ".venv", ".vscode", ".idea"}
LITTER = {".DS_Store", "Thumbs.db", "desktop.ini", ".gitignore", ".gitattributes"}
NOTEBOOK = re.compile(r"\.ipynb(\.txt|\.json)?$", re.IGNORECASE)
"""Some browsers put an ending of their own behind the notebook's."""
DOCUMENT = re.compile(r"\.(docx?|odt|rtf|pages|pdf|txt|md|tex|html?|jpe?g|heic)$", re.IGNORECASE)
"""What may hold a written answer, besides a notebook: a text, or a photo of one."""
ARCHIVES = (".rar", ".7z", ".tar", ".gz", ".tgz", ".bz2", ".xz")
NUMBERED = re.compile(r"(?:-| ?\()(\d+)\)?$")


class Refused(ValueError):
    """A file that cannot be graded; the text says why, for the student too."""


@dataclass(frozen=True)
class Handed:
    """One file that was handed in.

    inside: the way to it in a zip, and in a zip of that zip.
    problem: why it cannot be graded, as a sentence; empty if nothing is known against it.
    other_format: whether its ending says that it is neither a notebook nor an archive.
    """

    path: Path
    name: str
    owner: Owner
    when: float
    inside: tuple[str, ...] = ()
    problem: str = ""
    other_format: bool = False

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
                return bounded(member(file, self.inside, MOST_BYTES), MOST_BYTES)
        except Refused:
            raise
        except Exception as error:  # whatever a torn zip makes its reader do
            said = getattr(error, "strerror", None) or error  # without the path on this machine
            raise Refused(f"It cannot be read: {said}. Hand it in again.") from error


def member(file: io.BufferedIOBase, inside: tuple[str, ...], most: int = MOST_ZIP) -> io.BytesIO:
    """A member of a zip, and of the zip that this is, in memory."""
    for number, name in enumerate(inside, 1):
        with zipfile.ZipFile(file) as archive, archive.open(name) as member:
            file = io.BytesIO(bounded(member, most if number == len(inside) else MOST_ZIP))
    return file


def bounded(file: io.BufferedIOBase, most: int) -> bytes:
    """Never more than `most` bytes, whatever a zip says that it holds.

    In pieces: `read(most)` sets aside all of it at once, however small the file is.
    """
    data = bytearray()
    while piece := file.read(PIECE):
        data += piece
        if len(data) > most:
            raise Refused(too_large(most))
    return bytes(data)


def too_large(most: int) -> str:
    """What a student is told about a file of more than `most` bytes."""
    clear = "Clear all outputs (in Jupyter: Edit, Clear Outputs of All Cells), save the notebook"
    return f"It is larger than {most // 1_000_000} MB. {clear}, and hand it in again."


def is_litter(parts: tuple[str, ...]) -> bool:
    """What operating systems, editors, git and Python leave beside the files."""
    return bool(IGNORED & set(parts)) or parts[-1] in LITTER or parts[-1].startswith("._")


def no_notebook(name: str) -> str:
    """Why a file cannot be a notebook, or nothing."""
    ending = PurePosixPath(name).suffix.lower()
    if has_other_format(name):
        ending = ending or "no ending"
        return f"It is not a notebook ({ending}). Hand in the file that ends in .ipynb."
    if NOTEBOOK.search(name):
        return ""
    return f"It is an archive that is not opened ({ending}). Hand in the notebook itself, or a zip."


def has_other_format(name: str) -> bool:
    """Whether a file is neither a notebook nor an archive, by its ending."""
    return not NOTEBOOK.search(name) and PurePosixPath(name).suffix.lower() not in ARCHIVES


def readable(name: str) -> str:
    """A name as it can be written anywhere.

    Of bytes that are no UTF-8, each becomes a letter: such names stay apart.
    """
    name = re.sub("[\udc80-\udcff]", lambda byte: chr(ord(byte[0]) - 0xDC00), name)
    return unicodedata.normalize("NFC", name).encode(errors="replace").decode()


def is_zip(name: str) -> bool:
    """Whether a file name is that of a zip."""
    return name.lower().endswith(".zip")
