"""Pieces are those of the library `tokenizers`: words, merges, ids and encodings."""

import json
import random

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tokenizers import Tokenizer, pre_tokenizers, trainers
from tokenizers.models import BPE

from helpers.bpe import SIGNS, BPETokenizer, merge, spelled, words
from tests.conftest import ROOT
from tests.helpers.properties import examples

SIGNS_TO_TRY = "a Z é ß 日 🙂 1 ² ½ Ⅷ ٣ ́ ' 's 'll 'S ! _ - \t \n \x1c \x85 \xa0 \u200b \u2028"
STRANGE = st.sampled_from([*SIGNS_TO_TRY.split(" "), " ", "  "])
texts_of_signs = st.lists(st.one_of(STRANGE, st.text(max_size=3)), max_size=12).map("".join)


def library(texts, size):
    tokenizer = Tokenizer(BPE())
    tokenizer.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    alphabet = pre_tokenizers.ByteLevel.alphabet()
    trainer = trainers.BpeTrainer(vocab_size=size, initial_alphabet=alphabet, show_progress=False)
    tokenizer.train_from_iterator(texts, trainer)
    return tokenizer


def assert_same(texts, size, others=()):
    ours, theirs = BPETokenizer.train(texts, size), library(texts, size)
    learned = json.loads(theirs.to_str())["model"]["merges"]
    assert ours.merges == [tuple(pair) for pair in learned]
    assert ours.ids == theirs.get_vocab()
    for text in (*texts, *others):
        assert ours.encode(text) == theirs.encode(text).ids
        assert ours.decode(ours.encode(text)) == text


def prose(name):
    """The text of a lecture, without its code."""
    cells = json.loads((ROOT / "lectures" / name).read_text(encoding="utf-8"))["cells"]
    return "\n".join("".join(c["source"]) for c in cells if c["cell_type"] == "markdown")


@examples
@given(texts_of_signs)
def test_words_are_the_librarys(text):
    theirs = pre_tokenizers.ByteLevel(add_prefix_space=False).pre_tokenize_str(text)
    assert ["".join(spelled(word)) for word in words(text)] == [word for word, _ in theirs]
    assert "".join(words(text)) == text


def test_signs_are_the_librarys():
    assert sorted(SIGNS) == sorted(pre_tokenizers.ByteLevel.alphabet())
    assert len(set(SIGNS)) == 256
    assert spelled(" a\n") == ("Ġ", "a", "Ċ")


@pytest.mark.parametrize("size", [256, 257, 400])
def test_the_courses_own_prose(size):
    """Learned on two lectures, and a third one cut with it."""
    read = [prose("02_self_attention_without_weights.ipynb"), prose("04_masks.ipynb")]
    assert_same(read, size, [prose("03_queries_keys_values.ipynb")])


@pytest.mark.parametrize("seed", range(60))
def test_small_corpora_full_of_ties(seed):
    """Few letters and few words, so that many pairs are equally frequent, until none is left."""
    dice = random.Random(seed)
    alphabet = dice.choice(["ab", "abc", "abcde", "aé ß", " ab'sl\n"])

    def text(longest):
        return "".join(dice.choice(alphabet) for _ in range(dice.randint(1, longest)))

    texts = [text(60) for _ in range(dice.randint(1, 8))]
    assert_same(texts, 256 + dice.choice([5, 40, 400]), [text(40) + "xyz"])


def test_joins_go_from_the_left():
    assert merge("aaa", ("a", "a")) == ("aa", "a")
    assert merge(("a", "b", "a"), ("b", "a")) == ("a", "ba")
    assert merge((), ("a", "b")) == ()


def test_what_was_never_seen_is_read_and_restored():
    ours = BPETokenizer.train(["the lamp"], 260)
    assert ours.decode(ours.encode("日本 🙂\n")) == "日本 🙂\n"
    assert ours.decode(ours.encode("日")[:1]) == "�"
    assert len(ours) == 260 and len(BPETokenizer.train(["ab"], 999)) == 257
