"""Find the bugs: a window that is one word too wide, and words that are hidden too late."""

import numpy as np
import torch
import torch.nn.functional as F

from grading.author import Case, TaskFile
from helpers.numpy_attention import softmax

task = TaskFile(
    "find the bug",
    points=8,
    minutes=13,
    section="Why −∞ and not 0",
    outcome="hide a key from a query, and say why its score goes to −∞ before softmax",
    hints=(
        "Print the mask for three words and a window of 2. How many words does each row allow?",
        "The other bug shows only if scores are far apart. What does softmax make of the scores 0 "
        "and 800, if the 800 is masked afterwards?",
    ),
)


def _scores(q, k):
    return q @ k.T / np.sqrt(k.shape[-1])


def _band(T, window):
    """True where a word stands at most window − 1 places before (T, T)."""
    places = np.arange(T)
    back = places[:, None] - places
    return (back >= 0) & (back < window)


def _hidden(q, k, v, mask, low=-np.inf):
    return softmax(np.where(mask, _scores(q, k), low)) @ v


# %% the cell
def sliding_window_attention(q, k, v, window):
    """Context vectors (T, d_v) of q (T, d_k), k (T, d_k), v (T, d_v), in a sliding window."""
    scores = q @ k.T / np.sqrt(k.shape[-1])  # (T, T)
    mask = np.tril(np.ones_like(scores, dtype=bool))  # (T, T), True = may attend
    #| mask = mask & ~np.tril(mask, -window - 1)  # (T, T), hides what is outside the window
    #| weights = softmax(scores) * mask  # (T, T)
    #| weights = weights / weights.sum(axis=-1, keepdims=True)  # (T, T), each row sums to 1
    # BEGIN SOLUTION
    mask = mask & ~np.tril(mask, -window)  # (T, T), hides what is outside the window
    weights = softmax(np.where(mask, scores, -np.inf))  # (T, T)
    # END SOLUTION
    return weights @ v  # (T, d_v)


# %%


@task.alternative
def by_cuts(q, k, v, window):
    """The words in the window, cut out."""
    scores, found = _scores(q, k), []
    for n in range(len(q)):
        seen = slice(max(0, n + 1 - window), n + 1)
        found.append(softmax(scores[n, seen]) @ v[seen])
    return np.array(found)


@task.alternative
def by_torch(q, k, v, window):
    """PyTorch's own function."""
    mask = torch.tensor(_band(len(q), window))
    q, k, v = (torch.tensor(t)[None] for t in (q, k, v))
    return F.scaled_dot_product_attention(q, k, v, attn_mask=mask)[0]


def _renormalised(q, k, v, window, small=0.0):
    cut = softmax(_scores(q, k)) * _band(len(q), window)
    with np.errstate(invalid="ignore"):
        return cut / (cut.sum(axis=-1, keepdims=True) + small) @ v


task.as_given(
    "This does the same as the given code. With equal scores and a window of 2, the context "
    "vector of the last of three words is the mean of all three values."
)
task.mistake(
    "The right scores are masked now. But the window is one word too wide: it includes the word "
    "itself, so it begins window − 1 positions earlier.",
    lambda q, k, v, window: sliding_window_attention(q, k, v, window + 1),
)
task.mistake(
    "The window is now right. But if a masked score is far above the visible ones, softmax has "
    "rounded their weights to 0 before you divide, and 0/0 is NaN.",
    lambda q, k, v, window: _renormalised(q, k, v, window),
)
task.mistake(
    "A small number in the denominator avoids 0/0, but it does not bring back the weights that "
    "softmax has rounded to 0, so such a row loses its weight. Mask the scores before softmax.",
    lambda q, k, v, window: _renormalised(q, k, v, window, 1e-9),
)
task.mistake(
    "A small number in the denominator avoids NaN, but it does not bring back the weights that "
    "softmax has rounded to 0. Also, the window is one word too wide.",
    lambda q, k, v, window: _renormalised(q, k, v, window + 1, 1e-9),
)
task.mistake(
    "Now nothing is divided by the sum, so the rows sum to less than 1. The division repaired "
    "something that should not happen: mask the scores before softmax.",
    lambda q, k, v, window: softmax(_scores(q, k)) * _band(len(q), window) @ v,
)
task.mistake(
    "The window is one word too narrow. A window of 2 is the word and the one before it.",
    lambda q, k, v, window: sliding_window_attention(q, k, v, max(window - 1, 1)),
)


@task.mistake(
    "The scores are masked correctly. But exp of 900 is ∞, and exp of −1,000 is 0, so subtract "
    "the largest visible score first. The imported `softmax` does this."
)
def no_maximum(q, k, v, window):
    with np.errstate(over="ignore", invalid="ignore"):
        exp = np.exp(np.where(_band(len(q), window), _scores(q, k), -np.inf))
        return exp / exp.sum(axis=-1, keepdims=True) @ v


task.mistake(
    "Masked scores are set to 0, and e⁰ is 1: the masked words still have some weight. Set their "
    "scores to −∞.",
    lambda q, k, v, window: _hidden(q, k, v, _band(len(q), window), 0.0),
)
task.mistake(
    "A score of −100 is low, but the visible ones can be lower still, and then the masked word "
    "wins. Only −∞ is below every score.",
    lambda q, k, v, window: _hidden(q, k, v, _band(len(q), window), -100.0),
)
task.mistake(
    "Now the visible words are masked. `np.where(mask, a, b)` takes a where the mask is True, and "
    "True means “may attend”.",
    lambda q, k, v, window: _hidden(q, k, v, ~_band(len(q), window)),
)
task.mistake(
    "The mask is transposed: each word sees itself and what comes next. Each row is a query, each "
    "column a key.",
    lambda q, k, v, window: _hidden(q, k, v, _band(len(q), window).T),
)
task.mistake(
    "Each word sees its whole past now. The window must limit it.",
    lambda q, k, v, window: _hidden(q, k, v, _band(len(q), len(q))),
)


@task.mistake("The window also reaches ahead. It may hold earlier words only.")
def both_sides(q, k, v, window):
    band = _band(len(q), window)
    return _hidden(q, k, v, band | band.T)


task.mistake(
    "Now nothing is masked, and each word sees the future.",
    lambda q, k, v, window: softmax(_scores(q, k)) @ v,
)


task.edit(
    "Masked scores are −1,000 here, and visible ones may be as low. Only −∞ is below every score.",
    "-np.inf",
    "-1000.0",
)


@task.mistake(
    "For the first words the window begins before the text. A negative position in a slice counts "
    "from the end, so they see no words, or too few. The window must begin at 0 or later."
)
def before_the_text(q, k, v, window):
    mask = np.zeros((len(q), len(q)), dtype=bool)
    for i in range(len(q)):
        mask[i, i - window + 1 : i + 1] = True
    return _hidden(q, k, v, mask)


@task.mistake(
    "The first words have no visible keys, and 0/0 is NaN: their window begins before the text, "
    "and a negative position in a slice counts from the end. The window must begin at 0 or later."
)
def before_the_text_by_hand(q, k, v, window):
    found = []
    for i, row in enumerate(_scores(q, k)):
        seen = slice(i - window + 1, i + 1)
        exp = np.exp(row[seen] - row[seen].max(initial=-np.inf))
        with np.errstate(invalid="ignore"):
            found.append(exp @ v[seen] / exp.sum())
    return np.array(found)


@task.mistake(
    "0 · (−∞) is NaN, so multiplying a mask by −∞ also spoils the visible words. Choose between "
    "the score and −∞ with `np.where`."
)
def mask_times_infinity(q, k, v, window):
    with np.errstate(invalid="ignore"):
        return softmax(_scores(q, k) + ~_band(len(q), window) * -np.inf) @ v


@task.cases
def cases(seed):
    """Three words to check by hand; sizes that differ; very large and very small scores."""
    rng = np.random.default_rng(seed)
    T, three = int(rng.integers(5, 8)), np.ones((3, 1))
    far = np.array([[-1000.0, 1000.0, 5.0], [-990.0, 900.0, 5.0], [950.0, -1000.0, -990.0]])
    found = [
        ((0 * three, three, np.array([[8.0], [4.0], [2.0]]), 2), "equal scores", "ordinary cases")
    ]
    for n, d_k, d_v, window in ((4, 2, 3, 1), (T, 3, 2, 3), (4, 3, 5, 6)):
        shapes = ((n, d_k), (n, d_k), (n, d_v))
        found.append(
            ((*(rng.normal(size=shape) for shape in shapes), window), "", "ordinary cases")
        )
    values = rng.normal(size=(3, 2))
    found.append(
        ((far, np.sqrt(3) * np.eye(3), values, 2), "scores from −1,000 to 1,000", "edge cases")
    )
    return [
        Case(args, f"{note}, {len(args[0])} words, window {args[3]}".removeprefix(", "), kind=kind)
        for args, note, kind in found
    ]


@task.diagnostic
def what_is_seen(args, result):
    """The first word has only itself; a window of 1 leaves everybody alone."""
    q, _, v, window = args
    if result.shape != (len(q), v.shape[1]):
        return None
    if np.isnan(result).any():
        return "A context vector holds NaN, which 0/0, ∞/∞, ∞ − ∞ and 0 · ∞ give."
    if not np.allclose(result[0], v[0], rtol=1e-4, atol=1e-5):
        return "Word 0 sees only itself, so its context vector must be its own value vector."
    if window == 1 and not np.allclose(result, v, rtol=1e-4, atol=1e-5):
        return "With a window of 1 each word sees itself only."
    return _which_words(args, result)


def _which_words(args, result):
    """Which neighbouring words the first wrong row sees, if it is their weighted average."""
    q, k, v, window = args
    right = sliding_window_attention(*args)
    for i in np.flatnonzero(~np.isclose(result, right, rtol=1e-4, atol=1e-5).all(axis=1)):
        for first in range(len(q)):
            for last in range(first, len(q)):
                seen = slice(first, last + 1)
                row = softmax(q[i] @ k[seen].T / np.sqrt(k.shape[-1])) @ v[seen]
                if np.allclose(row, result[i], rtol=1e-4, atol=1e-5):
                    least = max(0, i - window + 1)
                    return f"Word {i} sees {_range(first, last)}; it should see {_range(least, i)}."
        return None
    return None


def _range(first, last):
    """One word or several, by their numbers."""
    return f"only word {first}" if first == last else f"the words {first} to {last}"
