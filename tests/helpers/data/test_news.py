"""The news of lecture 11: what its texts hold, and what the counter of facts counts."""

from dataclasses import astuple

import pytest
import torch

from helpers.data.news import (
    FACT_WORDS,
    KNOWN_NAMES,
    LONG_AGO,
    RARE_NAMES,
    SORTS,
    UNSEEN_NAMES,
    Facts,
    count_facts,
    joined,
    syllables,
    tell_news,
    words_of,
)


def sample_news(n=200, seed=0, names="known", **options):
    return tell_news(n, torch.Generator().manual_seed(seed), names, **options)


def test_name_groups_share_only_syllables():
    groups = [set(group) for group in (KNOWN_NAMES, RARE_NAMES, UNSEEN_NAMES)]
    assert [len(group) for group in groups] == [48, 48, 48]
    assert len(set.union(*groups)) == 144
    pieces = [{piece for name in group for piece in syllables(name)} for group in groups]
    assert pieces[0] == pieces[1] == pieces[2]


def test_sorts_share_no_word():
    assert len(FACT_WORDS) == sum(len(words) for words in SORTS.values())


@pytest.mark.parametrize("names", ["known", "mixed", "unseen"])
def test_text_tells_both_events_and_summary_one(names):
    for item in sample_news(names=names):
        words = words_of(item.text)
        assert set(astuple(item.event)) <= set(words)
        assert set(astuple(item.other)) <= set(words)
        assert not set(astuple(item.event)) & set(astuple(item.other))
        assert set(words_of(item.summary)) & FACT_WORDS == set(astuple(item.event))
        assert len(item.sentences) == 6
        assert all(sentence.count(".") == 1 for sentence in item.sentences)


def test_only_the_other_event_is_long_ago():
    for item in sample_news():
        for sentence in item.sentences:
            old = sentence.startswith(LONG_AGO)
            assert old == (item.other.who in sentence)
            assert not (old and item.event.who in sentence)


def test_names_come_from_the_group_asked_for():
    def seen(names):
        return {w for item in sample_news(names=names) for w in words_of(item.text)} & set(
            SORTS["who"]
        )

    assert seen("known") <= set(KNOWN_NAMES)
    assert seen("unseen") <= set(UNSEEN_NAMES)
    mixed = seen("mixed")
    assert mixed & set(RARE_NAMES)
    assert not mixed & set(UNSEEN_NAMES)


@pytest.mark.parametrize(("share", "low", "high"), [(0.0, 0, 0), (1.0, 1, 1), (2 / 3, 0.6, 0.73)])
def test_how_often_the_news_comes_first(share, low, high):
    items = sample_news(600, news_first=share)
    first = sum(item.event.who in words_of(item.sentences[0]) for item in items) / 600
    assert low <= first <= high


def test_the_same_seed_tells_the_same():
    assert sample_news(5) == sample_news(5)
    assert sample_news(5) != sample_news(5, seed=1)


def test_facts_are_counted():
    (item,) = sample_news(1)
    right, other = item.event, item.other
    strange = next(name for name in UNSEEN_NAMES if name not in item.text)
    assert count_facts(item.summary, item) == Facts(5, 0, 0, 0)
    assert count_facts("", item) == Facts(0, 5, 0, 0)
    assert count_facts("nothing happened .", item) == Facts(0, 5, 0, 0)
    assert count_facts(item.text, item).kept == 5
    assert count_facts(item.text, item).strayed == 8  # 5 of long ago, a name, a city, a day
    assert count_facts(f"{right.who} {other.did}", item) == Facts(1, 4, 1, 0)
    assert count_facts(f"{right.who.upper()} and {strange} ,", item) == Facts(1, 4, 0, 1)
    assert count_facts(f"{right.who} {right.who}", item) == Facts(1, 4, 0, 0)


def test_pieces_are_joined_again():
    for name in SORTS["who"]:
        assert joined(" ".join(syllables(name))) == name
    assert joined("ma ra sold a ship") == "mara sold a ship"
    assert syllables("bridge") == ("bridge",)
