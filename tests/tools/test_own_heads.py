"""The picture at the top of sheet 5."""

import xml.etree.ElementTree as ET

import torch

from tests.conftest import ROOT
from tools import own_heads


class Untrained(torch.nn.Module):
    """Four heads that look at all words alike."""

    def forward(self, tokens, return_weights):
        return None, torch.full((1, 4, 12, 12), 1 / 12)


def titles(path):
    root = ET.fromstring(path.read_text(encoding="utf-8"))
    said = ["".join(text.itertext()).strip() for text in root.iter() if text.tag.endswith("text")]
    return [text for text in said if text.startswith("head ")]


def test_each_head_is_drawn_with_its_question(monkeypatch, tmp_path):
    monkeypatch.setattr(own_heads, "train_heads", lambda seed: (Untrained(), [2, 1, None, 0]))
    monkeypatch.setattr(own_heads, "TARGET", tmp_path / "drawn.svg")
    own_heads.main()
    wanted = ["head 0: the first?", "head 1: flagged?", "head 2: (to spare)"]
    assert titles(tmp_path / "drawn.svg") == [*wanted, "head 3: just before?"]


def test_the_stored_picture_is_a_drawing_of_four_heads():
    stored = titles(ROOT / "_static" / "own_heads.svg")
    assert [title.partition(":")[0] for title in stored] == [f"head {n}" for n in range(4)]
