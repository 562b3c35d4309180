"""Train a language model with the loop from before, down to the floor of its texts."""

import functools
import math

import torch
from torch import nn

from grading.author import Case, Enough, TaskFile
from grading.tasks.lecture_08.training_loop import training_loop
from helpers.config import TransformerConfig
from helpers.models import LanguageModel
from helpers.training import set_seed

task = TaskFile(
    "train",
    points=8,
    minutes=12,
    section="Training",
    outcome="compute {term}`cross-entropy` and {term}`perplexity` by hand, and say how low "
    "the loss of any model can be on average",
    threshold=math.exp(-0.06),
    enough=Enough(800, 32, 5e-3),
    nats=True,
    rtol=0.0,
    atol=0.3,
    hints=(
        "`texts[rows]` with `rows` of shape (32,) is a batch. `torch.randint` samples rows.",
        "If `check` says that agreement is not learned yet, compare each number with the "
        "statement: learning rate, warm-up, steps.",
    ),
)


def _model(d_model, n_layers=2):
    from helpers.config import TransformerConfig
    from helpers.models import LanguageModel

    model = LanguageModel(TransformerConfig(99, d_model, n_layers, n_heads=4))
    nn.init.normal_(model.embedding.weight, std=0.05)
    return model


# %% the cell
def train_language_model(texts, d_model, steps):
    """A trained LanguageModel, for texts (n, T) with padding on the right."""
    # BEGIN SOLUTION
    generator = set_seed(0)
    model = LanguageModel(TransformerConfig(99, d_model, n_layers=2, n_heads=4))
    nn.init.normal_(model.embedding.weight, std=0.05)
    batches = []
    for rows in torch.randint(len(texts), (steps, 32), generator=generator):
        longest = int((texts[rows] != 0).sum(dim=1).max())
        batches.append(texts[rows, :longest])  # (32, longest)
    training_loop(model, batches, lr=0.005, warmup=50, clip=1.0)
    return model
    # END SOLUTION


# %%

task.mistake(
    "The loss is near ln 99 = 4.60, that of an untrained model. Is it trained before you return "
    "it, on new rows in each step?",
    lambda texts, d_model, steps: (torch.manual_seed(0), _model(d_model))[1],
)


@task.mistake(
    "The model has learned little. Does it see the same batch in every step, or is the rate small "
    "throughout?"
)
def one_batch(texts, d_model, steps):
    generator = torch.Generator().manual_seed(0)
    torch.manual_seed(0)
    model = _model(d_model)
    rows = torch.randint(len(texts), (32,), generator=generator)
    training_loop(model, [texts[rows]] * 100, lr=0.005, warmup=50, clip=1.0)
    return model


@task.mistake(
    "The model knows which word follows which, but its verbs are hardly better than chance. "
    "Agreement is learned late: did all the steps get a full batch, at the rate of the statement?"
)
def too_short(texts, d_model, steps):
    torch.manual_seed(0)
    model = _model(d_model)
    rows = torch.randint(len(texts), (100, 32), generator=torch.Generator().manual_seed(0))
    training_loop(model, list(texts[rows]), lr=0.005, warmup=50, clip=1.0)
    return model


@task.harness
def harness(answer, texts, held_out, verbs):
    """Loss of the trained weights on new sentences, and the share of right verbs."""
    import torch

    from helpers.models import LanguageModel

    model = answer(texts, 32, 800)
    if model is None:
        return None
    if not isinstance(model, LanguageModel):
        raise ValueError("return the model, a LanguageModel of the helpers")
    if model.embedding.weight.shape != (99, 32):
        raise ValueError("the vocabulary must be 99, and d_model as the statement says")
    model.eval()
    with torch.no_grad():
        logits = model(held_out[:, :-1])
    targets = held_out[:, 1:]
    asked = targets != 0
    surprise = -logits.log_softmax(dim=-1).gather(-1, targets[..., None])[..., 0]
    at_verb = torch.isin(targets, verbs)
    sure = logits[at_verb][:, verbs].argmax(dim=-1)
    right = (verbs[sure] == targets[at_verb]).double().mean().item()
    n = int(asked.sum(dim=1).min())  # targets of the shortest sentence
    parts = surprise[:, :n], surprise[:, n:][asked[:, n:]]
    losses = [surprise[asked].mean().item(), *(part.mean().item() for part in parts)]
    names = "loss", "loss on the first words", "loss on later words"
    found = {name: min(loss, 6.0) for name, loss in zip(names, losses, strict=True)}
    return found | {"right verbs, of ten": 10 * right}


@functools.lru_cache(maxsize=4)
def _sentences(seed):
    from helpers.data.stories import STORY_VOCABULARY, scene, tell_stories

    texts = tell_stories(4000, torch.Generator().manual_seed(1000 + seed), scene)
    new = tell_stories(500, torch.Generator().manual_seed(2000 + seed), scene)
    return texts, new, STORY_VOCABULARY.encode("lies lie")


@task.cases
def cases(seed):
    """4,000 sentences to learn from, and 500 new ones."""
    return [Case(tuple(tensor.clone() for tensor in _sentences(seed)), kind="ordinary cases")]


def _floor(held_out):
    from helpers.data.stories import scene, story_probabilities

    chances = [p for text in held_out for p in story_probabilities(text, scene)[1:]]
    return -sum(map(math.log, chances)) / len(chances)


@task.score
def score(args, value):
    """The storyteller's perplexity, divided by the model's: 1 at the floor."""
    return math.exp(_floor(args[1]) - value["loss"])


NEAR, APART = 2.5, 2.0
"""A loss on the first words that is low, and by how much that on later ones is high, in nats."""


@task.diagnostic
def after_training(args, result):
    """The loss, the floor, and the verbs."""
    loss, floor, verbs = result["loss"], _floor(args[1]), result["right verbs, of ten"]
    said = f"The loss on new sentences is {loss:.2f} nats, and the floor is {floor:.2f}. "
    said += f"{10 * verbs:.0f} % of the verbs agree"
    said += ": agreement is not learned yet." if loss < 2.2 and verbs < 9 else "."
    n = int((args[1] != 0).sum(dim=1).min()) - 1
    first, later = result["loss on the first words"], result["loss on later words"]
    if first < NEAR and later - first > APART:
        said += (
            f" On the first {n} targets of a sentence the loss is {first:.2f}, on later ones "
            f"{later:.2f}. Did the later words take part? A batch is cut at its *longest* text."
        )
    return said
