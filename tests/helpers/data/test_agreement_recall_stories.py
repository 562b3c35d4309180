"""The generated tasks are what their docstrings promise, by rules that share no code with them."""

import functools
import json
import re
from collections import Counter

import pytest
import torch

from helpers.data import agreement, stories
from helpers.data.agreement import AGREEMENT_VOCABULARY, agreement_batch
from helpers.data.recall import (
    associative_recall_batch,
    first_token_recall_batch,
    two_relations_batch,
)
from helpers.data.stories import STORY_VOCABULARY, story_text, tell_stories
from helpers.results import store
from helpers.results.store import stored
from helpers.tokens import IGNORE_INDEX, Vocabulary, next_word_batch, shift_right
from tools import prose

WORDS, STORIES = AGREEMENT_VOCABULARY, STORY_VOCABULARY
OPENING = "The letters in the drawer under the lamp that hums ___ unopened."
SINGULAR = {singular for singular, _ in agreement.NOUNS}
PLURAL = {plural for _, plural in agreement.NOUNS}
ONE_DOES = {verb for verb, _ in agreement.VERBS}
MANY_DO = {verb for _, verb in agreement.VERBS}


def generator(seed=0):
    return torch.Generator().manual_seed(seed)


@functools.cache
def sentences(*arguments, seed=0, **options):
    """Pairs (words, verb) of a batch, by decoding."""
    tokens, targets = agreement_batch(*arguments, generator(seed), **options)
    verbs = [
        WORDS.words[int(row[WORDS.encode("___").item() == t][0])]
        for row, t in zip(targets, tokens, strict=True)
    ]
    texts = [WORDS.decode(row) for row in tokens]
    return [
        (re.findall(r"\w+|\.", text.lower()), verb) for text, verb in zip(texts, verbs, strict=True)
    ]


def is_plural(noun):
    assert noun in SINGULAR | PLURAL
    return noun in PLURAL


def nouns(words):
    return [word for word in words if word in SINGULAR | PLURAL]


# ----------------------------------------------------------------------------- vocabulary


def test_encode_and_decode_undo_each_other():
    ids = WORDS.encode(OPENING)
    assert ids.dtype == torch.long and ids.shape == (13,)
    assert WORDS.decode(ids) == OPENING
    assert WORDS.decode([*ids.tolist(), 0, 0]) == OPENING, "filler is not shown"
    assert WORDS.decode([]) == ""


def test_ids_start_behind_the_filler():
    small = Vocabulary(["a", "b"])
    assert len(small) == 3 and small.words == ("<pad>", "a", "b")
    assert small.encode("B a").tolist() == [2, 1]


def test_teacher_forcing_stays_on_the_device():
    """`meta` stands for an accelerator: tensors of two devices cannot be joined."""
    rows = [torch.zeros(n, dtype=torch.long, device="meta") for n in (2, 3)]
    (source, begun), ended = shift_right(rows, rows)
    assert {part.device.type for part in (source, begun, ended)} == {"meta"}
    assert source.shape == (2, 3) and begun.shape == ended.shape == (2, 4)


def test_no_word_has_two_roles():
    """A word that is a noun and a verb, or singular and plural, would make labels ambiguous."""
    groups = [
        SINGULAR,
        PLURAL,
        ONE_DOES,
        MANY_DO,
        set(agreement.PREPOSITIONS),
        set(agreement.OUTCOMES),
    ]
    assert len(set.union(*groups)) == sum(map(len, groups))


@pytest.mark.parametrize(
    "name, call",
    [
        ("words", lambda: Vocabulary(["a", "b", "a"])),
        ("words", lambda: Vocabulary(["<pad>"])),
        ("text", lambda: WORDS.encode("the letters in the submarine")),
        ("ids", lambda: WORDS.decode([1, len(WORDS)])),
        ("ids", lambda: WORDS.decode([-1])),
        ("batch", lambda: agreement_batch(0, 1, generator())),
        ("attractors", lambda: agreement_batch(1, -1, generator())),
        ("attractors", lambda: agreement_batch(1, (3, 2), generator())),
        ("batch", lambda: first_token_recall_batch(0, 5, generator())),
        ("length", lambda: first_token_recall_batch(1, 1, generator())),
        ("n_symbols", lambda: first_token_recall_batch(1, 5, generator(), n_symbols=1)),
        ("batch", lambda: associative_recall_batch(0, 2, generator())),
        ("n_pairs", lambda: associative_recall_batch(1, 0, generator())),
        ("n_pairs", lambda: associative_recall_batch(1, 5, generator(), n_keys=4)),
        ("n_values", lambda: associative_recall_batch(1, 2, generator(), n_values=0)),
        ("n", lambda: tell_stories(0, generator())),
        ("ids", lambda: story_text([len(STORIES)])),
        ("name", lambda: stored("no_such_table")),
    ],
)
def test_bad_arguments_are_named(name, call):
    with pytest.raises(ValueError, match=f"^{name}: got .*; needed "):
        call()


# ----------------------------------------------------------------------------- agreement


def test_opening_sentence_has_the_generated_form():
    form = re.compile(
        rf"the (?P<subject>{'|'.join(SINGULAR | PLURAL)})"
        rf"( ({'|'.join(agreement.PREPOSITIONS)}) the \w+( that \w+)?)*"
        rf" ___ ({'|'.join(agreement.OUTCOMES)}) \."
    )
    for words, _ in [(re.findall(r"\w+|\.", OPENING.lower()), ""), *sentences(300, (0, 4))]:
        assert form.fullmatch(" ".join(words)), words


def test_the_verb_agrees_with_the_first_noun():
    for opposing in (False, True):
        for words, verb in sentences(500, (0, 4), opposing=opposing):
            assert verb == ("lie" if is_plural(nouns(words)[0]) else "lies")


def test_clauses_agree_with_the_noun_beside_them():
    seen = 0
    for words, _ in sentences(500, (1, 4)):
        for before, that, verb in zip(words, words[1:], words[2:], strict=False):
            if that == "that":
                seen += 1
                assert verb in (MANY_DO if is_plural(before) else ONE_DOES)
    assert seen > 300


@pytest.mark.parametrize("opposing", [False, True])
def test_number_of_attractors(opposing):
    assert {len(nouns(w)) - 1 for w, _ in sentences(200, 5, opposing=opposing)} == {5}
    counts = [len(nouns(words)) - 1 for words, _ in sentences(2_000, (1, 4), opposing=opposing)]
    assert all(0.2 < counts.count(n) / 2_000 < 0.3 for n in (1, 2, 3, 4))


def test_opposing_means_every_attractor():
    for words, _ in sentences(500, (1, 4), opposing=True):
        subject, *others = map(is_plural, nouns(words))
        assert all(other != subject for other in others)


def test_the_classes_are_balanced():
    verbs = [verb for _, verb in sentences(4_000, (0, 3))]
    assert 0.46 < verbs.count("lie") / 4_000 < 0.54


def share(rule, seed=1):
    """How often a rule of thumb is right on training sentences with at least one attractor."""
    asked = sentences(6_000, (1, 3), seed=seed)
    answers = [(rule(words), verb == "lie") for words, verb in asked]
    answers = [(guess, plural) for guess, plural in answers if guess is not None]
    assert len(answers) > 1_000
    return sum(guess == plural for guess, plural in answers) / len(answers)


def majority_of_attractors(words):
    votes = [is_plural(noun) for noun in nouns(words)[1:]]
    return None if 2 * sum(votes) == len(votes) else 2 * sum(votes) > len(votes)


def last_clause_verb(words):
    verbs = [word for word in words if word in ONE_DOES | MANY_DO]
    return verbs[-1] in MANY_DO if verbs else None


RULES = {
    "nearest noun": lambda words: is_plural(nouns(words)[-1]),
    "opposite of the nearest noun": lambda words: not is_plural(nouns(words)[-1]),
    "second noun": lambda words: is_plural(nouns(words)[1]),
    "majority of the attractors": majority_of_attractors,
    "last verb of a clause": last_clause_verb,
    "ending of the last word": lambda words: words[words.index("___") - 1].endswith("s"),
    "length of the sentence": lambda words: len(words) > 14,
    "outcome": lambda words: words[-2] in agreement.OUTCOMES[:2],
}


@pytest.mark.parametrize("rule", RULES.values(), ids=RULES)
def test_there_is_no_shortcut_in_training(rule):
    """Standard deviation of a share over 1,000 to 6,000 sentences: at most 0.016."""
    assert 0.45 < share(rule) < 0.55


def test_the_measure_of_shortcuts_sees_the_right_rule():
    assert share(lambda words: is_plural(nouns(words)[0])) == 1.0


def test_only_the_gap_is_asked_or_every_word():
    tokens, gap_only = agreement_batch(50, (0, 3), generator())
    same_tokens, every_word = agreement_batch(50, (0, 3), generator(), every_word=True)
    assert tokens.equal(same_tokens)
    at_gap = tokens == WORDS.ids["___"]
    assert (at_gap.sum(dim=1) == 1).all()
    assert (gap_only != IGNORE_INDEX).equal(at_gap)
    assert every_word[at_gap].equal(gap_only[at_gap])
    for row, target in zip(tokens.tolist(), every_word.tolist(), strict=True):
        length = sum(token != 0 for token in row)
        assert all(token == 0 for token in row[length:]), "filler stands on the right"
        assert set(target[length - 1 :]) == {IGNORE_INDEX}, (
            "nothing is asked at the end or in filler"
        )
        for t in range(length - 1):
            assert row[t] == WORDS.ids["___"] or target[t] == row[t + 1]


# ----------------------------------------------------------------------------- recall


def test_first_token_recall():
    tokens, targets = first_token_recall_batch(400, 9, generator(), n_symbols=5)
    assert tokens.shape == targets.shape == (400, 9)
    assert targets[:, -1].equal(tokens[:, 0]) and (targets[:, :-1] == IGNORE_INDEX).all()
    assert set(tokens[:, 0].tolist()) == set(range(5))
    assert set(tokens[:, 1:-1].flatten().tolist()) == set(range(5, 10))
    assert set(tokens[:, -1].tolist()) == {10}


def test_filler_says_nothing_about_the_symbol():
    tokens, _ = first_token_recall_batch(4_000, 6, generator(), n_symbols=4)
    for column in range(1, 5):
        assert 0.22 < (tokens[:, column] - 4 == tokens[:, 0]).double().mean() < 0.28


def test_associative_recall_asks_each_key_once():
    """The target of each question is the value that stands after its key."""
    tokens, targets = associative_recall_batch(200, 6, generator(), n_keys=9, n_values=5)
    assert tokens.shape == targets.shape == (200, 18)
    assert (targets[:, :12] == IGNORE_INDEX).all()
    for row, target in zip(tokens.tolist(), targets.tolist(), strict=True):
        facts = dict(zip(row[0:12:2], row[1:12:2], strict=True))
        assert len(facts) == 6 and all(0 <= key < 9 for key in facts)
        assert all(9 <= value < 14 for value in facts.values())
        assert sorted(row[12:]) == sorted(facts)
        assert [9 + value for value in target[12:]] == [facts[key] for key in row[12:]]


def test_associative_recall_has_no_order_shortcut():
    """Neither "the i-th question belongs to the j-th pair" nor a favourite value helps."""
    tokens, targets = associative_recall_batch(4_000, 4, generator(), n_keys=8, n_values=8)
    values = tokens[:, 1:8:2] - 8
    for i in range(4):
        for j in range(4):
            chance = 1 / 4 + 3 / 4 / 8
            assert abs((targets[:, 8 + i] == values[:, j]).double().mean() - chance) < 0.04
    assert 0.10 < (targets[:, 8:] == 3).double().mean() < 0.15


# ----------------------------------------------------------------------------- two relations


def test_two_relations_asks_the_second_half_for_both():
    tokens, targets = two_relations_batch(200, 8, generator(), n_symbols=6)
    assert tokens.shape == (200, 8) and targets.shape == (200, 16)
    for row, target in zip(tokens.tolist(), targets.view(200, 2, 8).tolist(), strict=True):
        symbols, flagged = [i % 6 for i in row], [t for t in range(8) if row[t] >= 6]
        assert len(flagged) == 1 and flagged[0] < 4 and max(row) < 12
        assert target[0] == [IGNORE_INDEX] * 4 + symbols[3:7]
        assert target[1] == [IGNORE_INDEX] * 4 + [symbols[flagged[0]]] * 4


def test_two_relations_has_no_shortcut():
    """The flag stands anywhere in the first half, and neither answer is known from the other."""
    tokens, targets = two_relations_batch(4_000, 8, generator(), n_symbols=4)
    for place in range(4):
        assert 0.22 < (tokens[:, place] >= 4).double().mean() < 0.28
    before, flagged = targets.view(-1, 2, 8)[:, :, 5:].unbind(dim=1)
    assert 0.22 < (before == flagged).double().mean() < 0.28


# ----------------------------------------------------------------------------- stories


def retold(text):
    """Thing, keeper and place at the end, by rules that share no code with the storyteller."""
    sentences = [sentence.split() for sentence in re.findall(r"[^.?]+", text.lower())]
    keeper, _, _, thing, _, place = sentences[1]
    for words in sentences[2:-5]:
        person, deed, the, what = words[:4]
        assert (the, what) == ("the", thing)
        assert person in (keeper, "she" if keeper in stories.WOMEN else "he"), "who has it acts"
        if deed == "takes":
            assert words[4:6] == ["from", place] and words[7] != place
            place = words[7]
        elif deed == "gives":
            assert words[6:] == ["in", place]
            assert (words[5] in stories.WOMEN) != (keeper in stories.WOMEN), (
                "so that she and he are clear"
            )
            keeper = words[5]
        else:
            assert deed == "loses" and words[4:] == ["in", place]
            assert words is sentences[-6], "it ends there"
            keeper = "nobody"
    return thing, keeper, place, sentences


def test_the_answers_follow_from_the_story():
    lengths, lost, moved, given = Counter(), 0, 0, 0
    for row in tell_stories(600, generator()):
        text = story_text(row)
        thing, keeper, place, sentences = retold(text)
        who, name, where, at, end = sentences[-5:]
        assert who == ["who", "has", "the", thing] and name == [keeper], text
        assert where == ["where", "is", "the", thing] and at == ["in", place], text
        assert end == ["good", "night"] and text.endswith(
            "? In " + place.capitalize() + ". Good night."
        )
        lengths[len(sentences) - 7] += 1
        lost += keeper == "nobody"
        moved += place != sentences[1][-1]
        given += keeper not in (sentences[1][0], "nobody")
    assert set(lengths) == {1, 2, 3} and min(lengths.values()) > 100
    assert min(lost, moved, given) > 100


def test_story_text_has_its_capital_letters():
    (row,) = tell_stories(1, generator())
    text = story_text(row)
    for sentence in re.findall(r"[^.?]+[.?]", text):
        assert sentence.strip()[0].isupper()
    proper = stories.WOMEN + stories.MEN + stories.CITIES
    found = [word for word in re.findall(r"\w+", text) if word.lower() in proper]
    assert found and all(word[0].isupper() for word in found)
    assert STORIES.encode(text).equal(row)


def test_story_probabilities_match_sampled_stories():
    """Each choice sums to 1, and words come as often as they should."""
    expected, came = Counter(), Counter()
    for row in tell_stories(3_000, generator()):
        story = stories.storyteller()
        options = next(story)
        for i, token in enumerate(row.tolist()):
            assert sum(options.values()) == pytest.approx(1)
            assert min(options.values()) > 0
            word = STORIES.words[token]
            if i < 12:
                expected.update({(i, w): p for w, p in options.items()})
                came[i, word] += 1
            try:
                options = story.send(word)
            except StopIteration:
                assert not row[i + 1 :].any()
                break
    assert set(came) <= set(expected)
    for key, n in expected.items():
        assert abs(came[key] - n) < 5 * max(n, 9) ** 0.5, key


def test_a_scene_is_an_agreement_sentence():
    """Same sentences as `agreement_batch`, with the same probability for each number of nouns."""
    tokens, targets = agreement_batch(2_000, (0, 3), generator())
    verbs = targets[targets != IGNORE_INDEX]
    at_gap = tokens == WORDS.ids["___"]
    tokens[at_gap] = verbs
    numbers = Counter()
    for row in tokens:
        chances = stories.story_probabilities(row, stories.scene)
        assert chances[-1] == 1.0 and len(chances) == (row != 0).sum()
    for row in tell_stories(2_000, generator(), stories.scene):
        text = STORIES.decode(row).lower()
        numbers[len(nouns(text.rstrip(".").split()))] += 1
        *before, _, _ = text.split()
        subject = nouns(before)[0]
        assert re.search(r"\b(lies?)\b", text)[1] == ("lie" if is_plural(subject) else "lies")
    assert all(430 < numbers[n] < 570 for n in (1, 2, 3, 4)), numbers


def test_story_probabilities_stop_at_impossible_words():
    (row,) = tell_stories(1, generator(3))
    right = stories.story_probabilities(row)
    assert len(right) == len(row) and min(right) > 0
    for place in range(len(row)):
        wrong = row.clone()
        wrong[place] = STORIES.ids["___"]
        found = stories.story_probabilities(wrong)
        assert found == [*right[:place], 0.0]
    assert stories.story_probabilities(row[:5]) == right[:5]
    assert stories.story_probabilities([*row.tolist(), 3, 3]) == right, "it ends with the story"


def test_next_words_are_the_targets():
    tokens, targets = next_word_batch(tell_stories(20, generator()))
    for row, target in zip(tokens.tolist(), targets.tolist(), strict=True):
        length = sum(token != 0 for token in row)
        assert target[: length - 1] == row[1:length]
        assert set(target[length - 1 :]) == {IGNORE_INDEX}


def test_story_words_keep_the_ids_of_agreement():
    assert STORIES.words[: len(WORDS)] == WORDS.words


# ----------------------------------------------------------------------------- common


@pytest.mark.parametrize(
    "make",
    [
        lambda g: agreement_batch(8, (0, 3), g),
        lambda g: first_token_recall_batch(8, 12, g),
        lambda g: associative_recall_batch(8, 5, g),
        lambda g: two_relations_batch(8, 6, g),
        lambda g: next_word_batch(tell_stories(8, g)),
    ],
)
def test_the_generator_alone_decides(make):
    torch.manual_seed(1)
    first = make(generator(7))
    torch.manual_seed(2)
    again, other = make(generator(7)), make(generator(8))
    assert all(a.equal(b) for a, b in zip(first, again, strict=True))
    assert first[0].shape != other[0].shape or not first[0].equal(other[0])
    assert all(t.dtype == torch.long for t in first)


def test_stored_tables_are_small_and_name_their_source():
    """Each names the script, the CPU seconds and the versions that made it."""
    folder = store.resources.files("helpers") / "results" / "stored"
    names = [entry.name for entry in folder.iterdir() if entry.name.endswith(".json")]
    assert "limits_of_recurrence.json" in names
    for name in names:
        text = (folder / name).read_text(encoding="utf-8")
        table = stored(name.removesuffix(".json"))
        assert table == json.loads(text)
        assert len(text) < 60_000
        assert {"made_by", "cpu_seconds"} <= set(table)
        assert {"torch", "threads"} <= set(table) or "spacy" in table  # what computed it


# ----------------------------------------------------------------------------- prose


def test_course_prose_leaves_out_code_tables_and_math():
    cell = """# A heading

A *mean* of the [values](a.md), as a {term}`query <queries>` asks. It is $x$ times y. So `f(x)` is!

- The first (of two). {cite:t}`vaswani2017` say so.
- and a part of a sentence,

| a | table |

```python
print("Code.")
```
$$y = 1.$$

> A quotation.
"""
    kept = ["A mean of the values, as a query asks.", "The first (of two)."]
    assert prose.paragraphs(cell) == kept


def test_stored_prose_is_long_plain_and_small():
    text = store.course_prose()
    assert 150_000 < len(text) < 300_000
    assert len(set(text)) < 99  # letters, and what else sheet 8 gives an id
    assert re.fullmatch(r"""(?:[A-Z][A-Za-z0-9 .,;:?!()'"-]*[.?!]\n)+""", text)
    assert "attention" in text and "  " not in text
