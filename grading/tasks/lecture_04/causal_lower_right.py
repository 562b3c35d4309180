"""The causal mask, also for fewer queries than keys."""

import numpy as np
import torch

from grading.author import Case, TaskFile, functions_of
from grading.feedback.messages import TRUTH_SWAPPED

task = TaskFile(
    "implement",
    points=7,
    minutes=6,
    section="Fewer queries than keys",
    outcome="hide a key from a query, and say why its score goes to −∞ before softmax",
    forbidden=functions_of("helpers.masks"),
    hints=(
        "Draw the full square for T_k = 3 first. Which of its rows belong to the last two "
        "positions?",
        "`torch.tril` keeps the entries on a diagonal and below it. Its argument `diagonal` says "
        "how many columns to the right that diagonal is moved. With T_q = T_k it is 0.",
    ),
)


# %% the cell
def causal_lower_right(T_q, T_k):
    """The causal mask (T_q, T_k) for the last T_q of T_k positions, True = may attend."""
    # BEGIN SOLUTION
    return torch.ones(T_q, T_k, dtype=torch.bool).tril(diagonal=T_k - T_q)  # (T_q, T_k)
    # END SOLUTION


# %%


@task.alternative
def by_slicing(T_q, T_k):
    """The last rows of the full square."""
    return np.tril(np.ones((T_k, T_k), dtype=bool))[T_k - T_q :]


@task.alternative
def by_places(T_q, T_k):
    """Places compared."""
    queries = torch.arange(T_k - T_q, T_k)
    return torch.arange(T_k) <= queries[:, None]


task.mistake(
    "The diagonal begins in the upper left corner, as with PyTorch's `is_causal`. But the queries "
    "are the last positions: the newest one, in the last row, sees all keys.",
    lambda T_q, T_k: torch.ones(T_q, T_k, dtype=torch.bool).tril(),
)
task.mistake(
    TRUTH_SWAPPED,
    lambda T_q, T_k: ~causal_lower_right(T_q, T_k),
)
task.mistake(
    "The diagonal is one column too far to the left: a word must see itself, too.",
    lambda T_q, T_k: torch.ones(T_q, T_k, dtype=torch.bool).tril(diagonal=T_k - T_q - 1),
)
task.mistake(
    "The diagonal is one column too far to the right: each query sees the next word. This is a "
    "leak.",
    lambda T_q, T_k: torch.ones(T_q, T_k, dtype=torch.bool).tril(diagonal=T_k - T_q + 1),
)


@task.mistake("This is the upper triangle: each query sees itself and what comes later.")
def upper(T_q, T_k):
    return torch.ones(T_q, T_k, dtype=torch.bool).triu(diagonal=T_k - T_q)


task.mistake(
    "The diagonal was moved in the wrong direction. With more keys than queries there are earlier "
    "positions that all queries see, so it moves to the right.",
    lambda T_q, T_k: torch.ones(T_q, T_k, dtype=torch.bool).tril(diagonal=T_q - T_k),
)


@task.mistake(
    "This mask has a row for each key. There are only T_q queries, and their rows are the last "
    "ones of the square."
)
def square(T_q, T_k):
    return torch.ones(T_k, T_k, dtype=torch.bool).tril()


task.mistake(
    "Queries and keys are swapped: each row is a query, each column a key.",
    lambda T_q, T_k: causal_lower_right(T_q, T_k).T,
)
task.mistake(
    "Nothing is masked here: each query sees all keys.",
    lambda T_q, T_k: torch.ones(T_q, T_k, dtype=torch.bool),
)
task.mistake(
    "This is an additive mask. Return booleans, True where a query may attend.",
    lambda T_q, T_k: torch.zeros(T_q, T_k).masked_fill(~causal_lower_right(T_q, T_k), -torch.inf),
)
task.mistake(
    "The ones and zeros are right, but they are numbers. The course's masks are boolean: "
    "dtype=torch.bool.",
    lambda T_q, T_k: causal_lower_right(T_q, T_k).float(),
)


task.mistake(
    "You kept the rows from T_q on, and these are T_k − T_q rows. The queries are the last T_q "
    "positions.",
    lambda T_q, T_k: torch.ones(T_k, T_k, dtype=torch.bool).tril()[T_q:],
)
task.mistake(
    "You kept the last T_q columns. Queries are rows: the mask needs a row for each query and a "
    "column for each key.",
    lambda T_q, T_k: torch.ones(T_k, T_k, dtype=torch.bool).tril()[:, T_k - T_q :],
)


@task.cases
def cases(seed):
    """The square of two, then fewer queries than keys."""
    rng = np.random.default_rng(seed)
    T_q = int(rng.integers(3, 6))
    sizes = [(2, 2), (2, 3), (1, 4), (T_q, T_q), (T_q, T_q + int(rng.integers(2, 6)))]
    return [Case((n, m), f"T_q = {n}, T_k = {m}", kind="ordinary cases") for n, m in sizes]


@task.diagnostic
def counts(args, result):
    """How many keys the first query that is wrong sees."""
    T_q, T_k = args
    if result.dtype != bool or result.shape != (T_q, T_k):
        return None
    for row, seen in enumerate(result.sum(axis=1)):
        place = T_k - T_q + row
        if seen != place + 1:
            keys = "1 key" if place == 0 else f"{place + 1} keys"
            return (
                f"Row {row} is the query at position {place}. It must see {keys}, "
                f"but it sees {seen}."
            )
    return None
