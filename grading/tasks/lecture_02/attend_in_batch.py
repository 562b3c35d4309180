"""Find the bug: softmax along an axis that was right before there was a batch."""

import numpy as np

from grading.author import Case, TaskFile
from helpers.numpy_attention import softmax

task = TaskFile(
    "find the bug",
    points=7,
    minutes=8,
    section="All queries at once",
    outcome="compute context vectors, one by hand and all at once, and give the shape of each step",
    hints=(
        "Write the shape of `scores` beside its line, and mark the axis that softmax runs along.",
        "Which sum must be 1: over all queries, or over all words?",
    ),
)


# %% the cell
def attend_in_batch(queries, x):
    """Context vectors (batch, T_q, d) of queries (batch, T_q, d) at words x (batch, T, d)."""
    scores = queries @ x.swapaxes(1, 2)  # (batch, T_q, T)
    #| weights = softmax(scores, axis=1)  # (batch, T_q, T)
    # BEGIN SOLUTION
    weights = softmax(scores, axis=-1)  # (batch, T_q, T)
    # END SOLUTION
    return weights @ x  # (batch, T_q, d)


# %%


@task.alternative
def by_einsum(queries, x):
    """The axes named by letters."""
    weights = softmax(np.einsum("bqd,bkd->bqk", queries, x))
    return np.einsum("bqk,bkd->bqd", weights, x)


@task.alternative
def by_sentence(queries, x):
    """One sentence after the other, where axis 1 is right."""
    pairs = zip(queries, x, strict=True)
    return np.array([softmax(q @ words.T, axis=1) @ words for q, words in pairs])


task.as_given(
    "This does the same as the given code: its result is not an average of the words of a sentence."
)
task.mistake(
    "Axis 0 is the batch: now the weight is divided among the sentences, and a sentence's result "
    "depends on the others. Softmax runs along the words.",
    lambda queries, x: softmax(queries @ x.swapaxes(1, 2), axis=0) @ x,
)


@task.mistake(
    "The rows sum to 1 now, but they are not the softmax of the scores: softmax still runs down "
    "the columns, and dividing by the row sums afterwards does not repair that. Apply softmax "
    "along the words."
)
def mended_afterwards(queries, x):
    weights = softmax(queries @ x.swapaxes(1, 2), axis=1)
    return weights / weights.sum(axis=-1, keepdims=True) @ x


@task.mistake(
    "One softmax was taken over all queries and words of a sentence. Each query distributes a "
    "weight of 1, so each row needs its own softmax."
)
def over_the_map(queries, x):
    scores = queries @ x.swapaxes(1, 2)
    flat = scores.reshape(len(x), -1)
    return softmax(flat).reshape(scores.shape) @ x


task.mistake(
    "All queries attend to the first sentence, x[0]. Each belongs to a sentence of its own.",
    lambda queries, x: softmax(queries @ x[0].T) @ x[0],
)
task.mistake(
    "The axis is now right. But the scores are also divided by √d, and the lecture's function "
    "does not divide.",
    lambda queries, x: softmax(queries @ x.swapaxes(1, 2) / np.sqrt(x.shape[-1])) @ x,
)
task.mistake(
    "This is the plain average of the words, whatever the query is. The queries must enter "
    "through their scores.",
    lambda queries, x: np.repeat(x.mean(axis=1, keepdims=True), queries.shape[1], axis=1),
)


@task.mistake(
    "The example gives the right result, but only because it has one query and two equal scores: "
    "the weights were divided by the number of words. The rows still do not sum to 1."
)
def divided_by_the_words(queries, x):
    return softmax(queries @ x.swapaxes(1, 2), axis=1) / x.shape[1] @ x


@task.mistake(
    "There is a softmax along the words now, but it gets the weights of an earlier softmax along "
    "another axis as its scores. One softmax is enough."
)
def softmax_twice(queries, x):
    return softmax(softmax(queries @ x.swapaxes(1, 2), axis=1)) @ x


@task.mistake(
    "The weights have the shape (batch, T, T_q), and reshape does not exchange these axes: it "
    "keeps the numbers in their order and only regroups them."
)
def weights_reshaped(queries, x):
    weights = softmax(x @ queries.swapaxes(1, 2), axis=1)
    return weights.reshape(*queries.shape[:2], -1) @ x


@task.mistake(
    "The queries attend to the words of all sentences, as if the batch were one long sentence. "
    "Each belongs to a sentence of its own."
)
def one_long_sentence(queries, x):
    words = x.reshape(-1, x.shape[-1])
    return softmax(queries @ words.T) @ words


@task.cases
def cases(seed):
    """One query at two words, to check by hand; then sizes that are all different."""
    rng = np.random.default_rng(seed)
    words = np.array([[[0.0, 2.0], [0.0, 4.0]]])
    return [
        Case((np.array([[[1.0, 0.0]]]), words), "one query, scores 0 and 0", kind="ordinary cases"),
        Case((rng.normal(size=(2, 3, 4)), rng.normal(size=(2, 5, 4))), kind="ordinary cases"),
        Case(
            (rng.normal(size=(4, 5, 2)), rng.normal(size=(4, 3, 2))),
            "more queries than words",
            kind="other shapes",
        ),
        Case(
            (rng.normal(size=(3, 1, 5)), rng.normal(size=(3, 4, 5))),
            "one query a sentence",
            kind="edge cases",
        ),
    ]


@task.diagnostic
def within_the_words(args, result):
    """A weighted average stays among what is averaged."""
    x, contexts = args[1], np.asarray(result)
    low, high = x.min(axis=1, keepdims=True), x.max(axis=1, keepdims=True)
    if ((contexts < low - 1e-6) | (contexts > high + 1e-6)).any():
        return (
            "A context vector lies outside the range of the words of its sentence, which a "
            "weighted average never does."
        )
    return None
