"""Count a grouped model and its cache."""

from grading.author import TaskFile

task = TaskFile(
    "predict",
    points=6,
    minutes=10,
    section="What today's models changed",
    outcome="write the parts that Llama exchanges in a block, count their parameters, and load "
    "such a model",
    hints=(
        "`W_query` is 64 × 64. How many rows does `W_key` have, with two heads of width 8?",
        "Each word stores a key and a value, in each layer, for each key-value head.",
    ),
)

# %% the cell
llama_sizes = ...  # a list of five whole numbers
# BEGIN SOLUTION
llama_sizes = [10_240, 12_288, 256, 102_400, 4_096]
# END SOLUTION
# %%

task.mistake(
    "The first counts eight key-value heads. There are two.",
    [16_384, 12_288, 256, 102_400, 4_096],
)
task.mistake(
    "The first leaves out `W_out`, which has as many numbers as `W_query`.",
    [6_144, 12_288, 256, 102_400, 4_096],
)
task.mistake(
    "The second counts two matrices. A gated network has three.",
    [10_240, 8_192, 256, 102_400, 4_096],
)
task.mistake(
    "The third counts one layer. Each layer has a cache of its own.",
    [10_240, 12_288, 64, 102_400, 4_096],
)
task.mistake(
    "The third leaves out keys or values. Both are stored.", [10_240, 12_288, 128, 102_400, 4_096]
)
task.mistake(
    "The last three count numbers. Each number takes two bytes.",
    [10_240, 12_288, 128, 51_200, 2_048],
)
task.mistake(
    "The third has a cache for each query head. The heads of a group share one.",
    [10_240, 12_288, 1_024, 102_400, 4_096],
)
task.mistake(
    "The fourth still has two key-value heads. The fourth question has eight.",
    [10_240, 12_288, 256, 25_600, 4_096],
)
task.mistake(
    "The last one stores all hundred words. No query attends to more than sixteen.",
    [10_240, 12_288, 256, 102_400, 25_600],
)
task.mistake(
    "The last one has eight key-value heads. The window is added to the model of the statement, "
    "which has two.",
    [10_240, 12_288, 256, 102_400, 16_384],
)
task.mistake(
    "The last one counts one layer. Each layer has a cache of its own.",
    [10_240, 12_288, 256, 102_400, 1_024],
)
task.mistake(
    "The last three count one layer. Each layer has a cache of its own.",
    [10_240, 12_288, 64, 25_600, 1_024],
)
task.mistake(
    "You left out keys or values, or counted one byte for a number. Both are stored, and each "
    "number takes two bytes.",
    [10_240, 12_288, 256, 51_200, 4_096],
    [10_240, 12_288, 256, 102_400, 2_048],
)
task.mistake(
    "The fourth is the cache of one word. How many words are there?",
    [10_240, 12_288, 256, 1_024, 4_096],
)
task.mistake(
    "You counted all four layers. The first two questions are about one.",
    [40_960, 12_288, 256, 102_400, 4_096],
    [10_240, 49_152, 256, 102_400, 4_096],
    [40_960, 49_152, 256, 102_400, 4_096],
)
task.mistake(
    "Each number takes two bytes, not four.",
    [10_240, 12_288, 512, 204_800, 8_192],
)
