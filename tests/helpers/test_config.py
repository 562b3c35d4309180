"""Counts on paper are those of real models."""

import pytest
import torch
from torch import nn
from torch.utils.flop_counter import FlopCounterMode

from helpers import config
from helpers.config import TransformerConfig
from helpers.models import LanguageModel, TransformerModel
from helpers.positions import LearnedPositions, RotaryPositions
from helpers.training import count_parameters
from helpers.variants import GroupedQueryAttention, RMSNorm, SwiGLU, replace_modules


def plain(sizes):
    positions = LearnedPositions(sizes.context, sizes.d_model)
    return LanguageModel(
        sizes.vocab, sizes.d_model, sizes.n_layers, sizes.n_heads, sizes.d_ff, positions
    )


def modern(sizes):
    model = TransformerModel(
        sizes.vocab, sizes.d_model, sizes.vocab, sizes.n_layers, positions=RotaryPositions()
    )
    replace_modules(
        model,
        norm=lambda: RMSNorm(sizes.d_model),
        feed_forward=lambda: SwiGLU(sizes.d_model, sizes.d_ff),
        attention=lambda: GroupedQueryAttention(
            sizes.d_model, sizes.n_heads, sizes.kv_heads, sizes.d_head, bias=False
        ),
    )
    model.lm_head = nn.Linear(sizes.d_model, sizes.vocab, bias=False)
    if sizes.tied:
        model.lm_head.weight = model.embedding.weight
    return model


NEW = {"gated": True, "biases": False}
MODELS = {
    "like GPT-2": (plain, TransformerConfig(50, 24, 3, 4, 40, context=32)),
    "one layer": (plain, TransformerConfig(7, 6, 1, 1, 5, context=9)),
    "like Llama": (modern, TransformerConfig(50, 24, 3, 6, 40, n_kv_heads=2, tied=False, **NEW)),
    "like Llama, tied, own head": (
        modern,
        TransformerConfig(50, 24, 2, 4, 30, 1, d_head=10, **NEW),
    ),
}


@pytest.fixture(params=MODELS)
def pair(request):
    make, sizes = MODELS[request.param]
    return make(sizes).eval(), sizes


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
