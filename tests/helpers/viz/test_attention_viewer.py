"""The viewer of attention: what it refuses, what it holds, and how it works in a browser."""

import html
import json
import re

import numpy as np
import pytest
import torch
from axe_playwright_python.sync_playwright import Axe

from helpers.viz.attention_viewer import show_attention, to_html
from tests.conftest import ROOT, first_and_full

SENTENCE = "The letters in the drawer under the lamp that hums are unopened"
TOKENS = SENTENCE.split()
LIGHT = "background:#ffffff;color:#323232"
DARK = "background:#14181e;color:#ced6dd"


def random_weights(*shape, seed=0):
    rng = np.random.default_rng(seed)
    raw = rng.exponential(size=shape) ** 2
    return raw / raw.sum(axis=-1, keepdims=True)


WEIGHTS = random_weights(2, 4, 12, 12)
OTHER = random_weights(3, 2, 4, seed=1)


def stored(text):
    """The weights that the page's script reads."""
    return np.array(json.loads(re.search(r'data-weights="([^"]*)"', text)[1])) / 1000


def static_cells(text):
    return np.array([float(n) for n in re.findall(r"<td style=[^>]*>([\d.]+)</td>", text)])


# ---- The text -------------------------------------------------------------------------------


@pytest.mark.parametrize("shape", [(12, 12), (4, 12, 12), (2, 4, 12, 12)])
def test_page_stores_weights_to_three_digits(shape):
    weights = random_weights(*shape)
    text = to_html(weights, TOKENS)
    np.testing.assert_allclose(
        stored(text), weights.reshape((1,) * (4 - len(shape)) + shape), 0, 5e-4
    )
    first = weights.reshape(-1, 12, 12)[0]
    np.testing.assert_allclose(static_cells(text).reshape(12, 12), first, 0, 5e-4)


def test_forms_of_weights_agree():
    text = to_html(WEIGHTS, TOKENS)
    tensor = torch.tensor(WEIGHTS, requires_grad=True)
    assert to_html(tensor, TOKENS) == text
    assert to_html(list(tensor), TOKENS) == text
    assert to_html(WEIGHTS.tolist(), TOKENS) == text
    one_head = to_html([layer[0] for layer in WEIGHTS], TOKENS)
    np.testing.assert_array_equal(stored(one_head), stored(text)[:, :1])
    half = stored(to_html(tensor.to(torch.bfloat16), TOKENS))
    np.testing.assert_allclose(half, WEIGHTS, 0, 5e-3)


def test_size():
    assert len(to_html(WEIGHTS[0], TOKENS).encode()) < 60_000


def test_html_is_deterministic_and_one_line():
    """It holds no ids, so that several fit on a page."""
    text = to_html(WEIGHTS, TOKENS, title="Four heads.")
    assert text == to_html(WEIGHTS.copy(), list(TOKENS), title="Four heads.")
    assert "\n" not in text and " id=" not in text
    assert text != to_html(WEIGHTS[::-1], TOKENS, title="Four heads.")


def test_nbval_ignores_only_measured_figures():
    rules = (ROOT / "tests" / "notebooks" / "nbval_sanitize.cfg").read_text()
    (rule,) = re.findall(r"^regex: (.*<figure.*)$", rules, flags=re.MULTILINE)
    assert re.fullmatch(rule, to_html(WEIGHTS, TOKENS))
    assert not re.search(rule, to_html(WEIGHTS, TOKENS, measured=False))


def test_description_names_each_heads_strongest_link():
    weights = np.full((2, 3, 3), 1 / 3)
    weights[0, 2] = 0.1, 0.8, 0.1
    weights[1, 0] = 0, 0, 1
    text = to_html(weights, ["a", "b", "c"], labels=["verb", "end"], title="Two heads.")
    label = re.search(r'aria-label="([^"]*)"', text)[1]
    assert label == "Two heads. Attention, strongest links: verb: c → b 0.800; end: a → c 1.000."


def test_tokens_are_escaped():
    hostile = ["<b>", '"q"', "'s'", "&amp;", "</script>", "${x}", " "]
    text = to_html(np.eye(7), hostile, labels=["<i>"], title="</p><script>")
    body = text[text.index('<div class="attention"') : text.index("<script>")]
    for raw in ("<b>", "<i>", "</script", '"q"', "</p><script"):
        assert raw not in body
    shown = re.findall(r'<th scope="row">(.*?)</th>', text)
    assert [html.unescape(token) for token in shown] == [*hostile[:-1], "␣"]


def test_show_attention_displays_the_same_text(monkeypatch):
    displayed = []
    monkeypatch.setattr("IPython.display.display", displayed.append)
    show_attention(OTHER, ["a", "b"], ["w", "x", "y", "z"], selected=1, measured=False)
    (figure,) = displayed
    expected = to_html(OTHER, ["a", "b"], ["w", "x", "y", "z"], selected=1, measured=False)
    assert figure.data == expected


@pytest.mark.parametrize(
    ("weights", "arguments", "message"),
    [
        (np.ones(3) / 3, {}, r"weights: got shape \(3,\); needed shape \(T_q, T_k\)"),
        (np.ones((1, 1, 1, 1, 1)), {}, "weights: got shape"),
        ([], {}, "weights: got layers of shapes"),
        ([np.eye(2), np.eye(3)], {}, "weights: got layers of shapes"),
        (np.zeros((2, 0)), {}, "weights: got shape"),
        (np.array([[1.5, -0.5], [0, 1]]), {}, "weights: got a negative number or NaN"),
        (np.array([[np.nan, 1], [0, 1]]), {}, "weights: got a negative number or NaN"),
        (np.array([[0.4, 0.4], [0, 1]]), {}, "weights: got a row that sums to 0.800"),
        (np.eye(2), {"queries": ["a"]}, "queries: got 1; needed 2"),
        (np.eye(2), {"keys": ["a", "b", "c"]}, "keys: got 3; needed 2"),
        (np.eye(3)[:2], {}, "keys: got 2; needed 3"),
        (np.eye(2), {"queries": ["a", 5]}, "queries: got .*; needed a list of strings"),
        (np.eye(2), {"queries": "ab"}, "queries: got 'ab'; needed a list of strings"),
        (np.eye(2), {"labels": ["one", "two"]}, "labels: got 2; needed 1"),
        (np.eye(2), {"selected": 2}, "selected: got 2; needed a position from 0 to 1"),
    ],
)
def test_refuses(weights, arguments, message):
    with pytest.raises(ValueError, match=message):
        to_html(weights, **({"queries": ["a", "b"]} | arguments))


def test_fully_masked_rows_are_allowed():
    assert stored(to_html(np.array([[0, 0], [0.5, 0.5]]), ["a", "b"])).tolist() == [
        [[[0, 0], [0.5, 0.5]]]
    ]


# ---- In a browser ---------------------------------------------------------------------------


@pytest.fixture
def load(browser, page):
    """Opens viewers as a page; at the end nothing was said on the console and nothing asked for."""
    expected_status, asked, contexts = [], [], []
    listeners = {
        "console": lambda message: expected_status.append(message.text),
        "pageerror": lambda error: expected_status.append(str(error)),
        "request": lambda request: asked.append(request.url),
    }

    def open_page(*figures, style=LIGHT, width=1280, script=True, touch=False):
        shown = page
        if touch or not script:
            context = browser.new_context(
                java_script_enabled=script, has_touch=touch, is_mobile=touch
            )
            contexts.append(context)
            shown = context.new_page()
        shown.set_default_timeout(5000)
        shown.set_viewport_size({"width": width, "height": 900})
        for event, listener in listeners.items():
            shown.on(event, listener)
        shown.set_content(
            '<!doctype html><html lang="en"><meta charset="utf-8"><title>Viewer</title>'
            '<meta name="viewport" content="width=device-width">'
            f'<body style="font:16px sans-serif;max-width:690px;{style}"><main><h1>Viewer</h1>'
            f"{''.join(figures)}</main></body></html>"
        )
        return shown

    yield open_page
    for context in contexts:
        context.close()
    for event, listener in listeners.items():
        page.remove_listener(event, listener)
    assert expected_status == []
    assert asked == []


def expected_status(query, weights, names=None, keys=TOKENS):
    """What the line of text must say about a row, worked out here a second time."""
    lines = []
    for head, row in enumerate(weights):
        order = sorted(range(len(row)), key=lambda j: -round(row[j], 3))
        line = f"{names[head]}, {query} → " if names else f"{query} → "
        line += ", ".join(f"{keys[j]}: {row[j]:.3f}" for j in order[:5] if row[j] >= 0.0005)
        rest = sum(round(row[j], 3) for j in order[5:])
        lines.append(line + (f", the rest: {rest:.3f}" if rest else ""))
    return lines


def status(viewer):
    return viewer.locator("[role=status]").inner_text().split("\n")


def cells(viewer):
    texts = viewer.locator("tbody td").all_text_contents()
    return np.array([float(text) for text in texts])


def pick(viewer, group, label):
    viewer.get_by_role("radiogroup", name=group).get_by_label(label, exact=True).check()


def test_layers_and_heads_by_mouse(load):
    viewer = load(to_html(WEIGHTS, TOKENS, selected=10)).locator(".attention")
    names = [f"head {h}" for h in range(4)]
    assert status(viewer) == expected_status("are", WEIGHTS[0, :, 10], names)
    np.testing.assert_allclose(cells(viewer).reshape(12, 12), WEIGHTS[0].mean(0), 0, 1.1e-3)
    for layer in (1, 0):
        for head in (3, 0):
            pick(viewer, "layer", str(layer))
            pick(viewer, "head", f"head {head}")
            weights = WEIGHTS[layer, head]
            assert status(viewer) == expected_status("are", weights[None, 10])
            np.testing.assert_allclose(cells(viewer).reshape(12, 12), weights, 0, 5e-4)
            caption = viewer.locator("caption").inner_text()
            assert caption.startswith(f"layer {layer}, head {head}")
            beside = [text.strip() for text in viewer.locator(".keys div").all_inner_texts()]
            assert beside == [f"{weight:.3f}" for weight in weights[10]]


def test_lines_are_those_of_the_chosen_query_and_head(load):
    viewer = load(to_html(WEIGHTS, TOKENS)).locator(".attention")
    lines = viewer.locator("svg path")
    assert lines.count() == (WEIGHTS[0].round(3) >= 0.005).sum()
    pick(viewer, "head", "head 1")
    assert lines.count() == (WEIGHTS[0, 1].round(3) >= 0.005).sum()
    pick(viewer, "query", "lamp")
    row = WEIGHTS[0, 1, 7].round(3)
    assert lines.count() == (row >= 0.005).sum()
    widths = lines.evaluate_all("all => all.map((line) => line.getAttribute('stroke-width'))")
    np.testing.assert_allclose([float(w) for w in widths], 0.5 + 5 * row[row >= 0.005], 0, 1e-9)
    assert set(lines.evaluate_all("all => all.map((line) => line.getAttribute('stroke'))")) == {
        "#d55e00"
    }


def test_hover_shows_a_row_and_leaving_restores_it(load):
    page = load(to_html(WEIGHTS[0, 0], TOKENS, selected=1))
    viewer = page.locator(".attention")
    viewer.locator(".queries label").nth(8).hover()
    assert status(viewer) == expected_status("lamp", WEIGHTS[0, 0, 7:8])
    assert viewer.locator("tr.on th").inner_text() == "lamp"
    viewer.locator("tbody tr").nth(4).hover()
    assert status(viewer) == expected_status("drawer", WEIGHTS[0, 0, 4:5])
    page.mouse.move(0, 0)
    assert status(viewer) == expected_status("letters", WEIGHTS[0, 0, 1:2])
    viewer.locator("tbody tr").nth(4).click()
    page.mouse.move(0, 0)
    assert status(viewer) == expected_status("drawer", WEIGHTS[0, 0, 4:5])


def test_by_keyboard_alone(load):
    page = load(to_html(WEIGHTS, TOKENS))
    viewer, press = page.locator(".attention"), page.keyboard.press
    press("Tab")  # layer
    press("ArrowRight")
    press("Tab")  # head
    for _ in range(3):
        press("ArrowRight")
    press("Tab")  # query
    for _ in range(11):
        press("ArrowDown")
    focused = page.evaluate("document.activeElement.parentElement.textContent")
    assert focused == "are"
    assert status(viewer) == expected_status("are", WEIGHTS[1, 2, 10:11])
    outline = "getComputedStyle(document.activeElement.nextSibling).outline"
    assert "solid 3px" in page.evaluate(outline)
    press("Escape")
    assert status(viewer)[0].startswith("Point at a word")
    press("Tab")  # the table, which may have to be scrolled
    assert page.evaluate("document.activeElement.className") == "heat"
    press("Tab")  # numbers
    press("Space")
    size = viewer.locator("tbody td").first.evaluate("cell => getComputedStyle(cell).fontSize")
    assert size == "10px"
    # some browsers send a form when Enter is pressed in it; ours must not load another page
    page.evaluate(
        "addEventListener('submit', (event) => { window.sent = !event.defaultPrevented })"
    )
    page.evaluate("document.querySelector('form').requestSubmit()")
    assert page.evaluate("window.sent") is False


def test_two_viewers_and_a_copy_are_independent(load):
    text = to_html(WEIGHTS, TOKENS)
    page = load(text, to_html(OTHER, ["a", "b"], list("wxyz"), labels=["L", "R", "M"]), text)
    first, second, copy = page.locator(".attention").all()
    pick(first, "head", "head 1")
    pick(first, "query", "lamp")
    pick(second, "head", "R")
    pick(second, "query", "b")
    assert status(first) == expected_status("lamp", WEIGHTS[0, 1, 7:8])
    assert status(second) == expected_status("b", OTHER[1, 1:2], keys=list("wxyz"))
    assert status(copy)[0].startswith("Point at a word")
    pick(copy, "query", "in")
    assert status(copy) == expected_status("in", WEIGHTS[0, :, 2], [f"head {h}" for h in range(4)])
    assert status(first) == expected_status("lamp", WEIGHTS[0, 1, 7:8])
    choices = [
        viewer.locator(":checked + span").all_inner_texts() for viewer in (first, second, copy)
    ]
    assert choices == [["0", "head 1", "lamp"], ["R", "b"], ["0", "all", "in"]]


RUN_SCRIPT = """where => {
    const script = document.createElement("script");
    script.textContent = document.querySelector("main script").textContent;
    document.querySelector(where).append(script);
}"""


@pytest.mark.parametrize("where", first_and_full("head", "figure"))
def test_as_notebooks_insert_outputs(load, where):
    """They set the text of an output, which runs no script, and then run a copy somewhere."""
    page = load('<div id="output"></div>')
    insert = "text => { document.querySelector('#output').innerHTML = text; }"
    page.evaluate(insert, to_html(OTHER, ["a", "b"], list("wxyz"), selected=1))
    viewer = page.locator(".attention")
    assert status(viewer) == [""]
    page.evaluate(RUN_SCRIPT, where)
    names = [f"head {h}" for h in range(3)]
    assert status(viewer) == expected_status("b", OTHER[:, 1], names, keys=list("wxyz"))
    pick(viewer, "head", "head 1")
    before = viewer.inner_html()
    page.evaluate(RUN_SCRIPT, where)
    assert viewer.inner_html() == before
    pick(viewer, "query", "a")
    assert status(viewer) == expected_status("a", OTHER[1, :1], keys=list("wxyz"))


def test_masked_row_and_hostile_tokens(load):
    weights = np.array([[0, 0, 0], [0, 1, 0], [0.25, 0.25, 0.5]])
    tokens = ["<b>", '"q"', "</script>"]
    viewer = load(to_html(weights, tokens)).locator(".attention")
    pick(viewer, "query", "<b>")
    assert status(viewer) == ["<b> → nothing"]
    pick(viewer, "query", "</script>")
    assert status(viewer) == ['</script> → </script>: 0.500, <b>: 0.250, "q": 0.250']
    assert viewer.locator("b:not([style])").count() == 0


@pytest.mark.parametrize(
    "tokens", [["הכלב", "רץ", "הביתה"], ["الكلب", "يركض", "هنا"], ["a\u202eb", "c", "d"]]
)
def test_tokens_from_right_to_left_stay_in_order(load, tokens):
    """As reported at tokenizers 508: the arrow and the weights are read from left to right."""
    weights = np.array([[0.6, 0.3, 0.1]] * 3)
    said = load(to_html(weights, tokens, selected=0)).locator("[role=status] div")
    places = said.evaluate(
        """(line) => ["→", "0.600", "0.300", "0.100"].map((text) => {
             const [node] = line.childNodes, range = document.createRange();
             range.setStart(node, node.data.indexOf(text));
             range.setEnd(node, node.data.indexOf(text) + text.length);
             return range.getBoundingClientRect().left;
           })"""
    )
    assert places == sorted(places)


def test_odd_tokens_are_seen_and_saved():
    """Invisible characters, half of a surrogate pair, and dollar signs, which make a formula."""
    page = to_html(np.eye(3), ["\u200b", "\ud83d", "$"])
    assert '<th scope="row">␣</th>' in page and page.encode()
    assert "tex2jax_ignore" in page and "tex2jax_ignore" not in to_html(np.eye(1), ["a"])


def test_without_the_script_the_first_head_is_a_table(load):
    viewer = load(to_html(WEIGHTS, TOKENS), script=False).locator(".attention")
    np.testing.assert_allclose(cells(viewer).reshape(12, 12), WEIGHTS[0, 0], 0, 5e-4)
    assert viewer.locator("caption").inner_text().startswith("layer 0, head 0")
    assert viewer.locator("td:visible").count() == 145
    assert viewer.locator("input:visible").count() == 0


def test_screen_readers_get_the_numbers(load):
    """The heat map's numbers are not drawn at first, but they are in the accessibility tree."""
    page = load(to_html(WEIGHTS[0, 0], TOKENS))
    tree = page.context.new_cdp_session(page).send("Accessibility.getFullAXTree")["nodes"]
    read = [n["name"]["value"] for n in tree if n["role"]["value"] == "cell" and not n["ignored"]]
    assert f"{WEIGHTS[0, 0, 0, 0]:.3f}"[1:] in read


@pytest.mark.parametrize("style", first_and_full(LIGHT, DARK))
@pytest.mark.parametrize("numbers", first_and_full(True, False))
def test_accessibility(load, style, numbers):
    page = load(
        to_html(WEIGHTS, TOKENS, title="Two layers of four heads.", selected=10),
        to_html(random_weights(7, 12), list("abcdefg"), TOKENS),
        style=style,
    )
    if numbers:
        for box in page.get_by_label("numbers").all():
            box.check()
        pick(page.locator(".attention").first, "head", "head 3")
    results = Axe().run(page)
    assert results.violations_count == 0, results.generate_report()


def luminance(color):
    linear = np.where(color <= 0.04045, color / 12.92, ((color + 0.055) / 1.055) ** 2.4)
    return linear @ [0.2126, 0.7152, 0.0722]


@pytest.mark.parametrize("style", first_and_full(DARK, LIGHT))
def test_numbers_can_be_read_on_the_strongest_shade(load, style):
    """Contrast of 4.5 to 1; axe leaves out backgrounds that are gradients."""
    page = load(to_html(np.stack([np.eye(2)] * 5), ["a", "b"]), style=style)
    viewer = page.locator(".attention")
    viewer.get_by_label("numbers").check()
    paper, ink = (
        np.array([int(code[i : i + 2], 16) / 255 for i in (0, 2, 4)])
        for code in (style[12:18], style[-6:])
    )
    for head in range(5):
        pick(viewer, "head", f"head {head}")
        cell = viewer.locator("tbody td").first
        shade = cell.evaluate("cell => getComputedStyle(cell).backgroundImage")
        *color, alpha = map(float, re.search(r"rgba\(([^)]*)\)", shade)[1].split(","))
        ground = luminance(alpha * np.array(color) / 255 + (1 - alpha) * paper)
        low, high = sorted([ground, luminance(ink)])
        assert (high + 0.05) / (low + 0.05) >= 4.5, head


@pytest.mark.parametrize("width", first_and_full(320, 390))
def test_fits_a_phone(load, width):
    long = to_html(random_weights(4, 7, 30), list("abcdefg"), [f"token{j}" for j in range(30)])
    page = load(to_html(WEIGHTS, TOKENS, selected=10), long, width=width)
    assert page.evaluate("document.documentElement.scrollWidth") <= width
    assert page.locator(".heat").nth(1).evaluate("box => box.scrollWidth > box.clientWidth")


SMALLEST = """viewer => [...viewer.querySelectorAll("label, tbody tr")].map((it) => {
    const box = it.getBoundingClientRect();
    return [it.textContent, box.width, box.height];
}).filter(([, width, height]) => width < 24 || height < 24)"""


def test_by_finger_on_a_phone(load):
    """All can be reached by a tap, nothing needs a pointer that hovers."""
    letters = list("abcdefghijkl")
    page = load(to_html(WEIGHTS, letters), width=390, touch=True)
    viewer = page.locator(".attention")
    assert viewer.evaluate(SMALLEST) == []
    assert "tap" in status(viewer)[0]
    for group, label in (("layer", "1"), ("head", "head 2")):
        radio = viewer.get_by_role("radiogroup", name=group).get_by_label(label, exact=True)
        radio.tap()
    viewer.locator(".queries label").nth(11).tap()  # "all queries" comes first
    assert status(viewer) == expected_status("k", WEIGHTS[1, 2, 10:11], keys=letters)
    viewer.locator("tbody tr").nth(4).tap()
    assert status(viewer) == expected_status("e", WEIGHTS[1, 2, 4:5], keys=letters)
    viewer.get_by_label("all queries").tap()
    assert "tap" in status(viewer)[0]
    viewer.get_by_label("numbers").tap()
    assert viewer.get_by_label("numbers").is_checked()
