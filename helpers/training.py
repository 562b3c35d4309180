"""One training loop for every model of the course."""

from __future__ import annotations

import math
import os
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import torch
import torch.nn.functional as F
from torch import Tensor, nn
from tqdm import tqdm  # tqdm.auto warns in a notebook without ipywidgets

from helpers.models import eval_mode
from helpers.tokens import IGNORE_INDEX, Batch
from helpers.validation import require, shape_text

if TYPE_CHECKING:
    from jaxtyping import Int


@dataclass
class History:
    """History of a training run.

    loss: of the batch of each step, in nats, before the update.
    validation: pairs of the number of updates made and the loss on the validation batch.
    """

    loss: list[float] = field(default_factory=list)
    validation: list[tuple[int, float]] = field(default_factory=list)

    def smoothed(self, window: int = 25) -> list[float]:
        """The mean loss of each `window` steps.

        Raises:
            ValueError: if `window` is below 1.
        """
        require(window >= 1, "window", window, "at least 1")
        chunks = (self.loss[i : i + window] for i in range(0, len(self.loss), window))
        return [sum(chunk) / len(chunk) for chunk in chunks]


def set_seed(seed: int) -> torch.Generator:
    """Seed torch's global generator (initial weights, dropout); return a generator for the data."""
    torch.manual_seed(seed)
    return torch.Generator().manual_seed(seed)


def count_parameters(model: nn.Module) -> int:
    """Number of trainable parameters of a model."""
    return sum(p.numel() for p in model.parameters() if p.requires_grad)


def train(
    model: nn.Module,
    make_batch: Callable[[], Batch],
    steps: int,
    lr: float = 3e-3,
    *,
    warmup: int = 0,
    clip: float | None = 1.0,
    weight_decay: float = 0.0,
    validation: Batch | None = None,
    validate_every: int = 100,
    name: str = "training",
) -> History:
    """Train a model with Adam on the cross-entropy of new batches, and leave it in evaluation mode.

    It is left so also when the training stops with an error.

    Args:
        model: maps tokens (batch, T), or several sequences, to logits (batch, T, n_outputs).
        make_batch: a function without arguments that returns a new batch, (inputs, targets).
        steps: number of updates.
        lr: peak of the learning rate, which then decays to a tenth of it along a cosine.
        warmup: number of steps over which the learning rate rises linearly to its peak; at most
            `steps`.
        clip: largest norm of the gradient; None for no limit.
        weight_decay: AdamW's (Loshchilov and Hutter, 2019), on matrices and tables only, not on
            biases and norms.
        validation: a batch that does not train. Its loss is measured, in evaluation mode, every
            `validate_every` updates and after the last one.
        validate_every: number of updates between two measurements.
        name: label of the progress bar.

    Returns:
        The loss of each step, and those on the validation batch.

    Raises:
        ValueError: if the model has trainable parameters in float16, a number is too small,
            `warmup` is larger than `steps`, `make_batch` does not return a batch, or the loss or
            the gradient is not finite; then the weights are those before that step.
    """
    trainable = {p.dtype for p in model.parameters() if p.requires_grad}
    needed = "float32 or bfloat16 (or float32 under autocast): Adam's eps of 1e-8 is 0 in float16"
    require(torch.float16 not in trainable, "model", "parameters in float16", needed)
    require(steps >= 1, "steps", steps, "at least 1")
    require(lr > 0, "lr", lr, "a number above 0")
    require(0 <= warmup <= steps, "warmup", warmup, f"a number from 0 to steps = {steps}")
    require(clip is None or clip > 0, "clip", clip, "a number above 0, or None")
    require(weight_decay >= 0, "weight_decay", weight_decay, "at least 0")
    require(validate_every >= 1, "validate_every", validate_every, "at least 1")
    optimizer = torch.optim.AdamW(_parameter_groups(model, weight_decay), lr=lr)
    schedule = torch.optim.lr_scheduler.LambdaLR(optimizer, _warm_cosine(steps, warmup))
    history = History()
    model.train()
    try:
        for step in progress(range(steps), name):
            tokens, targets = _next_batch(make_batch)
            loss = masked_cross_entropy(_logits(model, tokens), targets)
            optimizer.zero_grad()
            loss.backward()
            limit = math.inf if clip is None else clip
            norm = nn.utils.clip_grad_norm_(model.parameters(), limit)
            # Both are read at once: each read waits for all work given to a GPU.
            nats, norm = torch.stack([loss.detach(), norm]).tolist()
            needed = "a finite number: try a smaller lr or more warmup"
            finite = math.isfinite(nats)
            require(finite, "loss", f"{nats} at step {step}", needed)
            require(math.isfinite(norm), "gradient", f"norm {norm} at step {step}", needed)
            history.loss.append(nats)
            optimizer.step()
            schedule.step()
            done = step + 1
            if validation is not None and (done % validate_every == 0 or done == steps):
                history.validation.append((done, batch_loss(model, validation)))
    finally:
        model.eval()
    return history


def _parameter_groups(model: nn.Module, weight_decay: float) -> list[dict[str, object]]:
    """Matrices, which decay, and vectors, which do not."""
    parameters = list(model.parameters())
    matrices = [p for p in parameters if p.dim() >= 2]
    vectors = [p for p in parameters if p.dim() < 2]
    return [
        {"params": matrices, "weight_decay": weight_decay},
        {"params": vectors, "weight_decay": 0.0},
    ]


def _next_batch(make_batch: Callable[[], Batch]) -> Batch:
    needed = "a function without arguments that returns a new batch, (inputs, targets)"
    require(callable(make_batch), "make_batch", f"a {type(make_batch).__name__}", needed)
    batch = make_batch()
    is_pair = isinstance(batch, tuple | list) and len(batch) == 2
    require(is_pair, "make_batch()", f"a {type(batch).__name__}", f"a pair: {needed}")
    return batch


def masked_cross_entropy(logits: Tensor, targets: Int[Tensor, "batch T"]) -> Tensor:
    """Mean cross-entropy in nats over the positions whose target is not `IGNORE_INDEX`.

    As in `helpers.tokens.check_tokens`, numbers on a GPU, or in a compiled function, are not read:
    there torch refuses a target that is no output, and the mean of nothing is NaN.

    Raises:
        ValueError: if logits are not (batch, T, n_outputs) for targets (batch, T), if a target is
            no output, or if no position has a target (the mean of nothing would be NaN).
    """
    _check_shapes(logits, targets)
    if not torch.compiler.is_compiling() and targets.device.type == "cpu":
        _check_targets(targets, logits.shape[-1])
    return F.cross_entropy(logits.flatten(0, 1), targets.flatten(), ignore_index=IGNORE_INDEX)


@torch.no_grad()
def batch_loss(model: nn.Module, batch: Batch) -> float:
    """`masked_cross_entropy` of a batch, in evaluation mode.

    Raises:
        ValueError: as `masked_cross_entropy`.
    """
    tokens, targets = batch
    with eval_mode(model):
        return masked_cross_entropy(_logits(model, tokens), targets).item()


@torch.no_grad()
def accuracy(model: nn.Module, batch: Batch) -> float:
    """Share of the positions with a target at which the largest logit is that of the target.

    Raises:
        ValueError: as `masked_cross_entropy`.
    """
    tokens, targets = batch
    with eval_mode(model):
        logits = _logits(model, tokens)  # (batch, T, n_outputs)
    _check_shapes(logits, targets)
    _check_targets(targets, logits.shape[-1])
    asked = targets != IGNORE_INDEX  # (batch, T)
    return (logits.argmax(dim=-1)[asked] == targets[asked]).double().mean().item()


def progress(steps: range, name: str) -> tqdm:
    """A progress bar, silent where outputs are recorded (LAMPLIGHT_QUIET=1)."""
    return tqdm(steps, desc=name, leave=False, disable=os.environ.get("LAMPLIGHT_QUIET") == "1")


def _logits(model: nn.Module, tokens: Tensor | tuple[Tensor, ...]) -> Tensor:
    """Logits of a model that takes one sequence, or a tuple of them."""
    return model(*tokens) if isinstance(tokens, tuple) else model(tokens)


def _check_shapes(logits: Tensor, targets: Tensor) -> None:
    """Refuse logits that are not (batch, T, n_outputs) for targets (batch, T)."""
    fits = logits.dim() == 3 and logits.shape[:2] == targets.shape
    needed = f"{shape_text(*targets.shape, 'n_outputs')} to go with the targets"
    require(fits, "logits", f"shape {tuple(logits.shape)}", needed)


def _check_targets(targets: Tensor, n_outputs: int) -> None:
    """Refuse targets that are no outputs, and a batch without any target."""
    asked = targets[targets != IGNORE_INDEX]
    require(
        len(asked) > 0, "targets", f"none other than {IGNORE_INDEX}", "at least one that counts"
    )
    outside = asked[(asked < 0) | (asked >= n_outputs)][:3].tolist()
    needed = f"numbers from 0 to {n_outputs - 1}, or {IGNORE_INDEX}"
    require(not outside, "targets", f"numbers such as {outside}", needed)


def _warm_cosine(steps: int, warmup: int) -> Callable[[int], float]:
    def factor(step: int) -> float:
        if step < warmup:
            return (step + 1) / warmup
        done = torch.tensor((step - warmup) / max(1, steps - warmup))
        return 0.1 + 0.45 * (1 + torch.cos(torch.pi * done).item())

    return factor
