"""Find the bugs: the words that receive most attention."""

import numpy as np

from grading.author import Case, TaskFile
from helpers.numpy_attention import softmax

task = TaskFile(
    "find the bug",
    points=9,
    minutes=16,
    section="One query, three operations",
    outcome="name what holds for any vectors, and what attention costs for T tokens",
    results=("the positions", "the attention received"),
    hints=(
        "Print `received` for a sentence of your own. Can these numbers tell the words apart?",
        "The second bug shows only if more positions are asked for than there are words. What "
        "does `order[n]` do then?",
    ),
)


# %% the cell
def attention_received(x, k):
    """The positions (at most k) and the attention received (T,) of the words x (T, d)."""
    weights = softmax(x @ x.T)  # (T, T)
    #| received = weights.sum(axis=1)  # (T,)
    # BEGIN SOLUTION
    received = weights.sum(axis=0)  # (T,)
    # END SOLUTION
    order = np.argsort(-received)  # (T,), the largest first
    #| places = [order[n] for n in range(k)]
    # BEGIN SOLUTION
    places = [order[n] for n in range(min(k, len(order)))]
    # END SOLUTION
    return places, received


# %%


@task.alternative
def by_slice(x, k):
    """A slice ends by itself where the words end."""
    received = np.ones(len(x)) @ softmax(x @ x.T)
    return np.argsort(received)[::-1][:k], received


@task.alternative
def from_columns(x, k):
    """The scores are symmetric, so columns and rows may change roles."""
    received = softmax(x @ x.T, axis=0).sum(axis=1)
    return sorted(range(len(x)), key=lambda j: -received[j])[:k], received


task.as_given(
    "This does the same as the given code: whatever the words are, each receives the same as all "
    "the others."
)


@task.mistake(
    "One of the two bugs is fixed. But each word still receives the same as all the others, "
    "whatever the words are."
)
def axis_as_given(x, k):
    received = softmax(x @ x.T).sum(axis=1)
    order = np.argsort(-received)
    return [order[n] for n in range(min(k, len(x)))], received


@task.mistake(
    "One of the two bugs is fixed: the sums are now right. The other one shows in this case only. "
    "For 3 words and k = 8, which positions should be returned?"
)
def length_as_given(x, k):
    received = softmax(x @ x.T).sum(axis=0)
    order = np.argsort(-received)
    return [order[n] for n in range(k)], received


@task.mistake(
    "These are the words that receive least: argsort puts the smallest first. The line with "
    "argsort(-received) was right."
)
def smallest(x, k):
    received = softmax(x @ x.T).sum(axis=0)
    return np.argsort(received)[:k], received


@task.mistake("These are the right words, but the one that receives most must come first.")
def ascending(x, k):
    received = softmax(x @ x.T).sum(axis=0)
    return np.argsort(received)[-k:], received


@task.mistake(
    "These are the right words, in the order of the sentence. The one that receives most must "
    "come first."
)
def in_text_order(x, k):
    places, received = by_slice(x, k)
    return np.sort(places), received


@task.mistake("This is what a word receives on average. Return the sum over all queries.")
def mean_received(x, k):
    places, received = by_slice(x, k)
    return places, received / len(x)


@task.mistake(
    "This is the largest weight that a word gets from any one word. Return the sum over all "
    "queries."
)
def largest_weight(x, k):
    received = softmax(x @ x.T).max(axis=0)
    return np.argsort(-received)[:k], received


@task.mistake(
    "Scores were summed. A word's attention is distributed by softmax first: sum the weights."
)
def scores_summed(x, k):
    received = (x @ x.T).sum(axis=0)
    return np.argsort(-received)[:k], received


@task.mistake(
    "The weight that a word gives to itself is missing. It counts here like all the others."
)
def from_others(x, k):
    weights = softmax(x @ x.T)
    received = weights.sum(axis=0) - weights.diagonal()
    return np.argsort(-received)[:k], received


@task.mistake(
    "It stops at the number of columns of x. x has the shape (T, d), and the words are its rows."
)
def as_many_as_columns(x, k):
    places, received = by_slice(x, k)
    return places[: x.shape[1]], received


@task.mistake(
    "The positions are right. But `received` was sorted as well: its entry j must be the total "
    "weight that word j receives."
)
def received_in_order(x, k):
    places, received = by_slice(x, k)
    return places, np.sort(received)[::-1]


@task.mistake(
    "The positions are right. But `received` must have an entry for each word of the sentence, "
    "not only for those that were chosen."
)
def received_of_places(x, k):
    places, received = by_slice(x, k)
    return places, received[places]


@task.mistake(
    "The positions are right. But in `received` their entries have become 0. If you remove each "
    "maximum to find the next one, do it in a copy."
)
def struck_out(x, k):
    places, received = by_slice(x, k)
    received[places] = 0.0
    return places, received


@task.mistake(
    "The positions are right. But in `received` their entries have become −∞. If you remove each "
    "maximum to find the next one, do it in a copy."
)
def struck_out_for_good(x, k):
    places, received = by_slice(x, k)
    received[places] = -np.inf
    return places, received


@task.mistake(
    "A position is missing if k is at least the number of words: then all words belong in the "
    "result. Is there an off-by-one error?"
)
def last_one_left_out(x, k):
    places, received = by_slice(x, k)
    return places[: len(x) - 1], received


@task.mistake(
    "If k is larger than the number of words, all words are returned in the order of the "
    "sentence. The one that receives most must come first there too."
)
def all_in_text_order(x, k):
    places, received = by_slice(x, k)
    return (np.arange(len(x)) if k > len(x) else places), received


task.mistake(
    "Both results are right, but in the wrong order: first the positions, then the sums.",
    lambda x, k: by_slice(x, k)[::-1],
)


@task.mistake(
    "`argpartition` finds the k largest, but does not sort them, and it stops if k is not below "
    "the number of words."
)
def partitioned(x, k):
    received = softmax(x @ x.T).sum(axis=0)
    return list(np.argpartition(-received, k)[:k]), received


@task.mistake(
    "If k is larger than the number of words, the positions begin again from the front. All words "
    "belong in the result, each of them once."
)
def from_the_front_again(x, k):
    received = softmax(x @ x.T).sum(axis=0)
    order = np.argsort(-received)
    return [order[n % len(order)] for n in range(k)], received


@task.harness
def harness(answer, x, k):
    """Places as a list of whole numbers and sums as an array, each from a list or an array."""
    import numpy as np

    result = answer(x, k)
    if not isinstance(result, tuple | list) or len(result) != 2 or np.ndim(result[0]) != 1:
        return result
    places = [int(place) if place == int(place) else float(place) for place in result[0]]
    return places, np.asarray(result[1], dtype=float)


@task.cases
def cases(seed):
    """Two words to check by hand, longer sentences, and more places asked for than there are."""
    rng = np.random.default_rng(seed)
    few = rng.normal(size=(3, 4))
    few = few[by_slice(few, 3)[0][[2, 0, 1]]]  # neither the order of the sentence is right nor back
    return [
        Case((np.array([[0.0], [1.0]]), 1), "two words, 0 and 1", kind="ordinary cases"),
        Case((rng.normal(size=(5, 3)), 2), kind="ordinary cases"),
        Case((rng.normal(size=(7, 2)), 3), kind="ordinary cases"),
        Case((rng.normal(size=(4, 6)), 4), "k is the number of words", kind="ordinary cases"),
        Case((few, 8), "k is larger than the number of words", kind="edge cases"),
    ]


@task.diagnostic
def not_all_ones(args, result):
    """The trace that a sum along rows leaves."""
    received, T = np.asarray(result[1]), len(args[0])
    if received.shape == (T,) and np.allclose(received, 1.0):
        if np.allclose(attention_received(*args)[1], 1.0):
            return None  # here that is right
        return "Every word receives exactly 1, whatever the words are."
    return None


@task.diagnostic
def shares_out_all(args, result):
    """T words give a weight of 1 each."""
    received, T = np.asarray(result[1]), len(args[0])
    if received.shape == (T,) and not np.isclose(received.sum(), T):
        return (
            f"{T} words give 1 each, so all of them together receive {T}; here it is "
            f"{received.sum():.4g}."
        )
    return None
