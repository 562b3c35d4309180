"""How SmolLM2's verb gets its subject's number: `python -m experiments.number_of_the_subject`.

Each sentence, such as *The keys near the box*, has a twin with the other subject, *The key near
the box*. A run is patched with parts of the twin's run. A share says how far this moves the mean
margin of the right verb (its logit minus the wrong one's), from the sentence's own margin (0) to
the twin's (1). One thread. Writes `helpers/results/stored/number_of_the_subject.json`:

    places      shares if one token has the twin's residual stream before a block, for every block
                and token: for the opening sentence, and on average over sentences
    chosen      the heads with the largest estimates (attribution patching at the last token) on 64
                sentences, which no other part uses
    path        in ten kinds of sentences: shares if only the chosen heads are patched, only at the
                last token; if only the values that they fetch from the subject are, or only those
                from all other tokens; if as many random heads of the same layers are, or all heads
                but the chosen ones. With the
                heads' weights at the last token, and what they write: the logit of *are* minus that
                of *is* by their output alone, through the last norm (with the scale that it has in
                that sentence) and the output layer
    errors      sentences with a person of the other number, where the verb is right and where it is
                wrong, by the number of the subject: the heads' weights and what they write; and how
                many verbs turn if the weight on the subject is set to that of the other group, in
                these heads or in random ones, or if the weight of another token changes as much
"""

from __future__ import annotations

import json
import random
import sys
import time
from collections.abc import Callable, Collection, Sequence
from statistics import fmean

import torch
from torch import Tensor

from experiments import real_model
from experiments.real_model import CARRIED, N_HEADS, N_LAYERS, margin_of, rounded, streams, twins
from helpers import pretrained
from helpers.data import attraction
from helpers.interp.attribution import Score, head_contexts
from helpers.pretrained import Pretrained

TABLE = real_model.TABLE.with_name("number_of_the_subject.json")
KEPT = real_model.KEPT.with_name("number_of_the_subject")
N, DRAWS, CHOSEN, CHOSEN_ON = 64, 10, 3, 7
Heads = Sequence[tuple[int, int]]
Change = Callable[[int, Tensor], Tensor]
"""From a layer and all context vectors there, (n, T, 576), to what takes their place."""


class Run:
    """A model's run on some texts: residual streams, context vectors, attention of the last token.

    Args:
        lm: the model.
        tokens: texts of one length, (n, T).
    """

    @torch.no_grad()
    def __init__(self, lm: Pretrained, tokens: Tensor) -> None:
        self.lm, self.tokens, self.contexts = lm, tokens, []
        hooks = [
            block.attention.W_out.register_forward_pre_hook(
                lambda _, args: self.contexts.append(args[0])
            )
            for block in lm.model.blocks
        ]
        try:
            self.streams = streams(lm, tokens)
        finally:
            for hook in hooks:
                hook.remove()
        _, weights = lm.model(tokens, return_weights=True, last_only=True)
        self.weights = [w[:, :, -1] for w in weights]  # each (n, heads, T)

    def logits(self) -> Tensor:
        """Of the last token, (n, vocab)."""
        return logits_of(self.lm, self.streams[-1])

    def values(self, layer: int, head: int) -> Tensor:
        """Of one head, at every token, (n, T, d_v)."""
        attention = self.lm.model.blocks[layer].attention
        v = attention.W_value(self.lm.model.blocks[layer].norm_attention(self.streams[layer]))
        return v.unflatten(-1, (attention.n_kv_heads, -1))[:, :, head // group(self.lm)]

    @torch.no_grad()
    def changed(self, change: Change, first: int) -> Tensor:
        """Logits of the last token if context vectors are replaced from layer `first` on."""

        def hook(layer: int) -> Callable:
            return lambda _module, args: change(layer, args[0].clone())

        blocks = list(enumerate(self.lm.model.blocks))[first:]
        hooks = [b.attention.W_out.register_forward_pre_hook(hook(i)) for i, b in blocks]
        try:
            x = self.streams[first]
            for _, block in blocks:
                x = block(x, causal=True)
        finally:
            for handle in hooks:
                handle.remove()
        return logits_of(self.lm, x)


def group(lm: Pretrained) -> int:
    """How many heads of queries share one head of values."""
    attention = lm.model.blocks[0].attention
    return attention.n_heads // attention.n_kv_heads


def own(head: int) -> slice:
    """The places of a head's context vector."""
    return slice(64 * head, 64 * head + 64)


@torch.no_grad()
def logits_of(lm: Pretrained, x: Tensor) -> Tensor:
    """Logits of the last token of a residual stream after the last block, (n, vocab)."""
    return lm.model.lm_head(lm.model.stack.norm(x[:, -1]))


def name_of(head: tuple[int, int]) -> str:
    """Such as L26H0."""
    return f"L{head[0]}H{head[1]}"


# --------------------------------------------------------------------------- changes


def at_the_last_token(twin: Run, heads: Heads) -> Change:
    """These heads' context vectors at the last token come from the twin."""

    def change(layer: int, z: Tensor) -> Tensor:
        for i, h in heads:
            if i == layer:
                z[:, -1, own(h)] = twin.contexts[i][:, -1, own(h)]
        return z

    return change


def values_from_the_twin(run: Run, twin: Run, where: Tensor, heads: Heads) -> Change:
    """At the last token these heads fetch the twin's values from some tokens, by their own weights.

    Weights and values are those that the heads have in the two runs without any change.

    Args:
        run, twin: the run to change, and the one that the values come from.
        where: the tokens in question, boolean, (n, T).
        heads: the heads in question.
    """
    moved = {}
    with torch.no_grad():
        for i, h in heads:
            weights = run.weights[i][:, h] * where  # (n, T)
            apart = twin.values(i, h) - run.values(i, h)  # (n, T, d_v)
            moved[i, h] = torch.einsum("nt,ntd->nd", weights, apart)

    def change(layer: int, z: Tensor) -> Tensor:
        for i, h in heads:
            if i == layer:
                z[:, -1, own(h)] += moved[i, h]
        return z

    return change


def weight_on(run: Run, place: Tensor, wanted: dict) -> Change:
    """At the last token the given heads pay this much attention to one token, such as the subject.

    Their other weights shrink or grow in proportion.

    Args:
        run: the run to change.
        place: of that token in each text, (n,).
        wanted: the weight for each (layer, head), a number or one for each text, (n,).
    """
    rows = torch.arange(len(place))
    new = {}
    with torch.no_grad():
        for (i, h), weight in wanted.items():
            w = run.weights[i][:, h].clone()  # (n, T)
            before = w[rows, place].clone()
            w *= ((1 - weight) / (1 - before))[:, None]
            w[rows, place] = weight
            new[i, h] = torch.einsum("nt,ntd->nd", w, run.values(i, h))

    def change(layer: int, z: Tensor) -> Tensor:
        for i, h in wanted:
            if i == layer:
                z[:, -1, own(h)] = new[i, h]
        return z

    return change


# --------------------------------------------------------------------------- parts


def unseen(
    lm: Pretrained,
    n: int,
    seed: int,
    attractors: int = 1,
    known: Collection[str] = (),
    **how: object,
) -> tuple[Tensor, Tensor, Tensor]:
    """As `twins`, but no sentence occurs twice, and none of those that are known."""
    some = attraction.sentences(4 * n, attractors, seed=seed, **how)
    texts = {s.text: s for s in some if s.text not in known}
    each = [[s for s in texts.values() if s.plural == plural][: n // 2] for plural in (False, True)]
    kept = [s for pair in zip(*each, strict=True) for s in pair]
    if len(kept) != n:
        raise ValueError(f"{len(kept)} different sentences, not {n}")
    tokens = torch.cat([lm.encode(s.text) for s in kept])
    other = torch.cat([lm.encode(s.twin) for s in kept])
    return tokens, other, torch.tensor([1.0 if s.plural else -1.0 for s in kept])


def shares(lm: Pretrained, tokens: Tensor, other: Tensor) -> dict:
    """Shares for each block (its input patched) and token; the last row is after all blocks."""
    pair = real_model.verb_ids(lm)[0]
    with torch.no_grad():
        ours, theirs = streams(lm, tokens), streams(lm, other)

        def read(x: Tensor) -> Tensor:
            logits = logits_of(lm, x)
            return logits[:, pair[1]] - logits[:, pair[0]]

        a, b = read(ours[-1]), read(theirs[-1])
        grid = []
        for i in range(N_LAYERS + 1):
            row = []
            for place in range(tokens.shape[1]):
                x = ours[i].clone()
                x[:, place] = theirs[i][:, place]
                for block in lm.model.blocks[i:]:
                    x = block(x, causal=True)
                row.append(read(x))
            grid.append(row)
    found = torch.stack([torch.stack(row) for row in grid])  # (layers + 1, T, n)
    return {"grid": found, "own": a, "twin": b}


def mean_shares(lm: Pretrained, tokens: Tensor, other: Tensor, sign: Tensor) -> dict:
    """From margins, averaged over the texts."""
    found = shares(lm, tokens, other)
    margin = (found["own"] * sign).mean()
    twin = (found["twin"] * sign).mean()
    grid = ((found["grid"] * sign).mean(dim=-1) - margin) / (twin - margin)
    return {
        "tokens": lm.tokens(lm.tokenizer.decode(tokens[0].tolist())),
        "n": len(tokens),
        "margin": rounded(margin.item(), 2),
        "twin": rounded(twin.item(), 2),
        "shares": rounded(grid, 2),
    }


def places(lm: Pretrained) -> dict:
    """The opening sentence without its relative clause, and sentences of two kinds."""
    found = {}
    pair = lm.encode(OPENING), lm.encode(OPENING.replace("letters", "letter"))
    found["opening"] = mean_shares(lm, *pair, torch.ones(1))
    kinds = {"a thing": {"nouns": attraction.OTHER_NOUNS}, "a clause": {"kind": "clause"}}
    for seed, (name, how) in enumerate(kinds.items()):
        found[name] = mean_shares(lm, *unseen(lm, N // 2, 300 + seed, **how))
    return found


OPENING = "The letters in the drawer under the lamp"


def chosen(lm: Pretrained) -> dict:
    """Estimates at the last token: the twin's change of a head times the gradient of the margin."""
    tokens, other, sign = twins(lm, N, seed=CHOSEN_ON)
    score = margin_of(real_model.verb_ids(lm)[0], sign)
    z, gradients, _ = head_contexts(lm.model, tokens, score)
    z_twin, _, _ = head_contexts(lm.model, other, score)
    estimate = torch.stack(
        [
            ((b - a) * g)[:, -1].unflatten(-1, (N_HEADS, -1)).sum(dim=(0, -1)) / N
            for a, b, g in zip(z, z_twin, gradients, strict=True)
        ]
    )  # (layers, heads)
    best = real_model.first_heads(estimate, CHOSEN + 3)
    return {
        "heads": best[:CHOSEN],
        "names": [name_of(head) for head in best],
        "estimates": rounded([estimate[head].item() for head in best], 2),
    }


def written(run: Run, head: tuple[int, int], pair: Tensor) -> Tensor:
    """What a head writes at the last token: logit of *are* minus that of *is*, (n,).

    The last norm divides by the size that the whole stream has in this run.
    """
    model, (i, h) = run.lm.model, head
    with torch.no_grad():
        out = run.contexts[i][:, -1, own(h)] @ model.blocks[i].attention.W_out.weight[:, own(h)].T
        last = run.streams[-1][:, -1]
        scale = (last.square().mean(dim=-1) + model.stack.norm.eps).sqrt()  # (n,)
        direction = model.lm_head.weight[pair[1]] - model.lm_head.weight[pair[0]]
        return out @ (direction * model.stack.norm.weight) / scale


def others_of(heads: Heads, chance: random.Random) -> list[tuple[int, int]]:
    """As many random heads of the same layers, none of them among the heads."""
    found: list[tuple[int, int]] = []
    for layer, _ in heads:
        left = [(layer, h) for h in range(N_HEADS) if (layer, h) not in [*heads, *found]]
        found.append(chance.choice(left))
    return found


def path(lm: Pretrained, heads: Heads) -> dict:
    """The chosen heads alone, in each kind of sentences."""
    pairs, rows, chance = real_model.verb_ids(lm), [], random.Random(0)
    every = [(i, h) for i in range(N_LAYERS) for h in range(N_HEADS)]
    first = min(layer for layer, _ in heads)
    known = {s.text for s in attraction.sentences(N, 1, seed=CHOSEN_ON)}
    for seed, (name, how) in enumerate(CARRIED.items()):
        tokens, other, sign = unseen(lm, N, 400 + seed, known=known, **how)
        run, twin = Run(lm, tokens), Run(lm, other)
        subject = (tokens != other).int().argmax(dim=1)
        there = tokens != other  # the subject, (n, T)
        scores = [margin_of(pair, sign) for pair in pairs]
        own_, theirs = ([s(r.logits()).mean() for s in scores] for r in (run, twin))

        def moved(change: Change, start: int = first, a: list = own_, b: list = theirs) -> list:
            logits = run.changed(change, start)  # noqa: B023
            both = zip(scores, a, b, strict=True)  # noqa: B023
            return [((s(logits).mean() - x) / (y - x)).item() for s, x, y in both]

        random_ = [
            moved(at_the_last_token(twin, others_of(heads, chance)))[0] for _ in range(DRAWS)
        ]
        rest = [head for head in every if head not in heads]
        plural = sign > 0
        rows.append(
            {
                "such as": name,
                "n": N,
                "margin": rounded(own_[0].item(), 2),
                "twin": rounded(theirs[0].item(), 2),
                "right": rounded((scores[0](run.logits()) > 0).double().mean().item(), 2),
                "chosen": rounded(moved(at_the_last_token(twin, heads)), 2),
                "each": rounded([moved(at_the_last_token(twin, [h]))[0] for h in heads], 2),
                "values": rounded(moved(values_from_the_twin(run, twin, there, heads))[0], 2),
                "other values": rounded(
                    moved(values_from_the_twin(run, twin, ~there, heads))[0], 2
                ),
                "random": rounded([fmean(random_), max(random_)], 2),
                "rest": rounded(moved(at_the_last_token(twin, rest), 0)[0], 2),
                "weights": {
                    name_of(head): rounded(attention(run, head, subject).mean(dim=0), 2)
                    for head in heads
                },
                "written": {
                    name_of(head): rounded(
                        [
                            written(run, head, pairs[0])[group_].mean().item()
                            for group_ in (plural, ~plural)
                        ],
                        2,
                    )
                    for head in heads
                },
            }
        )
        print(rows[-1], flush=True)
    return {"rows": rows}


def attention(run: Run, head: tuple[int, int], subject: Tensor) -> Tensor:
    """Weights of the last token on the subject, on itself and on the first token, (n, 3)."""
    layer, h = head
    w = run.weights[layer][:, h]  # (n, T)
    return torch.stack([w[torch.arange(len(w)), subject], w[:, -1], w[:, 0]], dim=1)


def errors(lm: Pretrained, heads: Heads, n: int = 200) -> dict:
    """Where the verb is wrong: is too little attention to the subject the reason?

    The wanted weights are means over other n sentences than those in which they are set.
    """
    pair, chance = real_model.verb_ids(lm)[0], random.Random(0)
    tokens, other, sign = unseen(lm, 2 * n, 500, kind="person")
    subject = (tokens != other).int().argmax(dim=1)
    there = [(i, h) for i in sorted({i for i, _ in heads}) for h in range(N_HEADS)]

    def half(part: slice) -> tuple[Run, Tensor, Tensor, Score, dict[str, Tensor]]:
        run, score = Run(lm, tokens[part]), margin_of(pair, sign[part])
        right = score(run.logits()) > 0
        return run, subject[part], sign[part], score, {"right": right, "wrong": ~right}

    run, at, _, _, groups = half(slice(0, n))
    means = {
        said: {head: attention(run, head, at)[mask, 0].mean().item() for head in there}
        for said, mask in groups.items()
    }
    run, at, signs, score, groups = half(slice(n, 2 * n))
    found: dict = {"n": n, "wrong": int(groups["wrong"].sum()), "groups": {}}
    for said, mask in groups.items():
        found["groups"][said] = {
            name_of(head): {
                "set to": round(means[said][head], 2),
                "weights": rounded(attention(run, head, at)[mask].mean(dim=0), 2),
                "written": rounded((written(run, head, pair) * signs)[mask].mean().item(), 2),
            }
            for head in heads
        }

    def counted(mask: Tensor) -> list[int]:
        """How many of these sentences have a singular subject, and how many a plural one."""
        return [int((mask & (signs == sign)).sum()) for sign in (-1, 1)]

    def turned(some: Heads, said: str, place: Tensor = at) -> list[int]:
        """Verbs that change if a token's weight does as the subject's would to fit the other group.

        Without a place, that token is the subject. A weight stays between 0 and 1.
        """
        wanted = {}
        for i, h in some:
            w = run.weights[i][:, h]  # (n, T)
            more = means[said][i, h] - w[torch.arange(n), at]
            wanted[i, h] = (w[torch.arange(n), place] + more).clamp(0, 1)
        change = weight_on(run, place, wanted)
        now = score(run.changed(change, min(i for i, _ in some))) > 0
        return counted((now != groups["right"]) & ~groups[said])

    found["wrong by number"] = counted(groups["wrong"])
    names = ("The", "subject", "preposition", "the", "noun")
    for said in groups:
        random_ = [sum(turned(others_of(heads, chance), said)) for _ in range(DRAWS)]
        by_number = turned(heads, said)
        found[f"weights of the {said}"] = {
            "n": int((~groups[said]).sum()),
            "n by number": counted(~groups[said]),
            "turned": sum(by_number),
            "turned by number": by_number,
            "turned by random heads": [fmean(random_), max(random_)],
            "turned by another token": {
                name: turned(heads, said, torch.full_like(at, place))
                for place, name in enumerate(names)
                if name != "subject"
            },
        }
    return found


def main() -> None:
    """Measure the parts that are named, or those that are missing, and write the table."""
    torch.set_num_threads(1)
    KEPT.mkdir(parents=True, exist_ok=True)
    parts = {"chosen": chosen, "errors": errors, "path": path, "places": places}
    lm = pretrained.load(pretrained.find(pretrained.SMOLLM2_NAME))
    for name, part in parts.items():
        kept = KEPT / f"{name}.json"
        if name in sys.argv[1:] or not (sys.argv[1:] or kept.exists()):
            start = time.process_time()
            heads = []
            if name in ("errors", "path"):
                picked = json.loads((KEPT / "chosen.json").read_text(encoding="utf-8"))
                heads = [[tuple(head) for head in picked["heads"]]]
            found = part(lm, *heads) | {"cpu_seconds": round(time.process_time() - start)}
            kept.write_text(json.dumps(found), encoding="utf-8")
    there = [name for name in parts if (KEPT / f"{name}.json").exists()]
    found = {name: json.loads((KEPT / f"{name}.json").read_text("utf-8")) for name in there}
    head = {
        "made_by": "experiments/number_of_the_subject.py",
        "torch": torch.__version__.split("+")[0],
        "threads": 1,
        "file": pretrained.find(pretrained.SMOLLM2_NAME).name,
        "cpu_seconds": sum(part["cpu_seconds"] for part in found.values()),
    }
    body = ",\n ".join(f'"{key}": {json.dumps(part)}' for key, part in (head | found).items())
    TABLE.write_text("{" + body + "}\n", encoding="utf-8")


if __name__ == "__main__":
    main()
