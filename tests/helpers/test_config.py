"""Counts on paper are those of real models."""

import pytest
import torch
from torch.utils.flop_counter import FlopCounterMode

from helpers import config
from helpers.config import TransformerConfig
from helpers.models import LanguageModel
from helpers.training import count_parameters

LLAMA = {"rms_norm": True, "activation": "swiglu", "bias": False}
CONFIGS = {
    "like GPT-2": TransformerConfig(
        50, 24, 3, 4, 40, context_length=32, learned_positions=True, activation="gelu"
    ),
    "one layer": TransformerConfig(7, 6, 1, 1, 5, context_length=9, learned_positions=True),
    "post-norm": TransformerConfig(7, 6, 2, 2, norm="post"),
    "no biases": TransformerConfig(7, 6, 2, 2, bias=False, tied=False),
    "like Llama": TransformerConfig(50, 24, 3, 6, 40, n_kv_heads=2, tied=False, **LLAMA),
    "like Llama, tied, own head": TransformerConfig(50, 24, 2, 4, 30, 1, d_head=10, **LLAMA),
    "SwiGLU between biases": TransformerConfig(50, 24, 2, 4, 30, activation="swiglu"),
    "RMSNorm between biases": TransformerConfig(50, 24, 2, 4, 30, rms_norm=True),
}


@pytest.fixture(params=CONFIGS)
def pair(request):
    sizes = CONFIGS[request.param]
    return LanguageModel(sizes).eval(), sizes


def test_parameters(pair):
    model, sizes = pair
    assert config.parameters(sizes) == count_parameters(model)
    assert config.weight_bytes(sizes, 4) == sum(4 * p.numel() for p in model.parameters())


def test_cache(pair):
    model, sizes = pair
    cache = model.new_cache()
    model(torch.zeros(1, 8, dtype=torch.long), cache=cache)
    held = sum(x.nbytes for layer in cache for x in (layer.keys, layer.values))
    assert config.cache_bytes(sizes, 8, 4) == held
    assert config.cache_bytes(sizes, 8, 4, window=3) == config.cache_bytes(sizes, 3, 4)
    assert config.cache_bytes(sizes, 2, 4, window=3) == config.cache_bytes(sizes, 2, 4)


@torch.no_grad()
@pytest.mark.parametrize("seen", [0, 7])
def test_operations(pair, seen):
    """Torch counts those of the matrix products as they are made."""
    model, sizes = pair
    cache = model.new_cache()
    if seen:
        model(torch.zeros(1, seen, dtype=torch.long), cache=cache)
    with FlopCounterMode(display=False) as counter:
        model(torch.zeros(1, 1, dtype=torch.long), return_weights=True, cache=cache)
    assert config.flops_per_token(sizes, seen) == counter.get_total_flops()


def test_published_sizes():
    """As their owners count: GPT-2 has 124 million, Llama 3 eight billion."""
    assert config.parameters(config.GPT2) == 124_439_808
    assert config.parameters(config.LLAMA3_8B) == 8_030_261_248
    assert config.cache_bytes(config.LLAMA3_8B, 1) == 128 * 1024


def test_pretrained_sizes_match_transformers():
    """On torch's meta device a model has shapes and no numbers."""
    from transformers import GPT2Config, GPT2LMHeadModel, LlamaConfig, LlamaForCausalLM

    big = config.LLAMA3_8B
    llama = LlamaConfig(
        vocab_size=big.vocab,
        hidden_size=big.d_model,
        intermediate_size=big.d_ff,
        num_hidden_layers=big.n_layers,
        num_attention_heads=big.n_heads,
        num_key_value_heads=big.n_kv_heads,
    )
    with torch.device("meta"):
        models = GPT2LMHeadModel(GPT2Config()), LlamaForCausalLM(llama)
    for sizes, model in zip((config.GPT2, big), models, strict=True):
        assert config.parameters(sizes) == count_parameters(model)


def test_time_is_what_is_read():
    """With one text the weights count, with many texts the caches."""
    sizes, bandwidth = config.LLAMA3_8B, 1e12
    alone = config.seconds_per_token(sizes, bandwidth)
    read = config.weight_bytes(sizes) - 2 * sizes.vocab * sizes.d_model
    assert alone == pytest.approx(read / bandwidth)
    together = config.seconds_per_token(sizes, bandwidth, seen=8_000, batch=64)
    assert together - alone == pytest.approx(64 * 8_000 * 128 * 1024 / bandwidth)
