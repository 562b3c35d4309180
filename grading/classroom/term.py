"""Across the weeks of a term: everybody's total, and who struggles with what."""

from __future__ import annotations

import html
from collections import Counter
from collections.abc import Mapping
from pathlib import Path

from grading.classroom import tables
from grading.classroom.marking import NOTHING
from grading.classroom.sheets import items_of
from grading.classroom.store import Store
from grading.task import Task

STRUGGLES = 0.5
"""Who has less than this share of the points is listed."""


def write(folder: Path, store: Store, tasks: Mapping[str, Task], page: str) -> None:
    """`totals.csv` and `course.html`, from all sheets that were graded into this folder."""
    students = store.base.execute("SELECT id, name, email FROM student ORDER BY id").fetchall()
    query = "SELECT student, lecture, points, possible, status, final FROM sheet"
    sheets = {(row[0], row[1]): row[2:] for row in store.base.execute(query) if row[1]}
    lectures = sorted({lecture for _, lecture in sheets})
    rows, behind = [], []
    for id, name, email in students:
        mine = {n: sheets[id, n] for n in lectures if (id, n) in sheets}
        if not mine:
            continue
        points = sum(row[0] for row in mine.values())
        possible = sum(row[1] for row in mine.values())
        final = "yes" if all(row[3] for row in mine.values()) else "no"
        shown = [mine[n][0] if n in mine else "" for n in lectures]
        rows.append([id, name, email, *shown, points, possible, final])
        missing = [n for n in lectures if n not in mine or mine[n][2] == NOTHING]
        if missing or (possible and points < STRUGGLES * possible):
            behind.append((points / possible if possible else 0.0, id, name, missing))
    named = [f"sheet {n}" for n in lectures]
    columns = ["id", "name", "email", *named, "points", "possible", "final"]
    tables.write(folder / "totals.csv", columns, rows)
    body = _page(store, tasks, lectures, behind)
    text = page.format(title="The course so far", body=body)
    (folder / "course.html").write_text(text, encoding="utf-8")


def _page(store: Store, tasks: Mapping[str, Task], lectures: list[int], behind: list) -> str:
    titles = {i.task: f"{n}.{i.number} {i.title}" for n in lectures for i in items_of(n, tasks)}
    lost: dict[str, list[str]] = {}
    all_lost: Counter = Counter()
    query = "SELECT student, task FROM grade WHERE points < 0.5 * possible ORDER BY lecture"
    for id, task in store.base.execute(query):
        lost.setdefault(id, []).append(titles.get(task, task))
        all_lost[titles.get(task, task)] += 1
    lines = ["<h2>Who needs help, and with what</h2>"]
    if not behind:
        lines.append("<p>Everybody has half of the points or more, and handed in every sheet.</p>")
    for share, id, name, missing in sorted(behind, key=lambda row: (row[0], row[1])):
        said = f"{name or id} ({id}): {share:.0%} of the points"
        said += f"; not handed in: {', '.join(map(str, missing))}" if missing else ""
        items = "".join(f"<li>{html.escape(title)}</li>" for title in lost.get(id, [])[:12])
        lines.append(f"<h3>{html.escape(said)}</h3><ul>{items}</ul>")
    items = "".join(
        f"<li>{n} ×: {html.escape(title)}</li>" for title, n in all_lost.most_common(15)
    )
    lines.append(f"<h2>Tasks that most did not get</h2><ol>{items}</ol>")
    return "\n".join(lines)
