"""Found and shared: what a search engine and a messenger need.

Each page gets a description, a title, a picture and its canonical address. All addresses come from
the repository's, which is in `_config.yml`; so do those of the sitemap (sphinx-sitemap) and of the
page for addresses that lead nowhere (sphinx-notfound-page).
"""

import re
from html import escape
from urllib.parse import urlsplit

import sphinx_sitemap
from docutils import nodes
from sphinx.application import Sphinx
from sphinx.config import Config

PICTURE, WIDTH, HEIGHT = "_static/card.png", 1200, 630
LONGEST = 160  # what search engines show of a description


def address_of_site(_app: Sphinx, config: Config) -> None:
    """The address of a GitHub repository's site, unless it is configured."""
    repository = config.html_theme_options.get("repository_url", "")
    match = re.fullmatch(r"https://github\.com/([^/]+)/([^/]+)/?", repository)
    if match and not config.html_baseurl:
        config.html_baseurl = f"https://{match[1].lower()}.github.io/{match[2]}/"
    config.notfound_urls_prefix = urlsplit(config.html_baseurl).path or "/"


def describe(
    app: Sphinx, page: str, template: str, context: dict, doctree: nodes.document | None
) -> None:
    """Put description, title and picture into the head of a page."""
    base, course = app.config.html_baseurl, app.config.html_title
    if page == app.config.notfound_pagename:  # a server shows it at any depth
        context["content_root"] = app.config.notfound_urls_prefix
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


def list_all_pages(app: Sphinx, error: Exception | None) -> None:
    """Put every page into the sitemap, not only those that this build has renewed."""
    if not error and app.builder.name == "html":
        while not app.sitemap_links.empty():
            app.sitemap_links.get()
        for page in sorted(app.env.found_docs):
            sphinx_sitemap.add_html_link(app, page, None, None, None)


def setup(app: Sphinx) -> dict[str, object]:
    """Called by Sphinx."""
    app.connect("config-inited", address_of_site)
    app.connect("html-page-context", describe)
    app.connect("build-finished", list_all_pages, priority=100)  # before the sitemap is written
    return {"version": "1", "parallel_read_safe": True, "parallel_write_safe": True}
