"""Sinusoidal codes by hand, for any places."""

import math

import numpy as np
import torch

from grading.author import Case, TaskFile

task = TaskFile(
    "implement",
    points=7,
    minutes=13,
    section="Sinusoidal positional encodings",
    outcome="build four positional encodings by hand (learned, sinusoidal, rotary, ALiBi), and "
    "say where in the model each one enters",
    forbidden=("helpers.positions.sinusoidal_codes",),
    atol=1e-4,
    hints=(
        "Compute the angles first, of shape (T, d_model / 2): position times speed. `places[:, "
        "None]` has the shape (T, 1).",
        "`codes[:, 0::2]` are the columns 0, 2, 4, … and can be assigned to.",
    ),
)


# %% the cell
def sinusoidal_encoding(places, d_model):
    """Sinusoidal codes (T, d_model) of the positions (T,)."""
    # BEGIN SOLUTION
    hands = torch.arange(d_model // 2, dtype=torch.float64)  # (d_model / 2,)
    angles = places[:, None] * 10_000 ** (-2 * hands / d_model)  # (T, d_model / 2)
    codes = torch.zeros(len(places), d_model, dtype=torch.float64)  # (T, d_model)
    codes[:, 0::2], codes[:, 1::2] = angles.sin(), angles.cos()
    return codes
    # END SOLUTION


# %%


@task.alternative
def by_loop(places, d_model):
    """One number after the other."""
    codes = torch.zeros(len(places), d_model, dtype=torch.float64)
    for row, t in enumerate(places.tolist()):
        for i in range(d_model // 2):
            angle = t / 10_000 ** (2 * i / d_model)
            codes[row, 2 * i], codes[row, 2 * i + 1] = math.sin(angle), math.cos(angle)
    return codes


@task.alternative
def by_stacking(places, d_model):
    """Pairs are stacked, then laid in a row; in single precision."""
    speeds = torch.exp(torch.arange(0, d_model, 2) * (-math.log(10_000) / d_model))
    angles = torch.outer(places.float(), speeds)
    return torch.stack([angles.sin(), angles.cos()], dim=-1).flatten(1)


@task.alternative
def in_numpy(places, d_model):
    """A cosine is a sine that is a quarter turn ahead."""
    features = np.arange(d_model)
    speeds = 10_000.0 ** (-(features - features % 2) / d_model)
    return np.sin(places.numpy()[:, None] * speeds + np.pi / 2 * (features % 2))


def _coded(places, d_model, speeds, sin_at=0):
    angles = places[:, None] * speeds
    codes = torch.zeros(len(places), d_model, dtype=torch.float64)
    codes[:, sin_at::2], codes[:, 1 - sin_at :: 2] = angles.sin(), angles.cos()
    return codes


def _speeds(d_model):
    return 10_000 ** (-torch.arange(0, d_model, 2, dtype=torch.float64) / d_model)


@task.mistake(
    "All sines are on the left and all cosines on the right. Some programs do this, but here they "
    "alternate: sine and cosine of hand 0, sine and cosine of hand 1, …"
)
def two_halves(places, d_model):
    angles = places[:, None] * _speeds(d_model)
    return torch.cat([angles.sin(), angles.cos()], dim=1)


task.mistake(
    "Sine and cosine are swapped: in each pair the sine comes first.",
    lambda places, d_model: _coded(places, d_model, _speeds(d_model), sin_at=1),
)
task.mistake(
    "The slow hands turn too fast: the exponent of hand i is −2i / d_model, and the 2 is missing. "
    "(If you count features 0, 2, 4, … the 2 is already included.)",
    lambda places, d_model: _coded(places, d_model, _speeds(d_model).sqrt()),
)
task.mistake(
    "The slow hands turn too slowly: there is one 2 too many in the exponent. If you count "
    "features 0, 2, 4, … the 2 is already included.",
    lambda places, d_model: _coded(places, d_model, _speeds(d_model) ** 2),
)
task.mistake(
    "Each hand is faster than the one before. The exponent needs its minus sign: the first hand "
    "is the fastest.",
    lambda places, d_model: _coded(places, d_model, 1 / _speeds(d_model)),
)


@task.mistake(
    "The cosine of each pair turns at another speed than its sine, so the two no longer form the "
    "hand of a clock. The exponent counts hands, and the features 2i and 2i + 1 belong to the "
    "same hand."
)
def a_speed_for_each_feature(places, d_model):
    features = torch.arange(d_model, dtype=torch.float64)
    angles = places[:, None] * 10_000 ** (-features / d_model)
    return torch.where(features % 2 == 0, angles.sin(), angles.cos())


task.mistake(
    "The rows were encoded as the positions 0, 1, 2, … The positions are given, and may come in "
    "any order and with gaps.",
    lambda places, d_model: sinusoidal_encoding(torch.arange(len(places)), d_model),
)
task.mistake(
    "Every hand is one step ahead. Counting begins at position 0, where all sines are 0 and all "
    "cosines are 1.",
    lambda places, d_model: sinusoidal_encoding(places + 1, d_model),
)
task.mistake(
    "All hands turn at the same speed. Hand i turns by 10000 to the power of −2i / d_model for "
    "each position.",
    lambda places, d_model: _coded(places, d_model, torch.ones(d_model // 2, dtype=torch.float64)),
)

task.edit(
    "The hands were counted from 1, so each has the speed of the next one. Hand 0 turns by 1 "
    "radian per position.",
    "torch.arange(d_model // 2,",
    "torch.arange(1, d_model // 2 + 1,",
)
task.edit(
    "The base of the powers is not 10,000, so the slow hands turn too fast. `torch.exp` computes "
    "powers of e.",
    "10_000 ** (-2 * hands / d_model)",
    "torch.exp(-2 * hands / d_model)",
)


@task.mistake(
    "This has a column for each position. Return a row for each position: shape (T, d_model)."
)
def columns(places, d_model):
    return sinusoidal_encoding(places, d_model).T


task.edit(
    "The codes were put into a tensor of whole numbers, which drops everything after the decimal "
    "point.",
    "codes = torch.zeros(len(places), d_model, dtype=torch.float64)",
    "codes = torch.zeros(len(places), d_model, dtype=torch.int64)",
)


@task.cases
def cases(seed):
    """The lecture's own small table, then places out of order and with gaps."""
    generator = torch.Generator().manual_seed(seed)

    def places(n):
        return torch.randperm(60, generator=generator)[:n]

    return [
        Case(
            (torch.tensor([0, 1, 2]), 4),
            "the positions 0, 1 and 2, four features",
            kind="ordinary cases",
        ),
        Case((places(5), 8), "positions out of order", kind="ordinary cases"),
        Case((places(1), 6), "one position alone", kind="edge cases"),
        Case((places(7), 2), "one hand alone", kind="edge cases"),
        Case((torch.tensor([3, 3, 40]), 10), "a position that occurs twice", kind="edge cases"),
    ]


@task.diagnostic
def pairs_on_the_circle(args, result):
    """Sine and cosine of one angle have squares that sum to 1."""
    codes = np.asarray(result)
    if codes.shape != (len(args[0]), args[1]):
        return None
    lengths = codes[:, 0::2] ** 2 + codes[:, 1::2] ** 2
    if abs(lengths - 1).max() > 1e-3:
        row, hand = np.argwhere(abs(lengths - 1) > 1e-3)[0]
        return (
            f"The features {2 * hand} and {2 * hand + 1} of row {row} are not sine and cosine of "
            "one angle: their squares do not sum to 1."
        )
    return _odd_speed(np.asarray(args[0]), codes)


def _odd_speed(places, codes):
    """The first hand that does not turn at its speed, if the rows are positions 0, 1, 2, …"""
    if len(places) < 2 or places[0] != 0 or places[1] != 1 or abs(codes[0, 0::2]).max() > 1e-6:
        return None
    turned = np.arctan2(codes[1, 0::2], codes[1, 1::2])
    wanted = 10_000 ** (-2 * np.arange(len(turned)) / codes.shape[1])
    odd = np.flatnonzero(abs(turned - wanted) > 1e-6 + 0.01 * wanted)
    if not len(odd):
        return None
    hand = odd[0]
    return (
        f"Hand {hand} turns by {turned[hand]:.3g} radians per position; it should turn by "
        f"{wanted[hand]:.3g}. Look at its exponent, −2i / d_model."
    )
