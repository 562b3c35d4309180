"""Publication: the grades go into the database, and all tables, pages and exports are written."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

from classroom.gradebook.grades import NOTHING, SheetGrade
from classroom.gradebook.mark import Marked
from classroom.gradebook.store import Previous
from classroom.intake.intake import Intake
from classroom.intake.roster import Class, words_of
from classroom.intake.select import Listed
from classroom.lms import exports, gradescope
from classroom.options import Summary
from classroom.policy import Policy
from classroom.reports import feedback, guide, results, similarity, summary, totals
from classroom.run import Run
from classroom.sheets import items_of
from grading.task import Tasks


def publish(run: Run, handed: Intake, marked: Marked, failures: int) -> Summary:
    """Store and write the grades of a class; returns what was done and what is left to do."""
    options, out, store, sheets = run.options, run.out, run.store, marked.sheets
    final = not marked.open_items and not marked.waiting and not failures
    filled = None
    if final and options.table:  # refused, if at all, before anything is published
        filled = exports.fill(sheets, options.table, options.column, options.scale)
    pairs = [(sheet.student.id, sheet.lecture) for sheet in sheets]
    renamed = store.rename(handed.members.former)
    store.counts(pairs, {row.key: row.student.id for row in handed.accepted})
    before = store.published()
    changed = results.write_changed(out / "changed.csv", sheets, before)
    maxima = _changed_maxima(sheets, before)
    store.publish(marked.students, sheets)
    store.remember(_words(handed.members, sheets))
    single = bool(options.student) and not failures
    write_reports(out, handed.rows, sheets, run.tasks, run.policy, single=single)
    blind = totals.write(options.term, store, run.tasks) if options.term else 0
    own = sorted(n for n in run.own_tasks if run.tasks.lectures[n] in marked.lectures)
    return Summary(
        failures=failures,
        open_items=marked.open_items,
        waiting=marked.waiting,
        filled=exports.write(out, sheets, filled, final),
        renamed=renamed,
        blind=blind,
        changed=changed,
        lost=_lost(sheets, before),
        counts=Counter(map(_outcome, sheets)),
        system=any(row.handed.owner.system for row in handed.rows),
        own_cases=_own_cases(run, marked.lectures),
        late=sum(row.late for row in handed.accepted),
        maxima=maxima,
        own_tasks=own,
        replaced=sorted({n for _, n in before if n} - {sheet.lecture for sheet in sheets})
        if options.lecture and not options.term
        else (),
    )


def write_reports(
    out: Path,
    rows: Sequence[Listed],
    sheets: Sequence[SheetGrade],
    tasks: Tasks,
    policy: Policy,
    single: bool = False,
) -> None:
    """Write every table and page.

    Args:
        single: whether this is one student's submission, for which Gradescope reads results.json.
    """
    lectures = sorted({sheet.lecture for sheet in sheets if sheet.grades})
    names = [item.task for lecture in lectures for item in items_of(lecture, tasks)]
    results.write_grades(out / "grades.csv", sheets, names, policy)
    results.write_files(out / "files.csv", rows)
    feedback.write(out / "feedback", sheets, tasks, policy)
    summary.write(out / "summary.html", rows, sheets, names, tasks)
    guide.write(out / "guide.html", sheets, tasks, policy)
    similarity.write(out, sheets)
    (out / "results.json").unlink(missing_ok=True)
    if single:
        gradescope.write(out / "results.json", sheets, tasks, policy)


def _changed_maxima(
    sheets: Sequence[SheetGrade], before: Mapping[tuple[str, int], Previous]
) -> list[str]:
    """Sheets with another maximum than in the previous run; scaled points change with it."""
    found = {}
    for sheet in sheets:
        was = before.get((sheet.student.id, sheet.lecture or 0))
        if was and was.possible and abs(was.possible - sheet.possible) >= 0.005:
            found[sheet.lecture] = f"{sheet.possible:g}, and was {was.possible:g}"
    return [f"sheet {n} is {found[n]}" for n in sorted(n for n in found if n)]


def _lost(sheets: Sequence[SheetGrade], before: Mapping[tuple[str, int], Previous]) -> int:
    """Number of students who had a file in the previous run but have no row in this one."""
    lectures = {sheet.lecture for sheet in sheets}
    had = {id for (id, lecture), was in before.items() if lecture in lectures and was.file}
    return len(had - {sheet.student.id for sheet in sheets})


def _outcome(sheet: SheetGrade) -> str:
    """Whether a sheet was graded, in words."""
    if sheet.graded:
        return "graded" if sheet.row.holds.answered else "left the sheet unanswered"
    return NOTHING if sheet.row is None else "could not be graded"


def _own_cases(run: Run, lectures: Sequence[int]) -> list[str]:
    """Tasks graded on the lecturer's own cases, and the kinds of those cases."""
    private, said = run.policy.private, []
    for path in sorted(private.glob("cases/*.py")) if private else []:
        task = run.tasks.get(path.stem)
        if task and task.lecture in lectures:
            kinds = Counter(case.kind for case in task.cases(0))
            counts = ", ".join(f"{n} {kind}" for kind, n in kinds.items())
            said.append(f"{task.name} ({counts})")
    return said


def _words(members: Class, sheets: Sequence[SheetGrade]) -> Iterator[tuple[int, str, str]]:
    """Words by which students are recognized later: the system's numbers, and the e-mail address.

    Each with the lecture that it belongs to, or 0 for all, and the student's id.
    """
    seen: dict[str, set[str]] = {}
    for word, id in members.seen.items():
        seen.setdefault(id, set()).add(word)
    for sheet in sheets:
        id = sheet.student.id
        for word in {*words_of(sheet.student), *seen.get(id, ())}:
            everywhere = word.startswith("email ")
            if everywhere or sheet.lecture:
                yield 0 if everywhere else sheet.lecture, word, id
