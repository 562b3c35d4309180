"""The search of the built site finds what people type, from files, in one page."""

import pytest

from tests.conftest import ROOT

HTML = ROOT / "_build" / "html"
FIRST = 4  # what is seen without scrolling

# What is typed, and a page that must be among the first: a lecture by its number, or the glossary.
QUERIES = {
    "backprop": "00",
    "kv cache": "glossary",
    "causal mask": "04",
    "why sqrt": "03",
    "teacher forcing": "glossary",
    "hallucination": "11",
    "RoPE": "06",
    "ALiBi": "06",
    "softmax": "00",
    "multi head attention": "05",
    "multihead": "05",
    "layernorm": "07",
    "skip connection": "07",
    "lstm": "glossary",
    "padding mask": "04",
    "masks": "04",
    "beam search": "09",
    "cross attention": "09",
    "copying": "11",
    "temperature": "08",
    "positional encoding": "glossary",
    "induction heads": "glossary",
    "vanishing gradients": "glossary",
    "qkv": "03",
}


@pytest.fixture(scope="module")
def page(browser):
    page = browser.new_page()
    asked = []
    page.on("request", lambda request: asked.append(request.url))
    page.errors = []
    page.on("pageerror", lambda error: page.errors.append(str(error)))
    page.goto((HTML / "search.html").as_uri())
    page.asked = asked
    yield page
    page.close()


@pytest.mark.parametrize("query", QUERIES)
def test_what_people_type_is_found(query, page):
    page.locator("#search-field").fill(query)
    hits = page.locator("#search-results li a")
    links = [hits.nth(n).get_attribute("href") for n in range(min(FIRST, hits.count()))]
    wanted = QUERIES[query]
    start = f"lectures/{wanted}_" if wanted.isdigit() else f"pages/{wanted}"
    assert any(link.startswith(start) for link in links), links
    assert not any(link.startswith("solutions/") for link in links)


def test_excerpts_come_from_the_index_and_mark_words(page):
    """No other page is fetched for them."""
    page.locator("#search-field").fill("dropout")
    excerpts = page.locator("#search-results li p")
    assert excerpts.count() >= 3
    marked = page.locator("#search-results mark").all_inner_texts()
    assert marked and all(word.lower().startswith("dropout") for word in marked)
    assert "Contents" not in excerpts.first.inner_text()
    pages = [address for address in page.asked if address.partition("?")[0].endswith(".html")]
    assert len(pages) == 1 and page.errors == []


def test_lectures_come_before_answers(page):
    page.locator("#search-field").fill("rotary attention")
    hits = page.locator("#search-results li a")
    links = [hits.nth(n).get_attribute("href") for n in range(hits.count())]
    kinds = [link.partition("/")[0] for link in links]
    assert "lectures" in kinds
    assert "solutions" not in kinds[: kinds.index("lectures") + 1]


def test_no_result_is_said_and_no_page_is_highlighted(page, browser):
    page.locator("#search-field").fill("zzzxqy")
    assert "Nothing was found" in page.locator("#search-status").inner_text()
    page.locator("#search-field").fill("softmax")
    page.locator("#search-results li a").first.click()
    page.wait_for_load_state()
    assert page.get_by_text("Hide Search Matches").count() == 0
    assert page.locator("span.highlighted").count() == 0
    page.go_back()


def test_the_magnifier_does_not_lie_on_what_is_typed(browser):
    page = browser.new_page(viewport={"width": 1280, "height": 800})
    page.goto((HTML / "lectures" / "04_masks.html").as_uri())
    page.locator("button.search-button__button, .search-button-field").first.click()
    field = page.locator("dialog form.bd-search input").first
    icon = page.locator("dialog form.bd-search svg").first.bounding_box()
    box = field.bounding_box()
    assert icon["x"] + icon["width"] <= box["x"] + 1
    page.close()
