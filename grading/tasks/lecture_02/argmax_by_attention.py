"""Attention as a program: vectors with which it finds the largest number."""

import math

import numpy as np

from grading.author import Case, TaskFile

task = TaskFile(
    "implement",
    points=12,
    minutes=32,
    section="A program made of vectors",
    outcome="predict which way a word's vector moves in a sentence, and say what a map does not "
    "show",
    rtol=0.0,
    atol=0.01,
    hints=(
        "In the lecture a long vector was a loud word: words with a positive score attend to it, "
        "and words with a negative score avoid it. Which number must be the loudest, and which "
        "sign must all scores have?",
        "The whole vector determines the scores, and the whole vector is collected. Let the first "
        "axis be what is collected, and let a second axis decide the scores.",
        "On the second axis the score of i with j is the product aᵢ aⱼ. For which aᵢ does the "
        "largest aⱼ give the largest product? And how far apart must two scores be, so that the "
        "smaller one's weight can be neglected?",
    ),
)


# %% the cell
def argmax_by_attention(number):
    """The vector of a whole number from −10 to 10, as a list of d numbers."""
    # BEGIN SOLUTION
    return [number, 100 * (number + 11)]
    # END SOLUTION


# %%


@task.alternative
def turned(number):
    """The second axis may point down, if it does so for all numbers."""
    return np.array([number, -1000.0 * (number + 20)])


@task.alternative
def three_axes(number):
    """Loudness on two axes."""
    return (number, 0, 80 * (number + 12), 60 * (number + 12))


task.mistake(
    "Only the first axis takes part in the choice. (An axis that is the same for all numbers "
    "adds the same to every score, and softmax ignores that.) There the score is the product of "
    "two numbers, so a negative one looks for the smallest, and 0 has no preference. Give the "
    "vector a second axis that grows with the number.",
    lambda number: [number],
)


@task.mistake(
    "With a factor of 100 the scores are far apart, but the collected numbers are 100 times too "
    "large, because the same vector is attended to and collected. Keep the number itself on the "
    "first axis, and put large values on a second one."
)
def louder(number):
    return [100 * number]


task.mistake(
    "If all numbers are positive, every word attends to the largest: that is the idea. But now "
    "the shifted number is collected. Keep the number itself on the first axis, and put the "
    "shifted one on a second.",
    lambda number: [100 * (number + 11)],
)
task.mistake(
    "The second axis is the right kind, but too small. The first axis contributes to the scores "
    "too, and for negative numbers it favours the smallest. Scale the second axis up until it "
    "alone decides.",
    lambda number: [number, number + 11],
)
task.mistake(
    "The axis that should decide is negative for negative numbers, and 0 for 0. A score there is "
    "a product: negative numbers find the smallest number largest, and 0 has no preference. All "
    "numbers must have the same sign on that axis.",
    lambda number: [number, 100 * number],
)
task.mistake(
    "On the second axis −10 gets 0 or nearly 0. Its query then has only the first axis, and finds "
    "the smallest number. Every number needs a value there that is positive and large enough, "
    "even −10.",
    lambda number: [number, 100 * (number + 10)],
)
task.mistake(
    "Shifting all numbers up is the idea. But −10 gets 0 on the second axis, so its query has "
    "only the first axis. And compared with the first axis, which favours the smallest for "
    "negative numbers, the second is too small.",
    lambda number: [number, number + 10],
)
task.mistake(
    "On the second axis all numbers are positive and grow, as they should. But two neighbours "
    "differ by 1 there, as they do on the first axis, which pulls negative numbers the other way. "
    "The second axis must be far larger than the first.",
    lambda number: [number, number + 20],
)
task.mistake(
    "The second axis is positive and grows, as it should. But below 0 it is nearly 0, so the "
    "queries of negative numbers still use the first axis. It must be large for all numbers, even "
    "for −10.",
    lambda number: [number, np.exp(float(number))],
)
task.mistake(
    "The square does not grow with the number: −10 and 10 get the same. The second axis must "
    "grow all the way from −10 to 10.",
    lambda number: [number, number**2],
)
task.mistake(
    "The absolute value does not grow with the number: −10 and 10 get the largest values. The "
    "second axis must grow all the way from −10 to 10.",
    lambda number: [number, 100 * abs(number)],
)
task.mistake(
    "Here a score counts the steps that two numbers have in common. All larger numbers have as "
    "many in common with a number as it has with itself: they tie, and the first axis decides. A "
    "larger number must score higher, with everyone.",
    lambda number: [number, *(50.0 * (other <= number) for other in range(-10, 11))],
)
task.mistake(
    "The second axis falls as the number grows, so the smallest number attracts most attention, "
    "and 10 has a 0 there. Reverse it, and give every number a positive value.",
    lambda number: [number, 100 - 10 * number],
)
task.mistake(
    "With an axis for each number, every number finds itself. Here all words must find the same "
    "number: they need a common axis, on which the largest number has the largest value.",
    lambda number: [number, *(100.0 * (number == other) for other in range(-10, 11))],
)
task.mistake(
    "The number farthest from zero attracts most attention now, so −9 wins against 4. The second "
    "axis must grow from −10 to 10.",
    lambda number: [number, 100 * abs(number) + 100],
)
task.mistake(
    "Every word collects the smallest number, because on the second axis the smallest number has "
    "the largest value. Reverse it.",
    lambda number: [number, 100 * (11 - number)],
)
task.mistake(
    "The second axis is positive and grows, but a power is small for small numbers: for −1 and 2 "
    "it is too small compared with the first axis when −1 is the query. Let it grow by the same "
    "large amount at each step, from −10 on.",
    lambda number: [number, 2.0**number],
)
task.mistake(
    "The second axis is positive and grows, but an exponential is tiny for negative numbers: for "
    "−10 and −4 its contribution to the scores is small compared with that of the first axis. Let "
    "it grow by the same amount at each step.",
    lambda number: [number, 100 * math.exp(number)],
)


@task.harness
def harness(answer, numbers):
    """Give each number its vector, then run self-attention as in the lecture."""
    import numpy as np

    rows = [answer(int(number)) for number in numbers]
    if any(row is None for row in rows):
        return None
    rows = [np.asarray(row, dtype=float) for row in rows]
    for number, row in zip(numbers, rows, strict=True):
        if row.ndim != 1 or not row.size:
            came = f"for {number} it returns an array of shape {row.shape}"
            raise ValueError(f"{came}; expected a list of numbers")
        if row.shape != rows[0].shape:
            came = f"for {numbers[0]} it returns {rows[0].size} numbers, for {number} {row.size}"
            raise ValueError(f"{came}; all vectors must have the same number of entries")
    x = np.stack(rows)
    with np.errstate(over="ignore", invalid="ignore"):
        scores = x @ x.T
    if not np.isfinite(scores).all():
        raise ValueError("the scores are too large for float64: take smaller vectors")
    exp = np.exp(scores - scores.max(axis=-1, keepdims=True))
    contexts = exp / exp.sum(axis=-1, keepdims=True) @ x
    return {"first axis of the vectors": x[:, 0], "collected": contexts[:, 0]}


@task.cases
def cases(seed):
    """Two numbers, negative ones, ties, a long list; −10 and 10 occur in each set."""
    rng = np.random.default_rng(seed)
    low = rng.permutation([-10, *rng.integers(-9, -1, size=3)])
    wide = rng.permutation([-10, 10, *rng.integers(-9, 10, size=8)])
    near = int(rng.integers(-8, 8))
    ties = rng.permutation([near, near + 1, near + 1, near, near])
    return [
        Case((np.array([-1, 2]),), "the numbers −1 and 2", kind="ordinary cases"),
        Case((np.array([-1, 0, 1]),), "the numbers −1, 0 and 1", kind="ordinary cases"),
        Case((np.array([-3, 0, 4]),), "the numbers −3, 0 and 4", kind="ordinary cases"),
        Case((low,), "negative numbers only", kind="edge cases"),
        Case((np.array([-10, -9]),), "the two smallest numbers", kind="edge cases"),
        Case((ties,), "two different numbers, several times each", kind="ordinary cases"),
        Case((wide,), "ten numbers from −10 to 10", kind="ordinary cases"),
        Case((np.array([-10, 10, *[9] * 8]),), "−10, 10, and 9 eight times", kind="ordinary cases"),
    ]


@task.diagnostic
def first_axis_is_the_number(args, result):
    """Else the context vector cannot carry it."""
    for number, came in zip(args[0], result["first axis of the vectors"], strict=True):
        if abs(number - came) > 0.01:
            return (
                f"The vector for {number} begins with {came:.6g}: its first entry must be the "
                "number itself."
            )
    return None


@task.diagnostic
def everyone_takes_the_largest(args, result):
    """What is wanted, with the word that misses it named."""
    largest = max(args[0])
    for number, came in zip(args[0], result["collected"], strict=True):
        if not abs(largest - came) <= 0.01:
            said = (
                f"Among {', '.join(str(n) for n in args[0])} the word {number} collects "
                f"{came:.4g}, not {largest}."
            )
            near = (
                " Most of its weight is on that number, but not all: its score leads by too little."
            )
            # Other numbers are lower by 1 at least, so their weights sum to less than one half.
            return said + near if largest - 0.5 < came < largest else said
    return None
