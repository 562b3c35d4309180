"""Train a reader that answers questions about texts with names that nobody has met."""

import functools

import torch

from grading.author import Case, Enough, TaskFile
from helpers.apps import question_answering
from helpers.data.questions import NAMES
from helpers.training import set_seed, train

task = TaskFile(
    "train",
    points=10,
    minutes=20,
    outcome='say what a flag "occurs in the question" does for a reader, from an experiment with '
    "controls",
    threshold=0.9,
    enough=Enough(250, 32, 0.01),
    rtol=0.0,
    atol=1.5,
    hints=(
        "`train(model, make_batch, steps, lr, warmup=…)` calls `make_batch()` without arguments. "
        "`make_batch` must return a pair and the targets; the model gets the pair as two "
        "arguments.",
        "Both readers of `helpers.apps.question_answering` have the flag. "
        "Which did the lecture find better?",
        "What did the lecture do with the embeddings of names?",
    ),
)


# %% the cell
def train_question_answering(contexts, questions, spans):
    """A model trained on contexts (n, T_c), questions (n, T_q) and spans (n, 2)."""
    # BEGIN SOLUTION
    generator = set_seed(0)
    reader = question_answering.RecurrentReader(285, fixed=NAMES)

    def make_batch():
        rows = torch.randint(len(spans), (32,), generator=generator)  # (32,)
        return (contexts[rows], questions[rows]), spans[rows]

    train(reader, make_batch, steps=250, lr=0.01, warmup=30)
    return reader
    # END SOLUTION


# %%


def _trained(contexts, questions, spans, steps, **how):
    from helpers.apps.question_answering import RecurrentReader
    from helpers.training import set_seed, train

    generator = set_seed(0)
    reader = RecurrentReader(285, **how)

    def make_batch():
        rows = torch.randint(len(spans), (32,), generator=generator)
        return (contexts[rows], questions[rows]), spans[rows]

    train(reader, make_batch, steps, 0.01, warmup=30)
    return reader


@task.mistake(
    "It is almost never right. Do you train the model that you return, on new rows in each "
    "step, with contexts, questions and spans of the same rows?"
)
def untrained(contexts, questions, spans):
    from helpers.apps.question_answering import RecurrentReader
    from helpers.training import set_seed

    set_seed(0)
    return RecurrentReader(285)


@task.mistake("It answers with the *last* word first: starts and ends are swapped in the targets.")
def exchanged(contexts, questions, spans):
    return _trained(contexts, questions, spans.flip(1), 120)


@task.mistake(
    "It answers with the first word alone: the end has the same target as the start. The second "
    "column of the spans is the last word."
)
def first_word_twice(contexts, questions, spans):
    return _trained(contexts, questions, spans[:, :1].expand(-1, 2), 300, fixed=NAMES)


@task.mistake(
    "It points one position too far to the left, as if position 0 were the first word of the text."
)
def shifted(contexts, questions, spans):
    return _trained(contexts, questions, spans - 1, 200)


@task.mistake(
    "It has not learned which words the question names. What did the lecture add to the words of "
    "the context, and does each step see new rows?"
)
def no_flag(contexts, questions, spans):
    return _trained(contexts, questions, spans, 120, flag=None)


@task.harness
def harness(answer, contexts, questions, spans, new_contexts, new_questions, new_spans):
    """How many of ten new questions are answered exactly, or nearly."""
    import torch
    from torch import nn

    from helpers.apps.question_answering import best_spans

    reader = answer(contexts, questions, spans)
    if reader is None:
        return None
    if not isinstance(reader, nn.Module):
        raise ValueError("expected a reader: a module called with contexts and questions")
    size = sum(p.numel() for p in reader.parameters())
    if size > 60_000:
        raise ValueError(f"at most 60,000 parameters are allowed, but the reader has {size:,}")
    reader.eval()
    with torch.no_grad():
        logits = reader(new_contexts, new_questions)
        found, _ = best_spans(logits)
        start, end = logits.argmax(dim=-1).T
        right = (found == new_spans).all(dim=1)
        learned = best_spans(reader(contexts[::12], questions[::12]))[0] == spans[::12]
        crossed = (start == new_spans[:, 1]) & (end == new_spans[:, 0])
        left = (logits.argmax(dim=-1) == new_spans - 1).all(dim=1)
    tens = {"right, of ten": right, "start and end swapped, of ten": crossed & (start != end)}
    tens |= {
        "one position to the left, of ten": left,
        "right start, of ten": start == new_spans[:, 0],
        "right in the training data, of ten": learned.all(dim=1),
    }
    return {name: 10 * share.double().mean().item() for name, share in tens.items()}


@functools.lru_cache(maxsize=4)
def _questions(seed):
    from helpers.data.questions import reading_batch

    known = reading_batch(5000, torch.Generator().manual_seed(1000 + seed))
    new = reading_batch(400, torch.Generator().manual_seed(2000 + seed), "unseen")
    return *known[0], known[1], *new[0], new[1]


@task.cases
def cases(seed):
    """5,000 questions to learn from, and 400 with names that are not among them."""
    return [Case(tuple(tensor.clone() for tensor in _questions(seed)), kind="ordinary cases")]


@task.score
def score(args, value):
    """The share of right answers."""
    return value["right, of ten"] / 10


OFTEN = 3.0
"""How many of ten answers must be wrong in one way to be told."""

WELL_LEARNED = 9.0
"""How many of ten answers in the training data must be right to say that it was learned."""


@task.diagnostic
def after_training(args, result):
    """What it can do."""
    said = (
        f"Of ten questions with unseen names {result['right, of ten']:.1f} are answered exactly, "
    )
    said += f"and {result['right start, of ten']:.1f} begin at the right word."
    left = result["one position to the left, of ten"]
    if left > OFTEN:
        said += (
            f" {left:.1f} of ten point exactly one position to the left of the answer. The spans "
            "count from 0, as the texts do: use them as they are."
        )
    learned = result["right in the training data, of ten"]
    if learned > WELL_LEARNED and result["right start, of ten"] < learned - OFTEN:
        said += (
            f" Of ten questions in the training data {learned:.1f} are answered exactly, so it may "
            "be the new names that are hard. Does training change the embeddings of names? Then "
            "those of new names, which stay random, no longer resemble them. The lecture fixed "
            "them all: `fixed=NAMES`."
        )
    return said
