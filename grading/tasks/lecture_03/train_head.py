"""Train a head that says when a wish cannot be met."""

import torch
from torch import nn

from grading.author import Case, Enough, TaskFile
from helpers.attention import SelfAttention
from helpers.training import set_seed, train

task = TaskFile(
    "train",
    points=12,
    minutes=32,
    section="A head that learns to look something up",
    outcome="write one head as a module, check it against other implementations, and "
    "read what a trained one has learned",
    threshold=0.92,
    enough=Enough(200, 32, 0.01),
    rtol=0.0,
    atol=0.4,
    hints=(
        "`torch.rand(batch, 32, generator=g).argsort(dim=1)` gives a random order of all "
        "labels for each swap. The first 16 are brought. Where do you find "
        "labels that nobody brought?",
        "Sample two wishes for each gardener, one that can be met and one that cannot, and "
        "choose between them with `torch.where`. The same condition chooses the target: the "
        "kind of seeds in the wanted jar, or 8.",
        "The lecture's model is a head followed by an `nn.Linear`, the output layer. It needs one "
        "change: its output layer must have nine outputs. `make_batch` is a function "
        "without arguments: `lambda: …`, as in the lecture.",
    ),
)


class Finder(nn.Module):
    """One head, then an output layer with an answer for wishes that cannot be met."""

    def __init__(self, d_k=16):
        super().__init__()
        self.head = SelfAttention(128, d_k, d_v=16)
        self.lm_head = nn.Linear(16, 9)

    def forward(self, x):
        """Logits (batch, T, 9) of the gardeners x (batch, T, 128)."""
        return self.lm_head(self.head(x))


def _batch(table, g, absent, n=32, T=16, out_of=0, own=False):
    """Swaps in which a share `absent` of the wishes is for a label that nobody brought.

    `out_of` is how many of the brought labels count as not brought. With `own`, the right answers
    name the seeds of whoever wishes.
    """
    order = torch.rand(n, 32, generator=g).argsort(dim=1)
    labels, others = order[:, :T], order[:, T - out_of :]
    where = torch.randint(T, (n, T), generator=g)
    missing = torch.rand(n, T, generator=g) < absent
    other = torch.randint(32 - T + out_of, (n, T), generator=g)
    wishes = torch.where(missing, others.gather(1, other), labels.gather(1, where))
    seeds = torch.randint(8, (n, T), generator=g)
    x = table[labels] + table[32 + wishes] + table[64 + seeds]
    answers = seeds if own else seeds.gather(1, where)
    return x, answers.masked_fill(missing, 8)


def _trained(table, absent=0.25, steps=200, lr=0.01, d_k=16, **changes):
    g = set_seed(0)
    model = Finder(d_k)
    train(model, lambda: _batch(table, g, absent, **changes), steps, lr)
    return model


# %% given
def embed(table, labels, wishes, seeds):
    """One vector (…, 128) for each gardener: a sum of three rows of the table (72, 128)."""
    return table[labels] + table[32 + wishes] + table[64 + seeds]


def draw_swap(batch, T, g):
    """Labels, wishes, seeds and position of the wanted jar, (batch, T) each; all can be met."""
    labels = torch.rand(batch, 32, generator=g).argsort(dim=1)[:, :T]
    where = torch.randint(T, (batch, T), generator=g)
    seeds = torch.randint(8, (batch, T), generator=g)
    return labels, labels.gather(1, where), seeds, where


# %%


# %% the cell
def train_head(table):
    """A trained module from gardeners (batch, T, 128) to logits (batch, T, 9)."""
    # BEGIN SOLUTION
    g = set_seed(0)

    def draw_with_absent(batch, T):
        order = torch.rand(batch, 32, generator=g).argsort(dim=1)  # (batch, 32)
        labels, others = order[:, :T], order[:, T:]  # brought, not brought
        where = torch.randint(T, (batch, T), generator=g)  # (batch, T)
        absent = torch.rand(batch, T, generator=g) < 0.25  # (batch, T)
        wishes = torch.where(absent, others.gather(1, where), labels.gather(1, where))
        seeds = torch.randint(8, (batch, T), generator=g)  # (batch, T)
        answers = torch.where(absent, 8, seeds.gather(1, where))  # (batch, T)
        return embed(table, labels, wishes, seeds), answers

    class Finder(nn.Module):
        def __init__(self):
            super().__init__()
            self.head = SelfAttention(128, 16, d_v=16)
            self.lm_head = nn.Linear(16, 9)

        def forward(self, x):
            return self.lm_head(self.head(x))

    model = Finder()
    train(model, lambda: draw_with_absent(32, 16), steps=200, lr=0.01)
    return model
    # END SOLUTION


# %%


task.mistake(
    "Wishes that can be met are answered, but “nobody”, answer 8, is never predicted. In your "
    "training swaps, do some gardeners wish for a label that nobody brought, with 8 as the target?",
    lambda table: _trained(table, absent=0.0),
)
task.mistake(
    "The model cannot tell the two kinds of wishes apart, and predicts “nobody”, answer 8, most of "
    "the time. Do the targets belong to the wishes, and are the outputs logits, without a softmax? "
    "Is there a head with projections, and is the learning rate near 0.01?",
    lambda table: _trained(table, lr=0.1),
)
task.mistake(
    "For wishes that can be met, the model names the seeds in the gardener's *own* jar. So "
    "these were the target in your training swaps. Take the seeds at the position of the wanted "
    "jar: `seeds.gather(1, where)`.",
    lambda table: _trained(table, own=True),
)
task.mistake(
    "The model finds the jar if the wish can be met, but even then it gives answer 8 a "
    "probability of about one in seven. So some wishes with the target 8 in your training "
    "swaps were for a label that somebody had brought. Print a few of your swaps and check.",
    lambda table: _trained(table, out_of=16),
)
task.mistake(
    "The model is often unsure. In the lecture (*Deeper*), a head with d_k = 2 did this: it had "
    "too little capacity to separate 32 labels. Give queries and keys more dimensions.",
    lambda table: _trained(table, d_k=2),
)


@task.harness
def harness(answer, seed):
    """Draw the table, have the model trained, and try it on 300 new swaps."""
    import torch

    g = torch.Generator().manual_seed(seed)
    table = torch.randn(72, 128, generator=g) / 3**0.5
    model = answer(table.clone())
    if model is None:
        return None
    if not isinstance(model, torch.nn.Module):
        raise ValueError(f"it returns a {type(model).__name__}; expected a trained module")
    order = torch.rand(300, 32, generator=g).argsort(dim=1)
    labels, others = order[:, :16], order[:, 16:]
    where = torch.randint(16, (300, 16), generator=g)
    missing = torch.rand(300, 16, generator=g) < 0.25
    wishes = torch.where(missing, others.gather(1, where), labels.gather(1, where))
    seeds = torch.randint(8, (300, 16), generator=g)
    model.eval()
    with torch.no_grad():
        logits = model(table[labels] + table[32 + wishes] + table[64 + seeds])
    if not isinstance(logits, torch.Tensor) or tuple(logits.shape) != (300, 16, 9):
        came = tuple(logits.shape) if isinstance(logits, torch.Tensor) else type(logits).__name__
        raise ValueError(
            f"for x of shape (300, 16, 128) it returns {came}; "
            "expected logits of shape (300, 16, 9)"
        )
    chances = logits.double().softmax(dim=-1)
    answers = seeds.gather(1, where).masked_fill(missing, 8)
    right = chances.gather(-1, answers[..., None])[..., 0]
    means = {
        "on offer": right[~missing],
        "not on offer": right[missing],
        "answer 8 if on offer": chances[..., 8][~missing],
        "own seeds if on offer": chances.gather(-1, seeds[..., None])[..., 0][~missing],
    }
    return {name: 10 * part.mean().item() for name, part in means.items()}


@task.cases
def cases(seed):
    """One table; the swaps to try it on come from the same generator."""
    return [Case((2000 + seed,), kind="ordinary cases")]


@task.score
def score(args, value):
    """The smaller of the two means."""
    return min(value["on offer"], value["not on offer"]) / 10


@task.diagnostic
def both_means(args, result):
    """Both means, since the score is only the smaller one; and where the answer 8 goes."""
    names = ("on offer", "not on offer", "answer 8 if on offer", "own seeds if on offer")
    on_offer, absent, eight, own = (result[name] / 10 for name in names)
    said = (
        f"That is the smaller of two means: the right answer has a probability of {on_offer:.3f} "
        f"where the wish can be met, and of {absent:.3f} where it cannot."
    )
    if own > max(0.5, on_offer):
        said += f" The seeds in the gardener's *own* jar have {own:.3f} there. What is the target "
        said += "in your training swaps?"
    elif on_offer > 0.5 and eight > 0.03:
        said += f" Answer 8 has {eight:.3f} where the wish *can* be met. Was it ever the target "
        said += "there in your training swaps?"
    elif on_offer > 0.92 > absent:
        said += (
            " Answer 8 is predicted too seldom. How many of the wishes in your training swaps are "
        )
        said += "for a label that nobody brought?"
    return said
