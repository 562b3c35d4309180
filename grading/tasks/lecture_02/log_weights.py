"""Logarithms of softmax's weights, also where the weights themselves are rounded to 0."""

import numpy as np

from grading.task import Case, Mistake, Task
from helpers.attention import softmax


def log_weights(scores):
    """The model answer."""
    shifted = scores - scores.max(axis=-1, keepdims=True)
    return shifted - np.log(np.exp(shifted).sum(axis=-1, keepdims=True))


def by_logaddexp(scores):
    """Right, in another way: NumPy's own sum of exponentials, as a logarithm."""
    return scores - np.logaddexp.reduce(scores, axis=-1, keepdims=True)


def largest_added_back(scores):
    """Right, in another way: the shift inside the logarithm only, and taken back outside."""
    largest = scores.max(axis=-1, keepdims=True)
    return scores - (np.log(np.exp(scores - largest).sum(axis=-1, keepdims=True)) + largest)


def log_of_weights(scores):
    """Wrong: the logarithm of a weight that was rounded to 0."""
    with np.errstate(divide="ignore"):
        return np.log(softmax(scores))


def patched(scores):
    """Wrong: where a weight was rounded to 0, the sum is left out."""
    weights = softmax(scores)
    with np.errstate(divide="ignore"):
        return np.where(weights > 0, np.log(weights), scores - scores.max(axis=-1, keepdims=True))


def without_keepdims(scores):
    """Wrong: maxima and sums lost their axis."""
    with np.errstate(over="ignore", divide="ignore"):
        shifted = scores - scores.max(axis=-1)
        return shifted - np.log(np.exp(shifted).sum(axis=-1))


def small_number_added(scores):
    """Wrong: a small number keeps the logarithm finite."""
    return np.log(softmax(scores) + 1e-12)


def small_weights_cut(scores):
    """Wrong: small weights are all made the same."""
    return np.log(np.maximum(softmax(scores), 1e-300))


def unstable(scores):
    """Wrong: the sum of exponentials overflows, or is 0."""
    with np.errstate(over="ignore", divide="ignore"):
        return scores - np.log(np.exp(scores).sum(axis=-1, keepdims=True))


def not_added_back(scores):
    """Wrong: the largest score is subtracted in the sum, and nowhere else."""
    shifted = scores - scores.max(axis=-1, keepdims=True)
    return scores - np.log(np.exp(shifted).sum(axis=-1, keepdims=True))


def without_sum(scores):
    """Wrong: the largest score is subtracted, and nothing else."""
    return scores - scores.max(axis=-1, keepdims=True)


def no_logarithm(scores):
    """Wrong: the weights themselves."""
    return softmax(scores)


def turned_sign(scores):
    """Wrong: minus the logarithm."""
    return -log_weights(scores)


def to_base_ten(scores):
    """Wrong: the logarithm to base 10."""
    return log_weights(scores) / np.log(10.0)


def one_maximum(scores):
    """Wrong: the largest score of the whole array is subtracted from every row."""
    shifted = scores - scores.max()
    with np.errstate(divide="ignore"):
        return shifted - np.log(np.exp(shifted).sum(axis=-1, keepdims=True))


def over_everything(scores):
    """Wrong: one sum for the whole array."""
    shifted = scores - scores.max()
    return shifted - np.log(np.exp(shifted).sum())


def over_columns(scores):
    """Wrong: along the axis before the last."""
    shifted = scores - scores.max(axis=-2, keepdims=True)
    return shifted - np.log(np.exp(shifted).sum(axis=-2, keepdims=True))


def sum_of_logarithms(scores):
    """Wrong: the logarithm is taken before the sum."""
    shifted = scores - scores.max(axis=-1, keepdims=True)
    return shifted - shifted.sum(axis=-1, keepdims=True)


def cases(seed):
    """A row to check by hand, several shapes, and scores whose weights are rounded to 0."""
    rng = np.random.default_rng(seed)
    noise = rng.normal(size=(2, 3)) * np.array([[1.0], [0.1]])
    far_apart = np.array([[0.0, 2000.0, -2000.0], [-800.0, 0.0, 0.0]])
    return [
        Case((np.array([[0.0, np.log(3.0)]]),), "one row, 0 and ln 3"),
        Case((rng.normal(size=(3, 3)),)),
        Case((rng.normal(size=(2, 5)),), "more columns than rows"),
        Case((rng.normal(size=(2, 3, 4)),), "a batch of two"),
        Case((rng.normal(size=(2, 3)) + np.array([[1000.0], [-1000.0]]),), "scores near ±1000"),
        Case((noise + far_apart,), "scores from −2000 to 2000 in a row"),
    ]


def finite(args, result):
    """What the task is about."""
    if np.isnan(result).any():
        return "A row holds NaN."
    if np.isinf(result).any():
        return "A row holds an infinity: a sum overflowed, or the logarithm of 0 was taken."
    return None


def weights_sum_to_one(args, result):
    """What makes them logarithms of weights."""
    with np.errstate(over="ignore"):
        sums = np.ravel(np.exp(np.asarray(result)).sum(axis=-1))
    if not np.allclose(sums, 1.0):
        odd = sums[abs(sums - 1).argmax()]
        return f"The weights of a row (e to the power of its results) sum to {odd:.3g}, not to 1."
    return None


TASK = Task(
    name="log_weights",
    lecture=2,
    kind="implement",
    points=8,
    difficulty=2,
    minutes=10,
    outcome="write a softmax that survives large scores, and say why the repair changes nothing",
    reference=log_weights,
    also_right=(by_logaddexp, largest_added_back),
    cases=cases,
    properties=(finite, weights_sum_to_one),
    forbidden=(
        "torch.log_softmax",
        "torch.Tensor.log_softmax",
        "torch.nn.functional.log_softmax",
        "torch.logsumexp",
        "torch.Tensor.logsumexp",
    ),
    mistakes=(
        Mistake(
            log_of_weights,
            "The logarithm of the finished weights was taken. A weight below about 10⁻³²³ has been "
            "rounded to 0 by then, and its logarithm is −∞. Work out the logarithm of the fraction "
            "on paper first.",
        ),
        Mistake(
            patched,
            "Where the weight had been rounded to 0, only the largest score was subtracted. If "
            "other scores lie near the largest, the sum is more than 1, and its logarithm is "
            "missing there. One formula does for all weights.",
        ),
        Mistake(
            without_keepdims,
            "The maxima or the sums of the rows lost their axis, so NumPy lays them along the rows "
            "instead of down the columns, or cannot fit them at all. Write keepdims=True.",
        ),
        Mistake(
            small_number_added,
            "A small number was added to keep the logarithm finite. Then all small weights get "
            "nearly the same logarithm, whatever their scores. Work out the logarithm of the "
            "fraction on paper first: nothing has to be added.",
        ),
        Mistake(
            small_weights_cut,
            "Small weights were raised to a smallest one, so they get the same logarithm, whatever "
            "their scores. Work out the logarithm of the fraction on paper first.",
        ),
        Mistake(
            unstable,
            "The formula is right, but the sum of exponentials overflows for large scores and is 0 "
            "for very small ones. Subtract the row's largest score before taking exponentials, and "
            "see to it that the result stays the same.",
        ),
        Mistake(
            not_added_back,
            "The row's largest score was subtracted in the exponentials, but not outside. In a "
            "logarithm the factor e⁻ᶜ becomes −c: subtract it in both places, or add it back.",
        ),
        Mistake(
            without_sum,
            "Only the row's largest score was subtracted. The logarithm of a fraction is a "
            "difference, and what stands below the fraction bar, the sum, is still missing.",
        ),
        Mistake(
            no_logarithm,
            "These are the weights. Their logarithms are wanted.",
        ),
        Mistake(
            turned_sign,
            "The sign is turned: a weight is at most 1, so its logarithm is at most 0.",
        ),
        Mistake(
            to_base_ten,
            "These are logarithms to base 10. The natural logarithm, np.log, is wanted.",
        ),
        Mistake(
            one_maximum,
            "The largest score of the whole array was subtracted. Of a row that lies far below it "
            "all exponentials are 0 then, and so is their sum. Each row needs its own.",
        ),
        Mistake(
            over_everything,
            "One sum was taken over the whole array. Each row needs its own: axis=-1 with "
            "keepdims=True.",
        ),
        Mistake(
            over_columns,
            "The sum runs over axis −2, down the columns. The weights along the last axis must sum "
            "to 1.",
        ),
        Mistake(
            sum_of_logarithms,
            "The logarithm of a sum is not the sum of the logarithms: exponentials first, then "
            "their sum, then the logarithm of it.",
        ),
    ),
    hints=(
        "Two rules: ln(a / b) is ln a − ln b, and ln eˢ is s. What does the logarithm of the "
        "formula of softmax become?",
        "The sum of exponentials must not overflow here either. If you subtract the largest score "
        "from all scores of the row first, do the weights change? Do their logarithms?",
    ),
)
