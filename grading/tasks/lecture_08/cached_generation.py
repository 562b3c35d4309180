"""Continue a text with a reader that keeps what it has read."""

import torch

from grading.author import Case, TaskFile

task = TaskFile(
    "implement",
    points=6,
    minutes=12,
    section="The key-value cache",
    two_at_once=True,
    outcome="generate with a {term}`key-value cache`, show that the tokens are the same, "
    "and compute how large a cache becomes",
    hints=(
        "Keep track of two things: the text, and the part of it that the reader has not read yet.",
        "Take a beginning of two words and add one word: how often is `read` called?",
    ),
)


# %% the cell
def cached_generation(reader, beginning, draw, stop, most):
    """The ids of the beginning and of the generated words, as a list."""
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
    "All words are read again in each call. The reader remembers them: pass only the words that "
    "it has not read.",
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
    "The stop word is left out. It belongs to the text.",
    "        text = [*text, newest]\n        if newest == stop:\n            break\n",
    "        if newest == stop:\n            break\n        text = [*text, newest]\n",
)
task.edit(
    "Generation never stops at `stop`.",
    "if newest == stop:",
    "if False:",
)
task.edit(
    "Your loop counts only the generated words. `most` also counts the words of the beginning.",
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
    "The beginning is missing in the result.",
    "return text",
    "return text[len(beginning) :]",
)
task.edit(
    "The most probable word was taken. Let `draw` choose.",
    "draw(logits)",
    "logits.argmax()",
)


@task.mistake(
    "Only the last word of the beginning is read, so the first new word is sampled without the "
    "others."
)
def last_word_only(reader, beginning, draw, stop, most):
    text = list(beginning)
    while len(text) < most:
        text.append(int(draw(reader.read(torch.tensor(text[-1:]))[-1])))
        if text[-1] == stop:
            break
    return text


@task.mistake(
    "Too many words are read: the last word of the text need not be read, because nothing is "
    "sampled after it."
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
    "A word is generated before the length is checked: a beginning that already has `most` words "
    "becomes longer."
)
def writes_first(reader, beginning, draw, stop, most):
    text = unread = list(beginning)
    while True:
        unread = [int(draw(reader.read(torch.tensor(unread))[-1]))]
        text = text + unread
        if unread == [stop] or len(text) >= most:
            return text


@task.mistake("A `stop` within the beginning ends the text here. Only a generated one ends it.")
def stops_at_once(reader, beginning, draw, stop, most):
    if stop in beginning:
        return list(beginning)
    return cached_generation(reader, beginning, draw, stop, most)


@task.mistake(
    "A `stop` at the end of the beginning ends the text before anything is generated. Only a "
    "generated one ends it: look at the new word, right after it is sampled."
)
def looks_at_the_last_word(reader, beginning, draw, stop, most):
    text = unread = list(beginning)
    while len(text) < most and text[-1] != stop:
        unread = [int(draw(reader.read(torch.tensor(unread))[-1]))]
        text = text + unread
    return text


@task.mistake(
    "The words of the beginning were read one by one, and a word was sampled after each of them. "
    "Sample first when the whole beginning is read."
)
def sampled_early(reader, beginning, draw, stop, most):
    text = list(beginning)
    for word in beginning:
        newest = int(draw(reader.read(torch.tensor([word]))[-1]))
    while len(text) < most:
        text.append(newest)
        if newest == stop or len(text) == most:
            break
        newest = int(draw(reader.read(torch.tensor([newest]))[-1]))
    return text


@task.harness
def harness(answer, rows, beginning, lucky, stop, most):
    """A reader whose logits depend on all that it has read; the text, and what was read for it."""
    import torch

    class Reader:
        def __init__(self):
            self.state, self.words = 1, 0

        def read(self, tokens):
            if not isinstance(tokens, torch.Tensor) or tokens.dim() != 1:
                raise ValueError("read takes a tensor of ids, of shape (n,)")
            found = []
            for word in tokens.tolist():
                self.state = (5 * self.state + word + 1) % len(rows)
                self.words += 1
                found.append(rows[self.state])
            return torch.stack(found)

    numbers = list(lucky)

    def draw(logits):
        if logits.shape != rows.shape[1:]:
            raise ValueError(f"draw takes the logits of one word, (vocab,), not {logits.shape}")
        if not numbers:
            raise ValueError("draw is called more often than there are words to generate")
        return int(logits.argsort(descending=True)[numbers.pop(0)])

    reader = Reader()
    text = answer(reader, beginning, draw, stop, most)
    if text is None:
        return None
    return {"text": [int(word) for word in text], "words read": reader.words}


@task.cases
def cases(seed):
    """A short text; a stop; a stop within the beginning or at its end; nothing to be written."""
    generator = torch.Generator().manual_seed(seed)
    found = []
    for T, most, where, inside, note in (
        (2, 6, None, None, "a beginning of 2 words, 6 in all"),
        (3, 9, 2, None, "the third generated word is `stop`"),
        (4, 8, None, 1, "`stop` occurs in the beginning"),
        (2, 5, None, -1, "the beginning ends with `stop`"),
        (3, 3, None, None, "a beginning that already has all the words"),
        (5, 3, None, None, "a beginning that is longer than `most`"),
        (1, 12, 6, None, "a beginning of one word"),
    ):
        while True:
            rows = torch.randn(37, 9, generator=generator, dtype=torch.float64)
            beginning = torch.randint(1, 9, (T,), generator=generator).tolist()
            lucky = torch.randint(0, 3, (20,), generator=generator).tolist()
            text = harness(cached_generation, rows, beginning, lucky, 0, most)["text"]
            written = text[T:]
            if 0 in written or len(set(written)) < min(3, most - T):
                continue
            stop = 0 if inside is None else beginning[inside]
            if where is not None:
                stop = written[where]
                if stop in written[:where] or stop in beginning:
                    continue
            elif stop in written or (inside == 1 and stop == beginning[-1]):
                continue
            break
        kind = "edge cases" if where is None and len(found) > 1 else "ordinary cases"
        found.append(Case((rows, beginning, lucky, stop, most), note, kind=kind))
    return found


@task.diagnostic
def reading(args, result):
    """Whether the text is right, and the reading is not."""
    right, most = harness(cached_generation, *args), args[-1]
    if len(args[1]) > most and result["text"] == right["text"][:most]:
        return "A beginning of more than `most` words was cut. Return it as it is."
    if result["text"] == right["text"]:
        came, want = result["words read"], right["words read"]
        if came < want:
            return f"The text is right, here. But only {came} words were read for it, not {want}."
        return f"The text is right. But {came} words were read for it; {want} are enough."
    pairs = enumerate(zip(result["text"], right["text"], strict=False))
    first = next((i for i, (came, want) in pairs if came != want), None)
    if first is None:
        return None
    read, due = result["words read"], right["words read"]
    said = (
        f"The word at position {first} of the text (counted from 0) is {result['text'][first]}; "
        f"expected {right['text'][first]}."
    )
    return said if read == due else f"{said} In all, {read} words were read; expected {due}."
