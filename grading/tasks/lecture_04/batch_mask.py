"""Causal mask and padding mask in one, with filler on either side."""

import numpy as np
import torch

from grading.task import Case, Mistake, Task


def _words(lengths, T, side):
    places = torch.arange(T)
    if side == "left":
        places = places.flip(0)
    return places < lengths[:, None]


def _causal(T):
    return torch.ones(T, T, dtype=torch.bool).tril()


def batch_mask(lengths, T, side):
    """The model answer."""
    first = lengths * 0 if side == "right" else T - lengths
    places, first = torch.arange(T), first[:, None]
    words = (first <= places) & (places < first + lengths[:, None])
    return torch.ones(T, T, dtype=torch.bool).tril() & words[:, None, :]


def by_loop(lengths, T, side):
    """Right, in another way: place by place."""
    mask = np.zeros((len(lengths), T, T), dtype=bool)
    for b, n in enumerate(lengths.tolist()):
        first = 0 if side == "right" else T - n
        for key in range(first, first + n):
            mask[b, key:, key] = True
    return mask


def additive(lengths, T, side):
    """Right, in another way: products of ones and zeros."""
    return (_causal(T).int() * _words(lengths, T, side).int()[:, None]).bool()


def only_causal(lengths, T, side):
    """Wrong: filler is not hidden."""
    return _causal(T).expand(len(lengths), T, T)


def only_padding(lengths, T, side):
    """Wrong: the future is not hidden."""
    return _words(lengths, T, side)[:, None].expand(-1, T, T)


def either(lengths, T, side):
    """Wrong: visible is what one of the masks allows."""
    return _causal(T) | _words(lengths, T, side)[:, None]


def one_too_many(lengths, T, side):
    """Wrong: one place of filler counts as a word."""
    return _causal(T) & _words(lengths + 1, T, side)[:, None]


def always_right(lengths, T, side):
    """Wrong: `side` is ignored."""
    return batch_mask(lengths, T, "right")


def sides_swapped(lengths, T, side):
    """Wrong: left and right changed places."""
    return batch_mask(lengths, T, "left" if side == "right" else "right")


def along_queries(lengths, T, side):
    """Wrong: the rows of filler are hidden, not its columns."""
    return _causal(T) & _words(lengths, T, side)[:, :, None]


def rows_too(lengths, T, side):
    """Wrong here: filler sees nothing either."""
    words = _words(lengths, T, side)
    return _causal(T) & words[:, None] & words[:, :, None]


def blocking(lengths, T, side):
    """Wrong: True where a key is hidden."""
    return ~batch_mask(lengths, T, side)


def one_axis_more(lengths, T, side):
    """Wrong here: with an axis for heads."""
    return batch_mask(lengths, T, side)[:, None]


def triangle_moved(lengths, T, side):
    """Wrong: for filler on the left the whole mask is flipped."""
    mask = batch_mask(lengths, T, "right")
    return mask.flip(-1) if side == "left" else mask


def cases(seed):
    """Two sentences in two places; then both sides, with a full and an empty sentence."""
    rng = np.random.default_rng(seed)
    T = int(rng.integers(5, 8))
    found = [(torch.tensor([1, 2]), 2, "right"), (torch.tensor([1, 2]), 2, "left")]
    for side in ("right", "left"):
        lengths = rng.permutation([T, 0, *rng.integers(1, T, size=2)])
        found.append((torch.tensor(lengths), T, side))
    found.append((torch.tensor(rng.integers(1, 4, size=3)), 4, "left"))
    return [Case(args, f"lengths {args[0].tolist()}, filler on the {args[2]}") for args in found]


def who_sees_what(args, result):
    """Filler that is seen, or a view of the future, with its place."""
    lengths, T, side = args
    if result.shape != (len(lengths), T, T) or result.dtype != bool:
        return None
    words = _words(lengths, T, side).numpy()
    for b, row, key in np.argwhere(result):
        if key > row:
            return f"In sentence {b} place {row} sees place {key}, which comes later."
        if not words[b, key]:
            return f"In sentence {b} place {row} sees place {key}, which is filler."
    b, row, key = np.argwhere(batch_mask(*args).numpy() & ~result)[0]
    return f"In sentence {b} place {row} does not see place {key}, a word that is not later."


TASK = Task(
    name="batch_mask",
    lecture=4,
    kind="implement",
    points=9,
    difficulty=2,
    minutes=8,
    outcome="mask padding, combine masks, and handle rows in which everything is masked",
    reference=batch_mask,
    also_right=(by_loop, additive),
    cases=cases,
    properties=(who_sees_what,),
    forbidden=(
        "helpers.masks.causal_mask",
        "helpers.masks.padding_mask",
        "helpers.masks.combine_masks",
    ),
    mistakes=(
        Mistake(only_causal, "This is the causal mask alone: filler before a word can be seen."),
        Mistake(only_padding, "This is the padding mask alone: each word sees the future."),
        Mistake(
            either,
            "The masks were combined by “or”. A query may see what every mask allows: “and”.",
        ),
        Mistake(
            one_too_many,
            "One place of filler counts as a word. With filler on the right, a sentence of length "
            "n has the places 0 to n − 1.",
        ),
        Mistake(
            always_right,
            "The filler is looked for on the right, also where it stands on the left.",
        ),
        Mistake(sides_swapped, "The two sides have changed places: `side` is where filler stands."),
        Mistake(
            along_queries,
            "The rows of the filler are empty, but its columns are open. Rows ask, columns are "
            "looked at, and filler must not be looked at: the new axis belongs before the keys, "
            "`words[:, None, :]`.",
        ),
        Mistake(
            rows_too,
            "The columns of the filler are hidden, which is right, but so are its rows. Here a "
            "place of filler is a query like others: it may look at earlier words.",
        ),
        Mistake(
            blocking,
            "True and False have changed places. In this course True means “may attend”.",
        ),
        Mistake(
            one_axis_more,
            "All is right but for an axis too many. Here the mask is for one head: (batch, T, T).",
        ),
        Mistake(
            triangle_moved,
            "For filler on the left the whole mask was flipped, and with it the triangle. Only the "
            "padding mask turns around: time still runs from left to right.",
        ),
    ),
    hints=(
        "Make `words` of shape (batch, T) first: True where a word stands.",
        "`torch.arange(T) < lengths[:, None]` is (batch, T). With filler on the left, the words "
        "are the last n places: which are these numbers?",
        "Which axis must be added to `words`, so that it says something about keys and holds for "
        "every query?",
    ),
)
