"""A feed-forward network with a gate."""

import torch
import torch.nn.functional as F

from grading.author import Case, TaskFile

task = TaskFile(
    "implement",
    points=5,
    minutes=5,
    section="What today's models changed",
    two_at_once=True,
    outcome="write the parts that Llama exchanges in a block, count their parameters, and load "
    "such a model",
    hints=("`nn.Linear` computes x @ W.T.", "In PyTorch, SiLU is `F.silu`."),
)


# %% the cell
def gated_feed_forward(x, gate, up, down):
    """SwiGLU of x (T, d); gate, up (d_ff, d) and down (d, d_ff) as nn.Linear stores them."""
    # BEGIN SOLUTION
    inside = F.silu(x @ gate.T) * (x @ up.T)  # (T, d_ff)
    return inside @ down.T  # (T, d)
    # END SOLUTION


# %%


@task.alternative
def by_linear(x, gate, up, down):
    """With a sigmoid written out."""
    gated = F.linear(x, gate)
    return F.linear(gated / (1 + (-gated).exp()) * F.linear(x, up), down)


INSIDE = "F.silu(x @ gate.T) * (x @ up.T)"
task.edit(
    "SiLU is applied to the wrong one of the two: it belongs to the gate.",
    INSIDE,
    "(x @ gate.T) * F.silu(x @ up.T)",
)
task.edit(
    "The gate is a sigmoid alone. SiLU is z times the sigmoid of z.",
    INSIDE,
    "torch.sigmoid(x @ gate.T) * (x @ up.T)",
)
task.edit("The gate uses ReLU. The task asks for SiLU.", INSIDE, "F.relu(x @ gate.T) * (x @ up.T)")
task.edit("The gate uses GELU. The task asks for SiLU.", INSIDE, "F.gelu(x @ gate.T) * (x @ up.T)")
task.edit(
    "SiLU was applied to the product. Apply it to the gate only.",
    INSIDE,
    "F.silu((x @ gate.T) * (x @ up.T))",
)
task.edit("The two were added. A gate multiplies.", INSIDE, "F.silu(x @ gate.T) + (x @ up.T)")
task.edit("There is no nonlinearity: SiLU is missing.", INSIDE, "(x @ gate.T) * (x @ up.T)")
task.edit("SiLU is applied to both.", INSIDE, "F.silu(x @ gate.T) * F.silu(x @ up.T)")
task.edit("`up` was left out: nothing is gated.", INSIDE, "F.silu(x @ gate.T)")
task.edit("`gate` was left out.", INSIDE, "F.silu(x @ up.T)")


task.edit(
    "`down` is not transposed. All three matrices have a row for each output: x @ W.T.",
    "inside @ down.T",
    "inside @ down",
)


@task.mistake("The matrices are used as they are. They have a row for each output: x @ W.T.")
def not_turned(x, gate, up, down):
    return (F.silu(x @ gate) * (x @ up)) @ down


@task.mistake("x was added. The residual connection is outside this function.")
def with_residual(x, gate, up, down):
    return x + gated_feed_forward(x, gate, up, down)


@task.cases
def cases(seed):
    """One number; then random ones."""
    generator = torch.Generator().manual_seed(seed)

    def draw(*shape):
        return torch.randn(shape, dtype=torch.float64, generator=generator)

    found = []
    for T, d, d_ff in ((1, 2, 2), (3, 4, 7), (2, 6, 3)):
        found.append(
            Case((draw(T, d), draw(d_ff, d), draw(d_ff, d), draw(d, d_ff)), kind="ordinary cases")
        )
    return found
