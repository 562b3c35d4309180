"""Greedy choice and beams on a table of probabilities."""

from grading.author import TaskFile

task = TaskFile(
    "predict",
    points=6,
    minutes=8,
    outcome="decode greedily and by {term}`beam search`, and say when each of them is worse",
    hints=(
        "Draw the tree of continuations, and write the product of the probabilities at each leaf.",
        "exp(½ · ln p) is the square root of p.",
    ),
)

# %% the cell
beam_search_by_hand = ...  # a list of four numbers
# BEGIN SOLUTION
beam_search_by_hand = [0.2, 0.36, 2, 0.6]
# END SOLUTION
# %%

task.mistake(
    "The first is the probability of the first word alone. Multiply along the sentence, to its "
    "end.",
    [0.5, 0.36, 2, 0.6],
)
task.mistake(
    "The first is not greedy: greedy decoding looks at one word at a time, and takes the most "
    "probable one.",
    [0.36, 0.36, 2, 0.6],
)
task.mistake(
    "The first and second are exchanged.",
    [0.36, 0.2, 2, 0.6],
)
task.mistake(
    "The second is not the most probable sentence. Multiply along each of the sentences, and "
    "compare.",
    [0.2, 0.2, 2, 0.6],
)
task.mistake(
    "The second leaves out the end token. Its probability is a factor like that of any other word.",
    [0.2, 0.4, 2, 0.6],
)
task.mistake(
    "One beam is greedy search, which does not find it. How many are needed?",
    [0.2, 0.36, 1, 0.6],
)
task.mistake(
    "Fewer beams are enough. After the first step, what is the rank of the first word of the most "
    "probable sentence?",
    [0.2, 0.36, 3, 0.6],
)
task.mistake(
    "The fourth is the probability itself. With a power of 1 the *logarithm* is divided by the "
    "number of tokens, and the end token counts. That takes a root of the probability.",
    [0.2, 0.36, 2, 0.36],
)
task.mistake(
    "The fourth is divided by the wrong number of words: the end token counts, and there is one "
    "word before it, which makes two.",
    [0.2, 0.36, 2, 0.7114],
)
task.mistake(
    "The fourth divides the probability by 2. Divide the logarithm, which gives a square root.",
    [0.2, 0.36, 2, 0.18],
)
task.mistake(
    "The first leaves out the first word. Multiply along the whole sentence.",
    [0.4, 0.36, 2, 0.6],
)
task.mistake(
    "The fourth is the score, a logarithm. Take exp of it.",
    *([0.2, 0.36, 2, score] for score in (-0.5108, -0.511, -0.51)),
)
