"""The figure of a passage says in words what its bars show."""

import re

import pytest
import torch

from helpers.viz.passages import to_html

PIECES = ["by", "hu", "##go", "<b>", "tanaka"]
LOGITS = [[0.0, 3.0, 0.0, 0.0, 0.0], [0.0, 0.0, 0.0, 1.0, 4.0]]


def made(span=(1, 4)):
    return to_html(PIECES, LOGITS, span, question="Who <hid> it?", caption="One *passage*.")


def test_words_are_whole_and_escaped():
    text = re.sub(r"<[^>]+>", "", made())
    assert "by hugo &lt;b&gt; tanaka" in text and "Who &lt;hid&gt; it?" in text
    assert "One passage." in text
    assert re.sub(r"<[^>]+>", "", re.search(r"nowrap.>(.*?</span></span>)", made())[1]) == "hugo"


def test_bars_are_the_probabilities():
    start, end = torch.tensor(LOGITS).softmax(dim=1)
    widths = [float(w) / 2.4 for w in re.findall(r"width:([\d.]+)em;background", made())]
    bars = [p.item() for pair in zip(start, end, strict=True) for p in pair if p >= 0.01]
    assert widths == pytest.approx(bars, abs=0.003)
    assert f"the largest start probability, {start[1]:.2f}, is at “hugo”" in made()
    assert f"the largest end probability, {end[4]:.2f}, is at “tanaka”" in made()


def test_the_span_is_marked():
    assert made((1, 2)).count("font-weight:600") == 2
    assert made((4, 4)).count("font-weight:600") == 1
