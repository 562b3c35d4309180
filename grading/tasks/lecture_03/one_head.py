"""One head, for any number of sentences at once."""

import numpy as np

from grading.author import Case, TaskFile
from grading.feedback.messages import WEIGHTS_FIRST
from helpers.numpy_attention import softmax

task = TaskFile(
    "implement",
    points=10,
    minutes=13,
    section="All tokens at once",
    outcome="give the shape of every tensor in self-attention, and recognize two wrong "
    "products that raise no error",
    forbidden=(
        "torch.nn.functional.scaled_dot_product_attention",
        "helpers.attention.scaled_dot_product_attention",
        "helpers.numpy_attention.scaled_dot_product_attention_numpy",
    ),
    hints=(
        "First come three products, one with each matrix. After that, it is the attention of "
        "Lecture 2 with one division added.",
        "`x.T` reverses all axes, also those of the batch. `np.swapaxes(k, -2, -1)` exchanges the "
        "last two and leaves the others alone.",
    ),
)


# %% the cell
def one_head(x, W_query, W_key, W_value):
    """Context vectors (…, T, d_v) and attention weights (…, T, T) of x (…, T, d_model)."""
    # BEGIN SOLUTION
    q, k, v = x @ W_query, x @ W_key, x @ W_value  # (…, T, d_k), (…, T, d_k), (…, T, d_v)
    scores = q @ np.swapaxes(k, -2, -1) / np.sqrt(q.shape[-1])  # (…, T, T)
    weights = softmax(scores)  # (…, T, T)
    return weights @ v, weights  # (…, T, d_v), (…, T, T)
    # END SOLUTION


# %%


@task.alternative
def by_einsum(x, W_query, W_key, W_value):
    """The axes named by letters, and the query divided."""
    q = np.einsum("...im,mk->...ik", x, W_query) / W_query.shape[1] ** 0.5
    k = np.einsum("...jm,mk->...jk", x, W_key)
    weights = softmax(np.einsum("...ik,...jk->...ij", q, k))
    return np.einsum("...ij,...jm,mv->...iv", weights, x, W_value), weights


@task.alternative
def by_the_table(x, W_query, W_key, W_value):
    """With the table of what asks for what."""
    table = W_query @ W_key.T / np.sqrt(W_key.shape[-1])
    weights = softmax(x @ table @ np.swapaxes(x, -2, -1))
    return weights @ x @ W_value, weights


def _with(x, W_query, W_key, W_value, divisor=None, axis=-1):
    q, k, v = x @ W_query, x @ W_key, x @ W_value
    divisor = np.sqrt(q.shape[-1]) if divisor is None else divisor
    weights = softmax(q @ np.swapaxes(k, -2, -1) / divisor, axis=axis)
    return weights @ v, weights


task.mistake(
    "The scores are not divided. Before softmax they are divided by √d_k, the square root of the "
    "width of queries and keys.",
    lambda x, W_query, W_key, W_value: _with(x, W_query, W_key, W_value, divisor=1),
)
task.mistake(
    "The scores were divided by d_k. Dividing by its square root, √d_k, brings their variance "
    "back to 1.",
    lambda x, W_query, W_key, W_value: _with(x, W_query, W_key, W_value, divisor=W_key.shape[1]),
)


@task.mistake(
    "The scores were divided by √d_model, the square root of the width of the words. A score is a "
    "sum of d_k products: take the width of queries and keys."
)
def by_root_d_model(x, W_query, W_key, W_value):
    return _with(x, W_query, W_key, W_value, divisor=np.sqrt(x.shape[-1]))


task.mistake(
    "The scores were divided by the width of the words. A score is a sum of d_k products, so the "
    "divisor is the square root of the width of queries and keys.",
    lambda x, W_query, W_key, W_value: _with(x, W_query, W_key, W_value, divisor=x.shape[-1]),
)


@task.mistake(
    "The scores were divided by √d_v. Values take no part in the scores: take the width of "
    "queries and keys."
)
def by_root_d_v(x, W_query, W_key, W_value):
    return _with(x, W_query, W_key, W_value, divisor=np.sqrt(W_value.shape[1]))


@task.mistake(
    "The scores were divided by the square root of the number of words. Did you read the wrong "
    "axis of the shape? The divisor is the square root of the last axis of q."
)
def by_root_T(x, W_query, W_key, W_value):
    return _with(x, W_query, W_key, W_value, divisor=np.sqrt(x.shape[-2]))


@task.mistake("The scores were multiplied by √d_k. Divide by it.")
def multiplied(x, W_query, W_key, W_value):
    return _with(x, W_query, W_key, W_value, divisor=1 / np.sqrt(W_key.shape[1]))


task.mistake(
    "Softmax ran along axis −2, the queries. Each query has a row, so the weights must sum to 1 "
    "along the last axis.",
    lambda x, W_query, W_key, W_value: _with(x, W_query, W_key, W_value, axis=-2),
)
task.mistake(
    "axis=1 is right for one sentence. With a batch axis in front, axis 1 holds the queries or is "
    "a second batch axis. Count from the end: axis −1.",
    lambda x, W_query, W_key, W_value: _with(x, W_query, W_key, W_value, axis=1),
)
task.mistake(
    "x was multiplied by the transposed matrices. They have the shape (d_model, d_k), so the "
    "product is x @ W_query. (Only nn.Linear stores its weight transposed.)",
    lambda x, W_query, W_key, W_value: one_head(x, W_query.T, W_key.T, W_value.T),
)


@task.mistake(
    "The weights are right, but the sum runs over their columns. Each row holds the weights of "
    "one query: weights @ v."
)
def weights_turned(x, W_query, W_key, W_value):
    _, weights = one_head(x, W_query, W_key, W_value)
    return np.swapaxes(weights, -2, -1) @ (x @ W_value), weights


task.mistake(
    "Queries and keys are swapped: a row of the scores belongs to a query, so W_query comes first.",
    lambda x, W_query, W_key, W_value: _with(x, W_key, W_query, W_value),
)
task.mistake(
    "The keys were made with W_query too, so the scores are symmetric again. Use W_key for them.",
    lambda x, W_query, W_key, W_value: _with(x, W_query, W_query, W_value),
)


@task.mistake(
    "The weights are right, but the words themselves were summed. Sum their values, x @ W_value."
)
def words_collected(x, W_query, W_key, W_value):
    _, weights = one_head(x, W_query, W_key, W_value)
    return weights @ x, weights


@task.mistake("The weights are right, but the keys were summed. Sum the values, x @ W_value.")
def keys_collected(x, W_query, W_key, W_value):
    _, weights = one_head(x, W_query, W_key, W_value)
    return weights @ (x @ W_key), weights


@task.mistake(
    "The weights were divided by √d_k, not the scores. Divide before softmax; then the rows sum "
    "to 1."
)
def divided_after_softmax(x, W_query, W_key, W_value):
    _, weights = _with(x, W_query, W_key, W_value, divisor=1)
    weights = weights / np.sqrt(W_key.shape[1])
    return weights @ (x @ W_value), weights


@task.mistake(
    "k.T reverses all axes, also those of the batch. np.swapaxes(k, -2, -1) exchanges the last "
    "two and leaves the others alone."
)
def all_axes_turned(x, W_query, W_key, W_value):
    q, k, v = x @ W_query, x @ W_key, x @ W_value
    weights = softmax(q @ k.T / np.sqrt(q.shape[-1]))
    return weights @ v, weights


task.mistake(
    WEIGHTS_FIRST,
    lambda x, W_query, W_key, W_value: one_head(x, W_query, W_key, W_value)[::-1],
)
task.mistake(
    "The context vectors are right, but the weights must be returned too: `return contexts, "
    "weights`.",
    lambda x, W_query, W_key, W_value: one_head(x, W_query, W_key, W_value)[0],
)


task.edit(
    "The scores were divided by the square root of the wrong number: if x has more than two axes, "
    "axis 1 counts the words. d_k is the last axis.",
    "q.shape[-1]",
    "q.shape[1]",
)


@task.mistake(
    "The results always have exactly one axis before the words. x may have none or several: if "
    "you loop over the sentences, restore the leading axes of x at the end."
)
def flattened(x, W_query, W_key, W_value):
    sentences = x.reshape(-1, *x.shape[-2:])
    return one_head(sentences, W_query, W_key, W_value)


@task.mistake(
    "np.dot pairs each word of a batch with the words of *all* sentences, and so do np.inner and "
    "np.tensordot. @ treats each sentence separately."
)
def by_dot(x, W_query, W_key, W_value):
    q, k, v = np.dot(x, W_query), np.dot(x, W_key), np.dot(x, W_value)
    weights = softmax(np.dot(q, np.swapaxes(k, -2, -1)) / np.sqrt(q.shape[-1]))
    return np.dot(weights, v), weights


@task.mistake(
    "The scores have too many axes for a batch: a query was paired with the keys of all "
    "sentences, as np.dot, np.inner and np.tensordot do. @ treats each sentence separately."
)
def scores_by_dot(x, W_query, W_key, W_value):
    q, k, v = x @ W_query, x @ W_key, x @ W_value
    weights = softmax(np.dot(q, np.swapaxes(k, -2, -1)) / np.sqrt(q.shape[-1]))
    return weights @ v, weights


@task.mistake(
    "The keys were reshaped to the transposed shape, but not transposed: reshape keeps the "
    "numbers in their order, so a column is not a key. np.swapaxes(k, -2, -1) exchanges the axes."
)
def reshaped(x, W_query, W_key, W_value):
    q, k, v = x @ W_query, x @ W_key, x @ W_value
    turned = k.reshape(*k.shape[:-2], k.shape[-1], k.shape[-2])
    weights = softmax(q @ turned / np.sqrt(q.shape[-1]))
    return weights @ v, weights


@task.cases
def cases(seed):
    """Two words of two numbers, to check by hand; then sizes that are all different."""
    rng = np.random.default_rng(seed)
    hand = (
        np.array([[1.0, 0.0], [0.0, 1.0]]),
        np.array([[2 * np.log(3.0)] * 1 + [0.0] * 3, [0.0] * 4]),
        np.array([[0.0] * 4, [1.0] + [0.0] * 3]),
        np.array([[8.0], [4.0]]),
    )

    def drawn(lead, T, d_model, d_k, d_v):
        q, k, v = ((d_model, width) for width in (d_k, d_k, d_v))
        return tuple(rng.normal(size=shape) for shape in ((*lead, T, d_model), q, k, v))

    return [
        Case(hand, "two words, d_k = 4", kind="ordinary cases"),
        Case(drawn((), 5, 3, 2, 4), "one sentence", kind="ordinary cases"),
        Case(drawn((2,), 4, 6, 3, 5), "a batch of two", kind="batches"),
        Case(drawn((3, 2), 2, 5, 4, 1), "two leading axes", kind="batches"),
    ]


@task.diagnostic
def rows_sum_to_one(args, result):
    """Each row of the weights shares out 1."""
    _, weights = result
    sums = np.asarray(weights).sum(axis=-1)
    if not np.allclose(sums, 1):
        worst = sums.flat[abs(sums - 1).argmax()]
        return f"A row of the weights sums to {worst:.3g}, not to 1."
    return None
