"""Summarizers compared: `python -m experiments.summaries` (`--help`), forty minutes of one core.

All are trained on the same news, in which every fifth name is in no vocabulary. Models:

    plain        an encoder-decoder with a closed vocabulary
    copying      the same with copying (pointer-generator)
    extractive   a scorer of sentences; two are kept
    pieces       a control: no copying, but names in two syllables, so that none is unknown
    shared       a control: the plain one with a single table for what is read, what is written so
                 far and the readout, which begins as small as a readout does
    small        a control for that one: as small a start, and nothing shared

Setting: the number of steps. Five seeds try every rate, since at a high one a training may fail
from one seed in several. Writes `helpers/results/stored/summaries.json`. For names as in the
vocabulary (`known`) and for names that no training text holds (`unseen`):

    rouge1, rougeL               mean F1
    kept, lost, strayed, invented  facts, as in `helpers.data.news.Facts`
    whole                        share of summaries with all five facts and no other
    right                        for each sort of fact, the share of summaries that hold it

Of the plain and the copying one also `attention`: ROUGE-1 and facts of the two sentences that get
most attention, in the encoder (`encoder`) and from the words written (`cross`), by the mean over a
sentence's words and by the sum, before training and after.

In the head, `longer`: what becomes of names and days with more steps, and a second block in each
half, and of the plain one's attention. Its rate is one for all and was not searched.
"""

from __future__ import annotations

from functools import cache, partial

import torch

from experiments.search import SEEDS, search
from helpers.apps.metrics import mean_facts, rouge
from helpers.apps.summarization import (
    CopyingSummarizer,
    SentenceScorer,
    attention_received,
    choose_sentences,
    news_batch,
    sentence_batch,
    some_rows,
    vocabulary_of,
    write_summaries,
)
from helpers.config import TransformerConfig
from helpers.data.news import tell_news, words_of
from helpers.encoder_decoder import EncoderDecoder, source_mask
from helpers.generation import generate
from helpers.positions import RotaryPositions
from helpers.tokens import END, PAD, START
from helpers.training import count_parameters, masked_cross_entropy, set_seed, train

READINGS = {
    "plain": "closed",
    "copying": "copying",
    "extractive": "closed",
    "pieces": "pieces",
    "shared": "closed",
    "small": "closed",
}
SIZES = {"d_model": 64, "n_heads": 2, "d_ff": 128}
STEPS, BATCH, WARMUP, TEXTS, HELD_OUT = (300,), 32, 50, 6000, 300
LONGER, LONGER_STEPS, LONGER_RATE = (("plain", 1), ("copying", 1), ("copying", 2)), 1200, 3e-3
TRAINING_SEED, VALIDATION_SEED, TEST_SEED = 1, 2000, 1000
SEARCH_SEEDS = (100, 101, 102, 103, 104)


def build(kind: str, n_layers: int = 1) -> torch.nn.Module:
    """An untrained summarizer, of about 106,000 numbers with one block in each half.

    The shared table saves 15,000 of them.
    """
    n_layers = 3 if kind == "extractive" else n_layers
    config = TransformerConfig(len(vocabulary_of(READINGS[kind])), n_layers=n_layers, **SIZES)
    classes = {"extractive": SentenceScorer, "copying": CopyingSummarizer}
    made = classes.get(kind, EncoderDecoder)(config, RotaryPositions())
    if kind in ("shared", "small"):
        for table in (made.source_embedding, made.target_embedding):
            torch.nn.init.normal_(table.weight, std=1 / (3 * SIZES["d_model"]) ** 0.5)
    if kind == "shared":
        table = made.source_embedding
        made.target_embedding, made.lm_head.weight = table, table.weight
    return made


def batch_of(kind: str, items: list) -> tuple:
    """What a model reads, and what is asked of it."""
    return sentence_batch(items) if kind == "extractive" else news_batch(items, READINGS[kind])


def trial(model: str, setting: int, lr: float, seed: int) -> dict:
    """Train one summarizer and measure it on texts that it has not seen."""
    data = batch_of(model, news(TEXTS, TRAINING_SEED, "mixed"))
    generator = set_seed(seed)
    network = build(model)
    asked = model in ("plain", "copying") and seed in SEEDS
    before = looked_at(network, model) if asked else {}
    train(network, lambda: some_rows(data, BATCH, generator), setting, lr, warmup=WARMUP)
    other = batch_of(model, news(HELD_OUT, VALIDATION_SEED, "mixed"))
    found = {"validation": loss(network, other), "parameters": count_parameters(network)}
    if seed in SEEDS:  # the search needs no more
        found |= {name: measure(network, model, name) for name in ("known", "unseen")}
    if asked:
        found["attention"] = {"before": before, "after": looked_at(network, model)}
    return found


def longer(model: str, n_layers: int, seed: int) -> dict:
    """What a summarizer writes after `LONGER_STEPS` steps."""
    torch.set_num_threads(1)
    network = trained(model, seed, LONGER_STEPS, LONGER_RATE, n_layers)
    found = {"model": model, "blocks": n_layers, "steps": LONGER_STEPS, "lr": LONGER_RATE}
    measured = {name: measure(network, model, name) for name in ("known", "unseen")}
    looked = {"attention": looked_at(network, model)} if model == "plain" else {}
    return found | {"seed": seed} | measured | looked


def trained(kind: str, seed: int, steps: int, lr: float, n_layers: int = 1) -> torch.nn.Module:
    """A summarizer after `steps` batches of the training texts."""
    data = batch_of(kind, news(TEXTS, TRAINING_SEED, "mixed"))
    generator, model = set_seed(seed), build(kind, n_layers)
    train(model, partial(some_rows, data, BATCH, generator), steps, lr, warmup=WARMUP)
    return model


@cache
def news(n: int, seed: int, names: str) -> list:
    """Texts that depend on the seed alone."""
    return tell_news(n, torch.Generator().manual_seed(seed), names)


@torch.no_grad()
def loss(network: torch.nn.Module, batch: tuple) -> float:
    """Mean loss, to four digits."""
    inputs, targets = batch
    logits = network(*inputs) if isinstance(inputs, tuple) else network(inputs)
    return round(masked_cross_entropy(logits, targets).item(), 4)


def measure(network: torch.nn.Module, model: str, names: str) -> dict:
    """Scores and facts of the summaries of new texts."""
    items = news(HELD_OUT, TEST_SEED, names)
    return scores(summaries_by(network, model, items), items)


@torch.no_grad()
def summaries_by(network: torch.nn.Module, model: str, items: list) -> list[str]:
    """What a summarizer chooses or writes, one summary for each text."""
    if model != "extractive":
        return write_summaries(network, items, READINGS[model])
    logits = network(sentence_batch(items)[0])  # (batch, sentences, 2)
    return choose_sentences(logits[..., 1] - logits[..., 0], items)


def scores(summaries: list[str], items: list) -> dict:
    """ROUGE, facts, and which sorts of fact are there."""
    said = [set(words_of(summary)) for summary in summaries]
    right = {
        sort: sum(
            getattr(item.event, sort) in words for item, words in zip(items, said, strict=True)
        )
        for sort in ("who", "did", "what", "where", "when")
    }
    found = {**rouge(summaries, items), **mean_facts(summaries, items)}
    shares = {sort: round(n / len(items), 3) for sort, n in right.items()}
    return {name: round(value, 3) for name, value in found.items()} | {"right": shares}


@torch.no_grad()
def looked_at(network: EncoderDecoder, model: str) -> dict:
    """What the two sentences with most attention are worth as a summary."""
    items = news(HELD_OUT, TEST_SEED, "known")
    (source, _), _ = news_batch(items, READINGS[model])
    start = torch.full((len(items), 1), START)  # (batch, 1)
    written = generate(
        network.condition_on(source), start, 14, temperature=0.0, eos_id=END, use_cache=False
    )  # (batch, T_q), as the model itself writes
    x = network.source_embedding(source)  # (batch, T, d_model)
    _, inside = network.encoder(x, source_mask(source), True)  # (batch, heads, T, T) by block
    _, cross = network(source, written, return_weights=True)  # (batch, 1 or heads, T_q, T)
    found = {}
    for name, weights, asks in (
        ("encoder", inside[-1], source != PAD),
        ("cross", cross[-1], written != PAD),
    ):
        for way in ("mean", "sum"):
            received = attention_received(weights, asks, source, per_word=way == "mean")
            chosen = choose_sentences(received, items)
            counted = mean_facts(chosen, items)
            fields = {field: counted[field] for field in ("kept", "strayed", "whole")}
            fields["rouge1"] = rouge(chosen, items)["rouge1"]
            found[f"{name} {way}"] = {field: round(x, 3) for field, x in fields.items()}
    return found


if __name__ == "__main__":
    search(
        "summaries",
        trial,
        list(READINGS),
        STEPS,
        search_seeds=SEARCH_SEEDS,
        lower_is_better=True,
        about={
            "batch": BATCH,
            "texts": TEXTS,
            "held_out": HELD_OUT,
            "longer": [longer(*which, seed) for which in LONGER for seed in SEEDS],
        },
    )
