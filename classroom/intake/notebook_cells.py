"""The cells of a notebook that was handed in."""

from __future__ import annotations

import json
import re

from classroom.intake.files import Refused
from classroom.tables import writable

MOST_SOURCE = 2_000_000
"""Of what a student wrote in it."""
WANTED = "Hand in the file that ends in .ipynb, as Jupyter saves it."
AGAIN = "Open it in Jupyter, save it, and hand it in again."


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
        raise Refused("The file is empty. Save the notebook and hand it in again.")
    try:
        text = data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise Refused(f"It is not UTF-8 text, so it is not a notebook. {WANTED}") from error
    if re.search(r"^(<{7}|={7}|>{7})( |$)", text, re.MULTILINE):
        raise Refused(
            "It contains the marks of an unfinished merge (<<<<<<<, =======, >>>>>>>). Finish the "
            "merge and hand it in again."
        )
    try:
        notebook = json.loads(text)
    except (ValueError, RecursionError) as error:
        raise Refused(f"The file is damaged or incomplete. {WANTED}") from error
    if type(notebook) is not dict or type(notebook.get("nbformat")) is not int:
        raise Refused(f"It is JSON, but not a notebook. {WANTED}")
    if notebook["nbformat"] < 4:
        notebook = _converted(notebook)
    cells = notebook.get("cells")
    if type(cells) is not list or not cells:
        raise Refused("The notebook has no cells. Hand in the sheet with your answers.")
    found = []
    for cell in cells:
        source = cell.get("source") if isinstance(cell, dict) else 0
        source = "" if source is None else source
        if type(source) is list and all(type(line) is str for line in source):
            source = "".join(source)
        if type(source) is not str:
            raise Refused(f"The notebook has a damaged cell, without text. {AGAIN}")
        found.append((str(cell.get("cell_type")), writable(source)))
    if sum(len(source) for _, source in found) > MOST_SOURCE:
        size = f"{MOST_SOURCE // 1_000_000} MB"
        raise Refused(f"Its cells contain more than {size} of text. Hand in a shorter one.")
    return found


def _converted(notebook: dict) -> dict:
    import nbformat  # here, since it takes as long as torch, and few notebooks are that old
    from traitlets.log import get_logger

    log = get_logger()
    before, log.disabled = log.disabled, True  # it would print what is wrong, and the notebook
    try:
        return nbformat.convert(nbformat.from_dict(notebook), 4)
    except Exception as error:  # whatever a broken old notebook makes the converter do
        old = notebook["nbformat"]
        raise Refused(f"Its format {old} cannot be converted to format 4. {AGAIN}") from error
    finally:
        log.disabled = before
