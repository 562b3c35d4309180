"""Times of a lecture come from what there is to read, and from what there is to try."""

import nbformat
from nbformat.v4 import new_code_cell, new_markdown_cell, new_notebook, new_output

from tools import times


def lecture(core_words=1800, lines=100):
    drawing = new_output("display_data", data={"text/html": "<figure><svg></svg></figure>"})
    long = "\n".join(f"x = {i}" for i in range(lines))
    cells = [
        new_markdown_cell("# A lecture\n\nTime: Core: 1 minutes. About 5 s to run."),
        new_markdown_cell("## A section\n\n" + "word " * (core_words - 4)),
        new_markdown_cell("**Predict, then run.** What comes out?"),
        new_code_cell(long, outputs=[drawing]),
        new_code_cell("hidden\n" * 99, metadata={"tags": ["hide-input"]}),
        new_markdown_cell("**Here the core ends.**"),
        new_markdown_cell("## Deeper"),
        new_markdown_cell("### More\n\n*N minutes. Good for: a task.*\n\n" + "word " * 350),
        new_markdown_cell("### A line\n\n*7 minutes. Good for: nothing.*"),
        new_markdown_cell("## What comes next\n\n" + "word " * 170),
    ]
    notebook = new_notebook(cells=cells)
    notebook.metadata["lamplight"] = {"seconds": 12}
    return notebook


def test_minutes_are_those_of_the_formula():
    core, sections = times.parts(lecture())
    assert (core.lines, core.predictions, core.figures) == (100, 1, 1)
    words = 2 + 1800 + 6 + 4  # title, section, prediction, end
    assert abs(core.words - words) < 5
    assert core.minutes == 31  # 1,820 / 120 + 100 / 8 + 2 + 1 = 30.7
    assert [part.minutes for part in sections] == [3, 1]


def test_what_there_is_to_try_comes_on_top():
    before, _ = times.parts(lecture())
    notebook = lecture()
    quiz = '<style></style><div class="quiz"><fieldset></fieldset><fieldset></fieldset></div>'
    for html in ('<div data-explorable="dials"></div>', quiz, quiz.replace("quiz", "quiz predict")):
        shown = new_output("display_data", data={"text/html": html})
        cell = new_code_cell("show()", outputs=[shown], metadata={"tags": ["remove-input"]})
        notebook.cells.insert(4, cell)
    notebook.cells[3].source += "\ndef added(x, part):\n    return ...  # your line"
    core, _ = times.parts(notebook)
    assert (core.explorables, core.blanks, core.questions) == (1, 1, 2)
    assert core.with_all_to_try - core.minutes == 4 + 4 + 2
    assert before.with_all_to_try == before.minutes


def test_words_are_those_that_a_reader_reads():
    text = ":::{admonition} A box\n:class: tip\nSee [the mask](#far-away) – then go on.\n:::"
    core, _ = times.parts(new_notebook(cells=[new_markdown_cell(text)]))
    assert core.words == 6  # see, the, mask, then, go, on


def test_a_hidden_beginning_of_deeper_is_named():
    notebook = lecture()
    notebook.cells[6].source = "What we showed.\n\n## Deeper"
    assert any("does not begin its cell" in line for line in times.timed(notebook))


def test_times_are_written_once():
    notebook = lecture()
    complaints = times.timed(notebook)
    assert len(complaints) == 3
    text = "\n".join(cell.source for cell in notebook.cells)
    assert (
        "Time: Core: 31 minutes to read, 31 with the interactive parts. Deeper: 4 minutes. "
        "About 15 s to run."
    ) in text
    assert "*1 minute. Good for: nothing.*" in text
    assert times.timed(notebook) == []


def test_a_core_may_not_take_longer_than_an_evening():
    assert times.too_long(lecture()) == []
    (complaint,) = times.too_long(lecture(core_words=7000))
    assert "at most 65" in complaint and "1 predictions" in complaint


def test_a_page_without_a_line_for_the_time_is_named(tmp_path, capsys):
    notebook = lecture()
    notebook.cells[0].source = "# A lecture"
    path = tmp_path / "x.ipynb"
    nbformat.write(notebook, path)
    assert times.main(["--check", str(path)]) == 1
    assert "no line `Time:" in capsys.readouterr().out
    assert times.main([str(tmp_path / "y.ipynb")]) == 2
