"""One head as a module that can be trained, with one layer for all three projections."""

import math

import torch
from torch import nn

from grading.author import Case, TaskFile
from grading.feedback.messages import NOT_SCALED, SCALED_BY_D_K

task = TaskFile(
    "implement",
    points=10,
    minutes=19,
    section="A head as a module",
    outcome="give the shape of every tensor in self-attention, and recognize two mistakes "
    "that raise no error",
    forbidden=("helpers.attention.SelfAttention",),
    results=(
        "the context vectors",
        "the weights",
        "the context vectors with return_weights",
        "the gradient of W_all.weight",
    ),
    hints=(
        "How many numbers must the layer output for each word? Store the three widths, because "
        "`forward` needs them too.",
        "`t.split([a, b, c], dim=n)` cuts a tensor along axis n into parts of these three widths. "
        "Slices work as well.",
        "`k.mT` exchanges the last two axes and leaves all others alone, so the same line serves "
        "one sentence and a batch.",
    ),
)


# %% the cell
class Head(nn.Module):
    """One head: one layer for queries, keys and values, then scaled dot-product attention."""

    def __init__(self, d_model, d_k, d_v=None):
        super().__init__()
        # BEGIN SOLUTION
        self.widths = [d_k, d_k, d_k if d_v is None else d_v]
        self.W_all = nn.Linear(d_model, sum(self.widths), bias=False)
        # END SOLUTION

    def forward(self, x, return_weights=False):
        """Context vectors (…, T, d_v) of x (…, T, d_model), and weights (…, T, T) if asked for."""
        # BEGIN SOLUTION
        q, k, v = self.W_all(x).split(self.widths, dim=-1)  # (…, T, d_k or d_v)
        scores = q @ k.mT / math.sqrt(q.shape[-1])  # (…, T, T)
        weights = scores.softmax(dim=-1)  # (…, T, T)
        context = weights @ v  # (…, T, d_v)
        return (context, weights) if return_weights else context
        # END SOLUTION


# %%


@task.alternative
class InParts(nn.Module):
    """In parts, of which the mistakes replace one or another."""

    bias = False

    def __init__(self, d_model, d_k, d_v=None):
        super().__init__()
        self.widths = self.parts(d_k, d_k if d_v is None else d_v)
        self.W_all = nn.Linear(d_model, sum(self.widths), bias=self.bias)

    def parts(self, d_k, d_v):
        """How wide the three parts are."""
        return [d_k, d_k, d_v]

    def project(self, x):
        """Queries, keys and values."""
        return self.W_all(x).split(self.widths, dim=-1)

    def divisor(self, x, q):
        """What the scores are divided by."""
        return math.sqrt(q.shape[-1])

    def scores(self, x, q, k):
        """The divided scores."""
        return q @ k.transpose(-2, -1) / self.divisor(x, q)

    def weights(self, scores):
        """Their softmax."""
        return scores.softmax(dim=-1)

    def forward(self, x, return_weights=False):
        """Context vectors, and the weights if asked for."""
        q, k, v = self.project(x)
        weights = self.weights(self.scores(x, q, k))
        context = weights @ v
        return (context, weights) if return_weights else context


@task.alternative
class BySlices(InParts):
    """Slices, torch's own function, and the weights only when needed."""

    def forward(self, x, return_weights=False):
        """Context vectors, and the weights if asked for."""
        d_k = self.widths[0]
        both = nn.functional.linear(x, self.W_all.weight)
        q, k, v = both[..., :d_k], both[..., d_k : 2 * d_k], both[..., 2 * d_k :]
        context = nn.functional.scaled_dot_product_attention(q, k, v)
        if not return_weights:
            return context
        scores = torch.einsum("...ik,...jk->...ij", q, k) * d_k**-0.5
        return [context, scores.softmax(-1)]


@task.mistake("The layer has a bias. `nn.Linear` has one unless you pass bias=False.")
class WithBias(InParts):
    bias = True


@task.mistake(
    "d_v is optional. If it is None, the values have the same width as queries and keys: set it "
    "before you use it."
)
class NoneAdded(InParts):
    def __init__(self, d_model, d_k, d_v=None):
        nn.Module.__init__(self)
        self.widths = [d_k, d_k, d_v]
        self.W_all = nn.Linear(d_model, 2 * d_k + d_v, bias=False)


@task.mistake("If d_v is omitted, the values have d_k numbers, not d_model.")
class AsWideAsTheInput(InParts):
    def __init__(self, d_model, d_k, d_v=None):
        super().__init__(d_model, d_k, d_model if d_v is None else d_v)


@task.mistake(
    "d_v is not used: the values get d_k numbers. If d_v is given, it is the width of the values."
)
class ValuesAsWideAsKeys(InParts):
    def parts(self, d_k, d_v):
        """How wide the three parts are."""
        return [d_k, d_k, d_k]


@task.mistake(
    "These are the three layers of the lecture. Here one layer must compute all three, side by "
    "side."
)
class ThreeLayers(InParts):
    def __init__(self, d_model, d_k, d_v=None):
        nn.Module.__init__(self)
        widths = {"W_query": d_k, "W_key": d_k, "W_value": d_k if d_v is None else d_v}
        for name, width in widths.items():
            setattr(self, name, nn.Linear(d_model, width, bias=False))


@task.mistake(
    "W_all is a bare parameter. Make it a layer, an `nn.Linear`, so that its weight is "
    "W_all.weight."
)
class LooseMatrix(InParts):
    def __init__(self, d_model, d_k, d_v=None):
        nn.Module.__init__(self)
        width = 2 * d_k + (d_k if d_v is None else d_v)
        self.W_all = nn.Parameter(torch.randn(d_model, width))


@task.mistake(
    "The module has no parameters, so no optimizer would train it. Assign the layer to an "
    "attribute in `__init__`: self.W_all = …. Layers in a plain list or dictionary, or made in "
    "`forward`, are not found."
)
class InAList(InParts):
    def __init__(self, d_model, d_k, d_v=None):
        nn.Module.__init__(self)
        self.layers = [nn.Linear(d_model, d_k, bias=False)]


@task.mistake(
    "The layer's output was cut into three equal parts. That is right only if d_v equals d_k, and "
    "no error tells you when it is not."
)
class EqualThirds(InParts):
    def project(self, x):
        """Queries, keys and values."""
        return self.W_all(x).chunk(3, dim=-1)


@task.mistake(
    "The first part was used as the keys, the second as the queries. The order is query, key, "
    "value."
)
class KeysFirst(InParts):
    def project(self, x):
        """Queries, keys and values."""
        k, q, v = super().project(x)
        return q, k, v


@task.mistake("The first part was used as the values. The order is query, key, value.")
class ValuesFirst(InParts):
    def project(self, x):
        """Queries, keys and values."""
        d_k, _, d_v = self.widths
        v, q, k = self.W_all(x).split([d_v, d_k, d_k], dim=-1)
        return q, k, v


@task.mistake(
    "The output was cut along the first axis, the default of `split`. The three parts lie side by "
    "side along the last axis: dim=-1."
)
class AlongTheBatch(InParts):
    def project(self, x):
        """Queries, keys and values."""
        return self.W_all(x).split(self.widths)


@task.mistake(
    "The scores are divided by √d_model. A score is a sum of d_k products: take the width of the "
    "queries."
)
class ByRootOfEmbedding(InParts):
    def divisor(self, x, q):
        """What the scores are divided by."""
        return math.sqrt(x.shape[-1])


@task.mistake(
    "The parts were cut along axis 1, as in [:, :d_k]. That is the last axis of one sentence only; "
    "with a batch it holds the words. Cut along the last axis: [..., :d_k]."
)
class AlongAxisOne(InParts):
    def project(self, x):
        """Queries, keys and values."""
        both, (d, _, _) = self.W_all(x), self.widths
        return both[:, :d], both[:, d : 2 * d], both[:, 2 * d :]


@task.mistake(
    "The scores are divided by the square root of the width of all three parts together. A score "
    "is a sum of d_k products: take the width of the queries."
)
class ByRootOfAll(InParts):
    def divisor(self, x, q):
        """What the scores are divided by."""
        return math.sqrt(sum(self.widths))


@task.mistake(NOT_SCALED)
class NotDivided(InParts):
    def divisor(self, x, q):
        """What the scores are divided by."""
        return 1


@task.mistake(
    "softmax(dim=1) is right for one sentence. With a batch axis in front, axis 1 holds the "
    "queries. Count from the end."
)
class AlongDimOne(InParts):
    def weights(self, scores):
        """Their softmax."""
        return scores.softmax(dim=1)


@task.mistake("All axes of k were reversed, also those of the batch. Exchange only the last two.")
class AllAxesTurned(InParts):
    def scores(self, x, q, k):
        """The divided scores."""
        return q @ k.permute(*range(k.dim() - 1, -1, -1)) / self.divisor(x, q)


@task.mistake(
    "The queries are used as keys, so the scores are symmetric, and the second part of the layer "
    "is never trained."
)
class QueryForBoth(InParts):
    def scores(self, x, q, k):
        """The divided scores."""
        return super().scores(x, q, q)


@task.mistake(
    "The numbers are right, but no gradient reaches queries and keys: is there a detach, a .data "
    "or a torch.no_grad between scores and context? Nothing could be learned."
)
class Untrainable(InParts):
    def weights(self, scores):
        """Their softmax."""
        return scores.softmax(dim=-1).detach()


@task.mistake(
    "The weights are returned although nobody asked for them. Return them only if return_weights "
    "is true; by default it is false."
)
class AlwaysBoth(InParts):
    def forward(self, x, return_weights=False):
        """Context vectors and weights."""
        return super().forward(x, return_weights=True)


@task.mistake(
    "The context vectors are right. But the second result holds the scores: return the output of "
    "softmax."
)
class ScoresReturned(InParts):
    def forward(self, x, return_weights=False):
        """Context vectors, and the scores if asked for."""
        q, k, _ = self.project(x)
        context = super().forward(x)
        return (context, self.scores(x, q, k)) if return_weights else context


@task.mistake("With return_weights the context vectors come first, then the weights.")
class WeightsFirst(InParts):
    def forward(self, x, return_weights=False):
        """Context vectors, or weights and context vectors."""
        out = super().forward(x, return_weights)
        return out[::-1] if return_weights else out


task.edit(
    "Axes 1 and 2 are the last two only if there is exactly one leading axis. Count from the end: "
    "−2 and −1.",
    "k.mT",
    "k.transpose(1, 2)",
)


@task.mistake(
    "The numbers are right, but no gradient reaches W_all at all: is the weight taken as .data, "
    "or is there a detach or a torch.no_grad in forward? Nothing could be learned."
)
class NoGradient(InParts):
    def forward(self, x, return_weights=False):
        """Context vectors, and the weights if asked for, cut off from the layer."""
        with torch.no_grad():
            return super().forward(x, return_weights)


@task.mistake(
    "The layer's output was cut into thirds, as `chunk` does. Queries and keys "
    "have d_k numbers and values d_v, so that fits only if the two are equal."
)
class ChunksByRootOfKeys(EqualThirds):
    def divisor(self, x, q):
        """What the scores are divided by."""
        return math.sqrt(self.widths[0])


@task.mistake(
    "The values begin where the keys begin, so the two overlap, and the last outputs of the layer "
    "are not used. The values come after queries *and* keys."
)
class ValuesOverlap(InParts):
    def project(self, x):
        """Queries, keys and values."""
        d_k, _, d_v = self.widths
        together = self.W_all(x)
        return (
            together[..., :d_k],
            together[..., d_k : 2 * d_k],
            together[..., d_k : d_k + d_v],
        )


@task.mistake(
    "The scores are divided by the square root of the width of the values, which take no part in "
    "them. Take the width of the queries."
)
class ByRootOfValues(InParts):
    def divisor(self, x, q):
        """What the scores are divided by."""
        return math.sqrt(self.widths[2])


@task.mistake(SCALED_BY_D_K)
class ByKeys(InParts):
    def divisor(self, x, q):
        """What the scores are divided by."""
        return q.shape[-1]


@task.mistake(
    "Softmax runs along axis −2, the queries. Each query has a row, so the weights must sum to 1 "
    "along the last axis."
)
class DownTheColumns(InParts):
    def weights(self, scores):
        """Their softmax."""
        return scores.softmax(dim=-2)


@task.mistake(
    "The keys were reshaped to the transposed shape, but not transposed: `view` and `reshape` "
    "keep the numbers in their order, so a column is not a key. Exchange the last two axes."
)
class Reshaped(InParts):
    def scores(self, x, q, k):
        """The divided scores."""
        return q @ k.reshape(*k.shape[:-2], k.shape[-1], k.shape[-2]) / self.divisor(x, q)


@task.harness
def harness(answer, sizes, x, matrix, probe):
    """Make the module, give it this matrix, call it both ways, and take the gradient."""
    import torch

    try:
        head = answer(*sizes)
    except TypeError as error:
        if len(sizes) == 2 and "NoneType" in str(error):
            raise ValueError(f"Head{sizes} gets no d_v; then use d_k in its place") from None
        raise
    has = sorted(head.state_dict())
    if not has and not vars(head).keys() - vars(torch.nn.Module()).keys():
        raise NotImplementedError
    if has != ["W_all.weight"]:
        listed = ", ".join(has) or "none"
        raise ValueError(f"its parameters are {listed}; expected W_all.weight alone")
    shape = tuple(head.W_all.weight.shape)
    if shape != tuple(matrix.T.shape):
        came = f"W_all.weight has shape {shape}"
        raise ValueError(f"{came}; expected {tuple(matrix.T.shape)} for Head{sizes}")
    head.load_state_dict({"W_all.weight": matrix.T})
    head.double()
    alone = head(x)
    if alone is None:
        raise ValueError("head(x) returns None: is there a return statement in forward?")
    if not isinstance(alone, torch.Tensor):
        came = f"head(x) returns a {type(alone).__name__}"
        raise ValueError(f"{came}; without return_weights it should be a tensor")
    both = head(x, return_weights=True)
    if alone.shape == probe.shape and alone.requires_grad:
        (alone * probe).sum().backward()
    grad = head.W_all.weight.grad
    if not isinstance(both, tuple | list) or len(both) != 2:
        one = isinstance(both, torch.Tensor)
        came = f"a tensor of shape {tuple(both.shape)}" if one else f"a {type(both).__name__}"
        wanted = "it must return two results: the context vectors and the weights"
        raise ValueError(f"head(x, return_weights=True) returns {came}, but {wanted}")
    return alone, both[1], both[0], torch.zeros(1) if grad is None else grad


@task.cases
def cases(seed):
    """One sentence; values wider than keys; a batch; two axes in front."""
    g = torch.Generator().manual_seed(seed)

    def drawn(*shape):
        return torch.randn(*shape, generator=g, dtype=torch.float64)

    def case(lead, T, d_model, d_k, d_v=None):
        matrix = drawn(d_model, 2 * d_k + (d_v or d_k))
        sizes = (d_model, d_k) if d_v is None else (d_model, d_k, d_v)
        note = f"Head{sizes}, x of shape {(*lead, T, d_model)}"
        x, probe = drawn(*lead, T, d_model), drawn(*lead, T, d_v or d_k)
        kind = "batches" if lead else "ordinary cases"
        return Case((sizes, x, matrix, probe), note, kind=kind)

    return [
        case((), 2, 3, 1),
        case((), 5, 3, 2, 4),
        case((2,), 4, 6, 3, 5),
        case((2, 3), 5, 4, 2, 1),
    ]


@task.diagnostic
def as_wide_as_values(args, result):
    """The width of the context vectors tells where the cut before the values is."""
    wanted, came = args[3].shape[-1], result[0].shape[-1]
    if came != wanted and came != args[1].shape[-2]:  # not the weights, one for each word
        where = "where was the output of the layer cut?"
        return f"A context vector has {came} numbers, but the values should have {wanted}: {where}"
    return None
