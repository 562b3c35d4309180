"""A low-rank adapter, from a blank page."""

import torch
from torch import nn

from grading.author import Case, TaskFile

task = TaskFile(
    "implement",
    points=10,
    minutes=16,
    two_at_once=True,
    section="Low-rank adapters",
    outcome="fit a pretrained model's arrays into modules of your own, and test that the logits "
    "are right",
    forbidden=("helpers.adapters.LowRankAdapter",),
    hints=(
        "`module.requires_grad_(False)` freezes all parameters of a module.",
        "A maps d_in numbers to `rank` numbers, and B maps these to d_out: for rows x, `x @ A.T @ "
        "B.T`.",
        "`forward` and `merged_weight` must agree: compute the output of x with both and compare.",
    ),
)


# %% the cell
class Adapter(nn.Module):
    """linear(x) + (alpha / rank) · B A x: `linear` is frozen, A and B are trained."""

    def __init__(self, linear, rank, alpha):
        """Parameters `A` (rank, d_in), small random numbers, and `B` (d_out, rank), zeros."""
        super().__init__()
        # BEGIN SOLUTION
        self.linear = linear.requires_grad_(False)
        d_out, d_in = linear.weight.shape
        self.A = nn.Parameter(torch.randn(rank, d_in, dtype=linear.weight.dtype) / d_in**0.5)
        self.B = nn.Parameter(torch.zeros(d_out, rank, dtype=linear.weight.dtype))
        self.scale = alpha / rank
        # END SOLUTION

    def forward(self, x):
        """The adapted output (…, d_out) of x (…, d_in)."""
        # BEGIN SOLUTION
        return self.linear(x) + self.scale * (x @ self.A.T @ self.B.T)
        # END SOLUTION

    def merged_weight(self):
        """The weight (d_out, d_in) of one linear layer that computes the same."""
        # BEGIN SOLUTION
        return self.linear.weight + self.scale * self.B @ self.A
        # END SOLUTION


# %%


@task.alternative
class ByFunctional(nn.Module):
    """With the merged weight in every pass."""

    def __init__(self, linear, rank, alpha):
        super().__init__()
        self.frozen, self.factor = linear, alpha / rank
        for parameter in linear.parameters():
            parameter.requires_grad = False
        self.A = nn.Parameter(linear.weight.new_empty(rank, linear.in_features).normal_(std=0.02))
        self.B = nn.Parameter(linear.weight.new_zeros(linear.out_features, rank))

    def forward(self, x):
        """The adapted output."""
        return nn.functional.linear(x, self.merged_weight(), self.frozen.bias)

    def merged_weight(self):
        """The weight with the update."""
        return torch.addmm(self.frozen.weight, self.B, self.A, alpha=self.factor)


task.edit(
    "The layer's own weights are still trained. Only A and B should be.",
    "linear.requires_grad_(False)",
    "linear",
)
task.edit(
    "Only a copy of the layer is frozen: whoever trains the given one still changes it. Keep the "
    "given layer itself.",
    "linear.requires_grad_(False)",
    "__import__('copy').deepcopy(linear).requires_grad_(False)",
)
task.edit(
    "B is not initialized with zeros, so a new adapter changes the model before it has learned "
    "anything.",
    "torch.zeros(d_out, rank, dtype",
    "torch.randn(d_out, rank, dtype",
)
task.edit(
    "A is initialized with zeros. If B is, too, the gradient of each is zero, and nothing is ever "
    "learned.",
    "torch.randn(rank, d_in, dtype=linear.weight.dtype) / d_in**0.5",
    "torch.zeros(rank, d_in, dtype=linear.weight.dtype)",
)
task.edit(
    "The update is not scaled by alpha / rank.",
    "self.scale = alpha / rank",
    "self.scale = 1.0",
)
task.edit(
    "The update is scaled by alpha. Divide by the rank, so that another rank needs no other "
    "learning rate.",
    "self.scale = alpha / rank",
    "self.scale = alpha",
)
task.edit(
    "The update replaces the layer's output. *Add* it.",
    "self.linear(x) + self.scale * (x @ self.A.T @ self.B.T)",
    "self.scale * (x @ self.A.T @ self.B.T)",
)
task.edit(
    "The layer's bias is missing in the output. Call the layer itself.",
    "self.linear(x) +",
    "x @ self.linear.weight.T +",
)
task.edit(
    "A and B are float32, PyTorch's default. They must have the dtype of the layer's weight.",
    "torch.randn(rank, d_in, dtype=linear.weight.dtype)",
    "torch.randn(rank, d_in)",
    "torch.zeros(d_out, rank, dtype=linear.weight.dtype)",
    "torch.zeros(d_out, rank)",
)
task.edit(
    "A has the shape (d_in, rank), but it must be (rank, d_in).",
    "torch.randn(rank, d_in,",
    "torch.randn(d_in, rank,",
    "self.A.T @",
    "self.A @",
    "self.B @ self.A",
    "self.B @ self.A.T",
)
task.edit(
    "`B A x` is written for a column vector, but `x` holds rows: `x @ A.T @ B.T`.",
    "x @ self.A.T @ self.B.T",
    "self.B @ self.A @ x",
)
task.edit(
    "`x` comes first, as its rows need, but A and B must also be transposed: `x @ A.T @ B.T`.",
    "x @ self.A.T @ self.B.T",
    "x @ self.A @ self.B",
)
task.edit(
    "`merged_weight` holds the update alone. Add it to the layer's weight.",
    "self.linear.weight + self.scale * self.B @ self.A",
    "self.scale * self.B @ self.A",
)
task.edit(
    "`merged_weight` lacks the scale, so it differs from `forward`.",
    "self.linear.weight + self.scale * self.B @ self.A",
    "self.linear.weight + self.B @ self.A",
)
task.edit(
    "`merged_weight` changes the frozen layer's own weight, so `forward` adds the update twice "
    "from then on. Return a new tensor.",
    "return self.linear.weight + self.scale * self.B @ self.A",
    "return self.linear.weight.data.add_(self.scale * self.B @ self.A)",
)
task.edit(
    "`+=` changes the frozen layer's own weight in place, so `merged_weight` must not use it. "
    "Return a new tensor: the weight plus the update.",
    "return self.linear.weight + self.scale * self.B @ self.A",
    "self.linear.weight += self.scale * self.B @ self.A\n        return self.linear.weight",
)
task.edit(
    "The merged update is transposed. `nn.Linear` has a row for each output, so the update is B A.",
    "self.scale * self.B @ self.A",
    "self.scale * (self.B @ self.A).T.reshape(self.linear.weight.shape)",
)


task.edit(
    "The update is scaled by alpha / √rank. Here the divisor is the rank itself.",
    "self.scale = alpha / rank",
    "self.scale = alpha / rank**0.5",
)
task.edit(
    "The scale is inverted: it is alpha / rank.",
    "self.scale = alpha / rank",
    "self.scale = rank / alpha",
)


@task.harness
def harness(answer, weight, bias, A, B, alpha, x):
    """A fresh adapter, what it trains, and what it computes with given A and B."""
    import torch
    from torch import nn

    d_out, d_in = weight.shape
    linear = nn.Linear(d_in, d_out).double()
    with torch.no_grad():
        linear.weight.copy_(weight)
        linear.bias.copy_(bias)
    adapter = answer(linear, len(A), alpha)
    parameters = dict(adapter.named_parameters())
    if not parameters:
        raise NotImplementedError
    fresh = adapter(x)
    if fresh is None:
        return None
    trained = sorted(name for name, p in parameters.items() if p.requires_grad)
    frozen = not any(p.requires_grad for p in linear.parameters())
    spread = [bool(part.detach().abs().max() > 0) for part in (adapter.A, adapter.B)]
    with torch.no_grad():
        adapter.A.copy_(A)
        adapter.B.copy_(B)
    return {
        "what is trained": trained,
        "the given layer is frozen": frozen,
        "some number of a new A is not zero": spread[0],
        "some number of a new B is not zero": spread[1],
        "dtypes of A and B": [str(adapter.A.dtype), str(adapter.B.dtype)],
        "1 output of a new adapter": fresh.detach(),
        "2 output with other A and B": adapter(x).detach(),
        "3 merged weight": adapter.merged_weight().detach().clone(),
        "4 output after the merge": adapter(x).detach(),
    }


@task.cases
def cases(seed):
    """Two numbers in, two out, rank 1; then other sizes."""
    generator = torch.Generator().manual_seed(seed)

    def draw(*shape):
        return torch.randn(shape, dtype=torch.float64, generator=generator)

    found = []
    for d_in, d_out, rank, lead in ((2, 2, 1, (1,)), (5, 3, 2, (4,)), (4, 6, 2, (2, 3))):
        note = f"{d_in} numbers in, {d_out} out, rank {rank}"
        alpha = 3.0 + rank
        args = draw(d_out, d_in), draw(d_out), draw(rank, d_in), draw(d_out, rank), alpha
        kind = "other shapes" if len(lead) > 1 else "ordinary cases"
        found.append(Case((*args, draw(*lead, d_in)), note, kind=kind))
    return found


@task.diagnostic
def what_is_trained(args, result):
    """Which parameters are trained."""
    came = result["what is trained"]
    if not came:
        return "Nothing is trained: A and B should be `nn.Parameter`s that get a gradient."
    if came != ["A", "B"]:
        return f"These parameters are trained: {', '.join(came)}. Only A and B should be."
    if not result["the given layer is frozen"]:
        return "Only A and B are trained in the adapter, but the given layer itself is not frozen."
    a, b = (result[f"some number of a new {name} is not zero"] for name in "AB")
    if b and not a:
        return "A begins with zeros and B with other numbers. It should be the other way round."
    if b:
        return "B does not begin with zeros, so a new adapter changes what the layer computes."
    return None if a else "All numbers of a new A are zero."


@task.diagnostic
def how_much(args, result):
    """Whether a new adapter changes nothing, and by which factor an update is wrong."""
    weight, bias, A, B, alpha, x = args
    base, update = x @ weight.T + bias, x @ A.T @ B.T
    fresh, out = (
        torch.as_tensor(result[key])
        for key in ("1 output of a new adapter", "2 output with other A and B")
    )
    if fresh.shape != base.shape or out.shape != base.shape:
        return None
    if not result["some number of a new B is not zero"] and not torch.allclose(fresh, base):
        return "While B is zero, an adapter must return just what `linear(x)` returns."
    factor = float(((out - base) * update).sum() / update.square().sum())
    if torch.allclose(out, base + factor * update) and abs(factor - alpha / len(A)) > 1e-6:
        due = f"alpha is {alpha:g} and the rank is {len(A)}, so it should be {alpha / len(A):g}"
        return f"The update B A x is multiplied by {factor:.4g}; {due}."
    return None


@task.diagnostic
def dtypes(args, result):
    """Whether A and B have the dtype of the layer's weight."""
    came = dict(zip("AB", result["dtypes of A and B"], strict=True))
    want = str(args[0].dtype)
    wrong = [f"{name} is of {dtype}" for name, dtype in came.items() if dtype != want]
    return f"{' and '.join(wrong)}, but the layer's weight is of {want}." if wrong else None
