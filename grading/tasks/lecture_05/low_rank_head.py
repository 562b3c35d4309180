"""The same scores from a narrower head."""

import numpy as np
import torch

from grading.author import Case, TaskFile

task = TaskFile(
    "implement",
    points=12,
    minutes=22,
    extra=True,
    section="What heads cost",
    outcome="say what a trained head does, by its map and by ablation, and what n heads cost",
    rtol=1e-4,
    atol=1e-6,
    hints=(
        "A score is x W_Q W_Kᵀ yᵀ, divided by a square root. What do you need to know about the "
        "two matrices, and what not?",
        "In `U, S, Vt = np.linalg.svd(table)` only the first d numbers of `S` are not 0. Which "
        "columns of `U` and which rows of `Vt` belong to them?",
        "In the example, the wide head's product is 2xy and its score 2xy/√2. The narrow head has "
        "width 1 and divides by √1. So which product must it have?",
    ),
)


# %% the cell
def low_rank_head(W_query, W_key, d):
    """Two matrices (d_model, d) with the same scores as W_query and W_key (d_model, d_k)."""
    # BEGIN SOLUTION
    table = W_query @ W_key.T / np.sqrt(W_query.shape[1])  # (d_model, d_model)
    U, S, Vt = np.linalg.svd(table)  # table = U · S · Vt, S falling
    root = np.sqrt(S[:d] * np.sqrt(d))  # (d,), a root of each strength for either side
    return U[:, :d] * root, Vt[:d].T * root  # (d_model, d) each
    # END SOLUTION


# %%


@task.alternative
def one_sided(W_query, W_key, d):
    """Everything on the side of the queries."""
    U, S, Vt = np.linalg.svd(W_query @ W_key.T / np.sqrt(W_query.shape[1]))
    return U[:, :d] * S[:d] * np.sqrt(d), Vt[:d].T


@task.alternative
def by_rows(W_query, W_key, d):
    """A basis of the rows of the table, and what it takes to make them."""
    table = torch.tensor(W_query @ W_key.T)
    basis = torch.linalg.svd(table.T)[0][:, :d]
    return table @ basis * (d / W_query.shape[1]) ** 0.5, basis


task.mistake(
    "Columns were cut off, and with them a part of each score. Start from the matrix W_Q W_Kᵀ "
    "instead: which two narrow matrices have it as their product?",
    lambda W_query, W_key, d: (W_query[:, :d], W_key[:, :d]),
)


@task.mistake(
    "The products q·k are right. But the narrow head divides them by √d, while the wide head "
    "divides by √d_k. Compensate for the difference."
)
def divisor_forgotten(W_query, W_key, d):
    U, S, Vt = np.linalg.svd(W_query @ W_key.T)
    return U[:, :d] * np.sqrt(S[:d]), Vt[:d].T * np.sqrt(S[:d])


@task.mistake(
    "You compensated for the divisors in the wrong direction: √d is smaller than √d_k, so the "
    "narrow head needs *smaller* products."
)
def divisor_turned(W_query, W_key, d):
    factor = np.sqrt(W_query.shape[1] / d)
    query, key = low_rank_head(W_query, W_key, d)
    return query * factor**2, key


@task.mistake(
    "You compensated for the divisors twice: together, the two sides got the factor d / d_k. A "
    "score is a product of query and key, so either one side gets √(d / d_k), or each side gets "
    "the square root of that."
)
def divisor_twice(W_query, W_key, d):
    factor = np.sqrt(d / W_query.shape[1])
    query, key = low_rank_head(W_query, W_key, d)
    return query * factor, key


@task.mistake(
    "You compensated for the divisors with d_model, the number of rows. The wide head divides by "
    "√d_k, and its width is the number of columns."
)
def rows_for_width(W_query, W_key, d):
    query, key = low_rank_head(W_query, W_key, d)
    return query * np.sqrt(W_query.shape[1] / len(W_query)), key


@task.mistake(
    "The directions are right, but the singular values S are missing: multiply S into one side, "
    "or its square root into both."
)
def no_values(W_query, W_key, d):
    U, _, Vt = np.linalg.svd(W_query @ W_key.T)
    factor = (d / W_query.shape[1]) ** 0.5
    return U[:, :d] * factor, Vt[:d].T


@task.mistake(
    "The square roots of the singular values are on one side only. Multiply S into one side, or "
    "its square root into both."
)
def root_once(W_query, W_key, d):
    U, S, Vt = np.linalg.svd(W_query @ W_key.T)
    factor = (d / W_query.shape[1]) ** 0.5
    return U[:, :d] * np.sqrt(S[:d]) * factor, Vt[:d].T


@task.mistake(
    "The singular values are on both sides, so each counts squared. Multiply S into one side, or "
    "its square root into both."
)
def values_twice(W_query, W_key, d):
    U, S, Vt = np.linalg.svd(W_query @ W_key.T)
    factor = (d / W_query.shape[1]) ** 0.5
    return U[:, :d] * S[:d] * factor, Vt[:d].T * S[:d]


@task.mistake(
    "NumPy returns the third factor transposed: the directions of the keys are the first *rows* "
    "of `Vt`, so take `Vt[:d].T`."
)
def wrong_vectors(W_query, W_key, d):
    U, S, Vt = np.linalg.svd(W_query @ W_key.T)
    root = np.sqrt(S[:d]) * (d / W_query.shape[1]) ** 0.25
    return U[:, :d] * root, Vt[:, :d] * root


@task.mistake(
    "S is on the side of the queries, which is right. But the keys got *columns* of `Vt`. Each of "
    "its rows is one direction, so transpose it before you take d columns: `Vt.T[:, :d]`."
)
def wrong_vectors_on_one_side(W_query, W_key, d):
    U, S, Vt = np.linalg.svd(W_query @ W_key.T / np.sqrt(W_query.shape[1]))
    return U[:, :d] * S[:d] * np.sqrt(d), Vt[:, :d]


task.mistake(
    "Queries and keys are swapped.",
    lambda W_query, W_key, d: low_rank_head(W_query, W_key, d)[::-1],
)


@task.mistake(
    "Each matrix was made narrow by itself. But a score depends on both: two heads with the same "
    "W_Q W_Kᵀ have the same scores. Factorize that product."
)
def each_for_itself(W_query, W_key, d):
    (U, S, _), (V, R, _) = np.linalg.svd(W_query), np.linalg.svd(W_key)
    n = min(d, len(S), len(R))
    query, key = np.zeros((len(W_query), d)), np.zeros((len(W_query), d))
    query[:, :n], key[:, :n] = U[:, :n] * S[:n], V[:, :n] * R[:n]
    return query, key


task.mistake(
    "These are the original matrices, as wide as before.",
    lambda W_query, W_key, d: (W_query, W_key),
)


@task.mistake(
    "You compensated for the divisors, but columns were cut off, and with them a part of each "
    "score. Start from the matrix W_Q W_Kᵀ instead."
)
def cut_and_compensated(W_query, W_key, d):
    scale = (d / W_query.shape[1]) ** 0.25
    return scale * W_query[:, :d], scale * W_key[:, :d]


@task.mistake(
    "`eigh` is for symmetric matrices, and W_Q W_Kᵀ is one only if the two matrices are the same. "
    "Use the SVD."
)
def as_if_symmetric(W_query, W_key, d):
    table = W_query @ W_key.T * np.sqrt(d / W_query.shape[1])
    values, vectors = np.linalg.eigh(table)
    best = np.argsort(-np.abs(values))[:d]
    return vectors[:, best] * values[best], vectors[:, best]


@task.mistake(
    "Each matrix got an SVD of its own, so the columns of the two belong to different directions, "
    "and their products mean nothing. Factorize the product W_Q W_Kᵀ."
)
def two_factorizations(W_query, W_key, d):
    scale = (d / W_query.shape[1]) ** 0.25

    def narrow(W):
        U, S, _ = np.linalg.svd(W, full_matrices=False)
        return U[:, :d] * S[:d] * scale

    return narrow(W_query), narrow(W_key)


@task.harness
def harness(answer, W_query, W_key, d, x, y):
    """The scores of the narrow head for queries from x and keys from y."""
    import numpy as np

    found = answer(W_query, W_key, d)
    if found is None:
        return None
    if not isinstance(found, tuple | list) or len(found) != 2:
        raise ValueError("expected two matrices: for queries and for keys")
    narrow = [np.asarray(matrix, dtype=float) for matrix in found]
    for name, matrix in zip(("queries", "keys"), narrow, strict=True):
        if matrix.shape != (len(W_query), d):
            came = f"the matrix for {name} has shape {matrix.shape}"
            raise ValueError(f"{came}, not (d_model, d) = {(len(W_query), d)}")
    return x @ narrow[0] @ (y @ narrow[1]).T / np.sqrt(d)


@task.cases
def cases(seed):
    """One number a word, to check by hand; then tables of a lower rank than the head is wide."""
    rng = np.random.default_rng(seed)
    ones = np.ones((1, 2))
    found = [
        Case(
            (ones, ones, 1, ones[:, :1], 3 * ones[:, :1]),
            "d_model 1, from width 2 to 1",
            kind="ordinary cases",
        )
    ]
    for d_model, d_k, d in ((3, 5, 3), (6, 4, 2), (7, 6, 3), (5, 8, 4), (8, 5, 1)):
        W_query = rng.normal(size=(d_model, d_k))
        W_key = rng.normal(size=(d_model, d_k))
        if d < min(d_model, d_k):
            W_key = rng.normal(size=(d_model, d)) @ rng.normal(size=(d, d_k))
        x, y = rng.normal(size=(4, d_model)), rng.normal(size=(3, d_model))
        note = f"d_model {d_model}, from width {d_k} to {d}"
        found.append(Case((W_query, W_key, d, x, y), note, kind="ordinary cases"))
    return found


@task.diagnostic
def the_same_factor(args, result):
    """Whether all scores are off by one factor, which says what went wrong."""
    W_query, W_key, _, x, y = args
    right = x @ W_query @ (y @ W_key).T / np.sqrt(W_query.shape[1])
    if np.linalg.matrix_rank(right) < 2:
        return None  # then many mistakes look like a factor
    ratio = result / right
    if np.allclose(ratio, ratio.flat[0]) and not np.isclose(ratio.flat[0], 1.0):
        return f"All scores are {ratio.flat[0]:.4g} times what they should be."
    return None
