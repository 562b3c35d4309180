"""What comes out of grading: tables, a page for each student, an overview, Gradescope's file.

Everything that a student wrote is escaped, and no cell of a table begins a formula.
"""

from __future__ import annotations

import csv
import hashlib
import html
import json
import re
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path

from grading.classroom.store import Graded, Store
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
</style></head><body><main>
<h1>{title}</h1>
{body}
</main></body></html>
"""


def cell(value: object) -> object:
    """What may stand in a table: a text that a spreadsheet would compute gets a quote before it."""
    if isinstance(value, str):
        value = re.sub(r"[\x00-\x08\x0b-\x1f\x7f]", " ", value)
        if value.lstrip().startswith(("=", "+", "-", "@")) or value.startswith(("\t", "\n")):
            return "'" + value
    return value


def write(out: Path, rows: Sequence, store: Store, tasks: Mapping[str, Task]) -> None:
    """Write every report. `rows` are the files that were listed, with what became of them."""
    by_student: dict[str, list] = {}
    for row in rows:
        by_student.setdefault(row.handed.student, []).append(row)
    lectures = {row.lecture for row in rows if row.status == "ok"}
    names = [t.name for t in sorted(tasks.values(), key=_place) if t.lecture in lectures]
    totals: dict[int, Counter] = {}
    per_task: dict[str, Counter] = {name: Counter() for name in names}
    mistakes: Counter = Counter()
    (out / "feedback").mkdir(exist_ok=True)
    for old in (out / "feedback").glob("*.html"):
        old.unlink()
    with _table(out / "grades.csv") as grades, _table(out / "written.csv") as written:
        first = ["student", "lecture", "status", "points", "possible", "needs review", "flags"]
        grades.row([*first, "file", *names])
        written.row(["student", "task", "points", "possible", "answer"])
        for student in sorted(by_student):
            sections = []
            for row in by_student[student]:
                graded = store.get(row.key) if row.status == "ok" else None
                grades.row(_grades(row, graded, names))
                sections.append(_section(row, graded))
                for result in graded.results if graded else ():
                    per_task[result.task][result.points] += 1
                    if result.mistake is not None:
                        mistakes[result.task, result.mistake] += 1
                    if result.review:
                        line = [student, result.task, "", result.possible, result.answer]
                        written.row(line)
                if graded:
                    share = sum(r.points for r in graded.results), _possible(graded)
                    tenth = int(10 * share[0] / share[1]) if share[1] else 0
                    totals.setdefault(row.lecture, Counter())[tenth] += 1
            page = PAGE.format(title=html.escape(f"Feedback: {student}"), body="\n".join(sections))
            (out / "feedback" / feedback_name(student)).write_text(page, encoding="utf-8")
    body = _summary(rows, totals, per_task, mistakes, tasks)
    summary = PAGE.format(title="Class summary", body=body)
    (out / "summary.html").write_text(summary, encoding="utf-8")
    if len(rows) == 1:
        _gradescope(out / "results.json", rows[0], store)


class _table:
    """A CSV file whose cells are all made safe."""

    def __init__(self, path: Path):
        self.file = open(path, "w", encoding="utf-8", newline="")  # noqa: SIM115
        self.writer = csv.writer(self.file)

    def __enter__(self) -> _table:
        return self

    def __exit__(self, *_: object) -> None:
        self.file.close()

    def row(self, values: Iterable[object]) -> None:
        """Write one row."""
        self.writer.writerow([cell(value) for value in values])


def _place(task: Task) -> tuple[int, str]:
    return task.lecture, task.name


def feedback_name(student: str) -> str:
    """A file name that is a file name everywhere, and not the same for two students."""
    plain = re.sub(r"[^A-Za-z0-9]+", "-", student).strip("-")[:40] or "student"
    return f"{plain}-{hashlib.sha256(student.encode()).hexdigest()[:8]}.html"


def _possible(graded: Graded) -> int:
    return sum(result.possible for result in graded.results)


def _grades(row: object, graded: Graded | None, names: Sequence[str]) -> list:
    head = [row.handed.student, row.lecture, row.status]
    if graded is None:
        return [*head, 0, "", 0, "", row.handed.name, *[""] * len(names)]
    points = {result.task: result.points for result in graded.results}
    waiting = sum(result.review for result in graded.results)
    counts = [f"{sum(points.values()):g}", _possible(graded), waiting, "; ".join(graded.flags)]
    shown = [f"{points[name]:g}" if name in points else "" for name in names]
    return [*head, *counts, row.handed.name, *shown]


def _section(row: object, graded: Graded | None) -> str:
    """What a student reads about one file."""
    lines = [f"<h2>{html.escape(row.handed.name)}</h2>"]
    if graded is None:
        return "\n".join([*lines, f"<p>{html.escape(row.status)}</p>"])
    points = sum(result.points for result in graded.results)
    lines.append(f"<p>Lecture {row.lecture}: {points:g} of {_possible(graded)} points.</p>")
    for result in graded.results:
        sign = "✓" if result.points else "…" if result.review else "✗"
        head = f"{sign} {result.task}: {result.points:g} of {result.possible} points"
        lines += [f"<h3>{head}</h3>", f"<pre>{html.escape(result.message)}</pre>"]
    if graded.notes:
        items = "".join(f"<li><pre>{html.escape(note)}</pre></li>" for note in graded.notes)
        lines.append(f"<h3>Cells that did not run through</h3><ul>{items}</ul>")
        missing = sorted(set(re.findall(r"No module named '([\w.]+)'", " ".join(graded.notes))))
        if missing:
            said = f"The grader does not have: {', '.join(missing)}. Solve the tasks without it."
            lines.append(f"<p>{html.escape(said)}</p>")
    if graded.flags:
        lines.append(f"<p>The run was marked: {html.escape('; '.join(graded.flags))}.</p>")
    return "\n".join(lines)


def _bars(counts: Mapping[str, int]) -> str:
    most = max(counts.values(), default=0) or 1
    rows = (
        f'<tr><th scope="row">{html.escape(name)}</th><td class="number">{count}</td>'
        f'<td><span class="bar" style="width:{12 * count / most:.2f}rem"></span></td></tr>'
        for name, count in counts.items()
    )
    return f"<table>{''.join(rows)}</table>"


def _summary(
    rows: Sequence,
    totals: Mapping[int, Counter],
    per_task: Mapping[str, Counter],
    mistakes: Counter,
    tasks: Mapping[str, Task],
) -> str:
    good = sum(row.status == "ok" for row in rows)
    lines = [f"<p>{len(rows)} files, {good} of them graded.</p>"]
    for lecture in sorted(totals):
        tenths = {f"{10 * i} %" + " and more" * (i < 10): totals[lecture][i] for i in range(11)}
        lines += [f"<h2>Lecture {lecture}: share of the points</h2>", _bars(tenths)]
    lines.append("<h2>Tasks</h2>")
    for name, counts in per_task.items():
        shown = {f"{points:g} points": counts[points] for points in sorted(counts)}
        lines += [f"<h3>{name}</h3>", _bars(shown)]
        made = [(count, which) for (task, which), count in mistakes.items() if task == name]
        made.sort(key=lambda pair: (-pair[0], pair[1]))
        items = "".join(
            f"<li>{count} ×: {html.escape(tasks[name].mistakes[which].why)}</li>"
            for count, which in made[:5]
        )
        lines.append(f"<p>Mistakes most often made:</p><ol>{items}</ol>" if items else "")
    problems = [row for row in rows if row.status != "ok"]
    if problems:
        items = "".join(
            f"<li>{html.escape(row.handed.name)}: {html.escape(row.status)}</li>"
            for row in problems
        )
        lines.append(f"<h2>Files that were not graded</h2><ul>{items}</ul>")
    return "\n".join(lines)


def _gradescope(path: Path, row: object, store: Store) -> None:
    """The results of a single submission, as Gradescope reads them."""
    if row.status != "ok":
        document: dict = {"score": 0, "output": row.status, "tests": []}
    else:
        graded = store.get(row.key)
        tests = [
            {
                "name": result.task,
                "score": result.points,
                "max_score": result.possible,
                "output": result.message,
                "output_format": "text",
            }
            for result in graded.results
        ]
        said = "\n".join([*graded.notes, *graded.flags])
        document = {"output": said, "output_format": "text", "tests": tests}
    path.write_text(json.dumps(document, indent=1) + "\n", encoding="utf-8")
