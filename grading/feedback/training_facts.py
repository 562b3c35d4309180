"""What was seen of a training that can explain why its model learned too little.

The facts of `Training` are numbers; here those are found that are unusual. One is told only about
an answer whose score is too low. It takes the place of a known mistake, which is named because it
trains about as badly, unless that one fits better; see `explained`.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from enum import Enum, auto

from grading.feedback.baseline import Baseline
from grading.feedback.diagnosis import Diagnosis
from grading.runner.outcome import Outcome, Training
from grading.task import Enough, Task

MOSTLY = 0.9
"""The share of the steps in which something must be seen to be told."""
SOME = 0.1
"""The share of the steps without examples from which they are told."""
FEW = 10
"""Number of batches up to which the different examples of a whole training are few."""
OFTEN = 20
"""Number of steps from which it is unusual to see only few different examples."""
STEPS, RATE, BATCH, DECAY = 0.6, 4.0, 4.0, 0.3
"""The share of the steps that are enough, and the factor by which a rate or a batch differs, from
which they are told; and the weight decay."""


class Sign(Enum):
    """What is unusual, the most telling first."""

    NO_STEP = auto()
    EMPTY = auto()
    NOT_FINITE = auto()
    OTHER_MODEL = auto()
    NO_GRADIENT = auto()
    NOT_CLEARED = auto()
    FEW_EXAMPLES = auto()
    COPYING = auto()
    SKIPPING = auto()
    FIRST_WEIGHTS = auto()
    NEW_OPTIMIZERS = auto()
    PARTLY_TRAINED = auto()
    FEW_STEPS = auto()
    NOT_ADAM = auto()
    SMALL_RATE = auto()
    LARGE_RATE = auto()
    SMALL_BATCHES = auto()
    DECAY = auto()
    EARLY_WEIGHTS = auto()


NUMBERS = (Sign.FEW_STEPS, Sign.NOT_ADAM, Sign.SMALL_RATE, Sign.LARGE_RATE)
NUMBERS += (Sign.SMALL_BATCHES, Sign.DECAY)
"""Signs that are only numbers other than those that are enough; the cause may be another."""


@dataclass(frozen=True)
class Seen:
    """Something unusual in a training, and what would be enough."""

    sign: Sign
    training: Training
    enough: Enough


def signs(seen: Training, enough: Enough) -> Iterator[Sign]:
    """Everything that is unusual in a training."""
    steps, most = seen.steps, MOSTLY * seen.steps
    if not steps:
        yield Sign.NO_STEP
        return
    batch = min(seen.examples, enough.examples)  # of a larger one, few may be all that there are
    found = {
        Sign.EMPTY: seen.empty > SOME * steps,
        Sign.NOT_FINITE: seen.not_finite > 0,
        Sign.OTHER_MODEL: seen.of > 0 and seen.held == 0 and seen.kept < 0,
        Sign.NO_GRADIENT: seen.no_gradient >= most,
        Sign.NOT_CLEARED: steps > 1 and seen.not_cleared >= MOSTLY * (steps - 1),
        Sign.FEW_EXAMPLES: steps >= OFTEN and 0 < seen.distinct <= FEW * batch,
        Sign.COPYING: seen.copying >= most,
        Sign.SKIPPING: seen.skipping >= most,
        Sign.FIRST_WEIGHTS: seen.kept == 0,
        Sign.NEW_OPTIMIZERS: bool(seen.adam) and steps > 1 and seen.new_optimizers >= most,
        Sign.PARTLY_TRAINED: 0 < seen.held < seen.of,
        Sign.FEW_STEPS: steps < STEPS * enough.steps,
        Sign.NOT_ADAM: not seen.adam,
        Sign.SMALL_RATE: RATE * seen.peak < enough.rate,
        Sign.LARGE_RATE: seen.peak > RATE * enough.rate,
        Sign.SMALL_BATCHES: 0 < BATCH * seen.examples < enough.examples,
        Sign.DECAY: seen.decay >= DECAY,
        Sign.EARLY_WEIGHTS: 0 < seen.kept <= steps / 2,
    }
    yield from (sign for sign, holds in found.items() if holds)


def explained(
    task: Task,
    outcomes: Sequence[Outcome],
    case: int,
    diagnosis: Diagnosis | None,
    baseline: Baseline,
) -> Seen | None:
    """What was seen that explains a score too low; None if nothing was, or a known mistake fits.

    A known mistake fits better if its training is the same in every number, or if all that was seen
    is a number and the known mistake does as badly although its training shows nothing unusual.
    """
    training = outcomes[case].training
    if training is None or task.enough is None:
        return None
    sign = next(signs(training, task.enough), None)
    if sign is None:
        return None
    if diagnosis is not None:
        why = task.mistakes[diagnosis.mistake].why
        alike = [k for k, mistake in enumerate(task.mistakes) if mistake.why == why]
        theirs = [baseline.mistake(k, case).training for k in alike]
        unusual = any(t is not None and any(signs(t, task.enough)) for t in theirs)
        if training in theirs or (sign in NUMBERS and not unusual):
            return None
    return Seen(sign, training, task.enough)
