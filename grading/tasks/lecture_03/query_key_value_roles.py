"""Choose: what queries, keys and values are for."""

from grading.author import TaskFile, correct, incorrect

task = TaskFile(
    "choose",
    points=7,
    minutes=13,
    section="One token, three roles",
    outcome="say what query, key and value are each for, and which faults of Lecture 2 they repair",
    reasons={
        "a": incorrect(
            "With one matrix for both, the score of i for j is the dot product of two vectors "
            "of the same kind, and that is the same both ways. It takes two different matrices."
        ),
        "b": correct(
            "Keys take part in the scores only, values in the sum only. Exchanging the values "
            "of two words leaves every weight as it was."
        ),
        "c": correct(
            "Its query need not resemble its own key, so another word can fit better. With the "
            "words themselves, all of one length, everybody's best match was itself. (One shared "
            "matrix could do this for some words, and never for all of a sentence.)"
        ),
        "d": incorrect(
            "A query is made from the word's own vector and from nothing else. What the others "
            "say enters with the weighted sum."
        ),
        "e": correct(
            "The scores are X (W_Q W_Kᵀ) Xᵀ. A pair of matrices with the same product gives the "
            "same scores for every X."
        ),
        "f": incorrect(
            "Softmax makes each row sum to 1, whatever the keys are. At the seed swap everyone "
            "goes home with a full bag."
        ),
        "g": correct(
            "Each word is projected on its own, by the same matrices. If two words have the "
            "same vector, they have the same query, and so the same row."
        ),
        "h": incorrect(
            "They were random: all queries pointed almost the same way, and every word attended "
            "most to *meal*. Over a thousand seeds *it* did so less often than a uniformly random "
            "choice would."
        ),
    },
    hints=(
        "Write what word i gives word j as a score with x[i], x[j], W_query and W_key. Which of "
        "the statements can be read off it?",
    ),
)

# %% the cell
query_key_value_roles = ...  # a set of letters
# BEGIN SOLUTION
query_key_value_roles = {"b", "c", "e", "g"}
# END SOLUTION
# %%
