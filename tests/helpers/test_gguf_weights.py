"""A GGUF file gives the same model as the code of transformers that its weights come from.

The file is written here, with random weights: no model is fetched or installed for these tests.
"""

import json

import numpy as np
import pytest
import torch
from tokenizers import Tokenizer, decoders, pre_tokenizers, trainers
from tokenizers.models import BPE
from transformers import LlamaConfig, LlamaForCausalLM

from helpers import pretrained
from helpers.generation import generate
from helpers.gguf_weights import NAMES, read_gguf

gguf = pytest.importorskip("gguf")

SIZES = {
    "hidden_size": 64,
    "intermediate_size": 96,
    "num_hidden_layers": 2,
    "num_attention_heads": 4,
    "num_key_value_heads": 2,
    "max_position_embeddings": 40,
    "rope_parameters": {"rope_type": "default", "rope_theta": 100_000.0},
}
SPECIAL = ["<|endoftext|>", "<|im_start|>", "<|im_end|>"]
TEMPLATE = (
    "{% for message in messages %}{{'<|im_start|>' + message['role'] + '\n' + message['content'] "
    "+ '<|im_end|>\n'}}{% endfor %}{{ '<|im_start|>assistant\n' }}"
)


@pytest.fixture(scope="module")
def tokenizer():
    """Byte-level BPE in which each digit is a token, trained on the spot."""
    tokenizer = Tokenizer(BPE())
    tokenizer.pre_tokenizer = pre_tokenizers.Sequence(
        [
            pre_tokenizers.Digits(individual_digits=True),
            pre_tokenizers.ByteLevel(add_prefix_space=False),
        ]
    )
    tokenizer.decoder = decoders.ByteLevel()
    trainer = trainers.BpeTrainer(
        vocab_size=320,
        initial_alphabet=pre_tokenizers.ByteLevel.alphabet(),
        special_tokens=SPECIAL,
        show_progress=False,
    )
    tokenizer.train_from_iterator(["the letters in the drawer under the lamp"] * 3, trainer)
    return tokenizer


def llama(vocab, tied, seed=0):
    config = LlamaConfig(vocab_size=vocab, tie_word_embeddings=tied, eos_token_id=2, **SIZES)
    model = LlamaForCausalLM(config)
    generator = torch.Generator().manual_seed(seed)
    for parameter in model.parameters():
        parameter.data.copy_(torch.randn(parameter.shape, generator=generator) * 0.2)
    return model.eval()


def write(path, model, tokenizer, quantize=None, **fields):
    """A GGUF file as llama.cpp's converter writes it: pairs of rotated features side by side."""
    config = model.config
    writer = gguf.GGUFWriter(path, fields.pop("architecture", "llama"))
    writer.add_block_count(config.num_hidden_layers)
    writer.add_context_length(config.max_position_embeddings)
    writer.add_embedding_length(config.hidden_size)
    writer.add_feed_forward_length(config.intermediate_size)
    writer.add_head_count(config.num_attention_heads)
    writer.add_head_count_kv(config.num_key_value_heads)
    writer.add_rope_freq_base(config.rope_parameters["rope_theta"])
    writer.add_layer_norm_rms_eps(config.rms_norm_eps)
    stored = json.loads(tokenizer.to_str())["model"]
    tokens = sorted(stored["vocab"], key=stored["vocab"].get)
    writer.add_tokenizer_model(fields.pop("tokenizer_model", "gpt2"))
    writer.add_tokenizer_pre(fields.pop("pre", "smollm"))
    writer.add_token_list(tokens)
    writer.add_token_types([3 if token in SPECIAL else 1 for token in tokens])
    writer.add_token_merges([" ".join(pair) for pair in stored["merges"]])
    writer.add_eos_token_id(2)
    writer.add_chat_template(TEMPLATE)
    assert not fields
    short = {long: name for name, long in NAMES.items()}
    for name, array in model.state_dict().items():
        bare = name.removeprefix("model.").removesuffix(".weight")
        if bare == "lm_head" and config.tie_word_embeddings:
            continue
        if bare.startswith("layers."):
            _, layer, rest = bare.split(".", 2)
            bare = f"blk.{layer}.{short[rest]}"
        else:
            bare = short[bare]
        array = array.float()
        if bare.endswith(("attn_q", "attn_k")):
            d = config.hidden_size // config.num_attention_heads
            array = array.view(-1, 2, d // 2, array.shape[1]).transpose(1, 2).reshape(array.shape)
        array = array.numpy()
        if quantize and array.ndim == 2:
            writer.add_tensor(
                f"{bare}.weight", gguf.quants.quantize(array, quantize), raw_dtype=quantize
            )
        else:
            writer.add_tensor(f"{bare}.weight", np.ascontiguousarray(array))
    writer.write_header_to_file()
    writer.write_kv_data_to_file()
    writer.write_tensors_to_file()
    writer.close()
    return path


@pytest.fixture(scope="module", params=["tied", "not tied"])
def pair(request, tokenizer, tmp_path_factory):
    """A reference and the model that is read from its file."""
    theirs = llama(tokenizer.get_vocab_size(), request.param == "tied")
    path = write(tmp_path_factory.mktemp("gguf") / "tiny.gguf", theirs, tokenizer)
    return theirs, path


def test_logits(pair, monkeypatch):
    """In float64, with the reference's norm and rotation in float64 as well."""
    theirs, path = pair
    tokens = torch.randint(theirs.config.vocab_size, (2, 20))
    ours = pretrained.load(path, torch.float64).model(tokens)
    _in_float64(monkeypatch)
    expected = theirs.double()(tokens).logits
    theirs.float()
    assert (ours - expected).abs().max() <= 1e-10 * expected.abs().max().clamp(min=1.0)


def _in_float64(monkeypatch):
    import torch.nn.functional as F
    from transformers.models.llama import modeling_llama

    def norm(self, x):
        return F.rms_norm(x, x.shape[-1:], self.weight, self.variance_epsilon)

    def rotation(self, x, position_ids):
        d = self.config.hidden_size // self.config.num_attention_heads
        step = torch.arange(0, d, 2, dtype=x.dtype) / d
        angles = position_ids[..., None].to(x.dtype) / 100_000.0**step
        angles = torch.cat([angles, angles], dim=-1)
        return angles.cos(), angles.sin()

    monkeypatch.setattr(modeling_llama.LlamaRMSNorm, "forward", norm)
    monkeypatch.setattr(modeling_llama.LlamaRotaryEmbedding, "forward", rotation)


def test_pairs_in_the_other_order_are_another_model(pair):
    """Both orders have one shape, so only the numbers can tell."""
    theirs, path = pair
    tokens = torch.randint(theirs.config.vocab_size, (1, 12))
    file = read_gguf(path)
    right = pretrained.llama(file.config, file.weights, pairs_adjacent=True)(tokens)
    wrong = pretrained.llama(file.config, file.weights)(tokens)
    assert (right - wrong).abs().max() > 1e-3


@pytest.mark.parametrize("kind", ["Q4_1", "Q8_0", "F16"])
def test_quantized_weights_are_those_of_the_library(tokenizer, tmp_path, kind):
    theirs = llama(tokenizer.get_vocab_size(), tied=True)
    type_ = gguf.GGMLQuantizationType[kind]
    file = read_gguf(write(tmp_path / "tiny.gguf", theirs, tokenizer, quantize=type_))
    array = theirs.model.layers[1].mlp.up_proj.weight.detach().numpy()
    expected = gguf.quants.dequantize(gguf.quants.quantize(array, type_), type_)
    found = file.weights["layers.1.mlp.up_proj.weight"]
    assert found.dtype == torch.float32
    assert torch.equal(found, torch.from_numpy(expected))
    assert 0 < (found - torch.from_numpy(array)).abs().max() < 0.2


def test_the_tokenizer_is_the_one_that_was_written(pair, tokenizer):
    _, path = pair
    ours = pretrained.load(path)
    for text in ("the letters in 1984!", "lampe, Straße, ನಮಸ್ಕಾರ", "a  b\n\nc<|im_end|>"):
        assert ours.tokenizer.encode(text).ids == tokenizer.encode(text).ids
        assert ours.tokenizer.decode(ours.encode(text)[0].tolist(), False) == text
    assert "<|im_end|>" in ours.tokens("the<|im_end|>")


def test_generation_stops_at_the_end_token(pair):
    theirs, path = pair
    ours = pretrained.load(path)
    assert ours.eos_id == 2
    with torch.no_grad():  # an output layer in which the end token always wins
        ours.model.lm_head = torch.nn.Linear(64, theirs.config.vocab_size)
        ours.model.lm_head.weight.zero_()
        ours.model.lm_head.bias.zero_()
        ours.model.lm_head.bias[2] = 1.0
    assert ours.generate("the lamp", 10) == "the lamp"
    assert ours.answer("the lamp", 10) == ""


def test_generate_refuses_more_than_the_context(pair):
    """It does so before the model runs once."""
    _, path = pair
    model = pretrained.load(path).model
    assert model.context_length == 40
    begin = torch.randint(3, 100, (1, 30))
    assert generate(model, begin, 10, temperature=0.0).shape == (1, 40)
    calls = []
    model.register_forward_pre_hook(lambda *_: calls.append(1))
    with pytest.raises(ValueError, match=r"11, after 30 tokens.*context_length = 40"):
        generate(model, begin, 11)
    assert not calls
    with pytest.raises(ValueError, match="41 positions"):
        model(torch.randint(3, 100, (1, 41)))


def test_logits_of_the_last_position_alone(pair):
    _, path = pair
    model, tokens = pretrained.load(path).model, torch.randint(3, 100, (2, 9))
    every, (one, weights) = model(tokens), model(tokens, return_weights=True, last_only=True)
    assert one.shape == (2, 1, every.shape[-1]) and len(weights) == 2
    torch.testing.assert_close(one, every[:, -1:])
    torch.testing.assert_close(model(tokens, last_only=True), one)


def test_messages_become_one_text(pair):
    _, path = pair
    message = {"role": "user", "content": "the lamp"}
    expected = "<|im_start|>user\nthe lamp<|im_end|>\n<|im_start|>assistant\n"
    assert pretrained.load(path).render_chat(message) == expected
    bare = pretrained.Pretrained(None, None)
    with pytest.raises(ValueError, match="without a chat template"):
        bare.render_chat(message)


def test_the_likeliest_tokens(pair):
    theirs, path = pair
    ours = pretrained.load(path)
    found = ours.next_tokens("the lamp", 3)
    expected = theirs(ours.encode("the lamp")).logits[0, -1].softmax(dim=-1).topk(3)
    assert list(found.values()) == pytest.approx(expected.values.tolist(), rel=1e-4)
    with pytest.raises(ValueError, match="k: got 0"):
        ours.next_tokens("the lamp", 0)
    assert ours.token_id(" the") == ours.encode(" the")[0, 0]
    with pytest.raises(ValueError, match="a single token"):
        ours.token_id("the lamp 12")


@pytest.mark.parametrize(
    ("fields", "said"),
    [
        ({"architecture": "gemma"}, "architecture 'gemma'; needed 'llama'"),
        ({"architecture": "gpt2"}, "architecture 'gpt2'; needed 'llama'"),
        ({"tokenizer_model": "llama"}, "tokenizer 'llama'"),
        ({"pre": "unknown-pre"}, "pre-tokenizer 'unknown-pre'"),
    ],
)
def test_other_kinds_are_refused(tokenizer, tmp_path, fields, said):
    theirs = llama(tokenizer.get_vocab_size(), tied=True)
    path = write(tmp_path / "other.gguf", theirs, tokenizer, **fields)
    with pytest.raises(ValueError, match=said):
        read_gguf(path)


def test_what_is_no_such_file(tmp_path):
    (tmp_path / "page.gguf").write_text("<html>")
    with pytest.raises(ValueError, match="b'<htm'"):
        read_gguf(tmp_path / "page.gguf")
    with pytest.raises(FileNotFoundError, match=r"nothing\.gguf does not exist"):
        read_gguf(tmp_path / "nothing.gguf")


def test_where_a_model_is_looked_for(tmp_path, monkeypatch):
    """A path that exists, then an installed package, then the hub."""
    assert pretrained.find(tmp_path) == tmp_path
    package = tmp_path / "brings_a_model"
    package.mkdir()
    (package / "__init__.py").write_text("")
    (package / "tiny.gguf").write_text("")
    monkeypatch.syspath_prepend(tmp_path)
    monkeypatch.setitem(pretrained.PACKAGES, "somebody/something", "brings_a_model")
    monkeypatch.setattr(pretrained, "fetch", lambda name: f"fetched {name}")
    assert pretrained.find("somebody/something") == package / "tiny.gguf"
    monkeypatch.setitem(pretrained.PACKAGES, "somebody/something", "not_installed_here")
    assert pretrained.find("somebody/something") == "fetched somebody/something"
