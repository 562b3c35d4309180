"""The long trainings of lecture 1: `python -m experiments.limits_of_recurrence [--jobs 2]`.

A setting names a task, its size and the number of steps. Fields of a run, beside those of
`experiments.search`:

    parameters, state   trainable numbers; numbers that a recurrent network hands on (0: attention)
    test                share of right answers on sequences that were neither trained nor searched
                        on; for agreement with three attractors that all oppose the subject
    attractors          for agreement: the same with each number of `attractors`
    groups              for agreement: the same with three attractors of random number, in the
                        eight groups of `groups`

A model that is called *tied* need not learn which key a value belongs to: see `TiedEmbedding`.

The head holds `more_seeds`: agreement from seven further seeds, at the rates of the search, and
from all ten at another rate or after 400 steps; and `more_seeds_first_symbol`: the first symbol
from the seven.

The result depends on the seeds and, in the second digit, on the processor.
"""

from __future__ import annotations

import itertools
from functools import partial

import torch
from torch import nn

from experiments.search import SEEDS, search
from helpers.config import TransformerConfig
from helpers.data.agreement import AGREEMENT_VOCABULARY, GAP, NOUNS, agreement_batch
from helpers.data.recall import associative_recall_batch, first_token_recall_batch
from helpers.models import TransformerModel
from helpers.positions import RotaryPositions
from helpers.rnn import RecurrentModel
from helpers.tokens import Batch
from helpers.training import accuracy, count_parameters, set_seed, train

BATCH, HELD_OUT = 64, 1000
VALIDATION_SEED, TEST_SEED = 2000, 1000
ATTRACTORS = (0, 1, 2, 3, 6, 12)
GROUPS = tuple(itertools.product((True, False), repeat=3))
"""Does the nearest noun agree with the subject; do two attractors of three; is the nearest noun the
word before the gap (or does a clause with a verb stand between)?"""
VOCAB = len(AGREEMENT_VOCABULARY)
N_KEYS = 16

# Task: number of tokens and of answers, and how a batch of some size is drawn.
TASKS = {
    "agreement": (VOCAB, VOCAB, partial(agreement_batch, opposing=True)),
    "first symbol": (17, 8, first_token_recall_batch),
    "pairs": (2 * N_KEYS, 16, partial(associative_recall_batch, n_keys=N_KEYS, n_values=16)),
}

# Task: widths with which all models have equal numbers of parameters, within 4 %.
WIDTHS = {
    "agreement": {"rnn": 84, "lstm": 48, "gru": 54, 1: 232, 2: 96},
    "first symbol": {"rnn": 88, "lstm": 45, "gru": 52, 1: 196, 2: 64},
    "pairs": {"rnn": 85, "lstm": 45, "gru": 51, 1: 196, 2: 64, "lstm, 2 layers": 32},
}


LSTM_WIDTHS = (32, 64, 128)
TIED = ("LSTM", "LSTM, bias 3", "attention, 1 layer")
RECURRENT = ("RNN", "RNN, identity", "LSTM", "GRU")

# (task, size, steps): the models that are compared there, all with equal numbers of parameters but
# for those with a width in their name, whose state grows.
PLAN: dict[tuple[str, int, int], tuple[str, ...]] = {
    ("agreement", 3, 300): (*RECURRENT, "attention, 2 layers"),
    ("agreement", 3, 1500): ("RNN",),
    ("first symbol", 20, 300): (
        "RNN",
        "RNN, identity",
        "LSTM",
        "LSTM, bias 3",
        "attention, 1 layer",
    ),
    ("first symbol", 50, 300): (
        "RNN",
        "RNN, identity",
        "LSTM",
        "LSTM, bias 3",
        "attention, 1 layer",
    ),
    ("first symbol", 100, 300): (
        "RNN",
        "RNN, identity",
        "LSTM",
        "LSTM, bias 3",
        "attention, 1 layer",
    ),
    ("pairs", 2, 400): ("LSTM", "LSTM, bias 3", "attention, 1 layer", "attention, 2 layers"),
    ("pairs", 4, 400): (
        *RECURRENT[1:],
        "LSTM, bias 3",
        "attention, 1 layer",
        "attention, 2 layers",
    ),
    ("pairs", 8, 400): ("LSTM", "attention, 1 layer", "attention, 2 layers"),
    ("pairs", 8, 3000): ("LSTM, bias 3, tied",),
    ("pairs", 2, 1000): ("LSTM 32", "LSTM 64", "LSTM 128"),
    ("pairs", 2, 3000): ("LSTM 32", "LSTM 64", "LSTM, 2 layers"),
    ("pairs", 4, 1000): ("LSTM 128", "LSTM 128, bias 3"),
}
for n_pairs in (2, 4, 8):
    tied_models = (f"{model}, tied" for model in TIED)
    PLAN["pairs", n_pairs, 400] += ("LSTM, 2 layers", *tied_models)


def recurrent(
    task: str, cell: str, width: int | None = None, n_layers: int = 1, **start: float
) -> nn.Module:
    """A recurrent network, as wide as equal parameters want it if no width is given."""
    vocab, n_outputs, _ = TASKS[task]
    kind = cell if n_layers == 1 else f"{cell}, {n_layers} layers"
    width = width or WIDTHS[task][kind]
    return RecurrentModel(vocab, width, n_outputs, cell, n_layers, **start)


def attention(task: str, n_layers: int) -> nn.Module:
    """A transformer of width 32 with two heads a layer."""
    vocab, n_outputs, _ = TASKS[task]
    d_ff = WIDTHS[task][n_layers]
    config = TransformerConfig(vocab, 32, n_layers, n_heads=2, d_ff=d_ff, n_outputs=n_outputs)
    return TransformerModel(config, RotaryPositions())


class TiedEmbedding(nn.Embedding):
    """Adds to the vector of each value that of its key, the token before it."""

    def forward(self, tokens: torch.Tensor) -> torch.Tensor:
        """Tokens (batch, T) of associative recall → vectors (batch, T, d_model)."""
        vectors = super().forward(tokens)  # (batch, T, d_model)
        is_value = tokens >= N_KEYS  # (batch, T)
        return vectors + is_value[..., None] * vectors.roll(1, dims=1)


def tied(task: str, model: str) -> nn.Module:
    """The same model, with a `TiedEmbedding`."""
    network = MODELS[model](task)
    network.embedding = TiedEmbedding.from_pretrained(network.embedding.weight, freeze=False)
    return network


MODELS = {
    "RNN": partial(recurrent, cell="rnn"),
    "RNN, identity": partial(recurrent, cell="rnn", identity_init=True),
    "LSTM": partial(recurrent, cell="lstm", forget_bias=1.0),
    "LSTM, bias 3": partial(recurrent, cell="lstm", forget_bias=3.0),
    "LSTM, 2 layers": partial(recurrent, cell="lstm", n_layers=2, forget_bias=1.0),
    "GRU": partial(recurrent, cell="gru"),
    "attention, 1 layer": partial(attention, n_layers=1),
    "attention, 2 layers": partial(attention, n_layers=2),
    "LSTM 128, bias 3": partial(recurrent, cell="lstm", width=128, forget_bias=3.0),
    **{f"LSTM {d}": partial(recurrent, cell="lstm", width=d, forget_bias=1.0) for d in LSTM_WIDTHS},
    **{f"{model}, tied": partial(tied, model=model) for model in TIED},
}


def trial(model: str, setting: list, lr: float, seed: int) -> dict:
    """Train one model; right answers on data for the choice of the rate, and on data to report."""
    task, size, steps = setting
    generator = set_seed(seed)
    network = MODELS[model](task)
    train(network, lambda: training_batch(task, size, generator), steps, lr)
    cell = getattr(network, "recurrence", None)
    vectors = cell.num_layers * (2 if isinstance(cell, nn.LSTM) else 1) if cell else 0
    row = {
        "validation": measure(network, task, size, VALIDATION_SEED),
        "test": measure(network, task, size, TEST_SEED),
        "parameters": count_parameters(network),
        "state": vectors * cell.hidden_size if cell else 0,
    }
    if task == "agreement":
        row["attractors"] = [measure(network, task, n, TEST_SEED) for n in ATTRACTORS]
        row["groups"] = by_group(network)
    return row


def training_batch(task: str, size: int, generator: torch.Generator) -> Batch:
    """Agreement is learned as language models learn: any sentence, and every next word."""
    if task == "agreement":
        return agreement_batch(BATCH, (0, size), generator, every_word=True)
    return TASKS[task][2](BATCH, size, generator)


def measure(network: nn.Module, task: str, size: int, seed: int) -> float:
    """The share of right answers on new data."""
    batch = TASKS[task][2](HELD_OUT, size, torch.Generator().manual_seed(seed))
    return round(accuracy(network, batch), 3)


@torch.no_grad()
def by_group(network: nn.Module) -> list[float]:
    """The share of right verbs in each of `GROUPS`, of sentences with three random attractors."""
    generator = torch.Generator().manual_seed(TEST_SEED)
    tokens, targets = agreement_batch(8 * HELD_OUT, 3, generator)  # (n, T), (n, T)
    at_gap = tokens == AGREEMENT_VOCABULARY.ids[GAP]  # (n, T)
    right = network(tokens)[at_gap].argmax(dim=-1) == targets[at_gap]  # (n,)
    number = torch.full((VOCAB,), -1)  # (vocab,): 0 singular noun, 1 plural noun, -1 other word
    for pair in NOUNS:
        number[[AGREEMENT_VOCABULARY.ids[noun] for noun in pair]] = torch.tensor([0, 1])
    numbers = number[tokens]  # (n, T)
    nouns = numbers[numbers >= 0].unflatten(0, (-1, 4))  # (n, 4): the subject first
    agrees = nouns[:, 1:] == nouns[:, :1]  # (n, 3)
    before_gap = numbers[:, :-1][at_gap[:, 1:]] >= 0  # (n,)
    nearest, most = agrees[:, -1], agrees.sum(dim=1) >= 2  # (n,), (n,)
    groups = [(nearest == a) & (most == b) & (before_gap == c) for a, b, c in GROUPS]
    return [round(right[group].double().mean().item(), 3) for group in groups]


MORE_SEEDS = tuple(range(3, 10))
MORE = {  # (model, steps): the rate that the search chose at 300 steps, and any as good there
    ("RNN", 300): (1e-2,),
    ("RNN, identity", 300): (3e-3,),
    ("LSTM", 300): (1e-2, 3e-2),
    ("LSTM", 400): (1e-2,),
    ("GRU", 300): (1e-2,),
    ("GRU", 400): (1e-2,),
    ("attention, 2 layers", 300): (1e-2,),
}
MORE_SYMBOLS = {  # (model, length): its own rate; for the RNN a larger one, as good in the search
    ("RNN", 20): 1e-2,
    ("LSTM, bias 3", 50): 3e-3,
}


def from_more_seeds(
    model: str, setting: list, lr: float, seeds: tuple[int, ...] = MORE_SEEDS
) -> list[float]:
    """Right answers of the test, from seeds that the comparison did not have at this rate."""
    torch.set_num_threads(1)
    return [trial(model, setting, lr, seed)["test"] for seed in seeds]


def more_seeds() -> dict[str, list[float]]:
    """Agreement with three opposing attractors."""
    found = {}
    for (model, steps), (own, *others) in MORE.items():
        name, setting = f"{model}, {steps} steps", ["agreement", 3, steps]
        ten = (*SEEDS, *MORE_SEEDS)
        compared = model in PLAN.get(("agreement", 3, steps), ())
        found[name] = from_more_seeds(model, setting, own, MORE_SEEDS if compared else ten)
        for lr in others:
            found[f"{name}, rate {lr:g}"] = from_more_seeds(model, setting, lr, ten)
    return found


def more_seeds_first_symbol() -> dict[str, list[float]]:
    """The first symbol, after 300 steps."""
    return {
        f"{model}, length {n}, rate {lr:g}": from_more_seeds(model, ["first symbol", n, 300], lr)
        for (model, n), lr in MORE_SYMBOLS.items()
    }


def main() -> None:
    """Search, compare, write the table."""
    search(
        "limits_of_recurrence",
        trial,
        list(MODELS),
        [list(setting) for setting in PLAN],
        skip=lambda model, setting: model not in PLAN[tuple(setting)],
        equal=0.03,
        about={
            "batch": BATCH,
            "held_out": HELD_OUT,
            "attractors": ATTRACTORS,
            "groups": GROUPS,
            "more_seeds": more_seeds(),
            "more_seeds_first_symbol": more_seeds_first_symbol(),
        },
    )


if __name__ == "__main__":
    main()
