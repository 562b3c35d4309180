"""Train a model that adds."""

import functools

import torch

from grading.author import Case, Enough, TaskFile
from grading.tasks.lecture_14.Adder import Adder
from grading.tasks.lecture_14.inputs_and_targets import inputs_and_targets
from grading.tasks.lecture_14.split_pairs import split_pairs
from grading.tasks.lecture_14.sum_tokens import sum_tokens
from grading.tasks.lecture_14.train_keep_best import train_keep_best

task = TaskFile(
    "train",
    points=8,
    minutes=40,
    outcome="train a model of your own until it reaches a stated score",
    threshold=0.9,
    enough=Enough(1000, 128, 0.01),
    rtol=0.0,
    atol=1.0,
    hints=(
        "Make all tokens once, before the training. A batch is a sample of their rows, new in "
        "each step.",
        "The accuracy on *whole* answers: in how many sums are all four digits right?",
        "If only about one in ten of the tens and units digits is right (no better than "
        "guessing), try other learning rates, from 0.003 to 0.03, before you change anything else.",
    ),
)


# %% the cell
def train_adder(pairs, validation):
    """An Adder for three digits, answers in plain order, trained on pairs (·, 2) of numbers."""
    # BEGIN SOLUTION
    torch.manual_seed(0)
    model = Adder(3, d_model=32, n_layers=2, n_heads=4)
    known = sum_tokens(*pairs.T, 3, False)  # (·, 12)
    inputs, targets = inputs_and_targets(sum_tokens(*validation.T, 3, False), 3)

    def make_batch():
        rows = torch.randint(len(known), (128,))
        return inputs_and_targets(known[rows], 3)

    def exact_match(model):
        right = (model(inputs).argmax(dim=-1) == targets) | (targets < 0)  # (·, 11)
        return right.all(dim=1).double().mean().item()

    train_keep_best(model, make_batch, 1000, 0.02, 50, exact_match, every=100)
    return model
    # END SOLUTION


# %%


def _trained(pairs, tokens_of, steps):
    """A model trained on other inputs and targets, or for fewer steps."""
    torch.manual_seed(0)
    model = Adder(3, d_model=32, n_layers=2, n_heads=4)

    def make_batch():
        return tokens_of(pairs[torch.randint(len(pairs), (64,))])

    train_keep_best(model, make_batch, steps, 0.005, 20, lambda model: 0.0, steps)
    return model


@task.mistake(
    "Its accuracy is at chance. Do you train it before you return it, and is the target at each "
    "position the *next* token?"
)
def untrained(pairs, validation):
    torch.manual_seed(0)
    return Adder(3, d_model=32, n_layers=2, n_heads=4)


@task.mistake(
    "It has learned which digits are frequent, but it has not learned to add. Does it need more "
    "steps, or another rate?"
)
def too_short(pairs, validation):
    return _trained(
        pairs, lambda rows: inputs_and_targets(sum_tokens(*rows.T, 3, False), 3), steps=20
    )


@task.mistake(
    "Its answers are reversed: units first. Here they must be in plain order, thousands first."
)
def reversed_order(pairs, validation):
    class Turned(Adder):
        """Says from the units on what the sum is, as a model would after a long training."""

        def forward(self, tokens, return_weights=False):
            """Logits."""
            powers = torch.tensor([100, 10, 1])
            answer = (tokens[:, :3] * powers).sum(1) + (tokens[:, 4:7] * powers).sum(1)
            digits = answer[:, None] // torch.tensor([1, 10, 100, 1000]) % 10
            logits = torch.zeros(*tokens.shape, 12)
            for place in range(7, tokens.shape[1]):
                logits[torch.arange(len(tokens)), place, digits[:, place - 7]] = 9.0
            return logits

    return Turned(3, 8, 1, 1)


@task.harness
def harness(answer, pairs, validation, test):
    """The trained model writes answers to questions that it has not seen."""
    import torch

    model = answer(pairs, validation)
    if model is None:
        return None
    if not isinstance(model, torch.nn.Module):
        raise ValueError("expected a model, such as your Adder")
    size = sum(p.numel() for p in model.parameters())
    if size > 40_000:
        raise ValueError(f"at most 40,000 parameters are allowed, but the model has {size:,}")
    powers = torch.tensor([100, 10, 1])
    a, b = (test[:, i, None] // powers % 10 for i in range(2))
    signs = torch.tensor([10, 11]).expand(len(test), 2)
    tokens = torch.cat([a, signs[:, :1], b, signs[:, 1:]], dim=1)
    model.eval()
    with torch.no_grad():
        for _ in range(4):
            newest = model(tokens)[:, -1].argmax(dim=-1)
            tokens = torch.cat([tokens, newest[:, None]], dim=1)
    sums = test.sum(dim=1)[:, None] // torch.tensor([1000, 100, 10, 1]) % 10
    right = tokens[:, 8:] == sums
    shares = right.double().mean(dim=0)
    turned = (tokens[:, 8:].flip(1) == sums).all(dim=1).double().mean().item()
    return {
        "whole answers, of ten": 10 * right.all(dim=1).double().mean().item(),
        "digits, of ten": [10 * share for share in shares.tolist()],
        "answers read in reverse, of ten": 10 * turned,
    }


@functools.lru_cache(maxsize=4)
def _pairs(seed):
    generator = torch.Generator().manual_seed(1000 + seed)
    train, validation, test = split_pairs(1000, 500, 1000, generator)
    rows = torch.randperm(len(train), generator=generator)[:50_000]
    return train[rows], validation, test


@task.cases
def cases(seed):
    """50,000 pairs to learn from, 1,000 to choose by, and 2,000 new ones."""
    return [Case(tuple(part.clone() for part in _pairs(seed)), kind="ordinary cases")]


@task.score
def score(args, value):
    """The share of whole answers that are right."""
    return value["whole answers, of ten"] / 10


@task.diagnostic
def after_training(args, result):
    """What came, digit by digit."""
    thousands, hundreds, tens, units = result["digits, of ten"]
    said = f"Of ten units digits {units:.1f} are right, of the tens {tens:.1f}, of the "
    said += f"hundreds {hundreds:.1f}, of the thousands {thousands:.1f}."
    if result["answers read in reverse, of ten"] > 5:
        said += " Read in the other direction, most answers would be right."
    return said
