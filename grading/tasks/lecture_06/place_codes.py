"""Sinusoidal codes by hand, for any places."""

import math

import numpy as np
import torch

from grading.task import Case, Mistake, Task


def place_codes(places, d_model):
    """The model answer."""
    hands = torch.arange(d_model // 2, dtype=torch.float64)
    angles = places[:, None] * 10_000 ** (-2 * hands / d_model)
    codes = torch.zeros(len(places), d_model, dtype=torch.float64)
    codes[:, 0::2], codes[:, 1::2] = angles.sin(), angles.cos()
    return codes


def by_loop(places, d_model):
    """Right, in another way: one number after the other."""
    codes = torch.zeros(len(places), d_model, dtype=torch.float64)
    for row, t in enumerate(places.tolist()):
        for i in range(d_model // 2):
            angle = t / 10_000 ** (2 * i / d_model)
            codes[row, 2 * i], codes[row, 2 * i + 1] = math.sin(angle), math.cos(angle)
    return codes


def by_stacking(places, d_model):
    """Right, in another way: pairs are stacked, then laid in a row; in single precision."""
    speeds = torch.exp(torch.arange(0, d_model, 2) * (-math.log(10_000) / d_model))
    angles = torch.outer(places.float(), speeds)
    return torch.stack([angles.sin(), angles.cos()], dim=-1).flatten(1)


def in_numpy(places, d_model):
    """Right, in another way: a cosine is a sine that is a quarter turn ahead."""
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


def two_halves(places, d_model):
    """Wrong: all sines, then all cosines."""
    angles = places[:, None] * _speeds(d_model)
    return torch.cat([angles.sin(), angles.cos()], dim=1)


def cosine_first(places, d_model):
    """Wrong: sine and cosine of each pair have changed places."""
    return _coded(places, d_model, _speeds(d_model), sin_at=1)


def exponent_halved(places, d_model):
    """Wrong: the 2 in the exponent is missing."""
    return _coded(places, d_model, _speeds(d_model).sqrt())


def exponent_doubled(places, d_model):
    """Wrong: the number of the feature is doubled, though it is twice that of the hand already."""
    return _coded(places, d_model, _speeds(d_model) ** 2)


def exponent_without_sign(places, d_model):
    """Wrong: each hand is faster than the one before."""
    return _coded(places, d_model, 1 / _speeds(d_model))


def a_speed_for_each_feature(places, d_model):
    """Wrong: the cosine of a pair has another speed than its sine."""
    features = torch.arange(d_model, dtype=torch.float64)
    angles = places[:, None] * 10_000 ** (-features / d_model)
    return torch.where(features % 2 == 0, angles.sin(), angles.cos())


def numbers_of_the_rows(places, d_model):
    """Wrong: 0, 1, 2, … whatever the places are."""
    return place_codes(torch.arange(len(places)), d_model)


def counted_from_one(places, d_model):
    """Wrong: every hand is one step ahead."""
    return place_codes(places + 1, d_model)


def one_hand(places, d_model):
    """Wrong: all hands have the speed of the first."""
    return _coded(places, d_model, torch.ones(d_model // 2, dtype=torch.float64))


def columns(places, d_model):
    """Wrong: a column for each place."""
    return place_codes(places, d_model).T


def cases(seed):
    """The lecture's own small table, then places out of order and with gaps."""
    generator = torch.Generator().manual_seed(seed)

    def places(n):
        return torch.randperm(60, generator=generator)[:n]

    return [
        Case((torch.tensor([0, 1, 2]), 4), "the places 0, 1 and 2, four features"),
        Case((places(5), 8), "places out of order"),
        Case((places(1), 6), "one place alone"),
        Case((places(7), 2), "one hand alone"),
        Case((torch.tensor([3, 3, 40]), 10), "a place that comes twice"),
    ]


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
    return None


TASK = Task(
    name="place_codes",
    lecture=6,
    kind="implement",
    points=7,
    difficulty=1,
    minutes=8,
    outcome="build four position encodings by hand (learned, sinusoidal, rotary, ALiBi), and say "
    "where in the model each one enters",
    reference=place_codes,
    also_right=(by_loop, by_stacking, in_numpy),
    cases=cases,
    properties=(pairs_on_the_circle,),
    forbidden=("helpers.positions.sinusoidal_codes",),
    atol=1e-4,
    mistakes=(
        Mistake(
            two_halves,
            "All sines stand on the left and all cosines on the right. Some programs do so, but "
            "here they stand in pairs: sine and cosine of hand 0, sine and cosine of hand 1, …",
        ),
        Mistake(
            cosine_first,
            "Sine and cosine have changed places: in each pair the sine comes first.",
        ),
        Mistake(
            exponent_halved,
            "The slow hands turn too fast: the exponent of hand i is −2i / d_model, and the 2 is "
            "missing. (Where you count features 0, 2, 4, … the 2 is in the count already.)",
        ),
        Mistake(
            exponent_doubled,
            "The slow hands turn too slowly: there is a 2 too many in the exponent. If your "
            "count goes 0, 2, 4, … it holds the 2 already.",
        ),
        Mistake(
            exponent_without_sign,
            "Each hand is faster than the one before. The exponent needs its minus sign: the first "
            "hand is the fastest.",
        ),
        Mistake(
            a_speed_for_each_feature,
            "The cosine of each pair turns at another speed than its sine. Then they are no hand "
            "of a clock any more. The exponent counts hands, and the features 2i and 2i + 1 "
            "belong to the same one.",
        ),
        Mistake(
            numbers_of_the_rows,
            "The rows were coded as the places 0, 1, 2, … The places are given, and may come in "
            "any order and with gaps.",
        ),
        Mistake(
            counted_from_one,
            "Every hand is one step ahead. Place 0 is a place too: there all sines are 0 and all "
            "cosines are 1.",
        ),
        Mistake(
            one_hand,
            "All hands turn at the same speed. Hand i turns by 10000 to the power of "
            "−2i / d_model for each place.",
        ),
        Mistake(
            columns,
            "This has a column for each place. A row for each place is wanted: shape (T, d_model).",
        ),
    ),
    hints=(
        "First the angles alone, of shape (T, d_model / 2): place times speed. "
        "`places[:, None]` has the shape (T, 1).",
        "`codes[:, 0::2]` are the columns 0, 2, 4, … and can be assigned to.",
    ),
)
