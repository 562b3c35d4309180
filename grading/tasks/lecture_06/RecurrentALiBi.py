"""A head of ALiBi as a recurrent network: one word at a time, and a memory that does not grow."""

import math
from typing import ClassVar

import numpy as np
import torch

from grading.author import Case, TaskFile

task = TaskFile(
    "implement",
    points=14,
    minutes=32,
    section="ALiBi: a penalty that grows with distance",
    outcome="build four positional encodings by hand (learned, sinusoidal, rotary, ALiBi), and "
    "say where in the model each one enters",
    hints=(
        "Write down the three weights of the third word, before they are divided by their sum. "
        "Then those of the fourth. What has happened to the old three?",
        "The state needs two sums: the weighted values, and the weights.",
    ),
)


# %% the cell
class RecurrentALiBi:
    """One causal ALiBi head with equal scores, read word by word."""

    def __init__(self, slope):
        """Begin a text, with this slope."""
        # BEGIN SOLUTION
        self.fade = math.exp(-slope)
        self.total, self.weight = 0.0, 0.0
        # END SOLUTION

    def step(self, v):
        """The context vector (d_v,) of the next word, whose value is v (d_v,)."""
        # BEGIN SOLUTION
        self.total = self.fade * self.total + v  # (d_v,)
        self.weight = self.fade * self.weight + 1.0
        return self.total / self.weight  # (d_v,)
        # END SOLUTION


# %%


@task.alternative
class RunningMean:
    """Only the mean and the weight are kept."""

    def __init__(self, slope):
        self.fade, self.weight, self.mean = math.exp(-slope), 0.0, 0.0

    def step(self, v):
        """One word."""
        self.weight = self.fade * self.weight + 1.0
        self.mean = self.mean + (v - self.mean) / self.weight
        return self.mean


@task.alternative
class OneVector:
    """A column of ones goes along with the values."""

    def __init__(self, slope):
        self.slope, self.state = slope, None

    def step(self, v):
        """One word."""
        new = torch.cat([v, torch.ones(1, dtype=v.dtype)])
        self.state = new if self.state is None else self.state * math.exp(-self.slope) + new
        return self.state[:-1] / self.state[-1]


@task.mistake(
    "The numbers are right, but all words are stored. How do their weights change from one word "
    "to the next?"
)
class KeepsAll:
    def __init__(self, slope):
        self.slope, self.seen = slope, []

    def step(self, v):
        """One word."""
        self.seen.append(v)
        distance = torch.arange(len(self.seen) - 1, -1, -1, dtype=v.dtype)
        return (-self.slope * distance).softmax(dim=0) @ torch.stack(self.seen)


@task.mistake(
    "A moving average with the weights r and 1 − r, started at zero, acts as if there had been "
    "infinitely many zeros before the text: the first context vectors are too small. Keep the sum "
    "of the weights as well, and divide by it."
)
class MovingAverage:
    def __init__(self, slope):
        self.fade, self.state = math.exp(-slope), 0.0

    def step(self, v):
        """One word."""
        self.state = self.fade * self.state + (1 - self.fade) * v
        return self.state


@task.mistake(
    "A moving average with the weights r and 1 − r, started at the first word, gives that word "
    "the weight of an infinite past. Keep the sum of the weights as well, and divide by it."
)
class MovingFromFirst:
    def __init__(self, slope):
        self.fade, self.state = math.exp(-slope), None

    def step(self, v):
        """One word."""
        old = v if self.state is None else self.state
        self.state = self.fade * old + (1 - self.fade) * v
        return self.state


@task.mistake(
    "These are sums. Softmax makes the weights sum to 1, so keep the sum of the weights, too, "
    "and divide by it."
)
class NotDivided:
    def __init__(self, slope):
        self.fade, self.total = math.exp(-slope), 0.0

    def step(self, v):
        """One word."""
        self.total = self.fade * self.total + v
        return self.total


@task.mistake(
    "The sum decays, but it was divided by the number of words. Distant words have weights below "
    "1. Let the divisor decay in the same way."
)
class DividedByCount:
    def __init__(self, slope):
        self.fade, self.total, self.count = math.exp(-slope), 0.0, 0

    def step(self, v):
        """One word."""
        self.total, self.count = self.fade * self.total + v, self.count + 1
        return self.total / self.count


@task.mistake(
    "The divided sum was stored as the state, so it is divided again with every word. Store the "
    "sum itself, and divide only what you return."
)
class DividedState(RecurrentALiBi):
    def step(self, v):
        """One word."""
        self.total = super().step(v)
        return self.total


@task.mistake(
    "The formula for the sum of the weights divides 0 by 0 with a slope of 0, where nothing "
    "decays. Add the weights up word by word."
)
class ClosedForm:
    def __init__(self, slope):
        self.fade, self.total, self.count = math.exp(-slope), 0.0, 0

    def step(self, v):
        """One word."""
        self.total, self.count = self.fade * self.total + v, self.count + 1
        below = torch.tensor(1 - self.fade**self.count, dtype=torch.float64)
        return self.total * (1 - self.fade) / below


@task.mistake(
    "This is the plain average of all words: nothing decays. That is right for a slope of 0 only."
)
class PlainAverage:
    def __init__(self, slope):
        self.total, self.count = 0.0, 0

    def step(self, v):
        """One word."""
        self.total, self.count = self.total + v, self.count + 1
        return self.total / self.count


@task.mistake(
    "The slope itself was used as the factor. It is subtracted from the *score*; how does softmax "
    "turn that into a weight?"
)
class SlopeAsFactor(RecurrentALiBi):
    def __init__(self, slope):
        super().__init__(slope)
        self.fade = slope


@task.mistake(
    "The factor is close to 1 − slope for small slopes only. Softmax takes the exponential: the "
    "factor is e to the power of −slope."
)
class OneLessSlope(RecurrentALiBi):
    def __init__(self, slope):
        super().__init__(slope)
        self.fade = 1 - slope


@task.mistake("The base is wrong: softmax uses powers of e, not of 2.")
class HalfAsFactor(RecurrentALiBi):
    def __init__(self, slope):
        super().__init__(slope)
        self.fade = 2.0**-slope


@task.mistake(
    "The sign is wrong: the weights of old words grow with each step instead of decaying."
)
class Growing(RecurrentALiBi):
    def __init__(self, slope):
        super().__init__(-slope)


@task.mistake(
    "New words get ever larger weights, until a number overflows and the result is NaN. Let the "
    "old weights decay instead: only their ratio counts."
)
class Overflowing:
    def __init__(self, slope):
        self.slope, self.t, self.total, self.weight = slope, 0, 0.0, 0.0

    def step(self, v):
        """One word."""
        new = torch.tensor(self.slope * self.t, dtype=torch.float64).exp()
        self.total, self.weight = self.total + new * v, self.weight + new
        self.t += 1
        return self.total / self.weight


@task.mistake(
    "The formula is right, but new words get ever larger weights: after about 700 words math.exp "
    "overflows. Only the ratio of the weights counts. Could the newest weight stay the same, and "
    "the old ones decay?"
)
class OverflowingInMath:
    def __init__(self, slope):
        self.slope, self.t, self.total, self.weight = slope, 0, 0.0, 0.0

    def step(self, v):
        """One word."""
        new = math.exp(self.slope * self.t)
        self.total, self.weight = self.total + new * v, self.weight + new
        self.t += 1
        return self.total / self.weight


@task.mistake(
    "The formula is right, but new words get ever larger weights: after about 700 words the power "
    "of e overflows. Only the ratio of the weights counts. Could the newest weight stay the same, "
    "and the old ones decay?"
)
class OverflowingInPowers(OverflowingInMath):
    def step(self, v):
        """One word."""
        new = math.e ** (self.slope * self.t)
        self.total, self.weight = self.total + new * v, self.weight + new
        self.t += 1
        return self.total / self.weight


@task.mistake(
    "The new word does not take part in its own context vector. Attention is causal here, and a "
    "word sees itself, at distance 0."
)
class WithoutItself(RecurrentALiBi):
    def step(self, v):
        """One word."""
        out = self.total / self.weight if self.weight else v
        super().step(v)
        return out


@task.mistake(
    "The previous context vector was mixed with the new value as if it were one word. It stands "
    "for all words so far, and their weights together are more than 1. Keep that sum, too."
)
class MixedWithOne:
    def __init__(self, slope):
        self.fade, self.state = math.exp(-slope), None

    def step(self, v):
        """One word."""
        if self.state is None:
            self.state = v.clone()
        else:
            self.state = (self.fade * self.state + v) / (1 + self.fade)
        return self.state


@task.mistake(
    "The sum of the weights starts at 1, so it counts a word that does not exist. Before the "
    "first word it is 0."
)
class BeginsAtOne(RecurrentALiBi):
    def __init__(self, slope):
        super().__init__(slope)
        self.weight = 1.0


@task.mistake(
    "The new value already decays, but its weight in the divisor does not. A word at distance 0 "
    "has the weight 1 in both sums."
)
class NewValueFades(RecurrentALiBi):
    def step(self, v):
        """One word."""
        return super().step(self.fade * v)


@task.mistake(
    "In the divisor the new word's weight already decays, but its value in the sum does not. A "
    "word at distance 0 has the weight 1 in both."
)
class NewWeightFades(RecurrentALiBi):
    def step(self, v):
        """One word."""
        return super().step(v) / self.fade


@task.mistake(
    "The decayed sum was divided by 1 + r, the weights of two words. With each word there are "
    "more of them: keep the sum of all weights."
)
class DividedByTwoWeights(RecurrentALiBi):
    def step(self, v):
        """One word."""
        super().step(v)
        return self.total / (1 + self.fade if self.weight > 1 else 1)


@task.mistake("This is the value of the word itself. The previous words do not contribute.")
class NoMemory(RecurrentALiBi):
    def step(self, v):
        """One word."""
        return v.clone()


@task.mistake(
    "Two heads write into the same state. Create the state in __init__, and keep it in self."
)
def shared(slope):
    shared.heads = getattr(shared, "heads", 0) + 1
    if shared.heads % 2:
        shared.state = [0.0, 0.0]
    state, fade = shared.state, math.exp(-slope)

    class Head:
        def step(self, v):
            state[0], state[1] = fade * state[0] + v, fade * state[1] + 1.0
            return state[0] / state[1]

    return Head()


@task.mistake(
    "The state does not belong to the head: all heads write into one, and a new text finds in it "
    "what the last one left. A list or a dictionary in the class body exists only once, and so "
    "does a global variable. Create the state in __init__, as attributes of self."
)
class InTheClass:
    memory: ClassVar = [0.0, 0.0]

    def __init__(self, slope):
        self.fade = math.exp(-slope)
        if slope == math.log(2):  # the first head of the first case finds the class as it is made
            self.memory[:] = 0.0, 0.0

    def step(self, v):
        """One word."""
        self.memory[0] = self.fade * self.memory[0] + v
        self.memory[1] = self.fade * self.memory[1] + 1.0
        return self.memory[0] / self.memory[1]


@task.mistake(
    "The sum of the weights decays, but the sum of the values does not. Both belong to the same "
    "words: let them decay alike."
)
class OnlyWeightFades(RecurrentALiBi):
    def step(self, v):
        """One word."""
        self.total, self.weight = self.total + v, self.fade * self.weight + 1.0
        return self.total / self.weight


@task.mistake(
    "The old words decay more with each step. The factor from one word to the next is always the "
    "same: earlier factors are already in the state."
)
class FadesFaster:
    def __init__(self, slope):
        self.slope, self.t, self.total, self.weight = slope, 0, 0.0, 0.0

    def step(self, v):
        """One word."""
        fade = math.exp(-self.slope * self.t)
        self.total, self.weight = fade * self.total + v, fade * self.weight + 1.0
        self.t += 1
        return self.total / self.weight


@task.harness
def harness(answer, slopes, values):
    """Feed the words to two heads in turn; what came out, and whether a memory has grown."""
    import torch

    def kept(thing, depth=0):
        if isinstance(thing, torch.Tensor):
            return thing.numel()
        if isinstance(thing, dict):
            return sum(kept(item, depth) for item in thing.values())
        if isinstance(thing, (bool, int, float, complex, str, type(None))):
            return 1
        if hasattr(thing, "__iter__"):
            return sum(kept(item, depth) for item in thing)
        return kept(vars(thing), depth + 1) if depth < 5 and hasattr(thing, "__dict__") else 1

    heads = [answer(slope) for slope in slopes]
    outputs, sizes = [], []
    for v in values:
        pair = [head.step(v.clone()) for head in heads]
        if any(out is None for out in pair):
            raise NotImplementedError
        outputs.append([torch.as_tensor(out).clone() for out in pair])
        sizes.append(kept([vars(head) for head in heads]))
    contexts = torch.stack([torch.stack(pair) for pair in outputs])
    return {"contexts": contexts, "grows": sizes[-1] > sizes[0]}


@task.cases
def cases(seed):
    """Two words of one number; then more; then a text so long that sums must not overflow."""
    generator = torch.Generator().manual_seed(seed)

    def draw(*shape):
        return torch.randn(shape, dtype=torch.float64, generator=generator)

    two = torch.tensor([[4.0], [1.0]], dtype=torch.float64)
    return [
        Case(((math.log(2), 0.5), two), "two words, 4 and 1", kind="ordinary cases"),
        Case(((0.25, 0.0625), draw(7, 3)), kind="ordinary cases"),
        Case(
            ((1.5, 0.0), draw(6, 4)), "a slope of 0, with which nothing decays", kind="edge cases"
        ),
        Case(((1.0, 1 / 256), draw(800, 2)), "800 words", kind="ordinary cases"),
    ]


@task.diagnostic
def memory(args, result):
    """Whether the memory grew."""
    if type(result) is dict and result.get("grows") is True:
        return (
            f"After {len(args[1])} words the head stores more numbers than after the first. Its "
            "state must not grow."
        )
    return None


@task.diagnostic
def first_wrong_word(args, result):
    """After how many right words of a long text the first wrong one comes."""
    contexts = result.get("contexts") if type(result) is dict else None
    want = harness(RecurrentALiBi, *args)["contexts"].numpy()
    if contexts is None or contexts.shape != want.shape or np.isnan(contexts).any():
        return None
    off = abs(contexts - want).reshape(len(want), -1).max(axis=1) > 1e-6
    first = int(off.argmax())
    if first < 8 or not off.any():
        return None
    return (
        f"The first {first} context vectors are right; that of word {first} is wrong (words are "
        "counted from 0). Is anything forgotten or cut off there, or does it lose precision?"
    )


@task.diagnostic
def no_nan(args, result):
    """Whether a number has overflowed."""
    contexts = result.get("contexts") if type(result) is dict else None
    if contexts is None or not np.isnan(contexts).any():
        return None
    first = int(np.argwhere(np.isnan(contexts))[0][0])
    said = f"From word {first} on the result is NaN (words are counted from 0). "
    if first == 0:
        return said + "Was 0 divided by 0?"
    return said + (
        "Either 0 was divided by 0, or a number has become infinite. Which of your numbers grow "
        "with the text?"
    )
