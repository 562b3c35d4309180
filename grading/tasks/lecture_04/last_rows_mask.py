"""The causal mask, also for fewer queries than keys."""

import numpy as np
import torch

from grading.task import Case, Mistake, Task


def last_rows_mask(T_q, T_k):
    """The model answer."""
    return torch.ones(T_q, T_k, dtype=torch.bool).tril(diagonal=T_k - T_q)


def by_slicing(T_q, T_k):
    """Right, in another way: the last rows of the full square."""
    return np.tril(np.ones((T_k, T_k), dtype=bool))[T_k - T_q :]


def by_places(T_q, T_k):
    """Right, in another way: places compared."""
    queries = torch.arange(T_k - T_q, T_k)
    return torch.arange(T_k) <= queries[:, None]


def upper_left(T_q, T_k):
    """Wrong: the triangle begins in the upper left corner."""
    return torch.ones(T_q, T_k, dtype=torch.bool).tril()


def blocking(T_q, T_k):
    """Wrong: True where a key is hidden."""
    return ~last_rows_mask(T_q, T_k)


def strict(T_q, T_k):
    """Wrong: a word does not see itself."""
    return torch.ones(T_q, T_k, dtype=torch.bool).tril(diagonal=T_k - T_q - 1)


def one_ahead(T_q, T_k):
    """Wrong: a word sees the next one."""
    return torch.ones(T_q, T_k, dtype=torch.bool).tril(diagonal=T_k - T_q + 1)


def upper(T_q, T_k):
    """Wrong: the upper triangle."""
    return torch.ones(T_q, T_k, dtype=torch.bool).triu(diagonal=T_k - T_q)


def wrong_sign(T_q, T_k):
    """Wrong: the triangle is moved to the other side."""
    return torch.ones(T_q, T_k, dtype=torch.bool).tril(diagonal=T_q - T_k)


def square(T_q, T_k):
    """Wrong: all rows of the square."""
    return torch.ones(T_k, T_k, dtype=torch.bool).tril()


def turned(T_q, T_k):
    """Wrong: keys as rows."""
    return last_rows_mask(T_q, T_k).T


def everything(T_q, T_k):
    """Wrong: nothing is hidden."""
    return torch.ones(T_q, T_k, dtype=torch.bool)


def added(T_q, T_k):
    """Wrong here: numbers to be added to the scores."""
    return torch.zeros(T_q, T_k).masked_fill(~last_rows_mask(T_q, T_k), -torch.inf)


def ones_and_zeros(T_q, T_k):
    """Wrong here: numbers 1 and 0."""
    return last_rows_mask(T_q, T_k).float()


def cases(seed):
    """The square of two, then fewer queries than keys."""
    rng = np.random.default_rng(seed)
    T_q = int(rng.integers(3, 6))
    sizes = [(2, 2), (2, 3), (1, 4), (T_q, T_q), (T_q, T_q + int(rng.integers(2, 6)))]
    return [Case((n, m), f"T_q = {n}, T_k = {m}") for n, m in sizes]


def counts(args, result):
    """How many keys the first query that is wrong sees."""
    T_q, T_k = args
    if result.dtype != bool or result.shape != (T_q, T_k):
        return None
    for row, seen in enumerate(result.sum(axis=1)):
        place = T_k - T_q + row
        if seen != place + 1:
            return (
                f"Row {row} is the query at place {place} of {T_k}. It must see {place + 1} keys, "
                f"and sees {seen}."
            )
    return None


TASK = Task(
    name="last_rows_mask",
    lecture=4,
    kind="implement",
    points=7,
    difficulty=1,
    minutes=4,
    outcome="hide words from a query, and say why −∞ goes into the scores before softmax",
    reference=last_rows_mask,
    also_right=(by_slicing, by_places),
    cases=cases,
    properties=(counts,),
    forbidden=("helpers.masks.causal_mask",),
    mistakes=(
        Mistake(
            upper_left,
            "The diagonal begins in the upper left corner, as in PyTorch's `is_causal`. But the "
            "queries are the last places: the newest one, in the last row, sees all keys.",
        ),
        Mistake(
            blocking,
            "True and False have changed places. In this course True means “may attend”.",
        ),
        Mistake(
            strict,
            "The diagonal lies one column too far to the left: a word must see itself, too.",
        ),
        Mistake(
            one_ahead,
            "The diagonal lies one column too far to the right: each query sees the next word. "
            "This is a leak.",
        ),
        Mistake(
            upper,
            "This is the upper triangle: each query sees itself and what comes later.",
        ),
        Mistake(
            wrong_sign,
            "The diagonal was moved to the wrong side. With more keys than queries there are "
            "earlier places that all queries see, so it moves to the right.",
        ),
        Mistake(
            square,
            "This mask has a row for each key. There are only T_q queries; of the square, their "
            "rows are the last ones.",
        ),
        Mistake(
            turned,
            "Queries and keys have changed places: rows ask, columns are looked at.",
        ),
        Mistake(everything, "Nothing is hidden here: each query sees all keys."),
        Mistake(
            added,
            "This is the mask in the additive convention. Truth values are wanted, True where a "
            "query may attend.",
        ),
        Mistake(
            ones_and_zeros,
            "The ones and zeros are right, but they are numbers. A mask of this course holds truth "
            "values: dtype=torch.bool.",
        ),
    ),
    hints=(
        "Draw the full square for T_k = 3 first. Which of its rows belong to the last two places?",
        "`torch.tril` keeps what lies on a diagonal and below it. Its argument `diagonal` says how "
        "many columns to the right that diagonal is moved. With T_q = T_k it is 0.",
    ),
)
