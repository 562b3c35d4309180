"""Grade a class: `python -m classroom SUBMISSIONS [--roster class.csv] [--lecture N] …`.

Each submission runs in a sandbox of its own, on private cases; what comes out of it is data, and
the verdict is given here. Results are kept as they come, so that a run that was stopped goes on
where it was. What persons entered is read before anything is written, and never lost.
"""

from __future__ import annotations

import argparse
import contextlib
import hashlib
import os
import platform
import secrets
import sys
import time
from collections import Counter
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from concurrent.futures import FIRST_COMPLETED, Future, ThreadPoolExecutor, wait
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime, tzinfo
from pathlib import Path

import torch
from tqdm import tqdm

from classroom import tables
from classroom.execute import Answers, Examiner, GraderError, Prepared, results_of
from classroom.gradebook import grades
from classroom.gradebook.store import Correction, Graded, Previous, Store
from classroom.intake.roster import Class, Student, read_pairs, words_of
from classroom.intake.select import Listed, ReviewItem, list_files
from classroom.intake.submissions import Handed, Refused, download, find, settled
from classroom.lms import exports
from classroom.lms.times import moodle_time
from classroom.policy import Policy, applied, meant, possible_points, read_policy, with_zone
from classroom.reports import reports, similarity, totals
from classroom.sandbox import supervisor
from classroom.sandbox.supervisor import Limits
from grading.feedback import partial_credit
from grading.task import Task, all_tasks
from helpers.validation import require

ROOT = Path(__file__).resolve().parents[1]
LIMITS = Limits()
TABLE = "add the table that is to be filled in: TABLE=…"
UNSAFE = """\
--unsafe: students' code runs on this machine WITHOUT a sandbox, as this user or, if this is root,
as a user without rights. It can use the network, read what that user can read (as this user: the
tasks with their answers, other submissions, your files), and leave processes running. Do this
only with code that you trust, or inside a container or virtual machine that is thrown away."""


def beside(submissions: Path) -> Path:
    """The folder of results where none is named: beside what was handed in, with its whole name."""
    whole = submissions.resolve() if submissions.name in ("", "..") else submissions
    name = whole.stem if whole.suffix.lower() in (".zip", ".ipynb") else whole.name
    return whole.with_name(f"{name}-graded")


def version(tasks: Mapping[str, Task], lecture: int, private: Path | None = None) -> str:
    """Changes whenever grades might: with the grader, the tasks, Python and torch."""
    digest = hashlib.sha256(f"{platform.python_version()} {torch.__version__}".encode())
    folders = ("grading", "grading/tasks", f"grading/tasks/lecture_{lecture:02}")
    files = [path for folder in folders for path in (ROOT / folder).glob("*.py")]
    files += [path for path in (ROOT / "classroom").rglob("*.py") if "benchmark" not in path.parts]
    for path in sorted(files):
        digest.update(path.name.encode() + path.read_bytes())
    if private is not None:
        for path in sorted(private.rglob("*.py")):
            digest.update(path.name.encode() + path.read_bytes())
    points = sorted((task.name, task.points) for task in tasks.values() if task.lecture == lecture)
    digest.update(repr((lecture, points)).encode())
    return digest.hexdigest()


def case_seed(secret: int, task: str) -> int:
    """The seed of one task's private cases.

    The feedback shows inputs, and of some tasks an input is a seed. From one nobody finds the
    secret, nor the cases of another task.
    """
    return int.from_bytes(hashlib.sha256(f"{secret} {task}".encode()).digest()[:4]) >> 1


@dataclass(frozen=True)
class Options:
    """What the command line says beside what is graded."""

    lecture: int | None = None
    rosters: tuple[Path, ...] = ()
    everybody: str = ""
    """Everything was handed in by this one student: as in an autograder's container."""
    points: tuple[Path, ...] = ()
    """Tables with points that persons gave."""
    correct: tuple[tuple[str, str, str, str], ...] = ()
    """Student, task, points, comment."""
    author: str = ""
    assign: tuple[tuple[str, str], ...] = ()
    """File and student."""
    count: tuple[str, ...] = ()
    """Files that count, whichever is later."""
    table: Path | None = None
    """Moodle's worksheet or Canvas's gradebook, to be filled in."""
    column: str = ""
    scale: bool = False
    term: Path | None = None
    """A folder for all sheets of a term: it holds the database, and totals."""
    participants: tuple[Path, ...] = ()
    """Tables that say which participant of a blind marking is whom."""


def grade_class(
    source: Path,
    out: Path,
    *,
    told: Options | None = None,
    policy: Policy | None = None,
    tasks: Mapping[str, Task] | None = None,
    seed: int | None = None,
    jobs: int = 1,
    limits: Limits = LIMITS,
    unsafe: bool = False,
    torch_seed: int = 0,
    order: Callable[[list[Listed]], list[Listed]] = lambda rows: rows,
    examiner: Callable[[list[str], Sequence[Prepared], int], Answers] | None = None,
) -> Summary:
    """Grade what is in `source` and write everything into `out`.

    Args:
        told: what the command line says beside.
        policy: the lecturer's rules.
        tasks: by name; all of the course if not given.
        seed: of the private cases. If not given, the one of the earlier run, or a new one.
        order: in which submissions are graded; for tests.
        examiner: in place of the sandbox; for tests of everything around it.

    Raises:
        Unavailable: if there is no sandbox and `unsafe` does not say to do without.
        ValueError: if something that a person wrote fits nothing; then nothing was changed.
    """
    told, ruled, policy = told or Options(), policy is not None, policy or Policy()
    every = all_tasks() if tasks is None else tasks
    if told.everybody:  # in Gradescope, whose own the deadlines are
        policy = policy.without_deadlines()
    tasks = applied(policy, every)
    lectures = sorted({task.lecture for task in tasks.values()})
    require(told.lecture in (None, *lectures), "--lecture", told.lecture, f"one of {lectures}")
    if told.table and told.lecture:
        most = sum(possible_points(policy, tasks, told.lecture).values())
        exports.require_fits(told.table, told.column, None if told.scale else most)
    program = None if unsafe or examiner else supervisor.bubblewrap()
    if unsafe:
        supervisor.require_others_may_read()
    out.mkdir(parents=True, exist_ok=True)
    with contextlib.closing(Store((told.term or out) / "grades.sqlite")) as store:
        seed = seed if seed is not None else int(store.setting("seed") or secrets.randbits(128))
        store.set("seed", str(seed))
        private = tasks.keys() - every.keys()
        rows, looks, members = _listed(source, store, told, policy, tasks, lectures, seed, private)
        if ruled:
            store.set("ruled", "yes")
        elif store.setting("ruled"):
            said = "a run before this one had the rules of a class (POLICY), and this one has none"
            looks.insert(0, ReviewItem(said, told.lecture))
        policy = policy.by(members.id_of)
        given, twice = _from_persons(out, store, told, members, tasks, every, policy)
        todo = order([row for row in rows if row.status == "ok"])
        with supervisor.CourseFiles() as course:
            own = examiner or Examiner(limits, course, program, torch_seed)
            failures = _grade(todo, store, tasks, seed, limits, jobs, own)
        graded = [row for row in rows if row.status == "ok"]
        _correct(store, given, graded)
        _settle(store, given, twice, tasks)
        seen = {row.lecture for row in graded} if members.closed else set()
        wanted = [told.lecture] if told.lecture else sorted(seen)
        students = sorted(members.students.values(), key=lambda s: s.id)
        corrections = store.corrections(_now(members, tasks))
        sheets, more = grades.mark(
            rows, students, wanted, store, tasks, policy, corrections, members.former
        )
        sheets = [s for s in sheets if s.row or members.closed or told.everybody]
        sheets = [s for s in sheets if not _behind_a_number(s, members)]
        more += _unknown(store, members, wanted)
        more += _marked_twice(store, members, sheets)
        waiting = grades.write_written(out / "written.csv", sheets, policy)
        open_ = grades.write_looks(out / "look.csv", [*looks, *more], store.looked())
        _finish(sheets, [*looks, *more], open_)
        final = not open_ and not waiting and not failures
        filled = None
        if final and told.table:  # refused, if at all, before anything is published
            filled = exports.fill(sheets, told.table, told.column, told.scale)
        pairs = [(sheet.student.id, sheet.lecture) for sheet in sheets]
        known = store.rename(members.former)
        store.counts(pairs, {row.key: row.student.id for row in graded})
        before = store.published()
        changed = reports.write_changed(out / "changed.csv", sheets, before)
        mine = {sheet.lecture for sheet in sheets}
        had = {id for (id, lecture), was in before.items() if lecture in mine and was.file}
        lost = len(had - {sheet.student.id for sheet in sheets})
        most = _maximum(sheets, before)
        store.publish(students, sheets)
        store.remember(_words(members, sheets))
        reports.write(out, rows, sheets, tasks, policy, one=bool(told.everybody) and not failures)
        similarity.write(out, sheets, reports.PAGE)
        blind = totals.write(told.term, store, tasks, reports.PAGE) if told.term else 0
        handed = exports.write(out, sheets, filled, final)
        count = Counter(_heap(sheet) for sheet in sheets)
        system = any(row.handed.owner.system for row in rows)
        own = _own_cases(policy, tasks, wanted)
        late = sum(row.late for row in graded)
        private = sorted(name for name in private if tasks[name].lecture in wanted)
    more = changed, lost, count, system, own, late, most, private
    return Summary(failures, len(open_), waiting, handed, known, blind, *more)


@dataclass(frozen=True)
class Summary:
    """How many submissions could not be graded, how many items nobody saw, how many texts wait."""

    failures: int
    looks: int
    waiting: int
    filled: str = ""
    """What was filled in, in words."""
    known: int = 0
    """How many are known now who bore another identifier before."""
    blind: int = 0
    """How many sheets of the term are of participants whose names are not known."""
    changed: int = 0
    """How many have other points than after the run before."""
    lost: int = 0
    """Of how many there was a file in the run before, and there is no row now."""
    count: Mapping[str, int] = field(default_factory=dict)
    """How many sheets were graded, how many not, of whom there is nothing."""
    system: bool = False
    """Whether a learning system wants a table filled in."""
    own: Sequence[str] = ()
    """For which tasks cases of the lecturer's own were used, and of which kinds."""
    late: int = 0
    """How many files that count are marked as late by the system."""
    most: Sequence[str] = ()
    """Which sheets have another maximum than in the run before, in words."""
    private: Sequence[str] = ()
    """Which tasks are the lecturer's own."""


def _maximum(
    sheets: Sequence[grades.SheetGrade], before: Mapping[tuple[str, int], Previous]
) -> list[str]:
    """Which sheets have another maximum than in the run before: scaled points are others then."""
    found = {}
    for sheet in sheets:
        was = before.get((sheet.student.id, sheet.lecture or 0))
        if was and was.possible and abs(was.possible - sheet.possible) >= 0.005:
            found[sheet.lecture] = f"{sheet.possible:g}, and was {was.possible:g}"
    return [f"sheet {n} is {found[n]}" for n in sorted(n for n in found if n)]


def _own_cases(policy: Policy, tasks: Mapping[str, Task], lectures: Sequence[int]) -> list[str]:
    """For which of the graded tasks the lecturer has cases, and of which kinds they count."""
    names = sorted(p.stem for p in policy.private.glob("cases/*.py")) if policy.private else []
    said = []
    for name in names:
        if name in tasks and tasks[name].lecture in lectures:
            kinds = Counter(partial_credit.kinds(tasks[name].cases(0)))
            said.append(f"{name} ({', '.join(f'{n} {kind}' for kind, n in kinds.items())})")
    return said


def _behind_a_number(sheet: grades.SheetGrade, members: Class) -> bool:
    """Whether this student of a list may be one of the participants, in a blind week."""
    own = sheet.student
    numbered = any(word.startswith("moodle ") or "anon_" in word for word in own.numbers)
    nothing = sheet.status == grades.NOTHING and not sheet.given
    blind = any(student.blind for student in members.students.values())
    return blind and nothing and not (own.blind or numbered)


def _heap(sheet: grades.SheetGrade) -> str:
    if sheet.graded:
        return "graded" if sheet.row.holds.answered else "graded, and no task is answered"
    return grades.NOTHING if sheet.status == grades.NOTHING else "handed in, not graded"


def _now(members: Class, tasks: Mapping[str, Task]) -> Callable[[str, str], str]:
    """Who a student of an earlier run is now, as far as a task's sheet is concerned."""

    def now(id: str, task: str) -> str:
        return members.now(tasks[task].lecture, id) if task in tasks else id

    return now


def _words(members: Class, sheets: Sequence[grades.SheetGrade]) -> Iterator[tuple[int, str, str]]:
    """By what students are known again: what the system calls them here, and their e-mail."""
    seen: dict[str, set[str]] = {}
    for word, id in members.seen.items():
        seen.setdefault(id, set()).add(word)
    for sheet in sheets:
        id = sheet.student.id
        for word in {*words_of(sheet.student), *seen.get(id, ())}:
            everywhere = word.startswith("email ")
            if everywhere or sheet.lecture:
                yield 0 if everywhere else sheet.lecture, word, id


def _unknown(store: Store, members: Class, lectures: Sequence[int]) -> list[ReviewItem]:
    """What persons should see of those who were graded blind and whom no table names now."""
    looks = []
    for lecture, id, several in members.doubtful:
        if lecture in lectures:
            said = f"marks of {' and of '.join(several)} both lead here: given to nobody"
            looks.append(ReviewItem(f"{said}; mend the table", lecture, members.students[id]))
    if not members.closed or any(student.blind for student in members.students.values()):
        return looks  # no names are wanted yet
    for lecture in lectures:
        ids = [row[1] for row in store.blind(lecture) if row[1] not in members.students]
        ids = [id for id in ids if members.now(lecture, id) == id]
        if ids:
            said = f"no table says who these are, so their points are nobody's: {', '.join(ids)}"
            looks.append(ReviewItem(said, lecture))
    return looks


def _listed(
    source: Path,
    store: Store,
    told: Options,
    policy: Policy,
    tasks: Mapping[str, Task],
    lectures: Sequence[int],
    seed: int,
    private: Collection[str],
) -> tuple[list[Listed], list[ReviewItem], Class]:
    """What was handed in, by whom, and which of it counts."""
    found = find(source)
    names = {handed.name for handed in found}
    for file in [file for file, _ in told.assign] + list(told.count):
        require(file in names, "--assign or --count", repr(file), "a file as files.csv names it")
    nameless = any(handed.owner.id.startswith("anon_") for handed in found)  # Canvas's word
    tied = told.participants or store.decisions(told.lecture, "participant")
    lists = () if nameless and not tied else policy.rosters
    members = Class.of((*lists, *told.rosters), {})
    _tie(members, store, told)
    members.recognise(*_earlier(store, told))
    for file, id in told.assign:
        store.decide(told.lecture, file, "student", members.id_of(id))
    for file in told.count:
        store.decide(told.lecture, file, "counts", "yes")
    chosen = _decided(store, told.lecture, "student", found)
    members.assigned = {file: members.now(told.lecture, id) for file, id in chosen.items()}
    if told.everybody:
        members.assigned = dict.fromkeys(names, told.everybody)
        members.students.setdefault(told.everybody, Student(told.everybody))
    blind = any(student.blind for student in members.students.values())
    for number in lectures if told.lecture is None else [told.lecture]:
        # Of other sheets nothing is asked: somebody may have left, and Moodle's number is another.
        for id in policy.of(number).extensions if members.closed else ():
            known = members.id_of(id) in members.students
            wanted = f"an identifier on the roster{meant(id, members.students)}"
            require(known or blind, f"[sheets.{number}] extensions", repr(id), wanted)
    versions = {n: f"{version(tasks, n, policy.private)} {seed}" for n in lectures}
    preferred = _decided(store, told.lecture, "counts", found)
    rows, looks = list_files(found, tasks, told.lecture, versions, members, preferred, private)
    members.recognise(*_earlier(store, told))  # without a roster the files say who there is
    for number in lectures if told.lecture is None else [told.lecture]:
        for id in _waiting(policy.of(number).extensions, rows, members):
            said = f"the extension of {id} holds when names are known; hand back after that"
            looks.append(ReviewItem(said, number))
    times, kept = _times(policy, members), _kept(rows, store, preferred)
    for row in rows:
        exported = row.handed.owner.system
        if policy.times == "files" and exported and policy.of(row.lecture).due:
            said = f"the files of {exported.title()}'s export have the time of the download"
            raise ValueError(f"late.times: {said}; name another source")
        if policy.times in ("", "files") and not exported:
            when = max(handed.when for handed in (row.handed, *row.beside))
            row.when = datetime.fromtimestamp(when).astimezone(policy.zone)
        elif row.student:
            row.when = kept.get(row.handed.name) or times.get(row.student.id)
    return rows, looks, members


def _kept(rows: Sequence[Listed], store: Store, preferred: Collection[str]) -> dict[str, datetime]:
    """By file, when it came, where an earlier run knew it and the table has a later file's time.

    That is a file that a person chose, or one of an earlier download of the same student.
    """
    then: dict[str, datetime] = {}
    by_place: dict[tuple[str, int | None], list[Listed]] = {}
    for row in rows:
        if row.key:
            by_place.setdefault((row.student.id, row.lecture), []).append(row)
            handed = store.get(row.key).handed if store.has(row.key) else ""
            then |= {row.handed.name: datetime.fromisoformat(handed)} if handed else {}
    last = {
        place: max(mine, key=lambda row: (then.get(row.handed.name, NEVER), row.handed.order))
        for place, mine in by_place.items()
    }
    found = {}
    for place, mine in by_place.items():
        for row in mine:
            name, other = row.handed.name, last[place]
            before = row.key != other.key and download(name) != download(other.handed.name)
            if name in then and (before or name in preferred):
                found[name] = then[name]
    return found


def _earlier(store: Store, told: Options) -> tuple[list[tuple[int, str, str]], set[str]]:
    """By which words students were known on this sheet, or on all; and who of them had a name.

    The numbers of another sheet are others' here.
    """
    rows = [row for row in store.identities() if told.lecture in (None, row[0]) or not row[0]]
    named = {row[0] for row in store.base.execute("SELECT id FROM student WHERE NOT blind")}
    return rows, named


def _waiting(extensions: Iterable[str], rows: Sequence[Listed], members: Class) -> Iterator[str]:
    """Whose extensions fit no file yet, while files have numbers in place of names."""
    owners = {row.student.id: row.student for row in rows if row.student}
    if any(owner.blind for owner in owners.values()):
        for id in extensions:
            own = members.students.get(members.id_of(id))
            if own is None or not (own.blind or own.id in owners):
                yield id


def _decided(
    store: Store, lecture: int | None, what: str, found: Sequence[Handed]
) -> dict[str, str]:
    """What persons decided about the files that were found, also before names were known.

    A file that is there under its own name is meant alone. The last decision stands last.
    """
    names, decided = [handed.name for handed in found], {}
    for file, value in store.decisions(lecture, what).items():
        same = [name for name in names if settled(name) == settled(file)]
        for name in [file] if file in names else same:
            decided.pop(name, None)
            decided[name] = value
    return decided


def _tie(members: Class, store: Store, told: Options) -> None:
    """Take the tables that say which participant is whom, and keep what they say.

    Raises:
        ValueError: if a table fits nobody, or not the roster; then nothing is kept.
    """
    pairs: dict[str, str] = {}
    for path in told.participants:
        require(members.closed, "--participants", path.name, "a roster too, ROSTER=class.csv")
        for number, id in read_pairs(path, members).items():
            twice = pairs.get(number, id) != id or (id in pairs.values() and number not in pairs)
            require(not twice, path.name, f"{number!r} or {id!r} otherwise", "what others say")
            pairs[number] = id
    kept = store.decisions(told.lecture, "participant")
    old = {n: id for n, id in kept.items() if n not in pairs and id not in pairs.values()}
    members.tie({n: id for n, id in old.items() if id in members.students} | pairs)
    for number in kept.keys() - old.keys() | pairs.keys():
        store.decide(told.lecture, number, "participant", pairs.get(number, ""))


NEVER = datetime.max.replace(tzinfo=UTC)


def _times(policy: Policy, members: Class) -> dict[str, datetime]:
    """When each student handed in, as a table says.

    Raises:
        ValueError: if a time in it cannot be read.
    """
    if policy.times == "moodle":
        said = {s.id: s.handed for s in members.students.values() if s.handed}
        return {id: _moodles(words, policy.zone) for id, words in said.items()}
    found: dict[str, datetime] = {}
    if policy.times in ("", "files"):
        return found
    for number, row in enumerate(tables.read(policy.times, ("id", "handed"))[1], 2):
        try:
            when = datetime.fromisoformat(row["handed"])
            found[members.id_of(row["id"])] = with_zone(when, policy.zone)
        except ValueError as error:
            where = f"{policy.times.name}, line {number}"
            raise ValueError(
                f"{where}: {row['handed']!r} is no time such as 2026-11-02T23:59"
            ) from error
    return found


def _moodles(words: str, zone: tzinfo | None) -> datetime:
    """A time of Moodle's, in any of its languages.

    Raises:
        ValueError: if it cannot be read for sure.
    """
    try:
        return with_zone(moodle_time(words), zone)
    except ValueError as error:
        said = "download the worksheet with Moodle in English, or write a table"
        raise ValueError(f"late.times: {error}; {said}") from error


def _from_persons(
    out: Path,
    store: Store,
    told: Options,
    members: Class,
    tasks: Mapping[str, Task],
    every: Mapping[str, Task],
    policy: Policy,
) -> tuple[list[Correction], dict[tuple[str, str], str]]:
    """What persons wrote into the tables of the last run, or hand in now; checked, not yet kept.

    In the table of the last run may stand marks for a task that was left out since.

    Returns:
        What is new in it, and the words for each answer that two persons marked otherwise.
    """
    ids, author = list(members.students), told.author
    given = []
    now = _now(members, tasks)
    new = bool(told.points or told.correct)  # the author of these has not written the others
    if (out / "written.csv").exists():
        known = [*ids, *(row[0] for row in store.base.execute("SELECT id FROM student"))]
        known += [row[2] for row in store.identities()]
        whose = "" if new else author
        both = {**every, **tasks}
        given += grades.read_points(out / "written.csv", known, both, policy, whose)
    marked = len(given)
    for path in told.points:
        table = grades.read_points(path, ids, tasks, policy, author, members.id_of)
        require(bool(table), path.name, "no row with points", "at least one")
        given += table
    for id, task, points, comment in told.correct:
        row = {"id": members.id_of(id), "task": task, "points": points, "comment": comment}
        given.append(grades.correction("--correct", row, set(ids), tasks, policy, author))
    for one in given[marked:]:
        lecture = tasks[one.task].lecture
        fits = told.lecture in (None, lecture)
        require(
            fits,
            f"points for {one.task!r}",
            f"a task of sheet {lecture}",
            f"one of sheet {told.lecture}",
        )
    if (out / "look.csv").exists():
        seen = grades.read_looks(out / "look.csv")
        known = store.looked()
        store.look((item, said) for item, said in seen if known.get(item) != said)
    given = [replace(one, student=now(one.student, one.task)) for one in given]
    held = store.corrections(now)
    tables_only = given[: len(given) - len(told.correct)]  # a command is meant to settle it
    twice = grades.marked_twice(tables_only)
    return [one for one in given if grades.is_new(one, held)], twice


def _settle(
    store: Store,
    given: Sequence[Correction],
    twice: Mapping[tuple[str, str], str],
    tasks: Mapping[str, Task],
) -> None:
    """Keep which answers two persons marked otherwise, until somebody marks them anew."""
    words = {(one.student, one.task): "" for one in given} | dict(twice)
    for (id, task), said in words.items():
        lecture, place = tasks[task].lecture if task in tasks else None, f"{id} {task}"
        if lecture and (said or place in store.decisions(lecture, "marked twice")):
            store.decide(lecture, place, "marked twice", said)


def _marked_twice(
    store: Store, members: Class, sheets: Sequence[grades.SheetGrade]
) -> Iterator[ReviewItem]:
    """What a person should see of answers that two persons marked otherwise."""
    lectures = {sheet.lecture for sheet in sheets if sheet.lecture}
    said = {n: store.decisions(n, "marked twice") for n in lectures}
    for lecture, words in said.items():
        for place, what in words.items():
            id, _, task = place.rpartition(" ")
            student = members.students.get(members.now(lecture, id))
            if what and student:
                yield ReviewItem(f"{task}: {what}", lecture, student)


def _correct(store: Store, given: Sequence[Correction], graded: Sequence[Listed]) -> None:
    """Keep corrections, each with the fingerprint of the answer that it is about."""
    keys = {(row.student.id, row.lecture): row.key for row in graded}
    now = {}
    for (id, _), key in keys.items():
        now |= {(id, result.task): result.answer_id for result in store.get(key).results}
    store.correct(
        one if one.answer else replace(one, answer=now.get((one.student, one.task), ""))
        for one in given
    )


def _grade(
    wanted: Sequence[Listed],
    store: Store,
    tasks: Mapping[str, Task],
    seed: int,
    limits: Limits,
    jobs: int,
    examiner: Callable[[list[str], Sequence[Prepared], int], Answers],
) -> int:
    """Grade what was not graded before; how many could not be."""
    todo = [row for row in wanted if not store.has(row.key)]
    prepared: dict[int, list[Prepared]] = {}
    for number in {row.lecture for row in todo}:
        chosen = sorted(name for name, task in tasks.items() if task.lecture == number)
        prepared[number] = [
            Prepared.of(tasks[name], case_seed(seed, name), limits) for name in chosen
        ]
    failures = 0
    quiet = os.environ.get("LAMPLIGHT_QUIET") == "1"
    with contextlib.ExitStack() as stack:
        bar = stack.enter_context(
            tqdm(total=len(wanted), initial=len(wanted) - len(todo), unit="file", disable=quiet)
        )
        stack.enter_context(_no_other_bars())
        for row, answers, seconds in _answered(todo, prepared, examiner, jobs):
            bar.update()
            if isinstance(answers, Exception):
                failures += 1
                row.status = f"not graded, the grader failed: {answers}"
                continue
            results = results_of(answers, prepared[row.lecture], row.cells())
            notes = [answers.notes[i] for i in sorted(answers.notes)]
            handed, flags = row.handed, sorted(answers.flags)
            when = row.when.isoformat(timespec="seconds") if row.when else ""
            head = row.key, handed.name, row.student.id, row.lecture, when
            store.add(Graded(*head, flags, notes, seconds, results))
    return failures


@contextlib.contextmanager
def _no_other_bars() -> Iterator[None]:
    """Known mistakes that train something, run for the verdict, show no bars of their own."""
    before = os.environ.get("LAMPLIGHT_QUIET")
    os.environ["LAMPLIGHT_QUIET"] = "1"
    try:
        yield
    finally:
        if before is None:
            del os.environ["LAMPLIGHT_QUIET"]
        else:
            os.environ["LAMPLIGHT_QUIET"] = before


def _finish(
    sheets: Sequence[grades.SheetGrade], looks: Sequence[ReviewItem], open_: set[str]
) -> None:
    """Say which grades are final: nothing waits in them, and all that is odd was looked at."""
    for sheet in sheets:
        mine = [x for x in looks if x.student == sheet.student and x.item in open_]
        about = [x for x in mine if x.lecture in (None, sheet.lecture)]
        failed = sheet.status.startswith("not graded, the grader failed")
        sheet.final = not about and not sheet.waiting and not failed


def _answered(
    todo: Sequence[Listed],
    prepared: Mapping[int, Sequence[Prepared]],
    examiner: Callable,
    jobs: int,
) -> Iterator[tuple[Listed, Answers | Exception, float]]:
    """Run submissions, `jobs` at a time; never more than these are in memory."""
    slots = list(range(jobs))

    def one(row: Listed) -> tuple[Answers, float]:
        start, slot = time.perf_counter(), slots.pop()
        try:
            answers = examiner(row.cells(), prepared[row.lecture], slot)
            return answers, time.perf_counter() - start
        finally:
            slots.append(slot)

    running: dict[Future, Listed] = {}
    waiting = iter(todo)
    with ThreadPoolExecutor(jobs) as pool:
        try:
            while True:
                while len(running) < jobs and (row := next(waiting, None)):
                    running[pool.submit(one, row)] = row
                if not running:
                    return
                for future in wait(running, return_when=FIRST_COMPLETED).done:
                    row = running.pop(future)
                    error = future.exception()
                    if isinstance(error, GraderError | Refused | OSError):
                        yield row, error, 0.0
                    else:
                        yield row, *future.result()
        finally:
            if isinstance(examiner, Examiner):
                examiner.stop.set()  # on Ctrl-C, do not wait for the limits of what still runs


def cores() -> int:
    """How many processors this process may use."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def main(arguments: Sequence[str] | None = None) -> int:
    """The command line."""
    parser = argparse.ArgumentParser(prog="python -m classroom", description=__doc__)
    add = parser.add_argument
    add("submissions", type=Path, help="a folder, a zip, or one notebook")
    add("--out", type=Path, help="folder of results (SUBMISSIONS-graded)")
    add("--lecture", type=int, help="whose sheet, 14 for the project (found in each notebook)")
    add("--roster", type=Path, action="append", default=[], help="who is in the class")
    add("--policy", type=Path, help="the rules: class.toml")
    add(
        "--points",
        "--review",
        type=Path,
        action="append",
        default=[],
        metavar="TABLE",
        help="CSV with id, task, points and, if you like, comment and author",
    )
    add(
        "--correct",
        nargs=4,
        action="append",
        default=[],
        metavar=("ID", "TASK", "POINTS", "COMMENT"),
    )
    add("--author", default="", help="who gives these points")
    add(
        "--assign",
        nargs=2,
        action="append",
        default=[],
        metavar=("FILE", "ID"),
        help="say whose a file is",
    )
    add(
        "--participants",
        type=Path,
        action="append",
        default=[],
        metavar="TABLE",
        help="CSV with participant, and id or email: who is who after blind marking",
    )
    add("--count", action="append", default=[], metavar="FILE", help="let this file count")
    add("--table", type=Path, help="Moodle's worksheet or Canvas's gradebook, to be filled in")
    add("--column", default="", help="of the gradebook: its name, or how that begins")
    add("--scale", action="store_true", help="to the maximum of that table")
    add("--term", type=Path, help="a folder for all sheets: totals, and who needs help (--lecture)")
    add("--student", default="", help="all of it is by this one student")
    add("--seed", type=int, help="of the private cases (drawn once, then kept)")
    add("--jobs", type=int, default=cores(), help="notebooks run at the same time")
    add("--torch-seed", type=int, default=0, help=argparse.SUPPRESS)
    add("--unsafe", action="store_true", help="without a sandbox: see the message")
    given = parser.parse_args(arguments)
    if given.term and not given.lecture:
        parser.error("--term wants --lecture too: every sheet has its folder in there")
    own = given.term / f"sheet-{given.lecture}" if given.term else None
    out = given.out or own or beside(given.submissions)
    if given.unsafe:
        print(UNSAFE, file=sys.stderr)
    told = Options(
        given.lecture,
        tuple(given.roster),
        given.student,
        tuple(given.points),
        tuple(map(tuple, given.correct)),
        given.author,
        tuple(map(tuple, given.assign)),
        tuple(given.count),
        given.table,
        given.column,
        given.scale,
        given.term,
        tuple(given.participants),
    )
    try:
        policy = Policy()
        if given.policy:  # of one student everything is graded without deadlines
            policy = read_policy(given.policy, deadlines=not given.student)
        done = grade_class(
            given.submissions,
            out,
            told=told,
            policy=policy if given.policy else None,
            seed=given.seed,
            jobs=max(1, min(given.jobs, 16)),
            unsafe=given.unsafe,
            torch_seed=given.torch_seed,
        )
    except supervisor.Unavailable as error:
        print(f"{error}\nNothing was graded.")
        if not given.unsafe:
            print(f"To grade without a sandbox: --unsafe. What that means:\n\n{UNSAFE}")
        return 2
    except (ValueError, OSError, GraderError) as error:
        print(f"Nothing more was graded: {error}")
        return 2
    except KeyboardInterrupt:
        print("Stopped. The same command goes on where it was.")
        return 130
    print(f"Grades: {out / 'grades.csv'}; overview: {out / 'summary.html'}")
    said = ", ".join(f"{number} {what}" for what, number in sorted(done.count.items()))
    print(f"Of {sum(done.count.values())}: {said} (columns status and flags)")
    if done.own:
        print(f"With cases of your own for: {', '.join(done.own)}")
    if done.private:
        print(f"With tasks of your own: {', '.join(done.private)}")
    if done.late:
        print(f"{done.late} are marked as late by the system: column flags of grades.csv")
    if done.lost:
        print(f"{done.lost} of the last run have no row now: is the list of the class whole?")
    for said in done.most:
        more = "points by hand stay as they are, and what was scaled is to be handed back again"
        print(f"The maximum of {said} in the last run: {more}")
    if done.changed:
        said = "has" if done.changed == 1 else "have"
        print(f"{done.changed} {said} other points than after the last run: {out / 'changed.csv'}")
    if done.looks or done.waiting:
        print("Not final yet:")
    if done.looks:
        print(f"  {done.looks} to look at: {out / 'look.csv'}, column seen")
    if done.waiting:
        said = f"written answer{'s' * (done.waiting != 1)} to mark"
        print(f"  {done.waiting} {said}: {out / 'written.csv'}, column points")
    if done.known:
        print(f"{done.known} have another identifier than before; what they were given is theirs.")
    if done.blind:
        said = f"{done.blind} sheets are of participants without a name"
        print(f"{said}: {given.term / 'blind.csv'}, not in the totals")
    if done.filled:
        print(f"To hand back: {done.filled}")
    elif told.rosters and not (done.looks or done.waiting or done.failures):
        said = TABLE if done.system else f"send the pages in {out / 'feedback'}"
        print(f"Nothing is open. To hand back, {said}")
    if done.failures:
        said = f"{done.failures} could not be graded, see grades.csv"
        print(f"{said}. The same command tries them again.")
    return 1 if done.failures else 0


if __name__ == "__main__":
    sys.exit(main())
