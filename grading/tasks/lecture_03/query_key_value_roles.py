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
            "With one matrix for both, the score of i for j is the dot product of two vectors of "
            "the same kind, and that is the same in both directions. Different scores need two "
            "different matrices."
        ),
        "b": correct(
            "Keys take part in the scores only, values in the sum only. Exchanging the values "
            "of two words leaves every weight as it was."
        ),
        "c": correct(
            "Its query need not resemble its own key, so another word can fit better. With the "
            "word vectors themselves, all of one length, every word matched itself best. (One "
            "shared matrix could achieve this for some words, but never for all words of a "
            "sentence.)"
        ),
        "d": incorrect(
            "A query is computed from the word's own vector and nothing else. The other words "
            "enter only through the weighted sum."
        ),
        "e": correct(
            "The scores are X (W_Q W_Kᵀ) Xᵀ. A pair of matrices with the same product gives the "
            "same scores for every X."
        ),
        "f": incorrect(
            "Softmax makes each row sum to 1, whatever the keys are. If no key matches, the "
            "weights still sum to 1, and the context vector is an average of values that the "
            "query did not ask for."
        ),
        "g": correct(
            "Each word is projected on its own, by the same matrices. Two words with the same "
            "vector have the same query, and therefore the same row."
        ),
        "h": incorrect(
            "The projections were random: almost all queries pointed in the same direction, and "
            "every word attended most to *meal*. Over a thousand seeds, *it* did so less often "
            "than a uniformly random choice would."
        ),
    },
    hints=(
        "Write the score of query i and key j with x[i], x[j], W_query and W_key. Which of the "
        "statements follow from this formula?",
    ),
)

# %% the cell
query_key_value_roles = ...  # a set of letters
# BEGIN SOLUTION
query_key_value_roles = {"b", "c", "e", "g"}
# END SOLUTION
# %%
