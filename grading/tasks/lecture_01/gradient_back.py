"""The chain rule through time: a product of matrices."""

import functools

import numpy as np

from grading.task import Case, Mistake, Task


def _factor(W_h, h):
    """∂h_t / ∂h_(t−1) at the state h = h_t."""
    return (1 - h**2)[:, None] * W_h


def gradient_back(W_h, states):
    """The model answer."""
    gradient = np.eye(len(W_h))
    for h in states[1:]:
        gradient = _factor(W_h, h) @ gradient
    return gradient


def from_the_end(W_h, states):
    """Right, in another way: as back-propagation does it, from the last step to the first."""
    gradient = np.eye(states.shape[1])
    for h in states[:0:-1]:
        gradient = gradient @ (np.diag(1 - h**2) @ W_h)
    return gradient


def in_one_product(W_h, states):
    """Right, in another way: all factors, last one first."""
    factors = [np.eye(len(W_h)), *(_factor(W_h, h) for h in states[1:])]
    return functools.reduce(np.matmul, factors[::-1])


def wrong_order(W_h, states):
    """Wrong: the first step stands on the left."""
    gradient = np.eye(len(W_h))
    for h in states[1:]:
        gradient = gradient @ _factor(W_h, h)
    return gradient


def without_slope(W_h, states):
    """Wrong: powers of W_h, as if there were no tanh."""
    return np.linalg.matrix_power(W_h, len(states) - 1)


def slope_of_the_slope(W_h, states):
    """Wrong: tanh is applied to the states once more."""
    return gradient_back(W_h, np.tanh(states))


def earlier_states(W_h, states):
    """Wrong: the slope is taken at the state before the step."""
    return gradient_back(W_h, np.roll(states, 1, axis=0))


def one_too_many(W_h, states):
    """Wrong: the first state has a factor too."""
    return gradient_back(W_h, np.concatenate([states[:1], states]))


def one_too_few(W_h, states):
    """Wrong: the last factor is missing."""
    return gradient_back(W_h, states[:-1]) if len(states) > 1 else np.eye(len(W_h))


def columns(W_h, states):
    """Wrong: the slopes lie along the columns."""
    gradient = np.eye(len(W_h))
    for h in states[1:]:
        gradient = (1 - h**2) * W_h @ gradient
    return gradient


def entry_by_entry(W_h, states):
    """Wrong: * in place of @."""
    gradient = np.ones_like(W_h)
    for h in states[1:]:
        gradient = _factor(W_h, h) * gradient
    return gradient


def turned(W_h, states):
    """Wrong: rows and columns of the result have changed places."""
    return gradient_back(W_h, states).T


def matrix_turned(W_h, states):
    """Wrong: W_h is turned around in every factor."""
    return gradient_back(W_h.T, states)


def begins_with_the_matrix(W_h, states):
    """Wrong: the product begins with W_h, not with the identity."""
    return gradient_back(W_h, states) @ W_h


def slopes_first(W_h, states):
    """Wrong: all slopes together, and then all matrices."""
    slopes = np.prod(1 - states[1:] ** 2, axis=0)
    return slopes[:, None] * np.linalg.matrix_power(W_h, len(states) - 1)


def slope_is_the_state(W_h, states):
    """Wrong: 1 − h in place of 1 − h²."""
    gradient = np.eye(len(W_h))
    for h in states[1:]:
        gradient = (1 - h)[:, None] * W_h @ gradient
    return gradient


def cases(seed):
    """One number, to check by hand; no step at all; then matrices."""
    rng = np.random.default_rng(seed)

    def drawn(T, d):
        return rng.normal(size=(d, d)), np.tanh(rng.normal(size=(T, d)))

    hand = np.array([[2.0]]), np.array([[0.3], [0.5], [0.0]])
    return [
        Case(hand, "a state of one number, W_h = 2, three words"),
        Case(drawn(1, 3), "one word, so no step"),
        Case(drawn(2, 3), "one step"),
        Case(drawn(4, 2)),
        Case(drawn(6, 5)),
    ]


TASK = Task(
    name="gradient_back",
    lecture=1,
    kind="implement",
    points=10,
    difficulty=2,
    minutes=15,
    outcome="explain with the chain rule why a gradient vanishes or explodes with distance, and "
    "what a {term}`forget gate` changes",
    reference=gradient_back,
    also_right=(from_the_end, in_one_product),
    cases=cases,
    mistakes=(
        Mistake(
            wrong_order,
            "The factors stand in the wrong order. With matrices it counts: the last step is on "
            "the left, the first on the right, next to what it is applied to.",
        ),
        Mistake(
            without_slope,
            "This is W_h to a power, as if there were no tanh. Each step also multiplies by the "
            "slope of tanh, 1 − h².",
        ),
        Mistake(
            slope_of_the_slope,
            "Tanh was applied to the states once more. They are values of tanh already, so the "
            "slope is 1 − h², with h as it is given.",
        ),
        Mistake(
            earlier_states,
            "The slope was taken at the state before the step. In ∂h_t / ∂h_(t−1) the tanh is that "
            "which gave h_t, so the slope is 1 − h_t².",
        ),
        Mistake(
            one_too_many,
            "There is a factor too many. From the first state to the last there are T − 1 steps; "
            "how the first state came about plays no part.",
        ),
        Mistake(
            one_too_few,
            "There is a factor too few: from the first of T states to the last there are T − 1 "
            "steps, and the last one is missing.",
        ),
        Mistake(
            columns,
            "The slopes were laid along the columns of W_h. Slope i belongs to number i of the new "
            "state, which is row i of the matrix: it scales that row.",
        ),
        Mistake(
            entry_by_entry,
            "The matrices were multiplied entry by entry. The chain rule wants the product of "
            "matrices, @, because every number of a state feeds every number of the next.",
        ),
        Mistake(
            turned,
            "Rows and columns have changed places: row i is for number i of the last state, column "
            "j for number j of the first.",
        ),
        Mistake(
            matrix_turned,
            "W_h was turned around in the factors. Number i of the new state depends on number j "
            "of the old one by W_h[i, j], so row i of the factor is row i of W_h.",
        ),
        Mistake(
            begins_with_the_matrix,
            "The product begins with W_h, so there is one W_h too many. Begin with the identity: "
            "without any step, the state is what it is.",
        ),
        Mistake(
            slopes_first,
            "All slopes were multiplied together, and all matrices. With matrices the order "
            "counts: the slopes of each step stand between the W_h of this step and that of the "
            "next.",
        ),
        Mistake(
            slope_is_the_state,
            "The slope of tanh is 1 − h², not 1 − h.",
        ),
    ),
    hints=(
        "Take a state of one number first: h_t = tanh(… + w · h_(t−1)). What is its derivative "
        "with respect to h_(t−1)? The slope of tanh, where tanh gives h, is 1 − h².",
        "With several numbers, entry (i, j) of one factor says how number i of the new state "
        "changes with number j of the old one: (1 − h_i²) times the entry (i, j) of W_h.",
        "Start with the identity, and multiply by one factor for each of states[1:], from the "
        "left.",
    ),
)
