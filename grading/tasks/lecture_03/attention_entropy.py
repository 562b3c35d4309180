"""How soft a softmax is: variance, entropy, largest weight."""

import numpy as np

from grading.author import Case, TaskFile
from helpers.numpy_attention import softmax

task = TaskFile(
    "implement",
    points=8,
    minutes=16,
    section="Why scores are divided by √d_k",
    outcome="say what dividing by √d_k does to the scores, to the softmax and to the gradient",
    results=("the variance of the scores", "the mean entropy", "the mean of the largest weights"),
    hints=(
        "All three numbers are computed from two arrays, the divided scores and the weights, both "
        "of shape (T_q, T_k).",
        "`np.where(weights > 0, weights, 1.0)` replaces each weight of 0 by 1. What is the "
        "logarithm of 1?",
    ),
)


# %% the cell
def attention_entropy(q, k, divisor):
    """Variance of scores, mean entropy and mean largest weight of q (T_q, d_k), k (T_k, d_k)."""
    # BEGIN SOLUTION
    scores = q @ k.T / divisor  # (T_q, T_k)
    weights = softmax(scores)  # (T_q, T_k)
    logs = np.log(np.where(weights > 0, weights, 1.0))  # (T_q, T_k)
    entropy = -(weights * logs).sum(axis=-1)  # (T_q,)
    return scores.var(), entropy.mean(), weights.max(axis=-1).mean()
    # END SOLUTION


# %%


@task.alternative
def from_the_scores(q, k, divisor):
    """The entropy from the scores, without the logarithm of a weight."""
    scores = q @ k.T / divisor
    moved = scores - scores.max(axis=1, keepdims=True)
    exp = np.exp(moved)
    total = exp.sum(axis=1)
    entropy = np.log(total) - (exp * moved).sum(axis=1) / total
    return scores.var(), entropy.mean(), (1 / total).mean()


@task.alternative
def by_torch(q, k, divisor):
    """Torch's entr."""
    import torch

    scores = torch.from_numpy(q @ k.T) / divisor
    weights = scores.softmax(dim=1)
    entropy = torch.special.entr(weights).sum(dim=1).mean()
    return [scores.var(correction=0), entropy, weights.max(dim=1).values.mean()]


def _measure(scores, weights, entropy):
    return scores.var(), entropy(weights), weights.max(axis=-1).mean()


def _weights(q, k, divisor):
    scores = q @ k.T / divisor
    return scores, softmax(scores)


def _entr(weights):
    return -weights * np.log(np.where(weights > 0, weights, 1.0))


@task.mistake(
    "Some weights are 0 in float64, and 0 · log 0 gives NaN. Such a weight adds nothing to the "
    "entropy: leave it out, or take the logarithm of 1 in its place."
)
def log_of_zero(q, k, divisor):
    scores, weights = _weights(q, k, divisor)
    with np.errstate(divide="ignore", invalid="ignore"):
        return _measure(scores, weights, lambda w: -(w * np.log(w)).sum(axis=-1).mean())


@task.mistake(
    "Weights of 0 were replaced by 1 in the weights themselves, so the largest weight of such a "
    "row is 1. Replace them only inside the logarithm."
)
def ones_for_zeros(q, k, divisor):
    scores, weights = _weights(q, k, divisor)
    return _measure(scores, np.where(weights > 0, weights, 1.0), lambda w: _entr(w).sum(-1).mean())


@task.mistake("This entropy is in bits. Take the natural logarithm, as the lecture does.")
def in_bits(q, k, divisor):
    variance, entropy, top = attention_entropy(q, k, divisor)
    return variance, entropy / np.log(2), top


@task.mistake("The logarithm of a weight is negative, so the entropy needs a minus sign in front.")
def negative(q, k, divisor):
    variance, entropy, top = attention_entropy(q, k, divisor)
    return variance, -entropy, top


@task.mistake(
    "The entropy of a row is the sum of −w log w over the keys. Take the mean over the queries "
    "only after that."
)
def averaged_twice(q, k, divisor):
    scores, weights = _weights(q, k, divisor)
    return _measure(scores, weights, lambda w: _entr(w).mean())


@task.mistake("The entropies of all rows were added up. Return their mean over the queries.")
def summed(q, k, divisor):
    scores, weights = _weights(q, k, divisor)
    return _measure(scores, weights, lambda w: _entr(w).sum())


@task.mistake(
    "The rows were averaged first, and the entropy was taken of the average. Take the entropy of "
    "each row, then the mean: the average of rows that are sharp at different positions is flat."
)
def of_the_mean_row(q, k, divisor):
    scores, weights = _weights(q, k, divisor)
    return _measure(scores, weights, lambda w: _entr(w.mean(axis=0)).sum())


@task.mistake(
    "Softmax ran along the queries. The weights of each query must sum to 1 over the keys, along "
    "the last axis."
)
def down_the_columns(q, k, divisor):
    scores = q @ k.T / divisor
    weights = softmax(scores, axis=0)
    return scores.var(), _entr(weights).sum(axis=0).mean(), weights.max(axis=0).mean()


task.mistake("The divisor was not used.", lambda q, k, divisor: attention_entropy(q, k, 1.0))
task.mistake(
    "The scores were divided by the square root of `divisor`. Divide by `divisor` as it is.",
    lambda q, k, divisor: attention_entropy(q, k, np.sqrt(divisor)),
)


@task.mistake("The first number is the standard deviation. Return the variance.")
def deviation(q, k, divisor):
    variance, entropy, top = attention_entropy(q, k, divisor)
    return np.sqrt(variance), entropy, top


@task.mistake(
    "The first number is the variance before the division. Take that of the divided scores."
)
def variance_before(q, k, divisor):
    _, entropy, top = attention_entropy(q, k, divisor)
    return (q @ k.T).var(), entropy, top


@task.mistake(
    "The first number is the mean of the variances of the rows. Take the variance of all scores "
    "together."
)
def variance_by_row(q, k, divisor):
    _, entropy, top = attention_entropy(q, k, divisor)
    return (q @ k.T / divisor).var(axis=-1).mean(), entropy, top


@task.mistake(
    "The variance was divided by the number of scores minus one, as torch's var() does. NumPy's "
    "var() divides by the number of scores."
)
def of_a_sample(q, k, divisor):
    _, entropy, top = attention_entropy(q, k, divisor)
    return (q @ k.T / divisor).var(ddof=1), entropy, top


@task.mistake(
    "The third number is the largest weight of all rows. Take the largest weight of each row, "
    "then the mean."
)
def top_of_all(q, k, divisor):
    scores, weights = _weights(q, k, divisor)
    return scores.var(), _entr(weights).sum(axis=-1).mean(), weights.max()


@task.mistake(
    "The third number is the mean of the largest weights of the columns. Each query has a row: "
    "take the largest of each row, along the last axis."
)
def top_of_columns(q, k, divisor):
    scores, weights = _weights(q, k, divisor)
    return scores.var(), _entr(weights).sum(axis=-1).mean(), weights.max(axis=0).mean()


@task.mistake(
    "exp of a score above 709 is ∞, and ∞/∞ is NaN. Subtract the largest score of each row "
    "first, or take `softmax`, which does so."
)
def no_maximum(q, k, divisor):
    scores = q @ k.T / divisor
    with np.errstate(over="ignore", invalid="ignore"):
        exp = np.exp(scores)
        weights = exp / exp.sum(axis=-1, keepdims=True)
    return _measure(scores, weights, lambda w: _entr(w).sum(axis=-1).mean())


@task.mistake(
    "The terms −w log w were summed over the queries, and the mean was taken over the keys. Each "
    "query has a row with an entropy of its own: sum along the last axis."
)
def summed_over_queries(q, k, divisor):
    scores, weights = _weights(q, k, divisor)
    return _measure(scores, weights, lambda w: _entr(w).sum(axis=0).mean())


@task.mistake("The first number is the variance of the weights. Take that of the divided scores.")
def variance_of_weights(q, k, divisor):
    _, entropy, top = attention_entropy(q, k, divisor)
    return _weights(q, k, divisor)[1].var(), entropy, top


@task.mistake(
    "The third number is the mean of the largest scores. Take the largest weight of each row."
)
def top_score(q, k, divisor):
    scores, weights = _weights(q, k, divisor)
    return scores.var(), _entr(weights).sum(axis=-1).mean(), scores.max(axis=-1).mean()


@task.mistake("The first two numbers are swapped: first the variance, then the entropy.")
def entropy_first(q, k, divisor):
    variance, entropy, top = attention_entropy(q, k, divisor)
    return entropy, variance, top


@task.mistake("The last two numbers are swapped: the entropy is the second of three.")
def top_second(q, k, divisor):
    variance, entropy, top = attention_entropy(q, k, divisor)
    return variance, top, entropy


@task.mistake(
    "The terms −log w were summed without their weights. In the entropy each is multiplied by its "
    "weight: −w log w."
)
def logs_alone(q, k, divisor):
    scores, weights = _weights(q, k, divisor)
    logs = np.log(np.where(weights > 0, weights, 1.0))
    return scores.var(), -logs.sum(axis=-1).mean(), weights.max(axis=-1).mean()


@task.mistake(
    "Softmax ran over the whole array at once. The weights of each query must sum to 1 over the "
    "keys, along the last axis."
)
def over_the_table(q, k, divisor):
    scores = q @ k.T / divisor
    weights = softmax(scores.reshape(1, -1)).reshape(scores.shape)
    return _measure(scores, weights, lambda w: _entr(w).sum(axis=-1).mean())


task.mistake(
    "The scores were divided by √d_k, whatever `divisor` is. The caller decides what they are "
    "divided by.",
    lambda q, k, divisor: attention_entropy(q, k, np.sqrt(q.shape[-1])),
)
task.mistake(
    "The scores were divided by √d_k as well. Divide by `divisor` only.",
    lambda q, k, divisor: attention_entropy(q, k, divisor * np.sqrt(q.shape[-1])),
)


@task.mistake(
    "The first number is the mean of the variances of the columns. Take the variance of all scores "
    "together."
)
def variance_by_column(q, k, divisor):
    _, entropy, top = attention_entropy(q, k, divisor)
    return (q @ k.T / divisor).var(axis=0).mean(), entropy, top


@task.mistake(
    "This entropy uses the logarithm to base 10. Take the natural logarithm, as the lecture does."
)
def base_ten(q, k, divisor):
    variance, entropy, top = attention_entropy(q, k, divisor)
    return variance, entropy / np.log(10), top


@task.mistake(
    "0 · log 0 is NaN, and `nanmean` leaves out the whole query. A weight of 0 adds nothing to "
    "the entropy, but the other weights of its query do."
)
def whole_rows_left_out(q, k, divisor):
    scores = q @ k.T / divisor
    weights = softmax(scores)
    with np.errstate(divide="ignore", invalid="ignore"):
        entropy = -(weights * np.log(weights)).sum(axis=-1)
    mean = np.nanmean(entropy) if not np.isnan(entropy).all() else np.nan
    return scores.var(), mean, weights.max(axis=-1).mean()


@task.mistake(
    "Where a row has a weight of 0, the entropy of the whole row became 0. Only that weight adds "
    "nothing; the others do. Replace the NaN before you sum, or take the logarithm of 1 there."
)
def rows_with_zeros_count_nothing(q, k, divisor):
    scores, weights = _weights(q, k, divisor)
    with np.errstate(divide="ignore", invalid="ignore"):
        entropy = np.nan_to_num(-(weights * np.log(weights)).sum(axis=-1))
    return scores.var(), entropy.mean(), weights.max(axis=-1).mean()


@task.mistake(
    "The last two numbers are those of the whole table: the sum of all entropies, and the largest "
    "weight of all. Compute both for each row, and then take the mean over the rows."
)
def of_the_whole_table(q, k, divisor):
    scores, weights = _weights(q, k, divisor)
    return scores.var(), _entr(weights).sum(), weights.max()


@task.cases
def cases(seed):
    """Scores by hand; wide ones; weights of 0, also beside two equal large ones; small ones."""
    rng = np.random.default_rng(seed)
    q, k = rng.normal(size=(5, 16)), rng.normal(size=(7, 16))
    some_hard = np.concatenate([30 * q, q[:1] / 120])  # five hard rows and a soft one
    below = rng.uniform(7, 14, size=200)  # of the largest score: weights from 1e-3 down to 1e-6
    many = np.array([[1.0, 0.0], [1.0, 0.1]]), np.stack([-np.append(0, below)] * 2, axis=1)
    hand = np.array([[1.0], [0.0]]), np.array([[2 * np.log(3.0)], [0.0]])
    return [
        Case((*hand, 2.0), "two queries, two keys, scores by hand", kind="ordinary cases"),
        Case((q, k, 4.0), "divided by √d_k", kind="ordinary cases"),
        Case((q, k, 16.0), "divided by d_k", kind="ordinary cases"),
        Case(
            (some_hard, 30 * k[:4], 1.0), "scores so large that weights become 0", kind="edge cases"
        ),
        Case(
            (some_hard, 30 * k[[0, 1, 0, 1]], 1.0),
            "each key twice, and weights of 0",
            kind="edge cases",
        ),
        Case((*many, 1.0), "one large weight and 200 small ones", kind="edge cases"),
    ]


@task.diagnostic
def possible(args, result):
    """Entropy has bounds, and a weight too."""
    variance, entropy, top = (float(number) for number in result)
    keys = len(args[1])
    if np.isnan(entropy):
        return "The entropy is NaN."
    if not -1e-9 <= entropy <= np.log(keys) + 1e-9:
        return f"With {keys} keys the entropy lies between 0 and log {keys} = {np.log(keys):.3g}."
    if not 1 / keys - 1e-9 <= top <= 1 + 1e-9:
        return f"The largest of {keys} weights lies between 1/{keys} and 1."
    return None if variance >= 0 else "A variance is never negative."
