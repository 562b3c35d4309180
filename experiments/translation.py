"""The bottleneck: `python -m experiments.translation` (`--help`), about 25 minutes of one core.

English to Kannada (`helpers.data.kannada`), trained on sentences of one clause (setting 1) or of
one to three (setting 3), for all models the same sentences, and but for the controls the same steps
and about the same parameters:

    LSTM             one reads, one writes; the last state is all that passes between them
    LSTM, attention  the writer asks all states of the reader, by additive attention
    transformer      one block each, rotary positions
    LSTM, reversed   the control of Sutskever et al. (2014): the source is read from its end
    LSTM, wide       the control for size: about four times the parameters
    LSTM, bias 3     the control for the start: forget bias 3 in place of 1
    LSTM, bias 3, wide      both
    LSTM, bias 3, longer    the control for patience: four times the steps, with that start
    LSTM, bias 3, wide, longer    all three

Controls for the transformer, which at three clauses is behind the LSTM with attention. Each changes
one thing:

    transformer, sinusoidal     sinusoidal positions, which cross-attention sees too
    transformer, more data      four times the sentences, in as many steps

The head holds `more_steps`: `exact` of the transformer after twice the steps, at one rate, from the
seeds of the search. And `lengths`: both translators with attention, trained on sentences of one to
three and of one to five clauses, all at the rate that was chosen for three:

    exact      as below, up to seven clauses
    clauses    how many clauses each of `WRITTEN` translations has, where the source has one more
               than any in the training
    prefix     share of these translations in which the first two clauses are right

Writes `helpers/results/stored/translation.json`. Every sentence measured is new, but for `known`:

    words      share of right next words where all words before are right, by number of clauses
    exact      share of sentences with every word right; greedy choice then writes just these
    known      exact, of sentences from the training, by number of clauses (where `ASKED`)
    new_pairs  exact, of one clause, with a verb and an object that never met in training
    alignment  share of words for which the largest weight stands on the true word of the source:
               for each head, and for the mean of the heads (sentences of one clause)
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from functools import cache, partial

import torch
from torch import Tensor, nn

from experiments.search import SEARCH_SEEDS, SEEDS, search
from helpers.config import TransformerConfig
from helpers.data.kannada import (
    AND,
    ENGLISH,
    KANNADA,
    Sentence,
    sentences,
    translation_batch,
    words_of,
)
from helpers.encoder_decoder import EncoderDecoder
from helpers.generation import generate
from helpers.positions import RotaryPositions, SinusoidalPositions
from helpers.rnn import RecurrentTranslator
from helpers.tokens import END, IGNORE_INDEX, PAD, Batch
from helpers.training import count_parameters, set_seed, train

MODELS = ("LSTM", "LSTM, attention", "transformer")
CONTROLS = (
    "LSTM, reversed",
    "LSTM, wide",
    "LSTM, bias 3",
    "LSTM, bias 3, wide",
    "LSTM, bias 3, longer",
    "LSTM, bias 3, wide, longer",
)
OTHER_TRANSFORMERS = ("transformer, sinusoidal", "transformer, more data")
ASKED = ("LSTM", *(model for model in CONTROLS if "bias 3" in model))
"""How many of the sentences that they were trained on they have learned."""
SETTINGS = (1, 3)
CORPUS, BATCH, STEPS, WARMUP, HELD_OUT = 4000, 32, 600, 20, 300
CLAUSES = range(1, 6)
WRITTEN, LONGEST = 100, 50
CORPUS_SEED, VALIDATION_SEED, TEST_SEED = 5, 2000, 1000


def build(model: str) -> nn.Module:
    """A model by its name; sizes are chosen for equal numbers of parameters."""
    vocabularies = len(ENGLISH), len(KANNADA)
    if model.startswith("transformer"):
        source_vocab, vocab = vocabularies
        sizes = {"d_model": 40, "n_layers": 1, "n_heads": 2, "source_vocab": source_vocab}
        positions = SinusoidalPositions() if "sinusoidal" in model else RotaryPositions()
        return EncoderDecoder(TransformerConfig(vocab, **sizes), positions)
    if model == "LSTM, attention":
        return RecurrentTranslator(*vocabularies, 45, attention=True)
    d_model, forget_bias = 112 if "wide" in model else 50, 3.0 if "bias 3" in model else 1.0
    return RecurrentTranslator(*vocabularies, d_model, forget_bias=forget_bias)


@cache
def corpus(most_clauses: int, size: int = CORPUS) -> tuple[list[Sentence], Batch]:
    """The sentences that models are trained on."""
    found = sentences(size, (1, most_clauses), torch.Generator().manual_seed(CORPUS_SEED))
    return found, translation_batch(found)


@cache
def held_out(
    clauses: int, most_clauses: int, seed: int, new_pairs: bool = False, size: int = CORPUS
) -> list[Sentence]:
    """Sentences that do not occur in the corpus."""
    known = set(corpus(most_clauses, size)[0])
    generator = torch.Generator().manual_seed(seed + clauses)
    found = sentences(2 * HELD_OUT, clauses, generator, new_pairs=new_pairs)
    return [sentence for sentence in found if sentence not in known][:HELD_OUT]


@cache
def trained_on(clauses: int, most_clauses: int) -> Batch:
    """Some sentences of the corpus with this number of clauses."""
    ands = clauses - 1
    found = [s for s in corpus(most_clauses)[0] if s.source.count("and") == ands]
    return translation_batch(found[:HELD_OUT])


def reversed_source(batch: Batch) -> Batch:
    """The words of each source from the last to the first, filler still on the right."""
    (source, begun), wanted = batch
    places = torch.arange(source.shape[1])
    lengths = (source != PAD).sum(dim=1, keepdim=True)  # (batch, 1)
    turned = torch.where(places < lengths, lengths - 1 - places, places)  # (batch, T_k)
    return (source.gather(1, turned), begun), wanted


def trial(model: str, setting: int, lr: float, seed: int) -> dict:
    """Train one translator and measure it on sentences that it has not seen."""
    generator = set_seed(seed)
    translator = build(model)
    change = reversed_source if model == "LSTM, reversed" else (lambda batch: batch)
    steps = STEPS * (4 if "longer" in model else 2 if "more steps" in model else 1)
    size = 4 * CORPUS if "more data" in model else CORPUS
    batch = corpus(setting, size)[1]
    train(translator, lambda: draw(batch, change, generator), steps, lr, warmup=WARMUP)

    def measure(seed: int, clauses: int, new_pairs: bool = False) -> tuple[float, float]:
        pairs = held_out(clauses, setting, seed, new_pairs, size)
        return shares(translator, change(translation_batch(pairs)))

    checked = [measure(VALIDATION_SEED, n)[0] for n in range(1, setting + 1)]
    tested = {n: measure(TEST_SEED, n) for n in CLAUSES}
    row = {
        "validation": round(sum(checked) / len(checked), 4),
        "parameters": count_parameters(translator),
        "words": [round(tested[n][0], 3) for n in CLAUSES],
        "exact": [round(tested[n][1], 3) for n in CLAUSES],
        "new_pairs": round(measure(TEST_SEED, 1, new_pairs=True)[1], 3),
        "alignment": aligned(translator, held_out(1, setting, TEST_SEED, size=size)),
    }
    if setting > 1 and model in ASKED:
        learned = [trained_on(n, setting) for n in range(1, setting + 1)]
        row["known"] = [round(shares(translator, batch)[1], 3) for batch in learned]
    return row


def draw(batch: Batch, change, generator: torch.Generator) -> Batch:
    """Some rows of the corpus, without columns that are filler throughout."""
    (source, begun), wanted = batch
    rows = torch.randint(len(source), (BATCH,), generator=generator)
    T_k, T_q = ((x[rows] != PAD).sum(dim=1).max() for x in (source, begun))
    return change(((source[rows, :T_k], begun[rows, :T_q]), wanted[rows, :T_q]))


def more_steps(lr: float = 3e-3) -> dict:
    """The transformer after twice the steps."""
    torch.set_num_threads(1)
    runs = [trial("transformer, more steps", 3, lr, seed) for seed in SEARCH_SEEDS]
    return {"steps": 2 * STEPS, "lr": lr, "exact": [run["exact"] for run in runs]}


def lengths(lr: float = 1e-2) -> list[dict]:
    """What becomes of sentences that are longer than those of the training."""
    torch.set_num_threads(1)
    rows = []
    for model in ("LSTM, attention", "transformer, sinusoidal"):
        for most in (3, 5):
            for seed in SEEDS:
                generator = set_seed(seed)
                translator, batch = build(model), corpus(most)[1]
                draw_one = partial(draw, batch, lambda batch: batch, generator)
                train(translator, draw_one, STEPS, lr, warmup=WARMUP)
                exact = [
                    round(shares(translator, translation_batch(held_out(n, most, TEST_SEED)))[1], 3)
                    for n in range(1, 8)
                ]
                pairs = held_out(most + 1, most, TEST_SEED)[:WRITTEN]
                written = [clauses_of(words) for words in greedy(translator, pairs)]
                wanted = [clauses_of(pair.target) for pair in pairs]
                right = [a[:2] == b[:2] for a, b in zip(written, wanted, strict=True)]
                counts = Counter(map(len, written))
                row = {"model": model, "most": most, "seed": seed, "lr": lr, "exact": exact}
                row["clauses"] = {str(n): counts[n] for n in sorted(counts)}
                rows.append(row | {"prefix": sum(right) / len(right)})
    return rows


def greedy(translator: nn.Module, pairs: list[Sentence]) -> list[tuple[str, ...]]:
    """The likeliest token at each step, at most `LONGEST` of them."""
    (source, begun), _ = translation_batch(pairs)
    writer = translator.condition_on(source)
    options = {"temperature": 0.0, "eos_id": END, "use_cache": False}
    return [words_of(row) for row in generate(writer, begun[:, :1], LONGEST, **options)]


def clauses_of(words: Sequence[str]) -> list[tuple[str, ...]]:
    """The clauses of a Kannada sentence, without the conjunctions between them."""
    found: list[tuple[str, ...]] = [()]
    for word in words:
        found = [*found, ()] if word == AND else [*found[:-1], (*found[-1], word)]
    return found


@torch.no_grad()
def shares(translator: nn.Module, batch: Batch) -> tuple[float, float]:
    """Of right words, and of sentences in which every word is right."""
    inputs, wanted = batch
    right = translator(*inputs).argmax(-1) == wanted  # (batch, T_q)
    asked = wanted != IGNORE_INDEX  # (batch, T_q)
    return (
        right[asked].double().mean().item(),
        (right | ~asked).all(dim=1).double().mean().item(),
    )


@torch.no_grad()
def aligned(translator: nn.Module, pairs: list[Sentence]) -> list[float]:
    """See above; none for a translator without attention."""
    if isinstance(translator, RecurrentTranslator) and translator.attention is None:
        return []
    (source, begun), _ = translation_batch(pairs)
    _, (weights,) = translator(source, begun, return_weights=True)  # (batch, heads, T_q, T_k)
    maps = [*weights.unbind(dim=1), weights.mean(dim=1)]
    return [round(alignment(weights, pairs), 3) for weights in maps]


def alignment(weights: Tensor, pairs: list[Sentence]) -> float:
    """The share of target words whose largest weight (batch, T_q, T_k) is on their own word."""
    found = [
        int(row[at].argmax()) == place
        for row, pair in zip(weights, pairs, strict=True)
        for at, place in enumerate(pair.alignment)
    ]
    return sum(found) / len(found)


if __name__ == "__main__":
    search(
        "translation",
        trial,
        MODELS + CONTROLS + OTHER_TRANSFORMERS,
        SETTINGS,
        equal=0.002,
        skip=lambda model, setting: setting == 1 and model not in MODELS,
        about={
            "corpus": CORPUS,
            "steps": STEPS,
            "batch": BATCH,
            "warmup": WARMUP,
            "held_out": HELD_OUT,
            "clauses": list(CLAUSES),
            "more_steps": more_steps(),
            "lengths": lengths(),
        },
    )
