"""Moodle's worksheet and Canvas's gradebook, filled in, or refused before anything is graded."""

import csv
from dataclasses import replace
from types import SimpleNamespace

import pytest

from classroom import tables
from classroom.lms import exports
from tests.classroom import fake_class
from tests.classroom.class_runs import FORMS, TEXTS, again, graded, policy_of, rows_of
from tests.classroom.fake_class import FULL
from tests.grading.sample_tasks import TASKS

pytestmark = pytest.mark.grader


def test_the_table_of_another_assignment_is_refused(small):
    folder, out = small
    table = folder.parent / "worksheet.csv"
    columns = "Identifier,Full name,Email address,Grade,Maximum Grade"
    table.write_text(f"{columns}\nParticipant 999,Zoe,z@x,,14\n")
    with pytest.raises(ValueError, match="nobody on it is in the class"):
        graded(folder, out, told={"rosters": (folder.parent / "class.csv",), "table": table})
    assert not (out / "upload.csv").exists()


def test_canvas_column_matches_exactly_or_by_prefix(tmp_path):
    table = tmp_path / "gradebook.csv"
    table.write_text("Student,ID,Sheet 1 (77),Sheet 10 (78),Sheet 20: Masks (79)\nAda,901,,,\n")
    student = SimpleNamespace(also=("canvas 901",))
    one = SimpleNamespace(student=student, lecture=2, points=7.0, possible=9.0, graded=True)
    for said, name in (
        ("Sheet 1", "Sheet 1 (77)"),
        ("Sheet 10", "Sheet 10 (78)"),
        ("Sheet 1 (77)", "Sheet 1 (77)"),
        ("Sheet 2", "Sheet 20: Masks (79)"),
    ):
        [row] = exports.fill([one], table, said, scale=False).rows
        assert {key for key, value in row.items() if value == "7"} == {name}
    for said, what in (("Sheet", "fits 3"), ("Sheet 3", "fits 0"), ("", "no --column is named")):
        with pytest.raises(ValueError, match=rf"{what}.*; one is wanted of: Sheet 1 \(77\)"):
            exports.fill([one], table, said, scale=False)


def test_changed_maximum_is_reported(small, tmp_path, monkeypatch, capsys):
    """It is compared with that of the previous run."""
    from classroom import cli

    folder, out = small
    done = again(small)
    assert list(done.maxima) == []
    policy = policy_of(tmp_path, "[sheets.2]\nexcluded = ['query_context']")
    told = {"rosters": (folder.parent / "class.csv",)}
    done = graded(folder, out, tasks=TEXTS, policy=policy, told=told)
    most = FULL + TASKS["essay"].points
    assert done.maxima == [f"sheet 2 is {most - 4:g}, and was {most:g}"]
    assert list(graded(folder, out, tasks=TEXTS, policy=policy, told=told).maxima) == []
    done = replace(done, own_tasks=["mine"])
    monkeypatch.setattr(cli, "grade_class", lambda *_, **__: done)
    assert cli.main([str(folder), "--out", str(out)]) == 0
    printed = capsys.readouterr().out
    assert f"The maximum of sheet 2 is {most - 4:g}, and was {most:g} in the last run" in printed
    assert "With tasks of your own: mine\n" in printed


TABLES_OF_ANOTHER_MAXIMUM = {
    "moodle": "Identifier,Grade,Maximum Grade\nParticipant 901,,150\n",
    "canvas": "Student,ID,Sheet 2 (77),Sheet 20 (78)\n Points Possible,,150,9\nAda,901,,\n",
}


@pytest.mark.parametrize("role", ["table", "roster"])
@pytest.mark.parametrize("form", TABLES_OF_ANOTHER_MAXIMUM)
def test_other_maximum_in_the_table_stops_the_run(form, role, small, tmp_path):
    """It stops before anything is graded."""
    folder, out = small
    (tmp_path / "table.csv").write_text(TABLES_OF_ANOTHER_MAXIMUM[form])
    table = tmp_path / "table.csv"
    named = {"table": table} if role == "table" else {"rosters": (table,)}
    told = {"column": "Sheet 2", "scale": False} | named
    most = FULL + TASKS["essay"].points
    for text, now in (("", most), ("bonus = ['essay']\npoints = { query_context = 9 }", FULL + 5)):
        policy = policy_of(tmp_path, f"[sheets.2]\n{text}")
        with pytest.raises(ValueError, match=rf"the maximum is 150 there and {now:g} on the sheet"):
            graded(folder, out, tasks=TEXTS, policy=policy, told=told)
        assert not out.exists()
    graded(folder, out, tasks=TEXTS, told=told | {"scale": True})  # and nothing is final yet


def test_unusable_table_stops_the_run(small, tmp_path):
    """It stops before anything is graded."""
    folder, out = small
    (tmp_path / "canvas.csv").write_text(TABLES_OF_ANOTHER_MAXIMUM["canvas"])
    for table, said in (("class", "neither Moodle's worksheet nor"), ("canvas", "'Sheet 4' fits")):
        told = {"table": tmp_path / f"{table}.csv", "column": "Sheet 4", "scale": True}
        with pytest.raises(ValueError, match=said):
            graded(folder, out, tasks=TEXTS, told=told)
        assert not out.exists()


def test_scaled_points_have_two_decimals(tmp_path):
    table = tmp_path / "worksheet.csv"
    table.write_text("Identifier,Grade,Maximum Grade\nParticipant 901,,150\n")
    student = SimpleNamespace(also=("moodle 901",))
    one = SimpleNamespace(student=student, lecture=2, points=70.0, possible=97.0, graded=True)
    [row] = exports.fill([one], table, "", scale=True).rows
    assert row["Grade"] == "108.25"
    table.write_text("Identifier,Grade,Maximum grade\nParticipant 901,,150\n")
    with pytest.raises(ValueError, match="the maximum is 150 there"):
        exports.fill([one], table, "", scale=False)


def test_filled_table_reports_points_above_maximum(tmp_path):
    members = fake_class.students(60)[50:]
    table = fake_class.moodle(tmp_path / "in", members)
    policy = policy_of(tmp_path, "[sheets.2]\nbonus = ['query_context']")
    told = {"rosters": (table,), "table": table, "scale": True}
    done = graded(tmp_path / "in", tmp_path / "out", policy=policy, told=told)
    above = sum(one.points == FULL for one in members)
    assert above and f"10 rows filled in, {above} with more than the maximum" in done.filled


@pytest.mark.parametrize("form", ["moodle", "canvas"])
def test_filled_table_names_rows_of_strangers(tmp_path, form):
    members = fake_class.students(60)[50:]
    table = FORMS[form](tmp_path / "in", members)
    columns, rows = tables.read(table, exact=True)
    key, name = ("ID", "Student") if form == "canvas" else ("Identifier", "Full name")
    more = [rows[-1] | {key: f"{77000 + n}", name: f"Stranger {n}"} for n in range(6)]
    longer = tmp_path / "longer.csv"
    tables.write(longer, columns, ([*row.values()] for row in [*rows, *more]))
    told = {"rosters": (table,), "table": longer, "scale": True, "column": "Sheet 2"}
    done = graded(tmp_path / "in", tmp_path / "out", told=told)
    own = ["Points Possible", "Student, Test"] if form == "canvas" else []  # rows of the system
    named = "; ".join([*own, *(f"Stranger {n}" for n in range(6))][:5])
    assert f"10 of {len(rows) + 6} rows belong to your class (not {named} and " in done.filled


@pytest.mark.parametrize("form", ["moodle", "canvas"])
def test_filled_table_names_who_has_no_row(tmp_path, form):
    members = fake_class.students(60)[50:]
    table = FORMS[form](tmp_path / "in", members)
    columns, rows = tables.read(table, exact=True)
    shorter = tmp_path / "shorter.csv"
    tables.write(shorter, columns, ([*row.values()] for row in rows[:-1]))
    told = {"rosters": (table,), "table": shorter, "scale": True, "column": "Sheet 2"}
    done = graded(tmp_path / "in", tmp_path / "out", told=told)
    said = f"; 9 rows filled in; 1 student with points has no row in it: {members[-1].name};"
    name = ", ".join(reversed(members[-1].name.split())) if form == "canvas" else ""
    assert said.replace(members[-1].name, name or members[-1].name) in done.filled


def test_refused_table_keeps_changed_csv(tmp_path):
    members = fake_class.students(60)[50:]
    table = fake_class.moodle(tmp_path / "in", members)
    out, told = tmp_path / "out", {"rosters": (table,)}
    graded(tmp_path / "in", out, told=told)
    given = {"correct": ((members[0].email, "query_context", "1", ""),)}
    strangers = tmp_path / "strangers.csv"
    strangers.write_text("Identifier,Grade\nParticipant 77000,\n")
    with pytest.raises(ValueError, match="nobody on it is in the class"):
        graded(tmp_path / "in", out, told=told | given | {"table": strangers})
    done = graded(tmp_path / "in", out, told=told | {"table": table, "scale": True})
    assert done.changed == 1 and [r["id"] for r in rows_of(out / "changed.csv")] == [
        members[0].email
    ]


def test_tables_open_in_excel_and_hold_no_formula(small):
    _, out = small
    again(small)
    for path in out.glob("*.csv"):
        assert path.read_bytes().startswith(b"\xef\xbb\xbf"), path
        with open(path, encoding="utf-8-sig", newline="") as file:
            cells = [cell for row in csv.reader(file) for cell in row]
        assert not any(cell.startswith(("=", "+", "-", "@")) for cell in cells)
