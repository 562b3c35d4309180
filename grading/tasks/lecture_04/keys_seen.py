"""How many keys each query sees: filler on the left, and only the last places ask."""

from grading.author import mistake, plan, task

# %% the cell
keys_seen = ...  # a list of three whole numbers
# BEGIN ANSWER
keys_seen = [2, 3, 4]
# END ANSWER
# %%

mistake(
    "This counts the two places of filler, too. The padding mask hides them from every query.",
    [4, 5, 6],
)
mistake(
    "The three queries are the last three of the four words. Before the first of them there is "
    "one word already, and it is visible.",
    [1, 2, 3],
)
mistake(
    "This is the padding mask alone. Under the causal mask, the first two queries do not see "
    "what comes after them.",
    [4, 4, 4],
)
mistake(
    "Here the first query is taken to be the one at place 0, at the filler. The queries are the "
    "last three places, so their rows are the last three of the square.",
    [0, 0, 1],
)
mistake(
    "Nothing is hidden here. Masks combine by “and”: visible is what both masks allow. (By “or”, "
    "each query would see everything.)",
    [6, 6, 6],
)
mistake(
    "Here one of the two places of filler is counted, or each query sees one word ahead.",
    [3, 4, 5],
)

TASK = task(
    plan("predict", points=5, minutes=5),
    section="Padding",
    outcome="mask padding on either side, combine masks, and say what a fully masked row gives",
    hints=(
        "Number the places: 0 and 1 are filler, 2 to 5 are words. At which places stand the three "
        "queries?",
        "The query at place 3 sees places up to 3. Which of these are words?",
    ),
)
