"""What comes out of grading: tables, a page for each student, an overview, Gradescope's file.

Everything that a student wrote is escaped, and no cell of a table begins a formula.
"""

from __future__ import annotations

import hashlib
import html
import json
import re
from collections import Counter
from collections.abc import Mapping, Sequence
from pathlib import Path

from classroom import tables
from classroom.gradebook.grades import NOTHING, Grade, SheetGrade
from classroom.gradebook.store import Previous
from classroom.intake.select import Listed
from classroom.intake.submissions import settled
from classroom.policy import Policy
from classroom.reports.feedback import section
from classroom.sheets import Item, items_of, lecture_name, plain_words
from classroom.sheets import sheets as all_sheets
from grading.task import Task

PAGE = """<!doctype html>
<html lang="en"><head><meta charset="utf-8"><title>{title}</title>
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta http-equiv="Content-Security-Policy" content="default-src 'none'; style-src 'unsafe-inline'">
<style>
:root {{ color-scheme: light dark; }}
body {{ font: 1rem/1.5 system-ui, sans-serif; max-width: 46rem; margin: 2rem auto; }}
pre {{ white-space: pre-wrap; overflow-wrap: anywhere; }}
table {{ border-collapse: collapse; }} th, td {{ padding: .2rem .8rem .2rem 0; text-align: left }}
td.number {{ text-align: right; }}
.bar {{ display: inline-block; height: .8em; background: currentColor; opacity: .6; }}
.answer {{ border-top: 1px solid; break-inside: avoid; }}
.guide {{ break-after: page; }}
section pre {{ font: inherit; }}
section + section {{ break-before: page; }}
@media print {{ body:has(section) {{ font-size: .8rem; margin: 0; }} }}
@media screen and (min-width: 70rem) {{
body:has(section) {{ max-width: 90rem; padding: 0 1rem; }}
section {{ display: grid; grid-template-columns: 1fr 1fr; gap: 2rem; }}
.guide {{ position: sticky; top: 0; max-height: 100vh; overflow: auto; }}
}}
</style></head><body><main>
<h1>{title}</h1>
{body}
</main></body></html>
"""


GRADES = ("id", "name", "email", "lecture", "status", "points", "possible", "final", "days late")
GRADES = (*GRADES, "extended until", "needs review", "flags", "file")
FILES = ("file", "id", "name", "lecture", "status", "handed in")


def write(
    out: Path,
    rows: Sequence[Listed],
    sheets: Sequence[SheetGrade],
    tasks: Mapping[str, Task],
    policy: Policy,
    one: bool = False,
) -> None:
    """Write every report.

    Args:
        one: whether this is one student's submission, of which Gradescope wants `results.json`.
    """
    names = [
        item.task for lecture in sorted(_lectures(sheets)) for item in items_of(lecture, tasks)
    ]
    tables.write(out / "grades.csv", (*GRADES, *names), (_grades(s, names, policy) for s in sheets))
    tables.write(out / "files.csv", FILES, map(_file, rows))
    folder = out / "feedback"
    folder.mkdir(exist_ok=True)
    for old in folder.glob("*.html"):
        old.unlink()
    by_student: dict[str, list[SheetGrade]] = {}
    for sheet in sheets:
        by_student.setdefault(sheet.student.id, []).append(sheet)
    for student, mine in by_student.items():
        page = student_page(mine, tasks, policy)
        (folder / feedback_name(student)).write_text(page, encoding="utf-8", errors="replace")
    body = _summary(rows, sheets, names, tasks)
    summary = PAGE.format(title="Class summary", body=body)
    (out / "summary.html").write_text(summary, encoding="utf-8", errors="replace")
    _guide(out / "guide.html", sheets, tasks, policy)
    (out / "results.json").unlink(missing_ok=True)
    if one:
        _gradescope(out / "results.json", sheets, tasks, policy)


CHANGED = ("id", "name", "lecture", "before", "now", "what changed")


def write_changed(
    path: Path, sheets: Sequence[SheetGrade], before: Mapping[tuple[str, int], Previous]
) -> int:
    """Whose points are not those of the run before, and in what; how many.

    Args:
        before: by student and lecture, what was published then; who is not in it is new.
    """
    rows = []
    for sheet in sheets:
        was = before.get((sheet.student.id, sheet.lecture or 0))
        if was is None or abs(was.points - sheet.points) < 0.005:
            continue
        now = {grade.task: grade.points for grade in sheet.grades}
        both = [task for task in [*now, *was.tasks] if now.get(task, 0) != was.tasks.get(task, 0)]
        said = [
            f"{task}: {was.tasks.get(task, 0):g} → "
            + (f"{now[task]:g}" if task in now else "not graded")
            for task in dict.fromkeys(both)
        ]
        said += [f"days late: {was.late} → {sheet.late}"] * (was.late != sheet.late)
        other = settled(was.file) != settled(sheet.file)  # and not only the name of the zip
        said += [f"file: {was.file} → {sheet.file}"] * other
        who = [sheet.student.id, sheet.student.name, sheet.lecture or ""]
        rows.append([*who, float(was.points), float(sheet.points), "; ".join(said)])
    path.unlink(missing_ok=True)
    if rows:
        tables.write(path, CHANGED, rows)
    return len(rows)


def student_page(sheets: Sequence[SheetGrade], tasks: Mapping[str, Task], policy: Policy) -> str:
    """What one student reads."""
    student = sheets[0].student
    title = html.escape(f"Feedback: {student.name or student.id}")
    return PAGE.format(title=title, body="\n".join(section(s, tasks, policy) for s in sheets))


def feedback_name(student: str) -> str:
    """A file name that is a file name everywhere, and not the same for two students."""
    plain = re.sub(r"[^A-Za-z0-9]+", "-", student).strip("-")[:40] or "student"
    return f"{plain}-{hashlib.sha256(student.encode()).hexdigest()[:8]}.html"


def _file(row: Listed) -> list[object]:
    who = [row.student.id, row.student.name] if row.student else ["", ""]
    when = row.when.isoformat(timespec="minutes") if row.when and row.handed.when else ""
    return [row.handed.name, *who, row.lecture or "", row.status, when]


def _grades(sheet: SheetGrade, names: Sequence[str], policy: Policy) -> list[object]:
    who = [sheet.student.id, sheet.student.name, sheet.student.email]
    points = {grade.task: float(grade.points) for grade in sheet.grades if sheet.graded}
    given = {g.task: float(g.points) for g in sheet.grades if not sheet.graded and g.correction}
    flags = list(sheet.graded.flags) if sheet.graded else []
    flags += ["late, says Canvas"] * bool(sheet.row and sheet.row.late)
    flags += ["no task is answered"] * bool(sheet.graded and not sheet.row.holds.answered)
    final = "yes" if sheet.final else "no"
    due = policy.of(sheet.lecture).extensions.get(sheet.student.id)
    longer = due.isoformat(" ", "minutes") if due else ""
    counts = [float(sheet.points), float(sheet.possible), final, sheet.late or ""]
    head = [
        *who,
        sheet.lecture or "",
        sheet.status,
        *counts,
        longer,
        sheet.waiting,
        "; ".join(flags),
    ]
    head.append(sheet.file)
    return [*head, *((points | given).get(name, "") for name in names)]


def _bars(counts: Mapping[str, int]) -> str:
    most = max(counts.values(), default=0) or 1
    rows = (
        f'<tr><th scope="row">{name}</th><td class="number">{count}</td>'
        f'<td><span class="bar" style="width:{12 * count / most:.2f}rem"></span></td></tr>'
        for name, count in counts.items()
    )
    return f"<table>{''.join(rows)}</table>"


def _summary(
    rows: Sequence[Listed],
    sheets: Sequence[SheetGrade],
    names: Sequence[str],
    tasks: Mapping[str, Task],
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
        counts = Counter(float(grade.points) for grade in mine if grade.by != "waiting")
        shown = {f"{points:g} points": counts[points] for points in sorted(counts)}
        if waiting := sum(grade.by == "waiting" for grade in mine):
            shown["to be read"] = waiting
        lines += [f"<h3>{name}</h3>", _bars(shown)]
        made = Counter(g.result.mistake for g in mine if g.result.mistake is not None)
        most = sorted(made.items(), key=lambda pair: (-pair[1], pair[0]))[:5]
        items = "".join(
            f"<li>{count} ×: {html.escape(tasks[name].mistakes[which].why)}</li>"
            for which, count in most
        )
        lines.append(f"<p>Most common mistakes:</p><ol>{items}</ol>" if items else "")
    problems = [row for row in rows if row.status != "ok"]
    if problems:
        items = "".join(
            f"<li>{html.escape(row.handed.name)}: {html.escape(row.status)}</li>"
            for row in problems
        )
        lines.append(f"<h2>Files that were not graded</h2><ul>{items}</ul>")
    return "\n".join(lines)


def _guide(
    path: Path, sheets: Sequence[SheetGrade], tasks: Mapping[str, Task], policy: Policy
) -> None:
    """For whoever marks written answers: task by task the guide, and the answers beside it.

    On paper the guide is a page of its own. Answers stand in the order of `written.csv`, under the
    identifier only.
    """
    written: dict[str, list[tuple[SheetGrade, Grade]]] = {}
    for sheet in sheets:
        for grade in sheet.grades:
            if grade.result and grade.result.review:
                written.setdefault(grade.task, []).append((sheet, grade))
    lines = []
    for item in (item for n in sorted(_lectures(sheets)) for item in items_of(n, tasks)):
        if item.task in written:
            task = tasks[item.task]
            most = policy.of(task.lecture).points.get(item.task, task.points)
            lines.append(f'<section><div class="guide">{_what_to_look_for(item, task, most)}</div>')
            answers = "".join(_to_mark(sheet, grade, most) for sheet, grade in written[item.task])
            lines.append(f"<div><h3>Answers</h3>{answers}</div></section>")
    path.unlink(missing_ok=True)
    if lines:
        page = PAGE.format(title="How to mark the written answers", body="\n".join(lines))
        path.write_text(page, encoding="utf-8", errors="replace")


def _lectures(sheets: Sequence[SheetGrade]) -> set[int]:
    return {sheet.lecture for sheet in sheets if sheet.grades}


def _what_to_look_for(item: Item, task: Task, most: float) -> str:
    """The question, a good answer, what is often missing, and which point is for what."""
    head = f"{task.lecture}.{item.number} {item.title} ({item.task}): {most:g} points"
    lines = [f"<h2>{html.escape(head)}</h2>"]
    known = all_sheets().get(task.lecture)
    asked = known.questions.get(item.task, "") if known else ""
    lines.append(f"<pre>{html.escape(asked)}</pre>" if asked else "")
    lines.append(f"<p>This task practises: {html.escape(plain_words(task.outcome))}.</p>")
    lines.append(f"<h3>A good answer</h3><pre>{html.escape(str(task.reference))}</pre>")
    items = "".join(f"<li>{html.escape(mistake.why)}</li>" for mistake in task.mistakes)
    lines.append(f"<h3>What to look for</h3><ul>{items}</ul>" if items else "")
    points = html.escape(known.marking.get(item.task, "") if known else "")
    lines.append(f"<h3>How the points are divided</h3><pre>{points}</pre>" if points else "")
    return "".join(lines)


def _to_mark(sheet: SheetGrade, grade: Grade, most: float) -> str:
    """One answer, with the points that it has, or room for them."""
    given, waits = grade.correction, grade.by == "waiting"
    had = f"{grade.points:g}" if not waits else "____"
    head = f"{sheet.student.id}: {had} of {most:g} points"
    if given and not waits:
        head += f" ({grade.by}{f': {given.comment}' if given.comment else ''})"
    answer = html.escape(grade.result.answer)
    return f'<div class="answer"><h4>{html.escape(head)}</h4><pre>{answer}</pre></div>'


def _gradescope(
    path: Path, sheets: Sequence[SheetGrade], tasks: Mapping[str, Task], policy: Policy
) -> None:
    """The results of a single submission, as Gradescope reads them."""
    good = [sheet for sheet in sheets if sheet.graded]
    if not good:
        said = [sheet.status for sheet in sheets if sheet.status != NOTHING]
        output = said[0] if said else f"{NOTHING} that is a notebook (.ipynb)"
        document: dict = {"score": 0, "output": output, "tests": []}
    else:
        [sheet] = good
        tests = [
            {
                "name": f"{item.number}. {item.title}",
                "number": str(item.number),
                "score": grade.points,
                "max_score": grade.possible,
                "output": f"{grade.result.message}\n{grade.result.part}".strip(),
                "output_format": "text",
                "visibility": policy.visibility,
                "extra_data": {"task": item.task},
            }
            for item in items_of(sheet.lecture, tasks)
            for grade in sheet.grades
            if grade.task == item.task
        ]
        said = "\n".join([*sheet.graded.notes, *sheet.graded.flags])
        document = {"score": sheet.points, "output": said, "output_format": "text", "tests": tests}
    document["visibility"] = policy.visibility
    path.write_text(json.dumps(document, indent=1) + "\n", encoding="utf-8")
