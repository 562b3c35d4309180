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
            "The values matter as well: a small weight on a long vector may add more than a large "
            "one on a short vector, and a value of zeros adds nothing however large its weight."
        ),
        "b": correct(
            "The value is multiplied by exactly 0. Through other heads and layers that word may "
            "still have an effect."
        ),
        "c": incorrect(
            "Other heads may compensate for it, or may already have done the same job. Ablate "
            "several heads together."
        ),
        "d": correct(
            "Later layers have never seen zeros there. The mean removes only what depends on the "
            "sentence."
        ),
        "e": incorrect(
            "With another seed other heads may do it, so a claim from one seed holds only for "
            "that seed."
        ),
        "f": correct(
            "Without a control, a drop in agreement could mean that the whole model is broken."
        ),
    },
    hints=("One counterexample refutes a statement with *always* or *never*.",),
)

# %% the cell
claims_maps = ...  # a set of letters
# BEGIN SOLUTION
claims_maps = {"b", "d", "f"}
# END SOLUTION
# %%
