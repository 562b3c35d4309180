"""The exercise sheets as students know them, and the tasks of a sheet that a notebook holds."""

from __future__ import annotations

import ast
import functools
import json
import re
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from grading.task import PROJECT, Tasks

ROOT = Path(__file__).resolve().parents[1]
HEADING = re.compile(r"^## (\d+)\. (.+)$", re.MULTILINE)
MARK = re.compile(r"<!-- task: (\w+) -->")
NOT_ASKED = re.compile(r"<!-- hints -->.*?<!-- end of hints -->|<!-- .*? -->", re.DOTALL)
CHECK = re.compile(r"""\bcheck\(\s*["'](\w+)["']""")
MARKUP = re.compile(r"<[^<>]{0,2000}>|!?\[[^\[\]]{0,2000}\]\([^()\s]{0,2000}\)|https?://\S+")
LEAST_TEXT = 60
"""Letters and signs in a text cell that may be an answer; a name and a number are fewer."""
PICTURE = "(a picture that was pasted into a text cell)"
LECTURE_BADGE = re.compile(r"colab\.research\.google\.com/github/[\w./-]{1,200}/lectures/\d\d_")
DEFINES = re.compile(
    r"^(?:async )?(?:def|class)\s+(\w+)|^(\w+)\s*(?::[^=\n]+)?=(?!=)", re.MULTILINE
)


@dataclass(frozen=True)
class Item:
    """A task with its number and title on the sheet."""

    number: int
    title: str
    task: str


@dataclass(frozen=True)
class Sheet:
    """The exercises of one lecture."""

    lecture: int
    title: str
    page: str
    """The file's name without its ending: the lecture's page on the site has the same."""
    items: tuple[Item, ...]
    template: Mapping[str, str]
    """The cell as the student finds it, by task."""
    answers: Mapping[str, str]
    """The cell with the model answer, without its marks, by task."""
    questions: Mapping[str, str] = field(default_factory=dict)
    """The question as the student reads it, without the hints, by task."""
    marking: Mapping[str, str] = field(default_factory=dict)
    """How the points are divided, by written task."""
    lines: frozenset[str] = frozenset()
    """Every line of its text cells."""


@functools.cache
def sheets() -> dict[int, Sheet]:
    """Every sheet of the course, by lecture."""
    found = {}
    for path in sorted((ROOT / "exercises").glob("*.ipynb")):
        cells = _cells_of(path)
        answered = _cells_of(ROOT / "solutions" / path.name)
        items, questions = [], {}
        for kind, source in cells:
            heading = HEADING.search(source)
            if kind == "markdown" and heading:
                mine = MARK.findall(source)
                items += [Item(int(heading[1]), heading[2].replace("*", ""), name) for name in mine]
                asked = NOT_ASKED.sub("", source.replace(heading[0], "", 1))
                asked = re.sub(r"\n{3,}", "\n\n", asked).strip()
                questions |= dict.fromkeys(mine, asked)
        names = {item.task for item in items}
        title = re.search(r"^# .*?: (.+)$", "\n".join(text for _, text in cells), re.MULTILINE)
        code = [source for kind, source in answered if kind == "code"]
        answers = {n: without_marks(text, n) for n, text in definitions(code, names).items()}
        template = definitions([source for kind, source in cells if kind == "code"], names)
        number = int(path.name[:2])
        words = title[1] if title else path.stem
        lines = frozenset(_lines([source for kind, source in cells if kind != "code"]))
        parts = tuple(items), template, answers, questions, _for_marking(answered), lines
        found[number] = Sheet(number, words, path.stem, *parts)
    return found


def without_marks(text: str, name: str) -> str:
    """The cell with the model answer alone, without marks and without the student's stub."""
    marks = rf"^\s*(# (BEGIN|END) SOLUTION|#\| .*|{name} = \.\.\..*)(\n|$)"
    return re.sub(marks, "", text, flags=re.MULTILINE).rstrip()


def _for_marking(answered: Sequence[tuple[str, str]]) -> dict[str, str]:
    """The text after "For marking." below each model answer, by task."""
    found, task = {}, ""
    for kind, source in answered:
        task = (MARK.findall(source) or [task])[-1] if kind == "markdown" else task
        if kind == "markdown" and (said := source.partition("**For marking.**")[2]):
            found[task] = said.strip()
    return found


def lecture_name(number: int) -> str:
    """The name of the lecture with this number, or of the project."""
    return "The project" if number == PROJECT else f"Lecture {number}"


def _cells_of(path: Path) -> list[tuple[str, str]]:
    if not path.is_file():  # a release for students has no solutions
        return []
    cells = json.loads(path.read_text(encoding="utf-8"))["cells"]
    return [(cell["cell_type"], "".join(cell["source"])) for cell in cells]


def plain_words(text: str) -> str:
    """A text of the course without its markup: {term}`query` becomes query."""
    return re.sub(r"\{\w+\}`([^`<]*?)(?:\s*<[^`]*>)?`", r"\1", text)


def items_of(lecture: int, tasks: Tasks) -> list[Item]:
    """The tasks of a lecture in the order of its sheet; tasks that are not on it come last."""
    mine = tasks.of_lecture(lecture)
    sheet = sheets().get(lecture)
    items = [item for item in sheet.items if item.task in mine] if sheet else []
    last = max((item.number for item in sheet.items), default=0) if sheet else 0
    others = sorted(set(mine) - {item.task for item in items})
    return items + [Item(last + i, name, name) for i, name in enumerate(others, 1)]


def definitions(cells: Sequence[str], names: Collection[str]) -> dict[str, str]:
    """The last cell that defines each name at its left edge, without calls of `check`."""
    found = {}
    for source in cells:
        for function, value in DEFINES.findall(source):
            if (function or value) in names:
                found[function or value] = re.sub(
                    r"^check\(.*\)\n?", "", source, flags=re.M
                ).rstrip()
    return found


def own_texts(cells: Sequence[tuple[str, str]], lecture: int) -> list[str]:
    """What a student wrote in text cells: what the sheet does not have, if it may be an answer.

    Markup, links and pictures are left out, but a picture that was pasted in is told.
    """
    sheet, found = sheets().get(lecture), []
    for kind, source in cells:
        if kind != "code":
            own = [line for line in _lines([source]) if not sheet or line not in sheet.lines]
            text = " ".join(MARKUP.sub("", " ".join(own)).split())
            found += [text] * (len(text.replace(" ", "")) >= LEAST_TEXT)
            found += [PICTURE] * any("](attachment:" in line for line in own)
    return found


def _lines(texts: Sequence[str]) -> list[str]:
    return [" ".join(line.split()) for text in texts for line in text.splitlines()]


def is_untouched(source: str, name: str, template: str | None) -> bool:
    """Whether the student left a cell unchanged: the template's text, or nothing but a stub."""
    if template is not None and _bare(source) == _bare(template):
        return True
    try:
        body = ast.parse(source).body
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return False
    return all(_is_stub(node, name) for node in body)


def _bare(source: str) -> str:
    return re.sub(r"\s|#.*", "", source)


def _is_stub(node: ast.stmt, name: str) -> bool:
    if isinstance(node, ast.Assign | ast.AnnAssign):
        return isinstance(node.value, ast.Constant) and node.value.value is ...
    if isinstance(node, ast.FunctionDef | ast.ClassDef):
        return all(_is_stub(part, name) for part in node.body)
    if isinstance(node, ast.Raise):
        return "NotImplementedError" in ast.dump(node)
    constant = isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant)
    return constant or isinstance(node, ast.Pass | ast.Import | ast.ImportFrom)


@dataclass(frozen=True)
class Holds:
    """The tasks of one lecture in a notebook."""

    lecture: int
    defined: Mapping[str, str] = field(default_factory=dict)
    answered: frozenset[str] = frozenset()
    marked: bool = False
    """Whether it has words of the sheet itself: a task's mark, a call of `check`."""

    @property
    def strength(self) -> int:
        """0 without answers, 1 with answers in a notebook that is hardly the sheet, else 2."""
        return (2 if self.marked else 1) if self.answered else 0


def holds(cells: Sequence[tuple[str, str]], tasks: Tasks) -> dict[int, Holds]:
    """The tasks in the cells of a notebook, by lecture; other lectures are left out."""
    code, lecture_of = [source for kind, source in cells if kind == "code"], tasks.lectures
    defined = definitions(code, set(tasks))
    whole = "\n".join(source for _, source in cells)
    named = (set(CHECK.findall(whole)) | set(MARK.findall(whole))) & set(tasks)
    if not named and not defined:  # an answer can come about in odd ways: its name must stand there
        words = set(re.findall(r"\w+", "\n".join(code))) & set(tasks)
        return {lecture_of[name]: Holds(lecture_of[name]) for name in sorted(words)}
    found = {}
    for lecture in sorted({lecture_of[name] for name in named | set(defined)}):
        template = sheets()[lecture].template if lecture in sheets() else {}
        mine = {name: text for name, text in defined.items() if lecture_of[name] == lecture}
        answered = frozenset(n for n, s in mine.items() if not is_untouched(s, n, template.get(n)))
        all_of_it = len(tasks.of_lecture(lecture))
        marked = any(lecture_of[name] == lecture for name in named)
        found[lecture] = Holds(lecture, mine, answered, marked or 2 * len(mine) >= all_of_it)
    return found


@functools.cache
def _lectures() -> tuple[frozenset[str], frozenset[str]]:
    """The headings of all lectures, and their code cells."""
    books = [_cells_of(path) for path in (ROOT / "lectures").glob("*.ipynb")]
    code = {source.rstrip() for cells in books for kind, source in cells if kind == "code"}
    return frozenset(map(_heading, books)) - {""}, frozenset(code)


def _heading(cells: Sequence[tuple[str, str]]) -> str:
    """The first heading of a notebook."""
    found = re.search(r"^# (.+)$", "\n".join(s for k, s in cells if k == "markdown"), re.M)
    return found[1].strip() if found else ""


def is_lecture(cells: Sequence[tuple[str, str]], found: Mapping[int, Holds]) -> bool:
    """Whether a notebook is a lecture of the course, and holds no answers of the student's own.

    Its first heading or its badge says so. Some lectures define what a sheet asks for by name.
    """
    badge = any(kind == "markdown" and LECTURE_BADGE.search(source) for kind, source in cells)
    headings, code = _lectures()
    if any(one.marked or set(one.defined.values()) - code for one in found.values()):
        return False
    return badge or _heading(cells) in headings


def best(found: Mapping[int, Holds]) -> int | None:
    """The lecture with the most tasks in a notebook."""
    size = {n: (len(h.answered), len(h.defined) + h.marked, -n) for n, h in found.items()}
    return max(size, key=size.__getitem__, default=None)
