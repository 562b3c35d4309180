"""What `helpers.data.kannada` refuses, and in which words."""

import torch

from helpers.data import kannada
from helpers.viz import transliteration
from tests.helpers.bad_call import generator

CASES = {
    kannada.conjugate: [
        (lambda: kannada.conjugate("eat", "1 sg", True), "verb: got 'eat'; needed one of ['see'"),
        (lambda: kannada.conjugate("see", "2 sg", True), "agreement: got '2 sg'; needed one of"),
    ],
    kannada.sentences: [
        (lambda: kannada.sentences(0, 1, generator), "n: got 0; needed at least 1"),
        (
            lambda: kannada.sentences(1, (2, 1), generator),
            "clauses: got (2, 1); needed 1 <= least <= greatest",
        ),
        (
            lambda: kannada.sentences(1, 0, generator),
            "clauses: got 0; needed 1 <= least <= greatest",
        ),
    ],
    kannada.translation_batch: [
        (lambda: kannada.translation_batch([]), "pairs: got none; needed at least one"),
    ],
    kannada.encode: [
        (
            lambda: kannada.encode(kannada.ENGLISH, ["she", "eats"]),
            "words: got the unknown ['eats']; needed words of the vocabulary",
        ),
    ],
    kannada.words_of: [
        (lambda: kannada.words_of(torch.tensor([999])), "ids: got [999]; needed numbers from 0 to"),
    ],
    kannada.gloss: [
        (lambda: kannada.gloss("see"), "word: got 'see'; needed a Kannada word of the fragment"),
    ],
    kannada.is_held_out: [
        (lambda: kannada.is_held_out("see", "cow"), "noun: got 'cow'; needed one of ['boy'"),
        (lambda: kannada.is_held_out("eat", "boy"), "verb: got 'eat'; needed one of ['see'"),
    ],
}
CANNOT_FAIL = {
    kannada.Sentence: "holds what was drawn",
    kannada.plural: "adds an s to any word",
    transliteration.transliterate: "leaves what is not Kannada as it is",
    transliteration.to_html: "shows any words",
    transliteration.show_sentences: "shows any words",
}
