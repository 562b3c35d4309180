"""A threshold chosen on the questions that are reported, and on others."""

from grading.author import TaskFile

task = TaskFile(
    "written",
    sentences=4,
    points=5,
    minutes=13,
    section="Questions without an answer",
    outcome="let a reader say that a passage has no answer, with a threshold chosen on separate "
    "data",
    hints=(
        "There are ten questions and ten thresholds to try. Why does one of them win?",
        "If something is chosen because of its result, that result is too optimistic.",
    ),
)

# %% the cell
claim_threshold = ...  # four to six sentences
# BEGIN SOLUTION
claim_threshold = (
    "I would report the second number: 0.63 for ten questions, not "
    "0.78. Of ten thresholds we take the one that happens to suit "
    "these ten questions, so their own accuracy counts luck as skill; "
    "other questions do not share these accidents, and the model is "
    "the same in both columns. With 160 questions the first number "
    "falls to 0.70 and the second rises to 0.67: one threshold can "
    "fit fewer accidents of many questions, and what it fits is more "
    "often a property of all questions. In the table of models a "
    "learning rate is selected from several by its result, so the "
    "mean validation result at the chosen rate is too good as well; "
    "that is why the sweep has its own questions and seeds, and the "
    "report uses others. With a total of 200 questions I would choose "
    "on one half and report on the other, or choose on four fifths "
    "and report on the last fifth, five times in turn, and say which."
)
# END SOLUTION
# %%

task.mistake(
    "It reports the accuracy on the questions that chose the threshold.",
    "I would report the larger one, since the threshold belongs to it.",
)
task.mistake(
    "It says that the model is better on one of the two sets. The model and the distribution of "
    "the questions are the same: only the threshold was fitted to the first set.",
    "The other questions are harder.",
)
task.mistake(
    "It does not say why the difference shrinks: with more questions a threshold can fit fewer of "
    "their accidents.",
    "With more questions everything gets better.",
)
task.mistake(
    "It does not mention the second choice, in the table of models: the learning rate is chosen, "
    "too.",
    "In the table there are only results.",
)
task.mistake(
    "It quotes no figure.",
    "The first number is a little larger than the second.",
)
