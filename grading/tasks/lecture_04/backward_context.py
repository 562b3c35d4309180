"""Find the bugs: a window that is one word too wide, and words that are hidden too late."""

import numpy as np
import torch
import torch.nn.functional as F

from grading.task import Case, Mistake, Task
from helpers.attention import softmax


def _scores(q, k):
    return q @ k.T / np.sqrt(k.shape[-1])


def _band(T, window):
    """True where a word stands at most window − 1 places before (T, T)."""
    places = np.arange(T)
    back = places[:, None] - places
    return (back >= 0) & (back < window)


def _hidden(q, k, v, mask, low=-np.inf):
    return softmax(np.where(mask, _scores(q, k), low)) @ v


def backward_context(q, k, v, window):
    """The model answer."""
    return _hidden(q, k, v, _band(len(q), window))


def by_cuts(q, k, v, window):
    """Right, in another way: the words in the window, cut out."""
    scores, found = _scores(q, k), []
    for n in range(len(q)):
        seen = slice(max(0, n + 1 - window), n + 1)
        found.append(softmax(scores[n, seen]) @ v[seen])
    return np.array(found)


def by_torch(q, k, v, window):
    """Right, in another way: PyTorch's own function."""
    mask = torch.tensor(_band(len(q), window))
    q, k, v = (torch.tensor(t)[None] for t in (q, k, v))
    return F.scaled_dot_product_attention(q, k, v, attn_mask=mask)[0]


def _renormalised(q, k, v, window, small=0.0):
    cut = softmax(_scores(q, k)) * _band(len(q), window)
    with np.errstate(invalid="ignore"):
        return cut / (cut.sum(axis=-1, keepdims=True) + small) @ v


def as_given(q, k, v, window):
    """Wrong: one word too many, and crossed out after softmax."""
    return _renormalised(q, k, v, window + 1)


def too_wide(q, k, v, window):
    """Wrong: one word too many."""
    return backward_context(q, k, v, window + 1)


def renormalised(q, k, v, window):
    """Wrong for large scores: crossed out, then divided by what is left."""
    return _renormalised(q, k, v, window)


def nearly_renormalised(q, k, v, window):
    """Wrong for large scores: a small number keeps the sum above zero."""
    return _renormalised(q, k, v, window, 1e-9)


def wide_and_nearly(q, k, v, window):
    """Wrong: as before, with one word too many."""
    return _renormalised(q, k, v, window + 1, 1e-9)


def crossed_out(q, k, v, window):
    """Wrong: crossed out, and not divided."""
    return softmax(_scores(q, k)) * _band(len(q), window) @ v


def too_narrow(q, k, v, window):
    """Wrong: one word too few."""
    return backward_context(q, k, v, max(window - 1, 1))


def no_maximum(q, k, v, window):
    """Wrong for large scores: exponentials without subtracting the largest score."""
    with np.errstate(over="ignore", invalid="ignore"):
        exp = np.exp(np.where(_band(len(q), window), _scores(q, k), -np.inf))
        return exp / exp.sum(axis=-1, keepdims=True) @ v


def zero_scores(q, k, v, window):
    """Wrong: hidden scores are 0."""
    return _hidden(q, k, v, _band(len(q), window), 0.0)


def not_low_enough(q, k, v, window):
    """Wrong for low scores: hidden scores are −100."""
    return _hidden(q, k, v, _band(len(q), window), -100.0)


def inverted(q, k, v, window):
    """Wrong: the visible words are hidden."""
    return _hidden(q, k, v, ~_band(len(q), window))


def upper(q, k, v, window):
    """Wrong: the mask is turned on its side."""
    return _hidden(q, k, v, _band(len(q), window).T)


def no_window(q, k, v, window):
    """Wrong: the whole past is seen."""
    return _hidden(q, k, v, _band(len(q), len(q)))


def both_sides(q, k, v, window):
    """Wrong: the window reaches ahead, too."""
    band = _band(len(q), window)
    return _hidden(q, k, v, band | band.T)


def no_mask(q, k, v, window):
    """Wrong: nothing is hidden."""
    return softmax(_scores(q, k)) @ v


def cases(seed):
    """Three words to check by hand; sizes that differ; very large and very small scores."""
    rng = np.random.default_rng(seed)
    T, three = int(rng.integers(5, 8)), np.ones((3, 1))
    far = np.array([[-1000.0, 1000.0, 5.0], [-990.0, 900.0, 5.0], [950.0, -1000.0, -990.0]])
    found = [((0 * three, three, np.array([[8.0], [4.0], [2.0]]), 2), "equal scores")]
    for n, d_k, d_v, window in ((4, 2, 3, 1), (T, 3, 2, 3), (4, 3, 5, 6)):
        shapes = ((n, d_k), (n, d_k), (n, d_v))
        found.append(((*(rng.normal(size=shape) for shape in shapes), window), ""))
    values = rng.normal(size=(3, 2))
    found.append(((far, np.sqrt(3) * np.eye(3), values, 2), "scores from −1,000 to 1,000"))
    return [
        Case(args, f"{note}, {len(args[0])} words, window {args[3]}".removeprefix(", "))
        for args, note in found
    ]


def what_is_seen(args, result):
    """The first word has only itself; a window of 1 leaves everybody alone."""
    q, _, v, window = args
    if result.shape != (len(q), v.shape[1]):
        return None
    if np.isnan(result).any():
        return "A context vector holds NaN: somewhere 0 was divided by 0."
    if not np.allclose(result[0], v[0], rtol=1e-4, atol=1e-5):
        return "Word 0 sees nobody but itself, so its context vector must be its own value vector."
    if window == 1 and not np.allclose(result, v, rtol=1e-4, atol=1e-5):
        return "With a window of 1 each word sees itself only."
    return None


TASK = Task(
    name="backward_context",
    lecture=4,
    kind="find the bug",
    points=8,
    difficulty=2,
    minutes=8,
    outcome="hide words from a query, and say why −∞ goes into the scores before softmax",
    reference=backward_context,
    also_right=(by_cuts, by_torch),
    cases=cases,
    properties=(what_is_seen,),
    mistakes=(
        Mistake(
            as_given,
            "This is the code as given. With equal scores and a window of 2, the last of three "
            "words comes out as the mean of all three values.",
        ),
        Mistake(
            too_wide,
            "Hidden words are hidden rightly now. But the window is one word too wide: it counts "
            "the word itself, so it begins window − 1 places earlier.",
        ),
        Mistake(
            renormalised,
            "The window is right now. But where a hidden score lies far above the visible ones, "
            "softmax has rounded their shares to 0 before you divide, and 0/0 is NaN.",
        ),
        Mistake(
            nearly_renormalised,
            "A small number below the fraction bar avoids 0/0, but the shares that softmax has "
            "rounded away do not come back: such a row loses its weight. Hide the scores before "
            "softmax.",
        ),
        Mistake(
            wide_and_nearly,
            "A small number below the fraction bar avoids NaN, but shares that softmax has rounded "
            "to 0 do not come back. And the window is one word too wide.",
        ),
        Mistake(
            crossed_out,
            "Now nothing is divided by the sum, so the rows sum to less than 1. The division was a "
            "repair of something that should not happen: hide the scores before softmax.",
        ),
        Mistake(
            too_narrow,
            "The window is one word too narrow. A window of 2 is the word and the one before it.",
        ),
        Mistake(
            no_maximum,
            "Hidden scores are hidden rightly. But exp of 900 is ∞, and exp of −1,000 is 0: one "
            "subtracts the largest visible score first. The `softmax` above does so.",
        ),
        Mistake(
            zero_scores,
            "Hidden scores are set to 0, and e⁰ is 1: the hidden words still have a share. Their "
            "scores go to −∞.",
        ),
        Mistake(
            not_low_enough,
            "A score of −100 is low, but the visible ones can be lower still, and then the hidden "
            "word wins. Below every score lies only −∞.",
        ),
        Mistake(
            inverted,
            "Now the visible words are hidden. In `np.where(mask, a, b)` the first of the two is "
            "taken where the mask is True, and True means “may attend”.",
        ),
        Mistake(
            upper,
            "The mask is turned on its side: each word sees itself and what comes next. Rows ask, "
            "columns are looked at.",
        ),
        Mistake(no_window, "Each word sees its whole past now. The window must cut it off."),
        Mistake(both_sides, "The window reaches ahead, too. It holds earlier words only."),
        Mistake(no_mask, "Now nothing is hidden, and each word sees the future."),
    ),
    hints=(
        "Print the mask for three words and a window of 2. How many words does each row show?",
        "The other bug shows only where scores are far apart. What does softmax make of the scores "
        "0 and 200, if the 200 is hidden afterwards?",
    ),
)
