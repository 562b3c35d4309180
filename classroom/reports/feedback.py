"""The feedback for each student: why each point was or was not given.

Every text that may come from a student is escaped here.
"""

from __future__ import annotations

import functools
import hashlib
import html
import re
import unicodedata
from collections.abc import Sequence
from datetime import UTC, datetime, timedelta
from pathlib import Path
from urllib.parse import quote

from classroom.gradebook.grades import FOR_ALL, Grade, SheetGrade
from classroom.intake.owners import file_name
from classroom.policy import Policy
from classroom.private_tasks import own_answer
from classroom.reports import page
from classroom.sheets import ROOT, Item, is_untouched, items_of, lecture_name, plain_words
from classroom.sheets import sheets as all_sheets
from classroom.states import By
from grading.task import PROJECT, Task, Tasks

CELL = re.compile(r"\b(?:[Cc]ode )?[Cc]ell (\d+)\b")
SIGNS = "✓ all points, ◐ some of them, ✗ none, … not marked yet."
"""What the sign in front of each task means."""
LETTERS = (
    "One letter that is wrong or missing costs half of the points; a second one costs the rest."
)


def write(folder: Path, sheets: Sequence[SheetGrade], tasks: Tasks, policy: Policy) -> None:
    """Write a page for each student; pages of earlier runs are removed."""
    folder.mkdir(exist_ok=True)
    for old in folder.glob("*.html"):
        old.unlink()
    by_student: dict[str, list[SheetGrade]] = {}
    for sheet in sheets:
        by_student.setdefault(sheet.student.id, []).append(sheet)
    for id, mine in by_student.items():
        student = mine[0].student
        body = "\n".join(section(sheet, tasks, policy) for sheet in mine)
        path = folder / feedback_name(id)
        page.write(path, f"Feedback: {student.name or student.id}", body)


def feedback_name(student: str) -> str:
    """The file name of a student's page: valid everywhere, and different for every student."""
    plain = re.sub(r"[^A-Za-z0-9]+", "-", student).strip("-")[:40] or "student"
    return f"{plain}-{hashlib.sha256(student.encode()).hexdigest()[:8]}.html"


def section(sheet: SheetGrade, tasks: Tasks, policy: Policy) -> str:
    """One sheet; its tasks have the order and the numbers that the student knows."""
    known = all_sheets().get(sheet.lecture)
    title = f"Sheet {sheet.lecture}" if sheet.lecture else "Not graded"
    lines = [f"<h2>{html.escape(title + (f': {known.title}' if known else ''))}</h2>"]
    if sheet.file:
        paths = [sheet.file, *(handed.name for handed in sheet.row.beside)]
        files = list(map(file_name, paths))
        said = f"Your file{'s' * (len(files) > 1)}: {', followed by '.join(files)}"
        lines.append(f"<p>{html.escape(said)}</p>")
    if sheet.graded is None:
        said = "You submitted nothing." if sheet.row is None else sheet.status
        lines.append(f"<p>{html.escape(said)}</p>")
        if sheet.given:
            lines.append("<p>The points that your teacher gave count.</p>")
        else:
            return "\n".join(lines)
    lines.append(f"<p>{_sum(sheet)}</p>")
    if sheet.graded and not policy.of(sheet.lecture).partial:
        lines.append(
            "<p>In this class, a task that the grader judges earns all of its points or none.</p>"
        )
    if not sheet.final:
        lines.append("<p>Not final yet: your teacher still has to look at this sheet.</p>")
    shown = sheet.grades if sheet.graded else [g for g in sheet.grades if g.correction]
    lines.append(f"<p>{SIGNS}</p>")
    by_task = {grade.task: grade for grade in shown}
    for item in items_of(sheet.lecture, tasks):
        if item.task in by_task:
            lines += _task(sheet, item, by_task[item.task], tasks[item.task], policy)
    left_out = policy.of(sheet.lecture).excluded
    for item in known.items if known else ():
        if item.task in left_out:
            title = html.escape(f"{item.number}. {item.title}")
            lines.append(f"<p>{title}: not graded in this class.</p>")
    lines += _notes(sheet)
    return "\n".join(lines)


def _sum(sheet: SheetGrade) -> str:
    said = f"{sheet.points:g} of {sheet.possible:g} points."
    if sheet.late:
        said += (
            f" Submitted {_duration(sheet.after)} late, which counts as {_days(sheet.late)}, so "
        )
        said += f"{100 * sheet.share:g}% of {sheet.earned:g} points count."
    return said  # numbers only


def _duration(time: timedelta) -> str:
    """A time in its two largest units: "25 minutes", "2 days and 3 hours"."""
    minutes = max(1, int(time.total_seconds()) // 60)
    parts = (minutes // 1440, "day"), (minutes // 60 % 24, "hour"), (minutes % 60, "minute")
    first = next(i for i, (number, _) in enumerate(parts) if number)
    shown = [(number, unit) for number, unit in parts[first : first + 2] if number]
    return " and ".join(f"{number} {unit}{'s' * (number > 1)}" for number, unit in shown)


def _days(number: int) -> str:
    return f"{number} day{'s' * (number > 1)}"


def _task(sheet: SheetGrade, item: Item, grade: Grade, task: Task, policy: Policy) -> list[str]:
    result = grade.result
    full = grade.points >= (grade.possible or result.possible)
    sign = "…" if grade.waiting else "✓" if full else "✗" if not grade.points else "◐"
    name = f"{sign} {item.number}. {item.title}" + (f" ({item.task})" * (item.title != item.task))
    earned = f"{grade.points:g} points on top (a bonus task)"
    if grade.waiting:
        earned = f"not marked yet, up to {result.possible:g} points"
    elif grade.possible:
        earned = f"{grade.points:g} of {grade.possible:g} points"
    lines = [f"<h3>{html.escape(name)}: {earned}</h3>"]
    known = all_sheets().get(sheet.lecture)
    model = _model_answer(task, policy)
    if grade.correction and not grade.waiting:
        comment = grade.correction.comment
        done = "Marked" if result.review else "Points given"
        author = grade.correction.author
        said = f"{author or 'Your teacher'}: {comment}"
        said = said if comment else f"{done} by {author or 'your teacher'}."
        if grade.corrected and sheet.graded:
            said = f"Corrected from {grade.found:g} to {grade.points:g} points. {said}"
        lines.append(f"<p>{html.escape(said)}</p>")
        points = known.marking.get(item.task) if known and model and sheet.graded else None
        if points and not (comment or full):
            lines.append(f"<p>How the points are divided:</p>{page.markdown(points)}")
    if sheet.graded is None:
        return lines
    if grade.corrected:
        lines.append(_folded("What the grader said before the correction", result.message))
    elif result.part == FOR_ALL and grade.by is By.GRADER:
        lines.append(f"<p>{FOR_ALL}</p>{_folded('What the grader said', result.message)}")
    elif not result.review or grade.waiting:
        lines.append(f"<pre>{_linked(result.message)}</pre>")
    if full:
        return lines
    if result.part and grade.by is By.GRADER:
        lines.append(f"<p>{html.escape(result.part)}</p>")
    elif task.kind == "choose" and grade.by is By.GRADER and policy.of(sheet.lecture).partial:
        template = known.template.get(item.task) if known else None
        untouched = is_untouched(result.answer, item.task, template)
        lines += [f"<p>{LETTERS}</p>"] * bool(result.answer and not untouched)
    if policy.inputs and result.input:
        lines.append(_folded("The input of this case", result.input))
    if result.answer:
        lines.append(_folded("What you wrote", result.answer))
    if known:
        said = f"{lecture_name(sheet.lecture)}, {known.title}"
        said += f": {task.section}" * bool(task.section)
        link = f'<a href="{_address(known.page, task, policy)}">{html.escape(said)}</a>'
        lines.append(
            f"<p>Goal of this task: {html.escape(plain_words(task.outcome))}. To read: {link}.</p>"
        )
    if model:
        lines.append(_folded("The model answer", model))
    return lines


def _address(page: str, task: Task, policy: Policy) -> str:
    """Of the lecture's section on the course's site; without a site, of the notebook.

    The project has no lecture: its own page says what it is about.
    """
    folder = "exercises" if task.lecture == PROJECT else "lectures"
    if not policy.site:
        return quote(f"{repository()}/blob/main/{folder}/{page}.ipynb", safe=":/")
    ascii_only = unicodedata.normalize("NFKD", task.section).encode("ascii", "ignore").decode()
    place = re.sub(r"[^a-z0-9]+", "-", ascii_only.lower()).strip("-")  # as Sphinx makes it
    place = f"#{place}" * bool(place)
    return quote(f"{policy.site.rstrip('/')}/{folder}/{page}.html", safe=":/") + place


@functools.cache
def repository() -> str:
    """The address that stands once, in `_config.yml`."""
    return re.search(r"url: (\S+)", (ROOT / "_config.yml").read_text(encoding="utf-8"))[1]


def _model_answer(task: Task, policy: Policy) -> str:
    """The model answer, if students may see it now."""
    due, known = policy.answers_from, all_sheets().get(task.lecture)
    if policy.keeps_back(task) or due is None or due > datetime.now(UTC):
        return ""
    return own_answer(policy.private, task) or (known.answers.get(task.name, "") if known else "")


def _folded(title: str, text: str) -> str:
    inner = f"<pre>{html.escape(text)}</pre>"
    return f"<details><summary>{title}</summary>{inner}</details>"


def _linked(message: str) -> str:
    """A message in which a cell leads to what is said about that cell below."""
    return CELL.sub(r'<a href="#cell-\1">\g<0></a>', html.escape(message))


def _notes(sheet: SheetGrade) -> list[str]:
    """The cells that stopped, and what else was noted while the notebook ran."""
    lines = []
    if sheet.graded and sheet.graded.notes:
        items = ""
        for note in sheet.graded.notes:
            number = CELL.match(note)
            place = f' id="cell-{number[1]}"' if number else ""
            items += f"<li{place}><pre>{html.escape(note)}</pre></li>"
        lines.append(f"<h3>Cells that did not finish</h3><ul>{items}</ul>")
        said = " ".join(sheet.graded.notes)
        missing = sorted(set(re.findall(r"No module named '([\w.]+)'", said)))
        if missing:
            names = ", ".join(missing)
            said = (
                f"The grader does not have these packages: {names}. Solve the tasks without them."
            )
            lines.append(f"<p>{said}</p>")  # letters and dots only
    if sheet.graded and sheet.graded.flags:
        lines.append(f"<p>Notes on this run: {html.escape('; '.join(sheet.graded.flags))}.</p>")
    return lines
