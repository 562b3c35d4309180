"""ALiBi: what is added to the scores of each head."""

import numpy as np
import torch

from grading.author import Case, TaskFile

task = TaskFile(
    "implement",
    points=8,
    minutes=16,
    section="ALiBi: a penalty that grows with distance",
    outcome="build four positional encodings by hand (learned, sinusoidal, rotary, ALiBi), and "
    "say where in the model each one enters",
    forbidden=("helpers.positions.ALiBiPositions",),
    hints=(
        "Three steps: the slopes, of shape (heads,); the distances, of shape (T_q, T_k); their "
        "product, of shape (heads, T_q, T_k).",
        "With `T_q = 1` the only query is at position T_k − 1, at the end.",
    ),
)


# %% the cell
def alibi_bias(n_heads, T_q, T_k):
    """The bias (n_heads, T_q, T_k) that is added to the scores."""
    # BEGIN SOLUTION
    slopes = 2.0 ** (-8 * torch.arange(1, n_heads + 1) / n_heads)  # (heads,)
    query_at, key_at = torch.arange(T_k - T_q, T_k), torch.arange(T_k)  # (T_q,), (T_k,)
    distance = (query_at[:, None] - key_at).abs()  # (T_q, T_k)
    return -slopes[:, None, None] * distance  # (heads, T_q, T_k)
    # END SOLUTION


# %%


@task.alternative
def by_loop(n_heads, T_q, T_k):
    """Number by number, in NumPy."""
    bias = np.zeros((n_heads, T_q, T_k))
    for h, i, j in np.ndindex(bias.shape):
        bias[h, i, j] = -(2 ** (-8 * (h + 1) / n_heads)) * abs(T_k - T_q + i - j)
    return bias


@task.alternative
def cut_from_square(n_heads, T_q, T_k):
    """All words ask, and the last T_q rows are kept."""
    places = np.arange(T_k)
    square = -abs(places[:, None] - places)
    slopes = 0.5 ** np.linspace(8 / n_heads, 8, n_heads)
    return (slopes[:, None, None] * square)[:, T_k - T_q :]


def _bias(slopes, T_q, T_k, at=None):
    query_at = torch.arange(T_q) + (T_k - T_q if at is None else at)
    return -slopes[:, None, None] * (query_at[:, None] - torch.arange(T_k)).abs()


def _slopes(n_heads):
    return 2.0 ** (-8 * torch.arange(1, n_heads + 1) / n_heads)


task.mistake(
    "The sign is wrong: distant words get more, not less. The penalty is subtracted.",
    lambda n_heads, T_q, T_k: -alibi_bias(n_heads, T_q, T_k),
)
task.mistake(
    "The heads were counted from 0, so the first slope is 1. It is 2 to the power of −8 / n: "
    "with 8 heads ½.",
    lambda n_heads, T_q, T_k: _bias(2.0 ** (-8 * torch.arange(n_heads) / n_heads), T_q, T_k),
)
task.mistake(
    "These are the slopes of 8 heads: ½, ¼, … With n heads, each is 2 to the power of −8 / n "
    "times the one before, so that the last is 1/256 for every n.",
    lambda n_heads, T_q, T_k: _bias(2.0 ** -torch.arange(1.0, n_heads + 1), T_q, T_k),
)
task.mistake(
    "The first slope and the last are right. But those between them must not be spaced evenly: "
    "each is the one before times the same *factor*, 2 to the power of −8 / n.",
    lambda n_heads, T_q, T_k: _bias(
        torch.linspace(2 ** (-8 / n_heads), 2**-8, n_heads, dtype=torch.float64), T_q, T_k
    ),
)
task.mistake(
    "All heads have the same slope. Each has its own, so that they attend over different ranges.",
    lambda n_heads, T_q, T_k: _bias(_slopes(n_heads)[:1].expand(n_heads), T_q, T_k),
)
task.mistake(
    "The slopes are in the wrong order: head 0 has the steepest, the last head 1/256.",
    lambda n_heads, T_q, T_k: _bias(_slopes(n_heads).flip(0), T_q, T_k),
)
task.mistake(
    "The queries were taken to be the first T_q words. They are the last ones: query i is at "
    "position T_k − T_q + i.",
    lambda n_heads, T_q, T_k: _bias(_slopes(n_heads), T_q, T_k, at=0),
)


@task.mistake(
    "Words to the right get a bonus: their distance was counted as negative. A distance has no "
    "sign here."
)
def with_a_side(n_heads, T_q, T_k):
    query_at = torch.arange(T_k - T_q, T_k)
    return -_slopes(n_heads)[:, None, None] * (query_at[:, None] - torch.arange(T_k))


task.mistake(
    "Words to the right have no penalty. The lecture's ALiBi is the same on both sides; which "
    "words are visible at all is decided by the mask.",
    lambda n_heads, T_q, T_k: with_a_side(n_heads, T_q, T_k).clamp(max=0),
)
task.mistake(
    "Words to the right were masked, with −∞. The penalty is the same on both sides; which words "
    "are visible at all is decided by the mask.",
    lambda n_heads, T_q, T_k: alibi_bias(n_heads, T_q, T_k).masked_fill(
        torch.ones(T_q, T_k, dtype=torch.bool).triu(T_k - T_q + 1), -torch.inf
    ),
)
task.mistake(
    "The slopes are missing: each head multiplies the distance by its own.",
    lambda n_heads, T_q, T_k: _bias(torch.ones(n_heads), T_q, T_k),
)


@task.mistake("The distance was squared. The penalty grows in proportion to it.")
def squared(n_heads, T_q, T_k):
    query_at = torch.arange(T_k - T_q, T_k)
    return -_slopes(n_heads)[:, None, None] * (query_at[:, None] - torch.arange(T_k)) ** 2


task.mistake(
    "These slopes are 8/n, 16/n, … That is the exponent without its minus: the slope is 2 to the "
    "power of −8/n, −16/n, …",
    lambda n_heads, T_q, T_k: _bias(8.0 * torch.arange(1, n_heads + 1) / n_heads, T_q, T_k),
)


@task.mistake(
    "These are the factors by which *weights* decrease. Return what is added to the *scores*, "
    "before softmax."
)
def factors(n_heads, T_q, T_k):
    return alibi_bias(n_heads, T_q, T_k).exp()


task.mistake(
    "Queries and keys are swapped: the shape is (heads, T_q, T_k).",
    lambda n_heads, T_q, T_k: alibi_bias(n_heads, T_q, T_k).mT,
)


@task.cases
def cases(seed):
    """Eight heads and three words; then other numbers of heads, and fewer queries than keys."""
    rng = np.random.default_rng(seed)
    n_heads, T_q = int(rng.choice([3, 5, 6])), int(rng.integers(2, 5))
    T = int(rng.integers(5, 9))
    return [
        Case((8, 3, 3), "eight heads, whose first slope is ½", kind="ordinary cases"),
        Case((2, T, T), "two heads", kind="ordinary cases"),
        Case((n_heads, T_q, T_q + 3), "fewer queries than keys", kind="other shapes"),
        Case((4, 1, 7), "a single query", kind="edge cases"),
    ]


@task.diagnostic
def a_penalty(args, result):
    """Nothing is above 0, and each query's own place is at 0."""
    _, T_q, T_k = args
    bias = np.asarray(result, dtype=float)
    if bias.shape != (args[0], T_q, T_k):
        return None
    if bias.max() > 1e-9:
        return "An entry is above 0. A penalty is subtracted, so none may be."
    own = bias[:, np.arange(T_q), np.arange(T_k - T_q, T_k)]
    if abs(own).max() > 1e-9:
        last = " The queries are the last T_q of T_k positions." if T_q < T_k else ""
        return f"A query has a penalty at its own position.{last}"
    return None
