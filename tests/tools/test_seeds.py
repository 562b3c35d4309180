"""`make seeds`: a claim that holds from one seed alone is found."""

import nbformat
import pytest
from nbformat.v4 import new_code_cell, new_markdown_cell, new_notebook

from tools import seeds

START = "import torch\nfrom helpers.training import set_seed\n_ = set_seed(0)\nx = torch.rand(1)"
LUCKY = "# the claim\nassert abs(x.item() - 0.4963) < 1e-4"


@pytest.fixture
def lecture(tmp_path):
    cells = [
        new_markdown_cell("# A lecture\n\n## Luck"),
        new_code_cell(START),
        new_code_cell(LUCKY),
        new_markdown_cell("## What holds"),
        new_code_cell("assert 0 <= x.item() < 1"),
        new_code_cell("raise ValueError('meant')", metadata={"tags": ["raises-exception"]}),
    ]
    path = tmp_path / "lecture.ipynb"
    nbformat.write(new_notebook(cells=cells), path)
    return path


def test_seed_dependent_cell_is_named(lecture):
    """The message has its section and the failing line; the notebook stays as it is."""
    before = lecture.read_bytes()
    assert seeds.failures(lecture, 0) == []
    (found,) = seeds.failures(lecture, 1000)
    assert found == "Luck: assert abs(x.item() - 0.4963) < 1e-4 (AssertionError: )"
    assert lecture.read_bytes() == before


@pytest.mark.full
def test_command_fails_if_a_cell_fails(lecture, capsys):
    """Without a notebook it says how to name one."""
    assert seeds.main([str(lecture), "0"]) == 0
    assert "no cells fail" in capsys.readouterr().out
    assert seeds.main([str(lecture), "5", "6"]) == 1
    assert capsys.readouterr().out.count("  Luck: ") == 2
    for words in ([], ["lectures/none.ipynb"]):
        assert seeds.main(words) == 2
        assert "make seeds NB=" in capsys.readouterr().out
