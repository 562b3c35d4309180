"""At which line of a student's code an error arose.

A notebook's cells, and the class grader's, run in `__main__`; what we wrote, and libraries, do not.
"""

from __future__ import annotations

import linecache
from types import TracebackType

SHOWN = 60
"""So many characters of the line are shown."""


def line_of(trace: TracebackType | None) -> str:
    """The line's number in its cell and its text: "line 3 of your cell: return a / b".

    It is the innermost one in the cell to which the answer belongs. Empty if no code of the
    student's was running. Nothing is asked of what is the student's: no class, no function.
    """
    cell, number = None, 0
    while trace is not None:
        code = trace.tb_frame.f_code
        name = dict.get(trace.tb_frame.f_globals, "__name__")
        if cell in (None, code.co_filename) and type(name) is str and name == "__main__":
            cell, number = code.co_filename, trace.tb_lineno or 0
        trace = trace.tb_next
    if cell is None:
        return ""
    text = _text(cell, number)
    return f"line {number} of your cell" + (f": {text}" if text else "")


def _text(file: str, number: int) -> str:
    """A line, if Python knows it, and its beginning if it is long."""
    try:
        line = " ".join(str(linecache.getline(file, number)).split())
    except Exception:  # the cache is anybody's
        return ""
    return line if len(line) <= SHOWN else line[: SHOWN - 1] + "…"
