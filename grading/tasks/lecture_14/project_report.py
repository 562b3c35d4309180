"""Half a page on what was found, what the control shows, and what was not shown."""

from grading.author import TaskFile

task = TaskFile(
    "written",
    points=9,
    minutes=45,
    outcome="report what was found, with a control, and what was not shown",
    hints=(
        "Begin with the table of your comparison, and write the claim last.",
        "What else changes when the answer is reversed, besides the direction of the carry? Think "
        "of how far a digit of the answer is from the digits that it needs, and of sums without "
        "carries.",
    ),
)

# %% the cell
project_report = ...  # 150 to 300 words
# BEGIN SOLUTION
project_report = (
    "We compared sums of numbers below 1,000 with the answer in plain "
    "order and reversed, units first. The model (26,604 parameters), "
    "the 50,000 pairs, the 300 steps at batch size 128 and the test "
    "pairs were the same, and no test pair occurred in training in "
    "either order of a and b. Each order got the best of four "
    "learning rates, by validation, with three seeds that are not "
    "reported: plain 0.03; reversed stayed near 0 at all four, and "
    "got 0.01. Exact match with five seeds: plain 0.14, 0.95, 0.85, "
    "0.96, 0.05; reversed 0.00, 0.00, 0.10, 0.00, 0.12. So at this "
    "size, after so few steps, plain is mostly learned first: four of "
    "five seeds are ahead of all reversed ones. I had expected the "
    "opposite, because reversed digits need at most five positions. "
    "My explanation: the first digits of a plain answer teach how "
    "large numbers are, and the rest builds on that. A rival: carries "
    "make the reversed order slow. Control: sums without carries. If "
    "the rival is right, the reversed order is learned there quickly; "
    "if I am right, both orders are slow, because no digit reveals a "
    "size. Both stayed at 0.10 or below with all five seeds. In one "
    "run of 1,000 steps the plain model gets 99 of 100 right. Of its "
    "heads, each replaced by its mean, head 2 of layer 0 costs most, "
    "0.86 of the tens; no head of layer 1 costs more than 0.01, "
    "though two of them may be redundant. I have not shown which "
    "order is better after long training, with more digits or in "
    "another model; nor that the first digits are the reason: for "
    "that they must be left out of the loss."
)
# END SOLUTION
# %%

task.mistake(
    "Figures are missing, or only a mean is given: every seed belongs there.",
    "The reversed model is much better than the plain one.",
)
task.mistake(
    "It does not say what was equal in both runs, or how each rate was chosen.",
    "We trained both models and compared their accuracy.",
)
task.mistake(
    "It claims more than the range that was tried: plain order *cannot* be learned, or all models "
    "add better in reversed order.",
    "Transformers cannot add in plain order.",
)
task.mistake(
    "What it calls a control is not one: the predicted result is the same under both "
    "explanations, or it is only another seed.",
    "As a control, more seeds could be trained.",
)
task.mistake(
    "It infers from an attention map what a head is needed for. A map shows where the head "
    "attends, not whether its output is used.",
    "Head 2 looks at the units, so it computes the carry.",
)
task.mistake(
    "It does not say what was not shown, or only says that more could be done.",
    "Future work could use larger models.",
)
