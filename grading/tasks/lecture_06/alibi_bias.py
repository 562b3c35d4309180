"""ALiBi: what is added to the scores of each head."""

import numpy as np
import torch

from grading.task import Case, Mistake, Task


def alibi_bias(n_heads, T_q, T_k):
    """The model answer."""
    slopes = 2.0 ** (-8 * torch.arange(1, n_heads + 1) / n_heads)
    query_at = torch.arange(T_k - T_q, T_k)
    distance = (query_at[:, None] - torch.arange(T_k)).abs()
    return -slopes[:, None, None] * distance


def by_loop(n_heads, T_q, T_k):
    """Right, in another way: number by number, in NumPy."""
    bias = np.zeros((n_heads, T_q, T_k))
    for h, i, j in np.ndindex(bias.shape):
        bias[h, i, j] = -(2 ** (-8 * (h + 1) / n_heads)) * abs(T_k - T_q + i - j)
    return bias


def cut_from_square(n_heads, T_q, T_k):
    """Right, in another way: all words ask, and the last T_q rows are kept."""
    places = np.arange(T_k)
    square = -abs(places[:, None] - places)
    slopes = 0.5 ** np.linspace(8 / n_heads, 8, n_heads)
    return (slopes[:, None, None] * square)[:, T_k - T_q :]


def _bias(slopes, T_q, T_k, at=None):
    query_at = torch.arange(T_q) + (T_k - T_q if at is None else at)
    return -slopes[:, None, None] * (query_at[:, None] - torch.arange(T_k)).abs()


def _slopes(n_heads):
    return 2.0 ** (-8 * torch.arange(1, n_heads + 1) / n_heads)


def wrong_sign(n_heads, T_q, T_k):
    """Wrong: what is far is favoured."""
    return -alibi_bias(n_heads, T_q, T_k)


def heads_from_zero(n_heads, T_q, T_k):
    """Wrong: the first slope is 1."""
    return _bias(2.0 ** (-8 * torch.arange(n_heads) / n_heads), T_q, T_k)


def for_eight_heads(n_heads, T_q, T_k):
    """Wrong: the slopes ½, ¼, … whatever the number of heads."""
    return _bias(2.0 ** -torch.arange(1.0, n_heads + 1), T_q, T_k)


def one_slope(n_heads, T_q, T_k):
    """Wrong: all heads have the slope of the first."""
    return _bias(_slopes(n_heads)[:1].expand(n_heads), T_q, T_k)


def slopes_turned_around(n_heads, T_q, T_k):
    """Wrong: the last head has the steepest slope."""
    return _bias(_slopes(n_heads).flip(0), T_q, T_k)


def queries_from_zero(n_heads, T_q, T_k):
    """Wrong: the queries are taken for the first T_q words."""
    return _bias(_slopes(n_heads), T_q, T_k, at=0)


def with_a_side(n_heads, T_q, T_k):
    """Wrong: no absolute value, so what is to the right is favoured."""
    query_at = torch.arange(T_k - T_q, T_k)
    return -_slopes(n_heads)[:, None, None] * (query_at[:, None] - torch.arange(T_k))


def left_only(n_heads, T_q, T_k):
    """Wrong: no penalty to the right."""
    return with_a_side(n_heads, T_q, T_k).clamp(max=0)


def distances_alone(n_heads, T_q, T_k):
    """Wrong: no slopes."""
    return _bias(torch.ones(n_heads), T_q, T_k)


def squared(n_heads, T_q, T_k):
    """Wrong: the square of the distance."""
    query_at = torch.arange(T_k - T_q, T_k)
    return -_slopes(n_heads)[:, None, None] * (query_at[:, None] - torch.arange(T_k)) ** 2


def exponents_as_slopes(n_heads, T_q, T_k):
    """Wrong: 8 / n, 16 / n, … are the exponents, not the slopes."""
    return _bias(8.0 * torch.arange(1, n_heads + 1) / n_heads, T_q, T_k)


def factors(n_heads, T_q, T_k):
    """Wrong: the factors for the weights, not what is added to the scores."""
    return alibi_bias(n_heads, T_q, T_k).exp()


def queries_last(n_heads, T_q, T_k):
    """Wrong: the last two axes have changed places."""
    return alibi_bias(n_heads, T_q, T_k).mT


def cases(seed):
    """Eight heads and three words; then other numbers of heads, and fewer queries than keys."""
    rng = np.random.default_rng(seed)
    n_heads, T_q = int(rng.choice([3, 5, 6])), int(rng.integers(2, 5))
    return [
        Case((8, 3, 3), "eight heads, whose first slope is ½"),
        Case((2, 4, 4), "two heads"),
        Case((n_heads, T_q, T_q + 3), "fewer queries than keys"),
        Case((4, 1, 7), "one new word asks"),
    ]


def a_penalty(args, result):
    """Nothing is above 0, and each query's own place is at 0."""
    _, T_q, T_k = args
    bias = np.asarray(result, dtype=float)
    if bias.shape != (args[0], T_q, T_k):
        return None
    if bias.max() > 1e-9:
        return "Something is above 0. A penalty is subtracted, so nothing may be."
    own = bias[:, np.arange(T_q), np.arange(T_k - T_q, T_k)]
    if abs(own).max() > 1e-9:
        return "A query has a penalty at its own place. The queries are the last T_q of T_k places."
    return None


TASK = Task(
    name="alibi_bias",
    lecture=6,
    kind="implement",
    points=8,
    difficulty=2,
    minutes=10,
    outcome="build four position encodings by hand (learned, sinusoidal, rotary, ALiBi), and say "
    "where in the model each one enters",
    reference=alibi_bias,
    also_right=(by_loop, cut_from_square),
    cases=cases,
    properties=(a_penalty,),
    forbidden=("helpers.positions.ALiBiPositions",),
    mistakes=(
        Mistake(
            wrong_sign,
            "The sign is wrong: what is far gets more, not less. The penalty is subtracted.",
        ),
        Mistake(
            heads_from_zero,
            "The heads were counted from 0, so the first slope is 1. It is 2 to the power of "
            "−8 / n: with 8 heads ½.",
        ),
        Mistake(
            for_eight_heads,
            "These are the slopes of 8 heads: ½, ¼, … With n heads, each is 2 to the power of "
            "−8 / n times the one before, so that the last is 1/256 for every n.",
        ),
        Mistake(
            one_slope,
            "All heads have the same slope. Each has its own, so that they see over different "
            "ranges.",
        ),
        Mistake(
            slopes_turned_around,
            "The slopes are in the wrong order: head 0 has the steepest, the last head 1/256.",
        ),
        Mistake(
            queries_from_zero,
            "The queries were taken for the first T_q words. They are the last ones: query i "
            "stands at place T_k − T_q + i.",
        ),
        Mistake(
            with_a_side,
            "Words to the right get a reward: their distance was counted as negative. A distance "
            "has no sign here.",
        ),
        Mistake(
            left_only,
            "Words to the right have no penalty. The lecture's ALiBi is the same on both sides; "
            "who may be seen at all is the mask's affair.",
        ),
        Mistake(
            distances_alone,
            "The slopes are missing: each head multiplies the distance by its own.",
        ),
        Mistake(squared, "The distance was squared. The penalty grows in proportion to it."),
        Mistake(
            exponents_as_slopes,
            "These slopes are 8/n, 16/n, … That is what stands in the exponent, with a minus: the "
            "slope is 2 to the power of it.",
        ),
        Mistake(
            factors,
            "These are the factors by which *weights* fade. Asked is what is added to the "
            "*scores*, before softmax.",
        ),
        Mistake(
            queries_last,
            "Queries and keys have changed places: the shape is (heads, T_q, T_k).",
        ),
    ),
    hints=(
        "Three steps: the slopes, of shape (heads,); the distances, of shape (T_q, T_k); their "
        "product, of shape (heads, T_q, T_k).",
        "With `T_q = 1` the only query stands at place T_k − 1, at the end.",
    ),
)
