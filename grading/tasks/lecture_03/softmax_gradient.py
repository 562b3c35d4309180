"""The gradient through a softmax, by hand."""

import numpy as np

from grading.author import Case, TaskFile
from helpers.numpy_attention import softmax

task = TaskFile(
    "implement",
    points=9,
    minutes=32,
    section="Why scores are divided by √d_k",
    outcome="say what dividing by √d_k does to the scores, to the softmax and to the gradient",
    hints=(
        "A weight is e^s divided by a sum. If one score grows, its own weight grows, and all the "
        "others fall, since the sum grows.",
        "Begin with two weights, w and 1 − w. If the first score grows by a little, the first "
        "weight grows by w (1 − w) times that, and the second falls by the same, since the two sum "
        "to 1. For the weights 0.75 and 0.25, by how much does that change 4 · w + 0 · (1 − w)? "
        "If the second score grows instead, the change is the opposite.",
        "With more weights: if score i grows by a little, its own weight grows by w_i (1 − w_i) "
        "times that, and each other weight w_j falls by w_i w_j times that. (For two weights "
        "this is the same as before.) "
        "Multiply each of these changes by the entry of `wanted` for that weight, and add them "
        "up. Which factor do all terms share?",
    ),
)


# %% the cell
def softmax_gradient(scores, wanted):
    """The gradient (T_q, T_k) of (softmax(scores) * wanted).sum() at the scores (T_q, T_k)."""
    # BEGIN SOLUTION
    weights = softmax(scores)  # (T_q, T_k)
    mean = (weights * wanted).sum(axis=-1, keepdims=True)  # (T_q, 1)
    return weights * (wanted - mean)  # (T_q, T_k)
    # END SOLUTION


# %%


@task.alternative
def by_the_matrix(scores, wanted):
    """Each row's matrix diag(w) − w wᵀ."""
    rows = [(np.diag(w) - np.outer(w, w)) @ g for w, g in zip(softmax(scores), wanted, strict=True)]
    return np.array(rows)


@task.alternative
def by_autograd(scores, wanted):
    """Torch works it out."""
    import torch

    scores = torch.from_numpy(scores).requires_grad_()
    (scores.softmax(dim=-1) * torch.from_numpy(wanted)).sum().backward()
    return scores.grad


@task.alternative
def by_small_steps(scores, wanted):
    """Each score moved a little, up and down."""
    gradient, step = np.zeros_like(scores), 1e-5
    for place in np.ndindex(*scores.shape):
        moved = np.zeros_like(scores)
        moved[place] = step
        up, down = ((softmax(s) * wanted).sum() for s in (scores + moved, scores - moved))
        gradient[place] = (up - down) / (2 * step)
    return gradient


@task.mistake(
    "w (1 − w) is how a weight changes with its own score. But a larger score also lowers all "
    "other weights of its row, and that part is missing."
)
def each_alone(scores, wanted):
    weights = softmax(scores)
    return weights * (1 - weights) * wanted


task.mistake(
    "w · wanted is the first half. A larger score also increases the denominator, which lowers "
    "all weights of the row, and that part is missing.",
    lambda scores, wanted: softmax(scores) * wanted,
)
task.mistake(
    "This is the gradient with respect to the weights. Take it back through the softmax.",
    lambda scores, wanted: wanted.copy(),
)
task.mistake(
    "The plain mean of `wanted` was subtracted. Subtract the weighted mean, the sum of weights * "
    "wanted over the row.",
    lambda scores, wanted: softmax(scores) * (wanted - wanted.mean(axis=-1, keepdims=True)),
)


@task.mistake(
    "One sum was taken over all rows. Each row has a softmax of its own: axis=-1 with "
    "keepdims=True."
)
def sum_of_all(scores, wanted):
    weights = softmax(scores)
    return weights * (wanted - (weights * wanted).sum())


@task.mistake("Softmax ran along the queries. Each row is one query, and its weights sum to 1.")
def down_the_columns(scores, wanted):
    weights = softmax(scores, axis=0)
    return weights * (wanted - (weights * wanted).sum(axis=0, keepdims=True))


@task.mistake(
    "The weights are right, but the sum runs down the columns. Take it over each row: axis=-1."
)
def sum_along_columns(scores, wanted):
    weights = softmax(scores)
    return weights * (wanted - (weights * wanted).sum(axis=0, keepdims=True))


@task.mistake(
    "The row sums have lost their axis, so NumPy broadcasts them along the rows instead of down "
    "the columns, or raises an error. Write keepdims=True."
)
def without_keepdims(scores, wanted):
    weights = softmax(scores)
    return weights * (wanted - (weights * wanted).sum(axis=-1))


@task.mistake(
    "Each row of the softmax's derivatives was added up before it met `wanted`, and that sum is 0. "
    "Multiply each derivative by its own `wanted` first, then add."
)
def added_too_early(scores, wanted):
    weights = softmax(scores)
    own = weights * (1 - weights)
    others = weights * (weights.sum(axis=-1, keepdims=True) - weights)
    return (own - others) * wanted


task.mistake(
    "The sign is wrong. The total is the sum of weights times `wanted`. Where `wanted` is above "
    "the weighted mean of its row, a larger score makes the total larger, so that entry is "
    "positive.",
    lambda scores, wanted: -softmax_gradient(scores, wanted),
)


@task.mistake(
    "The factor of the weight itself is missing. It makes the gradient vanish where a weight is "
    "near 0."
)
def weight_forgotten(scores, wanted):
    weights = softmax(scores)
    return wanted - (weights * wanted).sum(axis=-1, keepdims=True)


task.mistake(
    "The formula is right, but it uses the scores instead of the weights. Take the softmax first.",
    lambda scores, wanted: scores * (wanted - (scores * wanted).sum(axis=-1, keepdims=True)),
)


task.edit(
    "This is softmax minus `wanted`, the gradient of cross-entropy. Here another quantity is "
    "differentiated: the sum of softmax times `wanted`.",
    "return weights * (wanted - mean)",
    "return weights - wanted",
)


@task.mistake(
    "The effect on the other weights was added. But if a score grows, the other weights of its "
    "row fall, so this part has a minus sign."
)
def others_added(scores, wanted):
    weights = softmax(scores)
    own = weights * wanted
    others = own.sum(axis=-1, keepdims=True) - own
    return weights * ((1 - weights) * wanted + others)


task.mistake(
    "Weights times wanted were averaged by mean(), which divides by the number of keys. The "
    "weights already sum to 1, so the weighted mean of `wanted` is the plain sum of these "
    "products.",
    lambda scores, wanted: (
        softmax(scores) * (wanted - (softmax(scores) * wanted).mean(axis=-1, keepdims=True))
    ),
)


task.mistake(
    "The weight multiplies `wanted` only. The term that you subtract for the other weights must "
    "also be multiplied by this score's weight.",
    lambda scores, wanted: (
        softmax(scores) * wanted - (softmax(scores) * wanted).sum(axis=-1, keepdims=True)
    ),
)


@task.mistake(
    "The score's own part is right. If score i grows, each other weight w_j falls by w_i w_j, but "
    "w_j · wanted_j was subtracted without the factor w_i."
)
def others_without_own_weight(scores, wanted):
    weights = softmax(scores)
    own = weights * wanted
    return own * (1 - weights) - (own.sum(axis=-1, keepdims=True) - own)


@task.mistake(
    "The score's own part is right. If score i grows, each other weight w_j falls by w_i w_j, so "
    "its entry of `wanted` is multiplied by w_j as well."
)
def others_without_their_weights(scores, wanted):
    weights = softmax(scores)
    others = wanted.sum(axis=-1, keepdims=True) - wanted
    return weights * (1 - weights) * wanted - weights * others


@task.mistake(
    "The effect of a score on its own weight was subtracted twice: in w (1 − w), and again in the "
    "sum over all weights, which includes its own."
)
def own_taken_twice(scores, wanted):
    weights = softmax(scores)
    mean = (weights * wanted).sum(axis=-1, keepdims=True)
    return weights * (1 - weights) * wanted - weights * mean


@task.mistake(
    "This is what the other weights lose. The weight that belongs to the score grows, and that "
    "part is missing."
)
def others_alone(scores, wanted):
    weights = softmax(scores)
    own = weights * wanted
    return -weights * (own.sum(axis=-1, keepdims=True) - own)


task.mistake(
    "The plain sum of `wanted` was subtracted. Subtract its weighted mean.",
    lambda scores, wanted: softmax(scores) * (wanted - wanted.sum(axis=-1, keepdims=True)),
)
task.mistake(
    "`wanted` has no effect: w (1 − w) is how a weight changes with its own score. Multiply each "
    "weight's change by its entry of `wanted`, and remember that a score changes all weights of "
    "its row.",
    lambda scores, wanted: softmax(scores) * (1 - softmax(scores)),
)
task.mistake(
    "There is one factor 1 − w too many. Subtracting the weighted mean already covers the whole "
    "row.",
    lambda scores, wanted: softmax_gradient(scores, wanted) * (1 - softmax(scores)),
)
task.mistake(
    "The gradient was divided by the number of rows. The total is a sum over all rows, not a mean.",
    lambda scores, wanted: softmax_gradient(scores, wanted) / len(scores),
)


@task.mistake(
    "The weighted mean was added. A larger score lowers the other weights, so subtract it."
)
def mean_added(scores, wanted):
    weights = softmax(scores)
    return weights * (wanted + (weights * wanted).sum(axis=-1, keepdims=True))


@task.mistake(
    "All scores were treated as one row, as if a single softmax ran over the whole table. Each "
    "query has a softmax of its own."
)
def one_softmax(scores, wanted):
    weights = softmax(scores.ravel()).reshape(scores.shape)
    return weights * (wanted - (weights * wanted).sum())


@task.cases
def cases(seed):
    """One row by hand; then rows; then a row so hard that nothing comes through."""
    rng = np.random.default_rng(seed)
    hard = np.array([[0.0, 40.0, 3.0], [1.0, 1.0, 0.0], [0.0, 0.0, 0.0]])
    return [
        Case(
            (np.array([[np.log(3.0), 0.0]]), np.array([[4.0, 0.0]])),
            "weights 0.75 and 0.25",
            kind="ordinary cases",
        ),
        Case((rng.normal(size=(3, 5)), rng.normal(size=(3, 5))), kind="ordinary cases"),
        Case(
            (rng.normal(size=(4, 2)), rng.normal(size=(4, 2))),
            "more queries than keys",
            kind="other shapes",
        ),
        Case(
            (hard, rng.normal(size=(3, 3))),
            "one row whose largest score leads by 37",
            kind="edge cases",
        ),
    ]


@task.diagnostic
def rows_sum_to_zero(args, result):
    """Adding the same to all scores of a row changes nothing."""
    sums = np.asarray(result).sum(axis=-1)
    if not np.allclose(sums, 0, atol=1e-6):
        worst = sums[abs(sums).argmax()]
        return (
            f"A row of the gradient sums to {worst:.3g}, not to 0. It must be 0, because adding "
            "the same number to all scores of a row changes no weight."
        )
    return None
