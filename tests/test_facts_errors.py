"""What `helpers.facts` refuses, and in which words."""

import pytest
import torch
from errors import assert_refused, calls, never_refused

from helpers import facts

generator = torch.Generator().manual_seed(0)
with_answer = facts.ask(generator)
drawn = [facts.ask(generator, unanswerable=0.5) for _ in range(20)]
without = next(a for a in drawn if not a.answer)
replaced = next(a for a in drawn if a.answer)

CASES = {
    facts.ask: [
        (
            lambda: facts.ask(generator, "new"),
            "names: got 'new'; needed 'known' or 'unseen'",
        ),
        (
            lambda: facts.ask(generator, unanswerable=0.6),
            "unanswerable: got 0.6; needed a share from 0 to 0.5",
        ),
    ],
    facts.reading_batch: [
        (lambda: facts.reading_batch(0, generator), "batch: got 0; needed at least 1"),
    ],
    facts.to_batch: [(lambda: facts.to_batch([]), "asked: got none; needed at least one")],
    facts.exchanged: [
        (lambda: facts.exchanged(with_answer, 2), "cue: got 2; needed 0 or 1"),
        (
            lambda: facts.exchanged(without, 0),
            "question: got one without an answer; needed one that has one",
        ),
        (
            lambda: facts.exchanged(replaced, 0),
            "asked: got a context with a cue replaced; needed one as `ask` draws it",
        ),
    ],
    facts.sides: [
        (
            lambda: facts.sides(with_answer, (-1, 2)),
            "span: got first place -1; needed a place from 0 to",
        ),
        (
            lambda: facts.sides(without, (1, 1)),
            "asked: got a question without an answer; needed one that has one",
        ),
    ],
}

CANNOT_FAIL = {facts.Asked: "holds what it is given"}


@pytest.mark.parametrize(("call", "message"), calls(CASES))
def test_bad_call(call, message):
    assert_refused(call, message)


def test_every_public_function_has_a_bad_call():
    assert never_refused(facts, CASES, CANNOT_FAIL) == []
