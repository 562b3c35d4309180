"""What the model reads, and what it is asked at each place."""

import torch

from grading.author import Case, TaskFile
from grading.tasks.lecture_14.sum_tokens import sum_tokens
from helpers.tokens import IGNORE_INDEX

task = TaskFile(
    "implement",
    points=5,
    minutes=20,
    two_at_once=True,
    outcome="say for each position what the model reads and what it has to predict",
    hints=(
        "Write the tokens of one sum in a row, with their positions, and below each the token "
        "that comes next. Which of these belong to the answer?",
        "`tokens[:, 1:]` is a view of the caller's tensor: `clone()` it before you write into it.",
    ),
)


# %% the cell
def inputs_and_targets(tokens, n):
    """Inputs and targets, both (batch, 3n + 2), of whole sums (batch, 3n + 3)."""
    # BEGIN SOLUTION
    inputs = tokens[:, :-1]  # (batch, 3n + 2)
    targets = tokens[:, 1:].clone()  # (batch, 3n + 2): the next token
    targets[:, : 2 * n + 1] = IGNORE_INDEX  # `=` is read at place 2n + 1
    return inputs, targets
    # END SOLUTION


# %%


@task.alternative
def by_mask(tokens, n):
    """With a mask of places."""
    asked = torch.arange(tokens.shape[1] - 1) > 2 * n
    return tokens[:, :-1], torch.where(asked, tokens[:, 1:], -100)


task.edit(
    "There is no shift: each position must predict the token that it reads, `=` among them.",
    "tokens[:, 1:].clone()",
    "tokens[:, :-1].clone()",
)


@task.mistake(
    "Each position must predict the token that it reads, because there is no shift. A model that "
    "copies its input would have a loss of 0."
)
def not_shifted(tokens, n):
    inputs = tokens[:, :-1]
    targets = inputs.clone()
    targets[:, : 2 * n + 2] = IGNORE_INDEX
    return inputs, targets


task.edit(
    "The question is a target as well. Its digits are sampled at random, so nobody can learn "
    "them, and the loss would mostly be about them.",
    "    targets[:, : 2 * n + 1] = IGNORE_INDEX",
    "    targets[:, :0] = IGNORE_INDEX",
)
task.edit(
    "The answer's first digit is not a target. It is the target at the position of `=`, 2n + 1.",
    ": 2 * n + 1] = IGNORE_INDEX",
    ": 2 * n + 2] = IGNORE_INDEX",
)
task.edit(
    "There is one target too many: the token after b's last digit is always `=`, which is not a "
    "part of the answer.",
    ": 2 * n + 1] = IGNORE_INDEX",
    ": 2 * n] = IGNORE_INDEX",
)
task.edit(
    "Ignored positions are marked by 0, which is a digit. Use `IGNORE_INDEX`.",
    "= IGNORE_INDEX",
    "= 0",
)
task.edit(
    "The answer is ignored, and the question is the target. It should be the other way around.",
    ": 2 * n + 1] = IGNORE_INDEX",
    "2 * n + 1 :] = IGNORE_INDEX",
)


@task.mistake(
    "The shift is in the wrong direction: each position must predict the token before it."
)
def shifted_back(tokens, n):
    targets = tokens[:, :-1].clone()
    targets[:, : 2 * n + 1] = IGNORE_INDEX
    return tokens[:, 1:], targets


@task.mistake(
    "`roll` moves the tokens in a circle, and the last token is an input, too: the position after "
    "the answer must predict the first digit of the question. Leave the last token out of the "
    "inputs."
)
def rolled(tokens, n):
    targets = tokens.roll(-1, 1)
    targets[:, : 2 * n + 1] = IGNORE_INDEX
    return tokens, targets


task.edit(
    "The inputs still hold the last token. It is only a target: nothing comes after it.",
    "inputs = tokens[:, :-1]",
    "inputs = tokens",
)
task.edit(
    "The targets are the answer alone. Keep a target for each position of the inputs, and write "
    "`IGNORE_INDEX` over those in the question.",
    "    targets[:, : 2 * n + 1] = IGNORE_INDEX",
    "    targets = targets[:, 2 * n + 1 :]",
)
task.edit("Ignored positions are marked by −1. Use `IGNORE_INDEX`.", "= IGNORE_INDEX", "= -1")


@task.mistake(
    "Tokens of the question were written over in the inputs, too. The model must read the question."
)
def question_hidden(tokens, n):
    inputs, targets = inputs_and_targets(tokens, n)
    return inputs.masked_fill(targets == IGNORE_INDEX, IGNORE_INDEX), targets


task.edit(
    "Only `+` and `=` are ignored. The digits of the question are no targets either.",
    "    targets[:, : 2 * n + 1] = IGNORE_INDEX",
    "    targets[targets > 9] = IGNORE_INDEX",
)


@task.harness
def harness(answer, tokens, n):
    """Inputs, and targets as they come."""
    import torch

    found = answer(tokens, n)
    if found is None:
        return None
    inputs, targets = found
    if not all(isinstance(x, torch.Tensor) for x in (inputs, targets)):
        raise ValueError("expected two tensors, inputs and targets")
    return {"inputs": inputs, "targets": targets}


@task.cases
def cases(seed):
    """One sum, several, and other numbers of digits."""
    generator = torch.Generator().manual_seed(seed)
    found = []
    for n, batch, kind in (
        (3, 1, "ordinary cases"),
        (3, 4, "ordinary cases"),
        (1, 3, "other numbers of digits"),
        (5, 2, "other numbers of digits"),
    ):
        a, b = torch.randint(10**n, (2, batch), generator=generator)
        tokens = sum_tokens(a, b, n, True)
        found.append(Case((tokens, n), f"{batch} of n = {n} digits", kind=kind))
    return found
