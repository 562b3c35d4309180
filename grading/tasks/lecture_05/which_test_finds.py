"""Choose: which test finds which mistake."""

from grading.author import TaskFile, correct, incorrect

task = TaskFile(
    "choose",
    points=6,
    minutes=10,
    extra=True,
    section="Which test finds a wrong cut?",
    outcome="use a test to detect heads that are cut wrongly, and say when n_heads must divide "
    "d_model",
    reasons={
        "a": correct(
            "With a correct merge, the context vectors of one “head” for several words are "
            "written side by side, and numbers of later words get into earlier rows. The lecture "
            "shows this."
        ),
        "b": incorrect(
            "If the numbers are read and written back in the same order, no number moves to an "
            "earlier word. The test passes, although words of different pieces never attend to "
            "each other."
        ),
        "c": correct(
            "Which words can attend to each other now depends on their positions, because each "
            "“head” holds a piece of the text, and with more words than heads a piece holds more "
            "than one word. In most orders some words change pieces, so the outputs are not just "
            "reordered."
        ),
        "d": incorrect(
            "The permutation test runs without a mask, so an ignored mask makes no difference to "
            "it. The future-token test detects it."
        ),
        "e": incorrect("The shapes are right in all three wrong programs of the lecture."),
        "f": correct(
            "A wrong divisor treats all positions alike and does not change which words are "
            "attended to. Only a comparison with a second implementation, or the size of the "
            "scores, shows it."
        ),
        "g": incorrect(
            "Both tests are about positions. A shared projection treats all words alike, and "
            "neither test notices that each head is blind to a part of the word."
        ),
    },
    hints=(
        "For each mistake ask two questions. Does a number of a later word get into an earlier "
        "row? And does the position of a word make a difference that it should not make?",
    ),
)

# %% the cell
which_test_finds = ...  # a set of letters
# BEGIN SOLUTION
which_test_finds = {"a", "c", "f"}
# END SOLUTION
# %%
