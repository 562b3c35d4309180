"""A decoder-only model, put together from the course's parts."""

import torch
from torch import nn

from grading.author import Case, TaskFile
from grading.feedback import messages
from helpers.blocks import TransformerBlock, TransformerStack
from helpers.config import TransformerConfig
from helpers.positions import LearnedPositions

task = TaskFile(
    "implement",
    points=7,
    minutes=30,
    outcome="put a model together from the parts of this course",
    hints=(
        "`LearnedPositions(…).embed(x)` adds the vectors of the positions to x.",
        "`TransformerStack` takes `causal=True` when it is called, and `return_weights=True`.",
    ),
)


# %% the cell
class Adder(nn.Module):
    """Logits of the next token, for sums of numbers with n digits."""

    def __init__(self, n, d_model, n_layers, n_heads):
        """`n_layers` blocks of width `d_model` with `n_heads` heads each."""
        super().__init__()
        # BEGIN SOLUTION
        self.embedding = nn.Embedding(12, d_model)
        self.positions = LearnedPositions(3 * n + 2, d_model)
        self.stack = TransformerStack(TransformerConfig(12, d_model, n_layers, n_heads))
        self.lm_head = nn.Linear(d_model, 12)
        for table in (self.embedding, self.positions.table):
            nn.init.normal_(table.weight, std=0.3)
        # END SOLUTION

    def forward(self, tokens, return_weights=False):
        """Logits (batch, T, 12) of tokens (batch, T); with each block's weights if asked for."""
        # BEGIN SOLUTION
        x = self.positions.embed(self.embedding(tokens))  # (batch, T, d_model)
        if return_weights:
            x, weights = self.stack(x, None, True, causal=True)
            return self.lm_head(x), weights
        return self.lm_head(self.stack(x, causal=True))  # (batch, T, 12)
        # END SOLUTION


# %%


@task.alternative
class ByMask(Adder):
    """With a mask, and the blocks one by one."""

    def forward(self, tokens, return_weights=False):
        """Logits."""
        T = tokens.shape[1]
        mask = torch.ones(T, T, dtype=torch.bool).tril()
        x, found = self.embedding(tokens) + self.positions.table.weight[:T], []
        for block in self.stack.blocks:
            x, weights = block(x, mask, True)
            found.append(weights)
        logits = self.lm_head(self.stack.norm(x))
        return (logits, found) if return_weights else logits


class _With(Adder):
    """Changes of the model answer: the mistakes below."""

    causal, places, scale = True, True, 1.0

    def mask(self, T):
        """Who sees whom beside that."""
        return None

    def forward(self, tokens, return_weights=False):
        """Logits."""
        x = self.scale * self.embedding(tokens)
        x = self.positions.embed(x) if self.places else x
        x, weights = self.stack(x, self.mask(tokens.shape[1]), True, causal=self.causal)
        logits = self.lm_head(x)
        return (logits, weights) if return_weights else logits


@task.mistake(
    "Later tokens change the logits of earlier positions, so the model can read the answer that "
    "it should predict. In training the loss would fall to 0, but generation would fail."
)
class NotCausal(_With):
    causal = False


@task.mistake(
    "The mask is inverted: each position sees what comes *after* it. True means “may attend”."
)
class WrongWay(_With):
    causal = False

    def mask(self, T):
        """Those that come after."""
        return torch.ones(T, T, dtype=torch.bool).triu()


@task.mistake(
    "The positions are not used: with two digits exchanged, the logits at `=` stay the same. 12 + "
    "34 and 21 + 34 would have one answer."
)
class NoPositions(_With):
    places = False


@task.mistake(
    "The token vectors are scaled before the positions are added. Here both tables have the same "
    "initialization, so add them as they are."
)
class Louder(_With):
    scale = 3.0


@task.mistake(
    "The parameters are not those of the named parts: is every part there, and only once? An "
    "embedding of 12, a table of 3n + 2 positions, the stack, an output layer to 12."
)
class TooLong(_With):
    def __init__(self, n, d_model, n_layers, n_heads):
        super().__init__(n, d_model, n_layers, n_heads)
        self.positions = LearnedPositions(100, d_model)
        nn.init.normal_(self.positions.table.weight, std=0.3)


@task.mistake(
    "All layers are the same block, so they share their weights. `TransformerStack` makes a block "
    "for each layer."
)
class OneBlock(_With):
    def __init__(self, n, d_model, n_layers, n_heads):
        super().__init__(n, d_model, n_layers, n_heads)
        block = TransformerBlock(d_model, n_heads)
        self.stack.blocks = nn.ModuleList([block] * n_layers)


@task.mistake("These are probabilities. The model returns logits; the loss applies softmax.")
class Probabilities(_With):
    def forward(self, tokens, return_weights=False):
        """Probabilities."""
        logits, weights = super().forward(tokens, True)
        return (logits.softmax(dim=-1), weights) if return_weights else logits.softmax(dim=-1)


@task.mistake(
    "Only the logits of the last position are returned. In training every position of the answer "
    "has a target."
)
class LastOnly(_With):
    def forward(self, tokens, return_weights=False):
        """Logits."""
        logits, weights = super().forward(tokens, True)
        return (logits[:, -1:], weights) if return_weights else logits[:, -1:]


@task.mistake(
    "`return_weights` returns the weights of one block only. Return a list with those of each "
    "block."
)
class OneMap(_With):
    def forward(self, tokens, return_weights=False):
        """Logits."""
        logits, weights = super().forward(tokens, True)
        return (logits, weights[-1:]) if return_weights else logits


@task.mistake(
    "The two tables do not both begin with a standard deviation of 0.3. By default it is 1 for "
    "tokens and 0.02 for positions, so order has hardly any effect at first. (`std` is the "
    "standard deviation, not the variance.)"
)
class UsualStart(_With):
    def __init__(self, n, d_model, n_layers, n_heads):
        super().__init__(n, d_model, n_layers, n_heads)
        nn.init.normal_(self.embedding.weight)
        nn.init.normal_(self.positions.table.weight, std=0.02)


@task.mistake("The number of heads is not the given one.")
class OneHead(_With):
    def __init__(self, n, d_model, n_layers, n_heads):
        super().__init__(n, d_model, n_layers, 1)


task.edit(
    "Only one of the two tables begins with a standard deviation of 0.3. Tokens and positions both "
    "do.",
    "(self.embedding, self.positions.table)",
    "(self.embedding,)",
)
task.edit(
    "The numbers of layers and heads are exchanged.",
    "n_layers, n_heads))",
    "n_heads, n_layers))",
)


task.edit(
    "With `return_weights` the mask is missing: both branches of `forward` need `causal=True`.",
    "self.stack(x, None, True, causal=True)",
    "self.stack(x, None, True)",
)


task.edit(
    "Without `return_weights` the mask is missing: both branches of `forward` need `causal=True`.",
    "self.lm_head(self.stack(x, causal=True))",
    "self.lm_head(self.stack(x))",
)


@task.harness
def harness(answer, n, d_model, n_layers, n_heads, tokens):
    """What the model's logits depend on, its size, and its maps."""
    import torch

    torch.manual_seed(0)
    model = answer(n, d_model, n_layers, n_heads).eval()
    tables = [part.weight for part in model.modules() if isinstance(part, torch.nn.Embedding)]
    starts = [bool(0.2 < table.std() < 0.4) for table in tables]
    with torch.no_grad():
        for p in model.parameters():  # far from the start, so that nothing is close to 0
            p.copy_(p + 0.3 * torch.randn(p.shape))
    logits = model(tokens)
    if logits is None:
        return None
    if not isinstance(logits, torch.Tensor):
        raise ValueError("without `return_weights` the model returns logits only")
    with torch.no_grad():
        same, maps = model(tokens, return_weights=True)
    facts = {"shape of the logits": list(logits.shape), "blocks that return weights": len(maps)}
    facts["shape of the weights of each block"] = [list(weights.shape) for weights in maps[:1]]
    facts["tables with a standard deviation of 0.3"] = sum(starts)
    facts["trainable parameters"] = sum(p.numel() for p in model.parameters())
    facts["rows that sum to 1"] = bool((logits.sum(dim=-1) - 1).abs().max() < 1e-3)
    if list(logits.shape) != [*tokens.shape, 12]:
        return facts
    later, earlier = tokens.clone(), tokens.clone()
    later[:, -1] = (later[:, -1] + 1) % 10
    earlier[:, 0] = (earlier[:, 0] + 1) % 10
    turned = tokens.clone()
    turned[:, :2] = tokens[:, :2].flip(1)
    with torch.no_grad():

        def moved(others, place):
            return bool((model(others) - model(tokens))[:, place].abs().max() > 1e-4)

        facts["a later token changes earlier logits"] = any(
            moved(later, place) for place in range(tokens.shape[1] - 1)
        )
        facts["an earlier token changes later logits"] = moved(earlier, -1)
        facts["the order of two digits matters"] = moved(turned, -1)
        facts["rows of the batch are independent"] = bool(
            (model(tokens[:1]) - logits[:1]).abs().max() < 1e-3
        )
        facts["the logits are the same with return_weights"] = bool(
            (same - logits).abs().max() < 1e-3
        )
        facts["a shorter text can be read"] = list(model(tokens[:, :4]).shape)
        if sorted(map(len, tables)) == sorted([12, 3 * n + 2]):
            outs, v = [], torch.randn(d_model)
            for table in tables:  # one vector more for all tokens, or for all places: the same sum
                table.add_(v)
                outs.append(model(tokens))
                table.sub_(v)
            added = bool((outs[0] - outs[1]).abs().max() < 1e-3)
            facts["token and position vectors are added unscaled"] = added
    logits.square().sum().backward()
    facts["parameters without a gradient"] = sum(p.grad is None for p in model.parameters())
    return facts


@task.diagnostic
def first_fact(args, result):
    """The first fact that is not as it should be, in words."""
    right = harness(Adder, *args)
    for fact, want in right.items():
        if fact in result and result[fact] != want:
            if fact == "trainable parameters":
                return _parts(args, result[fact], want)
            if fact == "rows that sum to 1":
                return "The rows of the output sum to 1. Return logits, without softmax."
            return messages.fact(fact, result[fact], want)
    return None


@task.cases
def cases(seed):
    """A small model, and others; the first two digits of a question always differ."""
    generator = torch.Generator().manual_seed(seed)
    found = []
    for n, d_model, n_layers, n_heads, batch in (
        (2, 8, 1, 2, 2),
        (3, 12, 2, 4, 3),
        (4, 16, 3, 2, 2),
    ):
        tokens = torch.randint(1, 10, (batch, 3 * n + 2), generator=generator)
        tokens[:, 0] = (tokens[:, 1] + 3) % 10
        tokens[:, n], tokens[:, 2 * n + 1] = 10, 11
        note = f"n = {n}, {n_layers} layers of width {d_model} with {n_heads} heads"
        found.append(Case((n, d_model, n_layers, n_heads, tokens), note, kind="ordinary cases"))
    return found


def _parts(args, came, want):
    """How many parameters each part has, and by how many the model differs."""
    n, d_model = args[:2]
    table, positions, output = 12 * d_model, (3 * n + 2) * d_model, 12 * d_model + 12
    off = f"{abs(came - want)} too {'many' if came > want else 'few'}"
    return (
        f"The model has {came} parameters, {off}. The table of tokens has {table}, that of "
        f"positions {positions}, the output layer {output} with its biases, and the stack "
        f"{want - table - positions - output} with its final norm."
    )
