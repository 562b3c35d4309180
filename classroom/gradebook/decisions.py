"""What persons decided: points in written.csv and other tables, items they saw in look.csv."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from classroom import tables
from classroom.gradebook.store import Correction, Corrections, Store
from classroom.intake.roster import Class
from classroom.intake.select import Listed, ReviewItem
from classroom.policy import Policy
from classroom.policy_file import meant
from classroom.run import Run
from grading.task import Tasks
from helpers.validation import require


@dataclass(frozen=True)
class Decisions:
    """New decisions of persons; they are checked, and not yet stored."""

    corrections: Sequence[Correction]
    disagreements: Mapping[tuple[str, str], str]
    """By student and task, in words, answers that two persons marked differently."""


def read_decisions(run: Run, members: Class) -> Decisions:
    """Read what persons wrote into the tables of the previous run, or give on the command line.

    Raises:
        ValueError: if something fits no student or task, or points are impossible.
    """
    earlier, given, commands = _earlier_points(run), _given_points(run, members), []
    for student, task, points, comment in run.options.correct:
        row = {"id": members.id_of(student), "task": task, "points": points, "comment": comment}
        known = set(members.students)
        made = correction("--correct", row, known, run.tasks, run.policy, run.options.author)
        commands.append(made)
    for one in (*given, *commands):
        lecture, sheet = run.tasks.lectures[one.task], run.options.lecture
        got, wanted = f"a task of sheet {lecture}", f"one of sheet {sheet}"
        require(sheet in (None, lecture), f"points for {one.task!r}", got, wanted)
    _read_seen(run.out / "look.csv", run.store)
    now = current_student(run, members)
    made = [replace(c, student=now(c.student, c.task)) for c in (*earlier, *given, *commands)]
    stored = run.store.corrections(now)
    in_tables = made[: len(made) - len(commands)]  # a command is meant to settle a disagreement
    return Decisions([one for one in made if is_new(one, stored)], disagreements(in_tables))


def current_student(run: Run, members: Class) -> Callable[[str, str], str]:
    """A function from a student of an earlier run and a task to that student's id now."""

    def now(id: str, task: str) -> str:
        return members.now(run.tasks.lectures[task], id) if task in run.tasks else id

    return now


def _earlier_points(run: Run) -> list[Correction]:
    """Points in the written.csv of the previous run, also for tasks that were excluded since."""
    path, store, options = run.out / "written.csv", run.store, run.options
    if not path.exists():
        return []
    known = [*store.students(), *(row[2] for row in store.identities())]
    # The author of other points on the command line did not write these.
    author = "" if options.points or options.correct else options.author
    tasks = run.course | run.tasks
    return read_points(path, known, tasks, run.policy, author)


def _given_points(run: Run, members: Class) -> list[Correction]:
    """Points in the tables that the command line names."""
    made = []
    for path in run.options.points:
        author, ids = run.options.author, list(members.students)
        table = read_points(path, ids, run.tasks, run.policy, author, members.id_of)
        require(bool(table), path.name, "no row with points", "at least one")
        made += table
    return made


def _read_seen(path: Path, store: Store) -> None:
    """Store what persons wrote into the column `seen` of look.csv."""
    if path.exists():
        _, rows = tables.read(path, ("item", "seen"))
        seen = [(row["item"], row["seen"]) for row in rows if row["seen"]]
        known = store.looked()
        store.look((item, said) for item, said in seen if known.get(item) != said)


def read_points(
    path: Path,
    ids: Iterable[str],
    tasks: Tasks,
    policy: Policy,
    author: str,
    id_of: Callable[[str], str] = str,
) -> list[Correction]:
    """Points that persons gave, from a table with the columns id, task, points.

    The columns comment, author and answer id are read too. A row without points is skipped; points
    "-" withdraw an earlier correction. `id_of` finds the student whom the column `id` names.

    Raises:
        ValueError: on rows that fit no student or task, have impossible points, or contradict each
            other without another author; it names all.
    """
    known, made, faults = set(ids), [], []
    first: dict[tuple[str, ...], tuple[int, float | None]] = {}
    _, rows = tables.read(path, ("id", "task", "points"))
    for number, row in enumerate(rows, 2):
        if row["points"]:
            where = f"{path.name}, line {number}"
            row = row | {"id": id_of(row["id"])}
            try:
                one = correction(where, row, known, tasks, policy, author)
            except ValueError as error:
                faults.append(str(error))
                continue
            place = one.student, one.task, one.author, one.answer
            line, points = first.setdefault(place, (number, one.points))
            if points != one.points:
                faults.append(
                    f"{where}: line {line} has other points for {one.student}, {one.task}"
                )
            made.append(one)
    if faults:
        raise ValueError("\n".join(faults))
    return made


def correction(
    where: str,
    row: Mapping[str, str],
    known: set[str],
    tasks: Tasks,
    policy: Policy,
    author: str,
) -> Correction:
    """The correction in one row of such a table.

    Raises:
        ValueError: as `read_points`.
    """
    id, name, said = row["id"], row["task"], row["points"]
    if id not in known:  # spreadsheets drop zeros in front
        same = [one for one in known if one.lstrip("0") == id.lstrip("0")]
        id = same[0] if len(same) == 1 else id
    if id not in known:
        hint = "the column id of grades.csv has them"
        raise ValueError(f"{where}: no student has the identifier {id!r}; {hint}")
    if name not in tasks:
        hint = "if it is one of your own, name the policy that has it (POLICY=class.toml)"
        raise ValueError(f"{where}: no task {name!r} is graded{meant(name, tasks)}; {hint}")
    task = tasks[name]
    most, points = policy.of(task.lecture).points.get(name, task.points), None
    if said != "-":
        try:
            points = tables.number(said)
        except ValueError:
            points = -1.0
        if not 0 <= points <= most:
            raise ValueError(f"{where}: points are {said!r}; a number from 0 to {most:g} is wanted")
    return Correction(
        student=id,
        task=name,
        points=points,
        comment=row.get("comment", ""),
        author=row.get("author") or author,
        answer=row.get("answer id", ""),
    )


def disagreements(given: Sequence[Correction]) -> dict[tuple[str, str], str]:
    """By student and task, in words, answers for which two persons give different points."""
    first: dict[tuple[str, str], Correction] = {}
    words: dict[tuple[str, str], str] = {}
    for one in given:
        place = one.student, one.task
        other = first.setdefault(place, one)
        both = None not in (one.points, other.points)
        if both and one.points != other.points and one.author != other.author:
            says = [f"{c.author or 'one person'} {c.points:g}" for c in (other, one)]
            said = f"two people gave different points ({', '.join(says)})"
            words[place] = f"{said}, and the second mark counts"
    return words


def is_new(given: Correction, stored: Corrections) -> bool:
    """Whether a correction says anything that is not stored yet."""
    old = stored.get((given.student, given.task), given.answer)
    if old is None:
        return given.points is not None
    mine, known = (given.points, given.comment), (old.points, old.comment)
    if given.author != old.author and given.points == old.points and not given.comment:
        mine = known  # somebody else who agrees takes no comment away
    elif given.author != old.author:
        return True
    return mine != known or given.answer not in ("", old.answer)


def store_decisions(run: Run, decisions: Decisions, graded: Sequence[Listed]) -> None:
    """Store new corrections, each with the id of the answer it is about, and disagreements.

    A disagreement stays until somebody marks the answer again.
    """
    store, answers = run.store, {}
    for student, key in {(row.student.id, row.lecture): row.key for row in graded}.items():
        answers |= {(student[0], r.task): r.answer_id for r in store.get(key).results}
    store.correct(
        one if one.answer else replace(one, answer=answers.get((one.student, one.task), ""))
        for one in decisions.corrections
    )
    words = {(one.student, one.task): "" for one in decisions.corrections}
    for (id, task), said in (words | dict(decisions.disagreements)).items():
        lecture = run.tasks.lectures.get(task)
        place = f"{id} {task}"
        if lecture and (said or place in store.decisions(lecture, "marked twice")):
            store.decide(lecture, place, "marked twice", said)


def disagreement_items(store: Store, members: Class, lectures: Iterable[int]) -> list[ReviewItem]:
    """An item for review for each answer of these sheets that two persons marked differently."""
    items = []
    for lecture in lectures:
        for place, said in store.decisions(lecture, "marked twice").items():
            id, _, task = place.rpartition(" ")
            student = members.students.get(members.now(lecture, id))
            if said and student:
                items.append(ReviewItem(f"{task}: {said}", lecture, student))
    return items
