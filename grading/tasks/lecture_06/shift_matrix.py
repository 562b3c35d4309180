"""The matrix that moves every sinusoidal code by n places."""

import math

import numpy as np
import torch

from grading.author import Case, TaskFile

task = TaskFile(
    "implement",
    points=9,
    minutes=16,
    section="Sinusoidal positional encodings",
    outcome="show by numbers that one matrix leads from each sinusoidal code to the code three "
    "positions on, and that rotary scores depend on distance alone",
    forbidden=(
        "torch.linalg.lstsq",
        "torch.linalg.pinv",
        "torch.pinverse",
        "torch.Tensor.pinverse",
        "numpy.linalg.lstsq",
        "numpy.linalg.pinv",
    ),
    atol=1e-4,
    hints=(
        "The lecture's figure of the fitted matrix shows the form: blocks of 2 × 2 on the "
        "diagonal, zeros elsewhere. Which angle belongs to block i?",
        "For one hand, with a = ωt and b = ωn: (sin a, cos a) times the block must be "
        "(sin(a + b), cos(a + b)). The first column of the block makes the sine.",
    ),
)


# %% the cell
def shift_matrix(n, d_model):
    """The matrix (d_model, d_model) that maps the code of each position t to that of t + n."""
    # BEGIN SOLUTION
    M = torch.zeros(d_model, d_model, dtype=torch.float64)  # (d_model, d_model)
    for i in range(d_model // 2):
        angle = n * 10_000 ** (-2 * i / d_model)
        sin, cos = math.sin(angle), math.cos(angle)
        block = torch.tensor([[cos, -sin], [sin, cos]], dtype=torch.float64)  # (2, 2)
        M[2 * i : 2 * i + 2, 2 * i : 2 * i + 2] = block
    return M
    # END SOLUTION


# %%


def _codes(places, d_model):
    places = torch.as_tensor(places, dtype=torch.float64)
    speeds = 10_000 ** (-torch.arange(0, d_model, 2, dtype=torch.float64) / d_model)
    angles = places[:, None] * speeds
    return torch.stack([angles.sin(), angles.cos()], dim=-1).flatten(1)


@task.alternative
def by_steps(n, d_model):
    """The matrix of one step, as often as needed."""
    return torch.linalg.matrix_power(shift_matrix(1, d_model), n)


@task.alternative
def by_diagonals(n, d_model):
    """Three diagonals, in NumPy."""
    angles = n * 10_000 ** (-np.arange(0, d_model, 2) / d_model)
    beside = np.zeros(d_model - 1)
    beside[::2] = np.sin(angles)
    return np.diag(np.repeat(np.cos(angles), 2)) + np.diag(beside, -1) - np.diag(beside, 1)


task.mistake(
    "This moves n positions in the other direction. Codes are rows and are multiplied from the "
    "left; for columns you would need the transpose. In each pair the sine comes first. Write out "
    "sin(a + b) = sin a cos b + cos a sin b to see where the minus belongs.",
    lambda n, d_model: shift_matrix(n, d_model).T,
)
task.mistake(
    "This moves by one position, whatever n is. The angle is n times the speed.",
    lambda n, d_model: shift_matrix(1, d_model),
)
task.mistake(
    "`M ** n` raises each entry to the power of n. Moving n times means M @ M @ …, which is "
    "torch.linalg.matrix_power(M, n). Or use n times the angle from the start.",
    lambda n, d_model: shift_matrix(1, d_model) ** n,
)
task.mistake(
    "n times the matrix of one step makes codes n times as long. Multiply the angle by n instead.",
    lambda n, d_model: n * shift_matrix(1, d_model),
)


@task.mistake(
    "This is for codes with all sines on the left and all cosines on the right. Here sine and "
    "cosine of a hand are adjacent, so its block is at the rows and columns 2i and 2i + 1."
)
def for_two_halves(n, d_model):
    order = torch.cat([torch.arange(0, d_model, 2), torch.arange(1, d_model, 2)])
    return shift_matrix(n, d_model)[order][:, order]


@task.mistake(
    "The slow hands turn too far: the speed of hand i is 10000 to the power of −2i / d_model, "
    "and the 2 is missing."
)
def wrong_speeds(n, d_model):
    angles = n * 10_000 ** (-np.arange(d_model // 2) / d_model)
    return _of_angles(angles)


task.mistake(
    "All hands are rotated by n radians. That is right for the first one only: each has a speed "
    "of its own.",
    lambda n, d_model: _of_angles(np.full(d_model // 2, float(n))),
)


@task.mistake(
    "Both sines have the same sign, so the matrix is not a rotation: it does not keep lengths. "
    "One of the two has a minus."
)
def both_plus(n, d_model):
    M = shift_matrix(n, d_model)
    return M.tril() + M.tril(-1).T


def _of_angles(angles):
    beside = np.zeros(2 * len(angles) - 1)
    beside[::2] = np.sin(angles)
    return np.diag(np.repeat(np.cos(angles), 2)) + np.diag(beside, -1) - np.diag(beside, 1)


task.edit(
    "The 2 is counted twice: hand i turns by 10,000 to the power of −2i/d_model, where i counts "
    "the hands, not the columns.",
    "-2 * i / d_model",
    "-4 * i / d_model",
)

task.mistake(
    "Moving to the right works, but moving to the left does nothing. A loop over `range(n)`, for "
    "example, does nothing if n is negative. The angle n · speed may have either sign.",
    lambda n, d_model: shift_matrix(max(n, 0), d_model),
)
task.edit(
    "Sine and cosine are swapped in the blocks. With n = 0 nothing moves, so the matrix must be "
    "the identity matrix then.",
    "[[cos, -sin], [sin, cos]]",
    "[[sin, -cos], [cos, sin]]",
)
task.edit(
    "The hands were counted from 1, so each has the speed of the next one. Hand 0 turns by 1 "
    "radian per position.",
    "n * 10_000 ** (-2 * i / d_model)",
    "n * 10_000 ** (-2 * (i + 1) / d_model)",
)


@task.cases
def cases(seed):
    """One hand and one place, then farther, backward, and not at all."""
    rng = np.random.default_rng(seed)
    return [
        Case((1, 2), "one position to the right, one hand", kind="ordinary cases"),
        Case((int(rng.integers(3, 9)), 4), "several positions to the right", kind="ordinary cases"),
        Case((-int(rng.integers(2, 9)), 6), "several positions to the left", kind="ordinary cases"),
        Case((0, 8), "by no position at all", kind="edge cases"),
        Case((int(rng.integers(20, 50)), 10), "far to the right", kind="edge cases"),
    ]


@task.diagnostic
def moves_codes(args, result):
    """The code of a place times M is the code of the place n further on."""
    (n, d_model), M = args, np.asarray(result)
    if M.shape != (d_model, d_model):
        return None
    for t in (0, 5):
        start, end = _codes([t, t + n], d_model).numpy()
        if abs(start @ M - end).max() > 1e-3:
            if abs(start @ M - _codes([t - n], d_model).numpy()).max() < 1e-3:
                return (
                    f"The code of position {t} times M is that of position {t - n}, not of "
                    f"position {t + n}."
                )
            return f"The code of position {t} times M is not the code of position {t + n}."
    return None
