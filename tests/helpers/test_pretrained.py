"""Published weights give the same logits, gradients and texts as in the code they were made for.

`transformers` is the reference, at random weights, so that nothing is fetched. Its norm and its
rotation compute in float32 whatever they are given; for a comparison in float64 these two are
replaced by the same formulas without that. `test_float32_as_it_is` compares with them in place.
"""

import json
import os
import re
import sys

import nbformat
import pytest
import torch
import torch.nn.functional as F
from tokenizers import Tokenizer, decoders, pre_tokenizers, processors, trainers
from tokenizers.models import BPE
from transformers import (
    GPT2Config,
    GPT2LMHeadModel,
    LlamaConfig,
    LlamaForCausalLM,
    MistralConfig,
    MistralForCausalLM,
)
from transformers.models.llama import modeling_llama
from transformers.models.mistral import modeling_mistral

from helpers import pretrained
from helpers.config import TransformerConfig
from helpers.generation import generate
from helpers.models import LanguageModel
from tests.conftest import ROOT
from tests.helpers import properties as prop
from tests.helpers.bad_call import assert_refused

CLOSE = 1e-10

NO_ENDS = {"bos_token_id": None, "eos_token_id": None, "pad_token_id": None}
GPT2_SIZES = {
    "one head": {"n_layer": 1, "n_embd": 6, "n_head": 1},
    "as usual": {"n_layer": 2, "n_embd": 24, "n_head": 4},
    "deep, own width": {"n_layer": 5, "n_embd": 20, "n_head": 2, "n_inner": 17},
    "other eps": {"n_layer": 2, "n_embd": 12, "n_head": 3, "layer_norm_epsilon": 1e-3},
}
SIZES = {"hidden_size": 24, "intermediate_size": 40, "num_hidden_layers": 2}
LLAMA_SIZES = {
    "one key head each": {"num_attention_heads": 4, "num_key_value_heads": 4},
    "grouped": {"num_attention_heads": 6, "num_key_value_heads": 2},
    "one key head for all": {"num_attention_heads": 4, "num_key_value_heads": 1},
    "own head width": {"num_attention_heads": 4, "num_key_value_heads": 2, "head_dim": 10},
    "tied": {"num_attention_heads": 2, "num_key_value_heads": 1, "tie_word_embeddings": True},
    "other base and eps": {
        "num_attention_heads": 2,
        "num_key_value_heads": 2,
        "rms_norm_eps": 1e-3,
        "rope_parameters": {"rope_type": "default", "rope_theta": 500.0},
    },
    "stretched": {
        "num_attention_heads": 2,
        "num_key_value_heads": 1,
        "rope_parameters": {"rope_type": "linear", "factor": 4.0, "rope_theta": 10_000.0},
    },
}


def gpt2(**sizes):
    config = GPT2Config(**({"vocab_size": 50, "n_positions": 32} | sizes), **NO_ENDS)
    return GPT2LMHeadModel(config)


def llama(**sizes):
    return LlamaForCausalLM(LlamaConfig(**({"vocab_size": 50} | SIZES | sizes), **NO_ENDS))


def mistral(window, **sizes):
    heads = {"num_attention_heads": 4, "num_key_value_heads": 2, "head_dim": 6}
    config = MistralConfig(
        **({"vocab_size": 50, "sliding_window": window} | SIZES | heads | sizes), **NO_ENDS
    )
    return MistralForCausalLM(config)


MAKERS = {
    **{f"GPT-2, {name}": (gpt2, sizes) for name, sizes in GPT2_SIZES.items()},
    **{f"Llama, {name}": (llama, sizes) for name, sizes in LLAMA_SIZES.items()},
    **{f"Mistral, window {n}": (mistral, {"window": n}) for n in (2, 3, 40)},
}


@pytest.fixture(params=MAKERS)
def theirs(request, exact):
    """A reference at random weights, in float64."""
    maker, sizes = MAKERS[request.param]
    return randomize(maker(**sizes)).double()


@pytest.fixture
def exact(monkeypatch):
    """The reference's norm and rotation in the dtype of what they are given."""

    def norm(self, x):
        return F.rms_norm(x, x.shape[-1:], self.weight, self.variance_epsilon)

    def rotation(self, x, position_ids):
        rope = self.config.rope_parameters
        d = self.config.head_dim or self.config.hidden_size // self.config.num_attention_heads
        step = torch.arange(0, d, 2, dtype=x.dtype) / d
        angles = position_ids[..., None].to(x.dtype) / rope["rope_theta"] ** step
        angles = torch.cat([angles, angles], dim=-1) / rope.get("factor", 1.0)
        return angles.cos(), angles.sin()

    for module, name in ((modeling_llama, "Llama"), (modeling_mistral, "Mistral")):
        monkeypatch.setattr(getattr(module, f"{name}RMSNorm"), "forward", norm)
        monkeypatch.setattr(getattr(module, f"{name}RotaryEmbedding"), "forward", rotation)


def randomize(model, seed=0):
    """Fresh norms and biases hide what is swapped, so every number is drawn."""
    generator = torch.Generator().manual_seed(seed)
    for parameter in model.parameters():
        parameter.data.copy_(torch.randn(parameter.shape, generator=generator) * 0.4)
    return model.eval()


def build(model, weights=None, dtype=torch.float64):
    builder = pretrained.gpt2 if model.config.model_type == "gpt2" else pretrained.llama
    config = json.loads(model.config.to_json_string(use_diff=False))
    return builder(config, model.state_dict() if weights is None else weights, dtype).eval()


def tokens(batch=2, T=20, vocab=50, seed=1):
    return torch.randint(vocab, (batch, T), generator=torch.Generator().manual_seed(seed))


def max_difference(a, b):
    assert a.shape == b.shape
    return ((a - b).abs() / b.abs().clamp(min=1.0)).max().item()


# --------------------------------------------------------------------------- the same model


def test_logits(theirs):
    assert max_difference(build(theirs)(tokens()), theirs(tokens()).logits) <= CLOSE


def test_gradients(theirs):
    """The reference's gradients, put through the same table as its weights, are ours."""
    ours, direction = build(theirs), prop.normal(2, 20, 50, seed=2)
    for model in (lambda x: theirs(x).logits, ours):
        (model(tokens()) * direction).sum().backward()
    gradients = {name: p.grad for name, p in theirs.named_parameters()}
    expected = dict(build(theirs, gradients).named_parameters())
    found = {name: p.grad for name, p in ours.named_parameters()}
    assert found.keys() == expected.keys()
    for name, gradient in found.items():
        assert max_difference(gradient, expected[name]) <= CLOSE, name


def test_the_same_greedy_text_with_and_without_cache(theirs):
    begin = tokens(batch=1, T=4)
    expected = theirs.generate(
        begin, attention_mask=torch.ones_like(begin), max_new_tokens=20, do_sample=False
    )
    for use_cache in (True, False):
        written = generate(build(theirs), begin, 20, temperature=0.0, use_cache=use_cache)
        assert torch.equal(written, expected)


@pytest.mark.parametrize("name", ["GPT-2, as usual", "Llama, grouped", "Mistral, window 3"])
def test_float32_as_it_is(name):
    """The reference untouched, in the precision in which it is used."""
    maker, sizes = MAKERS[name]
    theirs = randomize(maker(**sizes))
    ours = build(theirs, dtype=torch.float32)
    assert max_difference(ours(tokens()), theirs(tokens()).logits) < 1e-5


def test_a_cache_of_shared_heads_is_smaller(exact):
    theirs = randomize(llama(**LLAMA_SIZES["grouped"])).double()
    ours = build(theirs)
    cache = ours.new_cache()
    ours(tokens(), cache=cache)
    assert ours.blocks[0].attention.n_kv_heads == 2
    assert cache[0].keys.shape == cache[0].values.shape == (2, 2, 20, 4)


def test_half_precision_files_are_computed_in_float32():
    theirs = randomize(gpt2(**GPT2_SIZES["as usual"]))
    weights = {name: array.bfloat16() for name, array in theirs.state_dict().items()}
    ours = build(theirs, weights, dtype=torch.float32)
    assert ours(tokens()).dtype == torch.float32


# --------------------------------------------------------------------------- the proof is sharp


@torch.no_grad()
def unnoticed_arrays(theirs, wrong):
    """Our arrays whose logits do not tell when they are replaced by `wrong(name, array)`."""
    ours = build(theirs)
    right, unseen = ours(tokens()), []
    for name, parameter in ours.named_parameters():
        kept, other = parameter.clone(), wrong(name, parameter)
        if other is not None:
            parameter.copy_(other)
            if max_difference(ours(tokens()), right) < 1e3 * CLOSE:
                unseen.append(name)
            parameter.copy_(kept)
    assert torch.equal(ours(tokens()), right)
    return unseen


def as_initialized(name, array):
    """As a fresh module has it: biases 0, the weights of norms 1; matrices at 0."""
    return torch.full_like(array, float("norm" in name and name.endswith("weight")))


def untransposed(name, array):
    """The transpose of a square matrix, which no shape gives away."""
    return array.T.clone() if array.dim() == 2 and array.shape[0] == array.shape[1] else None


def test_every_forgotten_array_is_seen(theirs):
    """But one: a bias of the keys adds the same to all scores of a query; softmax forgets it."""
    idle = [name for name, _ in build(theirs).named_parameters() if name.endswith("W_key.bias")]
    assert unnoticed_arrays(theirs, as_initialized) == idle


def test_missing_transpose_of_a_matrix_is_noticed(theirs):
    """Square matrices too, whose shape cannot tell."""
    assert unnoticed_arrays(theirs, untransposed) == []


def test_fresh_weights_would_hide_what_is_forgotten():
    """Why `random` draws biases and norms, too."""
    theirs = gpt2(**GPT2_SIZES["as usual"]).double().eval()
    unseen = unnoticed_arrays(theirs, as_initialized)
    assert all(name.endswith("bias") or "norm" in name for name in unseen)
    assert len(unseen) == 2 * 10 + 2  # of each block 6 biases and two norms' pairs; the last norm


# --------------------------------------------------------------------------- names


@pytest.mark.parametrize("name", ["GPT-2, as usual", "Llama, grouped", "Llama, tied"])
def test_with_and_without_prefix_and_what_is_no_weight(name):
    """As GPT-2 is published: no prefix, no readout, and the causal masks among the arrays."""
    maker, sizes = MAKERS[name]
    theirs = randomize(maker(**sizes))
    bare = {
        name.removeprefix("transformer.").removeprefix("model."): array
        for name, array in theirs.state_dict().items()
    }
    if theirs.config.tie_word_embeddings:
        del bare["lm_head.weight"]
    if theirs.config.model_type == "gpt2":
        bare |= {"h.0.attn.bias": torch.ones(1, 1, 32, 32), "h.1.attn.masked_bias": torch.ones(())}
    else:
        bare |= {"layers.1.self_attn.rotary_emb.inv_freq": torch.ones(2)}
    assert torch.equal(build(theirs, bare)(tokens()), build(theirs)(tokens()))


# --------------------------------------------------------------------------- folders


@pytest.fixture(scope="module")
def tokenizer():
    """A byte-level tokenizer as GPT-2's, trained on the spot."""
    tokenizer = Tokenizer(BPE())
    tokenizer.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    tokenizer.decoder = decoders.ByteLevel()
    alphabet = pre_tokenizers.ByteLevel.alphabet()
    trainer = trainers.BpeTrainer(vocab_size=300, initial_alphabet=alphabet, show_progress=False)
    tokenizer.train_from_iterator(["the letters in the drawer under the lamp"] * 3, trainer)
    return tokenizer


@pytest.fixture(params=["one file", "several files", "Llama"])
def folder(request, tokenizer, tmp_path):
    """Laid out as published."""
    vocab = tokenizer.get_vocab_size()
    sizes = GPT2_SIZES["as usual"] | {"n_positions": 64}
    if request.param == "Llama":
        theirs = randomize(llama(vocab_size=vocab, **LLAMA_SIZES["grouped"]))
    else:
        theirs = randomize(gpt2(vocab_size=vocab, **sizes))
    limit = "20KB" if request.param == "several files" else "1GB"
    theirs.save_pretrained(tmp_path, max_shard_size=limit)
    tokenizer.save(str(tmp_path / "tokenizer.json"))
    assert (tmp_path / "model.safetensors").exists() == (request.param != "several files")
    return tmp_path, theirs


def test_a_folder_is_read_and_writes_on(folder, tokenizer):
    path, theirs = folder
    ours = pretrained.load(path)
    begin = torch.tensor([tokenizer.encode("the lamp").ids])
    assert max_difference(ours.model(begin), theirs(begin).logits) < 1e-5
    mask = torch.ones_like(begin)
    expected = theirs.generate(begin, attention_mask=mask, max_new_tokens=12, do_sample=False)
    written = ours.generate("the lamp", 12)
    assert written == tokenizer.decode(expected[0].tolist())
    assert written.startswith("the lamp")


def put(path, name, **content):
    """Write a JSON file of a model's folder, or change what is in it."""
    old = json.loads((path / name).read_text()) if (path / name).exists() else {}
    (path / name).write_text(json.dumps(old | content))


@pytest.mark.parametrize("own", [True, False])
def test_a_chat_model_has_several_end_tokens(folder, own):
    """As reported at exllamav2 803 and vllm 4182: in one of two files, and as a list."""
    path, theirs = folder
    first = theirs.generate(torch.tensor([[5]]), max_new_tokens=2, do_sample=False)[0, 1:].tolist()
    put(path, "generation_config.json", eos_token_id=[290, first[0]] if own else None)
    put(path, "config.json", eos_token_id=290 if own else [290, first[0]])
    ours = pretrained.load(path)
    assert (ours.eos_id, ours.end_ids) == (290, (290, first[0]))
    assert len(ours._generate_ids(ours.tokenizer.decode([5]), 9, 0.0, None)[0]) == 2


TEMPLATES = {  # at which project it was reported: the template, and its text
    "nobodywho 61": ("{% set text = bos_token + messages[0].content %}{{ text }}", "<s>lamp"),
    "swift-transformers 322": (
        "{% for m in messages %}\n  {% if m %}\n<u>\n{% endif %}{% endfor %}",
        "<u>\n",
    ),
    "vllm 15230": ("{% for m in messages %}{{ m.content }}{% break %}{% endfor %}", "lamp"),
    "nobodywho 63": ("{{ strftime_now('%%') }}", "%"),
}


@pytest.mark.parametrize("reported", TEMPLATES)
def test_chat_templates_find_what_they_use(reported):
    template, text = TEMPLATES[reported]
    special = {"bos_token": "<s>", "eos_token": "</s>"}
    ours = pretrained.Pretrained(None, None, template, special_tokens=special)
    assert ours.render_chat({"role": "user", "content": "lamp"}) == text


def test_a_template_may_refuse_messages():
    ours = pretrained.Pretrained(None, None, "{{ raise_exception('roles must alternate') }}")
    with pytest.raises(ValueError, match="messages: the chat template refuses them: roles must"):
        ours.render_chat({"role": "user", "content": "lamp"})


def test_the_default_of_several_templates(folder):
    path, _ = folder
    named = [
        {"name": "tool_use", "template": "T"},
        {"name": "default", "template": "{{ bos_token }}"},
    ]
    put(path, "tokenizer_config.json", chat_template=named, bos_token={"content": "<s>"})
    assert pretrained.load(path).render_chat({"role": "user", "content": "lamp"}) == "<s>"


def test_no_second_token_begins_a_text(tokenizer):
    """As reported at llama.cpp 7107: the template has the token, and the tokenizer adds it."""
    adds = Tokenizer.from_str(tokenizer.to_str())
    special = {"single": "the $A", "special_tokens": [("the", tokenizer.token_to_id("the"))]}
    adds.post_processor = processors.TemplateProcessing(**special)
    ours = pretrained.Pretrained(None, adds, special_tokens={"bos_token": "the"})
    assert ours.encode("the lamp").tolist()[0] == tokenizer.encode("the lamp").ids
    assert ours.encode(" lamp").shape[1] == len(tokenizer.encode(" lamp").ids) + 1


def test_parts_of_characters_are_different_tokens(folder, tokenizer):
    """As reported at tiktoken 176: no byte above 127 is a character by itself."""
    ours = pretrained.load(folder[0])
    found = ours.next_tokens("the lamp", tokenizer.get_vocab_size())
    assert len(found) == tokenizer.get_vocab_size() and sum(found.values()) == pytest.approx(1)
    assert "\\xe2" in found


def test_null_is_no_setting(folder):
    """As reported at vllm 36109 and llama.cpp 2793."""
    path, theirs = folder
    if theirs.config.model_type == "llama":
        empty = ("attention_bias", "mlp_bias", "rope_theta", "rope_parameters", "rope_scaling")
        put(path, "config.json", **dict.fromkeys(empty))
        assert pretrained.load(path).model.positions.base == 10_000


def test_the_command_writes_on(folder, capsys):
    path, _ = folder
    pretrained.main(["the lamp", "--model", str(path), "--tokens", "5"])
    assert capsys.readouterr().out.startswith("the lamp")


def test_without_a_network_one_sentence_says_so(monkeypatch, tmp_path, capsys):
    """Whatever the machine has fetched before, and whether or not it has a network."""
    import huggingface_hub

    real = huggingface_hub.snapshot_download

    def offline(*args, **options):
        return real(*args, **options, cache_dir=tmp_path, local_files_only=True)

    monkeypatch.setattr(huggingface_hub, "snapshot_download", offline)
    with pytest.raises(ConnectionError, match="is not on this machine, and huggingface"):
        pretrained.fetch()
    with pytest.raises(SystemExit, match=r"With a network, the same line fetches it once\."):
        pretrained.main(["the lamp", "--model", pretrained.GPT2_NAME])
    assert pretrained.load_if_found() is None
    assert "cannot be fetched now (LocalEntryNotFoundError)" in capsys.readouterr().out


def test_what_went_wrong_is_told(monkeypatch):
    """A full disk is no missing network."""
    import huggingface_hub

    def full(*args, **options):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(huggingface_hub, "snapshot_download", full)
    with pytest.raises(SystemExit, match=r"OSError: .*No space left on device"):
        pretrained.main(["the lamp", "--model", pretrained.GPT2_NAME])


def test_without_a_library_one_sentence_says_so(monkeypatch, capsys):
    monkeypatch.setitem(sys.modules, "huggingface_hub", None)
    assert pretrained.load_if_found() is None
    said = "needs a library that is not installed here: huggingface_hub."
    assert said in capsys.readouterr().out


def test_fetched_weights_are_found_offline(monkeypatch, tmp_path):
    """As the hub keeps it: snapshots by their commit, and which one "main" is."""
    commit = "0" * 40
    kept = tmp_path / "models--somebody--something"
    snapshot = kept / "snapshots" / commit
    snapshot.mkdir(parents=True)
    (kept / "refs").mkdir()
    (kept / "refs" / "main").write_text(commit)
    (snapshot / "config.json").write_text("{}")
    import huggingface_hub

    real = huggingface_hub.snapshot_download
    monkeypatch.setattr(
        huggingface_hub,
        "snapshot_download",
        lambda *a, **o: real(*a, **o, cache_dir=tmp_path, local_files_only=True),
    )
    assert os.path.samefile(pretrained.fetch("somebody/something"), snapshot)


# --------------------------------------------------------------------------- in a student's parts

SHEET_8 = (
    "3a319387",  # what is imported
    *("67ce1a2f", "7e58787e", "s8-teller", "s8-gpt2-l", "s8-gpt2-c"),  # the sampler, and GPT-2
    *("dd36ea71", "s8-tied-c", "s8-tied-d"),  # one table
    *("69f8df85", "69ba3d12", "3b6ba730"),  # the cache
)


def test_sampler_table_and_cache_of_sheet_8_hold_gpt2(tokenizer, tmp_path, monkeypatch, capsys):
    """The cells run as they stand, with the model answers, on a GPT-2 at random weights."""
    sizes = GPT2_SIZES["as usual"] | {"n_positions": 128}
    randomize(gpt2(vocab_size=tokenizer.get_vocab_size(), **sizes)).save_pretrained(tmp_path)
    tokenizer.save(str(tmp_path / "tokenizer.json"))
    monkeypatch.setattr(pretrained, "fetch", lambda name: tmp_path)
    sheet = nbformat.read(ROOT / "solutions" / "08_language_model.ipynb", as_version=4)
    sources = {cell.id: cell.source for cell in sheet.cells}
    space = {"writer": LanguageModel(TransformerConfig(99, 8))}
    for cell in SHEET_8:
        exec(sources[cell], space)
        space["check"] = lambda name: None
    out = capsys.readouterr().out
    assert out.count("The letters in the drawer") == 5
    assert re.search(r"temperature 1.5, \d+ tokens per second", out)
    [apart] = re.findall(r"logits at most (\S+) apart", out)
    assert float(apart) < 1e-4
    begin = tokenizer.encode("the lamp").ids
    model, told = space["gpt2"].model, space["told"]
    texts = [told(space[kind](model), begin, 1.0) for kind in ("ReadsAgain", "CachedModel")]
    assert texts[0] == texts[1]
    assert len(texts[0]) == 100


def test_a_folder_of_another_kind_is_refused(tmp_path):
    (tmp_path / "config.json").write_text(json.dumps({"model_type": "bert"}))
    assert_refused(
        lambda: pretrained.load(tmp_path),
        "config: got model_type 'bert'; needed 'gpt2' or 'llama' or 'mistral'",
    )


def test_a_missing_file_is_named(tmp_path):
    with pytest.raises(FileNotFoundError, match=r"config\.json"):
        pretrained.load(tmp_path)
    with pytest.raises(FileNotFoundError, match=r"model\.safetensors"):
        pretrained.read_weights(tmp_path)
