"""A test of one's own for readers with a cache, which must refuse the faulty ones."""

import torch

from grading.author import Case, TaskFile

task = TaskFile(
    "implement",
    points=10,
    minutes=25,
    extra=True,
    section="The loss: cross-entropy and perplexity",
    outcome="generate with a {term}`key-value cache`, show that the tokens are the same, "
    "and compute how large a cache becomes",
    hints=(
        "Every reading is compared in the same way, so write a function for it: read the next n "
        "words, and compare with the last n rows of `whole` on all words so far.",
        "What can go wrong between two readers? Between a reader and its fork, in either "
        "direction?",
    ),
)


# %% the cell
def cache_test(new_reader, whole):
    """Whether readers from new_reader() always give the logits that whole(tokens) gives."""
    # BEGIN SOLUTION
    readers = {"one": new_reader(), "two": new_reader()}
    texts = {
        "one": torch.randint(1, 20, (60,)),
        "two": torch.randint(1, 20, (60,)),
    }
    done = dict.fromkeys(readers, 0)  # how many words each has read

    def right(name, n):
        """Whether this reader reads the next n words rightly."""
        start, end = done[name], done[name] + n
        done[name] = end
        given = texts[name][start:end].clone()
        came = readers[name].read(given)
        want = whole(texts[name][:end])[start:]
        same = came.shape == want.shape and torch.allclose(came, want, atol=1e-4)
        return same and given.equal(texts[name][start:end])

    def all_right(*plan):
        return all(right(name, n) for name, n in plan)

    if not all_right(("one", 4), ("two", 1), ("one", 1), ("two", 3), ("one", 3), ("one", 9)):
        return False
    readers["fork"] = readers["one"].fork()
    texts["fork"] = torch.cat([texts["one"][: done["one"]], torch.randint(1, 20, (60,))])
    done["fork"] = done["one"]
    return all_right(("fork", 2), ("one", 3), ("fork", 1), ("two", 1), ("one", 25), ("fork", 25))
    # END SOLUTION


# %%


@task.alternative
def in_steps(new_reader, whole):
    """Plainer, and longer."""

    def close(came, want):
        return came.shape == want.shape and (came - want).abs().max() < 1e-3

    text, other = torch.arange(1, 20).repeat(3), torch.arange(19, 0, -1).repeat(3)
    one, two = new_reader(), new_reader()
    at = 0
    for n in (1, 1, 5, 2, 1, 7):
        piece = text[at : at + n].clone()
        if not close(one.read(piece), whole(text[: at + n])[at:]):
            return False
        if not piece.equal(text[at : at + n]):
            return False
        if not close(two.read(other[at : at + n]), whole(other[: at + n])[at:]):
            return False
        at += n
    twin = one.fork()
    mixed = torch.cat([text[:at], other[:20]])
    if not close(one.read(text[at : at + 2]), whole(text[: at + 2])[at:]):
        return False
    if not close(twin.read(mixed[at:]), whole(mixed)[at:]):
        return False
    if not close(one.read(text[at + 2 :]), whole(text)[at + 2 :]):
        return False
    return close(two.read(other[at:]), whole(other)[at:])


@task.mistake(
    "It asks for equal numbers, or for more digits than two right implementations have in common: "
    "it rejects a right reader that rounds differently."
)
def exactly(new_reader, whole):
    text = torch.arange(1, 20).repeat(3)
    reader = new_reader()
    return reader.read(text[:5]).equal(whole(text[:5])) and cache_test(new_reader, whole)


@task.mistake(
    "It asks for more digits than two correct implementations have in common; and it accepts after "
    "one piece, when there was nothing in the cache yet."
)
def exactly_one_piece(new_reader, whole):
    text = torch.arange(1, 20)
    return torch.allclose(new_reader().read(text[:10]), whole(text[:10]))


@task.mistake(
    "It accepts every faulty reader. Does it compare the logits at all, and for more than the "
    "first word?"
)
def always(new_reader, whole):
    return True


@task.mistake("It rejects every reader, even a right one.")
def never(new_reader, whole):
    return False


def _reads(new_reader, whole, pieces, rows=slice(None), tokens=False):
    """One reader, one text, pieces; and whether the given tokens are still the same."""
    text, reader, at = torch.arange(1, 20).repeat(3), new_reader(), 0
    for n in pieces:
        piece = text[at : at + n].clone()
        came, want = reader.read(piece), whole(text[: at + n])[at:]
        if came.shape != want.shape or not torch.allclose(came[rows], want[rows], atol=1e-4):
            return False
        if tokens and not piece.equal(text[at : at + n]):
            return False
        at += n
    return True


@task.mistake(
    "It accepts after one piece. Most faults show only when there is something in the cache."
)
def one_piece(new_reader, whole):
    return _reads(new_reader, whole, (12,))


task.edit(
    "It checks one piece well, and also the given tokens, but then accepts. Most faults show only "
    "when there is something in the cache.",
    "    if not all_right(",
    '    return right("one", 4)\n    if not all_right(',
)
task.edit(
    "It compares a piece with the logits of `whole` for this piece alone. What was read before "
    "belongs to the text.",
    "whole(texts[name][:end])[start:]",
    "whole(given)",
)
task.edit(
    "It compares with the rows of all words so far. A reader returns those of the new words.",
    "whole(texts[name][:end])[start:]",
    "whole(texts[name][:end])",
)


@task.mistake("It reads word by word only. It misses faults that need a piece of several words.")
def one_by_one(new_reader, whole):
    return _reads(new_reader, whole, (1,) * 40)


@task.mistake(
    "It tries one reader, in pieces, and does that well. But it never uses two readers at once, "
    "nor a fork."
)
def alone(new_reader, whole):
    return _reads(new_reader, whole, (4, 1, 3, 9, 20), tokens=True)


@task.mistake("It never tries a fork.")
def no_fork(new_reader, whole):
    texts = torch.arange(1, 20).repeat(3), torch.arange(19, 0, -1).repeat(3)
    readers, at = (new_reader(), new_reader()), 0
    for n in (4, 1, 3, 9, 20):
        for reader, text in zip(readers, texts, strict=True):
            piece = text[at : at + n].clone()
            came, want = reader.read(piece), whole(text[: at + n])[at:]
            if came.shape != want.shape or not torch.allclose(came, want, atol=1e-4):
                return False
            if not piece.equal(text[at : at + n]):
                return False
        at += n
    return True


task.edit(
    "It checks the fork, but not the original again: it misses a fork that disturbs the original.",
    '("fork", 2), ("one", 3), ("fork", 1), ("two", 1), ("one", 25), ("fork", 25)',
    '("fork", 2), ("two", 1), ("fork", 25)',
)
task.edit(
    "The original continues to read, but the fork never reads. It misses a fork that shares what "
    "the original reads later, or has forgotten what it had read.",
    '("fork", 2), ("one", 3), ("fork", 1), ("two", 1), ("one", 25), ("fork", 25)',
    '("one", 3), ("two", 1), ("one", 25)',
)
task.edit(
    "The fork reads before the original and never after it: it misses a fork that follows what the "
    "original reads.",
    '("fork", 2), ("one", 3), ("fork", 1), ("two", 1), ("one", 25), ("fork", 25)',
    '("fork", 2), ("fork", 26), ("one", 3), ("two", 1), ("one", 25)',
)
task.edit(
    "Its texts are short. It misses a cache that holds only a few words.",
    ', ("one", 9)',
    "",
    '("one", 25), ("fork", 25)',
    '("one", 1), ("fork", 1)',
)
task.edit(
    "Its pieces are of all kinds, but its texts are short: it misses a cache that holds only the "
    "last dozen words.",
    '("two", 3), ("one", 3), ("one", 9)',
    '("two", 5), ("one", 3)',
    '("one", 25), ("fork", 25)',
    '("one", 1), ("fork", 1)',
)
task.edit(
    "It compares the last row of a piece only. The rows before it could be anything.",
    "torch.allclose(came, want, atol=1e-4)",
    "torch.allclose(came[-1], want[-1], atol=1e-4)",
)


@task.mistake(
    "It compares only the last row of each piece, and its text is so short that it accepts a "
    "reader that keeps six words. Compare all rows, on a text of several dozen words."
)
def short_and_last_rows(new_reader, whole):
    text, reader, at = torch.arange(1, 20), new_reader(), 0
    for n in (3, 1, 2):
        came = reader.read(text[at : at + n])[-1]
        at += n
        if not torch.allclose(came, whole(text[:at])[-1], atol=1e-4):
            return False
    twin, other = reader.fork(), torch.cat([text[:6], text[10:12]])
    return torch.allclose(reader.read(text[6:8])[-1], whole(text[:8])[-1], atol=1e-4) and (
        torch.allclose(twin.read(other[6:])[-1], whole(other)[-1], atol=1e-4)
    )


task.edit(
    "It compares shapes, but no numbers.",
    "torch.allclose(came, want, atol=1e-4)",
    "True",
)
task.edit(
    "It compares numbers with a shape that broadcasts: it misses too many rows, or too few.",
    "same = came.shape == want.shape and torch.allclose(came, want, atol=1e-4)",
    "same = bool(((came[-len(want):] - want).abs() < 1e-4).all())",
)
task.edit(
    "It accepts differences that are too large for rounding.",
    "atol=1e-4",
    "atol=0.2",
)
task.edit(
    "It does not check whether the reader changed the tokens that it was given.",
    "return same and given.equal(texts[name][start:end])",
    "return same",
)


@task.harness
def harness(answer, seed, faults):
    """What the test says of a right reader, one that rounds, and many faulty ones."""
    import copy

    import torch

    from helpers.config import TransformerConfig
    from helpers.models import LanguageModel
    from helpers.positions import RotaryPositions

    torch.manual_seed(seed)
    config = TransformerConfig(20, 8, n_layers=2, n_heads=2, d_ff=12)
    model = LanguageModel(config, RotaryPositions()).eval()
    with torch.no_grad():
        for p in model.parameters():
            p.copy_(0.5 * torch.randn(p.shape) + (1.0 if p.dim() == 1 else 0.0))

    @torch.no_grad()
    def whole(tokens):
        return model(tokens[None])[0]

    drawer = []

    class Reader:
        def __init__(self, fault):
            self.fault, self.ids, self.calls, self.heard = fault, [], 0, []

        def read(self, tokens):
            ids = drawer if self.fault == "one drawer" else self.ids
            before, new, fault = list(ids), tokens.tolist(), self.fault
            ids += new
            for other in self.heard:
                other.ids += new
            n, seen = len(new), before + new
            self.calls += 1
            if fault == "piece only":
                seen = new
            elif fault == "last piece":
                seen = getattr(self, "last", []) + new
            elif fault == "first words only":
                seen = before[:6] + new
            elif fault == "last words only":
                seen = seen[-max(n, 12) :]
            elif fault == "one place behind" and before:
                seen = before[1:] + new
            elif fault == "no long piece" and n > 4 and before:
                seen = new
            self.last = new
            logits = whole(torch.tensor(seen))[-n:].clone()
            if fault == "sees ahead" and n > 1:
                logits[:-1] += 0.3 * logits[-1]
            elif fault == "rows turned":
                logits = logits.flip(0)
            elif fault == "all rows":
                logits = whole(torch.tensor(seen))
            elif fault == "last row":
                logits = logits[-1:]
            elif fault == "a little off":
                logits = logits + 0.02 * len(before) / (1 + len(before))
            elif fault == "rounds":
                logits = logits + 3e-6
            elif fault == "changes its input":
                tokens.zero_()
            return logits

        def fork(self):
            twin = Reader(self.fault)
            twin.calls, twin.last = self.calls, getattr(self, "last", [])
            twin.ids = list(self.ids)
            if self.fault == "fork shares":
                twin.ids = self.ids
            elif self.fault == "fork is empty":
                twin.ids = []
            elif self.fault == "fork follows":
                self.heard = [twin]
            elif self.fault == "original follows":
                twin.heard = [self]
            elif self.fault == "fork is itself":
                return self
            elif self.fault == "fork lacks a word":
                twin.ids = self.ids[:-1]
            elif self.fault == "fork empties the other":
                self.ids = []
            return twin

    said = {}
    for fault in ("right", "rounds", *faults):
        drawer.clear()
        torch.manual_seed(seed)
        try:
            verdict = answer(lambda fault=fault: Reader(copy.copy(fault)), whole)
        except (AssertionError, RuntimeError, IndexError, ValueError):
            verdict = False  # a test that stops with an error has refused
        if verdict is None:
            return None
        said[fault] = bool(verdict)
    return said


SEEN = {
    "right": "a right reader",
    "rounds": "a correct reader that rounds differently",
    "piece only": "a reader that keeps nothing",
    "last piece": "a reader that keeps only the previous piece",
    "first words only": "a reader that keeps the first six words and no more",
    "last words only": "a reader whose cache holds twelve words",
    "one place behind": "a reader that forgets the first word when it reads the second piece",
    "no long piece": "a reader that forgets all when a later piece has more than four words",
    "sees ahead": "a reader in which the words of a piece see the last one",
    "rows turned": "a reader that returns the rows of a piece in the wrong order",
    "all rows": "a reader that returns the rows of all words so far",
    "last row": "a reader that returns the last row of a piece only",
    "a little off": "a reader whose logits are off by up to 0.02 once something is kept",
    "changes its input": "a reader that overwrites the tokens it was given",
    "one drawer": "readers that share one cache",
    "fork shares": "a reader that shares its cache with its fork",
    "fork follows": "a reader whose fork also gets what the original reads later",
    "original follows": "a reader that also gets what its fork reads",
    "fork is empty": "a reader whose fork begins an empty text",
    "fork is itself": "a reader whose fork is the reader itself",
    "fork lacks a word": "a reader whose fork has not read the last word",
    "fork empties the other": "a reader that is empty once it has been forked",
}


@task.cases
def cases(seed):
    """Faults of one reader in two cases; then those of several readers and of forks."""
    names = list(SEEN)[2:]
    parts = names[:6], names[6:12], names[12:]
    notes = "faults in the cache", "faults of what comes back", "faults of several readers"
    return [
        Case((10 * seed + k, part), note, kind=note if k == 2 else "ordinary cases")
        for k, (part, note) in enumerate(zip(parts, notes, strict=True))
    ]


@task.diagnostic
def what_escapes(args, result):
    """Whether a right one is refused; or how many faults escape, and one of them."""
    for name in ("right", "rounds"):
        if not result[name]:
            return f"It rejects {SEEN[name]}."
    escaped = [name for name in args[1] if result[name]]
    if not escaped:
        return None
    which = ", among them" if len(escaped) > 1 else ":"
    n = len(args[1])
    return f"It misses {len(escaped)} of {n} faulty readers here{which} {SEEN[escaped[0]]}."
