"""The blanks of Lecture 7 that a reader fills in, and the mistakes that their checks notice."""

import json
import math

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
FEED_FORWARD = ("c6ca922a", "l7forward-answer")
RESIDUAL = ("l7rungs4", "l7added-answer")
LAYER_NORM = ("d61655bd", "l7norm-answer")
BLOCK = ("0d38e247", "l7block-answer")
POST_NORM = ("l7post", "l7post-answer")
BLOCKS = {BLOCK: "block_answer", POST_NORM: "post_answer"}


def fill(names, blank, line):
    """Run a blank with this line in place of its dots, and then the cell with the answer."""
    cell, answer = blank
    assert CELLS[cell].count("return ...") == 1
    exec(CELLS[cell].replace("return ...", line), names)
    exec(CELLS[answer], names)


def checked(capsys, blank, line):
    """What the check says of a blank with this line, and what the page goes on with."""
    names = {"torch": torch, "nn": nn, "math": math}
    if blank != FEED_FORWARD:
        fill(names, FEED_FORWARD, "return ...")
    if blank in BLOCKS:
        for cell in ("l7rotate", "l7attention"):
            exec(CELLS[cell], names)
    if blank == POST_NORM:
        fill(names, BLOCK, "return ...")
    capsys.readouterr()
    fill(names, blank, line)
    return capsys.readouterr().out, names


def noticed(capsys, blank, line, said):
    """The names after a wrong line, of which the check says this."""
    out, names = checked(capsys, blank, line)
    name = {RESIDUAL: "added", LAYER_NORM: "layer_norm"}.get(blank, "forward")
    assert out.startswith(f"{name} {said}")
    assert out.endswith(": the page goes on with the answer.\n")
    return names


@pytest.mark.parametrize("line", ["return x + part(x)", "return part(x) + x"])
def test_a_right_residual_is_kept(capsys, line):
    out, names = checked(capsys, RESIDUAL, line)
    assert out == "added agrees with the answer.\n"
    assert names["added"] is not names["added_answer"]
    layer = names["Residual"](nn.Identity())
    assert torch.equal(layer(torch.ones(1, 2, 3)), torch.full((1, 2, 3), 2.0))


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
    names = noticed(capsys, RESIDUAL, line, said)
    assert names["added"] is names["added_answer"]
    layer = names["Residual"](nn.Identity())
    assert torch.equal(layer(torch.ones(1, 2, 3)), torch.full((1, 2, 3), 2.0))


@pytest.mark.parametrize(
    "line",
    [
        "return self.down_proj(torch.relu(self.up_proj(x)))",
        "return self.down_proj(self.up_proj(x).clamp(min=0))",
        "return self.down_proj(nn.functional.relu(self.up_proj(x)))",
    ],
)
def test_a_right_feed_forward_is_kept(capsys, line):
    out, names = checked(capsys, FEED_FORWARD, line)
    assert out == "forward agrees with the answer.\n"
    assert names["FeedForward"].forward is not names["forward_answer"]


@pytest.mark.parametrize(
    ("line", "said"),
    [
        ("return ...", "is blank"),
        ("pass", "returns None, not (2, 5, 8)"),
        ("return self.up_proj(x)", "returns (2, 5, 32), not (2, 5, 8)"),
        ("return torch.relu(self.up_proj(x))", "returns (2, 5, 32), not (2, 5, 8)"),
        ("return self.down_proj(self.up_proj(x))", "is off by up to "),
        ("return torch.relu(self.down_proj(self.up_proj(x)))", "is off by up to "),
        ("return self.down_proj(torch.relu(self.up_proj(torch.relu(x))))", "is off by up to "),
        ("return x + self.down_proj(torch.relu(self.up_proj(x)))", "is off by up to "),
        ("return self.down_proj(nn.functional.gelu(self.up_proj(x)))", "is off by up to "),
    ],
)
def test_a_wrong_feed_forward_is_noticed(capsys, line, said):
    names = noticed(capsys, FEED_FORWARD, line, said)
    assert names["FeedForward"].forward is names["forward_answer"]


@pytest.mark.parametrize(
    "line",
    [
        "return weight * centred / (variance + eps).sqrt() + bias",
        "return nn.functional.layer_norm(x, (8,), weight, bias, eps)",
    ],
)
def test_a_right_layer_norm_is_kept(capsys, line):
    out, names = checked(capsys, LAYER_NORM, line)
    assert out == "layer_norm agrees with the answer.\n"
    assert names["layer_norm"] is not names["layer_norm_answer"]


@pytest.mark.parametrize(
    ("line", "said"),
    [
        ("return ...", "is blank"),
        ("return centred / (variance + eps).sqrt()", "is off by up to "),
        ("return weight * centred / (variance + eps) + bias", "is off by up to "),
        ("return weight * centred / variance.sqrt() + bias", "is off by up to "),
        ("return weight * centred / (variance.sqrt() + eps) + bias", "is off by up to "),
        ("return weight * (centred / (variance + eps).sqrt() + bias)", "is off by up to "),
        ("return weight * x / (variance + eps).sqrt() + bias", "is off by up to "),
        ("return weight * centred / x.std(-1, keepdim=True) + bias", "is off by up to "),
    ],
)
def test_a_wrong_layer_norm_is_noticed(capsys, line, said):
    names = noticed(capsys, LAYER_NORM, line, said)
    assert names["layer_norm"] is names["layer_norm_answer"]


ATTENTION_FIRST = "x = x + self.attention(self.norm_attention(x), causal)"
NETWORK_FIRST = "x = x + self.feed_forward(self.norm_feed_forward(x))"
POST_ATTENTION = "x = self.norm_attention(x + self.attention(x, causal))"


@pytest.mark.parametrize(
    ("blank", "line"),
    [
        (BLOCK, f"{ATTENTION_FIRST}; {NETWORK_FIRST}; return x"),
        (BLOCK, f"{ATTENTION_FIRST}; return x + self.feed_forward(self.norm_feed_forward(x))"),
        (POST_NORM, f"{POST_ATTENTION}; return self.norm_feed_forward(x + self.feed_forward(x))"),
    ],
)
def test_a_right_block_is_kept(capsys, blank, line):
    out, names = checked(capsys, blank, line)
    assert out.endswith("forward agrees with the answer.\n")
    kind = names["TransformerBlock" if blank == BLOCK else "PostNormBlock"]
    assert kind.forward is not names[BLOCKS[blank]]


@pytest.mark.parametrize(
    ("blank", "line", "said"),
    [
        (BLOCK, "return ...", "is blank"),
        (BLOCK, f"{ATTENTION_FIRST}; {NETWORK_FIRST}", "returns None, not (2, 5, 8)"),
        (BLOCK, f"{ATTENTION_FIRST}; return x", "is off by up to "),
        (BLOCK, f"{NETWORK_FIRST}; {ATTENTION_FIRST}; return x", "is off by up to "),
        (
            BLOCK,
            f"{ATTENTION_FIRST.replace(', causal', '')}; {NETWORK_FIRST}; return x",
            "is off by up to ",
        ),
        (
            BLOCK,
            f"{ATTENTION_FIRST.replace('norm_attention', 'norm_feed_forward')}; "
            f"{NETWORK_FIRST}; return x",
            "is off by up to ",
        ),
        (
            BLOCK,
            f"{POST_ATTENTION}; return self.norm_feed_forward(x + self.feed_forward(x))",
            "is off by up to ",
        ),
        (POST_NORM, "return ...", "is blank"),
        (POST_NORM, f"{ATTENTION_FIRST}; {NETWORK_FIRST}; return x", "is off by up to "),
        (
            POST_NORM,
            "x = x + self.norm_attention(self.attention(x, causal)); "
            "return x + self.norm_feed_forward(self.feed_forward(x))",
            "is off by up to ",
        ),
    ],
)
def test_a_wrong_block_is_noticed(capsys, blank, line, said):
    noticed(capsys, blank, line, said)
