"""The gradient through a softmax, by hand."""

import numpy as np

from grading.task import Case, Mistake, Task
from helpers.attention import softmax


def gradient_at_scores(scores, wanted):
    """The model answer."""
    weights = softmax(scores)
    return weights * (wanted - (weights * wanted).sum(axis=-1, keepdims=True))


def by_the_matrix(scores, wanted):
    """Right, in another way: each row's matrix diag(w) − w wᵀ."""
    rows = [(np.diag(w) - np.outer(w, w)) @ g for w, g in zip(softmax(scores), wanted, strict=True)]
    return np.array(rows)


def by_autograd(scores, wanted):
    """Right, in another way: torch works it out."""
    import torch

    scores = torch.from_numpy(scores).requires_grad_()
    (scores.softmax(dim=-1) * torch.from_numpy(wanted)).sum().backward()
    return scores.grad


def by_small_steps(scores, wanted):
    """Right, in another way: each score moved a little, up and down."""
    gradient, step = np.zeros_like(scores), 1e-5
    for place in np.ndindex(*scores.shape):
        moved = np.zeros_like(scores)
        moved[place] = step
        up, down = ((softmax(s) * wanted).sum() for s in (scores + moved, scores - moved))
        gradient[place] = (up - down) / (2 * step)
    return gradient


def each_alone(scores, wanted):
    """Wrong: as if each weight depended on its own score only."""
    weights = softmax(scores)
    return weights * (1 - weights) * wanted


def first_term_only(scores, wanted):
    """Wrong: the part that comes from the sum is left out."""
    return softmax(scores) * wanted


def untouched(scores, wanted):
    """Wrong: the gradient at the weights."""
    return wanted.copy()


def plain_mean(scores, wanted):
    """Wrong: the plain mean is taken off, not the weighted one."""
    return softmax(scores) * (wanted - wanted.mean(axis=-1, keepdims=True))


def sum_of_all(scores, wanted):
    """Wrong: one sum over all rows."""
    weights = softmax(scores)
    return weights * (wanted - (weights * wanted).sum())


def down_the_columns(scores, wanted):
    """Wrong: along the queries."""
    weights = softmax(scores, axis=0)
    return weights * (wanted - (weights * wanted).sum(axis=0, keepdims=True))


def sum_along_columns(scores, wanted):
    """Wrong: softmax along the keys, and the sum along the queries."""
    weights = softmax(scores)
    return weights * (wanted - (weights * wanted).sum(axis=0, keepdims=True))


def without_keepdims(scores, wanted):
    """Wrong: the sums of the rows have lost their axis."""
    weights = softmax(scores)
    return weights * (wanted - (weights * wanted).sum(axis=-1))


def turned_around(scores, wanted):
    """Wrong: the sign."""
    return -gradient_at_scores(scores, wanted)


def weight_forgotten(scores, wanted):
    """Wrong: the weight in front is missing."""
    weights = softmax(scores)
    return wanted - (weights * wanted).sum(axis=-1, keepdims=True)


def of_the_scores(scores, wanted):
    """Wrong: the scores stand where the weights should."""
    return scores * (wanted - (scores * wanted).sum(axis=-1, keepdims=True))


def cases(seed):
    """One row by hand; then rows; then a row so hard that nothing comes through."""
    rng = np.random.default_rng(seed)
    hard = np.array([[0.0, 40.0, 3.0], [1.0, 1.0, 0.0], [0.0, 0.0, 0.0]])
    return [
        Case((np.array([[np.log(3.0), 0.0]]), np.array([[4.0, 0.0]])), "weights 0.75 and 0.25"),
        Case((rng.normal(size=(3, 5)), rng.normal(size=(3, 5)))),
        Case((rng.normal(size=(4, 2)), rng.normal(size=(4, 2))), "more queries than keys"),
        Case((hard, rng.normal(size=(3, 3))), "one row with a lead of 37"),
    ]


def rows_sum_to_zero(args, result):
    """Adding the same to all scores of a row changes nothing."""
    sums = np.asarray(result).sum(axis=-1)
    if not np.allclose(sums, 0, atol=1e-6):
        worst = sums[abs(sums).argmax()]
        return (
            f"A row of the gradient sums to {worst:.3g}, not to 0: but adding the same number to "
            "all scores of a row changes no weight."
        )
    return None


TASK = Task(
    name="gradient_at_scores",
    lecture=3,
    kind="implement",
    points=9,
    difficulty=2,
    minutes=20,
    outcome="say what dividing by √d_k does to the scores, to the softmax and to the gradient, and "
    "what happens with another divisor",
    reference=gradient_at_scores,
    also_right=(by_the_matrix, by_autograd, by_small_steps),
    cases=cases,
    properties=(rows_sum_to_zero,),
    mistakes=(
        Mistake(
            each_alone,
            "w (1 − w) is how a weight changes with its own score. But a score also takes from all "
            "other weights of its row, and their part is missing.",
        ),
        Mistake(
            first_term_only,
            "w · wanted is the first half. A larger score also makes the sum below larger, which "
            "lowers all weights of the row: that part is missing.",
        ),
        Mistake(
            untouched,
            "This is the gradient at the weights, as it came in. Take it through the softmax.",
        ),
        Mistake(
            plain_mean,
            "The plain mean of `wanted` was taken off. It is the mean with the weights, "
            "(weights * wanted).sum.",
        ),
        Mistake(
            sum_of_all,
            "One sum was taken over all rows. Each row has a softmax of its own: axis=-1 with "
            "keepdims=True.",
        ),
        Mistake(
            down_the_columns,
            "Softmax ran along the queries. Each row is one query, and its weights sum to 1.",
        ),
        Mistake(
            sum_along_columns,
            "The weights are right, but the sum runs down the columns. It belongs to one row: "
            "axis=-1.",
        ),
        Mistake(
            without_keepdims,
            "The sums of the rows have lost their axis, so NumPy lays them along the rows instead "
            "of down the columns, or cannot fit them at all. Write keepdims=True.",
        ),
        Mistake(
            turned_around,
            "The sign is turned around. Loss is the sum of weights times wanted, so where `wanted` "
            "is above the row's mean, a larger score makes it larger.",
        ),
        Mistake(
            weight_forgotten,
            "The weight in front is missing. It is what makes the gradient vanish where a weight "
            "is near 0.",
        ),
        Mistake(
            of_the_scores,
            "The formula is right, but the scores stand in it in place of the weights. Take the "
            "softmax first.",
        ),
    ),
    hints=(
        "A weight is e^s divided by a sum. If one score grows, its own weight grows, and all the "
        "others fall, since the sum grows.",
        "Begin with two weights, w and 1 − w. If the first score grows by a little, the first "
        "weight grows by w (1 − w) times that, and the second falls by the same, since the two sum "
        "to 1. For 0.75 and 0.25, what does that make of 4 · w + 0 · (1 − w)? The second score "
        "does the opposite.",
        "With more weights: if score i grows, its own weight grows by w_i (1 − w_i), and each "
        "other weight w_j falls by w_i w_j. (For two weights that is the same as before.) Each of "
        "these changes counts with its `wanted`. Write the sum down and look what its terms share.",
    ),
)
