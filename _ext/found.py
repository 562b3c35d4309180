"""Found and shared: what a search engine, a messenger and a lost reader need.

Each page gets a description, a title, a picture and its canonical address; the site gets a
sitemap and a page for addresses that lead nowhere. All addresses come from the repository's, which
stands in `_config.yml`.
"""

import re
from html import escape
from pathlib import Path

from docutils import nodes
from sphinx.application import Sphinx
from sphinx.config import Config

PICTURE, WIDTH, HEIGHT = "_static/card.png", 1200, 630
LONGEST = 160  # what search engines show of a description

LOST = """<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="robots" content="noindex">
<title>Not found &#8212; {title}</title>
<link rel="icon" href="{base}_static/favicon.svg">
<link rel="stylesheet" href="{base}_static/course.css">
<style>
:root{{color-scheme:light dark;font:1.1rem/1.6 system-ui,sans-serif}}
html[data-theme=light]{{color-scheme:light}}
html[data-theme=dark]{{color-scheme:dark}}
body{{display:block;margin:15vh auto;max-width:34rem;padding:0 1rem}}
</style>
<script>
let mode = "auto";
try {{ mode = localStorage.getItem("mode") || mode; }} catch {{}}
const dark = mode === "auto" ? matchMedia("(prefers-color-scheme: dark)").matches : mode === "dark";
document.documentElement.dataset.theme = dark ? "dark" : "light";
</script>
</head>
<body>
<main>
<h1>Nothing is lit here</h1>
<p>There is no page at this address. It may have moved.</p>
<p><a href="{base}index.html">To the first page</a>, with the list of all lectures, or
<a href="{base}search.html">search the course</a>.</p>
</main>
</body>
</html>
"""


def address_of_site(_app: Sphinx, config: Config) -> None:
    """Where the site of a GitHub repository stands, unless it is configured."""
    repository = config.html_theme_options.get("repository_url", "")
    match = re.fullmatch(r"https://github\.com/([^/]+)/([^/]+)/?", repository)
    if match and not config.html_baseurl:
        config.html_baseurl = f"https://{match[1].lower()}.github.io/{match[2]}/"


def describe(
    app: Sphinx, page: str, template: str, context: dict, doctree: nodes.document | None
) -> None:
    """Put description, title and picture into the head of a page."""
    base, course = app.config.html_baseurl, app.config.html_title
    title = re.sub(r"<[^>]+>", "", context.get("title", "")) or course
    text = description(doctree) if doctree else ""
    text = text or f"{title}: a part of {course}, self-attention and transformers, step by step."
    properties = {
        "og:title": title,
        "og:description": text,
        "og:type": "article" if page.startswith("lectures/") else "website",
        "og:site_name": course,
        "og:url": f"{base}{page}.html",
        "og:image": base + PICTURE,
        "og:image:width": WIDTH,
        "og:image:height": HEIGHT,
        "og:image:alt": "The opening sentence of the course, with a line from its gap to a word.",
    }
    tags = [f'<meta name="description" content="{escape(text)}" />']
    tags += [f'<meta property="{k}" content="{escape(str(v))}" />' for k, v in properties.items()]
    tags += ['<meta name="twitter:card" content="summary_large_image" />']
    context["metatags"] = context.get("metatags", "") + "\n    " + "\n    ".join(tags)


def description(doctree: nodes.document) -> str:
    """The first paragraph of a page that says something, cut between words."""
    for paragraph in doctree.findall(nodes.paragraph):
        text = " ".join(paragraph.astext().split())
        if len(text) >= 50 and not text.startswith("Time:") and "\\" not in text:
            if len(text) <= LONGEST:
                return text
            return text[: LONGEST - 1].rsplit(" ", 1)[0].rstrip(",;:. ") + " …"
    return ""


def write_sitemap(app: Sphinx, error: Exception | None) -> None:
    """Write `sitemap.xml`, and `404.html`, which servers show wherever it is needed."""
    if error or app.builder.name != "html":
        return
    base, folder = app.config.html_baseurl, Path(app.outdir)
    pages = sorted(app.env.found_docs)
    places = "".join(f"<url><loc>{escape(base)}{escape(page)}.html</loc></url>\n" for page in pages)
    sitemap = '<?xml version="1.0" encoding="UTF-8"?>\n'
    sitemap += f'<urlset xmlns="http://www.sitemaps.org/schemas/sitemap/0.9">\n{places}</urlset>\n'
    (folder / "sitemap.xml").write_text(sitemap, encoding="utf-8")
    path = re.sub(r"^https?://[^/]+", "", base) or "/"
    lost = LOST.format(title=escape(app.config.html_title), base=escape(path))
    (folder / "404.html").write_text(lost, encoding="utf-8")


def setup(app: Sphinx) -> dict[str, object]:
    """Called by Sphinx."""
    app.connect("config-inited", address_of_site)
    app.connect("html-page-context", describe)
    app.connect("build-finished", write_sitemap)
    return {"version": "1", "parallel_read_safe": True, "parallel_write_safe": True}
