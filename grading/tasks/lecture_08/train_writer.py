"""Train a language model down to the floor of its texts."""

import functools
import math

import torch
from torch import nn

from grading.author import Case, mistake, plan, task
from helpers.data import next_word_batch
from helpers.models import LanguageModel
from helpers.training import set_seed, train

VOCAB = 99


def _trained(texts, make_batch, steps, n_layers=2, lr=5e-3, start=0.05):
    from helpers.models import LanguageModel
    from helpers.training import set_seed, train

    generator = set_seed(0)
    model = LanguageModel(VOCAB, 32, n_layers, n_heads=4)
    nn.init.normal_(model.embedding.weight, std=start)

    def batch():
        return make_batch(texts[torch.randint(len(texts), (32,), generator=generator)])

    train(model, batch, steps, lr, warmup=30)
    return model


# %% the cell
def train_writer(texts):
    """A LanguageModel, trained on texts (n, T) with filler on the right."""
    # BEGIN ANSWER
    generator = set_seed(0)
    model = LanguageModel(99, 32, n_layers=2, n_heads=4)
    nn.init.normal_(model.embedding.weight, std=0.05)

    def make_batch():
        rows = torch.randint(len(texts), (32,), generator=generator)  # (32,)
        return next_word_batch(texts[rows])

    train(model, make_batch, steps=1000, lr=5e-3, warmup=30)
    return model
    # END ANSWER


# %%


@mistake(
    "The model says the word that it has just read once more. What is the target at each place, "
    "the word itself or the next one?"
)
def not_shifted(texts):
    return _trained(texts, lambda x: (x, x.masked_fill(x == 0, -100)), 60)


@mistake(
    "The model says the word *before* the one that it has just read: the targets are shifted the "
    "wrong way."
)
def shifted_back(texts):
    def make(x):
        targets = torch.full_like(x, -100)
        targets[:, 1:] = x[:, :-1].masked_fill(x[:, 1:] == 0, -100)
        return x, targets

    return _trained(texts, make, 300)


@mistake(
    "The loss is near ln 99 = 4.60, as that of a model that knows nothing. Has it been trained "
    "before it is returned?"
)
def untrained(texts):
    from helpers.models import LanguageModel

    torch.manual_seed(0)
    model = LanguageModel(VOCAB, 32, 2, 4)
    nn.init.normal_(model.embedding.weight, std=0.05)
    return model


@mistake(
    "It knows which word follows which, and its verbs are hardly better than a coin. Agreement "
    "comes late. More steps, or a second block?"
)
def too_short(texts):
    from helpers.data import next_word_batch

    return _trained(texts, next_word_batch, 100)


def drive(answer, texts, held_out, verbs):
    """Loss of the trained weights on new sentences, and what they have learned."""
    import os

    import torch

    from helpers.data import next_word_batch
    from helpers.models import LanguageModel
    from helpers.training import masked_cross_entropy

    threads, quiet = torch.get_num_threads(), os.environ.get("LAMPLIGHT_QUIET")
    torch.set_num_threads(1)  # so small a model gains nothing from more
    os.environ["LAMPLIGHT_QUIET"] = "1"  # no progress bar
    try:
        model = answer(texts)
        if model is None:
            return None
        if not isinstance(model, LanguageModel):
            raise ValueError("a LanguageModel of the helpers is wanted")
        size = sum(p.numel() for p in model.parameters())
        if size > 30_000:
            raise ValueError(f"at most 30,000 numbers are allowed, and the model has {size:,}")
        model.eval()
        with torch.no_grad():
            logits = model(held_out)
            tokens, targets = next_word_batch(held_out)
            loss = masked_cross_entropy(logits, targets).item()
            p = logits.softmax(dim=-1)
            asked = targets >= 0
            repeated = p.gather(-1, tokens[..., None])[..., 0][asked].mean().item()
            back = p[:, 1:].gather(-1, tokens[:, :-1, None])[..., 0][asked[:, 1:]].mean().item()
            at_verb = torch.isin(targets, verbs)
            sure = logits[at_verb][:, verbs].argmax(dim=-1)
            right = (verbs[sure] == targets[at_verb]).double().mean().item()
        return {
            "loss": min(loss, 6.0),  # beyond that, how bad it is says nothing more
            "repeats, of ten": 10 * repeated,
            "steps back, of ten": 10 * back,
            "right verbs, of ten": 10 * right,
        }
    finally:
        torch.set_num_threads(threads)
        if quiet is None:
            del os.environ["LAMPLIGHT_QUIET"]
        else:
            os.environ["LAMPLIGHT_QUIET"] = quiet


@functools.lru_cache(maxsize=4)
def _sentences(seed):
    from helpers.data import STORY_VOCABULARY, scene, tell_stories

    texts = tell_stories(4000, torch.Generator().manual_seed(1000 + seed), scene)
    new = tell_stories(500, torch.Generator().manual_seed(2000 + seed), scene)
    return texts, new, STORY_VOCABULARY.encode("lies lie")


def cases(seed):
    """4,000 sentences to learn from, and 500 new ones."""
    return [Case(tuple(tensor.clone() for tensor in _sentences(seed)))]


def _floor(held_out):
    from helpers.data import scene, story_probabilities

    chances = [p for text in held_out for p in story_probabilities(text, scene)[1:]]
    return -sum(map(math.log, chances)) / len(chances)


def score(args, value):
    """The storyteller's perplexity, divided by the model's: 1 at the floor."""
    return math.exp(_floor(args[1]) - value["loss"])


def after_training(args, result):
    """The loss, the floor, and the verbs."""
    loss, floor, verbs = result["loss"], _floor(args[1]), result["right verbs, of ten"]
    said = f"The loss on new sentences is {loss:.2f} nats, and the floor is {floor:.2f}. "
    said += f"Of ten verbs, {verbs:.1f} agree"
    return said + (": agreement is not learned yet." if loss < 2.2 and verbs < 9 else ".")


TASK = task(
    plan("train", points=10, difficulty=2, minutes=15),
    outcome="compute {term}`cross-entropy` and {term}`perplexity` by hand, and say how low the "
    "loss of any model can go on a given text",
    cases=cases,
    properties=(after_training,),
    drive=drive,
    score=score,
    reach=0.94,
    rtol=0.0,
    atol=1.5,
    hints=(
        "`train(model, make_batch, steps, lr, warmup=…)` calls `make_batch()` without arguments. "
        "It returns tokens and targets; `next_word_batch` makes both of some texts.",
        "What did the lecture change about the embedding before training?",
        "In the lecture, the heads that were needed for agreement stood in two different layers.",
    ),
)
