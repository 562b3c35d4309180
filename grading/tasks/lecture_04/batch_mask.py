"""Causal mask and padding mask in one, with padding on either side."""

import numpy as np
import torch

from grading.author import Case, TaskFile, functions_of
from grading.feedback.messages import TRUTH_SWAPPED

task = TaskFile(
    "implement",
    points=9,
    minutes=13,
    section="Padding",
    outcome="mask padding on either side, combine masks, and say what a fully masked row gives",
    forbidden=functions_of("helpers.masks"),
    hints=(
        "Make `words` of shape (batch, T) first: True where a word is.",
        "`torch.arange(T) < lengths[:, None]` is (batch, T). With padding on the left, the words "
        "are the last n positions: which numbers are these?",
        "Which axis must be added to `words`, so that it says something about keys and is the "
        "same for every query?",
    ),
)


def _words(lengths, T, side):
    places = torch.arange(T)
    if side == "left":
        places = places.flip(0)
    return places < lengths[:, None]


def _causal(T):
    return torch.ones(T, T, dtype=torch.bool).tril()


# %% the cell
def batch_mask(lengths, T, side):
    """Mask (batch, T, T) for sentences of these lengths (batch,), with padding on one side."""
    # BEGIN SOLUTION
    places = torch.arange(T)  # (T,)
    if side == "left":
        places = places.flip(0)  # counted from the right end
    words = places < lengths[:, None]  # (batch, T), True for words
    return torch.ones(T, T, dtype=torch.bool).tril() & words[:, None, :]  # (batch, T, T)
    # END SOLUTION


# %%


@task.alternative
def by_loop(lengths, T, side):
    """Place by place."""
    mask = np.zeros((len(lengths), T, T), dtype=bool)
    for b, n in enumerate(lengths.tolist()):
        first = 0 if side == "right" else T - n
        for key in range(first, first + n):
            mask[b, key:, key] = True
    return mask


@task.alternative
def additive(lengths, T, side):
    """Products of ones and zeros."""
    return (_causal(T).int() * _words(lengths, T, side).int()[:, None]).bool()


task.mistake(
    "This is the causal mask alone: padding before a word is visible.",
    lambda lengths, T, side: _causal(T).expand(len(lengths), T, T),
)
task.mistake(
    "This is the padding mask alone: each word sees the future.",
    lambda lengths, T, side: _words(lengths, T, side)[:, None].expand(-1, T, T),
)


task.mistake(
    "`words`, (batch, T), was combined with the triangle, (T, T), as if the batch were its rows. "
    "It needs an axis for the queries: `words[:, None, :]`.",
    lambda lengths, T, side: _causal(T) & _words(lengths, T, side),
)


@task.mistake(
    "The masks were combined by “or”. A query may attend to what every mask allows: “and”."
)
def either(lengths, T, side):
    return _causal(T) | _words(lengths, T, side)[:, None]


task.mistake(
    "One position of padding counts as a word. With padding on the right, a sentence of length n "
    "has the positions 0 to n − 1.",
    lambda lengths, T, side: _causal(T) & _words(lengths + 1, T, side)[:, None],
)
task.mistake(
    "The padding is always assumed to be on the right, even if it is on the left.",
    lambda lengths, T, side: batch_mask(lengths, T, "right"),
)
task.mistake(
    "The two sides are swapped: `side` is where padding is.",
    lambda lengths, T, side: batch_mask(lengths, T, "left" if side == "right" else "right"),
)
task.mistake(
    "The rows of the padding are empty, but its columns are visible. Each row is a query, each "
    "column a key, and padding must not be attended to: the new axis belongs before the keys, "
    "`words[:, None, :]`.",
    lambda lengths, T, side: _causal(T) & _words(lengths, T, side)[:, :, None],
)


@task.mistake(
    "The columns of the padding are masked, which is right, but so are its rows. Here a position "
    "of padding is a query like any other: it may attend to earlier words."
)
def rows_too(lengths, T, side):
    words = _words(lengths, T, side)
    return _causal(T) & words[:, None] & words[:, :, None]


task.mistake(
    TRUTH_SWAPPED,
    lambda lengths, T, side: ~batch_mask(lengths, T, side),
)
task.mistake(
    "Everything is right except for an extra axis. This mask is for one head: (batch, T, T).",
    lambda lengths, T, side: batch_mask(lengths, T, side)[:, None],
)


@task.mistake(
    "For padding on the left the whole mask was flipped, including the triangle. Only the padding "
    "mask changes: time still runs from left to right."
)
def triangle_moved(lengths, T, side):
    mask = batch_mask(lengths, T, "right")
    return mask.flip(-1) if side == "left" else mask


task.edit(
    "With padding on the left, the n words are the last ones: they begin at T − n, not at n.",
    "places = places.flip(0)",
    "return torch.ones(T, T, dtype=torch.bool).tril() & (places >= lengths[:, None])[:, None, :]",
)


@task.mistake(
    "An empty sentence with padding on the left counts as full. The last n of a list, words[-n:], "
    "are the whole list for n = 0, because −0 is 0. Compute where they begin, counted from the "
    "front."
)
def last_n(lengths, T, side):
    words = torch.zeros(len(lengths), T, dtype=torch.bool)
    for b, n in enumerate(lengths.tolist()):
        words[b, slice(n) if side == "right" else slice(-n, None)] = True
    return _causal(T) & words[:, None, :]


def _hide(mask, n, side):
    mask[:, slice(n, None) if side == "right" else slice(len(mask) - n)] = False
    return mask


@task.mistake(
    "All sentences share one mask, in which everything is masked that *any* of them masks. Each "
    "needs a triangle of its own to write into: a copy."
)
def one_triangle(lengths, T, side):
    causal = _causal(T)
    return torch.stack([_hide(causal, n, side) for n in lengths.tolist()])


@task.mistake(
    "What one sentence masks stays masked in the sentences after it. Each needs a triangle of its "
    "own to write into: a copy."
)
def hidden_for_the_next(lengths, T, side):
    causal = _causal(T)
    return torch.stack([_hide(causal, n, side).clone() for n in lengths.tolist()])


task.mistake(
    "One word counts as padding. With padding on the right, a sentence of length n has the "
    "positions 0 to n − 1, and with padding on the left the last n.",
    lambda lengths, T, side: _causal(T) & _words(lengths - 1, T, side)[:, None],
)
task.mistake(
    "With padding on the right everything is right. With padding on the left the first word "
    "counts as padding: position T − n is already a word.",
    lambda lengths, T, side: (
        _causal(T) & _words(lengths - (1 if side == "left" else 0), T, side)[:, None]
    ),
)


@task.cases
def cases(seed):
    """Two sentences in two places; then both sides, with a full and an empty sentence."""
    rng = np.random.default_rng(seed)
    T = int(rng.integers(5, 8))
    found = [(torch.tensor([1, 2]), 2, "right"), (torch.tensor([1, 2]), 2, "left")]
    for side in ("right", "left"):
        lengths = rng.permutation([T, 0, *rng.integers(1, T, size=2)])
        found.append((torch.tensor(lengths), T, side))
    found.append((torch.tensor(rng.integers(1, 4, size=3)), 4, "left"))
    made = []
    for lengths, T, side in found:
        note = f"lengths {lengths.tolist()}, padding on the {side}"
        kind = "edge cases" if 0 in lengths else "ordinary cases"
        made.append(Case((lengths, T, side), note, kind=kind))
    return made


@task.diagnostic
def who_sees_what(args, result):
    """Filler that is seen, or a view of the future, with its place."""
    lengths, T, side = args
    if result.shape != (len(lengths), T, T) or result.dtype != bool:
        return None
    words = _words(lengths, T, side).numpy()
    for b, row, key in np.argwhere(result):
        if key > row:
            return f"In sentence {b}, position {row} sees position {key}, which comes later."
        if not words[b, key]:
            return f"In sentence {b}, position {row} sees position {key}, which is padding."
    b, row, key = np.argwhere(batch_mask(*args).numpy() & ~result)[0]
    return f"In sentence {b}, position {row} does not see position {key}, a word that is not later."
