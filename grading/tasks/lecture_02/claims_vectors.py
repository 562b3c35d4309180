"""Choose: what the two examples with hand-made vectors show."""

from grading.author import TaskFile, correct, incorrect

task = TaskFile(
    "choose",
    points=5,
    minutes=13,
    section="Twelve words and a claim",
    outcome="predict which way a word's vector moves in a sentence, and say what a map does not "
    "show",
    reasons={
        "a": incorrect(
            "All weights of that map lie between 0.06 and 0.12. Nearly uniform weights give "
            "nearly the plain average: the result is ten times closer to the average than to "
            "“chef”."
        ),
        "b": correct(
            "All numbers in the table are positive, so every word's score with “meal” is positive "
            "and doubles. A longer vector attracts more attention from every word, not only from "
            "“it”."
        ),
        "c": incorrect(
            "A dot product sums over the columns, and a sum has no order. Nothing in the map "
            "depends on the order of the columns."
        ),
        "d": incorrect(
            "The others attend to “it” as well. They find another vector there, so their scores, "
            "their weights and their context vectors change too, if only a little."
        ),
        "e": correct(
            "Smaller scores are closer together, and so are the weights. The ranking of the words "
            "stays the same, but the weights become more uniform, and uniform weights give the "
            "plain average."
        ),
        "f": correct(
            "What is collected is the whole vector of “voice”, also its music. The score "
            "decides how much is taken, not which part of it."
        ),
    },
    hints=(
        "Change the table, or the scores, as the statement says. Compute the attention map and "
        "the context vectors before and after the change, and compare them.",
    ),
)

# %% the cell
claims_vectors = ...  # a set of letters
# BEGIN SOLUTION
claims_vectors = {"b", "e", "f"}
# END SOLUTION
# %%
