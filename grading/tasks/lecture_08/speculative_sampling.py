"""Let a cheap model propose words, and lose nothing of the better one."""

import torch

from grading.author import Case, TaskFile

task = TaskFile(
    "implement",
    points=14,
    minutes=35,
    extra=True,
    section="Sampling: temperature, top-k and top-p",
    outcome="write the generation loop with {term}`temperature`, say what greedy decoding, top-k "
    "and top-p do, and measure what temperature does to a text",
    rtol=1e-6,
    atol=1e-8,
    results=("accept", "instead"),
    hints=(
        "Work through the example. Of 100 proposals, how often is each word proposed, and how "
        "often should it occur in the end? Which word is proposed too often?",
        "A word j is proposed and accepted with probability q_j · accept_j. This must not be more "
        "than p_j. How large can accept_j be?",
        "The part of p that accepted proposals do not supply has to come from `instead`.",
    ),
)


# %% the cell
def speculative_sampling(p, q):
    """accept and instead, (batch, vocab) each, for probabilities p and q (batch, vocab)."""
    # BEGIN SOLUTION
    shared = torch.minimum(p, q)  # (batch, vocab)
    accept = torch.where(q > 0, shared / q.clamp(min=1e-300), 0.0)  # (batch, vocab)
    missing = p - shared  # (batch, vocab)
    rest = missing.sum(dim=-1, keepdim=True)  # (batch, 1)
    instead = torch.where(rest > 1e-12, missing / rest.clamp(min=1e-12), p)  # (batch, vocab)
    return accept, instead
    # END SOLUTION


# %%


@task.alternative
def by_loop(p, q):
    """Word by word."""
    accept, instead = torch.zeros_like(p), torch.zeros_like(p)
    for b in range(len(p)):
        for j in range(p.shape[1]):
            if q[b, j] > 0:
                accept[b, j] = min(1.0, float(p[b, j] / q[b, j]))
            instead[b, j] = max(0.0, float(p[b, j] - q[b, j]))
        rest = instead[b].sum()
        instead[b] = instead[b] / rest if rest > 1e-9 else p[b]
    return accept, instead


@task.alternative
def by_numpy(p, q):
    """In NumPy, and divided by what is rejected."""
    import numpy as np

    p, q = p.numpy(), q.numpy()
    accept = np.divide(np.minimum(p, q), q, out=np.zeros_like(p), where=q > 0)
    rejected = (q * (1 - accept)).sum(axis=-1, keepdims=True)
    instead = np.where(rejected > 1e-12, (p - q * accept) / np.maximum(rejected, 1e-12), p)
    return [accept, instead]


def _with(accept=None, instead=None):
    def wrong(p, q):
        one, other = speculative_sampling(p, q)
        return (accept or (lambda p, q: one))(p, q), (instead or (lambda p, q: other))(p, q)

    return wrong


def _ratio(p, q):
    return torch.where(q > 0, p / q.clamp(min=1e-300), 0.0)


def _missing(p, q):
    return (p - q).clamp(min=0)


task.mistake(
    "The acceptance is right. But if you resample from p itself, the accepted words get a second "
    "chance. Which part of p is still missing?",
    _with(instead=lambda p, q: p),
)
task.mistake(
    "`instead` has the words that q proposes too *often*. Return those of which something is "
    "missing: where p is larger than q.",
    _with(
        instead=lambda p, q: torch.where(
            (p == q).all(-1, True), p, _missing(q, p) / _missing(q, p).sum(-1, True).clamp(min=1e-9)
        )
    ),
)
task.mistake(
    "The absolute value also counts words that q proposes *too often*. Use only what is missing.",
    _with(instead=lambda p, q: (p - q).abs() / (p - q).abs().sum(-1, True).clamp(min=1e-9)),
)
task.mistake(
    "`instead` has the right ratios, but it must be a distribution: its rows sum to 1.",
    _with(instead=_missing),
)


@task.mistake("`instead` was divided by the sum over the whole batch. Each row has its own.")
def over_batch(p, q):
    accept, _ = speculative_sampling(p, q)
    missing = _missing(p, q)
    return accept, torch.where(missing.sum() > 1e-12, missing / missing.sum().clamp(min=1e-12), p)


@task.mistake(
    "Rows in which p equals q are right. The others were divided by the sum over the whole batch, "
    "and each has its own."
)
def over_batch_but_equal(p, q):
    accept, instead = over_batch(p, q)
    return accept, torch.where((p == q).all(dim=-1, keepdim=True), p, instead)


@task.mistake(
    "`instead` has the whole p of the words that are proposed too seldom, divided by its sum. The "
    "accepted words already provide a part of it."
)
def whole_of_the_rare(p, q):
    accept, instead = speculative_sampling(p, q)
    rare = p * (p > q)
    rest = rare.sum(dim=-1, keepdim=True)
    return accept, torch.where(rest > 0, rare / rest.clamp(min=1e-12), instead)


task.mistake(
    "`accept` is p/q, which is more than 1 where p is larger. A probability is at most 1.",
    _with(accept=_ratio),
)
task.mistake(
    "`accept` is how often a word is proposed *and* accepted. You need how often it is accepted "
    "once it has been proposed.",
    _with(accept=torch.minimum),
)
task.mistake(
    "Each proposal is accepted with its probability under p. You can accept many more: think of p "
    "= q.",
    _with(accept=lambda p, q: p),
)
task.mistake(
    "The ratio is inverted: words that q proposes too often are always accepted.",
    _with(accept=lambda p, q: torch.where(p > 0, q / p.clamp(min=1e-300), 1.0).clamp(max=1)),
)
task.mistake(
    "Every word is accepted equally often, with the average probability. But a word that q "
    "proposes too often has to be rejected more often than others.",
    _with(accept=lambda p, q: torch.minimum(p, q).sum(-1, True).expand_as(p)),
)
task.mistake(
    "A word that q proposes too often is never accepted here. A part of its proposals can be.",
    lambda p, q: (((p >= q) & (q > 0)).to(p.dtype), speculative_sampling(p, q)[1]),
)


@task.mistake("Where q is 0, you divide by 0. Such a word is never proposed: give it 0.")
def nan_where_never_proposed(p, q):
    return (p / q).clamp(max=1), speculative_sampling(p, q)[1]


@task.mistake("Where p and q are equal, nothing is missing, and you divide 0 by 0. Return p there.")
def nan_where_equal(p, q):
    missing = _missing(p, q)
    return speculative_sampling(p, q)[0], missing / missing.sum(dim=-1, keepdim=True)


@task.mistake(
    "Where p and q are equal, nothing is missing, and `instead` is 0 everywhere. The statement "
    "says what to return there."
)
def zero_where_equal(p, q):
    accept, instead = speculative_sampling(p, q)
    return accept, instead * (p != q).any(dim=-1, keepdim=True)


task.mistake(
    "You divide by 0 in two places: where q is 0, and where a row of p equals that of q. The "
    "statement says what to return there.",
    lambda p, q: (nan_where_never_proposed(p, q)[0], nan_where_equal(p, q)[1]),
)


@task.mistake("A word with q = 0 is never proposed. The statement asks for 0 there.")
def one_if_not_proposed(p, q):
    accept, instead = speculative_sampling(p, q)
    return torch.where(q > 0, accept, 1.0), instead


@task.mistake("A word that q never proposes has 1 in `accept`. The statement asks for 0 there.")
def one_if_wanted(p, q):
    accept, instead = speculative_sampling(p, q)
    return torch.where((q > 0) | (p == 0), accept, 1.0), instead


@task.mistake(
    "Two special cases are left: a word with q = 0, and a row in which p equals q. The statement "
    "says what to return there."
)
def both_edges(p, q):
    accept, instead = one_if_not_proposed(p, q)
    return accept, instead * ((p - q).abs() > 1e-12).any(dim=-1, keepdim=True)


task.mistake(
    "`instead` is a softmax, which gives every word some probability, also those of which nothing "
    "is missing. Divide by the sum.",
    _with(instead=lambda p, q: _missing(p, q).softmax(dim=-1)),
)
task.mistake(
    "p and q are swapped: this would turn proposals of p into words of q.",
    lambda p, q: speculative_sampling(q, p),
)


task.edit(
    "The rule for p = q was applied to single words. It is about rows: where p equals q "
    "everywhere, nothing is missing.",
    "torch.where(rest > 1e-12, missing / rest.clamp(min=1e-12), p)",
    "torch.where(p == q, p, missing / rest.clamp(min=1e-12))",
)


@task.cases
def cases(seed):
    """The example; words never proposed; equal models; then batches."""
    generator = torch.Generator().manual_seed(seed)

    def rows(*values):
        return torch.tensor(values, dtype=torch.float64)

    found = [
        Case(
            (rows([0.5, 0.3, 0.2]), rows([0.8, 0.1, 0.1])),
            "the example of the statement",
            kind="ordinary cases",
        ),
        Case(
            (rows([0.5, 0.25, 0.25, 0.0]), rows([0.0, 0.5, 0.25, 0.25])),
            "a word that is never proposed, and one that must never come",
            kind="edge cases",
        ),
        Case(
            (rows([0.2, 0.8, 0.0]), rows([0.2, 0.8, 0.0])),
            "two models that agree",
            kind="ordinary cases",
        ),
        Case(
            (rows([0.5, 0.25, 0.25], [0.2, 0.8, 0.0]), rows([0.25, 0.25, 0.5], [0.2, 0.8, 0.0])),
            "two rows: in the second the models agree",
            kind="ordinary cases",
        ),
    ]
    for batch, vocab in ((2, 5), (6, 4), (3, 9)):
        p, q = torch.rand(2, batch, vocab, generator=generator, dtype=torch.float64) ** 2
        p, q = p / p.sum(dim=-1, keepdim=True), q / q.sum(dim=-1, keepdim=True)
        found.append(Case((p, q), f"{batch} rows of {vocab} words", kind="ordinary cases"))
    return found


@task.diagnostic
def comes_out(args, result):
    """What distribution comes out of proposing, accepting and redrawing."""
    import numpy as np

    p, q = (arg.numpy() for arg in args)
    accept, instead = (np.asarray(part) for part in result)
    if accept.shape != p.shape or instead.shape != p.shape:
        return None
    for b in range(len(p)):
        for name, row in (("accept", accept[b]), ("instead", instead[b])):
            if np.isnan(row).any():
                return f"Row {b} of `{name}` holds NaN."
            if (row < -1e-9).any() or (row > 1 + 1e-9).any():
                off = row[(row < -1e-9) | (row > 1 + 1e-9)][0]
                limit = "at most 1" if off > 1 else "at least 0"
                return f"Row {b} of `{name}` holds {off:.3f}. A probability is {limit}."
        never = np.flatnonzero((q[b] == 0) & (accept[b] > 0))
        if len(never):
            j = int(never[0])
            return (
                f"Row {b}: word {j} is never proposed, but `accept` has {accept[b, j]:.3f} for "
                "it; expected 0."
            )
        if abs(instead[b].sum() - 1) > 1e-6:
            return f"Row {b} of `instead` sums to {instead[b].sum():.3f}, not to 1."
        out = q[b] * accept[b] + (1 - q[b] @ accept[b]) * instead[b]
        off = np.abs(out - p[b])
        if off.max() > 1e-6:
            j = int(off.argmax())
            return (
                f"Row {b}: in the end word {j} has the probability {out[j]:.3f}, but the model "
                f"gives it {p[b, j]:.3f}."
            )
        if q[b] @ accept[b] < np.minimum(p[b], q[b]).sum() - 1e-6:
            return (
                f"Row {b}: the final distribution is right. But only {q[b] @ accept[b]:.3f} of "
                "the proposals are accepted, and more could be."
            )
    return None
