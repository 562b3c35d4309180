"""The chain rule through time: a product of matrices."""

import functools

import numpy as np

from grading.author import Case, TaskFile

task = TaskFile(
    "implement",
    points=10,
    minutes=24,
    section="Vanishing and exploding gradients",
    outcome="explain with the chain rule why a gradient vanishes or explodes with distance, and "
    "what a {term}`forget gate` changes",
    hints=(
        "Take a state of one number first: h_t = tanh(… + w · h_(t−1)). What is its derivative "
        "with respect to h_(t−1)? The slope of tanh, where tanh gives h, is 1 − h².",
        "With several numbers, entry (i, j) of one factor says how number i of the new state "
        "changes with number j of the old one: (1 − h_i²) times the entry (i, j) of W_h.",
        "Start with the identity, and multiply by one factor for each of states[1:], from the "
        "left.",
    ),
)


def _factor(W_h, h):
    """∂h_t / ∂h_(t−1) at the state h = h_t."""
    return (1 - h**2)[:, None] * W_h


# %% the cell
def gradient_through_time(W_h, states):
    """The derivative (d, d) of the last of the states (T, d) with respect to the first."""
    # BEGIN SOLUTION
    gradient = np.eye(len(W_h))  # (d, d)
    for h in states[1:]:
        factor = (1 - h**2)[:, None] * W_h  # (d, d), for one step
        gradient = factor @ gradient  # (d, d)
    return gradient
    # END SOLUTION


# %%


@task.alternative
def from_the_end(W_h, states):
    """As back-propagation does it, from the last step to the first."""
    gradient = np.eye(states.shape[1])
    for h in states[:0:-1]:
        gradient = gradient @ (np.diag(1 - h**2) @ W_h)
    return gradient


@task.alternative
def in_one_product(W_h, states):
    """All factors, last one first."""
    factors = [np.eye(len(W_h)), *(_factor(W_h, h) for h in states[1:])]
    return functools.reduce(np.matmul, factors[::-1])


@task.mistake(
    "The factors are in the wrong order. With matrices the order matters: the last step is on the "
    "left, the first on the right."
)
def wrong_order(W_h, states):
    gradient = np.eye(len(W_h))
    for h in states[1:]:
        gradient = gradient @ _factor(W_h, h)
    return gradient


task.mistake(
    "This is W_h to a power, as if there were no tanh. Each step also multiplies by the slope of "
    "tanh, 1 − h².",
    lambda W_h, states: np.linalg.matrix_power(W_h, len(states) - 1),
)
task.mistake(
    "Tanh was applied to the states once more. They are values of tanh already, so the slope is "
    "1 − h², with h as it is given.",
    lambda W_h, states: gradient_through_time(W_h, np.tanh(states)),
)
task.mistake(
    "The slope was taken at the state before the step. In ∂h_t / ∂h_(t−1) the tanh is that which "
    "gave h_t, so the slope is 1 − h_t².",
    lambda W_h, states: gradient_through_time(W_h, np.roll(states, 1, axis=0)),
)
task.mistake(
    "There is a factor too many. From the first state to the last there are T − 1 steps; how the "
    "first state was computed does not matter.",
    lambda W_h, states: gradient_through_time(W_h, np.concatenate([states[:1], states])),
)
task.mistake(
    "There is a factor too few: from the first of T states to the last there are T − 1 steps, "
    "and the last one is missing.",
    lambda W_h, states: (
        gradient_through_time(W_h, states[:-1]) if len(states) > 1 else np.eye(len(W_h))
    ),
)


@task.mistake(
    "The slopes were broadcast along the columns of W_h. Slope i belongs to component i of the "
    "new state, which is row i of the matrix: it scales that row."
)
def columns(W_h, states):
    gradient = np.eye(len(W_h))
    for h in states[1:]:
        gradient = (1 - h**2) * W_h @ gradient
    return gradient


@task.mistake(
    "The matrices were multiplied entry by entry. The chain rule needs the matrix product, @, "
    "because every number of a state affects every number of the next."
)
def entry_by_entry(W_h, states):
    gradient = np.ones_like(W_h)
    for h in states[1:]:
        gradient = _factor(W_h, h) * gradient
    return gradient


@task.mistake(
    "Rows and columns are swapped: row i is for component i of the last state, column j for "
    "component j of the first."
)
def turned(W_h, states):
    return gradient_through_time(W_h, states).T


task.mistake(
    "W_h is transposed in the factors. Component i of the new state depends on component j of the "
    "old one through W_h[i, j], so row i of the factor is row i of W_h.",
    lambda W_h, states: gradient_through_time(W_h.T, states),
)
task.mistake(
    "The product begins with W_h, so there is one W_h too many. Begin with the identity: without "
    "any step, the state is what it is.",
    lambda W_h, states: gradient_through_time(W_h, states) @ W_h,
)


@task.mistake(
    "All slopes were multiplied together, and all matrices. With matrices the order matters: the "
    "slopes of each step belong between the W_h of this step and that of the next."
)
def slopes_first(W_h, states):
    slopes = np.prod(1 - states[1:] ** 2, axis=0)
    return slopes[:, None] * np.linalg.matrix_power(W_h, len(states) - 1)


@task.mistake("The slope of tanh is 1 − h², not 1 − h.")
def slope_is_the_state(W_h, states):
    gradient = np.eye(len(W_h))
    for h in states[1:]:
        gradient = (1 - h)[:, None] * W_h @ gradient
    return gradient


@task.mistake(
    "With one word there is no step, but the result holds the factor of this word's state. Does "
    "the product begin with a factor, before the loop? What should the product of no factors be?"
)
def begins_with_the_last(W_h, states):
    return gradient_through_time(W_h, states) if len(states) > 1 else _factor(W_h, states[-1])


@task.mistake(
    "The factor of a first step was used although there is no step: with one word the product has "
    "no factors. What should a product of no factors be?"
)
def begins_with_the_first(W_h, states):
    gradient = _factor(W_h, states[1])
    for h in states[2:]:
        gradient = _factor(W_h, h) @ gradient
    return gradient


@task.mistake(
    "The product begins with a matrix full of ones, and that changes what it is multiplied with. "
    "np.ones is neutral for *; what is for @?"
)
def begins_with_ones(W_h, states):
    return gradient_through_time(W_h, states) @ np.ones_like(W_h)


@task.mistake(
    "np.diag(…) * W_h multiplies entry by entry, so each factor keeps only the diagonal of W_h. "
    "The slopes scale whole rows of W_h."
)
def diagonals(W_h, states):
    return gradient_through_time(np.diag(np.diag(W_h)), states)


@task.mistake(
    "Each factor is transposed: W_hᵀ, with the slopes along its columns. Back-propagation uses "
    "the factors in this form, but then the last step is on the right. In your order the result "
    "is neither the matrix nor its transpose."
)
def turned_in_wrong_order(W_h, states):
    return wrong_order(W_h, states).T


@task.mistake(
    "The slopes were broadcast along the columns of W_h, and the factors are in the wrong order. "
    "Slope i belongs to component i of the new state, which is row i of W_h, and the last step is "
    "on the left."
)
def columns_in_wrong_order(W_h, states):
    gradient = np.eye(len(W_h))
    for h in states[1:]:
        gradient = gradient @ (W_h * (1 - h**2))
    return gradient


task.mistake(
    "W_h is transposed in the factors, and the factors are in the wrong order. Row i of a factor "
    "is row i of W_h, times slope i; the last step is on the left.",
    lambda W_h, states: wrong_order(W_h.T, states),
)
task.mistake(
    "The slopes were taken at the states before the steps, and the factors are in the wrong "
    "order. The slope of the step to h_t is 1 − h_t², and the last step is on the left.",
    lambda W_h, states: wrong_order(W_h, np.roll(states, 1, axis=0)),
)
task.mistake(
    "This is the factor of the last step alone. Does each step multiply the result of the steps "
    "before it, or does it start again?",
    lambda W_h, states: gradient_through_time(W_h, states[-2:]),
)
task.mistake(
    "This is the factor of the first step alone. Is `return` inside the loop?",
    lambda W_h, states: gradient_through_time(W_h, states[:2]),
)


@task.mistake(
    "The factors of the steps were added. The first state affects the last one through all steps, "
    "one after the other, so the chain rule multiplies them."
)
def added(W_h, states):
    return sum((_factor(W_h, h) for h in states[1:]), np.eye(len(W_h)))


@task.mistake(
    "These are the slopes of tanh alone. In each step the old state is also multiplied by W_h."
)
def slopes_alone(W_h, states):
    return np.diag(np.prod(1 - states[1:] ** 2, axis=0))


@task.mistake(
    "The product begins with zeros, so it stays 0. Begin with the matrix that changes nothing. "
    "What should the result be if there is no step?"
)
def begins_with_zeros(W_h, states):
    return np.zeros_like(W_h)


@task.mistake(
    "A vector of slopes @ W_h sums over the rows of W_h, and no matrix is left. Each slope scales "
    "one row instead."
)
def slopes_times_matrix(W_h, states):
    gradient = np.eye(len(W_h))
    for h in states[1:]:
        gradient = (1 - h**2) @ W_h @ gradient
    return gradient


@task.cases
def cases(seed):
    """One number, to check by hand; no step at all; then matrices."""
    rng = np.random.default_rng(seed)

    def drawn(T, d):
        return rng.normal(size=(d, d)), np.tanh(rng.normal(size=(T, d)))

    hand = np.array([[2.0]]), np.array([[0.3], [0.5], [0.0]])
    return [
        Case(hand, "a state of one number, W_h = 2, three words", kind="ordinary cases"),
        Case(drawn(1, 3), "one word, so no step", kind="edge cases"),
        Case(drawn(2, 3), "one step", kind="edge cases"),
        Case(drawn(4, 2), kind="ordinary cases"),
        Case(drawn(6, 5), kind="ordinary cases"),
    ]
