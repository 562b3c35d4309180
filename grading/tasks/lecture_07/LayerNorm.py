"""Layer norm as a module, from a blank page."""

import torch
from torch import nn

from grading.author import Case, TaskFile

task = TaskFile(
    "implement",
    points=8,
    minutes=15,
    section="Layer normalization allows larger steps",
    two_at_once=True,
    outcome="write a residual connection and a layer norm, and say what each of them preserves",
    forbidden=(
        "torch.nn.LayerNorm",
        "torch.nn.functional.layer_norm",
        "torch.layer_norm",
    ),
    hints=(
        "Take the word (3, 7) and eps = 5, and compute the result by the equation of layer norm.",
        "`correction` is an argument of `var` and `std`. The lecture says what its default is.",
    ),
)


# %% the cell
class LayerNorm(nn.Module):
    """Layer norm of each word."""

    def __init__(self, d_model, eps=1e-5):
        """Scale and shift for words of d_model numbers."""
        super().__init__()
        # BEGIN SOLUTION
        self.weight = nn.Parameter(torch.ones(d_model))
        self.bias = nn.Parameter(torch.zeros(d_model))
        self.eps = eps
        # END SOLUTION

    def forward(self, x):
        """The normalized words x (…, d_model)."""
        # BEGIN SOLUTION
        centred = x - x.mean(dim=-1, keepdim=True)  # (…, d_model)
        variance = centred.square().mean(dim=-1, keepdim=True)  # (…, 1)
        return self.weight * centred / (variance + self.eps).sqrt() + self.bias
        # END SOLUTION


# %%


@task.alternative
class ByVar(nn.Module):
    """With `var`, and one parameter after the other."""

    def __init__(self, d_model, eps=1e-5):
        super().__init__()
        self.register_parameter("bias", nn.Parameter(torch.zeros(d_model)))
        self.register_parameter("weight", nn.Parameter(torch.ones(d_model)))
        self.eps = eps

    def forward(self, x):
        """The words, normalised."""
        variance, mean = torch.var_mean(x, dim=-1, keepdim=True, correction=0)
        return torch.addcmul(self.bias, self.weight, (x - mean) * (variance + self.eps).rsqrt())


task.edit(
    "The variance is divided by the number of entries minus one, which is the default of `var` "
    "and `std`.",
    "variance = centred.square().mean(dim=-1, keepdim=True)",
    "variance = x.var(dim=-1, keepdim=True)",
)
task.edit(
    "eps is added to the standard deviation. Add it to the variance, under the square root.",
    "(variance + self.eps).sqrt()",
    "(variance.sqrt() + self.eps)",
)
task.edit(
    "The shift is scaled along with the word. What is added last in the equation?",
    "self.weight * centred / (variance + self.eps).sqrt() + self.bias",
    "self.weight * (centred / (variance + self.eps).sqrt() + self.bias)",
)
task.edit(
    "You divide by the variance. The equation has a square root there.",
    "(variance + self.eps).sqrt()",
    "(variance + self.eps)",
)
task.edit(
    "The mean is not subtracted.",
    "* centred /",
    "* x /",
)
task.edit(
    "The squares are summed but not averaged.",
    "centred.square().mean(",
    "centred.square().sum(",
)
task.edit(
    "eps is missing. A word whose numbers are all the same is then 0 divided by 0.",
    "variance + self.eps",
    "variance",
)
task.edit(
    "The argument `eps` is not used.",
    "self.eps = eps",
    "self.eps = 1e-5",
)
task.edit(
    "Mean and variance are computed over all words together. Each word has its own.",
    "x.mean(dim=-1, keepdim=True)",
    "x.mean()",
    "centred.square().mean(dim=-1, keepdim=True)",
    "centred.square().mean()",
)
task.edit(
    "Mean and variance are computed over all words of a text together. Each word has its own.",
    "x.mean(dim=-1, keepdim=True)",
    "x.mean(dim=tuple(range(1, x.dim())), keepdim=True)",
    "centred.square().mean(dim=-1, keepdim=True)",
    "centred.square().mean(dim=tuple(range(1, x.dim())), keepdim=True)",
)
task.edit(
    "The means of the words have lost their axis, so they cannot be broadcast, or are subtracted "
    "from the wrong numbers. `mean` has an argument that keeps the axis, with size 1.",
    "x.mean(dim=-1, keepdim=True)",
    "x.mean(dim=-1)",
    "centred.square().mean(dim=-1, keepdim=True)",
    "centred.square().mean(dim=-1)",
)
task.edit(
    "The mean is never subtracted: neither from the word, nor in the variance.",
    "x - x.mean(dim=-1, keepdim=True)",
    "x",
)


@task.mistake(
    "Mean and variance are computed along the words. Which axis holds the numbers of one word?"
)
class AlongTheWords(LayerNorm):
    def forward(self, x):
        """The words, normalised along the wrong axis."""
        if x.dim() < 2:
            return super().forward(x)
        axis = x.dim() - 2
        variance, mean = torch.var_mean(x, dim=axis, keepdim=True, correction=0)
        return self.weight * (x - mean) / (variance + self.eps).sqrt() + self.bias


@task.mistake(
    "The axis of a word is counted from the front, so the code works for only one number "
    "of axes. Count from the end."
)
class AxisTwo(LayerNorm):
    def forward(self, x):
        """The words, normalised along axis 2."""
        variance, mean = torch.var_mean(x, dim=2, keepdim=True, correction=0)
        return self.weight * (x - mean) / (variance + self.eps).sqrt() + self.bias


task.edit(
    "Scale and shift are not trainable: a tensor in `self` is not a parameter. Use `nn.Parameter`.",
    "self.weight = nn.Parameter(torch.ones(d_model))",
    "self.register_buffer('weight', torch.ones(d_model))",
    "self.bias = nn.Parameter(torch.zeros(d_model))",
    "self.register_buffer('bias', torch.zeros(d_model))",
)
task.edit(
    "Mean and variance are computed along axis 1. With three axes these are the words of a text; "
    "the numbers of one word are along the last axis, −1.",
    "x.mean(dim=-1, keepdim=True)",
    "x.mean(dim=1, keepdim=True)",
    "centred.square().mean(dim=-1, keepdim=True)",
    "centred.square().mean(dim=1, keepdim=True)",
)
task.edit(
    "Mean and variance are computed over the last two axes, so the words of a text share them. "
    "Each word has its own.",
    "x.mean(dim=-1, keepdim=True)",
    "x.mean(dim=(-2, -1), keepdim=True)",
    "centred.square().mean(dim=-1, keepdim=True)",
    "centred.square().mean(dim=(-2, -1), keepdim=True)",
)


task.edit(
    "eps is a lower limit of the variance here. It is added to the variance, in every word.",
    "(variance + self.eps).sqrt()",
    "variance.clamp(min=self.eps).sqrt()",
)


@task.harness
def harness(answer, x, weight, bias, eps):
    """How it begins, what can be trained, and what it makes of x with this scale and shift."""
    import torch

    norm = answer(x.shape[-1], eps)
    found = {}
    for name, value in (("weight", weight), ("bias", bias)):
        part = getattr(norm, name, None)
        if part is None:
            raise NotImplementedError
        found[f"{name} at the start"] = part.detach().clone()
        found[f"{name} is trained"] = any(p is part and p.requires_grad for p in norm.parameters())
        with torch.no_grad():
            part.data = value.clone()
    out = norm(x)
    if out is None:
        return None
    return {**found, "output": out}


@task.cases
def cases(seed):
    """Two numbers to check by hand; then other sizes and axes, and words of other sizes."""
    generator = torch.Generator().manual_seed(seed)

    def draw(*shape):
        return torch.randn(shape, dtype=torch.float64, generator=generator)

    x = torch.tensor([[[3.0, 7.0], [5.0, 5.0]]], dtype=torch.float64)
    weight, bias = torch.tensor([3.0, 3.0]).double(), torch.tensor([1.0, 0.0]).double()
    return [
        Case((x, weight, bias, 5.0), "the example", kind="ordinary cases"),
        Case(
            (draw(2, 3, 5), draw(5), draw(5), 1e-5), "batch, words, numbers", kind="ordinary cases"
        ),
        Case((draw(3, 4, 6) + 2, draw(6), draw(6), 0.5), "eps is large", kind="ordinary cases"),
        Case((draw(4, 3), draw(3), draw(3), 0.2), "two axes", kind="other shapes"),
        Case(
            (draw(2, 3, 4, 5) * 10 - 30, draw(5), draw(5), 0.1),
            "four axes, large numbers",
            kind="other shapes",
        ),
        Case((draw(7), draw(7), draw(7), 0.1), "a single word", kind="other shapes"),
    ]


@task.diagnostic
def what_is_odd(args, result):
    """The start and what is trained; then mean and size before scale and shift."""
    x, weight, bias, eps = (torch.as_tensor(part) for part in args)
    for name, value in (("weight", 1), ("bias", 0)):
        if (result[f"{name} at the start"] != value).any():
            return f"`{name}` should be initialized with {value} everywhere."
        if not result[f"{name} is trained"]:
            return f"`{name}` is not a parameter of the module, so it would not be trained."
    if result["output"].shape != tuple(x.shape):
        return None
    normed = (torch.as_tensor(result["output"]) - bias) / weight
    rest = "Subtract the shift from your output and divide by the scale: the rest of a word "
    if normed.mean(dim=-1).abs().max() > 1e-6:
        return rest + "should have the mean 0, but has another one."
    variance = x.var(dim=-1, correction=0)
    size, wanted = normed.square().mean(dim=-1), variance / (variance + eps)
    if not torch.allclose(size, wanted, atol=1e-6):
        alike = x.mean(dim=-1).std(correction=0) < 1e-6  # then another word's mean is as good
        mean = "" if alike else "has the mean 0, as it should, but "
        return rest + mean + ("does not have" if alike else "not") + " the right size."
    return None
