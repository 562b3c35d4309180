"""What zeros, a mean and another sentence claim, and what may be said of “the agreement head”."""

from grading.author import mistake, plan, task

# %% the cell
the_agreement_head = ...  # four to six sentences
# BEGIN ANSWER
the_agreement_head = (
    "Zeros take away all that a head adds, also a constant on which "
    "later layers may have come to rely; the mean takes away only what "
    "depends on the sentence; what another sentence says takes away "
    "nothing but the truth, and puts something wrong in its place. So "
    "wrong verbs by zeros claim that something of the head is needed, "
    "by the mean that this sentence's part is needed, and by another "
    "sentence that the model believes what the head says. On head 1 of "
    "layer 0 they do not agree: 0.60 by zeros, 1.00 by its mean, 0.62 "
    "by another sentence; so verbs need what it brings in all sentences alike, not its "
    "word, but it is used when it says something. The control is head 2 "
    "of layer 0: without it the loss is the highest of all, 1.27, and "
    "no verb goes wrong, so wrong verbs are no sign of a model that is "
    "merely broken. Of head 3 of layer 1 one may say that this model, "
    "in sentences with two opposing attractors, needs what it brings "
    "from the sentence: about half of the verbs are right in all three "
    "ways. It is not “the” agreement head: another one is needed as "
    "well, other seeds have other heads, and I would open those, take "
    "other sentences, and switch off pairs."
)
# END ANSWER
# %%

mistake(
    "It takes the three ways for one. Zeros take away a constant as well; a mean leaves it; "
    "another sentence brings something that is wrong.",
    "Without the head verbs go wrong, however it is switched off.",
)
mistake(
    "It passes over the head that zeros and the mean judge differently.",
    "Two heads are needed for agreement.",
)
mistake(
    "It names no control: a head that costs more loss and no verb.",
    "The other heads do something else.",
)
mistake(
    "It says “the agreement head” of all models, or of all sentences. One model was opened, on "
    "sentences of one kind.",
    "Head 3 of layer 1 is where transformers do agreement.",
)
mistake(
    "It concludes from what is not needed that it is not used. What is in two positions is needed "
    "in neither.",
    "All other heads have nothing to do with agreement.",
)

TASK = task(
    plan("written", points=5, minutes=13),
    section="Ablation: which heads are needed",
    outcome="show by {term}`ablation` which heads a trained model needs for a task, with a control",
    hints=(
        "What of a head is left when its mean is put in, and what when zeros are?",
        "A sentence that holds for one model and one kind of sentence has to say so.",
    ),
)
