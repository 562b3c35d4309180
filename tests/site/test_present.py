"""Present: a lecture's core as slides, made from the built page; nothing is cut off."""

import re

import pytest

from tests.conftest import ROOT, empty, first_and_full
from tests.site.site_rules import LAID_OUT, serve

HTML = ROOT / "_build" / "html"
EVERY = sorted((HTML / "lectures").glob("*.html"))
LECTURES = [path for path in EVERY if path.name[:2] in ("04", "08", "12")]
OTHERS = [path for path in EVERY if path not in LECTURES]
LEAST, MOST = 20, 25  # of a lecture with its quiz

SLIDE = ".present > .slide"

ON_SLIDE = """() => {
  const slide = document.querySelector(".slide.on"), body = slide.firstChild;
  const inner = body.getBoundingClientRect(), outer = slide.getBoundingClientRect();
  const cut = [...body.querySelectorAll("pre, table, svg, .prediction, figure")].filter((part) => {
    const box = part.getBoundingClientRect();
    return part.checkVisibility() && box.width && (box.right > innerWidth + 1 || box.left < -1);
  });
  return { blocks: body.children.length, cut: cut.map((part) => part.outerHTML.slice(0, 80)),
    below: inner.bottom - outer.bottom, window: outer.bottom - innerHeight,
    heading: body.querySelector("h2").textContent, zoom: +body.style.zoom || 1 };
}"""
SMALLEST = 0.57  # of what is drawn smaller to fit, so that it is read from the last row


@pytest.fixture
def present(page):
    def open_slides(path, width=1280, height=720, query="present"):
        empty(page)
        page.set_viewport_size({"width": width, "height": height})
        page.goto(f"{path.as_uri()}?{query}")
        page.wait_for_selector(".slide.on")
        return page

    return open_slides


def notes_window(page):
    """The speaker's notes, opened."""
    with page.expect_popup() as opened:
        page.keyboard.press("n")
    opened.value.wait_for_selector("main h1")
    return opened.value


def turn_to(page, wanted):
    """Turn the slides by a key until one holds what is wanted."""
    for _ in range(MOST):
        if wanted.count():
            return
        page.keyboard.press("ArrowRight")
    raise AssertionError(f"no slide holds {wanted}")


@pytest.mark.parametrize("path", first_and_full(*LECTURES, *OTHERS), ids=lambda path: path.stem)
def test_a_lecture_takes_twenty_to_25_slides(path, present):
    """By the keys, with its quiz; what is for readers is left out; messages end as sentences."""
    page = present(path)
    titles = page.locator(SLIDE).evaluate_all("all => all.map(slide => slide.dataset.section)")
    shown, turns = page.locator(".present .count"), 0
    while len(set(shown.inner_text().split(" / "))) > 1:
        page.keyboard.press("ArrowRight")
        turns += 1
        assert turns < MOST, titles
    assert LEAST <= turns + 1 == len(titles), titles
    assert not {"What you will be able to do", "Limits", "Deeper"} & set(titles)
    assert titles[:1] == ["Opening"] and "What we showed" in titles
    assert page.locator(".slide .tag_no-slide:visible").count() == 0
    said = page.locator(".slide .message").all_inner_texts()
    assert not [text for text in said if re.search(r"(et al|n\.d)\.$", text)]


@pytest.mark.parametrize("size", first_and_full((1024, 768), (1280, 720)), ids=str)
@pytest.mark.parametrize("path", first_and_full(*LECTURES), ids=lambda path: path.stem)
def test_nothing_overflows(path, size, present):
    page = present(path, *size)
    n_slides = page.locator(SLIDE).count()
    headings = []
    for _ in range(n_slides):
        page.keyboard.press("ArrowRight")
        page.evaluate("document.querySelectorAll('.slide.on details').forEach(d => d.open = true)")
        page.evaluate("() => new Promise(done => setTimeout(done, 20))")
        slide = page.evaluate(ON_SLIDE)
        headings.append(slide["heading"])
        assert slide["blocks"] >= 2 and slide["cut"] == []
        assert slide["below"] <= 1 and slide["window"] <= 1, slide
        assert slide["zoom"] >= SMALLEST, slide
    assert "Deeper" not in headings


def test_keys_turn_open_and_lead_back(present):
    page = present(LECTURES[0])
    shown = page.locator(".present .count")
    n_slides = page.locator(SLIDE).count()
    page.keyboard.press("PageDown")
    assert shown.inner_text() == f"2 / {n_slides}"
    page.keyboard.press("ArrowLeft")
    assert shown.inner_text() == f"1 / {n_slides}"
    result = page.locator(".slide.on details.result")
    turn_to(page, result)
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


def test_a_result_is_closed_again(present):
    """By its button, or by Shift and Space; the question is back, and the guess is kept."""
    page = present(LECTURES[0])
    code = page.locator(".slide.on .prediction:has(.guess input) > .cell .cell_input")
    turn_to(page, code)
    shown = page.locator(".present .count").inner_text()
    page.locator(".slide.on .guess input").fill("11")
    page.get_by_role("button", name="Compare").and_(page.locator(".slide.on *")).click()
    assert not code.is_visible()
    page.locator(".slide.on").get_by_text("Hide the result").click()
    assert (
        code.is_visible() and page.locator(".slide.on").get_by_text("Show the result").is_visible()
    )
    page.locator(".slide.on h2").click()
    page.keyboard.press("Space")
    assert not code.is_visible()
    page.keyboard.press("Shift+Space")
    assert code.is_visible() and page.locator(".present .count").inner_text() == shown
    page.keyboard.press("Shift+Space")
    assert page.locator(".present .count").inner_text() != shown
    page.keyboard.press("Escape")
    assert page.get_by_text("Hide the result").count() == 0
    assert page.get_by_text("Your guess: 11").count() == 1


def test_a_chosen_option_opens_no_result(present):
    page = present(LECTURES[0])
    option = page.locator(".slide.on .prediction .predict input[type=radio]")
    turn_to(page, option)
    option.first.check()
    result = page.locator(".slide.on details.result")
    assert result.get_attribute("open") is None
    assert page.locator(".slide.on .why:visible").count() == 0
    page.keyboard.press("Space")
    assert page.locator(".slide.on .your-guess").is_visible()


def test_f_fills_the_screen_and_keys_are_listed(present):
    page = present(LECTURES[0])
    keys = page.locator(".present .keys")
    assert not keys.is_visible()
    page.keyboard.press("Shift+?")
    assert keys.get_by_text("full screen").is_visible()
    page.keyboard.press("Escape")
    assert not keys.is_visible() and page.locator(".slide.on").is_visible()
    page.keyboard.press("f")
    page.wait_for_function("document.fullscreenElement === document.documentElement")
    page.keyboard.press("f")
    page.wait_for_function("!document.fullscreenElement")


@pytest.mark.parametrize("width", [390, 1280])
def test_the_bar_fits(width, present):
    page = present(LECTURES[0], width=width)
    buttons = page.locator(".present nav button")
    for n in range(buttons.count()):
        box = buttons.nth(n).bounding_box()
        assert box["x"] >= 0 and box["x"] + box["width"] <= width, buttons.nth(n).inner_text()


def test_a_question_is_not_asked_twice(present):
    """The words above a field are hidden if they say no more than the question."""
    page = present(next(path for path in EVERY if path.name.startswith("06")))
    legends = page.locator(".slide .prediction .predict legend")
    hidden = legends.evaluate_all("all => all.map(l => getComputedStyle(l).display === 'none')")
    assert hidden == [False, True, True, True]
    page = present(next(path for path in EVERY if path.name.startswith("01")))
    more = page.locator(".slide .prediction .predict legend", has_text="With two cells")
    assert more.evaluate("l => getComputedStyle(l).display") != "none"


def test_the_page_is_as_it_was_afterwards(present):
    page = present(LECTURES[0])
    page.keyboard.press("Escape")
    after = page.locator("article.bd-article").inner_text()
    page.goto(LECTURES[0].as_uri())
    page.wait_for_function(LAID_OUT)
    assert page.locator("article.bd-article").inner_text() == after


def test_an_overflow_is_noticed(present):
    """The rule that the slides above pass."""
    page = present(LECTURES[0])
    turn_to(page, page.locator(".slide.on .prediction"))
    page.evaluate("document.querySelector('.slide.on').firstChild.style.zoom = 3")
    slide = page.evaluate(ON_SLIDE)
    assert slide["cut"] or slide["below"] > 1


def test_a_finger_turns_slides(browser):
    context = browser.new_context(has_touch=True, viewport={"width": 1024, "height": 768})
    page = context.new_page()
    page.goto(f"{LECTURES[0].as_uri()}?present")
    page.wait_for_selector(".slide.on")
    devtools = context.new_cdp_session(page)

    def swipe(start, end):
        for kind, x in (("touchStart", start), ("touchMove", end), ("touchEnd", None)):
            points = [] if x is None else [{"x": x, "y": 60}]
            devtools.send("Input.dispatchTouchEvent", {"type": kind, "touchPoints": points})

    swipe(700, 300)
    page.wait_for_function("document.querySelector('.count').textContent.startsWith('2 ')")
    swipe(300, 700)
    page.wait_for_function("document.querySelector('.count').textContent.startsWith('1 ')")
    context.close()


@pytest.mark.parametrize("query", ["present", "present&fill-in"])
def test_a_handout_has_two_slides_a_page(query, present):
    page = present(LECTURES[0], query=query)
    n_slides = page.locator(SLIDE).count()
    pages = re.findall(rb"/Type\s*/Page\b", page.pdf(prefer_css_page_size=True))
    assert len(pages) == (n_slides + 1) // 2


def test_a_handout_opens_its_folds_and_keeps_options(present):
    page = present(LECTURES[0])
    page.emulate_media(media="print")
    folds = page.locator(".slide details:not(.fold-code)")
    page.evaluate("dispatchEvent(new Event('beforeprint'))")
    assert folds.count() and page.locator(".slide details:not([open]):not(.fold-code)").count() == 0
    assert page.locator(".slide .predict input[type=radio]").first.is_visible()
    page.evaluate("dispatchEvent(new Event('afterprint'))")
    assert page.locator(".slide details[open]:not(.fold-code)").count() == 0


def test_a_handout_to_fill_in_holds_no_result(present):
    """By its address, or by its button; the other button prints the results."""
    page = present(LECTURES[0], query="present&fill-in")
    page.emulate_media(media="print")
    page.evaluate("document.querySelector('.slide details.result').open = true")
    page.evaluate("dispatchEvent(new Event('beforeprint'))")
    assert page.locator(".slide .prediction").count() >= 4
    assert page.locator(".slide :is(details.result, .explanation, .why):visible").count() == 0
    lines = page.locator(".slide .prediction > .admonition").evaluate_all(
        "all => all.map(box => parseFloat(getComputedStyle(box, '::after').height))"
    )
    assert min(lines) >= 127
    summary = page.locator(".slide[data-section='What we showed'] .slide-body")
    assert summary.evaluate("box => parseFloat(getComputedStyle(box, '::after').height)") > 300
    boxes = page.locator(
        ".slide > * > .cell > .cell_output:not(:has(.drawing, .explorable, .quiz))"
    )
    assert min(box.bounding_box()["height"] for box in boxes.all()) >= 80
    below = page.locator(SLIDE).evaluate_all(
        """slides => slides.map(slide => slide.firstChild.getBoundingClientRect().bottom
          - slide.getBoundingClientRect().bottom)"""
    )
    assert max(below) <= 1
    page.evaluate("dispatchEvent(new Event('afterprint'))")
    assert page.locator(".slide details.result[open]").count() == 1
    page = present(LECTURES[0])
    page.evaluate("window.print = () => dispatchEvent(new Event('beforeprint'))")
    for name, shown in (("Hand-out", False), ("With results", True)):
        page.get_by_role("button", name=name).click()
        assert page.locator(".slide .explanation").first.is_visible() == shown
        page.evaluate("dispatchEvent(new Event('afterprint'))")


@pytest.mark.parametrize("path", first_and_full(*LECTURES, *OTHERS), ids=lambda path: path.stem)
def test_a_handout_prints_nothing_computed(path, present):
    """Nor the summary; drawings and questions stay, and all is there with results."""
    page = present(path, query="present&fill-in")
    page.emulate_media(media="print")
    outputs = page.locator(".slide .cell_output :is(pre, table, svg):visible")
    drawn = "part => !!part.closest('.drawing, .explorable, .quiz')"
    summary = page.locator(".slide[data-section='What we showed'] li:visible")
    assert not all(outputs.evaluate_all(f"all => all.map({drawn})")) and summary.count() >= 3
    n_questions = page.locator(".slide .quiz:not(.predict):visible").count()
    page.evaluate("dispatchEvent(new Event('beforeprint'))")
    assert all(outputs.evaluate_all(f"all => all.map({drawn})")) and summary.count() == 0
    assert page.locator(".slide .quiz:not(.predict):visible").count() == n_questions >= 4
    drawings = page.locator(".slide > * > .cell .drawing:not(.still *)")
    n_drawings = drawings.count()
    assert drawings.locator("visible=true").count() == n_drawings
    page.evaluate("dispatchEvent(new Event('afterprint'))")
    page.get_by_role("button", name="Close", include_hidden=True).dispatch_event("click")
    assert page.locator(".fill-in").count() == 0


def test_the_question_is_the_largest_text(present):
    page = present(LECTURES[0])
    largest = page.locator(SLIDE).evaluate_all(
        """slides => slides.flatMap((slide) => {
          slide.classList.add("on");
          const asks = ".quiz:not(.predict) legend, .prediction > .admonition > p:last-child";
          const questions = [...slide.querySelectorAll(asks)];
          const size = (part) => parseFloat(getComputedStyle(part).fontSize);
          const others = [...slide.querySelectorAll("h2, p, label, pre, legend")]
            .filter((part) => !questions.some((question) => part.contains(question)));
          const most = Math.max(...others.map(size));
          return questions.map((question) => [question.textContent, size(question), most]);
        })"""
    )
    assert len(largest) >= 8
    assert [entry for entry in largest if entry[1] <= entry[2]] == []


def test_lecture_4_says_on_slides_what_a_speaker_needs(present):
    """What a class cannot vote without; on the page it would be said twice."""
    page = present(LECTURES[0])
    texts = [" ".join(text.split()) for text in page.locator(SLIDE).all_text_contents()]

    def slide(words):
        (found,) = [n for n, text in enumerate(texts) if words in text]
        return found

    rows = slide("What will the three rows sum to?")
    assert slide("because its score goes to −∞") == slide("Why −∞ and not 0") == rows + 2
    assert slide("Paint a mask") == slide("Which of the five masks pass") + 1
    assert slide("A causal mask lets each token attend") == slide("True means “may attend”") == rows
    assert slide("its score becomes −∞") == rows + 1
    assert slide("If any output before t changes") < slide("Which of the five masks pass")
    assert slide("strict, tril(−1)") == slide("Which of the five masks pass")
    lowest = slide("Which of the three reaches the lowest loss?")
    assert slide("one of 4 adjectives") == slide("the best possible loss is log k") == lowest
    assert lowest < slide("A loss below the entropy is the symptom of a leak.")
    assert slide("The remedy is a padding mask") == slide("32 pad tokens") + 1
    said = page.locator(".slide .for-slides")
    assert said.count() == page.locator(".for-slides").count() == 10
    page.evaluate("document.querySelectorAll('.slide').forEach(s => s.classList.add('on'))")
    assert all(said.nth(n).is_visible() for n in range(10))
    before = page.locator(SLIDE).all_inner_texts()[: lowest + 1]
    assert not any("1.19" in text for text in before)
    page.keyboard.press("Escape")
    assert page.locator(".for-slides:visible").count() == 0


def test_lecture_4_paints_nothing_before_a_vote(browser, present):
    """The explorable and its table without JavaScript show the same weights: those of no mask."""
    page = present(LECTURES[0])
    cells = page.locator(".slide.on .stage tbody button")
    turn_to(page, cells)
    live = [f"{float(text):.2f}" for text in cells.all_inner_texts()]
    assert len(live) == 25 and "0.00" not in live
    plain = browser.new_context(java_script_enabled=False).new_page()
    plain.goto(LECTURES[0].as_uri())
    table = plain.locator("[data-explorable=paint_a_mask] table .number")
    still = [text for text in table.all_text_contents() if text[0].isdigit()]
    plain.context.close()
    assert [f"{float(text):.2f}" for text in still] == live


def test_keys_turn_after_an_answer(present):
    page = present(LECTURES[0])
    answer = page.locator(".slide.on .quiz input[type=radio]")
    turn_to(page, answer)
    before = page.locator(".present .count").inner_text()
    answer.first.check()
    page.keyboard.press("ArrowRight")
    assert page.locator(".present .count").inner_text() != before


@pytest.mark.parametrize("path", first_and_full(*LECTURES), ids=lambda path: path.stem)
def test_notes_show_the_plan_of_each_slide(path, present):
    """In a window of their own, from files; its keys turn the slides, and it closes with them.

    Each sentence of the plan belongs to one slide, so no arrow turns past the last slide of its
    step; and all but questions and summary have one, or what the page says there.
    """
    page = present(path)
    notes = notes_window(page)
    assert notes.locator("main h1").first.inner_text().startswith("0–")
    notes.set_viewport_size({"width": 900, "height": 700})
    preview = notes.locator(".next").bounding_box()
    assert preview["y"] + preview["height"] <= 500 and preview["x"] + preview["width"] <= 900
    n_slides, seen, own, sentences = page.locator(SLIDE).count(), set(), [], []
    others = set()
    for number in range(n_slides):
        seen |= set(notes.locator("main h1").all_inner_texts())
        assert notes.locator("main .heard").first.inner_text()
        own.append(notes.locator("main h2 ~ p").all_inner_texts())
        sentences.append(notes.locator("main .own").all_inner_texts())
        others |= set(notes.locator("main .other").all_inner_texts())
        assert f"slide {number + 1} of {n_slides}" in notes.locator("header").inner_text()
        assert notes.locator(".next .present > .slide").count() == (number + 1 < n_slides)
        notes.keyboard.press("PageDown")
    plan = page.evaluate("name => window.lamplightSessions[name]", f"lectures/{path.stem}")
    times = {"–".join(map(str, step["minutes"])) for step in plan["steps"]}
    assert {title.partition(" · ")[0] for title in seen} == times
    said = [text for texts in own for text in texts]
    assert len(said) == len(set(said)) and len(said) >= n_slides
    planned = [text for texts in sentences for text in texts]
    assert planned and others <= set(planned)
    silent = [number for number in range(n_slides) if not own[number] + sentences[number]]
    bare = "[data-section='Check yourself'], [data-section='What we showed']"
    speaks = page.locator(SLIDE).evaluate_all(f'all => all.map(slide => slide.matches("{bare}"))')
    assert all(speaks[number] for number in silent), silent
    assert plan["cut"] in notes.locator("footer").inner_text()
    notes.close()


def test_notes_and_their_clock_outlive_the_slides(present):
    """Escape closes the slides alone; once they are open again the notes go on with them."""
    page = present(LECTURES[0])
    notes = notes_window(page)
    notes.evaluate("window.lamplightBegan -= 10 * 60000")
    page.keyboard.press("Escape")
    assert not notes.is_closed()
    assert notes.get_by_text("The slides are closed").is_visible()
    notes.keyboard.press("PageDown")
    page.get_by_role("button", name="Present as slides").click()
    page.keyboard.press("PageDown")
    notes.get_by_text("slide 2 of").wait_for()
    assert notes.get_by_text("minute 10").is_visible()
    notes.close()


def test_notes_hold_the_answers_of_the_questions(present):
    page = present(LECTURES[0])
    notes = notes_window(page)
    options = page.locator(".slide.on .option")
    turn_to(page, options)
    right = page.locator(".slide.on .option:has(.why.right) label").all_inner_texts()
    answers = " ".join(notes.locator("main .answer strong").all_inner_texts())
    assert right and all(option.strip() in answers for option in right)
    notes.close()


def test_what_code_computed_waits_for_space(present):
    """Also outside a prediction, and a cell with the tag `cover`; it keeps its place."""
    page = present(LECTURES[0])
    drawing = page.locator(".slide.on .tag_cover svg[role=img]")
    assert drawing.count() == 1 and not drawing.is_visible()
    page.keyboard.press("Space")
    assert drawing.is_visible()
    figure = page.locator(".slide.on[data-section='Left padding'] figure")
    turn_to(page, figure)
    before = figure.bounding_box()
    assert not figure.is_visible() and before["height"] > 100
    page.keyboard.press("Space")
    assert figure.is_visible() and figure.bounding_box() == before
    page.keyboard.press("Shift+Space")
    assert not figure.is_visible()
    page.keyboard.press("Escape")
    assert page.locator("article .cover").count() == 0 and figure.count() == 0
    assert page.locator("article .tag_cover svg[role=img]").is_visible()


LEAST_TEXT = 12  # of 720 pixels; subscripts apart
SMALL_TEXT = """([selector, least]) => {
  const walker = document.createTreeWalker(document.querySelector(selector), NodeFilter.SHOW_TEXT);
  const found = [];
  while (walker.nextNode()) {
    const text = walker.currentNode, part = text.parentElement, svg = part.closest("svg");
    if (!text.data.trim() || part.closest("sub, sup, math, title, style, script")) continue;
    const seen = { opacityProperty: true, visibilityProperty: true };
    if (!part.checkVisibility(seen) || !part.getBoundingClientRect().height) continue;
    const scale = svg ? Math.hypot(part.getScreenCTM().b, part.getScreenCTM().d)
      : part.currentCSSZoom;
    const size = parseFloat(getComputedStyle(part).fontSize) * scale;
    if (size <= 1 || size >= least) continue; // 1: a field that is for screen readers
    found.push(`${size.toFixed(1)} px: ${text.data.trim().slice(0, 40)}`);
  }
  return found;
}"""
# Figures whose words would meet if they were larger, and a result of many parts.
TOO_SMALL = {"00": 10, "01": 10, "02": 6.5, "03": 11, "05": 9.5, "06": 6, "13": 3}


@pytest.mark.parametrize("path", first_and_full(*LECTURES, *OTHERS), ids=lambda path: path.stem)
def test_text_on_slides_is_read_from_the_back(path, present):
    """Numbers in tables and figures too, with results shown: 1/60 of the height of a slide."""
    page = present(path)
    least = TOO_SMALL.get(path.name[:2], LEAST_TEXT)
    small = []
    for number in range(page.locator(SLIDE).count()):
        folds = "document.querySelectorAll('.slide.on details:is(.result, .cover)')"
        page.evaluate(f"{folds}.forEach(fold => fold.open = true)")
        page.evaluate("() => new Promise(done => setTimeout(done, 20))")
        small += [
            f"slide {number + 1}, {found}"
            for found in page.evaluate(SMALL_TEXT, [".slide.on", least])
        ]
        page.keyboard.press("PageDown")
    assert small == []


def test_a_link_on_a_slide_opens_beside_it(present):
    page = present(LECTURES[0])
    link = page.locator(".slide.on a[href*='glossary']:visible")
    turn_to(page, link)
    with page.context.expect_page() as opened:
        link.first.click()
    assert "glossary" in opened.value.url and link.first.is_visible()
    opened.value.close()


def test_a_clicker_can_show_nothing(present):
    page = present(LECTURES[0])
    heading = page.locator(".slide.on h2")
    page.keyboard.press("b")
    assert not heading.is_visible()
    page.keyboard.press("b")
    assert heading.is_visible()
    page.keyboard.press(".")
    page.keyboard.press("PageDown")
    assert page.locator(".slide.on h2").is_visible()


def test_paper_shows_nothing_a_reader_chose(present):
    page = present(LECTURES[0])
    page.evaluate(
        """() => {
          document.querySelectorAll(".slide").forEach((slide) => slide.classList.add("on"));
          document.querySelectorAll(".slide .quiz .option input").forEach((i) => i.click());
          const field = document.querySelector(".slide .predict .guess input");
          field.value = "12345";
          field.form.requestSubmit();
        }"""
    )
    of_reader = page.locator(".slide :is(.your-guess, .why, .guess, .predict [role=status] strong)")
    assert of_reader.locator("visible=true").count() >= 8
    page.emulate_media(media="print")
    for name in ("Hand-out", "With results"):
        page.evaluate("window.print = () => dispatchEvent(new Event('beforeprint'))")
        page.get_by_role("button", name=name, include_hidden=True).dispatch_event("click")
        assert of_reader.locator("visible=true").count() == 0
        marks = page.locator(".slide .option input").evaluate_all(
            "all => all.map(i => getComputedStyle(i).appearance)"
        )
        assert len(marks) >= 8 and set(marks) == {"none"}
        page.evaluate("dispatchEvent(new Event('afterprint'))")


def test_notes_go_on_after_a_reload(page):
    """They show the slide again, and their clock is not set to 0."""
    with serve(HTML) as base:
        page.goto(f"{base}lectures/{LECTURES[0].name}?present=3")
        page.wait_for_selector(".slide.on")
        notes = notes_window(page)
        notes.evaluate("window.lamplightBegan -= 10 * 60000")
        page.goto(f"{base}pages/glossary.html")
        page.go_back()
        page.wait_for_selector(".slide.on")
        page.keyboard.press("PageDown")
        notes.get_by_text("slide 4 of").wait_for()
        assert notes.get_by_text("minute 10").is_visible()
        notes.keyboard.press("PageDown")
        assert page.locator(".present .count").inner_text().startswith("5 ")


def test_a_number_jumps_and_slides_resume(present):
    page = present(LECTURES[0])
    shown = page.locator(".present .count")
    for key in ("1", "2", "Enter"):
        page.keyboard.press(key)
    assert shown.inner_text().startswith("12 ")
    page.keyboard.press("Escape")
    page.get_by_role("button", name="Present as slides").click()
    assert shown.inner_text().startswith("12 ")


def test_space_opens_a_fold_after_a_click_on_the_bar(present):
    page = present(LECTURES[0])
    result = page.locator(".slide.on details.result")
    while not result.count():
        page.get_by_role("button", name="Next slide").click()
    page.keyboard.press("Space")
    assert result.first.get_attribute("open") is not None
