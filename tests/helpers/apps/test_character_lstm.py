"""The LSTM of lecture 1 that writes: its stored weights, and the cells that were chosen."""

import numpy as np
import pytest
import torch

from experiments import character_lstm as experiment
from experiments import held_cell
from helpers.apps import character_lstm
from helpers.results.store import stored

TEXT = "yes\n\nFirst Man:\nOh: no\n\nKING:\n"


@pytest.fixture(scope="module")
def model():
    return character_lstm.trained_character_lstm()


@pytest.fixture
def fewer_texts(monkeypatch):
    monkeypatch.setattr(experiment, "TEXTS", 16)
    monkeypatch.setattr(experiment, "LENGTH", 300)


def test_other_weights_are_refused(tmp_path, monkeypatch):
    np.savez(tmp_path / "other.npz", weight=np.zeros((2, 3)))
    monkeypatch.setattr(character_lstm, "_file", lambda: tmp_path / "other.npz")
    with pytest.raises(ValueError, match=r"character_lstm\.npz: got {'weight': \(2, 3\)}; needed"):
        character_lstm.trained_character_lstm()


def test_saved_weights_are_read_again(tmp_path, monkeypatch):
    monkeypatch.setattr(character_lstm, "_file", lambda: tmp_path / "character_lstm.npz")
    new = character_lstm.model()
    character_lstm.save(new)
    for old, read in zip(
        new.parameters(), character_lstm.trained_character_lstm().parameters(), strict=True
    ):
        torch.testing.assert_close(read, old.half().float(), atol=0, rtol=0)


def test_stored_weights_have_the_stored_loss(model):
    table = stored("character_lstm")
    _, _, report = experiment.parts()
    assert experiment.loss(model, report) == pytest.approx(table["half_precision_loss"], abs=2e-4)
    assert table["half_precision_loss"] == pytest.approx(table["stages"][-1]["loss"], abs=2e-3)
    losses = {row["lr"]: row["validation"] for row in table["rates"]}
    assert min(losses, key=losses.get) == table["lr"]


def test_stored_cells_are_those_of_the_weights(model):
    _, choose, report = experiment.parts()
    chosen, reported = (experiment.correlations(model, part) for part in (choose, report))
    for name, r in chosen.items():
        rows = [row for row in stored("character_lstm")["cells"] if row["property"] == name]
        rows = [row for row in rows if row["network"] == "trained"]
        best = r.abs().argsort(descending=True)[: experiment.BEST].tolist()
        assert [row["cell"] for row in rows] == best
        for row in rows:
            assert row["chosen"] == pytest.approx(r[row["cell"]].item(), abs=2e-3)
            assert row["reported"] == pytest.approx(reported[name][row["cell"]].item(), abs=2e-3)


def test_held_cells_are_the_chosen_ones():
    """Holding the best cell changes little, holding the second much."""
    table = stored("character_lstm")
    cells = [row["cell"] for row in table["cells"] if row["network"] == "trained"]
    assert [row["cell"] for row in table["held"]] == [None, *cells]
    free, best, second = (row["median"] for row in table["held"][:3])
    assert abs(best - free) < 5 and second > 3 * free


def test_stored_texts_are_written_again(model):
    """With no cell held and with the two that follow the line most closely, at their means."""
    samples = stored("held_cell")["samples"]
    cells = [row["cell"] for row in stored("character_lstm")["cells"][: held_cell.HELD]]
    assert [row["cell"] for row in samples] == [None, *cells]
    for row in samples:
        written = held_cell.write(model, 30, row["cell"], row["mean"])
        assert written == row["text"][:30]
    breaks = [row["text"].count("\n") for row in samples]
    assert breaks[0] >= 3 and breaks[1] >= 3 and breaks[2] < breaks[0]


def test_every_cell_was_held():
    """Only the second of the two closest changes the lines much; in other networks, the closest."""
    table, first = stored("held_cell"), stored("character_lstm")["held"]
    medians = {row["cell"]: row["median"] for row in table["every"]}
    assert list(medians) == list(range(character_lstm.D_MODEL))
    assert all(medians[row["cell"]] == row["median"] for row in first[1:])
    assert sum(abs(m - first[0]["median"]) > 5 for m in medians.values()) == 1
    for row in table["networks"]:
        assert row["cells"][0]["median"] > 2 * row["median"] > row["cells"][1]["median"]


def test_losses_with_a_held_cell_are_found_again(model):
    """What the hold of the second cell costs is at line breaks."""
    free, _, second = (
        held_cell.losses(model, sample["cell"], sample["mean"] or 0.0)
        for sample in stored("held_cell")["samples"]
    )
    for found, row in zip((free, second), stored("held_cell")["losses"][::2], strict=True):
        assert found == pytest.approx(row, abs=5e-3)
    assert second["line breaks"] > 1.5 * free["line breaks"]
    assert second["others"] - free["others"] < 0.02


def test_a_number_of_the_hidden_state_is_held(model, fewer_texts):
    free = experiment.written_lines(model, None, 0.0)["median"]
    mean = held_cell.hidden_mean(model, 68)
    assert experiment.written_lines(model, 68, mean, of="hidden")["median"] > free + 5


def test_written_lines_are_counted(model, fewer_texts):
    found = experiment.written_lines(model, None, 0.0)
    assert found["lines"] > 10 and 20 < found["median"] < 60
    longer = experiment.written_lines(model, 100, 0.0)
    assert longer["median"] > 1.5 * found["median"] or longer["lines"] < found["lines"] / 2


def test_properties_follow_the_text():
    places = experiment.place_in_line(TEXT).tolist()
    assert places[:7] == [1, 2, 3, 0, 0, 1, 2] and places[-2:] == [5, 0]
    inside = experiment.inside_name(TEXT).tolist()
    names = "".join(c for c, i in zip(TEXT, inside, strict=True) if i)
    assert names == "First ManKING"


@torch.no_grad()
def test_correlations_are_numpys():
    """Of a cell's values after each character, without the first of each window."""
    torch.manual_seed(0)
    model, text = character_lstm.model(), torch.randint(1, 66, (2 * experiment.READ + 1,))
    W, U, b, b_too = model.recurrence.parameters()
    cells = []
    for t, x in enumerate(model.embedding(text[:-1])):
        if t % experiment.READ == 0:
            h = c = torch.zeros(character_lstm.D_MODEL)
        i, f, g, o = (W @ x + U @ h + b + b_too).chunk(4)
        c = f.sigmoid() * c + i.sigmoid() * g.tanh()
        h = o.sigmoid() * c.tanh()
        cells.append(c)
    kept = np.arange(len(cells)) % experiment.READ >= experiment.SKIPPED
    places = experiment.place_in_line(experiment.decode(text[:-1])).numpy()[kept]
    seen = torch.stack(cells).numpy()[kept]
    wanted = [np.corrcoef(places, column)[0, 1] for column in seen.T]
    found = experiment.correlations(model, text)["place in the line"]
    np.testing.assert_allclose(found.numpy(), wanted, atol=1e-4)
