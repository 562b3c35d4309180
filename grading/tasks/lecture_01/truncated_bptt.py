"""Find the bugs: pieces of the batch, and a history that is cut by half."""

import torch

from grading.author import Case, TaskFile

task = TaskFile(
    "find the bug",
    points=9,
    minutes=13,
    section="Truncated back-propagation through time",
    outcome="explain with the chain rule why a gradient vanishes or explodes with distance, and "
    "what a {term}`forget gate` changes",
    hints=(
        "Write the shape of `piece` beside its line, for x of shape (4, 6, 2) and every = 2. What "
        "should it be?",
        "An LSTM passes on two vectors, h and c. Through which of them can a gradient flow back?",
    ),
)


# %% the cell
def truncated_bptt(lstm, x, every):
    """Outputs (batch, T, hidden_size) of x (batch, T, d_in); gradients stop between pieces."""
    state, outputs = None, []
    #| for piece in x.split(every):
    # BEGIN SOLUTION
    for piece in x.split(every, dim=1):  # (batch, every, d_in)
        # END SOLUTION
        out, state = lstm(piece, state)
        outputs.append(out)
        h, c = state
        #| state = (h.detach(), c)
        # BEGIN SOLUTION
        state = (h.detach(), c.detach())
        # END SOLUTION
    #| return torch.cat(outputs)
    # BEGIN SOLUTION
    return torch.cat(outputs, dim=1)  # (batch, T, hidden_size)
    # END SOLUTION


# %%


@task.alternative
def by_slices(lstm, x, every):
    """Slices, and zeros to start from."""
    size = lstm.hidden_size
    h, c = torch.zeros(1, len(x), size), torch.zeros(1, len(x), size)
    outputs = []
    for start in range(0, x.shape[1], every):
        out, (h, c) = lstm(x[:, start : start + every], (h.detach(), c.detach()))
        outputs.append(out)
    return torch.cat(outputs, 1)


@task.alternative
def word_by_word(lstm, x, every):
    """One word at a time, and a cut where a piece ends."""
    state, outputs = None, []
    for t in range(x.shape[1]):
        if t and t % every == 0:
            state = tuple(part.data for part in state)
        out, state = lstm(x[:, t : t + 1], state)
        outputs.append(out)
    return torch.cat(outputs, dim=1)


def _pieces(lstm, x, every, after, axis=1, first=lambda piece: piece):
    """Read in pieces; `after` makes of output and state what is kept."""
    state, outputs = None, []
    for piece in x.split(every, dim=axis):
        out, state = lstm(first(piece), state)
        out, state = after(out, state)
        outputs.append(out)
    return outputs


def _h_only(out, state):
    return out, (state[0].detach(), state[1])


def _both(out, state):
    return out, (state[0].detach(), state[1].detach())


task.as_given(
    "This does the same as the given code. With one text the numbers are right, but the gradient "
    "flows back to the first word, as if nothing were detached. With more texts than `every` the "
    "numbers are wrong."
)
task.mistake(
    "The whole state is detached now. But one text alone is still read as one piece, and with "
    "more texts than `every` the numbers are wrong. Print the shape of `piece`.",
    lambda lstm, x, every: torch.cat(_pieces(lstm, x, every, _both, axis=0), dim=0),
)
task.mistake(
    "The pieces are now right, and so are the numbers. But the gradient still goes back into "
    "earlier pieces. Along which path?",
    lambda lstm, x, every: torch.cat(_pieces(lstm, x, every, _h_only), dim=1),
)


@task.mistake("Only c is detached now. The gradient still flows through h: detach both.")
def c_only(lstm, x, every):
    cut = _pieces(lstm, x, every, lambda out, s: (out, (s[0], s[1].detach())))
    return torch.cat(cut, dim=1)


task.mistake(
    "The pieces are right, but they were concatenated along the batch. They belong one after the "
    "other in time: cat with dim=1.",
    lambda lstm, x, every: torch.cat(_pieces(lstm, x, every, _both), dim=0),
)


@task.mistake(
    "Nothing is detached: the gradient flows back through all pieces, as if the text were one "
    "piece. Detach both parts of the state after each piece."
)
def never_cut(lstm, x, every):
    return torch.cat(_pieces(lstm, x, every, lambda out, state: (out, state)), dim=1)


@task.mistake(
    "Each piece begins with a state of zeros. Only the gradient should be cut: pass the state on, "
    "detached."
)
def state_dropped(lstm, x, every):
    return torch.cat(_pieces(lstm, x, every, lambda out, state: (out, None)), dim=1)


@task.mistake(
    "The outputs are detached as well (or computed under no_grad), so no loss can train the "
    "network. Detach only the state that is passed on to the next piece."
)
def outputs_cut_too(lstm, x, every):
    cut = _pieces(lstm, x, every, lambda out, state: (out.detach(), _both(out, state)[1]))
    return torch.cat(cut, dim=1)


@task.mistake(
    "The words were detached, so the gradient reaches no word, not even in its own piece. Detach "
    "the state between two pieces instead."
)
def words_cut(lstm, x, every):
    return torch.cat(_pieces(lstm, x, every, _both, first=torch.Tensor.detach), dim=1)


task.mistake(
    "The state is detached after every word. Detach it only where a piece ends.",
    lambda lstm, x, every: torch.cat(_pieces(lstm, x, 1, _both), dim=1),
)


task.edit(
    "`chunk(n)` makes n pieces; `split(n)` makes pieces of n words. `every` is the number of "
    "words in a piece.",
    "x.split(every, dim=1)",
    "x.chunk(every, dim=1)",
)


@task.mistake(
    "The first piece is word 0 alone, and all later cuts come one word too late. A piece begins "
    "with the words 0, `every`, 2 · `every`, …. Does your cut come before such a word, or after "
    "it?"
)
def cut_after_the_first(lstm, x, every):
    state, outputs = None, []
    for t in range(x.shape[1]):
        out, state = lstm(x[:, t : t + 1], state)
        outputs.append(out)
        if t % every == 0:
            state = _both(out, state)[1]
    return torch.cat(outputs, dim=1)


@task.mistake(
    "All cuts come one word too early: the last word of each piece is taken as the first of the "
    "next. Words are counted from 0: which ones begin a piece?"
)
def cut_before_the_last(lstm, x, every):
    state, outputs = None, []
    for t in range(x.shape[1]):
        if t and (t + 1) % every == 0:
            state = _both(None, state)[1]
        out, state = lstm(x[:, t : t + 1], state)
        outputs.append(out)
    return torch.cat(outputs, dim=1)


@task.mistake(
    "The last words were not read. T // every is the number of full pieces, and the last piece may "
    "be shorter."
)
def full_pieces_only(lstm, x, every):
    return truncated_bptt(lstm, x[:, : x.shape[1] // every * every], every)


task.mistake(
    "The pieces are concatenated in time now. But they are still pieces of something else: with "
    "more texts than `every` the outputs have a wrong shape or the texts do not fit together, and "
    "one text alone is read in one piece. Print the shape of `piece`.",
    lambda lstm, x, every: torch.cat(_pieces(lstm, x, every, _both, axis=0), dim=1),
)
task.mistake(
    "h and c are swapped: the state that you pass on is the pair (h, c), in this order.",
    lambda lstm, x, every: torch.cat(
        _pieces(lstm, x, every, lambda out, s: (out, (s[1].detach(), s[0].detach()))), dim=1
    ),
)


@task.harness
def harness(answer, batch, T, every, seed):
    """What comes out, and how strongly its gradient, row by row, reaches each word."""
    import torch

    torch.manual_seed(seed)
    lstm = torch.nn.LSTM(2, 3, batch_first=True)
    x = torch.randn(batch, T, 2, requires_grad=True)
    outputs = answer(lstm, x, every)
    if outputs is None:
        return None
    if not isinstance(outputs, torch.Tensor):
        raise ValueError(f"it returns a {type(outputs).__name__}; expected a tensor")
    reach = torch.zeros(T, T)
    if tuple(outputs.shape) == (batch, T, 3) and outputs.requires_grad:
        for t in range(T):
            total = outputs[:, t].sum()
            (grad,) = torch.autograd.grad(total, x, retain_graph=True, allow_unused=True)
            if grad is not None:
                reach[t] = grad.norm(dim=(0, 2))
    return {"1 outputs": outputs, "2 gradient": reach, "3 trainable": outputs.requires_grad}


@task.cases
def cases(seed):
    """One text of 4 words in pieces of 2; then more texts, a shorter last piece, single words."""
    return [
        Case((1, 4, 2, 10 * seed), "one text of 4 words, pieces of 2", kind="ordinary cases"),
        Case((4, 6, 2, 10 * seed + 1), "4 texts of 6 words, pieces of 2", kind="ordinary cases"),
        Case(
            (2, 7, 3, 10 * seed + 2),
            "2 texts of 7 words, pieces of 3, the last one shorter",
            kind="other shapes",
        ),
        Case((1, 3, 1, 10 * seed + 3), "pieces of one word", kind="other shapes"),
    ]


@task.diagnostic
def where_it_is_cut(args, result):
    """The first word from which the gradient reaches too far, or not far enough."""
    _, T, every, _ = args
    if result["1 outputs"].shape != (args[0], T, 3):
        return None
    for t in range(T):
        for s in range(T):
            wanted = s <= t and s // every == t // every
            if result["2 gradient"][t, s] and not wanted:
                where = "comes later" if s > t else "is in an earlier piece"
                return f"The gradient of the output at word {t} reaches word {s}, which {where}."
            if wanted and not result["2 gradient"][t, s]:
                begin = f"The gradient of the output at word {t} does not reach word {s}"
                return f"{begin}, which is in the same piece."
    return None
