"""Find the bug: softmax along an axis that was right before there was a batch."""

import numpy as np

from grading.task import Case, Mistake, Task
from helpers.attention import softmax


def attend_in_batch(queries, x):
    """The model answer."""
    return softmax(queries @ x.swapaxes(1, 2), axis=-1) @ x


def by_einsum(queries, x):
    """Right, in another way: the axes named by letters."""
    weights = softmax(np.einsum("bqd,bkd->bqk", queries, x))
    return np.einsum("bqk,bkd->bqd", weights, x)


def by_sentence(queries, x):
    """Right, in another way: one sentence after the other, where axis 1 is right."""
    pairs = zip(queries, x, strict=True)
    return np.array([softmax(q @ words.T, axis=1) @ words for q, words in pairs])


def as_given(queries, x):
    """Wrong: along the queries."""
    return softmax(queries @ x.swapaxes(1, 2), axis=1) @ x


def along_the_batch(queries, x):
    """Wrong: along the sentences."""
    return softmax(queries @ x.swapaxes(1, 2), axis=0) @ x


def mended_afterwards(queries, x):
    """Wrong: still along the queries, then the rows are divided by their sums."""
    weights = softmax(queries @ x.swapaxes(1, 2), axis=1)
    return weights / weights.sum(axis=-1, keepdims=True) @ x


def over_the_map(queries, x):
    """Wrong: one softmax for each sentence's whole map."""
    scores = queries @ x.swapaxes(1, 2)
    flat = scores.reshape(len(x), -1)
    return softmax(flat).reshape(scores.shape) @ x


def first_sentence_only(queries, x):
    """Wrong: all queries look at the first sentence."""
    return softmax(queries @ x[0].T) @ x[0]


def divided_by_root(queries, x):
    """Wrong here: the axis is mended, and the scores are divided by √d besides."""
    return softmax(queries @ x.swapaxes(1, 2) / np.sqrt(x.shape[-1])) @ x


def no_query(queries, x):
    """Wrong: the average, whatever is asked."""
    return np.repeat(x.mean(axis=1, keepdims=True), queries.shape[1], axis=1)


def cases(seed):
    """One query at two words, to check by hand; then sizes that are all different."""
    rng = np.random.default_rng(seed)
    words = np.array([[[0.0, 2.0], [0.0, 4.0]]])
    return [
        Case((np.array([[[1.0, 0.0]]]), words), "one query, scores 0 and 0"),
        Case((rng.normal(size=(2, 3, 4)), rng.normal(size=(2, 5, 4)))),
        Case((rng.normal(size=(4, 5, 2)), rng.normal(size=(4, 3, 2))), "more queries than words"),
        Case((rng.normal(size=(3, 1, 5)), rng.normal(size=(3, 4, 5))), "one query a sentence"),
    ]


def within_the_words(args, result):
    """A weighted average stays among what is averaged."""
    x, contexts = args[1], np.asarray(result)
    low, high = x.min(axis=1, keepdims=True), x.max(axis=1, keepdims=True)
    if ((contexts < low - 1e-6) | (contexts > high + 1e-6)).any():
        return "A context vector leaves the range that the words of its sentence span."
    return None


TASK = Task(
    name="attend_in_batch",
    lecture=2,
    kind="find the bug",
    points=7,
    difficulty=2,
    minutes=5,
    outcome="compute all context vectors at once, and give the shape of each step",
    reference=attend_in_batch,
    also_right=(by_einsum, by_sentence),
    cases=cases,
    properties=(within_the_words,),
    mistakes=(
        Mistake(
            as_given,
            "This is the code as given: what comes out of it is no average of the words of a "
            "sentence.",
        ),
        Mistake(
            along_the_batch,
            "Axis 0 is the batch: now the sentences share out the weight, and a sentence's result "
            "depends on the others. Softmax runs along the words.",
        ),
        Mistake(
            mended_afterwards,
            "The rows sum to 1 now, but they are not the softmax of the scores: each column was "
            "divided by a sum of its own before. Take softmax along the words in the first place.",
        ),
        Mistake(
            over_the_map,
            "One softmax was taken over all queries and words of a sentence. Each query has a "
            "weight of 1 to give, so each row needs its own.",
        ),
        Mistake(
            first_sentence_only,
            "All queries look at the first sentence, x[0]. Each belongs to a sentence of its own.",
        ),
        Mistake(
            divided_by_root,
            "The axis is right now. But the scores are divided by √d besides, and the lecture's "
            "function does not divide.",
        ),
        Mistake(
            no_query,
            "This is the plain average of the words, whatever is asked. The queries must take part "
            "through their scores.",
        ),
    ),
    hints=(
        "Write the shape of `scores` beside its line, and mark the axis that softmax runs along.",
        "Which sum must be 1: over all queries, or over all words?",
    ),
)
