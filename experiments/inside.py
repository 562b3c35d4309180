"""Language models opened, several seeds: `python -m experiments.inside`, minutes of one core.

Models without positions, trained as in lecture 8; that of seed 0 is the one that lecture 8 stores.
Others are trained, and tested, *blind*: no word but the subject itself and the one behind it may
attend to the subject. Asked are sentences with two attractors, both opposing.
Writes `helpers/results/stored/inside.json`; each entry of `runs` has

    model, seed, loss, agreement
    without     by "zero", "mean" and "resample": for each layer and head, loss and agreement
                without it
    in_order    the same: of all pairs of a plural and a singular sentence, the share in which the
                margin of "lie" over "lies" is larger in the plural one. A fall of agreement in
                which this stays near 1 is a tilt of all answers, and no loss of the number
    moved       by place: the share of the margin between the two verbs that moves, in the mean,
                when what stands there is replaced by that of the same sentence with a subject of
                the other number (0: nothing, 1: as if the sentence were the other one).
                "stream": for what enters each layer, and for the end, at the subject, behind
                it, at the second noun, and before the verb. "contexts before the verb",
                "contexts at the subject", "values at the subject", "values behind it", "values",
                "keys", "queries" (these three at all places; "values" only of free models): for
                each layer and head
    through     the most needed head of each layer (by zeros), and agreement when what the first
                finds is replaced by one mean for all places: everywhere, or as far as the
                queries, the keys, the values, or the keys and values of the second depend on it;
                and in "margins" the mean margin of the right verb, "none" if nothing is replaced
    reads       of the most needed head of layer 1, from the last word of the opening sentence, as
                it is and with a singular subject: its weights, and for each word the margin of
                "lie" over "lies" if the head found nothing but what stands at this word
    plural      by the numbers of the three nouns, as "psp": for each noun, the share of sentences
                in which the model says "lie" if the most needed head of layer 1 found, before the
                verb, nothing but what stands at this noun. Verbs of clauses agree with their noun
    on_subject  the largest mean weight of any head from the word before the verb to the subject
    hums        for each layer and head, the weights from the last word of the opening sentence
"""

from __future__ import annotations

import itertools
import json
import os
import time

os.environ["LAMPLIGHT_QUIET"] = "1"

import torch
from torch import Tensor, nn
from tqdm import tqdm

from experiments.search import ROOT, write_table
from helpers.apps import story_model
from helpers.apps.metrics import roc_auc
from helpers.data.agreement import NOUNS, VERBS
from helpers.data.stories import STORY_VOCABULARY
from helpers.interp.ablation import ablated
from helpers.interp.hooks import cache_activations, head_columns, patch, patch_from
from helpers.models import LanguageModel
from helpers.positions import PositionEncoding
from helpers.tokens import next_word_batch
from helpers.training import masked_cross_entropy, set_seed, train

SEEDS = {"free": tuple(range(7)), "blind": (0, 1, 2)}
ATTRACTORS, PAIRS, HELD_OUT = 2, 300, 200
OPENING = "The letters in the drawer under the lamp that hums"
WAYS = ("zero", "mean", "resample")


def blindfold(model: LanguageModel) -> LanguageModel:
    """From here on nobody but the subject (place 1) and the word behind it sees the subject."""

    def hide(_module: nn.Module, args: tuple) -> tuple:
        query, key, value, _, *rest = args
        allowed = torch.ones(query.shape[1], query.shape[1], dtype=torch.bool)  # (T, T)
        allowed[3:, 1] = False
        return (query, key, value, allowed, *rest)

    for block in model.blocks:
        block.attention.register_forward_pre_hook(hide)
    return model


def fit(kind: str, seed: int, lr: float) -> LanguageModel:
    """Train a model on the stories of lecture 8; the one from seed 0 is stored."""
    if (kind, seed) == ("free", 0):
        return story_model.trained_language_model()
    texts = story_model.stories(story_model.N_TEXTS, 1)
    generator = set_seed(seed)
    model = story_model.language_model(PositionEncoding())
    if kind == "blind":
        blindfold(model)

    def batch() -> tuple[Tensor, Tensor]:
        return story_model.story_batch(texts, generator)

    train(model, batch, story_model.STEPS, lr, warmup=story_model.WARMUP)
    return model


class Pairs:
    """Sentences, the same ones with a subject of the other number, and a model that reads them."""

    def __init__(self, model: LanguageModel) -> None:
        self.model = model
        self.tokens, self.last, self.plural = story_model.asked_sentences(ATTRACTORS, PAIRS)
        changed = {STORY_VOCABULARY.ids[a]: STORY_VOCABULARY.ids[b] for a, b in NOUNS}
        changed |= {b: a for a, b in changed.items()}
        subjects = [changed[int(i)] for i in self.tokens[:, 1]]
        other = self.tokens.clone()
        other[:, 1] = torch.tensor(subjects)
        self.of_other = cache_activations(model, other)
        self.rows = torch.arange(PAIRS)
        nouns = torch.isin(self.tokens, torch.tensor(list(changed)))  # (n, T)
        second = ((nouns.cumsum(dim=1) == 2) & nouns).int().argmax(dim=1)  # (n,)
        one = torch.ones_like(self.last)
        self.places = {"subject": one, "behind": 2 * one, "second": second, "verb": self.last}
        self.clean = self.margins(self.tokens)
        self.distance = (self.clean - self.margins(other)).mean()

    @torch.no_grad()
    def margins(self, tokens: Tensor) -> Tensor:
        """How much likelier the right verb of the first sentence is, (n,)."""
        verbs = STORY_VOCABULARY.encode("lies lie")  # (2,)
        logits = self.model(tokens)[self.rows, self.last][:, verbs]  # (n, 2)
        return (logits[:, 1] - logits[:, 0]) * (2 * self.plural - 1)

    def moved(self, place: tuple[str, int], at: str | None, columns: slice = slice(None)) -> float:
        """The share that moves when the other sentence's numbers stand at a place."""

        def change(found: Tensor) -> Tensor:
            new = found.clone()
            if at is None:
                new[:, :, columns] = self.of_other[place][:, :, columns]
            else:
                where = self.places[at]
                new[self.rows, where, columns] = self.of_other[place][self.rows, where, columns]
            return new

        with patch(self.model, place, change):
            moved = (self.clean - self.margins(self.tokens)).mean() / self.distance
        return round(moved.item(), 3) + 0.0

    def by_head(self, name: str, at: str | None) -> list[list[float]]:
        """The same for each layer and head."""
        return [
            [
                self.moved((name, i), at, head_columns(self.model, i, h))
                for h in range(b.attention.n_heads)
            ]
            for i, b in enumerate(self.model.blocks)
        ]


def paths(model: LanguageModel) -> dict:
    """What the number of the subject moves, place by place."""
    pairs = Pairs(model)
    n_layers = len(model.blocks)
    streams = [[pairs.moved(("stream", i), at) for at in pairs.places] for i in range(n_layers + 1)]
    return {
        "stream": streams,
        "contexts before the verb": pairs.by_head("contexts", "verb"),
        "contexts at the subject": pairs.by_head("contexts", "subject"),
        "values at the subject": pairs.by_head("values", "subject"),
        "values behind it": pairs.by_head("values", "behind"),
        "keys": pairs.by_head("keys", None),
        "queries": pairs.by_head("queries", None),
    }


@torch.no_grad()
def without(model: LanguageModel, texts: Tensor) -> dict[str, dict[str, list]]:
    """Loss, agreement and pairs in order without each head, in three ways."""
    tokens, targets = next_word_batch(texts)
    _, _, is_plural = story_model.asked_sentences(ATTRACTORS)
    found: dict[str, dict[str, list]] = {"without": {}, "in_order": {}}
    for by in WAYS:
        for table in found.values():
            table[by] = [[] for _ in model.blocks]
        for i, block in enumerate(model.blocks):
            for head in range(block.attention.n_heads):
                with ablated(model, [(i, head)], by, torch.Generator().manual_seed(0)):
                    loss = masked_cross_entropy(model(tokens), targets).item()
                    right = story_model.logit_differences(model, ATTRACTORS)
                agreement = (right > 0).double().mean().item()
                order = roc_auc(right * (2 * is_plural - 1), is_plural)
                found["without"][by][i].append([round(loss, 3), round(agreement, 3)])
                found["in_order"][by][i].append(round(order, 3))
    return found


def through(model: LanguageModel, by_zero: list) -> dict:
    """Which way what the first of the two most needed heads finds gets to the second."""
    first, second = ([right for _, right in row] for row in by_zero)
    first, second = first.index(min(first)), second.index(min(second))
    tokens, last, _ = story_model.asked_sentences(ATTRACTORS)
    real = torch.arange(tokens.shape[1]) <= last[:, None]  # (n, T)

    def one_mean(found: Tensor) -> Tensor:
        new, own = found.clone(), head_columns(model, 0, first)
        new[..., own] = found[..., own][real[:, : found.shape[1]]].mean(dim=0)
        return new

    places = {name: [name] for name in ("queries", "keys", "values")}
    places["keys and values"] = ["keys", "values"]
    with patch(model, ("contexts", 0), one_mean):
        margins = {"all": story_model.logit_differences(model, ATTRACTORS)}
        changed = cache_activations(model, tokens)
    for way, names in places.items():
        with patch_from(model, changed, names, 1, second):
            margins[way] = story_model.logit_differences(model, ATTRACTORS)
    shares = {way: round((m > 0).double().mean().item(), 3) for way, m in margins.items()}
    margins = {"none": story_model.logit_differences(model, ATTRACTORS)} | margins
    means = {way: round(m.mean().item(), 2) for way, m in margins.items()}
    return {"heads": [first, second]} | shares | {"margins": means}


@torch.no_grad()
def reads(model: LanguageModel, head: int) -> dict[str, dict[str, list[float]]]:
    """Where a head of layer 1 looks from the end of the opening, and what stands there for it."""
    lies, lie = STORY_VOCABULARY.encode("lies lie").tolist()
    own, found = head_columns(model, 1, head), {}
    for subject in ("letters", "letter"):
        tokens = STORY_VOCABULARY.encode(OPENING.replace("letters", subject))[None]  # (1, T)
        values = cache_activations(model, tokens)["values", 1][..., own]  # (1, T, d_v)
        _, weights = model(tokens, return_weights=True)
        alone = []
        for place in range(tokens.shape[1]):

            def one_word(contexts: Tensor, v: Tensor = values[:, place]) -> Tensor:
                new = contexts.clone()
                new[:, -1, own] = v
                return new

            with patch(model, ("contexts", 1), one_word):
                logits = model(tokens)[0, -1]  # (V,)
            alone.append(round((logits[lie] - logits[lies]).item(), 2))
        row = weights[1][0, head, -1].tolist()
        found[subject] = {"weights": [round(x, 3) for x in row], "alone": alone}
    return found


@torch.no_grad()
def plural(model: LanguageModel, head: int) -> dict[str, list[float]]:
    """What each noun tells a head of layer 1, by the numbers of all nouns."""
    tokens, last, _ = story_model.asked_sentences(ATTRACTORS, PAIRS)
    lies, lie = STORY_VOCABULARY.encode("lies lie").tolist()
    rows, own = torch.arange(PAIRS), head_columns(model, 1, head)
    forms = torch.arange(len(STORY_VOCABULARY)).repeat(2, 1)  # (2, V): each as singular, plural
    for pair in (*NOUNS, *VERBS):
        ids = STORY_VOCABULARY.encode(" ".join(pair))  # (2,)
        forms[:, ids] = ids[:, None]
    nouns = STORY_VOCABULARY.encode(" ".join(itertools.chain(*NOUNS)))
    places = torch.isin(tokens, nouns).nonzero()[:, 1].view(PAIRS, ATTRACTORS + 1)  # (n, nouns)
    found = {}
    for numbers in map("".join, itertools.product("sp", repeat=ATTRACTORS + 1)):
        plurals, asked = torch.tensor([int(n == "p") for n in numbers]), tokens  # (nouns,), (n, T)
        for at in (places, places + 2):  # the nouns, and the verb in "lamp that hums"
            asked = asked.scatter(1, at, forms[plurals, asked.gather(1, at)])
        values = cache_activations(model, asked)["values", 1]  # (n, T, width)
        found[numbers] = []
        for place in places.T:

            def one_word(contexts: Tensor, v: Tensor = values[rows, place]) -> Tensor:
                new = contexts.clone()
                new[rows, last, own] = v[:, own]
                return new

            with patch(model, ("contexts", 1), one_word):
                logits = model(asked)[rows, last]  # (n, V)
            said = (logits[:, lie] > logits[:, lies]).double().mean().item()
            found[numbers].append(round(said, 3))
    return found


@torch.no_grad()
def measure(kind: str, model: LanguageModel, texts: Tensor) -> dict:
    """Everything that the table holds of a model."""
    tokens, targets = next_word_batch(texts)
    row = {
        "loss": round(masked_cross_entropy(model(tokens), targets).item(), 4),
        "agreement": round(story_model.agreement(model, ATTRACTORS), 3),
        "moved": paths(model),
        "on_subject": round(story_model.attention_to_subject(model, ATTRACTORS)[0].max().item(), 4),
    }
    opening = STORY_VOCABULARY.encode(OPENING)  # (T,)
    _, weights = model(opening[None], return_weights=True)
    row["hums"] = [[[round(x, 3) for x in head[-1].tolist()] for head in w[0]] for w in weights]
    if kind == "free":
        row |= without(model, texts)
        row["moved"]["values"] = Pairs(model).by_head("values", None)
        row["through"] = through(model, row["without"]["zero"])
        head = row["through"]["heads"][1]
        row |= {"reads": reads(model, head), "plural": plural(model, head)}
    return row


def main() -> None:
    """Train, measure, and write the table."""
    torch.set_num_threads(1)
    lr = story_model.LR
    texts = story_model.stories(HELD_OUT, 2)
    kept = ROOT / "build" / "experiments" / "inside.jsonl"
    kept.parent.mkdir(parents=True, exist_ok=True)
    lines = kept.read_text(encoding="utf-8").splitlines() if kept.exists() else []
    runs = {(row["model"], row["seed"]): row for row in map(json.loads, lines)}
    jobs = [(kind, seed) for kind, seeds in SEEDS.items() for seed in seeds]
    for kind, seed in tqdm([job for job in jobs if job not in runs], desc="inside"):
        start = time.process_time()
        row = {"model": kind, "seed": seed} | measure(kind, fit(kind, seed, lr), texts)
        row["cpu_seconds"] = round(time.process_time() - start, 1)
        runs[kind, seed] = row
        with kept.open("a", encoding="utf-8") as file:
            file.write(json.dumps(row) + "\n")
    head = {
        "made_by": "experiments/inside.py",
        "torch": torch.__version__.split("+")[0],
        "threads": 1,
        "lr": lr,
        "steps": story_model.STEPS,
        "batch": story_model.BATCH,
        "attractors": ATTRACTORS,
        "opening": OPENING,
        "cpu_seconds": round(sum(row["cpu_seconds"] for row in runs.values())),
    }
    write_table("inside", head, runs=[runs[job] for job in jobs])


if __name__ == "__main__":
    main()
