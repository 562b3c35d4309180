"""Whole answers, written digit by digit."""

import torch

from grading.author import Case, TaskFile

task = TaskFile(
    "implement",
    points=6,
    minutes=20,
    two_at_once=True,
    outcome="let a model write, and measure what it writes",
    forbidden=("helpers.generation.generate",),
    hints=(
        "`model(tokens)[:, -1]` are the logits for the next token of each row, (batch, vocab).",
        "`model.training` is its current mode; `model.train(was)` restores it.",
    ),
)


# %% the cell
def greedy_sums(model, questions, n):
    """Questions (batch, 2n + 2) followed by the model's answers: (batch, 3n + 3)."""
    # BEGIN SOLUTION
    was_training = model.training
    model.eval()
    tokens = questions
    with torch.no_grad():
        for _ in range(n + 1):
            newest = model(tokens)[:, -1].argmax(dim=-1)  # (batch,)
            tokens = torch.cat([tokens, newest[:, None]], dim=1)
    model.train(was_training)
    return tokens
    # END SOLUTION


# %%


@task.alternative
def into_a_table(model, questions, n):
    """With room made beforehand."""
    before = model.training
    tokens = torch.zeros(len(questions), 3 * n + 3, dtype=torch.long)
    tokens[:, : 2 * n + 2] = questions
    model.train(False)
    for place in range(2 * n + 2, 3 * n + 3):
        with torch.inference_mode():
            tokens[:, place] = model(tokens[:, :place])[:, -1].argmax(-1)
    model.train(before)
    return tokens


@task.mistake(
    "`argmax` was taken over the batch: it says which *row* has the largest logit. The vocabulary "
    "is the last axis."
)
def over_the_batch(model, questions, n):
    was_training = model.training
    model.eval()
    tokens = questions
    with torch.no_grad():
        for _ in range(n + 1):
            rows = model(tokens)[:, -1].argmax(dim=0)  # (vocab,)
            newest = rows[torch.arange(len(tokens)) % len(rows)]
            tokens = torch.cat([tokens, newest[:, None]], dim=1)
    model.train(was_training)
    return tokens


task.edit(
    "All digits are predicted from the question alone. Append each new digit before you predict "
    "the next.",
    "newest = model(tokens)[:, -1]",
    "newest = model(questions)[:, -1]",
)
task.edit(
    "The logits of the first position were used. The last position predicts the next token.",
    "[:, -1]",
    "[:, 0]",
)
task.edit("An answer has n + 1 digits. Here it has n.", "range(n + 1)", "range(n)")
task.edit("An answer has n + 1 digits. Here it has n + 2.", "range(n + 1)", "range(n + 2)")
task.edit(
    "The model generates in training mode: with dropout, the same question gets different answers.",
    "    model.eval()\n",
    "    model.train()\n",
)
task.edit(
    "The model is not restored to the mode it was in.",
    "    model.train(was_training)\n",
    "",
)
task.edit(
    "A graph for gradients is built at each step. `torch.no_grad()` is missing.",
    "with torch.no_grad():",
    "with torch.enable_grad():",
)
task.edit(
    "Only the answers are returned. The question belongs before them.",
    "return tokens",
    "return tokens[:, 2 * n + 2 :]",
)
task.edit(
    "The new digit was put before the text. It belongs after it.",
    "[tokens, newest[:, None]]",
    "[newest[:, None], tokens]",
)


@task.mistake("Only the first question of the batch is answered.")
def first_only(model, questions, n):
    tokens = greedy_sums(model, questions[:1], n)
    return torch.cat([questions, tokens[:, 2 * n + 2 :].expand(len(questions), -1)], dim=1)


@task.mistake("The digits were sampled. Greedy decoding takes the most probable.")
def drawn(model, questions, n):
    was_training = model.training
    model.eval()
    tokens = questions
    generator = torch.Generator().manual_seed(0)
    with torch.no_grad():
        for _ in range(n + 1):
            chances = (0.1 * model(tokens)[:, -1]).softmax(dim=-1)
            newest = torch.multinomial(chances, 1, generator=generator)
            tokens = torch.cat([tokens, newest], dim=1)
    model.train(was_training)
    return tokens


@task.mistake(
    "After the first digit the model read only its newest token. It keeps nothing of the question: "
    "give it all tokens in each step."
)
def newest_alone(model, questions, n):
    was_training = model.training
    model.eval()
    tokens = newest = questions
    with torch.no_grad():
        for _ in range(n + 1):
            newest = model(newest)[:, -1:].argmax(dim=-1)
            tokens = torch.cat([tokens, newest], dim=1)
    model.train(was_training)
    return tokens


task.edit(
    "Afterwards the model is always in training mode. It should be in the mode that it was in.",
    "model.train(was_training)",
    "model.train()",
)


@task.mistake(
    "All digits come from one call, on a question that is filled up with zeros. Each digit is "
    "predicted from those before it, so generate them one after the other."
)
def in_one_call(model, questions, n):
    was_training = model.training
    model.eval()
    zeros = torch.zeros(len(questions), n + 1, dtype=questions.dtype)
    with torch.no_grad():
        logits = model(torch.cat([questions, zeros], dim=1))[:, 2 * n + 1 : -1]
    model.train(was_training)
    return torch.cat([questions, logits.argmax(dim=-1)], dim=1)


@task.mistake(
    "The text is filled up with zeros, and the logits at *its* last position were used. The next "
    "digit is predicted at the last token that is there."
)
def at_the_end_of_the_zeros(model, questions, n):
    was_training = model.training
    model.eval()
    zeros = torch.zeros(len(questions), n + 1, dtype=questions.dtype)
    tokens = torch.cat([questions, zeros], dim=1)
    with torch.no_grad():
        for place in range(2 * n + 2, 3 * n + 3):
            tokens[:, place] = model(tokens)[:, -1].argmax(dim=-1)
    model.train(was_training)
    return tokens


@task.harness
def harness(answer, mixing, training, questions, n):
    """A model whose logits depend on all that was read; what is written, and the modes."""
    import torch

    class Model(torch.nn.Module):
        def __init__(self):
            super().__init__()
            self.mixing = torch.nn.Parameter(mixing.clone())
            self.fine = []

        def forward(self, tokens):
            self.fine.append((not self.training, not torch.is_grad_enabled()))
            count = torch.arange(1, tokens.shape[1] + 1)
            state = ((tokens + 1) * count).cumsum(dim=1)  # (batch, T)
            return self.mixing[(7 * state + count) % len(self.mixing)]

    model = Model().train(training)
    found = answer(model, questions, n)
    if found is None:
        return None
    return {
        "tokens": found,
        "in evaluation": all(fine for fine, _ in model.fine),
        "without gradients": all(fine for _, fine in model.fine),
        "in training mode afterwards": model.training,
    }


@task.cases
def cases(seed):
    """One digit and three; a model that comes in training mode, and one that does not."""
    generator = torch.Generator().manual_seed(seed)
    found = []
    for n, batch, training, kind in (
        (1, 3, True, "ordinary cases"),
        (3, 4, False, "ordinary cases"),
        (3, 1, True, "one question"),
        (4, 13, False, "ordinary cases"),
    ):
        questions = torch.randint(10, (batch, 2 * n + 2), generator=generator)
        questions[:, n], questions[:, -1] = 10, 11
        mixing = torch.randn(97, 12, generator=generator, dtype=torch.float64)
        mode = "training" if training else "evaluation"
        note = f"{batch} questions of n = {n}, the model in {mode}"
        found.append(Case((3 * mixing, training, questions, n), note, kind=kind))
    return found


@task.diagnostic
def modes(args, result):
    """The first of the modes that is not as it should be."""
    if not result["in evaluation"]:
        return "The model was called while it was in training mode."
    if not result["without gradients"]:
        return "The model was called while gradients were recorded."
    names = {True: "training", False: "evaluation"}
    before, after = args[1], result["in training mode afterwards"]
    if before != after:
        return f"Before the call the model was in {names[before]}, and now it is in {names[after]}."
    return None
