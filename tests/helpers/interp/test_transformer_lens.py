"""The names of lecture 12's table mean the same in TransformerLens, if it is installed."""

import pytest
import torch

from helpers.apps import story_model
from helpers.data.stories import STORY_VOCABULARY
from helpers.interp.hooks import cache_activations, patch_from

TEXT = "the letters in the drawer under the lamp that hums"
PLACES = {
    "hook_resid_pre": "stream",
    "attn.hook_q": "queries",
    "attn.hook_k": "keys",
    "attn.hook_v": "values",
    "attn.hook_z": "contexts",
}


@pytest.fixture(scope="module")
def keeper():
    return story_model.trained_language_model().double().eval()


@torch.no_grad()
def as_gpt2(model):
    """The language model of lecture 8 as a GPT-2 of the library transformers.

    Its positions are zeros, its nonlinearity is ReLU, and its embeddings contain the scale.
    """
    transformers = pytest.importorskip("transformers")
    sizes = {"n_layer": 2, "n_head": 4, "n_embd": 64, "n_inner": 128, "n_positions": 64}
    rest = {"activation_function": "relu", "tie_word_embeddings": False}
    ends = {"bos_token_id": None, "eos_token_id": None}
    config = transformers.GPT2Config(vocab_size=len(STORY_VOCABULARY), **sizes, **rest, **ends)
    theirs = transformers.GPT2LMHeadModel(config).double().eval()
    arrays = {
        "transformer.wte.weight": model.embedding_scale * model.embedding.weight,
        "transformer.wpe.weight": torch.zeros(64, 64),
        "lm_head.weight": model.lm_head.weight,
    }
    for kind in ("weight", "bias"):
        arrays[f"transformer.ln_f.{kind}"] = getattr(model.stack.norm, kind)
        for i, block in enumerate(model.blocks):
            attention, network = block.attention, block.feed_forward
            three = (attention.W_query, attention.W_key, attention.W_value)
            found = {
                "ln_1": getattr(block.norm_attention, kind),
                "ln_2": getattr(block.norm_feed_forward, kind),
                "attn.c_attn": torch.cat([getattr(part, kind) for part in three]),
                "attn.c_proj": getattr(attention.W_out, kind),
                "mlp.c_fc": getattr(network.up_proj, kind),
                "mlp.c_proj": getattr(network.down_proj, kind),
            }
            for name, array in found.items():
                turned = array.mT if array.ndim == 2 else array  # GPT-2 has a row for each input
                arrays[f"transformer.h.{i}.{name}.{kind}"] = turned
    theirs.load_state_dict(arrays)
    return theirs


def tokens_of(text):
    return STORY_VOCABULARY.encode(text)[None]


@torch.no_grad()
def test_the_model_is_a_gpt2(keeper):
    """The library's GPT-2 gives the same logits with its weights."""
    tokens = tokens_of(TEXT)
    assert torch.allclose(as_gpt2(keeper)(tokens).logits, keeper(tokens), rtol=0, atol=1e-10)


@pytest.fixture
def bridge(keeper, tmp_path):
    """The same model opened by TransformerLens; the tokenizer that it asks for is not used."""
    lens = pytest.importorskip("transformer_lens.model_bridge")
    tokenizers = pytest.importorskip("tokenizers")
    transformers = pytest.importorskip("transformers")
    words = tokenizers.Tokenizer(tokenizers.models.WordLevel({"x": 0}, unk_token="x"))
    ends = dict.fromkeys(("bos_token", "eos_token", "pad_token", "unk_token"), "x")
    transformers.PreTrainedTokenizerFast(tokenizer_object=words, **ends).save_pretrained(tmp_path)
    return lens.TransformerBridge.boot_transformers(
        "gpt2",
        hf_model=as_gpt2(keeper),
        dtype=torch.float64,
        device="cpu",
        tokenizer=transformers.AutoTokenizer.from_pretrained(tmp_path),
    )


@torch.no_grad()
def test_places_and_the_patch_of_the_lecture_agree(keeper, bridge):
    clean, corrupted = (tokens_of(t) for t in (TEXT, TEXT.replace("letters", "letter")))
    ours = cache_activations(keeper, corrupted)
    logits, theirs = bridge.run_with_cache(corrupted)
    _, maps = keeper(corrupted, return_weights=True)
    assert torch.allclose(logits, keeper(corrupted), rtol=0, atol=1e-10)
    for i in range(2):
        for name, place in PLACES.items():
            found = theirs[f"blocks.{i}.{name}"].flatten(2)  # heads side by side
            assert torch.allclose(found, ours[place, i], rtol=0, atol=1e-10), name
        found = theirs[f"blocks.{i}.attn.hook_pattern"]
        assert torch.allclose(found, maps[i], rtol=0, atol=1e-10)

    def with_letter(stream, hook):
        stream = stream.clone()
        stream[:, 1] = theirs["blocks.1.hook_resid_pre"][:, 1]
        return stream

    patched = bridge.run_with_hooks(clean, fwd_hooks=[("blocks.1.hook_resid_pre", with_letter)])
    with patch_from(keeper, ours, ["stream"], 1, word=1):
        assert torch.allclose(patched, keeper(clean), rtol=0, atol=1e-10)
