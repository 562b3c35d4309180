"""Two tables with opposite winners, and what may be said of transformers."""

from grading.author import TaskFile

task = TaskFile(
    "written",
    sentences=4,
    points=5,
    minutes=13,
    section="Do these stories need attention?",
    outcome="judge whether a comparison of two models is fair",
    hints=(
        "Which model did the shared rate suit?",
        "What did Lecture 1 measure about steps, and about many facts in one state?",
    ),
)

# %% the cell
claim_two_tables = ...  # four to six sentences
# BEGIN SOLUTION
claim_two_tables = (
    "The learning rates changed, and the initialization of the "
    "recurrent networks. One shared setting suits one model and not "
    "the others, so the first comparison is about settings as much as "
    "about models. For the LSTM it was mostly the rate; for the RNN "
    "it was the initialization, and mostly the ReLU that comes with "
    "it. The second comparison says that on these generated stories, "
    "at this size and number of steps, recurrent networks at their "
    "own rates come about as close to the entropy as transformers, "
    "with every seed. Stories of one small grammar and models of "
    "73,000 parameters say nothing about large models on real texts. "
    "A reason for transformers that does not depend on these losses: "
    "a transformer processes all positions of a text in parallel, "
    "while a nonlinear recurrence takes one step after another, which "
    "Lecture 1 measured; the capacity of a fixed state for many facts "
    "is another. I would add texts that ask for a distant fact among "
    "many others, with equal parameters, steps and data, a tuned rate "
    "for each model, chosen on other texts, and at least three seeds."
)
# END SOLUTION
# %%

task.mistake(
    "It explains the difference by the models and not by the shared rate.",
    "The RNN was undertrained in the first table.",
)
task.mistake(
    "It says that recurrent networks are better in general. The second table holds for these "
    "texts and sizes.",
    "So RNNs model language better.",
)
task.mistake(
    "Its reason for transformers is the loss again.",
    "With more data transformers would win.",
)
task.mistake(
    "It names no lecture that measured its reason.",
    "Transformers are faster.",
)
task.mistake(
    "Its measurement shares a rate, or changes size and task at once.",
    "I would train larger models with the same rate.",
)
