"""What every page of the built site must keep, as functions that return a list of complaints.

They are functions so that `test_site.py` can apply them to spoiled pages too.
"""

import functools
import gzip
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

from axe_playwright_python.sync_playwright import Axe
from playwright.sync_api import CDPSession, Page, Response

from tests.conftest import empty

DESKTOP, PHONE = 1280, 390
MOST_REQUESTS, MOST_BYTES, MOST_ELEMENTS = 15, 350_000, 6_000

# Rules of axe that the book theme itself breaks, each with the reason why we leave it. The two that
# it broke are repaired: `region` in _templates/navbar-logo.html, the roles of bibliography entries
# in _ext/course.py. Keep it empty if you can.
EXEMPT: dict[str, str] = {}

# The rules whose result depends on colours and on the width of the page. The others depend on the
# elements only, which are the same at every width and in both modes.
LOOKS = ["color-contrast", "link-in-text-block", "scrollable-region-focusable", "target-size"]


class _Quiet(SimpleHTTPRequestHandler):
    def log_message(self, *arguments):
        pass


@contextmanager
def serve(folder: Path) -> Iterator[str]:
    """Serve a folder on this machine; gives its address, which ends in a slash."""
    server = ThreadingHTTPServer(("127.0.0.1", 0), functools.partial(_Quiet, directory=str(folder)))
    threading.Thread(target=server.serve_forever, args=(0.02,), daemon=True).start()
    try:
        yield f"http://127.0.0.1:{server.server_port}/"
    finally:
        server.shutdown()
        server.server_close()


# The theme answers a change of mode or width a moment later: it sets the mode, slides the sidebar,
# and lets the Tab key stop at code, formulas and outputs that have become too wide. Wait for them,
# but not forever.
_SETTLED = """async ([width, mode]) => {
  const root = document.documentElement;
  const until = async (done) => {
    for (let i = 0; i < 1200 && !done(); i++) await new Promise(go => requestAnimationFrame(go));
  };
  await until(() => innerWidth === width);
  for (let i = 0; i < 2; i++) await new Promise(go => requestAnimationFrame(go));
  for (const moving of document.getAnimations())
    if (moving.effect.getComputedTiming().endTime !== Infinity) moving.finish();
  await until(() => (root.dataset.mode !== "auto" || root.dataset.theme === mode)
    && [...document.querySelectorAll(
      "pre, div.math, div.cell_output .text_html, .pst-scrollable-table-container")]
      .filter(box => box.checkVisibility())  // what is folded is measured when it opens
      .every(box => box.scrollWidth <= box.clientWidth || box.tabIndex === 0));
}"""


LAID_OUT = "!('later' in document.documentElement.dataset)"
"""When all is there: what is further down is laid out in pieces, see `_static/later.js`."""


@dataclass
class Visit:
    """One page, open in the browser, and what was heard while it loaded."""

    page: Page
    devtools: CDPSession
    noises: list[str] = field(default_factory=list)
    responses: list[Response] = field(default_factory=list)
    listeners: dict[str, Callable] = field(default_factory=dict)

    def seen(self, width: int, mode: str) -> Page:
        """The page at a width, in "light" or "dark" mode."""
        self.page.set_viewport_size({"width": width, "height": 800})
        self.page.emulate_media(color_scheme=mode)
        self.page.evaluate(_SETTLED, [width, mode])
        return self.page

    def leave(self) -> None:
        """Empty the tab for the next visit, which hears nothing of this one."""
        for event, listener in self.listeners.items():
            self.page.remove_listener(event, listener)
        self.devtools.detach()
        empty(self.page)


# What a script puts off until the page is there has been done by then.
IDLE = """async () => {
  for (let i = 0; i < 2; i++) {
    await new Promise(go => requestAnimationFrame(go));
    await new Promise(go => requestIdleCallback(go, { timeout: 1000 }));
  }
}"""


def visit(page: Page, base: str, name: str) -> Visit:
    """Open a page in an empty tab, with nothing in its cache, and wait until it is there."""
    page.set_viewport_size({"width": DESKTOP, "height": 800})
    result = Visit(page, page.context.new_cdp_session(page))
    result.devtools.send("Network.enable")
    result.devtools.send("Network.setCacheDisabled", {"cacheDisabled": True})

    def on_request(request):
        if not request.url.startswith((base, "data:", "blob:")):
            result.noises.append(f"asks another server: {request.url}")

    def on_response(response):
        result.responses.append(response)
        if response.status >= 400:
            result.noises.append(f"status {response.status}: {response.url}")

    def on_console(message):
        if message.type == "error":
            result.noises.append(f"console: {message.text}")

    result.listeners = {
        "request": on_request,
        "response": on_response,
        "console": on_console,
        "pageerror": lambda error: result.noises.append(f"script: {error}"),
    }
    for event, listener in result.listeners.items():
        page.on(event, listener)
    page.goto(base + name)
    page.wait_for_function(LAID_OUT)
    page.evaluate(IDLE)
    return result


def loading(visited: Visit) -> list[str]:
    """During the whole visit it asks nobody else for anything, and no script complains."""
    return visited.noises


@functools.lru_cache(maxsize=64)
def _zipped(body: bytes) -> int:
    """Bytes when gzipped; most pages load the same style sheets and scripts."""
    return len(gzip.compress(body))


def weight(visited: Visit) -> list[str]:
    """What is loaded at first: no more than so many requests, and so many bytes when gzipped."""
    loaded = {r.url: r for r in visited.responses if r.ok and not r.url.startswith("data:")}
    weights = {url: _zipped(response.body()) for url, response in loaded.items()}
    complaints = []
    if len(weights) > MOST_REQUESTS:
        complaints.append(f"{len(weights)} requests: {sorted(weights)}")
    if sum(weights.values()) > MOST_BYTES:
        complaints.append(f"{sum(weights.values()):,} bytes: {weights}")
    n_elements = visited.page.evaluate("document.querySelectorAll('*').length")
    if n_elements > MOST_ELEMENTS:
        complaints.append(f"{n_elements:,} elements")
    return complaints


def mathematics(visited: Visit) -> list[str]:
    """Every formula is drawn, without an error, and no TeX is left in the text.

    Two prices in a sentence are no formula: as in Markdown, its last `$` follows no space.
    """
    return visited.seen(DESKTOP, "light").evaluate(
        r"""() => {
          const complaints = [];
          for (const formula of document.querySelectorAll(".math")) {
            const drawn = formula.querySelector("math");
            if (!drawn || !drawn.textContent.trim() || !drawn.getBoundingClientRect().width)
              complaints.push("not drawn: " + formula.textContent.slice(0, 60));
          }
          for (const error of document.querySelectorAll("merror"))
            complaints.push("TeX error: " + error.textContent.slice(0, 60));
          const dollars = /\$[^$\s]([^$]*[^$\s])?\$(?!\d)/;
          const tex = /\\\(|\\\[|\$\$|\\(frac|sqrt|text|times|operator|math)/;
          const walker = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
          while (walker.nextNode()) {
            const node = walker.currentNode;
            if (node.parentElement.closest("pre, code, script, style")) continue;
            if (tex.test(node.data) || dollars.test(node.data))
              complaints.push("raw TeX: " + node.data.trim().slice(0, 60));
          }
          return complaints;
        }"""
    )


def pictures(visited: Visit) -> list[str]:
    """Images have an alternative that is no file name; drawings say in words what they show."""
    return visited.page.evaluate(
        r"""() => {
          const complaints = [];
          for (const img of document.images) {
            const alt = img.getAttribute("alt");
            const where = img.getAttribute("src").slice(0, 60);
            if (alt === null) complaints.push("no alt: " + where);
            else if (/[\/\\]|\.(png|svg|jpe?g|gif|webp)$/i.test(alt))
              complaints.push("alt is a file name: " + alt);
            else if (alt.trim() === "" && img.closest("article"))
              complaints.push("alt is empty: " + where);
          }
          const words = id => document.getElementById(id)?.textContent ?? "";
          for (const svg of document.querySelectorAll("article svg")) {
            if (svg.closest("[aria-hidden=true]") || svg.closest("button, a, summary")) continue;
            const ids = (svg.getAttribute("aria-labelledby") ?? "") + " "
              + (svg.getAttribute("aria-describedby") ?? "");
            const name = (svg.getAttribute("aria-label") ?? "") + " "
              + ids.split(/\s+/).map(words).join(" ");
            const role = svg.getAttribute("role");
            // What can be moved in a drawing has a name of its own; the drawing groups it.
            const plays = (role === "group" && svg.querySelector("[role=slider]"))
              || (role === "application" && svg.hasAttribute("tabindex"));
            if (!(role === "img" || plays) || name.trim().split(/\s+/).length < 4)
              complaints.push("drawing without words: " + svg.outerHTML.slice(0, 80));
          }
          return complaints;
        }"""
    )


def quizzes(visited: Visit) -> list[str]:
    """Every option, chosen by mouse and by keyboard, shows its reason and no other."""
    page = visited.seen(DESKTOP, "light")
    complaints = []
    questions = page.locator(".quiz:not(.predict) fieldset")
    n_questions = questions.count()
    sections = questions.evaluate_all("all => all.map(q => q.closest('section')?.id)")
    for number in range(n_questions):
        question = questions.nth(number)
        inputs = question.locator("input")
        kind = inputs.first.get_attribute("type")
        where = f"question {number + 1}"
        n_options = inputs.count()

        def shown(question=question) -> list[int]:
            """Which options show a reason at the moment."""
            return question.evaluate(
                """q => [...q.querySelectorAll(".option")].flatMap((option, i) => {
                  const why = option.querySelector(".why");
                  return why && why.checkVisibility() && why.textContent.length > 10 ? [i] : [];
                })"""
            )

        if shown():
            complaints.append(f"{where} shows a reason before it is answered")
        for option in range(n_options):  # by mouse
            question.locator("label").nth(option).click()
            wanted = [option] if kind == "radio" else list(range(option + 1))
            if shown() != wanted:
                complaints.append(f"{where}, clicked {option}: reasons {shown()}, not {wanted}")
        question.evaluate("q => q.querySelectorAll('input').forEach(i => (i.checked = false))")
        inputs.first.focus()
        for option in range(n_options):  # by keyboard
            if option:
                page.keyboard.press("ArrowDown" if kind == "radio" else "Tab")
            if option == 0 or kind == "checkbox":
                page.keyboard.press("Space")
            wanted = [option] if kind == "radio" else list(range(option + 1))
            if shown() != wanted:
                complaints.append(f"{where}, typed {option}: reasons {shown()}, not {wanted}")
        if number + 1 < n_questions and sections[number] == sections[number + 1]:
            for _ in range(4):  # the next question is a few steps of the Tab key away
                page.keyboard.press("Tab")
                if questions.nth(number + 1).evaluate("q => q.contains(document.activeElement)"):
                    break
            else:
                complaints.append(f"the Tab key does not lead from {where} to the next")
    return complaints


def accessibility(visited: Visit) -> list[str]:
    """What axe finds: everything on a light desktop, what depends on looks on a dark phone."""
    # preload: axe would fetch style sheets by itself, with a wrong address.
    options = {"preload": False, "resultTypes": ["violations"]}
    everything = Axe().run(visited.seen(DESKTOP, "light"), options=options)
    options["runOnly"] = {"type": "rule", "values": LOOKS}
    looks = Axe().run(visited.seen(PHONE, "dark"), options=options)
    violations = everything.response["violations"] + looks.response["violations"]
    return [
        f"{violation['id']}: {node['target']} {node['html'][:100]}"
        for violation in violations
        if violation["id"] not in EXEMPT
        for node in violation["nodes"]
    ]


def overflow(visited: Visit) -> list[str]:
    """Neither the page is wider than the window nor an explorable than its frame, on any screen."""
    complaints = []
    for width in (DESKTOP, PHONE):
        too_wide = visited.seen(width, "light").evaluate(
            """() => {
              const extra = document.documentElement.scrollWidth - window.innerWidth;
              if (extra <= 0) return null;
              const wide = [...document.querySelectorAll("article *")].filter(
                e => e.getBoundingClientRect().right > window.innerWidth + 1);
              return `${extra} px too wide: ` + (wide.at(-1)?.outerHTML.slice(0, 100) ?? "");
            }"""
        )
        if too_wide:
            complaints.append(f"at {width} px {too_wide}")
        complaints += visited.page.evaluate(
            """() => [...document.querySelectorAll(".prev-next-area p")].filter(title =>
                title.getBoundingClientRect().right >
                  title.closest(".prev-next-area").getBoundingClientRect().right + 1
              ).map(title => `${window.innerWidth} px cut “${title.textContent.trim()}”`)"""
        )
        complaints += visited.page.evaluate(
            """() => [...document.querySelectorAll(".explorable .stage")]
              .filter(stage => stage.scrollWidth > stage.clientWidth)
              .map(stage => `at ${window.innerWidth} px an explorable is ` +
                `${stage.scrollWidth - stage.clientWidth} px wider than its frame: ` +
                stage.closest(".explorable").dataset.explorable)"""
        )
    return complaints


def dark_mode(visited: Visit) -> list[str]:
    """In dark mode nothing stays on a bright ground, figures take the page's ink, code is readable.

    axe leaves code out, since a shade may lie over it.
    """
    page = visited.seen(DESKTOP, "dark")
    return page.evaluate(
        r"""() => {
          if (document.documentElement.dataset.theme !== "dark") return ["does not turn dark"];
          const parts = colour => colour.match(/[\d.]+/g).map(Number);
          const light = ([r, g, b]) => (0.299 * r + 0.587 * g + 0.114 * b) / 255;
          const complaints = [];
          for (const element of document.querySelectorAll("article, article *")) {
            const box = element.getBoundingClientRect();
            const style = getComputedStyle(element);
            const ground = parts(style.backgroundColor);
            if ((ground[3] ?? 1) > 0.5 && light(ground) > 0.6 && box.width * box.height > 3000)
              complaints.push("bright ground: " + element.outerHTML.slice(0, 80));
            if (element.matches("svg[role=img]") && light(parts(style.color)) < 0.6)
              complaints.push("dark ink: " + element.outerHTML.slice(0, 80));
          }
          const shares = colour => parts(colour).slice(0, 3).map(c =>
            c <= 10.3 ? c / 255 / 12.92 : ((c / 255 + 0.055) / 1.055) ** 2.4);
          const luminance = colour => {
            const [r, g, b] = shares(colour);
            return 0.2126 * r + 0.7152 * g + 0.0722 * b;
          };
          for (const pre of document.querySelectorAll(".highlight pre")) {
            const ground = luminance(getComputedStyle(pre).backgroundColor) + 0.05;
            for (const token of pre.querySelectorAll("span[class]")) {
              const ink = luminance(getComputedStyle(token).color) + 0.05;
              const contrast = Math.max(ink, ground) / Math.min(ink, ground);
              if (token.textContent.trim() && contrast < 4.5)
                complaints.push("code hard to read: " + token.outerHTML.slice(0, 80));
            }
          }
          return complaints;
        }"""
    )


# In this order: `weight` before anything else is done with the page, `loading` at the end.
EVERY_PAGE = (
    weight,
    mathematics,
    pictures,
    accessibility,
    overflow,
    dark_mode,
    quizzes,
    loading,
)
