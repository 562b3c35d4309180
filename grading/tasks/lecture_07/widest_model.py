"""The widest model for a number of parameters."""

import math

import numpy as np

from grading.author import Case, TaskFile

task = TaskFile(
    "implement",
    points=10,
    minutes=22,
    extra=True,
    section="Where the parameters are",
    outcome="run an ablation of a stack of twelve blocks, with a learning rate tuned for "
    "each variant, and count a block's parameters by a formula",
    results=("d_model", "the number of parameters"),
    hints=(
        "First write a function that counts, for a given width. `parameter_formula` in the lecture "
        "counts one block.",
        "A loop over widths is fast enough: in steps of `n_heads`, the widest case needs fewer "
        "than 200.",
        "What does the model have besides its blocks? There are two or three such things.",
    ),
)


def _count(d, n_blocks, vocab, tied):
    return n_blocks * (12 * d * d + 13 * d) + 2 * d + vocab * d * (1 if tied else 2)


# %% the cell
def widest_model(budget, n_blocks, n_heads, vocab, tied):
    """The largest d_model for at most `budget` parameters, and the number of parameters."""
    # BEGIN SOLUTION
    n_tables = 1 if tied else 2  # embedding, and output layer

    def count(d):
        attention = 4 * (d * d + d)
        network = 2 * d * 4 * d + 4 * d + d
        norms = 2 * 2 * d
        return n_blocks * (attention + network + norms) + 2 * d + n_tables * vocab * d

    d = n_heads
    while count(d + n_heads) <= budget:
        d += n_heads
    return d, count(d)
    # END SOLUTION


# %%


def _widest(count, step=None, strictly=False, beyond=False):
    """A search by steps, with this way to count and these ways to stop."""

    def answer(budget, n_blocks, n_heads, vocab, tied):
        width = step or n_heads
        d = width
        while count(d + width, n_blocks, vocab, tied) <= budget - strictly:
            d += width
        d += width * beyond
        return d, count(d, n_blocks, vocab, tied)

    return answer


@task.alternative
def by_equation(budget, n_blocks, n_heads, vocab, tied):
    """The quadratic equation is solved, and rounded down."""
    a, b = 12 * n_blocks, 13 * n_blocks + 2 + vocab * (2 - tied)
    root = (math.sqrt(b * b + 4 * a * budget) - b) / (2 * a)
    d = int(root) // n_heads * n_heads
    while _count(d + n_heads, n_blocks, vocab, tied) <= budget:  # the root was rounded
        d += n_heads
    return d, _count(d, n_blocks, vocab, tied)


@task.alternative
def by_parts(budget, n_blocks, n_heads, vocab, tied):
    """Each part for itself, and halving."""

    def count(d):
        attention, network, norms = 4 * (d * d + d), 8 * d * d + 5 * d, 4 * d
        return n_blocks * (attention + network + norms) + 2 * d + vocab * d * (2 - bool(tied))

    low, high = 1, budget
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (middle, high) if count(middle * n_heads) <= budget else (low, middle)
    return [low * n_heads, count(low * n_heads)]


def _off(blocks=0, last=0):
    """A count that differs by so many times d in each block, and at the end."""
    return lambda d, n, vocab, tied: _count(d, n, vocab, tied) + n * blocks * d + last * d


rounded = _widest(lambda d, n, vocab, tied: 12 * n * d * d + vocab * d * (2 - tied))

task.mistake(
    "The norms are not counted. Each has a scale and a shift.",
    _widest(_off(blocks=-4, last=-2)),
)
task.mistake(
    "The blocks are counted correctly. But a pre-norm stack has one more norm, at its end.",
    _widest(_off(last=-2)),
)
task.mistake(
    "The last norm is counted once for each block. The stack has one such norm, at its end.",
    _widest(_off(blocks=2, last=-2)),
)
task.mistake("A norm has a scale *and* a shift.", _widest(_off(blocks=-2, last=-1)))
task.mistake(
    "The biases of the blocks are not counted: all six matrices have one.",
    _widest(_off(blocks=-9)),
)
task.mistake("The four matrices of attention have biases, too.", _widest(_off(blocks=-4)))
task.mistake(
    "The second matrix of the feed-forward network has a bias of d_model numbers: one for each "
    "*output*.",
    _widest(_off(blocks=3)),
)
task.mistake(
    "The first matrix of the feed-forward network has a bias of 4 · d_model numbers: one for each "
    "*output*.",
    _widest(_off(blocks=-3)),
)
task.mistake(
    "12 · d_model² leaves out the biases and the norms. Give the exact count.",
    rounded,
)
task.mistake(
    "The norm at the end is counted. But 12 · d_model² is only a rule of thumb for a block: with "
    "all its biases and two norms, it has 13 · d_model more.",
    _widest(_off(blocks=-13)),
)
task.mistake(
    "Embedding and output layer are not counted.",
    _widest(lambda d, n, vocab, tied: _count(d, n, 0, tied)),
)
task.mistake(
    "If they are tied, embedding and output layer are *one* matrix.",
    _widest(lambda d, n, vocab, tied: _count(d, n, vocab, False)),
)
task.mistake(
    "If they are not tied, the output layer is a matrix of its own.",
    _widest(lambda d, n, vocab, tied: _count(d, n, vocab, True)),
)
task.mistake(
    "The output layer has no bias here.",
    _widest(lambda d, n, vocab, tied: _count(d, n, vocab, tied) + vocab * (not tied)),
)
task.mistake(
    "The heads share d_model evenly, so it has to be a multiple of their number.",
    _widest(_count, step=1),
)
task.mistake(
    "A budget may be used up to the last parameter: *at most*.",
    _widest(_count, strictly=True),
)
task.mistake(
    "This is the first width that is too large. Take the one before it.",
    _widest(_count, beyond=True),
)


@task.mistake("Return two numbers: the width, and the count of parameters.")
def width_alone(budget, n_blocks, n_heads, vocab, tied):
    return widest_model(budget, n_blocks, n_heads, vocab, tied)[0]


@task.mistake("The two numbers are swapped: the width comes first.")
def other_order(budget, n_blocks, n_heads, vocab, tied):
    return widest_model(budget, n_blocks, n_heads, vocab, tied)[::-1]


@task.mistake(
    "The width is right. The second number is the parameter count of this model, not the budget."
)
def budget_returned(budget, n_blocks, n_heads, vocab, tied):
    return widest_model(budget, n_blocks, n_heads, vocab, tied)[0], budget


@task.mistake(
    "The width is right. But the second number belongs to the width before you rounded it down to "
    "a multiple of the number of heads: count again afterwards."
)
def count_before_rounding(budget, n_blocks, n_heads, vocab, tied):
    d = widest_model(budget, n_blocks, n_heads, vocab, tied)[0]
    while _count(d + 1, n_blocks, vocab, tied) <= budget:
        d += 1
    return d // n_heads * n_heads, _count(d, n_blocks, vocab, tied)


@task.mistake(
    "The width is right. But the second number belongs to the next width, which is too large: "
    "when did you count?"
)
def count_of_the_next(budget, n_blocks, n_heads, vocab, tied):
    d, _ = widest_model(budget, n_blocks, n_heads, vocab, tied)
    return d, _count(d + n_heads, n_blocks, vocab, tied)


task.mistake(
    "The two matrices of the feed-forward network have biases, too.", _widest(_off(blocks=-5))
)


task.mistake(
    "Attention has four matrices. Three compute queries, keys and values; which one is missing?",
    _widest(lambda d, n, vocab, tied: _count(d, n, vocab, tied) - n * (d * d + d)),
)
task.edit(
    "`tied` is inverted: a tied model has one table, otherwise there are two.",
    "1 if tied else 2",
    "2 if tied else 1",
)


@task.cases
def cases(seed):
    """Budgets that are met exactly, missed by one, and others; then a famous one."""
    rng = np.random.default_rng(seed)
    found = [
        Case((50, 1, 1, 5, True), "the example", kind="ordinary cases"),
        Case((37, 1, 1, 5, False), "hit exactly", kind="edge cases"),
    ]
    for tied in (True, False):
        for spare in (0, -1, None):
            n_blocks, n_heads = int(rng.integers(2, 9)), int(rng.integers(3, 9))
            vocab, d = int(rng.integers(50, 900)), n_heads * int(rng.integers(4, 20))
            budget = _count(d, n_blocks, vocab, tied)
            budget += int(rng.integers(1, 20) * d) if spare is None else spare
            note = f"budget {budget:,}, {n_blocks} blocks, {n_heads} heads, vocab {vocab}, "
            found.append(
                Case(
                    (budget, n_blocks, n_heads, vocab, tied),
                    f"{note}tied = {tied}",
                    kind="ordinary cases",
                )
            )
    found.append(
        Case(
            (175_000_000_000, 96, 96, 50_257, True),
            "175 billion, 96 blocks, 96 heads",
            kind="ordinary cases",
        )
    )
    return found


@task.diagnostic
def what_is_odd(args, result):
    """Whether the width fits, and whether the count does."""
    budget, n_blocks, n_heads, vocab, tied = args
    d, count = result
    if count < d:
        return None  # as if the two were swapped
    if d % n_heads:
        return f"d_model = {d} cannot be split into {n_heads} heads."
    right = _count(d, n_blocks, vocab, tied)
    if count != right:
        off = f"{abs(count - right):,} too {'many' if count > right else 'few'}"
        return f"A model with d_model = {d} does not have {count:,} parameters: {off}."
    if right > budget:
        return f"With d_model = {d} it has {right:,} parameters: more than {budget:,}."
    return f"The count for d_model = {d} is right. But a wider model fits, too."
