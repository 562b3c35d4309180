"""Sizes of what a translator computes."""

from grading.author import TaskFile

task = TaskFile(
    "predict",
    points=6,
    minutes=8,
    outcome="write {term}`cross-attention` with `T_q` ≠ `T_k`, and say which mask each of the "
    "three attentions needs",
    hints=(
        "Write down, for a translation of three words, the decoder's input and its targets.",
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
    "The start token was forgotten. It comes before the words and is part of the decoder's input.",
    [7, 63, 6, 3_500, 8],
)
task.mistake(
    "START and END were forgotten: the decoder reads START before the words, and when it has "
    "written the last word, one more call gives END.",
    [7, 63, 6, 3_500, 7],
)
task.mistake(
    "The end token was counted as an input of the decoder. It is only a target: nothing is "
    "generated after it.",
    [9, 81, 6, 4_500, 8],
)
task.mistake(
    "The first counts the tokens of all five rows. Count those of one row.",
    [40, 72, 6, 4_000, 8],
)
task.mistake(
    "The second is a square. Queries come from one sentence, keys from the other.",
    [8, 64, 6, 4_000, 8],
)
task.mistake(
    "The second counts source times source. Where do the queries of cross-attention come from?",
    [8, 81, 6, 4_000, 8],
)
task.mistake(
    "The second counts all four heads. Count one head.",
    [8, 288, 6, 4_000, 8],
)
task.mistake(
    "The third counts padding. The mask makes its weights zero.",
    [8, 72, 9, 4_000, 8],
)
task.mistake(
    "The third assumes a causal mask in cross-attention. Even the first word may attend to the "
    "whole source.",
    [8, 72, 1, 4_000, 8],
)
task.mistake(
    "The fourth is for one sentence. There are five in the batch.",
    [8, 72, 6, 800, 8],
)
task.mistake(
    "The fourth has a row for each word of the source. Logits belong to the words of the target.",
    [8, 72, 6, 4_500, 8],
)
task.mistake(
    "The fifth stops at the last word. How does the decoder say that the sentence is finished?",
    [8, 72, 6, 4_000, 7],
)
task.mistake(
    "The fifth is one too many. The end token is not an input.",
    [8, 72, 6, 4_000, 9],
)
task.mistake(
    "The fifth is the number of passes in training. In generation, each word needs the one before.",
    [8, 72, 6, 4_000, 1],
)
task.mistake(
    "The second counts the maps of all five sentences. Count one.",
    [8, 360, 6, 4_000, 8],
)
task.mistake(
    "The first leaves out START, which the decoder reads before the words.",
    [7, 72, 6, 4_000, 8],
)
task.mistake(
    "The first counts END, which is a target and never read.",
    [9, 72, 6, 4_000, 8],
)
task.mistake(
    "The second leaves out START, which is a query, too.",
    [8, 63, 6, 4_000, 8],
)
task.mistake(
    "The second counts the words of one source. The map has a column for each of the 9 positions, "
    "padding included.",
    [8, 48, 6, 4_000, 8],
)
task.mistake(
    "The fourth counts tokens. Each of them has a logit for every word of the target vocabulary.",
    [8, 72, 6, 40, 8],
)
task.mistake(
    "The fourth leaves out START. The decoder gives logits at each token that it reads.",
    [8, 72, 6, 3_500, 8],
)
