"""Choose: three requirements, and which model meets which."""

from grading.author import TaskFile, correct, incorrect

task = TaskFile(
    "choose",
    points=6,
    minutes=10,
    section="What a sequence model needs",
    outcome="compare recurrence, attention and convolution by path length and by how many steps "
    "have to wait for one another",
    reasons={
        "a": correct(
            "Both sentences hold the same words, and they need different verbs. A model that only "
            "counts words cannot tell them apart: the first requirement, order."
        ),
        "b": correct(
            "With three words of context, the subject is out of reach. Only attractors are left, "
            "and whether they are plural says nothing about the subject."
        ),
        "c": incorrect(
            "It does reach the subject, but its accuracy stays near one half: almost no context of "
            "twelve words had occurred in training, so it had no counts to use."
        ),
        "d": incorrect(
            "It counts sequences of words, not sets of words: in another order the same words "
            "are another context. The requirement that it fails is the long distance."
        ),
        "e": correct(
            "Its matrix has columns for 13 words. A sentence of 14 does not fit, and one of 5 "
            "leaves most of it without meaning: the second requirement, any length."
        ),
        "f": correct(
            "Nothing in the formula stops at some distance. Whether training finds suitable "
            "weights, and how late, is what the rest of the lecture measures."
        ),
        "g": incorrect(
            "If the attractors always oppose the subject, “take the opposite of the nearest "
            "noun” is right wherever there is one, and a model can learn that instead. "
            "With random nouns there is no such shortcut."
        ),
    },
    hints=(
        "All this is in *What a sequence model needs* and at the beginning of *Recurrent "
        "networks*.",
    ),
)

# %% the cell
model_requirements = ...  # a set of letters
# BEGIN SOLUTION
model_requirements = {"a", "b", "e", "f"}
# END SOLUTION
# %%
