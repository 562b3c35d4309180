"""Exact match by the number of carries."""

import torch

from grading.author import Case, TaskFile

task = TaskFile(
    "implement",
    points=5,
    minutes=20,
    two_at_once=True,
    outcome="let a model write, and measure what it writes",
    hints=(
        "Go from the units to the left and keep track, for each sum, of whether there is a carry.",
        "`torch.bincount(x, minlength=n + 1)` counts how often 0, 1, … occur in x.",
    ),
)


# %% the cell
def accuracy_by_carries(a, b, answers, n):
    """Counts (n + 1, 2): for 0 to n carries, the right answers and all sums."""
    # BEGIN SOLUTION
    carry, carries = torch.zeros_like(a), torch.zeros_like(a)  # (batch,)
    for place in range(n):
        power = 10**place
        carry = (a // power % 10 + b // power % 10 + carry) // 10
        carries = carries + carry
    right = answers == a + b  # (batch,)
    counts = [torch.bincount(part, minlength=n + 1) for part in (carries[right], carries)]
    return torch.stack(counts, dim=1)
    # END SOLUTION


# %%


@task.alternative
def by_digit_sums(a, b, answers, n):
    """Each carry takes 9 from the sum of the digits."""

    def digit_sum(x):
        return sum(x // 10**place % 10 for place in range(n + 1))

    carries = (digit_sum(a) + digit_sum(b) - digit_sum(a + b)) // 9
    table = torch.zeros(n + 1, 2, dtype=torch.long)
    for k, fine in zip(carries.tolist(), (answers == a + b).tolist(), strict=True):
        table[k] += torch.tensor([int(fine), 1])
    return table


task.edit(
    "A carry that is caused by a carry is missed: in 95 + 5 the tens carry only because the units "
    "did.",
    " + carry) // 10",
    ") // 10",
)
task.edit(
    "You count how often a carry comes *into* a position, so the carry out of the last one is "
    "missing.",
    "range(n)",
    "range(n - 1)",
)
task.edit(
    "The digits are taken from the left, but carries go from right to left.",
    "10**place",
    "10 ** (n - 1 - place)",
)
task.edit(
    "A position carries from 10 on. Here it carries only above 10.",
    " + carry) // 10",
    " + carry > 10).long()",
)
task.edit(
    "The second column holds the wrong answers. It should hold all of them.",
    "(carries[right], carries)",
    "(carries[right], carries[~right])",
)
task.edit(
    "The columns are exchanged: right ones first.",
    "(carries[right], carries)",
    "(carries, carries[right])",
)
task.edit(
    "All were counted as right: the answers are not used.",
    "right = answers == a + b",
    "right = answers == answers",
)
task.edit(
    "The last rows are missing if no sum has so many carries. There are always n + 1 rows, for 0 "
    "to n carries.",
    "minlength=n + 1",
    "minlength=n",
)


@task.mistake(
    "These are proportions. Return counts: a proportion does not say how many sums it was "
    "measured on."
)
def shares(a, b, answers, n):
    table = accuracy_by_carries(a, b, answers, n).double()
    return torch.stack([table[:, 0] / table[:, 1].clamp(min=1), table[:, 1]], dim=1)


task.edit(
    "What was added to the next place is the number of all carries so far. Add only the carry "
    "from the place before, 0 or 1.",
    "carry = (a // power % 10 + b // power % 10 + carry) // 10",
    "carry = ((a // power % 10 + b // power % 10 + carries) > 9).long()",
)


task.edit(
    "A carry was recognized by a digit of the sum that is smaller than that of a. With a 9 in b "
    "and a carry from the place before, the digit is the same although there is a carry.",
    "(a // power % 10 + b // power % 10 + carry) // 10",
    "((a + b) // power % 10 < a // power % 10).long()",
)
task.edit(
    "A position carries from 10 on. Here it carries from 9 on.",
    " + carry) // 10",
    " + carry >= 9).long()",
)
task.edit(
    "The carry is what remains after 10 was taken away, not whether it was: use `//`, not `%`.",
    " + carry) // 10",
    " + carry) % 10",
)


@task.mistake(
    "Only whether a sum has a carry was counted, not how many it has: all of them are in row 1."
)
def any_carry(a, b, answers, n):
    table = accuracy_by_carries(a, b, answers, n)
    some = torch.zeros_like(table)
    some[0], some[1] = table[0], table[1:].sum(dim=0)
    return some


@task.mistake(
    "Rows at the end are missing if no sum has so many carries: the table goes only as far as the "
    "largest number that occurs. There are always n + 1 rows, so `bincount` needs `minlength`."
)
def as_many_as_there_are(a, b, answers, n):
    table = accuracy_by_carries(a, b, answers, n)
    return table[: int(table[:, 1].nonzero().max()) + 1]


@task.mistake(
    "The row is the length of the longest chain of carries. Count all carries of a sum, also those "
    "that do not follow each other."
)
def longest_chain(a, b, answers, n):
    table = torch.zeros(n + 1, 2, dtype=torch.long)
    for x, y, answer in zip(a.tolist(), b.tolist(), answers.tolist(), strict=True):
        carry = chain = longest = 0
        for place in range(n):
            carry = (x // 10**place % 10 + y // 10**place % 10 + carry) // 10
            chain = (chain + 1) * carry
            longest = max(longest, chain)
        table[longest] += torch.tensor([int(answer == x + y), 1])
    return table


@task.cases
def cases(seed):
    """Three digits; other numbers of digits; no carries at all."""
    generator = torch.Generator().manual_seed(seed)
    found = []
    for n, batch, kind in (
        (3, 8, "ordinary cases"),
        (3, 60, "ordinary cases"),
        (2, 30, "other numbers of digits"),
        (5, 200, "other numbers of digits"),
    ):
        a, b = torch.randint(10**n, (2, batch), generator=generator)
        a[:2], b[:2] = 10**n - 5, 5 + torch.randint(4, (2,), generator=generator)  # a chain
        off = torch.randint(3, (batch,), generator=generator) - 1
        answers = (a + b + off * 10 ** torch.randint(n, (batch,), generator=generator)).clamp(
            min=-1
        )
        found.append(Case((a, b, answers, n), f"{batch} sums of n = {n} digits", kind=kind))
    a, b = torch.tensor([111, 222, 123]), torch.tensor([123, 321, 456])
    answers = a + b + torch.tensor([0, 0, 1 + seed % 2])
    found.append(Case((a, b, answers, 3), "three sums, no carry in any", kind="edge cases"))
    return found


@task.diagnostic
def columns(args, result):
    """Whether rows and columns, or right and wrong, are exchanged."""
    right = accuracy_by_carries(*args).numpy()
    if result.shape == right.T.shape != right.shape:
        return "There is a column for each number of carries. Return a *row* for each."
    wrong = right[:, 1] - right[:, 0]
    differ = (wrong != right[:, 0]).any() and right[:, 0].any()
    if differ and result.shape == right.shape and (result[:, 0] == wrong).all():
        return "The first column counts the *wrong* answers."
    return None
