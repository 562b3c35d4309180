"""Softmax and attention in NumPy: torch's numbers, stable, and whole without torch."""

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from helpers.attention import scaled_dot_product_attention
from helpers.numpy_attention import scaled_dot_product_attention_numpy, softmax
from tests.helpers.properties import assert_equal, examples, normal

seeds = st.integers(0, 10_000)


@examples
@given(st.lists(st.integers(1, 5), min_size=1, max_size=4), seeds, st.data())
def test_softmax_is_torchs(shape, seed, data):
    axis = data.draw(st.integers(-len(shape), len(shape) - 1))
    x = 10 * normal(*shape, seed=seed)
    assert_equal(torch.from_numpy(softmax(x.numpy(), axis=axis)), x.softmax(dim=axis))


@pytest.mark.parametrize("offset", [0.0, 1e4, -1e4, 1e300])
def test_softmax_is_stable_and_keeps_its_input(offset):
    x = np.array([[1.0, 2.0, 3.0], [-np.inf, 0.0, 1.0], [-np.inf, -np.inf, -np.inf]]) + offset
    before = x.copy()
    weights = softmax(x)
    assert np.array_equal(x, before)
    assert np.isfinite(weights).all()
    np.testing.assert_allclose(weights.sum(axis=-1), [1, 1, 0], atol=1e-15)
    assert weights[1, 0] == 0.0


def test_softmax_of_whole_numbers_and_of_nothing():
    np.testing.assert_allclose(softmax(np.array([0, 0])), [0.5, 0.5])
    assert softmax(np.zeros((2, 0))).shape == (2, 0)


def test_numpy_scale():
    q, k, v = (normal(4, 3, seed=i) for i in range(3))
    context, _ = scaled_dot_product_attention_numpy(q.numpy(), k.numpy(), v.numpy(), scale=0.3)
    assert_equal(torch.from_numpy(context), scaled_dot_product_attention(q, k, v, scale=0.3)[0])
