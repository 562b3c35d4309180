"""Train heads on three relations at once."""

import os
from unittest import mock

import torch

from grading.task import Case, Mistake, Task
from helpers import data
from helpers.models import AttentionReader
from helpers.training import IGNORE, set_seed, train

QUESTIONS = ("before", "flagged", "first")


def _batch(size, generator):
    tokens, targets = data.two_relations_batch(size, 12, generator)
    first = torch.full((size, 12), IGNORE)
    first[:, 6:] = tokens[:, :1] % 52
    return tokens, torch.cat([targets, first], dim=1)


def _trained(n_heads, steps):
    generator = set_seed(0)
    model = AttentionReader(52, 12, n_heads, n_questions=3)
    with mock.patch.dict(os.environ, {"LAMPLIGHT_QUIET": "1"}):  # no progress bar of ours
        if steps:
            train(model, lambda: _batch(64, generator), steps, lr=5e-3)
    return model


def trained_reader():
    """The model answer."""
    return _trained(n_heads=4, steps=300)


def six_heads():
    """Right, in another way: more heads."""
    return _trained(n_heads=6, steps=300)


def not_trained():
    """Wrong: weights as they were drawn."""
    return _trained(n_heads=4, steps=0)


def as_given():
    """Wrong: one head, and few steps."""
    return _trained(n_heads=1, steps=100)


def few_steps():
    """Wrong: enough heads, and few steps."""
    return _trained(n_heads=4, steps=100)


def one_head():
    """Wrong: one head."""
    return _trained(n_heads=1, steps=300)


def two_heads():
    """Wrong: two heads."""
    return _trained(n_heads=2, steps=300)


def drive(answer, tokens):
    """Train, and read the answers of the model for sequences that it has not seen."""
    import torch

    from helpers.models import AttentionReader

    model = answer()
    if model is None:
        return None
    if not isinstance(model, AttentionReader):
        raise ValueError("a trained AttentionReader is wanted: is there a return at the end?")
    if model.word.embedding_dim != 48:
        raise ValueError(f"d_model is {model.word.embedding_dim}; it must stay at 48")
    model.eval()
    with torch.no_grad():
        logits = model(tokens)
    if logits.shape[1:] != (36, 52):
        came = f"the logits for 12 places have shape {tuple(logits.shape[1:])}"
        raise ValueError(f"{came}, not (36, 52): three questions are asked, n_questions=3")
    return logits.argmax(dim=-1)


def _right(tokens, answers):
    """Which answers are right, (n, 3, 6)."""
    symbols = tokens % 52
    flagged = symbols.gather(1, (tokens >= 52).int().argmax(dim=1, keepdim=True))
    wanted = (symbols[:, 5:11], flagged.expand(-1, 6), symbols[:, :1].expand(-1, 6))
    given = torch.as_tensor(answers).view(-1, 3, 12)[:, :, 6:]
    return given == torch.stack(wanted, dim=1)


def score(args, answers):
    """Share of the asked places at which all three answers are right."""
    return _right(args[0], answers).all(dim=1).double().mean()


def shares(args, answers):
    """How often each of the questions is answered rightly."""
    each = _right(args[0], answers).double().mean(dim=(0, 2)).tolist()
    said = ", ".join(f"“{name}” {share:.2f}" for name, share in zip(QUESTIONS, each, strict=True))
    return f"Right answers to each question: {said}. (Guessing: 0.02.)"


def cases(seed):
    """Sequences that training does not see."""
    generator = torch.Generator().manual_seed(10_000 + seed)
    return [Case((_batch(500, generator)[0],))]


TASK = Task(
    name="trained_reader",
    lecture=5,
    kind="train",
    points=12,
    difficulty=3,
    minutes=15,
    outcome="train heads on a task, and say what each one does by its map and by switching it off",
    reference=trained_reader,
    also_right=(six_heads,),
    cases=cases,
    properties=(shares,),
    drive=drive,
    score=score,
    reach=0.95,
    mistakes=(
        Mistake(
            not_trained,
            "This model has not been trained.",
        ),
        Mistake(
            as_given,
            "This is the code as given: one head, and 100 steps. Which of the two is too little? "
            "Change one at a time.",
        ),
        Mistake(
            few_steps,
            "The heads are enough, but 100 steps are not: all three questions are still being "
            "learned.",
        ),
        Mistake(
            one_head,
            "The steps are enough. But one head has one row of weights for three questions, and "
            "where it gives shares to several words it mixes them.",
        ),
        Mistake(
            two_heads,
            "The steps are enough. But two heads look at two things, and there are three to look "
            "at.",
        ),
    ),
    hints=(
        "`check` says how often each of the three questions is answered rightly. If one of them "
        "stays near guessing while the others are learned, more steps will hardly help.",
        "`d_model` is 48, and the number of heads must divide it. With exactly as many heads as "
        "questions, two of them can fall on the same thing (*More "
        "seeds, and two ways in which the rule breaks*).",
    ),
)
