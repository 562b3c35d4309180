"""Train a head that says when a wish is not on offer."""

import torch
from torch import nn

from grading.task import Case, Mistake, Task
from helpers.attention import SelfAttention
from helpers.training import set_seed, train


class Finder(nn.Module):
    """One head, then a readout with an answer for "not on offer"."""

    def __init__(self, d_k=16):
        super().__init__()
        self.head = SelfAttention(128, d_k, d_v=16)
        self.readout = nn.Linear(16, 9)

    def forward(self, x):
        """Logits (batch, T, 9) of the gardeners x (batch, T, 128)."""
        return self.readout(self.head(x))


def _batch(table, g, absent, n=32, T=16, out_of=0):
    """Swaps in which a share `absent` of the wishes is for a label that nobody brought.

    `out_of` is how many of the brought labels count as not brought.
    """
    order = torch.rand(n, 32, generator=g).argsort(dim=1)
    labels, others = order[:, :T], order[:, T - out_of :]
    where = torch.randint(T, (n, T), generator=g)
    missing = torch.rand(n, T, generator=g) < absent
    other = torch.randint(32 - T + out_of, (n, T), generator=g)
    wishes = torch.where(missing, others.gather(1, other), labels.gather(1, where))
    seeds = torch.randint(8, (n, T), generator=g)
    x = table[labels] + table[32 + wishes] + table[64 + seeds]
    return x, seeds.gather(1, where).masked_fill(missing, 8)


def _trained(table, absent=0.25, steps=200, lr=0.01, d_k=16, out_of=0):
    g = set_seed(0)
    model = Finder(d_k)
    train(model, lambda: _batch(table, g, absent, out_of=out_of), steps, lr)
    return model


def train_finder(table):
    """The model answer."""
    return _trained(table)


def all_on_offer(table):
    """Wrong: in training every wish is on offer, as in the lecture."""
    return _trained(table, absent=0.0)


def too_fast(table):
    """Wrong: a learning rate at which it learns the most frequent answer and no more."""
    return _trained(table, lr=0.1)


def wrong_labels(table):
    """Wrong: the wishes that get the answer 8 are drawn from all 32 labels."""
    return _trained(table, out_of=16)


def too_narrow(table):
    """Wrong: queries and keys of two numbers."""
    return _trained(table, d_k=2)


def drive(answer, seed):
    """Draw the table, have the model trained, and try it on 300 new swaps."""
    import torch

    torch.set_num_threads(1)  # so small a model gains nothing from more
    g = torch.Generator().manual_seed(seed)
    table = torch.randn(72, 128, generator=g) / 3**0.5
    model = answer(table.clone())
    if model is None:
        return None
    if not isinstance(model, torch.nn.Module):
        raise ValueError(f"it returns a {type(model).__name__}, and a trained module is wanted")
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
        raise ValueError(f"for x of shape (300, 16, 128) came {came}; wanted is (300, 16, 9)")
    chances = logits.double().softmax(dim=-1)
    answers = seeds.gather(1, where).masked_fill(missing, 8)
    right = chances.gather(-1, answers[..., None])[..., 0]
    means = {
        "on offer": right[~missing],
        "not on offer": right[missing],
        "answer 8 if on offer": chances[..., 8][~missing],
    }
    return {name: 10 * part.mean().item() for name, part in means.items()}


def cases(seed):
    """One table; the swaps to try it on come from the same generator."""
    return [Case((2000 + seed,))]


def score(args, value):
    """The smaller of the two means."""
    return min(value["on offer"], value["not on offer"]) / 10


def both_means(args, result):
    """Both means, since the score is only the smaller one; and where the answer 8 goes."""
    on_offer, absent, eight = (
        result[name] / 10 for name in ("on offer", "not on offer", "answer 8 if on offer")
    )
    said = (
        f"That is the smaller of two numbers: where the wish is on offer, the right answer has a "
        f"probability of {on_offer:.3f} on average; where it is not, one of {absent:.3f}."
    )
    if on_offer > 0.5 and eight > 0.03:
        said += f" Answer 8 has {eight:.3f} where the wish *is* on offer. Has it learned that from "
        said += "your training swaps?"
    return said


TASK = Task(
    name="train_finder",
    lecture=3,
    kind="train",
    points=12,
    difficulty=3,
    minutes=20,
    outcome="train one {term}`head` on a task, read its map, and find the cause of its errors",
    reference=train_finder,
    cases=cases,
    properties=(both_means,),
    drive=drive,
    score=score,
    reach=0.92,
    rtol=0.0,
    atol=0.4,
    mistakes=(
        Mistake(
            all_on_offer,
            "Wishes that are on offer are found, and “not on offer” is never said. Nothing taught "
            "it: in your training swaps, do a part of the gardeners wish for a label that nobody "
            "brought, and is 8 the right answer there?",
        ),
        Mistake(
            too_fast,
            "It says “not on offer” to everybody. That is what a model does that learned which "
            "answer is the most frequent one, and nothing else. Does it look at the other "
            "gardeners, by a head with its projections? Is the learning rate near 0.01?",
        ),
        Mistake(
            wrong_labels,
            "It finds what is on offer, and says even there with a chance of about one in seven "
            "that it is not. So that happened in your training swaps: some wishes with the answer "
            "8 were for a label that somebody had brought. Take a few of your swaps and look.",
        ),
        Mistake(
            too_narrow,
            "It is often unsure. In the lecture this was the picture with d_k = 2: the keys of 32 "
            "labels crowd. Give queries and keys more room.",
        ),
    ),
    hints=(
        "`torch.rand(batch, 32, generator=g).argsort(dim=1)` holds a random order of all labels "
        "for each swap. The first 16 are brought. Where do you find labels that nobody brought?",
        "Draw both, a wish that is on offer and one that is not, and choose between them with "
        "`torch.where`. Choose between the seeds and 8 by the same condition.",
        "The model of the lecture needs one change: its readout has nine answers.",
    ),
)
