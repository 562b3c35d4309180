"""Find the bugs: a product that was made to fit, and a softmax down the columns."""

import numpy as np

from grading.author import Case, TaskFile
from helpers.numpy_attention import softmax

task = TaskFile(
    "find the bug",
    points=8,
    minutes=10,
    section="Shapes, and products that look right",
    outcome="give the shape of every tensor in self-attention, and recognize two mistakes "
    "that raise no error",
    hints=(
        "Take k with the rows (1, 2), (3, 4), (5, 6). What is k.T, and what is k.reshape(2, 3)?",
        "The weights are right if two things hold: entry (i, j) of the scores comes from query i "
        "and key j, and each row of the weights sums to 1. Check both.",
    ),
)


# %% the cell
def transpose_bug(q, k, v):
    """Context vectors (T, d_v) of queries and keys (T, d_k) and values (T, d_v)."""
    d_k = k.shape[1]
    #| scores = q @ k.reshape(d_k, -1) / np.sqrt(d_k)  # (T, T)
    #| weights = softmax(scores, axis=0)  # (T, T)
    # BEGIN SOLUTION
    scores = q @ k.T / np.sqrt(d_k)  # (T, T)
    weights = softmax(scores, axis=-1)  # (T, T)
    # END SOLUTION
    return weights @ v  # (T, d_v)


# %%


@task.alternative
def by_einsum(q, k, v):
    """The axes named by letters."""
    weights = softmax(np.einsum("id,jd->ij", q, k) * q.shape[1] ** -0.5)
    return np.einsum("ij,jv->iv", weights, v)


@task.alternative
def keys_in_front(q, k, v):
    """A column for each query, and then softmax down the columns."""
    return softmax(k @ q.T / np.sqrt(k.shape[-1]), axis=0).T @ v


def _attend(scores, v, axis=-1):
    return softmax(scores, axis=axis) @ v


task.as_given(
    "This does the same as the given code. Take three words with d_k = 2. Compare entry (0, 1) of "
    "the scores with the dot product of q[0] and k[1], and print the row sums of the weights."
)


@task.mistake(
    "The softmax is now right: each row of the weights sums to 1. There is still one bug. Take k "
    "with the rows (1, 2), (3, 4), (5, 6), and print what q is multiplied with. Are its columns "
    "the keys?"
)
def only_softmax_mended(q, k, v):
    scores = q @ k.reshape(k.shape[1], k.shape[0]) / np.sqrt(q.shape[-1])
    return _attend(scores, v)


task.mistake(
    "The scores are now right. There is still one bug: the columns of the weights sum to 1, and "
    "the rows do not.",
    lambda q, k, v: _attend(q @ k.T / np.sqrt(q.shape[-1]), v, axis=0),
)
task.mistake(
    "This is q @ k, as the text says. The shapes fit only if there are as many words as d_k, and "
    "even then it compares queries with columns of k. You need the transpose of k.",
    lambda q, k, v: _attend(q @ k / np.sqrt(q.shape[-1]), v),
)
task.mistake(
    "q.T @ k compares the columns of both. A score belongs to a pair of words: multiply rows of q "
    "with rows of k, q @ k.T.",
    lambda q, k, v: _attend(q.T @ k / np.sqrt(q.shape[-1]), v),
)


@task.mistake(
    "Each query was compared with the key at its own position only. It must be compared with "
    "every key: q @ k.T."
)
def entry_by_entry(q, k, v):
    scores = (q * k).sum(axis=1, keepdims=True) * np.ones((1, len(k)))
    return _attend(scores / np.sqrt(q.shape[-1]), v)


task.mistake(
    "The product and the axis are now right. But the divisor is now the square root of the number "
    "of words. It was right before: the square root of the width of the queries.",
    lambda q, k, v: _attend(q @ k.T / np.sqrt(len(k)), v),
)
task.mistake(
    "The product and the axis are now right. But the division by √d_k is gone.",
    lambda q, k, v: _attend(q @ k.T, v),
)
task.mistake(
    "The product and the axis are now right. But the scores are divided by d_k, and no longer by "
    "its square root.",
    lambda q, k, v: _attend(q @ k.T / q.shape[-1], v),
)


@task.mistake(
    "The rows sum to 1 now, but they are not the softmax of the scores: softmax still runs down "
    "the columns, and dividing by the row sums afterwards does not repair that. Apply softmax "
    "along the rows."
)
def divided_afterwards(q, k, v):
    weights = softmax(q @ k.T / np.sqrt(q.shape[-1]), axis=0)
    return weights / weights.sum(axis=1, keepdims=True) @ v


task.mistake(
    "k @ q.T has a column for each query, so a softmax down the columns fits. But then transpose "
    "the weights, weights.T, before you multiply them with the values.",
    lambda q, k, v: _attend(k @ q.T / np.sqrt(q.shape[-1]), v, axis=0),
)
task.mistake(
    "The rows sum to 1 now. But they belong to the keys, not to the queries: either the keys come "
    "first in the product, or the weights were transposed after a softmax down the columns.",
    lambda q, k, v: softmax(q @ k.T / np.sqrt(q.shape[-1]), axis=0).T @ v,
)


@task.mistake(
    "The softmax is now right. But reshape only refills the numbers in some order, and with "
    'order="F" the columns are still not the keys. Print what q is multiplied with, for k with '
    "the rows (1, 2), (3, 4), (5, 6)."
)
def in_another_order(q, k, v):
    scores = q @ np.reshape(k, (k.shape[1], k.shape[0]), order="F") / np.sqrt(q.shape[-1])
    return _attend(scores, v)


@task.cases
def cases(seed):
    """d_k = 1, where a reshape does no harm; a square, where nothing shows; then others."""
    rng = np.random.default_rng(seed)

    def drawn(T, d_k, d_v):
        return tuple(rng.normal(size=(T, width)) for width in (d_k, d_k, d_v))

    log3 = np.log(3.0)
    hand = (np.array([[0.0], [1.0]]), np.array([[0.0], [log3]]), np.array([[8.0], [4.0]]))
    return [
        Case(hand, "two words, d_k = 1", kind="ordinary cases"),
        Case(drawn(3, 3, 2), "as many words as d_k", kind="ordinary cases"),
        Case(drawn(4, 2, 3), kind="ordinary cases"),
        Case(drawn(5, 6, 1), "d_k larger than the number of words", kind="other shapes"),
    ]


@task.diagnostic
def within_the_values(args, result):
    """A weighted average stays among what is averaged."""
    values, contexts = args[2], np.asarray(result)
    low, high = values.min(axis=0), values.max(axis=0)
    if ((contexts < low - 1e-6) | (contexts > high + 1e-6)).any():
        return (
            "A context vector lies outside the range of the values, which a weighted average never "
            "does."
        )
    return None
