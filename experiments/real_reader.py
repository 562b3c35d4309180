"""A pretrained encoder that is fine-tuned to answer real questions, for lecture 10.

    python -m experiments.real_reader MODEL PAGES

MODEL is a folder with all-MiniLM-L6-v2 (Wang et al., 2020; Reimers and Gurevych, 2019; Apache 2.0):
`model.safetensors` and `tokenizer.json` of huggingface.co/sentence-transformers/all-MiniLM-L6-v2.
PAGES is the folder `explore/1.1/dev` on the branch gh-pages of github.com/rajpurkar/SQuAD-explorer:
the development set of SQuAD 1.1 (Rajpurkar et al., 2016; CC BY-SA 4.0), one page for each of 48
articles of Wikipedia. Every fourth article reports, every eighth chooses the learning rate, and the
others train. The encoder was pretrained on plain text and then on pairs of texts that belong
together, among which were questions of SQuAD's training set, but none of its development set.

Writes `helpers/results/stored/real_reader.json`:

    rates       F1 on `choose` questions after `search_steps` steps, for each learning rate
    curve       exact match and F1 on these questions after each number of steps of `checkpoints`
    scores      exact match and F1 on `report` questions of the articles that report: of the reader,
                and of the controls: its pointers untrained; the reader with no question; and with
                the question of another article
    by_word     number of questions, exact match and F1 of the reader by the first word
    agreement   largest difference between the output of our modules and that of transformers'
    examples    paragraphs with their tokens and the two logits of each
    passages    the paragraphs of `PASSAGES` among these, each with the logits for its first `ASKED`
                questions, and for the first question about the next paragraph, which has no answer
                in this one

The pages have no positions. So training leaves out questions whose answer occurs more than once in
the paragraph, and the scores compare texts, as those of SQuAD do: the best over all given answers.
"""

from __future__ import annotations

import json
import os
import sys
import time
from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import partial
from html.parser import HTMLParser
from pathlib import Path

os.environ["LAMPLIGHT_QUIET"] = "1"  # progress is printed line by line

import torch
import torch.nn.functional as F
from safetensors.torch import load_file
from tokenizers import Tokenizer
from torch import Tensor, nn

from helpers.apps.metrics import exact_match, f1_score
from helpers.apps.question_answering import best_spans
from helpers.blocks import TransformerStack
from helpers.config import TransformerConfig
from helpers.positions import LearnedPositions
from helpers.tokens import PAD, Batch
from helpers.training import set_seed, train
from helpers.validation import require

TABLE = Path(__file__).parents[1] / "helpers" / "results" / "stored" / "real_reader.json"

MINILM = TransformerConfig(
    vocab=30_522,
    d_model=384,
    n_layers=6,
    n_heads=12,
    d_ff=1_536,
    context_length=512,
    learned_positions=True,
    norm="post",
    norm_eps=1e-12,
    activation="gelu",
)
SEP = 102  # the token after the question and after the passage
RATES = (1e-4, 3e-4, 9e-4)
BATCH, STEPS, SEARCH_STEPS = 8, 240, 30
CHECKPOINTS = (30, 60, 120)
CHOOSE, REPORT = 72, 240
PASSAGES, ASKED = ("Black Death", "Jacksonville, Florida", "Super Bowl 50"), 5
LONGEST_TRAINED, LONGEST_ASKED, LONGEST_ANSWER = 160, 384, 30
"""In tokens; what is longer is left out."""


class EncoderReader(nn.Module):
    """A BERT encoder with two pointers: it reads question and passage as one sequence.

    The blocks are those of lecture 7 with the norm after each addition. Three tables make the
    input: tokens, positions, and segments (0 for the question, 1 for the passage).
    """

    def __init__(self, config: TransformerConfig) -> None:
        super().__init__()
        self.embedding = nn.Embedding(config.vocab, config.d_model, padding_idx=PAD)
        self.positions = LearnedPositions(config.context_length, config.d_model)
        self.segments = nn.Embedding(2, config.d_model)
        self.norm = nn.LayerNorm(config.d_model, eps=config.norm_eps)
        self.stack = TransformerStack(config)
        for block in self.stack.blocks:
            block.feed_forward.activation = F.gelu  # exact, as in BERT
        self.pointers = nn.Linear(config.d_model, 2)
        for table in (self.embedding, self.segments):
            nn.init.normal_(table.weight, std=0.02)

    def encode(self, tokens: Tensor, segments: Tensor) -> Tensor:
        """The encoder's output, (batch, T, d_model)."""
        x = self.embedding(tokens) + self.segments(segments)
        x = self.norm(self.positions.embed(x))
        real = (tokens != PAD)[:, None, None]  # (batch, 1, 1, T), True = may attend
        return self.stack(x, real)

    def forward(self, tokens: Tensor, segments: Tensor) -> Tensor:
        """Two logits for each position, (batch, 2, T); −∞ outside the passage."""
        logits = self.pointers(self.encode(tokens, segments)).mT
        passage = (segments == 1) & (tokens != SEP)  # (batch, T)
        return logits.masked_fill(~passage[:, None], -torch.inf)


def load(model: EncoderReader, weights: dict[str, Tensor]) -> None:
    """Copy the weights of a BERT encoder, by the names of transformers, into the modules.

    Raises:
        ValueError: if a weight is missing, or one of the encoder is left over.
    """
    theirs = {"embedding": "word_embeddings", "positions.table": "position_embeddings"}
    theirs |= {"segments": "token_type_embeddings", "norm": "LayerNorm"}
    names = {ours: f"embeddings.{name}" for ours, name in theirs.items()}
    parts = {
        "attention.W_query": "attention.self.query",
        "attention.W_key": "attention.self.key",
        "attention.W_value": "attention.self.value",
        "attention.W_out": "attention.output.dense",
        "norm_attention": "attention.output.LayerNorm",
        "feed_forward.up_proj": "intermediate.dense",
        "feed_forward.down_proj": "output.dense",
        "norm_feed_forward": "output.LayerNorm",
    }
    for i in range(len(model.stack.blocks)):
        names |= {f"stack.blocks.{i}.{a}": f"encoder.layer.{i}.{b}" for a, b in parts.items()}
    left = {name for name in weights if not name.startswith("pooler")}
    left -= {"embeddings.position_ids"}
    with torch.no_grad():
        for name, parameter in model.named_parameters():
            module, kind = name.rsplit(".", 1)
            if module == "pointers":
                continue
            source = f"{names[module]}.{kind}"
            require(source in weights, "weights", f"no {source}", "all of the encoder's")
            parameter.copy_(weights[source])
            left.discard(source)
    require(not left, "weights", f"also {sorted(left)[:3]}", "none that the encoder lacks")


@dataclass(frozen=True)
class Question:
    """A real question: the article, the paragraph, the question and the answers of several people.

    answers: as often as they were given, so that the most frequent one trains.
    """

    article: str
    paragraph: str
    question: str
    answers: tuple[str, ...]


class _Page(HTMLParser):
    """The paragraphs, questions and answers of one page of the explorer."""

    def __init__(self, article: str) -> None:
        super().__init__()
        self.article = article
        self.paragraph, self.questions = "", []
        self._inside, self._text = "", ""

    def handle_starttag(self, tag: str, attrs: list) -> None:
        kind = dict(attrs).get("class", "")
        if tag == "pre" or (tag, kind) in (("strong", "question"), ("span", "answer")):
            self._inside, self._text = tag, ""

    def handle_data(self, data: str) -> None:
        if self._inside:
            self._text += data

    def handle_endtag(self, tag: str) -> None:
        if tag != self._inside:
            return
        if tag == "pre":
            self.paragraph = self._text
        elif tag == "strong":
            self.questions.append(Question(self.article, self.paragraph, self._text.strip(), ()))
        else:
            last = self.questions[-1]
            self.questions[-1] = replace(last, answers=(*last.answers, self._text))
        self._inside = ""


def read(page: Path) -> list[Question]:
    """The questions of one article."""
    parser = _Page(page.stem.replace("_", " "))
    parser.feed(page.read_text(encoding="utf-8"))
    return [q for q in parser.questions if q.answers]


@dataclass(frozen=True)
class Encoded:
    """A question and its paragraph as tokens of one sequence.

    span: first and last token of the answer; None if it is not clear where it stands.
    offsets: of each token, in the paragraph.
    """

    asked: Question
    ids: list[int]
    segments: list[int]
    offsets: list[tuple[int, int]]
    span: tuple[int, int] | None


def encode(tokenizer: Tokenizer, asked: Question, question: str | None = None) -> Encoded:
    """`[CLS] question [SEP] paragraph [SEP]`; another question can take the place of its own."""
    made = tokenizer.encode(asked.question if question is None else question, asked.paragraph)
    inside = [s == 1 and i != SEP for s, i in zip(made.type_ids, made.ids, strict=True)]
    answer = max(asked.answers, key=asked.answers.count)
    start, span = asked.paragraph.find(answer), None
    if asked.paragraph.count(answer) == 1:
        end = start + len(answer)
        covered = [
            i for i, (a, b) in enumerate(made.offsets) if inside[i] and a < end and b > start
        ]
        span = (covered[0], covered[-1]) if covered else None
    return Encoded(asked, made.ids, made.type_ids, made.offsets, span)


def collate(rows: Sequence[Encoded]) -> tuple[Tensor, Tensor]:
    """Tokens and segments, (batch, T) each, padded on the right."""
    longest = max(len(row.ids) for row in rows)
    padded = [
        [values + [PAD] * (longest - len(values)) for values in (row.ids, row.segments)]
        for row in rows
    ]
    tokens, segments = zip(*padded, strict=True)
    return torch.tensor(tokens), torch.tensor(segments)


def batches(rows: Sequence[Encoded], seed: int) -> partial[Batch]:
    """A function that returns a new batch of questions of similar length at each call."""
    generator = torch.Generator().manual_seed(seed)
    ordered = sorted(rows, key=lambda row: len(row.ids))

    def draw() -> Batch:
        start = int(torch.randint(len(ordered) - BATCH, (), generator=generator))
        chosen = ordered[start : start + BATCH]
        return collate(chosen), torch.tensor([row.span for row in chosen])

    return draw


@torch.no_grad()
def answers(model: EncoderReader, rows: Sequence[Encoded]) -> list[str]:
    """The text that the model points at, for each row."""
    found = {}
    order = sorted(range(len(rows)), key=lambda i: len(rows[i].ids))
    for start in range(0, len(order), 16):
        chosen = order[start : start + 16]
        spans, _ = best_spans(model(*collate([rows[i] for i in chosen])), LONGEST_ANSWER)
        for i, (first, last) in zip(chosen, spans.tolist(), strict=True):
            row = rows[i]
            found[i] = row.asked.paragraph[row.offsets[first][0] : row.offsets[last][1]]
    return [found[i] for i in range(len(rows))]


def score(model: EncoderReader, rows: Sequence[Encoded]) -> dict[str, float]:
    """Mean exact match and F1, each against the best of the given answers."""
    each = [points(said, row.asked) for said, row in zip(answers(model, rows), rows, strict=True)]
    exact, f1 = (sum(values) / len(rows) for values in zip(*each, strict=True))
    return {"exact": round(exact, 4), "f1": round(f1, 4)}


def points(said: str, asked: Question) -> tuple[float, float]:
    """Exact match and F1 of one answer."""
    return tuple(
        max(float(measure(said, wanted)) for wanted in asked.answers)
        for measure in (exact_match, f1_score)
    )


def spread_out(rows: Sequence[Question], n: int) -> list[Question]:
    """n questions at equal distances."""
    return [rows[i * len(rows) // n] for i in range(n)]


def first_word(question: str) -> str:
    """The question word, "other" if it is none of the frequent ones."""
    words = question.lower().split()
    frequent = ("what", "who", "when", "where", "why", "which", "how")
    found = next((word for word in words if word in frequent), "other")
    after = words[words.index(found) + 1 :][:1] if found == "how" else []
    return "how many" if after in (["many"], ["much"]) else found


def main(folder: Path, pages: Path) -> None:
    """Fine-tune, measure, write the table."""
    torch.set_num_threads(1)
    began = time.process_time()

    def say(*what: object) -> None:
        print(round(time.process_time() - began), *what, flush=True)

    tokenizer = Tokenizer.from_file(str(folder / "tokenizer.json"))
    tokenizer.no_padding()
    tokenizer.no_truncation()
    weights = load_file(folder / "model.safetensors")
    files = sorted(p for p in pages.glob("*.html") if p.stem != "index")
    parts: dict[str, list[Question]] = {"report": [], "choose": [], "train": []}
    for i, file in enumerate(files):
        part = "report" if i % 4 == 0 else "choose" if i % 8 == 1 else "train"
        parts[part] += read(file)
    say({name: len(rows) for name, rows in parts.items()}, len(files), "articles")

    every = [encode(tokenizer, asked) for asked in parts["train"]]
    rows = [row for row in every if row.span and len(row.ids) <= LONGEST_TRAINED]
    choose, report = (
        [
            row
            for row in (encode(tokenizer, asked) for asked in spread_out(parts[part], n))
            if len(row.ids) <= LONGEST_ASKED
        ]
        for part, n in (("choose", CHOOSE), ("report", REPORT))
    )
    say(len(rows), "questions to train with,", len(choose), "to choose,", len(report), "to report")

    def pretrained() -> EncoderReader:
        set_seed(0)
        model = EncoderReader(MINILM)
        load(model, weights)
        # The table of tokens stays as it is: most rows would never be seen in so few steps.
        model.embedding.requires_grad_(False)
        return model

    def tune(model: EncoderReader, steps: int, lr: float, seed: int, looks: dict | None = None):
        draw, done = batches(rows, seed), 0

        def batch() -> Batch:
            nonlocal done
            if looks is not None and done in CHECKPOINTS:
                looks[done] = score(model, choose)
                say("step", done, looks[done])
            done += 1
            return draw()

        train(model, batch, steps, lr, warmup=steps // 10)
        return model

    rates = {}
    for lr in RATES:
        rates[lr] = score(tune(pretrained(), SEARCH_STEPS, lr, seed=100), choose)
        say("rate", lr, rates[lr])
    best = max(rates, key=lambda lr: rates[lr]["f1"])

    scores = {"untrained pointers": score(pretrained().eval(), report)}
    say(scores)
    curve: dict[int, dict] = {}
    model = tune(pretrained(), STEPS, best, 0, curve)
    curve[STEPS] = score(model, choose)
    said = answers(model, report)
    each = [points(text, row.asked) for text, row in zip(said, report, strict=True)]
    exact, f1 = (round(sum(values) / len(each), 4) for values in zip(*each, strict=True))
    scores["reader"] = {"exact": exact, "f1": f1}
    say(scores)
    asked = [row.asked for row in report]
    scores["no question"] = score(model, [encode(tokenizer, q, "") for q in asked])
    moved = [*asked[len(asked) // 2 :], *asked[: len(asked) // 2]]
    scores["another question"] = score(
        model,
        [encode(tokenizer, q, other.question) for q, other in zip(asked, moved, strict=True)],
    )
    say(scores)

    by_word = defaultdict(list)
    for row, (em, f) in zip(report, each, strict=True):
        by_word[first_word(row.asked.question)].append((em, f))
    table = {
        "made_by": "experiments/real_reader.py",
        "torch": torch.__version__.split("+")[0],
        "threads": 1,
        "model": "sentence-transformers/all-MiniLM-L6-v2, Apache 2.0",
        "data": "SQuAD 1.1, development set, CC BY-SA 4.0",
        "articles": {"report": sorted({row.asked.article for row in report}), "all": len(files)},
        "trained_on": len(rows),
        "choose": len(choose),
        "report": len(report),
        "batch": BATCH,
        "steps": STEPS,
        "search_steps": SEARCH_STEPS,
        "seed": 0,
        "lr": best,
        "rates": {str(lr): value for lr, value in rates.items()},
        "curve": {str(step): value for step, value in curve.items()},
        "agreement": difference(pretrained(), folder, report[:2]),
        "by_word": {
            word: [len(v), *(round(sum(x) / len(v), 4) for x in zip(*v, strict=True))]
            for word, v in sorted(by_word.items(), key=lambda pair: -len(pair[1]))
        },
        "examples": (made := examples(model, report)),
        "passages": passages(model, tokenizer, made, parts["report"]),
    }
    table |= {"scores": scores, "cpu_seconds": round(time.process_time() - began)}
    text = json.dumps(table, separators=(",", ":"))  # a line for each logit would double it
    TABLE.write_text(text + "\n", encoding="utf-8")
    say(f"{TABLE}")


@torch.no_grad()
def passages(
    model: EncoderReader, tokenizer: Tokenizer, made: list[dict], asked: Sequence[Question]
) -> list[dict]:
    """Several questions about each of some paragraphs, with the logits of its tokens."""
    found = []
    for article in PASSAGES:
        (example,) = (e for e in made if e["article"] == article)
        paragraph = next(q.paragraph for q in asked if q.question == example["question"])
        about = {q.question: q for q in asked if q.paragraph == paragraph}  # each once
        found.append((example["pieces"], list(about.values())[:ASKED]))
    table = []
    for i, (pieces, about) in enumerate(found):
        other = found[(i + 1) % len(found)][1][0]
        rows = [encode(tokenizer, q) for q in about]
        rows.append(encode(tokenizer, about[0], other.question))
        said = answers(model, rows)
        questions = []
        for row, text in zip(rows, said, strict=True):
            logits = model(*collate([row]))[0]  # (2, T)
            inside = [i for i, s in enumerate(row.segments) if s and row.ids[i] != SEP]
            own = row is not rows[-1]
            questions.append(
                {
                    "question": row.asked.question if own else other.question,
                    "answers": sorted(set(row.asked.answers)) if own else [],
                    "said": text,
                    "start": [round(x, 2) for x in logits[0, inside].tolist()],
                    "end": [round(x, 2) for x in logits[1, inside].tolist()],
                }
            )
        table.append({"article": PASSAGES[i], "pieces": pieces, "asked": questions})
    return table


@torch.no_grad()
def examples(model: EncoderReader, rows: Sequence[Encoded]) -> list[dict]:
    """The first short question of each article, with the logits of its passage."""
    short: dict[str, Encoded] = {}
    for row in rows:
        if len(row.ids) <= 130:
            short.setdefault(row.asked.article, row)
    made = []
    for row in short.values():
        logits = model(*collate([row]))[0]  # (2, T)
        inside = [i for i, s in enumerate(row.segments) if s and row.ids[i] != SEP]
        (span,), _ = best_spans(logits[None], LONGEST_ANSWER)
        first, last = span.tolist()
        ends = {row.offsets[i][1] for i in inside}
        spots = [row.offsets[i] for i in inside]
        made.append(
            {
                "article": row.asked.article,
                "question": row.asked.question,
                "answers": sorted(set(row.asked.answers)),
                "span": [inside.index(first), inside.index(last)],
                "pieces": ["##" * (a in ends) + row.asked.paragraph[a:b] for a, b in spots],
                "start": [round(x, 2) for x in logits[0, inside].tolist()],
                "end": [round(x, 2) for x in logits[1, inside].tolist()],
            }
        )
    return made


@torch.no_grad()
def difference(model: EncoderReader, folder: Path, rows: Sequence[Encoded]) -> float:
    """Largest difference between our encoder's output and that of transformers' BertModel."""
    from transformers import BertConfig, BertModel  # nothing else here needs it

    config = json.loads((folder / "config.json").read_text(encoding="utf-8"))
    theirs = BertModel(BertConfig(**config), add_pooling_layer=False).eval()
    weights = load_file(folder / "model.safetensors")
    names = set(theirs.state_dict())
    theirs.load_state_dict({k: v for k, v in weights.items() if k in names})
    tokens, segments = collate(rows)
    out = theirs(tokens, attention_mask=(tokens != PAD).long(), token_type_ids=segments)
    real = tokens != PAD
    apart = (model.eval().encode(tokens, segments) - out.last_hidden_state)[real].abs().max()
    return float(f"{apart.item():.1e}")


if __name__ == "__main__":
    main(*map(Path, sys.argv[1:3]))
