"""From “did not learn, at any rate of the grid” to what may be said of residual connections."""

from grading.author import mistake, plan, task

# %% the cell
what_was_not_learned = ...  # four to six sentences
# BEGIN ANSWER
what_was_not_learned = (
    "Measured was a stack of twelve blocks of one width, from the usual "
    "start, over a grid of rates and a fixed number of steps, on one "
    "task. In Deeper a stack of attention layers without residual "
    "connections did learn from another start, so “cannot” is too much. "
    "The mechanism: without a way around, a word is replaced by an "
    "average in each layer, and by what biases and ReLU make of all words "
    "alike, so on the way up the words become alike, and a readout that "
    "gets nearly the same vector for every word has little to tell them "
    "apart by. Without training, I would measure from layer to layer how "
    "alike the words are, with and without residual connections: if I am "
    "right, all become alike only without them. (The gradient of the "
    "stream was alive before training, so it did not begin with that; "
    "that of queries and keys was small, but the whole stack learns with "
    "both frozen, so that alone is not the reason.) Instead I would "
    "write: from the usual start, at no rate that was tried, did these "
    "twelve blocks learn without residual connections in so many steps."
)
# END ANSWER
# %%

mistake(
    "It does not say what was varied and what was fixed (start, rates, steps, depth).",
    "The stack was trained without residual connections.",
)
mistake(
    "It passes over the other start in Deeper, with which it did learn.",
    "Nothing was learned, so they are necessary.",
)
mistake(
    "It names no mechanism that can be measured.",
    "Residual connections help the information flow.",
)
mistake(
    "Its measurement needs a training, or shows no difference between the two stacks.",
    "I would train for longer.",
)
mistake(
    "Its sentence still says “cannot”, or speaks of all deep networks.",
    "Deep networks are hard to train without residual connections.",
)

TASK = task(
    plan("written", points=5, minutes=13),
    section="What each part is for: an ablation",
    outcome=(
        "run an ablation of a stack of twelve blocks, with a learning rate tuned for "
        "each variant, and count a block's parameters by a formula"
    ),
    hints=(
        "What could be different and was not tried?",
        "What does a layer without a way around do to the similarity of the words, and what is "
        "left for the output layer to tell them apart by?",
    ),
)
