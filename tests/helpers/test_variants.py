"""Modern parts equal torch's, and the plain parts where they must not differ."""

import copy

import pytest
import torch
import torch.nn.functional as F
from hypothesis import given
from hypothesis import strategies as st
from torch import nn

from helpers.attention import KeyValueCache, MultiHeadAttention
from helpers.blocks import DecoderCache, DecoderStack, FeedForward
from helpers.config import TransformerConfig
from helpers.encoder_decoder import EncoderDecoder
from helpers.generation import generate
from helpers.masks import causal_mask, window_mask
from helpers.models import LanguageModel
from helpers.positions import ALiBiPositions, LearnedPositions, PositionEncoding, RotaryPositions
from helpers.training import count_parameters
from helpers.variants import (
    GroupedQueryAttention,
    RMSNorm,
    SlidingWindow,
    SwiGLU,
    gelu,
    swiglu_width,
)
from tests.helpers import properties as prop
from tests.helpers.properties import assert_equal, examples, gradients, normal

seeds = st.integers(0, 10_000)


def randomize(module, seed=0):
    for i, parameter in enumerate(module.parameters()):
        parameter.data = normal(*parameter.shape, seed=seed + i)
    return module


# --------------------------------------------------------------------------- norm, feed-forward


@examples
@given(st.integers(1, 9), st.sampled_from([1e-5, 1e-6, 0.1]), seeds)
def test_rms_norm_is_torchs(d_model, eps, seed):
    ours = randomize(RMSNorm(d_model, eps), seed)
    x = normal(2, 3, d_model, seed=seed, grad=True)
    theirs = F.rms_norm(x, (d_model,), ours.weight, eps)
    assert_equal(ours(x), theirs)
    inputs = [x, ours.weight]
    for a, b in zip(gradients(ours(x), inputs), gradients(theirs, inputs), strict=True):
        assert_equal(a, b, "gradient")


@pytest.mark.parametrize("dtype", [torch.float16, torch.bfloat16])
def test_rms_norm_of_large_numbers_in_half_precision(dtype):
    x = torch.tensor([[300.0, -300.0], [6e4, 3.0], [0.5, 0.25]], dtype=dtype)
    found = RMSNorm(2).to(dtype)(x)
    assert found.dtype == dtype
    assert torch.allclose(found.float(), F.rms_norm(x.float(), (2,), eps=1e-5), rtol=0.01)


def test_rms_norm_equals_layer_norm_for_zero_mean():
    """Where the mean is not 0 the two differ."""
    x = normal(4, 8, seed=0)
    centred = x - x.mean(dim=-1, keepdim=True)
    ours = RMSNorm(8).double()
    assert_equal(ours(centred), F.layer_norm(centred, (8,)))
    assert (ours(x) - F.layer_norm(x, (8,))).abs().max() > 0.1


def test_gelu_is_the_formula_of_its_docstring():
    x = normal(50, seed=0) * 3
    tanh = torch.tanh((2 / torch.pi) ** 0.5 * (x + 0.044715 * x**3))
    assert_equal(gelu(x), 0.5 * x * (1 + tanh))
    assert (gelu(x) - F.gelu(x)).abs().max() < 1e-3
    assert torch.equal(FeedForward(4, 8, activation=gelu).activation(x), gelu(x))


@examples
@given(st.integers(1, 6), st.integers(1, 9), seeds)
def test_swiglu_by_its_formula(d_model, d_ff, seed):
    ours = randomize(SwiGLU(d_model, d_ff), seed)
    x = normal(2, 3, d_model, seed=seed)
    V, W, W2 = (layer.weight.T for layer in (ours.up_proj, ours.gate_proj, ours.down_proj))
    gated = x @ W
    assert_equal(ours(x), (gated / (1 + (-gated).exp()) * (x @ V)) @ W2)


@pytest.mark.parametrize("d_ff", [128, 256, 3072])
def test_swiglu_width_makes_equal_sizes(d_ff):
    plain = 2 * 64 * d_ff
    assert abs(count_parameters(SwiGLU(64, swiglu_width(d_ff))) - plain) <= 3 * 64


# --------------------------------------------------------------------------- grouped queries


@examples
@given(
    st.integers(1, 3),
    st.integers(1, 3),
    st.integers(1, 3),
    st.integers(1, 6),
    st.sampled_from([None, 4]),
    st.booleans(),
    seeds,
)
def test_grouped_queries_are_heads_with_copied_keys(n_kv, group, d_half, T, d_k, rotary, seed):
    """Multi-head attention whose key and value weights are copied within each group is equal."""
    n_heads, d_model = n_kv * group, n_kv * group * 2 * d_half
    positions = RotaryPositions() if rotary else None
    ours = GroupedQueryAttention(d_model, n_heads, n_kv_heads=n_kv, d_k=d_k, positions=positions)
    ours = randomize(ours, seed)
    plain = MultiHeadAttention(d_model, n_heads, d_k=d_k, positions=positions).double()
    copied = copy.deepcopy(ours.state_dict())
    for name in ("W_key", "W_value"):
        for kind in ("weight", "bias"):
            own = copied[f"{name}.{kind}"].unflatten(0, (n_kv, -1))
            copied[f"{name}.{kind}"] = own.repeat_interleave(group, dim=0).flatten(0, 1)
    plain.load_state_dict(copied)
    x = normal(2, T, d_model, seed=seed)
    for options in ({}, {"causal": True}, {"mask": causal_mask(T)}):
        assert_equal(ours(x, **options), plain(x, **options))
    context, weights = ours(x, causal=True, return_weights=True)
    assert_equal(context, ours(x, causal=True))
    assert weights.shape == (2, n_heads, T, T)


def test_grouped_queries_are_torchs():
    """Torch repeats the heads inside its fused function."""
    ours = randomize(GroupedQueryAttention(24, 6, n_kv_heads=2))
    x = normal(2, 5, 24, seed=1)
    q = ours.W_query(x).view(2, 5, 6, 4).transpose(1, 2)
    k, v = (W(x).view(2, 5, 2, 4).transpose(1, 2) for W in (ours.W_key, ours.W_value))
    found = F.scaled_dot_product_attention(q, k, v, is_causal=True, enable_gqa=True)
    assert_equal(ours(x, causal=True), ours.W_out(found.transpose(1, 2).flatten(2)))


def test_grouped_query_cache_stores_shared_heads_once():
    ours, cache = randomize(GroupedQueryAttention(24, 6, n_kv_heads=2)), KeyValueCache()
    x = normal(1, 5, 24, seed=1)
    pieces = [ours(x[:, i : i + 1], cache=cache, causal=True) for i in range(5)]
    assert_equal(torch.cat(pieces, dim=1), ours(x, causal=True))
    assert cache.keys.shape == cache.values.shape == (1, 2, 5, 4)


# --------------------------------------------------------------------------- windows, stretching


@examples
@given(st.integers(0, 7), st.integers(0, 5), st.integers(1, 12))
def test_window_mask_by_definition(T_q, extra, window):
    T_k = T_q + extra
    mask = window_mask(T_q, T_k, window)
    assert mask.shape == (T_q, T_k) and mask.dtype == torch.bool
    for i in range(T_q):
        for j in range(T_k):
            assert mask[i, j] == (0 <= T_k - T_q + i - j < window)


@pytest.mark.parametrize("inside", [None, RotaryPositions(), ALiBiPositions(2)])
def test_a_window_is_its_mask(inside):
    """The same with the mask handed in; a window as wide as the text changes nothing."""
    windowed = randomize(MultiHeadAttention(8, 2, positions=SlidingWindow(3, inside)))
    plain = copy.deepcopy(windowed)
    plain.positions = PositionEncoding() if inside is None else inside
    x = normal(2, 6, 8, seed=0)
    expected = plain(x, mask=window_mask(6, 6, 3))
    assert_equal(windowed(x, causal=True), expected)
    context, weights = windowed(x, causal=True, return_weights=True)
    assert_equal(context, expected)
    assert (weights[..., ~window_mask(6, 6, 3)] == 0).all()
    windowed.positions = SlidingWindow(6, inside)
    assert_equal(windowed(x, causal=True), plain(x, causal=True))


def test_how_far_back_layers_with_a_window_reach():
    """Each layer adds window − 1."""
    model = LanguageModel(TransformerConfig(9, 8, n_layers=2), SlidingWindow(3, RotaryPositions()))
    model = randomize(model).eval()
    tokens = torch.tensor([[1, 2, 3, 4, 5, 6, 7]])
    changed = tokens.clone()
    changed[0, 0] = 8
    same = (model(tokens) == model(changed))[0].all(dim=-1)
    assert same.tolist() == [False] * 5 + [True] * 2


@pytest.mark.parametrize("inside", [None, RotaryPositions(), ALiBiPositions(2), "learned"])
@pytest.mark.parametrize("pieces", [(1,) * 9, (5, 1, 1, 1, 1), (4, 3, 0, 2), (9,)])
def test_window_cache_is_bounded_and_exact(inside, pieces):
    """The cache keeps as many positions as the window; logits and weights are unchanged."""
    inside = LearnedPositions(9, 8) if inside == "learned" else inside
    model = randomize(
        LanguageModel(TransformerConfig(9, 8, n_layers=2), SlidingWindow(3, inside))
    ).eval()
    tokens = torch.arange(18).view(2, 9) % 7
    logits, maps = model(tokens, return_weights=True)
    cache, end = model.new_cache(), 0
    for piece in pieces:
        start, end = end, end + piece
        kept = len(cache[0])
        found, own = model(tokens[:, start:end], return_weights=True, cache=cache)
        assert_equal(found, logits[:, start:end])
        for weights, expected in zip(own, maps, strict=True):
            assert_equal(weights, expected[:, :, start:end, start - kept : end])
        assert [(len(c), c.seen) for c in cache] == 2 * [(min(end, 3), end)]
        held = [x.untyped_storage().nbytes() for c in cache for x in (c.keys, c.values)]
        assert held == 4 * [2 * 2 * min(end, 3) * 4 * cache[0].keys.element_size()]
    greedy = {"temperature": 0.0, "max_new_tokens": 2}
    written = [generate(model, tokens[:, :7], use_cache=c, **greedy) for c in (True, False)]
    assert torch.equal(*written)


def test_windowed_decoder_reads_in_pieces():
    """Its cache of the window does not disturb that of the memory."""
    config = TransformerConfig(7, 8, n_layers=2)
    stack = randomize(DecoderStack(config, SlidingWindow(2, RotaryPositions())).double())
    x, memory = normal(2, 6, 8, seed=0), normal(2, 4, 8, seed=1)
    cache = [DecoderCache() for _ in stack.blocks]
    pieces = [stack(piece, memory, cache=cache, causal=True) for piece in x.split([1, 3, 2], dim=1)]
    assert_equal(torch.cat(pieces, dim=1), stack(x, memory, causal=True))
    assert {len(each.own) for each in cache} == {2}


def test_window_embeds_as_its_inner_positions():
    table = LearnedPositions(5, 4)
    x = torch.randn(1, 3, 4)
    assert torch.equal(SlidingWindow(2, table).embed(x, 1), table.embed(x, 1))


def test_stretched_positions_are_positions_in_between():
    """Twice as far apart at a stretch of 2 is the same as before."""
    q, k = normal(1, 2, 4, 6, seed=0), normal(1, 2, 4, 6, seed=1)
    far = [x.repeat_interleave(2, dim=2) for x in (q, k)]
    plain, stretched = RotaryPositions(), RotaryPositions(scaling_factor=2.0)
    for ours, theirs in zip(plain.rotate(q, k), stretched.rotate(*far), strict=True):
        assert_equal(theirs[:, :, ::2], ours)


# --------------------------------------------------------------------------- together


MODERN = TransformerConfig(
    9, 12, n_heads=6, d_ff=11, n_kv_heads=2, rms_norm=True, activation="swiglu", bias=False
)


def modern_model():
    return LanguageModel(MODERN, RotaryPositions())


def test_config_chooses_every_part():
    model = modern_model()
    kinds = [type(module) for module in model.modules()]
    assert nn.LayerNorm not in kinds and FeedForward not in kinds
    assert kinds.count(RMSNorm) == 5 and kinds.count(SwiGLU) == 2
    assert all(block.attention.n_kv_heads == 2 for block in model.blocks)
    assert all(block.attention.positions is model.positions for block in model.blocks)
    assert model.blocks[0].attention is not model.blocks[1].attention
    assert not any("bias" in name for name, _ in model.named_parameters())
    usual = [type(module) for module in LanguageModel(TransformerConfig(9, 12)).modules()]
    assert RMSNorm not in usual and SwiGLU not in usual and usual.count(nn.LayerNorm) == 5


@pytest.mark.parametrize("activation", ["relu", "gelu", "swiglu"])
@pytest.mark.parametrize("rms_norm", [False, True])
def test_config_reaches_every_part(activation, rms_norm):
    """Widths, dropout and eps are those of the config, in encoder-decoders too."""
    options = {"d_ff": 5, "d_head": 3, "dropout": 0.25, "norm_eps": 0.5}
    config = TransformerConfig(9, 12, activation=activation, rms_norm=rms_norm, **options)
    blocks = [*LanguageModel(config).blocks, *EncoderDecoder(config).decoder.blocks]
    for block in blocks:
        assert block.attention.d_k == 3 and block.attention.dropout == 0.25
        assert block.feed_forward.up_proj.out_features == 5
        assert block.feed_forward.dropout.p == block.dropout.p == 0.25
        assert block.norm_attention.eps == block.norm_feed_forward.eps == 0.5
    x = torch.linspace(-2, 2, 12)
    up = blocks[0].feed_forward.up_proj(x)
    nonlinear = {"relu": F.relu(up), "gelu": gelu(up)}
    if activation != "swiglu":
        hidden = nonlinear[activation]
        assert_equal(blocks[0].feed_forward.eval()(x), blocks[0].feed_forward.down_proj(hidden))


def test_config_makes_learned_positions():
    config = TransformerConfig(9, 12, context_length=4, learned_positions=True)
    for model in (LanguageModel(config), EncoderDecoder(config)):
        assert model.positions.table.weight.shape == (4, 12)


def test_modern_model_is_causal_and_caches_exactly():
    model = randomize(modern_model()).eval()
    tokens = torch.tensor([[1, 2, 3, 4, 5], [5, 4, 3, 2, 1]])
    prop.inputs_are_kept(model, tokens)
    later = tokens.clone()
    later[:, 3:] = 0
    assert_equal(model(later)[:, :3], model(tokens)[:, :3])
    written = [
        generate(model, tokens, 12, temperature=0.0, use_cache=use_cache)
        for use_cache in (True, False)
    ]
    assert torch.equal(*written)
