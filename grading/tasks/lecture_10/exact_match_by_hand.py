"""Exact match and F1 by hand."""

from grading.author import TaskFile

task = TaskFile(
    "predict",
    points=5,
    minutes=6,
    outcome="compute {term}`exact match` and F1 by hand, with articles and repeated words",
    rtol=1e-3,
    hints=(
        "Cross out the articles first, in both. Then count the shared words.",
        "F1 is twice the number of shared words, divided by the total number of words in the two "
        "answers.",
    ),
)

# %% the cell
exact_match_by_hand = ...  # a list of five numbers
# BEGIN SOLUTION
exact_match_by_hand = [1, 0.8, 0, 0.5, 0.575]
# END SOLUTION
# %%

task.mistake(
    "The article counts as a word here. Exact match and F1 both leave out *a*, *an* and *the*.",
    [0, 0.8, 0, 0.5, 0.575],
)
task.mistake(
    "Your second number is the precision. F1 is the harmonic mean of precision and recall.",
    [1, 2 / 3, 0, 0.5, 0.541667],
)
task.mistake(
    "Your second number is the precision. F1 is the harmonic mean of precision and recall.",
    [1, 0.667, 0, 0.5, 0.542],
)
task.mistake(
    "Your second number is the recall. F1 is the harmonic mean of precision and recall.",
    [1, 1, 0, 0.5, 0.625],
)
task.mistake(
    "Your second number is the arithmetic mean of precision and recall. F1 is the harmonic mean.",
    [1, 5 / 6, 0, 0.5, 0.583333],
)
task.mistake(
    "Your second number is the arithmetic mean of precision and recall. F1 is the harmonic mean.",
    [1, 0.833, 0, 0.5, 0.583],
)
task.mistake(
    "The third answer is not empty, but there is no right answer: no word is shared, so F1 is 0.",
    [1, 0.8, 1, 0.5, 0.825],
)
task.mistake(
    "Your fourth number is the exact match. Half of the words agree, so F1 is more than that.",
    [1, 0.8, 0, 0, 0.45],
)
task.mistake("Your last number is the sum. You need the mean of the four.", [1, 0.8, 0, 0.5, 2.3])
task.mistake(
    "Your last number leaves out the question without an answer, which counts like every other.",
    [1, 0.8, 0, 0.5, 0.766667],
)
task.mistake(
    "Your last number leaves out the question without an answer, which counts like every other.",
    [1, 0.8, 0, 0.5, 0.767],
)
task.mistake(
    "Your last number is the mean exact match. You need the mean F1.",
    [1, 0.8, 0, 0.5, 0.25],
)
task.mistake(
    "The shared words were divided by all different words of both. F1 is twice the shared words, "
    "divided by the words of both together.",
    [1, 2 / 3, 0, 1 / 3, 0.5],
    [1, 0.667, 0, 0.333, 0.5],
)
