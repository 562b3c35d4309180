"""What `helpers.data.questions` refuses, and in which words."""

import torch

from helpers.data import questions

generator = torch.Generator().manual_seed(0)
with_answer = questions.ask(generator)
drawn = [questions.ask(generator, unanswerable=0.5) for _ in range(20)]
without = next(a for a in drawn if not a.answer)
replaced = next(a for a in drawn if a.answer)

CASES = {
    questions.ask: [
        (
            lambda: questions.ask(generator, "new"),
            "names: got 'new'; needed 'known' or 'unseen'",
        ),
        (
            lambda: questions.ask(generator, unanswerable=0.6),
            "unanswerable: got 0.6; needed a share from 0 to 0.5",
        ),
    ],
    questions.reading_batch: [
        (lambda: questions.reading_batch(0, generator), "batch: got 0; needed at least 1"),
    ],
    questions.to_batch: [(lambda: questions.to_batch([]), "asked: got none; needed at least one")],
    questions.exchanged: [
        (lambda: questions.exchanged(with_answer, 2), "cue: got 2; needed 0 or 1"),
        (
            lambda: questions.exchanged(without, 0),
            "question: got one without an answer; needed one that has one",
        ),
        (
            lambda: questions.exchanged(replaced, 0),
            "asked: got a context with a cue replaced; needed one as `ask` draws it",
        ),
    ],
    questions.sides: [
        (
            lambda: questions.sides(with_answer, (-1, 2)),
            "span: got first place -1; needed a place from 0 to",
        ),
        (
            lambda: questions.sides(without, (1, 1)),
            "asked: got a question without an answer; needed one that has one",
        ),
    ],
}

CANNOT_FAIL = {
    questions.Asked: "holds what it is given",
    questions.in_english: "takes any words",
}
