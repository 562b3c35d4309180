"""Precision, recall and F1 by hand."""

from grading.author import TaskFile

task = TaskFile(
    "predict",
    points=5,
    minutes=8,
    outcome="compute {term}`ROUGE` by hand and with a library, and say what it cannot see",
    hints=(
        "For the second summary: the reference has one *a* and one *ship*. How many words can the "
        "two have in common?",
        "For the third: cross out as few words as possible until the rest is in both, in the same "
        "order.",
    ),
)

# %% the cell
rouge_by_hand = ...  # a list of six numbers
# BEGIN SOLUTION
rouge_by_hand = [6 / 8, 6 / 6, 6 / 7, 2 / 6, 2 / 8, 4 / 7]
# END SOLUTION
# %%

task.mistake(
    "The first two are the other way around: recall is the proportion of the *reference* that was "
    "found.",
    [6 / 6, 6 / 8, 6 / 7, 2 / 6, 2 / 8, 4 / 7],
)
task.mistake(
    "The first two are right. F1 is not their plain mean: it is 2 · precision · recall divided by "
    "their sum.",
    [6 / 8, 6 / 6, 7 / 8, 2 / 6, 2 / 8, 4 / 7],
)
task.mistake(
    "The first three are right. In the second summary you counted each word that occurs in the "
    "reference. A word counts at most as often as the reference has it.",
    [6 / 8, 6 / 6, 6 / 7, 6 / 6, 2 / 8, 4 / 7],
)
task.mistake(
    "The first three are right. In the second summary you counted each word that occurs in the "
    "reference, for precision and for recall. A word counts at most as often as the reference has "
    "it.",
    [6 / 8, 6 / 6, 6 / 7, 6 / 6, 6 / 8, 4 / 7],
)
task.mistake(
    "The first five are right. The last is ROUGE-1 of the third summary. ROUGE-L uses the longest "
    "common subsequence, and *on monday* is at the wrong end for it.",
    [6 / 8, 6 / 6, 6 / 7, 2 / 6, 2 / 8, 6 / 7],
)
task.mistake(
    "The first five are right. The longest common subsequence has four words. What fraction is "
    "that of the summary, and of the reference?",
    [6 / 8, 6 / 6, 6 / 7, 2 / 6, 2 / 8, 4 / 8],
)
task.mistake(
    "The first five are right. The longest common subsequence has four words, and this is its "
    "fraction of the summary. F1 also uses the fraction of the reference.",
    [6 / 8, 6 / 6, 6 / 7, 2 / 6, 2 / 8, 4 / 6],
)
task.mistake(
    "The first four are right. For the recall of the second summary you counted each word that "
    "occurs in the reference. A word counts at most as often as the reference has it.",
    [6 / 8, 6 / 6, 6 / 7, 2 / 6, 6 / 8, 4 / 7],
)
task.mistake(
    "The first three are right. The precision and the recall of the second summary are the other "
    "way around.",
    [6 / 8, 6 / 6, 6 / 7, 2 / 8, 2 / 6, 4 / 7],
)
task.mistake(
    "The first five are right. The longest common subsequence of the third summary has four words: "
    "*on monday* comes first there and last in the reference.",
    [6 / 8, 6 / 6, 6 / 7, 2 / 6, 2 / 8, 5 / 7],
    [6 / 8, 6 / 6, 6 / 7, 2 / 6, 2 / 8, 2 / 7],
)
