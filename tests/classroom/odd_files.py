"""Odd notebooks, zips, tables and rules of a class, for Hypothesis to draw from."""

import io
import json
import zipfile

from hypothesis import strategies as st

from tests.grading.sample_tasks import ANSWERS, FIRST


class Data(bytes):
    """Bytes that a failure of Hypothesis shows in one line."""

    def __repr__(self):
        return f"Data({bytes(self[:200])!r}{'…' * (len(self) > 200)})"


# ------------------------------------------------------------------ names

NAMES = st.sampled_from(
    [
        "ada",
        "jo\u0308rg",  # as macOS writes ö
        "jörg",
        "חנה",
        "李雷",
        "🦊",
        "O'Neill",
        'a "quoted" one',
        "a;b",
        "a,b",
        "=1+1",
        "-2",
        "@x",
        "007",
        "7",
        " spaces ",
        "line\nbreak",
        "con",
        ".hidden",
        "~",
        "%41",
        "x" * 100,
        "02_sheet",
        "anon_abcde",
        "Ada X_501_assignsubmission_file_",
        "Ada X_501_assignsubmission_file",
        "adax_LATE_501_9001_02",
        "__MACOSX",
        "-graded",
    ]
)
ENDINGS = st.sampled_from(
    [".ipynb", ".ipynb", ".ipynb", ".IPYNB", ".ipynb.txt", ".ipynb.json", ".txt", "", ".py", ".gz"]
)

# ------------------------------------------------------------------ notebooks

SOURCES = st.sampled_from(
    [
        *ANSWERS.values(),
        FIRST,
        "",
        "%matplotlib inline",
        "%%bash\nls",
        "!ls",
        "x = !ls",
        "?print",
        "query_context =",
        "query_context = [2.0, 1.0",
        "query_context = " + "(" * 300,
        "query_context = " + "-" * 100_000 + "1",
        "query_context = " + "[" * 90 + "]" * 90,
        "query_context = " + "9" * 5_000,
        "def stable_softmax(scores):\n\treturn 1\n        return 2",
        "def stable_softmax(scores): return '\ud800'",
        "ä = 1\nπ = 3\nquery_context = [ä, π]",
        "\0",
        "\x0c\x1b[31m\r\n\u2028x = 1",
        "essay = “Curly.”",
        'essay = "It says "so".',
        "essay = 'One\n" + "\n" * 3_000 + "two",
        "import " * 3_000,
        "check('essay')\n" * 200,
        "check(" + " " * 50_000,
        "a\n" * 50_000,
        "if True:\n" + " " * 5_000 + "pass",
        "'''" * 501,
        "<<<<<<< HEAD\nx = 1\n=======\nx = 2\n>>>>>>> b",
        "from grading.task import load; query_context = load('query_context').reference",
        "<script>alert(1)</script>",
        "{term}`query`" * 100,
    ]
)
VALUES = st.sampled_from(
    [
        None,
        [],
        {},
        0,
        -1,
        1e308,
        float("nan"),
        float("inf"),
        True,
        "x",
        "",
        "\ud800",
        [[[]]],
        10**30,
    ]
)
KINDS = st.sampled_from(["code", "code", "code", "code", "markdown", "raw", "", None, 4])


@st.composite
def cells(draw):
    """A cell that Jupyter could have written, or not."""
    source = draw(SOURCES)
    made = {
        "cell_type": draw(KINDS),
        "metadata": draw(st.sampled_from([{}, {"tags": ["\ud800"]}, {"x": [None]}, [], None])),
        "source": draw(st.sampled_from([source, source.splitlines(keepends=True)])),
        "outputs": draw(st.sampled_from([[], [{"text": "x" * 100_000}], None, "x"])),
        "execution_count": draw(st.sampled_from([None, 1, "1", 10**20])),
        "id": draw(st.sampled_from(["a", "", "ä", 1])),
    }
    for key in draw(st.lists(st.sampled_from([*made]), max_size=2)):
        made.pop(key, None)
    if draw(st.integers(0, 9)) == 0:
        made[draw(st.sampled_from([*made, "more"]))] = draw(VALUES)
    return draw(st.sampled_from([made] * 9 + [draw(VALUES)]))


def worksheets(book):
    """The same notebook in format 3."""
    old = [
        {**cell, "input": cell.get("source", "")} if isinstance(cell, dict) else cell
        for cell in book["cells"]
    ]
    return {"nbformat": 3, "nbformat_minor": 0, "metadata": {}, "worksheets": [{"cells": old}]}


SPOILED = {
    "as it is": lambda data: data,
    "byte order mark": lambda data: b"\xef\xbb\xbf" + data,
    "Windows": lambda data: data.replace(b", ", b",\r\n"),
    "UTF-16": lambda data: data.decode().encode("utf-16"),
    "cp1252": lambda data: data.decode().encode("cp1252", "replace") + b"\x81",
    "cut": lambda data: data[: len(data) // 2],
    "more behind it": lambda data: data + b"{}",
    "twice": lambda data: data + data,
    "zeros": lambda data: b"\0" * len(data[:1000]),
    "nothing": lambda data: b"",
    "a number": lambda data: b"3",
    "deep": lambda data: b"[" * 100_000,
    "large number": lambda data: b'{"nbformat": ' + b"9" * 6_000 + b"}",
    "a merge": lambda data: b"<<<<<<< HEAD\n" + data,
}
SPOILS = st.sampled_from(["as it is"] * 12 + [*SPOILED])


@st.composite
def notebooks(draw):
    """The bytes of a notebook in which anything may be odd."""
    book = {
        "nbformat": draw(st.sampled_from([4, 4, 4, 4, 5, 3, "4", None, -1, True])),
        "nbformat_minor": draw(st.sampled_from([5, 4, 0, None, "x"])),
        "metadata": draw(st.sampled_from([{}, {"kernelspec": {"name": "ir"}}, None, []])),
        "cells": draw(st.lists(cells(), max_size=5)),
    }
    for key in draw(st.lists(st.sampled_from([*book]), max_size=1)):
        book[key] = draw(VALUES)
    if draw(st.integers(0, 7)) == 0 and isinstance(book["cells"], list):
        book = worksheets(book)
    return Data(SPOILED[draw(SPOILS)](json.dumps(book).encode()))


# ------------------------------------------------------------------ zips

ENTRIES = st.sampled_from(
    [
        "02_sheet.ipynb",
        "02_sheet.ipynb",
        "a/b/c.ipynb",
        "./",
        ".",
        "./a.ipynb",
        "a//b.ipynb",
        "../out.ipynb",
        "/etc/x.ipynb",
        "C:\\x.ipynb",
        "folder\\x.ipynb",
        "..\\x.ipynb",
        "__MACOSX/._02_sheet.ipynb",
        ".DS_Store",
        "empty/",
        "/",
        "\\",
        "x.ipynb/",
        "ü.ipynb",
        "u\u0308.ipynb",
        "🦊.ipynb",
        "x.ipynb ",
        "x.ipynb.",
        "a\nb.ipynb",
        "inner.zip",
        "inner.ZIP",
        "Ada X_501_assignsubmission_file_/a.ipynb",
        "y" * 300 + ".ipynb",
    ]
)
METHODS = st.sampled_from(
    [zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED, zipfile.ZIP_BZIP2, zipfile.ZIP_LZMA]
)
DATES = st.sampled_from(
    [(2026, 11, 1, 10, 0, 0), (1980, 0, 0, 0, 0, 0), (2107, 15, 31, 31, 63, 62)]
)


@st.composite
def zips(draw, deep=2):
    """The bytes of a zip: odd names, zips in zips, bombs, damage."""
    made = io.BytesIO()
    with zipfile.ZipFile(made, "w") as archive:
        for name in draw(st.lists(ENTRIES, max_size=5)):
            if name.lower().endswith(".zip") and deep:
                data = draw(zips(deep - 1))
            else:
                data = draw(st.one_of(notebooks(), st.just(Data(b"\0" * 1_100_000))))
            entry = zipfile.ZipInfo(name)
            entry.date_time, entry.compress_type = draw(DATES), draw(METHODS)
            entry.external_attr = draw(st.sampled_from([0o100644, 0o120777, 0o040755])) << 16
            if name not in archive.namelist() or draw(st.booleans()):
                archive.writestr(entry, data)
    data = bytearray(made.getvalue())
    for _ in range(draw(st.sampled_from([0, 0, 0, 0, 1, 3]))):
        data[draw(st.integers(0, len(data) - 1))] = draw(st.integers(0, 255))
    return Data(data[: draw(st.sampled_from([len(data)] * 9 + [len(data) // 2]))])


FILES = st.one_of(
    st.tuples(st.builds("".join, st.tuples(NAMES, ENDINGS)), notebooks()),
    st.tuples(st.builds("".join, st.tuples(NAMES, st.just(".zip"))), zips()),
)
FOLDERS = st.dictionaries(NAMES, st.lists(FILES, max_size=2), max_size=3)

# ------------------------------------------------------------------ tables and rules

ENCODINGS = st.sampled_from(["utf-8", "utf-8-sig", "utf-16", "utf-16-le", "cp1252", "mac-roman"])
CELLS = st.sampled_from(
    [
        "",
        "ada",
        "Ada",
        "a@b.org",
        "3",
        "3,5",
        "1.234,5",
        "-",
        "nan",
        "inf",
        "1e999",
        "=A1",
        "'=A1",
        "ü",
        "\u2028",
        '"',
        "a\nb",
        "'",
        "٣",
        "x" * 200_000,
        "  ",
        "yes",
        "14",
        "query_context",
    ]
)
COLUMNS = st.sampled_from(
    [
        "id",
        "ID",
        "name",
        "email",
        "Identifier",
        "Full name",
        "Email address",
        "Student",
        "Maximum Grade",
        "Grade",
        "Last modified (submission)",
        "task",
        "points",
        "comment",
        "item",
        "seen",
        "handed",
        "participant",
        "",
        "Sheet 2 (77)",
    ]
)


@st.composite
def tables(draw):
    """The bytes of a table as some program may write it."""
    mark = draw(st.sampled_from([",", ";", "\t", "|"]))
    end = draw(st.sampled_from(["\n", "\r\n", "\r"]))
    columns = draw(st.lists(COLUMNS, max_size=6))
    rows = [columns, *draw(st.lists(st.lists(CELLS, max_size=7), max_size=4))]
    quoted = draw(st.booleans())

    def cell(text):
        safe = quoted or any(sign in text for sign in (mark, '"', "\n", "\r"))
        return '"' + text.replace('"', '""') + '"' if safe and draw(st.integers(0, 9)) else text

    lines = [mark.join(map(cell, row)) for row in rows]
    lines = draw(st.sampled_from([[], [f"sep={mark}"], [""]])) + lines
    data = end.join(lines).encode(draw(ENCODINGS), "replace")
    odd = [data[: len(data) // 2], b"", b"\0" * 9, b"PK\3\4"]
    return Data(draw(st.sampled_from([data] * 6 + odd)))


NUMBERS = st.sampled_from(["0", "1", "-1", "1e400", "nan", "inf", "10", "1.5", "9" * 30, '"ten"'])
TIMES = st.sampled_from(
    [
        "2026-11-02",
        "2026-11-02T23:59:00",
        "2026-11-02T23:59:00+01:00",
        "0001-01-01",
        "9999-12-31T23:59:59",
        "9999-12-31",
        "0001-01-01T00:00:00+23:00",
        '"tomorrow"',
        "true",
    ]
)
SETTINGS = st.one_of(
    st.builds("late.grace_minutes = {}".format, NUMBERS),
    st.builds("late.percent_per_day = {}".format, NUMBERS),
    st.builds("late.days = {}".format, NUMBERS),
    st.builds('late.times = "{}"'.format, st.sampled_from(["files", "moodle", "fils", "a.csv"])),
    st.builds(
        'late.time_zone = "{}"'.format,
        st.sampled_from(
            ["Europe/Berlin", "UTC", "Mars/Base", "../x", "/etc/passwd", "Europe", "\\u0000"]
        ),
    ),
    st.builds("sheets.2.due = {}".format, TIMES),
    st.builds("sheets.2.extensions.ada = {}".format, TIMES),
    st.builds("sheets.2.points.query_context = {}".format, NUMBERS),
    st.builds(
        "sheets.2.excluded = {}".format, st.sampled_from(['["essay"]', '["esay"]', "[1]", "3"])
    ),
    st.builds("sheets.2.bonus = {}".format, st.sampled_from(['["essay"]', "[]", '"essay"'])),
    st.builds("sheets.2.partial = {}".format, st.sampled_from(["true", "false", "1"])),
    st.builds(
        "sheets.{}.due = 2026-11-02".format, st.sampled_from(["two", '"２"', "99", "-1", '"²"'])
    ),
    st.builds("feedback.model_answers = {}".format, TIMES),
    st.builds(
        "feedback.keep_back = {}".format, st.sampled_from(["[2]", '["essay"]', "[true]", "2"])
    ),
    st.builds('feedback.site = "{}"'.format, st.sampled_from(["", "https://x.org", "\\uFFFF"])),
    st.builds("roster = {}".format, st.sampled_from(['"class.csv"', '"no.csv"', '""', "3", '"."'])),
    st.builds("private = {}".format, st.sampled_from(['"."', '"no"', '""', '"class.csv"'])),
    st.builds(
        "packages = {}".format,
        st.sampled_from(['["numpy"]', '["nope"]', '[""]', '["a.b"]', '[".x"]']),
    ),
    st.sampled_from(["[late", "x = ", "\ufeff", "# ü", "late = 3", "sheets = 3", "sheets.2 = 1"]),
)


@st.composite
def rules(draw):
    """The bytes of a class.toml."""
    lines = draw(st.lists(SETTINGS, max_size=4, unique_by=lambda line: line.partition(" ")[0]))
    return "\n".join(lines).encode(draw(st.sampled_from(["utf-8", "utf-8", "utf-8-sig", "utf-16"])))
