"""Lighthouse on the built site: `python tools/audit.py [quick | PAGE …]`, as on a slow phone.

Pages are served from this machine, compressed as web servers do. Without an argument these are all
pages, which takes half an hour; `quick` stands for the first page, an exercise and the longest
lecture. The exit code is 1 if a goal is missed. The figures vary by some points and fall on a busy
machine. Needs node with npm, which brings Lighthouse, and Chromium.
"""

import functools
import gzip
import json
import os
import shutil
import subprocess
import sys
import tempfile
import threading
from html.parser import HTMLParser
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

HTML = Path(__file__).resolve().parent.parent / "_build" / "html"
LIGHTHOUSE = "lighthouse@13.5.0"
CATEGORIES = ("performance", "accessibility", "best-practices", "seo")
GOALS = dict.fromkeys(CATEGORIES, 100) | {"performance": 95}
MOST_BLOCKED, MOST_ELEMENTS = 300, 6_000
"""Milliseconds for which a page does not answer while it loads, and elements of a page."""


class Compressed(SimpleHTTPRequestHandler):
    """Files, compressed where that helps, and without a word on each request."""

    def log_message(self, *_arguments: object) -> None:
        """Say nothing."""

    def do_GET(self) -> None:
        """Send a file of text compressed, any other as it is."""
        path = Path(self.translate_path(self.path))
        kind = self.guess_type(path)
        if not path.is_file() or not kind.startswith(
            ("text/", "application/javascript", "image/svg")
        ):
            return super().do_GET()
        body = gzip.compress(path.read_bytes())
        self.send_response(200)
        headers = {"Content-Type": kind, "Content-Encoding": "gzip", "Content-Length": len(body)}
        for name, value in headers.items():
            self.send_header(name, str(value))
        self.end_headers()
        return self.wfile.write(body)


def every_page() -> list[str]:
    """All pages of the site, the first one first."""
    paths = [path for folder in (".", "*") for path in sorted(HTML.glob(f"{folder}/*.html"))]
    names = [path.relative_to(HTML).as_posix() for path in paths]
    return [name for name in names if not name.startswith("_") and name != "404.html"]


def quick_pages() -> list[str]:
    """The first page, an exercise, and the lecture with the largest file."""
    exercise = min((HTML / "exercises").glob("0*.html"))
    longest = max((HTML / "lectures").glob("*.html"), key=lambda path: path.stat().st_size)
    return ["index.html", *(path.relative_to(HTML).as_posix() for path in (exercise, longest))]


def chosen(arguments: list[str]) -> list[str]:
    """The pages to measure.

    Raises:
        ValueError: if there is no such page.
    """
    if arguments == ["quick"]:
        return quick_pages()
    if lost := [page for page in arguments if not (HTML / page).is_file()]:
        raise ValueError(
            f"There is no page {lost[0]}. Name it as in: make audit PAGE=lectures/04_masks.html"
        )
    return arguments or every_page()


class Elements(HTMLParser):
    """Counts the elements of a page as it was written; scripts may add some."""

    count = 0

    def handle_starttag(self, tag: str, attrs: list) -> None:
        """One more."""
        self.count += 1


def elements(page: str) -> int:
    """How many elements a page has."""
    parser = Elements()
    parser.feed((HTML / page).read_text(encoding="utf-8"))
    return parser.count


def audit(address: str, chromium: str) -> dict:
    """Lighthouse's report on a page.

    Raises:
        RuntimeError: if Lighthouse could not be run.
    """
    with tempfile.TemporaryDirectory() as folder:
        report = Path(folder) / "report.json"
        result = subprocess.run(
            [
                *("npx", "--yes", LIGHTHOUSE, address, "--quiet", "--output=json"),
                *(f"--output-path={report}", f"--only-categories={','.join(CATEGORIES)}"),
                "--chrome-flags=--headless --no-sandbox --disable-gpu",
            ],
            env=os.environ | {"CHROME_PATH": chromium},
            capture_output=True,
            text=True,
        )
        if not report.exists():
            raise RuntimeError(f"Lighthouse stopped: {result.stderr.strip()[-500:]}")
        return json.loads(report.read_text(encoding="utf-8"))


def complaints(report: dict, category: str) -> list[str]:
    """What lowers the score of a category."""
    audits = [
        report["audits"][ref["id"]]
        for ref in report["categories"][category]["auditRefs"]
        if ref["weight"]
    ]
    low = [found for found in audits if found["score"] is not None and found["score"] < 0.9]
    return [f"{found['title']} {found.get('displayValue', '')}".strip() for found in low]


def columns(cells: tuple) -> str:
    """Cells of the table that are no scores."""
    return "".join(f"{cell:>13}" for cell in cells)


def main() -> int:
    """Measure, and print a table and what was found."""
    for program in ("node", "npm"):
        if not shutil.which(program):
            print(f"Missing: {program}. Lighthouse is a program of Node: https://nodejs.org")
            return 1
    names = ("chromium", "chromium-browser", "google-chrome")
    chromium = next(filter(None, map(shutil.which, names)), None)
    if not chromium:
        print("Missing: chromium. Install it, for instance: sudo apt-get install chromium")
        return 1
    try:
        pages = chosen(sys.argv[1:])
    except ValueError as error:
        print(error)
        return 1
    server = ThreadingHTTPServer(
        ("127.0.0.1", 0), functools.partial(Compressed, directory=str(HTML))
    )
    threading.Thread(target=server.serve_forever, args=(0.02,), daemon=True).start()
    heads = ("first paint", "blocked", "elements")
    print(f"{'page':42}" + "".join(f"{name:>16}" for name in CATEGORIES) + columns(heads))
    missed = []
    for page in pages:
        report = audit(f"http://127.0.0.1:{server.server_port}/{page}", chromium)
        scores = {name: round(100 * report["categories"][name]["score"]) for name in CATEGORIES}
        paint = report["audits"]["first-contentful-paint"]["displayValue"]
        blocked = round(report["audits"]["total-blocking-time"]["numericValue"])
        n_elements = elements(page)
        line = "".join(f"{scores[name]:16}" for name in CATEGORIES)
        print(f"{page:42}{line}{columns((paint, f'{blocked} ms', n_elements))}", flush=True)
        missed += [
            f"{page}: {name} {scores[name]}, not {goal}: {'; '.join(complaints(report, name))}"
            for name, goal in GOALS.items()
            if scores[name] < goal
        ]
        if blocked >= MOST_BLOCKED:
            missed.append(f"{page}: blocked for {blocked} ms, not less than {MOST_BLOCKED}")
        if n_elements > MOST_ELEMENTS:
            missed.append(f"{page}: {n_elements:,} elements, not {MOST_ELEMENTS:,} at most")
    server.shutdown()
    print("\n".join(missed) or "All goals are met.")
    return 1 if missed else 0


if __name__ == "__main__":
    sys.exit(main())
