"""What an experiment with controls says of the flag, and what it does not say."""

from grading.author import TaskFile, correct, incorrect

task = TaskFile(
    "choose",
    points=4,
    minutes=5,
    section="What the flag does",
    outcome='say what a flag "occurs in the question" does for a reader, from an experiment with '
    "controls",
    reasons={
        "a": incorrect(
            "The second reader has as many parameters as the first, and one input more than the "
            "third. Compare these three rows."
        ),
        "b": correct(
            "Then marks on any words would help, and the gain would come from the additional "
            "input. A control tests exactly that."
        ),
        "c": incorrect(
            "Each of the two cues is in two sentences, and one sentence has both. Count the "
            "sentences of a text in which something is marked."
        ),
        "d": correct(
            "With seed 0, the answers of *no flag* begin in the right sentence in .28 of the "
            "cases and always in a value of the right kind, but only .15 are exact. The others "
            "end at a wrong position, or begin inside the value."
        ),
        "e": incorrect("Two rows are models without attention. Look at the one with the flag."),
        "f": correct(
            "As a cosine, with noise, the information helps just as much: .97 or more with each "
            "seed. Flag and cosine both say which words the two texts share."
        ),
    },
    hints=(
        "For each statement, find the two rows that differ only in what the statement is about.",
        "For (c): take the lecture's first text, and mark the words of its question by hand.",
    ),
)

# %% the cell
claims_exact_match = ...  # a set of letters
# BEGIN SOLUTION
claims_exact_match = {"b", "d", "f"}
# END SOLUTION
# %%
