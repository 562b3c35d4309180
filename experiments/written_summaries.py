"""What summarizers write about the same texts: `python -m experiments.written_summaries`.

A pretrained language model (SmolLM2-135M-Instruct, `helpers.pretrained`) beside the small models
of lecture 11 and the lead. All are measured on the first `TEST` of the lecture's test texts.

SmolLM2 is not trained here: it gets a prompt, in three ways (`PROMPTS`). All three are reported,
so nothing is chosen. Decoding is greedy, and the first line of the reply counts. The small models
are trained as in `experiments.summaries`, from the same three seeds and at the rates that were
chosen there.

Writes `helpers/results/stored/written_summaries.json`: for each summarizer the scores of
`experiments.summaries.scores` and the length (one dictionary for each seed), and what it wrote
about the first texts; besides, what SmolLM2 writes about a real article. A few minutes of one core.
"""

from __future__ import annotations

import json
import re
import time
from pathlib import Path
from statistics import fmean

import torch

from experiments.real_model import replies, user
from experiments.search import SEEDS, made_by
from experiments.summaries import STEPS, TEST_SEED, news, scores, summaries_by, trained
from helpers import pretrained
from helpers.data.news import SORTS, News, words_of
from helpers.results.comparison import results

TABLE = Path(__file__).parents[1] / "helpers/results/stored/written_summaries.json"
TEST, EXAMPLES, EXAMPLES_SEED, MOST_TOKENS = 60, 2, 3001, 40
SHOWN = 4
"""Of so many texts the summaries are stored."""

ASKED = (
    "Summarize only the latest event in one sentence: "
    "who did what, in which city, and on which day."
)
PROMPTS = {
    "chat": "the task, as a question of a user",
    "chat, two examples": "the same, after two texts and their references as earlier turns",
    "continuation, two examples": "no chat: two texts with their references, and a third text",
}

ARTICLE = {
    "title": "SEPTA buys rail cars from NJ Transit to deal with crowding",
    "source": "https://en.wikinews.org/w/index.php?oldid=772828",
    "sentences": [
        "As gas prices have risen in the United States, the regional transport authority for "
        "southeastern Pennsylvania, SEPTA, has seen a sharp increase in ridership, which has "
        "caused overcrowding on the trains.",
        "While SEPTA awaits new Silverliner V trains from Hyundai Rotem, which begin arriving in "
        "2009, it had hoped to lease eight rail cars from New Jersey Transit, at an agreed-upon "
        "rate of US$10,000 per month.",
        "However, due to problems with insurance and liability indemnification, the deal fell "
        "through, according to Casey.",
        "SEPTA has entered a new agreement to purchase the eight rail cars from NJ Transit.",
        "The transit authority will pay US$670,000 for the cars and assorted supplies plus one "
        "additional inoperative car which will be used for spare parts.",
        "The rail cars will be operated using a SEPTA provided locomotive as they are not "
        "self-propelled.",
        "The cars are being disposed of by NJ Transit because it has switched from single-floor "
        "cars to double-decker cars.",
        "SEPTA is expecting to raise US$3.1 million by selling rail that has been out of service "
        "since 1981 at auction.",
    ],
}
"""Wikinews, 29 July 2008, CC BY 2.5, without the three paragraphs that quote people."""
REAL_PROMPTS = (
    "Summarize this text in one sentence.",
    "Summarize this in one sentence of at most 15 words.",
    "Write a one-sentence summary of the text.",
)
MOST_REAL_TOKENS = 100


def news_english(text: str) -> str:
    """A text with capitals, and no space before a mark."""
    capitals = set(SORTS["who"]) | set(SORTS["where"]) | set(SORTS["when"])
    text = " ".join(w.capitalize() if w in capitals else w for w in text.split())
    text = re.sub(r" ([.,])", r"\1", text).replace('" ', '"', 1).replace(' "', '"')
    return re.sub(r"(^|[.] )(\w)", lambda m: m[1] + m[2].upper(), text)


def prompts_of(way: str, lm: pretrained.Pretrained, items: list[News]) -> list[str]:
    """One prompt for each text."""
    examples = [
        (news_english(item.text), news_english(item.summary))
        for item in news(EXAMPLES, EXAMPLES_SEED, "known")
    ]
    texts = [news_english(item.text) for item in items]
    if way == "continuation, two examples":
        before = "".join(f"{text}\nSummary: {summary}\n\n" for text, summary in examples)
        return [f"{before}{text}\nSummary:" for text in texts]
    turns = []
    for text, summary in examples if way == "chat, two examples" else []:
        turns += [user(f"{text}\n\n{ASKED}"), {"role": "assistant", "content": summary}]
    return [lm.render_chat(*turns, user(f"{text}\n\n{ASKED}")) for text in texts]


def measured(summaries: list[str], items: list[News]) -> dict:
    """Scores and facts, words per summary, and words of it that its text does not hold."""
    lengths = [sum(w.isalnum() for w in words_of(summary)) for summary in summaries]
    new = [
        sum(w.isalnum() for w in set(words_of(s)) - set(words_of(item.text)))
        for s, item in zip(summaries, items, strict=True)
    ]
    more = {"words": round(fmean(lengths), 1), "new_words": round(fmean(new), 2)}
    return scores(summaries, items) | more


def smollm2(test: list[News]) -> dict[str, list[str]]:
    """What the pretrained model writes, by prompt."""
    lm = pretrained.load(pretrained.find(pretrained.SMOLLM2_NAME))
    return {
        f"SmolLM2, {way}": replies(lm, prompts_of(way, lm, test), MOST_TOKENS) for way in PROMPTS
    }


def real_summaries() -> list[list[str]]:
    """Each prompt of `REAL_PROMPTS`, and what the pretrained model then writes of the article."""
    lm = pretrained.load(pretrained.find(pretrained.SMOLLM2_NAME))
    text = " ".join(ARTICLE["sentences"])
    asked = [lm.render_chat(user(f"{text}\n\n{prompt}")) for prompt in REAL_PROMPTS]
    written = replies(lm, asked, MOST_REAL_TOKENS)
    return [list(pair) for pair in zip(REAL_PROMPTS, written, strict=True)]


def small(kind: str, seed: int, test: list[News]) -> list[str]:
    """The summaries of a small model, trained for `STEPS` steps."""
    rate = results("summaries").rate(kind, STEPS[0])
    return summaries_by(trained(kind, seed, STEPS[0], rate), kind, test)


def main() -> None:
    """Measure all and write the table."""
    torch.set_num_threads(1)
    start = time.process_time()
    test = news(TEST, TEST_SEED, "known")
    written = {f"lead {k}": [[" ".join(item.sentences[:k]) for item in test]] for k in (1, 2)}
    for kind in ("extractive", "plain", "copying"):
        written[kind] = [small(kind, seed, test) for seed in SEEDS]
    written |= {name: [said] for name, said in smollm2(test).items()}
    found = {
        name: {
            "runs": [measured(some, test) for some in runs],
            "examples": runs[0][:SHOWN],
        }
        for name, runs in written.items()
    }
    head = made_by("written_summaries") | {
        "cpu_seconds": round(time.process_time() - start),
        "texts": TEST,
        "file": pretrained.find(pretrained.SMOLLM2_NAME).name,
        "asked": ASKED,
        "prompts": PROMPTS,
    }
    table = head | {"article": ARTICLE | {"written": real_summaries()}, "found": found}
    TABLE.write_text(json.dumps(table, indent=1, ensure_ascii=False) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
