"""The cells of a notebook that was handed in."""

from __future__ import annotations

import json
import re

from nbformat import NotebookNode

from classroom.intake.files import Refused
from classroom.tables import writable

MOST_SOURCE = 2_000_000
"""Of what a student wrote in it."""


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
    from traitlets.log import get_logger

    log = get_logger()
    before, log.disabled = log.disabled, True  # it would print what is wrong, and the notebook
    try:
        return nbformat.convert(nbformat.from_dict(notebook), 4)
    except Exception as error:  # whatever a broken old notebook makes the converter do
        old = notebook["nbformat"]
        raise Refused(f"The notebook has format {old} and cannot be converted to 4.") from error
    finally:
        log.disabled = before
