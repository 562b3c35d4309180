"""Find the bugs: dropout that never stops, a sum mended too much, a mask that stays behind."""

import math

import numpy as np
import torch
import torch.nn.functional as F
from torch import nn

from grading.task import Case, Mistake, Task


class _Head(nn.Module):
    """What all answers below have in common."""

    def __init__(self, d_model, d_k, context_length, dropout):
        super().__init__()
        self.W_query = nn.Linear(d_model, d_k, bias=False)
        self.W_key = nn.Linear(d_model, d_k, bias=False)
        self.W_value = nn.Linear(d_model, d_k, bias=False)
        self.dropout = dropout
        self._keep(torch.ones(context_length, context_length).bool().tril())

    def _keep(self, mask):
        self.register_buffer("mask", mask)

    def _drop(self, weights):
        return F.dropout(weights, self.dropout, self.training)

    def _before(self, scores):
        return scores

    def _after(self, context):
        return context

    def forward(self, x):
        T = x.shape[-2]
        q, k, v = self.W_query(x), self.W_key(x), self.W_value(x)
        scores = self._before(q @ k.transpose(-2, -1) / math.sqrt(k.shape[-1]))
        weights = scores.masked_fill(~self.mask[:T, :T], -torch.inf).softmax(dim=-1)
        return self._after(self._drop(weights) @ v)


class CarefulHead(_Head):
    """The model answer."""


class NotStored(_Head):
    """Right, in another way: the buffer is not stored with the weights."""

    def _keep(self, mask):
        self.register_buffer("mask", mask, persistent=False)


class WithModule(_Head):
    """Right, in another way: a module for dropout, which sees the flag by itself."""

    def __init__(self, d_model, d_k, context_length, dropout):
        super().__init__(d_model, d_k, context_length, dropout)
        self.dice = nn.Dropout(dropout)

    def _drop(self, weights):
        return self.dice(weights)


class _LeftBehind(_Head):
    def _keep(self, mask):
        self.mask = mask


class _NeverStops(_Head):
    def _drop(self, weights):
        return F.dropout(weights, self.dropout)


class _MadeEven(_Head):
    def _drop(self, weights):
        weights = super()._drop(weights)
        return weights / weights.sum(dim=-1, keepdim=True)


class AsGiven(_LeftBehind, _MadeEven, _NeverStops):
    """Wrong: all three bugs."""


class OnlyMaskMended(_MadeEven, _NeverStops):
    """Wrong: dropout does not stop, and its rows sum to 1 again."""


class OnlyFlagMended(_LeftBehind, _MadeEven):
    """Wrong: the mask stays behind, and rows sum to 1 again."""


class OnlySumMended(_LeftBehind, _NeverStops):
    """Wrong: the mask stays behind, and dropout does not stop."""


class LeftBehind(_LeftBehind):
    """Wrong: dropout is right, the mask stays behind."""


class NeverStops(_NeverStops):
    """Wrong: dropout does not stop."""


class MadeEven(_MadeEven):
    """Wrong: after dropout the rows sum to 1 again."""


class NoDropout(_Head):
    """Wrong: no dropout at all."""

    def _drop(self, weights):
        return weights


class TurnedAround(_Head):
    """Wrong: dropout acts in evaluation only."""

    def _drop(self, weights):
        return F.dropout(weights, self.dropout, not self.training)


class ShrunkInEvaluation(_Head):
    """Wrong: evaluation is scaled besides."""

    def _drop(self, weights):
        if self.training:
            return F.dropout(weights, self.dropout)
        return weights * (1 - self.dropout)


class NotScaled(_Head):
    """Wrong: what survives is not made larger."""

    def _drop(self, weights):
        if not self.training:
            return weights
        return weights * (torch.rand_like(weights) >= self.dropout)


class OnTheScores(_Head):
    """Wrong: scores are dropped, and a score of zero is not nothing."""

    def _before(self, scores):
        return F.dropout(scores, self.dropout, self.training)

    def _drop(self, weights):
        return weights


class OnTheContext(_Head):
    """Wrong: numbers of the context vectors are dropped."""

    def _after(self, context):
        return F.dropout(context, self.dropout, self.training)

    def _drop(self, weights):
        return weights


class MoreIsKept(_Head):
    """Wrong: p and 1 − p have changed places."""

    def _drop(self, weights):
        return F.dropout(weights, 1 - self.dropout, self.training)


class TrainedMask(_Head):
    """Wrong: the mask is a parameter, with a gradient or without one."""

    def _keep(self, mask):
        self.numbers = nn.Parameter(mask.float(), requires_grad=False)

    @property
    def mask(self):
        """Made anew from the numbers at each pass."""
        return self.numbers > 0


def drive(answer, x, matrices, dropout):
    """What the head does in evaluation, in training, and on another device."""
    import torch

    T, (d_k, d_model) = x.shape[1], matrices["W_query"].shape
    head = answer(d_model, d_k, T + 2, dropout).double()
    with torch.no_grad():
        for name, matrix in matrices.items():
            getattr(head, name).weight.copy_(matrix)
    parameters = sorted(name.removesuffix(".weight") for name, _ in head.named_parameters())
    head.eval()
    out = head(x)
    if out is None:
        return None
    found = {"in evaluation": out, "twice the same in evaluation": torch.equal(out, head(x))}

    # A head whose output is its rows of weights, written twice.
    glass = answer(T, 2 * T, T, dropout).double()
    with torch.no_grad():
        for W in (glass.W_query, glass.W_key, glass.W_value):
            W.weight.copy_(torch.eye(T).repeat(2, 1))
    glass.train()
    rows = glass(torch.eye(T, dtype=torch.float64).expand(500, T, T))
    one, two = rows[..., :T], rows[..., T:]
    seen = torch.ones(T, T, dtype=torch.bool).tril()
    scores = torch.eye(T, dtype=torch.float64) * 2 / (2 * T) ** 0.5
    weights = scores.masked_fill(~seen, -torch.inf).softmax(dim=-1)
    zero, grown = (one == 0) | one.isnan(), torch.isclose(one, weights / (1 - dropout))
    found["in training, the same as without dropout"] = torch.allclose(one, weights.expand_as(one))
    share = zero[:, seen].double().mean().item()
    near = abs(share - dropout) < 0.05
    found["in training, share of weights set to 0"] = dropout if near else round(share, 1)
    found["in training, the others are divided by 1 − p"] = bool((zero | grown).all())
    found["in training, whole weights are dropped"] = torch.equal(one, two)

    left = sorted(name for name, value in vars(head).items() if isinstance(value, torch.Tensor))
    found["tensors that stay behind when the head moves"] = left
    found["parameters"] = parameters
    return found


def cases(seed):
    """Two small heads of different sizes."""
    rng = np.random.default_rng(seed)
    found = []
    for (batch, T, d_model, d_k), p in (((1, 2, 1, 1), 0.5), ((2, 5, 3, 4), 0.4)):
        names = ("W_query", "W_key", "W_value")
        matrices = {name: torch.tensor(rng.normal(size=(d_k, d_model))) for name in names}
        x = torch.tensor(rng.normal(size=(batch, T, d_model)))
        found.append(Case((x, matrices, p), f"T = {T}, d_model = {d_model}, dropout = {p}"))
    return found


def in_words(args, result):
    """The first thing that is not as it should be."""
    extra = set(result["parameters"]) - {"W_query", "W_key", "W_value"}
    if extra:
        names = ", ".join(sorted(extra))
        return f"Besides the three matrices, {names} is among the parameters of the head."
    if not result["twice the same in evaluation"]:
        return "In evaluation the head was called twice with the same input and gave two results."
    if result["in training, share of weights set to 0"] == 0:
        return "In training no weight is set to 0."
    if not result["in training, the others are divided by 1 − p"]:
        return "In training, what is left of a row is not the weights divided by 1 − p."
    left = result["tensors that stay behind when the head moves"]
    if left:
        return f"When the head moves to another device, this stays behind: {', '.join(left)}."
    return None


TASK = Task(
    name="CarefulHead",
    lecture=4,
    kind="find the bug",
    points=9,
    difficulty=2,
    minutes=8,
    outcome="make dropout stop in evaluation, and keep a mask in a module as a buffer",
    reference=CarefulHead,
    also_right=(NotStored, WithModule),
    cases=cases,
    properties=(in_words,),
    drive=drive,
    mistakes=(
        Mistake(
            AsGiven,
            "This is the code as given. There are two more things that the statement asks for and "
            "the head does not do.",
        ),
        Mistake(
            OnlyMaskMended,
            "The mask is right now. Two bugs are left, and both are near the dropout: one shows in "
            "evaluation, the other in the sums of the rows in training.",
        ),
        Mistake(
            OnlyFlagMended,
            "Dropout stops in evaluation now. Two bugs are left: one shows in the sums of the rows "
            "in training, the other when the head moves to another device.",
        ),
        Mistake(
            OnlySumMended,
            "In training the weights are right now. Two bugs are left: one shows in evaluation, "
            "the other when the head moves to another device.",
        ),
        Mistake(
            LeftBehind,
            "Dropout is right now. But the mask is a plain attribute still: where the module goes, "
            "it does not go. A buffer does.",
        ),
        Mistake(
            NeverStops,
            "One bug is left: dropout goes on in evaluation. `F.dropout` cannot see the module's "
            "flag, and its argument `training` is True unless one says otherwise.",
        ),
        Mistake(
            MadeEven,
            "One bug is left: after dropout each row is divided by its sum. That looks tidy, but "
            "the division by 1 − p has kept the expected value already, and a row of which nothing "
            "is left becomes 0/0. After dropout a row need not sum to 1.",
        ),
        Mistake(
            NoDropout,
            "Now nothing is dropped in training either. Dropout must act there, and only there.",
        ),
        Mistake(
            TurnedAround,
            "Dropout acts in evaluation and not in training: the flag is turned around.",
        ),
        Mistake(
            ShrunkInEvaluation,
            "In evaluation the weights are made smaller. `F.dropout` has divided by 1 − p in "
            "training already, so in evaluation nothing needs to be rescaled.",
        ),
        Mistake(
            NotScaled,
            "What survives must be divided by 1 − p, so that the expected value stays as it was. "
            "`F.dropout` does so.",
        ),
        Mistake(
            OnTheScores,
            "Here scores are dropped, before softmax. A score of zero is not nothing: drop the "
            "weights, after softmax.",
        ),
        Mistake(
            OnTheContext,
            "Here single numbers of the values or of the context vectors are dropped. Drop the "
            "weights, so that a query loses a key as a whole.",
        ),
        Mistake(
            MoreIsKept,
            "`F.dropout` wants the share that is set to zero, not the share that is kept.",
        ),
        Mistake(
            TrainedMask,
            "The mask has become a parameter. Even with `requires_grad=False` it counts as one of "
            "the numbers that the module learns. A buffer moves with the module and is none.",
        ),
    ),
    hints=(
        "Call the head twice after `eval()`. Then look at its `mask.device` after "
        "`head.to('meta')`: PyTorch's device *meta* is there on every machine.",
        "The third shows in training only. Take a large `dropout`, such as 0.9, and print the "
        "weights before and after the lines that change them. What do the rows sum to, and what "
        "should each weight that is left be?",
    ),
)
