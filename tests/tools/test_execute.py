"""What `make execute` stores beside the outputs themselves."""

import os
import time
from types import SimpleNamespace

import nbformat
import pytest
from nbformat.v4 import new_code_cell, new_markdown_cell, new_notebook, new_output

from helpers.viz import plotting
from tools import execute

SHOWN = [new_output("stream", name="stdout", text="0.25\n")]
ASK = 'from helpers.viz.quiz import predict\n\npredict("What?", answer=0.25, reason="So.")'


def notebook():
    return new_notebook(
        cells=[
            new_markdown_cell("Text."),
            new_code_cell("before", outputs=SHOWN, metadata={"tags": ["hide-output"]}),
            new_markdown_cell("**Predict, then run**: how much?"),
            new_code_cell(ASK, outputs=SHOWN, metadata={"tags": ["remove-input"]}),
            new_code_cell("silent"),
            new_code_cell("guessed", outputs=SHOWN, metadata={"tags": ["hide-input"]}),
            new_code_cell("drawn", outputs=SHOWN),
            new_markdown_cell("A quarter."),
            new_code_cell("after", outputs=SHOWN),
        ]
    )


def test_only_output_after_a_prediction_is_folded():
    cells = notebook()
    execute.fold_predictions(cells)
    code = [cell for cell in cells.cells if cell.cell_type == "code"]
    folded = [cell.source for cell in code if execute.is_folded(cell)]
    assert folded == ["guessed", "drawn"]
    assert code[3].metadata["tags"] == ["hide-input", "hide-output"]
    assert code[1].metadata == {"tags": ["remove-input"]}
    assert code[0].metadata == {}


def test_folding_twice_is_folding_once():
    once = notebook()
    execute.fold_predictions(once)
    before = [dict(cell.metadata) for cell in once.cells]
    execute.fold_predictions(once)
    assert [dict(cell.metadata) for cell in once.cells] == before


def test_a_prediction_that_is_moved_away_unfolds():
    moved = notebook()
    execute.fold_predictions(moved)
    del moved.cells[2]
    execute.fold_predictions(moved)
    assert not any(execute.is_folded(cell) for cell in moved.cells)
    assert "outputs_hidden" not in str(moved)


# ------------------------------------------------------------------ diffs stay quiet

TIMED = """import time
from matplotlib import pyplot as plt
from helpers.viz.plotting import show, use_style
use_style()"""
DRAW = """fig, ax = plt.subplots()
ax.plot(taken)
show(fig, "A line that differs in each run.", measured=True)"""
# Of one size and far below a million, or the axis is labelled in another way: another kind.
CELLS = (TIMED, "taken = [300_000 + time.time_ns() % 90_001, 5, scale]", DRAW, "print(1)")


CPU_SECONDS = execute.cpu_seconds


@pytest.fixture(scope="module", autouse=True)
def one_second():
    """Every run takes a second, so that no test hangs on the machine."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(execute, "cpu_seconds", lambda client: 1.0)
        yield


@pytest.fixture(scope="module")
def executed(tmp_path_factory):
    """A small notebook with a figure that differs in every run, executed once."""
    path = tmp_path_factory.mktemp("quiet") / "quiet.ipynb"
    cells = [new_code_cell(source) for source in ("scale = 1", *CELLS)]
    nbformat.write(new_notebook(cells=cells), path)
    execute.execute(path)
    return path


def again(executed, tmp_path, change=lambda cells: None, **options):
    """Stored lines before and after a change and another run."""
    path = tmp_path / "copy.ipynb"
    copy = nbformat.read(executed, as_version=4)
    change(copy.cells)
    nbformat.write(copy, path)
    execute.execute(path, **options)
    return executed.read_text().splitlines(), path.read_text().splitlines()


def test_an_unchanged_notebook_is_stored_as_it_was(executed, tmp_path):
    before, after = again(executed, tmp_path)
    assert before == after


@pytest.mark.parametrize(
    ("known", "seconds", "stored"),
    [(0, 3.6, 4), (4, 3.6, 4), (4, 5.9, 4), (4, 7.2, 7), (4, 1.4, 1), (90, 70.3, 90), (90, 60, 60)],
)
def test_stored_seconds_change_only_by_a_quarter(known, seconds, stored):
    assert execute.settled_seconds(known, seconds) == stored


def test_the_seconds_of_a_run_are_stored(executed):
    assert nbformat.read(executed, as_version=4).metadata["lamplight"] == {"seconds": 1}


def test_new_cells_leave_the_drawings_alone(executed, tmp_path):
    def three_cells(cells):
        cells[3:3] = [new_code_cell(s) for s in ("other = 3", "print(other)", "more = [taken]")]

    before, after = again(executed, tmp_path, three_cells)
    assert [line for line in before if "<svg" in line] == [line for line in after if "<svg" in line]


@pytest.mark.parametrize("place", [0, 3])
def test_a_drawing_follows_its_code(place, executed, tmp_path):
    """Its own cell, or one that it rests on."""

    def changed(cells):
        cells[place].source += "  # another line"

    before, after = again(executed, tmp_path, changed)
    assert [line for line in before if "<svg" in line] != [line for line in after if "<svg" in line]


def test_fresh_draws_anew(executed, tmp_path):
    before, after = again(executed, tmp_path, fresh=True)
    assert before != after


def test_a_drawing_of_another_kind_is_not_kept():
    def drawing(color, values):
        fig, ax = plotting.plt.subplots()
        ax.plot(values, color=color)
        html = plotting.to_html(fig, "A line that differs in each run.", measured=True)
        return execute.kind(html)

    assert drawing(plotting.BLUE, [1, 2]) == drawing(plotting.BLUE, [1, 3])
    assert drawing(plotting.BLUE, [1, 2]) != drawing(plotting.ORANGE, [1, 2])


def test_code_that_a_cell_rests_on():
    sources = ["x = f()", "y = 1", "fit(x)", "z = [x]", "print(y)", "y.a = 2", "def y(): pass"]
    names = execute.origins([new_code_cell(source) for source in [*sources, "x", "y"]])
    for place, source in enumerate(sources):
        changed = [*sources, "x", "y"]
        changed[place] = source + " # other"
        others = execute.origins([new_code_cell(source) for source in changed])
        differ = [a != b for a, b in zip(names[-2:], others[-2:], strict=True)]
        assert differ == [place in (0, 2), place in (1, 5, 6)], source


def test_execute_stores_the_measured_seconds(executed, tmp_path):
    for known, stored in ((2, 2), (100, 1)):
        path = tmp_path / f"{known}.ipynb"
        copy = nbformat.read(executed, as_version=4)
        copy.metadata.lamplight.seconds = known
        nbformat.write(copy, path)
        assert execute.execute(path) == 1
        assert nbformat.read(path, as_version=4).metadata.lamplight.seconds == stored


def test_cpu_seconds_exclude_waiting():
    """Of this process, in place of a kernel: it slept half a second and computed nothing."""
    this = SimpleNamespace(km=SimpleNamespace(provisioner=SimpleNamespace(pid=os.getpid())))
    before = CPU_SECONDS(this)
    assert before > 0
    time.sleep(0.5)
    assert CPU_SECONDS(this) - before < 0.5
