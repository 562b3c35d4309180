"""The flag: which words of the context stand in the question."""

import torch

from grading.author import Case, TaskFile

task = TaskFile(
    "implement",
    points=5,
    minutes=6,
    outcome='say what a flag "occurs in the question" does for a reader, from an experiment with '
    "controls",
    hints=(
        "Compare each word of the context with each word of the question: a table (batch, T_c, "
        "T_q). New axes make the two shapes fit.",
        "Padding equals padding. Is it a word?",
    ),
)


# %% the cell
def exact_match_feature(context, question):
    """Booleans (batch, T_c): True at words of the context that occur in the question."""
    # BEGIN SOLUTION
    same = context[:, :, None] == question[:, None, :]  # (batch, T_c, T_q)
    return same.any(dim=-1) & (context != 0)  # (batch, T_c)
    # END SOLUTION


# %%


@task.alternative
def row_by_row(context, question):
    """Torch's search in a set, for each row."""
    rows = [torch.isin(c, q[q != 0]) for c, q in zip(context, question, strict=True)]
    return torch.stack(rows)


@task.alternative
def by_counting(context, question):
    """Products count how often a word stands in the question."""
    same = (context.unsqueeze(2) == question.unsqueeze(1)) & (question != 0).unsqueeze(1)
    return same.sum(dim=2) > 0


task.edit(
    "Padding of the context counts as a word of the question, because the question has padding, "
    "too.",
    " & (context != 0)",
    "",
)
task.edit(
    "This says which words of the *question* are in the context: the result has a position for "
    "each word of the question. Which axis has to be reduced?",
    "any(dim=-1) & (context != 0)",
    "any(dim=1) & (question != 0)",
)


@task.mistake(
    "All rows are compared with the question of row 0. Each context has a question of its own."
)
def first_question(context, question):
    return torch.isin(context, question[0][question[0] != 0])


@task.mistake(
    "A word counts if it is in *any* question of the batch. Each context has a question of its own."
)
def any_question(context, question):
    return torch.isin(context, question[question != 0])


@task.mistake(
    "Words are compared position by position. A word of the question may occur anywhere in the "
    "context."
)
def same_place(context, question):
    found = torch.zeros_like(context, dtype=torch.bool)
    T = min(context.shape[1], question.shape[1])
    found[:, :T] = (context[:, :T] == question[:, :T]) & (context[:, :T] != 0)
    return found


@task.mistake("Only a word's first position in the context is marked. Mark all of them.")
def first_place(context, question):
    found = row_by_row(context, question)
    for b, row in enumerate(context.tolist()):
        for t, word in enumerate(row):
            if word in row[:t]:
                found[b, t] = False
    return found


task.mistake(
    "The answer is inverted: True marks words that are not in the question.",
    lambda context, question: ~exact_match_feature(context, question) & (context != 0),
)
task.mistake(
    "A word must equal *all* words of the question here. One is enough.",
    lambda context, question: (context[:, :, None] == question[:, None, :]).all(dim=-1),
)


task.edit(
    "A word that the question repeats is not marked. It counts if it occurs once *or more often*.",
    "same.any(dim=-1)",
    "(same.sum(dim=-1) == 1)",
)


@task.mistake(
    "A word counts if it is in *any* question of the batch, and padding counts as a word. Each "
    "context has a question of its own, and padding is no word."
)
def anywhere(context, question):
    return torch.isin(context, question)


@task.cases
def cases(seed):
    """A pair by hand; padding on one side, on both, on none; equal and different lengths."""
    generator = torch.Generator().manual_seed(seed)
    context = torch.tensor([[3, 5, 2, 5, 7], [4, 3, 8, 0, 0]])
    question = torch.tensor([[5, 9, 7], [4, 2, 0]])
    found = [Case((context, question), "the example of the statement", kind="ordinary cases")]
    for batch, T_c, T_q in ((3, 8, 4), (2, 5, 5), (4, 6, 9)):
        c = torch.randint(1, 12, (batch, T_c), generator=generator)
        q = torch.randint(1, 12, (batch, T_q), generator=generator)
        c[:, 3], c[:, 1] = c[:, 0], q[:, -2]
        c[1, -2:], q[1, -1] = 0, 0
        found.append(Case((c, q), kind="ordinary cases"))
    return found


@task.diagnostic
def booleans(args, result):
    """One truth value for each word of the context."""
    context = args[0].numpy()
    if result.shape == context.shape and result[context == 0].any():
        return "A position of padding is marked."
    return None
