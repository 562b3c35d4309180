"""Plans for teaching, from the notebooks' own data, so that no plan goes stale.

`{teaching-plan}` makes a table of lectures, tasks and minutes:

    ```{teaching-plan}
    :part: Week
    :parts: 4
    :most: 60
    ```

shares all lectures out among four weeks, with the first tasks of each sheet that fit into 60
minutes; without `:most:` these are all tasks of its core. In place of `:parts:` the content may
name the lectures of each part, as in `Day 1: 2 3 4`; those that are not written yet are left out.
`{teaching-outcomes}` makes a table for each lecture: its outcomes, with the tasks that give
practice in each.

Minutes of a lecture stand in its line `Time: …`, those of a task below its heading, and what a task
is for in its file in `grading/tasks/`. These files are read, and never run.
"""

import ast
import json
import re
from dataclasses import dataclass
from difflib import get_close_matches
from pathlib import Path

from docutils import nodes
from docutils.parsers.rst import directives
from docutils.statemachine import StringList
from sphinx.application import Sphinx
from sphinx.util.docutils import SphinxDirective

IN_TOC = re.compile(r"- file: (lectures/(\d\d)_\w+)$", re.M)
TIME = re.compile(
    r"^Time: .*?(\d+) with the interactive parts\.(?: Deeper: (\d+) minutes\.)?", re.M
)
OUTCOMES = re.compile(r"^## What you will be able to do\n(.*?)(?=^## |\Z)", re.M | re.DOTALL)
TASK = re.compile(
    r"^## (?P<number>\d+)\. (?P<title>.*)\n\s*<!-- task: (?P<name>\w+) -->\n"
    r"\*(?P<points>\d+) points · (?:difficulty )?(?P<stars>★+)☆* · about (?P<minutes>\d+) minutes"
    r"(?P<more>[^*\n]*)\*$",
    re.M,
)


@dataclass(frozen=True)
class Task:
    """A task of a sheet. Those that are marked *extra* are no part of the sheet's core."""

    number: int
    name: str
    title: str
    points: int
    stars: str
    minutes: int
    extra: bool


@dataclass(frozen=True)
class Lecture:
    """A lecture with its sheet; minutes of its core with all to try, and of *Deeper*."""

    number: int
    page: str
    title: str
    core: int
    deeper: int
    outcomes: tuple[str, ...]
    tasks: tuple[Task, ...]

    @property
    def link(self) -> str:
        """To its page."""
        return f"[{self.number}. {self.title}](/{self.page}.ipynb)"

    @property
    def sheet(self) -> str:
        """Where its exercises are."""
        return self.page.replace("lectures/", "exercises/", 1) + ".ipynb"


# ------------------------------------------------------------------ what the notebooks say


def lectures_of(root: Path) -> list[Lecture]:
    """The lectures of the table of contents, from 1 on.

    Raises:
        ValueError: if a lecture does not say how long it takes, or what it promises.
    """
    toc = (root / "_toc.yml").read_text(encoding="utf-8")
    return [lecture_of(root, page) for page, number in IN_TOC.findall(toc) if number != "00"]


def lecture_of(root: Path, page: str) -> Lecture:
    """One lecture."""
    text = markdown(root / f"{page}.ipynb")
    title = re.search(r"^# (\d+)\. (.*)$", text, re.M)
    time, promised = TIME.search(text), OUTCOMES.search(text)
    if not (title and time and promised):
        raise ValueError(f"{page}: a title, a line `Time: …` or a list of outcomes is missing")
    sheet = root / (page.replace("lectures/", "exercises/", 1) + ".ipynb")
    items = re.split(r"^- ", promised[1], flags=re.M)[1:]
    outcomes = (" ".join(item.partition("\n\n")[0].split()).rstrip(",;.") for item in items)
    return Lecture(
        *(int(title[1]), page, title[2], int(time[1]), int(time[2] or 0)),
        outcomes=tuple(outcomes),
        tasks=tuple(tasks_of(markdown(sheet))) if sheet.exists() else (),
    )


def markdown(notebook: Path) -> str:
    """The text of a notebook without its code."""
    cells = json.loads(notebook.read_text(encoding="utf-8"))["cells"]
    return "\n\n".join("".join(c["source"]) for c in cells if c["cell_type"] == "markdown")


def tasks_of(sheet: str) -> list[Task]:
    """The tasks of a sheet, in order."""
    return [
        Task(
            *(int(m["number"]), m["name"], m["title"], int(m["points"])),
            *(m["stars"], int(m["minutes"]), "extra" in m["more"]),
        )
        for m in TASK.finditer(sheet)
    ]


# ------------------------------------------------------------------ plans


def chosen(lecture: Lecture, most: int | None) -> list[Task]:
    """The core of a sheet, or its first tasks as far as they fit into `most` minutes."""
    core = [task for task in lecture.tasks if not task.extra]
    while most is not None and sum(task.minutes for task in core) > most:
        core.pop()
    return core


def shared_out(lectures: list[Lecture], part: str, n: int) -> dict[str, list[Lecture]]:
    """All lectures in their order, in n parts as even as can be; one each if there are fewer."""
    n = min(n, len(lectures))
    ends = [round(i * len(lectures) / n) for i in range(n + 1)]
    return {f"{part} {i + 1}": lectures[ends[i] : ends[i + 1]] for i in range(n)}


def named(lectures: list[Lecture], lines: list[str]) -> dict[str, list[Lecture]]:
    """The lectures that lines such as `Day 1: 2 3 4` name; those not written yet are left out."""
    by_number = {lecture.number: lecture for lecture in lectures}
    found = {}
    for line in filter(str.strip, lines):
        part, _, numbers = line.partition(":")
        found[part.strip()] = [by_number[n] for n in map(int, numbers.split()) if n in by_number]
    return found


def plan(parts: dict[str, list[Lecture]], most: int | None) -> str:
    """The table of a plan, as Markdown. A part of several lectures begins with its sums."""
    rows, whole = [], [0, 0]
    for part, lectures in parts.items():
        of_part, sums = [], [0, 0]
        for lecture in lectures:
            tasks = chosen(lecture, most)
            minutes = [lecture.core, sum(task.minutes for task in tasks)]
            link = f"[{ranges(tasks)}](/{lecture.sheet})" if tasks else "none yet"
            of_part.append([lecture.link, minutes[0], link, minutes[1], sum(minutes)])
            sums = [a + b for a, b in zip(sums, minutes, strict=True)]
        if len(lectures) == 1:
            of_part[0][0] = f"**{part}**: {of_part[0][0]}"
        elif lectures:
            of_part.insert(0, total(part, sums))
        rows += of_part
        whole = [a + b for a, b in zip(whole, sums, strict=True)]
    heads = ["Lecture", "Core", "Tasks", "Time", "Sum"]
    return table(heads, [*rows, total("In all", whole)], numbers={1, 3, 4})


def total(name: str, minutes: list[int]) -> list[str]:
    """A row with sums, in hours."""
    core, tasks, together = (f"**{hours(m)}**" for m in (*minutes, sum(minutes)))
    return [f"**{name}**", core, "", tasks, together]


def hours(minutes: int) -> str:
    """90 as `1:30 h`, with a space at which no line breaks."""
    return f"{minutes // 60}:{minutes % 60:02}\N{NO-BREAK SPACE}h"


def ranges(tasks: list[Task]) -> str:
    """Numbers of tasks, those in a row as `1–4`."""
    runs: list[list[int]] = []
    for task in tasks:
        if runs and runs[-1][-1] + 1 == task.number:
            runs[-1].append(task.number)
        else:
            runs.append([task.number])
    return ", ".join(f"{run[0]}–{run[-1]}" if len(run) > 1 else str(run[0]) for run in runs)


def table(heads: list[str], rows: list[list], numbers: set[int] = frozenset()) -> str:
    """A table as Markdown; columns of numbers are set flush right."""
    rule = ["--:" if i in numbers else "---" for i in range(len(heads))]
    return "\n".join("| " + " | ".join(map(str, row)) + " |" for row in (heads, rule, *rows))


# ------------------------------------------------------------------ outcomes


def practised(root: Path, lecture: Lecture) -> dict[str, list[Task]]:
    """The tasks for each outcome of a lecture, and under "" those for something else.

    A task says its outcome in the lecture's words; a word or two may have changed since.
    """
    wordings = {plain(outcome): outcome for outcome in lecture.outcomes}
    found: dict[str, list[Task]] = {outcome: [] for outcome in lecture.outcomes}
    for task in lecture.tasks:
        file = root / "grading" / "tasks" / f"lecture_{lecture.number:02d}" / f"{task.name}.py"
        close = get_close_matches(plain(outcome_in(file)), wordings, n=1)
        found.setdefault(wordings[close[0]] if close else "", []).append(task)
    return found


def outcome_in(file: Path) -> str:
    """What stands in a task's file as `outcome="…"`.

    Raises:
        ValueError: if nothing does.
    """
    for node in ast.walk(ast.parse(file.read_text(encoding="utf-8"))):
        if isinstance(node, ast.keyword) and node.arg == "outcome":
            return ast.literal_eval(node.value)
    raise ValueError(f"{file.name}: no outcome is stated")


def plain(text: str) -> str:
    """An outcome without marks of Markdown."""
    text = re.sub(r"\{term\}`([^`<]+?)(?: <[^>]*>)?`", r"\1", text)
    return " ".join(re.sub(r"\(\*Deeper\*\)|[*`]", "", text).split()).rstrip(",;.")


def outcomes(root: Path, lecture: Lecture) -> str:
    """The table of a lecture's outcomes, as Markdown."""
    rows = []
    for outcome, tasks in practised(root, lecture).items():
        listed = "; ".join(  # no line breaks after the number and before the stars
            f"{task.number}\N{NO-BREAK SPACE}{task.title}\N{NO-BREAK SPACE}{task.stars}"
            for task in tasks
        )
        what = outcome or "*outside these outcomes*"
        rows.append([what.replace("|", r"\|"), listed or "none; see the quiz, *Check yourself*"])
    sheet = f"Tasks on [its sheet](/{lecture.sheet})" if lecture.tasks else "Tasks"
    return f"**{lecture.link}**\n\n" + table(["Afterwards, students can …", sheet], rows)


# ------------------------------------------------------------------ Sphinx


class FromNotebooks(SphinxDirective):
    """Shows Markdown that is made from the notebooks."""

    def shown(self, text: str) -> list[nodes.Node]:
        """The nodes of a text."""
        self.env.note_reread()  # notebooks change without this page changing
        box = nodes.container()
        self.state.nested_parse(StringList(text.splitlines()), self.content_offset, box)
        return box.children

    @property
    def root(self) -> Path:
        """Where the book lies."""
        return Path(self.env.srcdir)


class TeachingPlan(FromNotebooks):
    """`{teaching-plan}`, as shown above."""

    has_content = True
    option_spec = {  # noqa: RUF012
        "part": directives.unchanged,
        "parts": directives.positive_int,
        "most": directives.positive_int,
    }

    def run(self) -> list[nodes.Node]:
        """The table."""
        lectures = lectures_of(self.root)
        if "parts" in self.options:
            part = self.options.get("part", "Part")
            parts = shared_out(lectures, part, self.options["parts"])
        else:
            parts = named(lectures, list(self.content))
        return self.shown(plan(parts, self.options.get("most")))


class TeachingOutcomes(FromNotebooks):
    """`{teaching-outcomes}`: no argument, no option, no content."""

    def run(self) -> list[nodes.Node]:
        """A table for each lecture."""
        tables = [outcomes(self.root, lecture) for lecture in lectures_of(self.root)]
        return self.shown("\n\n".join(tables))


def setup(app: Sphinx) -> dict[str, object]:
    """Called by Sphinx."""
    app.add_directive("teaching-plan", TeachingPlan)
    app.add_directive("teaching-outcomes", TeachingOutcomes)
    return {"version": "1", "parallel_read_safe": True, "parallel_write_safe": True}
