"""A context vector by hand."""

from grading.author import TaskFile

task = TaskFile(
    "predict",
    points=4,
    minutes=6,
    section="One query, three operations",
    outcome="compute context vectors, one by hand and all at once, and give the shape of each step",
    rtol=0.0,
    atol=0.005,  # a third, rounded
    hints=(
        "Three operations: a dot product for each word, softmax, and then a sum in which each "
        "word's vector is multiplied by its weight.",
        "You need no calculator. What weights does softmax give to two equal scores? And how much "
        "is left for a score that is smaller by 50, if e⁵⁰ has 22 digits?",
    ),
)

# %% the cell
query_context = ...  # a list of two numbers
# BEGIN SOLUTION
query_context = [2.0, 1.0]
# END SOLUTION
# %%

task.mistake(
    "This is the sum of the first two vectors. The weights of a query sum to 1: neither of the "
    "two gets a whole 1.",
    [4.0, 2.0],
)
task.mistake(
    "This is the plain average of all three words. It would be right if all three scores were "
    "the same; work out the third one.",
    [1.0, 4 / 3],
)
task.mistake(
    "This is the first vector alone. Work out the second score as well: softmax does not choose "
    "among equal scores, but gives them equal weights.",
    [1.0, 3.0],
)
task.mistake("This is the second vector alone. Work out the first score as well.", [3.0, -1.0])
task.mistake(
    "Here the scores themselves served as weights. Softmax comes in between: it turns the scores "
    "into weights that sum to 1.",
    [200.0, 100.0],
)
task.mistake(
    "These are the three scores, the first operation of three. Softmax and the weighted sum are "
    "still to come.",
    [50.0, 50.0, 0.0],
)
task.mistake(
    "These are the weights, the second operation of three. The context vector takes that much of "
    "each word's vector.",
    [0.5, 0.5, 0.0],
)
task.mistake(
    "These are two of the weights, the second operation of three. The context vector takes that "
    "much of each word's vector.",
    [0.5, 0.5],
)
task.mistake(
    "This is the query. It only determines the weights: the context vector is the average of the "
    "words' vectors.",
    [20.0, 10.0],
)
task.mistake(
    "The weights were applied, and then the result was divided by 2 again. The weights sum to 1 "
    "already.",
    [1.0, 0.5],
)
task.mistake(
    "The sum was divided by the number of all words. Two words share the weight, so each of them "
    "has ½.",
    [4 / 3, 2 / 3],
)
task.mistake(
    "A sign was lost: the second number of the second vector is −1.",
    [2.0, 2.0],
)
