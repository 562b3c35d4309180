"""One head as a module that can be trained."""

import math

import torch
from torch import nn

from grading.task import Case, Mistake, Task


class Head(nn.Module):
    """The model answer."""

    bias = False

    def __init__(self, d_model, d_k, d_v=None):
        super().__init__()
        self.W_query = nn.Linear(d_model, d_k, bias=self.bias)
        self.W_key = nn.Linear(d_model, d_k, bias=self.bias)
        self.W_value = nn.Linear(d_model, d_k if d_v is None else d_v, bias=self.bias)

    def divisor(self, x):
        """What the scores are divided by."""
        return math.sqrt(self.W_query.out_features)

    def scores(self, x):
        """The divided scores."""
        return self.W_query(x) @ self.W_key(x).transpose(-2, -1) / self.divisor(x)

    def weights(self, scores):
        """Their softmax."""
        return scores.softmax(dim=-1)

    def forward(self, x, return_weights=False):
        """Context vectors, and the weights if asked for."""
        weights = self.weights(self.scores(x))
        context = weights @ self.W_value(x)
        return (context, weights) if return_weights else context


class ByTorch(Head):
    """Right, in another way: torch's own function, and the weights only when needed."""

    def forward(self, x, return_weights=False):
        """Context vectors, and the weights if asked for."""
        q, k, v = (layer(x) for layer in (self.W_query, self.W_key, self.W_value))
        context = nn.functional.scaled_dot_product_attention(q, k, v)
        if not return_weights:
            return context
        scores = torch.einsum("...ik,...jk->...ij", q, k) * k.shape[-1] ** -0.5
        return [context, scores.softmax(-1)]


class WithBias(Head):
    """Wrong: the projections add something."""

    bias = True


class ValuesAsWideAsKeys(Head):
    """Wrong: d_v is not used."""

    def __init__(self, d_model, d_k, d_v=None):
        super().__init__(d_model, d_k)


class LooseMatrices(Head):
    """Wrong: parameters of shape (d_model, d_k), not layers."""

    def __init__(self, d_model, d_k, d_v=None):
        nn.Module.__init__(self)
        d_v = d_k if d_v is None else d_v
        for name, width in (("W_query", d_k), ("W_key", d_k), ("W_value", d_v)):
            setattr(self, name, nn.Parameter(torch.randn(d_model, width)))


class InAList(Head):
    """Wrong: the layers are in a list, where the module does not see them."""

    def __init__(self, d_model, d_k, d_v=None):
        nn.Module.__init__(self)
        widths = d_k, d_k, d_k if d_v is None else d_v
        self.layers = [nn.Linear(d_model, width, bias=False) for width in widths]


class ByRootOfEmbedding(Head):
    """Wrong: divided by √d_model."""

    def divisor(self, x):
        """What the scores are divided by."""
        return math.sqrt(x.shape[-1])


class ByEmbedding(Head):
    """Wrong: divided by d_model."""

    def divisor(self, x):
        """What the scores are divided by."""
        return x.shape[-1]


class NotDivided(Head):
    """Wrong: not divided."""

    def divisor(self, x):
        """What the scores are divided by."""
        return 1


class AlongDimOne(Head):
    """Wrong: along dim 1, which is right for one sentence."""

    def weights(self, scores):
        """Their softmax."""
        return scores.softmax(dim=1)


class AllAxesTurned(Head):
    """Wrong: .T, which turns the axes of the batch around as well."""

    def scores(self, x):
        """The divided scores."""
        k = self.W_key(x)
        return self.W_query(x) @ k.permute(*range(k.dim() - 1, -1, -1)) / self.divisor(x)


class QueryForBoth(Head):
    """Wrong: W_key is there and not used."""

    def scores(self, x):
        """The divided scores."""
        q = self.W_query(x)
        return q @ q.transpose(-2, -1) / self.divisor(x)


class Exchanged(Head):
    """Wrong: W_query and W_key have changed places."""

    def scores(self, x):
        """The divided scores."""
        return super().scores(x).transpose(-2, -1)


class Untrainable(Head):
    """Wrong: no gradient goes through the weights."""

    def weights(self, scores):
        """Their softmax."""
        return scores.softmax(dim=-1).detach()


class AlwaysBoth(Head):
    """Wrong: the weights come back unasked."""

    def forward(self, x, return_weights=False):
        """Context vectors and weights."""
        return super().forward(x, return_weights=True)


class ScoresReturned(Head):
    """Wrong: the scores come back in place of the weights."""

    def forward(self, x, return_weights=False):
        """Context vectors, and the scores if asked for."""
        context = super().forward(x)
        return (context, self.scores(x)) if return_weights else context


class WeightsFirst(Head):
    """Wrong: the weights come first."""

    def forward(self, x, return_weights=False):
        """Context vectors, or weights and context vectors."""
        out = super().forward(x, return_weights)
        return out[::-1] if return_weights else out


def drive(answer, sizes, x, matrices, probe):
    """Make the module, give it these matrices, call it both ways, and take the gradients."""
    import torch

    head = answer(*sizes)
    names = ["W_key.weight", "W_query.weight", "W_value.weight"]
    has = sorted(head.state_dict())
    if not has and not vars(head).keys() - vars(torch.nn.Module()).keys():
        return None
    if has != names:
        listed = ", ".join(has) or "none"
        raise ValueError(f"its parameters are {listed}; wanted are {', '.join(names)}")
    for name in names:
        parameter, wanted = head.get_parameter(name), matrices[name].T
        if parameter.shape != wanted.shape:
            came = f"{name} has shape {tuple(parameter.shape)}"
            raise ValueError(f"{came}; wanted is {tuple(wanted.shape)} for sizes {sizes}")
    head.load_state_dict({name: matrices[name].T for name in names})
    head.double()
    alone = head(x)
    if alone is None:
        return None
    if not isinstance(alone, torch.Tensor):
        came = f"head(x) returns a {type(alone).__name__}"
        raise ValueError(f"{came}; without return_weights a tensor is wanted")
    both = head(x, return_weights=True)
    gradients = {}
    if alone.shape == probe.shape and alone.requires_grad:
        (alone * probe).sum().backward()
    for name in names:
        grad = head.get_parameter(name).grad
        gradients[f"gradient of {name}"] = torch.zeros(1) if grad is None else grad
    if not isinstance(both, tuple | list) or len(both) != 2:
        raise ValueError("head(x, return_weights=True) must return two tensors")
    # A dictionary is compared in the order of its keys.
    return {"1 context": alone, "2 weights": both[1], "3 context again": both[0], **gradients}


def cases(seed):
    """One sentence; values as wide as keys; a batch; two axes in front."""
    g = torch.Generator().manual_seed(seed)

    def drawn(*shape):
        return torch.randn(*shape, generator=g, dtype=torch.float64)

    def case(lead, T, d_model, d_k, d_v=None):
        widths = {"W_query": d_k, "W_key": d_k, "W_value": d_v or d_k}
        matrices = {f"{name}.weight": drawn(d_model, width) for name, width in widths.items()}
        sizes = (d_model, d_k) if d_v is None else (d_model, d_k, d_v)
        note = f"sizes {', '.join(map(str, sizes))}, x of shape {(*lead, T, d_model)}"
        x, probe = drawn(*lead, T, d_model), drawn(*lead, T, d_v or d_k)
        return Case((sizes, x, matrices, probe), note)

    return [
        case((), 2, 3, 1),
        case((), 5, 3, 2, 4),
        case((2,), 4, 6, 3, 5),
        case((2, 3), 5, 4, 2, 1),
    ]


TASK = Task(
    name="Head",
    lecture=3,
    kind="implement",
    points=12,
    difficulty=2,
    minutes=15,
    outcome="give the shape of every tensor in self-attention, also when values have another width "
    "than keys, and recognise two wrong products that raise no error",
    reference=Head,
    also_right=(ByTorch,),
    cases=cases,
    drive=drive,
    forbidden=("helpers.attention.SelfAttention",),
    mistakes=(
        Mistake(
            WithBias,
            "The layers have a bias. `nn.Linear` makes one unless it is told bias=False.",
        ),
        Mistake(
            ValuesAsWideAsKeys,
            "d_v is not used: W_value gives d_k numbers. If d_v is given, it is the width of the "
            "values.",
        ),
        Mistake(
            LooseMatrices,
            "The matrices are parameters themselves. Make a layer of each, "
            "nn.Linear(d_model, d_k, bias=False), so that its weight is W_query.weight.",
        ),
        Mistake(
            InAList,
            "The module knows of no parameter: layers in a plain list or dictionary are not seen, "
            "and no optimizer would train them. Make each an attribute: self.W_query = ….",
        ),
        Mistake(
            ByRootOfEmbedding,
            "The scores are divided by √d_model. A score is a sum of d_k products: take the width "
            "of the queries.",
        ),
        Mistake(
            ByEmbedding,
            "The scores are divided by the embedding size. It is the root of d_k that they are to "
            "be divided by.",
        ),
        Mistake(
            NotDivided,
            "The scores are not divided by √d_k.",
        ),
        Mistake(
            AlongDimOne,
            "softmax(dim=1) is right for one sentence. Behind a batch, axis 1 holds the words that "
            "ask. Count from the end: dim=-1.",
        ),
        Mistake(
            AllAxesTurned,
            "All axes of k were turned around, also those of the batch. k.mT or "
            "k.transpose(-2, -1) exchanges the last two.",
        ),
        Mistake(
            QueryForBoth,
            "W_key is there, but the keys are made with W_query. So the scores are symmetric, and "
            "W_key is never trained.",
        ),
        Mistake(
            Exchanged,
            "Queries and keys have changed places: a row of the scores belongs to the word that "
            "asks, with W_query.",
        ),
        Mistake(
            Untrainable,
            "The numbers are right, but no gradient reaches W_query and W_key: is there a detach, "
            "a .data or a torch.no_grad between scores and context? Nothing could be learned.",
        ),
        Mistake(
            AlwaysBoth,
            "The weights come back though nobody asked for them. Return them only if "
            "return_weights is true.",
        ),
        Mistake(
            ScoresReturned,
            "The context vectors are right. But what comes back as weights are the scores: return "
            "what softmax gave.",
        ),
        Mistake(
            WeightsFirst,
            "With return_weights the context vectors come first, then the weights.",
        ),
    ),
    hints=(
        "In `__init__` make three layers `nn.Linear(d_model, width, bias=False)` and keep each "
        "under its name. In `forward` call them: `self.W_query(x)`.",
        "`k.mT` exchanges the last two axes and leaves all others alone, so the same line serves "
        "one sentence and a batch.",
    ),
)
