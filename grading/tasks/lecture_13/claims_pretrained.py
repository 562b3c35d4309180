"""What measurements on a pretrained model allow us to say."""

from grading.author import TaskFile, correct, incorrect

task = TaskFile(
    "choose",
    points=6,
    minutes=9,
    section="Look inside",
    outcome="compare a general model with one that was trained for the task, and say what the "
    "comparison shows",
    reasons={
        "a": incorrect(
            "Replaced by its mean, or by what it computes for the twin, L1H4 changes nothing. So "
            "zeros break something else."
        ),
        "b": correct(
            "The ten other heads are the control: they are in the same layers, and the copying "
            "hardly changes without them."
        ),
        "c": incorrect(
            "Only the last token's residual stream was swapped. The earlier blocks may prepare the "
            "number at other positions, and late heads fetch it from there."
        ),
        "d": correct(
            "Both the estimates and the real patches of all 270 heads have L26H0 first, in these "
            "sentences."
        ),
        "e": incorrect(
            "This holds on this task, for which the small reader was trained. It cannot read any "
            "other text, and a better prompt for SmolLM2 may exist."
        ),
        "f": correct(
            "The control, with nouns of the same grammatical number, decides: if errors are as "
            "frequent there, a difference in number is not their cause."
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
