"""The average of all words so far, as one matrix product."""

import numpy as np

from grading.task import Case, Mistake, Task


def averages_so_far(x):
    """The model answer."""
    T = x.shape[0]
    weights = np.tril(np.ones((T, T))) / np.arange(1, T + 1)[:, None]
    return weights @ x, weights


def by_softmax(x):
    """Right, in another way: softmax of scores that are 0, and −∞ for later words."""
    T = x.shape[0]
    exp = np.exp(np.where(np.tri(T, dtype=bool), 0.0, -np.inf))
    weights = exp / exp.sum(axis=1, keepdims=True)
    return weights @ x, weights


def by_loop(x):
    """Right, in another way: row by row."""
    T = len(x)
    weights = np.zeros((T, T))
    for i in range(T):
        weights[i, : i + 1] = 1 / (i + 1)
    return np.array([x[: i + 1].mean(axis=0) for i in range(T)]), weights


def all_words(x):
    """Wrong: every word gets the average of all words."""
    weights = np.full((len(x), len(x)), 1 / len(x))
    return weights @ x, weights


def words_to_come(x):
    """Wrong: the triangle on the other side."""
    weights = np.triu(np.ones((len(x), len(x))))
    weights = weights / weights.sum(axis=1, keepdims=True)
    return weights @ x, weights


def divided_by_all(x):
    """Wrong: every row is divided by the number of all words."""
    weights = np.tri(len(x)) / len(x)
    return weights @ x, weights


def not_divided(x):
    """Wrong: sums, not averages."""
    weights = np.tri(len(x))
    return weights @ x, weights


def divided_along_columns(x):
    """Wrong: column j, not row i, is divided by its number."""
    weights = np.tri(len(x)) / np.arange(1, len(x) + 1)
    return weights @ x, weights


def without_itself(x):
    """Wrong: only the words before this one."""
    T = len(x)
    weights = np.tri(T, k=-1) / np.maximum(np.arange(T), 1)[:, None]
    return weights @ x, weights


def zero_scores(x):
    """Wrong: softmax of a table of ones and zeros, as if a score of 0 were a weight of 0."""
    exp = np.exp(np.tri(len(x)))
    weights = exp / exp.sum(axis=1, keepdims=True)
    return weights @ x, weights


def transposed_product(x):
    """Wrong: right weights, but the columns are used as recipes."""
    _, weights = averages_so_far(x)
    return weights.T @ x, weights


def upper_triangle(x):
    """Wrong: the upper triangle, its rows divided by 1, 2, 3, …"""
    weights = np.triu(np.ones((len(x), len(x)))) / np.arange(1, len(x) + 1)[:, None]
    return weights @ x, weights


def counted_from_zero(x):
    """Wrong: row i is divided by i."""
    with np.errstate(divide="ignore", invalid="ignore"):
        weights = np.tri(len(x)) / np.arange(len(x))[:, None]
        return weights @ x, weights


def entry_by_entry(x):
    """Wrong: `*` in place of the matrix product."""
    _, weights = averages_so_far(x)
    return weights * x, weights


def width_for_length(x):
    """Wrong: T is taken from the number of columns."""
    T = x.shape[1]
    weights = np.tri(T) / np.arange(1, T + 1)[:, None]
    return weights @ x, weights


def averages_only(x):
    """Wrong: one result of two."""
    return averages_so_far(x)[0]


def wrong_order(x):
    """Wrong: both right, returned the other way round."""
    return averages_so_far(x)[::-1]


def cases(seed):
    """Two words with one number each, one word alone, and some of random size."""
    rng = np.random.default_rng(seed)
    return [
        Case((np.array([[4.0], [2.0]]),), "two words, 4 and 2"),
        Case((rng.normal(size=(1, 3)),), "one word alone"),
        Case((rng.normal(size=(3, 2)),)),
        Case((rng.normal(size=(5, 4)),)),
        Case((rng.normal(size=(int(rng.integers(6, 10)), 5)),), "a longer sentence"),
    ]


def rows_are_recipes(args, result):
    """Rows sum to 1 and give nothing to later words."""
    weights, T = np.asarray(result[1]), len(args[0])
    if weights.shape != (T, T):
        return None
    for i, row in enumerate(weights):
        if abs(row[i + 1 :]).max(initial=0.0) > 1e-9:
            return f"Row {i} of the weights gives something to a word that comes after word {i}."
        if not np.isclose(row.sum(), 1.0):
            return f"Row {i} of the weights sums to {row.sum():.3g}, not to 1."
    return None


TASK = Task(
    name="averages_so_far",
    lecture=2,
    kind="implement",
    points=8,
    difficulty=1,
    minutes=8,
    outcome="write the plain average of several vectors as one matrix product, and as a "
    "softmax of zeros",
    reference=averages_so_far,
    also_right=(by_softmax, by_loop),
    cases=cases,
    properties=(rows_are_recipes,),
    mistakes=(
        Mistake(
            all_words,
            "Every word got the average of all words. Word i may use the words 0 to i only: "
            "everything to the right of the diagonal is 0.",
        ),
        Mistake(
            words_to_come,
            "The triangle lies on the wrong side: each word takes itself and the words after it. "
            "Row i needs its entries in the columns 0 to i.",
        ),
        Mistake(
            divided_by_all,
            "Every row was divided by the number of all words. Row i has i + 1 entries that are "
            "not 0, so divide it by i + 1.",
        ),
        Mistake(
            not_divided,
            "These are sums so far. For averages divide row i by the number of its words, i + 1.",
        ),
        Mistake(
            divided_along_columns,
            "Column j was divided by j + 1; it is row i that must be divided by i + 1. NumPy lays "
            "divisors of shape (T,) along the rows: which shape lays them down the columns?",
        ),
        Mistake(
            without_itself,
            "Each word took the words before it, but not itself. “So far” includes the word: row i "
            "reaches up to the diagonal, and row 0 is 1, 0, 0, …",
        ),
        Mistake(
            zero_scores,
            "Softmax was taken of ones and zeros. A score of 0 is not a weight of 0, since e⁰ is "
            "1: later words still get a share. Their score would have to be −∞.",
        ),
        Mistake(
            transposed_product,
            "The weights are right, but then their columns were used: weights.T @ x. Each row is "
            "a recipe, so the product is weights @ x.",
        ),
        Mistake(
            wrong_order,
            "Both results are right, but they come back in the wrong order: first the averages, "
            "then the weights.",
        ),
        Mistake(
            upper_triangle,
            "np.triu keeps what lies on the diagonal and to the right of it: the words to come. "
            "The words so far lie on the diagonal and to the left of it.",
        ),
        Mistake(
            counted_from_zero,
            "Row i was divided by i, so row 0 by 0. Row i has i + 1 words: the divisors are 1, 2, "
            "…, T.",
        ),
        Mistake(
            entry_by_entry,
            "The weights are right. But weights * x multiplies entry by entry, and stops where the "
            "shapes do not fit. The matrix product is written with @.",
        ),
        Mistake(
            width_for_length,
            "The table has as many rows as x has columns. x has the shape (T, d): there is a row "
            "for each word, and T is its first number.",
        ),
        Mistake(
            averages_only,
            "The averages are right, but two results are wanted: the averages, then the weights.",
        ),
    ),
    hints=(
        "Write down the weights for three words first: row 0 is 1, 0, 0; row 1 is ½, ½, 0; row 2 "
        "is ⅓, ⅓, ⅓.",
        "`np.tril(np.ones((T, T)))` has ones up to the diagonal and zeros after it. What must row "
        "i be divided by, and which shape do these numbers need so that rows are divided and not "
        "columns?",
    ),
)
