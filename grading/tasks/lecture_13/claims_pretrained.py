"""What measurements on a pretrained model allow us to say."""

from grading.author import TaskFile, correct, incorrect

task = TaskFile(
    "choose",
    points=6,
    minutes=9,
    section="Why is the verb nearly a tie?",
    outcome="say what an experiment on a model shows, and what it does not",
    reasons={
        "a": incorrect(
            "A map says where a head attends. Only an ablation would show whether the model "
            "needs this one head."
        ),
        "b": correct(
            "The fifteen are the control: they are in the same blocks, and without the three "
            "they change nothing."
        ),
        "c": incorrect(
            "Only the last token's residual stream was patched. The earlier blocks may prepare the "
            "number at other positions, and late heads fetch it from there."
        ),
        "d": correct(
            "A push towards *are* would show after *letter*, too. There, the model still prefers "
            "*is*."
        ),
        "e": incorrect(
            "Six errors remain, and the attention that is usual where the verb is wrong spoils "
            "only 31 of 177 right verbs. So this is one cause, in one kind of sentence."
        ),
        "f": correct(
            "The two kinds of sentences differ only in the number of this noun, and so do the "
            "errors."
        ),
    },
    hints=(
        "For each statement, ask what was measured, on what data, and with which control.",
        "Does the statement go further: to other texts, other sentences, or a cause?",
    ),
)

# %% the cell
claims_pretrained = ...  # a set of letters
# BEGIN SOLUTION
claims_pretrained = {"b", "d", "f"}
# END SOLUTION
# %%
