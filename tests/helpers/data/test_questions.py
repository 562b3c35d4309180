"""Contexts hold what their questions ask for, once and in one sentence; no shortcut is left."""

from collections import Counter

import pytest
import torch

from helpers.data.questions import (
    FACTS_VOCABULARY,
    FIRST,
    KINDS,
    LAST,
    NAMES,
    NO_ANSWER,
    TOWNS,
    ask,
    exchanged,
    in_english,
    reading_batch,
    sides,
    to_batch,
)
from helpers.tokens import PAD


def draw(n, seed=0, **how):
    generator = torch.Generator().manual_seed(seed)
    return [ask(generator, **how) for _ in range(n)]


def cues(asked):
    """Which kinds a question names, and for each sentence which of these it says."""
    said = " ".join(asked.question)
    found = []
    for values in asked.values:
        texts = {k: " ".join(asked.context[s : e + 1]) for k, (s, e) in values.items()}
        found.append({k for k, text in texts.items() if f" {text} " in f" {said} "})
    return found


@pytest.mark.parametrize("names", ["known", "unseen"])
def test_the_answer_stands_where_both_cues_do(names):
    for asked in draw(300, names=names):
        by_sentence = cues(asked)
        counts = sorted(map(len, by_sentence))
        assert counts == [0, 1, 1, 2]  # each cue in two sentences, both in one
        own = asked.values[[len(c) for c in by_sentence].index(2)]
        assert own[asked.kind] == asked.span and asked.kind == asked.question[0]
        assert asked.answer


def test_values_of_the_asked_kind_differ():
    for asked in draw(300):
        texts = [asked.context[v[asked.kind][0] : v[asked.kind][1] + 1] for v in asked.values]
        assert len(set(texts)) == 4 and all(set(v) == set(KINDS) for v in asked.values)


def test_unanswerable_cues_are_in_different_sentences():
    """A cue is replaced as often with an answer as without one, so counting cues does not help."""
    replaced = Counter()
    for asked in draw(2000, unanswerable=0.25):
        by_sentence = cues(asked)
        most = max(map(len, by_sentence))
        assert most == (2 if asked.answer else 1)
        if not asked.answer:
            assert asked.span == (0, 0)
        if sum(map(len, by_sentence)) == 3:  # a cue was replaced somewhere
            replaced[bool(asked.answer)] += 1
        else:
            assert asked.answer  # nothing was replaced
    assert 400 < replaced[True] < 600 and 400 < replaced[False] < 600


def test_each_kind_place_and_sentence_is_asked_for():
    drawn = draw(2000)
    kinds = Counter(a.kind for a in drawn)
    assert set(kinds) == set(KINDS) and min(kinds.values()) > 400
    sentences = Counter(
        a.values.index(next(v for v in a.values if v[a.kind] == a.span)) for a in drawn
    )
    assert min(sentences[i] for i in range(4)) > 400


def test_unseen_names_are_unseen():
    known = {w for a in draw(500) for w in (*a.context, *a.question)}
    unseen = {w for a in draw(500, names="unseen") for w in a.context}
    for part in (FIRST, LAST, TOWNS):
        assert not set(part["unseen"]) & known and not set(part["known"]) & unseen
        assert not set(part["unseen"]) & set(part["known"])
    assert len(NAMES) == len(set(NAMES))
    assert {FACTS_VOCABULARY.ids["alma"], FACTS_VOCABULARY.ids["ada"]} <= set(NAMES)


def test_batch_pads_right_and_targets_point_at_answers():
    asked = draw(20)
    (contexts, questions), targets = to_batch(asked)
    for row, q, (first, last), a in zip(contexts, questions, targets.tolist(), asked, strict=True):
        words = [FACTS_VOCABULARY.words[i] for i in row]
        assert tuple(words[: len(a.context)]) == a.context and words[0] == NO_ANSWER
        assert set(words[len(a.context) :]) <= {FACTS_VOCABULARY.words[PAD]}
        assert " ".join(words[first : last + 1]) == a.answer
        assert (q != PAD).sum() == len(a.question)


def test_the_generator_decides():
    one, two = (reading_batch(8, torch.Generator().manual_seed(3)) for _ in range(2))
    assert torch.equal(one[0][0], two[0][0]) and torch.equal(one[1], two[1])
    other = reading_batch(8, torch.Generator().manual_seed(4))
    assert one[0][0].shape != other[0][0].shape or not torch.equal(one[0][0], other[0][0])


@pytest.mark.parametrize("cue", [0, 1])
def test_exchanged_cue_asks_for_another_sentence(cue):
    """The text and the kind of value stay; exchanging again restores the question."""
    for asked in draw(300):
        other = exchanged(asked, cue)
        assert other.context == asked.context and other.kind == asked.kind == other.question[0]
        assert other.sentence is not asked.sentence and other.answer != asked.answer
        by_sentence = cues(other)
        assert sorted(map(len, by_sentence)) == [0, 1, 1, 2]
        assert other.values[[len(c) for c in by_sentence].index(2)] is other.sentence
        assert exchanged(other, cue) == asked  # and back


def test_the_two_cues_lead_to_two_other_sentences():
    for asked in draw(100):
        one, two = (exchanged(asked, cue).sentence for cue in (0, 1))
        assert one is not two


def test_sides_tell_kind_from_sentence():
    for asked in draw(100):
        for values in asked.values:
            for kind, span in values.items():
                expected = (kind == asked.kind, values is asked.sentence)
                assert sides(asked, span) == expected
        assert sides(asked, (0, 0)) == (False, False)


def test_in_english_writes_capitals():
    words = "on 3 may ada brook hid a red key in lima . who hid it ?".split()
    assert in_english(words) == "On 3 May Ada Brook hid a red key in Lima. Who hid it?"
    assert in_english(["red", "key"], sentences=False) == "red key"
    assert in_english(["ada", "brook"], sentences=False) == "Ada Brook"
