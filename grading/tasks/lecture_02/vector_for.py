"""Attention as a program: vectors with which it finds the largest number."""

import math

import numpy as np

from grading.author import Case, also_right, mistake, plan, task


# %% the cell
def vector_for(number):
    """The vector of a whole number from −10 to 10, as a list of d numbers."""
    # BEGIN ANSWER
    return [number, 100 * (number + 11)]
    # END ANSWER


# %%


@also_right
def turned(number):
    """The second axis may point down, if it does so for all numbers."""
    return np.array([number, -1000.0 * (number + 20)])


@also_right
def three_axes(number):
    """Loudness on two axes."""
    return (number, 0, 80 * (number + 12), 60 * (number + 12))


mistake(
    "Only the first axis takes part in the choice. (An axis that is the same for all numbers "
    "adds the same to every score, and softmax ignores that.) There the score is the product of "
    "two numbers, so a negative one looks for the smallest, and 0 has no preference. Give the "
    "vector a second axis that grows with the number.",
    lambda number: [number],
)


@mistake(
    "Times 100 the scores are far apart, but what is collected is 100 times too large: it is the "
    "same vector that is looked at and collected. Keep the number itself on the first axis, and "
    "be loud on a second one."
)
def louder(number):
    return [100 * number]


mistake(
    "With all numbers positive, everyone looks at the largest: that is the idea. But what is "
    "collected is the moved number. Keep the number itself on the first axis, and put the moved "
    "one on a second.",
    lambda number: [100 * (number + 11)],
)
mistake(
    "The second axis is right in kind, but too quiet. The first axis takes part in the scores "
    "too, and for negative numbers it pulls toward the smallest. Multiply the second by so much "
    "that it decides alone.",
    lambda number: [number, number + 11],
)
mistake(
    "The axis that should decide is negative for negative numbers, and 0 for 0. A score there is "
    "a product: negative numbers find the smallest number largest, and 0 has no preference. All "
    "numbers must have the same sign on that axis.",
    lambda number: [number, 100 * number],
)
mistake(
    "This works for all numbers but −10, which gets 0 on the second axis. It asks with its first "
    "axis alone then, and finds the smallest. Move a little farther up.",
    lambda number: [number, 100 * (number + 10)],
)
mistake(
    "Moving all numbers up is the idea. But −10 gets 0 on the second axis, so it asks with the "
    "first axis alone. And next to the first axis, which pulls negative numbers toward the "
    "smallest, the second is too quiet.",
    lambda number: [number, number + 10],
)
mistake(
    "On the second axis all numbers are positive and grow, as they should. But two neighbours "
    "differ by 1 there, as they do on the first axis, which pulls negative numbers the other "
    "way. The second axis must be far louder than the first.",
    lambda number: [number, number + 20],
)
mistake(
    "The second axis is positive and grows, as it should. But below 0 it is nearly 0, so "
    "negative numbers still ask with the first axis. It must be large for all numbers, also for "
    "−10.",
    lambda number: [number, np.exp(float(number))],
)
mistake(
    "The square does not grow with the number: −10 and 10 get the same. The second axis must "
    "grow all the way from −10 to 10.",
    lambda number: [number, number**2],
)
mistake(
    "The absolute value does not grow with the number: −10 and 10 are the loudest of all. The "
    "second axis must grow all the way from −10 to 10.",
    lambda number: [number, 100 * abs(number)],
)
mistake(
    "Here a score counts the steps that two numbers have in common. All larger numbers have as "
    "many in common with a number as it has with itself: they tie, and the first axis decides. A "
    "larger number must score higher, with everyone.",
    lambda number: [number, *(50.0 * (other <= number) for other in range(-10, 11))],
)
mistake(
    "The second axis falls as the number grows, so the smallest is the loudest, and 10 has a 0 "
    "there. Turn it around, and leave no number without a loudness.",
    lambda number: [number, 100 - 10 * number],
)
mistake(
    "With an axis for each number, every number finds itself. Here all must find the same one: "
    "they need a common axis, on which the largest number is the loudest.",
    lambda number: [number, *(100.0 * (number == other) for other in range(-10, 11))],
)
mistake(
    "The number farthest from zero is the loudest now, so −9 wins against 4. The second axis "
    "must grow from −10 to 10.",
    lambda number: [number, 100 * abs(number) + 100],
)
mistake(
    "Everyone collects the smallest number: on the second axis the smallest is the loudest. Turn "
    "it around.",
    lambda number: [number, 100 * (11 - number)],
)
mistake(
    "The second axis is positive and grows, but a power is small for small numbers: among −1 "
    "and 2 it is too quiet against the first axis when −1 asks. Let it grow by as much at each "
    "step, from −10 on, and be loud.",
    lambda number: [number, 2.0**number],
)
mistake(
    "The second axis is positive and grows, but an exponential is tiny for negative numbers: among "
    "−10 and −4 what it adds to the scores is small beside what the first axis adds. Let it grow "
    "by as much at each step.",
    lambda number: [number, 100 * math.exp(number)],
)


def drive(answer, numbers):
    """Give each number its vector, then run self-attention as in the lecture."""
    import numpy as np

    rows = [answer(int(number)) for number in numbers]
    if any(row is None for row in rows):
        return None
    rows = [np.asarray(row, dtype=float) for row in rows]
    for number, row in zip(numbers, rows, strict=True):
        if row.ndim != 1 or not row.size:
            came = f"for {number} came an array of shape {row.shape}"
            raise ValueError(f"{came}, and a list of numbers is wanted")
        if row.shape != rows[0].shape:
            came = f"for {numbers[0]} came {rows[0].size} numbers, for {number} {row.size}"
            raise ValueError(f"{came}; all vectors must have the same number of entries")
    x = np.stack(rows)
    with np.errstate(over="ignore", invalid="ignore"):
        scores = x @ x.T
    if not np.isfinite(scores).all():
        raise ValueError("the scores are too large for float64: take smaller vectors")
    exp = np.exp(scores - scores.max(axis=-1, keepdims=True))
    contexts = exp / exp.sum(axis=-1, keepdims=True) @ x
    return {"first axis of the vectors": x[:, 0], "collected": contexts[:, 0]}


def cases(seed):
    """Two numbers, negative ones, ties, a long list; −10 and 10 occur in each set."""
    rng = np.random.default_rng(seed)
    low = rng.permutation([-10, *rng.integers(-9, -1, size=3)])
    wide = rng.permutation([-10, 10, *rng.integers(-9, 10, size=8)])
    near = int(rng.integers(-8, 8))
    ties = rng.permutation([near, near + 1, near + 1, near, near])
    return [
        Case((np.array([-1, 2]),), "the numbers −1 and 2"),
        Case((np.array([-1, 0, 1]),), "the numbers −1, 0 and 1"),
        Case((low,), "negative numbers only"),
        Case((ties,), "two different numbers, several times each"),
        Case((wide,), "ten numbers from −10 to 10"),
        Case((np.array([-10, 10, *[9] * 8]),), "−10, 10, and 9 eight times"),
    ]


def first_axis_is_the_number(args, result):
    """Else the context vector cannot carry it."""
    for number, came in zip(args[0], result["first axis of the vectors"], strict=True):
        if abs(number - came) > 0.01:
            return (
                f"The vector for {number} begins with {came:.6g}: its first entry must be the "
                "number itself."
            )
    return None


def everyone_takes_the_largest(args, result):
    """What is wanted, with the word that misses it named."""
    largest = max(args[0])
    for number, came in zip(args[0], result["collected"], strict=True):
        if not abs(largest - came) <= 0.01:
            return (
                f"Among {', '.join(str(n) for n in args[0])} the word {number} collects "
                f"{came:.4g}, not {largest}."
            )
    return None


TASK = task(
    plan("implement", points=12, minutes=32),
    section="A program made of vectors",
    outcome=(
        "predict which way a word's vector moves in a sentence, and say what a map does not show"
    ),
    cases=cases,
    properties=(first_axis_is_the_number, everyone_takes_the_largest),
    drive=drive,
    rtol=0.0,
    atol=0.01,
    hints=(
        "In the lecture a long vector was a loud word. Who has a positive score with it turns to "
        "it, who has a negative one turns away. Which number must be the loudest, and which sign "
        "must all scores have?",
        "The vector is looked at as a whole, and it is collected as a whole. Let the first axis "
        "be what is collected, and a second axis decide who is looked at.",
        "On the second axis the score of i with j is the product aᵢ aⱼ. For which aᵢ does the "
        "largest aⱼ give the largest product? And how far apart must two scores be, so that the "
        "smaller one's weight can be neglected?",
    ),
)
