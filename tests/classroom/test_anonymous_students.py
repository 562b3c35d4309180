"""Anonymous submissions: marks follow their students once names are known."""

import sqlite3

import pytest

from classroom.intake.owners import owner_of, settled
from classroom.options import Options
from classroom.pipeline import grade_class
from classroom.sheets import plain_words
from tests.classroom import fake_class
from tests.classroom.class_runs import (
    FORMS,
    GRADED,
    TEXTS,
    fill,
    graded,
    points_of,
    policy_of,
    rows_of,
)
from tests.classroom.fake_class import FULL, LATER, RIGHT, run_here, sheet
from tests.grading.sample_tasks import notebook

pytestmark = pytest.mark.grader


def test_settled_path_is_independent_of_the_layout():
    ways = (
        "a.zip/Ada_7_{}file/x/y.ipynb",
        "Participant_7_{}file_/x/y.ipynb",
        "Bea_7_{}file_x/y.ipynb",
    )
    assert {settled(way.format("assignsubmission_")) for way in ways} == {
        "7_assignsubmission_file_/x/y.ipynb"
    }
    assert (
        settled("Ada_7_assignsubmission_file_a\nb.ipynb") == "7_assignsubmission_file_/a\nb.ipynb"
    )
    assert settled("ada/x.ipynb") == "ada/x.ipynb"


@pytest.mark.parametrize(("first", "then"), [("_", "/"), ("/", "_"), ("_/", "_"), ("_", "_/")])
def test_other_download_layout_keeps_choices(tmp_path, first, then):
    """Moodle's zip with folders and without, blind and then with names."""
    members = [fake_class.Made(n, f"Same Name{n % 2}") for n in (901, 902, 903)]
    later = {"b.ipynb": (sheet(fake_class.HALF), LATER + 9)}
    stub = {"b.ipynb": (sheet(fake_class.STUB), LATER + 9)}  # to be looked at
    members[0].files = {"a.ipynb": (sheet(RIGHT), LATER)} | later
    members[1].files = {"a.ipynb": (sheet(RIGHT), LATER)} | stub
    members[2].files = {"a.zip": (fake_class.mac_zip(sheet(RIGHT)), LATER)}
    out, file = tmp_path / "out", f"Participant_901_assignsubmission_file{first}a.ipynb"
    table = fake_class.moodle(tmp_path / "blind", members, blind=True, layout=first)
    done = graded(tmp_path / "blind", out, told={"rosters": (table,), "count": (file,)})
    assert done.open_items == 1
    fill(out / "look.csv", lambda row: row.update(seen="E"))
    for folder, blind in (("again", True), ("named", False)):
        table = fake_class.moodle(tmp_path / folder, members, blind=blind, layout=then)
        done = graded(tmp_path / folder, out, told={"rosters": (table,)})
        assert (done.open_items, done.changed) == (0, 0)
        assert set(points_of(out).values()) == {FULL}
        with sqlite3.connect(out / "grades.sqlite") as base:
            assert base.execute("SELECT count(*) FROM submission").fetchone() == (3,)


def a_blind_week(tmp_path, form="moodle"):
    """Four students; what persons gave them while they were numbers; the points they must have."""
    members = [fake_class.Made(n, f"Same Name{n % 2}") for n in (901, 902, 903, 904)]
    for one, answers in zip(members, (RIGHT, fake_class.HALF, RIGHT), strict=False):
        text = {"essay": f"essay = 'By {one.number}.'"}
        one.files = {"a.ipynb": (sheet(answers | text), LATER)}
    members[2].files["b.ipynb"] = (sheet(fake_class.STUB), LATER + 9)  # to be looked at
    members[0].files["b.ipynb"] = (sheet(fake_class.HALF), LATER + 9)  # a person chooses the first
    names = {one.number: f"Participant {one.number}" for one in members}
    place = "Participant_901_assignsubmission_file/a.ipynb"
    rosters = ()
    if form == "canvas":
        fake_class.canvas(tmp_path / "blind", members, anonymous=True)
        names = {one.number: f"anon_{one.number:05}" for one in members}
        place = "submissions.zip/anon_00901_18010_a.ipynb"
    else:
        rosters = (fake_class.moodle(tmp_path / "blind", members, blind=True),)
    told = {"term": tmp_path / "term", "rosters": rosters}
    out = tmp_path / "term" / "sheet-2"
    graded(tmp_path / "blind", out, tasks=TEXTS, told=told | {"count": (place,)})

    def mark(row):
        if row["id"] == names[903]:
            row.update(points="2.5", comment="Rows.", author="Eva")

    fill(out / "written.csv", mark)
    fill(out / "look.csv", lambda row: row.update(seen="E"))
    given = [(names[902], "stable_softmax", "7", "Right idea.")]
    wanted = {901: FULL, 902: 7.0, 903: FULL + 2.5, 904: 0.0}
    if rosters:  # without a roster nobody is known who handed in nothing
        given.append((names[904], "query_context", "3", "Told me."))
        wanted[904] = 3.0
    graded(tmp_path / "blind", out, tasks=TEXTS, told=told | {"correct": tuple(given)})
    graded(tmp_path / "blind", out, tasks=TEXTS, told=told)
    found = points_of(out)
    assert {n: found.get(names[n], 0.0) for n in wanted} == wanted
    return members, out, wanted


def named(tmp_path, members, out, folder, **told):
    return graded(tmp_path / folder, out, tasks=TEXTS, told={"term": tmp_path / "term"} | told)


def everything_is_their_own(tmp_path, out, wanted, id_of):
    """Each student has the points of the participant, once, in every table and in the database."""
    wanted = {id_of(n): points for n, points in wanted.items()}
    assert points_of(out) == wanted
    totals = {row["id"]: float(row["points"]) for row in rows_of(tmp_path / "term" / "totals.csv")}
    assert totals == wanted
    assert not (tmp_path / "term" / "blind.csv").exists()
    with sqlite3.connect(tmp_path / "term" / "grades.sqlite") as base:
        sums = dict(base.execute("SELECT student, sum(points) FROM grade GROUP BY student"))
        counting = base.execute("SELECT count(*) FROM submission WHERE counts").fetchone()
        others = base.execute("SELECT count(*) FROM student").fetchone()
    assert (sums, counting, others) == (wanted, (3,), (len(wanted),))
    row = next(row for row in rows_of(out / "written.csv") if row["id"] == id_of(903))
    assert (row["points"], row["comment"], row["author"]) == ("2.5", "Rows.", "Eva")
    assert all(
        row["seen"] for row in rows_of(out / "look.csv") if "contains no answers" in row["what"]
    )


@pytest.mark.parametrize("folder", ["blind", "named"], ids=["the same files", "a new download"])
def test_blind_marks_follow_their_students(tmp_path, folder):
    members, out, wanted = a_blind_week(tmp_path)
    table = fake_class.moodle(tmp_path / "named", members)  # its worksheet has the same numbers
    for _ in range(2):
        named(tmp_path, members, out, folder, rosters=(table,))
        everything_is_their_own(tmp_path, out, wanted, lambda n: f"s{n}@example.org")
    # a marker's table still says the number
    (tmp_path / "late.csv").write_text("id,task,points\nParticipant 902,essay,1\n")
    named(tmp_path, members, out, folder, rosters=(table,), points=(tmp_path / "late.csv",))
    assert points_of(out)["s902@example.org"] == 8
    with pytest.raises(ValueError, match="no student has the identifier 'u902'"):
        named(tmp_path, members, out, folder, correct=(("u902", "essay", "1", ""),))


def test_waiting_blind_marks_follow_their_students(tmp_path):
    """Marks that were typed in and not yet read."""
    members, out, wanted = a_blind_week(tmp_path)
    fill(out / "written.csv", lambda row: row.update(points=row["points"] or "1"))
    (tmp_path / "saved.csv").write_bytes((out / "written.csv").read_bytes())
    table = fake_class.moodle(tmp_path / "named", members)
    told = {"rosters": (table,)}
    wanted |= {901: wanted[901] + 1, 902: wanted[902] + 1}
    assert named(tmp_path, members, out, "named", **told).waiting == 0
    assert points_of(out) == {f"s{n}@example.org": points for n, points in wanted.items()}
    (out / "written.csv").write_bytes((tmp_path / "saved.csv").read_bytes())  # saved once more
    assert named(tmp_path, members, out, "named", **told).waiting == 0
    assert points_of(out) == {f"s{n}@example.org": points for n, points in wanted.items()}


def class_table(tmp_path, *numbers):
    """A list of the class without Moodle's numbers."""
    lines = ["id,name,email", *(f"u{n},Same Name{n % 2},s{n}@example.org" for n in numbers)]
    (tmp_path / "class.csv").write_text("\n".join(lines), encoding="utf-8")
    return (tmp_path / "class.csv",)


def pairs_table(tmp_path, text):
    (tmp_path / "pairs.csv").write_text(text, encoding="utf-8")
    return (tmp_path / "pairs.csv",)


def test_participants_table_identifies_students(tmp_path):
    members, out, wanted = a_blind_week(tmp_path)
    roster = class_table(tmp_path, *wanted)
    text = "participant,email\n901,s901@example.org\nParticipant 902,S902@example.org\n"
    pairs = pairs_table(tmp_path, text + "903,s903@example.org\n")
    named(tmp_path, members, out, "blind", rosters=roster, participants=pairs)
    # one is nobody's still: in no total, listed, and the others are whole
    assert points_of(out) == {"u901": FULL, "u902": 7, "u903": FULL + 2.5, "u904": 0}
    [row] = rows_of(tmp_path / "term" / "blind.csv")
    assert (row["participant"], row["points"]) == ("Participant 904", "3")
    totals = {row["id"] for row in rows_of(tmp_path / "term" / "totals.csv")}
    assert totals == {"u901", "u902", "u903", "u904"}
    [said] = [
        row["what"]
        for row in rows_of(out / "look.csv")
        if "nobody gets their points" in row["what"]
    ]
    assert said.endswith("Participant 904")
    # what the table said is kept, and the rest comes by another
    pairs = pairs_table(tmp_path, "participant;id\n904;u904\n")
    named(tmp_path, members, out, "blind", rosters=roster, participants=pairs)
    for rosters in (roster, (tmp_path / "worksheet.csv", *roster)):  # that is the blind one
        everything_is_their_own(tmp_path, out, wanted, lambda n: f"u{n}")
        named(tmp_path, members, out, "blind", rosters=rosters)
    everything_is_their_own(tmp_path, out, wanted, lambda n: f"u{n}")


def test_repaired_participants_table_swaps_back(tmp_path):
    members, out, wanted = a_blind_week(tmp_path)
    roster = class_table(tmp_path, *wanted)
    rest = "903,u903\n904,u904\n"
    pairs = pairs_table(tmp_path, "participant,id\n901,u902\n902,u901\n" + rest)
    named(tmp_path, members, out, "blind", rosters=roster, participants=pairs)
    assert points_of(out) == {"u902": FULL, "u901": 7, "u903": FULL + 2.5, "u904": 3}
    pairs = pairs_table(tmp_path, "participant,id\n901,u901\n902,u902\n")
    named(tmp_path, members, out, "blind", rosters=roster, participants=pairs)
    everything_is_their_own(tmp_path, out, wanted, lambda n: f"u{n}")


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("participant,id\n901,902", "row 2: '902' is not on the roster"),
        ("participant,id\nu901,u902", "row 2: a participant's number"),
        ("participant,id\n901,u999", "row 2: 'u999' is not on the roster"),
        ("participant,id\n901,u901\n902,u901", "row 3: '902' or 'u901' is also in another row"),
        ("participant,id\n901,u901\n901,u902", "row 3: '901' or 'u902' is also in another row"),
        ("participant,id\nAda,u901", "row 2: a participant's number"),
        ("number,id\n901,u901", "wanted are participant, and id or email"),
        ("Identifier,Full name\nParticipant 901,Ada", "Moodle's worksheet with e-mail addresses"),
    ],
)
def test_participants_table_must_not_merge_or_lose(tmp_path, text, said):
    members, out, wanted = a_blind_week(tmp_path)
    before = (out / "grades.csv").read_bytes()
    told = {"rosters": class_table(tmp_path, *wanted), "participants": pairs_table(tmp_path, text)}
    with pytest.raises(ValueError, match=said):
        named(tmp_path, members, out, "blind", **told)
    assert (out / "grades.csv").read_bytes() == before


def test_participants_table_must_match_the_worksheet(tmp_path):
    members, out, _ = a_blind_week(tmp_path)
    table = fake_class.moodle(tmp_path / "named", members)
    pairs = pairs_table(tmp_path, "participant,email\n901,s902@example.org\n")
    with pytest.raises(ValueError, match=r"'moodle 901' is s901@example\.org on the roster"):
        named(tmp_path, members, out, "named", rosters=(table,), participants=pairs)


def test_two_participants_are_never_one_student(tmp_path):
    """Two tables that lead two numbers to one person: nobody gets the other's files or marks."""
    members, out, wanted = a_blind_week(tmp_path)
    table = fake_class.moodle(tmp_path / "named", members)
    (tmp_path / "wrong.csv").write_text(
        "Identifier,Full name,Email address\nParticipant 903,Same Name1,s902@example.org\n"
    )
    fill(table, lambda row: row.update({"Identifier": row["Identifier"].replace("903", "999")}))
    named(tmp_path, members, out, "blind", rosters=(table, tmp_path / "wrong.csv"))
    points = points_of(out)
    assert (points["s901@example.org"], points["s902@example.org"]) == (wanted[901], 0)
    said = " ".join(row["what"] for row in rows_of(out / "look.csv"))
    assert "the tables make one of 902 and 903" in said
    assert "points of Participant 902 and of Participant 903 both lead here" in said


def test_a_number_that_is_two_people_is_refused(tmp_path):
    members, out, _ = a_blind_week(tmp_path)
    table = fake_class.moodle(tmp_path / "named", members)
    other = tmp_path / "other.csv"
    other.write_text("Identifier,Full name,Email address\nParticipant 903,Zoe,zoe@example.org\n")
    with pytest.raises(ValueError, match=r"'moodle 903' is s903@example\.org in another table"):
        named(tmp_path, members, out, "named", rosters=(table, other))


def test_id_like_a_participant_number_is_another(tmp_path):
    members, out, _ = a_blind_week(tmp_path)
    (tmp_path / "class.csv").write_text("id,name\n903,Zoe\n17,Yan\n", encoding="utf-8")
    table = fake_class.moodle(tmp_path / "named", members)
    named(tmp_path, members, out, "named", rosters=(tmp_path / "class.csv", table))
    points = points_of(out)
    assert (points["903"], points["s903@example.org"]) == (0, FULL + 2.5)


def test_anonymous_canvas_is_matched_by_upload_ids(tmp_path):
    members, out, wanted = a_blind_week(tmp_path, "canvas")
    assert {row["name"] for row in rows_of(tmp_path / "term" / "totals.csv")} == set()
    assert len(rows_of(tmp_path / "term" / "blind.csv")) == 3
    table = fake_class.canvas(tmp_path / "named", members)
    named(tmp_path, members, out, "named", rosters=(table,))
    everything_is_their_own(tmp_path, out, wanted, lambda n: f"u{n}")


def test_canvas_marks_late_anonymous_files():
    for name, late in (
        ("LATE_anon_x9yz2_880012_a.ipynb", True),
        ("anon_x9yz2_880012_a.ipynb", False),
    ):
        owner = owner_of(name)
        assert (owner.id, owner.name, owner.late, owner.upload) == ("anon_x9yz2", "", late, 880012)


def test_blind_and_named_weeks_share_students(tmp_path):
    members, out, wanted = a_blind_week(tmp_path)
    for one in members:
        one.number += 300  # Moodle numbers everybody anew
        one.files = {"a.ipynb": (notebook(fake_class.OTHER_SHEET), LATER)}
    table = fake_class.moodle(tmp_path / "five", members)
    fill(
        table,
        lambda row: row.update(
            {"Email address": f"s{int(row['Identifier'][-4:]) - 300}@example.org"}
        ),
    )
    options = Options(lecture=5, rosters=(table,), term=tmp_path / "term", seed=7, scale=True)
    out = tmp_path / "term" / "sheet-5"
    done = grade_class(tmp_path / "five", out, options, tasks=TEXTS, examiner=run_here)
    assert done.blind == 4
    rows = rows_of(tmp_path / "term" / "totals.csv")
    assert {row["id"] for row in rows} == {f"s{n}@example.org" for n in wanted}
    assert {(row["sheet 2"], row["final"]) for row in rows} == {("", "no")}
    page = (tmp_path / "term" / "course.html").read_text(encoding="utf-8")
    assert "Names are not known yet for 4 sheets of: 2." in page
    assert "not submitted: 2" not in page and "Participant" not in page
    for one in members:
        one.number -= 300
    table = fake_class.moodle(tmp_path / "named", members)
    named(tmp_path, members, out, "blind", rosters=(table,))
    rows = {row["id"]: row for row in rows_of(tmp_path / "term" / "totals.csv")}
    assert {id: float(row["sheet 2"]) for id, row in rows.items()} == {
        f"s{n}@example.org": points for n, points in wanted.items()
    }


def test_anonymous_week_takes_no_name_of_another_week(tmp_path):
    """Not even where the numbers of uploads, or of participants, come again."""
    for form, blind in (("canvas", {"anonymous": True}), ("moodle", {"blind": True})):
        place = tmp_path / form
        members = fake_class.students(60)[50:54]
        table = FORMS[form](place / "named", members)
        told = {"rosters": (table,), "term": place / "term"}
        graded(place / "named", place / "term" / "sheet-2", told=told)
        before = rows_of(place / "term" / "totals.csv")
        assert sum(float(row["points"]) for row in before) > 0
        for one in members:
            one.files = {"a.ipynb": (notebook(fake_class.OTHER_SHEET), LATER)}
        (place / "more").mkdir()
        table = FORMS[form](place / "more" / "blind", members, **blind)
        rosters = () if form == "canvas" else (table,)
        options = Options(lecture=5, term=place / "term", rosters=rosters, seed=7, scale=True)
        handed_in, out = place / "more" / "blind", place / "term" / "sheet-5"
        done = grade_class(handed_in, out, options, tasks=GRADED, examiner=run_here)
        assert (done.renamed, done.blind) == (0, 4)
        after = rows_of(place / "term" / "totals.csv")
        assert [row["id"] for row in after] == [row["id"] for row in before]
        assert [row["points"] for row in after] == [row["points"] for row in before]


@pytest.mark.parametrize("form", ["moodle", "canvas"])
def test_blind_week_reports_nobody_as_missing(tmp_path, form):
    """A roster cannot tell who handed in nothing."""
    members = [fake_class.Made(n, f"Same Name{n % 2}") for n in (901, 902, 903)]
    for one in members[:2]:
        one.files = {"a.ipynb": (sheet(RIGHT), LATER)}
    hidden = {"anonymous": True} if form == "canvas" else {"blind": True}
    table = FORMS[form](tmp_path / "blind", members, **hidden)
    class_table(tmp_path, *(one.number for one in members))
    policy = policy_of(tmp_path, "roster = 'class.csv'")
    rosters = () if form == "canvas" else (table,)
    out, told = tmp_path / "term" / "sheet-2", {"term": tmp_path / "term", "rosters": rosters}
    done = graded(tmp_path / "blind", out, policy=policy, told=told)
    assert done.counts["graded"] == 2 and not done.open_items
    assert all(
        row["id"].startswith(("Participant", "anon_")) for row in rows_of(out / "grades.csv")
    )
    assert rows_of(tmp_path / "term" / "totals.csv") == []
    assert "not submitted" not in (tmp_path / "term" / "course.html").read_text()
    rows_named = {f"u{n}" for n in (901, 902, 903)} | {f"s{n}@example.org" for n in (901, 902, 903)}
    place = tmp_path / "again"
    place.mkdir()
    table = FORMS[form](place / "named", members)
    told["rosters"] = (table, tmp_path / "class.csv")
    graded(place / "named", out, policy=policy, told=told)
    rows = rows_of(tmp_path / "term" / "totals.csv")
    assert {row["id"] for row in rows} <= rows_named and len(rows) == 3
    assert sorted(float(row["points"]) for row in rows) == [0, FULL, FULL]


def test_what_students_read_has_no_marks_of_a_page():
    said = "say what {term}`query`, {term}`keys <key>` and {ref}`this <a-b>` are"
    assert plain_words(said) == "say what query, keys and this are"


def test_an_extension_holds_by_number_and_by_e_mail(tmp_path):
    members, out, _ = a_blind_week(tmp_path)
    (tmp_path / "worksheet.csv").rename(tmp_path / "blind.csv")
    table = fake_class.moodle(tmp_path / "named", members)
    days = "[late]\ntimes = 'times.csv'\npercent_per_day = 50\n[sheets.2]\ndue = 2026-11-02"
    (tmp_path / "times.csv").write_text(
        "id,handed\n" + "".join(f"Participant {n},2026-11-03T10:00\n" for n in (901, 902))
    )
    text = days + "\nextensions = { 'Participant 901' = 2026-11-09 }"
    for rosters in ((tmp_path / "blind.csv",), (table,)):
        policy = policy_of(tmp_path, text)
        told = {"rosters": rosters, "term": tmp_path / "term"}
        graded(tmp_path / "blind", out, tasks=TEXTS, policy=policy, told=told)
        late = {row["id"]: row["days late"] for row in rows_of(out / "grades.csv")}
        assert sorted(late.values()) == ["", "", "", "1"]
    # one by e-mail waits while nobody has a name, and holds then
    text = text.replace("Participant 901", "s901@example.org")
    for rosters, days, waits in (((tmp_path / "blind.csv",), ["1", "1"], 1), ((table,), ["1"], 0)):
        policy, told = policy_of(tmp_path, text), {"rosters": rosters, "term": tmp_path / "term"}
        graded(tmp_path / "blind", out, tasks=TEXTS, policy=policy, told=told)
        rows = rows_of(out / "grades.csv")
        assert [row["days late"] for row in rows if row["days late"]] == days
        looks = [row["what"] for row in rows_of(out / "look.csv")]
        assert (
            sum(what.startswith("the extension of s901@example.org applies") for what in looks)
            == waits
        )


def test_extension_waits_until_its_owner_is_known(tmp_path):
    waits = (
        "the extension of s901@example.org applies once names are known; return grades after that"
    )
    text = "[late]\ntimes = 'times.csv'\n[sheets.2]\ndue = 2026-11-02"
    text += "\nextensions = { 's901@example.org' = 2026-11-09 }"
    (tmp_path / "times.csv").write_text("id,handed\n")
    for form in ("moodle", "canvas"):
        place = tmp_path / form
        place.mkdir()
        _, out, wanted = a_blind_week(place, form)
        rosters = ()
        if form == "moodle":  # beside the list of the class, which knows the owner
            rosters = (*class_table(place, *wanted), place / "worksheet.csv")
        told = {"term": place / "term", "rosters": rosters}
        graded(place / "blind", out, tasks=TEXTS, policy=policy_of(tmp_path, text), told=told)
        looks = [row["what"] for row in rows_of(out / "look.csv")]
        assert looks.count(waits) == 1


def test_same_email_is_the_same_student(tmp_path):
    members, out, wanted = a_blind_week(tmp_path)
    table = fake_class.moodle(tmp_path / "named", members)
    named(tmp_path, members, out, "named", rosters=(table,))
    roster = (*class_table(tmp_path, *wanted), table)
    named(tmp_path, members, out, "named", rosters=roster)
    everything_is_their_own(tmp_path, out, wanted, lambda n: f"u{n}")
