"""Masks say what they promise, and conversions between conventions lose nothing."""

import pytest
import torch
import torch.nn.functional as F
from hypothesis import given
from hypothesis import strategies as st

from helpers.masks import (
    causal_mask,
    combine_masks,
    from_additive,
    from_blocking,
    padding_mask,
    to_additive,
    to_blocking,
)
from tests.helpers.properties import assert_equal, examples, normal, random_mask

lengths = st.integers(0, 9)
seeds = st.integers(0, 10_000)


@examples
@given(lengths, lengths)
def test_causal_mask_by_definition(T_q, extra):
    """Query i is position T_k − T_q + i and sees the keys up to there."""
    T_k = T_q + extra
    mask = causal_mask(T_q, T_k)
    assert mask.shape == (T_q, T_k)
    assert mask.dtype == torch.bool
    for i in range(T_q):
        for j in range(T_k):
            assert mask[i, j] == (j <= T_k - T_q + i)


def test_causal_mask_of_few_queries_is_its_last_rows():
    assert torch.equal(causal_mask(2, 5), causal_mask(5)[-2:])
    assert causal_mask(1, 5).all()


def test_causal_mask_is_torchs():
    """Torch writes the same, for equal lengths, as `is_causal` and as an additive mask."""
    q, k, v = (normal(2, 5, 4, seed=i) for i in range(3))
    masked = F.scaled_dot_product_attention(q, k, v, attn_mask=causal_mask(5))
    assert_equal(masked, F.scaled_dot_product_attention(q, k, v, is_causal=True))
    theirs = torch.nn.Transformer.generate_square_subsequent_mask(5)
    assert torch.equal(to_additive(causal_mask(5)), theirs)


@examples
@given(st.lists(st.integers(0, 6), max_size=4), st.integers(6, 9))
def test_padding_mask_by_definition(lengths, T_k):
    mask = padding_mask(torch.tensor(lengths, dtype=torch.long), T_k)
    assert mask.shape == (len(lengths), 1, 1, T_k)
    for i, length in enumerate(lengths):
        assert mask[i, 0, 0].tolist() == [True] * length + [False] * (T_k - length)


@examples
@given(st.lists(st.integers(0, 3), min_size=1, max_size=4).map(tuple), seeds)
def test_conversions_return(shape, seed):
    mask = random_mask(*shape, seed=seed)
    assert torch.equal(from_blocking(to_blocking(mask)), mask)
    assert torch.equal(from_additive(to_additive(mask)), mask)
    assert torch.equal(to_blocking(mask), ~mask)


@pytest.mark.parametrize("dtype", [torch.float16, torch.bfloat16, torch.float32, torch.float64])
def test_additive_is_zero_or_minus_infinity(dtype):
    mask = torch.tensor([[True, False], [False, False]])
    additive = to_additive(mask, dtype)
    assert additive.dtype == dtype
    assert additive.tolist() == [[0.0, -torch.inf], [-torch.inf, -torch.inf]]
    assert torch.equal(from_additive(additive), mask)


@pytest.mark.parametrize("finite", [-1e9, -1e20, 1.0, float("nan"), float("inf")])
def test_from_additive_refuses_what_does_not_block(finite):
    with pytest.raises(ValueError, match="additive"):
        from_additive(torch.tensor([[0.0, finite]]))


@examples
@given(st.integers(1, 3), st.integers(1, 5), st.integers(0, 3), seeds)
def test_combination_allows_what_all_allow(batch, T_q, extra, seed):
    T_k = T_q + extra
    causal = causal_mask(T_q, T_k)
    padding = padding_mask(torch.arange(batch) % (T_k + 1), T_k)
    noise = random_mask(batch, 2, T_q, T_k, seed=seed)
    combined = combine_masks(None, causal, padding, None, noise)
    assert combined.shape == (batch, 2, T_q, T_k)
    everywhere = torch.stack([m.expand(combined.shape) for m in (causal, padding, noise)])
    assert torch.equal(combined, everywhere.all(dim=0))


def test_combination_of_none_is_none():
    assert combine_masks() is None
    assert combine_masks(None, None) is None
    mask = causal_mask(3)
    assert torch.equal(combine_masks(None, mask), mask)


def test_combination_keeps_its_parts():
    first, second = causal_mask(3), random_mask(3, 3, seed=0)
    copies = first.clone(), second.clone()
    combine_masks(first, second)
    assert torch.equal(first, copies[0])
    assert torch.equal(second, copies[1])
