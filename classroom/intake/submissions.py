"""Submissions: notebooks in folders and zip files, as learning management systems export them.

Nothing of a zip is ever written to disk, no link is followed out of the folder, and no file that is
not a notebook is read. But every file is listed, so that every student learns what could not be
graded.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from datetime import tzinfo
from pathlib import Path, PurePosixPath

from classroom.intake.archives import files_in_zip
from classroom.intake.files import (
    NOTEBOOK,
    Handed,
    has_other_format,
    is_litter,
    is_zip,
    no_notebook,
    readable,
)
from classroom.intake.owners import owner_of, stem


def find(source: Path, zone: tzinfo | None = None) -> list[Handed]:
    """Every file in a folder, a zip or a notebook, in a fixed order; also what is no notebook.

    Args:
        zone: of the times in a zip, which name none; this machine's if not given.

    Raises:
        FileNotFoundError: if there is no such folder or file.
    """
    require_there(source)
    top = source if source.is_dir() else source.parent
    found: list[Handed] = []
    for path in sorted(source.rglob("*")) if source.is_dir() else [source]:
        name = readable(path.relative_to(top).as_posix())
        if is_litter(PurePosixPath(name).parts):
            continue
        try:
            found += _files_at(path, name, source.is_dir(), zone)
        except OSError as error:  # a student's folder that nobody else may enter
            problem = f"It cannot be read: {error.strerror}. Hand it in again."
            found.append(Handed(path, name, owner_of(name), 0.0, problem=problem))
    return _named_by_folders(found)


def _files_at(path: Path, name: str, among: bool, zone: tzinfo | None) -> list[Handed]:
    """What is handed in at a path.

    Raises:
        OSError: if it cannot be looked at.
    """
    if path.is_symlink() or not (path.is_file() or path.is_dir()):
        problem = "It is a link or a special file, which is refused. Hand in the notebook."
        return [Handed(path, name, owner_of(name), 0.0, problem=problem)]
    if path.is_dir():
        problem = _no_files(path)
        return [Handed(path, name, owner_of(name), 0.0, problem=problem)] if problem else []
    if is_zip(path.name):
        return list(files_in_zip(path, name, (), among, zone=zone))
    when, problem, other = path.stat().st_mtime // 1, no_notebook(name), has_other_format(name)
    return [Handed(path, name, owner_of(name), when, (), problem, other)]


def _named_by_folders(found: Sequence[Handed]) -> list[Handed]:
    """Let a folder name the student, where folders tell more students apart than files do.

    So with `ada/solution.ipynb`, and with `ada/sheet-2/02_masks.ipynb`.
    """
    plain = {handed: _folders(handed) for handed in found if not handed.owner.system}
    books = {handed: there for handed, there in plain.items() if NOTEBOOK.search(handed.name)}
    names: dict[int, set[str]] = {}
    for there in books.values():
        for level, folder in enumerate(there):
            names.setdefault(level, set()).add(folder)
    level = max(names, key=lambda level: len(names[level]), default=0)
    if not names or len(names[level]) <= len({handed.owner.id for handed in books}):
        return list(found)
    return [
        replace(handed, owner=replace(handed.owner, id=stem(there[level])))
        if len(there := plain.get(handed, ())) > level
        else handed
        for handed in found
    ]


def _folders(handed: Handed) -> tuple[str, ...]:
    return PurePosixPath(handed.name.replace("\\", "/")).parts[:-1]


def require_there(source: Path) -> None:
    """Refuse submissions that are not there.

    Raises:
        FileNotFoundError: in this case.
    """
    if not source.exists():
        raise FileNotFoundError(f"{source}: there is no such folder, zip or notebook")


def _no_files(folder: Path) -> str:
    """Why no file can come from a folder; nothing if one can."""
    try:
        return "" if any(folder.iterdir()) else "The folder is empty."
    except OSError as error:
        return f"The folder cannot be read: {error.strerror}."
