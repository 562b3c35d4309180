"""Shapes in a summarizer that copies."""

from grading.author import TaskFile

task = TaskFile(
    "predict",
    points=4,
    minutes=6,
    outcome="add {term}`copying` to an encoder-decoder in a few lines, so that it can write words "
    "that its vocabulary does not hold",
    hints=(
        "Which sequence provides the queries, and which the keys?",
        "Follow the axes of `gate * written + (1 - gate) * copied` through broadcasting.",
    ),
)

# %% the cell
pointer_generator_shapes = ...  # a list of five tuples
# BEGIN SOLUTION
pointer_generator_shapes = [(8, 2, 10, 48), (8, 10, 48), (8, 10, 1), (8, 10, 115), (8, 10, 118)]
# END SOLUTION
# %%

task.mistake(
    "The first has its last two axes swapped: queries are the words of the summary.",
    [(8, 2, 48, 10), (8, 10, 48), (8, 10, 1), (8, 10, 115), (8, 10, 118)],
)
task.mistake(
    "The first is right. The mean over heads removes the axis of the heads, and no other.",
    [(8, 2, 10, 48), (8, 2, 10), (8, 10, 1), (8, 10, 115), (8, 10, 118)],
)
task.mistake(
    "The first two are right. The gate is one number for each *step of the summary*, not one for "
    "each text.",
    [(8, 2, 10, 48), (8, 10, 48), (8, 1), (8, 10, 115), (8, 10, 118)],
)
task.mistake(
    "The first two are right. The gate belongs to the steps of the summary, not to the positions "
    "of the text.",
    [(8, 2, 10, 48), (8, 10, 48), (8, 48, 1), (8, 10, 115), (8, 10, 118)],
)
task.mistake(
    "The first three are right. The output layer has a column for each word of the vocabulary. "
    "Words after the vocabulary cannot be generated.",
    [(8, 2, 10, 48), (8, 10, 48), (8, 10, 1), (8, 10, 118), (8, 10, 118)],
)
task.mistake(
    "The first four are right. The mixture also has entries for the unknown words of a text.",
    [(8, 2, 10, 48), (8, 10, 48), (8, 10, 1), (8, 10, 115), (8, 10, 115)],
)
task.mistake(
    "The first four are right. The mixture has an entry for each *word*, and no extra entries for "
    "the positions of the text.",
    [(8, 2, 10, 48), (8, 10, 48), (8, 10, 1), (8, 10, 115), (8, 10, 163)],
)
task.mistake(
    "The first is the decoder's self-attention, where the keys are words of the summary. In "
    "cross-attention they are the words of the text.",
    [(8, 2, 10, 10), (8, 10, 48), (8, 10, 1), (8, 10, 115), (8, 10, 118)],
    [(8, 2, 10, 10), (8, 10, 10), (8, 10, 1), (8, 10, 115), (8, 10, 118)],
)
task.mistake(
    "The gate is one number for each step of the summary, not a vector.",
    [(8, 2, 10, 48), (8, 10, 48), (8, 10, 64), (8, 10, 115), (8, 10, 118)],
)
task.mistake(
    "The third has a gate for each *word* that can be written. One number for each step divides "
    "the probability between generating and copying.",
    [(8, 2, 10, 48), (8, 10, 48), (8, 10, 118), (8, 10, 115), (8, 10, 118)],
    [(8, 2, 10, 48), (8, 10, 48), (8, 10, 115), (8, 10, 115), (8, 10, 118)],
)
task.mistake(
    "The axis of the heads is missing in the first: each of the two has a map of its own.",
    [(8, 10, 48), (8, 10, 48), (8, 10, 1), (8, 10, 115), (8, 10, 118)],
)
task.mistake(
    "The gate keeps its last axis, of size 1, so that it can be broadcast over the words.",
    [(8, 2, 10, 48), (8, 10, 48), (8, 10), (8, 10, 115), (8, 10, 118)],
)
task.mistake(
    "Each step of the summary has a distribution over the vocabulary, not each text.",
    [(8, 2, 10, 48), (8, 10, 48), (8, 10, 1), (8, 115), (8, 10, 118)],
    [(8, 2, 10, 48), (8, 10, 48), (8, 10, 1), (8, 115), (8, 118)],
)
task.mistake(
    "The mean over heads removes their axis.",
    [(8, 2, 10, 48), (8, 1, 10, 48), (8, 10, 1), (8, 10, 115), (8, 10, 118)],
)
