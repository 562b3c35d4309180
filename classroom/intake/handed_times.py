"""When each file was handed in: from a table, from Moodle's worksheet, or from the file itself."""

from __future__ import annotations

import contextlib
from collections.abc import Collection, Sequence
from datetime import UTC, datetime, tzinfo

from classroom import tables
from classroom.gradebook.store import Store
from classroom.intake.owners import download
from classroom.intake.roster import Class
from classroom.intake.select import Listed
from classroom.lms.times import moodle_time
from classroom.policy import Policy
from classroom.policy_file import with_zone

NEVER = datetime.max.replace(tzinfo=UTC)


def set_times(
    rows: Sequence[Listed],
    members: Class,
    policy: Policy,
    store: Store,
    chosen: Collection[str],
) -> None:
    """Set `when` of every file, as far as its time can be believed.

    Args:
        chosen: the files that a person chose.

    Raises:
        ValueError: if a time cannot be read, or the files' times are those of a download.
    """
    times, earlier = table_times(policy, members), _times_of_earlier_files(rows, store, chosen)
    in_export = {row.student.id for row in rows if row.student and row.handed.owner.system}
    for row in rows:
        exported = row.handed.owner.system
        if policy.times == "files" and exported and policy.of(row.lecture).due:
            said = f"the files of {exported.title()}'s export have the time of the download"
            raise ValueError(f"late.times: {said}; name another source")
        if policy.times in ("", "files") and not exported:
            when = max(handed.when for handed in (row.handed, *row.beside))
            with contextlib.suppress(ValueError, OverflowError, OSError):  # no time that there is
                row.when = datetime.fromtimestamp(when).astimezone(policy.zone)
        elif row.student:
            name, id = row.handed.name, row.student.id
            row.when = times.get(name)  # a table may name the file
            # A student's time is that of the exported file, not of one put in by hand.
            if not (row.by_hand and (policy.times == "moodle" or id in in_export)):
                row.when = row.when or earlier.get(name) or times.get(id)


def table_times(policy: Policy, members: Class) -> dict[str, datetime]:
    """When each student handed in, as the policy's table or Moodle's worksheet says.

    A row of the policy's table that names a file has the time of that file alone.

    Raises:
        ValueError: if a time in it cannot be read.
    """
    if policy.times == "moodle":
        words = {s.id: s.handed for s in members.students.values() if s.handed}
        return {id: _moodle_time(text, policy.zone) for id, text in words.items()}
    found: dict[str, datetime] = {}
    if policy.times in ("", "files"):
        return found
    for number, row in enumerate(tables.read(policy.times, ("id", "handed"))[1], 2):
        if not row["handed"]:
            continue  # nothing was handed in
        try:
            when = with_zone(datetime.fromisoformat(row["handed"]), policy.zone)
        except (ValueError, OverflowError) as error:
            where = f"{policy.times.name}, line {number}"
            wanted = f"{row['handed']!r} is no time such as 2026-11-02T23:59"
            raise ValueError(f"{where}: {wanted}") from error
        whose = row.get("file") or members.id_of(row["id"])
        if found.setdefault(whose, when) != when:
            raise ValueError(f"{policy.times.name}, line {number}: {whose} has two times in it")
    return found


def _moodle_time(words: str, zone: tzinfo | None) -> datetime:
    """A time of Moodle's, in any of its languages.

    Raises:
        ValueError: if it cannot be read for sure.
    """
    try:
        return with_zone(moodle_time(words), zone)
    except (ValueError, OverflowError) as error:
        said = "download the worksheet with Moodle in English, or write a table"
        raise ValueError(f"late.times: {error}; {said}") from error


def _times_of_earlier_files(
    rows: Sequence[Listed], store: Store, chosen: Collection[str]
) -> dict[str, datetime]:
    """Stored times of files for which the table has the time of a later file, by file.

    Those are files that a person chose, and files from an earlier download of the same student.
    """
    stored: dict[str, datetime] = {}
    by_sheet: dict[tuple[str, int | None], list[Listed]] = {}
    for row in rows:
        if row.key:
            by_sheet.setdefault((row.student.id, row.lecture), []).append(row)
            handed = store.get(row.key).handed if store.has(row.key) else ""
            if handed:
                stored[row.handed.name] = datetime.fromisoformat(handed)
    found = {}
    for mine in by_sheet.values():
        last = max(mine, key=lambda row: (stored.get(row.handed.name, NEVER), row.handed.order))
        for row in mine:
            name = row.handed.name
            before = row.key != last.key and download(name) != download(last.handed.name)
            if name in stored and (before or name in chosen):
                found[name] = stored[name]
    return found
