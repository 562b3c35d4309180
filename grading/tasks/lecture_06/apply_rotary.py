"""Rotary positions by hand: turn each pair of features by its place."""

import numpy as np
import torch

from grading.author import Case, TaskFile

task = TaskFile(
    "implement",
    points=9,
    minutes=16,
    section="Rotary position embeddings",
    outcome="build four positional encodings by hand (learned, sinusoidal, rotary, ALiBi), and "
    "say where in the model each one enters",
    forbidden=("helpers.positions._rotate_pairs", "helpers.positions.RotaryPositions.rotate"),
    atol=1e-4,
    hints=(
        "The angles have the shape (T, d_k / 2). The first features of all pairs, `x[..., 0::2]`, "
        "have the same shape, apart from the leading axes.",
        "Compute both new features from the old ones before you write anything back.",
    ),
)


def _angles(places, width):
    speeds = 10_000 ** (-torch.arange(0, width, 2, dtype=torch.float64) / width)
    return places[:, None] * speeds


# %% the cell
def apply_rotary(x, places):
    """The vectors x (…, T, d_k), each rotated according to its position; places (T,)."""
    # BEGIN SOLUTION
    d_k = x.shape[-1]
    speeds = 10_000 ** (-torch.arange(0, d_k, 2, dtype=torch.float64) / d_k)  # (d_k / 2,)
    angles = places[:, None] * speeds  # (T, d_k / 2)
    cos, sin = angles.cos(), angles.sin()  # (T, d_k / 2) each
    a, b = x[..., 0::2], x[..., 1::2]  # (…, T, d_k / 2) each
    pairs = torch.stack([a * cos - b * sin, a * sin + b * cos], dim=-1)  # (…, T, d_k / 2, 2)
    return pairs.flatten(-2)  # (…, T, d_k)
    # END SOLUTION


# %%


@task.alternative
def by_complex_numbers(x, places):
    """A turn is a multiplication by a complex number of length 1."""
    angles = _angles(places, x.shape[-1])
    pairs = torch.view_as_complex(x.unflatten(-1, (-1, 2)).contiguous())
    product = pairs * torch.polar(torch.ones_like(angles), angles)
    return torch.view_as_real(product).flatten(-2)


@task.alternative
def by_loop(x, places):
    """Pair by pair, each feature at its own column."""
    out, d_k = torch.zeros_like(x), x.shape[-1]
    for i in range(0, d_k, 2):
        angle = places * 10_000 ** (-i / d_k)
        out[..., i] = x[..., i] * angle.cos() - x[..., i + 1] * angle.sin()
        out[..., i + 1] = x[..., i] * angle.sin() + x[..., i + 1] * angle.cos()
    return out


@task.alternative
def by_matrices(x, places):
    """A block matrix for each place, in single precision."""
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


@task.mistake(
    "Feature i was paired with feature i + d_k / 2. Many models do so, and their scores depend "
    "only on distance just as well. But here neighbours are pairs: (0, 1), (2, 3), … Weights "
    "trained with one pairing do not work with the other."
)
def half_apart(x, places):
    angles = _angles(places, x.shape[-1])
    cos, sin = angles.cos(), angles.sin()
    a, b = x.chunk(2, dim=-1)
    return torch.cat([a * cos - b * sin, a * sin + b * cos], dim=-1)


@task.mistake(
    "The numbers are right, but their order is not: all first features of the pairs are on the "
    "left, all second ones on the right. Put each back into its own column."
)
def pairs_taken_apart(x, places):
    out = apply_rotary(x, places)
    return torch.cat([out[..., 0::2], out[..., 1::2]], dim=-1)


task.mistake(
    "This rotates in the other direction. (1, 0) at position 2 must become (cos 2, sin 2), which "
    "is (−0.42, 0.91). Which of the two lines has the minus?",
    lambda x, places: apply_rotary(x, -places),
)


@task.mistake(
    "The second line uses the first feature of the pair *after* the rotation. Keep both old "
    "features until both new ones are computed."
)
def overwritten(x, places):
    angles = _angles(places, x.shape[-1])
    out = x.clone()
    out[..., 0::2] = out[..., 0::2] * angles.cos() - out[..., 1::2] * angles.sin()
    out[..., 1::2] = out[..., 0::2] * angles.sin() + out[..., 1::2] * angles.cos()
    return out


@task.mistake(
    "Both sums have a plus. That is not a rotation: it changes lengths. One of them has a minus."
)
def no_minus(x, places):
    angles = _angles(places, x.shape[-1])
    cos, sin = angles.cos(), angles.sin()
    a, b = x[..., 0::2], x[..., 1::2]
    return torch.stack([a * cos + b * sin, a * sin + b * cos], dim=-1).flatten(-2)


@task.mistake(
    "The second feature of each pair is b cos α − a sin α here. In a rotation it is b cos α + a "
    "sin α: only the first of the two has a minus."
)
def minus_in_the_second(x, places):
    angles = _angles(places, x.shape[-1])
    cos, sin = angles.cos(), angles.sin()
    a, b = x[..., 0::2], x[..., 1::2]
    return torch.stack([a * cos - b * sin, b * cos - a * sin], dim=-1).flatten(-2)


@task.mistake(
    "Neighbouring features are paired, but their angles are in the order for halves: angle 0, 1, "
    "…, 0, 1, … Both features of a pair need the same angle, so each angle occurs twice in a row."
)
def two_conventions(x, places):
    angles = _angles(places, x.shape[-1]).repeat(1, 2)
    partner = torch.stack([-x[..., 1::2], x[..., 0::2]], dim=-1).flatten(-2)
    return x * angles.cos() + partner * angles.sin()


@task.mistake(
    "Each feature was multiplied by its own cosine or sine. In a rotation the two features of a "
    "pair mix: each new one is computed from both old ones."
)
def codes_multiplied(x, places):
    angles = _angles(places, x.shape[-1])
    return x * torch.stack([angles.cos(), angles.sin()], dim=-1).flatten(-2)


task.mistake(
    "All pairs are rotated by the same angle. Pair i is rotated by position · 10000 to the power "
    "of −2i / d_k.",
    lambda x, places: _by(x, places[:, None].double()),
)


@task.mistake(
    "The slow pairs are rotated too far: the exponent of pair i is −2i / d_k, and the 2 is missing."
)
def exponent_halved(x, places):
    hands = torch.arange(x.shape[-1] // 2, dtype=torch.float64)
    return _by(x, places[:, None] * 10_000 ** (-hands / x.shape[-1]))


@task.mistake(
    "The slow pairs are rotated too little: there is one 2 too many in the exponent. If you count "
    "features 0, 2, 4, … the 2 is already included."
)
def exponent_doubled(x, places):
    features = torch.arange(0, x.shape[-1], 2, dtype=torch.float64)
    return _by(x, places[:, None] * 10_000 ** (-2 * features / x.shape[-1]))


task.mistake(
    "These are the words rotated for the positions 0, 1, 2, … and not for the given ones.",
    lambda x, places: apply_rotary(x, torch.arange(x.shape[-2])),
)

task.mistake(
    "The pairs were counted from 1, so each has the speed of the next one. Pair 0 is rotated by 1 "
    "radian per position.",
    lambda x, places: _by(x, _angles(places, x.shape[-1]) * 10_000 ** (-2 / x.shape[-1])),
)


@task.cases
def cases(seed):
    """The arrow of the lecture; then heads and a batch, with sizes that are all different."""
    generator = torch.Generator().manual_seed(seed)

    def draw(*shape):
        return torch.randn(shape, dtype=torch.float64, generator=generator)

    arrow = torch.tensor([[1.0, 0.0], [1.0, 0.0]], dtype=torch.float64)
    return [
        Case(
            (arrow, torch.tensor([0, 2])),
            "the vector (1, 0) at the positions 0 and 2",
            kind="ordinary cases",
        ),
        Case((draw(3, 4), torch.tensor([0, 1, 2])), "two pairs", kind="ordinary cases"),
        Case((draw(2, 3, 5, 6), torch.arange(5)), "a batch of several heads", kind="batches"),
        Case(
            (draw(3, 4, 8), torch.randperm(60, generator=generator)[:4]),
            "positions with gaps",
            kind="edge cases",
        ),
        Case(
            (draw(2, 1, 10), torch.tensor([50])),
            "one word, far from the beginning",
            kind="edge cases",
        ),
    ]


@task.diagnostic
def lengths_are_kept(args, result):
    """A turn changes no length, and place 0 nothing at all."""
    x, out = np.asarray(args[0]), np.asarray(result)
    if out.shape != x.shape:
        return None
    if abs(np.linalg.norm(out, axis=-1) - np.linalg.norm(x, axis=-1)).max() > 1e-3:
        return "A vector has changed its length, but a rotation keeps all lengths."
    at_zero = np.asarray(args[1]) == 0
    if abs(out - x)[..., at_zero, :].max(initial=0.0) > 1e-3:
        return "At position 0 nothing is rotated, but a vector there has changed."
    return None
