"""A transformer block, pre-norm and post-norm, from a blank page."""

import numpy as np
import torch
from torch import nn

from grading.author import Case, TaskFile
from grading.feedback.messages import MASK_UNUSED, NORMS_SWAPPED, TRUTH_SWAPPED
from grading.tasks.lecture_07.FeedForwardNetwork import FeedForwardNetwork
from grading.tasks.lecture_07.LayerNorm import LayerNorm
from helpers.attention import MultiHeadAttention
from helpers.masks import causal_mask

task = TaskFile(
    "implement",
    points=12,
    minutes=25,
    two_at_once=True,
    section="Pre-norm and post-norm",
    outcome="write a transformer block, tell post-norm from pre-norm, and check your block against "
    "PyTorch's own layer",
    forbidden=("helpers.blocks.TransformerBlock",),
    hints=(
        "The lecture has *The six equations* of both orders. Write the post-norm column first.",
        "In pre-norm, what does a sublayer read, and what is its output added to?",
    ),
)


# %% the cell
class Block(nn.Module):
    """A transformer block."""

    def __init__(self, d_model, n_heads, d_ff, norm):
        """`norm` is "pre" or "post"."""
        super().__init__()
        self.attention = MultiHeadAttention(d_model, n_heads)
        # BEGIN SOLUTION
        self.norm_attention = LayerNorm(d_model)
        self.feed_forward = FeedForwardNetwork(d_model, d_ff)
        self.norm_feed_forward = LayerNorm(d_model)
        self.norm = norm
        # END SOLUTION

    def forward(self, x, mask):
        """The residual stream (batch, T, d_model) after this block; x is the one before it."""
        # BEGIN SOLUTION
        if self.norm == "post":
            x = self.norm_attention(x + self.attention(x, mask=mask))
            return self.norm_feed_forward(x + self.feed_forward(x))
        x = x + self.attention(self.norm_attention(x), mask=mask)
        return x + self.feed_forward(self.norm_feed_forward(x))
        # END SOLUTION


# %%


@task.alternative
class InEquations(nn.Module):
    """As six equations, with PyTorch's norm."""

    def __init__(self, d_model, n_heads, d_ff, norm):
        super().__init__()
        self.attention = MultiHeadAttention(d_model, n_heads)
        self.norm_attention, self.norm_feed_forward = nn.LayerNorm(d_model), nn.LayerNorm(d_model)
        self.feed_forward = FeedForwardNetwork(d_model, d_ff)
        self.post = norm == "post"

    def forward(self, x, mask):
        """The stream after this block."""
        for part, norm in (
            (lambda y: self.attention(y, mask=mask), self.norm_attention),
            (self.feed_forward, self.norm_feed_forward),
        ):
            x = x + part(x if self.post else norm(x))
            x = norm(x) if self.post else x
        return x


PRE = "        x = x + self.attention(self.norm_attention(x), mask=mask)\n"
POST = "            x = self.norm_attention(x + self.attention(x, mask=mask))\n"

task.edit(
    "The argument `norm` is not used: all blocks are pre-norm.",
    'if self.norm == "post":',
    "if False:",
)
task.edit(
    "The argument `norm` is not used: all blocks are post-norm.",
    'if self.norm == "post":',
    "if True:",
)
task.edit("Pre-norm and post-norm are swapped.", '== "post"', '!= "post"')
task.edit(
    "Post-norm: the output of attention is normalized before it is added. Normalize the sum.",
    "self.norm_attention(x + self.attention(x, mask=mask))",
    "x + self.norm_attention(self.attention(x, mask=mask))",
)
task.edit(
    "Post-norm: the outputs of attention and feed-forward are normalized before they are added. "
    "Normalize the sums.",
    "self.norm_attention(x + self.attention(x, mask=mask))",
    "x + self.norm_attention(self.attention(x, mask=mask))",
    "self.norm_feed_forward(x + self.feed_forward(x))",
    "x + self.norm_feed_forward(self.feed_forward(x))",
)
task.edit(
    "Post-norm: the second residual connection adds the block's input. It should add the output "
    "of the first norm.",
    POST,
    "            start = x\n" + POST,
    "self.norm_feed_forward(x + self.feed_forward(x))",
    "self.norm_feed_forward(start + self.feed_forward(x))",
)
task.edit(
    "Post-norm: a residual connection is missing.",
    "self.norm_feed_forward(x + self.feed_forward(x))",
    "self.norm_feed_forward(self.feed_forward(x))",
)
task.edit(
    "Post-norm: the output of attention replaces the residual stream. Add it.",
    "self.norm_attention(x + self.attention(x, mask=mask))",
    "self.norm_attention(self.attention(x, mask=mask))",
)
task.edit(
    "Pre-norm: the residual stream itself was normalized. Only what a sublayer *reads* goes "
    "through the norm; its output is added to x without the norm.",
    PRE,
    "        x = self.norm_attention(x)\n        x = x + self.attention(x, mask=mask)\n",
)
task.edit(
    "Pre-norm: the residual stream itself was normalized, before both sublayers. Their outputs "
    "are added to the residual stream as it was before the norm.",
    PRE,
    "        x = self.norm_attention(x)\n        x = x + self.attention(x, mask=mask)\n",
    "return x + self.feed_forward(self.norm_feed_forward(x))",
    "x = self.norm_feed_forward(x)\n        return x + self.feed_forward(x)",
)
task.edit(
    "Pre-norm: the outputs of the sublayers are normalized. Normalize what they *read*.",
    "self.attention(self.norm_attention(x), mask=mask)",
    "self.norm_attention(self.attention(x, mask=mask))",
    "self.feed_forward(self.norm_feed_forward(x))",
    "self.norm_feed_forward(self.feed_forward(x))",
)
task.edit(
    "Pre-norm: a residual connection is missing. The output of attention replaces the residual "
    "stream.",
    "x = x + self.attention(self.norm_attention(x)",
    "x = self.attention(self.norm_attention(x)",
)
task.edit(
    "Pre-norm: the output of feed-forward replaces the residual stream. Add it.",
    "return x + self.feed_forward(self.norm_feed_forward(x))",
    "return self.feed_forward(self.norm_feed_forward(x))",
)
task.edit(
    "Pre-norm: the second residual connection adds the block's input, so the output of attention "
    "is lost from the residual stream.",
    PRE,
    "        start = x\n" + PRE,
    "return x + self.feed_forward(self.norm_feed_forward(x))",
    "return start + self.feed_forward(self.norm_feed_forward(x))",
)
task.edit(
    "In both orders the second residual connection adds the block's input. By then, the residual "
    "stream also holds the output of attention.",
    POST,
    "            start = x\n" + POST,
    "self.norm_feed_forward(x + self.feed_forward(x))",
    "self.norm_feed_forward(start + self.feed_forward(x))",
    PRE,
    "        start = x\n" + PRE,
    "return x + self.feed_forward(self.norm_feed_forward(x))",
    "return start + self.feed_forward(self.norm_feed_forward(x))",
)
task.edit(
    "Pre-norm: feed-forward reads the residual stream from before attention.",
    PRE,
    "        start = x\n" + PRE,
    "return x + self.feed_forward(self.norm_feed_forward(x))",
    "return x + self.feed_forward(self.norm_feed_forward(start))",
)
task.edit(
    "Pre-norm: only the queries go through the norm. Keys and values read the residual stream "
    "without it: pass attention a single input.",
    "self.attention(self.norm_attention(x), mask=mask)",
    "self.attention(self.norm_attention(x), x, mask=mask)",
)
task.edit(
    "Pre-norm: feed-forward reads the residual stream without a norm.",
    "self.feed_forward(self.norm_feed_forward(x))",
    "self.feed_forward(x)",
)
task.edit(
    "Pre-norm: there is a norm at the end of the block. The final norm belongs to the whole "
    "stack, not to a block.",
    "return x + self.feed_forward(self.norm_feed_forward(x))",
    "return self.norm_feed_forward(x + self.feed_forward(self.norm_feed_forward(x)))",
)
task.edit(
    "One norm is used for both sublayers, under both names or twice. Each sublayer has a norm of "
    "its own.",
    "self.norm_feed_forward = LayerNorm(d_model)",
    "self.norm_feed_forward = self.norm_attention",
)
task.edit(
    "The norm of attention is also used for feed-forward, which has a norm of its own.",
    "return self.norm_feed_forward(x + self.feed_forward(x))",
    "return self.norm_attention(x + self.feed_forward(x))",
    "self.feed_forward(self.norm_feed_forward(x))",
    "self.feed_forward(self.norm_attention(x))",
)
task.edit(
    NORMS_SWAPPED,
    POST,
    POST.replace("norm_attention", "norm_feed_forward"),
    "return self.norm_feed_forward(x",
    "return self.norm_attention(x",
    PRE,
    PRE.replace("norm_attention", "norm_feed_forward"),
    "self.feed_forward(self.norm_feed_forward(x))",
    "self.feed_forward(self.norm_attention(x))",
)
task.edit(
    MASK_UNUSED,
    POST,
    POST.replace(", mask=mask", ""),
    PRE,
    PRE.replace(", mask=mask", ""),
)


@task.harness
def harness(answer, sizes, state, x, mask):
    """Build the block, give it these weights, and run it."""
    block = answer(*sizes).double()
    want = {name: tuple(value.shape) for name, value in state.items()}
    have = {name: tuple(value.shape) for name, value in block.state_dict().items()}
    if not any(name.startswith("norm_attention") for name in have):
        raise NotImplementedError
    if have != want:
        odd = sorted(name for name in {*have, *want} if have.get(name) != want.get(name))
        came, needed = have.get(odd[0]), want.get(odd[0])
        raise ValueError(f"`{odd[0]}` has the shape {came}; expected {needed}")
    block.load_state_dict(state)
    return block(x, mask)


@task.cases
def cases(seed):
    """Both kinds in three sizes, under causal masks and others."""
    generator = torch.Generator().manual_seed(seed)

    def draw(*shape):
        return torch.randn(shape, dtype=torch.float64, generator=generator)

    found = []
    for batch, T, d_model, n_heads, d_ff in ((1, 3, 4, 1, 5), (2, 4, 6, 2, 9), (3, 5, 8, 4, 3)):
        for norm in ("post", "pre"):
            sizes = (d_model, n_heads, d_ff, norm)
            shapes = {name: p.shape for name, p in Block(*sizes).state_dict().items()}
            state = {name: 0.8 * draw(*shape) for name, shape in shapes.items()}
            mask = causal_mask(T)
            if n_heads == 2:
                mask = torch.rand(T, T, generator=generator) < 0.6
                mask.fill_diagonal_(True)
            note = f"{norm}-norm, {batch} text{'s' * (batch > 1)} of {T} words"
            kind = "ordinary cases" if norm == "post" else "pre-norm"
            found.append(Case((sizes, state, draw(batch, T, d_model), mask), note, kind=kind))
    return found


@task.diagnostic
def last_norm(args, result):
    """Of post-norm, whether the last norm was the last."""
    sizes, state, _, _ = args
    scale, shift = state["norm_feed_forward.weight"], state["norm_feed_forward.bias"]
    rest = (torch.as_tensor(result) - shift) / scale
    if sizes[-1] == "post" and rest.mean(dim=-1).abs().max() > 1e-6:
        return "In post-norm the last step is `norm_feed_forward`, but this is not its output."
    return None


@task.diagnostic
def other_mask(args, result):
    """Whether the result is that of another mask, or of none."""
    *sizes_state_x, mask = args
    for other, why in ((None, MASK_UNUSED), (~mask, TRUTH_SWAPPED)):
        if np.allclose(result, harness(Block, *sizes_state_x, other).detach(), equal_nan=True):
            return why
    return None
