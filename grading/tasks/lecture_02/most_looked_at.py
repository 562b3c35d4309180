"""Find the bugs: the words that receive most attention."""

import numpy as np

from grading.task import Case, Mistake, Task
from helpers.attention import softmax


def most_looked_at(x, k):
    """The model answer."""
    weights = softmax(x @ x.T)
    received = weights.sum(axis=0)
    order = np.argsort(-received)
    return [order[n] for n in range(min(k, len(x)))], received


def by_slice(x, k):
    """Right, in another way: a slice ends by itself where the words end."""
    received = np.ones(len(x)) @ softmax(x @ x.T)
    return np.argsort(received)[::-1][:k], received


def from_columns(x, k):
    """Right, in another way: the scores are symmetric, so columns and rows may change roles."""
    received = softmax(x @ x.T, axis=0).sum(axis=1)
    return sorted(range(len(x)), key=lambda j: -received[j])[:k], received


def as_given(x, k):
    """Wrong: sums of rows, and it breaks if k is larger than the number of words."""
    received = softmax(x @ x.T).sum(axis=1)
    order = np.argsort(-received)
    return [order[n] for n in range(k)], received


def axis_as_given(x, k):
    """Wrong: one bug mended, the sums still those of rows."""
    received = softmax(x @ x.T).sum(axis=1)
    order = np.argsort(-received)
    return [order[n] for n in range(min(k, len(x)))], received


def length_as_given(x, k):
    """Wrong: the axis is mended, and it still breaks if k is larger than the number of words."""
    received = softmax(x @ x.T).sum(axis=0)
    order = np.argsort(-received)
    return [order[n] for n in range(k)], received


def smallest(x, k):
    """Wrong: the words that receive least."""
    received = softmax(x @ x.T).sum(axis=0)
    return np.argsort(received)[:k], received


def ascending(x, k):
    """Wrong: the right words, the largest last."""
    received = softmax(x @ x.T).sum(axis=0)
    return np.argsort(received)[-k:], received


def in_text_order(x, k):
    """Wrong: the right words, as they stand in the sentence."""
    places, received = by_slice(x, k)
    return np.sort(places), received


def mean_received(x, k):
    """Wrong: means, not sums."""
    places, received = by_slice(x, k)
    return places, received / len(x)


def largest_weight(x, k):
    """Wrong: the largest weight that a word gets from anyone."""
    received = softmax(x @ x.T).max(axis=0)
    return np.argsort(-received)[:k], received


def scores_summed(x, k):
    """Wrong: scores, not weights, are summed."""
    received = (x @ x.T).sum(axis=0)
    return np.argsort(-received)[:k], received


def from_others(x, k):
    """Wrong: what a word gives to itself is left out."""
    weights = softmax(x @ x.T)
    received = weights.sum(axis=0) - weights.diagonal()
    return np.argsort(-received)[:k], received


def as_many_as_columns(x, k):
    """Wrong: it stops at the number of columns."""
    places, received = by_slice(x, k)
    return places[: x.shape[1]], received


def received_in_order(x, k):
    """Wrong: the sums are put in order as well."""
    places, received = by_slice(x, k)
    return places, np.sort(received)[::-1]


def received_of_places(x, k):
    """Wrong: only the sums of the words that were chosen."""
    places, received = by_slice(x, k)
    return places, received[places]


def wrong_order(x, k):
    """Wrong: both right, returned the other way round."""
    return by_slice(x, k)[::-1]


def drive(answer, x, k):
    """Places as a list of whole numbers and sums as an array, each from a list or an array."""
    import numpy as np

    result = answer(x, k)
    if not isinstance(result, tuple | list) or len(result) != 2 or np.ndim(result[0]) != 1:
        return result
    places = [int(place) if place == int(place) else float(place) for place in result[0]]
    return places, np.asarray(result[1], dtype=float)


def cases(seed):
    """Two words to check by hand, longer sentences, and more places asked for than there are."""
    rng = np.random.default_rng(seed)
    return [
        Case((np.array([[0.0], [1.0]]), 1), "two words, 0 and 1"),
        Case((rng.normal(size=(5, 3)), 2)),
        Case((rng.normal(size=(7, 2)), 3)),
        Case((rng.normal(size=(4, 6)), 4), "k is the number of words"),
        Case((rng.normal(size=(3, 4)), 8), "k is larger than the number of words"),
    ]


def not_all_ones(args, result):
    """The trace that a sum along rows leaves."""
    received, T = np.asarray(result[1]), len(args[0])
    if received.shape == (T,) and np.allclose(received, 1.0):
        return "Every word receives exactly 1, whatever the words are."
    return None


def shares_out_all(args, result):
    """T words give a weight of 1 each."""
    received, T = np.asarray(result[1]), len(args[0])
    if received.shape == (T,) and not np.isclose(received.sum(), T):
        return (
            f"{T} words give 1 each, so all of them together receive {T}; here it is "
            f"{received.sum():.4g}."
        )
    return None


TASK = Task(
    name="most_looked_at",
    lecture=2,
    kind="find the bug",
    points=9,
    difficulty=2,
    minutes=10,
    outcome="name what always holds for this kind of attention, and what it costs for T words",
    reference=most_looked_at,
    also_right=(by_slice, from_columns),
    cases=cases,
    properties=(not_all_ones, shares_out_all),
    drive=drive,
    mistakes=(
        Mistake(
            as_given,
            "This is the code as given: whatever the words are, each receives the same as all the "
            "others.",
        ),
        Mistake(
            axis_as_given,
            "One of the two bugs is mended. With the other one still there, each word receives the "
            "same as all the others, whatever the words are.",
        ),
        Mistake(
            length_as_given,
            "One of the two bugs is mended: the sums are right now. The other one shows in this "
            "case only. For 3 words and k = 8, which places should come back?",
        ),
        Mistake(
            smallest,
            "These are the words that receive least: argsort puts the smallest first. The line "
            "with argsort(-received) was right.",
        ),
        Mistake(
            ascending,
            "These are the right words, but the one that receives most must come first.",
        ),
        Mistake(
            in_text_order,
            "These are the right words, in the order of the sentence. The one that receives most "
            "must come first.",
        ),
        Mistake(
            mean_received,
            "This is what a word receives on average. The sum over all words that look is wanted.",
        ),
        Mistake(
            largest_weight,
            "This is the largest weight that a word gets from any one word. The sum over all words "
            "that look is wanted.",
        ),
        Mistake(
            scores_summed,
            "Scores were summed. A word's attention is shared out by softmax first: sum the "
            "weights.",
        ),
        Mistake(
            from_others,
            "What a word gives to itself was left out. It counts here like all the rest.",
        ),
        Mistake(
            as_many_as_columns,
            "It stops at the number of columns of x. x has the shape (T, d), and the words are its "
            "rows.",
        ),
        Mistake(
            received_in_order,
            "The places are right. But `received` was put in order as well: its entry j must be "
            "what word j receives.",
        ),
        Mistake(
            received_of_places,
            "The places are right. But `received` must have an entry for each word of the "
            "sentence, not only for those that were chosen.",
        ),
        Mistake(
            wrong_order,
            "Both results are right, but they come back in the wrong order: first the places, then "
            "the sums.",
        ),
    ),
    hints=(
        "Print `received` for a sentence of your own. Can these numbers tell the words apart?",
        "The second bug shows only if more places are asked for than there are words. What does "
        "`order[n]` do then?",
    ),
)
