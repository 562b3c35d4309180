"""The logit lens: what each layer would say if it were the last."""

import torch

from grading.author import Case, TaskFile

task = TaskFile(
    "implement",
    points=10,
    minutes=15,
    section="The logit lens",
    two_at_once=True,
    outcome="follow a decision through the residual stream layer by layer, and find the heads that "
    "carry it",
    hints=(
        "Three steps, the same for every layer: the final norm, the output layer, a difference.",
        "`nn.Linear` stores W_out with a row for each output, so its logits are `x @ W_out.T`.",
        "`logits[:, text, right]` with `text = torch.arange(batch)` takes one token from each "
        "text.",
    ),
)


# %% the cell
def logit_lens(stream, weight, eps, W_out, right, wrong):
    """Mean logit difference (layers,), read from stream (layers, batch, T, d_model)."""
    # BEGIN SOLUTION
    x = stream[:, :, -1]  # (layers, batch, d_model)
    mean_square = (x * x).mean(dim=-1, keepdim=True)  # (layers, batch, 1)
    x = x / torch.sqrt(mean_square + eps) * weight
    logits = x @ W_out.T  # (layers, batch, vocab)
    text = torch.arange(len(right))
    margins = logits[:, text, right] - logits[:, text, wrong]  # (layers, batch)
    return margins.mean(dim=1)  # (layers,)
    # END SOLUTION


# %%


@task.alternative
def by_log_probabilities(stream, weight, eps, W_out, right, wrong):
    """Log-probabilities differ by as much as logits do."""
    x = stream[:, :, -1] * weight
    x = x * (stream[:, :, -1].square().mean(dim=-1, keepdim=True) + eps).rsqrt()
    logs = torch.log_softmax(x @ W_out.T, dim=-1)  # (layers, batch, vocab)
    ahead = logs.gather(2, right.expand(len(logs), -1)[..., None])
    ahead = ahead - logs.gather(2, wrong.expand(len(logs), -1)[..., None])
    return ahead.mean(dim=(1, 2))


NORM = "x / torch.sqrt(mean_square + eps) * weight"
task.edit(
    "The final norm is missing. The output layer was trained on normalized vectors.",
    NORM,
    "x",
)
task.edit(
    "The final norm also divides by the root mean square: here its scale alone was applied.",
    NORM,
    "x * weight",
)
task.edit(
    "The mean square was taken over all texts of a layer. Each vector has its own.",
    NORM,
    "x / torch.sqrt(x.square().mean(dim=(1, 2), keepdim=True) + eps) * weight",
)
task.edit("The scale `weight` of the norm is missing.", NORM, "x / torch.sqrt(mean_square + eps)")
task.edit(
    "The mean was subtracted, as in layer norm. RMSNorm subtracts nothing.",
    "mean_square = (x * x)",
    "x = x - x.mean(dim=-1, keepdim=True)\n    mean_square = (x * x)",
)
task.edit(
    "The mean was subtracted, as in layer norm, and the variance computed by `var`. RMSNorm "
    "subtracts nothing, and takes the mean of the squares.",
    "mean_square = (x * x).mean(",
    "x = x - x.mean(dim=-1, keepdim=True)\n    mean_square = x.var(",
)
task.edit(
    "The vectors were divided by their standard deviation, which is measured from their mean. "
    "RMSNorm divides by the root of the mean of the squares themselves.",
    "(x * x).mean(",
    "x.var(",
)
task.edit("`eps` is missing. Add it to the mean square.", "mean_square + eps", "mean_square")
task.edit(
    "One mean square was computed over all layers and texts. Each vector has its own.",
    "(x * x).mean(dim=-1, keepdim=True)",
    "(x * x).mean()",
)
task.edit(
    "The vectors were divided by their mean square. RMSNorm divides by its square *root*.",
    "torch.sqrt(mean_square + eps)",
    "(mean_square + eps)",
)
task.edit(
    "`W_out` has a row for each token, so its columns match x, not its rows.",
    "x @ W_out.T",
    "x @ W_out",
)
task.edit(
    "There is a number for each text. Return their mean: one number for each layer.",
    "return margins.mean(dim=1)",
    "return margins",
)
task.edit(
    "The squares were summed. RMSNorm divides by the square root of their *mean*.",
    "(x * x).mean(",
    "(x * x).sum(",
)
task.edit(
    "The first token was read. The verb is predicted at the last one.",
    "stream[:, :, -1]",
    "stream[:, :, 0]",
)
task.edit(
    "The sign is wrong: the logit difference is the right token's logit minus the wrong token's.",
    "logits[:, text, right] - logits[:, text, wrong]",
    "logits[:, text, wrong] - logits[:, text, right]",
)
task.edit(
    "The logit differences were summed. Return their mean over the texts.",
    "margins.mean(dim=1)",
    "margins.sum(dim=1)",
)
task.edit(
    "The mean is taken over the layers. Take it over the texts: one number for each layer.",
    "margins.mean(dim=1)",
    "margins.mean(dim=0)",
)
task.edit(
    "`logits[:, :, right]` takes the tokens of all texts from each text. Text i needs `right[i]` "
    "alone: `logits[:, text, right]` with `text = torch.arange(batch)`.",
    "logits[:, text, right] - logits[:, text, wrong]",
    "logits[:, :, right] - logits[:, :, wrong]",
)
task.edit(
    "Each text was read with the tokens of all texts. Text i has `right[i]` and `wrong[i]`.",
    "logits[:, text, right] - logits[:, text, wrong]",
    "(logits[:, :, right] - logits[:, :, wrong]).mean(dim=2)",
)
task.edit(
    "These are probabilities. Return a difference of logits.",
    "x @ W_out.T",
    "(x @ W_out.T).softmax(dim=-1)",
)
task.edit(
    "`eps` is added to the square root. It belongs under it.",
    "torch.sqrt(mean_square + eps)",
    "(torch.sqrt(mean_square) + eps)",
)


@task.mistake("The wrong token is missing: this is the mean logit of the right one.")
def right_alone(stream, weight, eps, W_out, right, wrong):
    x = stream[:, :, -1]
    x = x * (x.square().mean(dim=-1, keepdim=True) + eps).rsqrt() * weight
    return (x @ W_out.T)[:, torch.arange(len(right)), right].mean(dim=1)


task.edit(
    "`stream[:, -1]` is the last *text*: the axes are layers, texts and tokens. Read the last "
    "token of each text.",
    "stream[:, :, -1]",
    "stream[:, -1]",
)


task.edit(
    "The texts were averaged before the norm. The norm divides each text by a size of its own, so "
    "take the mean at the end.",
    "x = stream[:, :, -1]",
    "x = stream[:, :, -1].mean(1, True).expand(-1, stream.shape[1], -1)",
)


task.edit(
    "The layers were added up. The residual stream of a layer already holds what all layers before "
    "it have added.",
    "stream[:, :, -1]",
    "stream.cumsum(dim=0)[:, :, -1]",
)
task.edit(
    "The vectors of all tokens were averaged. The verb is predicted at the last token.",
    "stream[:, :, -1]",
    "stream.mean(dim=2)",
)


task.edit(
    "`eps` is a lower limit of the mean square here. Add it.",
    "torch.sqrt(mean_square + eps)",
    "torch.sqrt(mean_square.clamp(min=eps))",
)


@task.mistake(
    "The logit differences at all tokens were averaged. The verb is predicted at the last one."
)
def over_all_tokens(stream, weight, eps, W_out, right, wrong):
    every = [
        logit_lens(stream[:, :, : t + 1], weight, eps, W_out, right, wrong)
        for t in range(stream.shape[2])
    ]
    return torch.stack(every).mean(dim=0)


@task.cases
def cases(seed):
    """Two layers and one text of two numbers to check by hand; then random ones."""
    generator = torch.Generator().manual_seed(seed)

    def draw(*shape):
        return torch.randn(shape, dtype=torch.float64, generator=generator)

    hand = torch.tensor([[[[5.0, 5.0], [1.0, 7.0]]], [[[5.0, 5.0], [7.0, 1.0]]]])
    scale, verbs = torch.tensor([1.0, 2.0]), (torch.tensor([0]), torch.tensor([1]))
    example = (hand.double(), scale.double(), 0.0, torch.eye(2, dtype=torch.float64), *verbs)
    found = [Case(example, "two layers, one text, as in the example", kind="ordinary cases")]
    for layers, batch, T, d_model, vocab in ((3, 4, 5, 6, 7), (5, 6, 3, 8, 10), (4, 9, 6, 5, 12)):
        growing = torch.linspace(0.3, 2.0, layers, dtype=torch.float64)[:, None, None, None]
        right = torch.randint(vocab, (batch,), generator=generator)
        wrong = (right + 1 + torch.randint(vocab - 1, (batch,), generator=generator)) % vocab
        stream = growing * (0.5 + draw(layers, batch, T, d_model))
        scale, W_out = 1 + 0.5 * draw(d_model), draw(vocab, d_model)
        note = f"{layers} layers, {batch} texts"
        found.append(Case((stream, scale, 0.4, W_out, right, wrong), note, kind="ordinary cases"))
    return found
