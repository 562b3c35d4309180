"""Controls for the claim that a recurrent network cannot learn agreement."""

from grading.author import TaskFile

task = TaskFile(
    "written",
    sentences=4,
    points=5,
    minutes=13,
    section="Does agreement need attention?",
    outcome="say which networks learn agreement, and why it is not the reason for attention",
    hints=(
        "Which of the choices could have suited one model more than another?",
        "“Cannot” is also a claim about everything that was not tried. What was tried?",
    ),
)

# %% the cell
claim_agreement = ...  # four to six sentences
# BEGIN SOLUTION
claim_agreement = (
    "First, I would tune the learning rate for each model: a grid of "
    "at least four rates, chosen on other sentences than those of the "
    "test, with the same steps and parameters. An RNN that reaches 90 "
    "% at another rate would contradict the claim. Second, I would "
    "run five seeds for each model and report all of them: one good "
    "seed is enough against “cannot”. Third, I would train longer, "
    "for 3,000 steps at the chosen rate, with everything else fixed, "
    "because what is not learned in 300 steps may be learned later. "
    "If the RNN stays at 61 % in all three, I would write: with "
    "PyTorch's initialization, no RNN of this size exceeded 61 % in "
    "300 steps, at rates from 0.001 to 0.03 and with five seeds at "
    "the best one, nor in 3,000 steps at that rate. That still does "
    "not prove that an RNN cannot learn it."
)
# END SOLUTION
# %%

task.mistake(
    "It compares one shared rate with another shared rate. Each model needs its own rate, chosen "
    "from a grid on a validation set.",
    "I would train all of them with 0.001 too.",
)
task.mistake(
    "It repeats the run without saying what is kept equal (parameters, steps, data).",
    "I would train the RNN again, longer and larger.",
)
task.mistake(
    "It does not say which result would contradict the claim.",
    "I would try several seeds and a longer training.",
)
task.mistake(
    "The last sentence still says “cannot”, where only “did not, within this range” was measured.",
    "If nothing helps, an RNN cannot learn agreement.",
)
task.mistake(
    "All three plans change the same thing. Learning rate, seeds, length of training and "
    "initialization are different explanations.",
    "I would try the rates 0.1, 0.03 and 0.001.",
)
