"""A training loop that keeps the best weights."""

import copy

import numpy as np
import torch
from torch import nn

from grading.author import Case, TaskFile
from grading.feedback import messages
from helpers.tokens import IGNORE_INDEX
from helpers.training import masked_cross_entropy

task = TaskFile(
    "implement",
    points=8,
    minutes=40,
    two_at_once=True,
    outcome="write a training loop that keeps what measured best",
    forbidden=("helpers.training.train",),
    hints=(
        "Write the steps down in words first: rate, mode, batch, loss, gradients, step; and every "
        "few steps: mode, measure, compare, keep.",
        "`copy.deepcopy(model.state_dict())` keeps a copy of the current weights; "
        "`load_state_dict` restores them.",
    ),
)


# %% the cell
def train_keep_best(model, make_batch, steps, lr, warmup, measure, every):
    """Train, and leave the model with the best weights; returns the scores."""
    # BEGIN SOLUTION
    optimizer = torch.optim.Adam(model.parameters(), lr=lr)
    measured, best = [], None
    for t in range(steps):
        share = min((t + 1) / warmup, (steps - t) / steps)
        optimizer.param_groups[0]["lr"] = lr * share
        model.train()
        inputs, targets = make_batch()
        loss = masked_cross_entropy(model(inputs), targets)
        optimizer.zero_grad()
        loss.backward()
        nn.utils.clip_grad_norm_(model.parameters(), 1.0)
        optimizer.step()
        if (t + 1) % every == 0:
            model.eval()
            with torch.no_grad():
                measured.append(float(measure(model)))
            if best is None or measured[-1] > max(measured[:-1]):
                best = copy.deepcopy(model.state_dict())
    model.load_state_dict(best)
    model.eval()
    return measured
    # END SOLUTION


# %%


@task.alternative
def by_clones(model, make_batch, steps, lr, warmup, measure, every):
    """Torch's schedule, clones, and the first of the largest at the end."""
    optimizer = torch.optim.Adam(model.parameters(), lr)
    schedule = torch.optim.lr_scheduler.LambdaLR(
        optimizer, lambda t: min((t + 1) / warmup, (steps - t) / steps)
    )
    measured, kept = [], []
    for t in range(1, steps + 1):
        model.train()
        inputs, targets = make_batch()
        logits = model(inputs)
        asked = targets != IGNORE_INDEX
        loss = -logits.log_softmax(-1)[asked].gather(1, targets[asked][:, None]).mean()
        model.zero_grad()
        loss.backward()
        torch.nn.utils.clip_grad_norm_(list(model.parameters()), 1)
        optimizer.step()
        schedule.step()
        if t % every == 0:
            with torch.inference_mode():
                measured.append(measure(model.eval()))
            kept.append([p.detach().clone() for p in model.parameters()])
    first = max(range(len(measured)), key=measured.__getitem__)
    with torch.no_grad():
        for p, best in zip(model.parameters(), kept[first], strict=True):
            p.copy_(best)
    model.eval()
    return measured


task.edit(
    "The weights at the end are the last ones. Did you load what you kept? `state_dict()` holds "
    "the weights themselves, which change with every step. Keep a copy.",
    "copy.deepcopy(model.state_dict())",
    "model.state_dict()",
)
task.edit(
    "The weights with the *smallest* score are kept. For this measure, larger is better.",
    "measured[-1] > max(measured[:-1])",
    "measured[-1] < min(measured[:-1])",
)
task.edit(
    "Of equally good weights the last were kept. Keep the first.",
    "measured[-1] > max(",
    "measured[-1] >= max(",
)
task.edit(
    "The weights are kept whenever they are better than at the measurement before. They must be "
    "the best so far.",
    "measured[-1] > max(measured[:-1])",
    "measured[-1] > measured[-2]",
)
task.edit(
    "The model is measured in training mode, with dropout active.",
    "            model.eval()\n",
    "",
)
task.edit(
    "After the first measurement the model stays in evaluation mode, so dropout is off from then "
    "on.",
    "        model.train()\n",
    "",
    "    measured, best = [], None\n",
    "    measured, best = [], None\n    model.train()\n",
)
task.edit(
    "Measuring builds a graph for gradients that are not needed. `torch.no_grad()` is missing.",
    "with torch.no_grad():",
    "with torch.enable_grad():",
)
task.edit(
    "The model is left in training mode.",
    "    model.eval()\n    return",
    "    model.train()\n    return",
)
task.edit(
    "The gradients of all steps so far add up: they are never set to zero.",
    "        optimizer.zero_grad()\n",
    "",
)
task.edit(
    "The gradients are not clipped.",
    "        nn.utils.clip_grad_norm_(model.parameters(), 1.0)\n",
    "",
)
task.edit("There is no warm-up.", "min((t + 1) / warmup, ", "min(1, ")
task.edit("The rate rises and does not fall again.", "(steps - t) / steps)", "1)")
task.edit(
    "It measures after the first step of each round. Measure after the last one.",
    "if (t + 1) % every == 0:",
    "if t % every == 0:",
)
MEASURE = """            model.eval()
            with torch.no_grad():
                measured.append(float(measure(model)))
            if best is None or measured[-1] > max(measured[:-1]):
                best = copy.deepcopy(model.state_dict())
"""
task.edit(
    "It measures at the start of each round, the first time before any step. Measure after `every` "
    "steps.",
    "        model.train()\n",
    f"        if t % every == 0:\n{MEASURE}        model.train()\n",
    f"        if (t + 1) % every == 0:\n{MEASURE}    model.load",
    "    model.load",
)
task.edit(
    "One batch was sampled before the loop, and the model sees nothing else. Sample a new one in "
    "each step.",
    "        inputs, targets = make_batch()\n",
    "",
    "    measured, best = [], None\n",
    "    measured, best = [], None\n    inputs, targets = make_batch()\n",
)


task.edit(
    "The warm-up is one step late: the first step has the rate 0. Step t has the factor "
    "(t + 1) / warmup.",
    "(t + 1) / warmup",
    "t / warmup",
)
task.edit(
    "The rate falls as in the loop of Lecture 8, by (steps − t) / (steps − warmup). Here the "
    "second factor is (steps − t) / steps.",
    "(steps - t) / steps",
    "(steps - t) / (steps - warmup)",
)
task.edit(
    "The rate reaches 0 in the last step. Step t has the factor (steps − t) / steps.",
    "(steps - t) / steps",
    "(steps - t - 1) / steps",
)
task.edit(
    "The two factors were multiplied. Take the smaller one.",
    "min((t + 1) / warmup, (steps - t) / steps)",
    "min((t + 1) / warmup, 1.0) * (steps - t) / steps",
)
task.edit(
    "The rate of a step is computed from that of the step before, so the factors accumulate. "
    "Compute it from `lr` each time.",
    "= lr * share",
    "*= share",
)
task.edit(
    "Each entry of the gradient is clipped separately, which changes its direction. Clip the norm "
    "of the whole gradient.",
    "clip_grad_norm_",
    "clip_grad_value_",
)
task.edit(
    "This is AdamW, which also shrinks the weights. The task asks for Adam.",
    "torch.optim.Adam(",
    "torch.optim.AdamW(",
)
task.edit(
    "Only the best score is returned. Return all of them, a list.",
    "return measured",
    "return max(measured)",
)


@task.harness
def harness(answer, table, readout, batches, lr, warmup, scores, every):
    """A model of pairs is trained; scores come from a list; modes are written down."""
    import torch

    class Pairs(torch.nn.Module):
        def __init__(self):
            super().__init__()
            self.table = torch.nn.Parameter(table.clone())
            self.lm_head = torch.nn.Parameter(readout.clone())
            self.modes, self.frozen = [], True

        def forward(self, tokens):
            self.modes.append(self.training)
            return self.table[tokens] @ self.lm_head

    model, measured = Pairs().eval(), []
    left, coming = list(batches), list(scores)

    def make_batch():
        if not left:
            raise ValueError("make_batch() is called more often than there are steps")
        return left.pop(0)

    def measure(given):
        if not coming:
            raise ValueError("measure is called more often than once in `every` steps")
        measured.append((given.training, torch.is_grad_enabled()))
        return coming.pop(0)

    found = answer(model, make_batch, len(batches), lr, warmup, measure, every)
    if found is None:
        return None
    return {
        "measured": [float(score) for score in found],
        "table": model.table.detach().clone(),
        "lm_head": model.lm_head.detach().clone(),
        "batches left": len(left),
        "training mode in every step": all(model.modes),
        "training mode when measured": any(mode for mode, _ in measured),
        "gradients when measured": any(grad for _, grad in measured),
        "training mode at the end": model.training,
    }


@task.cases
def cases(seed):
    """The best measure comes in the middle; comes twice; comes after a fall."""
    generator = torch.Generator().manual_seed(seed)
    found = []
    for vocab, width, n, T, rounds, every, warmup, lr, scores, note, kind in (
        (5, 3, 2, 4, 3, 2, 3, 0.1, (0.4, 0.7, 0.2), "the best in the middle", "ordinary cases"),
        (
            7,
            4,
            3,
            6,
            4,
            2,
            2,
            0.1,
            (-0.9, -0.4, -0.7, -0.5),
            "negative scores, a second rise after the best",
            "ordinary cases",
        ),
        (6, 4, 3, 5, 4, 3, 4, 0.05, (0.2, 0.9, 0.5, 0.9), "the best comes twice", "edge cases"),
    ):
        batches = []
        for _ in range(rounds * every):
            inputs = torch.randint(vocab, (n, T), generator=generator)
            targets = torch.randint(vocab, (n, T), generator=generator)
            targets[:, : T // 2] = IGNORE_INDEX
            batches.append((inputs, targets))
        table = torch.randn(vocab, width, generator=generator, dtype=torch.float64)
        readout = torch.randn(width, vocab, generator=generator, dtype=torch.float64)
        args = table, 2 * readout, batches, lr, warmup, scores, every
        found.append(Case(args, f"{rounds * every} steps, {note}", kind=kind))
    return found


@task.diagnostic
def what_is_wrong(args, result):
    """In words, as far as it can be seen from outside."""
    right = harness(train_keep_best, *args)
    for fact, want in right.items():
        if fact not in ("table", "lm_head") and result[fact] != want:
            return messages.fact(fact, result[fact], want)
    return f"The returned list is right. But the weights at the end are {_whose(args, result)}."


def _whose(args, result):
    """Of which measurement the weights at the end are, if of any."""
    *rest, scores, every = args
    if np.allclose(result["table"], args[0]):
        return "those from before the training"
    for number in range(len(scores)):
        best = [float(i == number) for i in range(len(scores))]
        other = harness(train_keep_best, *rest, best, every)
        if np.allclose(result["table"], other["table"], atol=1e-6):
            return f"those of measurement {number + 1}, with the score {scores[number]:g}"
    return (
        "not right: look at the learning rates, the gradients, the batches, and the steps after "
        "which you measure"
    )
