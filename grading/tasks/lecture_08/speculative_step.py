"""How far several proposals carry, and from what the next word is drawn."""

import numpy as np
import torch

from grading.author import Case, TaskFile
from grading.task import load
from grading.tasks.lecture_08.speculative_sampling import speculative_sampling

task = TaskFile(
    "implement",
    points=7,
    minutes=15,
    extra=True,
    section="Sampling: temperature, top-k and top-p",
    two_at_once=True,
    outcome="write the generation loop with {term}`temperature`, say what greedy decoding, top-k "
    "and top-p do, and measure what temperature does to a text",
    results=("the number of accepted words", "the distribution of the next one"),
    hints=(
        "Go through the proposed words from the left. What happens at the first rejected one, and "
        "what to those after it?",
        "`p` has one row more than `q`. Which word does that row predict?",
    ),
)


# %% the cell
def speculative_step(p, q, proposed, chances):
    """How many of the k proposed words are accepted, and the distribution (vocab,) after them."""
    # BEGIN SOLUTION
    accept, instead = speculative_sampling(p[:-1], q)  # (k, vocab) each
    for i, word in enumerate(proposed):
        if chances[i] >= accept[i, word]:
            return i, instead[i]
    return len(proposed), p[-1]
    # END SOLUTION


# %%


@task.alternative
def at_once(p, q, proposed, chances):
    """Without a loop."""
    accept, instead = speculative_sampling(p[:-1], q)
    yes = chances < accept[torch.arange(len(proposed)), proposed]
    n = int(yes.int().cumprod(dim=0).sum())
    return n, torch.cat([instead, p[-1:]])[n]


task.edit(
    "It goes on after a rejection. What was proposed after a rejected word continues a text that "
    "is not generated.",
    "            return i, instead[i]\n",
    "            continue\n",
)


@task.mistake(
    "All accepted words are counted, also those after the first rejected one. They continue a "
    "text that is not generated."
)
def counts_all(p, q, proposed, chances):
    accept, instead = speculative_sampling(p[:-1], q)
    yes = chances < accept[torch.arange(len(proposed)), proposed]
    n = int(yes.sum())
    return n, torch.cat([instead, p[-1:]])[n]


task.edit(
    "After a rejection the word is sampled from p again, so the accepted words get a second "
    "chance. Use `instead`.",
    "return i, instead[i]",
    "return i, p[i]",
)
task.edit(
    "After a rejection the word is sampled from q, the small model. Use `instead`.",
    "return i, instead[i]",
    "return i, q[i]",
)
task.edit(
    "The rejected word is counted as accepted.",
    "return i, instead[i]",
    "return i + 1, instead[i]",
)
task.edit(
    "After a rejection the distribution of the next position is used. Replace the rejected word.",
    "return i, instead[i]",
    "return i, torch.cat([instead, p[-1:]])[i + 1]",
)
task.edit(
    "If all are accepted, the next word comes from the large model's last row, which is still "
    "unused. Here it comes from the row before it.",
    "return len(proposed), p[-1]",
    "return len(proposed), p[-2]",
)
task.edit(
    "If all are accepted, nothing was rejected, so nothing must be replaced: the next word comes "
    "from the large model's last row.",
    "return len(proposed), p[-1]",
    "return len(proposed), instead[-1]",
)


@task.mistake(
    "If all are accepted, there is no first rejection. `argmin` and `argmax` return 0 then, the "
    "same as if the first word had been rejected."
)
def finds_none(p, q, proposed, chances):
    accept, instead = speculative_sampling(p[:-1], q)
    yes = chances < accept[torch.arange(len(proposed)), proposed]
    n = int(yes.int().argmin())
    return n, instead[n]


task.edit(
    "p has one row more than q, and no row of q belongs to that one. Which rows of p does "
    "`speculative_sampling` need?",
    "speculative_sampling(p[:-1], q)",
    "speculative_sampling(p, q)",
)
task.edit(
    "The comparison is inverted: a word is accepted with probability accept.",
    "chances[i] >= accept",
    "chances[i] < accept",
)
task.edit(
    "The random number is compared with the large model's probability of the word. Compare it "
    "with `accept`.",
    "chances[i] >= accept[i, word]",
    "chances[i] >= p[i, word]",
)
task.edit(
    "The rows of p and q are not aligned: row i of both predicts the word proposed[i].",
    "speculative_sampling(p[:-1], q)",
    "speculative_sampling(p[1:], q)",
)
task.edit(
    "p and q are swapped in `speculative_sampling`.",
    "speculative_sampling(p[:-1], q)",
    "speculative_sampling(q, p[:-1])",
)
task.edit(
    "All words use the first random number. Word i has its own.",
    "chances[i] >=",
    "chances[0] >=",
)


@task.cases
def cases(seed):
    """None accepted, some, all; a rejection in the middle with acceptances behind it."""
    generator = torch.Generator().manual_seed(seed)
    found = []
    for k, vocab, pattern in (
        (3, 5, (1, 0, 1)),
        (2, 4, (0, 1)),
        (4, 6, (1, 1, 1, 1)),
        (1, 4, (0,)),
        (1, 3, (1,)),
        (5, 7, (1, 1, 0, 0, 1)),
        (4, 5, (1, 1, 1, 0)),
    ):
        p = (1.5 * torch.randn(k + 1, vocab, generator=generator, dtype=torch.float64)).softmax(-1)
        q = (1.5 * torch.randn(k, vocab, generator=generator, dtype=torch.float64)).softmax(-1)
        accept, _ = speculative_sampling(p[:-1], q)
        proposed = accept.argmin(dim=-1)  # proposed too often, so that it may be rejected
        for i in range(0, k, 2):
            if pattern[i]:
                proposed[i] = torch.multinomial(q[i], 1, generator=generator)
        at = accept[torch.arange(k), proposed]
        u = 0.05 + 0.9 * torch.rand(k, generator=generator, dtype=torch.float64)
        chances = torch.where(torch.tensor(pattern) > 0, u * at, at + u * (1 - at))
        if pattern == (1, 1, 1, 0):  # accepted for sure, and not if p and q are swapped
            proposed[0] = word = (p[0] / q[0]).argmax()
            chances[0] = (1 + q[0, word] / p[0, word]) / 2
        said = ", ".join("yes" if yes else "no" for yes in pattern)
        kind = "edge cases" if k == 1 or all(pattern) else "ordinary cases"
        found.append(Case((p, q, proposed, chances), f"{k} proposed: {said}", kind=kind))
    return found


def _gives(answer, args, result):
    """Whether an answer gives this result."""
    try:
        n, row = answer(*args)
    except (IndexError, RuntimeError):
        return False
    return n == result[0] and np.allclose(row, result[1])


@task.diagnostic
def another_sampling(args, result):
    """Whether a wrong `speculative_sampling`, which the step calls, would give this result."""
    p, q, proposed, chances = args
    if any(_gives(mistake.answer, args, result) for mistake in load("speculative_step").mistakes):
        return None  # that mistake is told
    for mistake in load("speculative_sampling").mistakes:
        accept, instead = mistake.answer(p[:-1], q)
        yes = chances < accept[torch.arange(len(proposed)), proposed]
        n = int(yes.int().cumprod(dim=0).sum())
        if n == result[0] and np.allclose(torch.cat([instead, p[-1:]])[n], result[1]):
            return (
                "A wrong `speculative_sampling` would give this result, too. Does "
                '`check("speculative_sampling")` pass?'
            )
    total = float(np.sum(result[1]))
    if abs(total - 1) > 1e-6:
        return (
            f"The distribution sums to {total:.3g}, not to 1. Does "
            '`check("speculative_sampling")` pass?'
        )
    return None


@task.diagnostic
def how_many(args, result):
    """The number of accepted words, first."""
    right = speculative_step(*args)[0]
    if result[0] != right:
        words = "word is" if result[0] == 1 else "words are"
        return f"{result[0]} {words} accepted here; it should be {right} of {len(args[2])}."
    return None
