"""The line of a student's code at which an error arose.

The cells of a notebook, and those of the class grader, run in `__main__`; what we wrote, and
libraries, do not.
"""

from __future__ import annotations

import linecache
from types import TracebackType

from grading.runner.outcome import Location

SHOWN = 60
"""How many characters of the line are shown."""


def location_of(trace: TracebackType | None) -> Location | None:
    """The innermost line in the cell to which the answer belongs; None if there is none.

    No attribute and no method of the student's own objects is used.
    """
    cell, number = None, 0
    while trace is not None:
        code = trace.tb_frame.f_code
        name = dict.get(trace.tb_frame.f_globals, "__name__")
        if cell in (None, code.co_filename) and type(name) is str and name == "__main__":
            cell, number = code.co_filename, trace.tb_lineno or 0
        trace = trace.tb_next
    return None if cell is None else Location(number, _text(cell, number))


def _text(file: str, number: int) -> str:
    """The text of a line if Python knows it, cut if it is long."""
    try:
        line = " ".join(str(linecache.getline(file, number)).split())
    except Exception:  # the cache is anybody's
        return ""
    return line if len(line) <= SHOWN else line[: SHOWN - 1] + "…"
