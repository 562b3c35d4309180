"""Tables that other programs and persons make and read: CSV, whatever wrote it.

No cell begins a formula when it is written, and none that was protected so is misread.
"""

from __future__ import annotations

import csv
import io
import re
from collections.abc import Iterable, Sequence
from pathlib import Path

FORMULA = ("=", "+", "-", "@")


def cell(value: object) -> object:
    """What may stand in a table: a text that a spreadsheet would compute gets a quote before it."""
    if isinstance(value, float):
        return f"{value:.10g}"
    if isinstance(value, str):
        value = re.sub(r"[\x00-\x08\x0b-\x1f\x7f]", " ", value)
        if value.lstrip().startswith(FORMULA) or value.startswith(("\t", "\n")):
            return "'" + value
    return value


def write(path: Path, columns: Sequence[str], rows: Iterable[Sequence[object]]) -> None:
    """Write a table: UTF-8 with the mark by which Excel knows it. It is whole or not there."""
    new = path.with_suffix(".new")
    with open(new, "w", encoding="utf-8-sig", newline="") as file:
        writer = csv.writer(file)
        writer.writerow(columns)
        writer.writerows([cell(value) for value in row] for row in rows)
    new.replace(path)


def decoded(path: Path) -> str:
    """The text of a file as spreadsheets write it: UTF-8, UTF-16 or Windows' own.

    Raises:
        ValueError: if it is none of these.
    """
    data = path.read_bytes()
    marked = data.startswith((b"\xff\xfe", b"\xfe\xff"))
    for encoding in ["utf-16"] if marked else ["utf-8-sig", "cp1252"]:
        try:
            return data.decode(encoding)
        except UnicodeDecodeError:
            continue
    raise ValueError(f"{path.name}: this is no table of text; save it as CSV, UTF-8")


def read(
    path: Path, needed: Sequence[str] = (), exact: bool = False
) -> tuple[list[str], list[dict[str, str]]]:
    """The columns and rows of a table; commas, semicolons or tabs between the cells.

    Args:
        needed: columns that must be there.
        exact: keep every cell as it stands, with spaces and quotes.

    Raises:
        ValueError: if a needed column is missing; the sentence says which there are.
    """
    text = decoded(path)
    first = text.partition("\n")[0]
    mark = max(",;\t", key=first.count)
    rows = list(csv.reader(io.StringIO(text), delimiter=mark))
    columns = [name.strip() for name in rows[0]] if rows else []
    missing = [name for name in needed if name not in columns]
    if missing:
        there = ", ".join(columns) or "none"
        raise ValueError(f"{path.name}: no column {', '.join(missing)}; the columns are: {there}")
    made = []
    for row in rows[1:]:
        if any(value.strip() for value in row):
            row = [value if exact else _unquoted(value) for value in row]
            row += [""] * (len(columns) - len(row))
            made.append(dict(zip(columns, row, strict=False)))
    return columns, made


def _unquoted(value: str) -> str:
    value = value.strip()
    return value[1:] if value[:1] == "'" and value[1:].lstrip().startswith(FORMULA) else value


def number(text: str) -> float:
    """A number as people write it, with a point or a comma.

    Raises:
        ValueError: if it is none.
    """
    return float(text.strip().replace(",", "."))
