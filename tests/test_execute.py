"""What `make execute` stores beside the outputs themselves."""

from nbformat.v4 import new_code_cell, new_markdown_cell, new_notebook, new_output

from tools import execute

SHOWN = [new_output("stream", name="stdout", text="0.25\n")]
ASK = 'from helpers.quiz import predict\n\npredict("What?", answer=0.25, reason="So.")'


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


def test_what_comes_out_after_a_prediction_is_folded_and_nothing_else():
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
