"""Minimal pairs with a control: how often the right verb is the likelier one."""

import torch

from grading.author import Case, TaskFile

task = TaskFile(
    "implement",
    points=10,
    minutes=15,
    section="Testing agreement with minimal pairs",
    two_at_once=True,
    outcome="test a language model for agreement with minimal pairs, with controls",
    hints=(
        "`logits[rows, columns]` with two index tensors of the same length takes one position "
        "from each sentence.",
        "The difference of two logits has the sign of the difference of their probabilities, so "
        "you need no softmax.",
        "A boolean tensor selects the rows of a group: `right[opposing]`.",
    ),
)


# %% the cell
def agreement_rates(logits, lengths, plural, opposing, pairs):
    """Rates (n_pairs, 2) of right verbs: in the control sentences, and in the opposing ones."""
    # BEGIN SOLUTION
    sentence = torch.arange(len(logits))
    last = logits[sentence, lengths - 1]  # (batch, vocab)
    margins = last[:, pairs[:, 1]] - last[:, pairs[:, 0]]  # (batch, n_pairs): plural's lead
    right = (margins > 0) == plural[:, None]  # (batch, n_pairs)
    rates = [right[group].double().mean(dim=0) for group in (~opposing, opposing)]
    return torch.stack(rates, dim=1)  # (n_pairs, 2)
    # END SOLUTION


# %%


@task.alternative
def one_by_one(logits, lengths, plural, opposing, pairs):
    """Sentence by sentence, by probabilities within each pair."""
    rates = torch.zeros(len(pairs), 2, dtype=torch.float64)
    for p, pair in enumerate(pairs.tolist()):
        for group in (0, 1):
            chosen = [i for i in range(len(logits)) if bool(opposing[i]) == bool(group)]
            for i in chosen:
                chances = logits[i, int(lengths[i]) - 1, pair].softmax(dim=0)
                rates[p, group] += bool(chances[1] > 0.5) == bool(plural[i])
            rates[p, group] /= len(chosen)
    return rates


task.edit(
    "The last column of `logits` was read. In a shorter sentence it belongs to padding; the last "
    "token of sentence i is at `lengths[i] - 1`.",
    "logits[sentence, lengths - 1]",
    "logits[:, -1]",
)
task.edit(
    "`logits[:, lengths - 1]` takes the positions of all sentences from every sentence. Each "
    "sentence has one last token of its own.",
    "logits[sentence, lengths - 1]",
    "logits[:, lengths - 1][:, 0]",
)


@task.mistake(
    "`logits[:, lengths - 1]` has the shape (batch, batch, vocab), with the positions of all "
    "sentences from every sentence. Each sentence has one last token of its own."
)
def all_last_positions(logits, lengths, plural, opposing, pairs):
    last = logits[:, lengths - 1]  # (batch, batch, vocab)
    right = [(last[..., many] > last[..., one]) == plural for one, many in pairs]
    rates = [[part[group].double().mean() for group in (~opposing, opposing)] for part in right]
    return torch.tensor(rates)


task.edit(
    "PyTorch has no mean of truth values. Turn them into numbers first.",
    ".double().mean(dim=0)",
    ".mean(dim=0)",
)
task.edit(
    "One token too far: positions are counted from 0, so position `lengths[i]` comes after the "
    "sentence.",
    "logits[sentence, lengths - 1]",
    "logits[sentence, lengths]",
)
task.edit(
    "One token too far for all but the longest sentence: positions are counted from 0, so position "
    "`lengths[i]` comes after the sentence.",
    "logits[sentence, lengths - 1]",
    "logits[sentence, lengths.clamp(max=logits.shape[1] - 1)]",
)
task.edit(
    "One token too early: the logits at the last token predict the verb, not those before it.",
    "logits[sentence, lengths - 1]",
    "logits[sentence, lengths - 2]",
)
task.edit(
    "The logits were averaged over all positions. Only the last token of a sentence predicts its "
    "verb.",
    "logits[sentence, lengths - 1]",
    "logits.mean(dim=1)",
)
task.edit(
    "Singular and plural are exchanged: `pairs[:, 0]` is the singular verb.",
    "(margins > 0)",
    "(margins < 0)",
)
task.edit(
    "This counts plural verbs, not right ones. After a singular subject, count the singular one.",
    "(margins > 0) == plural[:, None]",
    "margins > 0",
)
task.edit(
    "The columns are exchanged: first the control (nouns of the same number), then the opposing "
    "sentences.",
    "(~opposing, opposing)",
    "(opposing, ~opposing)",
)
task.edit(
    "These are counts. Divide by the number of sentences in the group.",
    ".double().mean(dim=0)",
    ".double().sum(dim=0)",
)
task.edit(
    "Each count was divided by the number of *all* sentences. Divide by the number in the group.",
    "right[group].double().mean(dim=0)",
    "right[group].double().sum(dim=0) / len(logits)",
)
task.edit(
    "Both columns hold the rate over all sentences, so there is no control to compare with.",
    "right[group].double()",
    "right.double()",
)
task.edit(
    "Rows and columns are exchanged: return one row for each pair of verbs.",
    "torch.stack(rates, dim=1)",
    "torch.stack(rates, dim=0)",
)
task.edit(
    "All pairs of verbs were averaged into one rate. Each pair has a row of its own.",
    "double().mean(dim=0)",
    "double().mean().expand(len(pairs))",
)
task.edit(
    "These are mean logit differences. A rate is the proportion of sentences in which the right "
    "verb has the larger logit.",
    "right = (margins > 0) == plural[:, None]",
    "right = margins * (2 * plural[:, None].double() - 1)",
)


@task.mistake(
    "You require that the right verb is the most probable of *all* tokens. A minimal pair "
    "compares two tokens and ignores the rest."
)
def of_all_tokens(logits, lengths, plural, opposing, pairs):
    last = logits[torch.arange(len(logits)), lengths - 1]
    wanted = torch.where(plural[:, None], pairs[:, 1], pairs[:, 0])  # (batch, n_pairs)
    right = last.argmax(dim=-1)[:, None] == wanted
    return torch.stack([right[g].double().mean(dim=0) for g in (~opposing, opposing)], dim=1)


@task.mistake(
    "You require a probability above one half among all tokens. Other tokens take most of the "
    "probability, so compare the two verbs with each other."
)
def above_one_half(logits, lengths, plural, opposing, pairs):
    last = logits[torch.arange(len(logits)), lengths - 1].softmax(dim=-1)
    wanted = torch.where(plural[:, None], pairs[:, 1], pairs[:, 0])  # (batch, n_pairs)
    right = last.gather(1, wanted) > 0.5
    return torch.stack([right[g].double().mean(dim=0) for g in (~opposing, opposing)], dim=1)


task.edit(
    "The control is the rate over all sentences. It is that over the sentences whose other nouns "
    "have the subject's number.",
    "(~opposing, opposing)",
    "(torch.ones_like(opposing), opposing)",
)
task.edit(
    "The sentences were grouped by the number of their subject. Group them by `opposing`.",
    "(~opposing, opposing)",
    "(~plural, plural)",
)
task.edit(
    "These are mean probabilities of the right verb. A rate is the proportion of sentences in "
    "which it has the larger logit.",
    "(margins > 0) == plural[:, None]",
    "torch.where(plural[:, None], margins, -margins).sigmoid()",
)


@task.cases
def cases(seed):
    """Four sentences to check by hand; then more, and some with padding."""
    generator = torch.Generator().manual_seed(seed)

    def whole(n, most):
        return torch.randint(most, (n,), generator=generator)

    def draw(batch, T, vocab, pairs, shortest):
        logits = torch.randn(batch, T, vocab, dtype=torch.float64, generator=generator)
        lengths = shortest + whole(batch, T + 1 - shortest)
        opposing = torch.arange(batch) % 3 > 0  # two of three
        plural = torch.rand(batch, generator=generator) < 0.7
        tokens = torch.randperm(vocab, generator=generator)[: 2 * pairs].view(pairs, 2)
        # The verbs are likelier than most, and the right ones likelier than the wrong ones.
        logits[..., tokens.flatten()] += 1.0
        lead = torch.where(plural, 0.8, -0.8)[:, None, None]  # (batch, 1, 1)
        logits[..., tokens[:, 1]] += lead
        return logits, lengths, plural, opposing, tokens

    small = torch.zeros(4, 2, 3, dtype=torch.float64)
    small[:, 1] = torch.tensor([[1.0, 2, 9], [2, 1, 9], [1, 2, 9], [2, 1, 0]])
    truth = torch.tensor([True, True, True, False])
    by_hand = (small, torch.full((4,), 2), truth, torch.tensor([False, False, True, True]))
    return [
        Case(
            (*by_hand, torch.tensor([[0, 1]])),
            "four sentences, one pair of verbs",
            kind="ordinary cases",
        ),
        Case(draw(40, 5, 9, 1, 5), "forty sentences of one length", kind="ordinary cases"),
        Case(draw(50, 6, 12, 3, 6), "three pairs of verbs", kind="ordinary cases"),
        Case(draw(45, 7, 11, 2, 3), "sentences of different lengths", kind="padding"),
        Case(draw(60, 9, 14, 3, 2), "short and long sentences", kind="padding"),
    ]
