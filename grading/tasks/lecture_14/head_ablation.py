"""What each head is needed for, place by place of the answer."""

import torch

from grading.author import Case, TaskFile
from helpers.interp.ablation import ablated

task = TaskFile(
    "implement",
    points=6,
    minutes=25,
    outcome="say which heads a trained model needs, with a control",
    hints=(
        "Write a function that measures the accuracy at each position of the answer. Call it once "
        "for the whole model, and once for each head within `with ablated(…)`.",
        "Logits at position i predict token i + 1. Which positions predict the last n + 1 tokens?",
    ),
)


# %% the cell
def head_ablation(model, tokens, n, n_layers, n_heads):
    """Drops in accuracy (n_layers, n_heads, n + 1) when each head is ablated."""
    # BEGIN SOLUTION
    drops = torch.zeros(n_layers, n_heads, n + 1, dtype=torch.float64)

    def accuracies():
        with torch.no_grad():
            logits = model(tokens[:, :-1])[:, -(n + 1) :]  # (batch, n + 1, vocab)
        right = logits.argmax(dim=-1) == tokens[:, -(n + 1) :]  # (batch, n + 1)
        return right.double().mean(dim=0)  # (n + 1,)

    whole = accuracies()
    for layer in range(n_layers):
        for head in range(n_heads):
            with ablated(model, [(layer, head)], "mean"):
                drops[layer, head] = whole - accuracies()
    return drops
    # END SOLUTION


# %%


@task.alternative
def by_lists(model, tokens, n, n_layers, n_heads):
    """Row by row, with the targets cut out first."""
    asked = tokens[:, 2 * n + 2 :]

    @torch.no_grad()
    def shares(heads):
        with ablated(model, heads, "mean"):
            said = model(tokens)[:, 2 * n + 1 : -1].argmax(-1)
        return (said == asked).double().mean(0)

    rows = [[shares([]) - shares([(i, h)]) for h in range(n_heads)] for i in range(n_layers)]
    return torch.stack([torch.stack(row) for row in rows])


task.edit(
    "These are the accuracies with the head ablated. Return how far they fell.",
    "= whole - accuracies()",
    "= accuracies()",
)
task.edit(
    "The sign is wrong: if a head is needed, its drop is above 0.",
    "= whole - accuracies()",
    "= accuracies() - whole",
)
task.edit(
    "The heads were replaced by zeros. Use the mean: zeros also remove what is the same in all "
    "sums.",
    '"mean"',
    '"zero"',
)
task.edit(
    "All heads of the layer were ablated at once.",
    "[(layer, head)]",
    "[(layer, h) for h in range(n_heads)]",
)
task.edit(
    "Heads from earlier rounds stay ablated, so each round removes one more. Ablate only the head "
    "of this round.",
    "[(layer, head)]",
    "[(i, h) for i in range(n_layers) for h in range(n_heads) if (i, h) <= (layer, head)]",
)
task.edit(
    "Nothing is ablated while the accuracies are measured: measure within the block of `with`.",
    "                drops[layer, head] = whole - accuracies()",
    "                pass\n            drops[layer, head] = whole - accuracies()",
)
task.edit(
    "Layer and head are exchanged in the call of `ablated`, which takes pairs (layer, head).",
    "[(layer, head)]",
    "[(head, layer)]",
)
task.edit(
    "A digit counts as right only if the whole answer is right. Score each digit on its own.",
    "return right.double().mean(dim=0)",
    "return right.all(dim=1, keepdim=True).expand_as(right).double().mean(dim=0)",
)
task.edit(
    "There is only one number for all digits together. Each position of the answer has its own.",
    "return right.double().mean(dim=0)",
    "return right.double().mean().expand(n + 1)",
)
task.edit(
    "Each position is compared with the token that it *reads*. It predicts the next one.",
    "== tokens[:, -(n + 1) :]",
    "== tokens[:, -(n + 2) : -1]",
)
task.edit(
    "The logits are read one position too late: those at a digit predict the token after it.",
    "model(tokens[:, :-1])",
    "model(tokens[:, 1:])",
)


task.edit(
    "All *other* heads of the layer were ablated, instead of this one.",
    "[(layer, head)]",
    "[(layer, h) for h in range(n_heads) if h != head]",
)


@task.mistake(
    "The model generated its answer and read its own digits. With teacher forcing it reads the "
    "right ones, so one wrong digit does not spoil the next."
)
def generated(model, tokens, n, n_layers, n_heads):
    def accuracies():
        read = tokens[:, : 2 * n + 2]
        with torch.no_grad():
            for _ in range(n + 1):
                read = torch.cat([read, model(read)[:, -1:].argmax(dim=-1)], dim=1)
        return (read == tokens)[:, -(n + 1) :].double().mean(dim=0)

    whole = accuracies()
    drops = torch.zeros(n_layers, n_heads, n + 1, dtype=torch.float64)
    for layer in range(n_layers):
        for head in range(n_heads):
            with ablated(model, [(layer, head)], "mean"):
                drops[layer, head] = whole - accuracies()
    return drops


task.edit(
    "These are relative drops. Subtract the accuracies, and do not divide.",
    "= whole - accuracies()",
    "= (whole - accuracies()) / whole",
)
task.edit(
    "The logits are those of one position too late: the first digit is predicted at `=`, and "
    "nothing at the last token.",
    "model(tokens[:, :-1])",
    "model(tokens)",
)


@task.mistake(
    "The predictions are compared with those of the model without ablation. Compare them with the "
    "right digits: a change may also repair a mistake."
)
def with_its_own(model, tokens, n, n_layers, n_heads):
    def said():
        with torch.no_grad():
            return model(tokens[:, :-1])[:, -(n + 1) :].argmax(dim=-1)

    own = said()
    drops = torch.zeros(n_layers, n_heads, n + 1, dtype=torch.float64)
    for layer in range(n_layers):
        for head in range(n_heads):
            with ablated(model, [(layer, head)], "mean"):
                drops[layer, head] = (said() != own).double().mean(dim=0)
    return drops


@task.mistake(
    "These are drops of the probability of the right digit. Accuracy counts how often the most "
    "probable digit is the right one."
)
def of_probabilities(model, tokens, n, n_layers, n_heads):
    asked = tokens[:, -(n + 1) :, None]

    def chances():
        with torch.no_grad():
            logits = model(tokens[:, :-1])[:, -(n + 1) :]
        return logits.softmax(dim=-1).gather(-1, asked)[..., 0].double().mean(dim=0)

    whole = chances()
    drops = torch.zeros(n_layers, n_heads, n + 1, dtype=torch.float64)
    for layer in range(n_layers):
        for head in range(n_heads):
            with ablated(model, [(layer, head)], "mean"):
                drops[layer, head] = whole - chances()
    return drops


@task.harness
def harness(answer, n, n_layers, n_heads, seed, tokens):
    """A model that nobody trained; the answers in `tokens` are mostly what it says."""
    import torch

    from helpers.config import TransformerConfig
    from helpers.models import TransformerModel
    from helpers.positions import LearnedPositions

    torch.manual_seed(seed)
    width = 4 * n_heads
    places = LearnedPositions(3 * n + 3, width)
    config = TransformerConfig(12, width, n_layers, n_heads)
    model = TransformerModel(config, places).double().eval()
    with torch.no_grad():
        for name, p in model.named_parameters():
            p.copy_(torch.randn(p.shape) * (0.6 if "norm" not in name else 1.0))
    return answer(model, tokens, n, n_layers, n_heads)


def _sayings(n, n_layers, n_heads, seed, generator):
    """Sums whose answers are what the model of `harness` says, but for some digits."""
    tokens = torch.randint(10, (60, 3 * n + 3), generator=generator)
    tokens[:, n], tokens[:, 2 * n + 1] = 10, 11

    def write(model, *_):
        for place in range(2 * n + 2, 3 * n + 3):
            with torch.no_grad():
                tokens[:, place] = model(tokens[:, :place])[:, -1].argmax(-1)
        return 0

    harness(write, n, n_layers, n_heads, seed, tokens)
    wrong = torch.rand(60, n + 1, generator=generator) < 0.2
    digits = torch.randint(10, (60, n + 1), generator=generator)
    tokens[:, -(n + 1) :] = torch.where(wrong, digits, tokens[:, -(n + 1) :])
    return tokens


@task.cases
def cases(seed):
    """Two layers; one; other numbers of heads and digits."""
    generator = torch.Generator().manual_seed(seed)
    for attempt in range(20):
        ours, found, needed = 10 + seed + 1000 * attempt, [], []
        for n, n_layers, n_heads in ((2, 2, 2), (3, 2, 4), (1, 3, 3)):
            tokens = _sayings(n, n_layers, n_heads, ours, generator)
            note = f"{n_layers} layers with {n_heads} heads, n = {n}"
            args = n, n_layers, n_heads, ours, tokens
            found.append(Case(args, note, kind="ordinary cases"))
            drops = harness(head_ablation, *args)[..., [0, -1]].flatten(0, 1)
            needed.append(drops.any(dim=0))
        if torch.stack(needed).any(dim=0).all():  # heads for the first digit and for the last one
            break
    return found
