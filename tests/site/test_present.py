"""Present: a lecture's core as slides, made from the built page; nothing is cut off."""

import pytest

from tests.conftest import ROOT

HTML = ROOT / "_build" / "html"
LECTURES = sorted((HTML / "lectures").glob("0[48]_*.html"))

ON_SLIDE = """() => {
  const slide = document.querySelector(".slide.on"), body = slide.firstChild;
  const inner = body.getBoundingClientRect(), outer = slide.getBoundingClientRect();
  const cut = [...body.querySelectorAll("pre, table, svg, .prediction, figure")].filter((part) => {
    const box = part.getBoundingClientRect();
    return part.checkVisibility() && box.width && (box.right > innerWidth + 1 || box.left < -1);
  });
  return { blocks: body.children.length, cut: cut.map((part) => part.outerHTML.slice(0, 80)),
    below: inner.bottom - outer.bottom, window: outer.bottom - innerHeight,
    heading: body.querySelector("h2").textContent };
}"""


@pytest.fixture
def present(browser):
    pages = []

    def open_slides(path, width=1280, height=720):
        page = browser.new_page(viewport={"width": width, "height": height})
        pages.append(page)
        page.goto(f"{path.as_uri()}?present")
        page.wait_for_selector(".slide.on")
        return page

    yield open_slides
    for page in pages:
        page.close()


@pytest.mark.parametrize("size", [(1280, 720), (1024, 768)], ids=str)
@pytest.mark.parametrize("path", LECTURES, ids=lambda path: path.stem)
def test_nothing_overflows(path, size, present):
    page = present(path, *size)
    n_slides = page.locator(".slide").count()
    assert 10 <= n_slides <= 60
    headings = []
    for _ in range(n_slides):
        page.keyboard.press("ArrowRight")
        page.evaluate("document.querySelectorAll('.slide.on details').forEach(d => d.open = true)")
        page.evaluate("() => new Promise(done => setTimeout(done, 20))")
        slide = page.evaluate(ON_SLIDE)
        headings.append(slide["heading"])
        assert slide["blocks"] >= 2 and slide["cut"] == []
        assert slide["below"] <= 1 and slide["window"] <= 1, slide
    assert "Deeper" not in headings


def test_keys_turn_open_and_lead_back(present):
    page = present(LECTURES[0])
    shown = page.locator(".present .count")
    n_slides = page.locator(".slide").count()
    page.keyboard.press("PageDown")
    assert shown.inner_text() == f"2 / {n_slides}"
    page.keyboard.press("ArrowLeft")
    assert shown.inner_text() == f"1 / {n_slides}"
    result = page.locator(".slide.on details.result")
    while not result.count():
        page.keyboard.press("ArrowRight")
    before = shown.inner_text()
    page.keyboard.press("Space")
    assert result.first.get_attribute("open") is not None and shown.inner_text() == before
    page.keyboard.press("Space")
    assert shown.inner_text() != before
    sections = page.locator("article.bd-article section").count()
    page.keyboard.press("Escape")
    assert page.locator(".present").count() == 0
    assert page.locator("article .prediction").count() >= 4 and sections
    assert page.get_by_role("button", name="Present as slides").evaluate(
        "button => button === document.activeElement"
    )


def test_the_page_is_as_it_was_afterwards(present):
    page = present(LECTURES[0])
    page.keyboard.press("Escape")
    after = page.locator("article.bd-article").inner_text()
    page.goto(LECTURES[0].as_uri())
    assert page.locator("article.bd-article").inner_text() == after
