"""What flows through a model is recorded and replaced; segments repeat; heads are scored."""

import itertools
import json

import numpy as np
import pytest
import torch

from helpers.apps.metrics import roc_auc
from helpers.config import TransformerConfig
from helpers.interp.hooks import NAMES, cache_activations, head_columns, patch, patch_from
from helpers.interp.induction import (
    broken_turns,
    prefix_matching_scores,
    repeated_segments,
    trained_copier,
)
from helpers.models import LanguageModel
from helpers.results.comparison import results
from helpers.results.store import stored
from helpers.tokens import IGNORE_INDEX
from tests.conftest import ROOT


@pytest.fixture
def model():
    torch.manual_seed(0)
    return LanguageModel(TransformerConfig(11, 16, n_layers=2, n_heads=4)).eval()


@pytest.fixture
def tokens():
    return torch.randint(11, (5, 6), generator=torch.Generator().manual_seed(1))


@torch.no_grad()
def test_cache_activations_records_every_place(model, tokens):
    """The model gives the same logits afterwards."""
    before = model(tokens)
    found = cache_activations(model, tokens)
    assert set(found) == {(n, i) for n in NAMES for i in (0, 1)} | {("stream", 2)}
    assert torch.equal(model(tokens), before)
    assert torch.equal(found["stream", 0], model.embedding_scale * model.embedding(tokens))
    assert torch.equal(model.lm_head(model.stack.norm(found["stream", 2])), before)


@torch.no_grad()
@pytest.mark.parametrize("place", [(n, i) for n in NAMES for i in (0, 1)] + [("stream", 2)])
def test_patch_changes_logits_and_is_undone(model, tokens, place):
    """Patching an activation with itself changes nothing."""
    before = model(tokens)
    with patch(model, place, lambda found: found.clone()):
        assert torch.equal(model(tokens), before)
    with patch(model, place, lambda found: found.flip(1)):
        assert not torch.allclose(model(tokens), before, atol=1e-4)
    assert torch.equal(model(tokens), before)


@torch.no_grad()
def test_patched_stream_gives_the_other_logits(model, tokens):
    """Before layer 0 the stream is all that is known, and so it is at the end."""
    other = tokens.flip(0)
    found = cache_activations(model, other)
    for layer in range(3):
        with patch(model, ("stream", layer), lambda _, layer=layer: found["stream", layer]):
            assert torch.allclose(model(tokens), model(other), atol=1e-6)


@torch.no_grad()
def test_contexts_are_weights_times_values(model, tokens):
    found = cache_activations(model, tokens)
    _, weights = model(tokens, return_weights=True)
    for layer in range(2):
        for head in range(4):
            own = head_columns(model, layer, head)
            mixed = weights[layer][:, head] @ found["values", layer][..., own]
            assert torch.allclose(found["contexts", layer][..., own], mixed, atol=1e-6)


@torch.no_grad()
@pytest.mark.parametrize("name", NAMES[1:])
def test_of_one_head_at_one_word_and_nowhere_else(model, tokens, name):
    found, other = cache_activations(model, tokens), cache_activations(model, tokens.flip(1))
    before = model(tokens)
    with patch_from(model, other, [name], 1, 2, 3):
        now = cache_activations(model, tokens)
        assert not torch.allclose(model(tokens), before, atol=1e-6)
    expected = found[name, 1].clone()
    expected[:, 3, 8:12] = other[name, 1][:, 3, 8:12]
    assert torch.equal(now[name, 1], expected)
    assert torch.equal(now["stream", 1], found["stream", 1])
    assert torch.equal(model(tokens), before)


@torch.no_grad()
def test_a_word_of_the_stream(model, tokens):
    found, other = cache_activations(model, tokens), cache_activations(model, tokens.flip(1))
    with patch_from(model, other, ["stream"], 2, word=4):
        now = cache_activations(model, tokens)
    expected = found["stream", 2].clone()
    expected[:, 4] = other["stream", 2][:, 4]
    assert torch.equal(now["stream", 2], expected)


@torch.no_grad()
def test_patching_q_k_and_v_patches_the_contexts(model, tokens):
    other = cache_activations(model, tokens.flip(1))
    with patch_from(model, other, ["queries", "keys", "values"], 1, 2):
        by_parts = model(tokens)
    with patch_from(model, other, ["contexts"], 1, 2):
        assert torch.allclose(model(tokens), by_parts, atol=1e-6)


def test_a_failure_leaves_the_model_whole(model, tokens):
    before = model(tokens)
    with pytest.raises(RuntimeError), patch(model, ("values", 0), lambda found: found[:, 1:, :3]):
        model(tokens)
    assert torch.equal(model(tokens), before)


def test_pairs_in_order():
    kinds = torch.tensor([1, 1, 0, 0])
    for scores, share in (
        ([3.0, 2.0, 1.0, 0.0], 1.0),
        ([103.0, 102.0, 101.0, 100.0], 1.0),
        ([3.0, 1.0, 2.0, 0.0], 0.75),
        ([1.0, 1.0, 1.0, 1.0], 0.5),
        ([0.0, 1.0, 2.0, 3.0], 0.0),
    ):
        assert roc_auc(torch.tensor(scores), kinds) == share


def test_segments_repeat_and_their_lengths_differ():
    generator = torch.Generator().manual_seed(0)
    tokens, targets, lengths = repeated_segments(200, 20, 16, (3, 8), generator)
    assert set(lengths.tolist()) == set(range(3, 9))
    for row, asked, n in zip(tokens.tolist(), targets.tolist(), lengths.tolist(), strict=True):
        assert len(set(row[:n])) == n
        assert all(row[t] == row[t - n] for t in range(n, 20))
        assert asked[:n] == [IGNORE_INDEX] * n
        assert asked[n:-1] == row[n + 1 :]
        assert asked[-1] == row[20 - n]


def test_scores_of_perfect_heads():
    """One head that looks at the symbol before, one that looks behind the last same symbol."""
    generator = torch.Generator().manual_seed(0)
    tokens, targets, lengths = repeated_segments(30, 20, 16, (3, 8), generator)
    weights = torch.zeros(30, 2, 20, 20)
    for i, n in enumerate(lengths.tolist()):
        for t in range(1, 20):
            weights[i, 0, t, t - 1] = 1.0
            weights[i, 1, t, t - n + 1 if t >= n else 0] = 1.0
    before, matching = prefix_matching_scores(weights, lengths)
    assert before.tolist() == [1.0, 0.0]
    assert matching.tolist() == [0.0, 1.0]
    # What the second one looks at is the answer.
    found = (weights[:, 1] @ tokens[..., None].float())[..., 0].long()
    assert torch.equal(found[targets != IGNORE_INDEX], targets[targets != IGNORE_INDEX])


def test_broken_turns_ask_for_the_earlier_successor():
    """A target is the symbol that followed the same symbol before, where the two agree."""
    tokens, targets = broken_turns(50, 32, 8, torch.Generator().manual_seed(0))
    for text, asked in zip(tokens.tolist(), targets.tolist(), strict=True):
        assert len(set(text[:8])) == 8 and text[8:] == text[4:8] + text[:4]
        assert asked[15] == IGNORE_INDEX
        after = {}
        for at, (symbol, following) in enumerate(itertools.pairwise(text)):
            known = after.get(symbol) == following
            assert asked[at] == (following if known else IGNORE_INDEX)
            after[symbol] = following


def test_the_stored_copier_is_what_its_table_says():
    from experiments import copier

    table, model = stored("copier"), trained_copier()
    measured = copier.measure(model)
    for field in ("right", "other_lengths", "broken"):
        assert measured[field] == pytest.approx(table[field], abs=0.01)
    for off, by_way in table["without"].items():
        assert measured["without"][off] == pytest.approx(by_way, abs=0.02)
    for field in ("before", "matching"):
        assert measured["heads"][field] == pytest.approx(table["heads"][field], abs=0.01)
    assert table["lr"] == results("induction").rate("two layers", "random")


def test_rounding_a_copier_twice_changes_nothing():
    from experiments import copier

    model = trained_copier()
    before = [p.clone() for p in model.parameters()]
    arrays = copier.rounded(model)
    for old, new in zip(before, model.parameters(), strict=True):
        assert torch.allclose(old, new, atol=1e-5)
    assert arrays.keys() == stored("copier")["arrays"].keys()


def cells_of_the_blank(name):
    """A blank of lecture 12, and the folded answer that checks it."""
    cells = json.loads((ROOT / "lectures" / "12_inside.ipynb").read_text(encoding="utf-8"))["cells"]
    code = ["".join(cell["source"]) for cell in cells if cell["cell_type"] == "code"]
    blank = next(cell for cell in code if f"def {name}(" in cell)
    return blank, next(cell for cell in code if f"def {name}_answer(" in cell)


@pytest.mark.parametrize(
    ("old", "new", "said"),
    [
        ("", "", "agrees with the answer."),
        ("last + 1", "last", "is off by up to"),
        ("max(i for", "min(i for", "is off by up to"),
        ("mean(dim=0)", "mean()", "does not return one number for each head"),
        ("mean(dim=0)", "mean(dim=0).numpy()", "agrees with the answer."),
        ("mean(dim=0)", "mean(dim=0).tolist()", "agrees with the answer."),
        ("mean(dim=0)", "double().mean(dim=0)", "agrees with the answer."),
        ("mean(dim=0)", "mean(dim=0).unbind()", "agrees with the answer."),
        ("torch.stack(found).mean(dim=0)", "found", "does not return one number for each head"),
        ("torch.stack(found).mean(dim=0)", "[[1], 2]", "does not return one number for each head"),
        ("torch.stack(found).mean(dim=0)", "None", "does not return one number for each head"),
        (None, None, "is blank"),
    ],
)
def test_the_blank_of_the_lecture_is_checked(capsys, old, new, said):
    """A reader's function is used if it agrees with the answer, which is used otherwise."""
    blank, answer = cells_of_the_blank("prefix_score")
    copier = trained_copier()
    tokens, _, _ = repeated_segments(20, 24, 32, (4, 10), torch.Generator().manual_seed(0))
    _, maps = copier(tokens, return_weights=True)
    names = {
        "np": np,
        "torch": torch,
        "tokens": tokens,
        "maps_of_copier": [m.detach() for m in maps],
    }
    if old is not None:
        written = answer.split("\n\n\n")[0].replace("prefix_score_answer", "prefix_score")
        assert old in written
        blank = written.replace(old, new)
    exec(blank, names)
    exec(answer, names)
    assert capsys.readouterr().out.startswith(f"prefix_score {said}")
    assert (names["prefix_score"] is names["prefix_score_answer"]) == (said[:6] != "agrees")


RIGHT_PATCH = 'stream[:, 1] = corrupted_run["stream", 1][:, 1]'
WRONG_WAY = 'corrupted_run["stream", 1][:, 1] = stream[:, 1]'


@pytest.mark.parametrize(
    ("line", "last", "said"),
    [
        (RIGHT_PATCH, "return stream, *inputs[1:]", "agrees with the answer."),
        ("...", "return stream, *inputs[1:]", "changes nothing"),
        (RIGHT_PATCH, "return stream", "must return the other inputs, too"),
        (RIGHT_PATCH, "return stream[:, 1], *inputs[1:]", "does not return the whole stream"),
        (RIGHT_PATCH, "pass", "does not return the whole stream"),
        (
            RIGHT_PATCH.replace("[:, 1]", "[:, 2]"),
            "return stream, *inputs[1:]",
            "has the wrong vector",
        ),
        (RIGHT_PATCH.replace("[:, 1]", ""), "return stream, *inputs[1:]", "has the wrong vector"),
        (WRONG_WAY, "return stream, *inputs[1:]", "changes the corrupted run itself"),
        (
            f"{RIGHT_PATCH}; {WRONG_WAY.replace('= stream', '= inputs[0]')}",
            "return stream, *inputs[1:]",
            "changes the corrupted run itself",
        ),
        (
            'corrupted_run["stream", 1] = stream',
            "return stream, *inputs[1:]",
            "changes the corrupted run itself",
        ),
    ],
)
def test_the_patch_of_the_lecture_is_checked(capsys, line, last, said):
    """As the other blank: a reader's hook is used only if it agrees with the answer."""
    blank, answer = cells_of_the_blank("with_letter")
    blank = blank[blank.index("def with_letter(") :]
    g = torch.Generator().manual_seed(0)
    runs = [{("stream", 1): torch.randn(1, 5, 4, generator=g)} for _ in range(2)]
    names = {"torch": torch, "clean_run": runs[0], "corrupted_run": runs[1]}
    stored_streams = [run["stream", 1].clone() for run in runs]
    exec(blank.replace("    ...", f"    {line}").replace("return stream, *inputs[1:]", last), names)
    exec(answer, names)
    assert capsys.readouterr().out.startswith(f"with_letter {said}")
    assert (names["with_letter"] is names["with_letter_answer"]) == (said[:6] != "agrees")
    for run, stream in zip(runs, stored_streams, strict=True):
        assert torch.equal(run["stream", 1], stream)
