"""Drawings and explorables: what they refuse, what they hold, and that they play in a browser."""

import html
import itertools
import json
import re
from dataclasses import astuple

import numpy as np
import pytest
import torch
from axe_playwright_python.sync_playwright import Axe

from helpers.apps.metrics import exact_match, f1_score, rouge
from helpers.apps.question_answering import best_spans
from helpers.data.news import FACT_WORDS, count_facts, tell_news, words_of
from helpers.generation import beam_search, next_token_probabilities
from helpers.interp.induction import trained_copier
from helpers.results.store import stored
from helpers.viz import drawings, explorables, tables
from tests.conftest import first_and_full

SCRIPTS = sorted(path.stem for path in explorables.FOLDER.glob("*.js") if path.stem != "kit")
PICTURES = sorted(path.stem for path in drawings.FOLDER.glob("*.svg"))
MOST_BYTES = 5 * 1024 + 512
"""Of a script without comments and indentation."""


@pytest.fixture
def play(browser, page):
    """Shows the HTML of a cell in the shared tab, and fails if a script complains."""
    faults, shown = [], []

    def on_error(error):
        faults.append(str(error))

    def on_console(message):
        if message.type == "error":
            faults.append(message.text)

    def open_page(body, *, script=True, width=800):
        tab = page if script else browser.new_page(java_script_enabled=False)
        shown.append(tab)
        tab.on("pageerror", on_error)
        tab.on("console", on_console)
        tab.goto("about:blank")
        tab.set_viewport_size({"width": width, "height": 900})
        style = "<style>body{font:16px/1.5 sans-serif;margin:1rem}figure{margin:0}</style>"
        head = f"<!doctype html><html lang=en><title>test</title>{style}"
        tab.set_content(f"{head}<main><h1>Test</h1>{body}</main>")
        return tab

    yield open_page
    for tab in shown:
        tab.remove_listener("pageerror", on_error)
        tab.remove_listener("console", on_console)
        if tab is not page:
            tab.close()
    assert faults == []


# ---- All of them ----------------------------------------------------------------------------


@pytest.mark.parametrize("name", SCRIPTS)
def test_script_is_small_and_asks_no_server(name):
    text = explorables._slim(explorables.FOLDER / f"{name}.js")
    assert len(text.encode()) <= MOST_BYTES
    assert "</script" not in text
    assert not re.search(r"https?://(?!www\.w3\.org)|fetch\(|import\(", text)


@pytest.mark.parametrize("name", PICTURES)
def test_drawing_takes_ink_and_size_from_the_page(name):
    svg = (drawings.FOLDER / f"{name}.svg").read_text(encoding="utf-8")
    assert "viewBox" in svg
    opening = re.search(r"<svg[^>]*>", svg)[0]
    assert not re.search(r"\b(width|height|role|aria-label)=", opening)
    assert not re.search(r"font-family|#000|black|white|https?://(?!www\.w3\.org)", svg)
    page = drawings.to_html(name, alt="Four words and more here.", caption="A caption.")
    ids = re.findall(r'\bid="([^"]+)"', page)
    assert len(ids) == len(set(ids))
    assert set(re.findall(r"url\(#([^)]+)\)", page)) <= set(ids)


# ---- What is refused ------------------------------------------------------------------------


def test_unknown_names_are_refused():
    with pytest.raises(ValueError, match=r"name: got 'nothing'; needed one of .*move_a_word"):
        explorables.to_html("nothing", {}, still="x", caption="")
    with pytest.raises(ValueError, match="table and still"):
        explorables.to_html("move_a_word", {}, caption="")
    with pytest.raises(ValueError, match="name"):
        drawings.to_html("nothing", alt="Four words and more.", caption="")


def test_a_table_needs_rows_of_one_length():
    with pytest.raises(ValueError, match="row 1: got 1 cells"):
        tables.to_html([[1, 2], [3]], ["a", "b"])
    with pytest.raises(ValueError, match="at least one"):
        tables.to_html([], ["a", "b"])


def test_a_table_rounds_and_marks_numbers():
    page = tables.to_html([["LSTM", 0.954, -3, None]], ["model", "accuracy", "steps", "seed"])
    assert '<td class="number">0.95</td><td class="number">−3</td>' in page
    assert '<td class="number">–</td>' in page


# ---- Each in a browser ----------------------------------------------------------------------


NOTES = [
    [["he", 0, 0, 0, 0], ["wrote", 3, 0, 0, 0], ["note", 1, 1, 1, 1]],
    [["note", 1, 1, 1, 1], ["of", 0, 0, 0, 0], ["voice", 0, 1, 2, 0]],
]
W_QUERY = np.array([[0, 0, 0], [0, 0, 0], [0, 0, 0], [1, 1, 1]])
W_KEY = np.array([[1, 0, 0], [0, 1, 0], [0, 0, 1], [-1, -1, -1]])


def attention(scores, vectors):
    weights = np.exp(scores - scores.max())
    weights /= weights.sum()
    return weights, weights @ vectors


def move_a_word():
    config = {"axes": ["written", "music", "feeling"], "sentences": NOTES, "query": "note"}
    config |= {"W_query": W_QUERY.tolist(), "W_key": W_KEY.tolist()}
    table = (["word", "weight"], [[word[0], 0.25] for word in NOTES[0]])
    return explorables.to_html("move_a_word", config, table=table, caption="Drag.")


def weights_shown(page):
    return [float(t) for t in page.locator(".stage td:nth-child(4)").all_inner_texts()]


def test_move_a_word_agrees_with_numpy(play):
    page = play(move_a_word())

    def agrees(scores, vectors, query):
        weights, context = attention(scores, vectors)
        np.testing.assert_allclose(weights_shown(page), weights, atol=6e-4)
        said = page.get_by_role("status").inner_text()
        numbers = [float(n) for n in re.findall(r"\d+\.\d+", said)]
        np.testing.assert_allclose(numbers, [weights[query], *context], atol=6e-3)

    x = np.array([word[1:] for word in NOTES[0]], dtype=float)
    agrees(x @ x[2], x[:, :3], 2)
    assert page.get_by_role("columnheader", name="vector").is_visible()
    assert page.get_by_role("status").inner_text().endswith("toward written.")
    page.get_by_role("slider", name="wrote").press("ArrowDown")
    x[1, 0] -= 0.5
    agrees(x @ x[2], x[:, :3], 2)
    page.get_by_role("slider", name="wrote").press("ArrowRight")
    x[1, 2] += 0.5
    page.get_by_role("radio", name="wrote").check()
    weights, _ = attention(x @ x[1], x)
    np.testing.assert_allclose(weights_shown(page), weights, atol=6e-4)
    page.get_by_role("button", name="note of voice").click()
    x = np.array(NOTES[1])[:, 1:].astype(float)
    agrees(x @ x[0], x[:, :3], 0)
    page.get_by_role("button", name="a query and a key").click()
    assert page.get_by_role("columnheader", name="key").is_visible()
    agrees(x @ W_KEY @ (x[0] @ W_QUERY), x[:, :3], 0)


def test_one_vector_counts_the_shared_entries_only(play):
    config = {"axes": ["written", "music", "feeling"], "sentences": NOTES, "query": "note"}
    config |= {"W_query": W_QUERY.tolist(), "W_key": W_KEY.tolist(), "shared": 3}
    table = (["word", "weight"], [[word[0], 0.25] for word in NOTES[0]])
    page = play(explorables.to_html("move_a_word", config, table=table, caption="Drag."))
    x = np.array([word[1:] for word in NOTES[0]], dtype=float)
    weights, _ = attention(x[:, :3] @ x[2, :3], x)
    np.testing.assert_allclose(weights_shown(page), weights, atol=6e-4)
    page.get_by_role("button", name="a query and a key").click()
    weights, _ = attention(x @ W_KEY @ (x[2] @ W_QUERY), x)
    np.testing.assert_allclose(weights_shown(page), weights, atol=6e-4)


def test_move_a_word_glides_to_its_context_vector(play):
    page = play(move_a_word())
    _, context = attention(np.array([0.0, 3.0, 4.0]), np.array([w[1:4] for w in NOTES[0]]))
    place = [0, -42 * (context[0] - context[1])]
    page.wait_for_function(
        """([x, y]) => {
          const { cx, cy } = document.querySelector(".stage svg > circle");
          return Math.hypot(cx.baseVal.value - x, cy.baseVal.value - y) < 0.1;
        }""",
        arg=place,
    )


def test_move_a_word_stands_beside_its_table(play):
    """As wide as a page of the site, plane and table share a row, and no text lies on another."""
    page = play(move_a_word(), width=760)
    page.get_by_role("button", name="note of voice").click()
    stage = page.locator(".stage")
    plane, table = (stage.locator(part).first.bounding_box() for part in ("svg", "table"))
    assert table["x"] >= plane["x"] + plane["width"] - 1
    assert table["y"] == pytest.approx(plane["y"])
    texts = page.locator(".stage svg text")
    assert "● context vector" in texts.all_text_contents()
    boxes = texts.evaluate_all(
        "all => all.map(t => t.getBoundingClientRect()).filter(b => b.width)"
        ".map(b => [b.left, b.top, b.right, b.bottom])"
    )
    for n, (left, top, right, bottom) in enumerate(boxes):
        for other in boxes[:n]:
            apart = left >= other[2] or right <= other[0] or top >= other[3] or bottom <= other[1]
            assert apart


def test_move_a_word_can_be_dragged(play):
    page = play(move_a_word())
    mark = page.locator("[role=slider] circle").nth(0).bounding_box()
    x, y = mark["x"] + mark["width"] / 2, mark["y"] + mark["height"] / 2
    page.mouse.move(x, y)
    page.mouse.down()
    page.mouse.move(x - 60, y + 90, steps=4)
    page.mouse.up()
    vector = page.locator(".stage td:nth-child(2)").nth(1).inner_text()
    written, music, feeling, _ = (float(entry) for entry in vector.strip("[]").split(","))
    assert written < 3 and music > 0 and feeling == 0


def test_move_a_word_is_put_on_an_axis_that_is_close(play):
    page = play(move_a_word())
    scale, left, top = page.locator(".stage svg").first.evaluate(
        "s => { const m = s.getScreenCTM(); return [m.a, m.e, m.f]; }"
    )
    box = page.locator("[role=slider] circle").nth(0).bounding_box()
    page.mouse.move(box["x"] + box["width"] / 2, box["y"] + box["height"] / 2)
    page.mouse.down()
    for to in ((-60, 60), (-148, 80)):  # close to the axis of music, at (-0.866, 0.5) * 42 * 4
        page.mouse.move(left + scale * to[0], top + scale * to[1], steps=4)
    page.mouse.up()
    assert page.locator(".stage td:nth-child(2)").nth(1).inner_text() == "[0, 4, 0, 0]"


PATHS = 10 * np.cumsum(np.random.default_rng(0).normal(size=(3, 4, 6, 2)), axis=2)
PATHS = (PATHS - PATHS[:, :, :1]).round(2)
CENTERS = PATHS.mean(axis=1).round(2)
"""Of three senses with four sentences each: a start that all share, and five blocks."""


def moving_note():
    def hundredths(path):
        return [round(100 * entry) for entry in path.flatten()]

    config = {
        "word": "note",
        "start": [1, 0],
        "senses": ["message", "music", "feeling"],
        "sentences": [[f"{s} in {n} one note" for n in range(4)] for s in ("a", "b", "c")],
        "paths": [[hundredths(path) for path in sense] for sense in PATHS],
        "centers": [hundredths(center) for center in CENTERS],
    }
    table = (["after block", "nearest"], [[0, 4], [5, 10]])
    return explorables.to_html("moving_note", config, table=table, caption="Play.")


def marks_shown(page):
    """x and y (3, 4, 2) of all marks, y upward."""
    moved = page.locator(".stage svg g path").evaluate_all(
        "all => all.map(p => p.getAttribute('transform').match(/-?\\d[\\d.e-]*/g).map(Number))"
    )
    return np.array(moved).reshape(3, 4, 2) * [1, -1]


def test_moving_note_agrees_with_numpy(play):
    page = play(moving_note())
    said = page.locator("p[role=status]")
    assert "At the start all 12 are equal" in said.inner_text()
    for block in (1, 3, 5):
        page.get_by_role("slider").fill(str(block))
        np.testing.assert_allclose(marks_shown(page), PATHS[:, :, block], atol=1e-6)
        far = np.linalg.norm(PATHS[:, :, None, block] - CENTERS[:, block], axis=-1)  # (3, 4, 3)
        nearest = far.argmin(axis=-1)
        right = (nearest == np.arange(3)[:, None]).sum()
        assert f"After block {block}, {right} of 12 are nearest" in said.inner_text()
        a, b, c = (nearest == np.arange(3)[:, None]).sum(axis=1)
        assert f"sense: message {a}, music {b}, feeling {c}." in said.inner_text()
        assert page.get_by_text(f"{right} of 12", exact=True).is_visible()
        for sense, n in ((1, 0), (2, 3)):
            page.get_by_role("combobox").select_option(index=4 * sense + n)
            name = ["message", "music", "feeling"][nearest[sense, n]]
            assert said.inner_text().endswith(f"The chosen one is nearest to {name}.")
    page.get_by_role("checkbox", name="attention").uncheck()
    assert not marks_shown(page).any() and "all 12 stay equal" in said.inner_text()


def test_moving_note_counts_as_its_experiment():
    """The page counts from the stored paths, and gets what `experiments.moving_note` counted."""
    table = stored("moving_note")
    paths, centers = np.array(table["paths"]), np.array(table["centers"])
    far = np.linalg.norm(paths[:, :, None] - centers, axis=-1)  # (senses, n, senses, 1 + blocks)
    right = far.argmin(axis=2) == np.arange(3)[:, None, None]
    assert right.sum(axis=(0, 1)).tolist() == table["correct"]["note"]


def test_moving_note_plays_pauses_and_arrives(play):
    page = play(moving_note())
    page.get_by_role("button", name="Play").press("Enter")
    page.wait_for_function("+document.querySelector('.stage input').value >= 1")
    page.get_by_role("button", name="Pause").press("Enter")
    block = int(page.get_by_role("slider").input_value())
    np.testing.assert_allclose(marks_shown(page), PATHS[:, :, block], atol=1e-6)
    page.get_by_role("slider").press("Home")
    page.get_by_role("button", name="Play").click()
    page.wait_for_function("document.querySelector('.stage button').textContent === 'Play'")
    np.testing.assert_allclose(marks_shown(page), PATHS[:, :, 5], atol=1e-6)


def test_moving_note_is_chosen_by_a_click(play):
    page = play(moving_note())
    page.get_by_role("slider").fill("5")
    mark = page.locator(".stage svg g path").nth(9).bounding_box()
    page.mouse.click(mark["x"] + mark["width"] / 2 + 1, mark["y"] + mark["height"] / 2)
    assert page.get_by_role("combobox").input_value() == "c in 1 one note"
    assert page.locator(".stage [aria-pressed=true]").count() == 0
    page.get_by_role("button", name="a in 0 one note").click()
    assert page.get_by_role("combobox").input_value() == "a in 0 one note"


def heads_of_a_real_model():
    """Two layers of three heads on three tokens."""
    signs = "0123456789abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ-_"
    maps = [[f"_{signs[10 * h]}_0{signs[20 * h + i]}_" for h in range(3)] for i in range(2)]
    copying, other = [[0.1, 0.9, 0.2], [0.3, 0.4, 0.5]], [[0.1, 0.2, 0.3], [0.4, 0.5, -0.6]]
    config = {
        "tokens": ["The", " lamp", " hums"],
        "maps": maps,
        "signs": signs,
        "scores": [
            {"name": "Copying", "about": "score", "most": 0.9, "values": copying},
            {"name": "Agreement", "about": "change", "most": 0.6, "values": other},
        ],
        "start": [0, 1],
    }
    return explorables.to_html(
        "heads_of_a_real_model",
        config,
        table=(["by", "head"], [["Copying", "0.1"]]),
        caption="All.",
    )


def test_heads_are_chosen_by_score_click_and_key(play):
    page = play(heads_of_a_real_model())
    said = page.get_by_role("status")
    assert said.inner_text().startswith("L0H1: score 0.90")
    assert "“hums” it attends most to “hums” (weight 1.00)" in said.inner_text()
    page.get_by_role("button", name="Agreement").click()
    assert said.inner_text().startswith("L1H2: change −0.60")  # the largest, whatever its sign
    page.get_by_role("application").press("ArrowRight")  # round to the first layer
    assert said.inner_text().startswith("L0H2: change 0.30")
    page.locator(".stage svg").first.locator("rect").nth(3).click()
    assert said.inner_text().startswith("L1H0: change 0.40")
    opacity = page.locator(".stage svg").nth(1).locator("rect").nth(1)
    assert opacity.get_attribute("fill-opacity") == "0"
    page.get_by_role("application").press("ArrowDown")
    assert float(opacity.get_attribute("fill-opacity")) == pytest.approx(10 / 63)


def test_without_script_the_table_stays(play):
    page = play(move_a_word(), script=False)
    assert page.locator(".still table").is_visible()
    assert "wrote" in page.locator(".still").inner_text()


def test_config_arrives_whole():
    page = explorables.to_html("move_a_word", {"a": "<&\"'"}, still="<p>x</p>", caption="")
    text = re.search(r'data-config="([^"]*)"', page)[1]
    assert json.loads(html.unescape(text)) == {"a": "<&\"'"}


SAMPLING = {
    "after": {
        "The letters": {"words": ["lie", "that", "on", "hum", "lies"], "logits": [3, 2, 1, 0, 0]},
        "A lamp": {"words": ["hums", "that", "in", "lies", "of"], "logits": [5, 1, 1, 1, -2]},
    }
}


def sampling():
    table = (["text", "next word"], [[text, "lie"] for text in SAMPLING["after"]])
    return explorables.to_html("sampling", SAMPLING, table=table, caption="Slide.")


@pytest.mark.parametrize(
    ("text", "slides", "options"),
    [
        ("The letters", {}, {}),
        ("The letters", {"temperature": "0.5"}, {"temperature": 0.5}),
        ("A lamp", {"temperature": "2", "top-p": "0.7"}, {"temperature": 2.0, "top_p": 0.7}),
        ("A lamp", {"top-k": "2"}, {"top_k": 2}),
        ("The letters", {"temperature": "0"}, {"temperature": 0.0}),
    ],
)
def test_sampling_agrees_with_the_helper(play, text, slides, options):
    page = play(sampling())
    page.get_by_role("button", name=text).click()
    chosen = SAMPLING["after"][text]
    assert page.locator(".stage th[scope=row]").all_inner_texts() == chosen["words"]
    for name, value in slides.items():
        page.get_by_role("slider", name=name).fill(value)
    shown = [float(t) for t in page.locator(".stage td:nth-child(2)").all_inner_texts()]
    logits = torch.tensor(chosen["logits"], dtype=torch.float64)
    wanted = next_token_probabilities(logits, **options)
    np.testing.assert_allclose(shown, wanted, atol=6e-4)
    page.get_by_role("button", name="Sample 100").click()
    counts = [int(t) for t in page.locator(".stage td:nth-child(3)").all_inner_texts()]
    assert sum(counts) == 100
    assert all(count == 0 for count, p in zip(counts, wanted, strict=True) if p == 0)


def test_sampling_may_set_the_temperature_only(play):
    (text, chosen), _ = SAMPLING["after"].items()
    config = {"after": {text: chosen}, "only": True, "unit": "character"}
    table = (["word", "probability"], [[word, 0.2] for word in chosen["words"]])
    page = play(explorables.to_html("sampling", config, table=table, caption="Slide."))
    page.get_by_role("slider").fill("0.5")  # strict: there is one
    said = page.locator("[role=status]").inner_text()
    assert said == "The likeliest character, “lie”, has probability 0.86."


STACKS = {
    f"{norm}|{residual}|{feed}": [[0.1 * i + 0.01] * 13, [10.0**-i] * 13]
    for i, (norm, residual, feed) in enumerate(
        itertools.product(
            ("pre-norm", "post-norm", "no norm"), ("true", "false"), ("true", "false")
        )
    )
}


def stack_depth():
    table = (["stack", "cosine"], [["whole", 0.01]])
    return explorables.to_html("stack_depth", {"stacks": STACKS}, table=table, caption="Try.")


def test_stack_depth_shows_the_stack_that_is_chosen(play):
    page = play(stack_depth())
    assert "similarity is 0.01" in page.locator("[role=status]").inner_text()
    page.get_by_role("button", name="no norm").click()
    page.get_by_role("checkbox", name="residual connections").uncheck()
    said = page.locator("[role=status]").inner_text()
    assert "similarity is 1.01: the tokens have collapsed" in said and "vanishes" in said
    page.get_by_role("slider", name="after block").fill("3")
    assert page.locator("[role=status]").inner_text().startswith("After block 3")


def test_stack_depth_keeps_a_curve_to_compare_with(play):
    page = play(stack_depth())
    kept = page.locator(".stage svg path[stroke-dasharray]")
    assert kept.evaluate_all("all => all.map(p => p.getAttribute('d'))") == ["", ""]
    lamp = page.locator(".stage svg path[style]")
    before = lamp.evaluate_all("all => all.map(p => p.getAttribute('d'))")
    page.get_by_role("button", name="Keep this curve").click()
    page.get_by_role("button", name="no norm").click()
    assert kept.evaluate_all("all => all.map(p => p.getAttribute('d'))") == before
    assert lamp.evaluate_all("all => all.map(p => p.getAttribute('d'))") != before
    assert page.get_by_text("Dashed: pre-norm, residual, feed-forward.").is_visible()
    page.get_by_role("button", name="Remove the dashed curve").click()
    assert kept.evaluate_all("all => all.map(p => p.getAttribute('d'))") == ["", ""]


# ---- Lecture 4: paint a mask


TINY_HEAD = {
    "words": ["the", "old", "lamps", "often", "hum"],
    "x": [[1, 0.2], [-0.4, 1], [1.2, -1], [0.3, 1.4], [-1, -0.6]],
    "W_query": [[1.1, -0.5], [0.4, 1.2]],
    "W_key": [[0.9, 0.3], [-0.6, 1]],
    "W_value": [[1, 0.2], [0.1, 1]],
}
NOTHING_HIDDEN = np.ones((5, 5), dtype=bool)
MASKS = {
    "none": NOTHING_HIDDEN,
    "causal": np.tril(NOTHING_HIDDEN),
    "off by one": np.tril(NOTHING_HIDDEN, 1),
    "inverted": ~np.tril(NOTHING_HIDDEN),
    "padding right": NOTHING_HIDDEN & (np.arange(5) < 3),
    "causal, padding left": np.tril(NOTHING_HIDDEN) & (np.arange(5) > 1),
}
WAYS = ["scores to −∞", "scores to −1e9", "scores to 0", "weights to 0 after softmax"]


def masked_head(x, mask, way):
    """Weights and outputs of the tiny head; a fully masked row under −∞ is NaN."""
    query, key, value = (x @ np.array(TINY_HEAD[f"W_{n}"]) for n in ("query", "key", "value"))
    scores = query @ key.T / np.sqrt(2)
    low = {"scores to −∞": -np.inf, "scores to −1e9": -1e9, "scores to 0": 0.0}.get(way)
    if low is not None:
        scores = np.where(mask, scores, low)
    with np.errstate(invalid="ignore"):
        weights = np.exp(scores - scores.max(axis=-1, keepdims=True))
        weights /= weights.sum(axis=-1, keepdims=True)
    weights = weights * mask if low is None else weights
    return weights, weights @ value


def leaking_cells(mask, way):
    x = np.array(TINY_HEAD["x"])
    before = masked_head(x, mask, way)[1]
    found = set()
    for j in range(1, 5):
        changed = x.copy()
        changed[j] += (0.9, -0.7)
        moved = np.abs(masked_head(changed, mask, way)[1] - before).max(axis=-1) > 1e-9
        found |= {(i, j) for i in range(j) if moved[i]}
    return found


def paint_a_mask():
    headers, rows = ["query", "weight"], [[w, 0.2] for w in TINY_HEAD["words"]]
    return explorables.to_html("paint_a_mask", TINY_HEAD, table=(headers, rows), caption="Paint.")


def painted_state(page):
    """The weights (5, 5) that the page shows, its leaking cells, and its verdict."""
    cells = page.locator(".stage tbody button")
    labels = cells.evaluate_all("all => all.map((cell) => cell.getAttribute('aria-label'))")
    weights = np.array([float(t) for t in cells.all_inner_texts()]).reshape(5, 5)
    leaks = {(n // 5, n % 5) for n, label in enumerate(labels) if label.endswith("leaks")}
    return weights, leaks, page.get_by_role("status").inner_text()


def test_paint_a_mask_agrees_with_numpy_everywhere(play):
    page = play(paint_a_mask())
    for name, mask in MASKS.items():
        page.get_by_role("button", name=name, exact=True).click()
        for way in WAYS:
            page.get_by_role("button", name=way, exact=True).click()
            weights, leaks, verdict = painted_state(page)
            expected = masked_head(np.array(TINY_HEAD["x"]), mask, way)[0]
            np.testing.assert_allclose(weights, expected, atol=5.1e-3)
            assert leaks == leaking_cells(mask, way)
            assert verdict.startswith("Leak" if leaks else "No leak")


def test_paint_a_mask_opens_without_a_verdict(play):
    """Lecture 4 asks what a head without a mask leaks after it has shown this."""
    page = play(paint_a_mask())
    pressed = page.locator(".stage button[aria-pressed=true]")
    assert pressed.all_inner_texts()[:2] == ["none", "scores to −∞"] and pressed.count() == 27
    _, leaks, verdict = painted_state(page)
    assert not leaks and "eak" not in verdict
    page.get_by_role("button", name="none", exact=True).click()
    _, leaks, verdict = painted_state(page)
    assert leaks == leaking_cells(MASKS["none"], WAYS[0]) and verdict.startswith("Leak: 4 of 5")


def test_paint_a_mask_says_what_an_empty_row_gives(play):
    page = play(paint_a_mask())
    page.get_by_role("button", name="causal, padding left").click()
    for way, result in zip(WAYS, ["NaN", "uniform", "uniform", "zeros"], strict=True):
        page.get_by_role("button", name=way, exact=True).click()
        assert f"the weights are {result}" in painted_state(page)[2]


def test_a_mask_is_painted_by_pointer_and_keyboard(play):
    page = play(paint_a_mask())
    page.get_by_role("button", name="causal", exact=True).click()
    cells = page.locator(".stage tbody button")
    first, last = cells.nth(1).bounding_box(), cells.nth(4).bounding_box()
    page.mouse.move(first["x"] + 8, first["y"] + 8)
    page.mouse.down()
    page.mouse.move(last["x"] + 8, last["y"] + 8, steps=12)
    page.mouse.up()
    assert painted_state(page)[1] == {(0, 1), (0, 2), (0, 3), (0, 4)}
    cells.nth(0).focus()
    page.keyboard.press("ArrowRight")
    page.keyboard.press("Space")
    mask = MASKS["causal"].copy()
    mask[0, 2:] = True
    weights, leaks, _ = painted_state(page)
    expected = masked_head(np.array(TINY_HEAD["x"]), mask, WAYS[0])[0]
    np.testing.assert_allclose(weights, expected, atol=5.1e-3)
    assert leaks == leaking_cells(mask, WAYS[0])


# ---- Lecture 5: the cut into heads


def cut_heads():
    config = {"T": 3, "d_model": 6, "heads": [1, 2, 3, 4]}
    table = (["head", "token 0"], [["0", "0 1 2"]])
    return explorables.to_html("cut_heads", config, table=table, caption="Cut.")


NUMBERED = np.array([[10 * token + feature for feature in range(6)] for token in range(3)])


@pytest.mark.parametrize("n", first_and_full(2, 1, 3))
def test_cut_heads_agrees_with_numpy(play, n):
    page = play(cut_heads())
    page.get_by_role("button", name=str(n), exact=True).click()
    page.get_by_role("button", name="per head").click()

    def shown():
        lines = page.locator(".stage pre").inner_text().strip().splitlines()
        return np.array([[int(x) for x in re.findall(r"\d+", line)[1:]] for line in lines])

    right = NUMBERED.reshape(3, n, 6 // n).swapaxes(0, 1)
    np.testing.assert_array_equal(shown(), right.reshape(n, -1))
    assert "every token" in page.get_by_role("status").inner_text()
    page.get_by_role("button", name="view alone").click()
    wrong = NUMBERED.reshape(n, 3, 6 // n)
    np.testing.assert_array_equal(shown(), wrong.reshape(n, -1))
    misplaced = int((wrong // 10 != np.arange(3)[:, None]).sum())
    said = page.get_by_role("status").inner_text()
    assert f"{misplaced} of 18" in said if misplaced else "every token" in said


def test_cut_heads_moves_tiles_and_refuses_remainders(play):
    page = play(cut_heads())
    tile = page.locator(".stage svg g").filter(has_text="15")
    before = tile.bounding_box()["y"]
    page.get_by_role("button", name="per head").press("Enter")
    page.wait_for_function("document.getAnimations().length === 0")
    assert tile.bounding_box()["y"] > before
    page.get_by_role("button", name="4", exact=True).click()
    assert "cannot be cut into 4 equal heads" in page.get_by_role("status").inner_text()


# ---- Lecture 6: order -----------------------------------------------------------------------

DIALS = {
    "names": ["query", "key"],
    "q": [1, 0, 0, 1, 1, 0, 1, 0],
    "k": [1, 0, 1, 0, 1, 0, 1, 0],
    "i": 12,
    "j": 8,
    "longest": 40,
    "bases": [2, 100, 10_000],
    "base": 2,
}


def rotary_dials():
    table = (["i", "j", "score"], [[12, 8, 1.0]])
    return explorables.to_html("rotary_dials", DIALS, table=table, caption="Slide.")


def rotated(vector, t, base):
    pairs = np.array(vector, dtype=float).reshape(-1, 2)
    angles = t * float(base) ** (-2 * np.arange(len(pairs)) / len(vector))
    cos, sin = np.cos(angles), np.sin(angles)
    a, b = pairs.T
    return np.stack([a * cos - b * sin, a * sin + b * cos], axis=1).ravel()


def status_numbers(page):
    said = page.locator("p[role=status]").inner_text().replace("−", "-")
    return [float(n) for n in re.findall(r"-?\d+(?:\.\d+)?", said)]


def test_rotary_dials_agree_with_numpy(play):
    page = play(rotary_dials())

    def agrees(i, j, base):
        score = rotated(DIALS["q"], i, base) @ rotated(DIALS["k"], j, base)
        np.testing.assert_allclose(status_numbers(page), [i, j, i - j, score], atol=6e-3)
        return score

    before = agrees(12, 8, 10_000)
    page.get_by_role("button", name="Move both").click()
    assert agrees(22, 18, 10_000) == pytest.approx(before)
    page.get_by_role("slider", name="query at i").fill("3")
    agrees(3, 18, 10_000)
    page.get_by_role("slider", name="base").press("ArrowLeft")
    agrees(3, 18, 100)


def test_rotary_dials_tell_left_from_right(play):
    page = play(rotary_dials())
    page.get_by_role("slider", name="query at i").fill("8")
    page.get_by_role("slider", name="key at j").fill("12")
    assert status_numbers(page)[-1] != pytest.approx(
        rotated(DIALS["q"], 12, 10_000) @ rotated(DIALS["k"], 8, 10_000), abs=0.1
    )


def test_rotary_dials_turn_the_key_at_the_base_in_use(play):
    """At every base the score of a key two ahead depends on i − j alone, and is highest at 2."""
    config = DIALS | {"q": [1, 0] * 4, "k": [1, 0] * 4, "ahead": 2}
    page = play(explorables.to_html("rotary_dials", config, still="<p>Still</p>", caption="Turn."))
    for index, base in enumerate(DIALS["bases"]):
        page.get_by_role("slider", name="base").fill(str(index))
        for i, j in ((10, 8), (32, 30), (16, 8), (38, 30), (8, 12)):
            page.get_by_role("slider", name="query at i").fill(str(i))
            page.get_by_role("slider", name="key at j").fill(str(j))
            key = rotated(rotated([1, 0] * 4, 2, base), j, base)
            score = rotated([1, 0] * 4, i, base) @ key
            np.testing.assert_allclose(status_numbers(page), [i, j, i - j, score], atol=6e-3)
            assert (status_numbers(page)[-1] == 4) == (i - j == 2)
        points = page.locator("polyline").get_attribute("points").split()
        x, y = np.array([point.split(",") for point in points], dtype=float).T
        assert (x[y.argmin()] - 220) / 5.2 == pytest.approx(2)


def clockwise(x, y):
    """The angle of points of a drawing from upright, in radians, (n,)."""
    return np.arctan2(np.array(x), -np.array(y))


def test_rotary_dials_turn_like_clocks(play):
    """Upright at position 0, then clockwise; a green sector reaches from hand to hand."""
    config = DIALS | {"q": [1, 0] * 4, "k": [1, 0] * 4, "bases": [100], "base": 0}
    page = play(explorables.to_html("rotary_dials", config, still="<p>Still</p>", caption="Turn."))
    assert page.get_by_role("slider", name="base").count() == 0
    speeds = 100.0 ** (-np.arange(4) / 4)
    sectors = []
    for i, j in ((12, 8), (22, 18)):
        x, y = page.locator(".stage line").evaluate_all(
            "all => ['x2', 'y2'].map(end => all.map(line => +line.getAttribute(end)))"
        )
        angles = clockwise(x, y).reshape(4, 2)  # query, key
        turned = np.outer(speeds, [i, j])
        np.testing.assert_allclose(np.exp(1j * angles), np.exp(1j * turned), atol=1e-6)
        paths = page.locator(".stage g path").evaluate_all(
            "all => all.map(path => path.getAttribute('d'))"
        )
        for path, ends in zip(paths, angles, strict=True):
            a, b, _, _, _, _, sweep, c, d = map(
                float, re.findall(r"-?\d+(?:\.\d+)?(?:e-\d+)?", path)[2:]
            )
            np.testing.assert_allclose(clockwise([c, a], [d, b]), ends, atol=1e-6)
            opening = np.angle(np.exp(1j * (ends[0] - ends[1])))
            assert sweep == (opening > 0)
            sectors.append(opening)
        page.get_by_role("button", name="Move both").click()
    np.testing.assert_allclose(sectors[:4], sectors[4:], atol=1e-6)


# ---- Lecture 1: a state of one number --------------------------------------------------------

NOUNS = {1: ["letter", "letters"], 4: ["drawer", "drawers"], 7: ["lamp", "lamps"]}


def fading_state():
    words = "The letters in the drawer under the lamp that hums ___".split()
    config = {"words": words, "nouns": NOUNS, "plural": [1], "w": 0.9}
    table = (["w", "state"], [["0.9", -0.87]])
    return explorables.to_html("fading_state", config, table=table, caption="Read on.")


def one_number(w, plural, first_only):
    """The state after each of the eleven words, and what each noun adds to the last."""
    state, states, adds = 0.0, [], []
    for t in range(11):
        enters = t in NOUNS and (t == 1 or not first_only)
        number = (1 if t in plural else -1) * enters
        state = w * state + number
        states.append(state)
        adds += [number * w ** (10 - t)] * bool(enters)
    return states, adds


def assert_state_shown(page, w, plural, first_only):
    states, adds = one_number(w, plural, first_only)
    said = page.locator("p[role=status]").inner_text().replace("−", "-")
    numbers = [float(n) for n in re.findall(r"-?\d+\.\d\d", said)]
    np.testing.assert_allclose(numbers, [*adds, states[-1]], atol=5.1e-3)
    verb = "lie" if states[-1] > 0 else "lies"
    right = "right" if (1 in plural) == (verb == "lie") else "wrong"
    assert said.endswith(f"so the verb is “{verb}”: {right}.")
    heights = page.locator(".stage rect").evaluate_all(
        "all => all.map(r => +r.getAttribute('height'))"
    )
    tallest = max(1, *map(abs, states))
    np.testing.assert_allclose(heights, 66 * np.abs(states) / tallest, atol=1e-6)


@pytest.mark.parametrize("w", first_and_full(0.9, 0.5, 1.0, 1.3))
def test_fading_state_agrees_with_a_loop(play, w):
    page = play(fading_state())
    page.get_by_label("Factor w").fill(str(w))
    assert_state_shown(page, w, {1}, first_only=False)
    page.get_by_label("lamps").check()
    assert_state_shown(page, w, {1, 7}, first_only=False)
    page.get_by_label("letters").uncheck()
    assert_state_shown(page, w, {7}, first_only=False)
    page.get_by_role("button", name="only the first noun enters").click()
    assert_state_shown(page, w, {7}, first_only=True)


def test_fading_state_needs_a_gate_or_w_above_one(play):
    """What the page says of its three settings."""
    page = play(fading_state())
    said = page.locator("p[role=status]")
    for w, verdict in [("0.5", "wrong"), ("1", "wrong"), ("1.1", "wrong"), ("1.2", "right")]:
        page.get_by_label("Factor w").fill(w)
        assert said.inner_text().endswith(f"{verdict}.")
    page.get_by_role("button", name="only the first noun enters").click()
    page.get_by_label("Factor w").fill("0.5")
    assert said.inner_text().endswith("right.")


# ---- Lecture 1: a passage as an LSTM reads it -------------------------------------------------

READ_TEXT = "KING:\nNo, no\n"
CELLS = np.array([[0.5 * t for t in range(13)], [-1.0, *[0.25] * 12], np.linspace(-3, 3, 13)])


def read_state():
    most = np.abs(CELLS).max(axis=1)
    digits = np.round(17 * CELLS / most[:, None]).astype(int) + 17
    config = {
        "lines": READ_TEXT.split("\n"),
        "states": ["".join(np.base_repr(d, 36).lower() for d in row) for row in digits],
        "most": most.tolist(),
        "next": [[["e", 0.5], ["\n", 0.25], [" ", 0.125]]] * 13,
        "cells": {"first": 0, "last": 2},
        "cell": 0,
        "at": 3,
    }
    return explorables.to_html("read_state", config, table=(["line"], [["KING:"]]), caption="Read.")


def test_read_state_shows_the_chosen_cell(play):
    """Its value after each character, and one box in the passage for each character."""
    page = play(read_state())
    said = page.locator("p[role=status]")
    assert said.inner_text() == (
        "After “KING”, cell 0 is about 1.4. Next, the network expects e (0.50), ↵ (0.25), ␣ (0.13)."
    )
    page.get_by_role("button", name="last").click()
    page.get_by_label("Read up to").fill("12")
    assert said.inner_text().startswith("After “ING:↵No, no↵”, cell 2 is about 3.0.")
    for cell in range(3):
        page.get_by_label("Any cell").fill(str(cell))
        pressed = page.get_by_role("button", pressed=True).all_inner_texts()
        assert pressed == [["first"], [], ["last"]][cell]
        for t in (0, 5, 12):
            page.get_by_label("Read up to").fill(str(t))
            value = float(re.search(r"about (\S+)\. ", said.inner_text())[1].replace("−", "-"))
            step = np.abs(CELLS[cell]).max() / 17
            assert value == pytest.approx(CELLS[cell, t], abs=step / 2 + 0.051)
        paths = page.locator(".stage svg >> nth=0").locator("g path")
        drawn = paths.evaluate_all("all => all.map(p => p.getAttribute('d').split('z').length - 1)")
        assert sum(drawn) == len(READ_TEXT)


def test_read_state_follows_clicks(play):
    """On a character, and on a bar of the state."""
    page = play(read_state())
    said = page.locator("p[role=status]")
    passage, memory = (page.locator(".stage svg").nth(i) for i in (0, 1))
    size = passage.bounding_box()
    passage.click(position={"x": size["width"] * 14 / 68, "y": size["height"] * 0.45})
    assert said.inner_text().startswith("After “KING:↵No”")
    size = memory.bounding_box()
    memory.click(position={"x": size["width"] * 0.9, "y": size["height"] / 2})
    assert ", cell 2 is about" in said.inner_text()


# ---- Lecture 1: a card of fixed size, and a book ---------------------------------------------

COLOURS = ["red", "blue", "green", "gold"]


def rooms_and_lamps():
    """A vector for each of sixteen rooms, and the index of its colour."""
    generator = np.random.default_rng(0)
    return generator.normal(size=(16, 32)).round(1), generator.integers(4, size=16)


def index_card():
    keys, values = rooms_and_lamps()
    config = {"keys": keys.tolist(), "values": values.tolist(), "colours": COLOURS}
    config |= {"sizes": [4, 8, 16, 32], "size": 1, "book": 4}
    config |= {"facts": 4, "asked": 3, "sharpness": 20}
    table = (["facts", "right"], [[4, 4]])
    return explorables.to_html("index_card", config, table=table, caption="Read on.")


def assert_memories_shown(page, facts, size, asked):
    """The read-outs, the room asked for, the marks on the rooms, and the counts in the status."""
    keys, values = rooms_and_lamps()

    def directions(width):
        return keys[:facts, :width] / np.linalg.norm(keys[:facts, :width], axis=1, keepdims=True)

    colours = np.eye(4)[values[:facts]]
    card = directions(size) @ (directions(size).T @ colours)
    fitted = directions(size) @ np.linalg.lstsq(directions(size), colours, rcond=None)[0]
    weights = np.exp(20 * directions(4) @ directions(4).T)
    book = weights / weights.sum(axis=1, keepdims=True) @ colours
    memories = (card, fitted, book)
    for picture, scores in zip(page.locator(".stage svg").all(), memories, strict=True):
        said = picture.get_attribute("aria-label").replace("−", "-")
        shown = [float(n) for n in re.findall(r"-?\d+\.\d\d", said)]
        np.testing.assert_allclose(shown, scores[asked], atol=5.1e-3)
    right = card.argmax(axis=1) == values[:facts]
    rooms = page.get_by_role("group", name="Ask for a room").get_by_role("button")
    marks = [text[-1] == "✓" for text in rooms.all_inner_texts()]
    assert marks == right.tolist()
    assert [room.get_attribute("aria-pressed") for room in rooms.all()].index("true") == asked
    counts = [(memory.argmax(axis=1) == values[:facts]).sum() for memory in memories]
    first, second, third = (f"all {facts}" if n == facts else f"{n} of {facts}" for n in counts)
    assert (
        page.locator("p[role=status]")
        .inner_text()
        .endswith(
            f"Rooms right: the adding card ({4 * size} numbers) {first}, "
            f"the least-squares card ({4 * size}) {second}, the book ({facts * 8}) {third}."
        )
    )


def test_index_card_agrees_with_numpy(play):
    page = play(index_card())
    assert_memories_shown(page, 4, 8, 3)
    page.get_by_label("Facts read").fill("16")
    assert_memories_shown(page, 16, 8, 3)
    page.get_by_role("button", name="128", exact=True).click()
    page.get_by_role("button", name=re.compile("^16 ")).click()
    assert_memories_shown(page, 16, 32, 15)
    page.get_by_label("Facts read").fill("2")  # the room asked for is no longer there
    page.get_by_role("button", name="16", exact=True).click()
    assert_memories_shown(page, 2, 4, 1)


def test_lstm_drawing_has_the_worked_numbers():
    """Lecture 1: the second word, with the weights of its cell, in NumPy."""

    def sigmoid(z):
        return 1 / (1 + np.exp(-z))

    h = c = 0.0
    for plural in (1.0, 0.0):
        previous = c
        i, f, g, o = np.array([8.0, -8.0, 6.0, 0.0]) * plural + np.array([-4.0, 4.0, -3.0, 2.0])
        i, f, g, o = sigmoid(i), sigmoid(f), np.tanh(g), sigmoid(o)
        c = f * previous + i * g
        h = o * np.tanh(c)
    expected = {
        "forget": [previous, f, f * previous],
        "write": [i, g, i * g, c],
        "show": [np.tanh(c), o, h],
    }
    svg = (drawings.FOLDER / "lstm_cell.svg").read_text(encoding="utf-8")
    for part, numbers in expected.items():
        group = re.search(rf'<g data-part="{part}">(.*?)</g>', svg, re.DOTALL)[1]
        shown = re.findall(r'class="small value"[^>]*>([^<]+)<', group)
        assert shown == [f"{number:.2f}".replace("-", "−") for number in numbers]


def test_lstm_drawing_grows_stage_by_stage(play):
    """After the lit stage all is pale and without numbers."""
    page = play(
        drawings.to_html("lstm_cell", alt="Four words and more.", caption="", highlight="write")
    )
    visible = page.locator(".value").evaluate_all(
        "all => all.filter(v => getComputedStyle(v).display != 'none').map(v => v.textContent)"
    )
    assert "0.96" in visible
    assert "0.94" in visible
    assert "0.65" not in visible
    opacity = "g => getComputedStyle(g).opacity"
    assert page.locator("g[data-part=forget]").evaluate(opacity) == "1"
    assert page.locator("g[data-part=show]").evaluate(opacity) == "0.5"


def lstm_step():
    still = drawings.still("lstm_cell", alt="An LSTM cell, stage by stage.", highlight="show")
    config = {"nouns": [["letter", "letters"], ["drawer", "drawers"], ["lamp", "lamps"]]}
    config |= {"plural": [0], "stage": 0, "W": [8, -8, 6, 0], "b": [-4, 4, -3, 2]}
    return explorables.to_html("lstm_step", config, still=still, caption="Step.")


def lstm_numbers(plural, last):
    """What the drawing shows of a step: torch's LSTM cell with the weights of the lecture."""
    W, b = torch.tensor([8.0, -8, 6, 0]), torch.tensor([-4.0, 4, -3, 2])
    c = torch.zeros(())
    for t in range(last + 1):
        i, f, g, o = W * plural[t] + b
        old, (i, f, o), g = c, (z.sigmoid() for z in (i, f, o)), g.tanh()
        c = f * old + i * g
    values = (old, f, f * old, i, g, i * g, c, c.tanh(), o, o * c.tanh())
    return [float(value) for value in values]


def test_lstm_step_agrees_with_torch(play):
    page = play(lstm_step())
    values, said = page.locator(".stage svg .value"), page.get_by_role("status")

    def agrees(word, plural, last):
        first, *rest = values.all_text_contents()
        assert first == word
        found = [float(text.replace("−", "-")) for text in rest]
        np.testing.assert_allclose(found, lstm_numbers(plural, last), atol=5.1e-3)

    agrees("drawer", [1, 0, 0], 1)
    assert "0.98 · 0.98 = 0.96 of the old content stays" in said.inner_text()
    for text in ("−0.02 is added", "= 0.65 is the hidden state. It says plural"):
        page.get_by_role("button", name="Next").click()
        assert text in said.inner_text()
    page.get_by_role("button", name="Next").click()
    agrees("lamp", [1, 0, 0], 2)
    assert "lit" in page.locator("g[data-part=forget]").get_attribute("class")
    page.get_by_role("checkbox", name="letters").uncheck()
    page.get_by_role("checkbox", name="lamps").check()
    agrees("lamps", [0, 0, 1], 2)
    page.get_by_role("button", name="3. Show").click()
    assert "It says plural" in said.inner_text()  # though the first noun was a letter
    page.get_by_role("button", name="letter", exact=True).click()
    agrees("letter", [0, 0, 1], 0)
    assert "It says singular" in said.inner_text()


def test_a_drawing_grows_part_by_part():
    """A part that comes later is left out, with its arrows; what takes its place comes in."""
    words = {"alt": "Four words and more.", "caption": ""}
    whole = drawings.to_html("scaled_dot_product", **words)
    early = drawings.to_html("scaled_dot_product", without=["mask", "heads"], **words)
    paths = (("mask", "M340 114V138", "M340 114V198"), ("heads", "V350", "V348"))
    for part, joined, alone in paths:
        mark, arrow = f'data-part="{part}"', f'{joined}" marker-end'
        assert (mark in whole, arrow in whole, f'{alone}" marker' in whole) == (True, True, False)
        assert (mark in early, arrow in early, f'{alone}" marker' in early) == (False, False, True)
    assert 'data-part="scale"' in early
    with pytest.raises(ValueError, match="without: got 'lamp'"):
        drawings.to_html("scaled_dot_product", without="lamp", **words)
    with pytest.raises(ValueError, match="highlight: got 'mask'"):
        drawings.to_html("scaled_dot_product", without="mask", highlight="mask", **words)


def test_drawn_projections_multiply_right():
    """Lecture 3 draws the vector of one token, its three matrices, and q, k and v."""
    svg = (drawings.FOLDER / "one_token.svg").read_text(encoding="utf-8")
    numbers = {}
    for part in ("token", "query", "key", "value"):
        group = re.search(rf'<g data-part="{part}">(.*?)</g>', svg, re.DOTALL)[1]
        numbers[part] = np.array([int(n) for n in re.findall(r">(\d)</text>", group)])
        rows = re.findall(r'class="([^"]+)" x="\d+" y="(?:46|76|106|136)"', group)
        assert [row == "lamp lamp-fill" for row in rows] == [True, True, False, False]
    x = numbers.pop("token")
    for drawn in numbers.values():
        W, result = drawn[:8].reshape(4, 2), drawn[8:]
        assert (x @ W == result).all()


def draws(seed):
    """The normal numbers of `kit.js` for a seed, one after the other."""
    state, most = seed, 2**32 - 1

    def uniform():
        nonlocal state
        state = (state + 0x6D2B79F5) & most
        t = ((state ^ (state >> 15)) * (1 | state)) & most
        t = ((t + ((t ^ (t >> 7)) * (61 | t) & most)) ^ t) & most
        return (t ^ (t >> 14)) / 2**32

    while True:
        yield np.sqrt(-2 * np.log(1 - uniform())) * np.cos(2 * np.pi * uniform())


def softness(d_k, scale, n_keys, n_draws, seed):
    """Weights of the first query, and mean largest weight, entropy and Σ w(1 − w) over all."""
    found = []
    for draw in range(n_draws):
        numbers = draws(1000 * seed + draw)
        both = np.array([[next(numbers) for _ in range(1 + n_keys)] for _ in range(d_k)])
        scores = both[:, 0] @ both[:, 1:] * scale
        weights = np.exp(scores - scores.max())
        found.append(weights / weights.sum())
    weights = np.array(found)
    entropy = -(weights * np.log(np.maximum(weights, 1e-300))).sum(axis=1)
    reaction = (weights * (1 - weights)).sum(axis=1)
    return found[0], [weights.max(axis=1).mean(), entropy.mean(), reaction.mean()]


def scale_scores():
    config = {"keys": 8, "draws": 20, "most": 8, "start": 6, "seed": 1}
    table = (["d_k", "largest weight"], [[64, 0.85]])
    return explorables.to_html("scale_scores", config, table=table, caption="Slide d_k.")


def test_scale_scores_agrees_with_numpy(play):
    page = play(scale_scores())
    weight = page.locator(".stage table").nth(0).locator("td:nth-child(3)")
    mean = page.locator(".stage table").nth(1).locator("td")

    def assert_shown(d_k, scale, seed=1):
        weights, means = softness(d_k, scale, 8, 20, seed)
        np.testing.assert_allclose([float(t) for t in weight.all_inner_texts()], weights, atol=6e-3)
        np.testing.assert_allclose([float(t) for t in mean.all_inner_texts()], means, atol=6e-3)

    assert_shown(64, 1)
    assert "d_k = 64, not divided" in page.locator("[role=status]").inner_text()
    page.get_by_role("checkbox", name="divide by √d_k").check()
    assert_shown(64, 1 / 8)
    assert "several keys share the weight" in page.locator("[role=status]").inner_text()
    page.get_by_role("slider", name="d_k").press("ArrowRight")
    assert_shown(128, 128**-0.5)
    page.get_by_role("button", name="Draw again").click()
    assert_shown(128, 128**-0.5, seed=2)


# ---- Lecture 3: a trained head answers wishes --------------------------------------------------


SWAP = stored("seed_swap")["swap"]


def seed_swap():
    table = (["gardener", "wishes for"], [["19", "26"]])
    return explorables.to_html("seed_swap", SWAP, table=table, caption="Change a wish.")


def swap_answer(asks, wish, seeds):
    """Scores and weights of one gardener, and the kind that the head answers."""
    wishes = [*SWAP["wishes"]]
    wishes[asks] = wish
    parts = np.zeros((8, 24))
    for i in range(8):
        parts[i, [i, 8 + wishes[i], 16 + seeds[i]]] = 1
    scores = parts[asks] @ np.array(SWAP["scores"]) @ parts.T
    weights = np.exp(scores - scores.max())
    weights /= weights.sum()
    logits = np.array(SWAP["bias"]) + weights @ parts @ np.array(SWAP["logits"])
    return scores, weights, "abcdefgh"[logits.argmax()]


def test_seed_swap_agrees_with_numpy(play):
    page = play(seed_swap())
    said, rows = page.locator("[role=status]"), page.locator(".stage tbody tr")
    names = [f"{label:02}" for label in SWAP["labels"]]

    def assert_shown(asks, wish, seeds):
        scores, weights, kind = swap_answer(asks, wish, seeds)
        for column, wanted, digits in ((1, scores, 0.051), (2, weights, 0.0051)):
            cells = rows.locator(f"td:nth-of-type({column + 1})").all_inner_texts()
            shown = [float(text.replace("−", "-")) for text in cells]
            np.testing.assert_allclose(shown, wanted, atol=digits)
        assert f"goes to jar {names[weights.argmax()]}." in said.inner_text()
        assert said.inner_text().endswith(f"“{kind}”: right.")

    assert_shown(0, SWAP["wishes"][0], SWAP["seeds"])
    page.get_by_role("group", name="Her wish").get_by_role("button", name=names[7]).click()
    assert_shown(0, 7, SWAP["seeds"])
    page.get_by_role("button", name="Pass the seeds on").click()
    assert_shown(0, 7, np.roll(SWAP["seeds"], 1))


def test_seed_swap_head_answers_every_wish():
    for turn, asks, wish in itertools.product(range(8), repeat=3):
        seeds = np.roll(SWAP["seeds"], turn)
        _, weights, kind = swap_answer(asks, wish, seeds)
        assert weights.argmax() == wish
        assert kind == "abcdefgh"[seeds[wish]]


# ---- Lecture 3: query, key and value of words -------------------------------------------------


ROLES = stored("roles_in_a_sentence")["shown"]


def word_roles():
    table = (["letters has", "lead"], [["its own key and value", "2.46"]])
    return explorables.to_html("word_roles", {"sentences": ROLES}, table=table, caption="Exchange.")


@pytest.mark.parametrize("which", range(len(ROLES)))
def test_word_roles_shows_each_choice(play, which):
    """Scores, weights and the verb are those of the chosen query, key and value."""
    page, sentence = play(word_roles()), ROLES[which]
    words, twin = sentence["words"], sentence["twin"]
    subject, noun = words[1], words[-1]
    page.get_by_role("group", name="Sentence").get_by_role("button").nth(which).click()
    said, picture = page.locator("[role=status]"), page.locator(".stage svg")
    below = lambda row: picture.locator(f"text.{row}").all_text_contents()  # noqa: E731
    press = lambda group, i: (  # noqa: E731
        page.get_by_role("group", name=group).get_by_role("button").nth(i).click()
    )

    def assert_shown(query, keys, values):
        numbers = lambda row: [float(n.replace("−", "-")) for n in below(row)]  # noqa: E731
        scores = np.array(sentence["scores"][query][keys])
        np.testing.assert_allclose(numbers("score"), scores, atol=0.051)
        weights = np.exp(scores) / np.exp(scores).sum()
        np.testing.assert_allclose(numbers("weight"), weights, atol=0.0051)
        widths = picture.locator("path").evaluate_all(
            "all => all.map(arc => parseFloat(arc.style.strokeWidth))"
        )
        np.testing.assert_allclose(widths, 1 + 19 * weights, rtol=1e-3)
        lead = sentence["leads"][query][keys][values]
        more, less = ("lie", "lies") if lead > 0 else ("lies", "lie")
        assert f"goes to {words[weights.argmax()]}. {more} is " in said.inner_text()
        assert said.inner_text().endswith(f" times as likely as {less}.")
        ratio = float(re.search(r"is (\S+) times", said.inner_text())[1])
        assert ratio == pytest.approx(np.exp(abs(lead)), abs=0.051)

    last = len(words) - 1
    assert_shown(last, 0, 0)
    assert below("word") == below("key") == below("value") == words
    press("Key of", 1)
    assert_shown(last, 1, 0)
    assert below("key") == [words[0], noun, *words[2:-1], subject]
    press("Value of", 2)
    assert_shown(last, 1, 2)
    assert below("value") == [words[0], twin, *words[2:]]
    press("asks with the query of", 0)
    assert_shown(0, 1, 2)
    page.get_by_role("button", name="Everything as it was").click()
    assert_shown(last, 0, 0)


# ---- Lecture 9: greedy decoding and beams


NEXT = torch.zeros(5, 5, dtype=torch.float64)
"""Rows: after the start (0), A, B and X (1 to 3); columns: the next token, 4 is the end."""
NEXT[0, [1, 2]] = torch.tensor([0.6, 0.4], dtype=torch.float64)
NEXT[1, [1, 3, 4]] = torch.tensor([0.3, 0.45, 0.25], dtype=torch.float64)
NEXT[2, [1, 4]] = torch.tensor([0.05, 0.95], dtype=torch.float64)
NEXT[3, 4] = 1.0
LONGEST = 5


def beam_tree(last=0, depth=0):
    """All continuations with their probabilities, as the explorable wants them."""
    node = {"next": []}
    for token, p in enumerate(NEXT[last].tolist()):
        if p > 0:
            below = [beam_tree(token, depth + 1)] if token < 4 and depth < LONGEST - 1 else []
            node["next"].append([token, p, *below])
    return node


def translate():
    words = {1: ["ಅ", "A", "first"], 2: ["ಬ", "B", "second"], 3: ["ಕ್ಸ", "X", "third"]}
    words[4] = ["", "end", ""]
    one = {"name": "one", "source": ["uno", "due"], "right": [2], "longest": LONGEST}
    other = {**one, "name": "other", "right": [1, 3]}
    examples = [{**each, "words": words, "tree": beam_tree()} for each in (one, other)]
    table = (["source", "greedy"], [["uno due", "A X"]])
    config = {"end": 4, "examples": examples}
    return explorables.to_html("translate", config, table=table, caption="Write.")


@pytest.mark.parametrize("power", first_and_full(1, 0, 2))
@pytest.mark.parametrize("n", [1, *first_and_full(3, 2, 4)])
def test_translate_agrees_with_the_helper(play, n, power):
    page = play(translate())
    page.get_by_role("slider", name="beams").fill(str(n))
    penalty = page.get_by_role("slider", name="length penalty")
    assert penalty.is_disabled() == (n == 1)  # a single beam leaves it nothing to choose
    assert page.get_by_text("needs two beams or more").is_visible() == (n == 1)
    if n > 1:
        penalty.fill(str(power))
    best, *_ = beam_search(
        lambda tokens: NEXT.log()[tokens],
        torch.tensor([0]),
        LONGEST,
        eos_id=4,
        n_beams=n,
        length_penalty=power,
    )
    text = " ".join("-ABX"[token] for token in best.tokens if token < 4)
    said = page.locator("[role=status]").inner_text()
    shown = re.search(r"“[^”]*” \(([^)]*)\): ([\d.e-]+), (right|wrong)", said)
    assert shown[1] == text
    assert float(shown[2]) == pytest.approx(np.exp(best.log_probability), rel=0.06)
    assert shown[3] == ("right" if text == "B" else "wrong")


def test_translate_steps_through_a_tree(play):
    page = play(translate())
    tree = page.locator(".stage svg")
    said = page.locator("[role=status]")
    # It opens on the finished greedy translation, so that a slider changes something at once.
    wrong = "wrong, missing: second, extra: first · third"
    assert said.inner_text() == f"greedy, “first · third” (A X): 0.27, {wrong}."
    page.get_by_role("button", name="Start again").click()
    assert tree.locator("rect").count() == 0
    page.get_by_role("button", name="Next token").press("Enter")
    assert tree.locator("rect").count() == 1
    page.get_by_role("slider", name="beams").press("ArrowRight")
    assert tree.locator("rect").count() == 2
    page.get_by_role("button", name="Next token").press("Enter")
    assert said.inner_text() == "2 beams, step 2: “first · third” (A X): 0.27."
    # After "B end" one place is left in the beam: two rows of two, and one of one.
    page.get_by_role("button", name="Next token").click()
    assert tree.locator("rect").count() == 5
    assert said.inner_text() == "2 beams, “second” (B): 0.38, right."


def test_translate_keeps_what_was_tried(play):
    page = play(translate())
    rows = page.locator(".stage tr")
    page.get_by_role("slider", name="beams").fill("2")
    shown = [row.split("\t") for row in rows.all_inner_texts()]
    assert [row[0] for row in shown] == ["reference", "greedy", "2 beams"]
    wrong = "wrong, missing: second, extra: first · third"
    assert shown[1][1].splitlines() == [f"first · third: 0.27, {wrong}", "A X"]
    assert shown[2][1].splitlines() == ["second: 0.38, right", "B"]
    page.get_by_role("button", name="other").click()
    assert [row.split("\t")[0] for row in rows.all_inner_texts()] == ["reference", "2 beams"]
    said = page.locator("[role=status]").inner_text()
    assert said == "2 beams, “second” (B): 0.38, wrong, missing: first · third, extra: second."


# ---- Lecture 9: what a decoder does for each token ---------------------------------------------


def decoder_steps(**more):
    """The sentences of the lecture; the picture opens in the middle of the first unless asked."""
    examples = [{"name": one["source"][-1], **one} for one in stored("beams")["decoded"]]
    table = (["token", "output"], [["1", "she"]])
    config = {"unit": "word", "examples": examples, **more}
    return explorables.to_html("decoder_steps", config, table=table, caption="Step.")


def test_decoder_steps_agree_with_numpy(play):
    """Boxes, lines and context bars have the attention weights, the table the probabilities."""
    page = play(decoder_steps(open=1))
    steps = stored("beams")["decoded"][0]["steps"]
    said = page.locator("p[role=status]")
    bars, lines = ".stage svg rect[height='16'][style*='fill:#']", ".stage svg > path"
    for t, step in enumerate(steps):
        page.get_by_role("button", name="Next token").press("Enter")
        wide = page.locator(bars).evaluate_all("all => all.map(r => +r.getAttribute('width'))")
        look = np.array([s["look"] for s in steps[: t + 1]])
        np.testing.assert_allclose(np.array(wide), 72 * look.ravel(), atol=1e-9)
        np.testing.assert_allclose(look.sum(axis=1), 1, atol=3e-3)
        thick = page.locator(lines).evaluate_all(
            "all => all.map(l => parseFloat(l.style.strokeWidth))"
        )
        np.testing.assert_allclose(thick, 9 * look[-1], atol=1e-6)
        full = page.locator(".stage svg rect[rx='5']").evaluate_all(
            "all => all.map(r => +r.style.fillOpacity)"
        )
        np.testing.assert_allclose(full, 0.45 * look[-1], atol=1e-6)
        numbers = page.locator(".stage svg > text[text-anchor=end]").all_text_contents()
        np.testing.assert_allclose([float(n) for n in numbers], look[-1], atol=5.1e-3)
        shown = [float(p) for p in page.locator(".stage td").all_inner_texts()]
        np.testing.assert_allclose(shown, [p for p, *_ in step["next"]], atol=5.1e-3)
        assert f"output. “{step['next'][0][2] or '⟨end⟩'}”" in said.inner_text()
    assert page.get_by_role("button", name="Next token").is_disabled()
    assert page.get_by_role("button", name="Next step").is_disabled()


def test_decoder_steps_name_the_four_steps(play):
    """They can be walked in both directions, and words are told by their meaning."""
    page = play(decoder_steps(open=2))
    said = page.locator("p[role=status]")
    assert said.inner_text() == "Token 1, attend. It attends to 0.92 · she + 0.07 · old."
    for phase in ("context", "output", "ask"):
        page.get_by_role("button", name="Next step").click()
        assert phase in said.inner_text()
    assert said.inner_text().startswith("Token 2, ask. Which source words does it need")
    page.get_by_role("button", name="Back").click()
    assert said.inner_text() == "Token 1, output. “she” (avaḷu), probability 0.99."
    label = page.locator(".stage svg").get_attribute("aria-label")
    assert label == "Source: she called our old dog. Written so far: she"


def test_decoder_steps_slide_from_token_to_token(play):
    """Arrow keys of the slider show each token finished; the sentence grows in English words."""
    page = play(decoder_steps(open=1))
    slider, grows = page.get_by_role("slider", name="Token"), page.locator(".stage p b")
    assert grows.inner_text() == "…"
    assert page.get_by_role("button", name="Back").is_disabled()
    slider.press("ArrowRight")
    slider.press("ArrowRight")
    assert grows.inner_text() == "she · our · old"
    page.get_by_role("group", name="Example").get_by_role("button", name="book").click()
    n = len(stored("beams")["decoded"][2]["steps"])
    assert slider.get_attribute("max") == str(n)
    assert slider.input_value() == str(n // 2 + 1)
    slider.press("End")
    assert grows.inner_text().startswith("she · my · book (object) · wanted (she)")


def test_decoder_steps_play_by_themselves(play):
    """One step every second and a half, until somebody presses a button or the sentence ends."""
    page = play(decoder_steps())
    page.clock.install()
    said, press = page.locator("p[role=status]"), page.get_by_role("button", name="Play")
    assert said.inner_text().startswith("Token 4, attend.")
    press.click()
    assert said.inner_text().startswith("Token 1, ask.")
    page.clock.run_for(6_100)
    assert said.inner_text().startswith("Token 2, ask.")
    page.get_by_role("button", name="Pause").click()
    page.clock.run_for(3_100)
    assert said.inner_text().startswith("Token 2, ask.")
    press.click()
    page.clock.run_for(60_000)
    assert said.inner_text().startswith("Token 6, output.")
    press.click()  # from the beginning
    assert said.inner_text().startswith("Token 1, ask.")


def test_decoder_steps_can_open_on_a_later_token(play):
    """The picture shows what is written until then; playing begins at the beginning."""
    page = play(decoder_steps(open=18))
    said = page.locator("p[role=status]")
    assert said.inner_text() == "Token 5, attend. It attends to 0.94 · called + 0.06 · she."
    page.get_by_role("button", name="Play").click()
    assert said.inner_text().startswith("Token 1, ask.")


def names_by_letters():
    first = next(run for run in stored("names")["runs"] if "decoded" in run)
    config = {"unit": "letter", "examples": first["decoded"]}
    table = (["name", "written"], [["panama", "panamā"]])
    return first, explorables.to_html("decoder_steps", config, table=table, caption="Choose.")


def test_decoder_steps_write_names_by_letters(play):
    """One of several names is chosen; what is written is the name so far, not a row of letters."""
    first, figure = names_by_letters()
    page = play(figure)
    said, slider = page.locator("p[role=status]"), page.get_by_role("slider", name="Letter")
    assert said.inner_text().startswith("Letter 3, attend. It attends to 0.")
    for (name, _, written), example in zip(first["places"], first["decoded"], strict=True):
        page.get_by_role("button", name=name, exact=True).click()
        assert page.locator(".stage svg rect[rx='5']").count() == len(name)
        slider.press("Home")
        for step in example["steps"]:
            assert sum(step["look"]) == pytest.approx(1, abs=1e-2)
        slider.press("End")
        assert page.get_by_role("button", name="Next letter").is_disabled()
        assert example["steps"][-1]["next"][0][3] == written
        assert page.locator(".stage p b").inner_text() == example["steps"][-1]["next"][0][2]
        slider.press("Home")
        assert page.locator(".stage p b").inner_text() == example["steps"][0]["next"][0][2]
        assert page.locator(".stage").bounding_box()["height"] < 800


def test_decoder_steps_name_the_sign_without_a_vowel(play):
    page = play(names_by_letters()[1])
    page.get_by_role("button", name="egypt").click()
    page.get_by_role("slider", name="Letter").fill("3")
    assert page.locator("p[role=status]").inner_text() == (
        "Letter 3, output. The sign that removes the a, probability 1.00."
    )
    assert page.locator(".stage p b").inner_text() == "ig"


# ---- Lecture 0: dot products, angles and softmax weights ----------------------------------------


ARROWS = [["query", 2, 1], ["letters", 1.5, 1.5], ["lamp", -0.5, 1], ["hums", -1, -1]]


def dot_products():
    config = {"words": ARROWS, "temperature": 1}
    table = (["word", "weight"], [[word[0], 0.3] for word in ARROWS[1:]])
    return explorables.to_html("dot_products", config, table=table, caption="Drag.")


def shown_products(page):
    """Angles, dot products and weights of the words, (3, 3)."""
    rows = page.locator(".stage tbody tr").all_inner_texts()
    return [[float(t.strip("°").replace("−", "-")) for t in row.split("\t")[1:]] for row in rows]


def products(vectors, temperature):
    query, words = np.array(vectors[0]), np.array(vectors[1:])
    scores = words @ query
    cosines = scores / np.linalg.norm(words, axis=1) / np.linalg.norm(query)
    weights = np.exp(scores / temperature)
    return np.stack([np.degrees(np.arccos(cosines)), scores, weights / weights.sum()], axis=1)


def test_dot_products_agree_with_numpy(play):
    page = play(dot_products())
    vectors = [list(map(float, arrow[1:])) for arrow in ARROWS]

    def agrees(temperature):
        wanted = products(vectors, temperature)
        for column, digits in enumerate((0.51, 0.0051, 0.00051)):
            shown = [row[column] for row in shown_products(page)]
            np.testing.assert_allclose(shown, wanted[:, column], atol=digits)
        return wanted

    agrees(1)
    said = page.locator("p[role=status]")
    assert said.inner_text().startswith("2 × 1.5 + 1 × 1.5 = 4.50: at temperature 1.00, “letters”")
    page.get_by_role("slider", name="hums").press("ArrowUp")
    vectors[3][1] += 0.25
    assert said.inner_text().startswith("2 × (−1) + 1 × (−0.75) = −2.75: ")
    agrees(1)
    page.get_by_role("slider", name="query").press("ArrowLeft")
    vectors[0][0] -= 0.25
    agrees(1)
    assert "“hums”" in said.inner_text()  # the query moves, and the word that was chosen stays
    page.get_by_role("slider", name="temperature").fill("2.5")
    weight = agrees(2.5)[2, 2]
    assert said.inner_text().endswith(f"at temperature 2.50, “hums” gets weight {weight:.3f}.")
    page.get_by_role("button", name="Start again").click()
    vectors[:] = [list(map(float, arrow[1:])) for arrow in ARROWS]
    agrees(1)


def test_the_shadow_on_the_query_is_the_projection(play):
    page = play(dot_products())
    page.get_by_role("radio", name="hums").check()
    x, y = (
        float(page.locator(".stage svg > line").first.get_attribute(name)) for name in ("x2", "y2")
    )
    query, word = np.array(ARROWS[0][1:]), np.array(ARROWS[3][1:])
    foot = query * (word @ query) / (query @ query)
    np.testing.assert_allclose([x / 46, -y / 46], foot, atol=1e-9)


def test_an_arrow_of_length_zero_has_no_angle(play):
    page = play(dot_products())
    lamp = page.get_by_role("slider", name="lamp")
    for key in ["ArrowRight"] * 2 + ["ArrowDown"] * 4:
        lamp.press(key)
    row = page.locator(".stage tbody tr").nth(1).inner_text().split("\t")
    assert row[1:3] == ["–", "0.00"]


# ---- Lecture 11: ROUGE against facts -----------------------------------------------------------


NEWS = tell_news(1, torch.Generator().manual_seed(104))[0]
SUMMARIES = {
    "reference": NEWS.summary,
    "false day": NEWS.summary.replace(NEWS.event.when, NEWS.other.when),
    "nobody": "",
    "capitals and marks": "Mara, of TURIN: bought; museum museum MUSEUM!",
    "twice": f"{NEWS.summary} {NEWS.summary}",
    "reversed": " ".join(reversed(words_of(NEWS.summary))),
    "other words": "an entirely different sentence 123",
}


def rouge_and_facts():
    config = {
        "sentences": NEWS.sentences,
        "reference": NEWS.summary,
        "facts": vars(NEWS.event),
        "words": sorted(FACT_WORDS),
        "tries": {"False day": SUMMARIES["false day"]},
    }
    table = (["summary", "ROUGE-1"], [["false day", 0.875]])
    return explorables.to_html("rouge_and_facts", config, table=table, caption="Tick.")


def shown_scores(page):
    """ROUGE-1, ROUGE-2 and ROUGE-L, and the four counts of facts."""
    scores, facts = (page.locator(".stage table").nth(i).locator("td") for i in (0, 1))
    return (
        [float(text) for text in scores.all_inner_texts()],
        [int(text) for text in facts.all_inner_texts()[::2]],
    )


def assert_measured(page, summary):
    """The page shows what the course's own metrics say of a summary."""
    scores, facts = shown_scores(page)
    np.testing.assert_allclose(scores, list(rouge([summary], [NEWS]).values()), atol=5.1e-3)
    assert facts == list(astuple(count_facts(summary, NEWS)))


@pytest.mark.parametrize("name", first_and_full(*SUMMARIES))
def test_rouge_and_facts_matches_the_metrics(play, name):
    page = play(rouge_and_facts())
    page.get_by_label("Your summary").fill(SUMMARIES[name])
    assert_measured(page, SUMMARIES[name])


@pytest.mark.parametrize("ticked", first_and_full((1, 2), (0,), (2, 5), range(6)))
def test_ticked_sentences_become_the_summary(play, ticked):
    page = play(rouge_and_facts())
    for i in ticked:
        page.get_by_role("checkbox").nth(i).press("Space")
    assert_measured(page, " ".join(NEWS.sentences[i] for i in ticked))


def test_the_best_false_summary_is_remembered(play):
    page = play(rouge_and_facts())
    assert "Highest ROUGE-1 so far" in page.locator(".stage").inner_text()
    area = page.get_by_label("Your summary")
    area.fill("mara sold")
    said = page.get_by_role("status").inner_text()
    assert said == "ROUGE-1 is 0.00; 0 of 5 facts are kept, and 2 do not belong to the news."
    assert "not the news: 0.88" in page.locator(".stage").inner_text()
    page.get_by_role("button", name="False day").click()
    assert page.get_by_role("status").inner_text().endswith("and 1 does not belong to the news.")
    area.fill(NEWS.summary)
    assert page.get_by_role("status").inner_text().startswith("ROUGE-1 is 1.00; 5 of 5")


# ---- Lecture 10: point at the answer ----------------------------------------------------------

SPANS = {
    "longest": 3,
    "examples": [
        {
            "about": "a game",
            "question": "Who was the MVP?",
            "context": "The MVP was Von Mill ##er ##, not Ada ##.",
            "answers": ["Miller", "Von Miller"],
            "start": [3.0, 0.0, 0.0, 2.0, 1.0, 0.0, 0.0, 0.0, 1.5, 0.0],
            "end": [0.0, 0.0, 0.0, 0.0, 0.0, 3.0, 0.0, 0.0, 1.5, 0.0],
        },
        {
            "about": "a game",
            "question": "Who was not?",
            "context": "The MVP was Von Mill ##er ##, not Ada ##.",
            "answers": ["Ada"],
            "start": [0.0, 0.0, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0, 2.5, 0.0],
            "end": [0.0, 0.0, 0.0, 0.0, 0.0, 3.0, 0.0, 0.0, 3.0, 0.0],
        },
        {
            "about": "a tower",
            "question": "Who was the MVP?",
            "context": "It is tall ##.",
            "answers": [""],
            "start": [0.0, 0.0, 1.0, 0.0],
            "end": [0.0, 0.0, 1.0, 0.0],
        },
    ],
}


def point_at_span():
    table = (["question", "answer"], [[e["question"], "?"] for e in SPANS["examples"]])
    return explorables.to_html("point_at_span", SPANS, table=table, caption="Click.")


def words_to_click(page):
    return page.get_by_role("group", name="Passage", exact=True).get_by_role("button")


def shown_numbers(text):
    return [float(n) for n in re.findall(r"-?\d+(?:\.\d+)?", text.replace("−", "-"))]


def test_point_at_span_agrees_with_the_helpers(play):
    """The largest sum of the first question, from The to ##er, is too long."""
    page = play(point_at_span())
    said = page.locator("p[role=status]")
    for example in SPANS["examples"]:
        page.get_by_role("button", name=example["about"], exact=True).click()
        page.get_by_role("button", name=example["question"], exact=True).click()
        none = [[-torch.inf, *example["start"]], [-torch.inf, *example["end"]]]
        (first, last), best = (x[0].tolist() for x in best_spans(torch.tensor([none]), 3))
        words = example["context"].split()
        text = " ".join(words[first - 1 : last]).replace(" ##", "")
        page.get_by_role("button", name="Show the reader’s span").click()
        exact = max(exact_match(text, wanted) for wanted in example["answers"])
        f1 = max(f1_score(text, wanted) for wanted in example["answers"])
        marks = f"exact match {exact:d}, F1 {f1:.2f}"
        a, b = example["start"][first - 1], example["end"][last - 1]
        assert said.inner_text().startswith(
            f"“{text}” scores {a:.1f} + {b:.1f} = {best:.1f}; {marks}. "
            "This is the reader’s best span. "
        )
        if example["answers"] == [""]:
            assert said.inner_text().endswith("This passage has no answer.")
        else:
            people = " or ".join(f"“{wanted}”" for wanted in example["answers"])
            assert said.inner_text().endswith(f"People answered {people}.")


def test_point_at_span_hides_the_reader_at_first(play):
    page = play(point_at_span())
    word = words_to_click(page)
    bars, said = page.locator("[role=group] button i"), page.locator("p[role=status]")

    def seen():
        return {bars.nth(i).evaluate("e => getComputedStyle(e).display") for i in range(6)}

    hidden = {"none"}
    assert seen() == hidden and said.inner_text() == "Click the first word of the answer."
    word.nth(3).click()
    assert seen() == hidden and said.inner_text() == "Starts at “Von”; now its last word."
    word.nth(5).click()
    assert seen() == {"block"} and "the reader’s best span" in said.inner_text()
    page.get_by_role("button", name=SPANS["examples"][1]["question"]).click()
    assert seen() == hidden


def test_point_at_span_scores_legal_spans_only(play):
    page = play(point_at_span())
    word, said = words_to_click(page), page.locator("p[role=status]")
    assert [word.nth(i).inner_text() for i in (4, 5, 6)] == ["Mill", "er", ","]
    word.nth(4).click()
    assert [word.nth(i).get_attribute("aria-disabled") for i in (3, 4, 5)] == [
        "true",
        "false",
        "false",
    ]
    word.nth(1).click(force=True)
    assert "Illegal" in said.inner_text()
    word.nth(6).click()  # punctuation does not count
    assert said.inner_text().startswith("“Miller,” scores 1.0 + 0.0 = 1.0; exact match 1, F1 1.00.")
    word.nth(0).press("Enter")  # nor does an article
    word.nth(0).press("ArrowRight")
    page.keyboard.press("Enter")
    assert said.inner_text().startswith("“The MVP” scores 3.0 + 0.0 = 3.0; exact match 0, F1 0")
    word.nth(2).click()
    word.nth(5).click()  # two words of three are wanted
    f1 = max(f1_score("was Von Miller", wanted) for wanted in SPANS["examples"][0]["answers"])
    assert f"exact match 0, F1 {f1:.2f}. The" in said.inner_text()


def test_point_at_span_takes_no_answer(play):
    page = play(point_at_span())
    said, none = page.locator("p[role=status]"), page.get_by_role("button", name="no answer")
    none.click()
    assert said.inner_text().startswith("“No answer”: exact match 0, F1 0")
    page.get_by_role("button", name="a tower").click()
    none.click()
    assert said.inner_text().startswith("“No answer”: exact match 1, F1 1")


MARGINS = {
    "margins": [-90, -20, 10, 40, -10, 15],
    "right": "101000",
    "answerable": "111001",
    "examples": [
        {"question": "who ?", "wanted": "ada", "best": "ada", "margin": -2.0},
        {"question": "when ?", "wanted": "", "best": "monday", "margin": 1.0},
        {"question": "where ?", "wanted": "lima", "best": "in lima", "margin": -5.0},
    ],
}


def choose_threshold():
    table = (["question", "margin"], [[e["question"], e["margin"]] for e in MARGINS["examples"]])
    return explorables.to_html("choose_threshold", MARGINS, table=table, caption="Drag.")


@pytest.mark.parametrize("threshold", first_and_full(-1.5, -20, 0, 1, 12))
def test_exact_match_at_threshold(play, threshold):
    page = play(choose_threshold())
    page.get_by_role("slider").fill(str(threshold))
    none = np.array(MARGINS["margins"]) / 10 > threshold
    right, has = (np.array(list(MARGINS[k])) == "1" for k in ("right", "answerable"))
    hits = np.where(none, ~has, right)
    expected = [hits.mean(), hits[has].mean(), hits[~has].mean()]
    text = page.locator("p[role=status]").inner_text()
    np.testing.assert_allclose(shown_numbers(text)[1:], expected, atol=6e-3)


@pytest.mark.parametrize(
    ("threshold", "said"),
    [
        (0, ["ada ✓", "none ✓", "in lima ✗"]),
        (1, ["ada ✓", "monday ✗", "in lima ✗"]),
        (-10, ["none ✗", "none ✓", "none ✗"]),
    ],
)
def test_examples_say_none_above_the_threshold(play, threshold, said):
    page = play(choose_threshold())
    page.get_by_role("slider").fill(str(threshold))
    assert page.locator(".stage tbody td:last-child").all_inner_texts() == said


# ---- Lecture 12: patch the residual stream, and a copier that runs on what one types ----------


def find_the_path():
    """Two runs of three words and two streams; only the first has anything to find."""
    words, layers = ["the", "letters", "hums"], ["before", "after"]
    first = {
        "words": words,
        "from": "letter",
        "own": 5.67,
        "other": -5.41,
        "grid": [[5.67, -5.41, 5.67], [5.66, 2.19, -4.0]],
    }
    control = {**first, "from": "books", "other": 5.5, "grid": [[5.67] * 3] * 2}
    control["note"] = "Nothing to find."
    config = {
        "layers": layers,
        "verbs": ["lies", "lie"],
        "runs": {"letter into letters": first, "control": control},
    }
    table = (["word", *layers], [[w, 0, 0] for w in words])
    return explorables.to_html("find_the_path", config, table=table, caption="Find it.")


def test_the_path_is_found_cell_by_cell(play):
    page = play(find_the_path())
    said, cells = page.locator("p[role=status]"), page.locator(".stage tbody button")
    assert said.inner_text().startswith("This run says lie: the logit difference is 5.67.")
    assert cells.all_inner_texts() == ["?"] * 6
    cells.nth(2).click()  # letters, before
    assert said.inner_text() == (
        "Patched at “letters” before: the logit difference is −5.41 (moved 1.00), "
        "so the model now says lies."
    )
    page.keyboard.press("ArrowRight")
    page.keyboard.press("Enter")
    assert "is 2.19 (moved 0.31), so the model still says lie." in said.inner_text()
    page.keyboard.press("ArrowUp")
    page.keyboard.press("Space")
    assert said.inner_text().endswith("still says lie; nothing has moved.")
    assert cells.all_inner_texts() == ["?", "5.7", "−5.4", "2.2", "?", "?"]
    page.get_by_role("button", name="Show all").click()
    assert cells.all_inner_texts() == ["5.7", "5.7", "−5.4", "2.2", "5.7", "−4.0"]
    page.get_by_role("button", name="control").click()
    assert cells.all_inner_texts() == ["?"] * 6
    assert "In the other run, with “books”, it is 5.50. Nothing to find." in said.inner_text()
    cells.nth(2).click()
    assert said.inner_text().startswith(
        "Patched at “letters” before: the logit difference is 5.67, so"
    )


def induction_heads(text="abcdabcd"):
    arrays = {name: [a["step"], a["base64"]] for name, a in stored("copier")["arrays"].items()}
    table = (["head", "score"], [["L0H0", 0.85]])
    config = {"arrays": arrays, "text": text}
    return explorables.to_html("induction_heads", config, table=table, caption="Type.")


@torch.no_grad()
def run_copier(text):
    """Attention maps (4, T, T) and probabilities (T, 32), by PyTorch."""
    tokens = torch.tensor([[ord(letter) - ord("a") for letter in text]])
    logits, weights = trained_copier().double()(tokens, return_weights=True)
    return torch.cat([w[0] for w in weights]).numpy(), logits[0].softmax(dim=-1).numpy()


@pytest.mark.parametrize(
    "text", first_and_full("abcdabcd", "lamplighterlamplighterla", "abcdefghefghabcd", "q")
)
def test_the_copier_agrees_with_pytorch(play, text):
    page = play(induction_heads())
    page.get_by_label("Text of letters").fill(text)
    maps, says = run_copier(text)
    T = len(text)
    last = [text.rfind(c, 0, t) for t, c in enumerate(text)]
    asked = [t for t in range(T) if last[t] >= 0]
    for head, name in enumerate(["L0H0", "L0H1", "L1H0", "L1H1"]):
        page.get_by_role("button", name=name).click()
        rects = page.locator(".stage svg rect")
        shown = rects.evaluate_all(
            "all => all.slice(0, -1).map(r => +r.getAttribute('fill-opacity'))"
        )
        np.testing.assert_allclose(shown, maps[head][np.tril_indices(T)], atol=5.1e-3)
        row = page.locator(".stage table tbody tr").nth(head)
        scores = [float(cell) for cell in row.locator("td").all_inner_texts()]
        wanted = [[maps[head][t, t - 1], maps[head][t, last[t] + 1]] for t in asked]
        wanted = np.mean(wanted, axis=0) if asked else [0, 0]
        np.testing.assert_allclose(scores, wanted, atol=5.1e-3)
    said = page.locator("p[role=status]").inner_text()
    assert float(re.search(r"probability (\S+)\)", said)[1]) == pytest.approx(
        says[-1].max(), abs=6e-3
    )
    if text == "abcdabcd":
        assert "attends most to symbol 5, a, the symbol after the last d" in said
        assert "predicts a (" in said


def test_induction_heads_accepts_letters_only(play):
    """Any of the symbols can be the query."""
    page = play(induction_heads())
    page.get_by_label("Text of letters").fill("AB c1ab!")
    page.get_by_label("Attend from symbol").fill("4")
    said = page.locator("p[role=status]").inner_text()
    assert said.startswith("From symbol 5, b, L1H0 attends most to symbol 3, c")
    assert "No earlier" not in said
    page.get_by_label("Text of letters").fill("abcdefgh")
    said = page.locator("p[role=status]").inner_text()
    assert "predicts a (probability 0.99). No earlier h: in training every text repeats" in said
    page.get_by_label("Text of letters").fill("")
    assert page.locator("p[role=status]").inner_text().startswith("From symbol 1, a,")


def ablate_heads():
    """Three heads in two layers; the third is needed, and zeros in place of the first tilt."""
    heads = ["L0H0", "L0H1", "L1H0"]
    zeros = [[5.5, 1.0], [1.5, 0.6], [5.2, 1.0], [1.1, 0.595]] + [[0.1, 0.5]] * 4
    mean = [[5.5, 1.0], [3.0, 1.0], [5.1, 1.0], [2.5, 0.995]] + [[-0.1, 0.48]] * 4
    config = {"heads": heads, "layers": [2, 1], "n": 200, "ways": {"zeros": zeros, "mean": mean}}
    table = (["ablated", "right"], [[h, 1.0] for h in heads])
    return explorables.to_html("ablate_heads", config, table=table, caption="Ablate.")


def test_any_set_of_heads_can_be_ablated(play):
    """The entry that is shown is the one of exactly these heads, by the chosen way."""
    page = play(ablate_heads())
    said = page.locator("p[role=status]")
    share = page.locator(".stage svg rect").last
    press = lambda name: page.get_by_role("button", name=name, exact=True).click()  # noqa: E731
    assert said.inner_text() == "With all heads: every verb is right; mean logit difference 5.50."
    assert float(share.get_attribute("width")) == 300
    press("L0H0")
    assert said.inner_text().startswith("Without L0H0: 80 of 200 verbs are wrong; mean")
    press("L0H1")
    assert said.inner_text().startswith("Without L0H0, L0H1: 81 of 200 verbs are wrong")
    press("mean")
    assert said.inner_text().endswith("1 of 200 verbs is wrong; mean logit difference 2.50.")
    press("L0H0")
    assert said.inner_text() == "Without L0H1: every verb is right; mean logit difference 5.10."
    press("L1H0")
    assert said.inner_text().startswith("Without L0H1, L1H0: 104 of 200 verbs are wrong")
    assert float(share.get_attribute("width")) == pytest.approx(300 * 0.48)
    pressed = page.get_by_role("button", pressed=True).all_inner_texts()
    assert pressed == ["mean", "L0H1", "L1H0"]
    press("All heads back")
    assert said.inner_text().startswith("With all heads: every verb is right")


def three_heads():
    """Two sentences; the leads of the three others never change."""
    one = {"tokens": ["The", " keys"], "own": -1.0}
    one |= {"three": [[-1.0, -1.0, -1.0], [-2.0, 0.0, 2.0]], "others": [[-1.0] * 3] * 2}
    two = {"tokens": ["A", " key", " hum", "s"], "own": -3.0}
    two |= {"three": [[-3.0] * 3] * 4, "others": [[-3.0] * 3] * 4}
    one["attention"] = {"three": [[0.6, 0.4], [0.8, 0.2], [0.9, 0.1]], "others": [[1.0, 0.0]] * 3}
    two["attention"] = {key: [[0.7, 0.1, 0.1, 0.1]] * 3 for key in ("three", "others")}
    sets = {"these": "three", "three others": "others"}
    config = {"shares": [0.0, 0.3, 0.6], "sets": sets, "sentences": [one, two], "start": [0, 1]}
    table = (["attention", "lead"], [[0.0, -2.0], [0.6, 2.0]])
    return explorables.to_html("three_heads", config, table=table, caption="Slide.")


def heights(page):
    """Of the bars over the words, a bar for each head, in per cent."""
    return page.evaluate(
        "[...document.querySelectorAll('.stage [role=group] span[aria-hidden] i')]"
        ".map((bar) => Math.round(parseFloat(bar.style.height)))"
    )


def test_attention_of_three_heads_turns_the_verb(play):
    """The lead that is shown is the one of this sentence, word, share and set of heads."""
    page = play(three_heads())
    said = page.locator("p[role=status]")
    cells = page.locator(".stage td")
    slide = page.get_by_role("slider")
    untouched = "Untouched, with 0.40, 0.20, 0.10 of their attention on “keys”"
    assert said.inner_text() == f"{untouched}: “is” is 2.7 times as likely as “are”."
    assert cells.all_inner_texts() == ["0.73", "0.27"]
    assert heights(page) == [60, 80, 90, 40, 20, 10]
    slide.fill("2")
    assert heights(page) == [40, 40, 40, 60, 60, 60]
    assert said.inner_text().startswith("0.60 of their attention on “keys”: “are” is 7.4 times")
    assert cells.all_inner_texts() == ["0.12", "0.88"]
    page.get_by_role("button", name="The", exact=True).click()
    assert said.inner_text().startswith("0.60 of their attention on “The”: “is” is 2.7 times")
    page.get_by_role("button", name="keys").click()
    assert page.locator("button:focus").inner_text() == "keys"  # although it was drawn again
    page.get_by_role("button", name="three others").click()
    assert said.inner_text().endswith("“is” is 2.7 times as likely as “are”.")
    page.get_by_role("combobox").select_option("1")
    assert said.inner_text() == (
        "Untouched, with 0.10, 0.10, 0.10 of their attention on “key”:"
        " “is” is 20.1 times as likely as “are”."
    )
    assert slide.input_value() == "-1"
    assert page.get_by_role("button", pressed=True).all_inner_texts() == ["three others", "key"]
    slide.fill("2")
    page.get_by_role("button", name="Reset").click()
    assert said.inner_text().startswith("Untouched, with 0.10") and slide.input_value() == "-1"
    page.get_by_role("button", name="s", exact=True).click()
    page.get_by_role("combobox").select_option("0")  # it has no fourth token
    assert page.get_by_role("button", pressed=True).all_inner_texts() == ["three others", "keys"]


# ---- Lecture 7: one character on its way through the blocks -----------------------------------


def residual_stream():
    """Two parts, four numbers a character; each character of the text has vectors of its own."""
    vectors = [["hhhh", "hyh0", "yhhh"], ["hhhh", "h0hh", "0hhh"]]
    most = [[1, 2, 1], [4, 4, 4]]
    expected = [
        [[[c, 0.5 + part / 4], ["\n", 0.1]] for c in text]
        for part, text in enumerate(("bcd", "f g"))
    ]
    config = {"text": "xyz", "at": 1, "parts": ["embedding", "attention 1"]}
    config |= {"most": most, "vectors": vectors, "next": expected}
    table = (["after", "next"], [["embedding", "c"]])
    return explorables.to_html("residual_stream", config, table=table, caption="Choose.")


def test_residual_stream_follows_the_chosen_character(play):
    """Bars have the height of the numbers, all parts on one scale, and rows their predictions."""
    page = play(residual_stream())
    said, slide = page.locator("p[role=status]"), page.get_by_role("slider")
    assert said.inner_text() == "After “xy”, the embedding alone expects “c”, the whole stack “␣”."
    assert page.locator(".stage p").first.inner_text() == "xyz"
    assert page.locator(".stage b").inner_text() == "xy"
    rows = page.locator(".stage tbody tr")
    assert rows.nth(0).locator("td").nth(1).inner_text().split() == ["c", "0.50", "↵", "0.10"]
    assert rows.nth(1).locator("td").nth(1).inner_text().split() == ["␣", "0.75", "↵", "0.10"]
    bars = [path.get_attribute("d") for path in page.locator(".stage tbody path[fill]").all()]
    # numbers 0, 2, 0, −2 and 0, −4, 0, 0; half the height is 15 for the largest, 4
    assert bars == ["M3 15h.8v7.50h-.8z", "M1 15h.8v-7.50h-.8z", "M1 15h.8v15.00h-.8z", ""]
    slide.fill("0")
    assert said.inner_text() == "After “x”, the embedding alone expects “b”, the whole stack “f”."
    assert slide.get_attribute("aria-valuetext") == "“x”"


# ---- Lecture 9: which source words may be read ------------------------------------------------


def allowed_words():
    """Each set of four words has a token and a probability of its own."""

    def tokens(source, target, n):
        likeliest = ["the end", ""] if n == 8 else [f"{source}{target} {n}", "latin"]
        return [[0.5 + n / 100, *likeliest], [0.1, "other", "latin"]]

    written = [[[tokens(s, t, n) for n in range(16)] for t in range(2)] for s in range(2)]
    config = {"subjects": ["she", "he"], "rest": ["wanted", "my", "book"], "written": ["my"]}
    table = (["reads", "next"], [["my", "my"]])
    return explorables.to_html(
        "allowed_words", {**config, "next": written}, table=table, caption="Tick."
    )


def test_allowed_words_choose_what_is_read(play):
    """The entry that is shown is the one of exactly the ticked words and the chosen subjects."""
    page = play(allowed_words())
    said = page.locator("p[role=status]")
    press = lambda name: page.get_by_role("button", name=name, exact=True).click()  # noqa: E731
    box = lambda name: page.get_by_role("checkbox", name=name, exact=True)  # noqa: E731
    writes = "It reads every word, and writes “00 15” (latin), probability 0.65."
    assert said.inner_text() == writes
    box("she").uncheck()
    box("book").uncheck()
    assert "only wanted, my, and writes “00 6” (latin), probability 0.56." in said.inner_text()
    box("my").uncheck()
    assert "only wanted, and writes “00 2” (latin)" in said.inner_text()
    assert box("wanted").is_disabled()  # it must read something
    press("“he my”")
    assert said.inner_text().startswith("It reads only wanted, and writes “01 2”")
    press("he wanted my book")
    assert said.inner_text().startswith("It reads only wanted, and writes “11 2”")
    box("he").check()
    assert "reads only he, wanted, and writes “11 3”" in said.inner_text()
    assert page.locator(".stage tbody th").all_inner_texts() == ["11 3", "other"]
    assert page.locator(".stage tbody td").all_inner_texts() == ["0.53", "0.10"]
    box("book").check()
    box("he").uncheck()
    box("wanted").uncheck()
    assert said.inner_text() == "It reads only book, and writes the end, probability 0.58."


# ---- Lecture 1: an LSTM writes; with its weights it is in tests/site/test_lstm_writer.py --------


def lstm_writes():
    """Two stored texts, without the script that brings the weights."""
    config = {"source": "", "characters": "ab", "begin": "a", "temperature": 0.7, "n": 3}
    stages = [["0", "b↵a"], ["1,500", "a↵b"]]
    return explorables.to_html(
        "lstm_writes", {**config, "stages": stages}, still="<pre>a</pre>", caption="Write."
    )


def test_lstm_writes_shows_stored_texts(play):
    page = play(lstm_writes())
    assert page.locator(".stage pre").inner_text() == "a\nb"
    page.get_by_role("button", name="0 steps", exact=True).click()
    assert page.locator(".stage pre").inner_text() == "b\na"
    assert page.locator("p[role=status]").inner_text() == "Written after 0 steps of training."


# ---- Each, as the accessibility checker sees it -----------------------------------------------


PRESSED_FIRST = {
    ablate_heads: [],
    allowed_words: [],
    choose_threshold: [],
    cut_heads: ["per head"],
    decoder_steps: ["Next token"],
    dot_products: [],
    fading_state: [],
    find_the_path: [],
    heads_of_a_real_model: [],
    index_card: [],
    induction_heads: [],
    lstm_step: ["Next"],
    lstm_writes: ["1,500 steps"],
    move_a_word: [],
    moving_note: ["Play", "Pause"],
    paint_a_mask: [],
    point_at_span: ["Show the reader’s span"],
    read_state: ["last"],
    residual_stream: [],
    rotary_dials: [],
    rouge_and_facts: [],
    sampling: [],
    scale_scores: [],
    seed_swap: [],
    stack_depth: ["Keep this curve"],
    three_heads: [],
    translate: ["To the end"],
    word_roles: [],
}


@pytest.mark.parametrize("width", first_and_full(390, 1280))
@pytest.mark.parametrize("make", PRESSED_FIRST)
def test_is_accessible_and_fits(play, make, width):
    page = play(make(), width=width)
    for name in PRESSED_FIRST[make]:
        page.get_by_role("button", name=name).click()
    assert Axe().run(page).response["violations"] == []
    assert page.evaluate("document.documentElement.scrollWidth <= innerWidth")


def test_all_are_looked_at():
    assert sorted(make.__name__ for make in PRESSED_FIRST) == SCRIPTS
