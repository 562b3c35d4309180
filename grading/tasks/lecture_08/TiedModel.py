"""A language model in which reading and writing share a table, from a blank page."""

import math

import torch
from torch import nn

from grading.author import Case, TaskFile

task = TaskFile(
    "implement",
    points=9,
    minutes=15,
    section="From vectors to logits",
    outcome="turn a stack of blocks into a {term}`language model` with a tied {term}`unembedding`, "
    "and count what tying saves",
    rtol=1e-6,
    atol=1e-8,
    hints=(
        "`sum(p.numel() for p in model.parameters())` counts a parameter once, however many names "
        "it has. How many should there be?",
        "What happens to a copy when the original changes? To share, assign: a module's weight "
        "can be set to an `nn.Parameter` that another module has.",
    ),
)


# %% the cell
class TiedModel(nn.Module):
    """A language model with tied input and output embeddings."""

    def __init__(self, vocab, d_model, stack):
        """For `vocab` words of width `d_model`."""
        super().__init__()
        # BEGIN SOLUTION
        self.embedding = nn.Embedding(vocab, d_model)
        self.stack = stack
        self.lm_head = nn.Linear(d_model, vocab, bias=False)
        self.lm_head.weight = self.embedding.weight
        # END SOLUTION

    def forward(self, tokens):
        """Logits (batch, T, vocab) of tokens (batch, T)."""
        # BEGIN SOLUTION
        x = self.embedding(tokens) * math.sqrt(self.embedding.embedding_dim)
        return self.lm_head(self.stack(x))  # (batch, T, vocab)
        # END SOLUTION


# %%


@task.alternative
class WithoutOutputLayer(nn.Module):
    """The table is used twice."""

    def __init__(self, vocab, d_model, stack):
        super().__init__()
        self.embedding, self.stack = nn.Embedding(vocab, d_model), stack
        self.factor = d_model**0.5

    def forward(self, tokens):
        """Logits."""
        return self.stack(self.factor * self.embedding(tokens)) @ self.embedding.weight.T


@task.alternative
class OtherWay(TiedModel):
    """The embedding takes the output layer's matrix."""

    def __init__(self, vocab, d_model, stack):
        super().__init__(vocab, d_model, stack)
        self.embedding.weight = self.lm_head.weight


@task.alternative
class KeepsView(TiedModel):
    """A view of the table is kept from the beginning."""

    def __init__(self, vocab, d_model, stack):
        super().__init__(vocab, d_model, stack)
        del self.lm_head
        self.columns = self.embedding.weight.T

    def forward(self, tokens):
        """Logits."""
        x = self.embedding(tokens) * math.sqrt(self.embedding.embedding_dim)
        return self.stack(x) @ self.columns


task.edit(
    "Embedding and output layer have separate tables, which are at best equal at first, and the "
    "output layer has a bias. If you put another table into `model.embedding`, the logits still "
    "use the old one.",
    "nn.Linear(d_model, vocab, bias=False)",
    "nn.Linear(d_model, vocab)",
    "self.lm_head.weight = self.embedding.weight",
    "self.lm_head.weight.data.copy_(self.embedding.weight)",
)


@task.mistake(
    "The output layer has the right form now. But there are still two tables: they are equal at "
    "first and diverge as soon as one of them changes."
)
class CopyLeft(TiedModel):
    def __init__(self, vocab, d_model, stack):
        super().__init__(vocab, d_model, stack)
        self.lm_head = nn.Linear(d_model, vocab, bias=False)
        with torch.no_grad():
            self.lm_head.weight.copy_(self.embedding.weight)


@task.mistake(
    "There is one table now. But the logits are more than dot products with it: what else does an "
    "`nn.Linear` have?"
)
class BiasLeft(TiedModel):
    def __init__(self, vocab, d_model, stack):
        super().__init__(vocab, d_model, stack)
        self.lm_head = nn.Linear(d_model, vocab)
        self.lm_head.weight = self.embedding.weight


@task.mistake(
    "A row of the table belongs to a word, and a logit is a dot product with that row. So (…, "
    "d_model) has to be multiplied by a matrix of shape (d_model, vocab)."
)
class NotTransposed(TiedModel):
    def forward(self, tokens):
        """Logits."""
        x = self.embedding(tokens) * math.sqrt(self.embedding.embedding_dim)
        return self.stack(x) @ self.embedding.weight


@task.mistake(
    "The two weights share memory, but they are two parameters: each gets a gradient of its own, "
    "and Adam would keep two states. Let both names refer to one `nn.Parameter`."
)
class SameStorage(CopyLeft):
    def __init__(self, vocab, d_model, stack):
        super().__init__(vocab, d_model, stack)
        self.lm_head.weight.data = self.embedding.weight.data


@task.mistake(
    "The logits are right before training, but wrong after a step. Something blocks the gradient "
    "of the table's second use: `detach`, `.data` or `no_grad`."
)
class Frozen(TiedModel):
    def forward(self, tokens):
        """Logits."""
        x = self.embedding(tokens) * math.sqrt(self.embedding.embedding_dim)
        return self.stack(x) @ self.embedding.weight.detach().T


@task.mistake(
    "Copying in every call keeps the numbers equal. But the updates of the output layer are "
    "overwritten, and the second table is still there. Use one parameter twice."
)
class CopiedEachTime(CopyLeft):
    def forward(self, tokens):
        """Logits."""
        with torch.no_grad():
            self.lm_head.weight.copy_(self.embedding.weight)
        return super().forward(tokens)


@task.mistake("The table is tied. But the factor √d_model on the embeddings is missing.")
class NotScaled(TiedModel):
    def forward(self, tokens):
        """Logits."""
        return self.lm_head(self.stack(self.embedding(tokens)))


@task.mistake("The table is tied. But the embeddings are divided by √d_model, not multiplied.")
class Divided(TiedModel):
    def forward(self, tokens):
        """Logits."""
        x = self.embedding(tokens) / math.sqrt(self.embedding.embedding_dim)
        return self.lm_head(self.stack(x))


@task.mistake(
    "The table is tied. But the factor √d_model is also applied at the output. It belongs to the "
    "embeddings only."
)
class ScaledTwice(TiedModel):
    def forward(self, tokens):
        """Logits."""
        return super().forward(tokens) * math.sqrt(self.embedding.embedding_dim)


@task.mistake(
    "The table is tied. But the embeddings are multiplied by d_model. The factor is its square "
    "root, √d_model."
)
class ScaledByWidth(TiedModel):
    def forward(self, tokens):
        """Logits."""
        return self.lm_head(self.stack(self.embedding(tokens) * self.embedding.embedding_dim))


@task.mistake(
    "The output uses a copy that was detached when the model was created. It does not follow the "
    "table when that changes: use the parameter itself."
)
class Detached(TiedModel):
    def __init__(self, vocab, d_model, stack):
        super().__init__(vocab, d_model, stack)
        del self.lm_head
        self.copy = self.embedding.weight.detach().clone()

    def forward(self, tokens):
        """Logits."""
        x = self.embedding(tokens) * math.sqrt(self.embedding.embedding_dim)
        return self.stack(x) @ self.copy.T


@task.mistake("The stack is never called: the logits come straight from the embeddings.")
class WithoutStack(TiedModel):
    def forward(self, tokens):
        """Logits."""
        return self.lm_head(self.embedding(tokens) * math.sqrt(self.embedding.embedding_dim))


@task.mistake("`stack` takes x alone: it has its own mask.")
class WithMask(TiedModel):
    def forward(self, tokens):
        """Logits."""
        x = self.embedding(tokens) * math.sqrt(self.embedding.embedding_dim)
        return self.lm_head(self.stack(x, None))


@task.mistake(
    "`embedding(…)` looks up rows by their ids. For the logits, multiply the stack's outputs by "
    "its table, `embedding.weight`, transposed."
)
class LookedUp(TiedModel):
    def forward(self, tokens):
        """Logits."""
        x = self.embedding(tokens) * math.sqrt(self.embedding.embedding_dim)
        return self.embedding(self.stack(x))


@task.mistake("These are probabilities. The model returns logits; the loss applies softmax.")
class Probabilities(TiedModel):
    def forward(self, tokens):
        """Probabilities."""
        return super().forward(tokens).softmax(dim=-1)


task.edit(
    "The table is tied. But the logits are divided by √d_model, as in another model (T5). Here "
    "they are plain dot products.",
    "return self.lm_head(self.stack(x))",
    "return self.lm_head(self.stack(x)) / math.sqrt(self.embedding.embedding_dim)",
)


@task.harness
def harness(answer, table, tokens):
    """Put a table into the embedding; logits before and after a step of training, and the size."""
    import torch

    class Stack(torch.nn.Module):
        """Mixes the words so far, and adds what comes of it."""

        def __init__(self, d_model):
            super().__init__()
            self.mix = torch.nn.Linear(d_model, d_model)

        def forward(self, x):
            count = torch.arange(1, x.shape[1] + 1, dtype=x.dtype)[:, None]
            return x + torch.tanh(self.mix(x.cumsum(dim=1) / count))

    before = torch.get_default_dtype()
    torch.set_default_dtype(torch.float64)
    try:
        stack = Stack(table.shape[1])
        model = answer(len(table), table.shape[1], stack)
        if model(tokens[:, :-1]) is None:
            raise NotImplementedError
        own = {id(p) for p in stack.parameters()}
        with torch.no_grad():  # nothing is left to chance, the stack's own numbers neither
            for p in [*stack.parameters(), *model.parameters()]:
                p.copy_(torch.linspace(-1, 1, p.numel()).view(p.shape))
            model.embedding.weight.copy_(table)
        first = model(tokens[:, :-1])
        asked = tokens[:, 1:].flatten()
        torch.nn.functional.cross_entropy(first.flatten(0, 1), asked).backward()
        torch.optim.SGD(model.parameters(), lr=0.5).step()
        size = sum(p.numel() for p in model.parameters() if id(p) not in own)
        return {
            "logits": first,
            "logits after a step": model(tokens[:, :-1]),
            "parameters outside the stack": size,
        }
    finally:
        torch.set_default_dtype(before)


@task.cases
def cases(seed):
    """A table of three words by hand; then two of other sizes."""
    generator = torch.Generator().manual_seed(seed)
    small = torch.tensor([[1.0, 0.0], [0.0, 2.0], [1.0, -1.0]], dtype=torch.float64)
    found = [
        Case(
            (small, torch.tensor([[0, 1, 2]])), "three words of two numbers", kind="ordinary cases"
        )
    ]
    for vocab, d_model, batch, T in ((5, 4, 2, 4), (11, 6, 3, 8)):
        table = torch.randn(vocab, d_model, generator=generator, dtype=torch.float64) / d_model
        tokens = torch.randint(vocab, (batch, T), generator=generator)
        found.append(
            Case((table, tokens), f"{vocab} words of {d_model} numbers", kind="ordinary cases")
        )
    return found


@task.diagnostic
def size_first(args, result):
    """Whether it has as many numbers as it should."""
    size, table = result["parameters outside the stack"], args[0]
    if size != table.numel():
        return (
            f"Outside the stack the model has {size} trainable numbers. A tied model has one "
            f"table of {len(table)} × {table.shape[1]} and nothing else."
        )
    return None
