"""The language model of lecture 8 as a GPT-2 of the library transformers.

Lecture 12's table of names was checked with it by hand, with TransformerLens 3.9.0, 4.0.0 and
4.3.0, which the course does not install:

    bridge = TransformerBridge.boot_transformers(
        "gpt2", hf_model=as_gpt2(keeper), dtype=torch.float64, device="cpu", tokenizer=tokenizer
    )
    logits, cache = bridge.run_with_cache(tokens)

The tokenizer is not used; one of a single word will do. For both layers, all places of the table in
`cache` agree within 1e-10 with those of `cache_activations(keeper, tokens)`, and the attention
weights with those of `keeper`; and `bridge.run_with_hooks` with the lecture's patch gives the same
logits as `patch_from`.
"""

import pytest
import torch

from helpers.apps import story_model
from helpers.data.stories import STORY_VOCABULARY

TEXT = "the letters in the drawer under the lamp that hums"


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
