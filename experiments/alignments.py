"""Ten trainings of lecture 9's translator: `python -m experiments.alignments`.

About two minutes of one core. The transformer of `experiments/translation.py` is trained to the end
from ten seeds on its 4,000 sentences of one clause, as the lecture trains it (seed 0). Then each is
measured on sentences that are not in its training set.

Writes `helpers/results/stored/alignments.json`:

    words, by_rule   how many target words are aligned, and for how many of them a rule that sees no
                     words (`rule`) finds the true counterpart
    rows             for each seed:
                     exact     how many of `sentences` translations are right in every word
                     hits      for how many words the largest weight, averaged over the heads, is on
                               the true counterpart
                     heads     the same for each head alone
                     missed    the same as `hits`, for the words that the rule misses
                     verbs     how many misses of the average are in the row of the verb, and in how
                               many of these the largest weight is on the subject
                     masked    for how many verbs the translator, given the true words, predicts the
                               right form if cross-attention may not read the `subject`, or the
                               `object`, each with all its words, or reads `only` the verb.
                               `any_form` is like `only`, but a verb with another ending counts,
                               too; `again` is for how many it predicts the object once more if
                               cross-attention reads only the object's noun
                     longer    for `longer_sentences` sentences of two clauses, and for as many of
                               three: how many translations are right, and how many have one clause
"""

from __future__ import annotations

import json
import time
from pathlib import Path
from statistics import mode

import torch

from experiments.beams import TRAINED, translator
from experiments.translation import clauses_of, corpus, greedy
from helpers.data.kannada import (
    ENDINGS,
    KANNADA,
    VERBS,
    Sentence,
    conjugate,
    sentences,
    translation_batch,
)
from helpers.encoder_decoder import EncoderDecoder

TABLE = Path(__file__).parent.parent / "helpers" / "results" / "stored" / "alignments.json"
SEEDS, SCORED, LONGER, LONGER_SEED = range(10), 200, 300, 8


def rule(known: list[Sentence], pairs: list[Sentence]) -> list[int]:
    """The place that was most often right in training, by both lengths and the target's place."""
    places: dict[tuple[int, int, int], list[int]] = {}
    for pair in known:
        for at, place in enumerate(pair.alignment):
            places.setdefault((len(pair.source), len(pair.target), at), []).append(place)
    return [
        mode(places[len(pair.source), len(pair.target), at])
        for pair in pairs
        for at in range(len(pair.target))
    ]


VERB_OF = {
    conjugate(verb, agreement, past): verb
    for verb in VERBS
    for agreement in ENDINGS
    for past in (False, True)
}


@torch.no_grad()
def verbs_with_masks(model: EncoderDecoder, ones: list[Sentence]) -> dict[str, int]:
    """`masked`, see above.

    The decoder has one block, so the prediction of the verb depends on the cross-attention of its
    own row only, and the same mask can serve all rows.
    """
    (source, target), _ = translation_batch(ones)
    memory = model.encode(source)  # (batch, T_k, d_model)
    places = torch.arange(source.shape[1])  # (T_k,)
    verb = torch.tensor([pair.alignment[-1] for pair in ones])[:, None]
    last = torch.tensor([len(pair.source) - 1 for pair in ones])[:, None]
    is_word = places <= last  # (batch, T_k)
    masks = {
        "subject": is_word & (places >= verb),
        "object": places <= verb,
        "only": places == verb,
        "noun": places == last,
    }
    found = {}
    for name, mask in masks.items():
        logits = model.decode(target, memory, mask[:, None, None])  # (batch, T_q, vocab)
        ids = [row[len(pair.target) - 1].argmax() for row, pair in zip(logits, ones, strict=True)]
        found[name] = [KANNADA.words[int(i)] for i in ids]
    right = [pair.target[-1] for pair in ones]
    row = {name: sum(map(str.__eq__, found[name], right)) for name in ("subject", "object", "only")}
    same = (VERB_OF.get(a) == VERB_OF[b] for a, b in zip(found["only"], right, strict=True))
    objects = [pair.target[-2] for pair in ones]
    return row | {"any_form": sum(same), "again": sum(map(str.__eq__, found["noun"], objects))}


def measure(model: EncoderDecoder, test: list[Sentence], by_rule: list[int]) -> dict:
    """See above."""
    ones = test[:SCORED]
    asked = [(i, at) for i, pair in enumerate(ones) for at in range(len(pair.target))]
    true = [place for pair in ones for place in pair.alignment]
    (source, target), _ = translation_batch(ones)
    with torch.no_grad():
        _, (weights,) = model(source, target, return_weights=True)  # (batch, heads, T_q, T_k)
    maps = [weights.mean(dim=1), *weights.unbind(dim=1)]
    found, *alone = ([int(each[i, at].argmax()) for i, at in asked] for each in maps)
    hits, *by_head = (sum(map(int.__eq__, one, true)) for one in (found, *alone))
    triples = list(zip(found, true, by_rule, strict=True))
    at_verb = [
        (place, goal)
        for (i, at), place, goal in zip(asked, found, true, strict=True)
        if at == len(ones[i].target) - 1 and place != goal
    ]
    rows = [
        (weights[i].mean(dim=0)[len(p.target) - 1], p.alignment[-1]) for i, p in enumerate(ones)
    ]
    on_verb, on_subject = (
        round(sum(float(x) for x in some) / len(rows), 3)
        for some in ([row[at] for row, at in rows], [row[:at].sum() for row, at in rows])
    )
    written = greedy(model, test)
    row = {
        "exact": sum(a == b.target for a, b in zip(written, test, strict=True)),
        "hits": hits,
        "heads": by_head,
        "missed": sum(place == goal != guess for place, goal, guess in triples),
        "verbs": [len(at_verb), sum(place < goal for place, goal in at_verb)],
        "verb_row": [on_verb, on_subject],
        "masked": verbs_with_masks(model, ones),
        "longer": {},
    }
    for clauses in (2, 3):
        pairs = sentences(LONGER, clauses, torch.Generator().manual_seed(LONGER_SEED))
        texts = greedy(model, pairs)
        right = sum(a == b.target for a, b in zip(texts, pairs, strict=True))
        row["longer"][str(clauses)] = [right, sum(len(clauses_of(text)) == 1 for text in texts)]
    return row


def main() -> None:
    """Train, measure, and write the table."""
    torch.set_num_threads(1)
    start = time.process_time()
    learn = corpus(1)[0]
    known = set(learn)
    drawn = sentences(500, 1, torch.Generator().manual_seed(4))
    test = [pair for pair in drawn if pair not in known]
    by_rule = rule(learn, test[:SCORED])
    true = [place for pair in test[:SCORED] for place in pair.alignment]
    rows = []
    for seed in SEEDS:
        rows.append({"seed": seed, **measure(translator(seed, TRAINED), test, by_rule)})
        print(rows[-1], flush=True)
    table = {
        "made_by": "experiments/alignments.py",
        "torch": torch.__version__.split("+")[0],
        "threads": 1,
        "steps": TRAINED,
        "sentences": len(test),
        "words": len(true),
        "by_rule": sum(map(int.__eq__, by_rule, true)),
        "longer_sentences": LONGER,
        "cpu_seconds": round(time.process_time() - start),
    }
    head = [f' "{name}": {json.dumps(part)}' for name, part in table.items()]
    lines = ",\n".join(f"  {json.dumps(row)}" for row in rows)
    TABLE.write_text("{\n" + ",\n".join(head) + f',\n "rows": [\n{lines}\n ]\n}}\n', "utf-8")


if __name__ == "__main__":
    main()
