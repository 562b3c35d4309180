"""Find the bugs: a post-norm block with a wrong norm, dropout and residual connection."""

import torch
import torch.nn.functional as F
from torch import nn

from grading.author import Case, TaskFile
from grading.feedback.messages import MASK_UNUSED
from helpers import masks
from helpers.attention import MultiHeadAttention
from helpers.blocks import FeedForward

task = TaskFile(
    "find the bug",
    points=11,
    minutes=22,
    section="The block in einsum, and three defects in a published program",
    outcome="write a transformer block, tell post-norm from pre-norm, and check your block against "
    "PyTorch's own layer",
    hints=(
        "Write the post-norm column of *The six equations* next to the lines of `forward`, and "
        "compare what each one reads.",
        "Lecture 4 introduced dropout. The module `nn.Dropout` knows whether it is in training. A "
        "function has to be told, and a module finds the answer in `self.training`.",
    ),
)


# %% the cell
class BuggyBlock(nn.Module):
    """A post-norm block."""

    def __init__(self, d_model, n_heads, d_ff, dropout):
        super().__init__()
        self.attention = MultiHeadAttention(d_model, n_heads)
        self.norm_attention = nn.LayerNorm(d_model)
        self.feed_forward = FeedForward(d_model, d_ff)
        self.norm_feed_forward = nn.LayerNorm(d_model)
        self.dropout = dropout

    def forward(self, X, mask):
        """H (batch, T, d_model), of X (batch, T, d_model) under a mask (T, T)."""
        #| T1 = F.dropout(self.attention(X, mask=mask), self.dropout)
        #| T2 = self.norm_attention(T1)
        #| T3 = X + T2
        #| T4 = F.dropout(self.feed_forward(T3), self.dropout)
        #| T5 = T4 + X
        # BEGIN SOLUTION
        T1 = F.dropout(self.attention(X, mask=mask), self.dropout, training=self.training)
        T2 = X + T1
        T3 = self.norm_attention(T2)
        T4 = F.dropout(self.feed_forward(T3), self.dropout, training=self.training)
        T5 = T4 + T3
        # END SOLUTION
        return self.norm_feed_forward(T5)


# %%


@task.alternative
class InParts(nn.Module):
    """In parts, of which the mistakes replace one or another."""

    always = early = False
    second = "T3"

    def __init__(self, d_model, n_heads, d_ff, dropout):
        super().__init__()
        self.attention = MultiHeadAttention(d_model, n_heads)
        self.norm_attention = nn.LayerNorm(d_model)
        self.feed_forward = FeedForward(d_model, d_ff)
        self.norm_feed_forward = nn.LayerNorm(d_model)
        self.dropout = dropout

    def _drop(self, x):
        return F.dropout(x, self.dropout, training=self.training or self.always)

    def _attended(self, X, mask):
        return self._drop(self.attention(X, mask=mask))

    def _fed(self, x):
        return self._drop(self.feed_forward(x))

    def _after(self, X, T1):
        return X + self.norm_attention(T1) if self.early else self.norm_attention(X + T1)

    def forward(self, X, mask):
        """The output (batch, T, d_model)."""
        T1 = self._attended(X, mask)
        T3 = self._after(X, T1)
        T4 = self._fed(T3)
        start = {"T3": T3, "X": X, "T2": X + T1, "nothing": 0, "T1": T1}[self.second]
        return self._last(T4 + start)

    def _last(self, T5):
        return self.norm_feed_forward(T5)


@task.alternative
class ByModules(InParts):
    """A module for dropout."""

    def __init__(self, d_model, n_heads, d_ff, dropout):
        super().__init__(d_model, n_heads, d_ff, dropout)
        self.drop = nn.Dropout(dropout)

    def _drop(self, x):
        return self.drop(x)


@task.alternative
class ByCondition(InParts):
    """Dropped by hand, in training only."""

    def _drop(self, x):
        if not self.training:
            return x
        return x * (torch.rand_like(x) >= self.dropout) / (1 - self.dropout)


task.as_given(
    "This does the same as the given code. In the example it returns (1, −1), with the signs "
    "exchanged. In the other cases two calls differ, even in evaluation."
)


@task.mistake(
    "Dropout is now right, but there is more. Write the six equations next to the lines, and "
    "compare what each line reads."
)
class OnlyDropoutMended(InParts):
    early = True
    second = "X"


@task.mistake(
    "The norm is now right, but there is more. What does the second residual connection add? And "
    "why do two calls differ in evaluation?"
)
class OnlyNormMended(InParts):
    always = True
    second = "X"


@task.mistake(
    "The second residual connection is now right, but there is more. What does the first norm "
    "read? And why do two calls differ in evaluation?"
)
class OnlyStreamMended(InParts):
    always = early = True


@task.mistake(
    "One bug is left: dropout stays active in evaluation. Neither `F.dropout`, by default, nor an "
    "`nn.Dropout` made in `forward` knows whether the block is in training."
)
class DropoutLeft(InParts):
    always = True


@task.mistake(
    "One bug is left: only the output of attention is normalized, and then X is added. In "
    "post-norm the norm reads something else."
)
class NormLeft(InParts):
    early = True


@task.mistake(
    "One bug is left: the second residual connection adds X. So the output of attention reaches "
    "the end only through the feed-forward network."
)
class StreamLeft(InParts):
    second = "X"


@task.mistake(
    "One bug is left: the second residual connection adds T². Look at the fifth equation."
)
class FromBeforeTheNorm(InParts):
    second = "T2"


@task.mistake(
    "The second residual connection is gone: the last norm reads only the output of the "
    "feed-forward network."
)
class NothingKept(InParts):
    second = "nothing"


@task.mistake("The second residual connection adds T¹, so X is lost. Look at the fifth equation.")
class FromAttention(InParts):
    second = "T1"


@task.mistake("In evaluation everything is right. But in training nothing is dropped any more.")
class NeverDropped(InParts):
    def _drop(self, x):
        return x


@task.mistake(
    "In evaluation everything is right. But in training nothing is dropped from the output of the "
    "feed-forward network."
)
class OneDropped(InParts):
    def _fed(self, x):
        return self.feed_forward(x)


@task.mistake(
    "In evaluation everything is right. But in training nothing is dropped from the output of "
    "attention."
)
class OtherDropped(InParts):
    def _attended(self, X, mask):
        return self.attention(X, mask=mask)


@task.mistake(
    "In evaluation everything is right. But dropout is applied after the additions, so it also "
    "drops entries of the residual stream. Apply it to a sublayer's output, and then add."
)
class StreamDropped(InParts):
    def forward(self, X, mask):
        """As the model answer, but for the place of dropout."""
        T3 = self.norm_attention(self._drop(X + self.attention(X, mask=mask)))
        return self.norm_feed_forward(self._drop(self.feed_forward(T3) + T3))


@task.mistake(
    "X was normalized, and the output of attention was added to that. What does the norm read in "
    "the third equation?"
)
class NormedStream(InParts):
    def _after(self, X, T1):
        return self.norm_attention(X) + T1


@task.mistake(
    "Dropout is now right, but there is more. One bug is the order of a norm and an addition. "
    "Write the six equations next to the lines."
)
class WithoutStream(InParts):
    def forward(self, X, mask):
        """As the code as given, with T2 in the place of X in the last sum."""
        T2 = self.norm_attention(self._attended(X, mask))
        return self.norm_feed_forward(self._fed(X + T2) + T2)


@task.mistake(
    "One bug is left: the feed-forward network reads T², the words before the norm. Look at the "
    "fourth equation."
)
class FedBeforeTheNorm(InParts):
    def forward(self, X, mask):
        """As the model answer, with T2 in the fourth line."""
        T2 = X + self._attended(X, mask)
        return self.norm_feed_forward(self.norm_attention(T2) + self._fed(T2))


@task.mistake("Now dropout is active in evaluation, and not in training.")
class TurnedAround(InParts):
    def _drop(self, x):
        return F.dropout(x, self.dropout, training=not self.training)


@task.mistake("The dropout after attention is fixed. The other one is still active in evaluation.")
class OneSideMended(InParts):
    def _fed(self, x):
        return F.dropout(self.feed_forward(x), self.dropout)


@task.mistake(
    "The dropout after feed-forward is fixed. The other one is still active in evaluation."
)
class OtherSideMended(InParts):
    def _attended(self, X, mask):
        return F.dropout(self.attention(X, mask=mask), self.dropout)


@task.mistake("This is a pre-norm block. The task asks for post-norm: the equations T¹ to H.")
class PreNorm(InParts):
    def forward(self, X, mask):
        """As the model answer, with the norms before the parts."""
        T3 = X + self._attended(self.norm_attention(X), mask)
        return T3 + self._fed(self.norm_feed_forward(T3))


@task.mistake("The last norm is missing: its output is H.")
class NoLastNorm(InParts):
    def _last(self, T5):
        return T5


@task.mistake(MASK_UNUSED)
class MaskForgotten(InParts):
    def _attended(self, X, mask):
        return self._drop(self.attention(X))


@task.harness
def harness(answer, sizes, state, X, mask):
    """Build the block, give it these weights, and run it in evaluation and in training."""
    import torch

    block = answer(**sizes).double()
    want = {name: tuple(value.shape) for name, value in state.items()}
    have = {name: tuple(value.shape) for name, value in block.state_dict().items()}
    if have != want:
        odd = sorted(name for name in {*have, *want} if have.get(name) != want.get(name))
        raise ValueError(f"the layers are not as given: look at {odd[0]}")
    block.load_state_dict(state)
    block.eval()
    out = block(X, mask)
    if out is None:
        return None

    def drops():
        first = block(X, mask)
        return any(not torch.equal(block(X, mask), first) for _ in range(4))

    alike = X.shape[0] == 8  # the example stands there eight times, to catch dropout
    found = {"H": out[:1] if alike else out, "drops in evaluation": drops()}
    block.train()
    for name, other in (
        ("attention", block.feed_forward.down_proj),
        ("feed-forward", block.attention.W_out),
    ):
        kept = {key: value.clone() for key, value in other.state_dict().items()}
        with torch.no_grad():  # the other part now adds nothing, so it cannot differ
            other.weight.zero_()
            other.bias.zero_()
        found[f"drops {name} in training"] = drops()
        other.load_state_dict(kept)
    norms = block.norm_attention, block.norm_feed_forward
    with torch.no_grad():
        for layer in (block.feed_forward.down_proj, block.attention.W_out):
            layer.weight.zero_()
            layer.bias.zero_()
    found["drops the stream in training"] = drops()  # both parts now add nothing
    for name, layer in (
        ("attention", block.attention.W_out),
        ("feed-forward", block.feed_forward.down_proj),
    ):
        with torch.no_grad():  # to words of 0 this part alone adds a 1 everywhere
            for norm in norms:
                norm.weight.fill_(1.0)
                norm.bias.zero_()
            layer.bias.fill_(1.0)
            low = block(torch.zeros(800, 1, sizes["d_model"]).double(), mask[:1, :1]) < -1e-9
            layer.bias.zero_()
        off = low.double().mean().item() - sizes["dropout"]
        near = sizes["d_model"] < 6 or abs(off) < 0.05  # of two numbers one is always the lower
        found[f"share dropped of {name}"] = "as asked" if near else "more" if off > 0 else "less"
    return found


@task.cases
def cases(seed):
    """One word that nothing is added to; then all sizes different."""
    generator = torch.Generator().manual_seed(seed)

    def draw(*shape):
        return torch.randn(shape, dtype=torch.float64, generator=generator)

    found = []
    for batch, T, d_model, n_heads, d_ff, dropout in (
        (1, 1, 2, 1, 3, 0.5),
        (2, 4, 6, 2, 9, 0.3),
        (3, 5, 8, 4, 11, 0.1),
    ):
        sizes = {"d_model": d_model, "n_heads": n_heads, "d_ff": d_ff, "dropout": dropout}
        shapes = {name: p.shape for name, p in BuggyBlock(**sizes).state_dict().items()}
        state = {name: 0.7 * draw(*shape) for name, shape in shapes.items()}
        X, note = draw(batch, T, d_model), f"{T} words, {n_heads} heads, dropout {dropout}"
        if T == 1:
            keep = {"norm_attention.weight": 1.0, "norm_feed_forward.weight": 1.0}
            state = {
                name: torch.full_like(value, keep.get(name, 0.0)) for name, value in state.items()
            }
            state["attention.W_out.bias"] = torch.tensor([1.0, 5.0]).double()
            X = torch.tensor([8.0, 6.0]).double().expand(8, 1, 2).clone()
            note = "the example"
        found.append(Case((sizes, state, X, masks.causal_mask(T)), note, kind="ordinary cases"))
    return found


@task.diagnostic
def what_is_seen(args, result):
    """Dropout where it should not be, or not where it should."""
    if result["drops in evaluation"]:
        return "In evaluation, two calls with the same input differ."
    stream = (
        "In training, entries of the residual stream itself are dropped, or of what a norm reads."
    )
    if not args[1]["feed_forward.down_proj.weight"].any():  # the example: little can be dropped
        arrives = result["H"].flatten()[0] < 0  # what attention adds exchanges the signs
        if arrives and not result["drops attention in training"]:
            return "In training, nothing is dropped from the output of attention."
        return stream if result["drops feed-forward in training"] else None
    # If H is wrong, what is dropped may just not reach the end.
    H = harness(BuggyBlock, *args)["H"]
    right = torch.allclose(torch.as_tensor(result["H"]), H.detach(), atol=1e-6)
    for name in ("attention", "feed-forward"):
        if right and not result[f"drops {name} in training"]:
            return f"In training, nothing is dropped from the output of {name}."
    if result["drops the stream in training"]:
        return stream
    return None
