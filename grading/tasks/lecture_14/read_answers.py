"""Numbers read back from tokens."""

import torch

from grading.author import Case, TaskFile
from grading.tasks.lecture_14.sum_tokens import sum_tokens

task = TaskFile(
    "implement",
    points=3,
    minutes=15,
    two_at_once=True,
    outcome="turn a task of your own into tokens",
    hints=("The answer begins at position 2n + 2. What is its first digit worth in each order?",),
)


# %% the cell
def read_answers(tokens, n, reverse):
    """Numbers (batch,) after `=` in tokens (batch, 3n + 3); −1 where an answer is not a number."""
    # BEGIN SOLUTION
    answer = tokens[:, 2 * n + 2 :]  # (batch, n + 1)
    if reverse:
        answer = answer.flip(1)
    powers = 10 ** torch.arange(n, -1, -1)  # (n + 1,)
    number = (answer * powers).sum(dim=1)  # (batch,)
    return number.masked_fill((answer > 9).any(dim=1), -1)
    # END SOLUTION


# %%


@task.alternative
def by_text(tokens, n, reverse):
    """Through text."""
    found = []
    for row in tokens.tolist():
        text = "".join("0123456789+="[token] for token in row[2 * n + 2 :])
        text = text[::-1] if reverse else text
        found.append(int(text) if text.isdigit() else -1)
    return torch.tensor(found)


task.edit("The order is the same whatever `reverse` says.", "if reverse:", "if False:")
task.edit("The two orders are swapped.", "if reverse:", "if not reverse:")
task.edit(
    "The whole rows were reversed, and then the question was read. Cut out the answer first.",
    "tokens[:, 2 * n + 2 :]",
    "(tokens.flip(1) if reverse else tokens)[:, 2 * n + 2 :]",
    "if reverse:",
    "if False:",
)
task.edit(
    "A `+` or `=` in the answer was read as 10 or 11. Such an answer is not a number: return −1.",
    "number.masked_fill((answer > 9).any(dim=1), -1)",
    "number",
)
task.edit(
    "Some rows give a number although not all of their tokens are digits. One other token, "
    "wherever it stands, is enough for −1.",
    "(answer > 9).any(dim=1)",
    "(answer > 9).all(dim=1)",
)
task.edit(
    "Nothing is a number here, because a sign of the question is among the tokens that you look "
    "at. Take the digits, and look for signs, in the answer only: from position 2n + 2 on.",
    "2 * n + 2 :]",
    "2 * n + 1 : -1]",
)


@task.mistake(
    "Signs are counted in the whole row, so an odd question turns a good answer into −1. Look for "
    "signs in the answer only: from position 2n + 2 on."
)
def signs_of_the_row(tokens, n, reverse):
    number = read_answers(tokens.clamp(max=9), n, reverse)
    return number.masked_fill((tokens > 9).sum(dim=1) != 2, -1)


@task.mistake(
    "Only the last n tokens are read. A sum of two n-digit numbers may have n + 1 digits."
)
def one_too_few(tokens, n, reverse):
    answer = tokens[:, -n:].flip(1) if reverse else tokens[:, -n:]
    number = (answer * 10 ** torch.arange(n - 1, -1, -1)).sum(dim=1)
    return number.masked_fill((answer > 9).any(dim=1), -1)


task.edit(
    "One answer that is not a number turned all of them into −1. Ask for each answer: "
    "`any(dim=1)`.",
    "(answer > 9).any(dim=1)",
    "(answer > 9).any()",
)


task.edit(
    "Each number is ten times too large: the last digit counts 10⁰ = 1.",
    "torch.arange(n, -1, -1)",
    "torch.arange(n + 1, 0, -1)",
)
task.edit("9 is a digit. Only 10 and 11 stand for signs.", "(answer > 9)", "(answer >= 9)")
task.edit(
    "Only `=` makes an answer no number here. `+`, the token 10, is no digit either.",
    "(answer > 9)",
    "(answer > 10)",
)
task.edit(
    "Only `+` makes an answer no number here. `=`, the token 11, is no digit either.",
    "(answer > 9)",
    "(answer == 10)",
)


@task.mistake(
    "A token that is no digit was replaced by −1 and then counted like a digit. The whole answer "
    "is −1 then."
)
def one_place(tokens, n, reverse):
    answer = tokens[:, 2 * n + 2 :]
    answer = answer.flip(1) if reverse else answer
    return (answer.masked_fill(answer > 9, -1) * 10 ** torch.arange(n, -1, -1)).sum(dim=1)


@task.mistake(
    "Signs were left out, and the digits that remain were read as a number. An answer with a sign "
    "in it is −1."
)
def signs_left_out(tokens, n, reverse):
    found = []
    for row in tokens[:, 2 * n + 2 :].tolist():
        digits = [str(token) for token in (row[::-1] if reverse else row) if token < 10]
        found.append(int("".join(digits) or "0"))
    return torch.tensor(found)


@task.mistake(
    "The tokens were joined as text, so a `+`, the token 10, became a 1 and a 0. `+` is no digit."
)
def plus_as_text(tokens, n, reverse):
    found = []
    for row in tokens[:, 2 * n + 2 :].tolist():
        text = "".join(map(str, row[::-1] if reverse else row))
        found.append(-1 if 11 in row else int(text))
    return torch.tensor(found)


@task.cases
def cases(seed):
    """Three digits in both orders; other numbers of digits; answers that are no numbers."""
    generator = torch.Generator().manual_seed(seed)
    found = []
    for n, batch, reverse in ((3, 3, False), (3, 4, True), (1, 5, True), (4, 3, False)):
        a, b = torch.randint(10**n, (2, batch), generator=generator)
        tokens = sum_tokens(a, b, n, reverse)
        wrong = torch.randint(10, (batch, n + 1), generator=generator)  # a model may err
        wrong[0, 0 if not reverse else n] = 1 + wrong[0, 0] % 9
        tokens[:, 2 * n + 2 :] = wrong
        kind = "ordinary cases" if n == 3 else "other numbers of digits"
        order = "reversed" if reverse else "plain"
        found.append(Case((tokens, n, reverse), f"{batch} answers, n = {n}, {order}", kind=kind))
    tokens = sum_tokens(*torch.randint(1000, (2, 4), generator=generator), 3, True)
    tokens[0, 9], tokens[1, 8], tokens[3, -4:] = 11, 10, 11
    found.append(Case((tokens, 3, True), "answers with a + or = in them", kind="edge cases"))
    tokens = sum_tokens(*torch.randint(1000, (2, 3), generator=generator), 3, True)
    tokens[0, 3], tokens[1, 7], tokens[2, [3, 7]] = 7, 0, 1
    found.append(Case((tokens, 3, True), "questions without + or =", kind="edge cases"))
    return found


@task.diagnostic
def rows(args, result):
    """Whether a sign was read as a digit, or rows were reversed instead of digits."""
    tokens, n, reverse = args
    right = read_answers(tokens, n, reverse)
    if len(result) != len(right):
        return None
    for i, (came, want) in enumerate(zip(result.tolist(), right.tolist(), strict=True)):
        if want == -1 != came:
            signs = sorted(
                {"+=0"[int(token) - 10] for token in tokens[i, 2 * n + 2 :] if token > 9}
            )
            return f"The answer of row {i} holds {' and '.join(signs)}, so it is not a number: −1."
    if reverse and torch.equal(torch.as_tensor(result), read_answers(tokens.flip(0), n, False)):
        return "The rows of the batch are in reverse order, not the digits of each: `flip(1)`."
    return None
