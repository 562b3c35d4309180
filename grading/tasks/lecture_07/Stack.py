"""A stack of blocks, with the norm that pre-norm needs at its end."""

import torch
from torch import nn

from grading.author import Case, TaskFile
from grading.feedback.messages import MASK_UNUSED
from grading.tasks.lecture_07.Block import Block
from grading.tasks.lecture_07.LayerNorm import LayerNorm
from helpers.masks import causal_mask

task = TaskFile(
    "implement",
    points=7,
    minutes=12,
    two_at_once=True,
    section="Pre-norm and post-norm",
    outcome="write a residual connection and a layer norm, and say what each of them preserves",
    forbidden=("helpers.blocks.TransformerStack",),
    hints=(
        "How does PyTorch find the parameters of modules in a list?",
        "In which of the two orders does the residual stream leave the last block without having "
        "been normalized?",
    ),
)


# %% the cell
class Stack(nn.Module):
    """A stack of transformer blocks."""

    def __init__(self, n_layers, d_model, n_heads, d_ff, norm):
        """`n_layers` blocks in `self.blocks`; in pre-norm, `self.norm` follows the last one."""
        super().__init__()
        # BEGIN SOLUTION
        self.blocks = nn.ModuleList(Block(d_model, n_heads, d_ff, norm) for _ in range(n_layers))
        self.norm = LayerNorm(d_model) if norm == "pre" else nn.Identity()
        # END SOLUTION

    def forward(self, x, mask):
        """The residual stream (batch, T, d_model) after all blocks."""
        # BEGIN SOLUTION
        for block in self.blocks:
            x = block(x, mask)  # (batch, T, d_model)
        return self.norm(x)
        # END SOLUTION


# %%


@task.alternative
class ByAppending(nn.Module):
    """With a list that grows, and a condition."""

    def __init__(self, n_layers, d_model, n_heads, d_ff, norm):
        super().__init__()
        self.blocks = nn.ModuleList()
        for _ in range(n_layers):
            self.blocks.append(Block(d_model, n_heads, d_ff, norm))
        if norm == "pre":
            self.norm = nn.LayerNorm(d_model)

    def forward(self, x, mask):
        """The stream after all blocks."""
        for block in self.blocks:
            x = block(x, mask)
        return self.norm(x) if hasattr(self, "norm") else x


task.edit(
    "The blocks are in a plain list or tuple, so PyTorch does not find their parameters and would "
    "train none of them. Use `nn.ModuleList`.",
    "nn.ModuleList(Block(d_model, n_heads, d_ff, norm) for _ in range(n_layers))",
    "[Block(d_model, n_heads, d_ff, norm) for _ in range(n_layers)]",
)
task.edit(
    "`nn.Sequential` passes one argument from block to block, but each block takes two. Loop over "
    "the blocks.",
    "nn.ModuleList(Block(d_model, n_heads, d_ff, norm) for _ in range(n_layers))",
    "nn.Sequential(*(Block(d_model, n_heads, d_ff, norm) for _ in range(n_layers)))",
    "        for block in self.blocks:\n            x = block(x, mask)",
    "        x = self.blocks(x, mask)",
)


@task.mistake(
    "All blocks are the same module: it is in the list several times. Create a new one for each "
    "layer."
)
class OneBlock(Stack):
    def __init__(self, n_layers, d_model, n_heads, d_ff, norm):
        super().__init__(n_layers, d_model, n_heads, d_ff, norm)
        self.blocks = nn.ModuleList([self.blocks[0]] * n_layers)


task.edit(
    "The final norm is missing. In pre-norm nothing else normalizes the residual stream.",
    'LayerNorm(d_model) if norm == "pre" else nn.Identity()',
    "nn.Identity()",
)
task.edit(
    "There is a final norm in post-norm, too. Its last block has already normalized the residual "
    "stream.",
    'LayerNorm(d_model) if norm == "pre" else nn.Identity()',
    "LayerNorm(d_model)",
)
task.edit(
    "A post-norm stack has no final norm, not even an unused one: it would count among the "
    "trainable parameters.",
    'self.norm = LayerNorm(d_model) if norm == "pre" else nn.Identity()',
    "self.norm, self.order = LayerNorm(d_model), norm",
    "return self.norm(x)",
    'return self.norm(x) if self.order == "pre" else x',
)
task.edit(
    "There is a final norm in post-norm, but none in pre-norm. Which of the two leaves the "
    "residual stream without a norm?",
    'norm == "pre"',
    'norm == "post"',
)
task.edit(
    "The final norm exists, but it is not used.",
    "return self.norm(x)",
    "return x",
)
task.edit(
    "The norm is applied after each block. It belongs after the last one.",
    "x = block(x, mask)",
    "x = self.norm(block(x, mask))",
    "return self.norm(x)",
    "return x",
)
task.edit(
    "The blocks are applied in reverse order.",
    "for block in self.blocks",
    "for block in reversed(self.blocks)",
)
task.edit(
    "Each block reads the stack's input, so only the last one counts. Pass each block the output "
    "of the one before it.",
    "            x = block(x, mask)",
    "            y = block(x, mask)",
    "return self.norm(x)",
    "return self.norm(y)",
)
task.edit(
    "There is one block too few.",
    "range(n_layers)",
    "range(n_layers - 1)",
)
task.edit(
    MASK_UNUSED,
    "x = block(x, mask)",
    "x = block(x, torch.ones_like(mask))",
)
task.edit(
    "Only the first block gets the mask, so the second block shows each word what the mask hides.",
    "        for block in self.blocks:\n            x = block(x, mask)",
    "        for i, block in enumerate(self.blocks):\n"
    "            x = block(x, mask if i == 0 else torch.ones_like(mask))",
)


@task.harness
def harness(answer, sizes, scale, seed, x, mask):
    """How many numbers are trained; and the output with random weights, which follow a seed."""
    import torch

    stack = answer(*sizes).double()
    if not hasattr(stack, "blocks"):
        raise NotImplementedError
    generator = torch.Generator().manual_seed(seed)
    parameters, seen = dict(stack.named_parameters()), set(stack.parameters())
    for i, block in enumerate(stack.blocks):  # those that PyTorch does not see are filled as well
        own = block.double().named_parameters()
        parameters |= {f"blocks.{i}.{name}": p for name, p in own if p not in seen}
    for _, p in sorted(parameters.items()):
        with torch.no_grad():
            p.copy_(scale * torch.randn(p.shape, generator=generator, dtype=p.dtype))
    return {
        "trainable parameters": sum(p.numel() for p in stack.parameters()),
        "blocks": len(stack.blocks),
        "output": stack(x, mask),
    }


@task.cases
def cases(seed):
    """Both kinds; one block and several."""
    generator = torch.Generator().manual_seed(seed)
    found = []
    for n_layers, batch, T, d_model, n_heads, d_ff, norm in (
        (2, 1, 3, 4, 1, 5, "pre"),
        (2, 2, 4, 6, 2, 7, "post"),
        (3, 2, 5, 6, 3, 4, "pre"),
        (1, 3, 2, 4, 2, 3, "post"),
        (1, 2, 3, 8, 2, 5, "pre"),
        (4, 1, 6, 4, 2, 9, "post"),
    ):
        x = torch.randn(batch, T, d_model, dtype=torch.float64, generator=generator)
        sizes = (n_layers, d_model, n_heads, d_ff, norm)
        note = f"{n_layers} blocks, {norm}-norm" if n_layers > 1 else f"one block, {norm}-norm"
        kind = "ordinary cases" if norm == "pre" else "post-norm"
        found.append(Case((sizes, 0.8, 10 * seed + len(found), x, causal_mask(T)), note, kind=kind))
    return found


@task.diagnostic
def counted(args, result):
    """How many numbers there are to train."""
    right = harness(Stack, *args)
    for name in ("blocks", "trainable parameters"):
        if result[name] != right[name]:
            return f"{name}: {result[name]}; expected {right[name]}."
    return None
