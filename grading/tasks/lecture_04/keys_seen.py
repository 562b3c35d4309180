"""How many keys each query sees: padding on the left, and only the last places ask."""

from grading.author import TaskFile

task = TaskFile(
    "predict",
    points=5,
    minutes=5,
    section="Padding",
    outcome="mask padding on either side, combine masks, and say what a fully masked row gives",
    hints=(
        "Number the positions: 0 and 1 are padding, 2 to 5 are words. At which positions are the "
        "three queries?",
        "The query at position 3 may attend to positions up to 3. Which of these are words?",
    ),
)

# %% the cell
keys_seen = ...  # a list of three whole numbers
# BEGIN SOLUTION
keys_seen = [2, 3, 4]
# END SOLUTION
# %%

task.mistake(
    "This counts the two positions of padding, too. The padding mask hides them from every query.",
    [4, 5, 6],
)
task.mistake(
    "Each query is one key short. It sees itself as well, and the first query, the second of the "
    "four words, also sees the word before it.",
    [1, 2, 3],
)
task.mistake(
    "This is the padding mask alone. Under the causal mask, the first two queries cannot attend "
    "to what comes after them.",
    [4, 4, 4],
)
task.mistake(
    "Here the first query is taken to be the one at position 0, which is padding. The queries are "
    "the last three positions, so their rows are the last three of the square mask.",
    [0, 0, 1],
)
task.mistake(
    "Nothing is masked here. Masks combine by “and”: a key is visible if both masks allow it. (By "
    "“or”, each query would see everything.)",
    [6, 6, 6],
)
task.mistake(
    "Here one of the two padding positions is counted, or each query sees one word ahead.",
    [3, 4, 5],
)
