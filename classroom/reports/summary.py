"""The overview of a class: how many points the sheets and tasks earned, and common mistakes."""

from __future__ import annotations

import html
from collections import Counter
from collections.abc import Mapping, Sequence
from pathlib import Path

from classroom.gradebook.grades import SheetGrade
from classroom.intake.select import Listed
from classroom.reports import page
from classroom.sheets import lecture_name
from grading.task import Tasks


def write(
    path: Path,
    rows: Sequence[Listed],
    sheets: Sequence[SheetGrade],
    names: Sequence[str],
    tasks: Tasks,
) -> None:
    """Write the overview.

    Args:
        names: of the tasks, in the order of the sheets.
    """
    page.write(path, "Class summary", _body(rows, sheets, names, tasks))


def _bars(counts: Mapping[str, int]) -> str:
    most = max(counts.values(), default=0) or 1
    rows = (
        f'<tr><th scope="row">{name}</th><td class="number">{count}</td>'
        f'<td><span class="bar" style="width:{12 * count / most:.2f}rem"></span></td></tr>'
        for name, count in counts.items()
    )
    return f"<table>{''.join(rows)}</table>"


def _body(
    rows: Sequence[Listed],
    sheets: Sequence[SheetGrade],
    names: Sequence[str],
    tasks: Tasks,
) -> str:
    graded = [sheet for sheet in sheets if sheet.graded]
    lines = [f"<p>{len(rows)} files, {len(graded)} sheets graded.</p>"]
    for lecture in sorted({sheet.lecture for sheet in graded}):
        tenths: Counter = Counter()
        for sheet in graded:
            if sheet.lecture == lecture:
                share = sheet.points / sheet.possible if sheet.possible else 0
                tenths[min(10, int(10 * share + 1e-9))] += 1
        shown = {f"{10 * i} %" + " and more" * (i < 10): tenths[i] for i in range(11)}
        lines += [f"<h2>{lecture_name(lecture)}: share of the points</h2>", _bars(shown)]
    lines.append("<h2>Tasks</h2>")
    for name in names:
        mine = [g for sheet in graded for g in sheet.grades if g.task == name and g.result]
        counts = Counter(float(grade.points) for grade in mine if not grade.waiting)
        shown = {f"{points:g} points": counts[points] for points in sorted(counts)}
        if waiting := sum(grade.waiting for grade in mine):
            shown["to be read"] = waiting
        lines += [f"<h3>{name}</h3>", _bars(shown)]
        found = [g.result.mistake for g in mine if g.result.mistake is not None]
        made = Counter(tasks[name].mistakes[which].why for which in sorted(found))
        items = "".join(
            f"<li>{count} ×: {html.escape(why)}</li>" for why, count in made.most_common(5)
        )
        lines.append(f"<p>Most common mistakes:</p><ol>{items}</ol>" if items else "")
    problems = [row for row in rows if not row.counts]
    if problems:
        items = "".join(
            f"<li>{html.escape(row.handed.name)}: {html.escape(row.status)}</li>"
            for row in problems
        )
        lines.append(f"<h2>Files that were not graded</h2><ul>{items}</ul>")
    return "\n".join(lines)
