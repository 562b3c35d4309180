"""Plans for teaching: no lecture is missing, sums add up, and questions fit their lectures."""

import re
import sys

import nbformat
import pytest

from tests.conftest import ROOT
from tools import times

sys.path.insert(0, str(ROOT / "_ext"))
import sessions
import teaching

LECTURES = teaching.lectures_of(ROOT)
NUMBERS = [lecture.number for lecture in LECTURES]
PLANS = (ROOT / "pages" / "teaching.md").read_text(encoding="utf-8")
QUESTIONS = (ROOT / "pages" / "examination.md").read_text(encoding="utf-8")


def rows(table):
    """The cells of a Markdown table, without its heads."""
    return [[cell.strip() for cell in line.split("|")[1:-1]] for line in table.splitlines()[2:]]


def minutes(cell):
    """45 of `45`, 90 of `**1:30 h**`."""
    hours = re.fullmatch(r"\*\*(\d+):(\d\d)\sh\*\*", cell)
    return 60 * int(hours[1]) + int(hours[2]) if hours else int(cell)


def directives():
    """What each plan of the page asks for: options and lines."""
    for block in re.findall(r"```\{teaching-plan\}\n(.*?)```", PLANS, re.DOTALL):
        options = dict(re.findall(r"^:(\w+): (.*)$", block, re.MULTILINE))
        yield options, re.sub(r"^:.*$", "", block, flags=re.MULTILINE).splitlines()


def plans():
    """Each plan: its parts, and its table."""
    for options, lines in directives():
        parts = teaching.named(LECTURES, lines)
        if "parts" in options:
            parts = teaching.shared_out(LECTURES, options["part"], int(options["parts"]))
        most = int(options["most"]) if "most" in options else None
        yield parts, rows(teaching.plan(parts, most)), most


def test_lectures_have_their_minutes_and_tasks():
    files = sorted((ROOT / "lectures").glob("[0-9][0-9]_*.ipynb"))
    toc = (ROOT / "_toc.yml").read_text(encoding="utf-8")
    assert NUMBERS == [int(f.name[:2]) for f in files if f.stem in toc and f.name[:2] != "00"]
    for lecture in LECTURES:
        notebook = nbformat.read(ROOT / f"{lecture.page}.ipynb", as_version=4)
        core, sections = times.parts(notebook)
        deeper = sum(section.minutes for section in sections)
        assert (lecture.core, lecture.deeper) == (core.with_all_to_try, deeper)
        sheet = ROOT / lecture.sheet
        calls = re.findall(r'check\(\\"(\w+)\\"\)', sheet.read_text()) if sheet.exists() else []
        assert [task.name for task in lecture.tasks] == calls


def test_long_plans_hold_every_lecture():
    """The plan of two weeks holds those that its directive names."""
    twelve, four, two = (parts for parts, _, _ in plans())
    for parts in (twelve, four):
        assert [lecture.number for part in parts.values() for lecture in part] == NUMBERS
    assert len(twelve) == min(12, len(NUMBERS)) and len(four) == 4
    sizes = [len(part) for part in four.values()]
    assert max(sizes) - min(sizes) <= 1
    *_, (_, lines) = directives()
    asked = [int(n) for line in lines for n in line.split()[2:]]
    shown = [lecture.number for part in two.values() for lecture in part]
    assert shown == [n for n in asked if n in NUMBERS] and set(asked) <= set(range(1, 13))


@pytest.mark.parametrize("number", range(3))
def test_minutes_add_up(number):
    parts, table, most = list(plans())[number]
    by_link = {lecture.link: lecture for lecture in LECTURES}
    seen, stated, whole = [], [0, 0, 0], [0, 0, 0]
    for name, core, tasks, theirs, together in table:
        numbers = [minutes(cell) for cell in (core, theirs, together)]
        assert numbers[0] + numbers[1] == numbers[2]
        if "](" in name:
            part, _, link = name.rpartition("**: ")
            lecture = by_link[link]
            kept = numbers_of(tasks)
            took = [task.minutes for task in lecture.tasks if task.number in kept]
            assert numbers[:2] == [lecture.core, sum(took)]
            assert most is None or sum(took) <= most
            if not part:
                stated = [a - b for a, b in zip(stated, numbers, strict=True)]
            whole = [a + b for a, b in zip(whole, numbers, strict=True)]
            seen.append(lecture.number)
        else:
            assert stated == [0, 0, 0]  # what the part before had stated is what it held
            stated = numbers
    assert stated == whole and name == "**In all**"
    assert seen == [lecture.number for part in parts.values() for lecture in part]


def numbers_of(cell):
    """The numbers of tasks that `[1–3, 5](…)` stands for."""
    found = set()
    for run in re.findall(r"(\d+)(?:–(\d+))?", cell.partition("]")[0]):
        first, last = int(run[0]), int(run[1] or run[0])
        found |= set(range(first, last + 1))
    return found


SHEET = """## 1. One

<!-- task: one -->
*4 points · ★☆☆ · about 30 minutes · predict*

## 2. Two

<!-- task: two -->
*6 points · difficulty ★★★ · about 20 minutes · implement · extra*

## 3. Three

<!-- task: three -->
*6 points · difficulty ★★☆ · about 40 minutes · train*
"""


def test_plan_leaves_out_extra_and_overlong_tasks():
    tasks = tuple(teaching.tasks_of(SHEET))
    assert [(task.stars, task.minutes, task.extra) for task in tasks] == [
        ("★", 30, False),
        ("★★★", 20, True),
        ("★★", 40, False),
    ]
    lecture = teaching.Lecture(1, "lectures/01_a", "A", 40, 0, (), tasks)
    assert [task.number for task in teaching.chosen(lecture, None)] == [1, 3]
    assert [task.number for task in teaching.chosen(lecture, 60)] == [1]
    assert teaching.chosen(lecture, 10) == []
    assert teaching.ranges([*tasks]) == "1–3" and teaching.ranges([tasks[0], tasks[2]]) == "1, 3"


@pytest.mark.parametrize("lecture", LECTURES, ids=lambda lecture: str(lecture.number))
def test_every_outcome_and_every_task_has_its_place(lecture):
    assert 4 <= len(lecture.outcomes) <= 6
    table = rows(teaching.outcomes(ROOT, lecture).partition("\n\n")[2])
    assert [row[0] for row in table][: len(lecture.outcomes)] == list(lecture.outcomes)
    places = [
        int(n) for row in table for n in re.findall(r"(?:^|; )(\d+)\N{NO-BREAK SPACE}", row[1])
    ]
    assert sorted(places) == [task.number for task in lecture.tasks]
    practised = sum("Check yourself" not in row[1] for row in table)
    assert practised >= len(lecture.outcomes) / 2 or not lecture.tasks


def test_an_outcome_is_found_in_nearly_the_same_words(tmp_path):
    tasks = tuple(teaching.tasks_of(SHEET))
    folder = tmp_path / "grading" / "tasks" / "lecture_01"
    folder.mkdir(parents=True)
    said = ("say what a {term}`head` is for", "build it *twice*", "bake a cake with cherries")
    for task, outcome in zip(tasks, said, strict=True):
        (folder / f"{task.name}.py").write_text(f"task = TaskFile(outcome={outcome!r})\n")
    promised = ("say what a head is good for", "build it twice", "count its parameters")
    lecture = teaching.Lecture(1, "lectures/01_a", "A", 40, 0, promised, tasks)
    found = teaching.practised(tmp_path, lecture)
    assert [[task.number for task in found[outcome]] for outcome in promised] == [[1], [2], []]
    assert [task.number for task in found[""]] == [3]


SESSIONS = re.findall(
    r"^```\{session\} (\d+)\n(.*?)^```",
    (ROOT / "pages" / "sessions.md").read_text(encoding="utf-8"),
    re.MULTILINE | re.DOTALL,
)


def test_every_lecture_has_a_session_plan():
    assert [int(number) for number, _ in SESSIONS] == [0, *NUMBERS]


@pytest.mark.parametrize(("number", "text"), SESSIONS, ids=[number for number, _ in SESSIONS])
def test_a_session_plan_fits_its_lecture(number, text):
    """Ninety minutes without a gap; headings, votes, explorables and tasks that exist."""
    plan, lecture = sessions.plan_of(text.splitlines()), sessions.known(ROOT, int(number))
    assert sessions.faults(plan, lecture) == []
    assert all(step.text and step.heard for step in plan.steps)
    shown = {place.kind for step in plan.steps for place in step.places}
    assert {"heading", "vote", "explorable"} <= shown
    assert "task" in shown or not lecture.tasks
    assert sum(place.kind == "vote" for step in plan.steps for place in step.places) >= 4
    assert not re.search(r"[?…!]\*?\. ", sessions.as_table(plan, lecture))  # one stop is enough


MASKS = """0–45 The causal mask; vote "What will the three rows"
Vote.
> *Twelve.*

45–90 Check yourself; task masked_row
Work.
> *Done.*

cut: Nothing."""


@pytest.mark.parametrize(
    ("old", "new", "complaint"),
    [
        ("Vote.", "Vote!", ""),
        ("45–90", "50–90", "50–90 does not follow minute 45"),
        ("45–90", "45–80", "ends at minute 80, not 90"),
        ("45–90", "45–45", "45–45 does not follow minute 45"),
        ("The causal mask", "The casual mask", "has no heading 'The casual mask'"),
        ("The causal mask", "Further reading", "has no heading 'Further reading'"),
        ("the three rows", "the four rows", "has no vote 'What will the four rows'"),
        ("task masked_row", "task masked_rows", "has no task 'masked_rows'"),
        ("task masked_row", "explorable masked_row", "has no explorable 'masked_row'"),
        ("0–45 The", "0–86 The", "86–90: its tasks take 5 minutes"),
    ],
)
def test_faults_of_a_session_plan_are_named(old, new, complaint):
    text = MASKS.replace(old, new)
    if "86" in new:
        text = text.replace("45–90", "86–90")
    found = sessions.faults(sessions.plan_of(text.splitlines()), sessions.known(ROOT, 4))
    assert any(complaint in fault for fault in found) if complaint else found == []


@pytest.mark.parametrize(
    ("text", "complaint"),
    [(MASKS.replace("0–45", "from 0"), "needed minutes"), (MASKS.replace("cut:", "or"), "minutes")],
)
def test_a_part_without_minutes_is_refused(text, complaint):
    with pytest.raises(ValueError, match=complaint):
        sessions.plan_of(text.splitlines())


def test_a_session_takes_ninety_minutes():
    table = PLANS.partition("| minutes | what |")[2].partition("```")[0]
    assert sum(map(int, re.findall(r"^\| (\d+) \|", table, re.MULTILINE))) == 90


def questions():
    """The number of a lecture and the text of each question about it."""
    _, *parts = re.split(r"^## Lecture (\d+)\n", QUESTIONS, flags=re.MULTILINE)
    for number, part in zip(parts[::2], parts[1::2], strict=True):
        yield int(number), re.split(r"^\d\. ", part, flags=re.MULTILINE)[1:]


def test_five_questions_a_lecture():
    found = {number: len(asked) for number, asked in questions()}
    assert found == dict.fromkeys(NUMBERS, 5)


def keyed(guide):
    """The marks of each part of a guide such as `(a) 2 for one thing; 1 for another. (b) …`."""
    _, *parts = re.split(r"\(([a-e])\) ", guide)
    marks = (sum(map(int, re.findall(r"\b(\d) for ", part))) for part in parts[1::2])
    return dict(zip(parts[::2], marks, strict=True))


def shown_in(page):
    """What readers find in a lecture: text and outputs; of a drawing, what it is said to show."""
    found = []
    for cell in nbformat.read(ROOT / f"{page}.ipynb", as_version=4).cells:
        found += [cell.source] if cell.cell_type == "markdown" else []
        for output in cell.get("outputs", []):
            data = output.get("data", {})
            html = data.get("text/html", "")
            drawn = re.findall(
                r"<(?:title|desc)[^>]*>(.*?)</|aria-label=\"([^\"]*)\"", html, re.DOTALL
            )
            html = re.sub(r"<(svg|script|style)\b.*?</\1>", "", html, flags=re.DOTALL)
            found += [output.get("text", ""), html, *(part for pair in drawn for part in pair)]
    return "\n".join(found)


@pytest.mark.parametrize("number", dict(questions()))
def test_marks_add_up_and_figures_match_the_lecture(number):
    (page,) = (lecture.page for lecture in LECTURES if lecture.number == number)
    figures = set(re.findall(r"(?<![\d,.])\d+\.\d+", shown_in(page)))
    for question in dict(questions())[number]:
        marks = int(re.search(r"^\*\*.+?\*\* \*\((\d) marks\)\*", question)[1])
        asked, answer, guide = re.split(r"\*A good answer\.\*|\*Marks\.\*", question)
        parts = re.findall(r"^   - \(([a-e])\) .+ \*\((\d)(?:, recall)?\)\*$", asked, re.MULTILINE)
        assert keyed(guide) == {letter: int(mark) for letter, mark in parts}, question[:40]
        assert re.findall(r"^   - \(([a-e])\) ", answer, re.MULTILINE) == [p for p, _ in parts]
        assert sum(keyed(guide).values()) == marks and len(parts) > 1
        assert len(answer.split()) >= 30
        for figure in re.findall(r"(?<![\d,.])\d+\.\d+", asked):
            assert figure in figures, f"lecture {number} does not show {figure}"


def test_papers_and_kinds_name_the_questions():
    """The papers have their marks in their time; each question is in one row by what it asks."""
    head = QUESTIONS.partition("\n## Lecture 1\n")[0]
    marks = {
        f"{number}.{i}": int(re.search(r"\((\d) marks\)", question)[1])
        for number, asked in questions()
        for i, question in enumerate(asked, 1)
    }
    papers, kinds = (rows(part) for part in re.findall(r"(?:^\|.*\n)+", head, re.MULTILINE))
    for name, named_questions, stated in papers:
        whole = sum(marks[name] for name in named_questions.split(", "))
        assert whole == int(stated)
        assert 0 <= int(re.search(r"(\d+) minutes", name)[1]) - 2 * whole <= 2
    listed = [name for _, named_questions in kinds for name in named_questions.split(", ")]
    assert sorted(listed) == sorted(marks)
    in_prose = re.findall(r"\b(\d+\.\d)\b", head.replace("such as 4.2 means", ""))
    assert set(in_prose) <= set(marks)
