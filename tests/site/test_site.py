"""The built site, every page of it, in a real browser."""

import functools
import json
import re
from pathlib import Path
from urllib.parse import unquote, urldefrag

import pytest
import yaml
from bs4 import BeautifulSoup

from tests.conftest import ROOT, empty
from tests.site import site_rules

HTML = ROOT / "_build" / "html"


def toc_files() -> list[str]:
    """The pages of the table of contents, in order, as they are named there."""

    def visit(entry):
        names = [entry[key] for key in ("root", "file") if key in entry]
        for key in ("parts", "chapters", "sections"):
            for child in entry.get(key, []):
                names += visit(child)
        return names

    return visit(yaml.safe_load((ROOT / "_toc.yml").read_text(encoding="utf-8")))


FILES = toc_files()
PAGES = [f"{name}.html" for name in FILES] + ["search.html"]
NOTEBOOKS = [name for name in FILES if (ROOT / f"{name}.ipynb").is_file()]


@pytest.fixture(scope="module", autouse=True)
def forget_pages():
    """What was read of them takes much memory."""
    yield
    page_soup.cache_clear()


@pytest.fixture(scope="module")
def base():
    if not (HTML / "index.html").is_file():
        pytest.fail("The site is not built: make book")
    with site_rules.serve(HTML) as address:
        yield address


@pytest.fixture(scope="module")
def visits(browser):
    """A tab for the visits, and the one to the page that is open, by its name."""
    tab = browser.new_page()
    yield tab, {}
    tab.close()


@pytest.fixture
def visited(base, visits, page_name):
    """One page, opened once for all the tests that look at it."""
    tab, visit = visits
    if page_name not in visit:
        while visit:
            visit.popitem()[1].leave()
        visit[page_name] = site_rules.visit(tab, base, page_name)
    return visit[page_name]


SLOW = (site_rules.accessibility, site_rules.dark_mode, site_rules.quizzes)
TEMPLATES = {"index.html", "search.html", "exercises/04_masks.html", "solutions/04_masks.html"}
TEMPLATES |= {"lectures/05_multi_head_attention.html"}
TEMPLATES |= {f"pages/{name}.html" for name in ("glossary", "open_the_model", "grading_situations")}
"""A page of each kind. Of these alone `make test` asks the slow rules, and of all pages with model
answers of one; `make test-all` asks all rules of every page."""


def pages_and_rules():
    """Each page with each rule, page by page, so that each is opened once."""
    for page in PAGES:
        for rule in site_rules.EVERY_PAGE:
            later = rule in SLOW or page.startswith("solutions/")
            marks = [pytest.mark.full] if later and page not in TEMPLATES else []
            yield pytest.param(page, rule, marks=marks, id=f"{rule.__name__}-{page}")


@pytest.mark.parametrize(("page_name", "rule"), list(pages_and_rules()))
def test_page(visited, rule):
    assert rule(visited) == []


def test_there_is_a_page_of_each_kind():
    """A folder or page that is new may need one more."""
    assert set(PAGES) >= TEMPLATES
    folders = {page.partition("/")[0] for page in PAGES if "/" in page}
    assert folders == {page.partition("/")[0] for page in TEMPLATES if "/" in page}


@pytest.mark.parametrize("name", FILES)
def test_formulas_of_the_source_are_on_the_page(name):
    """A formula that the parser overlooked leaves no trace that `mathematics` could see."""
    path = ROOT / f"{name}.ipynb"
    if path.is_file():
        cells = json.loads(path.read_text(encoding="utf-8"))["cells"]
        text = "\n\n".join("".join(c["source"]) for c in cells if c["cell_type"] == "markdown")
    else:
        text = (ROOT / f"{name}.md").read_text(encoding="utf-8")
    text = re.sub(r"```.*?```|`[^`\n]*`", "", text, flags=re.DOTALL)
    written = len(re.findall(r"\$\$.+?\$\$|(?<![\\$])\$[^$\n]+?\$", text, flags=re.DOTALL))
    drawn = len(page_soup(name).select("article .math"))
    assert drawn >= written


@functools.cache
def page_soup(name: str) -> BeautifulSoup:
    """A page, read once for all the tests that look at it."""
    return BeautifulSoup((HTML / f"{name}.html").read_text(encoding="utf-8"), "lxml")


def test_symbols_in_a_text_look_as_in_a_formula():
    page = (HTML / "lectures/03_queries_keys_values.html").read_text(encoding="utf-8")
    article = BeautifulSoup(page, "lxml").find("article")
    heading = article.find(id="why-scores-are-divided-by-d-k").find("h2")
    assert heading.find("i").decode() == "<i>d<sub>k</sub></i>"
    assert any("d_model" in code.text for code in article("pre"))
    for other in article(["code", "math", "pre", "script", "style", "svg"]):
        other.decompose()
    assert not re.search(r"\b[dT]_(k|v|q|model)\b", article.text)


def test_every_link_within_the_site_leads_somewhere():
    soups = {page: page_soup(page.removesuffix(".html")) for page in PAGES}
    ids = {page: {tag["id"] for tag in soup.select("[id]")} for page, soup in soups.items()}
    lost = []
    for page, soup in soups.items():
        for link in soup.select("a[href]"):
            target, anchor = urldefrag(link["href"])
            if re.match(r"[a-z]+:", target):
                continue
            target = target.partition("?")[0]
            path = (HTML / page).parent.joinpath(unquote(target)) if target else HTML / page
            name = path.resolve().relative_to(HTML.resolve()).as_posix() if path.exists() else None
            if name is None or (anchor and name in ids and anchor not in ids[name]):
                lost.append(f"{page}: {link['href']}")
    assert lost == []


@pytest.mark.parametrize("name", NOTEBOOKS)
def test_notebook_has_colab_and_download_links(name):
    repository = yaml.safe_load((ROOT / "_config.yml").read_text(encoding="utf-8"))["repository"]
    path = repository["url"].removeprefix("https://github.com/") + f"/blob/{repository['branch']}"
    links = [link["href"] for link in page_soup(name).select("a[href]")]
    assert f"https://colab.research.google.com/github/{path}/{name}.ipynb" in links
    assert any(link.endswith(f"{Path(name).name}.ipynb") and ":" not in link for link in links)


def test_contents_and_landing_page_name_every_lecture():
    lectures = {f"lectures/{path.stem}" for path in (ROOT / "lectures").glob("*.ipynb")}
    assert lectures == {name for name in FILES if name.startswith("lectures/")}
    linked = {link["href"] for link in page_soup("index").select("article a[href]")}
    assert {f"{name}.html" for name in lectures} <= linked


def test_execution_times_are_those_of_the_notebooks():
    rows = page_soup("pages/execution_times").select("table.execution-times tbody tr")
    shown = {
        row.a["href"].removeprefix("../").removesuffix(".html"): int(row.select("td")[1].text)
        for row in rows
        if row.a
    }
    stored = {
        name: json.loads((ROOT / f"{name}.ipynb").read_text(encoding="utf-8"))["metadata"][
            "lamplight"
        ]["seconds"]
        for name in NOTEBOOKS
        if not name.startswith("exercises/")  # student notebooks are not executed
    }
    assert shown == stored
    assert int(rows[-1].select("td")[1].text) == sum(stored.values())


def test_search_finds_a_word(page, base):
    page.goto(base + "search.html?q=softmax")
    page.wait_for_selector("#search-results li a", timeout=5000)
    assert page.locator("#search-results li").count() >= 2


SITE = "https://lamplight-course.github.io/lamplight/"


@pytest.mark.parametrize("name", FILES)
def test_page_can_be_found_and_shared(name):
    """Description, title, picture and canonical address, all at the site's own address."""
    soup = page_soup(name)
    found = {m.get("property") or m.get("name"): m.get("content") for m in soup.select("meta")}
    assert 30 <= len(found["description"]) <= 160
    assert found["og:description"] == found["description"]
    assert found["og:title"] in soup.title.text
    assert found["og:url"] == f"{SITE}{name}.html" == soup.select_one("[rel=canonical]")["href"]
    assert (HTML / found["og:image"].removeprefix(SITE)).is_file()


def test_sitemap_has_every_page():
    sitemap = (HTML / "sitemap.xml").read_text(encoding="utf-8")
    places = set(re.findall(f"<loc>{SITE}(.*?).html</loc>", sitemap))
    assert not set(FILES) - {"genindex"} - places
    assert not places & {"404", "search"}


def test_page_for_lost_readers_at_any_depth(page):
    """In the theme, with its style sheet, script and links; it passes what every page must."""

    def send(route):
        path = HTML / route.request.url.removeprefix(SITE).partition("?")[0]
        route.fulfill(path=path if path.is_file() else HTML / "404.html")

    page.route(f"{SITE}**", send)
    visit = site_rules.visit(page, SITE, "lectures/no/such/page.html")
    complaints = [complaint for rule in site_rules.EVERY_PAGE for complaint in rule(visit)]
    assert complaints == []
    loaded = {response.url.removeprefix(SITE) for response in visit.responses}
    assert {"_static/course.css", "_static/course.js"} <= loaded
    links = page.locator("a[href]").evaluate_all("all => all.map(link => link.href)")
    places = {link.removeprefix(SITE) for link in links if link.startswith(SITE)}
    places -= {"lectures/no/such/page.html#main-content"}
    assert places >= {"index.html", "search.html", "lectures/04_masks.html"}
    assert all((HTML / place).is_file() for place in places)
    page.unroute(f"{SITE}**")
    visit.leave()


def test_a_page_is_styled_once(page, base):
    """In its colors before any script file; and no rule restyles all of it when a part changes."""
    page.emulate_media(color_scheme="dark")
    page.route("**/course.js", lambda route: route.abort())
    page.goto(base + "lectures/04_masks.html")
    assert page.evaluate("document.documentElement.dataset.theme") == "dark"
    sheet = (HTML / "_static" / "course.css").read_text(encoding="utf-8")
    assert re.findall(r"\.bd-(?:main|content|article):has\(", sheet) == []


def test_mathematics_without_javascript(browser, base):
    context = browser.new_context(java_script_enabled=False)
    page = context.new_page()
    page.goto(base + "lectures/02_self_attention_without_weights.html")
    assert page.locator("math").count() >= 5
    assert page.locator("math").first.bounding_box()["width"] > 0
    context.close()


ON_PAPER = """() => {
  dispatchEvent(new Event("beforeprint"));
  const seen = (box) => box.checkVisibility() && box.checkVisibility({ opacityProperty: true });
  const boxes = (what) => [...document.querySelectorAll(`article ${what}`)];
  const found = [boxes("details.fold .cell_output").length,
    boxes("details.fold .cell_output").filter((box) => !seen(box)).length,
    boxes("details.fold-code, #jb-print-toc, .copybtn").filter(seen).length,
    document.getAnimations().length];
  dispatchEvent(new Event("afterprint"));
  return [...found, boxes("details[open]").length];
}"""


def test_paper_holds_what_came_out_at_once(page, base):
    """What is unfolded for paper must be seen in the same moment: paper does not wait for it."""
    name = next(name for name in FILES if name.startswith("lectures/05"))
    page.emulate_media(media="print")
    page.goto(f"{base}{name}.html")
    folded, *others = page.evaluate(ON_PAPER)
    assert folded > 5 and others == [0, 0, 0, 0]


OPEN_ON_PAPER = """() => {
  dispatchEvent(new Event("beforeprint"));
  const folds = [...document.querySelectorAll("article details")];
  const named = (fold) => fold.querySelector("summary").textContent;
  const hints = folds.filter((fold) => named(fold).startsWith("Hint "));
  const others = folds.filter((fold) => !hints.includes(fold));
  return [hints.length, hints.filter((fold) => fold.open).length,
    others.length, others.filter((fold) => fold.open).length];
}"""


def test_hints_stay_folded_on_paper(page, base):
    """A printed sheet is for working on it; what is not a hint is unfolded."""
    page.goto(f"{base}exercises/05_multi_head_attention.html")
    hints, open_hints, others, open_others = page.evaluate(OPEN_ON_PAPER)
    assert hints > 20 and open_hints == 0
    assert others == open_others > 0


@pytest.mark.parametrize("asked", ["", "?answers"])
def test_an_examination_is_printed_without_its_answers(asked, page, base):
    """Unless its address asks for them."""
    page.emulate_media(media="print")
    page.goto(f"{base}pages/examination.html{asked}")
    page.evaluate("dispatchEvent(new Event('beforeprint'))")
    answers = page.locator("details.answer")
    seen = page.locator("details.answer:visible").count()
    assert answers.count() >= 50 and seen == (answers.count() if asked else 0)
    assert page.get_by_text("A good answer.").first.is_visible() == bool(asked)


@pytest.mark.parametrize("name", ["index", "pages/grading", "exercises/03_queries_keys_values"])
def test_paper_cuts_nothing_off(name, page, base):
    """What is wider than a sheet would be lost, and a gap without its verbs is none."""
    page.set_viewport_size({"width": 720, "height": 1000})
    page.emulate_media(media="print")
    page.goto(f"{base}{name}.html")
    page.evaluate("dispatchEvent(new Event('beforeprint'))")
    assert page.evaluate("document.documentElement.scrollWidth") <= 720
    if name == "index":
        assert page.locator(".gap button:visible").all_inner_texts() == ["lie", "lies"]


def test_paper_keeps_what_stands_on_buttons(page, base):
    """The grid of masks with the choices made, and the passage; not what is only pressed."""
    page.emulate_media(media="print")
    shown = page.locator("[data-explorable] button:visible")
    page.goto(f"{base}lectures/04_masks.html")
    page.wait_for_selector("[data-explorable] td > button", state="attached")
    assert page.locator("[data-explorable] td > button:visible").count() == 25
    assert [text for text in shown.all_inner_texts() if "." not in text] == [
        "none",
        "scores to −∞",
    ]
    page.goto(f"{base}lectures/10_question_answering.html")
    page.wait_for_selector("[aria-label=Passage] > button", state="attached")
    assert page.locator("[aria-label=Passage] > button:visible").count() > 20
    assert "Show the reader's span" not in shown.all_inner_texts()


def test_code_wraps_at_twice_the_size(page, base):
    """A window of 1280 at 200 % is 640 wide."""
    page.set_viewport_size({"width": 640, "height": 450})
    page.goto(f"{base}exercises/03_queries_keys_values.html")
    wide = "boxes => boxes.filter((box) => box.scrollWidth > box.clientWidth + 1).length"
    assert page.locator("div.cell_input pre").evaluate_all(wide) == 0


def test_what_is_folded_is_not_measured(page, base):
    """A browser that lays out all folds while a page loads does not answer for that long."""
    page.goto(f"{base}lectures/03_queries_keys_values.html")
    page.evaluate(site_rules.IDLE)
    folded = page.locator("details:not([open]) pre")
    assert folded.count() > 10
    assert page.locator("details:not([open]) pre[tabindex]").count() == 0


def test_the_list_of_pages_scrolls_after_loading(page, base):
    """To measure it while the scripts are read would have all of the page laid out."""
    script = (HTML / "_static" / "course.js").read_text(encoding="utf-8")
    begins = 'function(){if(!document.querySelector(".bd-docs-nav"))return;'
    assert script.count(begins) == script.count(f'addEventListener("load",{begins}') == 1
    page.set_viewport_size({"width": 1280, "height": 400})
    page.goto(f"{base}lectures/13_a_real_one.html")
    assert page.evaluate("document.querySelector('div.bd-sidebar').scrollTop") > 0


def test_prediction_hides_its_result_until_a_guess(page, browser):
    """From files: a guess opens the result, stands beside it, and is there on the next visit."""
    lecture = (HTML / "lectures" / "04_masks.html").as_uri()
    page.goto(lecture)
    boxes = page.locator(".prediction")
    assert boxes.count() >= 4
    typed = page.locator(".prediction:has(.guess input)").first
    free = page.locator(".prediction:has(.free-guess)").first
    for box, field in ((typed, ".guess input"), (free, ".free-guess input")):
        result = box.locator("details.result")
        assert not result.locator(".cell_output").first.is_visible()
        box.locator(field).fill("7")
        box.locator(field).press("Enter")
        assert result.locator(".cell_output").first.is_visible()
        assert result.locator(".your-guess").inner_text() == "Your guess: 7"
    page.reload()
    assert not typed.locator(".your-guess").is_visible()
    typed.locator("details.result > summary").click()
    assert typed.locator(".your-guess").inner_text() == "Your guess: 7"
    context = browser.new_context(java_script_enabled=False)
    page = context.new_page()
    page.goto(lecture)
    result = page.locator(".prediction details.result").first
    result.locator("summary").click()
    assert result.locator(".cell_output").first.is_visible()
    context.close()


def test_show_all_results_holds_for_its_page_only(page):
    """Also at the next visit; the predictions of other pages stay folded."""
    show = page.get_by_role("button", name="Show the results of all predictions")
    fold = page.get_by_role("button", name="Fold the results of predictions")

    def opened(lecture):
        page.goto((HTML / "lectures" / f"{lecture}.html").as_uri())
        results = page.locator(".prediction details.result")
        assert results.count() >= 4
        return results.evaluate_all("folds => folds.map(fold => fold.open)")

    assert not any(opened("04_masks"))
    show.click()
    assert not any(opened("03_queries_keys_values"))
    assert all(opened("04_masks"))
    fold.click()
    assert not any(opened("04_masks"))


def test_code_that_sets_up_is_folded_and_named():
    """What a page calls can be read on the page, though in a fold."""
    page = page_soup("lectures/01_limits_of_recurrence")
    folds = {fold.summary.text: fold.pre.text for fold in page.select("details.setup")}
    assert "def markov(" in folds["Show the code of contexts, markov"]
    assert any("import torch" in code for line, code in folds.items() if "imports" in line)
    assert "assert" in folds["Show the check"]
    assert not any("assert" in code for line, code in folds.items() if line == "Show the code")


def test_figures_with_captions_are_numbered():
    """In each lecture from 1 on, and on each sheet with answers, without a gap."""
    of_sheets = 0
    for name in NOTEBOOKS:
        if match := re.match(r"(lectures|solutions)/(\d\d)_", name):
            captions = page_soup(name).select("article figcaption")
            numbers = [caption.select_one(".figure-number").text for caption in captions]
            before = f"{int(match[2])}." if match[1] == "lectures" else ""
            assert numbers == [f"Figure {before}{n + 1}" for n in range(len(numbers))]
            of_sheets += bool(numbers) and match[1] == "solutions"
    assert of_sheets >= 3


BLOCKED = """for (const name of ["localStorage", "sessionStorage"]) Object.defineProperty(
  window, name, { get() { throw new DOMException("", "SecurityError"); }, configurable: true })"""
FULL = 'Storage.prototype.setItem = () => { throw new DOMException("", "QuotaExceededError"); }'


@pytest.mark.parametrize("script", [BLOCKED, FULL], ids=["blocked", "full"])
def test_a_page_needs_no_storage(browser, script):
    """As reported at consumerfinance.gov 5953 and sphinx 10950: cookies are blocked."""
    tab, errors = browser.new_page(), []
    tab.on("pageerror", lambda error: errors.append(str(error)))
    tab.add_init_script(script)
    tab.goto((HTML / "lectures" / "04_masks.html").as_uri())
    tab.locator(".theme-switch-button").first.click()
    assert tab.locator("html").get_attribute("data-mode") != "auto"
    tab.keyboard.press("Control+k")
    tab.locator("dialog[open] input").wait_for()
    tab.close()
    assert errors == []


def test_what_is_no_prose_stays_left_to_right(page):
    """As reported at learnxinyminutes 146: a browser translates the page into Arabic."""
    page.goto((HTML / "lectures" / "04_masks.html").as_uri())
    turned = page.evaluate(
        """() => {
          document.documentElement.dir = "rtl";
          const parts = [...document.querySelectorAll("pre, code, math, .lamplight-figure")];
          return parts.filter((part) => getComputedStyle(part).direction === "rtl").length;
        }"""
    )
    assert turned == 0 and page.locator("pre").count() > 50


def test_code_is_not_translated():
    """As reported at sphinx 12420: some browsers read the attribute and not the class."""
    text = (HTML / "lectures" / "04_masks.html").read_text(encoding="utf-8")
    code = BeautifulSoup(text, "html.parser").select("pre")
    assert len(code) > 50 and all(part.find_parent(translate="no") for part in code)


def test_the_site_remembers_until_told_to_forget(page):
    """From files, without a server: answers, finished lectures, and where to go on."""
    lecture = (HTML / "lectures" / "02_self_attention_without_weights.html").as_uri()
    index = (HTML / "index.html").as_uri()
    page.goto(index)
    assert page.locator(".go-on").count() == 0
    page.goto(lecture)
    page.goto(index)
    assert page.locator(".go-on").count() == 0, "a look is no beginning"
    page.goto(lecture)
    option = page.locator(".quiz:not(.predict) input").first
    option.check()
    page.reload()
    assert page.locator(".quiz:not(.predict) input").first.is_checked()
    page.goto(index)
    assert "Go on with 2. Self-attention" in page.locator("a.start").inner_text()
    told = page.locator(".go-on").inner_text()
    assert "answered 1 of its questions" in told
    assert "Finished: 0 of" in told
    page.goto(lecture)
    page.get_by_label("I have finished this lecture").check()
    page.goto(index)
    assert "Finished: 1 of" in page.locator(".go-on").inner_text()
    page.get_by_role("button", name="Forget this").click()
    assert page.locator("a.start").inner_text() == "Start with lecture 1"
    page.reload()
    assert page.locator(".go-on").count() == 0
    page.goto(lecture)
    assert page.locator(".quiz input:checked").count() == 0


@pytest.mark.parametrize("width", [1280, 390])
def test_the_first_page_asks_first_and_has_one_start(width, page):
    """The question is above its sentence and above what explains it; an arc leads to each noun."""
    page.set_viewport_size({"width": width, "height": 800})
    page.goto((HTML / "index.html").as_uri())
    top = [
        page.locator(f".landing {part}").bounding_box()["y"]
        for part in (".question", ".sentence p", ".promise")
    ]
    assert top == sorted(top) and top[1] < 400
    starts = page.locator(".landing a")
    assert starts.locator("visible=true").all_inner_texts() == [
        "Start with lecture 1",
        "Test yourself",
    ]
    assert page.locator(".landing .starts a").count() == 1
    assert page.get_by_role("button", name="Search").first.is_visible()
    for verb in ("lies", "lie"):
        page.get_by_role("button", name=verb, exact=True).click()
    assert page.locator(".landing .sentence path").count() == 3, "an arc to each noun, no other"
    ends = page.evaluate(
        """() => [".attractor", ".subject"].flatMap((kind) => {
          const words = [...document.querySelectorAll(`.landing ${kind.replace(".", "span.")}`)];
          const arcs = [...document.querySelectorAll(`.landing path${kind}`)];
          return arcs.map((arc, n) => {
            const box = words[n].getBoundingClientRect(), length = arc.getTotalLength();
            const base = arc.ownerSVGElement.getBoundingClientRect();
            const end = arc.getPointAtLength(length), half = arc.getPointAtLength(length / 2);
            const x = base.left + end.x, y = base.top + end.y;
            const far = Math.min(Math.abs(y - box.top), Math.abs(y - box.bottom));
            return [x >= box.left && x <= box.right, far, base.left + half.x];
          });
        })"""
    )
    assert len(ends) == 3
    for within, far, middle in ends:
        assert within and far <= 6 and 0 <= middle <= width


def test_the_first_page_says_what_the_course_takes(page):
    """On one screen, as a list: the sum of what the cards say, which name both minutes each."""
    cards = [card.text for card in page_soup("index").select(".lecture-cards li")]
    lectures = [re.search(r"(\d+) minutes.*Exercises: (\d+) minutes", card) for card in cards[:-1]]
    reading, tasks = (round(sum(int(card[n]) for card in lectures) / 60) for n in (1, 2))
    build = int(re.search(r"about (\d+) hours", cards[-1])[1])
    needs = page_soup("index").select(".landing ul.need li")
    wanted = (
        f"About {reading + tasks + build} hours: "
        f"{reading} for the {len(lectures)} lectures, {tasks}"
    )
    assert len(needs) == 3 and needs[-1].text.startswith(wanted)
    page.set_viewport_size({"width": 1280, "height": 720})
    page.goto((HTML / "index.html").as_uri())
    box = page.locator(".landing ul.need").bounding_box()
    assert box["y"] + box["height"] <= 720


def test_the_search_field_has_the_colour_of_the_course(page):
    page.goto((HTML / "lectures" / "04_masks.html").as_uri())
    page.keyboard.press("Control+k")
    field = page.locator(".bd-search input:focus")
    field.wait_for()
    frame, lamp = field.evaluate(
        """field => {
          const probe = document.body.appendChild(document.createElement("i"));
          probe.style.color = "var(--lamplight)";
          const colour = getComputedStyle(probe).color;
          return [getComputedStyle(field.closest(".bd-search")).boxShadow, colour];
        }"""
    )
    assert frame.startswith(lamp)


@pytest.mark.parametrize(
    ("name", "label"),
    [("index", "lie"), ("pages/open_the_model", "Open the model")],
)
def test_the_model_opens_from_files(name, label, page):
    """Without a server, and whatever else on the page has a name."""
    page.goto((HTML / f"{name}.html").as_uri())
    page.get_by_role("button", name=label, exact=True).click()
    page.wait_for_selector(".open-model .next li", timeout=120_000)
    assert "hums" in page.locator(".open-model").inner_text()


AS_FOUND = """() => [
  localStorage.length, sessionStorage.length, document.documentElement.dataset.theme,
  matchMedia("print").matches, innerWidth, innerHeight, scrollY, document.activeElement.tagName,
  document.querySelectorAll(":hover").length, document.querySelectorAll("details[open]").length]"""


def test_an_emptied_tab_is_like_a_new_one(page):
    """Whatever a test did in the tab that all share."""

    def opened():
        page.goto((HTML / "lectures" / "04_masks.html").as_uri())
        page.wait_for_function(site_rules.LAID_OUT)
        page.evaluate(site_rules.IDLE)
        return page.evaluate(AS_FOUND)

    before = opened()
    page.emulate_media(media="print", color_scheme="dark")
    page.set_viewport_size({"width": 600, "height": 500})
    page.emulate_media(media="screen")
    page.get_by_role("button", name="Show the results of all predictions").click()
    page.mouse.move(300, 300)
    page.evaluate("scrollTo(0, 3000)")
    page.evaluate(site_rules.IDLE)
    after = page.evaluate(AS_FOUND)
    assert [n for n in range(len(before)) if before[n] == after[n]] == [1, 3]
    empty(page)
    assert opened() == before


# Each rule must notice the fault that it is there for.
OPTION = '<div class="option"><input type="radio" name="q" id="o{0}"><label for="o{0}">o</label>{1}'
FAULTS = [
    ("loading", '<img src="http://other.invalid/a.png" alt="A small picture.">'),
    ("loading", '<img src="missing.png" alt="A small picture.">'),
    ("loading", '<script>console.error("lost")</script>'),
    ("loading", '<script>throw new Error("lost")</script>'),
    ("mathematics", r'<span class="math">\(x\)</span>'),
    ("weight", "<p>" + " ".join(str(n**9) for n in range(90_000)) + "</p>"),
    ("weight", "".join(f'<img src="page.html?{n}" alt="A small picture.">' for n in range(20))),
    ("mathematics", "<p>divided by $\\sqrt{d_k}$ here</p>"),
    ("pictures", '<article><img src="data:," alt="_images/abc.png"></article>'),
    ("pictures", '<article><img src="data:," alt=""></article>'),
    ("pictures", '<article><img src="data:,"></article>'),
    ("pictures", '<article><svg role="img"><path d="M0 0h9"/></svg></article>'),
    ("pictures", '<article><svg role="img" aria-label="figure"></svg></article>'),
    ("quizzes", f'<div class="quiz"><fieldset>{OPTION.format(0, "")}</fieldset></div>'),
    (
        "quizzes",
        '<div class="quiz"><fieldset>'
        + OPTION.format(0, '<p class="why">The reason, in view from the start.</p>')
        + "</fieldset></div>",
    ),
    ("accessibility", '<input type="text">'),
    ("accessibility", '<p style="color:#aaa;background:#fff">hard to read</p>'),
    ("overflow", '<article><div style="width:2000px">wide</div></article>'),
    (
        "overflow",  # cut, so the page is no wider for it
        '<div class="prev-next-area" style="overflow:hidden;width:9px"><p style="width:20px">n</p>'
        "</div>",
    ),
    (
        "overflow",  # wider than its frame, but not than the window
        '<div class="explorable" data-explorable="wide"><form class="stage" style="width:300px">'
        '<div style="width:329px">wide</div></form></div>',
    ),
    ("dark_mode", '<article><div style="background:#fff;height:99px">bright</div></article>'),
    ("dark_mode", '<article><svg role="img" style="color:#000"></svg></article>'),
    (
        "dark_mode",
        '<div class="highlight"><pre style="background:#29313d">'
        '<span class="nf" style="color:#06287e">draw</span></pre></div>',
    ),
]


@pytest.mark.full
@pytest.mark.parametrize(("rule", "body"), FAULTS)
def test_rule_notices(rule, body, page, tmp_path):
    head = '<!doctype html><html lang="en" data-theme="dark"><head><title>Spoiled</title>'
    head += '<link rel="icon" href="data:,"></head>'
    text = f"{head}<body><main><h1>Spoiled</h1>{body}</main></body></html>"
    (tmp_path / "page.html").write_text(text, encoding="utf-8")
    with site_rules.serve(tmp_path) as address:
        spoiled = site_rules.visit(page, address, "page.html")
        assert getattr(site_rules, rule)(spoiled) != []
        spoiled.leave()
