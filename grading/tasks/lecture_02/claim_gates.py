"""What a figure says about gates and attention, and what it leaves open."""

from grading.author import TaskFile

task = TaskFile(
    "written",
    sentences=4,
    points=5,
    minutes=13,
    section="Attention chooses when the question comes",
    outcome="write a softmax that cannot overflow, say when a gate does as well as attention, "
    "and what a map does not show",
    hints=(
        "For the nouns that were not stored, how many answers are correct by chance?",
        "Who chose the gates, and when?",
    ),
)

# %% the cell
claim_gates = ...  # four to six sentences
# BEGIN SOLUTION
claim_gates = (
    "With k gates the state stores the first k nouns and answers them "
    "correctly, and for the others it guesses, which is right half of "
    "the time. So each gate adds one sixteenth, from one half to 1, "
    "and two gates have 0.62. With eight gates nothing is left to "
    "guess, so for eight nouns the claim agrees with the figure. But "
    "with one gate per noun the state must be as large as the number "
    "of nouns that a question may be about, and it must be laid out "
    "before the sentence is read. Attention stores a vector for each "
    "word, so its memory grows with T, too; but the number of words "
    "need not be fixed in advance, if there are labels for all, and "
    "the question decides afterwards what is read. The figure cannot "
    "say whether training finds such gates, because they were set by "
    "hand. I would train both on sentences of growing T, each at its "
    "own learning rate, and test them on longer ones."
)
# END SOLUTION
# %%

task.mistake(
    "It says that the figure refutes the claim. At eight gates both are at 1.",
    "Attention is better in the figure, so the claim is wrong.",
)
task.mistake(
    "It does not say why the line is straight: each gate turns a guess, right half of the "
    "time, into an answer.",
    "With two gates the state is bad, with eight it is good.",
)
task.mistake(
    "It says that attention needs no memory. It keeps a vector for every word.",
    "Attention needs no state, so it is cheaper.",
)
task.mistake(
    "It does not mention that the gates are fixed before the question comes, and for a fixed "
    "number of nouns.",
    "Eight gates and attention do the same.",
)
task.mistake(
    "It names no open question. The gates were set by hand, for one length.",
    "The figure proves that gates are enough.",
)
