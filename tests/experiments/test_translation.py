"""Clauses of a Kannada sentence are counted between its conjunctions."""

import torch

from experiments.translation import clauses_of
from helpers.data.kannada import AND, sentences


def test_clauses_of_a_sentence():
    assert clauses_of(("a", "b", AND, "c", AND)) == [("a", "b"), ("c",), ()]
    for pair in sentences(20, 4, torch.Generator().manual_seed(0)):
        assert len(clauses_of(pair.target)) == 4
