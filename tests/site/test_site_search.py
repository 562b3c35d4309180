"""The search of the built site finds what people type, from files, in one page."""

import re

import pytest

from tests.conftest import ROOT

HTML = ROOT / "_build" / "html"
# What is typed, and the pages that may come first: a lecture by its number, or the glossary, whose
# entries name the lecture.
QUERIES = {
    "backprop": "00 01",
    "kv cache": "08",
    "causal mask": "glossary 04",
    "why sqrt": "03",
    "teacher forcing": "04 09",
    "hallucination": "11",
    "lora": "glossary 13",
    "rope": "06",
    "perplexity": "glossary 08",
    "beam search": "glossary 09",
    "bleu": "glossary 09",
    "softmax": "00 02",
    "dropout": "glossary 04 07",
    "layer norm": "glossary 07",
    "layernorm": "glossary 07",
    "residual": "07",
    "skip connection": "07",
    "bert": "10",
    "gpt": "glossary 08",
    "induction head": "12",
    "cross attention": "09",
    "positional encoding": "glossary 06",
    "alibi": "glossary 06",
    "multi head attention": "05",
    "multihead": "05",
    "lstm": "glossary 01",
    "padding mask": "04",
    "masks": "04",
    "copying": "glossary 11",
    "temperature": "glossary 08",
    "vanishing gradients": "glossary 01",
    "qkv": "03",
    "rouge": "glossary 11",
    "squad": "10",
    "bpe": "glossary 08",
    "tokenizer": "glossary 08",
    "fine-tuning": "glossary 13",
    "logit lens": "glossary 12",
    "attention sink": "glossary 13",
    "warmup": "glossary 07",
    "grading": "grading grading_reference",
    "exam": "examination",
    "transformer": "glossary 07",
    "self-attention": "glossary 02",
    "encoder": "glossary 09",
    "layer normalization": "07",
    "cross entropy": "00 08",
    "embedding": "glossary 06",
    "greedy": "09",
    "top-k": "08",
    "nucleus": "08",
    "quantization": "glossary 13",
    "sinusoidal": "06",
    "relative position": "06",
    "kannada": "09",
    "probing": "12",
    "activation patching": "glossary 12",
    "ablation": "glossary 12",
    "exact match": "glossary 10",
    "summary": "11",
    "pointer network": "11",
    "minimal pairs": "glossary 13",
    "nan": "04",
    "learning rate": "01",
    "gradient clipping": "01",
    "overfitting": "07",
    "exposure bias": "04 09",
    "look ahead mask": "04",
    "in-context learning": "12",
    "permutation": "glossary 06",
    "one hot": "glossary 02",
    "seq2seq": "09",
    "head pruning": "glossary 12",
    "kv-cache": "08",
    "speaker notes": "sessions",
}
# What is typed, and the one section that introduces it.
PLACES = {
    "hallucination": "11 what-a-summary-can-get-wrong",
    "nan": "04 fully-masked-rows",
    "attention is -inf nan softmax": "04 fully-masked-rows",
    "hallucinate": "11 what-a-summary-can-get-wrong",
    "bert": "10 three-families-of-transformers",
    "why sqrt": "03 why-scores-are-divided-by-d-k",
    "future token": "04 the-future-token-test",
    "lstm cell": "01 the-lstm-cell",
    "teacher forcing": "04 teacher-forcing",
    "pointer generator": "11 copying-the-pointer-generator",
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
def test_what_people_type_is_found_first(query, page):
    page.locator("#search-field").fill(query)
    hits = page.locator("#search-results li a")
    links = [hits.nth(n).get_attribute("href") for n in range(min(4, hits.count()))]
    starts = [f"lectures/{p}_" if p.isdigit() else f"pages/{p}." for p in QUERIES[query].split()]
    assert links[0].startswith(tuple(starts)), links
    assert not any(link.startswith("solutions/") for link in links)


@pytest.mark.parametrize("query", PLACES)
def test_the_section_that_introduces_it_comes_first(query, page):
    page.locator("#search-field").fill(query)
    link = page.locator("#search-results li a").first.get_attribute("href")
    number, anchor = PLACES[query].split()
    assert link.startswith(f"lectures/{number}_") and link.endswith(f"#{anchor}"), link


@pytest.mark.parametrize(("query", "page_name"), [("install", "index"), ("colab", "index")])
def test_how_to_run_it_is_found(query, page_name, page):
    page.locator("#search-field").fill(query)
    link = page.locator("#search-results li a").first.get_attribute("href")
    assert link.startswith(f"{page_name}.html")
    if query == "install":
        assert "make lab" in page.locator("#search-results li p").first.inner_text()


def test_texts_hold_no_keys_and_no_markup(page):
    """Excerpts are cut from these texts: keys of citations, comments and commands say nothing."""
    texts = page.evaluate(
        "window.lamplightIndex.pages.flatMap(([page, , , , found]) => found.map((e) => e[2]))"
    )
    assert len(texts) > 500
    raw = re.compile(r"\b[a-z]{3,}(?:19|20)\d\d[a-z]?\b|<!--|</|[{}\\]|Time: Core")
    assert [found for text in texts for found in raw.findall(text)] == []


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
