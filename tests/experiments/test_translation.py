"""Clauses are counted between conjunctions, and a narrowed state keeps its first numbers."""

import torch
from torch import nn

from experiments.bottleneck import NarrowEncoder
from experiments.translation import clauses_of
from helpers.data.kannada import AND, sentences


def test_clauses_of_a_sentence():
    assert clauses_of(("a", "b", AND, "c", AND)) == [("a", "b"), ("c",), ()]
    for pair in sentences(20, 4, torch.Generator().manual_seed(0)):
        assert len(clauses_of(pair.target)) == 4


def test_a_narrow_encoder_changes_only_the_last_state():
    """Its other states are the LSTM's; of the last one, all but the first numbers are zero."""
    lstm, x = nn.LSTM(5, 5, batch_first=True), torch.randn(3, 4, 5)
    states, last = lstm(x)
    for kept in (2, 5):
        found, narrowed = NarrowEncoder(lstm, kept)(x)
        assert found.equal(states)
        for whole, part in zip(last, narrowed, strict=True):
            assert part[..., :kept].equal(whole[..., :kept]) and not part[..., kept:].any()
