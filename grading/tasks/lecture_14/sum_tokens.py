"""Sums as tokens: digit by digit, with the answer in either order."""

import torch

from grading.author import Case, TaskFile

task = TaskFile(
    "implement",
    points=5,
    minutes=25,
    two_at_once=True,
    outcome="turn a task of your own into tokens",
    hints=(
        "`x // 100 % 10` is the hundreds digit. With `x[:, None]` and a tensor of powers you get "
        "all digits at once.",
        "`torch.cat([…], dim=1)` joins parts of shape (batch, …).",
    ),
)

PLUS, EQUALS = 10, 11


# %% the cell
def sum_tokens(a, b, n, reverse):
    """Tokens (batch, 3n + 3) of the sums of a and b, both (batch,) and below 10 ** n."""
    # BEGIN SOLUTION
    plus = torch.full_like(a, PLUS)[:, None]  # (batch, 1)
    equals = torch.full_like(a, EQUALS)[:, None]  # (batch, 1)

    def digits(x, width):
        powers = 10 ** torch.arange(width - 1, -1, -1)  # (width,)
        return x[:, None] // powers % 10  # (batch, width)

    answer = digits(a + b, n + 1)  # (batch, n + 1)
    if reverse:
        answer = answer.flip(1)
    return torch.cat([digits(a, n), plus, digits(b, n), equals, answer], dim=1)
    # END SOLUTION


# %%


@task.alternative
def by_text(a, b, n, reverse):
    """Through Python's own formatting."""
    signs = "0123456789+="
    rows = []
    for x, y in zip(a.tolist(), b.tolist(), strict=True):
        answer = f"{x + y:0{n + 1}d}"
        text = f"{x:0{n}d}+{y:0{n}d}=" + (answer[::-1] if reverse else answer)
        rows.append([signs.index(sign) for sign in text])
    return torch.tensor(rows)


task.edit("The answer is in the same order whatever `reverse` says.", "if reverse:", "if False:")
task.edit(
    "The answer is reversed when it should not be, and not reversed when it should be.",
    "if reverse:",
    "if not reverse:",
)


@task.mistake(
    "The two numbers are reversed, too. Reverse only the answer: the question stays as people "
    "write it."
)
def all_reversed(a, b, n, reverse):
    tokens = sum_tokens(a, b, n, reverse)
    if reverse:
        tokens[:, :n] = tokens[:, :n].flip(1)
        tokens[:, n + 1 : 2 * n + 1] = tokens[:, n + 1 : 2 * n + 1].flip(1)
    return tokens


@task.mistake(
    "The `=` was reversed with the answer, so it is at the end. It belongs to the question: the "
    "model must know where the answer begins."
)
def equals_at_the_end(a, b, n, reverse):
    tokens = sum_tokens(a, b, n, False)
    if reverse:
        tokens[:, 2 * n + 1 :] = tokens[:, 2 * n + 1 :].flip(1)
    return tokens


task.edit(
    "The answer has n digits, so the last carry is lost: 999 + 1 needs one more digit.",
    "digits(a + b, n + 1)",
    "digits(a + b, n)",
)
task.edit(
    "`+` and `=` are swapped.",
    "[digits(a, n), plus, digits(b, n), equals, answer]",
    "[digits(a, n), equals, digits(b, n), plus, answer]",
)
task.edit(
    "The digits are in the wrong order: all numbers begin with the units. Largest power first; "
    "only the answer is reversed, and only if `reverse` is True.",
    "torch.arange(width - 1, -1, -1)",
    "torch.arange(width)",
)


def _by_strings(question, answer):
    """Through text, with these ways to bring numbers to a width."""

    def tokens(a, b, n, reverse):
        rows = []
        for x, y in zip(a.tolist(), b.tolist(), strict=True):
            end = answer(str(x + y), n + 1, reverse)
            text = f"{question(str(x), n)}+{question(str(y), n)}={end}"
            rows.append(["0123456789+=".index(sign) for sign in text])
        return torch.tensor(rows)

    return tokens


def _on_the_right(text, width):
    return text.ljust(width, "0")


task.mistake(
    "Short numbers are padded on the right, so 58 became 580. Put the zeros on the left.",
    _by_strings(
        _on_the_right,
        lambda text, width, reverse: _on_the_right(text, width)[:: -1 if reverse else 1],
    ),
)
task.mistake(
    "The answer was reversed before it got its zeros, which are now in front of the units. Bring "
    "it to n + 1 digits first.",
    _by_strings(
        lambda text, width: text.zfill(width),
        lambda text, width, reverse: text[:: -1 if reverse else 1].zfill(width),
    ),
)


task.edit(
    "`% 10` is missing: `x // powers` holds all digits from there to the left, not one.",
    "// powers % 10",
    "// powers",
)
task.edit(
    "`/` leaves fractions: 58 / 10 is 5.8. Use `//`, which drops what comes after the point.",
    "// powers % 10",
    "/ powers % 10",
)
task.edit(
    "a and b are exchanged: a comes first.",
    "[digits(a, n), plus, digits(b, n), equals, answer]",
    "[digits(b, n), plus, digits(a, n), equals, answer]",
)


@task.mistake("The whole row was reversed. Reverse only the answer, before the parts are joined.")
def row_reversed(a, b, n, reverse):
    tokens = sum_tokens(a, b, n, False)
    return tokens.flip(1) if reverse else tokens


@task.mistake(
    "The digits of a and b were added place by place, without their carries. Add the numbers, and "
    "take the digits of the sum."
)
def without_carries(a, b, n, reverse):
    powers = 10 ** torch.arange(n, -1, -1)
    answer = (a[:, None] // powers % 10 + b[:, None] // powers % 10) % 10
    question = sum_tokens(a, b, n, False)[:, : 2 * n + 2]
    return torch.cat([question, answer.flip(1) if reverse else answer], dim=1)


task.edit(
    "The answer always begins with a 0, so the last carry is lost: 999 + 1 is 1000.",
    "digits(a + b, n + 1)",
    "digits((a + b) % 10**n, n + 1)",
)


@task.cases
def cases(seed):
    """Three digits in both orders; other numbers of digits; the largest sum of all."""
    generator = torch.Generator().manual_seed(seed)

    def draw(batch, n):
        return torch.randint(10**n, (2, batch), generator=generator)

    found = []
    for n, batch, reverse in ((3, 2, False), (3, 3, True), (1, 4, True), (4, 3, False)):
        a, b = draw(batch, n)
        if n == 3:
            a[0], b[0] = 340 + a[0] % 10, 5 + 10 * (b[0] % 6)  # b is a short number
        kind = "ordinary cases" if n == 3 else "other numbers of digits"
        order = "reversed" if reverse else "plain"
        found.append(Case((a, b, n, reverse), f"{batch} sums, n = {n}, {order}", kind=kind))
    largest = torch.tensor([999, 0]), torch.tensor([999, 0])
    found.append(Case((*largest, 3, True), "the largest and the smallest sum", kind="edge cases"))
    return found


@task.diagnostic
def which_axis(args, result):
    """Whether the rows were reversed instead of the digits."""
    a, b, n, reverse = args
    plain = sum_tokens(a, b, n, False)
    turned = torch.cat([plain[:, : 2 * n + 2], plain[:, 2 * n + 2 :].flip(0)], dim=1)
    if reverse and torch.equal(torch.as_tensor(result), turned):
        return "The answers of the batch are in reverse order, not the digits of each: `flip(1)`."
    return None
