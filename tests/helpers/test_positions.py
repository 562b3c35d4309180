"""Each encoding is what its formula says and keeps the property for which it is used."""

import copy
import math

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from torch.utils._python_dispatch import TorchDispatchMode

from helpers.attention import MultiHeadAttention
from helpers.masks import causal_mask
from helpers.positions import (
    ALiBiPositions,
    LearnedPositions,
    PositionEncoding,
    RotaryPositions,
    SinusoidalPositions,
    sinusoidal_codes,
)
from tests.helpers import properties as prop
from tests.helpers.properties import assert_equal, examples, normal

ENCODINGS = {
    "none": PositionEncoding,
    "learned": lambda: LearnedPositions(12, 8),
    "sinusoidal": SinusoidalPositions,
    "rotary": RotaryPositions,
    "alibi": lambda: ALiBiPositions(2),
}
seeds = st.integers(0, 10_000)
halves = st.integers(1, 5)


@pytest.mark.parametrize("name", ENCODINGS)
def test_each_encoding_acts_in_one_place(name):
    """And leaves the other two alone."""
    encoding = ENCODINGS[name]().double()
    x, q, k = normal(2, 5, 8, seed=0), normal(2, 2, 5, 4, seed=1), normal(2, 2, 5, 4, seed=2)
    turned_q, turned_k = encoding.rotate(q, k)
    acts = {
        "embed": not torch.equal(encoding.embed(x), x),
        "rotate": not (torch.equal(turned_q, q) and torch.equal(turned_k, k)),
        "bias": encoding.bias(5, 5, q) is not None,
    }
    place = {"none": None, "rotary": "rotate", "alibi": "bias"}.get(name, "embed")
    assert [p for p, does in acts.items() if does] == ([place] if place else [])


@pytest.mark.parametrize("name", ENCODINGS)
def test_order_is_seen(name):
    """Whole attention layers: without an encoding order is not seen, with each it is."""
    torch.manual_seed(0)
    encoding = ENCODINGS[name]()
    if isinstance(encoding, LearnedPositions):
        torch.nn.init.normal_(encoding.table.weight)
    attention = MultiHeadAttention(8, 2, positions=encoding).double()

    def layer(x):
        return attention(encoding.embed(x))

    x = normal(3, 6, 8, seed=0)
    prop.each_sequence_alone(layer, x)  # positions count along T, not along the batch
    if name == "none":
        prop.follows_permutation(layer, x)
    else:
        prop.minds_order(layer, x)
        with pytest.raises(AssertionError):
            prop.follows_permutation(layer, x)


# --------------------------------------------------------------------------- sinusoidal


@examples
@given(st.integers(0, 30), halves, st.sampled_from([100.0, 10_000.0]))
def test_sinusoidal_formula(T, half, base):
    """sin(t / base^(2i/d)) at 2i and the cosine of the same at 2i + 1."""
    d_model = 2 * half
    codes = sinusoidal_codes(T, d_model, base=base, dtype=torch.float64)
    assert codes.shape == (T, d_model)
    for t in range(T):
        for i in range(half):
            angle = t / base ** (2 * i / d_model)
            assert abs(codes[t, 2 * i] - math.sin(angle)) < 1e-12
            assert abs(codes[t, 2 * i + 1] - math.cos(angle)) < 1e-12


@examples
@given(st.integers(0, 40), halves)
def test_sinusoidal_shift_is_a_rotation(distance, half):
    """One matrix per pair, the same everywhere, leads from each position to the one behind it."""
    codes = sinusoidal_codes(60, 2 * half, dtype=torch.float64)
    for i in range(half):
        pairs = codes[:, 2 * i : 2 * i + 2]  # (60, 2)
        angle = torch.tensor(distance / 10_000 ** (i / half), dtype=torch.float64)
        rotation = torch.stack(
            [
                torch.stack([angle.cos(), angle.sin()]),
                torch.stack([-angle.sin(), angle.cos()]),
            ]
        )
        assert_equal(pairs[: 60 - distance] @ rotation.T, pairs[distance:])


def test_sinusoidal_is_added_and_keeps_dtype():
    x = normal(2, 7, 6, seed=0)
    added = SinusoidalPositions().embed(x) - x
    assert_equal(added, sinusoidal_codes(7, 6, dtype=torch.float64).expand(2, 7, 6))
    assert SinusoidalPositions().embed(x.half()).dtype == torch.float16


def test_sinusoidal_is_exact_far_out():
    """In float32 an angle of 100,000 would be off by thousandths; the code must not be."""
    codes = sinusoidal_codes(100_001, 2)
    assert abs(codes[-1, 0].item() - math.sin(100_000)) < 1e-7


# --------------------------------------------------------------------------- learned


def test_learned_adds_its_first_rows():
    encoding = LearnedPositions(5, 4).double()
    x = normal(2, 3, 4, seed=0)
    assert_equal(encoding.embed(x), x + encoding.table.weight[:3])
    assert encoding.embed(normal(1, 5, 4, seed=0)).shape == (1, 5, 4)


def test_learned_knows_no_position_beyond_its_table():
    with pytest.raises(ValueError, match="x: got 6 positions; needed at most context_length = 5"):
        LearnedPositions(5, 4).embed(torch.zeros(1, 6, 4))


def test_learned_is_trained():
    encoding = LearnedPositions(5, 4)
    encoding.embed(torch.zeros(1, 3, 4)).sum().backward()
    assert encoding.table.weight.grad[:3].abs().sum() > 0
    assert (encoding.table.weight.grad[3:] == 0).all()


# --------------------------------------------------------------------------- rotary


@examples
@given(st.integers(1, 8), halves, seeds)
def test_rotary_formula(T, half, seed):
    """Each pair as a complex number, times exp(i · angle)."""
    q = normal(2, 3, T, 2 * half, seed=seed)
    turned, _ = RotaryPositions().rotate(q, q)
    angles = torch.arange(T, dtype=torch.float64)[:, None] * 10_000.0 ** (
        -torch.arange(half, dtype=torch.float64) / half
    )
    as_complex = torch.view_as_complex(q.unflatten(-1, (half, 2)))
    expected = as_complex * torch.polar(torch.ones_like(angles), angles)
    assert_equal(turned, torch.view_as_real(expected).flatten(-2))


@examples
@given(st.integers(1, 6), st.integers(0, 50), halves, seeds)
def test_rotary_scores_depend_on_the_distance_alone(T, shift, half, seed):
    """The same vectors, `shift` positions later, have the same scores."""
    q, k = (normal(1, 1, T, 2 * half, seed=seed + i) for i in range(2))
    before = torch.zeros(1, 1, shift, 2 * half, dtype=torch.float64)
    early_q, early_k = RotaryPositions().rotate(q, k)
    late_q, late_k = RotaryPositions().rotate(torch.cat([before, q], 2), torch.cat([before, k], 2))
    late = late_q[:, :, shift:] @ late_k[:, :, shift:].mT
    assert_equal(late, early_q @ early_k.mT)


def test_rotary_scores_depend_on_the_distance_at_all():
    q = normal(1, 1, 1, 4, seed=0).expand(-1, -1, 6, -1)
    turned_q, turned_k = RotaryPositions().rotate(q, q)
    scores = (turned_q @ turned_k.mT)[0, 0]
    assert len({round(x, 9) for x in scores[0].tolist()}) == 6


@examples
@given(st.integers(1, 8), halves, seeds)
def test_rotary_keeps_lengths(T, half, seed):
    q, k = (normal(2, 2, T, 2 * half, seed=seed + i) for i in range(2))
    for before, after in zip((q, k), RotaryPositions().rotate(q, k), strict=True):
        assert_equal(after.norm(dim=-1), before.norm(dim=-1))
        assert after.dtype == before.dtype


def test_rotary_keeps_its_input_and_its_dtype():
    q = normal(1, 1, 4, 4, seed=0)
    prop.inputs_are_kept(RotaryPositions().rotate, q, q)
    assert RotaryPositions().rotate(q.half(), q.half())[0].dtype == torch.float16


# --------------------------------------------------------------------------- ALiBi


@examples
@given(st.integers(1, 8), st.integers(0, 5), st.integers(0, 5))
def test_alibi_penalty(n_heads, T_q, extra):
    """−slope · distance, with slopes 2^(−8/n), 2^(−16/n), …"""
    T_k = T_q + extra
    bias = ALiBiPositions(n_heads).bias(T_q, T_k, torch.zeros(1))
    assert bias.shape == (n_heads, T_q, T_k)
    for h in range(n_heads):
        slope = 2 ** (-8 * (h + 1) / n_heads)
        for i in range(T_q):
            for j in range(T_k):
                expected = -slope * abs(T_k - T_q + i - j)
                assert bias[h, i, j].item() == pytest.approx(expected, rel=1e-6)


def test_alibi_slopes_of_the_paper():
    """Press et al. (2022), section 3: for 8 heads 1/2, 1/4, …, 1/256."""
    assert ALiBiPositions(8).slopes.tolist() == [2.0**-n for n in range(1, 9)]


def test_alibi_is_not_trained_and_not_stored():
    encoding = ALiBiPositions(2)
    assert list(encoding.parameters()) == []
    assert encoding.state_dict() == {}


class WithoutFloat64(TorchDispatchMode):
    """Makes torch's "meta" device refuse float64, as Apple's MPS does."""

    def __torch_dispatch__(self, function, types, args=(), kwargs=None):
        made = function(*args, **(kwargs or {}))
        assert not (torch.is_tensor(made) and made.is_meta and made.dtype == torch.float64)
        return made


@pytest.mark.parametrize("positions", [RotaryPositions(), SinusoidalPositions()])
def test_a_device_without_float64_will_do(positions):
    x = torch.ones(1, 2, 3, 4, device="meta")
    with WithoutFloat64():
        for turned in positions.rotate(x, x):
            assert turned.is_meta and turned.dtype == torch.float32
        assert positions.embed(x[0]).is_meta


def test_alibi_in_half_precision():
    assert (
        ALiBiPositions(2).bias(3, 3, torch.zeros(1, dtype=torch.bfloat16)).dtype == torch.bfloat16
    )


# --------------------------------------------------------------------------- the last queries


@pytest.mark.parametrize("name", ["rotary", "alibi"])
@pytest.mark.parametrize("T_q", [1, 2, 5, 6])
def test_queries_are_the_last_positions(name, T_q):
    """With cached keys, a query alone gets what it gets within the whole sequence."""
    torch.manual_seed(0)
    attention = MultiHeadAttention(8, 2, positions=ENCODINGS[name]()).double()
    x = normal(2, 6, 8, seed=0)
    whole = attention(x, mask=causal_mask(6))
    last = attention(x[:, -T_q:], x, mask=causal_mask(T_q, 6))
    assert_equal(last, whole[:, -T_q:])


def test_encodings_survive_deepcopy_and_dtype():
    encoding = copy.deepcopy(ALiBiPositions(2)).double()
    assert encoding.bias(2, 2, normal(1, seed=0)).dtype == torch.float64


@pytest.mark.parametrize("name", ["none", "learned", "sinusoidal"])
@pytest.mark.parametrize("start", [0, 1, 4])
def test_embeddings_may_start_later(name, start):
    """As in generation with cached keys: the last words, alone, get what they get in the text."""
    encoding, x = ENCODINGS[name]().double(), normal(2, 6, 8, seed=0)
    assert_equal(encoding.embed(x[:, start:], start), encoding.embed(x)[:, start:])


def test_rotary_is_precise_at_large_positions():
    """In float32 the angle of place 100,000 is off by thousandths; its cosine need not be."""
    q, k = torch.randn(2, 1, 1, 3, 8, generator=torch.Generator().manual_seed(0))
    rotary = RotaryPositions()
    near = rotary.rotate(q, k, start=100_000)
    exact = rotary.rotate(q.double(), k.double(), start=100_000)
    for ours, wanted in zip(near, exact, strict=True):
        assert (ours - wanted).abs().max() < 1e-5


def test_rotary_table_is_computed_once(monkeypatch):
    """All layers and steps share it, in each dtype; it grows with the text, and changes no bit."""
    from helpers import positions

    calls = []
    angles = positions._angles
    monkeypatch.setattr(positions, "_angles", lambda *args: calls.append(args) or angles(*args))
    encoding = RotaryPositions(base=50.0, scaling_factor=2.0)
    x = torch.randn(1, 2, 12, 4)
    with torch.inference_mode():
        encoding.rotate(x, x)
    for start in range(8):
        q = x[:, :, start : start + 1]
        found, _ = encoding.rotate(q, q, start)
        fresh, _ = RotaryPositions(base=50.0, scaling_factor=2.0).rotate(q, q, start)
        assert torch.equal(found, fresh)
    shared = [args for args in calls if args[0] == 12]
    assert len(shared) == 1
    calls.clear()
    encoding.rotate(x, x)
    encoding.rotate(x[:, :, 2:9], x)
    assert calls == []
    encoding.rotate(x.double(), x.double())
    longer = torch.randn(1, 2, 13, 4)
    encoding.rotate(longer, longer)
    assert [args[0] for args in calls] == [12, 24]
    x.requires_grad_()
    encoding.rotate(x, x)[0].sum().backward()  # a table from inference mode would refuse
