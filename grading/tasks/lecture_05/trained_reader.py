"""Train heads on three relations at once, from two seeds."""

import os
from unittest import mock

import torch

from grading.author import Case, also_right, as_given, mistake, plan, task
from helpers import data
from helpers.models import AttentionReader
from helpers.training import IGNORE, set_seed, train

QUESTIONS = ("before", "flagged", "first")


def _batch(size, generator):
    tokens, targets = data.two_relations_batch(size, 12, generator)
    first = torch.full((size, 12), IGNORE)
    first[:, 6:] = tokens[:, :1] % 52
    return tokens, torch.cat([targets, first], dim=1)


def _trained(seed, n_heads, steps):
    generator = set_seed(seed)
    model = AttentionReader(52, 12, n_heads, n_questions=3)
    with mock.patch.dict(os.environ, {"LAMPLIGHT_QUIET": "1"}):  # no progress bar of ours
        if steps:
            train(model, lambda: _batch(64, generator), steps, lr=5e-3)
    return model


# %% given
def three_relations_batch(batch, generator):
    """Tokens (batch, 12), and targets (batch, 36) for the questions before, flagged and first."""
    tokens, targets = data.two_relations_batch(batch, 12, generator)  # (batch, 12), (batch, 24)
    first = torch.full((batch, 12), IGNORE)  # (batch, 12)
    first[:, 6:] = tokens[:, :1] % 52  # a token is a symbol, plus 52 if it has the flag
    return tokens, torch.cat([targets, first], dim=1)


# %%


# %% the cell
def trained_reader(seed):
    """A trained AttentionReader for three questions."""
    generator = set_seed(seed)
    #| model = AttentionReader(52, 12, n_heads=1, n_questions=3)
    #| train(model, lambda: three_relations_batch(64, generator), steps=100, lr=5e-3)
    # BEGIN ANSWER
    model = AttentionReader(52, 12, n_heads=4, n_questions=3)
    train(model, lambda: three_relations_batch(64, generator), steps=300, lr=5e-3)
    # END ANSWER
    return model


# %%


@also_right
def six_heads(seed):
    """More heads."""
    return _trained(seed, n_heads=6, steps=300)


mistake("This model has not been trained.", lambda seed: _trained(seed, n_heads=4, steps=0))
as_given("This is the code as given. Hardly any place has all three answers right.")
mistake(
    "The heads are enough, but 100 steps are not: the questions are still being learned.",
    lambda seed: _trained(seed, n_heads=4, steps=100),
)
mistake(
    "The steps are enough. But one head has one row of weights for three questions, and it "
    "spends it on what helps most.",
    lambda seed: _trained(seed, n_heads=1, steps=300),
)
mistake(
    "The steps are enough. But two heads look at two things, and there are three to look at.",
    lambda seed: _trained(seed, n_heads=2, steps=300),
)
mistake(
    "As many heads as questions can be enough, and here they are not: nothing makes the heads "
    "divide the work, and two of them have fallen on the same thing.",
    lambda seed: _trained(seed, n_heads=3, steps=300),
)


def drive(answer, seed, tokens):
    """Train, and read the answers of the model for sequences that it has not seen."""
    import torch

    from helpers.models import AttentionReader

    model = answer(seed)
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
    return _right(args[1], answers).all(dim=1).double().mean()


def shares(args, answers):
    """How often each of the questions is answered rightly."""
    each = _right(args[1], answers).double().mean(dim=(0, 2)).tolist()
    said = ", ".join(f"“{name}” {share:.2f}" for name, share in zip(QUESTIONS, each, strict=True))
    guess = "Guessing is right in 0.02. Whoever always names the first symbol is right in 0.17 at "
    guess += "“flagged”, because in one sequence of six the flag stands there."
    if sorted(each)[1] > 0.9 and min(each) < 0.3:
        guess += " Two questions are learned, and no head looks after the third."
    return f"Right answers to each question: {said}. {guess}"


def cases(seed):
    """Two beginnings of the training, and sequences that training does not see."""
    generator = torch.Generator().manual_seed(10_000 + seed)
    tokens = _batch(500, generator)[0]
    return [Case((begin, tokens), f"begun with seed {begin}") for begin in (1, 3)]


TASK = task(
    plan("train", points=9, difficulty=2, minutes=8),
    outcome="train heads on a task, and say what each one does by its map and by switching it off",
    cases=cases,
    properties=(shares,),
    drive=drive,
    score=score,
    reach=0.95,
    hints=(
        "`check` says how often each of the three questions is answered rightly. If one of them "
        "is not learned while the others are, more steps will hardly help.",
        "`d_model` is 48, and the number of heads must divide it. With exactly as many heads as "
        "questions, two of them can fall on the same thing. What would make that harmless?",
    ),
)
