"""From “did not learn, at any rate of the grid” to what may be said of residual connections."""

from grading.author import TaskFile

task = TaskFile(
    "written",
    sentences=4,
    points=5,
    minutes=13,
    section="Ablation: which parts does one task need?",
    outcome="run an ablation of a stack of twelve blocks, with a learning rate tuned for "
    "each variant, and count a block's parameters by a formula",
    hints=(
        "What could have been different, but was not tried?",
        "What does a layer without a residual connection do to the similarity of the words, and "
        "how can the output layer then distinguish them?",
    ),
)

# %% the cell
claim_residuals = ...  # four to six sentences
# BEGIN SOLUTION
claim_residuals = (
    "The lecture measured a stack of twelve blocks of one width, with "
    "the usual initialization, over a grid of learning rates and a "
    "fixed number of steps, on one task. In Deeper a stack of "
    "attention layers without residual connections did learn from "
    "another initialization, so “cannot” is too strong. As a "
    "mechanism I suggest collapse: without a residual connection each "
    "layer replaces a word by an average, and by what biases and ReLU "
    "make of all words in the same way, so the words become similar "
    "from layer to layer. An output layer that gets nearly the same "
    "vector for every word can hardly distinguish them. Without "
    "training, I would measure from layer to layer how similar the "
    "words are, with and without residual connections: if I am right, "
    "they collapse only without them. (The gradient of the residual "
    "stream had not vanished before training, so it was not the first "
    "cause; that of queries and keys was small, but the whole stack "
    "learns with both frozen, so that alone is not the reason.) "
    "Instead I would write: with the usual initialization, at all "
    "learning rates tried, these twelve blocks did not learn without "
    "residual connections in that many steps."
)
# END SOLUTION
# %%

task.mistake(
    "It does not say what was varied and what was fixed (initialization, rates, steps, depth).",
    "The stack was trained without residual connections.",
)
task.mistake(
    "It ignores the other initialization in Deeper, with which the model did learn.",
    "Nothing was learned, so they are necessary.",
)
task.mistake(
    "It names no mechanism that can be measured.",
    "Residual connections help the information flow.",
)
task.mistake(
    "Its measurement needs training, or shows no difference between the two stacks.",
    "I would train for longer.",
)
task.mistake(
    "Its sentence still says “cannot”, or speaks of all deep networks.",
    "Deep networks are hard to train without residual connections.",
)
