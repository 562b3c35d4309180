"""What `helpers.facts` refuses, and in which words."""

import pytest
import torch
from errors import assert_refused, calls, never_refused

from helpers import facts

generator = torch.Generator().manual_seed(0)

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
}

CANNOT_FAIL = {facts.Asked: "holds what it is given"}


@pytest.mark.parametrize(("call", "message"), calls(CASES))
def test_bad_call(call, message):
    assert_refused(call, message)


def test_every_public_function_has_a_bad_call():
    assert never_refused(facts, CASES, CANNOT_FAIL) == []
