"""A threshold for "no answer", chosen on data."""

import torch

from grading.author import Case, TaskFile

task = TaskFile(
    "implement",
    points=7,
    minutes=10,
    redraw=True,
    outcome="let a reader say that a passage has no answer, with a threshold chosen on separate "
    "data",
    hints=(
        "For one threshold: which questions get “no answer”, and for which of them is that right? "
        "Which ones get a span?",
        "In the example, count the right answers for each of the five thresholds.",
    ),
)


# %% the cell
def best_threshold(margins, span_right, has_answer):
    """The margin that is the best threshold; the smallest of equally good ones."""
    # BEGIN SOLUTION
    best, chosen = -1, None
    for threshold in sorted(margins.tolist()):
        says_none = margins > threshold  # (n,)
        right = torch.where(says_none, ~has_answer, span_right & has_answer)  # (n,)
        if right.sum().item() > best:
            best, chosen = right.sum().item(), threshold
    return chosen
    # END SOLUTION


# %%


@task.alternative
def all_at_once(margins, span_right, has_answer):
    """A table with a row for each threshold."""
    thresholds = margins.sort().values
    says_none = margins > thresholds[:, None]  # (thresholds, n)
    right = (says_none & ~has_answer) | (~says_none & has_answer & span_right)
    counts = right.sum(dim=1)
    return thresholds[counts == counts.max()][0]


@task.alternative
def by_loop(margins, span_right, has_answer):
    """Counted in Python."""

    def count(threshold):
        rows = zip(margins.tolist(), span_right.tolist(), has_answer.tolist(), strict=True)
        return sum((not has) if m > threshold else (ok and has) for m, ok, has in rows)

    return min(margins.tolist(), key=lambda t: (-count(t), t))


task.edit(
    "“No answer” is given where the margin is *above* the threshold. Here it is also given at the "
    "threshold itself.",
    "margins > threshold",
    "margins >= threshold",
)
task.edit(
    "“No answer” is given where the margin is *below* the threshold here. A large margin speaks "
    "for no answer.",
    "margins > threshold",
    "margins < threshold",
)
task.edit(
    "A question with an answer counts as right here as soon as a span is given. The span must "
    "also be right.",
    "span_right & has_answer",
    "has_answer",
)
task.edit(
    "The smallest margin always wins here, because “no answer” costs nothing. It is right only "
    "for questions without an answer, and for the others a right span may be lost.",
    "~has_answer, span_right",
    "torch.ones_like(has_answer), span_right",
)
task.edit(
    "Of equally good thresholds the largest is taken. The statement asks for the smallest.",
    ".item() > best",
    ".item() >= best",
)
task.edit(
    "Thresholds are tried in the order of the questions, so among equals the first question's is "
    "taken. Take the smallest.",
    "sorted(margins.tolist())",
    "margins.tolist()",
)
task.edit(
    "Only questions that have an answer are counted here. The threshold also decides about those "
    "without one.",
    "torch.where(says_none, ~has_answer, span_right & has_answer)",
    "~says_none & span_right & has_answer",
)
task.mistake(
    "This is the number of right answers. Return the threshold that reaches it.",
    lambda margins, span_right, has_answer: max(
        torch.where(margins > t, ~has_answer, span_right & has_answer).sum().item()
        for t in margins.tolist()
    ),
)
task.mistake(
    "This is the *position* of a threshold, counted from 0. Return the threshold itself.",
    lambda margins, span_right, has_answer: next(
        i
        for i, m in enumerate(margins.tolist())
        if m == best_threshold(margins, span_right, has_answer)
    ),
)
task.mistake(
    "This is a position in the *sorted* margins. Return the margin at that position.",
    lambda margins, span_right, has_answer: (
        margins.sort().values.tolist().index(best_threshold(margins, span_right, has_answer))
    ),
)
task.edit(
    "“No answer” counts as right here wherever the span is wrong, even if the question has an "
    "answer. It is right only for questions without one.",
    "~has_answer, span_right",
    "~span_right, span_right",
)


@task.mistake(
    "This lies halfway between two margins. Return a margin: one of those that were given."
)
def halfway(margins, span_right, has_answer):
    values = margins.sort().values
    best, chosen = -1, None
    for threshold in ((values[1:] + values[:-1]) / 2).tolist():
        right = torch.where(margins > threshold, ~has_answer, span_right & has_answer)
        if right.sum().item() > best:
            best, chosen = right.sum().item(), threshold
    return chosen


@task.cases
def cases(seed):
    """The example; then random ones, with several best thresholds."""
    generator = torch.Generator().manual_seed(seed)
    margins = torch.tensor([3.0, -2.0, 1.0, -1.0, 0.5], dtype=torch.float64)
    span_right = torch.tensor([False, True, True, False, True])
    has_answer = torch.tensor([False, True, True, False, True])
    found = [
        Case(
            (margins, span_right, has_answer), "the example of the statement", kind="ordinary cases"
        )
    ]
    for n in (6, 12, 25, 40, 60):
        has = torch.rand(n, generator=generator) < 0.6
        has[0], has[1] = True, False
        right = has & (torch.rand(n, generator=generator) < 0.7)
        noise = torch.randn(n, generator=generator, dtype=torch.float64)
        unsure = torch.where(has, torch.where(right, -2.0, 1.0), 1.0)  # wrong spans are unsure ones
        found.append(Case((noise + unsure, right, has), f"{n} questions", kind="ordinary cases"))
    margins = torch.tensor([2.0, 0.0, 3.0, 1.0, 4.0]) + torch.randn(1, generator=generator)
    has = torch.tensor([True, True, True, True, False])
    right = torch.tensor([False, True, False, False, False])
    note = "the first four thresholds are equally good"
    found.append(Case((margins.double(), right, has), note, kind="ordinary cases"))
    return found


@task.diagnostic
def among(args, result):
    """Whether it is one of the margins."""
    if not any(abs(float(result) - m) < 1e-9 for m in args[0].tolist()):
        return f"{float(result):.3f} is not one of the margins."
    return None
