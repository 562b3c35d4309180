"""All context vectors at once."""

import numpy as np

from grading.task import Case, Mistake, Task
from helpers.attention import softmax


def context_vectors(x):
    """The model answer."""
    scores = x @ np.swapaxes(x, -2, -1)
    weights = softmax(scores)
    return weights @ x, weights


def by_einsum(x):
    """Right, in another way: the axes named by letters."""
    scores = np.einsum("...id,...jd->...ij", x, x)
    exp = np.exp(scores - scores.max(axis=-1, keepdims=True))
    weights = exp / exp.sum(axis=-1, keepdims=True)
    return np.einsum("...ij,...jd->...id", weights, x), weights


def by_loops(x):
    """Right, in another way: one query after the other."""
    weights = np.zeros((*x.shape[:-1], x.shape[-2]))
    contexts = np.zeros_like(x)
    for place in np.ndindex(*x.shape[:-1]):
        words = x[place[:-1]]
        weights[place] = softmax(words @ x[place])
        contexts[place] = weights[place] @ words
    return contexts, weights


def all_axes_turned(x):
    """Wrong: x.T, which turns the axes of the batch around as well."""
    weights = softmax(x @ x.T)
    return weights @ x, weights


def without_itself(x):
    """Wrong: no word looks at itself."""
    weights = softmax(x @ np.swapaxes(x, -2, -1) - 1e9 * np.eye(x.shape[-2]))
    return weights @ x, weights


def over_columns(x):
    """Wrong: softmax down the columns."""
    weights = softmax(x @ np.swapaxes(x, -2, -1), axis=-2)
    return weights @ x, weights


def over_everything(x):
    """Wrong: one softmax over the whole map."""
    scores = x @ np.swapaxes(x, -2, -1)
    weights = softmax(scores.reshape(*scores.shape[:-2], -1)).reshape(scores.shape)
    return weights @ x, weights


def overflowing(x):
    """Wrong: a softmax that breaks at large scores."""
    with np.errstate(over="ignore", invalid="ignore"):
        exp = np.exp(x @ np.swapaxes(x, -2, -1))
        weights = exp / exp.sum(axis=-1, keepdims=True)
        return weights @ x, weights


def divided_by_root(x):
    """Wrong here: scores divided by √d."""
    weights = softmax(x @ np.swapaxes(x, -2, -1) / np.sqrt(x.shape[-1]))
    return weights @ x, weights


def divided_by_width(x):
    """Wrong: scores divided by d."""
    weights = softmax(x @ np.swapaxes(x, -2, -1) / x.shape[-1])
    return weights @ x, weights


def no_softmax(x):
    """Wrong: the scores serve as weights."""
    scores = x @ np.swapaxes(x, -2, -1)
    return scores @ x, scores


def shares_of_scores(x):
    """Wrong: scores divided by their sum, without the exponential."""
    scores = x @ np.swapaxes(x, -2, -1)
    with np.errstate(divide="ignore", invalid="ignore"):
        weights = scores / scores.sum(axis=-1, keepdims=True)
        return weights @ x, weights


def transposed_weights(x):
    """Wrong: the columns of the map are used as recipes."""
    _, weights = context_vectors(x)
    return np.swapaxes(weights, -2, -1) @ x, weights


def cosines(x):
    """Wrong: the vectors are brought to length 1 first."""
    lengths = np.linalg.norm(x, axis=-1, keepdims=True)
    short = x / np.where(lengths == 0, 1, lengths)
    weights = softmax(short @ np.swapaxes(short, -2, -1))
    return weights @ x, weights


def largest_only(x):
    """Wrong: all the weight on the largest score."""
    scores = x @ np.swapaxes(x, -2, -1)
    weights = np.eye(x.shape[-2])[scores.argmax(axis=-1)]
    return weights @ x, weights


def between_columns(x):
    """Wrong: the columns are compared, not the words."""
    weights = softmax(np.swapaxes(x, -2, -1) @ x)
    return x @ weights, weights


def scores_returned(x):
    """Wrong: the scores come back where the weights are wanted."""
    contexts, _ = context_vectors(x)
    return contexts, x @ np.swapaxes(x, -2, -1)


def wrong_order(x):
    """Wrong: both right, returned the other way round."""
    return context_vectors(x)[::-1]


def swapped_from_the_front(x):
    """Wrong: axes 1 and 2 change places, which are the last two only if there are three."""
    weights = softmax(x @ np.swapaxes(x, 1, 2))
    return weights @ x, weights


def listed_axes(x):
    """Wrong: the same, with all three axes listed."""
    weights = softmax(x @ np.transpose(x, (0, 2, 1)))
    return weights @ x, weights


def softmax_along_one(x):
    """Wrong: softmax along axis 1, which is the last one only of one sentence."""
    weights = softmax(x @ np.swapaxes(x, -2, -1), axis=1)
    return weights @ x, weights


def one_sentence_only(x):
    """Wrong: the shape is taken to be that of one sentence."""
    T, d = x.shape  # noqa: RUF059
    return context_vectors(x)


def cases(seed):
    """Two words to check by hand, more words than columns and fewer, batches, large scores."""
    rng = np.random.default_rng(seed)
    return [
        Case((np.array([[0.0], [1.0]]),), "two words, 0 and 1"),
        Case((rng.normal(size=(4, 3)),)),
        Case((rng.normal(size=(3, 5)),), "fewer words than columns"),
        Case((rng.normal(size=(2, 4, 3)),), "a batch of two sentences"),
        Case((rng.normal(size=(2, 3, 5, 4)),), "two leading axes"),
        Case((20 * rng.normal(size=(3, 6)),), "large scores"),
    ]


def rows_sum_to_one(args, result):
    """What makes them weights."""
    weights, wanted = np.asarray(result[1]), (*args[0].shape[:-1], args[0].shape[-2])
    if weights.shape != wanted:
        return None
    sums = weights.sum(axis=-1)
    if not np.allclose(sums, 1.0):
        odd = sums.flat[abs(sums - 1).argmax()]
        return f"A row of the weights sums to {odd:.3g}, not to 1."
    return None


def contexts_follow_from_weights(args, result):
    """Whether the third operation is right, whatever the weights are."""
    contexts, weights = (np.asarray(part) for part in result)
    if not np.allclose(contexts, weights @ args[0]):
        return "The context vectors are not weights @ x with the weights that you return."
    return None


TASK = Task(
    name="context_vectors",
    lecture=2,
    kind="implement",
    points=12,
    difficulty=2,
    minutes=12,
    outcome="compute all context vectors at once, and give the shape of each step",
    reference=context_vectors,
    also_right=(by_einsum, by_loops),
    cases=cases,
    properties=(rows_sum_to_one, contexts_follow_from_weights),
    forbidden=(
        "helpers.attention.scaled_dot_product_attention_numpy",
        "helpers.attention.scaled_dot_product_attention",
        "torch.nn.functional.scaled_dot_product_attention",
    ),
    mistakes=(
        Mistake(
            all_axes_turned,
            "This is right for one sentence. With more axes x.T turns all of them around: (2, 4, "
            "3) becomes (3, 4, 2). Only the last two may change places.",
        ),
        Mistake(
            swapped_from_the_front,
            "Counted from the front, axes 1 and 2 are the last two only if there is exactly one "
            "axis for the batch. Count from the back: the last axis is −1, whatever stands before.",
        ),
        Mistake(
            listed_axes,
            "(0, 2, 1) lists three axes, so there must be exactly three. Exchange the last two, "
            "counted from the back, and the rest may be anything: np.swapaxes does that.",
        ),
        Mistake(
            softmax_along_one,
            "Axis 1 holds the words that are looked at only if there is one sentence. With a batch "
            "in front, axis 1 holds those that ask. Counted from the back it is −1 always.",
        ),
        Mistake(
            one_sentence_only,
            "This is right for one sentence. T, d = x.shape fits two axes only, and a batch has "
            "more; x.shape[-2] and x.shape[-1] are T and d of any number of axes.",
        ),
        Mistake(
            without_itself,
            "Here no word looks at itself. In self-attention it does: T words have T × T scores, "
            "the diagonal included.",
        ),
        Mistake(
            over_columns,
            "Softmax ran down the columns. A row belongs to the word that asks, and its weights "
            "must sum to 1: take softmax along the last axis.",
        ),
        Mistake(
            over_everything,
            "One softmax was taken over the whole map, so all weights together sum to 1. Each row "
            "needs its own.",
        ),
        Mistake(
            overflowing,
            "With large scores this softmax gives NaN. Use `softmax` from the imports, or your own "
            "`stable_softmax`.",
        ),
        Mistake(
            divided_by_root,
            "The scores were divided by √d. A formula with this division is printed beside the "
            "table of the chef sentence too, but the code there, and this lecture, do not divide. "
            "What the division is good for is the subject of Lecture 3.",
        ),
        Mistake(
            divided_by_width,
            "The scores were divided by the width d. Here they go into softmax as they are; and "
            "where one divides, from Lecture 3 on, it is by the square root.",
        ),
        Mistake(
            no_softmax,
            "The scores served as weights. Softmax comes between the two products: it makes every "
            "row positive, with sum 1.",
        ),
        Mistake(
            shares_of_scores,
            "The scores were divided by their sum, without the exponential. Scores can be negative "
            "or sum to 0, so take softmax.",
        ),
        Mistake(
            transposed_weights,
            "The weights are right, but their columns were used to mix the words. Row i is the "
            "recipe of word i: weights @ x.",
        ),
        Mistake(
            cosines,
            "The vectors were brought to length 1 first, so these are cosines. A score is the "
            "plain dot product, in which a long vector counts more.",
        ),
        Mistake(
            largest_only,
            "All the weight went to the largest score. Softmax gives every word its share.",
        ),
        Mistake(
            between_columns,
            "xᵀx compares the d columns with each other. Scores compare words, so there must be T "
            "× T of them: x xᵀ.",
        ),
        Mistake(
            scores_returned,
            "The context vectors are right. What you return beside them are the scores, before "
            "softmax; the weights are wanted.",
        ),
        Mistake(
            wrong_order,
            "Both results are right, but they come back in the wrong order: first the context "
            "vectors, then the weights.",
        ),
    ),
    hints=(
        "The inner loop of `by_loop` computes `scores[i, j]` as the dot product of rows i and j of "
        "x. Which matrix product holds all these numbers?",
        "`x.T` turns all axes around, also those of the batch. `np.swapaxes(x, -2, -1)` exchanges "
        "the last two and leaves the others alone.",
    ),
)
