"""All context vectors at once."""

import numpy as np

from grading.author import Case, TaskFile
from grading.feedback.messages import WEIGHTS_FIRST
from helpers.numpy_attention import softmax

task = TaskFile(
    "implement",
    points=12,
    minutes=19,
    section="All queries at once",
    outcome="compute context vectors, one by hand and all at once, and give the shape of each step",
    forbidden=(
        "helpers.numpy_attention.scaled_dot_product_attention_numpy",
        "helpers.attention.scaled_dot_product_attention",
        "torch.nn.functional.scaled_dot_product_attention",
    ),
    results=("the context vectors", "the weights"),
    hints=(
        "The inner loop of `by_loop` computes `scores[i, j]` as the dot product of rows i and j of "
        "x. Which matrix product holds all these numbers?",
        "`x.T` reverses all axes, including the batch. `np.swapaxes(x, -2, -1)` exchanges the "
        "last two and leaves the others alone.",
    ),
)


# %% the cell
def context_vectors(x):
    """Context vectors (…, T, d) and attention weights (…, T, T) of x (…, T, d)."""
    # BEGIN SOLUTION
    scores = x @ np.swapaxes(x, -2, -1)  # (…, T, T)
    weights = softmax(scores)  # (…, T, T)
    return weights @ x, weights  # (…, T, d), (…, T, T)
    # END SOLUTION


# %%


@task.alternative
def by_einsum(x):
    """The axes named by letters."""
    scores = np.einsum("...id,...jd->...ij", x, x)
    exp = np.exp(scores - scores.max(axis=-1, keepdims=True))
    weights = exp / exp.sum(axis=-1, keepdims=True)
    return np.einsum("...ij,...jd->...id", weights, x), weights


@task.alternative
def by_loops(x):
    """One query after the other."""
    weights = np.zeros((*x.shape[:-1], x.shape[-2]))
    contexts = np.zeros_like(x)
    for place in np.ndindex(*x.shape[:-1]):
        words = x[place[:-1]]
        weights[place] = softmax(words @ x[place])
        contexts[place] = weights[place] @ words
    return contexts, weights


@task.mistake(
    "This is right for one sentence. With more axes x.T reverses all of them: (2, 4, 3) becomes "
    "(3, 4, 2). Exchange only the last two."
)
def all_axes_turned(x):
    weights = softmax(x @ x.T)
    return weights @ x, weights


@task.mistake(
    "Counted from the front, axes 1 and 2 are the last two only if there is exactly one axis for "
    "the batch. Count from the end: the last axis is −1, whatever comes before it."
)
def swapped_from_the_front(x):
    weights = softmax(x @ np.swapaxes(x, 1, 2))
    return weights @ x, weights


@task.mistake(
    "(0, 2, 1) lists three axes, so there must be exactly three. Exchange the last two, counted "
    "from the end, and the rest may be anything: np.swapaxes does that."
)
def listed_axes(x):
    weights = softmax(x @ np.transpose(x, (0, 2, 1)))
    return weights @ x, weights


@task.mistake(
    "Axis 1 holds the keys only if there is one sentence. With a batch in front, axis 1 holds the "
    "queries. Counted from the end, the axis of the keys is always −1."
)
def softmax_along_one(x):
    weights = softmax(x @ np.swapaxes(x, -2, -1), axis=1)
    return weights @ x, weights


@task.mistake(
    "This is right for one sentence. T, d = x.shape fits two axes only, and a batch has more; "
    "x.shape[-2] and x.shape[-1] are T and d of any number of axes."
)
def one_sentence_only(x):
    T, d = x.shape  # noqa: RUF059
    return context_vectors(x)


@task.mistake(
    "Here no word attends to itself. In self-attention it does: T words have T × T scores, the "
    "diagonal included."
)
def without_itself(x):
    weights = softmax(x @ np.swapaxes(x, -2, -1) - 1e9 * np.eye(x.shape[-2]))
    return weights @ x, weights


@task.mistake(
    "Softmax ran down the columns. Each row belongs to a query, and its weights must sum to 1: "
    "take softmax along the last axis."
)
def over_columns(x):
    weights = softmax(x @ np.swapaxes(x, -2, -1), axis=-2)
    return weights @ x, weights


task.edit(
    "One softmax was taken over all scores, so all weights together sum to 1. Each row needs its "
    "own.",
    "scores)",
    "scores.reshape(*scores.shape[:-2], -1)).reshape(scores.shape)",
)


@task.mistake(
    "With large scores this softmax gives NaN. Use `softmax` from the imports, or your own "
    "`stable_softmax`."
)
def overflowing(x):
    with np.errstate(over="ignore", invalid="ignore"):
        exp = np.exp(x @ np.swapaxes(x, -2, -1))
        weights = exp / exp.sum(axis=-1, keepdims=True)
        return weights @ x, weights


@task.mistake(
    "The scores were divided by √d. Many formulas do that, but this lecture does not yet. Lecture "
    "3 explains why you divide."
)
def divided_by_root(x):
    weights = softmax(x @ np.swapaxes(x, -2, -1) / np.sqrt(x.shape[-1]))
    return weights @ x, weights


@task.mistake(
    "The scores were divided by the width d. Here they go into softmax undivided; and from "
    "Lecture 3 on, the divisor is the square root."
)
def divided_by_width(x):
    weights = softmax(x @ np.swapaxes(x, -2, -1) / x.shape[-1])
    return weights @ x, weights


@task.mistake(
    "The scores served as weights. Softmax comes between the two products: it makes every row "
    "positive, with sum 1."
)
def no_softmax(x):
    scores = x @ np.swapaxes(x, -2, -1)
    return scores @ x, scores


@task.mistake(
    "The scores were divided by their sum, without the exponential. Scores can be negative or "
    "sum to 0, so take softmax."
)
def shares_of_scores(x):
    scores = x @ np.swapaxes(x, -2, -1)
    with np.errstate(divide="ignore", invalid="ignore"):
        weights = scores / scores.sum(axis=-1, keepdims=True)
        return weights @ x, weights


@task.mistake(
    "The weights are right, but their columns were used for the average. Row i holds the weights "
    "of word i: weights @ x."
)
def transposed_weights(x):
    _, weights = context_vectors(x)
    return np.swapaxes(weights, -2, -1) @ x, weights


@task.mistake(
    "The vectors were normalized to length 1 first, so these are cosine similarities. A score is "
    "the plain dot product, in which a long vector counts more."
)
def cosines(x):
    lengths = np.linalg.norm(x, axis=-1, keepdims=True)
    short = x / np.where(lengths == 0, 1, lengths)
    weights = softmax(short @ np.swapaxes(short, -2, -1))
    return weights @ x, weights


task.edit(
    "All the weight went to the largest score. Softmax gives every word some weight.",
    "softmax(scores)",
    "np.eye(x.shape[-2])[scores.argmax(axis=-1)]",
)


@task.mistake(
    "xᵀx compares the d columns with each other. Scores compare words, so there must be T × T of "
    "them: x xᵀ."
)
def between_columns(x):
    weights = softmax(np.swapaxes(x, -2, -1) @ x)
    return x @ weights, weights


@task.mistake(
    "The context vectors are right. But the second result is the scores, before softmax. Return "
    "the weights."
)
def scores_returned(x):
    contexts, _ = context_vectors(x)
    return contexts, x @ np.swapaxes(x, -2, -1)


task.mistake(
    WEIGHTS_FIRST,
    lambda x: context_vectors(x)[::-1],
)


@task.mistake(
    "With a batch, np.dot multiplies every sentence with every other one, so axes are added. It "
    "equals @ for one sentence only; @ multiplies each sentence with itself."
)
def every_pair_of_sentences(x):
    weights = softmax(np.dot(x, np.swapaxes(x, -2, -1)))
    return np.dot(weights, x), weights


@task.mistake(
    "reshape to (…, d, T) does not exchange rows and columns: it keeps the numbers in their order "
    "and regroups them, so a column mixes numbers of several words. Exchange the last two axes."
)
def reshaped(x):
    weights = softmax(x @ x.reshape(*x.shape[:-2], x.shape[-1], x.shape[-2]))
    return weights @ x, weights


@task.mistake(
    "batch, T, d = x.shape fits three axes only. The dots stand for no axis, one or several; "
    "x.shape[-2] and x.shape[-1] are T and d of any number of axes."
)
def one_batch_axis_only(x):
    batch, T, d = x.shape  # noqa: RUF059
    return context_vectors(x)


@task.mistake(
    "This handles one leading axis, but not two: it takes the sentences of a batch one by one, "
    "and with two leading axes each of those is a batch again."
)
def sentence_by_sentence(x):
    if x.ndim == 2:
        return context_vectors(x)
    contexts, weights = zip(*map(one_sentence_only, x), strict=True)
    return np.array(contexts), np.array(weights)


@task.cases
def cases(seed):
    """Two words to check by hand, more words than columns and fewer, batches, large scores."""
    rng = np.random.default_rng(seed)
    return [
        Case((np.array([[0.0], [1.0]]),), "two words, 0 and 1", kind="ordinary cases"),
        Case((rng.normal(size=(4, 3)),), kind="ordinary cases"),
        Case((rng.normal(size=(3, 5)),), "fewer words than columns", kind="other shapes"),
        Case((rng.normal(size=(2, 4, 3)),), "a batch of two sentences", kind="batches"),
        Case((rng.normal(size=(2, 3, 5, 4)),), "two leading axes", kind="batches"),
        Case((20 * rng.normal(size=(3, 6)),), "large scores", kind="edge cases"),
    ]


@task.diagnostic
def rows_sum_to_one(args, result):
    """What makes them weights."""
    weights, wanted = np.asarray(result[1]), (*args[0].shape[:-1], args[0].shape[-2])
    words = args[0].size // args[0].shape[-1]
    if weights.shape == (words, words) != wanted:
        return (
            f"The weights have shape {weights.shape}, as if the batch were one sentence of {words} "
            f"words; expected {wanted}."
        )
    if weights.shape != wanted:
        return None
    sums = weights.sum(axis=-1)
    if not np.allclose(sums, 1.0):
        odd = sums.flat[abs(sums - 1).argmax()]
        return f"A row of the weights sums to {odd:.3g}, not to 1."
    return None


@task.diagnostic
def contexts_follow_from_weights(args, result):
    """Whether the third operation is right, whatever the weights are."""
    contexts, weights = (np.asarray(part) for part in result)
    if not np.allclose(contexts, weights @ args[0]):
        return "The context vectors are not weights @ x with the weights that you return."
    return None
