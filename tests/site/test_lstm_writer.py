"""The LSTM that writes in the reader's browser is the stored one, and everybody can use it."""

import gzip
import re
import sys

import pytest
import torch
from axe_playwright_python.sync_playwright import Axe

from helpers.apps.character_lstm import trained_character_lstm
from helpers.data.shakespeare import characters, encode, plays
from helpers.viz import explorables
from tests.conftest import ROOT

sys.path.insert(0, str(ROOT / "_ext"))
import lstm_writer

CELL = 100
BASE = {"source": lstm_writer.SCRIPT, "characters": characters(), "begin": "ROMEO:"}
BASE |= {"temperature": 0.7}
WRITES = {"stages": [["0", "x!q"], ["1,500", "ROMEO:↵Well."]], "n": 60}
ABLATES = {"n": 800, "ablate": [["nothing", None, "a↵b"], ["cell 100", [CELL, -0.24], "c↵d"]]}


@pytest.fixture
def load(page, tmp_path):
    """A page opened as a file, with the explorable and the script that it asks for."""
    faults = []

    def on_error(error):
        faults.append(str(error))

    def open_page(config, *, weights=True, width=1280):
        (tmp_path / "_static").mkdir(exist_ok=True)
        if weights:
            (tmp_path / lstm_writer.SCRIPT).write_text(lstm_writer.script(), encoding="utf-8")
        figure = explorables.to_html("lstm_writes", BASE | config, still="A text.", caption="Try.")
        head = '<!doctype html><html lang="en"><meta charset="utf-8"><title>Writer</title>'
        body = f"<main><h1>Writer</h1>{figure}</main>"
        (tmp_path / "page.html").write_text(f"{head}{body}", encoding="utf-8")
        page.set_viewport_size({"width": width, "height": 800})
        page.goto((tmp_path / "page.html").as_uri())
        return page

    page.on("pageerror", on_error)
    page.emulate_media(reduced_motion="reduce")
    yield open_page
    page.remove_listener("pageerror", on_error)
    page.emulate_media(reduced_motion="no-preference")
    assert faults == []


def written(page) -> str:
    return page.locator(".stage pre").inner_text()


def said(page, pattern) -> str:
    status = page.get_by_role("status").filter(has_text=re.compile(pattern))
    status.wait_for()
    return status.inner_text()


@torch.no_grad()
@pytest.mark.parametrize("ablated", [None, [CELL, -0.24]])
def test_logits_are_those_of_torch(load, ablated):
    page, model, text = load(WRITES), trained_character_lstm().double(), plays()[1000:1060]
    page.get_by_role("button", name="Next character").click()
    said(page, "Sampled")
    ids = encode(text)
    mine = page.evaluate(
        """([ids, ablated]) => {
          const net = window.lamplightLSTM;
          let state = net.start();
          return ids.map((id) => net.logits((state = net.step(state, id, ablated)).h));
        }""",
        [ids.tolist(), ablated],
    )
    state, right = None, []
    for vector in model.embedding(ids).split(1):
        h, state = model.recurrence(vector, state)
        if ablated:
            state[1][..., ablated[0]] = ablated[1]
        right.append(model.lm_head(h[0]))
    torch.testing.assert_close(
        torch.tensor(mine, dtype=torch.float64), torch.stack(right), atol=1e-6, rtol=0
    )


def test_it_is_light():
    assert len(gzip.compress(lstm_writer.script().encode())) <= 310_000


def test_it_writes_from_a_beginning(load):
    page = load(WRITES)
    assert written(page) == "ROMEO:\nWell."
    page.get_by_role("button", name="0 steps", exact=True).click()
    assert written(page) == "x!q"
    page.get_by_label("Begin with").fill("JULIET:")
    page.get_by_role("button", name="Write").click()
    assert "60 characters" in said(page, "sampled at temperature 0.7")
    first = written(page)
    assert first.startswith("JULIET:\n") and len(first) == len("JULIET:\n") + 60
    assert page.locator("[aria-pressed=true]").inner_text() == "1,500 steps"
    page.get_by_role("button", name="Write").click()
    assert written(page) != first
    page.get_by_role("button", name="Next character").click()
    shown = said(page, "Sampled: ., which had probability")
    assert len(written(page)) == len(first) + 1, shown


def test_temperature_zero_takes_the_most_probable(load):
    page = load(WRITES)
    page.get_by_label("Temperature").fill("0")
    texts = set()
    for _ in range(2):
        page.get_by_role("button", name="Write").click()
        said(page, "temperature 0.0")
        texts.add(written(page))
    assert len(texts) == 1
    assert "1.00" in page.locator(".stage").inner_text()


def test_ablating_the_cell_makes_lines_long(load):
    page = load(ABLATES)
    assert written(page) == "a↵\nb"
    lines = []
    for name in ("nothing", "cell 100"):
        found = 0
        for _ in range(3):
            page.get_by_role("button", name=name).click()
            found += int(said(page, "of verse").split()[2].replace("no", "0"))
        lines.append(found)
    assert lines[0] > 25 > 15 > lines[1]


def test_without_the_script_it_says_so(load):
    page = load(WRITES, weights=False)
    page.get_by_role("button", name="Write").click()
    said(page, "only on the course's site")
    assert written(page) == "ROMEO:\nWell."


@pytest.mark.parametrize("width", [390, 1280])
@pytest.mark.parametrize("config", [WRITES, ABLATES], ids=["writes", "ablates"])
def test_it_fits_and_axe_finds_nothing(load, config, width):
    page = load(config, width=width)
    assert page.evaluate("document.documentElement.scrollWidth <= window.innerWidth")
    assert Axe().run(page).response["violations"] == []
