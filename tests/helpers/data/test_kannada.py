"""The Kannada fragment: forms as in the grammars, alignments that fit, tests that were not seen."""

import re

import pytest
import torch

from helpers.data.kannada import (
    AND,
    ENDINGS,
    ENGLISH,
    KANNADA,
    NOUNS,
    OWNERS,
    PRONOUNS,
    VERBS,
    conjugate,
    encode,
    gloss,
    is_held_out,
    plural,
    sentences,
    translation_batch,
    words_of,
)
from helpers.tokens import END, IGNORE_INDEX, PAD, START
from helpers.viz.transliteration import show_sentences, to_html, transliterate

FORMS = {
    conjugate(verb, agreement, past): (verb, agreement, past)
    for verb in VERBS
    for agreement in ENDINGS
    for past in (False, True)
}


def sample_pairs(n=300, clauses=(1, 3), seed=0, **options):
    return sentences(n, clauses, torch.Generator().manual_seed(seed), **options)


def test_forms_are_those_of_the_grammars():
    """The six persons of one verb of each conjugation, now and in the past, as they sound."""
    expected = {
        "see": "nōḍuttēne nōḍuttēve nōḍuttāne nōḍuttāḷe nōḍuttāre nōḍuttade "
        "nōḍidenu nōḍidevu nōḍidanu nōḍidaḷu nōḍidaru nōḍitu",
        "wash": "toḷeyuttēne toḷeyuttēve toḷeyuttāne toḷeyuttāḷe toḷeyuttāre toḷeyuttade "
        "toḷedenu toḷedevu toḷedanu toḷedaḷu toḷedaru toḷeyitu",
    }
    for verb, forms in expected.items():
        found = [conjugate(verb, a, past) for past in (False, True) for a in ENDINGS]
        assert [transliterate(word) for word in found] == forms.split()


@pytest.mark.parametrize(
    ("word", "said"),
    [
        ("ನಾನು", "I"),
        ("ಹೊಸ", "new"),
        ("ಮರವು", "tree"),
        ("ಮರವನ್ನು", "tree (object)"),
        ("ಎಲೆಗಳನ್ನು", "leaves (object)"),
        ("ನೋಡುತ್ತೇನೆ", "see (I)"),
        ("ತೊಳೆಯುತ್ತಾಳೆ", "washes (she)"),
        ("ಕರೆಯಿತು", "called (it)"),
        (AND, "and"),
    ],
)
def test_gloss_says_the_word_and_its_ending(word, said):
    assert gloss(word) == said


def test_every_kannada_word_has_its_own_gloss():
    found = [gloss(word) for word in KANNADA.words[3:]]
    assert len(set(found)) == len(found) == len(KANNADA.words) - 3


@pytest.mark.parametrize(
    ("script", "latin"),
    [
        ("ಕನ್ನಡ", "kannaḍa"),
        ("ನನ್ನ ಹೆಸರು", "nanna hesaru"),
        ("ಸಿಂಹವು", "siṁhavu"),
        ("ಕರ್ನಾಟಕ", "karnāṭaka"),
        ("ಎಲೆ, ಆನೆ.", "ele, āne."),
    ],
)
def test_transliteration(script, latin):
    assert transliterate(script) == latin


def test_every_form_has_one_meaning():
    """No Kannada word stands for two things, so that every sentence has one right translation."""
    assert len(FORMS) == len(VERBS) * len(ENDINGS) * 2
    assert len(set(KANNADA.words)) == len(KANNADA) and len(set(ENGLISH.words)) == len(ENGLISH)


def test_the_grammar_holds():
    """The verb is last, agrees with the subject and has the right tense; the object's ending."""
    for pair in sample_pairs(clauses=1):
        verb, agreement, past = FORMS[pair.target[-1]]
        at = pair.alignment[-1]
        third, before = VERBS[verb][0], VERBS[verb][1]
        subject = pair.source[at - 1]
        if subject in PRONOUNS:
            assert agreement == PRONOUNS[subject][1]
        elif subject in NOUNS:
            genders = {"boy": "3 sg m", "girl": "3 sg f"}
            assert agreement == genders.get(subject, "3 sg n")
        else:
            assert agreement == "3 pl" and subject in ("boys", "girls")
        assert past == (pair.source[at] == before)
        if not past:
            assert (pair.source[at] == third) == (agreement.startswith("3 sg"))
        assert pair.target[-2].endswith("ನ್ನು")
        several = pair.source[-1] not in NOUNS
        [noun] = [n for n in NOUNS if pair.source[-1] in (n, plural(n))]
        assert pair.target[-2] == NOUNS[noun][3 if several else 1]


def test_alignments_are_right():
    """Words that stand for each other; what is left over in English is "the"."""
    for pair in sample_pairs():
        assert len(pair.alignment) == len(pair.target) == len(set(pair.alignment))
        left = {word for i, word in enumerate(pair.source) if i not in pair.alignment}
        assert left <= {"the"}
        for word, place in zip(pair.target, pair.alignment, strict=True):
            english = pair.source[place]
            if word in FORMS:
                assert english in (FORMS[word][0], *VERBS[FORMS[word][0]][:2])
            elif word == AND:
                assert english == "and"
            elif english in OWNERS:
                assert word == OWNERS[english]
            else:
                [noun] = [n for n in NOUNS if english in (n, plural(n))] or [None]
                assert noun is None or word in NOUNS[noun]


def test_source_and_target_differ_in_length():
    different = [len(pair.source) != len(pair.target) for pair in sample_pairs()]
    assert sum(different) > 0.4 * len(different)


def test_held_out_pairs_are_kept_back():
    held_out = {(verb, noun) for verb in VERBS for noun in NOUNS if is_held_out(verb, noun)}
    assert {verb for verb, _ in held_out} == set(VERBS)
    for new_pairs in (False, True):
        for pair in sample_pairs(clauses=1, new_pairs=new_pairs):
            verb, *_ = FORMS[pair.target[-1]]
            [noun] = [n for n in NOUNS if pair.source[-1] in (n, plural(n))]
            assert is_held_out(verb, noun) == new_pairs
    assert {noun for _, noun in held_out} == set(NOUNS)


def test_every_word_occurs():
    pairs = sample_pairs(3000, 1)
    assert {w for p in pairs for w in p.source} == set(ENGLISH.words) - {"<pad>", "and"}
    subjects = {"boy", "girl", "dog", "horse", "lion"}
    never = {NOUNS[noun][i] for noun in NOUNS for i in (0, 2) if noun not in subjects}
    never |= {NOUNS[noun][2] for noun in ("dog", "horse", "lion")}
    words = set(KANNADA.words) - {"<pad>", "<start>", "<end>", AND} - never
    assert {w for p in pairs for w in p.target} == words


def test_numbers_of_clauses_and_repetition():
    assert sample_pairs(seed=1) == sample_pairs(seed=1) != sample_pairs(seed=2)
    counts = [pair.source.count("and") + 1 for pair in sample_pairs(clauses=(2, 4))]
    assert set(counts) == {2, 3, 4}


def test_a_batch_is_shifted_by_one():
    pairs = sample_pairs(5)
    (source, begun), wanted = translation_batch(pairs)
    for row, pair in enumerate(pairs):
        n, m = len(pair.source), len(pair.target)
        assert [ENGLISH.words[i] for i in source[row, :n]] == list(pair.source)
        assert (source[row, n:] == PAD).all() and (begun[row, m + 1 :] == PAD).all()
        assert begun[row, 0] == START and wanted[row, m] == END
        assert torch.equal(begun[row, 1 : m + 1], wanted[row, :m])
        assert (wanted[row, m + 1 :] == IGNORE_INDEX).all()
        assert words_of(wanted[row, : m + 1]) == words_of(begun[row]) == pair.target
    assert torch.equal(encode(ENGLISH, pairs[0].source), source[0, : len(pairs[0].source)])


def test_the_table_marks_the_language(capsys):
    page = to_html(("my name", ("ನನ್ನ", "ಹೆಸರು")), ("<b>", ()))
    assert re.search(r'<span lang="kn">ನನ್ನ ಹೆಸರು</span>', page)
    assert '<i lang="kn-Latn">nanna hesaru</i>' in page and "&lt;b&gt;" in page
    show_sentences(("my name", ("ನನ್ನ", "ಹೆಸರು")))
    with_meanings = to_html(("my name", ("ನನ್ನ", "ಹೆಸರು")), gloss={"ನನ್ನ": "my", "ಹೆಸರು": "name"}.get)
    assert "</i><br>my · name</td>" in with_meanings and "<br>my" not in page


def test_real_names_are_in_one_part_each():
    """And there are as many to train on as the stored table says."""
    pytest.importorskip("babel")
    from experiments.names import names
    from helpers.results.store import stored

    parts = names("kn")
    english = [pair[0] for part in parts for pair in part]
    assert len(set(english)) == len(english)
    assert len(parts[0]) == stored("names")["trained_on"]
    assert all(word.isascii() and not other.isascii() for part in parts for word, other in part)
