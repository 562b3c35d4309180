"""What zeros, a mean and another sentence claim, and what may be said of “the agreement head”."""

from grading.author import TaskFile

task = TaskFile(
    "written",
    sentences=4,
    points=5,
    minutes=13,
    section="Ablation: which heads are needed",
    outcome="show by {term}`ablation` which heads a trained model needs for a task, with a control",
    hints=(
        "What remains of a head under mean ablation, and what under zero ablation?",
        "A claim that holds for one model and one kind of sentence has to say so.",
    ),
)

# %% the cell
claim_agreement_head = ...  # four to six sentences
# BEGIN SOLUTION
claim_agreement_head = (
    "Zero ablation removes everything that a head adds, including a "
    "constant on which later layers may rely; mean ablation removes "
    "only what depends on the sentence; resampling from another "
    "sentence removes only the truth and inserts something wrong "
    "instead. So wrong verbs under zeros show that something from the "
    "head is needed, under the mean that the information about this "
    "sentence is needed, and under resampling that the model uses "
    "what the head says. They disagree on head 1 of layer 0: 0.60 "
    "with zeros, 1.00 with its mean, 0.62 with another sentence. So "
    "verbs need what it contributes to all sentences alike, not its "
    "information about this one, but the model uses that information "
    "if it is there. The control is head 2 of layer 0: without it the "
    "loss is the highest of all, 1.27, and no verb goes wrong, so "
    "wrong verbs are not just the sign of a damaged model. About head "
    "3 of layer 1 we may say that this model, in sentences with two "
    "opposing attractors, needs what it collects from the sentence: "
    "about half of the verbs are right under all three ablations. It "
    "is not “the” agreement head: another one is needed as well, and "
    "other seeds have other heads. I would examine those, use other "
    "sentences, and ablate pairs."
)
# END SOLUTION
# %%

task.mistake(
    "It treats the three ablations as one. Zeros also remove a constant; a mean leaves it; "
    "another sentence inserts something wrong.",
    "Without the head verbs go wrong, however it is ablated.",
)
task.mistake(
    "It ignores the head on which zero and mean ablation disagree.",
    "Two heads are needed for agreement.",
)
task.mistake(
    "It names no control: a head whose ablation costs more loss but no verb.",
    "The other heads do something else.",
)
task.mistake(
    "It says “the agreement head” of all models, or of all sentences. Only one model was tested, "
    "on sentences of one kind.",
    "Head 3 of layer 1 is where transformers do agreement.",
)
task.mistake(
    "It concludes that what is not necessary is not used. Information that is in two positions is "
    "necessary in neither.",
    "All other heads have nothing to do with agreement.",
)
