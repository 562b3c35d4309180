"""Continue a text with a reader that keeps what it has read."""

import torch

from grading.author import Case, TaskFile

task = TaskFile(
    "implement",
    points=6,
    minutes=12,
    section="The key-value cache",
    outcome="generate with a {term}`key-value cache`, show that the tokens are the same, "
    "and compute how large a cache becomes",
    hints=(
        "Keep two things: the text, and what of it the reader has not read yet.",
        "Follow a text of two words to which one is added: how often is `read` called?",
    ),
)


# %% the cell
def cached_generation(reader, beginning, draw, stop, most):
    """The ids of the beginning and of what is written after it, a list."""
    # BEGIN SOLUTION
    text = list(beginning)
    unread = text
    while len(text) < most:
        logits = reader.read(torch.tensor(unread))[-1]  # (vocab,)
        newest = int(draw(logits))
        text = [*text, newest]
        if newest == stop:
            break
        unread = [newest]
    return text
    # END SOLUTION


# %%


@task.alternative
def by_for(reader, beginning, draw, stop, most):
    """In another order."""
    text = list(beginning)
    if len(text) >= most:
        return text
    logits = reader.read(torch.tensor(text))
    for _ in range(most - len(text)):
        text.append(int(draw(logits[-1])))
        if text[-1] == stop or len(text) == most:
            return text
        logits = reader.read(torch.tensor(text[-1:]))
    return text


task.edit(
    "All words are read again in each call. The reader keeps them: hand it only what it has not "
    "read.",
    "unread = [newest]",
    "unread = text",
)
task.edit(
    "The word is sampled from the logits of the *first* word of a piece. The last row predicts "
    "the next word.",
    "[-1]  # (vocab,)",
    "[0]  # (vocab,)",
)
task.edit(
    "The word at which to stop is left out. It belongs to the text.",
    "        text = [*text, newest]\n        if newest == stop:\n            break\n",
    "        if newest == stop:\n            break\n        text = [*text, newest]\n",
)
task.edit(
    "It never stops at `stop`.",
    "if newest == stop:",
    "if False:",
)
task.edit(
    "`most` counts the words of the beginning, too. Here it counts those that are written.",
    "while len(text) < most:",
    "most = most + len(text)\n    while len(text) < most:",
)
task.edit(
    "One word too many: `most` is the number of words that the text may have.",
    "len(text) < most",
    "len(text) <= most",
)
task.edit(
    "One word too few: the text may have `most` words.",
    "len(text) < most",
    "len(text) < most - 1",
)
task.edit(
    "The beginning is missing in what comes back.",
    "return text",
    "return text[len(beginning) :]",
)
task.edit(
    "The most probable word was taken. `draw` chooses.",
    "draw(logits)",
    "logits.argmax()",
)


@task.mistake(
    "The beginning is not read: the first word is drawn by one who has seen its last word only."
)
def last_word_only(reader, beginning, draw, stop, most):
    text = list(beginning)
    while len(text) < most:
        text.append(int(draw(reader.read(torch.tensor(text[-1:]))[-1])))
        if text[-1] == stop:
            break
    return text


@task.mistake(
    "The text is right, and words are read of which nothing is drawn any more: the last one of the "
    "text need not be read."
)
def reads_the_last(reader, beginning, draw, stop, most):
    text = list(beginning)
    logits = reader.read(torch.tensor(text))
    while len(text) < most:
        text.append(int(draw(logits[-1])))
        logits = reader.read(torch.tensor(text[-1:]))
        if text[-1] == stop:
            break
    return text


@task.mistake(
    "A word is written before it is asked whether there is room: a beginning that has `most` words "
    "already becomes longer."
)
def writes_first(reader, beginning, draw, stop, most):
    text = unread = list(beginning)
    while True:
        unread = [int(draw(reader.read(torch.tensor(unread))[-1]))]
        text = text + unread
        if unread == [stop] or len(text) >= most:
            return text


@task.mistake("A `stop` within the beginning ends the text here. Only one that is written ends it.")
def stops_at_once(reader, beginning, draw, stop, most):
    if stop in beginning:
        return list(beginning)
    return cached_generation(reader, beginning, draw, stop, most)


@task.harness
def harness(answer, rows, beginning, lucky, stop, most):
    """A reader whose logits depend on all that it has read; the text, and what was read for it."""
    import torch

    class Reader:
        def __init__(self):
            self.state, self.words = 1, 0

        def read(self, tokens):
            if not isinstance(tokens, torch.Tensor) or tokens.dim() != 1:
                raise ValueError("read wants a tensor of ids, of shape (n,)")
            found = []
            for word in tokens.tolist():
                self.state = (5 * self.state + word + 1) % len(rows)
                self.words += 1
                found.append(rows[self.state])
            return torch.stack(found)

    numbers = list(lucky)

    def draw(logits):
        if logits.shape != rows.shape[1:]:
            raise ValueError(f"draw gets the logits of one word, (vocab,), not {logits.shape}")
        if not numbers:
            raise ValueError("draw is called more often than words may come")
        return int(logits.argsort(descending=True)[numbers.pop(0)])

    reader = Reader()
    text = answer(reader, beginning, draw, stop, most)
    if text is None:
        return None
    return {"text": [int(word) for word in text], "words read": reader.words}


@task.cases
def cases(seed):
    """A short text; a stop; a stop within the beginning; nothing to be written."""
    generator = torch.Generator().manual_seed(seed)
    found = []
    for T, most, where, note in (
        (2, 6, None, "a beginning of 2 words, 6 in all"),
        (3, 9, 2, "the third word that is written is `stop`"),
        (4, 8, None, "`stop` stands in the beginning"),
        (3, 3, None, "a beginning that has all the words already"),
        (1, 12, 6, "a beginning of one word"),
    ):
        while True:
            rows = torch.randn(37, 9, generator=generator, dtype=torch.float64)
            beginning = torch.randint(1, 9, (T,), generator=generator).tolist()
            lucky = torch.randint(0, 3, (20,), generator=generator).tolist()
            text = harness(cached_generation, rows, beginning, lucky, 0, most)["text"]
            written = text[T:]
            if 0 in written or len(set(written)) < min(3, most - T):
                continue
            stop = beginning[1] if "stands in" in note else 0
            if where is not None:
                stop = written[where]
                if stop in written[:where] or stop in beginning:
                    continue
            elif stop in written:
                continue
            break
        kind = "edge cases" if where is None and len(found) > 1 else "ordinary cases"
        found.append(Case((rows, beginning, lucky, stop, most), note, kind=kind))
    return found


@task.diagnostic
def reading(args, result):
    """Whether the text is right, and the reading is not."""
    right = harness(cached_generation, *args)
    if result["text"] == right["text"]:
        came, want = result["words read"], right["words read"]
        return f"The text is right. But {came} words were read for it, and {want} are enough."
    return None
