"""Multi-head attention as a module, with two lengths and all widths different."""

import math

import numpy as np
import torch
from torch import nn

from grading.task import Case, Mistake, Task
from helpers.attention import masked_softmax, scaled_dot_product_attention


class ManyHeads(nn.Module):
    """The model answer."""

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


class ByEinsum(ManyHeads):
    """Right, in another way: axes by letters."""

    def forward(self, query, key, mask):
        """As the model answer."""
        q, k, v = (t.unflatten(-1, (self.n_heads, -1)) for t in self._project(query, key))
        scores = torch.einsum("bqhd,bkhd->bhqk", q, k) / q.shape[-1] ** 0.5
        weights = masked_softmax(scores, mask)
        return self.W_out(torch.einsum("bhqk,bkhd->bqhd", weights, v).flatten(2)), weights


class ByList(ManyHeads):
    """Right, in another way: one head after the other, each with its piece of W_out."""

    def forward(self, query, key, mask):
        """As the model answer."""
        pieces = [t.chunk(self.n_heads, dim=-1) for t in self._project(query, key)]
        heads = [scaled_dot_product_attention(*qkv, mask) for qkv in zip(*pieces, strict=True)]
        outs = self.W_out.weight.chunk(self.n_heads, dim=1)
        out = sum(context @ piece.T for (context, _), piece in zip(heads, outs, strict=True))
        return out, torch.stack([weights for _, weights in heads], dim=1)


class WrongCut(ManyHeads):
    """Wrong: cut by view alone."""

    def _split(self, x):
        return x.reshape(x.shape[0], self.n_heads, x.shape[1], -1)


class WrongJoin(ManyHeads):
    """Wrong: joined without exchanging the axes back."""

    def _join(self, context):
        return context.reshape(context.shape[0], context.shape[2], -1)


class WrongBoth(WrongCut):
    """Wrong: cut and join."""

    def _join(self, context):
        return context.reshape(context.shape[0], context.shape[2], -1)


class AllWidths(ManyHeads):
    """Wrong: divided by the root of the width of all heads."""

    def _divisor(self, q):
        return math.sqrt(q.shape[-1] * self.n_heads)


class ModelWidth(ManyHeads):
    """Wrong: divided by the root of d_model."""

    def _divisor(self, q):
        return math.sqrt(self.W_query.in_features)


class ValueWidth(ManyHeads):
    """Wrong: divided by the root of d_v."""

    def _divisor(self, q):
        return math.sqrt(self.W_value.out_features / self.n_heads)


class ByWidth(ManyHeads):
    """Wrong: divided by d_k, not by its root."""

    def _divisor(self, q):
        return q.shape[-1]


class ByNumber(ManyHeads):
    """Wrong: divided by the root of the number of heads."""

    def _divisor(self, q):
        return math.sqrt(self.n_heads)


class NotDivided(ManyHeads):
    """Wrong: the scores as they are."""

    def _divisor(self, q):
        return 1.0


class MaskForgotten(ManyHeads):
    """Wrong: the mask is not used."""

    def _weigh(self, scores, mask):
        return scores.softmax(dim=-1)


class MaskTurned(ManyHeads):
    """Wrong: what may be seen is hidden."""

    def _weigh(self, scores, mask):
        return masked_softmax(scores, ~mask)


class CrossedOut(ManyHeads):
    """Wrong: masked after softmax."""

    def _weigh(self, scores, mask):
        return scores.softmax(dim=-1) * mask


class DownTheColumns(ManyHeads):
    """Wrong: softmax along the queries."""

    def _weigh(self, scores, mask):
        scores = scores.masked_fill(~mask, -1e9).softmax(dim=-2)
        return scores.masked_fill(~mask, 0.0)


class AcrossHeads(ManyHeads):
    """Wrong: softmax along the heads."""

    def _weigh(self, scores, mask):
        return scores.masked_fill(~mask, -torch.inf).softmax(dim=1).nan_to_num()


class Turned(ManyHeads):
    """Wrong: the weights come first."""

    def forward(self, query, key, mask):
        """As the model answer, in the other order."""
        return super().forward(query, key, mask)[::-1]


class OnlyOutput(ManyHeads):
    """Wrong: the scores come back, not the weights."""

    def forward(self, query, key, mask):
        """As the model answer, with scores."""
        q, k, _ = (self._split(t) for t in self._project(query, key))
        scores = q @ k.transpose(-2, -1) / self._divisor(q)
        return super().forward(query, key, mask)[0], scores.masked_fill(~mask, -torch.inf)


class ValuesOfQueries(ManyHeads):
    """Wrong where the lengths are the same, and an error elsewhere: values from `query`."""

    def _project(self, query, key):
        return self.W_query(query), self.W_key(key), self.W_value(query)


class QueriesOfKeys(ManyHeads):
    """Wrong: query and key have changed places."""

    def _project(self, query, key):
        return self.W_query(key), self.W_key(query), self.W_value(query)


class Interleaved(ManyHeads):
    """Wrong: head h owns every n-th number."""

    def _split(self, x):
        return x.unflatten(-1, (-1, self.n_heads)).permute(0, 3, 1, 2)


class Averaged(ManyHeads):
    """Wrong: the weights are averaged over the heads."""

    def forward(self, query, key, mask):
        """As the model answer, but for the weights."""
        out, weights = super().forward(query, key, mask)
        return out, weights.mean(dim=1)


class NotMixed(ManyHeads):
    """Wrong: W_out is not used."""

    def forward(self, query, key, mask):
        """As the model answer, but for W_out."""
        q, k, v = (self._split(t) for t in self._project(query, key))
        weights = self._weigh(q @ k.transpose(-2, -1) / self._divisor(q), mask)
        return self._join(weights @ v), weights


class NarrowOut(ManyHeads):
    """Wrong: W_out is made for heads of width d_k."""

    def __init__(self, d_model, n_heads, d_k, d_v, d_out):
        super().__init__(d_model, n_heads, d_k, d_v, d_out)
        self.W_out = nn.Linear(n_heads * d_k, d_out, bias=False)


class OneHeadWide(ManyHeads):
    """Wrong: the projections are wide enough for one head only."""

    def __init__(self, d_model, n_heads, d_k, d_v, d_out):
        super().__init__(d_model, n_heads, d_k, d_v, d_out)
        self.W_query = nn.Linear(d_model, d_k, bias=False)
        self.W_key = nn.Linear(d_model, d_k, bias=False)
        self.W_value = nn.Linear(d_model, d_v, bias=False)


class OnlySelf(ManyHeads):
    """Wrong: keys and values come from the queries' sequence."""

    def _project(self, query, key):
        return self.W_query(query), self.W_key(query), self.W_value(query)


def drive(answer, sizes, matrices, query, key, mask):
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
    with torch.no_grad():
        for name, matrix in matrices.items():
            layer = getattr(module, name, None)
            if not isinstance(layer, torch.nn.Linear):
                raise ValueError(f"{name} is not an nn.Linear of the module")
            if layer.bias is not None:
                raise ValueError(f"{name} has a bias, and none is wanted: bias=False")
            if layer.weight.shape != matrix.shape:
                came = f"{name}.weight has shape {tuple(layer.weight.shape)}"
                raise ValueError(f"{came}, not {tuple(matrix.shape)}: {told[name]}")
            layer.weight.copy_(matrix)
    found = module(query, key, mask)
    if found is None:
        return None
    if not isinstance(found, tuple | list) or len(found) != 2:
        raise ValueError("forward must return two things: the output and the weights")
    return found[0], found[1]


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
    found = [Case((sizes, one, word, word, seen), "one word, two heads of width 1")]
    for (batch, T_q, T_k), widths in (
        ((2, 3, 3), (6, 2, 3, 4, 5)),
        ((3, 4, 6), (7, 3, 2, 5, 8)),
        ((2, 5, 3), (5, 4, 3, 2, 6)),
    ):
        d_model, n, d_k, d_v, d_out = widths
        shapes = {"W_query": (n * d_k, d_model), "W_key": (n * d_k, d_model)}
        shapes |= {"W_value": (n * d_v, d_model), "W_out": (d_out, n * d_v)}
        matrices = {name: torch.tensor(rng.normal(size=shape)) for name, shape in shapes.items()}
        query = torch.tensor(rng.normal(size=(batch, T_q, d_model)))
        key = torch.tensor(rng.normal(size=(batch, T_k, d_model)))
        mask = torch.tensor(rng.random((T_q, T_k)) < 0.6)
        mask[torch.arange(T_q), torch.tensor(rng.integers(T_k, size=T_q))] = True
        mask[0, 0], mask[0, 1] = False, True
        sizes = dict(zip(names, widths, strict=True))
        note = f"T_q = {T_q}, T_k = {T_k}, {n} heads"
        found.append(Case((sizes, matrices, query, key, mask), note))
    return found


def shapes(args, result):
    """Whether output and weights have the shapes of the statement."""
    sizes, _, query, key, _ = args
    batch, T_q, T_k = len(query), query.shape[1], key.shape[1]
    wanted = ((batch, T_q, sizes["d_out"]), (batch, sizes["n_heads"], T_q, T_k))
    for name, part, shape in zip(("output", "weights"), result, wanted, strict=True):
        if part.shape != shape:
            return f"The {name} must have the shape {shape} and came with {part.shape}."
    return None


def weights_are_weights(args, result):
    """Rows of each head sum to 1, and hidden keys have no weight."""
    weights, mask = result[1], args[4].numpy()
    if np.isnan(weights).any():
        return "The weights hold NaN."
    if (np.abs(weights) * ~mask > 1e-9).any():
        return "Keys get weight that the mask hides."
    sums = weights.sum(axis=-1)
    if not np.allclose(sums, 1.0):
        worst = sums.flat[np.abs(sums - 1).argmax()]
        return f"The weights of a row sum to {worst:.3g}, not to 1."
    return None


def where_it_goes_wrong(args, result):
    """Whether the weights are right already, and if not, whether it is the divisor alone."""
    sizes, matrices, query, key, mask = args
    cut = (sizes["n_heads"], sizes["d_k"])
    q = (query @ matrices["W_query"].T).unflatten(-1, cut).transpose(1, 2)
    k = (key @ matrices["W_key"].T).unflatten(-1, cut).transpose(1, 2)
    scores = q @ k.mT / math.sqrt(sizes["d_k"])
    right = scores.masked_fill(~mask, -torch.inf).softmax(dim=-1).numpy()
    if np.allclose(result[1], right, atol=1e-5):
        return "The weights are right and the output is not: look at values, join and W_out."
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
        return (
            f"The weights are what comes of scores that are {factor:.3g} times the right ones: "
            "look at the divisor."
        )
    return "The weights are wrong, and not by the divisor alone: look at the cut and the mask."


TASK = Task(
    name="ManyHeads",
    lecture=5,
    kind="implement",
    points=14,
    difficulty=2,
    minutes=12,
    outcome="build multi-head attention twice, as a list of heads and as one projection that is "
    "cut, and give the shape of every step",
    reference=ManyHeads,
    also_right=(ByEinsum, ByList),
    cases=cases,
    properties=(shapes, weights_are_weights, where_it_goes_wrong),
    drive=drive,
    forbidden=(
        "helpers.attention.MultiHeadAttention",
        "torch.nn.MultiheadAttention",
        "torch.nn.functional.multi_head_attention_forward",
    ),
    mistakes=(
        Mistake(
            WrongCut,
            "The cut is made by `view` or `reshape` alone, so words are dealt out to the heads. "
            "Cut each row, (batch, T, n_heads, d), and then exchange words and heads.",
        ),
        Mistake(
            WrongJoin,
            "The weights are right, and the join is not: before the heads are joined, the words "
            "must come back in front of them.",
        ),
        Mistake(
            WrongBoth,
            "Both the cut and the join read the numbers in their order, without exchanging the "
            "axes of words and heads.",
        ),
        Mistake(
            AllWidths,
            "The scores are divided by the root of the width of all heads together. A score adds "
            "up the d_k products of *one* head: divide by √d_k.",
        ),
        Mistake(
            ModelWidth,
            "The scores are divided by √d_model. A score adds up the d_k products of one head: "
            "divide by √d_k.",
        ),
        Mistake(
            ValueWidth,
            "The scores are divided by √d_v. A score adds up d_k products, of queries and keys; "
            "values take no part in it.",
        ),
        Mistake(ByWidth, "The scores are divided by d_k. It should be its root."),
        Mistake(
            ByNumber,
            "The scores are divided by the root of the number of heads. Under the root stands the "
            "width of one head, d_k.",
        ),
        Mistake(NotDivided, "The scores are not divided by √d_k."),
        Mistake(
            Interleaved,
            "Each head gets every n-th number of a row. Its numbers stand side by side: head 0 "
            "owns the first ones.",
        ),
        Mistake(Turned, "The two results come in the other order: first the output."),
        Mistake(OnlyOutput, "The output is right. But with it come the scores, not the weights."),
        Mistake(
            ValuesOfQueries,
            "The values are made from `query`. What is looked at hands over its values: `key`.",
        ),
        Mistake(QueriesOfKeys, "`query` and `key` have changed places."),
        Mistake(
            MaskForgotten,
            "The mask comes in and is not used. Multi-head attention that forgets it looks fine "
            "in every test of shapes.",
        ),
        Mistake(
            MaskTurned,
            "The mask is turned around: here True means “may attend”, so −∞ goes where it is "
            "False.",
        ),
        Mistake(
            CrossedOut,
            "The mask acts after softmax, so rows no longer sum to 1. Write −∞ into the scores.",
        ),
        Mistake(
            DownTheColumns,
            "Softmax runs along the queries. Each query shares out a weight of 1 among the keys, "
            "which are the last axis.",
        ),
        Mistake(
            AcrossHeads,
            "Softmax runs along the heads, so these compete with each other. It runs along the "
            "keys, in each head for itself.",
        ),
        Mistake(
            Averaged,
            "The output is right. But the weights were averaged over the heads: their shape is "
            "(batch, n_heads, T_q, T_k).",
        ),
        Mistake(
            NotMixed,
            "The heads are joined, and the end is missing: `W_out` mixes them and makes the "
            "output's width.",
        ),
        Mistake(
            NarrowOut,
            "`W_out` is made for n_heads · d_k numbers. What is joined are the values' averages, "
            "n_heads · d_v numbers for each word.",
        ),
        Mistake(
            OneHeadWide,
            "The projections are as wide as one head. One projection serves all heads: "
            "n_heads · d_k outputs, and n_heads · d_v for values.",
        ),
        Mistake(
            OnlySelf,
            "Keys and values come from `query`. Only the queries do; keys and values come from "
            "`key`, which may have another length.",
        ),
    ),
    hints=(
        "Your `split_heads` and `merge_heads` are there. What must happen between them?",
        "The scores have the shape (batch, n_heads, T_q, T_k), and a mask (T_q, T_k) fits to that "
        "as it is.",
        "Which width is under the root, and where can you read it off?",
    ),
)
