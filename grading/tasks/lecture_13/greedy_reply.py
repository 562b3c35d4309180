"""Stop at an end token, at a limit, or where the context ends."""

import itertools

import torch

from grading.author import Case, TaskFile

task = TaskFile(
    "implement",
    points=7,
    minutes=11,
    section="A chat is a text",
    two_at_once=True,
    outcome="fit a pretrained model's arrays into modules of your own, and test that the logits "
    "are right",
    results=("the ids of the reply", "the reason"),
    hints=(
        "Three things end the loop. Which of them do you check before a token is added, and which "
        "after?",
        "What should be returned if the prompt alone fills the context?",
    ),
)


# %% the cell
def greedy_reply(next_logits, prompt, ends, context, most):
    """The reply's ids, a list, and why it ended: "stop" or "length"."""
    # BEGIN SOLUTION
    reply = []
    while len(reply) < most and len(prompt) + len(reply) < context:
        newest = int(next_logits(torch.tensor(prompt + reply)).argmax())
        if newest in ends:
            return reply, "stop"
        reply.append(newest)
    return reply, "length"
    # END SOLUTION


# %%


@task.alternative
def by_for(next_logits, prompt, ends, context, most):
    """With the number of steps known before."""
    text = list(prompt)
    for _ in range(min(most, context - len(prompt))):
        text.append(int(next_logits(torch.tensor(text)).argmax(dim=-1)))
        if text[-1] in ends:
            return text[len(prompt) : -1], "stop"
    return text[len(prompt) :], "length"


task.edit(
    "The end token is part of the reply. It only says that the reply is over, so leave it out.",
    '        if newest in ends:\n            return reply, "stop"\n        reply.append(newest)\n',
    '        reply.append(newest)\n        if newest in ends:\n            return reply, "stop"\n',
)
task.edit(
    "The reply goes on after the end token. Nothing after it belongs to the reply.",
    'return reply, "stop"',
    "continue",
    "while len(reply) < most and len(prompt) + len(reply) < context:",
    "for _ in range(min(most, context - len(prompt))):",
)
task.edit(
    "The limit of the context is ignored: prompt and reply together may have `context` tokens.",
    " and len(prompt) + len(reply) < context",
    "",
)
task.edit(
    "The prompt is not counted in the context. It takes up space, too.",
    "len(prompt) + len(reply) < context",
    "len(reply) < context",
)
task.edit(
    "The last position of the context stays empty. Prompt and reply may have `context` tokens "
    "together.",
    "len(reply) < context",
    "len(reply) + 1 < context",
)
task.edit(
    "Prompt and reply together have one token more than `context`.",
    "len(prompt) + len(reply) < context",
    "len(prompt) + len(reply) <= context",
)
task.edit(
    "After `most` tokens one more is generated or looked at. Stop before that.",
    "len(reply) < most",
    "len(reply) <= most",
)
task.edit(
    "The prompt is counted in `most`, which limits the reply alone.",
    "len(reply) < most",
    "len(prompt + reply) < most",
)
task.edit(
    "The prompt is in the result. Return only the reply.",
    'return reply, "stop"',
    'return prompt + reply, "stop"',
    'return reply, "length"',
    'return prompt + reply, "length"',
)
task.edit(
    "The model gets the prompt again and again. It must read the prompt and the whole reply.",
    "prompt + reply)",
    "prompt)",
)
task.edit(
    "The model gets the reply without its prompt. It must read both.",
    "prompt + reply)",
    "reply)",
)
task.edit(
    "The reply goes on until both limits are reached. The first one ends it: `and`, not `or`.",
    " and len(prompt)",
    " or len(prompt)",
)
task.edit(
    'The reasons are exchanged: an end token is "stop", a limit is "length".',
    'return reply, "stop"',
    'return reply, "length"',
    'reply.append(newest)\n    return reply, "length"',
    'reply.append(newest)\n    return reply, "stop"',
)
task.edit(
    "Only the first of the end tokens is checked. A model may have several.",
    "newest in ends",
    "newest == ends[0]",
)


@task.mistake(
    "A limit was reached, but one more token was asked for. A limit ends the reply, and the reason "
    'is "length", whatever would come next.'
)
def asks_once_more(next_logits, prompt, ends, context, most):
    reply = []
    while True:
        newest = int(next_logits(torch.tensor(prompt + reply)).argmax())
        if newest in ends:
            return reply, "stop"
        if len(reply) == most or len(prompt) + len(reply) == context:
            return reply, "length"
        reply.append(newest)


@task.mistake(
    "The context is checked only after a token was added. If the prompt fills the context, there "
    "is no room for a first one: check before you add."
)
def adds_then_checks(next_logits, prompt, ends, context, most):
    reply = []
    for _ in range(most):
        newest = int(next_logits(torch.tensor(prompt + reply)).argmax())
        if newest in ends:
            return reply, "stop"
        reply.append(newest)
        if len(prompt) + len(reply) >= context:
            break
    return reply, "length"


@task.mistake(
    "Both limits are checked only after a token was added. If the prompt alone fills the context, "
    "the text is longer than that by then, so `==` never holds: check before you add."
)
def adds_then_asks_if_equal(next_logits, prompt, ends, context, most):
    reply = []
    while True:
        newest = int(next_logits(torch.tensor(prompt + reply)).argmax())
        if newest in ends:
            return reply, "stop"
        reply.append(newest)
        if len(reply) == most or len(prompt) + len(reply) == context:
            return reply, "length"


task.edit(
    "An end token of the prompt ends the reply, since it is looked for in the whole text. Compare "
    "the newest token only.",
    "if newest in ends:",
    "if set(ends) & {*prompt, *reply, newest}:",
)
task.edit(
    "`next_logits` was given a list, but a model reads a tensor of tokens, (T,): "
    "`torch.tensor(prompt + reply)`.",
    "torch.tensor(prompt + reply)",
    "prompt + reply",
)
task.edit(
    "`next_logits` was given a batch, (1, T). It takes the tokens of one text, (T,).",
    "torch.tensor(prompt + reply)",
    "torch.tensor([prompt + reply])",
)
task.edit(
    "After the first call the model gets the newest token only. It has no cache here: it must read "
    "the prompt and the whole reply in each call.",
    "torch.tensor(prompt + reply)",
    "torch.tensor(reply[-1:] or prompt)",
)


@task.harness
def harness(answer, table, prompt, ends, context, most):
    """The answer with a model that is a table: the last two tokens decide about the next."""
    import torch

    def next_logits(tokens):
        """Logits (vocab,) of what comes after tokens (T,)."""
        if not isinstance(tokens, torch.Tensor):
            raise ValueError(f"next_logits got a {type(tokens).__name__}, not a tensor (T,)")
        if tokens.dim() != 1:
            raise ValueError(f"next_logits got the shape {tuple(tokens.shape)}, not (T,)")
        if not len(tokens):
            raise ValueError("next_logits got no token; it reads the prompt and the reply so far")
        before = tokens[-2] if len(tokens) > 1 else 0
        return table[int(before), int(tokens[-1])] + 0.01 * table[0, int(tokens[0])]

    return answer(next_logits, prompt, ends, context, most)


@task.cases
def cases(seed):
    """A model that counts up to check by hand; then random ones."""
    generator = torch.Generator().manual_seed(seed)
    counting = torch.zeros(8, 8, 8, dtype=torch.float64)
    for last in range(8):
        counting[:, last, (last + 1) % 8] = 1.0
    adding = torch.zeros(8, 8, 8, dtype=torch.float64)
    for before, last in itertools.product(range(8), repeat=2):
        adding[before, last, (before + last) % 8] = 1.0
    found = [
        Case(
            (counting, [1, 2], [6], 20, 9),
            "the model counts, 6 ends a reply",
            kind="ordinary cases",
        ),
        Case((counting, [1, 2], [6], 20, 2), "the limit comes first", kind="ordinary cases"),
        Case((counting, [1, 2], [7, 5], 20, 9), "7 or 5 ends a reply", kind="ordinary cases"),
        Case((counting, [6, 1], [6], 20, 9), "6 ends a reply, not a prompt", kind="ordinary cases"),
        Case((adding, [1, 2], [7], 20, 9), "the model adds two tokens", kind="ordinary cases"),
        Case((counting, [3, 4], [2], 5, 9), "the context ends first", kind="limits"),
        Case((counting, [3, 4, 5], [2], 3, 9), "the prompt fills the context", kind="limits"),
        Case((counting, [3, 4], [5], 9, 9), "an end token right away", kind="limits"),
        Case(
            (counting, [1, 2], [5], 20, 2), "an end token after the last allowed one", kind="limits"
        ),
        Case((counting, [1, 2], [6], 5, 9), "an end token after the context", kind="limits"),
    ]
    for vocab, length, ends in ((12, 3, 2), (20, 5, 3)):
        table = torch.randn(vocab, vocab, vocab, dtype=torch.float64, generator=generator)
        prompt = torch.randint(vocab, (length,), generator=generator).tolist()
        stops = torch.randperm(vocab, generator=generator)[:ends].tolist()
        note = f"a random model of {vocab} tokens, {ends} end tokens"
        found.append(Case((table, prompt, stops, 30, 15), note, kind="ordinary cases"))
    return found
