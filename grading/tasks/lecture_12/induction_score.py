"""How much each head looks at what came after the same word before."""

import torch

from grading.author import Case, TaskFile

task = TaskFile(
    "implement",
    points=8,
    minutes=10,
    section="Induction heads: copying what came before",
    outcome="recognise an {term}`induction head`, score it, and explain how two layers copy",
    hints=(
        "Write the positions 0 to 5 in a row for n = 3. Which position comes after the earlier "
        "occurrence of the word at 4?",
        "For the word at position i, look at key i − n + 1.",
    ),
)


# %% the cell
def induction_score(weights, n):
    """One score for each head, (heads,), from weights (heads, 2n, 2n)."""
    # BEGIN SOLUTION
    after = weights.diagonal(1 - n, dim1=-2, dim2=-1)  # (heads, n + 1)
    return after[:, -n:].mean(dim=-1)  # (heads,)
    # END SOLUTION


# %%


@task.alternative
def word_by_word(weights, n):
    """Each place of the second half."""
    return sum(weights[:, at, at - n + 1] for at in range(n, 2 * n)) / n


@task.alternative
def by_index(weights, n):
    """All places at once."""
    at = torch.arange(n, 2 * n)
    return weights[:, at, at - n + 1].mean(dim=1)


def _at(shift):
    def answer(weights, n):
        at = torch.arange(n, 2 * n)
        return weights[:, at, at - n + shift].mean(dim=1)

    return answer


task.mistake(
    "These are the weights on the *same* word one segment before. Use those on the word that came "
    "after it.",
    _at(0),
)
task.mistake("These are the weights on the word *before* the same one.", _at(-1))
task.mistake("These are the weights on the word two positions after the same one.", _at(2))
task.mistake(
    "These are the weights on the previous word: a previous-token head would get the highest "
    "score.",
    lambda weights, n: weights.diagonal(-1, dim1=-2, dim2=-1)[:, -n:].mean(dim=-1),
)
task.edit(
    "The last word of the first copy is counted, too. Its segment has not occurred before.",
    "after[:, -n:]",
    "after",
)
task.edit("The weights were summed. Take their mean.", ".mean(dim=-1)", ".sum(dim=-1)")
task.edit(
    "This is one number for all heads together. Each head has its own score.",
    ".mean(dim=-1)",
    ".mean()",
)
task.edit(
    "Query and key are swapped: axis -2 is the query, axis -1 the key.",
    "1 - n",
    "n - 1",
)
task.mistake(
    "You divide by the number of all positions. Use only those of the second copy.",
    lambda weights, n: induction_score(weights, n) / 2,
)


task.mistake(
    "The mean is taken over the heads, so there is a number for each word. Return one for each "
    "*head*.",
    lambda weights, n: weights[:, torch.arange(n, 2 * n), torch.arange(1, n + 1)].mean(dim=0),
)
task.mistake(
    "This is the mean of a whole block of weights. Each word has *one* key that counts: take one "
    "weight of each row.",
    lambda weights, n: weights[:, n:, 1 : n + 1].mean(dim=(1, 2)),
)


@task.mistake("The first word of the second copy was left out. Use all n words.")
def without_first(weights, n):
    at = torch.arange(n + 1, 2 * n)
    return weights[:, at, at - n + 1].mean(dim=1)


@task.mistake("The last word was left out. Its key is in the second copy: count it as well.")
def without_last(weights, n):
    at = torch.arange(n, 2 * n - 1) if n > 1 else torch.arange(n, 2 * n)
    return weights[:, at, at - n + 1].mean(dim=1)


task.edit(
    "This is the largest weight. Take the mean over the words of the second copy.",
    ".mean(dim=-1)",
    ".amax(dim=-1)",
)


@task.mistake(
    "This is how often the word after the same one has the *largest* weight. The score is its mean "
    "weight."
)
def how_often_largest(weights, n):
    keys = torch.arange(n, 2 * n) - n + 1
    return (weights[:, n:].argmax(dim=-1) == keys).to(weights.dtype).mean(dim=-1)


@task.cases
def cases(seed):
    """Two heads; then more, and longer segments."""
    generator = torch.Generator().manual_seed(seed)
    found = []
    for heads, n in ((2, 3), (3, 4), (1, 6), (4, 5)):
        scores = torch.randn(heads, 2 * n, 2 * n, dtype=torch.float64, generator=generator)
        late = torch.ones(2 * n, 2 * n).triu(1).bool()
        weights = (2 * scores).masked_fill(late, -torch.inf).softmax(dim=-1)
        found.append(
            Case((weights, n), f"{heads} heads, segments of {n} words", kind="ordinary cases")
        )
    return found
