"""Multi-head attention as a module, with two lengths and all widths different."""

import math

import numpy as np
import torch
from torch import nn

from grading.author import Case, TaskFile
from grading.feedback.messages import NOT_SCALED, SCALED_BY_D_K
from grading.tasks.lecture_05.merge_heads import merge_heads
from grading.tasks.lecture_05.split_heads import split_heads
from helpers.attention import masked_softmax, scaled_dot_product_attention

task = TaskFile(
    "implement",
    points=14,
    minutes=22,
    section="One projection, cut into heads",
    outcome="build multi-head attention as a list of heads and as one projection that is "
    "cut, with the shape of every step",
    two_at_once=True,
    results=("the output", "the weights"),
    forbidden=(
        "helpers.attention.MultiHeadAttention",
        "torch.nn.MultiheadAttention",
        "torch.nn.functional.multi_head_attention_forward",
    ),
    hints=(
        "Each head needs queries, keys and values of its own, but there is only one layer for each "
        "of the three. How wide must its output be, and what happens to that output before the "
        "scores? Which of the previous two tasks do you need at the end?",
        "A score is a sum of products. How many products: d_model, n_heads · d_k or d_k? Divide "
        "by the square root of that number.",
        "In shapes: q (batch, n_heads, T_q, d_k), k and v likewise with T_k; scores and weights "
        "(batch, n_heads, T_q, T_k); context vectors (batch, n_heads, T_q, d_v), merged (batch, "
        "T_q, n_heads · d_v); then `W_out`. Each step is one line of code.",
        "In code: `split_heads(self.W_query(query), self.n_heads)`, and the same for keys and "
        "values. Then attention as for a single head: `k.mT` exchanges the last two axes, batch "
        "and heads are just leading axes, and the mask (T_q, T_k) broadcasts to the scores.",
    ),
)


# %% the cell
class MultiHead(nn.Module):
    """Multi-head attention from `query` to `key`."""

    def __init__(self, d_model, n_heads, d_k, d_v, d_out):
        super().__init__()
        # BEGIN SOLUTION
        self.n_heads, self.d_k = n_heads, d_k
        self.W_query = nn.Linear(d_model, n_heads * d_k, bias=False)
        self.W_key = nn.Linear(d_model, n_heads * d_k, bias=False)
        self.W_value = nn.Linear(d_model, n_heads * d_v, bias=False)
        self.W_out = nn.Linear(n_heads * d_v, d_out, bias=False)
        # END SOLUTION

    def forward(self, query, key, mask):
        """Output (batch, T_q, d_out) and weights (batch, n_heads, T_q, T_k)."""
        # BEGIN SOLUTION
        q = split_heads(self.W_query(query), self.n_heads)  # (batch, n_heads, T_q, d_k)
        k = split_heads(self.W_key(key), self.n_heads)  # (batch, n_heads, T_k, d_k)
        v = split_heads(self.W_value(key), self.n_heads)  # (batch, n_heads, T_k, d_v)
        scores = q @ k.transpose(-2, -1) / math.sqrt(self.d_k)  # (batch, n_heads, T_q, T_k)
        weights = scores.masked_fill(~mask, -torch.inf).softmax(dim=-1)
        return self.W_out(merge_heads(weights @ v)), weights
        # END SOLUTION


# %%


@task.alternative
class InParts(nn.Module):
    """In parts, of which the mistakes replace one or another."""

    def __init__(self, d_model, n_heads, d_k, d_v, d_out):
        super().__init__()
        self.n_heads = n_heads
        self.W_query = nn.Linear(d_model, n_heads * d_k, bias=False)
        self.W_key = nn.Linear(d_model, n_heads * d_k, bias=False)
        self.W_value = nn.Linear(d_model, n_heads * d_v, bias=False)
        self.W_out = nn.Linear(n_heads * d_v, d_out, bias=False)

    def _split(self, x):
        return x.unflatten(-1, (self.n_heads, -1)).transpose(1, 2)

    def _join(self, context):
        return context.transpose(1, 2).flatten(2)

    def _divisor(self, q):
        return math.sqrt(q.shape[-1])

    def _weigh(self, scores, mask):
        return scores.masked_fill(~mask, -torch.inf).softmax(dim=-1)

    def forward(self, query, key, mask):
        """The output (batch, T_q, d_out) and the weights (batch, n_heads, T_q, T_k)."""
        q, k, v = (self._split(t) for t in self._project(query, key))
        weights = self._weigh(q @ k.transpose(-2, -1) / self._divisor(q), mask)
        return self.W_out(self._join(weights @ v)), weights

    def _project(self, query, key):
        return self.W_query(query), self.W_key(key), self.W_value(key)


@task.alternative
class ByEinsum(InParts):
    """Axes by letters."""

    def forward(self, query, key, mask):
        """As the model answer."""
        q, k, v = (t.unflatten(-1, (self.n_heads, -1)) for t in self._project(query, key))
        scores = torch.einsum("bqhd,bkhd->bhqk", q, k) / q.shape[-1] ** 0.5
        weights = masked_softmax(scores, mask)
        return self.W_out(torch.einsum("bhqk,bkhd->bqhd", weights, v).flatten(2)), weights


@task.alternative
class ByList(InParts):
    """One head after the other, each with its piece of W_out."""

    def forward(self, query, key, mask):
        """As the model answer."""
        pieces = [t.chunk(self.n_heads, dim=-1) for t in self._project(query, key)]
        heads = [scaled_dot_product_attention(*qkv, mask) for qkv in zip(*pieces, strict=True)]
        outs = self.W_out.weight.chunk(self.n_heads, dim=1)
        out = sum(context @ piece.T for (context, _), piece in zip(heads, outs, strict=True))
        return out, torch.stack([weights for _, weights in heads], dim=1)


@task.mistake(
    "The heads are split by `view` or `reshape` alone, so each head gets some of the words. Cut "
    "each row, (batch, T, n_heads, d), and then exchange the axes of words and heads."
)
class WrongCut(InParts):
    def _split(self, x):
        return x.reshape(x.shape[0], self.n_heads, x.shape[1], -1)


@task.mistake(
    "The merge is wrong: before you merge the heads, the axis of the words must come before theirs "
    "again."
)
class WrongJoin(InParts):
    def _join(self, context):
        return context.reshape(context.shape[0], context.shape[2], -1)


@task.mistake(
    "Both the split and the merge read the numbers in order, without exchanging the axes of words "
    "and heads."
)
class WrongBoth(WrongCut):
    def _join(self, context):
        return context.reshape(context.shape[0], context.shape[2], -1)


@task.mistake(
    "The scores are divided by the square root of the width of all heads together. A score is a "
    "sum of the d_k products of *one* head: divide by √d_k."
)
class AllWidths(InParts):
    def _divisor(self, q):
        return math.sqrt(q.shape[-1] * self.n_heads)


@task.mistake(
    "The scores are divided by √d_model. A score is a sum of the d_k products of one head: divide "
    "by √d_k."
)
class ModelWidth(InParts):
    def _divisor(self, q):
        return math.sqrt(self.W_query.in_features)


@task.mistake(
    "The scores are divided by √d_v. A score is a sum of d_k products of queries and keys; values "
    "take no part in it."
)
class ValueWidth(InParts):
    def _divisor(self, q):
        return math.sqrt(self.W_value.out_features / self.n_heads)


@task.mistake(SCALED_BY_D_K)
class ByWidth(InParts):
    def _divisor(self, q):
        return q.shape[-1]


@task.mistake(
    "The scores are divided by the square root of the number of heads. Divide by √d_k, where d_k "
    "is the width of one head."
)
class ByNumber(InParts):
    def _divisor(self, q):
        return math.sqrt(self.n_heads)


@task.mistake(
    "The scores are divided by the square root of the number of words. Divide by √d_k, the width "
    "of one head: the last axis of `q`."
)
class ByWords(InParts):
    def _divisor(self, q):
        return math.sqrt(q.shape[-2])


@task.mistake(NOT_SCALED)
class NotDivided(InParts):
    def _divisor(self, q):
        return 1.0


@task.mistake(
    "Each head gets every n-th number of a row. The numbers of a head are consecutive: head 0 has "
    "the first ones."
)
class Interleaved(InParts):
    def _split(self, x):
        return x.unflatten(-1, (-1, self.n_heads)).permute(0, 3, 1, 2)


@task.mistake(
    "After the merge the numbers of the heads alternate. Put all numbers of head 0 first, then all "
    "of head 1."
)
class JoinedInTurn(InParts):
    def _join(self, context):
        return context.permute(0, 2, 3, 1).flatten(2)


@task.mistake("The two results are in the wrong order: first the output, then the weights.")
class Turned(InParts):
    def forward(self, query, key, mask):
        """As the model answer, in the other order."""
        return super().forward(query, key, mask)[::-1]


@task.mistake("The second result holds the scores, not the weights.")
class OnlyOutput(InParts):
    def forward(self, query, key, mask):
        """As the model answer, with scores."""
        q, k, _ = (self._split(t) for t in self._project(query, key))
        scores = q @ k.transpose(-2, -1) / self._divisor(q)
        return super().forward(query, key, mask)[0], scores.masked_fill(~mask, -torch.inf)


@task.mistake(
    "The values are computed from `query`. The words that are attended to provide the "
    "values: use `key`."
)
class ValuesOfQueries(InParts):
    def _project(self, query, key):
        return self.W_query(query), self.W_key(key), self.W_value(query)


@task.mistake("`query` and `key` are swapped.")
class QueriesOfKeys(InParts):
    def _project(self, query, key):
        return self.W_query(key), self.W_key(query), self.W_value(query)


@task.mistake("The mask is not used. No test of shapes would notice.")
class MaskForgotten(InParts):
    def _weigh(self, scores, mask):
        return scores.softmax(dim=-1)


@task.mistake("The mask is inverted: here True means “may attend”, so −∞ goes where it is False.")
class MaskTurned(InParts):
    def _weigh(self, scores, mask):
        return masked_softmax(scores, ~mask)


@task.mistake("The mask acts after softmax, so rows no longer sum to 1. Write −∞ into the scores.")
class CrossedOut(InParts):
    def _weigh(self, scores, mask):
        return scores.softmax(dim=-1) * mask


@task.mistake(
    "Masked scores were set to 0 or a number near it, and e⁰ is 1, so masked words keep some "
    "weight. Set their scores to −∞."
)
class ZeroScores(InParts):
    def _weigh(self, scores, mask):
        return scores.masked_fill(~mask, 0.0).softmax(dim=-1)


@task.mistake(
    "The mask was added to the scores. There True counts as 1 and False as 0, so words that may "
    "be attended to get a little more weight, and nothing is masked."
)
class MaskAdded(InParts):
    def _weigh(self, scores, mask):
        return (scores + mask).softmax(dim=-1)


@task.mistake(
    "Softmax runs along the queries. The weights of each query must sum to 1 over the keys, the "
    "last axis."
)
class DownTheColumns(InParts):
    def _weigh(self, scores, mask):
        scores = scores.masked_fill(~mask, -1e9).softmax(dim=-2)
        return scores.masked_fill(~mask, 0.0)


@task.mistake(
    "Softmax runs along the heads, so they compete with each other. It must run along the keys, "
    "in each head separately."
)
class AcrossHeads(InParts):
    def _weigh(self, scores, mask):
        return scores.masked_fill(~mask, -torch.inf).softmax(dim=1).nan_to_num()


@task.mistake(
    "The weights were averaged over the heads: their shape is (batch, n_heads, T_q, T_k)."
)
class Averaged(InParts):
    def forward(self, query, key, mask):
        """As the model answer, but for the weights."""
        out, weights = super().forward(query, key, mask)
        return out, weights.mean(dim=1)


@task.mistake(
    "The heads are merged, but the last step is missing: `W_out` maps them to the width of the "
    "output."
)
class NotMixed(InParts):
    def forward(self, query, key, mask):
        """As the model answer, but for W_out."""
        q, k, v = (self._split(t) for t in self._project(query, key))
        weights = self._weigh(q @ k.transpose(-2, -1) / self._divisor(q), mask)
        return self._join(weights @ v), weights


@task.mistake(
    "`W_out` is made for n_heads · d_k inputs. The merged context vectors have the width of the "
    "values: n_heads · d_v numbers for each word."
)
class NarrowOut(InParts):
    def __init__(self, d_model, n_heads, d_k, d_v, d_out):
        super().__init__(d_model, n_heads, d_k, d_v, d_out)
        self.W_out = nn.Linear(n_heads * d_k, d_out, bias=False)


@task.mistake(
    "The projections are as wide as one head. One projection serves all heads: n_heads · d_k "
    "outputs, and n_heads · d_v for values."
)
class OneHeadWide(InParts):
    def __init__(self, d_model, n_heads, d_k, d_v, d_out):
        super().__init__(d_model, n_heads, d_k, d_v, d_out)
        self.W_query = nn.Linear(d_model, d_k, bias=False)
        self.W_key = nn.Linear(d_model, d_k, bias=False)
        self.W_value = nn.Linear(d_model, d_v, bias=False)


@task.mistake(
    "Keys and values come from `query`. Only the queries do; keys and values come from `key`, "
    "which may have another length."
)
class OnlySelf(InParts):
    def _project(self, query, key):
        return self.W_query(query), self.W_key(query), self.W_value(query)


@task.mistake(
    "The projections are not split into heads: one wide head attends with all n_heads · d_k "
    "numbers. Split queries, keys and values before you compute the scores, so that each head has "
    "weights of its own, and merge the context vectors afterwards."
)
class NotSplit(InParts):
    def forward(self, query, key, mask):
        """As the model answer, with one wide head."""
        q, k, v = self._project(query, key)
        scores = q @ k.mT / self._scale(q)
        weights = scores.masked_fill(~mask, -torch.inf).softmax(dim=-1)
        return self.W_out(weights @ v), self._all(weights)

    def _scale(self, q):
        return math.sqrt(q.shape[-1])

    def _all(self, weights):
        return weights


@task.mistake(
    "All heads have the same weights: one wide head attends with all n_heads · d_k numbers, and "
    "its weights are repeated. Split queries, keys and values before you compute the scores."
)
class NotSplitRepeated(NotSplit):
    def _all(self, weights):
        return weights.unsqueeze(1).expand(-1, self.n_heads, -1, -1)


class _ByOneHead:
    def _scale(self, q):
        return math.sqrt(q.shape[-1] / self.n_heads)


@task.mistake(
    "The projections are not split into heads: d_k is the width of one head, but each score is a "
    "sum over all n_heads · d_k numbers. Split queries, keys and values before you compute the "
    "scores, and merge the context vectors afterwards."
)
class NotSplitByOneHead(_ByOneHead, NotSplit):
    pass


@task.mistake(
    "All heads have the same weights: each score is a sum over all n_heads · d_k numbers, and the "
    "weights are repeated. Split queries, keys and values before you compute the scores."
)
class NotSplitByOneHeadRepeated(_ByOneHead, NotSplitRepeated):
    pass


@task.mistake(
    "The scores are divided by √(d_model / n_heads). Here d_k is a number of its own, which need "
    "not be d_model / n_heads: a score is a sum of the d_k products of one head."
)
class ModelShare(InParts):
    def _divisor(self, q):
        return math.sqrt(self.W_query.in_features / self.n_heads)


@task.mistake(
    "The scores are divided by the square root of d_model // n_heads. Here d_k is a number of its "
    "own, which need not be d_model / n_heads: a score is a sum of the d_k products of one head."
)
class WholeModelShare(InParts):
    def _divisor(self, q):
        return math.sqrt(self.W_query.in_features // self.n_heads)


@task.mistake(
    "The module has no attribute `n_heads`. Other code, such as that of the ablations, reads it: "
    "store the number of heads under this name in `__init__`."
)
class OtherAttribute(InParts):
    def __init__(self, d_model, n_heads, d_k, d_v, d_out):
        super().__init__(d_model, n_heads, d_k, d_v, d_out)
        self.number = self.n_heads
        del self.n_heads

    def _split(self, x):
        return x.unflatten(-1, (self.number, -1)).transpose(1, 2)


@task.mistake(
    "The third argument of `forward` is the mask. In the lecture's class the third one is `value`, "
    "so there the mask was projected as if it were the values."
)
class SignatureOfTheLecture(InParts):
    def forward(self, x, key=None, value=None, mask=None):
        """As the class of the lecture."""
        q, k, v = self._split(self.W_query(x)), self._split(self.W_key(key)), self.W_value(value)
        return self.W_out(self._join(masked_softmax(q @ k.mT, mask) @ self._split(v)))


task.edit(
    "The weights must be returned too: `return output, weights`.",
    "weights @ v)), weights",
    "weights @ v))",
)
task.edit(
    "`masked_fill` fills where its mask is True. In this course True means “may attend”, so fill "
    "with `~mask`.",
    "~mask",
    "mask",
)


@task.harness
def harness(answer, sizes, matrices, query, key, mask):
    """Build the module, give it these weights, and run it."""
    import torch

    module = answer(**sizes).double()
    hk, hv = sizes["n_heads"] * sizes["d_k"], sizes["n_heads"] * sizes["d_v"]
    told = {
        "W_query": f"n_heads · d_k = {hk} outputs, d_model inputs",
        "W_key": f"n_heads · d_k = {hk} outputs, d_model inputs",
        "W_value": f"n_heads · d_v = {hv} outputs, d_model inputs",
        "W_out": f"d_out outputs, n_heads · d_v = {hv} inputs",
    }
    if not list(module.parameters()):
        raise NotImplementedError
    with torch.no_grad():
        for name, matrix in matrices.items():
            layer = getattr(module, name, None)
            if not isinstance(layer, torch.nn.Linear):
                raise ValueError(f"{name} is not an nn.Linear of the module")
            if layer.bias is not None:
                raise ValueError(f"{name} has a bias; expected bias=False")
            if layer.weight.shape != matrix.shape:
                came = f"{name}.weight has shape {tuple(layer.weight.shape)}"
                raise ValueError(f"{came}, not {tuple(matrix.shape)}: {told[name]}")
            layer.weight.copy_(matrix)
    came = getattr(module, "n_heads", None)
    if came != sizes["n_heads"]:
        raise ValueError(f"its attribute n_heads is {came}; expected {sizes['n_heads']}")
    return module(query, key, mask)


@task.cases
def cases(seed):
    """One word that looks at one, to check by hand; then all sizes different."""
    rng = np.random.default_rng(seed)
    names = ("d_model", "n_heads", "d_k", "d_v", "d_out")
    one = {
        name: torch.tensor(matrix, dtype=torch.float64)
        for name, matrix in (
            ("W_query", [[1.0], [1.0]]),
            ("W_key", [[1.0], [1.0]]),
            ("W_value", [[1.0], [10.0]]),
            ("W_out", [[2.0, 3.0]]),
        )
    }
    word, seen = torch.tensor([[[1.0]]]).double(), torch.tensor([[True]])
    sizes = dict(zip(names, (1, 2, 1, 1, 1), strict=True))
    found = [
        Case(
            (sizes, one, word, word, seen), "one word, two heads of width 1", kind="ordinary cases"
        )
    ]
    for (batch, T_q, T_k), widths in (
        ((2, 7, 7), (10, 2, 3, 4, 5)),
        ((3, 8, 9), (7, 3, 2, 5, 8)),
        ((2, 6, 7), (5, 4, 3, 2, 6)),
    ):  # no divisor that is known has the size of another
        d_model, n, d_k, d_v, d_out = widths
        shapes = {"W_query": (n * d_k, d_model), "W_key": (n * d_k, d_model)}
        shapes |= {"W_value": (n * d_v, d_model), "W_out": (d_out, n * d_v)}
        matrices = {name: torch.tensor(rng.normal(size=shape)) for name, shape in shapes.items()}
        query = torch.tensor(rng.normal(size=(batch, T_q, d_model)))
        key = torch.tensor(rng.normal(size=(batch, T_k, d_model)))
        mask = torch.tensor(rng.random((T_q, T_k)) < 0.6)
        mask[torch.arange(T_q), torch.tensor(rng.integers(T_k, size=T_q))] = True
        mask[0, 0], mask[0, 1] = False, True
        mask[1, :2] = True  # somebody sees two words, and has to weigh them
        sizes = dict(zip(names, widths, strict=True))
        note = f"T_q = {T_q}, T_k = {T_k}, {n} heads"
        found.append(Case((sizes, matrices, query, key, mask), note, kind="ordinary cases"))
    return found


@task.diagnostic
def shapes(args, result):
    """Whether output and weights have the shapes of the statement."""
    sizes, _, query, key, _ = args
    batch, T_q, T_k = len(query), query.shape[1], key.shape[1]
    wanted = ((batch, T_q, sizes["d_out"]), (batch, sizes["n_heads"], T_q, T_k))
    names = (("output", "it has"), ("weights", "they have"))
    for (name, has), part, shape in zip(names, result, wanted, strict=True):
        if part.shape != shape:
            return f"The {name} must have the shape {shape}, but {has} {part.shape}."
    return None


@task.diagnostic
def weights_are_weights(args, result):
    """Rows of each head sum to 1, and hidden keys have no weight."""
    weights, mask = result[1], args[4].numpy()
    if np.isnan(weights).any():
        return "The weights hold NaN."
    if (weights < 0).any():
        return "The second result holds negative numbers, so these are no weights."
    if (weights * ~mask > 1e-9).any():
        return "Masked keys get weight."
    sums = weights.sum(axis=-1)
    if not np.allclose(sums, 1.0):
        worst = sums.flat[np.abs(sums - 1).argmax()]
        return f"The weights of a row sum to {worst:.3g}, not to 1."
    return None


@task.diagnostic
def where_it_goes_wrong(args, result):
    """Whether the weights are right already, and if not, whether it is the divisor alone."""
    sizes, matrices, query, key, mask = args
    cut = (sizes["n_heads"], sizes["d_k"])
    q = (query @ matrices["W_query"].T).unflatten(-1, cut).transpose(1, 2)
    k = (key @ matrices["W_key"].T).unflatten(-1, cut).transpose(1, 2)
    scores = q @ k.mT / math.sqrt(sizes["d_k"])
    right = scores.masked_fill(~mask, -torch.inf).softmax(dim=-1).numpy()
    if np.allclose(result[1], right, atol=1e-5):
        if mask.sum(dim=-1).max() == 1:
            return None  # a single key has the weight 1, whatever the scores are
        return (
            "The weights are right, but the output is not: look at the values, the merge and W_out."
        )
    # The logarithm of the weights holds the scores, but for a constant in each row.
    seen = mask.numpy() & (result[1] > 1e-9) & (right > 1e-9)
    pairs = [[], []]
    for at in zip(*np.nonzero(seen.any(axis=-1)), strict=True):
        for logs, weights in zip(pairs, (result[1], right), strict=True):
            row = np.log(weights[at][seen[at]])
            logs.extend(row - row.mean())
    came, wanted = np.array(pairs)
    if not wanted.any():  # rows with a single visible key say nothing about the scores
        return "The weights are wrong: look at the mask."
    factor = (came * wanted).sum() / (wanted**2).sum()
    if np.allclose(came, factor * wanted, atol=1e-3):
        divisor = _divisor(sizes, query, key, sizes["d_k"] / factor**2 if factor > 0 else 0)
        return f"The scores behind these weights are {factor:.3g} times the right ones: " + (
            f"divided by {divisor}, not by √d_k." if divisor else "look at the divisor."
        )
    if (mask.numpy() & (result[1] == 0) & (right > 1e-6)).any():
        return "A key that may be attended to gets no weight: look at the mask."
    return (
        "The weights are wrong, and another divisor alone does not make them right: look at the "
        "projections and the split."
    )


def _divisor(sizes, query, key, square):
    """The divisors with this square, in the words of the statement; "" if there is no such one."""
    d_model, n, d_k, d_v = (sizes[name] for name in ("d_model", "n_heads", "d_k", "d_v"))
    known = {
        "√d_model": d_model,
        "√(n_heads · d_k)": n * d_k,
        "√(d_model / n_heads)": d_model / n,
        "√d_v": d_v,
        "√n_heads": n,
        "d_k": d_k**2,
        "1": 1,
        "√T_q": query.shape[1],
        "√T_k": key.shape[1],
        "√batch": len(query),
    }
    fit = [name for name, value in known.items() if math.isclose(value, square, rel_tol=1e-3)]
    return " or ".join(fit)
