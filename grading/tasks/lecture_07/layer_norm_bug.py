"""Find the bugs: layer norm as it is often written by hand."""

import torch
import torch.nn.functional as F

from grading.author import Case, TaskFile

task = TaskFile(
    "find the bug",
    points=8,
    minutes=16,
    extra=True,
    section="Layer normalization keeps the scale",
    outcome="write a residual connection and a layer norm, and say what each of them preserves",
    hints=(
        "Take the word (3, 7) and eps = 5, and work it out by the equation of the layer norm. Then "
        "print each line of the code.",
        "`std` has an argument `correction`. The lecture says what it does if it is not given.",
        "The equation has a fraction and a root. Which of the two does eps belong to, and what is "
        "outside of both?",
    ),
)


# %% the cell
def layer_norm_bug(x, weight, bias, eps):
    """Layer norm of each word; x is (batch, T, d_model)."""
    mean = x.mean(dim=-1, keepdim=True)  # (batch, T, 1)
    #| deviation = x.std(dim=-1, keepdim=True)  # (batch, T, 1)
    #| normed = (x - mean) / (deviation + eps)  # (batch, T, d_model)
    #| return weight * (normed + bias)
    # BEGIN SOLUTION
    variance = x.var(dim=-1, keepdim=True, correction=0)  # (batch, T, 1)
    normed = (x - mean) / (variance + eps).sqrt()  # (batch, T, d_model)
    return weight * normed + bias
    # END SOLUTION


# %%


@task.alternative
def by_torch(x, weight, bias, eps):
    """PyTorch's function."""
    return F.layer_norm(x, weight.shape, weight, bias, eps)


@task.alternative
def by_mean_of_squares(x, weight, bias, eps):
    """The variance as mean of squares less the square of the mean."""
    mean = x.mean(dim=2, keepdim=True)
    variance = (x * x).mean(dim=2, keepdim=True) - mean * mean
    return (x - mean) * torch.rsqrt(variance + eps) * weight + bias


def _version(counted=False, outside=False, shifted=False):
    """A version that has some of the bugs."""

    def answer(x, weight, bias, eps):
        mean = x.mean(dim=-1, keepdim=True)
        variance = x.var(dim=-1, keepdim=True, correction=int(counted))
        below = variance.sqrt() + eps if outside else (variance + eps).sqrt()
        normed = (x - mean) / below
        return weight * (normed + bias) if shifted else weight * normed + bias

    return answer


task.mistake(
    "This is the code as given. Already the two numbers of the example come out "
    "wrong. Work it out by hand beside the code, line by line.",
    _version(True, True, True),
)
task.mistake(
    "The deviation is right now, and that is not all. Where does eps are in the equation, and "
    "what does the shift meet there?",
    _version(outside=True, shifted=True),
)
task.mistake(
    "eps is in its place now, and that is not all. What is the deviation of (3, 7)? And what "
    "does the shift meet?",
    _version(counted=True, shifted=True),
)
task.mistake(
    "Scale and shift are right now, and that is not all. What is the deviation of (3, 7)? And "
    "where does eps stand?",
    _version(counted=True, outside=True),
)
task.mistake(
    "What is left is in the deviation. It is too large by a factor that depends only on the "
    "number of entries. By how many does `std` (or `var`) divide, if nobody tells it?",
    _version(counted=True),
)
task.mistake(
    "What is left: eps is added to the deviation. Compare with the equation, and with what is "
    "under its root.",
    _version(outside=True),
)
task.mistake(
    "What is left: the shift is scaled along with the word. What comes last in the equation?",
    _version(shifted=True),
)
task.mistake(
    "Mean and deviation are taken along the words, and so the words see each other. Which axis "
    "holds the numbers of one word?",
    lambda x, weight, bias, eps: weight * F.layer_norm(x.mT, (x.shape[1],), eps=eps).mT + bias,
)
task.mistake(
    "Mean and deviation are taken of all words of a sequence together. Each word has its own.",
    lambda x, weight, bias, eps: weight * F.layer_norm(x, x.shape[1:], eps=eps) + bias,
)


@task.mistake("It is divided by the variance. In the equation there is a root.")
def not_rooted(x, weight, bias, eps):
    centred = x - x.mean(dim=-1, keepdim=True)
    return weight * centred / ((centred**2).mean(dim=-1, keepdim=True) + eps) + bias


@task.mistake(
    "`std` is a root already, and another root was taken of it. Under the root is the variance."
)
def rooted_twice(x, weight, bias, eps):
    deviation = x.std(dim=-1, keepdim=True, correction=0)
    return weight * (x - x.mean(dim=-1, keepdim=True)) / (deviation + eps).sqrt() + bias


task.mistake(
    "eps does not appear. A word whose numbers are all the same then is 0 divided by 0.",
    lambda x, weight, bias, eps: layer_norm_bug(x, weight, bias, 0.0),
)
task.mistake(
    "eps was squared. It is added to the variance as it is.",
    lambda x, weight, bias, eps: layer_norm_bug(x, weight, bias, eps**2),
)


@task.mistake("The mean is used for the deviation, but it is still in what is divided.")
def not_centred(x, weight, bias, eps):
    return weight * x / (x.var(dim=-1, keepdim=True, correction=0) + eps).sqrt() + bias


@task.mistake(
    "The squares are added up and not averaged: the output is too small by the root of the "
    "number of entries."
)
def summed(x, weight, bias, eps):
    centred = x - x.mean(dim=-1, keepdim=True)
    return weight * centred / ((centred**2).sum(dim=-1, keepdim=True) + eps).sqrt() + bias


task.edit(
    "`eps` comes in and is not used. It is added to the variance, whatever its size.",
    "(variance + eps)",
    "(variance + 1e-5)",
)


@task.mistake(
    "The deviation was multiplied by (d − 1) / d. That is the factor between the two *variances*, "
    "and a deviation is the root of a variance."
)
def factor_of_variance(x, weight, bias, eps):
    d = x.shape[-1]
    centred = x - x.mean(dim=-1, keepdim=True)
    deviation = x.std(dim=-1, keepdim=True) * (d - 1) / d
    return weight * centred / (deviation**2 + eps).sqrt() + bias


@task.harness
def harness(answer, x, weight, bias, eps):
    """Norm the words; and whether a word moves with another one."""
    import torch

    out = answer(x, weight, bias, eps)
    if out is None:
        return None
    out, other = torch.as_tensor(out), x.clone()
    other[:, -1] = other[:, -1].flip(-1) * 3 + 1
    moved = torch.as_tensor(answer(other, weight, bias, eps))[:, :-1] - out[:, :-1]
    return {"output": out, "sees other words": bool((moved.abs() > 1e-6).any())}


@task.cases
def cases(seed):
    """Two numbers to check by hand; then other sizes, and words of very different sizes."""
    generator = torch.Generator().manual_seed(seed)

    def draw(*shape):
        return torch.randn(shape, dtype=torch.float64, generator=generator)

    x = torch.tensor([[[3.0, 7.0], [5.0, 5.0]]], dtype=torch.float64)
    weight, bias = torch.tensor([3.0, 3.0]).double(), torch.tensor([1.0, 0.0]).double()
    return [
        Case((x, weight, bias, 5.0), "the example", kind="ordinary cases"),
        Case((draw(2, 3, 5), draw(5), draw(5), 1e-5), "eps is tiny", kind="ordinary cases"),
        Case((draw(3, 4, 6) + 2, draw(6), draw(6), 0.5), "eps is large", kind="ordinary cases"),
        Case(
            (draw(2, 5, 3) * 0.01, draw(3), draw(3), 1e-3),
            "words of tiny numbers",
            kind="ordinary cases",
        ),
        Case(
            (draw(1, 4, 7) * 10 - 30, draw(7), draw(7), 0.1),
            "words of large numbers",
            kind="ordinary cases",
        ),
    ]


@task.diagnostic
def what_is_odd(args, result):
    """Whether words look at each other; then mean and size before scale and shift."""
    x, weight, bias, eps = (torch.as_tensor(part) for part in args)
    if result["sees other words"]:
        return "An output moves when *another* word changes. Each word is treated alone."
    if result["output"].shape != tuple(x.shape):
        return None
    normed = (torch.as_tensor(result["output"]) - bias) / weight
    if normed.mean(dim=-1).abs().max() > 1e-6:
        return (
            "Subtract the shift from your output and divide by the scale: what is left of a word "
            "should have the mean 0, and has another one."
        )
    variance = x.var(dim=-1, correction=0)
    size, wanted = normed.square().mean(dim=-1), variance / (variance + eps)
    if not torch.allclose(size, wanted, atol=1e-6):
        return (
            "Subtract the shift from your output and divide by the scale: what is left of a word "
            "has the mean 0, as it should, but not the right size."
        )
    return None
