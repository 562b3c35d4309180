"""Read a comparison of translators by length."""

from grading.author import TaskFile, correct, incorrect

task = TaskFile(
    "choose",
    points=7,
    minutes=8,
    outcome="explain what an encoder-decoder without attention must carry through one vector, "
    "and read a comparison of what was *learned* through it",
    reasons={
        "a": incorrect(
            "Look at the second table, one clause. All of them are almost perfect there when they "
            "are trained on such sentences only."
        ),
        "b": correct(
            "On single clauses it is 0.97 to 1.00 without attention and 1.00 with it, too close "
            "to the maximum to separate them. But with two clauses, no sentence is right without "
            "attention, and nearly all are with it."
        ),
        "c": incorrect(
            "The LSTM with attention has the most right sentences of three clauses. What the two "
            "successful models have in common is attention to the source."
        ),
        "d": correct(
            "With four times the parameters, 0.95 or more of the single clauses are right "
            "instead of 0.09 or less, some of the sentences with two, and hardly one with three."
        ),
        "e": correct(
            "With four clauses, one more than in training, all are near zero, whatever they "
            "reached at three."
        ),
        "f": incorrect(
            "600 steps were measured. That it was not learned in this time does not prove that it "
            "cannot be learned."
        ),
    },
    hints=(
        "For each statement, find the two numbers that it compares.",
        "A statement that says *cannot* needs more than a table of a few experiments.",
    ),
)

# %% the cell
claims_translation = ...  # a set of letters
# BEGIN SOLUTION
claims_translation = {"b", "d", "e"}
# END SOLUTION
# %%
