"""Two property tests: does a layer know the order of words, and does it know too much?"""

import torch

from grading.author import Case, TaskFile

task = TaskFile(
    "implement",
    points=12,
    minutes=29,
    section="What a causal mask tells",
    outcome="test whether a layer can tell the order of its tokens, find a bug in which it cannot, "
    "and say what a causal mask alone tells",
    hints=(
        "Two questions, two functions. For “order”, the equation is layer(x[:, order]) = "
        "layer(x)[:, order], for every order.",
        "For “batch”, a sentence alone is a batch of one: x[b : b + 1]. What should its output be?",
        "For each test think of a bad layer that would pass it: one that depends on distance, one "
        "that treats the last word in its own way, one that takes a mean over the batch.",
    ),
)


def _same(a, b):
    return torch.allclose(a, b, rtol=0, atol=1e-6)


def _orders(n, seed=0):
    generator = torch.Generator().manual_seed(seed)
    return [torch.randperm(n, generator=generator) for _ in range(20)]


def _minds_order(layer, x):
    out = layer(x)
    return not all(_same(layer(x[:, order]), out[:, order]) for order in _orders(x.shape[1]))


def _minds_batch(layer, x):
    out = layer(x)
    return not all(_same(layer(x[b : b + 1])[0], out[b]) for b in range(len(x)))


# %% the cell
def order_and_batch(layer, x):
    """Whether the outputs for x (batch, T, d) depend on word order, and on the batch."""
    # BEGIN SOLUTION
    out, orders = layer(x), [torch.randperm(x.shape[1]) for _ in range(20)]

    def same(a, b):
        return torch.allclose(a, b, rtol=0, atol=1e-6)

    order = not all(same(layer(x[:, places]), out[:, places]) for places in orders)
    batch = not all(same(layer(x[b : b + 1])[0], out[b]) for b in range(len(x)))
    return {"order": order, "batch": batch}
    # END SOLUTION


# %%


@task.alternative
def by_neighbours(layer, x):
    """Neighbours change places, and batches of every beginning."""
    out, T = layer(x), x.shape[1]
    order = batch = False
    for t in range(T - 1):
        places = torch.arange(T)
        places[[t, t + 1]] = places[[t + 1, t]]
        order = order or not _same(layer(x[:, places]), out[:, places])
    for b in range(len(x)):
        batch = (
            batch or not _same(layer(x[b:])[0], out[b]) or not _same(layer(x[: b + 1])[b], out[b])
        )
    return {"order": order, "batch": batch}


@task.alternative
def sentence_by_sentence(layer, x):
    """First the batch, then the order of each sentence alone."""
    alone = [layer(sentence[None]) for sentence in x]
    batch = not torch.allclose(torch.cat(alone), layer(x), rtol=1e-7, atol=1e-9)
    return {"batch": batch, "order": any(_minds_order(layer, sentence[None]) for sentence in x)}


@task.mistake(
    "Only the reversed order was tried. A layer that depends on distance alone passes that, since "
    "each pair keeps its distance. Try many random orders."
)
def backward_only(layer, x):
    order = not _same(layer(x.flip(1)), layer(x).flip(1))
    return {"order": order, "batch": _minds_batch(layer, x)}


@task.mistake(
    "The answer depends on luck, on which order was sampled. A layer that treats only the last "
    "word differently is not affected by an order that leaves it last. Sample many: one that "
    "makes a difference is enough."
)
def one_order(layer, x):
    order = torch.randperm(x.shape[1])
    return {
        "order": not _same(layer(x[:, order]), layer(x)[:, order]),
        "batch": _minds_batch(layer, x),
    }


@task.mistake(
    "Only the first two words changed positions. A layer that treats the last word in its own way "
    "passes that. Try many random orders of all words."
)
def first_two_only(layer, x):
    places = torch.tensor([1, 0, *range(2, x.shape[1])])
    order = not _same(layer(x[:, places]), layer(x)[:, places])
    return {"order": order, "batch": _minds_batch(layer, x)}


@task.mistake(
    "Words were only shifted in a circle, where each keeps its neighbours. A layer that copies "
    "the word on the left passes that. Try many random orders."
)
def shifts_only(layer, x):
    order = not all(
        _same(layer(x.roll(n, dims=1)), layer(x).roll(n, dims=1)) for n in range(x.shape[1])
    )
    return {"order": order, "batch": _minds_batch(layer, x)}


@task.mistake(
    "You require that the outputs stay where they are. But if words change positions, their "
    "outputs move along: compare layer(x[:, order]) with layer(x)[:, order]."
)
def must_not_change(layer, x):
    order = not all(_same(layer(x[:, order]), layer(x)) for order in _orders(x.shape[1]))
    return {"order": order, "batch": _minds_batch(layer, x)}


@task.mistake(
    "Sums in another order are rounded differently, so equal outputs may differ in the last "
    "digit. Compare with torch.allclose."
)
def exact(layer, x):
    out = layer(x)
    order = not all(torch.equal(layer(x[:, o]), out[:, o]) for o in _orders(x.shape[1]))
    return {"order": order, "batch": _minds_batch(layer, x)}


@task.mistake(
    "For “order” the sentences were reordered: axis 0 is the batch. The words are on axis 1: x[:, "
    "order]."
)
def sentences_scrambled(layer, x):
    out = layer(x)
    order = not all(_same(layer(x[order]), out[order]) for order in _orders(len(x)))
    return {"order": order, "batch": _minds_batch(layer, x)}


@task.mistake(
    "“order” is False for every layer. Do you require that *all* orders make a difference? The "
    "unchanged one never does. A single order that makes a difference is enough."
)
def every_order(layer, x):
    out = layer(x)
    orders = [torch.arange(x.shape[1]), *_orders(x.shape[1])]
    order = all(not _same(layer(x[:, o]), out[:, o]) for o in orders)
    return {"order": order, "batch": _minds_batch(layer, x)}


@task.mistake(
    "A layer with a code for the index of each sentence passes your test, because the sentences "
    "that you compare keep their index; sentence 0 alone does, too. Try every sentence alone."
)
def first_sentence_only(layer, x):
    batch = not _same(layer(x[:1])[0], layer(x)[0])
    return {"order": _minds_order(layer, x), "batch": batch}


@task.mistake(
    "This detects a code for the index of the sentence, but not that a sentence depends on the "
    "rest of the batch: a layer that subtracts the mean of the batch treats all sentences alike."
)
def sentences_swapped(layer, x):
    out = layer(x)
    batch = not all(_same(layer(x[order]), out[order]) for order in _orders(len(x)))
    return {"order": _minds_order(layer, x), "batch": batch}


@task.mistake(
    "Two different sentences were compared with each other, and they differ in any case. Compare "
    "each sentence with itself: once in the batch, once alone."
)
def different_sentences(layer, x):
    out = layer(x)
    return {"order": _minds_order(layer, x), "batch": not _same(out[0], out[1])}


task.mistake(
    "The same batch was run twice, so nothing could differ. Change what else is in the batch.",
    lambda layer, x: {"order": _minds_order(layer, x), "batch": not _same(layer(x), layer(x))},
)
task.mistake(
    "True and False are swapped: True means that the output depends on it.",
    lambda layer, x: {"order": not _minds_order(layer, x), "batch": not _minds_batch(layer, x)},
)
task.mistake(
    "Both tests are right, but each result is under the other's name.",
    lambda layer, x: {"order": _minds_batch(layer, x), "batch": _minds_order(layer, x)},
)


@task.harness
def harness(answer, name, x):
    """Make the layer of this name, and ask what it minds: of one batch, or of many."""
    import torch

    def codes(n, d):
        features = torch.arange(d, dtype=torch.float64)
        speeds = 10_000 ** (-(features - features % 2) / d)
        return torch.sin(torch.arange(n)[:, None] * speeds + torch.pi / 2 * (features % 2))

    def attention(x, bias=0.0):
        return (x @ x.mT + bias).softmax(dim=-1) @ x

    def by_place(x):
        return x + codes(x.shape[1], x.shape[2])

    def by_sentence(x):
        return x + codes(x.shape[0], x.shape[2])[:, None]

    def by_distance(x):
        places = torch.arange(x.shape[1])
        return attention(x, -0.5 * (places[:, None] - places).abs())

    def so_far(x):
        counts = torch.arange(1, x.shape[1] + 1)[:, None]
        return x.cumsum(dim=1) / counts

    def last_louder(x):
        out = attention(x).clone()
        out[:, -1] *= 2
        return out

    def first_larger(x):
        return attention(x) + (x[:, :1, :1] > x[:, 1:2, :1])

    layers = {
        "each word for itself": torch.tanh,
        "attention without codes": attention,
        "attention with a code for each place": lambda x: attention(by_place(x)),
        "attention with a code for each sentence": lambda x: attention(by_sentence(x)),
        "attention with both codes": lambda x: attention(by_sentence(by_place(x))),
        "attention that fades on both sides": by_distance,
        "the average so far": so_far,
        "the word on the left, in a circle": lambda x: x.roll(1, dims=1),
        "attention in which the last word counts double": last_louder,
        "attention that adds 1 if the first word is the larger one": first_larger,
        "attention less the mean of the batch": lambda x: attention(x) - x.mean(dim=0),
    }
    if x.dim() == 3:
        return answer(layers[name], x)
    said = [answer(layers[name], batch) for batch in x]
    if not all(type(s) is dict and {"order", "batch"} <= set(s) for s in said):
        return said[0]
    # Not how often: that would follow the dice of the answer, and name no mistake.
    often = {len(said): "always", 0: "never"}
    counts = {key: sum(bool(s[key]) for s in said) for key in ("order", "batch")}
    return {f"{key} is True": often.get(n, "now and then") for key, n in counts.items()}


@task.cases
def cases(seed):
    """Layers that mind neither, one, or both."""
    generator = torch.Generator().manual_seed(seed)
    names = [
        ("each word for itself", (2, 3, 2)),
        ("attention with a code for each place", (2, 4, 6)),
        ("attention with a code for each sentence", (3, 4, 6)),
        ("attention without codes", (3, 5, 4)),
        ("attention with both codes", (3, 6, 4)),
        ("attention that fades on both sides", (2, 5, 4)),
        ("the average so far", (4, 5, 3)),
        ("the word on the left, in a circle", (3, 5, 2)),
        ("attention in which the last word counts double", (2, 6, 3)),
        ("attention less the mean of the batch", (4, 3, 5)),
        ("attention that adds 1 if the first word is the larger one", (40, 2, 4, 3)),
        ("attention in which the last word counts double", (40, 2, 5, 4)),
        ("attention without codes", (2, 7, 8)),
    ]
    return [
        Case(
            (name, torch.randn(shape, dtype=torch.float64, generator=generator)),
            name + (f", asked with {shape[0]} batches" if len(shape) == 4 else ""),
            kind="ordinary cases",
        )
        for name, shape in names
    ]


@task.diagnostic
def which_way(args, result):
    """What this test says of the layer, and what is so."""
    right = {
        "each word for itself": (False, False),
        "attention without codes": (False, False),
        "attention with a code for each sentence": (False, True),
        "attention less the mean of the batch": (False, True),
        "attention with both codes": (True, True),
    }.get(args[0], (True, False))
    for key, minds in zip(("order", "batch"), right, strict=True):
        said = result.get(f"{key} is True", result.get(key))
        if said == "now and then":
            return (
                f"Asked {len(args[1])} times about this layer, each time with other words, your "
                f"test only sometimes says that it depends on the {key}. The answer must not "
                "depend on luck."
            )
        if said in ((False, "never") if minds else (True, "always")):
            does = "does" if minds else "does not"
            return (
                f"The layer “{args[0]}” {does} depend on the {key}, but your test says otherwise."
            )
    return None
