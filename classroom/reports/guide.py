"""The guide for marking: task by task what to look for in written answers, and the answers."""

from __future__ import annotations

import html
import re
from collections.abc import Sequence
from pathlib import Path

from classroom.gradebook.grades import Grade, SheetGrade
from classroom.policy import Policy
from classroom.reports import page
from classroom.sheets import Item, items_of, plain_words
from classroom.sheets import sheets as all_sheets
from grading.task import Task, Tasks

HEAD = re.compile(r"^\*\d+ points? · .*\*\n")
"""The line of a question with its points, stars and minutes: the heading has the points."""


def write(path: Path, sheets: Sequence[SheetGrade], tasks: Tasks, policy: Policy) -> None:
    """Write the guide for each task with written answers, and the answers beside it.

    On paper the guide is a page of its own. The answers are in the order of `written.csv`, and only
    the identifier of a student is shown. Without written answers there is no page.
    """
    written: dict[str, list[tuple[SheetGrade, Grade]]] = {}
    for sheet in sheets:
        for grade in sheet.grades:
            if grade.result and grade.result.review:
                written.setdefault(grade.task, []).append((sheet, grade))
    lines = []
    lectures = sorted({sheet.lecture for sheet in sheets if sheet.grades})
    for item in (item for n in lectures for item in items_of(n, tasks)):
        if item.task in written:
            task = tasks[item.task]
            most = policy.of(task.lecture).points.get(item.task, task.points)
            lines.append(f'<section><div class="guide">{_what_to_look_for(item, task, most)}</div>')
            answers = "".join(_to_mark(sheet, grade, most) for sheet, grade in written[item.task])
            lines.append(f"<div><h3>Answers</h3>{answers}</div></section>")
    path.unlink(missing_ok=True)
    if lines:
        page.write(path, "How to mark the written answers", "\n".join(lines))


def _what_to_look_for(item: Item, task: Task, most: float) -> str:
    """The question, a good answer, common omissions, and how the points are divided."""
    head = f"{task.lecture}.{item.number} {item.title} ({item.task}): {most:g} points"
    lines = [f"<h2>{html.escape(head)}</h2>"]
    known = all_sheets().get(task.lecture)
    asked = known.questions.get(item.task, "") if known else ""
    lines.append(page.markdown(HEAD.sub("", asked)))
    lines.append(f"<p>Goal of this task: {html.escape(plain_words(task.outcome))}.</p>")
    lines.append(f"<h3>A good answer</h3><pre>{html.escape(str(task.reference))}</pre>")
    items = "".join(
        f"<li>{html.escape(_about_the_answer(mistake.why))}</li>" for mistake in task.mistakes
    )
    lines.append(f"<h3>Common gaps and mistakes</h3><ul>{items}</ul>" if items else "")
    points = page.markdown(known.marking.get(item.task, "") if known else "")
    lines.append(f"<h3>How the points are divided</h3>{points}" if points else "")
    return "".join(lines)


def _about_the_answer(gap: str) -> str:
    """A sentence to the student, whose "it" is the answer, as one to the marker."""
    return re.sub(r"^It\b", "The answer", gap)


def _to_mark(sheet: SheetGrade, grade: Grade, most: float) -> str:
    """One answer with its points, or with room for them."""
    given, waits = grade.correction, grade.waiting
    had = f"{grade.points:g}" if not waits else "____"
    head = f"{sheet.student.id}: {had} of {most:g} points"
    if given and not waits:
        said = ": ".join(filter(None, (given.author, given.comment)))
        head += f" ({said})" * bool(said)
    answer = html.escape(grade.result.answer)
    return f'<div class="answer"><h4>{html.escape(head)}</h4><pre>{answer}</pre></div>'
