"""The average of all words so far, as one matrix product."""

import numpy as np

from grading.author import Case, TaskFile

task = TaskFile(
    "implement",
    points=8,
    minutes=13,
    section="All queries at once",
    outcome="compute context vectors, one by hand and all at once, and give the shape of each step",
    results=("the averages", "the weights"),
    hints=(
        "Write down the weights for three words first: row 0 is 1, 0, 0; row 1 is ½, ½, 0; row 2 "
        "is ⅓, ⅓, ⅓.",
        "`np.tril(np.ones((T, T)))` has ones up to the diagonal and zeros after it. What must row "
        "i be divided by, and which shape do these numbers need so that rows are divided and not "
        "columns?",
    ),
)


# %% the cell
def causal_mean(x):
    """Averages (T, d) of the words x (T, d), each over the words up to it; their weights (T, T)."""
    # BEGIN SOLUTION
    T = x.shape[0]
    counts = np.arange(1, T + 1)[:, None]  # (T, 1)
    weights = np.tril(np.ones((T, T))) / counts  # (T, T)
    return weights @ x, weights  # (T, d), (T, T)
    # END SOLUTION


# %%


@task.alternative
def by_softmax(x):
    """Softmax of scores that are 0, and −∞ for later words."""
    T = x.shape[0]
    exp = np.exp(np.where(np.tri(T, dtype=bool), 0.0, -np.inf))
    weights = exp / exp.sum(axis=1, keepdims=True)
    return weights @ x, weights


@task.alternative
def by_loop(x):
    """Row by row."""
    T = len(x)
    weights = np.zeros((T, T))
    for i in range(T):
        weights[i, : i + 1] = 1 / (i + 1)
    return np.array([x[: i + 1].mean(axis=0) for i in range(T)]), weights


@task.mistake(
    "Every word got the average of all words. Word i may use the words 0 to i only: everything "
    "to the right of the diagonal is 0."
)
def all_words(x):
    weights = np.full((len(x), len(x)), 1 / len(x))
    return weights @ x, weights


@task.mistake(
    "The triangle is on the wrong side: each word takes itself and the words after it. Row i "
    "needs its entries in the columns 0 to i."
)
def words_to_come(x):
    weights = np.triu(np.ones((len(x), len(x))))
    weights = weights / weights.sum(axis=1, keepdims=True)
    return weights @ x, weights


@task.mistake(
    "Every row was divided by the number of all words. Row i has i + 1 entries that are not 0, "
    "so divide it by i + 1."
)
def divided_by_all(x):
    weights = np.tri(len(x)) / len(x)
    return weights @ x, weights


@task.mistake("These are sums so far. For averages divide row i by the number of its words, i + 1.")
def not_divided(x):
    weights = np.tri(len(x))
    return weights @ x, weights


@task.mistake(
    "Column j was divided by j + 1; it is row i that must be divided by i + 1. NumPy broadcasts "
    "divisors of shape (T,) along the rows: which shape broadcasts them down the columns?"
)
def divided_along_columns(x):
    weights = np.tri(len(x)) / np.arange(1, len(x) + 1)
    return weights @ x, weights


@task.mistake(
    "Each word took the words before it, but not itself. “So far” includes the word: row i "
    "reaches up to the diagonal, and row 0 is 1, 0, 0, …"
)
def without_itself(x):
    T = len(x)
    weights = np.tri(T, k=-1) / np.maximum(np.arange(T), 1)[:, None]
    return weights @ x, weights


@task.mistake(
    "Softmax was taken of ones and zeros. A score of 0 is not a weight of 0, since e⁰ is 1: later "
    "words still get some weight. Their score would have to be −∞."
)
def zero_scores(x):
    exp = np.exp(np.tri(len(x)))
    weights = exp / exp.sum(axis=1, keepdims=True)
    return weights @ x, weights


@task.mistake(
    "The weights are right, but then their columns were used: weights.T @ x. Each row holds the "
    "weights of one word, so the product is weights @ x."
)
def transposed_product(x):
    _, weights = causal_mean(x)
    return weights.T @ x, weights


task.mistake(
    "Both results are right, but in the wrong order: first the averages, then the weights.",
    lambda x: causal_mean(x)[::-1],
)


@task.mistake(
    "np.triu keeps the diagonal and everything to the right of it, which are the words to come. "
    "The words so far are on the diagonal and to the left of it."
)
def upper_triangle(x):
    weights = np.triu(np.ones((len(x), len(x)))) / np.arange(1, len(x) + 1)[:, None]
    return weights @ x, weights


@task.mistake(
    "Row i was divided by i, so row 0 by 0. Row i has i + 1 words: the divisors are 1, 2, …, T."
)
def counted_from_zero(x):
    with np.errstate(divide="ignore", invalid="ignore"):
        weights = np.tri(len(x)) / np.arange(len(x))[:, None]
        return weights @ x, weights


@task.mistake(
    "The weights are right. But weights * x multiplies entry by entry, and raises an error if the "
    "shapes do not match. The matrix product is written with @."
)
def entry_by_entry(x):
    _, weights = causal_mean(x)
    return weights * x, weights


@task.mistake(
    "The array has as many rows as x has columns. x has the shape (T, d): there is a row for each "
    "word, and T is its first number."
)
def width_for_length(x):
    T = x.shape[1]
    weights = np.tri(T) / np.arange(1, T + 1)[:, None]
    return weights @ x, weights


task.mistake(
    "The averages are right, but the function should return two results: the averages, then the "
    "weights.",
    lambda x: causal_mean(x)[0],
)


task.edit(
    "No word includes itself here: the triangle ends one column too early. The average is over "
    "all words up to and including this one.",
    "np.ones((T, T)))",
    "np.ones((T, T)), -1)",
)


@task.mistake(
    "The fractions ½, ⅓ and so on have become 0. A table of whole numbers, such as np.full((T, "
    "T), 0) or one with dtype=int, drops everything after the decimal point, and so does //."
)
def whole_numbers(x):
    weights = np.zeros((len(x), len(x)))
    weights[0, 0] = 1.0
    return weights @ x, weights


@task.mistake(
    "The weights are right. But np.cumsum without an axis adds up all numbers of x in one line, "
    "word after word, so the columns run into each other. The words are along axis 0."
)
def summed_in_one_line(x):
    _, weights = causal_mean(x)
    return np.cumsum(x).reshape(x.shape) / np.arange(1, len(x) + 1)[:, None], weights


@task.mistake(
    "The weights are right. But the sum runs over the entries of each word, along axis 1. The "
    "words are along axis 0."
)
def summed_within_words(x):
    _, weights = causal_mean(x)
    return np.cumsum(x, axis=1) / np.arange(1, len(x) + 1)[:, None], weights


@task.mistake(
    "Each column was divided by its own sum, so the columns sum to 1. A row holds the weights of "
    "one word, so the rows must sum to 1."
)
def columns_sum_to_one(x):
    weights = np.tri(len(x))
    weights = weights / weights.sum(axis=0)
    return weights @ x, weights


@task.mistake(
    "Each step took the mean of the old average and the new word, so the newest word has the "
    "weight ½, the one before it ¼ and so on. All words up to it have the same weight."
)
def halves(x):
    weights = np.zeros((len(x), len(x)))
    weights[0, 0] = 1.0
    for i in range(1, len(x)):
        weights[i] = weights[i - 1] / 2
        weights[i, i] = 0.5
    return weights @ x, weights


@task.cases
def cases(seed):
    """Two words with one number each, one word alone, and some of random size."""
    rng = np.random.default_rng(seed)
    return [
        Case((np.array([[4.0], [2.0]]),), "two words, 4 and 2", kind="ordinary cases"),
        Case((rng.normal(size=(1, 3)),), "one word alone", kind="edge cases"),
        Case((rng.normal(size=(3, 2)),), kind="ordinary cases"),
        Case((rng.normal(size=(5, 4)),), kind="ordinary cases"),
        Case(
            (rng.normal(size=(int(rng.integers(6, 10)), 5)),),
            "a longer sentence",
            kind="ordinary cases",
        ),
    ]


@task.diagnostic
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
    means = np.asarray(result[0])
    for i in range(T if means.shape == np.shape(args[0]) else 0):
        if not np.allclose(means[i], np.mean(args[0][: i + 1], axis=0)):
            said = f"Row {i} of the averages is not the mean of the words 0 to {i}"
            return f"{said}: each of them has the weight 1/{i + 1}."
    return None
