"""Query, key and value of real words in SmolLM2, for lecture 3: `stored/roles_in_a_sentence.json`.

    python -m experiments.roles_in_a_sentence

One head is changed at one token, the last, where the verb is predicted; everything after it is
computed again. It is head 0 of layer 26, counted from 0: of all 270 it has the largest estimate in
`number_of_the_subject.json`, on 64 sentences that are not used here. Keys and queries are taken
before they are rotated by their positions. The changes:

    query    of another word in place of the last word's own
    keys     the subject and the last noun exchange their keys, or the subject gets the key that it
             has in the twin, the same sentence with the subject in the other number
    values   the same with values

Parts of the table:

    shown    for each of SHOWN: the words; scores and weights of the last word for each query and
             each choice of keys; and for each choice of values too, the logit of *lie* minus that
             of *lies*
    tested   for two sets of nouns, N sentences such as *The keys near the box* each: after each
             change the mean weights on the subject and on the last noun, how often the right verb
             of *is* and *are* is preferred, and its mean lead, the logit of the right verb minus
             that of the wrong one. *another head*: the lead farthest from the unchanged one, if
             another head of this layer gets the same change
    earlier  in N sentences for each of EARLIER, where another noun comes before the subject: the
             last word's mean weight on that noun, on the subject and on the last noun
"""

from __future__ import annotations

import json
import random
import time
from statistics import fmean

import torch
from torch import Tensor

from experiments.number_of_the_subject import CHOSEN_ON, TABLE, N, Run, group, own, unseen
from experiments.real_model import N_HEADS, rounded, verb_ids
from helpers import pretrained
from helpers.data import attraction
from helpers.pretrained import Pretrained

SHOWN = ("The letters in the drawer", "The letter near the boxes")
NOUNS = {
    "The keys near the box": attraction.NOUNS,
    "The cups near the coin": attraction.OTHER_NOUNS,
}
EARLIER = (
    "In the {other}, the {subject} {near} the {last}",
    "She saw the {other}. The {subject} {near} the {last}",
)
OURS, SWAPPED, TWINS = "its own", "exchanged", "the twin's"
CHOICES = (OURS, SWAPPED, TWINS)
"""Whose key, or whose value, the subject has."""


class Roles:
    """Queries, keys and values of one head in some texts and in their twins.

    Args:
        run, twin: the model's runs on the texts and on their twins.
        layer, head: which head.
        subject: place of the word that differs, (n,); the last noun is the last word.
    """

    @torch.no_grad()
    def __init__(self, run: Run, twin: Run, layer: int, head: int, subject: Tensor) -> None:
        self.run, self.layer, self.head = run, layer, head
        self.block = run.lm.model.blocks[layer]
        self.rows, self.subject = torch.arange(len(subject)), subject
        self.q, self.k, self.v = self.projected(run)
        self.twin_q, self.twin_k, self.twin_v = self.projected(twin)

    def projected(self, run: Run) -> list[Tensor]:
        """Three tensors (n, T, d_k)."""
        attention = self.block.attention
        x = self.block.norm_attention(run.streams[self.layer])
        shared = self.head // group(run.lm)
        q = attention.W_query(x).unflatten(-1, (attention.n_heads, -1))[:, :, self.head]
        k, v = (
            matrix(x).unflatten(-1, (attention.n_kv_heads, -1))[:, :, shared]
            for matrix in (attention.W_key, attention.W_value)
        )
        return [q, k, v]

    def chosen(self, ours: Tensor, theirs: Tensor, choice: str) -> Tensor:
        """Keys or values after one of CHOICES, (n, T, d_k)."""
        new = ours.clone()
        if choice == SWAPPED:
            new[self.rows, self.subject] = ours[:, -1]
            new[:, -1] = ours[self.rows, self.subject]
        if choice == TWINS:
            new[self.rows, self.subject] = theirs[self.rows, self.subject]
        return new

    @torch.no_grad()
    def scores(self, query: Tensor, keys: str = OURS) -> Tensor:
        """Of one query for each text, (n, d_k), as if it were the last word's: (n, T)."""
        k = self.chosen(self.k, self.twin_k, keys)
        q, k = self.block.attention.positions.rotate(query[:, None, None], k[:, None])
        return (q @ k.mT)[:, 0, 0] / q.shape[-1] ** 0.5

    def logits(self, weights: Tensor, values: str = OURS) -> Tensor:
        """Of the last word, if this head has these weights there: (n, vocab)."""
        v = self.chosen(self.v, self.twin_v, values)
        context = torch.einsum("nt,ntd->nd", weights, v)

        def change(layer: int, z: Tensor) -> Tensor:
            if layer == self.layer:
                z[:, -1, own(self.head)] = context
            return z

        return self.run.changed(change, self.layer)


def shown(lm: Pretrained, layer: int, head: int, text: str) -> dict:
    """Every query, every choice of keys and of values, in one sentence."""
    word = text.split()[1]
    other = word.removesuffix("s") if word.endswith("s") else f"{word}s"
    run, twin = (Run(lm, lm.encode(t)) for t in (text, text.replace(word, other)))
    if run.tokens.shape != twin.tokens.shape or run.tokens.shape[1] != len(text.split()):
        raise ValueError(f"{text}: a word is more than one token")
    roles = Roles(run, twin, layer, head, torch.tensor([1]))
    lie, lies = (lm.token_id(f" {form}") for form in ("lie", "lies"))
    scores = torch.stack(
        [
            torch.cat([roles.scores(roles.q[:, at], keys) for keys in CHOICES])
            for at in range(len(text.split()))
        ]
    )  # (queries, choices, T)
    weights = scores.softmax(dim=-1)
    torch.testing.assert_close(weights[-1, 0], run.weights[layer][0, head], rtol=1e-3, atol=1e-4)
    leads = []
    for of_query in weights:
        for w in of_query:
            logits = torch.cat([roles.logits(w[None], values) for values in CHOICES])
            leads.append(logits[:, lie] - logits[:, lies])
    return {
        "words": text.split(),
        "twin": other,
        "likeliest": lm.tokenizer.decode([run.logits()[0].argmax().item()]).strip(),
        "scores": rounded(scores, 2),
        "weights": rounded(weights, 3),
        "leads": rounded(torch.stack(leads).unflatten(0, (-1, len(CHOICES))), 2),
    }


CHANGES = {
    "unchanged": (OURS, OURS, OURS),
    "query of the twin": (TWINS, OURS, OURS),
    "key of the twin": (OURS, TWINS, OURS),
    "value of the twin": (OURS, OURS, TWINS),
    "keys exchanged": (OURS, SWAPPED, OURS),
    "values exchanged": (OURS, OURS, SWAPPED),
    "both exchanged": (OURS, SWAPPED, SWAPPED),
}
"""Whose query the last word has; whose key and value the subject has."""


def tested(lm: Pretrained, layer: int, head: int) -> list[dict]:
    """Each change, in N sentences of each set of nouns."""
    found, pair = [], verb_ids(lm)[0]
    known = {s.text for s in attraction.sentences(N, 1, seed=CHOSEN_ON)}
    for seed, (name, nouns) in enumerate(NOUNS.items()):
        tokens, other, sign = unseen(lm, N, 600 + seed, known=known, nouns=nouns)
        run, twin = Run(lm, tokens), Run(lm, other)
        subject = (tokens != other).int().argmax(dim=1)

        def lead(
            h: int, change: tuple[str, str, str], runs: tuple = (run, twin, subject, sign)
        ) -> tuple[Tensor, Tensor, Roles]:
            of, theirs, place, signs = runs
            roles, (query, keys, values) = Roles(of, theirs, layer, h, place), change
            q = roles.twin_q if query == TWINS else roles.q
            weights = roles.scores(q[:, -1], keys).softmax(dim=-1)
            logits = roles.logits(weights, values)
            return weights, (logits[:, pair[1]] - logits[:, pair[0]]) * signs, roles

        rows = {}
        start = lead(head, CHANGES["unchanged"])[1].mean().item()
        for change, how in CHANGES.items():
            weights, margin, roles = lead(head, how)
            elsewhere = [lead(h, how)[1].mean().item() for h in range(N_HEADS) if h != head]
            rows[change] = {
                "subject": rounded(weights[roles.rows, subject].mean().item(), 2),
                "last noun": rounded(weights[:, -1].mean().item(), 2),
                "right": rounded((margin > 0).double().mean().item(), 2),
                "lead": rounded(margin.mean().item(), 2),
                "another head": rounded(max(elsewhere, key=lambda x: abs(x - start)), 2),
            }
        found.append({"such as": name, "n": N, "changes": rows})
    return found


@torch.no_grad()
def earlier(lm: Pretrained, layer: int, head: int, pattern: str) -> dict:
    """Where the last word looks if the subject is not the first noun."""
    rng, found = random.Random(pattern), []
    for n in range(N):
        plural = n % 2
        subject, *others = rng.sample(attraction.NOUNS, 3)
        words = {"subject": subject[plural]}
        words |= zip(("other", "last"), (noun[1 - plural] for noun in others), strict=True)
        tokens = lm.encode(pattern.format(near=rng.choice(attraction.PREPOSITIONS), **words))
        _, weights = lm.model(tokens, return_weights=True, last_only=True)
        row = weights[layer][0, head, -1]  # (T,)
        places = [tokens[0].tolist().index(lm.token_id(f" {w}")) for w in words.values()]
        found.append(dict(zip(words, row[places].tolist(), strict=True)))
    mean = {name: rounded(fmean(row[name] for row in found), 2) for name in found[0]}
    return {"pattern": pattern, "n": N} | mean


def main() -> None:
    """Measure, and write the table."""
    torch.set_num_threads(1)
    start = time.process_time()
    of_number = json.loads(TABLE.read_text(encoding="utf-8"))
    layer, head = of_number["chosen"]["heads"][0]
    lm = pretrained.load(pretrained.find(pretrained.SMOLLM2_NAME))
    table = {
        "made_by": "experiments/roles_in_a_sentence.py",
        "torch": torch.__version__.split("+")[0],
        "threads": 1,
        "file": pretrained.find(pretrained.SMOLLM2_NAME).name,
        "head": [layer, head],
        "choices": list(CHOICES),
        "shown": [shown(lm, layer, head, text) for text in SHOWN],
        "tested": tested(lm, layer, head),
        "earlier": [earlier(lm, layer, head, pattern) for pattern in EARLIER],
    }
    table["cpu_seconds"] = round(time.process_time() - start)
    lines = [f' "{name}": {json.dumps(part)}' for name, part in table.items()]
    path = TABLE.with_name("roles_in_a_sentence.json")
    path.write_text("{\n" + ",\n".join(lines) + "\n}\n", encoding="utf-8")


if __name__ == "__main__":
    main()
