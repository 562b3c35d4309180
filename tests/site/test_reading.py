"""How a page is read: the place is kept, the list of contents follows, the keyboard leads on."""

import pytest

from tests.conftest import ROOT
from tests.site.site_rules import LAID_OUT

HTML = ROOT / "_build" / "html"
LECTURE = next((HTML / "lectures").glob("04_*.html"), HTML / "missing")

HERE = """() => {
  const heads = [...document.querySelectorAll("article section[id] > :is(h2, h3, h4)")];
  const last = heads.filter((head) => head.getBoundingClientRect().top < innerHeight / 3).pop();
  const marked = [...document.querySelectorAll(".bd-sidebar-secondary a.active")];
  const marks = marked.map((link) => link.getAttribute("href"));
  return [last ? `#${last.parentElement.id}` : null, marks];
}"""


@pytest.fixture
def lecture(page):
    page.set_viewport_size({"width": 1280, "height": 800})
    page.goto(LECTURE.as_uri())
    page.wait_for_function(LAID_OUT)
    return page


def test_scroll_position_survives_reload_and_back(lecture):
    lecture.evaluate("scrollTo(0, document.documentElement.scrollHeight / 2)")
    before = lecture.evaluate("scrollY")
    assert before > 3000
    lecture.reload(wait_until="load")
    lecture.wait_for_timeout(300)
    assert abs(lecture.evaluate("scrollY") - before) < 5
    lecture.goto((HTML / "pages" / "glossary.html").as_uri())
    lecture.go_back(wait_until="load")
    lecture.wait_for_timeout(300)
    assert abs(lecture.evaluate("scrollY") - before) < 5


def test_the_list_of_contents_marks_where_one_is(lecture):
    height = lecture.evaluate("document.documentElement.scrollHeight")
    wrong = []
    for y in range(0, height - 800, height // 30):
        lecture.evaluate("y => scrollTo(0, y)", y)
        lecture.evaluate(
            "() => new Promise((go) => requestAnimationFrame(() => setTimeout(go, 30)))"
        )
        here, marked = lecture.evaluate(HERE)
        if marked != ([here] if here else []):
            wrong.append((y, here, marked))
    assert wrong == []


def test_tab_key_skips_to_text_with_visible_focus(lecture):
    lecture.keyboard.press("Tab")
    assert "Skip to main content" in lecture.evaluate("document.activeElement.textContent")
    lecture.keyboard.press("Enter")
    seen = []
    for _ in range(30):
        lecture.keyboard.press("Tab")
        stop = lecture.evaluate(
            """() => {
              const it = document.activeElement, style = getComputedStyle(it);
              return [it.className, it.closest("article") !== null, style.outlineStyle,
                parseFloat(style.outlineWidth)];
            }"""
        )
        seen.append(stop)
    assert sum(inside for _, inside, *_ in seen) >= 20
    assert not any("copybtn" in str(name) for name, *_ in seen)
    assert all(style == "solid" and width >= 2 for *_, style, width in seen), seen


def test_only_scrolling_formulas_take_focus(lecture):
    for formula in lecture.locator("div.math").all():
        wide, stops = formula.evaluate(
            "f => [f.scrollWidth > f.clientWidth, f.hasAttribute('tabindex')]"
        )
        assert wide == stops


SKIPPED = """() => [...document.querySelectorAll(".later")]
  .filter((part) => getComputedStyle(part).contentVisibility === "auto").length"""


@pytest.fixture
def own_tab(browser):
    """A tab that has loaded nothing: the shared one may hold a script in memory, and run it."""
    tab = browser.new_page()
    yield tab
    tab.close()


def test_page_is_laid_out_in_pieces_unless_at_a_place(own_tab):
    """Without the script that lays out the pieces one sees which wait; paper waits for none."""
    page = own_tab
    page.route("**/course.js", lambda route: route.abort())
    page.goto(LECTURE.as_uri())
    assert page.evaluate(SKIPPED) > 5
    page.emulate_media(media="print")
    assert page.evaluate(SKIPPED) == 0
    page.emulate_media(media="screen")
    page.reload()
    assert page.evaluate(SKIPPED) == 0
    for place in ("#limits", "?present=2"):
        page.goto((HTML / "404.html").as_uri())
        page.goto(LECTURE.as_uri() + place)
        assert page.evaluate(SKIPPED) == 0
    page.unroute("**/course.js")
    page.goto((HTML / "404.html").as_uri())
    page.goto(LECTURE.as_uri())
    page.wait_for_function(LAID_OUT)
    assert page.evaluate(SKIPPED) == 0
