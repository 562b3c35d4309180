"""Find the bugs: dropout that never stops, a sum mended too much, a mask that stays behind."""

import math

import numpy as np
import torch
import torch.nn.functional as F
from torch import nn

from grading.author import Case, TaskFile

task = TaskFile(
    "find the bug",
    points=9,
    minutes=13,
    section="A head with its own mask",
    outcome="convert between mask conventions by name, and build a head with its own mask and "
    "dropout",
    hints=(
        "Call the head twice after `eval()`. Then look at its `mask.device` after "
        "`head.to('meta')`: PyTorch's device *meta* exists on every machine.",
        "The third bug shows in training only. Take a large `dropout`, such as 0.9, and print the "
        "weights before and after the lines that change them. What do the rows sum to, and what "
        "should each remaining weight be?",
    ),
)


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


# %% the cell
class BuggyCausalHead(nn.Module):
    """One head with a causal mask, and dropout on its weights."""

    def __init__(self, d_model, d_k, context_length, dropout):
        super().__init__()
        self.W_query = nn.Linear(d_model, d_k, bias=False)
        self.W_key = nn.Linear(d_model, d_k, bias=False)
        self.W_value = nn.Linear(d_model, d_k, bias=False)
        self.dropout = dropout
        #| self.mask = torch.ones(context_length, context_length).bool().tril()
        # BEGIN SOLUTION
        self.register_buffer("mask", torch.ones(context_length, context_length).bool().tril())
        # END SOLUTION

    def forward(self, x):
        """Context vectors (batch, T, d_k) of x (batch, T, d_model)."""
        T = x.shape[-2]
        q, k, v = self.W_query(x), self.W_key(x), self.W_value(x)  # (batch, T, d_k) each
        scores = q @ k.transpose(-2, -1) / math.sqrt(k.shape[-1])  # (batch, T, T)
        scores = scores.masked_fill(~self.mask[:T, :T], -torch.inf)  # (batch, T, T)
        weights = scores.softmax(dim=-1)  # (batch, T, T)
        #| weights = F.dropout(weights, self.dropout)  # (batch, T, T)
        #| weights = weights / weights.sum(dim=-1, keepdim=True)  # (batch, T, T)
        # BEGIN SOLUTION
        weights = F.dropout(weights, self.dropout, self.training)  # (batch, T, T)
        # END SOLUTION
        return weights @ v  # (batch, T, d_k)


# %%


@task.alternative
class NotStored(_Head):
    """The buffer is not stored with the weights."""

    def _keep(self, mask):
        self.register_buffer("mask", mask, persistent=False)


@task.alternative
class WithModule(_Head):
    """A module for dropout, which sees the flag by itself."""

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


task.as_given(
    "This does the same as the given code. Call it twice in evaluation, move it to another "
    "device, and print the sums of the rows of the weights in training: each shows one bug."
)


@task.mistake(
    "The mask is now right. There are still two bugs, both near the dropout: one shows in "
    "evaluation, the other in the sums of the rows in training."
)
class OnlyMaskMended(_MadeEven, _NeverStops):
    """Wrong: dropout does not stop, and its rows sum to 1 again."""


@task.mistake(
    "Dropout stops in evaluation now. There are still two bugs: one shows in the sums of the rows "
    "in training, the other when the head moves to another device."
)
class OnlyFlagMended(_LeftBehind, _MadeEven):
    """Wrong: the mask stays behind, and rows sum to 1 again."""


@task.mistake(
    "The weights in training are now right. There are still two bugs: one shows in evaluation, "
    "the other when the head moves to another device."
)
class OnlySumMended(_LeftBehind, _NeverStops):
    """Wrong: the mask stays behind, and dropout does not stop."""


@task.mistake(
    "Dropout is now right. But the mask is still a plain attribute, so it does not move with the "
    "module. A buffer does."
)
class LeftBehind(_LeftBehind):
    """Wrong: dropout is right, the mask stays behind."""


@task.mistake(
    "There is still one bug: dropout is still active in evaluation. Neither `F.dropout`, by "
    "default, nor an `nn.Dropout` made in `forward` knows whether the module is in training."
)
class NeverStops(_NeverStops):
    """Wrong: dropout does not stop."""


@task.mistake(
    "There is still one bug: after dropout each row is divided by its sum. But the division by 1 "
    "− p has already kept the expected value, and a row of zeros becomes 0/0. After dropout a row "
    "need not sum to 1."
)
class MadeEven(_MadeEven):
    """Wrong: after dropout the rows sum to 1 again."""


@task.mistake(
    "Now nothing is dropped in training either. Dropout must be active in training, and only there."
)
class NoDropout(_Head):
    def _drop(self, weights):
        return weights


@task.mistake("Dropout is active in evaluation and not in training: the flag is inverted.")
class TurnedAround(_Head):
    def _drop(self, weights):
        return F.dropout(weights, self.dropout, not self.training)


@task.mistake(
    "The weights are scaled down in evaluation. `F.dropout` has already divided by 1 − p in "
    "training, so nothing needs to be rescaled in evaluation."
)
class ShrunkInEvaluation(_Head):
    def _drop(self, weights):
        if self.training:
            return F.dropout(weights, self.dropout)
        return weights * (1 - self.dropout)


@task.mistake(
    "The remaining weights must be divided by 1 − p, so that the expected value stays the same. "
    "`F.dropout` does this."
)
class NotScaled(_Head):
    def _drop(self, weights):
        if not self.training:
            return weights
        return weights * (torch.rand_like(weights) >= self.dropout)


@task.mistake(
    "Here scores are dropped, before softmax. A score of 0 still gets weight: drop the weights, "
    "after softmax."
)
class OnTheScores(_Head):
    def _before(self, scores):
        return F.dropout(scores, self.dropout, self.training)

    def _drop(self, weights):
        return weights


@task.mistake(
    "Here single entries of the values or of the context vectors are dropped. Drop the weights, "
    "so that a query loses a key as a whole."
)
class OnTheContext(_Head):
    def _after(self, context):
        return F.dropout(context, self.dropout, self.training)

    def _drop(self, weights):
        return weights


@task.mistake("`F.dropout` takes the probability of setting an entry to zero, not of keeping it.")
class MoreIsKept(_Head):
    def _drop(self, weights):
        return F.dropout(weights, 1 - self.dropout, self.training)


@task.mistake(
    "One dropout mask is used for all sentences of the batch. Each needs its own: pass the "
    "weights of all sentences, (batch, T, T), to `F.dropout`."
)
class OneForAll(_Head):
    def _drop(self, weights):
        return weights * F.dropout(torch.ones_like(weights[0]), self.dropout, self.training)


@task.mistake(
    "The mask has become a parameter. Even with `requires_grad=False` it is one of the head's "
    "parameters. A buffer moves with the module but is no parameter."
)
class TrainedMask(_Head):
    def _keep(self, mask):
        self.mask = nn.Parameter(mask, requires_grad=False)


@task.mistake(
    "There is still one bug: after dropout each row is normalized to sum to 1 again. But the "
    "division by 1 − p has already kept the expected value. After dropout a row need not sum to 1."
)
class MadeEvenWithCare(_Head):
    def _drop(self, weights):
        return F.normalize(super()._drop(weights), p=1, dim=-1)


@task.mistake(
    "The mask is made in `forward`, always on the CPU. On another device `masked_fill` then stops: "
    "make it with `device=x.device`, or register a buffer."
)
class AlwaysOnTheCpu(_Head):
    def forward(self, x):
        self.mask = torch.ones(x.shape[-2], x.shape[-2]).bool().tril()
        found = super().forward(x)
        del self.mask
        return found

    def _keep(self, mask):
        pass


@task.harness
def harness(answer, x, matrices, dropout):
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
    found["in training, each sentence draws its own"] = bool((zero != zero[:1]).any())
    share = zero[:, seen].double().mean().item()
    near = abs(share - dropout) < 0.05
    found["in training, share of weights set to 0"] = dropout if near else round(share, 1)
    found["in training, the others are divided by 1 − p"] = bool((zero | grown).all())
    found["in training, whole weights are dropped"] = torch.equal(one, two)
    sums, something = one.sum(dim=-1), ~zero.all(dim=-1)
    again = torch.allclose(sums[something], torch.ones_like(sums[something]))
    found["in training, rows of which something is left sum to 1"] = again

    left = sorted(name for name, value in vars(head).items() if isinstance(value, torch.Tensor))
    found["tensors that do not move with the head"] = left
    found["runs on another device"] = True
    try:
        answer(d_model, d_k, T + 2, dropout).double().to("meta").eval()(x.to("meta"))
    except RuntimeError as error:  # other errors say nothing about real devices
        apart = "expected device" in str(error) or "same device" in str(error)
        found["runs on another device"] = not apart
    found["parameters"] = parameters
    return found


@task.cases
def cases(seed):
    """Two small heads of different sizes."""
    rng = np.random.default_rng(seed)
    found = []
    for (batch, T, d_model, d_k), p in (((1, 2, 1, 1), 0.5), ((2, 5, 3, 4), 0.4)):
        names = ("W_query", "W_key", "W_value")
        matrices = {name: torch.tensor(rng.normal(size=(d_k, d_model))) for name in names}
        x = torch.tensor(rng.normal(size=(batch, T, d_model)))
        found.append(
            Case(
                (x, matrices, p),
                f"T = {T}, d_model = {d_model}, dropout = {p}",
                kind="ordinary cases",
            )
        )
    return found


@task.diagnostic
def in_words(args, result):
    """The first thing that is not as it should be."""
    extra = set(result["parameters"]) - {"W_query", "W_key", "W_value"}
    if extra:
        names = ", ".join(sorted(extra))
        return f"Besides the three matrices, {names} is among the parameters of the head."
    evaluated = np.asarray(result["in evaluation"])
    if np.isnan(evaluated).any():
        return None  # NaN differs from itself, too
    if not result["twice the same in evaluation"]:
        return (
            "In evaluation the head was called twice with the same input and returned two "
            "different results."
        )
    alone = result["in training, the same as without dropout"]
    grown = result["in training, the others are divided by 1 − p"]
    if result["in training, share of weights set to 0"] == 1:
        return "In training nothing is left of the weights."
    if result["in training, share of weights set to 0"] == 0 and (alone or not grown):
        return "In training no weight is set to 0."
    right = harness(BuggyCausalHead, *args)["in evaluation"].detach().numpy()
    if evaluated.shape != right.shape or not np.allclose(evaluated, right):
        return None  # with other weights or another output, dropout may be right
    if not result["in training, each sentence draws its own"]:
        return "In training all sentences of a batch share one draw of dropout."
    if not grown:
        return "In training, the remaining weights of a row are not the weights divided by 1 − p."
    if not result["in training, whole weights are dropped"]:
        return "In training, one number of a context vector is dropped without the others."
    left = result["tensors that do not move with the head"]
    if left:
        return f"When the head moves to another device, this stays behind: {', '.join(left)}."
    if not result["runs on another device"]:
        return (
            "On another device `forward` stops, because a tensor that it makes lies on the CPU. "
            "Make it with `device=x.device`, or register it as a buffer."
        )
    return None
