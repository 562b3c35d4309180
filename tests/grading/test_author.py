"""What a task's file is written with: decorators, the marked cell, numbers, and `make task`."""

import re
import subprocess
import types

import nbformat
import pytest

from grading import author, generate
from grading.author import stub
from grading.feedback import messages
from grading.generate import with_task_lines
from tests.conftest import ROOT
from tools import new_task

SOURCE = '''\
"""A task."""

from grading.author import Case, TaskFile

task = TaskFile("implement", points=5, minutes=5, outcome="double")


# %% the cell
def doubled(x):
    #| return x + 1
    # BEGIN SOLUTION
    return 2 * x
    # END SOLUTION


# %%

task.as_given("This is the code as given.")
task.mistake("Squared.", lambda x: x**2)


@task.mistake("As it was.")
def same(x):
    return x


@task.alternative
def by_adding(x):
    return x + x


task.mistake("Far off.", *(lambda x, n=n: n for n in (8, 9)))


@task.cases
def cases(seed):
    return [Case((3,))]
'''


def made(tmp_path, source):
    """The module of a task's file."""
    file = tmp_path / "doubled.py"
    file.write_text(source, encoding="utf-8")
    module = types.ModuleType("grading.tasks.lecture_03.doubled")
    module.__file__ = str(file)
    exec(compile(source, str(file), "exec"), module.__dict__)
    return module


def built(module):
    return module.task.build(module)


@pytest.mark.parametrize(
    "change", [("@task.mistake(", "task.mistake("), (", lambda x: x**2)", ")")]
)
def test_a_known_mistake_without_an_answer_is_refused(tmp_path, change):
    with pytest.raises(ValueError, match=r"no answer for \['(As it was|Squared)\.'\]"):
        built(made(tmp_path, SOURCE.replace(*change)))


@pytest.fixture
def module(tmp_path):
    module = made(tmp_path, SOURCE)
    return module


def test_file_collects_answers_in_order(module):
    made = built(module)
    assert (made.name, made.lecture, made.reference(3)) == ("doubled", 3, 6)
    assert [m.why for m in made.mistakes] == [
        "This is the code as given.",
        "Squared.",
        "As it was.",
        "Far off.",
        "Far off.",
    ]
    assert [m.answer(3) for m in made.mistakes] == [4, 9, 3, 8, 9]
    assert [answer(3) for answer in made.alternatives] == [6]
    assert [case.args for case in made.cases(0)] == [(3,)]


def test_cases_that_never_tell_are_refused(tmp_path):
    """9 is three squared, and far off."""
    source = SOURCE.replace('outcome="double"', 'outcome="double", redraw=True')
    task = built(made(tmp_path, source))
    with pytest.raises(ValueError, match="of 50 draws none tells all known mistakes apart"):
        task.cases(0)
    source = source.replace("(8, 9)", "(8, 10)")
    assert built(made(tmp_path, source)).cases(0) == [author.Case((3,))]


def test_two_at_once_applies_both_edits(tmp_path):
    """A pair is made only where both edits find their words."""
    edits = (
        'task.edit("Tripled.", "2 * x", "3 * x")\ntask.edit("Added.", "return", "return 1 +")\n'
        'task.edit("Other.", "2 *", "5 *")\n'
    )
    source = (SOURCE + edits).replace('"double")', '"double", two_at_once=True)')
    found = {pair.whys: pair.answer(2) for pair in built(made(tmp_path, source)).pairs()}
    assert found == {("Tripled.", "Added."): 7, ("Added.", "Other."): 11}
    assert built(made(tmp_path, SOURCE + edits)).pairs is None


AROUND = """
task.edit("Tripled.", "2 * x", "3 * x")


@task.mistake("Negative.")
def negative(x):
    return -doubled(x)


@task.mistake("Nothing.")
def nothing(x):
    return 0
"""


def test_two_at_once_edits_what_a_mistake_calls(tmp_path):
    source = (SOURCE + AROUND).replace('"double")', '"double", two_at_once=True)')
    found = {pair.whys: pair.answer(2) for pair in built(made(tmp_path, source)).pairs()}
    assert found == {("Tripled.", "Negative."): -6}


CLASSES = """

class Parts:
    def __init__(self, x):
        self.value = self.outer(self.inner(x))

    def inner(self, x):
        return 2 * x

    def outer(self, x):
        return x


@task.mistake("Tripled.")
class Tripled(Parts):
    def inner(self, x):
        return 3 * x


@task.mistake("Halved.")
class Halved(Parts):
    def inner(self, x):
        return x / 2


@task.mistake("Added.")
class Added(Parts):
    def outer(self, x):
        return x + 1


@task.mistake("Nothing.")
class Nothing(Added):
    def outer(self, x):
        return 0
"""


def test_two_at_once_joins_classes(tmp_path):
    source = (SOURCE + CLASSES).replace('"double")', '"double", two_at_once=True)')
    found = {pair.whys: pair.answer(2).value for pair in built(made(tmp_path, source)).pairs()}
    tripled, halved = ("Tripled.", "Added."), ("Halved.", "Added.")
    nothing = {("Tripled.", "Nothing."): 0, ("Halved.", "Nothing."): 0}
    assert found == {tripled: 7, halved: 2.0, **nothing}


def test_a_task_that_cannot_be_read_is_named(monkeypatch, capsys):
    """By its own file, and not as a fault of the first notebook."""

    def unreadable():
        raise ValueError("lecture_03/doubled.py: got nothing named doubled")

    monkeypatch.setattr(generate, "all_tasks", unreadable)
    assert generate.main(check=True) == 1
    said = "grading/tasks: lecture_03/doubled.py: got nothing named doubled\n"
    assert capsys.readouterr().out == said


@pytest.mark.parametrize(
    ("change", "said"),
    [
        (("def doubled(x)", "def tripled(x)"), "nothing named doubled"),
        (
            ('"Squared.", lambda x: x**2)', '"Squared.", 9)\ntask.edit("E.", "3 *", "4 *")'),
            "'3 \\*'",
        ),
    ],
)
def test_a_file_that_does_not_fit_its_cell_is_refused(tmp_path, change, said):
    with pytest.raises(ValueError, match=said):
        built(made(tmp_path, SOURCE.replace(*change)))


@pytest.mark.parametrize("sides", ["correct correct", "incorrect correct"])
def test_choice_reasons_agree_with_the_key(tmp_path, sides):
    """A reason turned round is noticed."""
    source = (
        "from grading.author import TaskFile, correct, incorrect\n"
        'reasons = {"a": %s("Yes."), "b": %s("No.")}\n'
        'task = TaskFile("choose", points=1, minutes=1, outcome="x", reasons=reasons)\n'
        'doubled = {"a"}\n'
    )
    known = built(made(tmp_path, source % ("correct", "incorrect"))).mistakes
    assert [(mistake.answer, mistake.why) for mistake in known] == [("a", "Yes."), ("b", "No.")]
    with pytest.raises(ValueError, match="reasons that are correct"):
        built(made(tmp_path, source % tuple(sides.split())))


def test_a_file_has_one_cell(tmp_path):
    file = tmp_path / "twice.py"
    for text in ("x = 1\n", "# %% the cell\nx = 1\n# %%\n" * 2):
        file.write_text(text, encoding="utf-8")
        with pytest.raises(ValueError, match=r"twice\.py, parts marked '# %% the cell'"):
            author.cell_of(file)


@pytest.mark.parametrize(
    "source",
    [
        "# BEGIN SOLUTION\nx = 1",
        "x = 1\n# END SOLUTION",
        "# BEGIN SOLUTION\n# BEGIN SOLUTION\n# END SOLUTION",
    ],
)
def test_unbalanced_marks_are_an_error(source):
    with pytest.raises(ValueError, match="BEGIN SOLUTION"):
        stub(source)


def test_stub_keeps_code_outside_and_uncovers_the_bug():
    source = (
        "def f(x):\n    #| return x * 2\n    # BEGIN SOLUTION\n    return x\n    # END SOLUTION"
    )
    assert stub(source) == "def f(x):\n    return x * 2"


# ------------------------------------------------------------------ numbers in the notebook


def sheet(*names, said=""):
    cells = []
    for name in names:
        text = f"## 7. About {name}\n\n<!-- task: {name} -->\n\nWrite it."
        cells += [nbformat.v4.new_markdown_cell(text), nbformat.v4.new_code_cell(check(name))]
    return nbformat.v4.new_notebook(cells=[*cells, nbformat.v4.new_markdown_cell(said)])


def check(name):
    return f'check("{name}")'


def test_headings_and_mentions_of_tasks_are_numbered():
    one, two = "batch_mask", "tree_mask"
    for said in (f"Task ?<!-- {two} --> is next.", f"Task 9<!-- {two} --> is next."):
        made = with_task_lines(sheet(one, two, said=said))
        heads = [cell.source.partition(" About")[0] for cell in made.cells[:4:2]]
        assert heads == ["## 1.", "## 2."]
        assert made.cells[-1].source == f"Task 2<!-- {two} --> is next."
        moved = with_task_lines(sheet(two, one, said=said))
        assert moved.cells[-1].source == f"Task 1<!-- {two} --> is next."


@pytest.mark.parametrize("said", ["See task 3.", "Tasks 3 and 11 do.", "Task\n4", "task 3's"])
def test_a_number_of_a_task_without_a_mark_is_an_error(said):
    with pytest.raises(ValueError, match="what is said of a task"):
        with_task_lines(sheet("batch_mask", said=said))


def test_a_mark_names_a_task_of_the_sheet():
    with pytest.raises(ValueError, match="no_such_task"):
        with_task_lines(sheet("batch_mask", said="Task 1<!-- no_such_task -->"))


def test_the_model_answer_comes_from_the_tasks_file():
    name = "batch_mask"
    path = next((ROOT / "grading" / "tasks").glob(f"*/{name}.py"))
    cell = with_task_lines(sheet(name)).cells[1].source
    assert cell == f'{author.cell_of(path)}\n\n\ncheck("{name}")'


# ------------------------------------------------------------------ make task


@pytest.fixture
def project(tmp_path):
    tasks = tmp_path / "grading" / "tasks" / "lecture_04"
    tasks.mkdir(parents=True)
    listed = '"""Tasks of lecture 4."""\n\nTASKS = [\n    "tree_mask",\n]\n'
    (tasks / "__init__.py").write_text(listed, encoding="utf-8")
    (tmp_path / "solutions").mkdir()
    cells = [nbformat.v4.new_markdown_cell("# Masks"), nbformat.v4.new_code_cell("progress(4)")]
    text = nbformat.writes(nbformat.v4.new_notebook(cells=cells))
    (tmp_path / "solutions" / "04_masks.ipynb").write_text(text, encoding="utf-8")
    return tmp_path


def test_a_task_is_begun_with_an_example_that_holds(project):
    file, notebook = new_task.begin(project, 4, "hidden_words")
    module = types.ModuleType("grading.tasks.lecture_04.hidden_words")
    module.__file__ = str(file)
    exec(compile(file.read_text(encoding="utf-8"), str(file), "exec"), module.__dict__)
    task = built(module)
    assert len(task.mistakes) == 5 and task.alternatives and len(task.cases(0)) == 2
    listed = (project / "grading" / "tasks" / "lecture_04" / "__init__.py").read_text("utf-8")
    assert (
        listed
        == '"""Tasks of lecture 4."""\n\nTASKS = [\n    "tree_mask",\n    "hidden_words",\n]\n'
    )
    cells = [cell.source for cell in nbformat.read(notebook, as_version=4).cells]
    assert cells[0] == "# Masks" and cells[-1] == "progress(4)"
    assert re.search("<!-- task: hidden_words -->", cells[1]) and cells[2] == check("hidden_words")


@pytest.mark.parametrize(
    ("lecture", "name", "said"),
    [(4, "not a name", "a Python name"), (4, "taken", "already"), (5, "new", "no notebook")],
)
def test_what_cannot_be_begun_is_refused(project, lecture, name, said):
    (project / "grading" / "tasks" / "lecture_04" / "taken.py").touch()
    with pytest.raises(ValueError, match=said):
        new_task.begin(project, lecture, name)


def test_shared_sentences_are_used_twice_or_more():
    """Otherwise it belongs above its function."""
    files = [path.read_text(encoding="utf-8") for path in (ROOT / "grading/tasks").rglob("*.py")]
    public = {name: it for name, it in vars(messages).items() if name.isupper() and name[0] != "_"}
    shared = {name: text for name, text in public.items() if isinstance(text, str)}
    assert len(shared) > 5
    for name, sentence in shared.items():
        assert sum(bool(re.search(rf"\b{name}\b", text)) for text in files) >= 2, name
        assert sentence.endswith((".", "!", "?"))


def test_a_sheet_leaves_out_what_jupytext_left():
    """Or it would differ from the sheet that is made after the solution was executed."""
    path = ROOT / "solutions/04_masks.ipynb"
    solution = nbformat.read(path, as_version=4)
    wanted = generate.exercise_from(solution)
    for cell in solution.cells:
        if cell.cell_type == "code":
            cell.metadata["lines_to_next_cell"] = 2
    assert generate.exercise_from(solution) == wanted


def test_generate_keeps_a_sheet_with_work_in_it(tmp_path, monkeypatch):
    """git's own version may be, and so may what was written here, committed or not."""
    monkeypatch.setattr(generate, "WRITTEN", tmp_path / ".written")
    sheet = tmp_path / "04_masks.ipynb"
    assert not generate.worked_in(sheet)
    git = ["git", "-c", "user.name=test", "-c", "user.email=test@example.org"]
    sheet.write_text("as it is", encoding="utf-8")
    for command in (["init", "--quiet"], ["add", "."], ["commit", "--quiet", "--message", "one"]):
        subprocess.run([*git, *command], cwd=tmp_path, check=True)
    assert not generate.worked_in(sheet)
    sheet.write_text("made anew", encoding="utf-8")
    assert generate.worked_in(sheet)
    generate._remember("made anew")
    assert not generate.worked_in(sheet)
    sheet.write_text("answer = 42", encoding="utf-8")
    assert generate.worked_in(sheet)


def test_numbers_of_tasks_follow_their_sheets():
    """In lectures and session plans, which mark the tasks that they speak of."""
    number = {"first": "1", "second": "2"}
    text = "tasks 7<!-- second --> and ?<!-- first -->"
    assert generate.numbered(text, number) == "tasks 2<!-- second --> and 1<!-- first -->"
    with pytest.raises(ValueError, match="third"):
        generate.numbered("task 3<!-- third -->", number)
    unmarked = {}
    for path in generate.about_tasks():
        text = path.read_text(encoding="utf-8")
        if path.suffix == ".ipynb":
            cells = nbformat.reads(text, as_version=4).cells
            text = "\n".join(cell.source for cell in cells if cell.cell_type == "markdown")
        unmarked[path.stem] = generate.UNMARKED.findall(text)
    assert not any(unmarked.values()), unmarked
