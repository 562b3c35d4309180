"""Tests of trained readers: `python -m experiments.reader_tests`, minutes of one core.

Readers with the flag, trained as in `experiments.question_answering` at the rate that its search
chose. Writes `helpers/results/stored/reader_tests.json`; each entry of `runs` is one reader:

    known, unseen     for questions with these names: exact match, F1, exact match of persons
                      alone, and how many wrong answers are of which kind (`faults`)
    short             of persons with two unseen names, the share that loses a part of the name
    swapped           *when* questions asked with *where* instead: the share answered by the place
                      of the same sentence
    hidden            *when* questions with words hidden from attention: the shares of answers with
                      a date, and from the right sentence
    told              the flag told one question and attention another (or the flag nothing): the
                      shares from the sentence of either question, and of the right kind
    weights           mean weight on *when* in block 0, by the words of each kind of value
    without           one head or two of a layer replaced by those of another question: the shares
                      of answers with the right kind, and from the right sentence
    cues_first, answer_first    exact match by the order of cues and answer, as in
                      `experiments.reader_controls`

`starts` holds readers without a flag, from other initial weights of cross-attention or with more
steps: exact match with known and unseen names, and for known names the shares of the right kind and
the right sentence. `careful` holds a reader trained with a fifth of unanswerable questions: for 500
questions to choose a threshold and 500 to report, of which about half have no answer, the margin of
"no answer" in tenths (`margins`), whether the best span is right (`right`) and whether there is an
answer (`answerable`), a digit each; and `examples` from those to report, with their logits.
"""

from __future__ import annotations

import json
import os
import time
from collections import Counter

os.environ["LAMPLIGHT_QUIET"] = "1"

import torch
from torch import Tensor
from tqdm import tqdm

from experiments.question_answering import (
    BATCH,
    HELD_OUT,
    STEPS,
    TEST_SEED,
    WARMUP,
    measure,
    right,
)
from experiments.reader_controls import by_order
from experiments.search import ROOT
from helpers.apps.metrics import exact_match, f1_score
from helpers.apps.question_answering import Reader, best_spans, no_answer_margin, occurs_in
from helpers.data.questions import (
    FACTS_VOCABULARY,
    KINDS,
    NAMES,
    Asked,
    ask,
    exchanged,
    reading_batch,
    sides,
    to_batch,
)
from helpers.interp.ablation import ablated
from helpers.results.comparison import results
from helpers.tokens import PAD
from helpers.training import set_seed, train

SEEDS = (0, 1, 2, 3, 4)
CAREFUL_SEED, CHOOSE_SEED, REPORT_SEED = 3, 9, 10
UNANSWERABLE = {"training": 0.2, "tests": 0.5}
START_SEEDS = {"both": 18, "larger": 2, "tied": 2, "more steps": 1, "more steps, own rate": 1}
FACTOR = 12.0
LONGER = ("more steps", "more steps, own rate")
"""With four times the steps, from one seed: at the rate of the flag, and at that of no flag."""


def trained(
    reader: Reader,
    generator: torch.Generator,
    steps: int = STEPS,
    none: float = 0.0,
    rate_of: str = "flag",
):
    """The reader after its training, at the learning rate that was chosen for `rate_of`."""
    rate = results("question_answering").rate(rate_of)

    def batch():
        return reading_batch(BATCH, generator, unanswerable=none)

    train(reader, batch, steps, rate, warmup=WARMUP)
    return reader


def draw(seed: int, **how) -> list[Asked]:
    """Questions that no training has seen."""
    generator = torch.Generator().manual_seed(seed)
    return [ask(generator, **how) for _ in range(HELD_OUT)]


def words(asked: Asked, span: list[int]) -> str:
    """The words of a span."""
    return " ".join(asked.context[span[0] : span[1] + 1])


@torch.no_grad()
def spans_of(reader: Reader, asked: list[Asked], **how) -> list[list[int]]:
    """The best span for each question."""
    return best_spans(reader(*to_batch(asked)[0], **how))[0].tolist()


def share(hits: list[bool]) -> float:
    """The share of hits."""
    return round(sum(hits) / len(hits), 4)


def fault(asked: Asked, span: list[int]) -> str:
    """What is wrong with an answer."""
    if right(asked, span):
        return "right"
    if span[0] <= asked.span[1] and span[1] >= asked.span[0]:
        return "boundary"
    kind, sentence = sides(asked, span)
    if kind and not sentence:
        return "wrong sentence"
    inside = any(first <= span[0] <= last for first, last in asked.sentence.values())
    return "wrong kind" if inside else "other"


def scores(reader: Reader, asked: list[Asked]) -> dict:
    """Exact match, F1, persons alone, and the faults."""
    pairs = list(zip(asked, spans_of(reader, asked), strict=True))
    hits = [right(a, s) for a, s in pairs]
    f1 = [f1_score(words(a, s), a.answer) for a, s in pairs]
    persons = [hit for hit, a in zip(hits, asked, strict=True) if a.kind == "who"]
    return {
        "exact": share(hits),
        "f1": share(f1),
        "persons": share(persons),
        "faults": dict(Counter(fault(a, s) for a, s in pairs)),
    }


def shares(reader: Reader, asked: list[Asked], flag=occurs_in, **how) -> list[float]:
    """The shares of answers of the right kind, and from the right sentence."""
    reader.flag = flag
    rows = [sides(a, s) for a, s in zip(asked, spans_of(reader, asked, **how), strict=True)]
    reader.flag = occurs_in
    return [share(column) for column in zip(*rows, strict=True)]


def short(reader: Reader, asked: list[Asked]) -> float:
    """Of persons with two names, the share that loses a part of the name."""
    two = [a for a in asked if a.kind == "who" and " " in a.answer]
    rows = zip(two, spans_of(reader, two), strict=True)
    return share([fault(a, s) == "boundary" for a, s in rows])


def swapped(reader: Reader, when: list[Asked]) -> float:
    """*Where* in place of *when*: is the answer the place of the same sentence?"""
    changed = [
        Asked(a.context, ("where", *a.question[1:]), a.sentence["where"], "where", a.values)
        for a in when
        if not set(words(a, a.sentence["where"]).split()) <= set(a.question)
    ]
    return share([right(a, s) for a, s in zip(changed, spans_of(reader, changed), strict=True)])


def hidden(reader: Reader, when: list[Asked]) -> dict[str, list[float]]:
    """Kind and sentence with words of the question hidden from attention."""
    context, question = to_batch(when)[0]
    first = torch.zeros_like(question).bool()  # (n, T_q)
    first[:, 0] = True
    ways = {
        "nothing": question == PAD,
        "words of the passage": occurs_in(question, context),
        "all but the question word": ~first,
        "the question word": first,
    }
    real = question != PAD
    return {name: shares(reader, when, visible=real & ~away) for name, away in ways.items()}


def told(reader: Reader, own: list[Asked]) -> dict[str, list[float]]:
    """Shares from the own sentence, from the other question's, and of the right kind."""
    others = [exchanged(a, i % 2) for i, a in enumerate(own)]
    asking = {"own": to_batch(own)[0][1], "other": to_batch(others)[0][1]}
    found = {}
    for by_flag, by_attention in (("other", "own"), ("own", "other"), ("nothing", "own")):

        def flag(context: Tensor, _: Tensor, by_flag=by_flag) -> Tensor:
            return occurs_in(context, asking[by_flag])

        reader.flag = None if by_flag == "nothing" else flag
        with torch.no_grad():
            spans, _ = best_spans(reader(to_batch(own)[0][0], asking[by_attention]))
        reader.flag = occurs_in
        rows = [
            (*sides(a, s)[::-1], sides(b, s)[1])
            for a, b, s in zip(own, others, spans.tolist(), strict=True)
        ]
        in_own, kind, in_other = (share(column) for column in zip(*rows, strict=True))
        found[f"flag {by_flag}, attention {by_attention}"] = [in_own, in_other, kind]
    return found


@torch.no_grad()
def weights(reader: Reader, when: list[Asked]) -> dict[str, float]:
    """Mean weight on the question word in block 0, the larger of two heads, by kind of value."""
    _, maps = reader(*to_batch(when)[0], return_weights=True)
    on = maps[0][1][..., 0].amax(dim=1)  # (n, T_c)
    found = {kind: [] for kind in KINDS}
    for row, asked in zip(on, when, strict=True):
        for values in asked.values:
            for kind, (first, last) in values.items():
                found[kind].append(row[first : last + 1].mean())
    return {kind: round(torch.stack(rows).mean().item(), 3) for kind, rows in found.items()}


def without(reader: Reader, asked: list[Asked]) -> dict[str, list[float]]:
    """Kind and sentence with heads replaced by what they found for another question."""
    found = {}
    for layer in range(4):
        for some in ([0], [1], [0, 1]):
            generator = torch.Generator().manual_seed(0)
            heads = [(layer, head) for head in some]
            with ablated(reader, heads, "resample", generator):
                found[f"{layer}: {', '.join(map(str, some))}"] = shares(reader, asked)
    return found


def run(seed: int) -> dict:
    """Train one reader and test it."""
    generator = set_seed(seed)
    reader = trained(Reader(len(FACTS_VOCABULARY), fixed=NAMES), generator).eval()
    known, unseen = draw(TEST_SEED), draw(TEST_SEED, names="unseen")
    when = [a for a in known if a.kind == "when"]
    return {
        "seed": seed,
        "known": scores(reader, known),
        "unseen": scores(reader, unseen),
        "short": short(reader, unseen),
        "swapped": swapped(reader, when),
        "hidden": hidden(reader, when),
        "told": told(reader, known),
        "weights": weights(reader, when),
        "without": without(reader, known),
        **by_order(reader),
    }


def start(name: str, seed: int) -> dict:
    """A reader without a flag whose cross-attention begins with other weights."""
    generator = set_seed(seed)
    reader = Reader(len(FACTS_VOCABULARY), flag=None, fixed=NAMES)
    factor = FACTOR if name in ("both", "larger") else 1.0
    with torch.no_grad():
        for block in reader.blocks if name in ("both", "larger", "tied") else ():
            cross = block.cross_attention
            origin = cross.W_query if name == "larger" else cross.W_key
            cross.W_query.weight.copy_(factor * origin.weight)
            cross.W_query.bias.zero_()
            cross.W_key.bias.zero_()
    steps = 4 * STEPS if name in LONGER else STEPS
    trained(reader, generator, steps, rate_of="no flag" if name == LONGER[1] else "flag")
    found = {names: measure(reader, TEST_SEED, names) for names in ("known", "unseen")}
    exact = {names: scores["exact"] for names, scores in found.items()}
    where = {key: found["known"][key] for key in ("kind", "sentence")}
    return {"start": name, "seed": seed, "steps": steps, **exact, **where}


@torch.no_grad()
def margins(reader: Reader, asked: list[Asked]) -> dict[str, object]:
    """Margins in tenths, and as digits what is right and what is answerable."""
    found = no_answer_margin(reader(*to_batch(asked)[0]))  # (n,)
    pairs = zip(asked, spans_of(reader, asked), strict=True)
    hits = [bool(a.answer) and exact_match(words(a, s), a.answer) for a, s in pairs]
    return {
        "margins": (10 * found).round().int().tolist(),
        "right": "".join(str(int(hit)) for hit in hits),
        "answerable": "".join(str(int(bool(a.answer))) for a in asked),
    }


@torch.no_grad()
def examples(reader: Reader, asked: list[Asked]) -> list[dict]:
    """The first question of each of five kinds, with the logits of its words."""
    found: dict[str, dict] = {}
    for one in asked:
        logits = reader(*to_batch([one])[0])[0]  # (2, T_c)
        span = best_spans(logits[None])[0][0].tolist()
        margin = no_answer_margin(logits[None]).item()
        firsts = logits[:, 1:].argmax(dim=1) + 1  # (2,): chosen one by one
        if one.answer:
            crossed = bool(firsts[1] < firsts[0])
            name = "refused" if margin > 0 else "crossed" if crossed else "answered"
            long = one.span[1] > one.span[0] or name != "answered"
            fits = right(one, span) and long
        else:
            name, fits = ("fooled" if margin < 0 else "none"), True
        wanted = ("answered", "none", "fooled", "refused", "crossed")
        if fits and name in wanted and name not in found and len(one.context) <= 48:
            found[name] = {
                "name": name,
                "context": " ".join(one.context),
                "question": " ".join(one.question),
                "span": list(one.span),
                "start": [round(v, 2) for v in logits[0].tolist()],
                "end": [round(v, 2) for v in logits[1].tolist()],
            }
    return list(found.values())


def careful() -> dict:
    """A reader that may say "no answer"."""
    generator = set_seed(CAREFUL_SEED)
    reader = Reader(len(FACTS_VOCABULARY), fixed=NAMES)
    trained(reader, generator, none=UNANSWERABLE["training"]).eval()
    choose, report = (
        draw(seed, unanswerable=UNANSWERABLE["tests"]) for seed in (CHOOSE_SEED, REPORT_SEED)
    )
    return {
        "seed": CAREFUL_SEED,
        "choose": margins(reader, choose),
        "report": margins(reader, report),
        "examples": examples(reader, report),
    }


def main() -> None:
    """Train, test, and write the table."""
    torch.set_num_threads(1)
    begun = time.process_time()
    table = {"careful": careful()}
    table["runs"] = [run(seed) for seed in tqdm(SEEDS, desc="readers")]
    jobs = [(name, seed) for name, seeds in START_SEEDS.items() for seed in range(seeds)]
    table["starts"] = [start(*job) for job in tqdm(jobs, desc="other starts")]
    head = {
        "made_by": "experiments/reader_tests.py",
        "torch": torch.__version__.split("+")[0],
        "threads": 1,
        "steps": STEPS,
        "batch": BATCH,
        "held_out": HELD_OUT,
        "rate": results("question_answering").rate("flag"),
        "unanswerable": UNANSWERABLE,
        "factor": FACTOR,
        "cpu_seconds": round(time.process_time() - begun),
    }
    lines = []
    for key, value in (head | table).items():
        text = json.dumps(value)
        if key in ("runs", "starts"):
            text = "[\n" + ",\n".join("  " + json.dumps(row) for row in value) + "\n ]"
        lines.append(f" {json.dumps(key)}: {text}")
    path = ROOT / "helpers" / "results" / "stored" / "reader_tests.json"
    path.write_text("{\n" + ",\n".join(lines) + "\n}\n", encoding="utf-8")


if __name__ == "__main__":
    main()
