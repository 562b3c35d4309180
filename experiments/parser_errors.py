"""How often a real parser finds the gap's subject: `python -m experiments.parser_errors`.

The sentences are those of `agreement.agreement_batch`, with the right verb in the gap: once *lies*
or *lie*, which may also be nouns, and once *is* or *are*, which may not. A parse is right if the
first noun, and no other word, is the subject of that verb (*nsubj*, or *nsubjpass* where the parser
reads a passive). Needs spaCy's small English pipeline. Writes
`helpers/results/stored/parser_errors.json`, two minutes of one core.
"""

from __future__ import annotations

import json
import time
from pathlib import Path

import spacy
import torch
from spacy.tokens import Doc

from helpers.data import agreement
from helpers.tokens import IGNORE_INDEX, PAD
from helpers.viz import dependency_trees

SENTENCES = 300
"""For each number of attractors and each verb."""
SUBJECT = ("nsubj", "nsubjpass")
OPENING = "The letters in the drawer under the lamp that hums lie unopened."
FILE = Path(__file__).parent.parent / "helpers" / "results" / "stored" / "parser_errors.json"


def sentences(attractors: int, verbs: tuple[str, str], generator: torch.Generator):
    """Each sentence with the position of its verb."""
    vocab = agreement.AGREEMENT_VOCABULARY
    tokens, targets = agreement.agreement_batch(SENTENCES, attractors, generator)
    for row, target in zip(tokens.tolist(), targets.tolist(), strict=True):
        words = [vocab.words[i] for i in row if i != PAD]
        gap = words.index(agreement.GAP)
        [answer] = [vocab.words[i] for i in target if i != IGNORE_INDEX]
        words[gap] = verbs[agreement.ANSWERS.index(answer)]
        yield " ".join(words[:-1]).capitalize() + ".", gap


def finds_subject(doc: Doc, verb: int) -> bool:
    """Is the first noun the only subject of the verb, or of the participle that it helps?"""
    helps = doc[verb].dep_ in ("aux", "auxpass")
    clause = doc[verb].head.i if helps else verb
    subjects = [word.i for word in doc if word.dep_ in SUBJECT and word.head.i == clause]
    return subjects == [1]


def measure() -> dict:
    """The fraction of right parses for each verb and number of attractors."""
    parser = dependency_trees.load_parser()
    start = time.process_time()
    right = {}
    for verbs in (agreement.ANSWERS, ("is", "are")):
        generator = torch.Generator().manual_seed(0)
        right[" / ".join(verbs)] = [
            sum(finds_subject(parser(text), verb) for text, verb in sentences(n, verbs, generator))
            / SENTENCES
            for n in range(4)
        ]
    opening = parser(OPENING)
    return {
        "made_by": "experiments/parser_errors.py",
        "spacy": spacy.__version__,
        "pipeline": f"en_core_web_sm {parser.meta['version']}",
        "sentences": SENTENCES,
        "attractors": list(range(4)),
        "right": {verbs: [round(share, 3) for share in row] for verbs, row in right.items()},
        "cpu_seconds": round(time.process_time() - start),
        "opening": {
            "words": [word.text for word in opening],
            "pos": [word.pos_ for word in opening],
            "tags": [word.tag_ for word in opening],
            "heads": [word.head.i for word in opening],
            "deps": [word.dep_ for word in opening],
        },
    }


if __name__ == "__main__":
    FILE.write_text(json.dumps(measure(), indent=1) + "\n", encoding="utf-8")
