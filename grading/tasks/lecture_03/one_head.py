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
    two_at_once=True,
    outcome="give the shape of every tensor in self-attention, and recognize two mistakes "
    "that raise no error",
    forbidden=(
        "torch.nn.functional.scaled_dot_product_attention",
        "helpers.attention.scaled_dot_product_attention",
        "helpers.numpy_attention.scaled_dot_product_attention_numpy",
    ),
    results=("the context vectors", "the weights"),
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


task.edit(
    "The scores are not divided. Divide them by √d_k before softmax, the square root of the width "
    "of queries and keys.",
    " / np.sqrt(q.shape[-1])",
    "",
)
task.edit(
    "The scores were divided by d_k. Dividing by its square root, √d_k, brings their variance "
    "back to 1.",
    "np.sqrt(q.shape[-1])",
    "q.shape[-1]",
)
task.edit(
    "The scores were divided by √d_model. A score is a sum of d_k products: take √d_k.",
    "np.sqrt(q.shape[-1])",
    "np.sqrt(x.shape[-1])",
)
task.edit(
    "The scores were divided by √d_v. The values play no part in a score, which is a sum of d_k "
    "products: take √d_k.",
    "np.sqrt(q.shape[-1])",
    "np.sqrt(v.shape[-1])",
)
task.edit(
    "The scores were divided by d_model. A score is a sum of d_k products: divide by √d_k.",
    "np.sqrt(q.shape[-1])",
    "x.shape[-1]",
)
task.edit(
    "The scores were divided by the square root of the number of words. Did you read the wrong "
    "axis of the shape? The divisor is the square root of the last axis of q.",
    "np.sqrt(q.shape[-1])",
    "np.sqrt(q.shape[-2])",
)
task.edit(
    "The scores were divided by the square root of the wrong number: if x has more than two axes, "
    "axis 1 counts the words. d_k is the last axis.",
    "q.shape[-1]",
    "q.shape[1]",
)
task.edit(
    "The scores were divided by the square root of the length of the first axis. It counts words "
    "or, in a batch, sentences. d_k is the last axis: q.shape[-1].",
    "np.sqrt(q.shape[-1])",
    "np.sqrt(len(q))",
)
task.edit("The scores were multiplied by √d_k. Divide by it.", "/ np.sqrt", "* np.sqrt")
task.edit(
    "Softmax ran along axis −2, the queries. Each query has a row, so the weights must sum to 1 "
    "along the last axis.",
    "softmax(scores)",
    "softmax(scores, axis=-2)",
)
task.edit(
    "axis=1 works for one sentence. With a batch axis in front, axis 1 holds the queries or is "
    "a second batch axis. Count from the end: axis −1.",
    "softmax(scores)",
    "softmax(scores, axis=1)",
)
task.edit(
    "x was multiplied by the transposed matrices. They have the shape (d_model, d_k), so the "
    "product is x @ W_query. (Only nn.Linear stores its weight transposed.)",
    "x @ W_query, x @ W_key, x @ W_value",
    "x @ W_query.T, x @ W_key.T, x @ W_value.T",
)
task.edit(
    "The sum of the values runs over the columns of the weights. Each row holds the weights of "
    "one query: weights @ v.",
    "weights @ v",
    "np.swapaxes(weights, -2, -1) @ v",
)
task.edit(
    "Queries and keys are swapped: a row of the scores belongs to a query, so W_query comes first.",
    "x @ W_query, x @ W_key",
    "x @ W_key, x @ W_query",
)
task.edit(
    "The keys were made with W_query too, so the scores are symmetric again. Use W_key for them.",
    "x @ W_query, x @ W_key",
    "x @ W_query, x @ W_query",
)
task.edit(
    "The words themselves were summed. Sum their values, x @ W_value.",
    "weights @ v",
    "weights @ x",
)
task.edit("The keys were summed. Sum the values, x @ W_value.", "weights @ v", "weights @ k")
task.edit(
    "The weights were divided by √d_k, not the scores. Divide before softmax; then the rows sum "
    "to 1.",
    " / np.sqrt(q.shape[-1])",
    "",
    "softmax(scores)",
    "softmax(scores) / np.sqrt(q.shape[-1])",
)
task.edit(
    "In a batch, k.T reverses all axes, also that of the sentences. np.swapaxes(k, -2, -1) "
    "exchanges the last two and leaves the others alone.",
    "np.swapaxes(k, -2, -1)",
    "k.T",
)
task.edit(
    "`transpose(0, 2, 1)` fits three axes only, but x may have two or more than three. "
    "np.swapaxes(k, -2, -1) exchanges the last two, however many there are.",
    "np.swapaxes(k, -2, -1)",
    "k.transpose(0, 2, 1)",
)
task.edit(
    "`swapaxes(1, 2)` fits a batch with one axis before the words, but x may have none or several. "
    "Count from the end: −2 and −1 are the last two axes, however many there are.",
    "np.swapaxes(k, -2, -1)",
    "np.swapaxes(k, 1, 2)",
)
task.edit(
    "The keys are not transposed. A score multiplies a row of q by a row of k, so k has to be "
    "transposed: np.swapaxes(k, -2, -1). (Or, if it stops at a projection: x comes first, as in "
    "x @ W_query.)",
    "np.swapaxes(k, -2, -1)",
    "k",
)
task.edit(WEIGHTS_FIRST, "weights @ v, weights", "weights, weights @ v")
task.edit(
    "The weights must be returned too: `return contexts, weights`.",
    "weights @ v, weights",
    "weights @ v",
)
task.edit(
    "The context vectors must be returned too, before the weights: `return contexts, weights`.",
    "weights @ v, weights",
    "weights",
)
task.edit(
    "np.dot pairs each word of a batch with the words of *all* sentences, and so do np.inner and "
    "np.tensordot. @ treats each sentence separately.",
    "q @ np.swapaxes(k, -2, -1)",
    "np.dot(q, np.swapaxes(k, -2, -1))",
    "weights @ v",
    "np.dot(weights, v)",
)
task.edit(
    "The scores have too many axes for a batch: a query was paired with the keys of all "
    "sentences, as np.dot, np.inner and np.tensordot do. @ treats each sentence separately.",
    "q @ np.swapaxes(k, -2, -1)",
    "np.dot(q, np.swapaxes(k, -2, -1))",
)
task.edit(
    "The keys were reshaped to the transposed shape, but not transposed: reshape keeps the "
    "numbers in their order, so a column is not a key. np.swapaxes(k, -2, -1) exchanges the axes.",
    "np.swapaxes(k, -2, -1)",
    "k.reshape(*k.shape[:-2], k.shape[-1], k.shape[-2])",
)


@task.mistake(
    "The results always have exactly one axis before the words. x may have none or several: if "
    "you loop over the sentences, restore the leading axes of x at the end."
)
def flattened(x, W_query, W_key, W_value):
    sentences = x.reshape(-1, *x.shape[-2:])
    return one_head(sentences, W_query, W_key, W_value)


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
    if weights.shape != one_head(*args)[1].shape:
        return None
    sums = np.asarray(weights).sum(axis=-1)
    if not np.allclose(sums, 1):
        worst = sums.flat[abs(sums - 1).argmax()]
        return f"A row of the weights sums to {worst:.3g}, not to 1."
    return None


@task.diagnostic
def which_result(args, result):
    """Whether the weights are right, if the context vectors have the right shape and are not."""
    context, weights = result
    right = one_head(*args)
    if np.allclose(weights, right[1], rtol=1e-4) and context.shape == right[0].shape:
        return "The weights are right, but the context vectors are not."
    return None
