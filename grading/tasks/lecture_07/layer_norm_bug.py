"""Find the bugs: layer norm as it is often written by hand."""

import torch
import torch.nn.functional as F

from grading.author import Case, TaskFile

task = TaskFile(
    "find the bug",
    points=8,
    minutes=16,
    extra=True,
    section="Layer normalization allows larger steps",
    outcome="write a residual connection and a layer norm, and say what each of them preserves",
    hints=(
        "Take the word (3, 7) and eps = 5, and compute the result by the equation of layer norm. "
        "Then print each line of the code.",
        "`std` has an argument `correction`. The lecture says what its default is.",
        "The equation has a fraction and a square root. Is eps under the root or added to it? And "
        "what stands outside the fraction?",
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
    "This does the same as the given code. Both numbers of the example are wrong. Compute them by "
    "hand next to the code, line by line.",
    _version(True, True, True),
)
task.mistake(
    "The standard deviation is now right, but there is more. Where is eps in the equation, and "
    "what is the shift multiplied by there?",
    _version(outside=True, shifted=True),
)
task.mistake(
    "eps is in the right place now, but there is more. What is the standard deviation of (3, 7)? "
    "And what is the shift multiplied by in the equation?",
    _version(counted=True, shifted=True),
)
task.mistake(
    "Scale and shift are now right, but there is more. What is the standard deviation of (3, 7)? "
    "And where is eps in the equation?",
    _version(counted=True, outside=True),
)
task.mistake(
    "One bug is left, in the standard deviation. It is too large by a factor that depends only on "
    "the number of entries. What does `std` (or `var`) divide by, by default?",
    _version(counted=True),
)
task.mistake(
    "One bug is left: eps is added to the standard deviation. Compare with the equation: what is "
    "under the square root?",
    _version(outside=True),
)
task.mistake(
    "One bug is left: the shift is scaled along with the word. What is added last in the equation?",
    _version(shifted=True),
)
task.mistake(
    "Mean and standard deviation are computed along the words, so the words affect each other. "
    "Which axis holds the numbers of one word?",
    lambda x, weight, bias, eps: weight * F.layer_norm(x.mT, (x.shape[1],), eps=eps).mT + bias,
)
task.mistake(
    "Mean and standard deviation are computed over all words of a sequence together. Each word "
    "has its own.",
    lambda x, weight, bias, eps: weight * F.layer_norm(x, x.shape[1:], eps=eps) + bias,
)


@task.mistake("You divide by the variance. The equation has a square root there.")
def not_rooted(x, weight, bias, eps):
    centred = x - x.mean(dim=-1, keepdim=True)
    return weight * centred / ((centred**2).mean(dim=-1, keepdim=True) + eps) + bias


@task.mistake(
    "`std` is already a square root, and another one was taken of it. The variance belongs under "
    "the square root."
)
def rooted_twice(x, weight, bias, eps):
    deviation = x.std(dim=-1, keepdim=True, correction=0)
    return weight * (x - x.mean(dim=-1, keepdim=True)) / (deviation + eps).sqrt() + bias


task.mistake(
    "eps is missing. A word whose numbers are all the same is then 0 divided by 0.",
    lambda x, weight, bias, eps: layer_norm_bug(x, weight, bias, 0.0),
)
task.mistake(
    "eps was squared. It is added to the variance as it is.",
    lambda x, weight, bias, eps: layer_norm_bug(x, weight, bias, eps**2),
)


@task.mistake("The mean is subtracted for the standard deviation, but not from the word itself.")
def not_centred(x, weight, bias, eps):
    return weight * x / (x.var(dim=-1, keepdim=True, correction=0) + eps).sqrt() + bias


@task.mistake(
    "The squares are summed but not averaged: the output is too small by the square root of the "
    "number of entries."
)
def summed(x, weight, bias, eps):
    centred = x - x.mean(dim=-1, keepdim=True)
    return weight * centred / ((centred**2).sum(dim=-1, keepdim=True) + eps).sqrt() + bias


task.edit(
    "The argument `eps` is not used. Add it to the variance, whatever its size.",
    "(variance + eps)",
    "(variance + 1e-5)",
)


@task.mistake(
    "The standard deviation was multiplied by (d − 1) / d. That is the factor between the two "
    "*variances*, and a standard deviation is the square root of a variance."
)
def factor_of_variance(x, weight, bias, eps):
    d = x.shape[-1]
    centred = x - x.mean(dim=-1, keepdim=True)
    deviation = x.std(dim=-1, keepdim=True) * (d - 1) / d
    return weight * centred / (deviation**2 + eps).sqrt() + bias


task.edit(
    "eps is a lower limit of the variance here. It is added to the variance, in every word.",
    "(variance + eps).sqrt()",
    "variance.clamp(min=eps).sqrt()",
)


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
        return "An output changes if *another* word changes. Each word is normalized on its own."
    if result["output"].shape != tuple(x.shape):
        return None
    normed = (torch.as_tensor(result["output"]) - bias) / weight
    if normed.mean(dim=-1).abs().max() > 1e-6:
        return (
            "Subtract the shift from your output and divide by the scale: the rest of a word "
            "should have the mean 0, but has another one."
        )
    variance = x.var(dim=-1, correction=0)
    size, wanted = normed.square().mean(dim=-1), variance / (variance + eps)
    if not torch.allclose(size, wanted, atol=1e-6):
        return (
            "Subtract the shift from your output and divide by the scale: the rest of a word has "
            "the mean 0, as it should, but not the right size."
        )
    return None
