"""Train one's own heads on three questions, and say which question each serves."""

import torch
from torch import nn

from grading.author import Case, Enough, TaskFile
from grading.tasks.lecture_05.head_roles_by_ablation import head_roles_by_ablation
from grading.tasks.lecture_05.MultiHead import MultiHead
from helpers import masks
from helpers.apps.attention_reader import AttentionReader
from helpers.data import recall
from helpers.tokens import IGNORE_INDEX
from helpers.training import set_seed, train

task = TaskFile(
    "train",
    points=9,
    minutes=15,
    section="What trained heads do",
    outcome="say what a trained head does, by its map and by ablation, and what n heads cost",
    threshold=0.95,
    enough=Enough(400, 64, 5e-3),
    rtol=0.0,
    atol=0.15,
    hints=(
        "`train(model, make_batch, steps, lr)` trains `model` in place. It calls `make_batch()` "
        "without arguments, so wrap your call: `lambda: three_relations_batch(64, generator)`.",
    ),
)

QUESTIONS = ("before", "flagged", "first")
N_HEADS = 4


# %% given
def three_relations_batch(batch, generator):
    """Tokens (batch, 12), and targets (batch, 36) for the questions before, flagged and first."""
    tokens, targets = recall.two_relations_batch(batch, 12, generator)  # (batch, 12), (batch, 24)
    first = torch.full((batch, 12), IGNORE_INDEX)  # (batch, 12)
    first[:, 6:] = tokens[:, :1] % 52  # a token is a symbol, plus 52 if it has the flag
    return tokens, torch.cat([targets, first], dim=1)


# %%


# %% given
class Reader(nn.Module):
    """Embeddings, your heads, and an output layer for three questions."""

    def __init__(self, n_heads):
        """For 12 tokens of 52 symbols, in a width of 48."""
        super().__init__()
        rest = AttentionReader(52, 12, n_heads, n_questions=3)
        self.word, self.place = rest.word, rest.place
        self.flag, self.lm_head = rest.flag, rest.lm_head
        self.heads = MultiHead(48, n_heads, 48 // n_heads, 48 // n_heads, 48)

    def forward(self, tokens, return_weights=False):
        """Logits (batch, 3 · 12, 52), question by question; and the weights if wanted."""
        x = self.word(tokens % 52) + self.flag(tokens // 52) + self.place.weight  # (batch, 12, 48)
        out, weights = self.heads(x, x, masks.causal_mask(12))  # (batch, 12, 48)
        logits = self.lm_head(out).unflatten(-1, (3, 52)).transpose(1, 2).flatten(1, 2)
        return (logits, weights) if return_weights else logits


# %%


# %% the cell
def train_heads(seed):
    """A trained Reader with four heads, and a list with the question that each head serves."""
    # BEGIN SOLUTION
    generator = set_seed(seed)
    model = Reader(4)
    train(model, lambda: three_relations_batch(64, generator), steps=400, lr=5e-3)
    tokens, targets = three_relations_batch(500, generator)
    return model, head_roles_by_ablation(model, tokens, targets)
    # END SOLUTION


# %%


@task.alternative
def by_hand(seed):
    """Its own loop."""
    generator = set_seed(seed)
    model = Reader(4)
    optimizer = torch.optim.Adam(model.parameters(), 5e-3)
    for _ in range(500):
        tokens, targets = three_relations_batch(64, generator)
        loss = nn.functional.cross_entropy(model(tokens).transpose(1, 2), targets)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    return model, head_roles_by_ablation(model, *three_relations_batch(400, generator))


task.mistake(
    "On new sequences, the model is at chance on all three questions. Do you train the model that "
    "you return, on new sequences in each step?",
    lambda seed: (set_seed(seed), (Reader(4), [None] * 4))[1],
)


task.mistake(
    "There are three heads. The task asks for four.",
    lambda seed: (set_seed(seed), (Reader(3), [None] * 3))[1],
)


@task.mistake(
    "The list holds the roles that you would expect. Measure them with `head_roles_by_ablation`."
)
def guessed(seed):
    return train_heads(seed)[0], [0, 0, 0, 0]


@task.harness
def harness(answer, seed, tokens, targets):
    """Train; the share of places with three right answers, the roles, and what they should be."""
    import torch

    found = answer(seed)
    if found is None:
        return None
    if not isinstance(found, tuple | list) or len(found) != 2:
        came = "the model alone" if isinstance(found, torch.nn.Module) else type(found).__name__
        raise ValueError(f"train_heads returns {came}; expected the model, then the list of roles")
    model, roles = found
    n = model.heads.n_heads
    weight = model.heads.W_out.weight
    width = weight.shape[1] // n
    wanted = targets.unflatten(1, (3, -1))
    asked = wanted >= 0

    def right():
        with torch.no_grad():
            given = model(tokens).argmax(dim=-1).unflatten(1, (3, -1))
        return (given == wanted) & asked

    every = right()
    places = asked.all(dim=1)
    falls = []
    for head in range(n):
        kept = weight.detach().clone()
        with torch.no_grad():
            weight[:, head * width : (head + 1) * width] = 0
            less = every.double().sum((0, 2)) - right().double().sum((0, 2))
            weight.copy_(kept)
        falls.append((less / asked.double().sum((0, 2))).tolist())
    return {
        "right": (every.all(dim=1) & places).sum().item() / places.sum().item(),
        "each": (every.double().sum((0, 2)) / asked.double().sum((0, 2))).tolist(),
        "falls": falls,
        "roles": [None if role is None else int(role) for role in roles],
    }


def _wrong_head(value):
    """The first head whose role is not what was measured, with slack where it is close."""
    if not len(value["roles"]) == len(value["falls"]) == N_HEADS:
        return -1
    for head, (role, falls) in enumerate(zip(value["roles"], value["falls"], strict=True)):
        most = max(falls)
        if (role is None and most > 0.15) or (role is not None and most < 0.05):
            return head
        if role is not None and falls[role] < most - 0.1:
            return head
    return None


@task.score
def score(args, value):
    """Share of places with three right answers; 0 if a role is not as measured."""
    return value["right"] if _wrong_head(value) is None else 0.0


@task.diagnostic
def what_was_measured(args, value):
    """How often each question is answered rightly; the first wrong role."""
    names = zip(QUESTIONS, value["each"], strict=True)
    said = "Right answers: " + ", ".join(f"“{name}” {share:.2f}" for name, share in names) + "."
    if max(value["each"]) < 0.8:
        said += " No question is answered well yet."
    head = _wrong_head(value)
    if head == -1:
        came = f"{len(value['falls'])} heads, and {len(value['roles'])} roles"
        return f"{said} There are {came}; expected {N_HEADS} of each."
    if head is not None:
        falls = ", ".join(f"{fall:.2f}" for fall in value["falls"][head])
        role = value["roles"][head]
        said += (
            f" Without head {head} the three accuracies fall by {falls}; your role for it is "
            f"{role}."
        )
        if set(value["roles"]) == {None}:
            said += " All your roles are None: were they measured before the training?"
    return said


@task.cases
def cases(seed):
    """Two beginnings of the training, and sequences that training does not see."""
    generator = torch.Generator().manual_seed(10_000 + seed)
    tokens, targets = three_relations_batch(500, generator)
    return [
        Case((begin, tokens, targets), f"seed {begin}", kind="ordinary cases") for begin in (1, 3)
    ]
