"""The mistakes that the course warns of, rebuilt, and the property that notices each.

Every case names a mistake found in published teaching material, the property of `properties.py`
that the right code keeps, and code for both. The test asserts that the right code keeps the
property and the wrong code does not. So the properties are known to be able to fail.
"""

import math

import pytest
import torch
import torch.nn.functional as F
from torch import nn

from helpers.attention import MultiHeadAttention, masked_softmax, scaled_dot_product_attention
from helpers.blocks import TransformerBlock
from helpers.data.chef import CHEF_TOKENS, chef_vectors
from helpers.masks import causal_mask, padding_mask
from helpers.positions import sinusoidal_codes
from tests.helpers import properties as prop
from tests.helpers.properties import normal, random_mask

CASES = []


def case(title, check, right, wrong, error=AssertionError):
    """`check(right)` must pass and `check(wrong)` raise."""
    CASES.append(pytest.param(check, right, wrong, error, id=title))


def qkv(T_q=4, T_k=4, d_k=4, d_v=4, seed=0):
    shapes = ((T_q, d_k), (T_k, d_k), (T_k, d_v))
    return tuple(normal(2, *shape, seed=seed + i) for i, shape in enumerate(shapes))


def attend_with(weigh, scale=True):
    """Attention whose weights are `weigh(scores, mask)`."""

    def attend(q, k, v, mask=None):
        scores = q @ k.mT / (math.sqrt(q.shape[-1]) if scale else 1.0)
        weights = weigh(scores, mask)
        return weights @ v, weights

    return attend


right_attend = scaled_dot_product_attention
CAUSAL = causal_mask(4)

# --------------------------------------------------------------------------- softmax and scores


def softmax_without_maximum(scores, mask):
    """exp overflows above 709."""
    exp = scores.exp() if mask is None else scores.exp() * mask
    return exp / exp.sum(-1, keepdim=True)


case(
    "softmax without subtracting the maximum",
    prop.survives_large_scores,
    right_attend,
    attend_with(softmax_without_maximum),
)
case(
    "softmax over the queries",
    lambda attend: prop.rows_sum_to_one(attend, *qkv(), None),
    right_attend,
    attend_with(lambda scores, mask: scores.softmax(dim=-2)),
)
case(
    "no softmax: scores divided by their sum",
    lambda attend: prop.rows_sum_to_one(attend, *qkv(), None),
    right_attend,
    attend_with(lambda scores, mask: scores / scores.sum(-1, keepdim=True)),
)
case(
    "√d_k in the formula but not in the code",
    lambda attend: prop.equals_torch(attend, *qkv(), None),
    right_attend,
    attend_with(masked_softmax, scale=False),
)
case(
    "division by d_k: the exponent is lost",
    lambda attend: prop.equals_torch(attend, *qkv(), None),
    right_attend,
    lambda q, k, v, mask: right_attend(q, k, v, mask, scale=1 / q.shape[-1]),
)


def without_transpose(q, k, v, mask=None):
    """QK where QKᵀ is meant; it runs whenever T equals d_k."""
    weights = masked_softmax(q @ k / math.sqrt(q.shape[-1]), mask)
    return weights @ v, weights


case(
    "QK without transpose, T = d_k",
    lambda attend: prop.equals_torch(attend, *qkv(), None),
    right_attend,
    without_transpose,
)
case(
    "QK without transpose, T_q ≠ T_k",
    lambda attend: prop.equals_torch(attend, *qkv(T_q=3, T_k=5), None),
    right_attend,
    without_transpose,
    RuntimeError,
)

# --------------------------------------------------------------------------- masks


def finite_mask(number):
    """Blocked scores are replaced by a large negative number."""
    return attend_with(
        lambda scores, mask: (
            scores.masked_fill(~mask, number).softmax(dim=-1)
            if mask is not None
            else scores.softmax(dim=-1)
        )
    )


def added_mask(scores, mask):
    """Multiplied by −1e9 and added: the same fault."""
    return scores.softmax(-1) if mask is None else (scores + (~mask) * -1e9).softmax(dim=-1)


for title, wrong in (
    ("finite mask −1e9", finite_mask(-1e9)),
    ("finite mask −1e20", finite_mask(-1e20)),
    ("(1 − mask) · −1e9 added", attend_with(added_mask)),
    ("−∞ in a whole row: NaN", finite_mask(-torch.inf)),
):
    case(
        f"{title}, where a row sees nothing",
        lambda attend: prop.blind_rows_give_zeros(attend, *qkv()),
        right_attend,
        wrong,
    )


def mask_after_softmax(scores, mask):
    weights = scores.softmax(dim=-1)
    return weights if mask is None else weights * mask


def scores_set_to_zero(scores, mask):
    """exp(0) is 1: the blocked key gets a weight."""
    return (scores if mask is None else scores * mask).softmax(dim=-1)


def inverted_mask(scores, mask):
    return masked_softmax(scores, None if mask is None else ~mask)


for title, weigh in (
    ("mask after softmax", mask_after_softmax),
    ("blocked scores set to zero instead of −∞", scores_set_to_zero),
    ("inverted mask", inverted_mask),
):
    case(
        title,
        lambda attend: prop.rows_sum_to_one(attend, *qkv(), CAUSAL),
        right_attend,
        attend_with(weigh),
    )


def causal_layer(mask_of):
    """A layer of attention whose mask is `mask_of(T)`."""

    def layer(x):
        return right_attend(x, x, x, mask_of(x.shape[1]))[0]

    return layer


X = normal(3, 5, 6, seed=7)

case(
    "inverted causal mask: sees only the future",
    lambda layer: prop.future_changes_nothing(layer, X),
    causal_layer(causal_mask),
    causal_layer(lambda T: ~causal_mask(T)),
)
case(
    "causal mask one too far: sees its own target",
    lambda layer: prop.future_changes_nothing(layer, X),
    causal_layer(causal_mask),
    causal_layer(lambda T: torch.ones(T, T, dtype=torch.bool).tril(diagonal=1)),
)
case(
    "causal mask one too short: does not see itself",
    lambda layer: prop.past_is_seen(layer, X),
    causal_layer(causal_mask),
    causal_layer(lambda T: torch.ones(T, T, dtype=torch.bool).tril(diagonal=-1)),
)
case(
    "no causal mask in a decoder: it looks ahead",
    lambda layer: prop.future_changes_nothing(layer, X),
    causal_layer(causal_mask),
    causal_layer(lambda T: None),
)
case(
    "causal mask on an encoder",
    lambda layer: prop.everything_is_seen(layer, X),
    causal_layer(lambda T: None),
    causal_layer(causal_mask),
)


def cached_causal(mask_of):
    """Queries only for the last two positions, as with cached keys."""

    def check_outputs(x):
        whole = right_attend(x, x, x, causal_mask(x.shape[1]))[0]
        return right_attend(x[:, -2:], x, x, mask_of(2, x.shape[1]))[0], whole[:, -2:]

    return check_outputs


case(
    "causal mask of few queries aligned to the first key",
    lambda outputs: prop.assert_equal(*outputs(X)),
    cached_causal(causal_mask),
    cached_causal(lambda T_q, T_k: torch.ones(T_q, T_k, dtype=torch.bool).tril()),
)
case(
    "no padding mask",
    lambda layer: prop.padding_changes_nothing(layer, X),
    lambda x, n: right_attend(x, x, x, padding_mask(n, x.shape[1])[:, 0])[0],
    lambda x, n: right_attend(x, x, x)[0],
)
case(
    "padding masked on the side of the queries",
    lambda layer: prop.padding_changes_nothing(layer, X),
    lambda x, n: right_attend(x, x, x, padding_mask(n, x.shape[1])[:, 0])[0],
    lambda x, n: right_attend(x, x, x, padding_mask(n, x.shape[1])[:, 0].mT)[0],
)


def mask_changes_scores_in_place(q, k, v, mask):
    q *= 1 / math.sqrt(q.shape[-1])
    return right_attend(q, k, v, mask, scale=1.0)


case(
    "scaling in place changes the caller's queries",
    lambda attend: prop.inputs_are_kept(attend, *qkv(), CAUSAL),
    right_attend,
    mask_changes_scores_in_place,
)

# --------------------------------------------------------------------------- dropout


class Dropping(MultiHeadAttention):
    """Functional dropout without `training=`: torch's default is True."""

    def forward(self, x):
        q, k, v = (self._split(W(x), self.d_k) for W in (self.W_query, self.W_key, self.W_value))
        weights = F.dropout(masked_softmax(q @ k.mT / math.sqrt(self.d_k)), self.dropout)
        return self.W_out((weights @ v).transpose(1, 2).flatten(2))


def module(kind, **options):
    torch.manual_seed(0)
    return kind(6, 2, **options).double()


case(
    "dropout in evaluation",
    lambda layer: prop.evaluation_repeats_itself(layer, X),
    module(MultiHeadAttention, dropout=0.4),
    module(Dropping, dropout=0.4),
)
case(
    "dropout that never acts",
    lambda layer: prop.training_drops(layer, X),
    module(MultiHeadAttention, dropout=0.4),
    module(MultiHeadAttention, dropout=0.0),
)


def unscaled_dropout(weights, p):
    return weights * (torch.rand_like(weights) >= p)


def mean_of_dropout(drop):
    """The mean over many draws must be what was there before."""
    torch.manual_seed(0)
    ones = torch.ones(100_000, dtype=torch.float64)
    assert abs(drop(ones, 0.4).mean() - 1.0) < 0.01


case("dropout without 1 / (1 − p)", mean_of_dropout, F.dropout, unscaled_dropout)

# --------------------------------------------------------------------------- several heads


def equals_torchs_module(layer):
    """nn.MultiheadAttention with the weights of `layer`."""
    torchs = nn.MultiheadAttention(6, 2, batch_first=True).double()
    with torch.no_grad():
        projections = (layer.W_query, layer.W_key, layer.W_value)
        torchs.in_proj_weight.copy_(torch.cat([W.weight for W in projections]))
        torchs.in_proj_bias.copy_(torch.cat([W.bias for W in projections]))
    torchs.out_proj.load_state_dict(layer.W_out.state_dict())
    prop.assert_equal(layer(X), torchs(X, X, X)[0])


class ByHand(MultiHeadAttention):
    """Right; each class below changes one line of it."""

    def split(self, x):
        return x.unflatten(-1, (self.n_heads, self.d_k)).transpose(1, 2)

    def scale(self):
        return 1 / math.sqrt(self.d_k)

    def join(self, context):
        return context.transpose(1, 2).flatten(2)

    def leave(self, context):
        return self.W_out(context)

    def forward(self, x):
        q, k, v = (self.split(W(x)) for W in (self.W_query, self.W_key, self.W_value))
        context = masked_softmax(q @ k.mT * self.scale()) @ v
        return self.leave(self.join(context))


class ScaledByEmbedding(ByHand):
    def scale(self):
        return 1 / math.sqrt(self.n_heads * self.d_k)


class ViewWithoutTranspose(ByHand):
    def split(self, x):
        return x.view(len(x), self.n_heads, x.shape[1], self.d_k)


class JoinWithoutTranspose(ByHand):
    def join(self, context):
        return context.reshape(len(context), context.shape[2], -1)


class WithoutOutput(ByHand):
    def leave(self, context):
        return context


class SharedProjection(ByHand):
    """One small matrix, used by all heads: they differ in their input only."""

    def forward(self, x):
        pieces = x.unflatten(-1, (self.n_heads, self.d_k)).transpose(1, 2)
        q, k, v = (
            pieces @ W.weight[: self.d_k, : self.d_k].T + W.bias[: self.d_k]
            for W in (self.W_query, self.W_key, self.W_value)
        )
        return self.leave(self.join(masked_softmax(q @ k.mT * self.scale()) @ v))


for wrong in (
    ScaledByEmbedding,
    ViewWithoutTranspose,
    JoinWithoutTranspose,
    WithoutOutput,
    SharedProjection,
):
    case(wrong.__name__, equals_torchs_module, module(ByHand), module(wrong))

case(
    "view without transpose mixes positions",
    lambda layer: prop.follows_permutation(layer, X),
    module(MultiHeadAttention),
    module(ViewWithoutTranspose),
)


def heads_of_one_projection_differ(layer):
    """With every head looking at everything, a change of one head's matrix stays with it."""
    _, before = layer(X, return_weights=True)
    with torch.no_grad():
        layer.W_query.weight[: layer.d_k] += 1.0
    _, after = layer(X, return_weights=True)
    assert (after[:, 0] - before[:, 0]).abs().max() > 1e-6
    prop.assert_equal(after[:, 1], before[:, 1])


class SharedWeights(SharedProjection):
    def forward(self, x, return_weights):
        pieces = x.unflatten(-1, (self.n_heads, self.d_k)).transpose(1, 2)
        q, k = (pieces @ W.weight[: self.d_k, : self.d_k].T for W in (self.W_query, self.W_key))
        return None, masked_softmax(q @ k.mT * self.scale())


case(
    "one projection shared by all heads",
    heads_of_one_projection_differ,
    module(MultiHeadAttention),
    module(SharedWeights),
)

# --------------------------------------------------------------------------- lengths and axes


class CrossOfEqualLengths(ByHand):
    """Reshapes the keys with the length of the queries; equal lengths hide it."""

    def forward(self, query, key):
        def split(x):
            return x.view(len(query), query.shape[1], self.n_heads, self.d_k).transpose(1, 2)

        q, k, v = split(self.W_query(query)), split(self.W_key(key)), split(self.W_value(key))
        return self.leave(self.join(masked_softmax(q @ k.mT * self.scale()) @ v))


def takes_two_lengths(layer):
    assert layer(X[:, :2], X).shape == (3, 2, 6)


case(
    "cross-attention that knows one length only",
    takes_two_lengths,
    module(MultiHeadAttention),
    module(CrossOfEqualLengths),
    RuntimeError,
)


def with_codes(add):
    """A block over vectors with positions added by `add`."""
    block = module(TransformerBlock)
    return lambda x: block(add(x))


def codes(T):
    return sinusoidal_codes(T, 6, dtype=torch.float64)


case(
    "positions of the batch index",
    lambda layer: prop.each_sequence_alone(layer, X),
    with_codes(lambda x: x + codes(x.shape[1])),
    with_codes(lambda x: x + codes(x.shape[0])[:, None]),  # sequence-first layers, batch first
)
case(
    "positions of the batch index do not tell order",
    lambda layer: prop.minds_order(layer, X),
    with_codes(lambda x: x + codes(x.shape[1])),
    with_codes(lambda x: x + codes(x.shape[0])[:, None]),
)
case(
    "no positions",
    lambda layer: prop.minds_order(layer, X),
    with_codes(lambda x: x + codes(x.shape[1])),
    with_codes(lambda x: x),
)


def batch_as_time():
    """A sequence-first module that gets its batch first attends across sequences."""
    torchs = nn.MultiheadAttention(6, 2, batch_first=False).double()
    return lambda x: torchs(x, x, x)[0]


case(
    "batch-first vectors in a sequence-first module",
    lambda layer: prop.each_sequence_alone(layer, X),
    module(MultiHeadAttention),
    batch_as_time(),
)


def last_prediction(take):
    """What a decoder gives next must not depend on the other sequences of the batch."""
    layer = module(MultiHeadAttention)
    return lambda x: take(layer(x, mask=causal_mask(x.shape[1])))


case(
    "slicing the batch instead of time",
    lambda layer: prop.each_sequence_alone(layer, X),
    last_prediction(lambda out: out[:, -1:]),
    last_prediction(lambda out: out[-1:].expand(len(out), -1, -1)),
)

# --------------------------------------------------------------------------- a choice by weights


def picks_keys(choose):
    """The k most attended keys of the whole text: k of them, all real, whatever the query axis."""
    _, weights = right_attend(*qkv(T_q=2, T_k=5))
    expected = [w.sum(0).argsort(descending=True)[:3].sort().values for w in weights]
    assert torch.equal(choose(weights, 3).sort().values, torch.stack(expected))
    assert choose(weights, 9).shape == (2, 5)


case(
    "the most attended keys, over the wrong axis",
    picks_keys,
    lambda weights, k: weights.sum(1).topk(min(k, weights.shape[-1])).indices,
    lambda weights, k: weights.sum(2).topk(min(k, weights.shape[1])).indices,
    (AssertionError, RuntimeError),
)
case(
    "more keys than the text has",
    picks_keys,
    lambda weights, k: weights.sum(1).topk(min(k, weights.shape[-1])).indices,
    lambda weights, k: weights.sum(1).topk(k).indices,
    RuntimeError,
)


@pytest.mark.parametrize(("check", "right", "wrong", "error"), CASES)
def test_property_tells_right_from_wrong(check, right, wrong, error):
    check(right)
    with pytest.raises(error):
        check(wrong)


def test_right_by_hand_is_the_helper():
    """The scaffold of the wrong classes is itself right, so that each is wrong in one line only."""
    prop.assert_equal(module(ByHand)(X), module(MultiHeadAttention)(X))


def test_a_finite_mask_turns_uniform_without_a_word():
    """What the finite masks do: no error, no NaN, and an average over what was blocked."""
    q, k, v = qkv()
    mask = random_mask(4, 4, seed=0)
    mask[0] = False
    for number in (-1e9, -1e20):
        _, weights = finite_mask(number)(q, k, v, mask)
        assert torch.equal(weights[:, 0], torch.full((2, 4), 0.25, dtype=torch.float64))


def test_it_does_not_attend_to_meal():
    """In the made-up table "it" attends most to another word than "meal", whatever the scale."""
    x = chef_vectors(torch.float64)
    it, meal = CHEF_TOKENS.index("it"), CHEF_TOKENS.index("meal")
    for scale in (1.0, None):
        _, weights = scaled_dot_product_attention(x, x, x, scale=scale)
        assert weights[it].argmax() != meal
        assert (weights[it] > weights[it, meal]).sum() >= 1
