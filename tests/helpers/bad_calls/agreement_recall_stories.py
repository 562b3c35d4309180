"""What `helpers.data` refuses, and in which words."""

import torch

from helpers.data import agreement, recall, stories
from helpers.results import store
from helpers.tokens import Vocabulary, next_word_batch
from tests.helpers.bad_call import generator

CASES = {
    Vocabulary: [
        (
            lambda: Vocabulary(["a", "b", "a"]),
            "words: got ['a'] more than once; needed different words",
        ),
        (
            lambda: Vocabulary(["the", "Hague"]),
            "words: got capital letters in ['Hague']; needed words in lower case",
        ),
        (
            lambda: Vocabulary(["a"]).encode("a b"),
            "text: got the unknown words ['b']; needed words of the vocabulary",
        ),
        (lambda: Vocabulary(["a"]).decode([2]), "ids: got [2]; needed numbers from 0 to 1"),
    ],
    agreement.agreement_batch: [
        (lambda: agreement.agreement_batch(0, 1, generator), "batch: got 0; needed at least 1"),
        (
            lambda: agreement.agreement_batch(1, (2, 1), generator),
            "attractors: got (2, 1); needed 0 <= least <= greatest",
        ),
        (
            lambda: agreement.agreement_batch(1, -1, generator),
            "attractors: got -1; needed 0 <= least <= greatest",
        ),
    ],
    recall.two_relations_batch: [
        (lambda: recall.two_relations_batch(0, 4, generator), "batch: got 0; needed at least 1"),
        (lambda: recall.two_relations_batch(1, 1, generator), "length: got 1; needed at least 2"),
        (
            lambda: recall.two_relations_batch(1, 4, generator, n_symbols=1),
            "n_symbols: got 1; needed at least 2",
        ),
    ],
    stories.scene: [(lambda: next(stories.scene(-1)), "attractors: got -1; needed at least 0")],
    stories.tell_stories: [
        (lambda: stories.tell_stories(0, generator), "n: got 0; needed at least 1")
    ],
    stories.story_probabilities: [
        (lambda: stories.story_probabilities([-1]), "ids: got [-1]; needed numbers from 0 to"),
    ],
    stories.story_text: [
        (lambda: stories.story_text([10_000]), "ids: got [10000]; needed numbers from 0 to"),
    ],
    next_word_batch: [
        (
            lambda: next_word_batch(torch.tensor([1, 2])),
            "tokens: got shape (2,); needed shape (batch, T)",
        ),
    ],
    store.stored: [
        (lambda: store.stored("nothing"), "name: got 'nothing'; needed one of ["),
    ],
    recall.first_token_recall_batch: [
        (
            lambda: recall.first_token_recall_batch(0, 5, generator),
            "batch: got 0; needed at least 1",
        ),
        (
            lambda: recall.first_token_recall_batch(1, 1, generator),
            "length: got 1; needed at least 2: a symbol and a question",
        ),
        (
            lambda: recall.first_token_recall_batch(1, 5, generator, n_symbols=1),
            "n_symbols: got 1; needed at least 2",
        ),
    ],
    recall.associative_recall_batch: [
        (
            lambda: recall.associative_recall_batch(0, 5, generator),
            "batch: got 0; needed at least 1",
        ),
        (
            lambda: recall.associative_recall_batch(1, 65, generator),
            "n_pairs: got 65; needed 1 to n_keys = 64: keys differ",
        ),
        (
            lambda: recall.associative_recall_batch(1, 5, generator, n_values=0),
            "n_values: got 0; needed at least 1",
        ),
    ],
}

CANNOT_FAIL = {
    store.course_prose: "has no argument",
    stories.storyteller: "has no argument",
}
