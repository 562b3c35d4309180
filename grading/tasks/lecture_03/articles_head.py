"""Find the bugs: one projection for all three, and the wrong divisor."""

import math

import torch

from grading.task import Case, Mistake, Task


def articles_head(x, W_query, W_key, W_value):
    """The model answer."""
    q, k, v = x @ W_query, x @ W_key, x @ W_value
    scores = torch.einsum("bqd,bkd->bqk", q, k) / math.sqrt(q.shape[-1])
    return torch.einsum("bqk,bkd->bqd", scores.softmax(dim=-1), v)


def by_matmul(x, W_query, W_key, W_value):
    """Right, in another way: matrix products, and the scale in front."""
    scores = W_key.shape[-1] ** -0.5 * (x @ W_query) @ (x @ W_key).mT
    return scores.softmax(-1) @ x @ W_value


def by_torch(x, W_query, W_key, W_value):
    """Right, in another way: torch's own function."""
    return torch.nn.functional.scaled_dot_product_attention(x @ W_query, x @ W_key, x @ W_value)


def _head(x, W_query, W_key, W_value, divisor, dim=-1):
    scores = (x @ W_query) @ (x @ W_key).mT / divisor
    return scores.softmax(dim=dim) @ (x @ W_value)


def as_given(x, W_query, W_key, W_value):
    """Wrong: W_query for keys and values, divided by d_model, softmax along the queries."""
    return _head(x, W_query, W_query, W_query, x.shape[-1], dim=1)


def divisor_left(x, W_query, W_key, W_value):
    """Wrong: all mended but the divisor."""
    return _head(x, W_query, W_key, W_value, x.shape[-1])


def root_only(x, W_query, W_key, W_value):
    """Wrong: all mended, but the divisor is the root of the embedding size."""
    return _head(x, W_query, W_key, W_value, math.sqrt(x.shape[-1]))


def no_root(x, W_query, W_key, W_value):
    """Wrong: all mended, but the divisor is d_k."""
    return _head(x, W_query, W_key, W_value, W_key.shape[-1])


def axis_left(x, W_query, W_key, W_value):
    """Wrong: all mended but the axis."""
    return _head(x, W_query, W_key, W_value, math.sqrt(W_key.shape[-1]), dim=1)


def projection_left(x, W_query, W_key, W_value):
    """Wrong: all mended but the projection."""
    return _head(x, W_query, W_query, W_query, math.sqrt(W_query.shape[-1]))


def keys_left(x, W_query, W_key, W_value):
    """Wrong: values have a projection of their own, keys have not."""
    return _head(x, W_query, W_query, W_value, math.sqrt(W_query.shape[-1]))


def values_left(x, W_query, W_key, W_value):
    """Wrong: keys have a projection of their own, values share it."""
    return _head(x, W_query, W_key, W_key, math.sqrt(W_query.shape[-1]))


def values_asked(x, W_query, W_key, W_value):
    """Wrong: keys have a projection of their own, values take that of the queries."""
    return _head(x, W_query, W_key, W_query, math.sqrt(W_query.shape[-1]))


def axis_and_divisor_left(x, W_query, W_key, W_value):
    """Wrong: only the projections are mended."""
    return _head(x, W_query, W_key, W_value, x.shape[-1], dim=1)


def not_divided(x, W_query, W_key, W_value):
    """Wrong: the divisor is gone."""
    return _head(x, W_query, W_key, W_value, 1)


def by_root_T(x, W_query, W_key, W_value):
    """Wrong: all mended, but the divisor is the root of the number of words."""
    return _head(x, W_query, W_key, W_value, math.sqrt(x.shape[1]))


def by_root_d_v(x, W_query, W_key, W_value):
    """Wrong: all mended, but the divisor is the root of the width of the values."""
    return _head(x, W_query, W_key, W_value, math.sqrt(W_value.shape[1]))


def root_only_and_axis_left(x, W_query, W_key, W_value):
    """Wrong: the root is there, of the wrong size, and the axis is left."""
    return _head(x, W_query, W_key, W_value, math.sqrt(x.shape[-1]), dim=1)


def only_divisor(x, W_query, W_key, W_value):
    """Wrong: only the divisor is mended."""
    return _head(x, W_query, W_query, W_query, math.sqrt(W_query.shape[-1]), dim=1)


def only_axis(x, W_query, W_key, W_value):
    """Wrong: only the axis is mended."""
    return _head(x, W_query, W_query, W_query, x.shape[-1])


def along_the_batch(x, W_query, W_key, W_value):
    """Wrong: softmax along the batch."""
    return _head(x, W_query, W_key, W_value, math.sqrt(W_key.shape[-1]), dim=0)


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
        Case(hand, "one sentence of two words, d_k = 4"),
        Case(drawn(2, 3, 5, 2, 4), "a batch of 2, d_model = 5, d_k = 2"),
        Case(drawn(3, 5, 4, 6, 2), "d_k above d_model"),
        Case(drawn(4, 2, 7, 3, 3), "d_v equal to d_k"),
    ]


def as_wide_as_values(args, result):
    """The width of the context vectors tells which projection made the values."""
    if result.ndim == 3 and result.shape[-1] != args[3].shape[1]:
        return f"A context vector has {result.shape[-1]} numbers, a value {args[3].shape[1]}."
    return None


TASK = Task(
    name="articles_head",
    lecture=3,
    kind="find the bug",
    points=9,
    difficulty=2,
    minutes=8,
    outcome="say what dividing by √d_k does to the scores, to the softmax and to the gradient, and "
    "what happens with another divisor",
    reference=articles_head,
    also_right=(by_matmul, by_torch),
    cases=cases,
    properties=(as_wide_as_values,),
    mistakes=(
        Mistake(
            as_given,
            "This is the code as given. Its result stays the same whatever W_key and W_value are, "
            "the scores change if the words get more zeros at their end, and the rows of the "
            "weights do not sum to 1.",
        ),
        Mistake(
            divisor_left,
            "Projections and axis are right. One bug is left: the weights change if the words get "
            "more zeros at their end, though no product does.",
        ),
        Mistake(
            root_only,
            "Projections and axis are right, and the root is there. But it is the root of the "
            "embedding size. A score is a sum of d_k products: take the width of the queries.",
        ),
        Mistake(
            no_root,
            "Projections and axis are right, and d_k is the right width. But the root is missing.",
        ),
        Mistake(
            axis_left,
            "Projections and divisor are right. One bug is left: print the sums of the rows of the "
            "weights.",
        ),
        Mistake(
            projection_left,
            "Axis and divisor are right. One bug is left: the result stays the same whatever W_key "
            "and W_value are.",
        ),
        Mistake(
            keys_left,
            "Nearly: the keys are still made with W_query, so the scores are symmetric.",
        ),
        Mistake(
            values_left,
            "Nearly: the values are made with W_key. They have a projection of their own, W_value.",
        ),
        Mistake(
            values_asked,
            "Nearly: the values are still made with W_query. They have a projection of their own, "
            "W_value.",
        ),
        Mistake(
            axis_and_divisor_left,
            "The projections are right. Two bugs are left: the rows of the weights do not sum to "
            "1, and the scores change if the words get more zeros at their end.",
        ),
        Mistake(
            not_divided,
            "Projections and axis are right. But now the scores are not divided at all.",
        ),
        Mistake(
            by_root_T,
            "Projections and axis are right. But the divisor is the root of the number of words. "
            "Take the width of the queries.",
        ),
        Mistake(
            by_root_d_v,
            "Projections and axis are right. But the divisor is the root of the width of the "
            "values, which take no part in the scores. Take the width of the queries.",
        ),
        Mistake(
            root_only_and_axis_left,
            "The projections are right, and there is a root now. But the rows of the weights do "
            "not sum to 1, and the scores still change if the words get more zeros at their end.",
        ),
        Mistake(
            only_divisor,
            "The divisor is right. Two bugs are left: the result stays the same whatever W_key and "
            "W_value are, and the rows of the weights do not sum to 1.",
        ),
        Mistake(
            only_axis,
            "The rows of the weights sum to 1 now. Two bugs are left: the result stays the same "
            "whatever W_key and W_value are, and the scores change if the words get more zeros at "
            "their end.",
        ),
        Mistake(
            along_the_batch,
            "Softmax runs along the batch now: one sentence's weights depend on the other "
            "sentences. It runs along the words that are looked at, the last axis.",
        ),
    ),
    hints=(
        "Which of the four arguments is never used?",
        "Write the shape beside each line, with d_model, d_k and d_v. What is x.shape[-1]? What is "
        "axis 1 of the scores?",
    ),
)
