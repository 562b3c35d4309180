"""Sizes of what a translator computes."""

from grading.author import TaskFile

task = TaskFile(
    "predict",
    points=6,
    minutes=8,
    outcome="write {term}`cross-attention` with `T_q` ≠ `T_k`, and say which mask each of the "
    "three attentions needs",
    hints=(
        "Write down, for a translation of three words, what the decoder reads and what it is "
        "asked for.",
        "The first question is the number of queries in each sentence of the batch. The second "
        "and the fourth need it.",
    ),
)

# %% the cell
translator_shapes = ...  # a list of five whole numbers
# BEGIN SOLUTION
translator_shapes = [8, 72, 6, 4_000, 8]
# END SOLUTION
# %%

task.mistake(
    "The start token was forgotten. It comes before the words, and the decoder reads it, too.",
    [7, 63, 6, 3_500, 8],
)
task.mistake(
    "The end token was counted among what the decoder reads. It is asked for, and nothing is "
    "written after it.",
    [9, 81, 6, 4_500, 8],
)
task.mistake(
    "The first counts the tokens of all five rows. Asked are those of one.",
    [40, 72, 6, 4_000, 8],
)
task.mistake(
    "The second is a square. Queries come from one sentence, keys from the other.",
    [8, 64, 6, 4_000, 8],
)
task.mistake(
    "The second counts source times source. Who asks, in cross-attention?",
    [8, 81, 6, 4_000, 8],
)
task.mistake(
    "The second counts all four heads. You need the map of one.",
    [8, 288, 6, 4_000, 8],
)
task.mistake(
    "The third counts padding. Weights on padding are zero, thanks to the mask.",
    [8, 72, 9, 4_000, 8],
)
task.mistake(
    "The third takes the causal mask for that of cross-attention. Already the first word may look "
    "at the whole source.",
    [8, 72, 1, 4_000, 8],
)
task.mistake(
    "The fourth is of one sentence. There are five in the batch.",
    [8, 72, 6, 800, 8],
)
task.mistake(
    "The fourth has a row for each word of the source. Logits are at the words being written.",
    [8, 72, 6, 4_500, 8],
)
task.mistake(
    "The fifth stops with the last word. How does the decoder say that it is done?",
    [8, 72, 6, 4_000, 7],
)
task.mistake(
    "The fifth is one too many. Nobody reads the end token.",
    [8, 72, 6, 4_000, 9],
)
task.mistake(
    "The fifth is the number of passes in training. In writing, each word needs the one before.",
    [8, 72, 6, 4_000, 1],
)
