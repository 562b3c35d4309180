"""What tying saves, and what it changes in training."""

from grading.author import TaskFile

task = TaskFile(
    "predict",
    points=5,
    minutes=13,
    extra=True,
    section="From vectors to logits",
    outcome="turn a stack of blocks into a {term}`language model` with a tied {term}`unembedding`, "
    "and count what tying saves",
    hints=(
        "The table has one row of d_model numbers for each word of the vocabulary.",
        "For the last two, take a word that does not occur in the text: would the loss change if "
        "its row changed?",
    ),
)

# %% the cell
parameter_counts = ...  # a list of four whole numbers
# BEGIN SOLUTION
parameter_counts = [164_000, 229_000, 6, 1_000]
# END SOLUTION
# %%

task.mistake(
    "The first is right. What does an `nn.Linear` have besides its matrix?",
    [164_000, 228_000, 6, 1_000],
)
task.mistake(
    "Here the tied model has no table at all. Embedding and output layer share one table, which "
    "counts once.",
    [100_000, 165_000, 6, 1_000],
)
task.mistake(
    "The second is right. But a tied unembedding is the transposed table and nothing else: does "
    "it have biases?",
    [165_000, 229_000, 6, 1_000],
)
task.mistake(
    "The first two are right. The last word of a text is a target. Is it also looked up?",
    [164_000, 229_000, 7, 1_000],
)
task.mistake(
    "The first three are right. In the tied model the table is used a second time, at the end. "
    "For which words are logits computed?",
    [164_000, 229_000, 6, 6],
)
task.mistake(
    "The first three are right. For the fourth, think of softmax: a word that is not the target "
    "has a logit, too, and it is pushed down.",
    [164_000, 229_000, 6, 7],
)
task.mistake(
    "The first two are right. But without tying, the embedding is only an input. A row that was "
    "never looked up does not affect the loss.",
    [164_000, 229_000, 1_000, 1_000],
)
task.mistake(
    "The parameters of the stack are missing.",
    [64_000, 129_000, 6, 1_000],
)
task.mistake(
    "The tied model has one table, which counts once.",
    [228_000, 229_000, 6, 1_000],
)
