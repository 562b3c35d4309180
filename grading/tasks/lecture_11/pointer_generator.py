"""Mend the step in which writing and copying are mixed."""

import torch
from torch.nn.functional import pad

from grading.author import Case, TaskFile

task = TaskFile(
    "find the bug",
    points=7,
    minutes=12,
    two_at_once=True,
    outcome="add {term}`copying` to an encoder-decoder in a few lines, so that it can write words "
    "that its vocabulary does not hold",
    hints=(
        "Sum each row of the result in the first case. Then look at entry 3: where does it come "
        "from, if the vocabulary has three words?",
        "What does a gate of 1 mean, according to the task?",
    ),
)


# %% the cell
def pointer_generator(logits, gate, copied):
    """Probabilities (batch, T_q, V + extra); logits (batch, T_q, V), gate (batch, T_q, 1)."""
    extra = copied.shape[-1] - logits.shape[-1]
    #| written = pad(logits, (extra, 0)).softmax(dim=1)  # (batch, T_q, V + extra)
    #| return (1 - gate) * written + gate * copied
    # BEGIN SOLUTION
    written = pad(logits.softmax(dim=-1), (0, extra))  # (batch, T_q, V + extra)
    return gate * written + (1 - gate) * copied
    # END SOLUTION


# %%


@task.alternative
def by_minus_infinity(logits, gate, copied):
    """What is not in the list cannot be written."""
    extra = copied.shape[-1] - logits.shape[-1]
    written = pad(logits, (0, extra), value=-torch.inf).softmax(dim=-1)
    return copied + gate * (written - copied)


task.as_given(
    "This does the same as the given code. In the first case a row of the result does not sum to "
    "1, and words after the vocabulary are *generated*."
)


@task.mistake(
    "The rows sum to 1 now. But the gate is inverted: it is the probability of *generating*, and "
    "the rest is copied."
)
def gate_turned(logits, gate, copied):
    extra = copied.shape[-1] - logits.shape[-1]
    return (1 - gate) * pad(logits.softmax(dim=-1), (0, extra)) + gate * copied


task.edit(
    "Words after the vocabulary are generated: a logit of 0 is not a probability of 0. Apply "
    "softmax first, and then add the new entries.",
    "pad(logits.softmax(dim=-1), (0, extra))",
    "pad(logits, (0, extra)).softmax(dim=-1)",
)
task.edit(
    "The new entries come before the vocabulary, so every word's probability has moved to another "
    "id. They belong after it.",
    "(0, extra)",
    "(extra, 0)",
)
task.edit(
    "Softmax runs over the steps of the summary here. At each step the probabilities of the "
    "*words* sum to 1.",
    "softmax(dim=-1)",
    "softmax(dim=1)",
)
task.edit(
    "Look at `written` again: two bugs are in it. Where do the new entries go, and what does "
    "softmax run over?",
    "pad(logits.softmax(dim=-1), (0, extra))",
    "pad(logits, (extra, 0)).softmax(dim=1)",
)
task.edit(
    "The copied part is added without its factor 1 − gate, so a row sums to more than 1.",
    "(1 - gate) * copied",
    "copied",
)
task.edit(
    "The generated part is added without its factor, so a row sums to more than 1. The gate "
    "belongs to both parts.",
    "gate * written + (1",
    "written + (1",
)


task.edit(
    "Words after the vocabulary have a small probability of being generated: the logit that you "
    "put there is low, but not −∞.",
    "pad(logits.softmax(dim=-1), (0, extra))",
    "pad(logits, (0, extra), value=-5.0).softmax(dim=-1)",
)


task.edit(
    "Logits were mixed with probabilities. Apply softmax to the logits first.",
    "pad(logits.softmax(dim=-1), (0, extra))",
    "pad(logits, (0, extra))",
)


task.edit(
    "The new entries come after the vocabulary now, but there is more. What does softmax run over, "
    "and what is the gate the probability of?",
    "pad(logits.softmax(dim=-1), (0, extra))",
    "pad(logits, (0, extra)).softmax(dim=1)",
    "gate * written + (1 - gate) * copied",
    "(1 - gate) * written + gate * copied",
)


@task.mistake("Softmax was applied to the mixture. Both parts are already probabilities.")
def softmax_of_all(logits, gate, copied):
    extra = copied.shape[-1] - logits.shape[-1]
    return (gate * pad(logits, (0, extra)) + (1 - gate) * copied).softmax(dim=-1)


@task.mistake("The gate went through a sigmoid again. It already is a number from 0 to 1.")
def sigmoid_again(logits, gate, copied):
    extra = copied.shape[-1] - logits.shape[-1]
    g = gate.sigmoid()
    return g * pad(logits.softmax(dim=-1), (0, extra)) + (1 - g) * copied


task.edit(
    "The probability of copying a word after the vocabulary was not multiplied by 1 − gate.",
    "return gate * written + (1 - gate) * copied",
    "mixed = gate * written + (1 - gate) * copied\n"
    "    return torch.cat([mixed[..., : logits.shape[-1]], copied[..., logits.shape[-1] :]], -1)",
)


@task.cases
def cases(seed):
    """Two steps by hand; then sizes that all differ."""
    generator = torch.Generator().manual_seed(seed)
    logits = torch.tensor([[[0.5, 0.2, 0.3], [0.1, 0.1, 0.8]]], dtype=torch.float64).log()
    gate = torch.tensor([[[0.4], [0.9]]], dtype=torch.float64)
    copied = torch.tensor([[[0, 0.1, 0.1, 0.8], [0, 0.3, 0.3, 0.4]]], dtype=torch.float64)
    found = [
        Case(
            (logits, gate, copied),
            "a vocabulary of 3 words and one word after it",
            kind="ordinary cases",
        )
    ]
    for batch, T_q, V, extra in ((3, 4, 6, 2), (2, 5, 3, 4), (4, 2, 7, 0)):
        logits = 2 * torch.randn(batch, T_q, V, generator=generator, dtype=torch.float64)
        gate = torch.rand(batch, T_q, 1, generator=generator, dtype=torch.float64)
        shape = (batch, T_q, V + extra)
        copied = torch.randn(shape, generator=generator, dtype=torch.float64).softmax(dim=-1)
        found.append(
            Case(
                (logits, gate, copied), f"{extra} words after the vocabulary", kind="ordinary cases"
            )
        )
    return found
