"""Totals of a term: everybody's points, and who needs help with what."""

from __future__ import annotations

import html
from collections import Counter
from pathlib import Path

from classroom import tables
from classroom.gradebook.store import Store
from classroom.reports import page
from classroom.sheets import items_of
from classroom.states import By, State
from grading.task import Tasks

STRUGGLES = 0.5
"""Students with less than this share of the points are listed."""
STATES = {"waiting": By.WAITING, "counts": State.COUNTS}
"""The states that queries name."""


def write(folder: Path, store: Store, tasks: Tasks) -> int:
    """Write `totals.csv` and `course.html` from all sheets that were graded into this folder.

    Anonymous participants are not in the totals; they are listed in `blind.csv` until names are
    known.

    Returns:
        Number of sheets of anonymous participants.
    """
    blind = store.blind()
    columns = ("lecture", "participant", "name", "points", "possible", "final")
    shown = [[*row[:5], "yes" if row[5] else "no"] for row in blind]
    (folder / "blind.csv").unlink(missing_ok=True)
    if blind:
        tables.write(folder / "blind.csv", columns, shown)
    nameless = {row[0] for row in blind}
    query = "SELECT id, name, email FROM student WHERE NOT blind ORDER BY id"
    students = store.base.execute(query).fetchall()
    query = "SELECT student, lecture, points, possible, state, final FROM sheet"
    sheets = {(row[0], row[1]): row[2:] for row in store.base.execute(query) if row[1]}
    query = "SELECT student, sum(possible) FROM grade WHERE by = :waiting GROUP BY student"
    unread = dict(store.base.execute(query, STATES))
    lectures = sorted({lecture for _, lecture in sheets})
    rows, behind = [], []
    for id, name, email in students:
        mine = {n: sheets[id, n] for n in lectures if (id, n) in sheets}
        if not mine:
            continue
        points = sum(row[0] for row in mine.values())
        possible = sum(row[1] for row in mine.values())
        hidden = nameless - mine.keys()  # one of these participants may be this student
        final = "yes" if all(row[3] for row in mine.values()) and not hidden else "no"
        shown = [mine[n][0] if n in mine else "" for n in lectures]
        rows.append([id, name, email, *shown, points, possible, final])
        missing = [n for n in lectures if n not in mine or mine[n][2] == State.MISSING]
        missing = [n for n in missing if n not in hidden]
        broken = [n for n in mine if mine[n][2] not in (State.COUNTS, State.MISSING)]
        read = possible - unread.get(id, 0)
        if missing or broken or (read and points < STRUGGLES * read):
            share = points / read if read else 0.0
            behind.append((share, id, name, missing, broken))
    named = [f"sheet {n}" for n in lectures]
    columns = ["id", "name", "email", *named, "points", "possible", "final"]
    tables.write(folder / "totals.csv", columns, rows)
    body = _page(store, tasks, lectures, behind)
    if blind:
        said = ", ".join(str(n) for n in sorted(nameless))
        body = f"<p>Names are not known yet for {len(blind)} sheets of: {said}.</p>\n{body}"
    page.write(folder / "course.html", "The course so far", body)
    return len(blind)


def _page(store: Store, tasks: Tasks, lectures: list[int], behind: list) -> str:
    titles = {i.task: f"{n}.{i.number} {i.title}" for n in lectures for i in items_of(n, tasks)}
    lost: dict[str, list[str]] = {}
    all_lost: Counter = Counter()
    query = (  # of sheets that were handed in, and with answers
        "SELECT grade.student, task FROM grade JOIN sheet USING (student, lecture) "
        "WHERE grade.points < 0.5 * grade.possible AND sheet.points > 0 AND by != :waiting "
        "ORDER BY lecture"
    )
    for id, task in store.base.execute(query, STATES):
        lost.setdefault(id, []).append(titles.get(task, task))
        all_lost[titles.get(task, task)] += 1
    query = (
        "SELECT student, lecture, EXISTS (SELECT * FROM grade WHERE grade.student = sheet.student "
        "AND grade.lecture = sheet.lecture AND by = :waiting) FROM sheet "
        "WHERE state = :counts AND points = 0"
    )
    for id, lecture, waits in store.base.execute(query, STATES):
        said = "all that was read" if waits else "all of it"
        lost.setdefault(id, []).insert(0, f"sheet {lecture}: {said}, 0 points")
    lines = ["<h2>Who needs help, and with what</h2>"]
    if not behind:
        lines.append("<p>Everybody has half of the points or more, and submitted every sheet.</p>")
    rule = f"less than {STRUGGLES:.0%} of the points, or a sheet that is missing or not graded"
    weak = "the tasks that earned them less than half of the points"
    lines.append(f"<p>Students who have {rule}, with {weak}.</p>")
    query = "SELECT task, count(*) FROM grade WHERE by = :waiting GROUP BY task ORDER BY lecture"
    if waiting := dict(store.base.execute(query, STATES).fetchall()):
        said = "; ".join(f"{titles.get(task, task)}: {n}" for task, n in waiting.items())
        said = f"Texts that wait for a person are not counted here, {sum(waiting.values())}: {said}"
        lines.append(f"<p>{html.escape(said)}</p>")
    for share, id, name, missing, broken in sorted(behind, key=lambda row: (row[0], row[1])):
        said = f"{name or id} ({id}): {share:.0%} of the points"
        said += f"; not submitted: {', '.join(map(str, missing))}" if missing else ""
        said += f"; submitted, not graded: {', '.join(map(str, broken))}" if broken else ""
        items = "".join(f"<li>{html.escape(title)}</li>" for title in lost.get(id, [])[:12])
        lines.append(f"<h3>{html.escape(said)}</h3><ul>{items}</ul>")
    items = "".join(
        f"<li>{n} ×: {html.escape(title)}</li>" for title, n in all_lost.most_common(15)
    )
    lines.append(f"<h2>Tasks that most did not get</h2><ol>{items}</ol>")
    return "\n".join(lines)
