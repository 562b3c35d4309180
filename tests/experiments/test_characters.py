"""The baselines of the character-level model: tables that count are distributions, too."""

import math

import pytest

from experiments.characters import NGrams, longest_copy
from helpers.data.shakespeare import characters

TEXT = "the tenth then that the hat " * 3


@pytest.mark.parametrize("context", ["", "t", "th", "the", "zz", "xth"])
def test_probabilities_sum_to_one(context):
    counted = NGrams(TEXT, 4)
    total = sum(counted.probability(context, c, a=2.0) for c in characters())
    assert total == pytest.approx(1)


def test_smoothing_is_a_weighted_count():
    counted = NGrams("abab", 2)
    one = (2 + 1.0 / 65) / (4 + 1.0)  # a: 2 of 4 characters
    assert counted.probability("", "a", 1.0) == pytest.approx(one)
    assert counted.probability("b", "a", 1.0) == pytest.approx((1 + one) / (1 + 1.0))
    assert counted.probability("x", "a", 1.0) == pytest.approx(one)  # never seen: one shorter


def test_loss_falls_with_the_order():
    counted = NGrams(TEXT, 4)
    losses = [counted.loss(TEXT, order, 0.5) for order in (1, 2, 3, 4)]
    assert losses == sorted(losses, reverse=True)
    p = [counted.probability(TEXT[i - 1], TEXT[i], 0.5) for i in range(1, len(TEXT))]
    assert counted.loss(TEXT, 2, 0.5) == pytest.approx(-sum(map(math.log, p)) / len(p))


def test_longest_copy():
    assert longest_copy("a sea of trouble", "take arms against a sea of woes") == len("a sea of ")
    assert longest_copy("xyz", "abc") == 0
