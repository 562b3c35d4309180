"""The blank of Lecture 7 that a reader fills in, and the mistakes that its check notices."""

import json

import pytest
import torch
from torch import nn

from tests.conftest import ROOT

CELLS = {
    cell["id"]: "".join(cell["source"])
    for cell in json.loads(
        (ROOT / "lectures/07_transformer_block.ipynb").read_text(encoding="utf-8")
    )["cells"]
}
FEED_FORWARD, BLANK, ANSWER = "c6ca922a", "l7rungs4", "l7added-answer"


def checked(capsys, line):
    """What the check says of a blank with this line, and whether the answer takes its place."""
    names = {"torch": torch, "nn": nn}
    exec(CELLS[FEED_FORWARD], names)
    assert CELLS[BLANK].count("return ...") == 1
    exec(CELLS[BLANK].replace("return ...", line), names)
    capsys.readouterr()
    exec(CELLS[ANSWER], names)
    layer = names["Residual"](nn.Identity())
    assert torch.equal(layer(torch.ones(1, 2, 3)), torch.full((1, 2, 3), 2.0))
    return capsys.readouterr().out, names["added"] is names["added_answer"]


@pytest.mark.parametrize("line", ["return x + part(x)", "return part(x) + x"])
def test_a_right_residual_is_kept(capsys, line):
    assert checked(capsys, line) == ("added agrees with the answer.\n", False)


@pytest.mark.parametrize(
    ("line", "said"),
    [
        ("return ...", "is blank"),
        ("pass", "returns None, not (2, 5, 32)"),
        ("return part(x)", "is off by up to "),
        ("return x", "is off by up to "),
        ("return x - part(x)", "is off by up to "),
        ("return part(x + part(x))", "is off by up to "),
        ("return x + part(x + part(x))", "is off by up to "),
        ("return x + part(x).mean(1)[:, None]", "is off by up to "),
        ("return (x + part(x)).mean(1)", "returns (2, 32), not (2, 5, 32)"),
        ("x += part(x); return x", "changes x itself"),
    ],
)
def test_a_wrong_residual_is_noticed(capsys, line, said):
    out, answered = checked(capsys, line)
    assert out.startswith(f"added {said}") and answered
    assert out.endswith(": the page goes on with the answer.\n")
