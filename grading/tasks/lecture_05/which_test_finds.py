"""Choose: which test finds which mistake."""

from grading.author import TaskFile, correct, incorrect

task = TaskFile(
    "choose",
    points=6,
    minutes=10,
    extra=True,
    section="Which test finds a wrong cut?",
    outcome="find a wrong cut or join with a test, and say when n_heads must divide d_model",
    reasons={
        "a": correct(
            "With a right join, what the first “head” has collected for several words is "
            "written beside others, and numbers of later words come into earlier rows. The "
            "lecture ran it."
        ),
        "b": incorrect(
            "Read in their order and written back in their order, no number travels backward. "
            "The test passes, though words of the two halves never meet."
        ),
        "c": correct(
            "Who may meet whom now depends on the piece of the text in which a word is, and with "
            "more words than heads a piece holds more than one. In most orders some words come "
            "into other pieces, and the outputs do more than move along."
        ),
        "d": incorrect(
            "The permutation test runs without a mask, so a mask that is ignored makes no "
            "difference there. The future-token test finds it."
        ),
        "e": incorrect("The shapes are right in all three wrong programs of the lecture."),
        "f": correct(
            "A wrong divisor treats all positions alike and looks nowhere else than the right "
            "one. Only a comparison with a second way to compute it notices, or the size of the "
            "scores."
        ),
        "g": incorrect(
            "Both tests are about positions. A shared projection treats all words alike, and "
            "neither test notices that a head is blind for a part of each word."
        ),
    },
    hints=(
        "For each mistake ask two things. Does a number of a later word come into an earlier row? "
        "And does the position of a word make a difference that it should not make?",
    ),
)

# %% the cell
which_test_finds = ...  # a set of letters
# BEGIN SOLUTION
which_test_finds = {"a", "c", "f"}
# END SOLUTION
# %%
