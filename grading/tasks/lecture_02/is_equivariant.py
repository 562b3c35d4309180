"""A property test: does a layer treat the order of words as self-attention does?"""

import itertools

import numpy as np

from grading.author import Case, TaskFile

task = TaskFile(
    "implement",
    points=12,
    minutes=24,
    section="What always holds, and what it costs",
    outcome="name what holds for any vectors, and what attention costs for T tokens",
    hints=(
        "Written as an equation the property is: layer(x[order]) equals layer(x)[order], for every "
        "order.",
        "A test that passes every good layer is half of the work. For each order that you try, "
        "think of a bad layer that would slip through.",
        "`np.random.default_rng(0).permutation(T)` gives a random order. Make the generator once, "
        "before the loop, or you get the same order each time.",
    ),
)


# %% the cell
def is_equivariant(layer, x):
    """Whether reordering the rows of x (T, d) reorders layer(x) (T, d) in the same way."""
    # BEGIN SOLUTION
    rng = np.random.default_rng(0)
    out = layer(x)  # (T, d)
    for _ in range(20):
        order = rng.permutation(len(x))  # (T,)
        if not np.allclose(layer(x[order]), out[order], rtol=0, atol=1e-6):
            return False
    return True
    # END SOLUTION


# %%


@task.alternative
def by_neighbours(layer, x):
    """Every reordering is made of swaps of neighbours."""
    out, places = layer(x), np.arange(len(x))
    for i in range(len(x) - 1):
        order = places.copy()
        order[[i, i + 1]] = order[[i + 1, i]]
        if abs(layer(x[order]) - out[order]).max() > 1e-6:
            return False
    return True


@task.alternative
def all_orders(layer, x):
    """Every order, and the result put back by argsort."""
    out = layer(x)
    return all(
        np.allclose(layer(x[list(order)])[np.argsort(order)], out, rtol=0, atol=1e-6)
        for order in itertools.islice(itertools.permutations(range(len(x))), 720)
    )


def _orders(x):
    rng = np.random.default_rng(0)
    return [rng.permutation(len(x)) for _ in range(20)]


def _as_soon_as_one(of):
    def passes(layer, x):
        rng, out = np.random.default_rng(0), layer(x)
        orders = (rng.permutation(len(x)) for _ in range(of))
        return any(np.allclose(layer(x[order]), out[order]) for order in orders)

    return passes


@task.mistake(
    "This test lets every layer pass. Compare numbers: layer(x[order]) with layer(x)[order]."
)
def always(layer, x):
    return layer(x[::-1]).shape == layer(x).shape


task.mistake(
    "Here the output must not change at all, which is invariance. Under equivariance the rows "
    "move with their words: compare with layer(x)[order].",
    lambda layer, x: all(np.allclose(layer(x[order]), layer(x)) for order in _orders(x)),
)
task.mistake(
    "This rejects layers that are equivariant. Sums in another order are rounded differently: do "
    "you compare with np.allclose? And does each order take every row exactly once, as "
    "`rng.permutation` does?",
    lambda layer, x: all((layer(x[order]) == layer(x)[order]).all() for order in _orders(x)),
)
task.mistake(
    "Only the reversed order was tried. A layer that adds up both neighbours passes that: after "
    "the reversal the neighbours are the same. Try many random orders.",
    lambda layer, x: np.allclose(layer(x[::-1]), layer(x)[::-1]),
)


@task.mistake(
    "Only shifts were tried, where every word keeps its neighbours. A layer that copies the word "
    "on the left passes that. Try many random orders."
)
def shifts_only(layer, x):
    return all(
        np.allclose(layer(np.roll(x, n, axis=0)), np.roll(layer(x), n, axis=0))
        for n in range(len(x))
    )


@task.mistake(
    "Only the first two words were swapped. A layer that treats the last word in its own way "
    "passes that. Try many random orders."
)
def first_two_only(layer, x):
    order = [1, 0, *range(2, len(x))]
    return np.allclose(layer(x[order]), layer(x)[order])


task.mistake(
    "layer(x[order])[order] reorders a second time. To undo the reordering you need the inverse, "
    "np.argsort(order); or reorder the other side: layer(x)[order].",
    lambda layer, x: all(np.allclose(layer(x[order])[order], layer(x)) for order in _orders(x)),
)
task.mistake(
    "The answer is True as soon as one order agrees, and the identity always does. All orders "
    "that you try must agree; return True after the loop.",
    _as_soon_as_one(20),
)
task.mistake(
    "The answer is True as soon as one of many orders agrees. All that you try must agree: return "
    "False as soon as one does not, and True after the loop.",
    _as_soon_as_one(100),
)


@task.mistake(
    "Only one order was tried, and of two words it was the identity. Does your loop return in "
    "its first round, or make a new generator in each, with the same seed? Make the generator "
    "before the loop, and return True after it."
)
def first_order_only(layer, x):
    order = _orders(x)[0]
    return np.allclose(layer(x[order]), layer(x)[order])


@task.mistake(
    "Only one random order was tried, and some orders show nothing. Does your loop return in its "
    "first round? Try many orders, and return True after the loop."
)
def one_order_by_chance(layer, x):
    order = np.random.permutation(len(x))  # noqa: NPY002
    return np.allclose(layer(x[order]), layer(x)[order])


@task.mistake(
    "In this comparison it does not matter at which word a number stands. A layer that gives right "
    "rows to the wrong words passes it. Row by row, compare with layer(x)[order]."
)
def as_heaps(layer, x):
    return all(
        np.allclose(np.sort(layer(x[order]), axis=0), np.sort(layer(x), axis=0))
        for order in _orders(x)
    )


@task.mistake(
    "Only sums over all words were compared, or differences that cancel in a mean. A layer that "
    "gives right rows to the wrong words passes that. Compare each number with that of "
    "layer(x)[order]."
)
def sums_only(layer, x):
    return all(np.allclose(layer(x[o]).sum(axis=0), layer(x).sum(axis=0)) for o in _orders(x))


task.mistake(
    "True and False are swapped: True means that the layer is equivariant.",
    lambda layer, x: not is_equivariant(layer, x),
)


@task.mistake(
    "rng.shuffle(x) reorders x itself and does not return the order, so layer(x) cannot follow. "
    "Draw an order, rng.permutation(len(x)), and take x[order]."
)
def shuffled(layer, x):
    rng = np.random.default_rng(0)
    out = layer(x)
    for _ in range(20):
        rng.shuffle(x)
        if not np.allclose(layer(x), out):
            return False
    return True


task.mistake(
    "The largest difference was taken with its sign, so a layer that only makes numbers smaller "
    "passes. Compare absolute values.",
    lambda layer, x: all((layer(x[order]) - layer(x)[order]).max() <= 1e-6 for order in _orders(x)),
)
task.mistake(
    "The largest difference was taken with its sign, so a layer that only makes numbers larger "
    "passes. Compare absolute values.",
    lambda layer, x: all((layer(x)[order] - layer(x[order])).max() <= 1e-6 for order in _orders(x)),
)


@task.mistake("Here the columns are reordered. A word is a row: x[order] and layer(x)[order].")
def columns_reordered(layer, x):
    rng = np.random.default_rng(0)
    orders = [rng.permutation(x.shape[1]) for _ in range(20)]
    return all(np.allclose(layer(x[:, order]), layer(x)[:, order]) for order in orders)


task.edit(
    "The tolerance is too large. Of a layer that is not equivariant, some number differs by more "
    "than 0.001, perhaps not by 0.01.",
    "atol=1e-6",
    "atol=1e-2",
)


@task.harness
def harness(answer, name, x):
    """Make the layer of this name and ask whether it is equivariant, often: a test may use dice."""
    import numpy as np

    def attention(x):
        scores = x @ x.T
        exp = np.exp(scores - scores.max(axis=-1, keepdims=True))
        return exp / exp.sum(axis=-1, keepdims=True) @ x

    def last_louder(x):
        out = attention(x)
        out[-1] *= 2
        return out

    def fading(x):
        states, state = [], np.zeros(x.shape[1])
        for row in x:
            state = 0.5 * state + 0.5 * row
            states.append(state)
        return np.array(states)

    def so_far(x):
        return np.cumsum(x, axis=0) / np.arange(1, len(x) + 1)[:, None]

    def less_behind_larger(x):
        behind = [i > 0 and x[:i, 0].max() > x[i, 0] for i in range(len(x))]
        return np.tanh(x) - np.array(behind)[:, None]

    def slightly_by_position(x):
        return np.tanh(x) + 0.002 * np.arange(len(x))[:, None]

    layers = {
        "self-attention": attention,
        "the average for everyone": lambda x: np.tile(x.mean(axis=0), (len(x), 1)),
        "each word for itself": np.tanh,
        "each word for itself, plus 0.002 times its position": slightly_by_position,
        "a fading state": fading,
        "the average so far": so_far,
        "the word on the left": lambda x: np.roll(x, 1, axis=0),
        "both neighbours, in a circle": lambda x: np.roll(x, 1, axis=0) + np.roll(x, -1, axis=0),
        "attention in which the last word counts double": last_louder,
        "each column sorted": lambda x: np.sort(x, axis=0),
        "each word for itself, less 1 if a larger one comes before it": less_behind_larger,
    }
    said = [answer(layers[name], x) for _ in range(8)]
    if not all(isinstance(s, bool | np.bool_) for s in said) or len(set(map(bool, said))) == 1:
        return said[0]
    return "now and then"


@task.cases
def cases(seed):
    """Layers that keep the property, and layers that break it in ways that are easy to miss."""
    rng = np.random.default_rng(seed)
    names = [
        ("each word for itself", (2, 1)),
        ("a fading state", (2, 3)),
        ("self-attention", (6, 4)),
        ("the average for everyone", (7, 4)),
        ("each word for itself", (5, 2)),
        ("the average so far", (3, 2)),
        ("the word on the left", (5, 4)),
        ("both neighbours, in a circle", (6, 2)),
        ("attention in which the last word counts double", (4, 3)),
        ("each column sorted", (5, 2)),
        ("each word for itself, plus 0.002 times its position", (4, 2)),
        ("self-attention", (7, 5)),
    ]
    made = [
        Case((name, rng.normal(size=shape)), f"{shape[0]} words", kind="ordinary cases")
        for name, shape in names
    ]
    rising = rng.normal(size=(4, 3))
    rising = rising[np.argsort(rising[:, 0])]
    last = "each word for itself, less 1 if a larger one comes before it"
    made.append(Case((last, rising), "4 words, their first numbers rising", kind="ordinary cases"))
    made.append(
        Case(
            (last, rising[::-1].copy()),
            "4 words, their first numbers falling",
            kind="ordinary cases",
        )
    )
    return made


@task.diagnostic
def which_way(args, result):
    """Which of the two errors a test can make this one made."""
    if result == "now and then":
        if args[0] in ("each word for itself", "self-attention", "the average for everyone"):
            return (
                f"Asked eight times about the layer “{args[0]}”, which is equivariant, your test "
                "sometimes says False. Do both sides use the same order, and may they differ by a "
                "rounding error?"
            )
        return (
            f"Asked eight times about the layer “{args[0]}”, your test sometimes says True and "
            "sometimes False. One random order may show nothing by luck: try many, and return "
            "True after the loop."
        )
    if result is True:
        return f"The layer “{args[0]}” treats positions differently, but your test lets it pass."
    if result is False:
        return f"The layer “{args[0]}” is equivariant, but your test rejects it."
    return None
