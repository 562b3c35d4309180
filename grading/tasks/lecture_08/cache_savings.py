"""Count what is computed with a cache and without."""

from grading.author import TaskFile

task = TaskFile(
    "predict",
    points=6,
    minutes=13,
    section="The key-value cache",
    outcome="generate with a {term}`key-value cache`, show that the tokens are the same, "
    "and compute how large a cache becomes",
    hints=(
        "Write down the five calls, one per line: how many words does each read, and how many "
        "keys are there?",
        "The scores of one call are queries × keys. With a cache, the second call has one query.",
    ),
)

# %% the cell
cache_savings = ...  # a list of five whole numbers
# BEGIN SOLUTION
cache_savings = [60, 14, 730, 150, 3_584]
# END SOLUTION
# %%

task.mistake(
    "The first two are too large. After which word does the model stop, and has that word been "
    "read?",
    [75, 15, 730, 150, 3_584],
)
task.mistake(
    "The second is too large by one. The last word is sampled, but never read.",
    [60, 15, 730, 150, 3_584],
)
task.mistake(
    "The second leaves out the beginning. Its words have to be read once as well.",
    [60, 5, 730, 150, 3_584],
)
task.mistake(
    "The third counts what the mask leaves. All scores are computed here, and masked afterwards.",
    [60, 14, 395, 150, 3_584],
)
task.mistake(
    "The third is the square of all words that are read. Each call has a table of its own, words "
    "by words: add these up.",
    [60, 14, 3_600, 150, 3_584],
)
task.mistake(
    "The third and the fourth count all four heads. Give the scores of one head.",
    [60, 14, 2_920, 600, 3_584],
)
task.mistake(
    "The third and the fourth count all heads of both layers. Give the scores of one head.",
    [60, 14, 5_840, 1_200, 3_584],
)
task.mistake(
    "The fourth leaves out the scores of the first call, in which ten words are read.",
    [60, 14, 730, 50, 3_584],
)
task.mistake(
    "The fourth has one query in every call. But the first call reads ten words: it has ten "
    "queries.",
    [60, 14, 730, 60, 3_584],
)
task.mistake(
    "The fourth is a full 14 × 14 table. With a cache, old words are no longer queries: each "
    "later call has one query.",
    [60, 14, 730, 196, 3_584],
)
task.mistake(
    "The last one should be twice as large. Which *two* things are stored for each word, and in "
    "how many layers?",
    [60, 14, 730, 150, 1_792],
)
task.mistake(
    "The last one counts 15 words. Keys and values are stored for words that were read.",
    [60, 14, 730, 150, 3_840],
)
task.mistake(
    "The last one ignores that each layer has several heads, each with its own keys and values.",
    [60, 14, 730, 150, 896],
)
task.mistake(
    "The first counts the words after each call. The first call reads 10 words, the last one 14.",
    [65, 14, 730, 150, 3_584],
)
task.mistake(
    "You counted a sixth call, which reads the fifteenth word. It is sampled at the end and never "
    "read.",
    [75, 15, 955, 165, 3_840],
    [75, 15, 955, 165, 3_584],
    [60, 14, 955, 165, 3_584],
)
task.mistake(
    "The fourth counts a call for the last word, which is never read.",
    [60, 14, 730, 165, 3_584],
)
task.mistake(
    "The last one counts bytes. How many *numbers* are stored?",
    [60, 14, 730, 150, 14_336],
    [60, 14, 730, 150, 7_168],
)
