"""The comparisons of lecture 3: `python -m experiments.attention_head [--jobs 2]`.

The task is the seed swap of that lecture. Sixteen gardeners each bring a jar with one of 32 labels
and one of 8 kinds of seeds, and each wishes for one of the sixteen labels: which seeds are in the
jar with that label? One head and a linear readout answer, with values of width 16.

Each setting is [d_k, steps]. How the scores are made:

    divided by √d_k              scaled dot products; queries and keys start with variance 1
    not divided                  the same, undivided
    not divided, small start     undivided, but the scores start with variance 1
    divided by d_model           a divisor that is too large
    cosine, learned scale        cosines times a trained number, at first 10 (Henry et al., 2020)
    no projections               x @ x.T / √d_model, values x, and a trained readout (lecture 2)
    one projection for both      W_query = W_key, of width 2 d_k: as many numbers in all
    one, own jar hidden          the same, but nobody may look into her own jar
    one, half with a minus       the same, but half of the products count negatively: scores are
                                 symmetric as before, and need not be highest with oneself
    one, any symmetric table     the same, of width 2 d_model: `W Wᵀ`, half of it with a minus, can
                                 then be any symmetric table
    separate, own jar hidden     divided by √d_k, but nobody may look into her own jar

`accuracy` is measured on 4,800 new questions.
"""

from __future__ import annotations

import math

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from experiments.search import search
from helpers.training import accuracy, count_parameters, set_seed, train

N_LABELS, N_SEEDS, D_MODEL, D_V, T = 32, 8, 128, 16, 16
BATCH, HELD_OUT = 32, 300
WIDE, LONGER, NARROW, ROLES = [256, 50], [256, 400], [16, 50], [16, 400]
SCORES = (
    "divided by √d_k",
    "not divided",
    "not divided, small start",
    "divided by d_model",
    "cosine, learned scale",
)
MINUS = ("one, half with a minus", "one, any symmetric table")
HIDDEN = ("one, own jar hidden", "separate, own jar hidden")
SHARED = ("one projection for both", "one, own jar hidden", *MINUS)
CONTROLS = ("no projections", *SHARED, "separate, own jar hidden")
COMPARED = {
    str(WIDE): SCORES,
    str(LONGER): ("not divided",),
    str(NARROW): ("divided by √d_k", "divided by d_model"),
    str(ROLES): ("divided by √d_k", *CONTROLS),
}


def swap_batch(table: Tensor, batch: int, g: torch.Generator) -> tuple[Tensor, Tensor]:
    """Gardeners (batch, T, D_MODEL) and the seeds that each wishes for (batch, T)."""
    labels = torch.rand(batch, N_LABELS, generator=g).argsort(dim=1)[:, :T]  # (batch, T)
    where = torch.randint(T, (batch, T), generator=g)
    seeds = torch.randint(N_SEEDS, (batch, T), generator=g)
    wishes = labels.gather(1, where)
    x = table[labels] + table[N_LABELS + wishes] + table[2 * N_LABELS + seeds]
    return x, seeds.gather(1, where)


class Lookup(nn.Module):
    """One head of width d_k whose scores are made as `kind` says, then a linear readout."""

    def __init__(self, kind: str, d_k: int) -> None:
        super().__init__()
        self.kind = kind
        start = D_MODEL**-0.5  # then queries and keys have variance 1
        if kind == "not divided, small start":
            start *= d_k**-0.25
        self.W_query, self.W_key = self._projection(d_k, start), self._projection(d_k, start)
        if kind in SHARED:
            width = D_MODEL if kind == "one, any symmetric table" else d_k
            self.W_query = self.W_key = self._projection(2 * width, start)
        self.W_value = nn.Linear(D_MODEL, D_V, bias=False)
        self.lm_head = nn.Linear(D_V, N_SEEDS)
        if kind == "cosine, learned scale":
            self.log_scale = nn.Parameter(torch.tensor(math.log(10.0)))

    @staticmethod
    def _projection(width: int, start: float) -> nn.Linear:
        W = nn.Linear(D_MODEL, width, bias=False)
        nn.init.normal_(W.weight, std=start)
        return W

    def scores(self, x: Tensor) -> Tensor:
        """(batch, T, T)"""
        q, k = self.W_query(x), self.W_key(x)  # (batch, T, d_k)
        if self.kind == "cosine, learned scale":
            return F.normalize(q, dim=-1) @ F.normalize(k, dim=-1).mT * self.log_scale.exp()
        if self.kind == "divided by d_model":
            return q @ k.mT / D_MODEL
        if self.kind.startswith("not divided"):
            return q @ k.mT
        if self.kind in MINUS:
            plus, minus = k.chunk(2, dim=-1)  # (batch, T, d_k) each
            k = torch.cat([plus, -minus], dim=-1)  # (batch, T, 2 d_k)
        scores = q @ k.mT / math.sqrt(q.shape[-1])
        if self.kind in HIDDEN:
            own = torch.eye(x.shape[1], dtype=torch.bool)  # (T, T)
            scores = scores.masked_fill(own, -torch.inf)
        return scores

    def forward(self, x: Tensor) -> Tensor:
        """Logits (batch, T, N_SEEDS)."""
        return self.lm_head(self.scores(x).softmax(dim=-1) @ self.W_value(x))


class NoProjections(nn.Module):
    """The attention of lecture 2, scaled, with a readout that is trained."""

    def __init__(self) -> None:
        super().__init__()
        self.lm_head = nn.Linear(D_MODEL, N_SEEDS)

    def forward(self, x: Tensor) -> Tensor:
        """Logits (batch, T, N_SEEDS)."""
        return self.lm_head((x @ x.mT / math.sqrt(D_MODEL)).softmax(dim=-1) @ x)


def trial(kind: str, setting: list[int], lr: float, seed: int) -> dict:
    """Train one model, and measure it on two sets of new swaps."""
    d_k, steps = setting
    set_seed(seed)
    # Another seed than that of the weights. From the same stream, W_query would begin as rows of
    # the table: a head that reads labels or wishes before it has learned anything.
    g = torch.Generator().manual_seed(1000 + seed)
    table = torch.randn(2 * N_LABELS + N_SEEDS, D_MODEL, generator=g) / math.sqrt(3)
    model = NoProjections() if kind == "no projections" else Lookup(kind, d_k)
    train(model, lambda: swap_batch(table, BATCH, g), steps, lr)
    validation = accuracy(model, swap_batch(table, HELD_OUT, g))
    return {
        "validation": round(validation, 4),
        "accuracy": round(accuracy(model, swap_batch(table, HELD_OUT, g)), 4),
        "parameters": count_parameters(model),
    }


def skip(kind: str, setting: list[int]) -> bool:
    """Which comparisons are left out."""
    return kind not in COMPARED[str(setting)]


if __name__ == "__main__":
    search(
        "attention_head",
        trial,
        models=(*SCORES, *CONTROLS),
        settings=(WIDE, LONGER, NARROW, ROLES),
        equal=0.002,
        skip=skip,
        about={"setting": ["d_k", "steps"], "batch": BATCH, "held_out": HELD_OUT},
    )
