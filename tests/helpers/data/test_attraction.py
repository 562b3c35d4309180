"""The sentences of lecture 13: what stands between subject and verb, and in which number."""

import pytest

from helpers.data import attraction

FORMS = {
    form: (i, number) for i, pair in enumerate(attraction.NOUNS) for number, form in enumerate(pair)
}


def numbers(text):
    return [FORMS[word] for word in text.split() if word in FORMS]


@pytest.mark.parametrize("opposing", [False, True])
@pytest.mark.parametrize("attractors", [0, 1, 3])
def test_numbers_are_as_asked(attractors, opposing):
    for one in attraction.sentences(40, attractors, opposing=opposing, seed=3):
        subject, *others = numbers(one.text)
        assert subject[1] == one.plural and len(others) == attractors
        assert all((number != one.plural) == opposing for _, number in others)
        assert len({noun for noun, _ in [subject, *others]}) == attractors + 1


def test_twins_differ_in_the_subject_alone():
    for one in attraction.sentences(40, 2, seed=4):
        ours, theirs = one.text.split(), one.twin.split()
        differ = [(a, b) for a, b in zip(ours, theirs, strict=True) if a != b]
        assert [FORMS[a][0] == FORMS[b][0] for a, b in differ] == [True]
        assert numbers(one.text)[0][1] != numbers(one.twin)[0][1]


def test_clauses_and_frames():
    text = attraction.sentences(1, 1, kind="clause", plural=True, frame=attraction.FRAMES[1])[
        0
    ].text
    assert text.startswith("Yesterday I noticed that the ") and " that the " in text[25:]
    assert attraction.sentences(1, 0)[0].text.startswith("The ")


def test_a_person_in_the_phrase_and_other_nouns():
    """The control of a relative clause: the same kind of noun, and no clause."""
    for some in attraction.sentences(20, 1, kind="person", plural=True, seed=3):
        *_, place, _, person = some.text.split()
        assert place in attraction.PREPOSITIONS
        assert person in {singular for singular, _ in attraction.PEOPLE}
    new = dict(attraction.OTHER_NOUNS)
    assert len(new) == 20 and not new.keys() & dict(attraction.NOUNS).keys()
    for some in attraction.sentences(20, 2, plural=False, nouns=attraction.OTHER_NOUNS):
        _, subject, *rest = some.text.split()
        assert subject in new and {rest[2], rest[5]} <= set(new.values())
    other = attraction.OTHER_PREPOSITIONS
    assert len(other) == 4 and not set(other) & set(attraction.PREPOSITIONS)
    for some in attraction.sentences(20, 2, prepositions=other):
        _, _, first, _, _, second, *_ = some.text.split()
        assert {first, second} <= set(other)


def test_sentences_balance_number_and_follow_the_seed():
    """Half of the subjects are plural."""
    found = attraction.sentences(10, 1, seed=5)
    assert sum(s.plural for s in found) == 5
    assert found == attraction.sentences(10, 1, seed=5) != attraction.sentences(10, 1, seed=6)


@pytest.mark.parametrize(
    ("how", "said"),
    [
        ({"n": 0, "attractors": 1}, "n: got 0"),
        ({"n": 1, "attractors": -1}, "attractors: got -1"),
        ({"n": 1, "attractors": 2, "kind": "clause"}, "2 with kind 'clause'"),
        ({"n": 1, "attractors": 1, "kind": "song"}, "kind: got 'song'"),
    ],
)
def test_what_is_refused(how, said):
    with pytest.raises(ValueError, match=said):
        attraction.sentences(**how)


def test_texts_of_one_length_go_together():
    assert attraction.by_length([[1, 2], [3], [4, 5]]) == {2: [0, 2], 1: [1]}
