"""Other weights with the same output."""

import torch

from grading.author import Case, TaskFile

task = TaskFile(
    "implement",
    points=10,
    minutes=20,
    section="Other weights, the same output",
    outcome='build a counterexample to the sentence "the model looked there, so that is why", and '
    "say what an attention map does prove",
    hints=(
        "A change of the weights that keeps the context vector is orthogonal to each column of "
        "the values. What must it be orthogonal to, to keep the sum?",
        "`torch.linalg.svd(M.T)[2]` has rows that are orthogonal to all columns of M, from row "
        "M.shape[1] on.",
        "Follow such a row until the first weight is 0. If no weight has changed by .01 by then, "
        "go in the other direction, or along another row.",
    ),
)


# %% the cell
def equivalent_weights(weights, values):
    """Other weights (T,) with the same context as weights (T,) of values (T, d_v)."""
    # BEGIN SOLUTION
    d_v = values.shape[1]
    kept = torch.cat([values, torch.ones_like(values[:, :1])], dim=1)  # (T, d_v + 1)
    _, _, Vt = torch.linalg.svd(kept.T)  # (T, T)
    moves = []
    for row in Vt[d_v + 1 :]:  # (T,): moves neither the context nor the sum
        for direction in (row, -row):
            falls = direction < 0
            step = (weights[falls] / -direction[falls]).min()  # until the first weight is 0
            moves.append(step * direction)
    return weights + max(moves, key=lambda move: move.abs().max())
    # END SOLUTION


# %%


@task.alternative
def by_other_end(weights, values):
    """From the last row on, and the first way that leads far enough, not to its end."""
    rows = torch.cat([values, torch.ones_like(values[:, :1])], dim=1).T
    for row in torch.linalg.svd(rows)[2].flip(0):
        for direction in (-row, row):
            move = 0.9 * _until_zero(weights, direction)
            if move.abs().max() >= 0.01:
                return weights + move
    return None


def _until_zero(weights, direction):
    """The move of the weights along a direction until the first of them is 0."""
    falls = direction < 0
    return (weights[falls] / -direction[falls]).min() * direction


task.mistake(
    "No weight has changed by 0.01: these are the same weights, or almost. Find others.",
    lambda weights, values: weights.clone(),
)


@task.mistake(
    "Only one direction is tried, and a weight close to 0 blocks it at once. Try the opposite one, "
    "and other rows."
)
def one_way(weights, values, place=None, sign=1):
    """Along one row of `Vt` only, in one direction."""
    kept = torch.cat([values, torch.ones_like(values[:, :1])], dim=1)
    place = kept.shape[1] if place is None else place
    return weights + _until_zero(weights, sign * torch.linalg.svd(kept.T)[2][place])


@task.mistake(
    "The context vector has changed: the change must be orthogonal to each column of the values. "
    "(Of the rows of `Vt` only those *after* the number of columns are, and only if none is cut "
    "off.)"
)
def in_other_order(weights, values):
    return weights.roll(1)


@task.mistake(
    "Some weights are negative, which softmax never returns. Stop before the first one falls "
    "below 0."
)
def too_far(weights, values):
    return weights + 3 * (equivalent_weights(weights, values) - weights)


@task.mistake(
    "The context vector is a multiple of the right one: the weights were divided by their sum, and "
    "that scales the context, too. Choose a direction that keeps the sum, so that nothing has to "
    "be divided."
)
def rescaled(weights, values):
    direction = torch.linalg.svd(values.T)[2][values.shape[1]]
    direction = direction if direction.min() < 0 else -direction
    other = (weights + _until_zero(weights, direction)).clamp(min=0)
    return other / other.sum()


@task.mistake(
    "A weight that fell below 0 was set to 0, and that changes the sum and the context. Stop where "
    "the first weight reaches 0."
)
def cut_at_zero(weights, values):
    direction = torch.linalg.svd(torch.cat([values, torch.ones_like(values[:, :1])], 1).T)[2][-1]
    return (weights + 0.1 * direction / direction.abs().max()).clamp(min=0)


@task.mistake("The weights do not sum to 1: the direction must keep the sum, too.")
def any_sum(weights, values):
    direction = torch.linalg.svd(values.T)[2][-1]
    direction = direction * direction.sum().sign()
    falls = direction < 0
    step = (weights[falls] / -direction[falls]).min() if falls.any() else 0.3
    return weights + step * direction


@task.mistake(
    "This is a direction, not a row of weights: add it to the given weights, with a step size."
)
def direction_only(weights, values):
    return equivalent_weights(weights, values) - weights


@task.mistake(
    "Neither the context vector nor the sum is kept. A direction keeps both if it is orthogonal "
    "to the values and to a column of ones. Such rows of `Vt` come after the number of columns, "
    "and only if none was cut off. Do not rescale the weights afterwards."
)
def doubled(weights, values):
    return 2 * equivalent_weights(weights, values)


def _least(weights, values):
    """The shortest vector with this context and this sum, negative numbers among it or not."""
    kept = torch.cat([values, torch.ones_like(values[:, :1])], dim=1)  # (T, d_v + 1)
    return torch.linalg.lstsq(kept.T, weights @ kept).solution


@task.harness
def harness(answer, weights, values):
    """What the new weights give, and whether they are weights, and others."""
    import torch

    found = answer(weights, values)
    if found is None:
        return None
    found = torch.as_tensor(found, dtype=values.dtype)
    if found.shape != weights.shape:
        raise ValueError(f"expected weights of shape {tuple(weights.shape)}")
    new, old = found @ values, weights @ values  # one is a multiple of the other if these agree:
    along = torch.allclose(new @ new * old, new @ old * new, 1e-4, 1e-5)
    return {
        "weights": len(found),
        "a multiple of the same context": bool(along),
        "the same context": bool(torch.allclose(found @ values, weights @ values, 1e-4, 1e-5)),
        "a sum of 1": bool((found.sum() - 1).abs() < 1e-5),
        "a weight below zero": bool(found.min() < -1e-9),
        "a weight moved by 0.01": bool((found - weights).abs().max() > 0.01 - 1e-9),
    }


@task.cases
def cases(seed):
    """Four words with one number each; then more."""
    generator = torch.Generator().manual_seed(1000 + seed)  # an answer may draw with seed 0, too
    found = []
    while len(found) < 4:
        T, d_v = ((4, 1), (6, 2), (9, 4), (12, 3))[len(found)]
        peaked = 2 if len(found) == 3 else 1  # then the shortest has negative numbers
        drawn = (peaked * torch.randn(T, dtype=torch.float64, generator=generator)).softmax(dim=0)
        weights = 0.03 + (1 - 0.03 * T) * drawn  # each can move: by 0.03, until it is 0
        values = torch.randn(T, d_v, dtype=torch.float64, generator=generator)
        if peaked == 1 or _least(weights, values).min() < -0.01:
            found.append(
                Case((weights, values), f"{T} words, values of width {d_v}", kind="ordinary cases")
            )
    note = "7 words, some weights close to 0: one direction in which nothing can move"
    for place, sign in ((3, 1), (3, -1), (-1, 1), (-1, -1)):
        found.append(Case(_blocked(generator, place, sign), note, kind="weights close to 0"))
    return found


def _blocked(generator, place, sign):
    """Weights and values with which one row of `Vt` leads nowhere in one direction."""
    while True:
        values = torch.randn(7, 2, dtype=torch.float64, generator=generator)
        weights = torch.rand(7, dtype=torch.float64, generator=generator) + 0.2
        weights[torch.randperm(7, generator=generator)[:2]] = 0.005
        weights = weights / weights.sum()
        blocked = one_way(weights, values, place, sign)
        moved = equivalent_weights(weights, values)
        near, far = (((new - weights).abs().max()) for new in (blocked, moved))
        if near < 0.006 and far > 0.03:
            return weights, values


@task.diagnostic
def what_does_not_hold(args, result):
    """The first of the four conditions that is not met."""
    if not result["the same context"]:
        return "The new weights give another context vector."
    if not result["a sum of 1"]:
        return "The new weights do not sum to 1."
    if result["a weight below zero"]:
        return "A weight is below zero; none may be."
    if not result["a weight moved by 0.01"]:
        return "No weight has moved by 0.01."
    return None
