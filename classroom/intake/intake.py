"""Intake: the files that were handed in, their students, and the file of each that counts."""

from __future__ import annotations

import hashlib
import platform
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from importlib import metadata
from pathlib import Path

from classroom.gradebook.store import now
from classroom.intake.files import Handed
from classroom.intake.handed_times import set_times
from classroom.intake.owners import settled
from classroom.intake.roster import Class, Student, read_pairs
from classroom.intake.select import Listed, ReviewItem, select
from classroom.intake.submissions import find
from classroom.policy import SheetRules
from classroom.policy_file import meant
from classroom.run import Run
from grading.task import Tasks
from helpers.validation import require

ROOT = Path(__file__).resolve().parents[2]


@dataclass
class Intake:
    """What was handed in, and by whom."""

    rows: list[Listed]
    items: list[ReviewItem]
    members: Class

    @property
    def accepted(self) -> list[Listed]:
        """The files that count, one of each student for each sheet."""
        return [row for row in self.rows if row.counts]


def intake(run: Run) -> Intake:
    """Find every file, its student, whether it counts, and when it was handed in.

    Raises:
        ValueError: if an option or a table names a file or a student that is not there.
    """
    found = find(run.source, run.policy.zone)
    _require_files(run, found)
    members = _members(run, found)
    chosen = _decided(run, "counts", found)
    versions = {n: f"{version(run.tasks, n, run.policy.private)} {run.seed}" for n in run.sheets}
    lecture = run.options.lecture
    rows, items = select(found, run.tasks, lecture, versions, members, chosen, run.own_tasks)
    members.recognise(*_earlier(run))  # without a roster the files say who there is
    for number in run.sheets:
        for id in _pending_extensions(run.policy.of(number), rows, members):
            said = f"the extension of {id} applies once names are known; return grades after that"
            items.append(ReviewItem(said, number))
    items += _lost_choices(run, rows, members)
    set_times(rows, members, run.policy, run.store, chosen)
    return Intake(rows, items, members)


def version(tasks: Tasks, lecture: int, private: Path | None = None) -> str:
    """A digest that changes whenever grades might: with grader, tasks, helpers and libraries."""
    libraries = [metadata.version(name) for name in ("torch", "numpy")]  # none is imported for this
    digest = hashlib.sha256(f"{platform.python_version()} {libraries}".encode())
    others = ROOT / "grading" / "tasks"
    files = [path for path in (ROOT / "grading").rglob("*.py") if others not in path.parents]
    files += [*others.glob("*.py"), *(others / f"lecture_{lecture:02}").glob("*.py")]
    files += [path for path in (ROOT / "classroom").rglob("*.py") if "benchmark" not in path.parts]
    files += (ROOT / "helpers").rglob("*.py")
    files = sorted(files) + (sorted(private.rglob("*.py")) if private else [])
    for path in files:
        digest.update(path.name.encode() + path.read_bytes())
    points = sorted((name, tasks[name].points) for name in tasks.of_lecture(lecture))
    digest.update(repr((lecture, points)).encode())
    return digest.hexdigest()


def _require_files(run: Run, found: Sequence[Handed]) -> None:
    """Refuse --assign and --count of files that are not there."""
    names = {handed.name for handed in found}
    for file in [*(file for file, _ in run.options.assign), *run.options.count]:
        require(file in names, "--assign or --count", repr(file), "a file as files.csv names it")


def _members(run: Run, found: Sequence[Handed]) -> Class:
    """The class, with what the command line and earlier runs say about its students and files."""
    options, store = run.options, run.store
    anonymous = any(handed.owner.id.startswith("anon_") for handed in found)  # Canvas's word
    named = options.participants or store.decisions(options.lecture, "participant")
    rosters = () if anonymous and not named else run.policy.rosters
    members = Class.of((*rosters, *options.rosters), {})
    _identify_participants(run, members)
    members.recognise(*_earlier(run))
    for file, id in options.assign:
        store.decide(options.lecture, file, "student", members.id_of(id))
    for file in options.count:
        store.decide(options.lecture, file, "counts", now())
    owners = _decided(run, "student", found)
    members.assigned = {file: members.now(options.lecture, id) for file, id in owners.items()}
    if options.student:
        members.assigned = dict.fromkeys([handed.name for handed in found], options.student)
        members.students.setdefault(options.student, Student(options.student))
    if members.closed:
        _require_extended(run, members)
    return members


def _require_extended(run: Run, members: Class) -> None:
    """Refuse an extension for somebody who is not on the roster.

    Other sheets are not checked: a student may have left, and Moodle's numbers differ there.
    """
    if any(student.blind for student in members.students.values()):
        return
    for number in run.sheets:
        for id in run.policy.of(number).extensions:
            known = members.id_of(id) in members.students
            wanted = f"an identifier on the roster{meant(id, members.students)}"
            require(known, f"[sheets.{number}] extensions", repr(id), wanted)


def _earlier(run: Run) -> tuple[list[tuple[int, str, str]], set[str]]:
    """Words by which earlier runs knew students on this sheet or on all, and who had a name then.

    The numbers of another sheet belong to other students here.
    """
    lecture = run.options.lecture
    rows = [row for row in run.store.identities() if lecture is None or row[0] in (0, lecture)]
    return rows, run.store.named()


def _pending_extensions(rules: SheetRules, rows: Sequence[Listed], members: Class) -> Iterator[str]:
    """Extensions that fit no file yet, because the files have numbers in place of names."""
    owners = {row.student.id: row.student for row in rows if row.student}
    if any(owner.blind for owner in owners.values()):
        for id in rules.extensions:
            own = members.students.get(members.id_of(id))
            if own is None or not (own.blind or own.id in owners):
                yield id


def _decided(run: Run, what: str, found: Iterable[Handed]) -> dict[str, str]:
    """Decisions of persons about the files that were found, also from before names were known.

    A decision about a file that is there under its own name concerns that file alone. The last
    decision stands last.
    """
    names, decided = [handed.name for handed in found], {}
    for file, value in run.store.decisions(run.options.lecture, what).items():
        same = [name for name in names if settled(name) == settled(file)]
        for name in [file] if file in names else same:
            decided.pop(name, None)
            decided[name] = value
    return decided


def _lost_choices(run: Run, rows: Sequence[Listed], members: Class) -> Iterator[ReviewItem]:
    """Items about students whose chosen file is gone, so that another file or none counts now.

    The same file in another download keeps its key.
    """
    last: dict[tuple[str, int], tuple[str, str, set[str]]] = {}
    for file, when in run.store.decisions(run.options.lecture, "counts").items():
        if was := run.store.submitted(file):
            student, lecture, keys = was
            last[members.now(lecture, student), lecture] = file, when, keys
    names = {row.handed.name for row in rows}
    for (id, lecture), (file, when, keys) in last.items():
        mine = [r for r in rows if r.counts and (r.student.id, r.lecture) == (id, lecture)]
        if id in members.students and file not in names and not keys & {row.key for row in mine}:
            counts = mine[0].handed.name if mine else ""
            date = f" on {when[:10]}" * (when != "yes")  # as it was stored before
            said = f"you chose {file}{date}, which is no longer among the submissions; "
            said += f"{counts or 'no file of this student'} counts now"
            yield ReviewItem(said, lecture, members.students[id], counts, file)


def _identify_participants(run: Run, members: Class) -> None:
    """Read the tables that say which participant is which student, and store what they say.

    Raises:
        ValueError: if a table fits nobody, or not the roster; then nothing is stored.
    """
    options, store = run.options, run.store
    pairs: dict[str, str] = {}
    for path in options.participants:
        require(members.closed, "--participants", path.name, "a roster too, ROSTER=class.csv")
        for number, id in read_pairs(path, members).items():
            twice = pairs.get(number, id) != id or (id in pairs.values() and number not in pairs)
            require(not twice, path.name, f"{number!r} or {id!r} otherwise", "what others say")
            pairs[number] = id
    stored = store.decisions(options.lecture, "participant")
    kept = {n: id for n, id in stored.items() if n not in pairs and id not in pairs.values()}
    members.tie({n: id for n, id in kept.items() if id in members.students} | pairs)
    for number in stored.keys() - kept.keys() | pairs.keys():
        store.decide(options.lecture, number, "participant", pairs.get(number, ""))
