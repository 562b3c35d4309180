"""Softmax along the last axis that no score can overflow."""

import numpy as np

from grading.author import Case, TaskFile
from grading.feedback.messages import AXIS_LOST, WHOLE_ARRAY

task = TaskFile(
    "implement",
    points=10,
    minutes=6,
    section="Softmax of large scores",
    outcome="write a softmax that cannot overflow, say when a gate does as well as attention, "
    "and what a map does not show",
    forbidden=(
        "torch.softmax",
        "torch.Tensor.softmax",
        "torch.nn.functional.softmax",
        "torch.special.softmax",
        "torch.log_softmax",
        "torch.Tensor.log_softmax",
        "torch.nn.functional.log_softmax",
        "torch.special.log_softmax",
        "helpers.numpy_attention.softmax",
    ),
    hints=(
        "What happens to the weights of a row if the same number is subtracted from all its "
        "scores?",
        "`scores.max(axis=-1, keepdims=True)` has one number for each row, in a shape that "
        "broadcasts against `scores`.",
    ),
)


# %% the cell
def stable_softmax(scores):
    """Weights along the last axis: scores (…, T) to weights (…, T)."""
    # BEGIN SOLUTION
    exp = np.exp(scores - scores.max(axis=-1, keepdims=True))  # (…, T)
    return exp / exp.sum(axis=-1, keepdims=True)  # (…, T)
    # END SOLUTION


# %%


@task.alternative
def by_logarithms(scores):
    """Subtract the logarithm of the sum, then take the exponential."""
    return np.exp(scores - np.logaddexp.reduce(scores, axis=-1, keepdims=True))


@task.mistake(
    "The sum runs over axis −2, down the columns. Each query has a row, so the weights along the "
    "last axis must sum to 1."
)
def over_columns(scores):
    exp = np.exp(scores - scores.max(axis=-2, keepdims=True))
    return exp / exp.sum(axis=-2, keepdims=True)


@task.mistake(WHOLE_ARRAY)
def over_everything(scores):
    exp = np.exp(scores - scores.max())
    return exp / exp.sum()


@task.mistake(
    "exp of a large score overflows, and exp of a very small one is 0. Subtract the row's "
    "largest score first: that changes no weight."
)
def overflowing(scores):
    with np.errstate(over="ignore", invalid="ignore"):
        exp = np.exp(scores)
        return exp / exp.sum(axis=-1, keepdims=True)


@task.mistake(
    "The largest score of the whole array was subtracted. A row that lies far below it becomes 0 "
    "throughout, and 0/0 is NaN: subtract each row's own maximum."
)
def one_maximum(scores):
    exp = np.exp(scores - scores.max())
    with np.errstate(invalid="ignore"):
        return exp / exp.sum(axis=-1, keepdims=True)


task.mistake(
    "These are exponentials, not yet weights: divide each row by its sum.",
    lambda scores: np.exp(scores - scores.max(axis=-1, keepdims=True)),
)
task.mistake(
    "All the weight went to the largest score. That is argmax; softmax gives every score some "
    "weight.",
    lambda scores: np.eye(scores.shape[-1])[scores.argmax(axis=-1)],
)
task.edit(
    "Scores beyond a limit were set to it. That keeps exp finite but makes different scores equal. "
    "Subtract the row's largest score instead: that changes no weight.",
    "scores - scores.max(axis=-1, keepdims=True",
    "np.clip(scores, -700, 700",
)


@task.mistake(AXIS_LOST)
def without_keepdims(scores):
    with np.errstate(over="ignore", invalid="ignore"):
        exp = np.exp(scores - scores.max(axis=-1))
        return exp / exp.sum(axis=-1)


@task.mistake(
    "The mean of each row was subtracted. That changes no weight either, but a score far above "
    "the mean still overflows: only after subtracting the maximum is none above 0."
)
def mean_subtracted(scores):
    with np.errstate(over="ignore", invalid="ignore"):
        exp = np.exp(scores - scores.mean(axis=-1, keepdims=True))
        return exp / exp.sum(axis=-1, keepdims=True)


task.edit(
    "Each row's own maximum was subtracted. But then one sum was taken over the whole array; "
    "each row needs its own.",
    "sum(axis=-1, keepdims=True)",
    "sum()",
)


@task.mistake(
    "The largest absolute value of the row was subtracted. In a row of scores near −1000 that "
    "gives scores near −2000, whose exponentials are all 0, and 0/0 is NaN. Subtract the largest "
    "score, with its sign."
)
def absolute_maximum(scores):
    exp = np.exp(scores - abs(scores).max(axis=-1, keepdims=True))
    with np.errstate(invalid="ignore"):
        return exp / exp.sum(axis=-1, keepdims=True)


@task.mistake(
    "The smallest score of the row was subtracted. That changes no weight either, but a score "
    "far above the smallest still overflows: only after subtracting the maximum is none above 0."
)
def smallest_subtracted(scores):
    with np.errstate(over="ignore", invalid="ignore"):
        exp = np.exp(scores - scores.min(axis=-1, keepdims=True))
        return exp / exp.sum(axis=-1, keepdims=True)


task.edit(
    "The maxima are right. But the sums of the rows lost their axis, so NumPy broadcasts them "
    "along the rows instead of down the columns, or raises an error.",
    "sum(axis=-1, keepdims=True)",
    "sum(axis=-1)",
)


@task.mistake(
    "The sums are right. But the maxima of the rows lost their axis, so NumPy broadcasts them "
    "along the rows instead of down the columns, or raises an error."
)
def maxima_without_keepdims(scores):
    with np.errstate(over="ignore", invalid="ignore"):
        exp = np.exp(scores - scores.max(axis=-1))
        return exp / exp.sum(axis=-1, keepdims=True)


@task.mistake(
    "Axis 1 is the last axis of a matrix only. With three axes the last is axis 2, with one it is "
    "axis 0. Counted from the end it is always −1."
)
def along_axis_one(scores):
    exp = np.exp(scores - scores.max(axis=1, keepdims=True))
    return exp / exp.sum(axis=1, keepdims=True)


@task.mistake(
    "The sums run along axis 0, which is the last one only if there is no other. Counted from the "
    "end the last axis is −1, however many there are."
)
def along_axis_zero(scores):
    exp = np.exp(scores - scores.max(axis=0, keepdims=True))
    return exp / exp.sum(axis=0, keepdims=True)


@task.mistake(
    "NaN was replaced by 0, so some rows no longer sum to 1. Avoid NaN in the first place: "
    "subtract the row's largest score before taking exponentials."
)
def nan_replaced(scores):
    with np.errstate(over="ignore", invalid="ignore"):
        exp = np.exp(scores)
        return np.nan_to_num(exp / exp.sum(axis=-1, keepdims=True))


@task.mistake(
    "The largest score was subtracted in the exponentials that are divided, but not in those of "
    "the sum. Numerator and denominator must use the same exponentials."
)
def sum_not_shifted(scores):
    with np.errstate(over="ignore", invalid="ignore", divide="ignore"):
        exp = np.exp(scores - scores.max(axis=-1, keepdims=True))
        return exp / np.exp(scores).sum(axis=-1, keepdims=True)


@task.mistake(
    "The scores were divided by the row's largest. That changes the weights, because it changes "
    "how far the scores are apart. Subtract the largest instead: all differences stay."
)
def divided_by_the_largest(scores):
    with np.errstate(over="ignore", invalid="ignore"):
        exp = np.exp(scores / scores.max(axis=-1, keepdims=True))
        return exp / exp.sum(axis=-1, keepdims=True)


@task.mistake(
    "`[:, None]` puts an axis back in second place, which is the last one of a matrix only. Write "
    "keepdims=True."
)
def second_place(scores):
    exp = np.exp(scores - scores.max(axis=-1)[:, None])
    return exp / exp.sum(axis=-1, keepdims=True)


@task.cases
def cases(seed):
    """A row to check by hand, several shapes, and scores that overflow."""
    rng = np.random.default_rng(seed)
    far_apart = np.array([[0.0, 2000.0, -2000.0], [-2000.0, 0.0, 1999.0]])
    return [
        Case((np.array([[0.0, np.log(3.0)]]),), "one row, 0 and ln 3", kind="ordinary cases"),
        Case((rng.normal(size=(3, 3)),), kind="ordinary cases"),
        Case((rng.normal(size=(2, 5)),), "more columns than rows", kind="ordinary cases"),
        Case((rng.normal(size=(2, 3, 4)),), "a batch of two", kind="ordinary cases"),
        Case((rng.normal(size=4) - 1000.0,), "one axis, all scores near −1000", kind="edge cases"),
        Case(
            (rng.normal(size=(2, 3)) + np.array([[1000.0], [-1000.0]]),),
            "scores near ±1000",
            kind="edge cases",
        ),
        Case(
            (rng.normal(size=(2, 3)) + far_apart,),
            "scores from −2000 to 2000 in a row",
            kind="edge cases",
        ),
    ]


@task.diagnostic
def rows_sum_to_one(args, result):
    """What makes them weights."""
    if np.isnan(result).any():
        return (
            "A row holds NaN, which ∞/∞, ∞ − ∞ and 0/0 give: did an exponential overflow, or is a "
            "sum of exponentials 0?"
        )
    sums = np.ravel(np.asarray(result).sum(axis=-1))
    if not np.allclose(sums, 1.0):
        return f"The weights of a row sum to {sums[abs(sums - 1).argmax()]:.3g}, not to 1."
    return _odd_ratio(np.atleast_2d(args[0]), np.atleast_2d(result))


def _odd_ratio(scores, weights):
    """The largest and the smallest score of the first row, if their weights have another ratio."""
    if weights.shape != scores.shape:
        return None
    row, got = scores.reshape(-1, scores.shape[-1])[0], weights.reshape(-1, scores.shape[-1])[0]
    high, low = row.argmax(), row.argmin()
    apart = row[high] - row[low]
    if not 0.1 < apart < 7 or got.min() <= 0 or np.isclose(got[high] / got[low], np.exp(apart)):
        return None
    return (
        f"In the first row, two scores differ by {apart:.2f}. So their weights should stand as "
        f"{np.exp(apart):.2f} to 1, but they stand as {got[high] / got[low]:.2f} to 1. Only "
        "subtracting one number from all scores of a row changes no ratio."
    )
