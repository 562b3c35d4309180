"""What a decoder reads, and what it is asked for."""

import torch

from grading.author import Case, TaskFile

task = TaskFile(
    "implement",
    points=8,
    minutes=10,
    outcome="shift inputs and targets for {term}`teacher forcing`, and recognize a model for "
    "which this was forgotten",
    results=("the inputs", "the targets"),
    hints=(
        "Write both rows of the example on paper, one below the other. What is the target below "
        "the last word?",
        "Prepare each sentence by itself, one with START and one with END, and pad only then.",
    ),
)

PAD, START, END, IGNORE = 0, 1, 2, -100


# %% the cell
def teacher_forcing(sentences):
    """The decoder's inputs and targets, both (batch, T), from a list of tensors (n,)."""
    # BEGIN SOLUTION
    longest = 1 + max(len(sentence) for sentence in sentences)
    begun = torch.zeros(len(sentences), longest, dtype=torch.long)  # (batch, T)
    wanted = torch.full_like(begun, -100)  # (batch, T)
    begun[:, 0] = 1
    for row, sentence in enumerate(sentences):
        n = len(sentence)
        begun[row, 1 : n + 1] = sentence
        wanted[row, :n] = sentence
        wanted[row, n] = 2
    return begun, wanted
    # END SOLUTION


# %%


def _both(begun, wanted, pad=PAD, ignore=IGNORE):
    from torch.nn.utils.rnn import pad_sequence

    return (
        pad_sequence(begun, batch_first=True, padding_value=pad),
        pad_sequence(wanted, batch_first=True, padding_value=ignore),
    )


def _joined(*parts):
    found = [torch.tensor([p]) if isinstance(p, int) else p for p in parts]
    return torch.cat(found)


@task.alternative
def by_padding(sentences):
    """Torch brings them to one length."""
    begun = [_joined(START, s) for s in sentences]
    return _both(begun, [_joined(s, END) for s in sentences])


@task.alternative
def by_lists(sentences):
    """In Python's lists, which become tensors at the end."""
    T = max(map(len, sentences)) + 1
    begun = [[1, *s.tolist()] + [0] * (T - 1 - len(s)) for s in sentences]
    wanted = [[*s.tolist(), 2] + [-100] * (T - 1 - len(s)) for s in sentences]
    return torch.tensor(begun), torch.tensor(wanted)


@task.mistake(
    "Input and target are the same: each position predicts the word that it reads. The loss would "
    "be near 0, but the model would only have learned to copy."
)
def not_shifted(sentences):
    begun, _ = by_padding(sentences)
    return begun, begun.masked_fill(begun == PAD, IGNORE)


@task.mistake(
    "The end token is never a target, so the model never learns to stop. After the last word "
    "comes END."
)
def no_end(sentences):
    begun = [_joined(START, s) for s in sentences]
    return _both(begun, [_joined(s, IGNORE) for s in sentences])


@task.mistake(
    "The input begins with the first word. In generation there is no word yet, so the input "
    "begins with START."
)
def no_start(sentences):
    begun = [_joined(s, END) for s in sentences]
    return _both(begun, [_joined(s, END) for s in sentences])


@task.mistake(
    "Padding is a target. After the end of the sentence the target is −100, so that it is ignored."
)
def padding_asked(sentences):
    begun = [_joined(START, s) for s in sentences]
    return _both(begun, [_joined(s, END) for s in sentences], ignore=PAD)


@task.mistake(
    "In shorter sentences END comes after the padding, in the last column. It belongs right after "
    "a sentence's own last word."
)
def end_after_padding(sentences):
    begun, _ = by_padding(sentences)
    ended = torch.cat([begun[:, 1:], torch.full((len(begun), 1), END)], dim=1)
    return begun, ended.masked_fill(ended == PAD, IGNORE)


@task.mistake(
    "One position is missing: the longest sentence has one more input, START, and one more "
    "target, END."
)
def one_place_less(sentences):
    begun, wanted = by_padding(sentences)
    return begun[:, :-1], wanted[:, :-1]


@task.mistake("The input is padded with −100. No embedding has such a row: pad the input with 0.")
def ignored_read(sentences):
    begun = [_joined(START, s) for s in sentences]
    return _both(begun, [_joined(s, END) for s in sentences], pad=IGNORE)


@task.mistake(
    "In shorter sentences END is part of the input, but nothing is generated after it. (If you "
    "removed the last *column*: END of a short sentence is elsewhere. Cut before you pad.)"
)
def end_is_read(sentences):
    whole = [_joined(START, s, END) for s in sentences]
    begun, wanted = _both(whole, whole)
    return begun[:, :-1], wanted[:, 1:]


@task.mistake(
    "The first sentence is missing in one result and the last in the other: batch and time were "
    "mixed up. Shift along the words, not along the sentences."
)
def batch_shifted(sentences):
    whole = [_joined(START, s, END) for s in sentences]
    begun, wanted = _both(whole, whole)
    return begun[:-1], wanted[1:]


@task.mistake("The two results are exchanged: the input comes first, then the target.")
def exchanged(sentences):
    begun, wanted = by_padding(sentences)
    return wanted, begun


@task.mistake("The padding is on the left. It belongs on the right, after the words.")
def filled_left(sentences):
    T = max(map(len, sentences)) + 1
    begun = [[0] * (T - 1 - len(s)) + [1, *s.tolist()] for s in sentences]
    wanted = [[-100] * (T - 1 - len(s)) + [*s.tolist(), 2] for s in sentences]
    return torch.tensor(begun), torch.tensor(wanted)


@task.mistake("Time comes first here: the results have the shape (T, batch). You need (batch, T).")
def time_first(sentences):
    begun, wanted = by_padding(sentences)
    return begun.T, wanted.T


@task.mistake("START and END are exchanged: 1 is START, and 2 is END.")
def marks_exchanged(sentences):
    begun = [_joined(END, s) for s in sentences]
    return _both(begun, [_joined(s, START) for s in sentences])


@task.mistake("The input is padded with END. Pad it with 0; END is a target only.")
def padded_with_end(sentences):
    begun, wanted = teacher_forcing(sentences)
    return torch.where(wanted == -100, 2, begun), wanted


@task.cases
def cases(seed):
    """Two short sentences to check by hand; then others."""
    generator = torch.Generator().manual_seed(seed)
    found = [
        Case(
            ([torch.tensor([7, 5, 9]), torch.tensor([4])],),
            "three words and one word",
            kind="ordinary cases",
        )
    ]
    for lengths in ((4, 2, 6), (1, 5, 3, 2)):
        rows = [torch.randint(3, 40, (n,), generator=generator) for n in lengths]
        found.append(
            Case(
                (rows,), f"sentences of {', '.join(map(str, lengths))} words", kind="ordinary cases"
            )
        )
    return found
