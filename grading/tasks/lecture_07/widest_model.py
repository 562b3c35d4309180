"""The widest model for a number of parameters."""

import math

import numpy as np

from grading.task import Case, Mistake, Task


def _count(d, n_blocks, vocab, tied):
    return n_blocks * (12 * d * d + 13 * d) + 2 * d + vocab * d * (1 if tied else 2)


def widest_model(budget, n_blocks, n_heads, vocab, tied):
    """The model answer."""
    return _widest(_count)(budget, n_blocks, n_heads, vocab, tied)


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


def by_equation(budget, n_blocks, n_heads, vocab, tied):
    """Right, in another way: the quadratic equation is solved, and rounded down."""
    a, b = 12 * n_blocks, 13 * n_blocks + 2 + vocab * (2 - tied)
    root = (math.sqrt(b * b + 4 * a * budget) - b) / (2 * a)
    d = int(root) // n_heads * n_heads
    while _count(d + n_heads, n_blocks, vocab, tied) <= budget:  # the root was rounded
        d += n_heads
    return d, _count(d, n_blocks, vocab, tied)


def by_parts(budget, n_blocks, n_heads, vocab, tied):
    """Right, in another way: each part for itself, and halving."""

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


no_norms = _widest(_off(blocks=-4, last=-2))
no_last_norm = _widest(_off(last=-2))
norms_halved = _widest(_off(blocks=-2, last=-1))
no_biases = _widest(_off(blocks=-9))
attention_alone_unbiased = _widest(_off(blocks=-4))
narrow_bias_wide = _widest(_off(blocks=3))
rounded = _widest(lambda d, n, vocab, tied: 12 * n * d * d + vocab * d * (2 - tied))
no_words = _widest(lambda d, n, vocab, tied: _count(d, n, 0, tied))
never_tied = _widest(lambda d, n, vocab, tied: _count(d, n, vocab, False))
always_tied = _widest(lambda d, n, vocab, tied: _count(d, n, vocab, True))
biased_readout = _widest(lambda d, n, vocab, tied: _count(d, n, vocab, tied) + vocab * (not tied))
any_width = _widest(_count, step=1)
strictly_below = _widest(_count, strictly=True)
first_above = _widest(_count, beyond=True)


def width_alone(budget, n_blocks, n_heads, vocab, tied):
    """Wrong: only the width."""
    return widest_model(budget, n_blocks, n_heads, vocab, tied)[0]


def other_order(budget, n_blocks, n_heads, vocab, tied):
    """Wrong: the count first."""
    return widest_model(budget, n_blocks, n_heads, vocab, tied)[::-1]


def budget_returned(budget, n_blocks, n_heads, vocab, tied):
    """Wrong: the budget in place of the count."""
    return widest_model(budget, n_blocks, n_heads, vocab, tied)[0], budget


def cases(seed):
    """Budgets that are met exactly, missed by one, and others; then a famous one."""
    rng = np.random.default_rng(seed)
    found = [Case((50, 1, 1, 5, True), "the example"), Case((37, 1, 1, 5, False), "hit exactly")]
    for tied in (True, False):
        for spare in (0, -1, None):
            n_blocks, n_heads = int(rng.integers(2, 9)), int(rng.integers(3, 9))
            vocab, d = int(rng.integers(50, 900)), n_heads * int(rng.integers(4, 20))
            budget = _count(d, n_blocks, vocab, tied)
            budget += int(rng.integers(1, 20) * d) if spare is None else spare
            note = f"budget {budget:,}, {n_blocks} blocks, {n_heads} heads, vocab {vocab}, "
            found.append(Case((budget, n_blocks, n_heads, vocab, tied), f"{note}tied = {tied}"))
    found.append(Case((175_000_000_000, 96, 96, 50_257, True), "175 billion, 96 blocks, 96 heads"))
    return found


def what_is_odd(args, result):
    """Whether the width fits, and whether the count does."""
    budget, n_blocks, n_heads, vocab, tied = args
    d, count = result
    if d % n_heads:
        return f"d_model = {d} cannot be cut into {n_heads} heads."
    right = _count(d, n_blocks, vocab, tied)
    if count != right:
        return f"A model with d_model = {d} does not have {count:,} parameters."
    if right > budget:
        return f"With d_model = {d} it has {right:,} parameters: more than {budget:,}."
    return f"The count for d_model = {d} is right. But a wider model fits, too."


TASK = Task(
    name="widest_model",
    lecture=7,
    kind="implement",
    points=10,
    difficulty=2,
    minutes=14,
    outcome="count a block's parameters and operations by a formula, and use the count as a test",
    reference=widest_model,
    also_right=(by_equation, by_parts),
    cases=cases,
    properties=(what_is_odd,),
    mistakes=(
        Mistake(no_norms, "The norms are not counted. Each has a scale and a shift."),
        Mistake(
            no_last_norm,
            "The blocks are counted rightly. But a pre-norm stack has one more norm, at its end.",
        ),
        Mistake(norms_halved, "A norm has a scale *and* a shift."),
        Mistake(no_biases, "The biases of the blocks are not counted: all six matrices have one."),
        Mistake(
            attention_alone_unbiased,
            "The four matrices of attention have biases, too.",
        ),
        Mistake(
            narrow_bias_wide,
            "The second matrix of the feed-forward network has a bias of d_model numbers: one for "
            "each *output*.",
        ),
        Mistake(
            rounded,
            "12 · d_model² leaves out the biases and the norms. Here the exact count is wanted.",
        ),
        Mistake(no_words, "Embedding and readout are not counted."),
        Mistake(never_tied, "If they are tied, embedding and readout are *one* matrix."),
        Mistake(always_tied, "If they are not tied, the readout is a matrix of its own."),
        Mistake(biased_readout, "The readout has no bias here."),
        Mistake(
            any_width,
            "The heads share d_model evenly, so it has to be a multiple of their number.",
        ),
        Mistake(
            strictly_below,
            "A budget may be used up to the last parameter: *at most*.",
        ),
        Mistake(first_above, "This is the first width that is too large. One step back."),
        Mistake(width_alone, "Two numbers are wanted: the width, and the count of parameters."),
        Mistake(other_order, "The two numbers are in the other order: the width comes first."),
        Mistake(
            budget_returned,
            "The width is right. The second number is what this model really has, not the budget.",
        ),
    ),
    hints=(
        "First write a function that counts, for a given width. `parameter_formula` in the lecture "
        "counts one block.",
        "A loop over widths is fast enough: in steps of `n_heads`, the widest case needs fewer "
        "than 200.",
        "What has the model beside its blocks? There are two or three such things.",
    ),
)
