"""The trainings of lecture 8: `python -m experiments.language_model [--picture]`.

Writes `helpers/results/stored/language_model.json`, the weights of one of the models to
`helpers/results/stored/language_model.npz`, and the picture of one of its heads for the front page
to `_static/agreement_head.html`; with `--picture` only this, from the stored weights. Each entry of
`runs` is one training from its own seed:

    model, seed, parameters
    cpu_seconds      the time of the training, on one thread of the machine that made the table
    loss             cross-entropy in nats on held-out stories
    curve            the same, and agreement at 3 attractors, at each number of steps in
                     `checkpoints`
    agreement        share of right verbs for each entry of `attractors`, all of them opposing
    consistent       for each entry of `temperatures`, the share of written stories that the
                     storyteller could have told

and for the transformers, at 2 attractors, as many as the opening sentence has,

    margin           mean difference of the logits of the right verb and the wrong one
    on_subject, on_next, without, margin_without
                     a list for each layer with a number for each head: the mean attention weight
                     from the word before the verb to the subject, and to the word behind the
                     subject; agreement and margin with that head switched off
    finders          the heads [layer, head] whose two weights together are above `finder`
    without_finders, without_others, without_layer
                     agreement with all of these off, with all but these off, and with each whole
                     layer off

The result depends on the seeds and, in the second digit, on the processor.
"""

from __future__ import annotations

import os
import sys
import time
from collections.abc import Callable

os.environ["LAMPLIGHT_QUIET"] = "1"  # one bar for all runs instead of one for each

import torch
from torch import nn
from tqdm import tqdm

from experiments.search import ROOT, write_table
from helpers.apps import story_model
from helpers.data.stories import STORY_VOCABULARY
from helpers.generation import generate
from helpers.interp.ablation import without_heads
from helpers.models import LanguageModel
from helpers.positions import PositionEncoding
from helpers.rnn import RecurrentModel
from helpers.tokens import Batch, next_word_batch
from helpers.training import count_parameters, masked_cross_entropy, set_seed, train
from helpers.viz.attention_viewer import to_html

PICTURE = ROOT / "_static" / "agreement_head.html"
OPENING = "The letters in the drawer under the lamp that hums"
SEEDS = (0, 1, 2, 3)
HELD_OUT = 500
ATTRACTORS = (0, 1, 2, 3, 4, 6, 8, 12)
CHECKPOINTS = (50, 100, 150, 200, 300, 400, 500, 600, 800)
TEMPERATURES = (0.5, 1.0, 1.5)
WRITTEN = 100
FINDER = 0.3
VOCAB = story_model.VOCAB

# Widths are chosen so that all have equal numbers of parameters, within 2 %.
MODELS: dict[str, Callable[[], nn.Module]] = {
    "transformer": story_model.language_model,
    "transformer, no positions": lambda: story_model.language_model(PositionEncoding()),
    "RNN": lambda: RecurrentModel(VOCAB, 148, VOCAB),
    "LSTM": lambda: RecurrentModel(VOCAB, 84, VOCAB, "lstm"),
}


def run(model: str, seed: int, texts: torch.Tensor, held_out: Batch) -> tuple[dict, nn.Module]:
    """Train one model, and measure it on stories and sentences that it has not seen."""
    generator = set_seed(seed)
    network = MODELS[model]()
    curve: list[list[float]] = []
    measuring, done = 0.0, 0

    def measure() -> list[float]:
        return [loss(network, held_out), round(story_model.agreement(network, 3, HELD_OUT), 3)]

    def batch() -> Batch:
        nonlocal measuring, done
        if done in CHECKPOINTS:
            begun = time.process_time()
            curve.append(measure())
            measuring += time.process_time() - begun
        done += 1
        return story_model.story_batch(texts, generator)

    begun = time.process_time()
    train(network, batch, story_model.STEPS, story_model.LR, warmup=story_model.WARMUP)
    seconds = time.process_time() - begun - measuring
    row = {
        "model": model,
        "seed": seed,
        "parameters": count_parameters(network),
        "cpu_seconds": round(seconds, 1),
        "loss": loss(network, held_out),
        "curve": [*curve, measure()],
        "agreement": [round(story_model.agreement(network, n, HELD_OUT), 3) for n in ATTRACTORS],
        "consistent": [consistent(network, t) for t in TEMPERATURES],
    }
    return row | (heads(network) if isinstance(network, LanguageModel) else {}), network


@torch.no_grad()
def loss(network: nn.Module, held_out: Batch) -> float:
    """Mean cross-entropy in nats."""
    tokens, targets = held_out
    return round(masked_cross_entropy(network(tokens), targets).item(), 4)


def consistent(network: nn.Module, temperature: float) -> float:
    """Share of written stories that the storyteller could have told."""
    generator = torch.Generator().manual_seed(0)
    cached = isinstance(network, LanguageModel)
    stories = generate(
        network,
        story_model.first_words(WRITTEN),
        100,
        temperature=temperature,
        eos_id=story_model.LAST_WORD,
        generator=generator,
        use_cache=cached,
    )
    return sum(story_model.is_consistent(story) for story in stories) / WRITTEN


def heads(network: LanguageModel) -> dict[str, object]:
    """Where each head looks from the word before the verb, and what is lost without it."""
    every = [(i, h) for i, b in enumerate(network.blocks) for h in range(b.attention.n_heads)]
    on_subject, on_next = story_model.attention_to_subject(
        network, 2, HELD_OUT
    )  # (layers, heads) each
    finders = [(i, h) for i, h in every if on_subject[i, h] + on_next[i, h] > FINDER]
    others = [head for head in every if head not in finders]

    def right(off: list[tuple[int, int]]) -> float:
        return round(story_model.agreement(without_heads(network, off), 2, HELD_OUT), 3)

    def margin(off: list[tuple[int, int]]) -> float:
        mean = story_model.logit_differences(without_heads(network, off), 2, HELD_OUT).mean().item()
        return round(mean, 2)

    layers = [[head for head in every if head[0] == i] for i in range(len(network.blocks))]
    return {
        "margin": margin([]),
        "on_subject": [[round(w, 3) for w in layer] for layer in on_subject.tolist()],
        "on_next": [[round(w, 3) for w in layer] for layer in on_next.tolist()],
        "without": [[right([head]) for head in layer] for layer in layers],
        "margin_without": [[margin([head]) for head in layer] for layer in layers],
        "finders": finders,
        "without_finders": right(finders),
        "without_others": right(others),
        "without_layer": [right(layer) for layer in layers],
    }


@torch.no_grad()
def picture(network: LanguageModel) -> str:
    """The head that looks hardest at the subject of the opening sentence, in the viewer."""
    tokens = STORY_VOCABULARY.encode(OPENING)  # (T,)
    _, weights = network(tokens[None], return_weights=True)
    stacked = torch.cat(weights)  # (layers, heads, T, T)
    layer, head = divmod(int(stacked[:, :, -1, 1].argmax()), stacked.shape[1])
    labels = OPENING.split()
    title = (
        f"Head {head} of layer {layer} in the trained language model of lecture 8. From "
        f"“{labels[-1]}”, after which the verb will come, it attends to “{labels[1]}”."
    )
    shown = stacked[layer, head]  # (T, T)
    return to_html(shown, labels, title=title, selected=len(labels) - 1)


def main() -> None:
    """Run everything, and write the table, one model and its picture."""
    torch.set_num_threads(1)
    if "--picture" not in sys.argv[1:]:
        train_all()
    html = picture(story_model.trained_language_model())
    PICTURE.write_text(html + "\n", encoding="utf-8")
    print(f"{PICTURE}")


def train_all() -> None:
    """Train every model from every seed."""
    start = time.process_time()
    texts, new = story_model.stories(story_model.N_TEXTS, 1), story_model.stories(HELD_OUT, 2)
    held_out = next_word_batch(new)
    rows = []
    for model, seed in tqdm([(m, s) for m in MODELS for s in SEEDS], desc="trainings"):
        row, network = run(model, seed, texts, held_out)
        rows.append(row)
        if (model, seed) == ("transformer, no positions", SEEDS[0]):
            story_model.save(network)
    head = {
        "made_by": "experiments/language_model.py",
        "torch": torch.__version__.split("+")[0],
        "threads": 1,
        "cpu_seconds": round(time.process_time() - start),
        "steps": story_model.STEPS,
        "batch": story_model.BATCH,
        "texts": len(texts),
        "held_out": len(new),
        "floor": round(story_model.floor(new), 4),
        "attractors": ATTRACTORS,
        "checkpoints": CHECKPOINTS,
        "temperatures": TEMPERATURES,
        "finder": FINDER,
    }
    table = write_table("language_model", head, runs=rows)
    print(f"{len(rows)} trainings, {head['cpu_seconds']} s of CPU time: {table}")


if __name__ == "__main__":
    main()
