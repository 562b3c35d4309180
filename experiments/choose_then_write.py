"""Why the copier writes a wrong day: `python -m experiments.choose_then_write`.

A copier of lecture 11 writes a draft about each text, and then writes again about less of it:

    whole text   all six sentences
    right day    without the dated sentence about a thing that the draft does not name
    wrong day    a control, as long: without the sentence that dates the news, chosen with the
                 answer in hand, so that the only day of an event is a wrong one
    two          only the two sentences that name the thing of the draft

The copiers are trained as in `experiments.summaries`, from the same seeds and at the rate that was
chosen there, and are not trained again. Writes `helpers/results/stored/choose_then_write.json`, a
minute of one core: for each reading and seed the scores of `experiments.summaries.scores`, for
names as in the vocabulary (`known`) and for names of no training text (`unseen`), and `other`, the
share of summaries with the other event's day.
"""

from __future__ import annotations

import json
import time
from dataclasses import replace

import torch

from experiments.search import ROOT, SEEDS, made_by
from experiments.summaries import HELD_OUT, STEPS, TEST_SEED, news, scores, trained
from helpers.apps.summarization import write_summaries
from helpers.data.news import DAYS, THINGS, News, words_of
from helpers.encoder_decoder import EncoderDecoder
from helpers.results.comparison import results

FILE = ROOT / "helpers" / "results" / "stored" / "choose_then_write.json"


def right_day(item: News, draft: str) -> News:
    """The text without the dated sentences about things that the draft does not name."""

    def other(sentence: str) -> bool:
        words = {*words_of(sentence)}
        return bool(words & {*DAYS} and words & {*THINGS} - {*words_of(draft)})

    return replace(item, sentences=tuple(s for s in item.sentences if not other(s)))


def wrong_day(item: News) -> News:
    """The text without the sentence that dates the news."""
    dates = {item.event.what, item.event.when}
    kept = (s for s in item.sentences if not dates <= {*words_of(s)})
    return replace(item, sentences=tuple(kept))


def two(item: News, draft: str) -> News:
    """Only the sentences that name a thing of the draft."""
    things = {*THINGS} & {*words_of(draft)}
    return replace(item, sentences=tuple(s for s in item.sentences if things & {*words_of(s)}))


def measure(model: EncoderDecoder, names: str) -> dict[str, dict]:
    """Scores of the summaries of each reading."""
    items = news(HELD_OUT, TEST_SEED, names)
    drafts = write_summaries(model, items, "copying")
    pairs = list(zip(items, drafts, strict=True))
    read = {
        "right day": [right_day(*pair) for pair in pairs],
        "wrong day": [wrong_day(item) for item in items],
        "two": [two(*pair) for pair in pairs],
    }
    written = {"whole text": drafts}
    written |= {name: write_summaries(model, less, "copying") for name, less in read.items()}
    found = {}
    for name, summaries in written.items():
        said = zip(items, summaries, strict=True)
        others = sum(item.other.when in words_of(summary) for item, summary in said)
        found[name] = scores(summaries, items) | {"other": round(others / len(items), 3)}
    return found


def main() -> None:
    """Train, measure and write the table."""
    torch.set_num_threads(1)
    start = time.process_time()
    rate = results("summaries").rate("copying", STEPS[0])
    runs = []
    for seed in SEEDS:
        model = trained("copying", seed, STEPS[0], rate)
        runs.append(
            {"seed": seed} | {names: measure(model, names) for names in ("known", "unseen")}
        )
    head = made_by("choose_then_write") | {
        "cpu_seconds": round(time.process_time() - start),
        "texts": HELD_OUT,
        "steps": STEPS[0],
        "lr": rate,
        "runs": runs,
    }
    FILE.write_text(json.dumps(head, indent=1) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
