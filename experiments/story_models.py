"""Four language models on the stories of lecture 8, each at its own rate.

    python -m experiments.story_models [--jobs 2]

Writes `helpers/results/stored/story_models.json`. Each entry of `runs` is one training at the rate
that the search chose for this model:

    parameters, loss   the size; cross-entropy in nats on stories that nothing was chosen by
    above              what facts, and what other words, add to the loss above the floor
    agreement          share of right verbs for each entry of `attractors`, all of them opposing
    consistent         for each entry of `temperatures`, the share of written stories that the
                       storyteller could have told

In the head, `between`: the start from the identity brings ReLU in place of tanh, so here is an RNN
with each of the two alone, at the rate that lecture 8 first gives to all models.
`more_seeds`: each model from four further seeds, at the rates of the search, with agreement at the
most attractors, and stories at the lowest temperature. `floor` is that of the stories of `loss`,
`validation_floor` that of the stories of `validation`.

The readouts of the recurrent models are not tied; `experiments.tied_models` ties them. The result
depends on the seeds and, in the second digit, on the processor.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cache, partial

import torch
from torch import Tensor, nn

from experiments.search import SEARCH_SEEDS, SEEDS, search  # first: it silences the progress bars
from helpers.apps import story_model
from helpers.generation import generate
from helpers.models import LanguageModel
from helpers.positions import PositionEncoding
from helpers.rnn import RecurrentModel
from helpers.tokens import next_word_batch
from helpers.training import count_parameters, masked_cross_entropy, set_seed, train

RATES = (0.0025, 0.005, 0.01, 0.02)
HELD_OUT = 500
ATTRACTORS = (0, 3, 12)
TEMPERATURES = (0.5, 1.0)
WRITTEN = 100

# Of equal size within 2 %.
MODELS: dict[str, Callable[[], nn.Module]] = {
    "RNN": partial(story_model.recurrent_model, "rnn"),
    "LSTM": partial(story_model.recurrent_model, "lstm"),
    "transformer": story_model.language_model,
    "transformer, no positions": lambda: story_model.language_model(PositionEncoding()),
}


def between(nonlinearity: str, identity: bool) -> RecurrentModel:
    """An RNN with PyTorch's start or the identity, and tanh or ReLU."""
    model = RecurrentModel(story_model.VOCAB, 148, story_model.VOCAB)
    rnn = nn.RNN(148, 148, nonlinearity=nonlinearity, batch_first=True)
    if identity:
        nn.init.eye_(rnn.weight_hh_l0)
        nn.init.zeros_(rnn.bias_hh_l0)
        nn.init.zeros_(rnn.bias_ih_l0)
    model.recurrence = rnn
    return model


BETWEEN: dict[str, Callable[[], nn.Module]] = {
    "RNN, identity alone": partial(between, "tanh", True),
    "RNN, ReLU alone": partial(between, "relu", False),
}
BETWEEN_RATE = 0.005

MORE_SEEDS = (3, 4, 5, 6)
MORE = {  # the rates that the search chose
    "RNN": 0.0025,
    "LSTM": 0.02,
    "transformer": 0.01,
    "transformer, no positions": 0.0025,
}


@cache
def texts() -> list[Tensor]:
    """Stories for training, for testing and for the choice of a rate, (n, T) each."""
    sizes = (story_model.N_TEXTS, HELD_OUT, HELD_OUT)
    return [story_model.stories(n, seed) for seed, n in enumerate(sizes, start=1)]


def trial(model: str, _setting: object, lr: float, seed: int) -> dict:
    """Train one model, and measure it on stories and sentences that it has not seen."""
    read, new, others = texts()
    generator = set_seed(seed)
    network = (MODELS | BETWEEN)[model]()

    def batch() -> tuple[Tensor, Tensor]:
        return story_model.story_batch(read, generator)

    train(network, batch, story_model.STEPS, lr, warmup=story_model.WARMUP)
    row = {"validation": loss(network, others), "parameters": count_parameters(network)}
    if seed in SEARCH_SEEDS:
        return row
    return row | {
        "loss": loss(network, new),
        "above": [round(part, 4) for part in story_model.above_floor(network, new)],
        "agreement": [round(story_model.agreement(network, n), 3) for n in ATTRACTORS],
        "consistent": [consistent(network, t) for t in TEMPERATURES],
    }


@torch.no_grad()
def loss(network: nn.Module, stories: Tensor) -> float:
    """Mean cross-entropy in nats."""
    tokens, targets = next_word_batch(stories)
    return round(masked_cross_entropy(network(tokens), targets).item(), 4)


def consistent(network: nn.Module, temperature: float) -> float:
    """Share of written stories that the storyteller could have told."""
    stories = generate(
        network,
        story_model.first_words(WRITTEN),
        100,
        temperature=temperature,
        eos_id=story_model.LAST_WORD,
        generator=torch.Generator().manual_seed(0),
        use_cache=isinstance(network, LanguageModel),
    )
    return sum(map(story_model.is_consistent, stories)) / WRITTEN


def more_seeds(model: str) -> dict[str, list[float]]:
    """Loss, stories that hold together and right verbs, from seeds that the comparison lacks."""
    rows = [trial(model, None, MORE[model], seed) for seed in MORE_SEEDS]
    return {
        "loss": [row["loss"] for row in rows],
        "consistent": [row["consistent"][0] for row in rows],
        "agreement": [row["agreement"][-1] for row in rows],
    }


def main() -> None:
    """Run everything and write the table."""
    torch.set_num_threads(1)  # for the trainings of the head; the search sees to its own
    alone = [(model, seed) for model in BETWEEN for seed in SEEDS]
    about = {
        "between": [
            {"model": model, "lr": BETWEEN_RATE, "seed": seed}
            | {"loss": trial(model, None, BETWEEN_RATE, seed)["loss"]}
            for model, seed in alone
        ],
        "more_seeds": {model: more_seeds(model) for model in MODELS},
        "steps": story_model.STEPS,
        "batch": story_model.BATCH,
        "warmup": story_model.WARMUP,
        "floor": round(story_model.floor(texts()[1]), 4),
        "validation_floor": round(story_model.floor(texts()[2]), 4),
        "attractors": ATTRACTORS,
        "temperatures": TEMPERATURES,
    }
    search(
        "story_models",
        trial,
        list(MODELS),
        rates=RATES,
        lower_is_better=True,
        equal=0.001,
        about=about,
    )


if __name__ == "__main__":
    main()
