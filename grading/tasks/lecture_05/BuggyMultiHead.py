"""Find the bugs: one projection for all heads, the divisor, and a mask without effect."""

import math

import numpy as np
import torch
import torch.nn.functional as F
from torch import nn

from grading.author import Case, TaskFile

task = TaskFile(
    "find the bug",
    points=10,
    minutes=14,
    section="Two defects in print",
    outcome="build multi-head attention as a list of heads and as one projection that is "
    "cut, with the shape of every step",
    hints=(
        "Two of the bugs are described in *Two defects in print*, under *Deeper* in the lecture. "
        "Which features of a token does each head read in that program?",
        "One bug makes the scores too small as soon as there is more than one head. How many "
        "products are summed in one score?",
        "One bug disables the mask. Run the module with a causal mask, then with a mask that hides "
        "nothing, and compare the outputs.",
        "In PyTorch, a method whose name ends in `_` changes its tensor in place. The same method "
        "without `_` returns a new tensor.",
    ),
)


# %% the cell
class BuggyMultiHead(nn.Module):
    """Multi-head self-attention, by einsum."""

    def __init__(self, d_model, n_heads):
        super().__init__()
        self.n_heads, self.d_k = n_heads, d_model // n_heads
        #| self.W_query = nn.Linear(self.d_k, self.d_k, bias=False)
        #| self.W_key = nn.Linear(self.d_k, self.d_k, bias=False)
        #| self.W_value = nn.Linear(self.d_k, self.d_k, bias=False)
        # BEGIN SOLUTION
        self.W_query = nn.Linear(d_model, d_model, bias=False)
        self.W_key = nn.Linear(d_model, d_model, bias=False)
        self.W_value = nn.Linear(d_model, d_model, bias=False)
        # END SOLUTION
        self.W_out = nn.Linear(d_model, d_model, bias=False)

    def heads(self, W, x):
        """A projection of x (batch, T, d_model), split into heads: (batch, T, n_heads, d_k)."""
        cut = (*x.shape[:2], self.n_heads, self.d_k)
        #| return W(x.view(cut))
        # BEGIN SOLUTION
        return W(x).view(cut)
        # END SOLUTION

    def forward(self, x, mask):
        """Output (batch, T, d_model) of x (batch, T, d_model) under a mask (T, T)."""
        q, k, v = (self.heads(W, x) for W in (self.W_query, self.W_key, self.W_value))
        scores = torch.einsum("bqhd,bkhd->bhqk", q, k)  # (batch, n_heads, T, T)
        #| scores = scores / math.sqrt(x.shape[-1])
        #| scores.masked_fill(~mask, -torch.inf)
        # BEGIN SOLUTION
        scores = scores / math.sqrt(self.d_k)
        scores = scores.masked_fill(~mask, -torch.inf)
        # END SOLUTION
        weights = scores.softmax(dim=-1)  # (batch, n_heads, T, T)
        context = torch.einsum("bhqk,bkhd->bqhd", weights, v)  # (batch, T, n_heads, d_k)
        return self.W_out(context.flatten(2))


# %%


@task.alternative
class InParts(nn.Module):
    """In parts, of which the mistakes replace one or another."""

    shared = wide = blind = False

    def __init__(self, d_model, n_heads):
        super().__init__()
        self.n_heads, self.d_k = n_heads, d_model // n_heads
        width = self.d_k if self.shared else d_model
        self.W_query = nn.Linear(width, width, bias=False)
        self.W_key = nn.Linear(width, width, bias=False)
        self.W_value = nn.Linear(width, width, bias=False)
        self.W_out = nn.Linear(d_model, d_model, bias=False)

    def _heads(self, W, x):
        batch, T, _ = x.shape
        cut = (batch, T, self.n_heads, self.d_k)
        return W(x.view(cut)) if self.shared else W(x).view(cut)

    def _weigh(self, scores, mask, d_model):
        if not self.blind:
            scores = scores.masked_fill(~mask, -torch.inf)
        return (scores / math.sqrt(d_model if self.wide else self.d_k)).softmax(dim=-1)

    def forward(self, x, mask):
        """The output (batch, T, d_model)."""
        q, k, v = (self._heads(W, x) for W in (self.W_query, self.W_key, self.W_value))
        scores = torch.einsum("bqhd,bkhd->bhqk", q, k)
        weights = self._weigh(scores, mask, x.shape[-1])
        return self.W_out(torch.einsum("bhqk,bkhd->bqhd", weights, v).flatten(2))


@task.alternative
class ByMatmul(InParts):
    """PyTorch's function for the middle part."""

    def forward(self, x, mask):
        """As the model answer."""
        Ws = (self.W_query, self.W_key, self.W_value)
        q, k, v = (self._heads(W, x).transpose(1, 2) for W in Ws)
        context = F.scaled_dot_product_attention(q, k, v, attn_mask=mask)
        return self.W_out(context.transpose(1, 2).flatten(2))


task.as_given(
    "This does the same as the given code, with all three bugs. Begin with the shapes: "
    "`W_query.weight` should be (d_model, d_model)."
)


@task.mistake(
    "The mask is now right, and two bugs are left. Look at the projections: which features of a "
    "token does each head read? Look at the divisor: how many products does a score add up?"
)
class OnlyMaskMended(InParts):
    shared = wide = True


@task.mistake(
    "The divisor is now right, and two bugs are left. Look at the projections: which features of a "
    "token does each head read? Look at the line with the mask: does it change `scores`?"
)
class OnlyDivisorMended(InParts):
    shared = blind = True


@task.mistake(
    "The projections are now right, and two bugs are left. Look at the divisor: how many products "
    "does a score add up? Look at the line with the mask: does it change `scores`?"
)
class OnlyProjectionMended(InParts):
    wide = blind = True


@task.mistake(
    "Mask and divisor are right. But the embedding is split first, and all heads send their part "
    "through the same small projection. So each head is blind to the rest of the token. Project "
    "the whole token with a d_model × d_model matrix, then split the result."
)
class ProjectionLeft(InParts):
    shared = True


@task.mistake(
    "Projections and mask are right. But the scores are divided by √d_model. A score is the sum of "
    "the d_k products of one head, so this divisor is too large by a factor of √n_heads."
)
class DivisorLeft(InParts):
    wide = True


@task.mistake(
    "Projections and divisor are right. But the mask has no effect. `masked_fill` returns a new "
    "tensor and leaves `scores` unchanged, so its result must be kept. (Only `masked_fill_` works "
    "in place.)"
)
class MaskLeft(InParts):
    blind = True


@task.mistake(
    "Projections and mask are right. But the scores are not scaled any more: divide them by √d_k."
)
class NotDivided(InParts):
    def _weigh(self, scores, mask, d_model):
        return scores.masked_fill(~mask, -torch.inf).softmax(dim=-1)


@task.mistake(
    "Projections and mask are right. But the scores are divided by d_k. Divide by its square root, "
    "√d_k."
)
class ByWidth(InParts):
    def _weigh(self, scores, mask, d_model):
        return super()._weigh(scores / math.sqrt(self.d_k), mask, d_model)


@task.mistake(
    "Projections and mask are right. But the scores are divided by √n_heads, the square root of "
    "the number of heads. Use the width of one head, d_k."
)
class ByNumber(InParts):
    def _weigh(self, scores, mask, d_model):
        scores = scores * math.sqrt(self.d_k / self.n_heads)
        return super()._weigh(scores, mask, d_model)


@task.mistake(
    "Projections and divisor are right. But the mask is inverted. True means “may attend”, so set "
    "the scores to −∞ where the mask is False."
)
class TurnedAround(InParts):
    def _weigh(self, scores, mask, d_model):
        return super()._weigh(scores, ~mask, d_model)


@task.mistake(
    "Projections and divisor are right. But masked scores were set to 0. Softmax takes e⁰ = 1, so "
    "these tokens still get weight. Set their scores to −∞."
)
class ZeroScores(InParts):
    def _weigh(self, scores, mask, d_model):
        return super()._weigh(scores.masked_fill(~mask, 0.0), torch.ones_like(mask), d_model)


@task.mistake(
    "Projections and divisor are right. But the boolean mask was added to the scores: that adds 1 "
    "where it is True and 0 where it is False, and hides nothing. Set the scores to −∞ where it is "
    "False."
)
class MaskAdded(InParts):
    def _weigh(self, scores, mask, d_model):
        return (scores / math.sqrt(self.d_k) + mask).softmax(dim=-1)


@task.mistake(
    "Projections and divisor are right. But the mask is applied after softmax, so the weights of "
    "a query no longer sum to 1. Set the masked scores to −∞ before softmax."
)
class CrossedOut(InParts):
    def _weigh(self, scores, mask, d_model):
        return super()._weigh(scores, torch.ones_like(mask), d_model) * mask


@task.mistake(
    "Each head gets consecutive numbers of the sentence instead of a part of every token. The "
    "projections were reshaped to (batch, n_heads, T, d_k) at once, but `view` and `reshape` do "
    "not reorder numbers. Split each row instead: (batch, T, n_heads, d_k)."
)
class WrongCut(InParts):
    def _heads(self, W, x):
        batch, T, _ = x.shape
        return W(x).view(batch, self.n_heads, T, self.d_k).transpose(1, 2)


@task.mistake(
    "The projections were reshaped to (batch, n_heads, T, d_k) at once, and the context vectors "
    "were merged without exchanging tokens and heads. So each head gets consecutive "
    "numbers of the sentence instead of a part of every token. Split each row instead: (batch, T, "
    "n_heads, d_k)."
)
class WrongCutAndJoin(WrongCut):
    def forward(self, x, mask):
        """As the model answer, but for the cut and the join."""
        Ws = (self.W_query, self.W_key, self.W_value)
        q, k, v = (self._heads(W, x).transpose(1, 2) for W in Ws)
        weights = self._weigh(q @ k.mT, mask, x.shape[-1])
        return self.W_out((weights @ v).reshape(x.shape))


@task.mistake(
    "Each head gets consecutive numbers of the sentence instead of a part of every token. The "
    "projections were reshaped to (batch, n_heads, T, d_k) at once, but `view` and `reshape` do "
    "not reorder numbers. Split each row instead: (batch, T, n_heads, d_k). One bug of the "
    "code as given is left, too. Look at the divisor: how many products does a score add up?"
)
class WrongCutDivisorLeft(WrongCut):
    wide = True


@task.mistake(
    "Each head gets consecutive numbers of the sentence instead of a part of every token. The "
    "projections were reshaped to (batch, n_heads, T, d_k) at once, but `view` and `reshape` do "
    "not reorder numbers. Split each row instead: (batch, T, n_heads, d_k). One bug of the "
    "code as given is left, too. Look at the line with the mask: does it change `scores`?"
)
class WrongCutMaskLeft(WrongCut):
    blind = True


@task.mistake(
    "Each head gets consecutive numbers of the sentence instead of a part of every token. The "
    "projections were reshaped to (batch, n_heads, T, d_k) at once, but `view` and `reshape` do "
    "not reorder numbers. Split each row instead: (batch, T, n_heads, d_k). The divisor "
    "and the line with the mask are still as given, and both have a bug."
)
class WrongCutBothLeft(WrongCut):
    wide = blind = True


@task.mistake(
    "Each head gets every n_heads-th feature of a token, because the projections were split as "
    "(batch, T, d_k, n_heads). The features of one head are consecutive: (batch, T, n_heads, d_k)."
)
class Interleaved(InParts):
    def _heads(self, W, x):
        return W(x).unflatten(-1, (self.d_k, self.n_heads)).transpose(2, 3)


@task.mistake(
    "The projections have d_k outputs, which is enough for one head only. Every head needs d_k "
    "outputs of its own, so all heads together need d_model outputs."
)
class OneHeadWide(BuggyMultiHead):
    def __init__(self, d_model, n_heads):
        super().__init__(d_model, n_heads)
        self.W_query = nn.Linear(d_model, self.d_k, bias=False)
        self.W_key = nn.Linear(d_model, self.d_k, bias=False)
        self.W_value = nn.Linear(d_model, self.d_k, bias=False)


@task.mistake(
    "The layers are d_model × d_model now, but the token is still split before it reaches them, so "
    "the shapes do not fit. Project the whole token first, then split the result."
)
class CutBeforeProjection(BuggyMultiHead):
    def heads(self, W, x):
        """The piece of each head, sent through a layer that wants the whole word."""
        return W(x.view(*x.shape[:2], self.n_heads, self.d_k))


@task.harness
def harness(answer, sizes, matrices, x, mask):
    """Build the module, write these numbers into its weights, and run it."""
    import torch

    module = answer(**sizes).double()
    shapes = []
    with torch.no_grad():
        for name, matrix in matrices.items():
            layer = getattr(module, name, None)
            if not isinstance(layer, torch.nn.Linear) or layer.bias is not None:
                raise ValueError(f"{name} must be an nn.Linear without bias")
            # A smaller layer takes a corner of the matrix, so that it runs all the same.
            rows, columns = layer.weight.shape
            shapes.append([rows, columns])
            if rows > matrix.shape[0] or columns > matrix.shape[1]:
                came = f"{name}.weight has shape {(rows, columns)}"
                raise ValueError(f"{came}, larger than (d_model, d_model)")
            layer.weight.copy_(matrix[:rows, :columns])
    out = module(x, mask)
    return None if out is None else {"output": out, "shapes of the weights": shapes}


@task.cases
def cases(seed):
    """One token to check by hand; then without a mask, and with one."""
    rng = np.random.default_rng(seed)
    names = ("W_query", "W_key", "W_value", "W_out")
    one = {name: torch.eye(2, dtype=torch.float64) for name in names}
    one["W_value"] = torch.tensor([[0.0, 1.0], [1.0, 0.0]], dtype=torch.float64)
    x = torch.tensor([[[3.0, 4.0]]], dtype=torch.float64)
    sizes, seen = {"d_model": 2, "n_heads": 2}, torch.tensor([[True]])
    found = [Case((sizes, one, x, seen), "the example of the statement", kind="ordinary cases")]
    for batch, T, d_model, n_heads, masked in (
        (2, 3, 4, 2, False),
        (3, 5, 6, 3, True),
        (2, 4, 8, 2, True),
        (1, 6, 12, 4, True),
    ):
        matrices = {name: torch.tensor(rng.normal(size=(d_model, d_model))) for name in names}
        x = torch.tensor(rng.normal(size=(batch, T, d_model)))
        mask = torch.ones(T, T, dtype=torch.bool)
        if masked:
            mask = torch.tensor(rng.random((T, T)) < 0.5) | torch.eye(T, dtype=torch.bool)
            mask[0, 1:] = False
        note = f"T = {T}, {n_heads} heads, " + ("a mask" if masked else "a mask that hides nothing")
        sizes = {"d_model": d_model, "n_heads": n_heads}
        found.append(Case((sizes, matrices, x, mask), note, kind="ordinary cases"))
    return found


@task.diagnostic
def as_the_statement_says(args, result):
    """The shapes of the weights, and whether the mask has any effect."""
    sizes, matrices, x, mask = args
    for name, came in zip(matrices, result["shapes of the weights"], strict=True):
        wanted = matrices[name].shape
        if tuple(came) != tuple(wanted):
            return (
                f"{name}.weight has shape {tuple(came)}. Here an nn.Linear from d_model to d_model "
                f"has shape {tuple(wanted)}."
            )
    for kind in (InParts, DivisorLeft, NotDivided, ByWidth):
        blind = harness(kind, sizes, matrices, x, torch.ones_like(mask))["output"].numpy()
        if not mask.all() and np.allclose(result["output"], blind, rtol=1e-4, atol=1e-5):
            return (
                "The mask has no effect: the output is the same as with a mask that hides nothing."
            )
    return None
