"""What optimizers did while an answer ran: counts and rates, which say why a model learned little.

PyTorch calls global hooks before and after every module and every optimizer step. While the
student's own code runs, and only then, these hooks count. They keep numbers and change nothing; an
error in here is dropped.
"""

from __future__ import annotations

import contextlib
import functools
import math
import sys
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from grading.runner.isolation import replaced
from grading.runner.outcome import MOST_DISTINCT, Training
from grading.runner.tensors import torch_if_there

if TYPE_CHECKING:
    from torch import Tensor, nn
    from torch.utils.hooks import RemovableHandle

UNCLEAR = 0.1
"""The share of the steps from which on nothing is said of the examples, if theirs are not known."""
FIRST = 5
"""Number of steps in which every call of the model is seen; later, only the first one may be."""
AHEAD = 2
"""By how many positions targets are shifted that are shifted once too often."""
ENTRIES = 256
"""Number of entries of an example above which some are left out."""
LIMIT = 1e9
"""The largest rate that is told from larger ones."""


@dataclass
class _Run:
    """The steps on one set of parameters, by `id`; `sums` are those of the entries of one of them.

    Optimizers that share a parameter, one after the other or growing, train one set.
    """

    parameters: dict[int, Tensor] = field(default_factory=dict)
    counts: Counter = field(default_factory=Counter)
    unclear: int = 0
    unclear_first: int = 0
    distinct: set[float] = field(default_factory=set)
    probe: Tensor | None = None
    sums: list[float] = field(default_factory=list)


def _safely(observe: Callable[..., None]) -> Callable[..., None]:
    """Without its errors, and without a result, which a hook would put in place of something."""

    @functools.wraps(observe)
    def watch(*args: object, **kwargs: object) -> None:
        with contextlib.suppress(Exception):
            observe(*args, **kwargs)

    return watch


class TrainingTrace:
    """Watches trainings; `seen` gives the numbers."""

    def __init__(self) -> None:
        self._watched = False
        self._open = False
        self._runs: list[_Run] = []
        self._latest: _Run | None = None
        self._models: list[nn.Module] = []
        self._handle: RemovableHandle | None = None
        self._begin_step()

    def _begin_step(self) -> None:
        self._flags: Counter = Counter()  # what was seen since the last optimizer step
        self._not_cleared: list[_Run] = []
        self._n_examples = 0
        self._keys: list[float] = []
        self._inputs: list[Tensor] = []  # of the model
        self._model: nn.Module | None = None  # that was called, until the loss is known

    @contextlib.contextmanager
    def watching(self) -> Iterator[None]:
        """Watch, as long as this lasts; afterwards torch is as before, whatever happens."""
        torch = torch_if_there()
        if torch is None:
            yield
            return
        from torch.optim import optimizer as optimizers

        self._watched = self._open = True
        self._begin_step()
        with contextlib.ExitStack() as stack:
            stack.callback(self._close)
            self._catch()
            for register, hook in (
                (optimizers.register_optimizer_step_pre_hook, self._before_step),
                (optimizers.register_optimizer_step_post_hook, self._after_step),
            ):
                stack.callback(register(hook).remove)
            for owner, name, observe in (
                (torch.autograd, "backward", self._backward),
                (torch.nn.functional, "cross_entropy", self._cross_entropy),
            ):
                stack.enter_context(replaced(owner, name, _after(observe, getattr(owner, name))))
            yield

    @_safely
    def returned(self, thing: object) -> None:
        """Keep the models in what came back."""
        torch = torch_if_there()
        things = thing if isinstance(thing, tuple | list) else [thing]
        if torch is not None:
            self._models = [m for m in things if isinstance(m, torch.nn.Module)] or self._models

    def seen(self) -> Training | None:
        """The numbers of the training of the model that came back; None if nothing was watched."""
        with contextlib.suppress(Exception):  # a class of the student's
            return self._seen()
        return None

    def _seen(self) -> Training | None:
        wanted = [p for model in self._models for p in model.parameters() if p.requires_grad]
        ids = {id(p) for p in wanted}
        if not self._runs:
            return Training(of=len(ids)) if self._watched else None
        kept = [_kept(run, wanted) for run in self._runs]
        fits = [
            (len(ids & run.parameters.keys()), step >= 0, run is self._latest)
            for run, step in zip(self._runs, kept, strict=True)
        ]
        best = fits.index(max(fits))
        run = self._runs[best]
        if run.unclear > UNCLEAR * run.counts["steps"] or run.unclear_first > 1:
            run.counts["examples"], run.distinct = 0, set()
        return Training(
            **run.counts,
            distinct=min(len(run.distinct), MOST_DISTINCT),
            held=len(ids & set().union(*(run.parameters for run in self._runs))),
            of=len(ids),
            kept=kept[best],
        )

    def _run_of(self, parameters: Sequence[Tensor]) -> _Run:
        """The run that has one of these parameters, or a new one; now it has them all."""
        ids = {id(p): p for p in parameters}
        run = next((r for r in self._runs if ids.keys() & r.parameters.keys()), None)
        if run is None:
            self._runs.append(run := _Run())
        run.parameters |= ids
        return run

    def _catch(self) -> None:
        """Wait for the next call of a module, which is that of the model; its parts come later."""
        if self._handle is None and self._open:  # not from a function that an answer kept
            modules = sys.modules["torch.nn.modules.module"]
            self._handle = modules.register_module_forward_pre_hook(self._forward)

    def _let_pass(self) -> None:
        """Let modules be called without a hook, which would cost a tenth of the time."""
        if self._handle is not None:
            self._handle.remove()
        self._handle = None

    def _close(self) -> None:
        self._open = False
        self._let_pass()

    @_safely
    def _forward(self, module: nn.Module, inputs: tuple) -> None:
        torch = torch_if_there()
        if module.training and torch.is_grad_enabled():  # else it is an evaluation
            if self._latest and self._latest.counts["steps"] >= FIRST:
                self._let_pass()
            if self._model not in (None, module):  # a part of it, or a loss
                return
            self._model = module
            flat = [y for x in inputs for y in (x if isinstance(x, tuple | list) else [x])]
            self._flags["unclear"] |= bool(self._inputs)  # of two calls, which gives the loss?
            self._inputs = [x for x in flat if isinstance(x, torch.Tensor) and x.dim() > 1]

    @_safely
    def _cross_entropy(self, logits: Tensor, target: Tensor, *_: object, **how: object) -> None:
        self._catch()
        self._model = None
        seen = self._latest.counts if self._latest else Counter()
        if max(seen["copying"], seen["skipping"]) < seen["steps"]:
            return
        for x in self._inputs:
            if x.shape[1:].numel() > 1 and x.numel() == target.numel():
                wanted = target.reshape(x.shape)
                asked = wanted != how.get("ignore_index", -100)
                self._flags["copying"] |= bool(asked.any() and (x == wanted)[asked].all())
                self._flags["skipping"] |= _are_later(wanted, x, asked)

    @_safely
    def _backward(self, tensors: object, *_: object, **__: object) -> None:
        flags = self._flags
        first, flags["backward"] = not flags["backward"], True
        if first:
            probed = [run for run in self._runs if run.probe is not None]
            self._not_cleared = [run for run in probed if _has_gradient(run.probe)]
        if self._inputs:
            n = len(self._inputs[0])
            self._n_examples += n
            flags["empty"] |= n == 0
            if n and not (self._latest and len(self._latest.distinct) >= MOST_DISTINCT):
                self._keys += _keys(self._inputs)
        self._inputs, self._model = [], None
        self._catch()
        if tensors.numel() == 1:  # a loss; of several, an AttributeError
            flags["not_finite"] |= not (flags["empty"] or math.isfinite(tensors.item()))

    @_safely
    def _before_step(self, optimizer: object, args: tuple, kwargs: dict) -> None:
        groups = optimizer.param_groups
        parameters = [p for group in groups for p in group["params"]]
        run = self._latest = self._run_of(parameters)
        run.counts["adam"] = int("Adam" in type(optimizer).__name__)
        for name, key in (("peak", "lr"), ("decay", "weight_decay")):
            largest = max(float(group.get(key, 0)) for group in groups)
            largest = largest if largest < LIMIT else LIMIT  # also where it is NaN
            run.counts[name] = max(float(run.counts[name]), largest)
        run.counts["new_optimizers"] += not optimizer.state
        moved = next((p for p in parameters if _has_gradient(p)), None)
        has_closure = len(args) > 1 or bool(kwargs)  # which computes the gradients later
        run.counts["no_gradient"] += moved is None and not has_closure
        self._flags["unclear"] |= has_closure  # and may read the same examples several times
        if run.probe is None and moved is not None:
            run.probe, run.sums = moved, [_sum(moved)]

    @_safely
    def _after_step(self, optimizer: object, args: tuple, kwargs: dict) -> None:
        run = self._latest
        run.counts["steps"] += 1
        run.counts["not_cleared"] += any(run is other for other in self._not_cleared)
        for name in ("empty", "not_finite", "copying", "skipping"):
            run.counts[name] += bool(self._flags[name])
        run.unclear += bool(self._flags["unclear"])
        run.unclear_first += bool(self._flags["unclear"]) and run.counts["steps"] <= FIRST
        if not self._flags["unclear"]:
            run.counts["examples"] = max(run.counts["examples"], self._n_examples)
            run.distinct.update(self._keys)
        if run.probe is not None:
            run.sums.append(_sum(run.probe))
        self._begin_step()


def _after(observe: Callable[..., None], function: Callable) -> Callable:
    """The function, whose arguments are looked at first."""

    @functools.wraps(function)
    def call(*args: object, **kwargs: object) -> object:
        observe(*args, **kwargs)
        return function(*args, **kwargs)

    return call


def _are_later(wanted: Tensor, x: Tensor, asked: Tensor) -> bool:
    """Whether targets are the tokens two positions later, and not the next ones; all (batch, T).

    Padding, which has the id 0, says nothing.
    """
    if x.dim() != 2 or x.shape[1] <= AHEAD:
        return False
    fits = {}
    for ahead in (1, AHEAD):
        later, told = x[:, ahead:], asked[:, :-ahead] & (x[:, ahead:] != 0)
        same = (later == wanted[:, :-ahead])[told]
        fits[ahead] = len(same) >= len(x) and bool(same.all())
    return fits[AHEAD] and not fits[1]


def _has_gradient(parameter: Tensor) -> bool:
    return parameter.grad is not None and bool(parameter.grad.any())


def _kept(run: _Run, wanted: Sequence[Tensor]) -> int:
    """The last step of a run after which a parameter was as one of these is now; −1 if none."""
    sums = {_sum(p) for p in wanted if run.probe is not None and p.shape == run.probe.shape}
    return max((i for i, total in enumerate(run.sums) if total in sums), default=-1)


def _sum(parameter: Tensor) -> float:
    return parameter.detach().double().sum().item()


def _keys(inputs: Sequence[Tensor]) -> list[float]:
    """A number for each example of a batch; padding with 0 on the right does not change it."""
    total = 0.0
    for number, x in enumerate(x for x in inputs if len(x) == len(inputs[0])):
        entries = x.detach().reshape(len(x), -1)  # (batch, …)
        entries = entries[:, :: 1 + entries.shape[1] // ENTRIES]
        total = total + entries.double() @ _weights(number, entries.shape[1])  # (batch,)
    return total.float().tolist()  # rounded, since sums of other lengths round otherwise


@functools.lru_cache(maxsize=256)
def _weights(number: int, entries: int) -> Tensor:
    """Numbers between -1 and 1 as if they were random."""
    torch = torch_if_there()
    places = torch.arange(1, entries + 1, dtype=torch.double) + 10_000 * number
    return torch.sin(places**2)  # (entries,)
