"""Attention as a program: 32 labels told apart by queries and keys of two numbers."""

import numpy as np

from grading.author import Case, TaskFile

task = TaskFile(
    "implement",
    points=14,
    minutes=32,
    section="A head that learns to look something up",
    outcome="write one head as a module, check it against other implementations, and "
    "read what a trained one has learned",
    rtol=0.0,
    atol=0.01,
    hints=(
        "Queries and keys are points in the plane. For a query, the key with the largest dot "
        "product is the one that reaches farthest in the query's direction. How must n points lie "
        "so that each of them reaches farthest in some direction?",
        "In *Deeper*, the lecture draws the keys of a head with d_k = 2 and says which ones are "
        "never found. It also says how the keys would have to be placed so that each is found.",
        "If the keys lie on the unit circle and the query points at the right key, the scores of "
        "that key and its neighbour differ by the query's length times (1 − cos(2π/n)) / √2. For "
        "n = 32 that cosine is 0.981. How long must a query be for this difference, "
        "the lead of the right key, to be 20?",
    ),
)


def _circle(n, angles=None):
    """A point on the circle for each label, (n, 2)."""
    angles = 2 * np.pi * np.arange(n) / n if angles is None else angles
    return np.stack([np.cos(angles), np.sin(angles)], axis=1)


def _matrices(wishes, labels):
    """The three projections, from what wishes (n, 2) and labels (n, 2) are turned into."""
    n, nothing = len(labels), np.zeros((len(labels), 2))
    W_query = np.concatenate([nothing, wishes, np.zeros((1, 2))])
    W_key = np.concatenate([labels, nothing, np.zeros((1, 2))])
    return W_query, W_key, np.eye(2 * n + 1)[:, -1:]


# %% the cell
def low_rank_lookup(n):
    """W_query (2n + 1, 2), W_key (2n + 1, 2) and W_value (2n + 1, 1) for n labels."""
    # BEGIN SOLUTION
    angles = 2 * np.pi * np.arange(n) / n  # (n,)
    points = np.stack([np.cos(angles), np.sin(angles)], axis=1)  # (n, 2)
    W_query, W_key, W_value = (np.zeros((2 * n + 1, width)) for width in (2, 2, 1))
    W_query[n : 2 * n] = 10_000 * points  # the wish asks
    W_key[:n] = points  # the label is asked
    W_value[-1] = 1  # the seeds are handed over
    return W_query, W_key, W_value
    # END SOLUTION


# %%


@task.alternative
def on_a_parabola(n):
    """The score is −(wish − label)², but for what a row has in common."""
    numbers = np.arange(n)
    wishes = np.stack([2 * numbers, np.ones(n)], axis=1)
    return _matrices(50 * wishes, np.stack([numbers, -(numbers**2.0)], axis=1))


@task.alternative
def half_circle(n):
    """Half of the circle will do, and the keys may be long."""
    points = _circle(n, np.pi * np.arange(n) / n)
    return _matrices(200 * points, 200 * points)


task.mistake(
    "The directions are right, but every gardener collects a mixture, because the scores of "
    "neighbours differ too little. Make the queries longer.",
    lambda n: _matrices(_circle(n), _circle(n)),
)


@task.mistake(
    "The directions are right, and a factor of 20 is enough for a few labels. With 32 labels on a "
    "circle, the cosine of two neighbours is 0.98, so their scores differ by only a seventieth of "
    "the query's length times the key's. Make the queries much longer."
)
def twenty(n):
    return _matrices(20 * _circle(n), _circle(n))


task.mistake(
    "The directions are right, and the queries are long enough for a few labels. With 32 labels "
    "on a circle, the scores of two neighbours differ by only a seventieth of the query's length "
    "times the key's. Make the queries much longer.",
    lambda n: _matrices(100 * _circle(n), _circle(n)),
)


@task.mistake(
    "The first and the last label have the same position on the circle: an angle of 2π is an "
    "angle of 0. Take 2π · i / n for i from 0 to n − 1."
)
def ends_meet(n):
    points = _circle(n, np.linspace(0, 2 * np.pi, n))
    return _matrices(10_000 * points, points)


task.mistake(
    "The angles are 360 · i / n, in degrees, but np.cos expects radians: a full turn is 2π. So "
    "the points do not follow each other around the circle, and some end up next to each other.",
    lambda n: _matrices(
        10_000 * _circle(n, 360 * np.arange(n) / n), _circle(n, 360 * np.arange(n) / n)
    ),
)


@task.mistake(
    "The keys lie on a straight line. In any direction one of the two ends of a line reaches "
    "farthest, so the labels in between are never found. Place the keys on a curve. (A number "
    "that is the same in all keys does not help: it adds the same to every score of a row.)"
)
def on_a_line(n):
    points = np.stack([np.arange(n), np.zeros(n)], axis=1)
    return _matrices(100.0 * points, points)


@task.mistake(
    "The keys of larger labels are longer, and a long key gets a high score from every query near "
    "its direction. Give all keys the same length."
)
def spiral(n):
    points = _circle(n) * np.arange(1, n + 1)[:, None]
    return _matrices(10_000 * points, points)


@task.mistake(
    "Every gardener collects from her own jar: the query is computed from the label. Compute it "
    "from the wish, in the rows n to 2n − 1 of W_query."
)
def own_jar(n):
    W_query, W_key, W_value = low_rank_lookup(n)
    return np.roll(W_query, -n, axis=0), W_key, W_value


@task.mistake(
    "The query is computed from the label and the key from the wish, so everyone finds those who "
    "wish for her own jar. Exchange the two."
)
def who_wants_mine(n):
    W_query, W_key, W_value = low_rank_lookup(n)
    return W_key * 10_000, W_query / 10_000, W_value


@task.mistake(
    "The number of seeds enters queries and keys, so the scores depend on what is in a jar. The "
    "last row of W_query and of W_key should be 0."
)
def seeds_in_scores(n):
    W_query, W_key, W_value = low_rank_lookup(n)
    W_query[-1] = W_key[-1] = 1.0
    return W_query, W_key, W_value


task.mistake(
    "All wishes give the same query. Row n + i of W_query is the query of anyone who wishes for "
    "label i.",
    lambda n: _matrices(np.ones((n, 2)) * 10_000, _circle(n)),
)


@task.mistake(
    "W_value does not read the number of seeds. It is in the last position of x, so only the last "
    "row of W_value is not 0."
)
def label_collected(n):
    W_query, W_key, W_value = low_rank_lookup(n)
    return W_query, W_key, np.roll(W_value, 1, axis=0)


task.mistake(
    "The queries point away from the keys that they wish for. Change the sign.",
    lambda n: _matrices(-10_000 * _circle(n), _circle(n)),
)


@task.mistake(
    "With one axis for each label this would be easy. But queries and keys have only two numbers: "
    "place the labels in the plane."
)
def one_hot(n):
    W_query, W_key = np.zeros((2, 2 * n + 1, n))
    W_query[n : 2 * n], W_key[:n] = 1000 * np.eye(n), np.eye(n)
    return W_query, W_key, np.eye(2 * n + 1)[:, -1:]


task.mistake(
    "The directions are right, and a query of this length would give a lead of 20 if neighbours "
    "were at a right angle. On a circle with many labels, neighbours are closer, and the lead "
    "shrinks with the angle. Make the queries much longer.",
    lambda n: _matrices(20 * np.sqrt(2) * _circle(n), _circle(n)),
)


@task.mistake(
    "The matrices hold whole numbers, so everything after the decimal point was dropped: only −1, "
    "0 and 1 are left of the cosines and sines. Fill arrays of floating-point numbers."
)
def whole_numbers(n):
    W_query, W_key, W_value = low_rank_lookup(n)
    return W_query.astype(int), W_key.astype(int), W_value


@task.mistake(
    "Every gardener collects two seeds too many. W_value also adds the ones that encode label and "
    "wish: only its last row, that of the number, may be nonzero."
)
def ones_collected(n):
    W_query, W_key, W_value = low_rank_lookup(n)
    return W_query, W_key, np.ones_like(W_value)


@task.harness
def harness(answer, n, labels, wishes, numbers):
    """Stack the gardeners, and run one head with the answer's matrices."""
    import numpy as np

    matrices = answer(int(n))
    if matrices is None:
        return None
    if not isinstance(matrices, tuple | list) or len(matrices) != 3:
        raise ValueError("expected three matrices: W_query, W_key, W_value")
    matrices = [np.asarray(matrix, dtype=float) for matrix in matrices]
    names = ("W_query", "W_key", "W_value")
    for name, matrix, width in zip(names, matrices, (2, 2, 1), strict=True):
        if matrix.shape != (2 * n + 1, width):
            came = f"for n = {n}, {name} has shape {matrix.shape}"
            raise ValueError(f"{came}; expected {(2 * n + 1, width)}")
    x = np.zeros((len(labels), 2 * n + 1))
    x[np.arange(len(labels)), labels] = 1
    x[np.arange(len(labels)), n + wishes] = 1
    x[:, -1] = numbers
    q, k, v = (x @ matrix for matrix in matrices)
    with np.errstate(over="ignore", invalid="ignore"):
        scores = q @ k.T / np.sqrt(2)
    if not np.isfinite(scores).all():
        raise ValueError("the scores are too large for float64: make the queries shorter")
    exp = np.exp(scores - scores.max(axis=-1, keepdims=True))
    weights = exp / exp.sum(axis=-1, keepdims=True)
    wanted = weights[wishes[:, None] == labels]
    return {"collected": (weights @ v)[:, 0], "weight on the wanted jar": wanted}


@task.cases
def cases(seed):
    """Two labels; three; all of seven; up to 32; and 25, where angles in degrees fall together."""
    rng = np.random.default_rng(seed)

    def drawn(n, T):
        labels = rng.permutation(n)[:T]
        wishes = labels[rng.integers(T, size=T)]
        numbers = rng.permutation(np.arange(2, 2 + 3 * T, 3))
        return n, labels, wishes, numbers

    def each_wished_for(n):
        n, labels, _, numbers = drawn(n, n)
        return n, labels, rng.permutation(labels), numbers

    hand = (2, np.array([1, 0]), np.array([0, 0]), np.array([5, 8]))
    return [
        Case(hand, "two labels, both gardeners wish for 0", kind="ordinary cases"),
        Case(
            (3, np.array([2, 0, 1]), np.array([0, 1, 2]), np.array([4, 1, 7])),
            "three labels",
            kind="ordinary cases",
        ),
        Case(drawn(7, 7), "seven labels, all there", kind="ordinary cases"),
        Case(drawn(20, 6), "six of twenty labels", kind="ordinary cases"),
        Case(drawn(32, 32), "32 labels, all there", kind="ordinary cases"),
        Case(each_wished_for(25), "25 labels, each wished for", kind="ordinary cases"),
    ]


@task.diagnostic
def right_number(args, result):
    """What is wanted, with a gardener who misses it named."""
    _, labels, wishes, numbers = args
    held = dict(zip(labels.tolist(), numbers.tolist(), strict=True))
    rows = (labels.tolist(), wishes.tolist(), result["collected"])
    for i, (label, wish, came) in enumerate(zip(*rows, strict=True)):
        if not abs(came - held[wish]) <= 0.01:
            share = result["weight on the wanted jar"][i]
            said = (
                f"The gardener with label {label} wishes for {wish}, gives that jar {share:.3f} "
                f"of her weight, and collects {came:.4g}; the jar holds {held[wish]}."
            )
            near = (
                " She attends to the right jar, but too much weight still goes to others: the "
                "lead of its "
            )
            near += "score is too small. On a circle, the lead shrinks as labels are added."
            # From 0.9999 on, the others cannot make an error of 0.01: no jar holds more than 100.
            if share >= 0.9999:
                return said + " So her scores are right, and W_value is not."
            if share < 0.99 / len(labels):
                return said + " So another key reaches farther in the direction of her query."
            return said + near if share > 0.51 else said
    return None
