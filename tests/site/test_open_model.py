"""The model that runs in the reader's browser is the stored one, and can be used by everybody."""

import gzip
import json
import random
import sys

import pytest
import torch
from axe_playwright_python.sync_playwright import Axe

from helpers.apps.story_model import trained_language_model
from helpers.data.agreement import AGREEMENT_VOCABULARY
from helpers.data.stories import STORY_VOCABULARY, tell_stories
from helpers.interp.ablation import without_heads
from tests.conftest import ROOT, first_and_full

sys.path.insert(0, str(ROOT / "_ext"))
import open_model

OPENING = "the letters in the drawer under the lamp that hums"
ABOUT = {
    "kind": "whole",
    "sentence": [["the letters", "the letter"], ["in the drawer"], ["under the lamp that hums"]],
    "answers": ["lies", "lie"],
    "page": "open_the_model.html",
}
LIGHT = ":root{--pst-color-text-base:#222;--pst-color-surface:#f3f4f5;--lamplight:#a85c00}"
DARK = ":root{--pst-color-text-base:#ddd;--pst-color-surface:#222832;--lamplight:#f4b04a}"


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    folder = tmp_path_factory.mktemp("site")
    (folder / "_static").mkdir()
    (folder / "_static" / "open_model.js").write_text(open_model.script(), encoding="utf-8")
    return folder


@pytest.fixture
def load(browser, page, folder):
    """A page opened as a file, with the model that the button brings."""
    contexts = []

    def open_page(style=LIGHT, width=1280, press=True, script=True, **about):
        closed = open_model.CLOSED.format(
            source=open_model.SCRIPT,
            about=json.dumps(ABOUT | about).replace('"', "&quot;"),
            label="Open the model",
            without="What would be here.",
        )
        style += "body{background:Canvas;color:var(--pst-color-text-base)}"
        scheme = f"<style>:root{{color-scheme:{'dark' if style.startswith(DARK) else 'light'}}}"
        scheme += f"{style}</style>"
        head = '<!doctype html><html lang="en"><head><meta charset="utf-8"><title>Model</title>'
        page_text = f"{head}{scheme}</head><body><main><h1>Model</h1>{closed}</main>"
        (folder / "page.html").write_text(page_text, encoding="utf-8")
        shown = page
        if not script:
            contexts.append(browser.new_context(java_script_enabled=False))
            shown = contexts[-1].new_page()
        shown.set_viewport_size({"width": width, "height": 800})
        shown.goto((folder / "page.html").as_uri())
        if press:
            shown.get_by_role("button", name="Open the model").click()
            shown.wait_for_selector(".next li")
        return shown

    yield open_page
    for context in contexts:
        context.close()


def sentences() -> list[list[int]]:
    """Fifty beginnings: the opening sentence, stories cut at random, words drawn at random."""
    random.seed(1)
    stories = tell_stories(30, torch.Generator().manual_seed(9))
    cut = [[int(i) for i in story if i][: random.randint(1, 50)] for story in stories]
    drawn = [
        random.choices(range(1, len(STORY_VOCABULARY)), k=random.randint(1, 30)) for _ in range(19)
    ]
    return [STORY_VOCABULARY.encode(OPENING).tolist(), *cut, *drawn]


@torch.no_grad()
def test_logits_are_those_of_torch(load):
    page, model = load(), trained_language_model()
    every = [(i, j) for i, b in enumerate(model.blocks) for j in range(b.attention.n_heads)]
    worst = 0.0
    for number, ids in enumerate(sentences()):
        off = random.sample(every, k=number % (len(every) + 1))
        mine = page.evaluate(
            """([ids, off]) =>
              window.lamplightModel.read(ids, new Set(off)).logits.map((x) => [...x])""",
            [ids, [f"{layer}.{head}" for layer, head in off]],
        )
        right = without_heads(model, off).double()(torch.tensor([ids]))[0]
        worst = max(worst, (torch.tensor(mine, dtype=torch.float64) - right).abs().max().item())
    assert worst < 1e-4


@torch.no_grad()
def test_maps_are_those_of_torch(load):
    ids = STORY_VOCABULARY.encode(OPENING).tolist()
    mine = load().evaluate("ids => window.lamplightModel.read(ids).maps", ids)
    _, right = trained_language_model()(torch.tensor([ids]), return_weights=True)
    for layer, weights in enumerate(right):
        for head, rows in enumerate(weights[0]):
            for t, looks in enumerate(mine[layer][head]):
                torch.testing.assert_close(
                    torch.tensor(looks, dtype=torch.float32), rows[t, : t + 1], atol=1e-4, rtol=0
                )


def test_words_are_those_of_the_package(load):
    page = load()
    assert page.evaluate("window.lamplightModel.words") == list(STORY_VOCABULARY.words)
    assert set(AGREEMENT_VOCABULARY.words) <= set(STORY_VOCABULARY.words)


def test_it_is_light():
    assert len(gzip.compress(open_model.script().encode())) <= 250_000


def first_word(page) -> str:
    return page.locator(".next .word").first.inner_text()


def test_opening_sentence_with_and_without_attractors(load):
    page = load()
    assert page.get_by_label("or your own words").input_value() == OPENING
    assert first_word(page) == "lie"
    for place in (1, 2):
        page.get_by_label(f"attractor {place}").select_option("")
    page.get_by_label("subject").select_option("the letter")
    assert page.get_by_label("or your own words").input_value() == "the letter"
    shares = page.locator(".next li").all_inner_texts()
    assert any(line.split()[0] == "lies" for line in shares)
    page.get_by_role("button", name="The opening sentence").click()
    assert first_word(page) == "lie"


def test_a_small_one_fills_the_gap(load):
    page = load(kind="small")
    assert "hums lie." in page.get_by_role("status").inner_text()
    page.get_by_label("subject").select_option("the letter")
    assert "hums lies." in page.get_by_role("status").inner_text()


def test_heads_are_switched_off_and_on(load):
    page = load()
    before = page.locator(".next").inner_text()
    assert "(" not in before
    for box in page.get_by_role("checkbox").all():
        box.uncheck()
    without = page.locator(".next").inner_text()
    assert (
        "(" in without
        and "Off: head 0 of layer 0, head 1 of layer 0" in page.get_by_role("status").inner_text()
    )
    page.get_by_role("button", name="Switch all heads on").click()
    assert page.locator(".next").inner_text() == before


def test_generates_text_and_names_unknown_words(load):
    page = load()
    page.get_by_role("slider").fill("0")
    page.get_by_role("button", name="Write to the end").click()
    field = page.get_by_label("or your own words")
    assert field.input_value().startswith(OPENING + " lie ") and field.input_value().endswith(".")
    field.fill("the zebra")
    assert "“zebra”" in page.get_by_role("alert").inner_text()
    field.fill("")
    assert "Write a word" in page.get_by_role("status").inner_text()
    page.get_by_text("All ", exact=False).first.click()
    page.get_by_role("button", name="lamps", exact=True).click()
    assert field.input_value() == "lamps"


def test_unknown_words_in_any_script_are_kept(load):
    page = load()
    field = page.get_by_label("or your own words")
    field.fill("the letters 👩‍🔬 ಅಕ್ಷರ lie")
    told = page.get_by_role("alert").inner_text()
    assert "“👩‍🔬”" in told and "“ಅಕ್ಷರ”" in told
    assert page.locator(".places s").all_inner_texts() == ["👩‍🔬", "ಅಕ್ಷರ"]
    page.get_by_role("slider").fill("0")
    page.get_by_role("button", name="Write one word").click()
    assert field.input_value().startswith("the letters 👩‍🔬 ಅಕ್ಷರ lie ")
    field.fill("the 👍🏽 lie 🇮🇳 ❤️")
    assert page.locator(".places s").all_inner_texts() == ["👍🏽", "🇮🇳", "❤️"]
    field.fill("the " + "x" * 300)
    assert page.evaluate("document.documentElement.scrollWidth") <= 1280


def test_no_map_is_blank(load):
    """Also where every weight is small."""
    page = load()
    page.get_by_label("or your own words").fill(" ".join(["the letters in the drawer"] * 10))
    depths = page.locator(".map svg").evaluate_all(
        "maps => maps.map((m) => Math.max(...[...m.querySelectorAll('path')]"
        ".map((p) => +p.getAttribute('opacity'))))"
    )
    assert len(depths) == 8 and all(depth == 1 for depth in depths)


def test_the_bars_stand_beside_the_switches(load):
    page = load()
    page.get_by_role("checkbox").last.scroll_into_view_if_needed()
    page.get_by_role("checkbox").last.uncheck()
    box = page.locator(".next").bounding_box()
    assert 0 <= box["y"] and box["y"] + box["height"] <= 800


def test_the_state_is_in_the_address(load):
    page = load()
    page.get_by_label("or your own words").fill("the lamps that hum")
    page.get_by_role("checkbox").nth(1).uncheck()
    page.get_by_role("slider").fill("0.5")
    before = page.locator(".next").inner_text()
    address = page.url
    assert "text=the+lamps+that+hum" in address and "temperature=0.5" in address
    page.reload()
    page.wait_for_selector(".next li")
    assert page.get_by_label("or your own words").input_value() == "the lamps that hum"
    assert not page.get_by_role("checkbox").nth(1).is_checked()
    assert page.locator(".next").inner_text() == before


def test_by_keyboard(load):
    page = load()
    press = page.keyboard.press
    assert page.evaluate("document.activeElement.tagName") == "TEXTAREA"
    radios = page.get_by_role("radio")
    radios.last.focus()
    press("ArrowLeft")
    assert page.get_by_role("radio", checked=True).evaluate("r => r === document.activeElement")
    assert "lamp that”" in page.get_by_role("status").inner_text()
    page.get_by_role("button", name="Look closer at layer 0, head 2").focus()
    press("Enter")
    assert page.get_by_role("heading", name="Layer 0, head 2").count() == 1
    row = page.locator("tr.on td").all_inner_texts()
    assert sum(map(float, filter(None, row))) == pytest.approx(1, abs=0.05)


@pytest.mark.parametrize("kind", ["whole", "small"])
@pytest.mark.parametrize(
    "looks",
    first_and_full((DARK, 390), (LIGHT, 1280), (LIGHT, 320)),
    ids=lambda looks: str(looks[1]),
)
def test_accessibility_and_width(kind, looks, load):
    style, width = looks
    page = load(style, width, kind=kind)
    if kind == "whole":
        page.get_by_role("checkbox").first.uncheck()
        page.get_by_text("All ", exact=False).first.click()
    results = Axe().run(page, options={"rules": {"target-size": {"enabled": True}}})
    assert results.violations_count == 0, results.generate_report()
    assert page.evaluate("document.documentElement.scrollWidth") <= width


def test_without_javascript_a_sentence_stands_there(load):
    page = load(press=False, script=False)
    assert page.locator("noscript em").is_visible()
    assert page.get_by_role("button").count() == 0
