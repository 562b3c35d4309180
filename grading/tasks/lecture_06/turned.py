"""Rotary positions by hand: turn each pair of features by its place."""

import numpy as np
import torch

from grading.task import Case, Mistake, Task


def _angles(places, width):
    speeds = 10_000 ** (-torch.arange(0, width, 2, dtype=torch.float64) / width)
    return places[:, None] * speeds


def turned(x, places):
    """The model answer."""
    angles = _angles(places, x.shape[-1])
    cos, sin = angles.cos(), angles.sin()
    a, b = x[..., 0::2], x[..., 1::2]
    return torch.stack([a * cos - b * sin, a * sin + b * cos], dim=-1).flatten(-2)


def by_complex_numbers(x, places):
    """Right, in another way: a turn is a multiplication by a complex number of length 1."""
    angles = _angles(places, x.shape[-1])
    pairs = torch.view_as_complex(x.unflatten(-1, (-1, 2)).contiguous())
    product = pairs * torch.polar(torch.ones_like(angles), angles)
    return torch.view_as_real(product).flatten(-2)


def by_loop(x, places):
    """Right, in another way: pair by pair, each feature at its own column."""
    out, d_k = torch.zeros_like(x), x.shape[-1]
    for i in range(0, d_k, 2):
        angle = places * 10_000 ** (-i / d_k)
        out[..., i] = x[..., i] * angle.cos() - x[..., i + 1] * angle.sin()
        out[..., i + 1] = x[..., i] * angle.sin() + x[..., i + 1] * angle.cos()
    return out


def by_matrices(x, places):
    """Right, in another way: a block matrix for each place, in single precision."""
    rows = []
    for n, t in enumerate(places.tolist()):
        angles = _angles(torch.tensor([t]), x.shape[-1])[0]
        blocks = [torch.tensor([[a.cos(), a.sin()], [-a.sin(), a.cos()]]) for a in angles]
        rows.append(x[..., n, :].float() @ torch.block_diag(*blocks).float())
    return torch.stack(rows, dim=-2)


def _by(x, angles):
    cos, sin = angles.cos(), angles.sin()
    a, b = x[..., 0::2], x[..., 1::2]
    return torch.stack([a * cos - b * sin, a * sin + b * cos], dim=-1).flatten(-2)


def half_apart(x, places):
    """Wrong: feature i goes with feature i + d_k / 2."""
    angles = _angles(places, x.shape[-1])
    cos, sin = angles.cos(), angles.sin()
    a, b = x.chunk(2, dim=-1)
    return torch.cat([a * cos - b * sin, a * sin + b * cos], dim=-1)


def pairs_taken_apart(x, places):
    """Wrong: pairs are turned rightly, and the results are put into two halves."""
    out = turned(x, places)
    return torch.cat([out[..., 0::2], out[..., 1::2]], dim=-1)


def other_way(x, places):
    """Wrong: turned back."""
    return turned(x, -places)


def overwritten(x, places):
    """Wrong: the second line uses what the first has overwritten."""
    angles = _angles(places, x.shape[-1])
    out = x.clone()
    out[..., 0::2] = out[..., 0::2] * angles.cos() - out[..., 1::2] * angles.sin()
    out[..., 1::2] = out[..., 0::2] * angles.sin() + out[..., 1::2] * angles.cos()
    return out


def no_minus(x, places):
    """Wrong: both sums have a plus."""
    angles = _angles(places, x.shape[-1])
    cos, sin = angles.cos(), angles.sin()
    a, b = x[..., 0::2], x[..., 1::2]
    return torch.stack([a * cos + b * sin, a * sin + b * cos], dim=-1).flatten(-2)


def minus_in_the_second(x, places):
    """Wrong: the second sum has the minus, too, and on the wrong side."""
    angles = _angles(places, x.shape[-1])
    cos, sin = angles.cos(), angles.sin()
    a, b = x[..., 0::2], x[..., 1::2]
    return torch.stack([a * cos - b * sin, b * cos - a * sin], dim=-1).flatten(-2)


def two_conventions(x, places):
    """Wrong: neighbours are pairs in the features, and halves in the angles."""
    angles = _angles(places, x.shape[-1]).repeat(1, 2)
    partner = torch.stack([-x[..., 1::2], x[..., 0::2]], dim=-1).flatten(-2)
    return x * angles.cos() + partner * angles.sin()


def codes_multiplied(x, places):
    """Wrong: each feature times its sinusoidal code."""
    angles = _angles(places, x.shape[-1])
    return x * torch.stack([angles.cos(), angles.sin()], dim=-1).flatten(-2)


def one_speed(x, places):
    """Wrong: all pairs are turned by the same angle."""
    return _by(x, places[:, None].double())


def exponent_halved(x, places):
    """Wrong: the 2 in the exponent is missing."""
    hands = torch.arange(x.shape[-1] // 2, dtype=torch.float64)
    return _by(x, places[:, None] * 10_000 ** (-hands / x.shape[-1]))


def exponent_doubled(x, places):
    """Wrong: a 2 too many in the exponent."""
    features = torch.arange(0, x.shape[-1], 2, dtype=torch.float64)
    return _by(x, places[:, None] * 10_000 ** (-2 * features / x.shape[-1]))


def numbers_of_the_rows(x, places):
    """Wrong: 0, 1, 2, … whatever the places are."""
    return turned(x, torch.arange(x.shape[-2]))


def cases(seed):
    """The arrow of the lecture; then heads and a batch, with sizes that are all different."""
    generator = torch.Generator().manual_seed(seed)

    def draw(*shape):
        return torch.randn(shape, dtype=torch.float64, generator=generator)

    arrow = torch.tensor([[1.0, 0.0], [1.0, 0.0]], dtype=torch.float64)
    return [
        Case((arrow, torch.tensor([0, 2])), "the arrow (1, 0) at the places 0 and 2"),
        Case((draw(3, 4), torch.tensor([0, 1, 2])), "two pairs"),
        Case((draw(2, 3, 5, 6), torch.arange(5)), "a batch of several heads"),
        Case((draw(3, 4, 8), torch.randperm(60, generator=generator)[:4]), "places with gaps"),
        Case((draw(2, 1, 10), torch.tensor([50])), "one word, far from the beginning"),
    ]


def lengths_are_kept(args, result):
    """A turn changes no length, and place 0 nothing at all."""
    x, out = np.asarray(args[0]), np.asarray(result)
    if out.shape != x.shape:
        return None
    if abs(np.linalg.norm(out, axis=-1) - np.linalg.norm(x, axis=-1)).max() > 1e-3:
        return "A vector has changed its length, and a turn changes no length."
    at_zero = np.asarray(args[1]) == 0
    if abs(out - x)[..., at_zero, :].max(initial=0.0) > 1e-3:
        return "At place 0 nothing is turned, but a vector there has changed."
    return None


TASK = Task(
    name="turned",
    lecture=6,
    kind="implement",
    points=9,
    difficulty=2,
    minutes=10,
    outcome="build four position encodings by hand (learned, sinusoidal, rotary, ALiBi), and say "
    "where in the model each one enters",
    reference=turned,
    also_right=(by_complex_numbers, by_loop, by_matrices),
    cases=cases,
    properties=(lengths_are_kept,),
    forbidden=("helpers.positions._turn", "helpers.positions.RotaryPositions.rotate"),
    atol=1e-4,
    mistakes=(
        Mistake(
            half_apart,
            "Feature i was paired with feature i + d_k / 2. Many models do so, and their scores "
            "depend on distance alone just as well. But here neighbours are pairs: (0, 1), (2, 3), "
            "… Weights trained with one pairing do not work with the other.",
        ),
        Mistake(
            pairs_taken_apart,
            "The numbers are right, but not where they stand: all first features of the pairs on "
            "the left, all second ones on the right. Each must go back to its own column.",
        ),
        Mistake(
            other_way,
            "This turns the other way. (1, 0) at place 2 must become (cos 2, sin 2), which is "
            "(−0.42, 0.91). Which of the two lines has the minus?",
        ),
        Mistake(
            overwritten,
            "The second line uses the first feature of the pair *after* it was turned. Keep both "
            "old features until both new ones are computed.",
        ),
        Mistake(
            no_minus,
            "Both sums have a plus. That is no turn: it changes lengths. One of them has a minus.",
        ),
        Mistake(
            minus_in_the_second,
            "The second feature of each pair is b cos α − a sin α here. In a turn it is "
            "b cos α + a sin α: only the first of the two has a minus.",
        ),
        Mistake(
            two_conventions,
            "Neighbouring features are paired, but their angles are laid out for halves: angle 0, "
            "1, …, 0, 1, … Both features of a pair need the same angle, so each angle comes twice "
            "side by side.",
        ),
        Mistake(
            codes_multiplied,
            "Each feature was multiplied by its own cosine or sine. In a turn the two features of "
            "a pair mix: each new one is made of both old ones.",
        ),
        Mistake(
            one_speed,
            "All pairs turn by the same angle. Pair i turns by place · 10000 to the power of "
            "−2i / d_k.",
        ),
        Mistake(
            exponent_halved,
            "The slow pairs turn too far: the exponent of pair i is −2i / d_k, and the 2 is "
            "missing.",
        ),
        Mistake(
            exponent_doubled,
            "The slow pairs turn too little: there is a 2 too many in the exponent. If your count "
            "goes 0, 2, 4, … it holds the 2 already.",
        ),
        Mistake(
            numbers_of_the_rows,
            "The words were turned as if they stood at the places 0, 1, 2, … The places are given.",
        ),
    ),
    hints=(
        "The angles have the shape (T, d_k / 2). So have the first features of all pairs, "
        "`x[..., 0::2]`, up to the axes in front.",
        "Compute both new features from the old ones before you put anything back.",
    ),
)
