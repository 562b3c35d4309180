"""What `helpers.data` refuses, and in which words."""

import pytest
import torch
from errors import assert_refused, calls, generator, never_refused

from helpers import data

CASES = {
    data.Vocabulary: [
        (
            lambda: data.Vocabulary(["a", "b", "a"]),
            "words: got ['a'] more than once; needed different words",
        ),
        (
            lambda: data.Vocabulary(["a"]).encode("a b"),
            "text: got the unknown words ['b']; needed words of the vocabulary",
        ),
        (lambda: data.Vocabulary(["a"]).decode([2]), "ids: got [2]; needed numbers from 0 to 1"),
    ],
    data.agreement_batch: [
        (lambda: data.agreement_batch(0, 1, generator), "batch: got 0; needed at least 1"),
        (
            lambda: data.agreement_batch(1, (2, 1), generator),
            "attractors: got (2, 1); needed 0 <= least <= greatest",
        ),
        (
            lambda: data.agreement_batch(1, -1, generator),
            "attractors: got -1; needed 0 <= least <= greatest",
        ),
    ],
    data.two_relations_batch: [
        (lambda: data.two_relations_batch(0, 4, generator), "batch: got 0; needed at least 1"),
        (lambda: data.two_relations_batch(1, 1, generator), "length: got 1; needed at least 2"),
        (
            lambda: data.two_relations_batch(1, 4, generator, n_symbols=1),
            "n_symbols: got 1; needed at least 2",
        ),
    ],
    data.scene: [(lambda: next(data.scene(-1)), "attractors: got -1; needed at least 0")],
    data.tell_stories: [(lambda: data.tell_stories(0, generator), "n: got 0; needed at least 1")],
    data.story_probabilities: [
        (lambda: data.story_probabilities([-1]), "ids: got [-1]; needed numbers from 0 to"),
    ],
    data.story_text: [
        (lambda: data.story_text([10_000]), "ids: got [10000]; needed numbers from 0 to"),
    ],
    data.next_word_batch: [
        (
            lambda: data.next_word_batch(torch.tensor([1, 2])),
            "tokens: got shape (2,); needed shape (batch, T)",
        ),
    ],
    data.stored: [
        (lambda: data.stored("nothing"), "name: got 'nothing'; needed one of ["),
    ],
    data.first_token_recall_batch: [
        (lambda: data.first_token_recall_batch(0, 5, generator), "batch: got 0; needed at least 1"),
        (
            lambda: data.first_token_recall_batch(1, 1, generator),
            "length: got 1; needed at least 2: a symbol and a question",
        ),
        (
            lambda: data.first_token_recall_batch(1, 5, generator, n_symbols=1),
            "n_symbols: got 1; needed at least 2",
        ),
    ],
    data.associative_recall_batch: [
        (lambda: data.associative_recall_batch(0, 5, generator), "batch: got 0; needed at least 1"),
        (
            lambda: data.associative_recall_batch(1, 65, generator),
            "n_pairs: got 65; needed 1 to n_keys = 64: keys differ",
        ),
        (
            lambda: data.associative_recall_batch(1, 5, generator, n_values=0),
            "n_values: got 0; needed at least 1",
        ),
    ],
}

CANNOT_FAIL = {
    data.course_prose: "has no argument",
    data.storyteller: "has no argument",
}


@pytest.mark.parametrize(("call", "message"), calls(CASES))
def test_bad_call(call, message):
    assert_refused(call, message)


def test_every_public_function_has_a_bad_call():
    assert never_refused(data, CASES, CANNOT_FAIL) == []
