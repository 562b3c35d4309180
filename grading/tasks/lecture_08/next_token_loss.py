"""Mend a loss that asks for words that do not come."""

import torch
from torch.nn.functional import cross_entropy

from grading.author import Case, TaskFile

task = TaskFile(
    "find the bug",
    points=9,
    minutes=15,
    section="The loss: cross-entropy and perplexity",
    outcome="compute {term}`cross-entropy` and {term}`perplexity` by hand, and say how low "
    "the loss of any model can be on average",
    hints=(
        "Write the words of the small example in a row, and below each word its target. Then do "
        "the same for a text without padding.",
        "What does `roll` put at the end? And does `asked` describe the input words or the "
        "targets?",
    ),
)

PAD = 0


# %% the cell
def next_token_loss(logits, tokens):
    """Mean loss in nats; logits (batch, T, vocab), tokens (batch, T)."""
    #| targets = tokens.roll(-1, dims=1)  # (batch, T)
    #| log_p = logits.log_softmax(dim=-1)  # (batch, T, vocab)
    #| of_target = log_p.gather(-1, targets[..., None])[..., 0]  # (batch, T)
    #| asked = tokens != 0  # (batch, T)
    # BEGIN SOLUTION
    targets = tokens[:, 1:]  # (batch, T - 1)
    log_p = logits[:, :-1].log_softmax(dim=-1)  # (batch, T - 1, vocab)
    of_target = log_p.gather(-1, targets[..., None])[..., 0]  # (batch, T - 1)
    asked = targets != 0  # (batch, T - 1)
    # END SOLUTION
    return -(of_target * asked).sum() / asked.sum()


# %%


@task.alternative
def by_torch(logits, tokens):
    """Torch's loss, which leaves out one index."""
    return cross_entropy(logits[:, :-1].flatten(0, 1), tokens[:, 1:].flatten(), ignore_index=PAD)


@task.alternative
def by_course(logits, tokens):
    """By the helpers."""
    from helpers.tokens import next_word_batch
    from helpers.training import masked_cross_entropy

    return masked_cross_entropy(logits, next_word_batch(tokens)[1])


@task.alternative
def one_by_one(logits, tokens):
    """A loop, in float64."""
    found = [
        -torch.log(row[t].double().softmax(dim=0)[text[t + 1]])
        for row, text in zip(logits, tokens, strict=True)
        for t in range(len(text) - 1)
        if text[t + 1] != PAD
    ]
    return torch.stack(found).mean()


def _mean(logits, targets, asked):
    of_target = logits.log_softmax(dim=-1).gather(-1, targets[..., None])[..., 0]
    return -(of_target * asked).sum() / asked.sum()


task.as_given(
    "This does the same as the given code: in the small example, the mean includes one number "
    "more than there are target words. There are two bugs."
)


@task.mistake(
    "Padding is no longer a target. But the mean still includes one number too many: which target "
    "is at the last position?"
)
def runs_round(logits, tokens):
    targets = tokens.roll(-1, dims=1)
    return _mean(logits, targets, targets != PAD)


@task.mistake(
    "Texts with padding are now right. But in a text without padding the mean includes one number "
    "too many: which target is at its last position?"
)
def both_words(logits, tokens):
    targets = tokens.roll(-1, dims=1)
    return _mean(logits, targets, (targets != PAD) & (tokens != PAD))


task.mistake(
    "Texts without padding are now right. But in the small example the mean still includes one "
    "number too many: what is the target of the last word?",
    lambda logits, tokens: _mean(logits[:, :-1], tokens[:, 1:], tokens[:, :-1] != PAD),
)


@task.mistake(
    "The words no longer move in a circle. But the mean still includes one number too many for "
    "each text: what is the target of its last word?"
)
def padding_at_the_end(logits, tokens):
    targets = torch.nn.functional.pad(tokens[:, 1:], (0, 1))
    return _mean(logits, targets, tokens != PAD)


@task.mistake(
    "The sum is right, but it is divided by the number of words. The first word of each text is "
    "not a target."
)
def divided_by_words(logits, tokens):
    targets = tokens[:, 1:]
    return next_token_loss(logits, tokens) * (targets != PAD).sum() / (tokens != PAD).sum()


task.mistake(
    "Each position must predict the word after the next one. Shift logits and targets against "
    "each other by one only.",
    lambda logits, tokens: _mean(logits[:, :-2], tokens[:, 2:], tokens[:, 2:] != PAD),
)
task.mistake(
    "Each word is its own target. A model that copies its input would have a loss of 0, and would "
    "have learned nothing.",
    lambda logits, tokens: _mean(logits, tokens, tokens != PAD),
)
task.mistake(
    "The shift is in the wrong direction: each position has to predict the word *before* it, "
    "which it has already seen. Which logits belong to the target at position t?",
    lambda logits, tokens: _mean(logits[:, 1:], tokens[:, :-1], tokens[:, 1:] != PAD),
)
task.mistake(
    "Targets and logits are aligned. But padding is used as a target like a word.",
    lambda logits, tokens: _mean(logits[:, :-1], tokens[:, 1:], torch.ones_like(tokens[:, 1:])),
)


@task.mistake("Padding adds nothing to the sum. But it is still counted when you divide.")
def divided_by_all(logits, tokens):
    targets = tokens[:, 1:]
    return _mean(logits[:, :-1], targets, targets != PAD) * (targets != PAD).double().mean()


@task.mistake(
    "This is the mean of the texts' means, so a word of a short text counts more than one of a "
    "long text. Take one mean over all target words."
)
def mean_of_texts(logits, tokens):
    rows = zip(logits, tokens, strict=True)
    return torch.stack([next_token_loss(row[None], text[None]) for row, text in rows]).mean()


task.mistake(
    "This is the sum. The loss is the mean over the target words.",
    lambda logits, tokens: next_token_loss(logits, tokens) * (tokens[:, 1:] != PAD).sum(),
)


@task.mistake(
    "The logits were used directly. Log-softmax turns them into logarithms of probabilities."
)
def no_softmax(logits, tokens):
    targets = tokens[:, 1:]
    of_target = logits[:, :-1].gather(-1, targets[..., None])[..., 0]
    return -of_target[targets != PAD].mean()


@task.mistake(
    "Softmax is taken over the positions of a text here. Over which axis must the probabilities "
    "sum to 1?"
)
def softmax_over_texts(logits, tokens):
    targets = tokens[:, 1:]
    log_p = logits[:, :-1].log_softmax(dim=1)
    return -log_p.gather(-1, targets[..., None])[..., 0][targets != PAD].mean()


task.mistake(
    "`F.cross_entropy` expects the vocabulary at axis 1, but in the logits it is the last axis. "
    "Flatten the batch and the positions, or exchange the last two axes.",
    lambda logits, tokens: cross_entropy(logits[:, :-1], tokens[:, 1:], ignore_index=PAD),
)


@task.mistake(
    "`reshape` and `view` do not exchange two axes: they cut the same sequence of numbers into "
    "other pieces and mix different words. `transpose` exchanges axes."
)
def reshaped(logits, tokens):
    targets = tokens[:, 1:]
    by_word = logits[:, :-1].reshape(len(targets), logits.shape[2], targets.shape[1])
    return cross_entropy(by_word, targets, ignore_index=PAD)


task.mistake(
    "The sign is wrong: the loss of a word is never below 0.",
    lambda logits, tokens: -next_token_loss(logits, tokens),
)


task.mistake(
    "Logits and targets were both cut at the beginning, so each word is its own target. The logits "
    "at a position predict the word after it.",
    lambda logits, tokens: _mean(logits[:, 1:], tokens[:, 1:], tokens[:, 1:] != PAD),
)


@task.mistake(
    "The texts were strung together before the shift, so the first word of a text became the "
    "target of the last word of the text before. Shift within each text."
)
def strung_together(logits, tokens):
    real = tokens != 0
    return cross_entropy(logits[real][:-1], tokens[real][1:])


@task.cases
def cases(seed):
    """One text of three words by hand; then padding, whole texts, and sizes that all differ."""
    generator = torch.Generator().manual_seed(seed)
    shares = [
        [0.1, 0.2, 0.1, 0.5, 0.1],
        [0.1, 0.6, 0.1, 0.1, 0.1],
        [0.1, 0.3, 0.2, 0.3, 0.1],
        [0.6, 0.1, 0.1, 0.1, 0.1],
    ]
    by_hand = torch.tensor(shares, dtype=torch.float64).log()[None]
    found = [
        Case(
            (by_hand, torch.tensor([[2, 3, 1, 0]])),
            "three words and a pad token",
            kind="ordinary cases",
        )
    ]
    for batch, T, vocab, shortest in ((1, 4, 5, 4), (3, 6, 8, 2), (4, 7, 11, 3)):
        tokens = torch.randint(1, vocab, (batch, T), generator=generator)
        lengths = torch.randint(shortest, T, (batch, 1), generator=generator) if batch > 1 else T
        if batch > 1:
            lengths[0], lengths[1] = T, shortest
        tokens = tokens.masked_fill(torch.arange(T) >= lengths, PAD)
        logits = 2 * torch.randn(batch, T, vocab, generator=generator, dtype=torch.float64)
        note = "a text without padding" if batch == 1 else f"{batch} texts of 2 to {T} words"
        found.append(Case((logits, tokens), note, kind="ordinary cases"))
    return found
