"""Find the bugs: one projection for all three, and the wrong divisor."""

import math

import torch

from grading.author import Case, TaskFile

task = TaskFile(
    "find the bug",
    points=9,
    minutes=13,
    section="Shapes, and products that look right",
    outcome="say what dividing by √d_k does to the scores, to the softmax and to the gradient",
    hints=(
        "Which of the four arguments are never used?",
        "Write the shape next to each line, with d_model, d_k and d_v. What is x.shape[-1]? What "
        "is axis 1 of the scores?",
    ),
)


# %% the cell
def projection_bugs(x, W_query, W_key, W_value):
    """Context vectors (batch, T, d_v) of x (batch, T, d_model)."""
    #| q = k = v = x @ W_query
    # BEGIN SOLUTION
    q, k, v = x @ W_query, x @ W_key, x @ W_value  # (batch, T, d_k) twice, (batch, T, d_v)
    # END SOLUTION
    scores = torch.einsum("bqd,bkd->bqk", q, k)  # (batch, T, T)
    #| scores = scores / x.shape[-1]  # (batch, T, T)
    #| weights = scores.softmax(dim=1)  # (batch, T, T)
    # BEGIN SOLUTION
    scores = scores / math.sqrt(q.shape[-1])  # (batch, T, T)
    weights = scores.softmax(dim=-1)  # (batch, T, T)
    # END SOLUTION
    return torch.einsum("bqk,bkd->bqd", weights, v)  # (batch, T, d_v)


# %%


@task.alternative
def by_matmul(x, W_query, W_key, W_value):
    """Matrix products, and the scale in front."""
    scores = W_key.shape[-1] ** -0.5 * (x @ W_query) @ (x @ W_key).mT
    return scores.softmax(-1) @ x @ W_value


@task.alternative
def by_torch(x, W_query, W_key, W_value):
    """Torch's own function."""
    return torch.nn.functional.scaled_dot_product_attention(x @ W_query, x @ W_key, x @ W_value)


def _head(x, W_query, W_key, W_value, divisor, dim=-1):
    scores = (x @ W_query) @ (x @ W_key).mT / divisor
    return scores.softmax(dim=dim) @ (x @ W_value)


task.as_given(
    "This does the same as the given code. Its result stays the same whatever W_key and W_value "
    "are. The scores change if you append zeros to the word vectors. The rows of the weights do "
    "not sum to 1."
)
task.mistake(
    "Projections and axis are right. There is still one bug: the weights change if you append "
    "zeros to the word vectors, although q and k stay the same.",
    lambda x, W_query, W_key, W_value: _head(x, W_query, W_key, W_value, x.shape[-1]),
)
task.mistake(
    "Projections and axis are right, and there is a square root. But it is √d_model. A score is a "
    "sum of d_k products: take the width of the queries.",
    lambda x, W_query, W_key, W_value: _head(x, W_query, W_key, W_value, math.sqrt(x.shape[-1])),
)
task.mistake(
    "Projections and axis are right, and d_k is the right width. But the square root is missing.",
    lambda x, W_query, W_key, W_value: _head(x, W_query, W_key, W_value, W_key.shape[-1]),
)


@task.mistake(
    "Projections and divisor are right. There is still one bug: print the sums of the rows of the "
    "weights."
)
def axis_left(x, W_query, W_key, W_value):
    return _head(x, W_query, W_key, W_value, math.sqrt(W_key.shape[-1]), dim=1)


@task.mistake(
    "Axis and divisor are right. There is still one bug: the result stays the same whatever W_key "
    "and W_value are."
)
def projection_left(x, W_query, W_key, W_value):
    return _head(x, W_query, W_query, W_query, math.sqrt(W_query.shape[-1]))


@task.mistake(
    "Nearly: queries and keys are exchanged. Queries are made with W_query, keys with W_key."
)
def exchanged(x, W_query, W_key, W_value):
    return projection_bugs(x, W_key, W_query, W_value)


@task.mistake(
    "The weights are right. But the last `einsum` now sums over the queries. It was right as given."
)
def sums_over_queries(x, W_query, W_key, W_value):
    q, k, v = x @ W_query, x @ W_key, x @ W_value
    weights = (q @ k.mT / math.sqrt(k.shape[-1])).softmax(dim=-1)
    return torch.einsum("bqk,bqd->bkd", weights, v)


@task.mistake("Nearly: the keys are still made with W_query, so the scores are symmetric.")
def keys_left(x, W_query, W_key, W_value):
    return _head(x, W_query, W_query, W_value, math.sqrt(W_query.shape[-1]))


@task.mistake(
    "Nearly: the values are made with W_key. They have a projection of their own, W_value."
)
def values_left(x, W_query, W_key, W_value):
    return _head(x, W_query, W_key, W_key, math.sqrt(W_query.shape[-1]))


@task.mistake(
    "Nearly: the values are still made with W_query. They have a projection of their own, W_value."
)
def values_asked(x, W_query, W_key, W_value):
    return _head(x, W_query, W_key, W_query, math.sqrt(W_query.shape[-1]))


task.mistake(
    "The projections are right. There are still two bugs: the rows of the weights do not sum to "
    "1, and the scores change if you append zeros to the word vectors.",
    lambda x, W_query, W_key, W_value: _head(x, W_query, W_key, W_value, x.shape[-1], dim=1),
)
task.mistake(
    "Projections and axis are right. But now the scores are not divided at all.",
    lambda x, W_query, W_key, W_value: _head(x, W_query, W_key, W_value, 1),
)
task.mistake(
    "Projections and axis are right. But the divisor is the square root of the number of words. "
    "Take the width of the queries.",
    lambda x, W_query, W_key, W_value: _head(x, W_query, W_key, W_value, math.sqrt(x.shape[1])),
)


@task.mistake(
    "Projections and axis are right. But the divisor is the square root of the width of the "
    "values, which take no part in the scores. Take the width of the queries."
)
def by_root_d_v(x, W_query, W_key, W_value):
    return _head(x, W_query, W_key, W_value, math.sqrt(W_value.shape[1]))


@task.mistake(
    "The projections are right, and there is a square root now. But the rows of the weights do "
    "not sum to 1, and the scores still change if you append zeros to the word vectors."
)
def root_only_and_axis_left(x, W_query, W_key, W_value):
    return _head(x, W_query, W_key, W_value, math.sqrt(x.shape[-1]), dim=1)


@task.mistake(
    "The divisor is right. There are still two bugs: the result stays the same whatever W_key and "
    "W_value are, and the rows of the weights do not sum to 1."
)
def only_divisor(x, W_query, W_key, W_value):
    return _head(x, W_query, W_query, W_query, math.sqrt(W_query.shape[-1]), dim=1)


task.mistake(
    "The rows of the weights sum to 1 now. There are still two bugs: the result stays the same "
    "whatever W_key and W_value are, and the scores change if you append zeros to the word "
    "vectors.",
    lambda x, W_query, W_key, W_value: _head(x, W_query, W_query, W_query, x.shape[-1]),
)


@task.mistake(
    "Softmax now runs along the batch: the weights of one sentence depend on the other sentences. "
    "It must run along the keys, the last axis."
)
def along_the_batch(x, W_query, W_key, W_value):
    return _head(x, W_query, W_key, W_value, math.sqrt(W_key.shape[-1]), dim=0)


@task.mistake(
    "Softmax is written by hand, and the row sums have lost their axis. So they are broadcast "
    "along the rows instead of down the columns, or raise an error. Write keepdim=True."
)
def sums_without_axis(x, W_query, W_key, W_value):
    scores = (x @ W_query) @ (x @ W_key).mT / math.sqrt(W_key.shape[-1])
    exp = scores.exp()
    return exp / exp.sum(dim=-1) @ (x @ W_value)


@task.cases
def cases(seed):
    """One sentence of two words; then sizes that are all different."""
    g = torch.Generator().manual_seed(seed)

    def drawn(batch, T, d_model, d_k, d_v):
        shapes = (batch, T, d_model), (d_model, d_k), (d_model, d_k), (d_model, d_v)
        return tuple(torch.randn(*shape, generator=g, dtype=torch.float64) for shape in shapes)

    def tensor(numbers):
        return torch.tensor(numbers, dtype=torch.float64)

    log9 = math.log(9.0)
    hand = (
        tensor([[[1, 0], [0, 1]]]),
        tensor([[0, 0, 0, 2 * log9], [0, 0, 0, 0]]),
        tensor([[0, 0, 0, 0], [0, 0, 0, 1]]),
        tensor([[0], [10]]),
    )
    return [
        Case(hand, "one sentence of two words, d_k = 4", kind="ordinary cases"),
        Case(drawn(2, 3, 5, 2, 4), "a batch of 2, d_model = 5, d_k = 2", kind="batches"),
        Case(drawn(3, 5, 4, 6, 2), "d_k larger than d_model", kind="edge cases"),
        Case(drawn(4, 2, 7, 3, 3), "d_v equal to d_k", kind="ordinary cases"),
    ]


@task.diagnostic
def as_wide_as_values(args, result):
    """The width of the context vectors tells which projection made the values."""
    if result.ndim == 3 and result.shape[-1] != args[3].shape[1]:
        return (
            f"A context vector has {result.shape[-1]} numbers, but a value has {args[3].shape[1]}."
        )
    return None
