"""The feed-forward network, from a blank page."""

import torch
import torch.nn.functional as F
from torch import nn

from grading.author import Case, TaskFile

task = TaskFile(
    "implement",
    points=4,
    minutes=8,
    two_at_once=True,
    section="The feed-forward network computes at each position",
    outcome="write a {term}`feed-forward network`, and say what it adds to attention",
    forbidden=("helpers.blocks.FeedForward",),
    hints=("Without a nonlinearity between them, two linear layers would be one.",),
)


# %% the cell
class FeedForwardNetwork(nn.Module):
    """Two linear layers with a ReLU between them, for each word alone."""

    def __init__(self, d_model, d_ff):
        """Layers `up_proj` and `down_proj`, with biases."""
        super().__init__()
        # BEGIN SOLUTION
        self.up_proj = nn.Linear(d_model, d_ff)
        self.down_proj = nn.Linear(d_ff, d_model)
        # END SOLUTION

    def forward(self, x):
        """The network's output for the words x (…, d_model)."""
        # BEGIN SOLUTION
        return self.down_proj(F.relu(self.up_proj(x)))
        # END SOLUTION


# %%


@task.alternative
class ByClamp(nn.Module):
    """ReLU by hand."""

    def __init__(self, d_model, d_ff):
        super().__init__()
        self.down_proj = nn.Linear(d_ff, d_model)
        self.up_proj = nn.Linear(d_model, d_ff)

    def forward(self, x):
        """What it makes of the words."""
        return self.down_proj(self.up_proj(x).clamp(min=0))


task.edit(
    "There is no ReLU. Two linear layers in a row are one linear layer.",
    "F.relu(self.up_proj(x))",
    "self.up_proj(x)",
)
task.edit(
    "The ReLU is at the end, so only numbers of 0 or more can be added to the residual stream.",
    "self.down_proj(F.relu(self.up_proj(x)))",
    "F.relu(self.down_proj(self.up_proj(x)))",
)
task.edit(
    "There is a second ReLU, at the end, so only numbers of 0 or more can be added to the "
    "residual stream.",
    "self.down_proj(F.relu(self.up_proj(x)))",
    "F.relu(self.down_proj(F.relu(self.up_proj(x))))",
)
task.edit(
    "The ReLU is applied to the input, before the first layer.",
    "F.relu(self.up_proj(x))",
    "self.up_proj(F.relu(x))",
)
task.edit(
    "The residual connection is in here already. In the block it would then be added twice.",
    "return self.down_proj",
    "return x + self.down_proj",
)
task.edit(
    "This is GELU, which newer models use. The task asks for ReLU.",
    "F.relu",
    "F.gelu",
)
task.edit(
    "The layers have no biases.",
    "nn.Linear(d_model, d_ff)",
    "nn.Linear(d_model, d_ff, bias=False)",
    "nn.Linear(d_ff, d_model)",
    "nn.Linear(d_ff, d_model, bias=False)",
)
task.edit(
    "Each word got a row that sums to 1, like attention weights: softmax does not belong here.",
    "F.relu(self.up_proj(x))",
    "self.up_proj(x).softmax(dim=-1)",
)
task.edit(
    "The maximum over the entries of a word replaces all of them. A ReLU acts on each number "
    "separately.",
    "F.relu(self.up_proj(x))",
    "self.up_proj(x).amax(dim=-1, keepdim=True).clamp(min=0).expand_as(self.up_proj(x))",
)
task.edit(
    "`torch.max(…, 0)` takes the largest numbers along axis 0 and also returns their positions. A "
    "ReLU compares each number with 0.",
    "F.relu(self.up_proj(x))",
    "torch.max(self.up_proj(x), 0)",
)
task.edit(
    "The numbers above 0 were set to 0, and those below were kept. A ReLU does the opposite.",
    "F.relu(self.up_proj(x))",
    "self.up_proj(x).clamp(max=0)",
)


@task.harness
def harness(answer, d_ff, state, x):
    """The shapes of the layers, and what comes out with these weights."""
    import torch

    network = answer(x.shape[-1], d_ff).double()
    have = {name: tuple(value.shape) for name, value in network.state_dict().items()}
    if not have:
        raise NotImplementedError
    found = {f"shape of {name}": have.get(name) for name in state}
    with torch.no_grad():
        for name, value in network.named_parameters():
            if name in state and state[name].shape == value.shape:
                value.copy_(state[name])
    out = network(x)
    return None if out is None else {**found, "output": out}


@task.cases
def cases(seed):
    """Words of two numbers; then other sizes and axes."""
    generator = torch.Generator().manual_seed(seed)

    def draw(*shape):
        return torch.randn(shape, dtype=torch.float64, generator=generator)

    found = []
    for d_model, d_ff, lead in ((2, 3, (1, 4)), (3, 7, (2, 5)), (5, 2, (3,)), (4, 9, (2, 2, 3))):
        state = {
            "up_proj.weight": draw(d_ff, d_model),
            "up_proj.bias": draw(d_ff),
            "down_proj.weight": draw(d_model, d_ff),
            "down_proj.bias": draw(d_model),
        }
        note = f"d_model {d_model}, d_ff {d_ff}, {len(lead) + 1} axes"
        kind = "ordinary cases" if len(lead) == 2 else "other shapes"
        found.append(Case((d_ff, state, draw(*lead, d_model)), note, kind=kind))
    return found


@task.diagnostic
def which_layer(args, result):
    """The first layer of another shape."""
    for name, value in args[1].items():
        came = result[f"shape of {name}"]
        if came is None:
            return f"There is no `{name}`."
        if came != tuple(value.shape):
            return f"`{name}` has the shape {came}; expected {tuple(value.shape)}."
    return None
