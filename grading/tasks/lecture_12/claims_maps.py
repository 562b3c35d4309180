"""What attention maps and ablations prove."""

from grading.author import TaskFile, correct, incorrect

task = TaskFile(
    "choose",
    points=6,
    minutes=8,
    section="Attention is not explanation",
    outcome='build a counterexample to the sentence "the model looked there, so that is why", and '
    "say what an attention map does prove",
    reasons={
        "a": incorrect(
            "The values decide as well: a small weight on a long vector may add more than a large "
            "one on a short vector, and a value of zeros adds nothing however large its weight."
        ),
        "b": correct(
            "What is exactly 0 is multiplied with the value. Through other heads and layers that "
            "word may still have come."
        ),
        "c": incorrect(
            "Others may compensate for it, or did the same job already. Ablate several together."
        ),
        "d": correct(
            "Zeros are something that later layers have never seen. The mean takes away only what "
            "depends on the sentence."
        ),
        "e": incorrect(
            "With another seed other heads may do it, and a claim about one seed is about this one."
        ),
        "f": correct(
            "Without a control a fall of agreement could mean that the whole model is broken."
        ),
    },
    hints=("A sentence with *always* or *never* falls with one counterexample.",),
)

# %% the cell
claims_maps = ...  # a set of letters
# BEGIN SOLUTION
claims_maps = {"b", "d", "f"}
# END SOLUTION
# %%
