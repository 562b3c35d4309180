"""Logarithms of softmax's weights, also where the weights themselves are rounded to 0."""

import numpy as np

from grading.author import Case, TaskFile
from grading.feedback.messages import AXIS_LOST, WHOLE_ARRAY
from helpers.numpy_attention import softmax

task = TaskFile(
    "implement",
    points=8,
    minutes=16,
    section="Softmax of large scores",
    outcome="write a softmax that cannot overflow, say when a gate does as well as attention, "
    "and what a map does not show",
    forbidden=(
        "torch.log_softmax",
        "torch.Tensor.log_softmax",
        "torch.nn.functional.log_softmax",
        "torch.logsumexp",
        "torch.Tensor.logsumexp",
        "torch.special.log_softmax",
        "torch.special.logsumexp",
    ),
    hints=(
        "Two rules: ln(a / b) is ln a − ln b, and ln eˢ is s. What does the logarithm of the "
        "formula of softmax become?",
        "The sum of exponentials must not overflow here either. If you subtract the largest score "
        "from all scores of the row first, do the weights change? Do their logarithms?",
    ),
)


# %% the cell
def log_softmax(scores):
    """Logarithms of the weights along the last axis: scores (…, T) to (…, T)."""
    # BEGIN SOLUTION
    shifted = scores - scores.max(axis=-1, keepdims=True)  # (…, T)
    return shifted - np.log(np.exp(shifted).sum(axis=-1, keepdims=True))  # (…, T)
    # END SOLUTION


# %%


def _shifted(scores):
    return scores - scores.max(axis=-1, keepdims=True)


@task.alternative
def by_logaddexp(scores):
    """NumPy's own sum of exponentials, as a logarithm."""
    return scores - np.logaddexp.reduce(scores, axis=-1, keepdims=True)


@task.alternative
def largest_added_back(scores):
    """The shift inside the logarithm only, and taken back outside."""
    largest = scores.max(axis=-1, keepdims=True)
    return scores - (np.log(np.exp(scores - largest).sum(axis=-1, keepdims=True)) + largest)


@task.mistake(
    "The logarithm of the finished weights was taken. A weight below about 10⁻³²³ has been "
    "rounded to 0 by then, and its logarithm is −∞. Work out the logarithm of the fraction on "
    "paper first."
)
def log_of_weights(scores):
    with np.errstate(divide="ignore"):
        return np.log(softmax(scores))


@task.mistake(
    "Where the weight had been rounded to 0, only the largest score was subtracted. If other "
    "scores are near the largest, the sum is more than 1, and its logarithm is missing there. One "
    "formula works for all weights."
)
def patched(scores):
    weights = softmax(scores)
    with np.errstate(divide="ignore"):
        return np.where(weights > 0, np.log(weights), scores - scores.max(axis=-1, keepdims=True))


@task.mistake(AXIS_LOST)
def without_keepdims(scores):
    with np.errstate(over="ignore", divide="ignore"):
        shifted = scores - scores.max(axis=-1)
        return shifted - np.log(np.exp(shifted).sum(axis=-1))


task.mistake(
    "A small number was added to keep the logarithm finite. Then all small weights get nearly "
    "the same logarithm, whatever their scores. Work out the logarithm of the fraction on paper "
    "first: nothing has to be added.",
    lambda scores: np.log(softmax(scores) + 1e-12),
)
task.mistake(
    "A tiny number keeps the weights above 0 here. So all that are much smaller get its logarithm, "
    "whatever their scores. Work out the logarithm of the fraction on paper first.",
    lambda scores: np.log(np.maximum(softmax(scores), 1e-300)),
)


@task.mistake(
    "The formula is right, but the sum of exponentials overflows for large scores and is 0 for "
    "very small ones. Subtract the row's largest score before taking exponentials, and make sure "
    "that the result stays the same."
)
def unstable(scores):
    with np.errstate(over="ignore", divide="ignore"):
        return scores - np.log(np.exp(scores).sum(axis=-1, keepdims=True))


task.edit(
    "The row's largest score was subtracted in the exponentials, but not outside. In a logarithm "
    "the factor e⁻ᶜ becomes −c: subtract it in both places, or add it back.",
    "return shifted -",
    "return scores -",
)
task.mistake(
    "Only the row's largest score was subtracted. The logarithm of a fraction is a difference, "
    "and the logarithm of the denominator, the sum, is still missing.",
    lambda scores: scores - scores.max(axis=-1, keepdims=True),
)
task.mistake("These are the weights. Return their logarithms.", lambda scores: softmax(scores))
task.mistake(
    "The sign is wrong: a weight is at most 1, so its logarithm is at most 0.",
    lambda scores: -log_softmax(scores),
)
task.mistake(
    "The logarithm of the sum is to base 10. Use the natural logarithm, np.log.",
    lambda scores: _shifted(scores) - np.log10(np.exp(_shifted(scores)).sum(-1, keepdims=True)),
)


@task.mistake(
    "The largest score of the whole array was subtracted. In a row far below it, all exponentials "
    "are then 0, and so is their sum. Each row needs its own maximum."
)
def one_maximum(scores):
    shifted = scores - scores.max()
    with np.errstate(divide="ignore"):
        return shifted - np.log(np.exp(shifted).sum(axis=-1, keepdims=True))


@task.mistake(WHOLE_ARRAY)
def over_everything(scores):
    return _shifted(scores) - np.log(np.exp(_shifted(scores)).sum())


@task.mistake(
    "The sum runs over axis −2, down the columns. The weights along the last axis must sum to 1."
)
def over_columns(scores):
    shifted = scores - scores.max(axis=-2, keepdims=True)
    return shifted - np.log(np.exp(shifted).sum(axis=-2, keepdims=True))


task.edit(
    "The logarithm of a sum is not the sum of the logarithms: take exponentials first, then their "
    "sum, then its logarithm.",
    "np.log(np.exp(shifted).sum(axis=-1, keepdims=True)",
    "shifted.sum(axis=-1, keepdims=True",
)


@task.mistake(
    "Where the weight had been rounded to 0, the score itself was returned. The logarithm of the "
    "sum still has to be subtracted from it. One formula works for all weights."
)
def patched_with_scores(scores):
    weights = softmax(scores)
    with np.errstate(divide="ignore"):
        return np.where(weights > 0, np.log(weights), scores)


@task.mistake(
    "One logarithm was divided by the other. The logarithm of a fraction a / b is the difference "
    "ln a − ln b."
)
def quotient_of_logarithms(scores):
    with np.errstate(divide="ignore", invalid="ignore"):
        return _shifted(scores) / np.log(np.exp(_shifted(scores)).sum(axis=-1, keepdims=True))


task.edit(
    "The maxima are right. But the sums of the rows lost their axis, so NumPy broadcasts them "
    "along the rows instead of down the columns, or raises an error.",
    "sum(axis=-1, keepdims=True)",
    "sum(axis=-1)",
)


@task.mistake(
    "Axis 1 is the last axis of a matrix only. With a batch in front, the last axis is axis 2. "
    "Counted from the end it is always −1."
)
def along_axis_one(scores):
    shifted = scores - scores.max(axis=1, keepdims=True)
    return shifted - np.log(np.exp(shifted).sum(axis=1, keepdims=True))


task.mistake(
    "Weights below the smallest normal number were set to it, so they all get about −708, "
    "whatever their scores. Work out the logarithm of the fraction on paper first.",
    lambda scores: np.log(np.maximum(softmax(scores), np.finfo(float).tiny)),
)


@task.cases
def cases(seed):
    """A row to check by hand, several shapes, and scores whose weights are rounded to 0."""
    rng = np.random.default_rng(seed)
    noise = rng.normal(size=(2, 3)) * np.array([[1.0], [0.1]])
    far_apart = np.array([[0.0, 2000.0, -2000.0], [-800.0, 0.0, 0.0]])
    return [
        Case((np.array([[0.0, np.log(3.0)]]),), "one row, 0 and ln 3", kind="ordinary cases"),
        Case((rng.normal(size=(3, 3)),), kind="ordinary cases"),
        Case((rng.normal(size=(2, 5)),), "more columns than rows", kind="ordinary cases"),
        Case((rng.normal(size=(2, 3, 4)),), "a batch of two", kind="ordinary cases"),
        Case(
            (rng.normal(size=(2, 3)) + np.array([[1000.0], [-1000.0]]),),
            "scores near ±1000",
            kind="edge cases",
        ),
        Case((noise + far_apart,), "scores from −2000 to 2000 in a row", kind="edge cases"),
    ]


@task.diagnostic
def finite(args, result):
    """What the task is about."""
    if np.isnan(result).any():
        return "A row holds NaN."
    if np.isinf(result).any():
        return "A row holds an infinity: did a sum overflow, or was the logarithm of 0 taken?"
    return None


@task.diagnostic
def weights_sum_to_one(args, result):
    """What makes them logarithms of weights."""
    with np.errstate(over="ignore"):
        sums = np.ravel(np.exp(np.asarray(result)).sum(axis=-1))
    if not np.allclose(sums, 1.0):
        odd = sums[abs(sums - 1).argmax()]
        return f"The weights of a row (e to the power of its results) sum to {odd:.3g}, not to 1."
    return None
