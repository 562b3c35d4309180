"""What measurements on a pretrained model allow us to say."""

from grading.author import TaskFile, correct, incorrect

task = TaskFile(
    "choose",
    points=6,
    minutes=9,
    section="What it learned without being asked",
    outcome="measure what a model has learned without being asked to, with a control",
    reasons={
        "a": incorrect(
            "We measured the model, and neither its training texts nor the world. A model may "
            "exaggerate what its texts say."
        ),
        "b": correct(
            "Words that say nothing about gender are the control: they are near zero, so the "
            "measure does not simply favour one pronoun."
        ),
        "c": incorrect(
            "The four beginnings differ, for some occupations even in sign. Another use of the "
            "model may show something else."
        ),
        "d": correct(
            "With a name, the sign followed the name for all 24 occupations, in these sentences."
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
        "For each sentence, ask what was measured, on what data, and with which control.",
        "Three of the six claim more than the measurements show.",
    ),
)

# %% the cell
claims_pretrained = ...  # a set of letters
# BEGIN SOLUTION
claims_pretrained = {"b", "d", "f"}
# END SOLUTION
# %%
