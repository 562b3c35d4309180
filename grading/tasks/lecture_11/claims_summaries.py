"""Read a table of scores and facts, seed by seed."""

from grading.author import TaskFile, correct, incorrect

task = TaskFile(
    "choose",
    points=6,
    minutes=10,
    outcome="compute {term}`ROUGE` by hand and with a library, and say what it cannot see",
    reasons={
        "a": correct(
            "The smallest ROUGE-1 of the copying model is 0.93, and the largest of the "
            "extractive model is 0.69."
        ),
        "b": incorrect(
            "A fact from elsewhere makes the copying model's only sentence false. In an "
            "extracted sentence it is a true statement about something else."
        ),
        "c": correct(
            "An extractive summary only says what the text says, so nothing can be invented."
        ),
        "d": incorrect(
            "The name is not in its vocabulary. It has no row that training could have changed, "
            "so more steps would not help."
        ),
        "e": correct("Of eight words seven are shared: 7/8 = 0.875, whichever is wrong."),
        "f": incorrect(
            "Two seeds name six of ten known people and at most one of ten new ones. All of the "
            "syllables were known."
        ),
        "g": correct(
            "Names, actions, things and cities are right in nearly all summaries, the day in "
            "about half. So about half of the summaries are completely right."
        ),
    },
    hints=(
        "For (b): read one of the copying model's wrong summaries as a sentence. Then read a "
        "sentence that the extractive model chose wrongly.",
        "For (g): if four facts are always right, what decides whether a summary is completely "
        "right?",
    ),
)

# %% the cell
claims_summaries = ...  # a set of letters
# BEGIN SOLUTION
claims_summaries = {"a", "c", "e", "g"}
# END SOLUTION
# %%
