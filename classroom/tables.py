"""CSV tables, exchanged with spreadsheets, learning management systems and persons.

No cell that is written begins a formula, and protected cells are read correctly.
"""

from __future__ import annotations

import csv
import io
import re
import unicodedata
from collections.abc import Iterable, Sequence
from pathlib import Path

csv.field_size_limit(2**31 - 1)  # a written answer may be longer than the module's 131,072

FORMULA = ("=", "+", "-", "@")
UNSEEN = "\ufeff\u200b\u200e\u200f\u2060"
"""Signs without width that come along when a text is copied."""


def cell(value: object) -> object:
    """A safe cell: a text that a spreadsheet would compute gets a quote before it."""
    if isinstance(value, float):
        return f"{value:.10g}"
    if isinstance(value, str):
        value = printable(value)
        if value.lstrip().startswith(FORMULA) or value.startswith(("\t", "\n")):
            return "'" + value
    return value


def writable(value: str) -> str:
    """A text that UTF-8 can encode: a lone surrogate becomes a question mark."""
    return value.encode(errors="replace").decode()


def printable(value: str) -> str:
    """A text that spreadsheets and databases take: control characters become spaces."""
    return re.sub(r"[\x00-\x08\x0b-\x1f\x7f]", " ", writable(value))


def write(path: Path, columns: Sequence[str], rows: Iterable[Sequence[object]]) -> None:
    """Write a table, all or nothing, in UTF-8 with the byte order mark that Excel needs."""
    new = path.with_suffix(".new")
    with open(new, "w", encoding="utf-8-sig", newline="") as file:
        writer = csv.writer(file)
        writer.writerow(columns)
        writer.writerows([cell(value) for value in row] for row in rows)
    new.replace(path)


def decoded(path: Path) -> str:
    """The text of a file that a spreadsheet wrote: UTF-8, UTF-16 or Windows-1252.

    Raises:
        ValueError: if it is none of these.
    """
    data = path.read_bytes()
    if data.startswith((b"PK\x03\x04", b"\xd0\xcf\x11\xe0")):  # .xlsx, .ods, and the old .xls
        raise ValueError(f"{path.name}: this is a spreadsheet; save it as CSV, UTF-8")
    if data.startswith((b"\xff\xfe", b"\xfe\xff")):
        encodings = ["utf-16"]
    elif b"\x00" in data[:200]:  # UTF-16 without its mark: every other byte of ASCII is zero
        encodings = ["utf-16-le" if data[1:2] == b"\x00" else "utf-16-be"]
    else:
        encodings = ["utf-8-sig", "cp1252"]
    for encoding in encodings:
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
    text = decoded(path).rstrip("\x1a")  # the end of a file of DOS
    first, _, rest = text.partition("\n")
    said = re.fullmatch(r'"?sep=(.)"?\s*', first)  # Excel's own way to name the delimiter
    text = rest if said else text
    try:
        tried = [_rows(text, mark, exact) for mark in (said[1] if said else ",;\t")]
    except csv.Error as error:
        raise ValueError(f"{path.name}: this is no CSV table ({error}); save it as CSV") from error
    # A sign that is no delimiter stands in some rows only, as in the titles of a gradebook.
    rows = max(tried, key=lambda rows: (min(map(len, rows), default=0), *map(len, rows[:1])))
    columns = [normal(name) for name in rows[0]] if rows else []
    twice = [name for name in columns if name and columns.count(name) > 1]
    if exact and twice:
        raise ValueError(f"{path.name}: two columns are named {twice[0]!r}; delete one of them")
    missing = [name for name in needed if name not in columns]
    if missing:
        there = ", ".join(columns) or "none"
        raise ValueError(f"{path.name}: no column {', '.join(missing)}; the columns are: {there}")
    made = []
    for row in rows[1:]:
        row = [value if exact else _unquoted(value) for value in row]
        row += [""] * (len(columns) - len(row))
        if exact or row != columns:  # two tables, one below the other
            made.append(dict(zip(columns, row, strict=False)))
    return columns, made


def _rows(text: str, mark: str, exact: bool) -> list[list[str]]:
    """The rows that are not empty.

    `newline=""` leaves line ends to the reader: \\r\\n, \\n, and the lone \\r of old Macs.
    """
    lines = io.StringIO(text, newline="")
    rows = csv.reader(lines, delimiter=mark, skipinitialspace=not exact)
    return [row for row in rows if any(value.strip() for value in row)]


def normal(value: str) -> str:
    """A text in NFC form: macOS writes ö as o and a mark, other programs as one letter."""
    return unicodedata.normalize("NFC", value).strip().strip(UNSEEN).strip()


def whole(value: str) -> str:
    """A whole number without the ".0" that pandas adds where a cell of the column is empty."""
    return re.sub(r"\A(\d+)\.0\Z", r"\1", value.strip())


def _unquoted(value: str) -> str:
    value = whole(normal(value))
    return value[1:] if value[:1] == "'" and value[1:].lstrip().startswith(FORMULA) else value


def number(text: str) -> float:
    """A number as people write it, with a point or a comma.

    Raises:
        ValueError: if it is none.
    """
    if "_" in text:  # which Python allows
        raise ValueError(f"{text!r} is no number")
    return float(text.strip().replace(",", "."))
