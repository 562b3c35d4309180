"""The stored language model is small, does what lecture 8 says, and its picture is fresh."""

import json
import math
import re
from pathlib import Path

import numpy as np
import pytest
import torch

import helpers
from experiments import language_model as experiment
from helpers.apps import story_model
from helpers.data.agreement import NOUNS
from helpers.data.stories import storyteller, tell_stories
from helpers.interp.ablation import without_heads
from helpers.results.store import stored
from helpers.tokens import next_word_batch
from helpers.training import count_parameters, masked_cross_entropy

FOLDER = Path(helpers.__file__).parent / "results" / "stored"


@pytest.fixture(scope="module")
def model():
    return story_model.trained_language_model()


def new_stories(n=100, seed=7):
    return tell_stories(n, torch.Generator().manual_seed(seed))


def test_stored_weights_are_small():
    sizes = {file.name: file.stat().st_size for file in FOLDER.glob("*.npz")}
    assert "language_model.npz" in sizes
    assert sum(sizes.values()) < 500_000


def test_weights_of_another_model_are_refused(tmp_path, monkeypatch):
    np.savez(tmp_path / "other.npz", words=np.array(["a"]), weight=np.zeros((2, 3)))
    monkeypatch.setattr(story_model, "_file", lambda: tmp_path / "other.npz")
    with pytest.raises(ValueError, match=r"language_model\.npz: got {'weight': \(2, 3\)}; needed"):
        story_model.trained_language_model()


@torch.no_grad()
def test_the_stored_model_is_trained(model):
    """Its loss on new stories lies between their floor and a little above, as in the table."""
    stories = new_stories()
    tokens, targets = next_word_batch(stories)
    loss = masked_cross_entropy(model(tokens), targets).item()
    assert story_model.floor(stories) < loss < story_model.floor(stories) + 0.05
    row = next(r for r in stored("language_model")["runs"] if r["model"] == "transformer")
    assert row["seed"] == 0 and row["parameters"] == count_parameters(model)
    assert min(story_model.agreement(model, n, 200) for n in range(4)) >= 0.97


def test_the_table_says_what_lecture_8_needs():
    table = stored("language_model")
    assert table["steps"] == story_model.STEPS and table["batch"] == story_model.BATCH
    for kind, make in experiment.MODELS.items():
        rows = [row for row in table["runs"] if row["model"] == kind]
        assert len({row["seed"] for row in rows}) >= 3
        assert {row["parameters"] for row in rows} == {count_parameters(make())}
        for row in rows:
            assert len(row["agreement"]) == len(table["attractors"])
            assert len(row["curve"]) == len([c for c in table["checkpoints"] if c < 800]) + 1


def test_sentences_are_asked_before_the_verb():
    tokens, last, plural = story_model.asked_sentences(2, 50)
    plurals = {pair[1] for pair in NOUNS}
    for row, at, many in zip(tokens, last.tolist(), plural.tolist(), strict=True):
        text = [story_model.STORY_VOCABULARY.words[i] for i in row.tolist()]
        assert text[at + 1] == "___"
        subject, *others = [w for w in text if w in plurals or any(w == p[0] for p in NOUNS)]
        assert many == (subject in plurals) and len(others) == 2
        assert all((noun in plurals) != many for noun in others)


def test_margins_see_nothing_behind_the_last_word(model):
    """The gap stands in the tokens; a model that looked at it would be asked another question."""
    tokens, last, plural = story_model.asked_sentences(2, 40)
    found = story_model.logit_differences(model, 2, 40)
    verbs = story_model.STORY_VOCABULARY.encode("lies lie")
    for i, row in enumerate(tokens):
        with torch.no_grad():
            logits = model(row[None, : last[i] + 1])[0, -1, verbs]
        margin = (logits[plural[i]] - logits[1 - plural[i]]).item()
        assert margin == pytest.approx(found[i].item(), abs=1e-3)
    assert story_model.agreement(model, 2, 40) == (found > 0).double().mean().item()


def test_looks_are_the_weights_of_that_row(model):
    tokens, last, _ = story_model.asked_sentences(1, 5)
    looks = story_model.attention_to_subject(model, 1, 5)
    assert looks.shape == (2, 2, 4)
    with torch.no_grad():
        _, weights = model(tokens, return_weights=True)
    for layer in range(2):
        for head in range(4):
            rows = [weights[layer][i, head, last[i]] for i in range(5)]
            for which in (0, 1):
                mean = sum(row[1 + which].item() for row in rows) / 5
                assert looks[which, layer, head].item() == pytest.approx(mean, abs=1e-5)


def test_consistent_means_told_to_the_end():
    for story in new_stories(20):
        assert story_model.is_consistent(story)
        assert not story_model.is_consistent(story[:8])
        wrong = story.clone()
        wrong[len(story[story != 0]) - 8] = story_model.STORY_VOCABULARY.ids["the"]
        assert not story_model.is_consistent(wrong)


@torch.no_grad()
def test_above_floor_is_the_loss_less_the_floor(model):
    """In two parts; what is certain to the storyteller and no fact is in the second."""
    stories = new_stories(40)
    tokens, targets = next_word_batch(stories)
    facts, others = story_model.above_floor(model, stories)
    loss = masked_cross_entropy(model(tokens), targets).item()
    assert facts + others == pytest.approx(loss - story_model.floor(stories), abs=1e-5)

    class NoFacts(torch.nn.Module):
        """The storyteller itself, but for the names of persons, things and cities."""

        def forward(self, tokens):
            logits = torch.full((*tokens.shape, story_model.VOCAB), -torch.inf)
            for row, story in zip(logits, tokens, strict=True):
                for at, options in enumerate(next_word_options(story)):
                    for word, p in options.items():
                        row[at, story_model.STORY_VOCABULARY.ids[word]] = math.log(p)
            facts = story_model.STORY_VOCABULARY.encode(" ".join(story_model.FACTS))
            mixed = logits.exp()
            mixed[..., facts] = mixed[..., facts].sum(-1, keepdim=True) / len(facts)
            return mixed.log().clamp(min=-50)

    facts, others = story_model.above_floor(NoFacts(), stories)
    assert others == pytest.approx(0.0, abs=1e-4) and facts > 0.2


def next_word_options(story):
    """What the storyteller says may come after each word of a story."""
    teller = storyteller()
    next(teller)
    for i in story[story != 0][:-1]:
        yield teller.send(story_model.STORY_VOCABULARY.words[i])


@pytest.mark.parametrize("cell", ["rnn", "lstm"])
def test_recurrent_models_are_of_the_same_size(cell):
    size = count_parameters(story_model.language_model())
    assert abs(count_parameters(story_model.recurrent_model(cell)) - size) <= 0.01 * size


def test_finders_do_agreement_together(model):
    """The claim of the lecture and of the picture, on the stored weights."""
    row = next(r for r in stored("language_model")["runs"] if r["model"] == "transformer")
    off = without_heads(model, [tuple(head) for head in row["finders"]])
    assert story_model.agreement(off, 2, 200) < 0.8 < story_model.agreement(model, 2, 200)


def test_the_picture_is_that_of_the_stored_model(model):
    """Drawn again it has the same words and, to a thousandth or two, the same weights."""
    weights = re.compile(r'data-weights="([^"]*)"')
    texts = [experiment.PICTURE.read_text(encoding="utf-8"), experiment.picture(model)]
    old, new = (torch.tensor(json.loads(weights.search(text)[1])) for text in texts)
    assert old.shape == new.shape and (old - new).abs().max() <= 2
    old, new = (re.sub(r"[\d.]+", "", text).split() for text in texts)
    assert old == new


def test_the_picture_shows_the_subject():
    text = experiment.PICTURE.read_text(encoding="utf-8")
    weights = json.loads(re.search(r'data-weights="([^"]*)"', text)[1])
    row = weights[0][0][-1]
    assert row.index(max(row)) == 1 and row[1] > 500, "from hums to letters, more than half"
