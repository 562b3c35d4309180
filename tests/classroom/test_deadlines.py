"""Times of submission, late days and extensions."""

from datetime import UTC, datetime, timedelta

import pytest

from classroom import tables
from tests.classroom import fake_class
from tests.classroom.class_runs import (
    FORMS,
    GRADED,
    IDS,
    fill,
    graded,
    points_of,
    policy_of,
    rows_of,
)
from tests.classroom.fake_class import FULL, LATER, RIGHT, put, sheet

pytestmark = pytest.mark.grader


def test_an_extension_on_another_sheet_stops_nothing(small, tmp_path):
    folder, out = small
    told = {"rosters": (tmp_path / "class.csv",)}
    rules = "[late]\ntimes = 'files'\n[sheets.{}]\ndue = 2030-01-01\n"
    rules += "extensions = {{ '7300222' = 2030-02-01 }}"
    graded(folder, out, policy=policy_of(tmp_path, rules.format(5)), told=told)
    with pytest.raises(ValueError, match=r"\[sheets.2\] extensions: got '7300222'"):
        graded(folder, out, policy=policy_of(tmp_path, rules.format(2)), told=told)


def test_late_file_worth_less_is_reviewed(tmp_path):
    text = "[late]\ntimes = 'files'\npercent_per_day = 10\n[sheets.2]\ndue = 2023-11-15T12:00:00Z"
    policy, file = policy_of(tmp_path, text), tmp_path / "in" / "ada" / "x.ipynb"
    in_time = datetime(2023, 11, 15, 10, tzinfo=UTC).timestamp()
    for days, answers, points, less in (
        (0, fake_class.HALF, 10, []),
        (2, RIGHT, 14 * 0.8, []),  # better, in spite of the penalty
        (
            4,
            RIGHT,
            14 * 0.6,
            ["8.4 points; an earlier file, 15 Nov", "8.4 points; an earlier file, 17 Nov"],
        ),
    ):
        put(file, sheet(answers, f"# {days}"), in_time + days * 86_400)
        graded(tmp_path / "in", tmp_path / "out", policy=policy)
        assert [*points_of(tmp_path / "out").values()] == [pytest.approx(points)]
        said = [row["what"] for row in rows_of(tmp_path / "out" / "look.csv")]
        assert [x for x in less if any(f"counts for {x}" in y for y in said)] == less
        assert len(said) == len(less)
    assert any("would count for 11.2: x.ipynb" in what for what in said)


def test_blind_reviews_stay_open_once_names_are_known(tmp_path):
    text = "[late]\ntimes = 'moodle'\npercent_per_day = 10\ntime_zone = 'UTC'\n"
    policy = policy_of(tmp_path, text + "[sheets.2]\ndue = 2023-11-15T12:00:00Z")
    one = fake_class.Made(901, "Ada Byron")

    def run(folder, day, answers, blind, **more):
        one.files = {"a.ipynb": (sheet(answers), LATER)}
        table = fake_class.moodle(tmp_path / folder, [one], blind)
        columns, rows = tables.read(table, exact=True)
        when = f"{day} November 2023, 10:00 AM"
        rows = [[*row.values(), when] for row in rows]
        tables.write(table, [*columns, "Last modified (submission)"], rows)
        told = {"rosters": (table,)} | ({"table": table, "scale": True} if more else {})
        graded(tmp_path / folder, tmp_path / "out", policy=policy, told=told)
        return [row["what"] for row in rows_of(tmp_path / "out" / "look.csv") if not row["seen"]]

    assert run("early", "Wednesday, 15", RIGHT, blind=True) == []
    [said] = run("late", "Friday, 17", fake_class.HALF, blind=True)
    assert (
        "is late and counts for 8 points; an earlier file, 15 Nov 10:00, would count for 14" in said
    )
    [known] = run("named", "Friday, 17", fake_class.HALF, blind=False, table=True)
    assert known == said
    assert not (tmp_path / "out" / "upload.csv").exists()
    # the earlier one may be chosen, from the two downloads in one folder, and has its own time
    (tmp_path / "both").mkdir()
    for folder in ("early", "named"):
        (tmp_path / folder).rename(tmp_path / "both" / folder)
    file = "early/Participant_901_assignsubmission_file/a.ipynb"
    told = {"rosters": (tmp_path / "worksheet.csv",), "count": (file,)}
    graded(tmp_path / "both", tmp_path / "out", policy=policy, told=told)
    [row] = rows_of(tmp_path / "out" / "grades.csv")
    assert (float(row["points"]), row["days late"]) == (FULL, "")
    assert not rows_of(tmp_path / "out" / "look.csv")


def test_late_days_start_after_the_grace_period(tmp_path):
    text = "[late]\ntimes = 'files'\ngrace_minutes = 10\npercent_per_day = 10\ndays = 3\n"
    policy = policy_of(tmp_path, text + "[sheets.2]\ndue = 2026-11-02T12:00:00Z")
    due = datetime(2026, 11, 2, 12, tzinfo=UTC)
    hours = {0: 0, 1 / 6: 0, 0.2: 1, 24: 1, 24.1: 2, 72: 3, 73: 4}
    found = {h: policy.days_late(2, "ada", due + timedelta(hours=h)) for h in hours}
    assert found == hours
    assert [policy.share(n) for n in range(5)] == [1, 0.9, 0.8, 0.7, 0]


def test_times_of_handing_in_can_come_from_a_table(small, tmp_path):
    folder, out = small
    (tmp_path / "times.csv").write_text("id,handed\nada,2023-11-15T11:00:00Z\n", encoding="utf-8")
    text = (
        "[late]\ntimes = 'times.csv'\npercent_per_day = 50\n[sheets.2]\ndue = 2023-11-15T12:00:00Z"
    )
    roster = (tmp_path / "class.csv",)
    told = {"rosters": roster}
    graded(folder, out, tasks=GRADED, policy=policy_of(tmp_path, text), told=told)
    assert points_of(out)["ada"] == FULL
    assert any("is not known" in row["what"] for row in rows_of(out / "look.csv"))


def test_submission_times_come_from_moodle(tmp_path):
    members = fake_class.students(50)[44:50]
    table = fake_class.moodle(tmp_path / "in", members)
    days = ["Sunday, 1 November 2026, 10:03 PM", "Tuesday, 3 November 2026, 12:10 AM", "-"] * 2
    columns, rows = tables.read(table)
    lines = [[*row.values(), day] for row, day in zip(rows, days, strict=True)]
    tables.write(table, [*columns, "Last modified (submission)"], lines)
    text = "[late]\ntimes = 'moodle'\npercent_per_day = 50\n[sheets.2]\ndue = 2026-11-02"
    policy = policy_of(tmp_path, text)
    told = {"rosters": (table,)}
    graded(tmp_path / "in", tmp_path / "out", policy=policy, told=told)
    rows = {row["id"]: row for row in rows_of(tmp_path / "out" / "grades.csv")}
    assert [rows[one.email]["days late"] for one in members] == ["", "1", ""] * 2
    policy = policy_of(tmp_path, text.replace("moodle", "files"))
    with pytest.raises(ValueError, match="the time of the download"):
        graded(tmp_path / "in", tmp_path / "out", policy=policy, told=told)
    fill(table, lambda row: row.update({"Last modified (submission)": "lundi 2 novembre"}))
    with pytest.raises(ValueError, match="Moodle in English"):
        graded(tmp_path / "in", tmp_path / "out", policy=policy_of(tmp_path, text), told=told)


@pytest.mark.parametrize("form", ["moodle", "canvas"])
def test_a_file_put_in_by_hand_has_no_time_of_its_own(tmp_path, form):
    one = fake_class.Made(901, "Ada Byron", files={"a.ipynb": (sheet(fake_class.HALF), LATER)})
    table = FORMS[form](tmp_path / "in", [one])
    id, day = IDS[form](one), "Sunday, 1 November 2026, 10:03 PM"
    columns, rows = tables.read(table, exact=True)
    rows = [[*row.values(), day] for row in rows]
    tables.write(table, [*columns, "Last modified (submission)"], rows)
    put(tmp_path / "in" / f"{id}.ipynb", sheet(RIGHT), LATER + 9e8)
    times = tmp_path / "times.csv"
    times.write_text(f"id,handed\n{id},2026-11-01T22:03", encoding="utf-8")
    source = "moodle" if form == "moodle" else "times.csv"
    text = f"[late]\ntimes = '{source}'\npercent_per_day = 50\n[sheets.2]\ndue = 2026-11-02"
    told = {"rosters": (table,), "count": (f"{id}.ipynb",)}

    def run():
        graded(tmp_path / "in", tmp_path / "out", policy=policy_of(tmp_path, text), told=told)
        [row] = rows_of(tmp_path / "out" / "grades.csv")
        files = {one["file"]: one["handed in"] for one in rows_of(tmp_path / "out" / "files.csv")}
        said = [one["what"] for one in rows_of(tmp_path / "out" / "look.csv")]
        return row["days late"], files[f"{id}.ipynb"], said

    late, handed, [said] = run()
    assert (late, handed) == ("", "")
    assert "submission time is not known" in said
    times.write_text(f"id,handed,file\n{id},2026-11-04T10:00Z,{id}.ipynb", encoding="utf-8")
    text = text.replace("moodle", "times.csv")
    assert run() == ("2", "2026-11-04T10:00:00+00:00", [])


def test_policy_time_zone_applies_to_bare_times(tmp_path, monkeypatch):
    """So that a penalty does not depend on the machine that grades."""
    members = fake_class.students(50)[44:46]
    table = fake_class.moodle(tmp_path / "in", members)
    columns, rows = tables.read(table)
    days = ["Monday, 2 November 2026, 11:30 PM", "Tuesday, 3 November 2026, 12:30 AM"]
    lines = [[*row.values(), day] for row, day in zip(rows, days, strict=True)]
    tables.write(table, [*columns, "Last modified (submission)"], lines)
    rules = "[late]\ntimes = 'moodle'\npercent_per_day = 50\n"
    due = "[sheets.2]\ndue = 2026-11-02T22:59:59Z"  # a second before midnight in Berlin
    for zone, late in (("Europe/Berlin", ["", "1"]), ("America/New_York", ["1", "1"])):
        policy = policy_of(tmp_path, f"{rules}time_zone = '{zone}'\n{due}")
        graded(tmp_path / "in", tmp_path / zone[:6], policy=policy, told={"rosters": (table,)})
        rows = {row["id"]: row for row in rows_of(tmp_path / zone[:6] / "grades.csv")}
        assert [rows[one.email]["days late"] for one in members] == late
    policy = policy_of(
        tmp_path, f"{rules}time_zone = 'Europe/Berlin'\n[sheets.2]\ndue = 2026-11-02"
    )
    assert policy.of(2).due == datetime(2026, 11, 2, 22, 59, 59, tzinfo=UTC)
    with pytest.raises(ValueError, match=r"late\.time_zone is 'Berlin'.*as Europe/Berlin"):
        policy_of(tmp_path, f"{rules}time_zone = 'Berlin'")


def test_canvas_lateness_is_measured_by_a_table(tmp_path):
    members = [one for one in fake_class.students(100)[44:] if one.number % 10 in (7, 8)]
    table = fake_class.canvas(tmp_path / "in", members)
    late = [one for one in members if one.number % 10 == 7]
    lines = ["id,handed", f"u{late[0].number},2026-11-03T10:00"]
    (tmp_path / "late.csv").write_text("\n".join(lines), encoding="utf-8")
    text = "[late]\ntimes = 'late.csv'\npercent_per_day = 50\n[sheets.2]\ndue = 2026-11-02"
    told = {"rosters": (table,)}
    policy = policy_of(tmp_path, text)
    done = graded(tmp_path / "in", tmp_path / "out", policy=policy, told=told)
    rows = {row["id"]: row["days late"] for row in rows_of(tmp_path / "out" / "grades.csv")}
    assert rows.pop(f"u{late[0].number}") == "1" and set(rows.values()) == {""}
    looks = {row["id"] for row in rows_of(tmp_path / "out" / "look.csv")}
    assert looks == {f"u{one.number}" for one in late[1:]}
    flags = {row["id"]: row["flags"] for row in rows_of(tmp_path / "out" / "grades.csv")}
    flagged = {id for id, said in flags.items() if "late, says Canvas" in said}
    assert flagged == {f"u{one.number}" for one in late if one.files}
    assert done.late == len(flagged) > 0
