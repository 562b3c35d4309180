"""A vector for each sentence: the mean over its words."""

import torch

from grading.author import Case, TaskFile, functions_of

task = TaskFile(
    "implement",
    points=7,
    minutes=12,
    two_at_once=True,
    outcome="choose sentences with a trained scorer, and measure the highest score that any "
    "choice of sentences can reach",
    forbidden=functions_of("helpers.apps.summarization"),
    hints=(
        "Make a matrix of zeros and ones, (batch, n, T), that says which word belongs to which "
        "sentence. Compare the sentence numbers with `torch.arange(n)[:, None]`.",
        "A sentence without words has the sum 0. What can you divide it by?",
    ),
)


# %% the cell
def sentence_vectors(x, sentence, n):
    """Sentence vectors (batch, n, width) of x (batch, T, width); sentence (batch, T)."""
    # BEGIN SOLUTION
    numbers = torch.arange(n)[:, None]  # (n, 1)
    here = (sentence[:, None] == numbers).to(x.dtype)  # (batch, n, T)
    sizes = here.sum(dim=-1, keepdim=True)  # (batch, n, 1)
    return here @ x / sizes.clamp(min=1)
    # END SOLUTION


# %%


@task.alternative
def by_loop(x, sentence, n):
    """Text by text, sentence by sentence."""
    found = torch.zeros(len(x), n, x.shape[-1], dtype=x.dtype)
    for row in range(len(x)):
        for i in range(n):
            words = x[row, sentence[row] == i]
            if len(words):
                found[row, i] = words.mean(dim=0)
    return found


task.edit(
    "These are the sums. Divide each by the number of words in the sentence.",
    "here @ x / sizes.clamp(min=1)",
    "here @ x",
)
task.edit(
    "Each sum was divided by the length of the text. Divide by the number of words in *this* "
    "sentence.",
    "here @ x / sizes.clamp(min=1)",
    "here @ x / x.shape[1]",
)
task.edit(
    "Each sum was divided by the number of words in the whole text, all sentences together. The "
    "mean of a sentence needs its own number of words.",
    "sizes.clamp(min=1)",
    "sizes.sum(dim=1, keepdim=True).clamp(min=1)",
)
task.edit(
    "For a sentence that a text does not have, you divide 0 by 0. Its vector should be zeros.",
    "sizes.clamp(min=1)",
    "sizes",
)


task.edit(
    "The number of words was increased by one everywhere. Only for an empty sentence must you "
    "avoid dividing by 0.",
    "sizes.clamp(min=1)",
    "(sizes + 1)",
)
task.edit(
    "The words of a sentence were counted in all texts of the batch together. Each text has its "
    "own number.",
    "sizes = here.sum(",
    "sizes = here.sum(dim=0, keepdim=True).sum(",
)


@task.mistake("Padding was counted as a part of sentence 0.")
def padding_in_first(x, sentence, n):
    return sentence_vectors(x, sentence.clamp(min=0), n)


@task.mistake("Padding was counted as a part of the last sentence: an index of −1 is the last one.")
def padding_in_last(x, sentence, n):
    return sentence_vectors(x, sentence % n, n)


@task.mistake("The mean is taken over all texts of the batch. Each text has its own sentences.")
def over_the_batch(x, sentence, n):
    found = x.new_zeros(len(x), n, x.shape[-1])
    for i in range(n):
        if (sentence == i).any():
            found[:, i] = x[sentence == i].mean(dim=0)
    return found


@task.mistake("The sentence numbers of the first text were used for all texts.")
def first_text(x, sentence, n):
    return sentence_vectors(x, sentence[:1].expand_as(sentence), n)


task.edit(
    "The numbers of words have lost their axis, so they divide along the wrong one, or raise an "
    "error. Keep it: `keepdim=True`.",
    "keepdim=True",
    "keepdim=False",
)
task.edit(
    "The number of words is that of the first text. Each text has its own.",
    "sizes = here.sum(",
    "sizes = here[:1].sum(",
)


task.edit(
    "The number of rows is taken from the sentences that are there. There are always `n`, with "
    "zeros for those that no text has.",
    "torch.arange(n)[:, None]",
    "torch.arange(int(sentence.max()) + 1)[:, None]",
)


@task.cases
def cases(seed):
    """Two sentences by hand; then other sizes, padding, and texts with fewer sentences."""
    generator = torch.Generator().manual_seed(seed)
    x = torch.tensor([[[1.0, 0], [3, 2], [5, 5], [7, 9], [8, 1]]], dtype=torch.float64)
    found = [
        Case((x, torch.tensor([[0, 0, 1, 1, 1]]), 2), "two words and three", kind="ordinary cases")
    ]
    for batch, lengths, width in ((2, [2, 3, 1], 4), (3, [4, 1, 2, 3], 2), (2, [1, 5], 3)):
        n = len(lengths)
        one = torch.repeat_interleave(torch.arange(n), torch.tensor(lengths))
        rows = one.repeat(batch, 1)
        rows[0, -lengths[-1] :] = -1  # a text with one sentence less
        if batch > 2:
            rows[1] = rows[1].flip(0).sort().values  # another cut of the same length
            rows[1, 1] = 0
        x = torch.randn(batch, len(one), width, generator=generator, dtype=torch.float64)
        note = f"{batch} texts, the first with padding"
        if width == 3:
            n, note = n + 2, f"{note}; none has {n + 2} sentences"
        found.append(Case((x, rows, n), note, kind="ordinary cases"))
    return found
