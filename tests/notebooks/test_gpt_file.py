"""The GPT in one file that Lecture 7 offers: it computes what the lecture's model computes."""

import importlib.util
import json
import math
import random
import re
import string
from itertools import pairwise

import torch
import torch.nn.functional as F
from torch import nn

from tests.conftest import ROOT

FILE = ROOT / "_static/gpt.py"
LECTURE = ROOT / "lectures/07_transformer_block.ipynb"
CELLS = {
    cell["id"]: "".join(cell["source"])
    for cell in json.loads(LECTURE.read_text(encoding="utf-8"))["cells"]
}
PARTS = ("l7rotate", "l7attention", "c6ca922a", "0d38e247", "l7model")


def loaded():
    """The file as a module."""
    spec = importlib.util.spec_from_file_location("gpt", FILE)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_file_computes_what_the_lecture_does():
    names = {"torch": torch, "nn": nn, "F": F, "math": math}
    for part in PARTS:
        exec(CELLS[part], names)
        if part in {"c6ca922a", "0d38e247"}:
            answer = "l7forward-answer" if part == "c6ca922a" else "l7block-answer"
            exec(CELLS[answer], names)
    theirs = names["GPT"](vocab=11, d_model=16, n_blocks=2, n_heads=2)
    ours = loaded().GPT(vocab=11, d_model=16, n_blocks=2, n_heads=2)
    ours.load_state_dict(theirs.state_dict())
    tokens = torch.randint(11, (3, 9))
    torch.testing.assert_close(ours(tokens), theirs(tokens))


def test_file_has_the_numbers_of_the_lecture():
    gpt, live = loaded(), CELLS["l7live"]
    stated = dict(re.findall(r"(\w+)=([\d.]+)", live))
    kept = {"d_model": gpt.D_MODEL, "n_blocks": gpt.N_BLOCKS, "n_heads": gpt.N_HEADS}
    kept |= {"steps": gpt.STEPS, "lr": gpt.RATE, "T": gpt.T}
    assert {name: float(stated[name]) for name in kept} == kept


def test_file_trains_and_writes(tmp_path, monkeypatch, capsys):
    letters = random.Random(0).choices(string.ascii_lowercase, k=10_000)
    doubled = "".join(c + c.upper() for c in letters)  # every second character can be known
    (tmp_path / "text.txt").write_text(doubled)
    source = FILE.read_text(encoding="utf-8").replace(
        "STEPS, RATE = 64, 16, 450", "STEPS, RATE = 64, 16, 150"
    )
    monkeypatch.setattr("sys.argv", ["gpt.py", str(tmp_path / "text.txt")])
    exec(compile(source, "gpt.py", "exec"), {"__name__": "__main__"})
    said = capsys.readouterr().out
    found = re.fullmatch(r"step 150: loss on held-out text (\d\.\d\d)\n([a-zA-Z]{501})\n", said)
    assert abs(float(found[1]) - math.log(26) / 2) < 0.1
    known = [b == a.upper() for a, b in pairwise(found[2]) if a.islower()]
    assert sum(known) > 0.9 * len(known) > 200
