"""Find the bugs: what is turned, and by which places."""

import math

import numpy as np
import torch

from grading.author import Case, TaskFile
from helpers import positions
from helpers.positions import RotaryPositions

task = TaskFile(
    "find the bug",
    points=9,
    minutes=13,
    section="Rotary position embeddings",
    outcome="build four positional encodings by hand (learned, sinusoidal, rotary, ALiBi), and "
    "say where in the model each one enters",
    hints=(
        "With as many queries as keys one of the bugs does not show. Try `T_q = 1`: what is the "
        "position of this one word?",
        "Look at the drawing in the lecture's section *Where order can enter*: what does a rotary "
        "encoding rotate?",
    ),
)


def _turn(x, start):
    """Turn the words of x, the first of which stands at place `start`."""
    front = x.new_zeros(*x.shape[:-2], start, x.shape[-1])
    all_places = torch.cat([front, x], dim=-2)
    return RotaryPositions().rotate(all_places, all_places)[1][..., start:, :]


def _attend(q, k, v):
    return (q @ k.mT / q.shape[-1] ** 0.5).softmax(dim=-1) @ v


# %% given
def turn(x, start):
    """The words x (…, T, d), rotated for the positions start, start + 1, …"""
    front = x.new_zeros(*x.shape[:-2], start, x.shape[-1])  # (…, start, d)
    words = torch.cat([front, x], dim=-2)  # (…, start + T, d)
    return positions.RotaryPositions().rotate(words, words)[0][..., start:, :]  # (…, T, d)


# %%


# %% the cell
def rotary_attention(q, k, v):
    """Context vectors (batch, heads, T_q, d_v); the queries are the last T_q of T_k words."""
    T_q, T_k = q.shape[-2], k.shape[-2]
    #| q, k, v = turn(q, 0), turn(k, 0), turn(v, 0)
    # BEGIN SOLUTION
    q, k = turn(q, T_k - T_q), turn(k, 0)  # (batch, heads, T_q or T_k, d_k)
    # END SOLUTION
    scores = q @ k.mT / math.sqrt(q.shape[-1])  # (batch, heads, T_q, T_k)
    return scores.softmax(dim=-1) @ v  # (batch, heads, T_q, d_v)


# %%


@task.alternative
def by_the_helper(q, k, v):
    """The helper knows that the queries stand last."""
    q, k = RotaryPositions().rotate(q, k)
    return torch.nn.functional.scaled_dot_product_attention(q, k, v)


@task.alternative
def from_the_end(q, k, v):
    """Only distances count, so all places may be moved alike."""
    T_q, T_k = q.shape[-2], k.shape[-2]
    return _attend(_turn(q, 100 + T_k - T_q), _turn(k, 100), v)


task.as_given(
    "This does the same as the given code: in the statement's example the context vector of the "
    "query is not the one given there."
)
task.mistake(
    "The values are now right. But the distances are computed as if the queries were the *first* "
    "T_q of the T_k words, although they are the last. (Moving queries and keys alike changes no "
    "distance.)",
    lambda q, k, v: _attend(_turn(q, 0), _turn(k, 0), v),
)
task.mistake(
    "The positions are now right. But the values are still rotated: the value of a word must not "
    "depend on its position.",
    lambda q, k, v: _attend(_turn(q, k.shape[-2] - q.shape[-2]), _turn(k, 0), _turn(v, 0)),
)
task.mistake(
    "The queries are rotated as if they were new words after all keys. They are among the T_k "
    "words: with one query and ten keys, it is at position 9.",
    lambda q, k, v: _attend(_turn(q, k.shape[-2]), _turn(k, 0), v),
)
task.mistake(
    "The keys are not rotated. A score depends only on the distance if both sides are rotated.",
    lambda q, k, v: _attend(_turn(q, k.shape[-2] - q.shape[-2]), k, v),
)
task.mistake(
    "Nothing is rotated any more, so order does not matter. Rotate queries and keys.",
    lambda q, k, v: _attend(q, k, v),
)
task.mistake(
    "The values are now right. But the first query was put at the last position, T_k − 1, and the "
    "others after it. Only the *last* query is there.",
    lambda q, k, v: _attend(_turn(q, k.shape[-2] - 1), _turn(k, 0), v),
)
task.mistake(
    "The values are now right. But the queries are one position too far to the right: positions "
    "are counted from 0. What is the position of the first query if there are as many queries as "
    "keys?",
    lambda q, k, v: _attend(_turn(q, k.shape[-2] - q.shape[-2] + 1), _turn(k, 0), v),
)
task.mistake(
    "The values are now right. But you moved the keys to the right, and not the queries. The keys "
    "are all T_k words, from position 0 on.",
    lambda q, k, v: _attend(_turn(q, 0), _turn(k, k.shape[-2] - q.shape[-2]), v),
)


@task.mistake(
    "Both bugs are fixed. But you added a causal mask, and here every query may attend to all "
    "words."
)
def masked(q, k, v):
    q, k = RotaryPositions().rotate(q, k)
    seen = torch.ones(q.shape[-2], k.shape[-2], dtype=torch.bool).tril(k.shape[-2] - q.shape[-2])
    return torch.nn.functional.scaled_dot_product_attention(q, k, v, attn_mask=seen)


@task.mistake(
    "The values are now right. But with fewer queries than keys, the queries are one position too "
    "far to the left: the last of them must be at T_k − 1."
)
def one_too_early(q, k, v):
    return _attend(_turn(q, max(k.shape[-2] - q.shape[-2] - 1, 0)), _turn(k, 0), v)


@task.cases
def cases(seed):
    """One query at two keys, to check by hand; then sizes that are all different."""
    generator = torch.Generator().manual_seed(seed)

    def draw(*shape):
        return torch.randn(shape, dtype=torch.float64, generator=generator)

    def sizes(batch, heads, T_q, T_k, d_k, d_v):
        return (
            draw(batch, heads, T_q, d_k),
            draw(batch, heads, T_k, d_k),
            draw(batch, heads, T_k, d_v),
        )

    alike = torch.tensor([[[[1.0, 0.0], [1.0, 0.0]]]], dtype=torch.float64)
    values = torch.tensor([[[[4.0, 0.0], [0.0, 4.0]]]], dtype=torch.float64)
    return [
        Case(
            (alike[:, :, :1], alike, values),
            "one query, the last of two equal words",
            kind="ordinary cases",
        ),
        Case(sizes(1, 2, 5, 5, 4, 6), "as many queries as keys", kind="ordinary cases"),
        Case(sizes(2, 3, 4, 7, 6, 2), "fewer queries than keys", kind="other shapes"),
        Case(sizes(3, 2, 1, 9, 8, 4), "a single query", kind="edge cases"),
    ]


@task.diagnostic
def among_the_values(args, result):
    """A weighted average stays among what is averaged."""
    v, out = np.asarray(args[2]), np.asarray(result)
    if out.shape[:-2] + out.shape[-1:] != v.shape[:-2] + v.shape[-1:]:
        return None
    low, high = v.min(axis=-2, keepdims=True), v.max(axis=-2, keepdims=True)
    if ((out < low - 1e-6) | (out > high + 1e-6)).any():
        return (
            "A context vector lies outside the range of the values, which a weighted "
            "average never does."
        )
    return None
