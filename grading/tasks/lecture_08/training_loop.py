"""A training loop: shift, padding, learning rate, clipping."""

import torch
import torch.nn.functional as F
from torch import nn

from grading.author import Case, TaskFile

task = TaskFile(
    "implement",
    points=13,
    minutes=30,
    section="Training",
    outcome="turn a stack of blocks into a {term}`language model` with a tied {term}`unembedding`",
    forbidden=("helpers.training.train",),
    two_at_once=True,
    hints=(
        "Write down the order first: set the rate, compute the loss, zero the gradients, run the "
        "backward pass, clip, step.",
        "`nn.utils.clip_grad_norm_` clips the gradients. When do they exist?",
        "`F.cross_entropy` takes logits (N, vocab) and targets (N,). One of its arguments "
        "excludes a target.",
    ),
)


# %% the cell
def training_loop(model, batches, lr, warmup, clip):
    """The loss before each step, a list; trains the model on batches of texts (n, T)."""
    # BEGIN SOLUTION
    optimizer = torch.optim.Adam(model.parameters(), lr=lr)
    steps, losses = len(batches), []
    model.train()
    for t, texts in enumerate(batches):
        share = min((t + 1) / warmup, (steps - t) / (steps - warmup))
        optimizer.param_groups[0]["lr"] = lr * share
        logits = model(texts[:, :-1]).flatten(0, 1)  # (n · (T - 1), vocab)
        targets = texts[:, 1:].flatten()  # (n · (T - 1),)
        loss = F.cross_entropy(logits, targets, ignore_index=0)
        optimizer.zero_grad()
        loss.backward()
        nn.utils.clip_grad_norm_(model.parameters(), clip)
        optimizer.step()
        losses.append(loss.item())
    model.eval()
    return losses
    # END SOLUTION


# %%


@task.alternative
def by_schedule(model, batches, lr, warmup, clip):
    """Torch's schedule, the course's targets, and clipping by hand."""
    from helpers.tokens import next_word_batch
    from helpers.training import masked_cross_entropy

    def share(t):
        return min((t + 1) / warmup, (len(batches) - t) / (len(batches) - warmup))

    optimizer = torch.optim.Adam(model.parameters(), lr)
    schedule = torch.optim.lr_scheduler.LambdaLR(optimizer, share)
    losses = []
    model.train()
    for texts in batches:
        tokens, targets = next_word_batch(texts)
        loss = masked_cross_entropy(model(tokens), targets)
        losses.append(float(loss))
        optimizer.zero_grad()
        loss.backward()
        norm = torch.stack([p.grad.norm() for p in model.parameters()]).norm()
        for p in model.parameters():
            p.grad.mul_(min(1.0, clip / float(norm)))
        optimizer.step()
        schedule.step()
    model.eval()
    return losses


@task.alternative
def in_a_tensor(model, batches, lr, warmup, clip):
    """The losses are numbers in a tensor."""
    return torch.tensor(by_schedule(model, batches, lr, warmup, clip))


@task.alternative
def as_tensors(model, batches, lr, warmup, clip):
    """Each loss is a tensor, and still knows where it comes from."""
    losses = by_schedule(model, batches, lr, warmup, clip)
    return [torch.tensor(loss, requires_grad=True) for loss in losses]


task.edit(
    "Each word is its own target: a model that copies its input would have a loss of 0 and would "
    "have learned nothing.",
    "targets = texts[:, 1:]",
    "targets = texts[:, :-1]",
)
task.edit(
    "Inputs and targets are the same words. Each position has to predict the *next* word, and the "
    "last one has none.",
    "texts[:, :-1]).flatten(0, 1)",
    "texts).flatten(0, 1)",
    "targets = texts[:, 1:]",
    "targets = texts",
)
task.edit(
    "The shift is in the wrong direction: each position must predict the word *before* it.",
    "texts[:, :-1]).flatten(0, 1)",
    "texts)[:, 1:].flatten(0, 1)",
    "targets = texts[:, 1:]",
    "targets = texts[:, :-1]",
)
task.edit(
    "`roll` moves the words in a circle: in a text without padding, the last position must "
    "predict the first word.",
    "texts[:, :-1]).flatten(0, 1)",
    "texts).flatten(0, 1)",
    "targets = texts[:, 1:]",
    "targets = texts.roll(-1, 1)",
)
task.edit(
    "`F.cross_entropy` expects the vocabulary on the axis after that of the texts, but it is the "
    "last one here. Write the logits as (N, vocab) and the targets as (N,).",
    "(texts[:, :-1]).flatten(0, 1)  # (n · (T - 1), vocab)",
    "(texts[:, :-1])",
    "texts[:, 1:].flatten()",
    "texts[:, 1:]",
)
task.edit("Padding is used as a target like a word.", ", ignore_index=0", "")
task.edit(
    "Padding adds nothing to the loss any more, but it is still counted in the mean.",
    "loss = F.cross_entropy(logits, targets, ignore_index=0)",
    "loss = F.cross_entropy(logits, targets, ignore_index=0, reduction='none').mean()",
)
task.edit(
    "This is the sum of the losses of the words. Return their mean, over the target words.",
    "ignore_index=0",
    "ignore_index=0, reduction='sum'",
)
task.edit(
    "The gradients of all steps so far add up. Which call sets them to zero before each step?",
    "        optimizer.zero_grad()\n",
    "",
)
task.edit(
    "The gradients are not clipped before the step. Clip them between `backward` and `step`.",
    "        nn.utils.clip_grad_norm_(model.parameters(), clip)\n",
    "",
)
task.edit(
    "The gradient gets the norm `clip` in every step. A gradient with a smaller norm must stay as "
    "it is.",
    "        nn.utils.clip_grad_norm_(model.parameters(), clip)\n",
    "        length = torch.stack([p.grad.norm() for p in model.parameters()]).norm()\n"
    "        for p in model.parameters():\n"
    "            p.grad *= clip / length\n",
)
task.edit(
    "Each entry of the gradient is clipped separately, which changes its direction. Clip the norm "
    "of the whole gradient.",
    "clip_grad_norm_",
    "clip_grad_value_",
)
task.edit(
    "Each parameter's gradient is clipped separately. Clip the norm of all gradients together.",
    "nn.utils.clip_grad_norm_(model.parameters(), clip)",
    "[nn.utils.clip_grad_norm_(p, clip) for p in model.parameters()]",
)
task.edit(
    "The warm-up is one step late: the first step has the rate 0. Step t has the factor (t + 1) / "
    "warmup.",
    "(t + 1) / warmup",
    "t / warmup",
)
task.edit(
    "There is no warm-up: the first step has the full rate.", "min((t + 1) / warmup, ", "min(1, "
)
task.edit(
    "The rate rises and then stays constant. It should fall again.",
    "(steps - t) / (steps - warmup))",
    "1)",
)
task.edit(
    "The rate falls from the first step on. Take the smaller of two factors; the second is (steps "
    "− t) / (steps − warmup).",
    "(steps - t) / (steps - warmup)",
    "(steps - t) / steps",
)
task.edit(
    "The rate never changes: do you store it where the optimizer reads it?",
    "optimizer.param_groups[0]",
    "optimizer.defaults",
)
task.edit(
    "The rate of a step is computed from that of the step before, so the factors accumulate. "
    "Compute it from `lr` each time.",
    '["lr"] = lr * share',
    '["lr"] *= share',
)
task.edit(
    "The weights never change: the gradients are set to zero between `backward` and `step`, or a "
    "step is missing.",
    "        optimizer.zero_grad()\n        loss.backward()\n",
    "        loss.backward()\n        optimizer.zero_grad()\n",
)
task.edit(
    "Each step creates a new optimizer, so Adam's averages are lost each time.",
    "        optimizer.zero_grad()\n",
    "        optimizer = torch.optim.Adam(model.parameters(), lr=lr * share)\n"
    "        optimizer.zero_grad()\n",
)
task.edit(
    "The loss was averaged in each text first, so words of short texts count more. Take one mean "
    "over all target words of the batch.",
    "loss = F.cross_entropy(logits, targets, ignore_index=0)",
    "loss = torch.stack([F.cross_entropy(logits.view(len(texts), -1, logits.shape[-1])[i], "
    "texts[i, 1:], ignore_index=0) for i in range(len(texts))]).mean()",
)
task.edit(
    "This is AdamW, which also shrinks the weights. The task asks for Adam.",
    "optim.Adam(",
    "optim.AdamW(",
)
task.edit(
    "These are the losses *after* each step. Return those before.",
    "losses.append(loss.item())",
    "losses.append(F.cross_entropy(model(texts[:, :-1]).flatten(0, 1), targets, ignore_index=0)"
    ".item())",
)
task.edit(
    "The model is left in training mode: dropout would be active when it generates.",
    "    model.eval()\n",
    "",
)
task.edit(
    "The model is trained in whatever mode it was in. Dropout is active only after "
    "`model.train()`.",
    "    model.train()\n",
    "",
)


@task.harness
def harness(answer, table, readout, batches, lr, warmup, clip):
    """A model of word pairs learns; its losses, its weights, and the modes that it was in."""
    import torch

    class Pairs(torch.nn.Module):
        def __init__(self):
            super().__init__()
            self.table = torch.nn.Parameter(table.clone())
            self.lm_head = torch.nn.Parameter(readout.clone())
            self.modes = []

        def forward(self, tokens):
            self.modes.append(self.training)
            return self.table[tokens] @ self.lm_head

    model = Pairs().eval()
    losses = answer(model, batches, lr, warmup, clip)
    if losses is None:
        return None
    try:
        numbers = [float(x.detach() if torch.is_tensor(x) else x) for x in losses]
    except (TypeError, ValueError, RuntimeError):
        raise ValueError("expected a list with one number, the loss, for each step") from None
    return {
        "losses": numbers,
        "table": model.table.detach().clone(),
        "lm_head": model.lm_head.detach().clone(),
        "training mode while it learns": all(model.modes[: len(batches)]),
        "training mode afterwards": model.training,
    }


@task.cases
def cases(seed):
    """Batches with padding and without, all with large gradients; then some with small ones."""
    generator = torch.Generator().manual_seed(seed)
    found = []
    for vocab, width, n, T, steps, warmup, lr, clip in (
        (5, 3, 2, 4, 3, 2, 0.1, 0.3),
        (7, 4, 3, 6, 6, 2, 0.1, 0.4),
        (9, 5, 4, 5, 8, 5, 0.05, 0.2),
    ):
        batches = []
        for step in range(steps):
            texts = torch.randint(1, vocab, (n, T), generator=generator)
            lengths = torch.randint(2, T + 1, (n, 1), generator=generator)
            lengths[0], lengths[1] = T, T - 2
            if step == 1:
                texts = texts.clamp(max=2)  # another direction
            batches.append(texts.masked_fill(torch.arange(T) >= lengths, 0))
        table = torch.randn(vocab, width, generator=generator, dtype=torch.float64)
        readout = torch.randn(width, vocab, generator=generator, dtype=torch.float64)
        note = f"{steps} batches of {n} texts of up to {T} words, warm-up {warmup}, clip {clip:g}"
        found.append(
            Case((table, 2 * readout, batches, lr, warmup, clip), note, kind="ordinary cases")
        )
    return [*found, _long_and_short(generator)]


def _long_and_short(generator):
    """Gradients longer than `clip` and shorter ones, of the same parameters.

    Every other batch has two words only, so that all of it pulls the same way. Adam hardly sees how
    large all gradients are; but it sees which are larger than others.
    """
    vocab, width, n, T, steps, lr, warmup, clip = 9, 4, 8, 8, 8, 0.2, 2, 0.4
    texts = torch.randint(1, vocab, (steps, n, T), generator=generator)
    texts[1::2] = texts[1::2].clamp(max=2)
    texts[:, 0, -2:] = 0
    table = torch.randn(vocab, width, generator=generator, dtype=torch.float64)
    readout = torch.randn(width, vocab, generator=generator, dtype=torch.float64)
    note = f"{steps} batches, some of which have gradients shorter than the clip of {clip:g}"
    return Case(
        (table / 2, readout / 2, list(texts), lr, warmup, clip), note, kind="short gradients"
    )


@task.diagnostic
def first_wrong(args, result):
    """Which of the losses is the first wrong one, or what else is wrong."""
    right, losses = harness(training_loop, *args), result["losses"]
    if len(losses) != len(args[2]):
        return f"You returned {len(losses)} losses for {len(args[2])} batches."
    for t, (came, want) in enumerate(zip(losses, right["losses"], strict=True)):
        if abs(came - want) > 1e-4 * (1 + abs(want)):
            if t == 0 and _own_targets(args, came):
                return "In the first loss each word is its own target. Predict the *next* word."
            before = " If no step came before it, look at the loss itself." if t == 0 else ""
            return f"The first wrong loss is that of step {t}: {came:.4f}, not {want:.4f}.{before}"
    if not result["training mode while it learns"]:
        return "The losses are right. But the model was in evaluation mode while it was trained."
    if result["training mode afterwards"]:
        return "The losses are right. But the model is still in training mode afterwards."
    return "All losses are right. But the weights after the last step are not."


def _own_targets(args, came):
    """Whether this is the loss of predicting the words that were read, or all but one of them."""
    table, readout, texts = args[0], args[1], args[2][0]
    for part in (texts, texts[:, 1:], texts[:, :-1]):
        logits = (table[part] @ readout).flatten(0, 1)
        if abs(came - F.cross_entropy(logits, part.flatten(), ignore_index=0).item()) < 1e-6:
            return True
    return False
