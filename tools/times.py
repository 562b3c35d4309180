"""How long a lecture takes: `python tools/times.py [--check] [NOTEBOOK …]`.

Minutes to read a part: words / 120 + visible lines of code / 8 + 2 for each prediction + 1 for each
figure. That is half the speed of reading straight through: learners who timed themselves on these
lectures, with predictions and folded results, took about twice as long as that. What there is to
try in the core comes on top: 4 minutes for each explorable and each blank to fill in, 1 for each
question of the quiz. The core is everything before the heading *Deeper*. The times are written into
the page: the line `Time: …` at its top, and the first line of each section under *Deeper*,
`*N minutes. Good for: ….*`. With `--check` nothing is written, and stale times are named.
"""

from __future__ import annotations

import math
import re
import sys
from dataclasses import dataclass
from pathlib import Path

import nbformat
from nbformat import NotebookNode

ROOT = Path(__file__).resolve().parent.parent
WORDS, LINES = 120, 8
"""Read in a minute."""
PREDICTION, FIGURE = 2, 1
EXPLORABLE, BLANK, QUESTION = 4, 4, 1
"""Minutes."""
MOST = 65
"""Minutes that reading a core may take."""

DEEPER = re.compile(r"^## Deeper$", re.MULTILINE)
SECTION = re.compile(r"^### ", re.MULTILINE)
CHAPTER = re.compile(r"^## ", re.MULTILINE)
STATED = re.compile(r"^Time: .* to run\.$", re.MULTILINE)
GOOD_FOR = re.compile(r"^\*(?:\d+|N) minutes?\. Good for:", re.MULTILINE)
MARKUP = re.compile(r"^:::.*$|^:class:.*$|(?<=\])\([^)]*\)", re.MULTILINE)
"""What nobody reads: fences, classes of boxes, targets of links."""
TO_FILL_IN = re.compile(r"^\s*(?:return |\w+ = )?\.\.\.\s*(?:#.*)?$", re.MULTILINE)
"""A line that the reader replaces."""
HIDDEN = {"hide-input", "hide-cell", "remove-input", "remove-cell"}


@dataclass
class Part:
    """What stands in a part of a lecture, and where its section begins."""

    cell: NotebookNode | None = None
    words: int = 0
    lines: int = 0
    predictions: int = 0
    figures: int = 0
    explorables: int = 0
    blanks: int = 0
    questions: int = 0

    def add(self, cell: NotebookNode) -> None:
        """Count a cell."""
        if cell.cell_type == "markdown":
            words = STATED.sub("", MARKUP.sub("", cell.source)).split()
            self.words += sum(bool(re.search(r"\w", word)) for word in words)
            self.predictions += cell.source.count("Predict, then run")
        elif cell.cell_type == "code":
            if not HIDDEN & set(cell.metadata.get("tags", [])):
                self.lines += sum(bool(line.strip()) for line in cell.source.splitlines())
                self.blanks += len(TO_FILL_IN.findall(cell.source))
            for output in cell.outputs:
                html = str(output.get("data", {}).get("text/html", ""))
                self.figures += "<svg" in html[:3000]
                self.explorables += "data-explorable" in html
                if '<div class="quiz">' in html:
                    self.questions += html.count("<fieldset")

    @property
    def minutes(self) -> int:
        """Time to read it, rounded up."""
        rest = self.predictions * PREDICTION + self.figures * FIGURE
        return math.ceil(self.words / WORDS + self.lines / LINES + rest)

    @property
    def with_all_to_try(self) -> int:
        """Minutes with its explorables, blanks and quiz."""
        tried = self.explorables * EXPLORABLE + self.blanks * BLANK + self.questions * QUESTION
        return self.minutes + tried


def parts(notebook: NotebookNode) -> tuple[Part, list[Part]]:
    """The core, and the sections under *Deeper*.

    A section begins with the cell that holds its heading. What comes after the sections, such as
    further reading, belongs to neither.
    """
    core, sections, part = Part(), [], None
    for cell in notebook.cells:
        if cell.cell_type == "markdown":
            if DEEPER.search(cell.source):
                part = Part()  # what stands before the first section is in no one's time
            elif part and CHAPTER.search(cell.source):
                break
            if part and SECTION.search(cell.source):
                part = Part(cell)
                sections.append(part)
        (part or core).add(cell)
    return core, sections


def timed(notebook: NotebookNode) -> list[str]:
    """Write the times into a notebook; returns what had to change or cannot be written."""
    core, sections = parts(notebook)
    deeper = sum(part.minutes for part in sections)
    seconds = notebook.metadata.get("lamplight", {}).get("seconds")
    more = f"Deeper: {deeper} minutes. " if sections else ""
    name = "Core: " if sections else ""
    line = (
        f"Time: {name}{core.minutes} minutes to read, {core.with_all_to_try} with the interactive "
        f"parts. {more}About {_about(seconds)} s to run."
    )
    complaints = []
    head = next((cell for cell in notebook.cells if STATED.search(cell.source)), None)
    if head is None:
        complaints.append("no line `Time: … to run.` at the top")
    elif STATED.search(head.source)[0] != line:
        complaints.append(f"its times are not `{line}`; make times NB=lectures/NAME writes them")
        head.source = STATED.sub(line, head.source, count=1)
    if any(DEEPER.search(cell.source.lstrip(), 1) for cell in notebook.cells):
        complaints.append("`## Deeper` does not begin its cell, so words before it are not counted")
    for part in sections:
        title = re.search(r"^### (.*)$", part.cell.source, re.MULTILINE)[1]
        unit = "minute" if part.minutes == 1 else "minutes"
        start = f"*{part.minutes} {unit}. Good for:"
        if not GOOD_FOR.search(part.cell.source):
            complaints.append(f"*{title}* does not begin with `*N minutes. Good for: ….*`")
        elif start not in part.cell.source:
            complaints.append(f"*{title}* takes {part.minutes} {unit}")
            part.cell.source = GOOD_FOR.sub(start, part.cell.source, count=1)
    return complaints


def _about(seconds: int | None) -> int:
    """Rounded up to steps of 5, so that a second more or less changes nothing."""
    return 5 * max(1, -(-(seconds or 5) // 5))


def too_long(notebook: NotebookNode) -> list[str]:
    """What makes a core longer than an evening."""
    core, _ = parts(notebook)
    if core.minutes <= MOST:
        return []
    return [
        f"the core takes {core.minutes} minutes, at most {MOST}: {core.words} words, "
        f"{core.lines} lines, {core.predictions} predictions, {core.figures} figures"
    ]


def main(arguments: list[str]) -> int:
    """Write or check the times of the named lectures, or of all."""
    check = "--check" in arguments
    names = [Path(name) for name in arguments if name != "--check"]
    stale = False
    for path in names or sorted((ROOT / "lectures").glob("*.ipynb")):
        if not path.is_file():
            print(f"{path}: no such notebook. Name it as in: tools/times.py lectures/NAME.ipynb")
            return 2
        notebook = nbformat.read(path, as_version=4)
        complaints = timed(notebook)
        core, sections = parts(notebook)
        print(
            f"{path.stem}: core {core.minutes} min ({core.words} words, {core.lines} lines, "
            f"{core.predictions} predictions, {core.figures} figures), "
            f"{core.with_all_to_try} with all to try ({core.explorables} explorables, "
            f"{core.blanks} blanks, {core.questions} questions), "
            f"deeper {sum(part.minutes for part in sections)} min"
        )
        for complaint in (complaints if check else []) + too_long(notebook):
            print(f"  {complaint}")
        if complaints and not check:
            print("  its times are written anew")
        stale = stale or bool(complaints)
        if not check:
            nbformat.write(notebook, path)
    return int(check and stale)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
