"""Attention agrees with torch in float64, values and gradients, and keeps its properties."""

import copy
from functools import partial

import pytest
import torch
import torch.nn.functional as F
from hypothesis import example, given
from hypothesis import strategies as st
from torch import nn

from helpers.attention import (
    CausalSelfAttention,
    KeyValueCache,
    MultiHeadAttention,
    SelfAttention,
    _fused,
    masked_softmax,
    scaled_dot_product_attention,
)
from helpers.masks import causal_mask, combine_masks, padding_mask, to_additive, to_blocking
from helpers.numpy_attention import scaled_dot_product_attention_numpy
from helpers.positions import ALiBiPositions, RotaryPositions
from helpers.variants import GroupedQueryAttention
from tests.helpers import properties as prop
from tests.helpers.properties import assert_equal, examples, gradients, normal, random_mask

seeds = st.integers(0, 10_000)
leads = st.lists(st.integers(1, 3), max_size=3).map(tuple)
lengths = st.integers(1, 7)
widths = st.integers(1, 6)
masked = st.sampled_from(["none", "rows and columns", "all axes"])


def make_mask(kind, lead, T_q, T_k, seed, **options):
    if kind == "none":
        return None
    axes = (T_q, T_k) if kind == "rows and columns" else (*lead, T_q, T_k)
    return random_mask(*axes, seed=seed, **options)


def numpy_attend(q, k, v, mask=None):
    """The NumPy function, with torch tensors in and out."""
    arrays = [x.detach().numpy() for x in (q, k, v)]
    context, weights = scaled_dot_product_attention_numpy(
        *arrays, mask=None if mask is None else mask.numpy()
    )
    return torch.from_numpy(context), torch.from_numpy(weights)


def copy_weights(ours: MultiHeadAttention, torchs: nn.MultiheadAttention) -> None:
    """Give torch's module the weights of ours."""
    weights = [layer.weight for layer in (ours.W_query, ours.W_key, ours.W_value)]
    with torch.no_grad():
        if torchs.in_proj_weight is not None:
            torchs.in_proj_weight.copy_(torch.cat(weights))
        else:
            for name, weight in zip("qkv", weights, strict=True):
                getattr(torchs, f"{name}_proj_weight").copy_(weight)
        torchs.out_proj.weight.copy_(ours.W_out.weight)
        if torchs.in_proj_bias is not None:
            biases = [layer.bias for layer in (ours.W_query, ours.W_key, ours.W_value)]
            torchs.in_proj_bias.copy_(torch.cat(biases))
            torchs.out_proj.bias.copy_(ours.W_out.bias)


# --------------------------------------------------------------------------- softmax


@examples
@given(leads, lengths, lengths, masked, seeds)
def test_masked_softmax_is_torchs(lead, T_q, T_k, kind, seed):
    """Values and gradients, where every row sees something (torch gives NaN elsewhere)."""
    scores = normal(*lead, T_q, T_k, seed=seed, grad=True)
    mask = make_mask(kind, lead, T_q, T_k, seed, blind_rows=False)
    filled = scores if mask is None else scores.masked_fill(~mask, -torch.inf)
    ours, reference = masked_softmax(scores, mask), filled.softmax(dim=-1)
    assert_equal(ours, reference)
    assert_equal(gradients(ours, [scores])[0], gradients(reference, [scores])[0])


# --------------------------------------------------------------------------- the two functions


@examples
@given(leads, lengths, lengths, widths, widths, masked, seeds)
@example((2, 2), 5, 3, 4, 6, "rows and columns", 1)
def test_attention_is_torchs(lead, T_q, T_k, d_k, d_v, kind, seed):
    """T_q ≠ T_k, d_v ≠ d_k, any leading axes, masks with and without rows that see nothing."""
    q, k = normal(*lead, T_q, d_k, seed=seed), normal(*lead, T_k, d_k, seed=seed + 1)
    v = normal(*lead, T_k, d_v, seed=seed + 2)
    mask = make_mask(kind, lead, T_q, T_k, seed)
    prop.equals_torch(scaled_dot_product_attention, q, k, v, mask)
    ours, in_numpy = scaled_dot_product_attention(q, k, v, mask), numpy_attend(q, k, v, mask)
    assert_equal(in_numpy[0], ours[0])
    assert_equal(in_numpy[1], ours[1])
    for attend in (scaled_dot_product_attention, numpy_attend):
        prop.rows_sum_to_one(attend, q, k, v, mask)
        prop.inputs_are_kept(attend, q, k, v, mask)
    prop.blind_rows_give_zeros(scaled_dot_product_attention, q, k, v)


@examples
@given(lengths, lengths, widths, masked, st.floats(0.01, 5.0), st.booleans(), seeds)
def test_bias_and_scale(T_q, T_k, d_k, kind, scale, use_scale, seed):
    """Both as torch does it with an additive mask, with gradients, also that of the bias."""
    q, k, v = (normal(2, 3, T, d_k, seed=seed + i) for i, T in enumerate((T_q, T_k, T_k)))
    bias = normal(3, T_q, T_k, seed=seed + 3)
    inputs = [x.requires_grad_() for x in (q, k, v, bias)]
    mask = make_mask(kind, (2, 3), T_q, T_k, seed, blind_rows=False)
    scale = scale if use_scale else None
    ours, weights = scaled_dot_product_attention(q, k, v, mask, bias=bias, scale=scale)
    added = bias if mask is None else bias + to_additive(mask, torch.float64)
    reference = F.scaled_dot_product_attention(
        q, k, v, attn_mask=added.expand(2, -1, -1, -1), scale=scale
    )
    assert_equal(ours, reference)
    for a, b in zip(gradients(ours, inputs), gradients(reference, inputs), strict=True):
        assert_equal(a, b, "gradients")
    factor = d_k**-0.5 if scale is None else scale
    by_hand = masked_softmax(q @ k.mT * factor + bias, mask)
    assert_equal(weights, by_hand)


def test_bias_of_minus_infinity_blocks_like_a_mask():
    q, k, v = (normal(4, 3, seed=i, grad=True) for i in range(3))
    mask = random_mask(4, 4, seed=1)
    assert not mask.any(dim=-1).all()
    blocked, _ = scaled_dot_product_attention(q, k, v, bias=to_additive(mask, torch.float64))
    reference, _ = scaled_dot_product_attention(q, k, v, mask)
    assert_equal(blocked, reference)
    for a, b in zip(gradients(blocked, [q, k, v]), gradients(reference, [q, k, v]), strict=True):
        assert_equal(a, b, "gradients")


@pytest.mark.parametrize("attend", [scaled_dot_product_attention, numpy_attend])
def test_large_scores(attend):
    prop.survives_large_scores(attend)


@pytest.mark.parametrize("attend", [scaled_dot_product_attention, numpy_attend])
@pytest.mark.parametrize(("T_q", "T_k"), [(3, 0), (0, 3), (0, 0), (1, 1)])
def test_no_queries_or_no_keys(attend, T_q, T_k):
    """Nothing to attend to gives zeros, as with a mask that blocks everything."""
    q, k, v = normal(2, T_q, 4, seed=0), normal(2, T_k, 4, seed=1), normal(2, T_k, 5, seed=2)
    context, weights = attend(q, k, v)
    assert context.shape == (2, T_q, 5)
    assert weights.shape == (2, T_q, T_k)
    if T_k == 0:
        assert (context == 0).all()


@pytest.mark.parametrize("kind", ["none", "rows and columns", "all axes"])
def test_gradcheck(kind):
    """Numerical derivatives, also where rows see nothing."""
    q, k, v = (normal(2, T, d, seed=d, grad=True) for T, d in ((3, 2), (4, 2), (4, 3)))
    mask = make_mask(kind, (2,), 3, 4, 1)
    assert torch.autograd.gradcheck(
        lambda q, k, v: scaled_dot_product_attention(q, k, v, mask), (q, k, v)
    )


@examples
@given(st.sampled_from([torch.float16, torch.bfloat16]), lengths, lengths, widths, masked, seeds)
def test_half_precision(dtype, T_q, T_k, d_k, kind, seed):
    """Within 2 units in the last place of the largest value, for inputs of unit variance."""
    shapes = ((T_q, d_k), (T_k, d_k), (T_k, 5))
    q, k, v = (normal(2, 3, *s, seed=seed + i).to(dtype) for i, s in enumerate(shapes))
    mask = make_mask(kind, (2, 3), T_q, T_k, seed)
    exact, _ = scaled_dot_product_attention(q.double(), k.double(), v.double(), mask)
    bound = 2 * torch.finfo(dtype).eps * v.double().abs().max().clamp(min=1.0)
    context, weights = scaled_dot_product_attention(q, k, v, mask)
    for ours in (context, _fused(q, k, v, mask, None, 0.0)):
        assert ours.dtype == dtype
        assert ((ours.double() - exact).abs() <= bound).all()
    assert weights.dtype == dtype


def test_scores_in_float16_are_scaled_first():
    """64 · 40² overflows; divided by √64 it does not. A negative scale is one, too."""
    q, v = torch.full((2, 64), 40.0, dtype=torch.float16), normal(2, 3, seed=0).half()
    for k, scale, first in ((q, None, 0.5), (torch.stack([q[0], 0 * q[1]]), -0.125, 0.0)):
        context, weights = scaled_dot_product_attention(q, k, v, scale=scale)
        assert_equal(weights.double(), torch.tensor([[first, 1 - first]] * 2).double())
        assert context.isfinite().all()


# --------------------------------------------------------------------------- dropout


def test_dropout_scales_what_it_keeps():
    """Each weight is 0 or divided by 1 − p; their mean over many draws is the weight."""
    torch.manual_seed(0)
    draws, p = 20_000, 0.3
    q, k = (
        normal(1, 2, 3, seed=0).expand(draws, -1, -1),
        normal(1, 4, 3, seed=1).expand(draws, -1, -1),
    )
    identity = torch.eye(4, dtype=torch.float64).expand(draws, -1, -1)
    dropped, weights = scaled_dot_product_attention(q, k, identity, dropout_p=p)
    check_dropped(dropped, weights[0], p)


def check_dropped(dropped, weights, p):
    """`dropped` are draws (draws, T_q, T_k) of the weights (T_q, T_k)."""
    kept = dropped != 0
    assert_equal(dropped[kept], (weights / (1 - p)).expand_as(dropped)[kept])
    spread = (p / (1 - p) / len(dropped)) ** 0.5  # of a mean, relative to the weight
    assert ((dropped.mean(dim=0) - weights).abs() <= 5 * spread * weights).all()
    assert abs(kept.double().mean() - (1 - p)) < 0.01


@pytest.mark.parametrize("return_weights", [False, True])
def test_dropout_in_multi_head(return_weights):
    """Both paths drop; values and output pass through identities, so that weights come out."""
    torch.manual_seed(0)
    T, p, draws = 4, 0.3, 20_000
    attention = MultiHeadAttention(T, 1, dropout=p).double().train()
    with torch.no_grad():
        for layer in (attention.W_value, attention.W_out):
            layer.weight.copy_(torch.eye(T))
            layer.bias.zero_()
    x = torch.eye(T, dtype=torch.float64).expand(draws, -1, -1)
    out = attention(x, return_weights=return_weights)
    dropped = out[0] if return_weights else out
    _, weights = attention.eval()(x[:1], return_weights=True)
    check_dropped(dropped.detach(), weights[0, 0].detach(), p)


@pytest.mark.parametrize(
    "module",
    [CausalSelfAttention(6, 4, 5, dropout=0.5), MultiHeadAttention(6, 2, dropout=0.5)],
    ids=["one head", "two heads"],
)
def test_dropout_is_for_training_only(module):
    torch.manual_seed(0)
    module = copy.deepcopy(module).double()
    x = normal(2, 5, 6, seed=0)
    prop.training_drops(module, x)
    prop.evaluation_repeats_itself(module, x)
    without = copy.deepcopy(module)
    without.dropout = 0.0
    assert_equal(module(x), without.train()(x))


# --------------------------------------------------------------------------- one head


@examples
@given(lengths, widths, widths, widths, st.booleans(), masked, seeds)
def test_single_head(T, d_model, d_k, d_v, bias, kind, seed):
    torch.manual_seed(seed)
    head = SelfAttention(d_model, d_k, d_v, bias).double()
    x, mask = normal(2, T, d_model, seed=seed), make_mask(kind, (2,), T, T, seed)
    q, k, v = (F.linear(x, W.weight, W.bias) for W in (head.W_query, head.W_key, head.W_value))
    context, weights = head(x, mask, return_weights=True)
    assert_equal(context, F.scaled_dot_product_attention(q, k, v, attn_mask=mask))
    assert_equal(head(x, mask), context)
    assert_equal(weights @ v, context)


def test_causal_head_is_a_head_with_a_causal_mask():
    torch.manual_seed(0)
    causal = CausalSelfAttention(6, 4, 9, d_v=3, bias=True).double()
    head = SelfAttention(6, 4, 3, bias=True).double()
    head.load_state_dict(causal.state_dict())  # the mask is a buffer, but not stored
    for T in (1, 5, 9):
        x = normal(2, T, 6, seed=T)
        assert_equal(causal(x), head(x, causal_mask(T)))
        prop.future_changes_nothing(causal, x)
        prop.past_is_seen(causal, x)
        _, weights = causal(x, return_weights=True)
        assert (weights.triu(1) == 0).all()


# --------------------------------------------------------------------------- several heads


@examples
@given(
    st.integers(1, 3),
    lengths,
    lengths,
    st.integers(1, 3),
    st.integers(1, 4),
    st.sampled_from([None, 3, 7]),
    st.booleans(),
    st.booleans(),
    masked,
    st.booleans(),
    seeds,
)
@example(2, 5, 3, 2, 4, 7, True, True, "all axes", True, 1)
def test_multi_head_is_torchs(
    batch, T_q, T_k, n_heads, d_head, d_context, cross, bias, kind, pad, seed
):
    """Self- and cross-attention, weights copied: outputs, weights and all gradients."""
    torch.manual_seed(seed)
    d_model = n_heads * d_head
    d_context = d_context if cross else None
    T_k = T_k if cross else T_q
    ours = MultiHeadAttention(d_model, n_heads, d_context=d_context, bias=bias).double()
    torchs = nn.MultiheadAttention(
        d_model, n_heads, bias=bias, kdim=d_context, vdim=d_context, batch_first=True
    ).double()
    copy_weights(ours, torchs)
    query = normal(batch, T_q, d_model, seed=seed, grad=True)
    key = normal(batch, T_k, d_context or d_model, seed=seed + 1, grad=True) if cross else query

    # Every query sees at least the first key, since torch gives NaN elsewhere.
    mask = make_mask(kind, (batch, n_heads), T_q, T_k, seed)
    padding = padding_mask(torch.arange(batch) % T_k + 1, T_k) if pad else None
    if mask is not None:
        mask[..., 0] = True
    attn_mask = None if mask is None else to_blocking(mask)
    if kind == "all axes":
        attn_mask = attn_mask.flatten(0, 1)  # (batch · heads, T_q, T_k), as torch wants it
    key_padding = None if padding is None else to_blocking(padding)[:, 0, 0]  # (batch, T_k)
    reference, reference_weights = torchs(
        query,
        key,
        key,
        key_padding_mask=key_padding,
        attn_mask=attn_mask,
        average_attn_weights=False,
    )

    context = key if cross else None
    both = combine_masks(mask, padding)
    inputs = [query, key] if cross else [query]
    expected = gradients(reference, [*inputs, torchs.out_proj.weight])
    for return_weights in (True, False):
        out = ours(query, context, mask=both, return_weights=return_weights)
        if return_weights:
            out, weights = out
            assert_equal(weights, reference_weights, "weights")
        assert_equal(out, reference)
        got = gradients(out, [*inputs, ours.W_out.weight])
        for a, b in zip(got, expected, strict=True):
            assert_equal(a, b, "gradients")


def test_multi_head_values_may_differ_from_keys():
    torch.manual_seed(0)
    ours = MultiHeadAttention(6, 2).double()
    torchs = nn.MultiheadAttention(6, 2, batch_first=True).double()
    copy_weights(ours, torchs)
    query, key, value = normal(2, 3, 6, seed=0), normal(2, 5, 6, seed=1), normal(2, 5, 6, seed=2)
    assert_equal(ours(query, key, value), torchs(query, key, value)[0])


@examples
@given(
    st.integers(1, 3),
    widths,
    widths,
    widths,
    widths,
    widths,
    lengths,
    lengths,
    st.booleans(),
    seeds,
)
def test_multi_head_is_a_list_of_heads(
    n_heads, d_model, d_k, d_v, d_out, d_context, T_q, T_k, bias, seed
):
    """Also with d_v ≠ d_k and d_out ≠ d_model, which torch's module has not."""
    torch.manual_seed(seed)
    ours = MultiHeadAttention(
        d_model, n_heads, d_k=d_k, d_v=d_v, d_out=d_out, d_context=d_context, bias=bias
    ).double()
    query, key = normal(2, T_q, d_model, seed=seed), normal(2, T_k, d_context, seed=seed + 1)
    mask = random_mask(2, n_heads, T_q, T_k, seed=seed)
    contexts = []
    for head in range(n_heads):
        pieces = []
        for layer, width, x in (
            (ours.W_query, d_k, query),
            (ours.W_key, d_k, key),
            (ours.W_value, d_v, key),
        ):
            rows = slice(head * width, (head + 1) * width)
            pieces.append(x @ layer.weight[rows].T + (layer.bias[rows] if bias else 0.0))
        contexts.append(F.scaled_dot_product_attention(*pieces, attn_mask=mask[:, head]))
    reference = F.linear(torch.cat(contexts, dim=-1), ours.W_out.weight, ours.W_out.bias)
    out = ours(query, key, mask=mask)
    assert out.shape == (2, T_q, d_out)
    assert_equal(out, reference)


@examples
@given(
    st.integers(1, 3),
    lengths,
    lengths,
    masked,
    st.sampled_from(["none", "rotary", "alibi"]),
    st.booleans(),
    seeds,
)
@example(2, 5, 5, "all axes", "alibi", True, 1)
def test_fused_equals_explicit(n_heads, T_q, extra, kind, positions, wide_values, seed):
    """The path that returns weights and the one that does not: values and all gradients."""
    torch.manual_seed(seed)
    T_k = T_q + extra
    encoding = {"none": None, "rotary": RotaryPositions(), "alibi": ALiBiPositions(n_heads)}
    attention = MultiHeadAttention(
        4, n_heads, d_k=2, d_v=3 if wide_values else 2, positions=encoding[positions]
    ).double()
    query, key = (
        normal(2, T_q, 4, seed=seed, grad=True),
        normal(2, T_k, 4, seed=seed + 1, grad=True),
    )
    mask = make_mask(kind, (2, n_heads), T_q, T_k, seed)
    fused = attention(query, key, mask=mask)
    explicit, weights = attention(query, key, mask=mask, return_weights=True)
    assert_equal(fused, explicit)
    inputs = [query, key, *attention.parameters()]
    for a, b in zip(gradients(fused, inputs), gradients(explicit, inputs), strict=True):
        assert_equal(a, b, "gradients")
    if mask is not None:
        blind = ~mask.expand(weights.shape).any(dim=-1)
        assert (weights[blind] == 0).all()


@examples
@given(
    st.integers(1, 3),
    lengths,
    st.integers(0, 3),
    masked,
    st.sampled_from(["none", "rotary", "alibi"]),
    st.booleans(),
    seeds,
)
@example(2, 5, 0, "none", "none", False, 1)
@example(2, 1, 3, "none", "rotary", False, 1)
def test_causal_as_a_word_is_the_causal_mask(
    n_heads, T_q, extra, kind, positions, return_weights, seed
):
    """Values, weights and gradients, with other masks beside it and keys from before."""
    torch.manual_seed(seed)
    encodings = {
        "none": lambda: None,
        "rotary": RotaryPositions,
        "alibi": lambda: ALiBiPositions(n_heads),
    }
    encoding = encodings[positions]()
    attention = MultiHeadAttention(4 * n_heads, n_heads, positions=encoding).double()
    T_k = T_q + extra
    query = normal(2, T_q, 4 * n_heads, seed=seed).requires_grad_()
    key = normal(2, T_k, 4 * n_heads, seed=seed + 1).requires_grad_()
    mask = make_mask(kind, (2, n_heads), T_q, T_k, seed)
    both = combine_masks(mask, causal_mask(T_q, T_k))
    word = attention(query, key, mask=mask, return_weights=return_weights, causal=True)
    matrix = attention(query, key, mask=both, return_weights=return_weights)
    if return_weights:
        assert_equal(word[1], matrix[1])
        word, matrix = word[0], matrix[0]
    assert_equal(word, matrix)
    inputs = (query, *attention.parameters())
    for a, b in zip(gradients(word, inputs), gradients(matrix, inputs), strict=True):
        assert_equal(a, b)


@torch.no_grad()
@pytest.mark.parametrize("pieces", [(6,), (1,) * 6, (4, 2), (2, 3, 1)])
@pytest.mark.parametrize("return_weights", [False, True])
def test_causal_with_a_cache(pieces, return_weights):
    torch.manual_seed(0)
    attention = MultiHeadAttention(8, 2, positions=RotaryPositions()).double().eval()
    x = normal(3, 6, 8, seed=0)
    cache, found = KeyValueCache(), []
    for piece in x.split(pieces, dim=1):
        out = attention(piece, cache=cache, causal=True, return_weights=return_weights)
        found.append(out[0] if return_weights else out)
    assert_equal(torch.cat(found, dim=1), attention(x, mask=causal_mask(6)))


def test_the_fused_function_is_told_the_word(monkeypatch):
    """Only then can it leave out the half that nobody sees."""
    told = []
    fused = F.scaled_dot_product_attention

    def listen(*args, **words):
        told.append((words.get("is_causal", False), words.get("attn_mask") is None))
        return fused(*args, **words)

    monkeypatch.setattr(F, "scaled_dot_product_attention", listen)
    x = torch.randn(2, 5, 8)
    attention = MultiHeadAttention(8, 2)
    attention(x, causal=True)
    CausalSelfAttention(8, 4, 5)(x)
    assert told == [(True, True)] * 2
    cache = KeyValueCache()
    attention(x[:, :4], cache=cache, causal=True)
    attention(x[:, 4:], cache=cache, causal=True)  # the last position sees all: no mask at all
    assert told[2:] == [(True, True), (False, True)]
    attention(x, mask=torch.ones(5, 5, dtype=torch.bool), causal=True)
    assert told[4:] == [(False, False)]


def test_causal_needs_as_many_keys_as_queries():
    attention = MultiHeadAttention(8, 2)
    with pytest.raises(ValueError, match="causal: got 5 queries for 3 keys"):
        attention(torch.randn(1, 5, 8), torch.randn(1, 3, 8), causal=True)


def test_multi_head_gradcheck():
    torch.manual_seed(0)
    attention = MultiHeadAttention(4, 2, d_v=3, d_out=5, positions=ALiBiPositions(2)).double()
    mask = random_mask(2, 2, 3, 3, seed=1)
    x = normal(2, 3, 4, seed=0, grad=True)
    for return_weights in (False, True):
        assert torch.autograd.gradcheck(
            partial(attention, mask=mask, return_weights=return_weights), (x,)
        )


@pytest.mark.parametrize("dtype", [torch.float16, torch.bfloat16])
@pytest.mark.parametrize("return_weights", [False, True])
def test_multi_head_half_precision(dtype, return_weights):
    """Within 2 units in the last place of 1: outputs are below 1 for inputs of unit variance."""
    for seed in range(20):
        torch.manual_seed(seed)
        attention = MultiHeadAttention(8, 2).to(dtype)
        x, mask = normal(2, 7, 8, seed=seed).to(dtype), random_mask(7, 7, seed=seed)
        exact = copy.deepcopy(attention).double()(x.double(), mask=mask)
        out = attention(x, mask=mask, return_weights=return_weights)
        out = out[0] if return_weights else out
        assert out.dtype == dtype
        assert (out.double() - exact).abs().max() <= 2 * torch.finfo(dtype).eps


@pytest.mark.parametrize("kind", [MultiHeadAttention, GroupedQueryAttention])
def test_heads_of_subclasses_are_not_confused(kind):
    """A third positional argument would be a width in one class, a number of heads in the other."""
    with pytest.raises(TypeError, match="positional argument"):
        kind(8, 4, 2)


@pytest.mark.parametrize(
    "layer, others", [(SelfAttention(8, 4), [None]), (CausalSelfAttention(8, 4, 5), [])]
)
def test_weights_are_asked_for_by_name(layer, others):
    """The second positional argument is a mask in one class; the other class has none."""
    x = torch.randn(2, 5, 8)
    assert len(layer(x, *others, return_weights=True)) == 2
    with pytest.raises(TypeError, match="positional argument"):
        layer(x, *others, True)


def test_autocast_takes_float32():
    attention, x = MultiHeadAttention(8, 2), torch.randn(2, 5, 8)
    with torch.autocast("cpu", dtype=torch.bfloat16):
        first, weights = attention(x, return_weights=True)
        second = attention(first)  # bfloat16 in, while the weights are float32
    assert first.dtype == second.dtype == torch.bfloat16
    assert weights.isfinite().all()


@pytest.mark.parametrize(("T_q", "T_k"), [(1, 1), (3, 0), (0, 3), (0, 0)])
@pytest.mark.parametrize("return_weights", [False, True])
def test_multi_head_of_short_sequences(T_q, T_k, return_weights):
    """Without any key only the output's bias is left."""
    attention = MultiHeadAttention(6, 2).double()
    out = attention(
        normal(2, T_q, 6, seed=0), normal(2, T_k, 6, seed=1), return_weights=return_weights
    )
    out, weights = out if return_weights else (out, None)
    assert out.shape == (2, T_q, 6)
    assert weights is None or weights.shape == (2, 2, T_q, T_k)
    if T_k == 0:
        assert_equal(out, attention.W_out.bias.expand(2, T_q, 6))


@pytest.mark.parametrize("return_weights", [False, True])
def test_multi_head_properties(return_weights):
    """Sequences alone, permutation, the future, padding, and inputs, on both paths."""
    torch.manual_seed(0)
    attention = MultiHeadAttention(6, 2).double()

    def layer(x, mask=None):
        out = attention(x, mask=mask, return_weights=return_weights)
        return out[0] if return_weights else out

    def causal(x):
        return layer(x, causal_mask(x.shape[1]))

    def padded(x, lengths):
        return layer(x, padding_mask(lengths, x.shape[1]))

    def padded_and_causal(x, lengths):
        T = x.shape[1]
        return layer(x, combine_masks(padding_mask(lengths, T), causal_mask(T)))

    x = normal(3, 6, 6, seed=0)
    prop.each_sequence_alone(layer, x)
    prop.follows_permutation(layer, x)
    prop.everything_is_seen(layer, x)
    prop.future_changes_nothing(causal, x)
    prop.past_is_seen(causal, x)
    prop.padding_changes_nothing(padded, x)
    prop.padding_changes_nothing(padded_and_causal, x)
    prop.inputs_are_kept(layer, x, random_mask(6, 6, seed=0))
    _, weights = attention(x, mask=causal_mask(6), return_weights=True)
    assert_equal(weights.sum(dim=-1), torch.ones(3, 2, 6, dtype=torch.float64))


def test_order_of_shuffled_keys_does_not_matter():
    """Cross-attention reads its keys as a set of pairs of key and value."""
    attention = MultiHeadAttention(6, 2).double()
    query, key = normal(2, 3, 6, seed=0), normal(2, 5, 6, seed=1)
    order = torch.tensor([4, 2, 0, 1, 3])
    assert_equal(attention(query, key[:, order]), attention(query, key))
