"""Light pages: what the theme loads for every page, cut to what the pages of this book use.

Mathematics becomes MathML when the site is built, so pages need no script and no font to show it,
and screen readers read it. When all pages are written, each gets one style sheet with the rules
that some page uses, one script, and its icons as inline SVG; the search index is loaded by the
page of search alone.
"""

import posixpath
import re
from pathlib import Path

from docutils import nodes
from latex2mathml.converter import convert
from sphinx.application import Sphinx
from sphinx.util import logging
from sphinx.writers.html5 import HTML5Translator

logger = logging.getLogger(__name__)

ICON = re.compile(r'(<(i|span) class="[^"]*\bfa(?:s|b|-solid|-brands) [^"]*"[^>]*>)\s*</\2>')
STYLES = re.compile(r'\s*<link\b[^>]*href="([^"?]+\.css)[^"]*"[^>]*>')
SCRIPTS = re.compile(r'\s*<script\b[^>]*\bsrc="([^"?]+)[^"]*"[^>]*></script>')
IMPORT = re.compile(r"""@import\s+["']([^"':]+)["'];""")
WORD = re.compile(r"[A-Za-z_][\w-]*")
CODE = re.compile(r'<div class="highlight"><pre>.*?</pre>', re.DOTALL)
DRAWING = re.compile(r"<svg\b(?=[^>]*role=).*?</svg>", re.DOTALL)
CLIPPED = re.compile(  # the end of a group, and the beginning of the next with the same clip
    r'(<g clip-path="([^"]*)">(?:(?!</?g\b).)*)</g>\s*<g clip-path="\2">', re.DOTALL
)
TIPS = re.compile(r' data-bs-(?:placement="[^"]*"|toggle="tooltip")')
SPY = re.compile(r' data-bs-(?:spy|target|root-margin)="[^"]*"')
SYMBOL = re.compile(  # d_k, T_q, h_(t−1) in a text; √ may stand before, but no part of a name
    r"(?<![\w./-])([A-Za-z])_(model|heads?|ff|out|in|[a-z]|\([^()<>&]{1,5}\))(?!\w)"
)
NAMES = re.compile(r"_\{(model|head|ff|out|in)\}")  # subscripts that are words, in TeX
NO_TEXT = re.compile(
    r"(<!--.*?-->|<(code|math|option|pre|script|select|style|svg|textarea|title)\b.*?</\2>|<[^>]*>)",
    re.DOTALL,
)
QUIET = ("o", "mi", "mf", "mh", "nb", "bp", "kc")  # operators, numbers, builtins
FOLDED = re.compile(  # of the list of pages: an entry, its toggle, and what is below it
    r'(<li class="toctree-l1 (?P<here>current )?[^"]*has-children[^"]*"><a .*?</a>)'
    r"<details.*?</summary>(?P<below><ul.*?</ul>)\s*</details>",
    re.DOTALL,
)

# The theme writes "auto" into a page and a color later, so that all of the page is styled twice.
UNDECIDED = 'dataset.theme = localStorage.getItem("theme") || "auto";'
DECIDED = """dataset.theme = document.documentElement.dataset.mode !== "auto"
      ? document.documentElement.dataset.mode
      : matchMedia("(prefers-color-scheme: dark)").matches ? "dark" : "light";
    if (performance.getEntriesByType("navigation")[0]?.type === "navigate"
        && !location.hash && !location.search) document.documentElement.dataset.later = "";"""

# Where a browser blocks cookies, or its storage is full, the theme's scripts would end with an
# error: no search, no dark mode. There the page keeps what it is told until it is left.
FIRST = "document.documentElement.dataset.mode = localStorage"
KEPT = """for (const name of ["localStorage", "sessionStorage"]) {
      let old = null;
      try {
        old = window[name];
        old.setItem("test", "1");
        old.removeItem("test");
      } catch {
        const kept = new Map(), value = {
          getItem: (key) => kept.get(key) ?? old?.getItem(key) ?? null,
          setItem: (key, text) => kept.set(key, `${text}`),
          removeItem: (key) => { kept.delete(key); old?.removeItem(key); },
          clear: () => { kept.clear(); old?.clear(); },
        };
        Object.defineProperty(window, name, { value, configurable: true });
      }
    }
    """

# The theme's icon script and MathJax are replaced; tabs are nowhere in the book.
# So is the search, which is ours, with what lights up its words on other pages.
LEFT_OUT = ("fontawesome.js", "tex-mml-chtml.js", "tex-chtml.js", "design-tabs.js")
LEFT_OUT += ("language_data.js", "searchtools.js", "searchindex.js", "sphinx_highlight.js")
SEARCH = ("search_index.js", "search.js")  # in this order

# What the theme's scripts measure while a page loads, so that browsers lay all of it out at once
# and what is folded again and again: which boxes scroll, as `_static/keyboard.js` finds out once,
# where the header ends, which matters only to a button that leads back to the top, and where the
# list of pages is to be scrolled to, which can wait until the page is there.
MEASURES = {
    '["pre",".nboutput > .output_area",".cell_output > .output",".jp-RenderedHTMLCommon",'
    '".pst-scrollable-table-container"].join(", ")': '"none"',
    'document.getElementsByClassName("bd-header")[0].getBoundingClientRect()': "{bottom:400}",
    # There are no notices of versions and no notes in the margin; contents.js marks the contents.
    'document.querySelector(".pst-async-banner-revealer")': "null",
    'document.querySelectorAll(n.join(", "))': "[]",
    'document.querySelector("#pst-page-toc-nav")': "null",
    'e(function(){if(!document.querySelector(".bd-docs-nav"))return;': (
        'addEventListener("load",function(){if(!document.querySelector(".bd-docs-nav"))return;'
    ),
}


# ------------------------------------------------------------------ mathematics


def inline_math(self: HTML5Translator, node: nodes.math) -> None:
    """A formula within a line."""
    self.body.append(f'<span class="math">{mathml(node, "inline")}</span>')
    raise nodes.SkipNode


def block_math(self: HTML5Translator, node: nodes.math_block) -> None:
    """A formula on lines of its own; where it is too wide it scrolls, see `_static/keyboard.js`."""
    self.body.append(f'<div class="math">{mathml(node, "block")}</div>\n')
    raise nodes.SkipNode


def mathml(node: nodes.Element, display: str) -> str:
    """A formula as MathML."""
    tex = node.astext().strip()
    try:
        result = convert(NAMES.sub(r"_{\\text{\1}}", tex), display=display)
    except Exception as error:  # it has no class of its own for its errors
        logger.warning(
            "a formula cannot be read (%s): %s", type(error).__name__, tex, location=node
        )
        return ""
    if unknown := re.findall(r"\\\w+|(?<=>)&(?=<)", result):  # & of an environment it cannot set
        logger.warning("a formula has unknown commands %s: %s", unknown, tex, location=node)
    return result


def with_symbols(page: str) -> str:
    """A page whose symbols look in a text, a table or a caption as they do in a formula."""
    parts = NO_TEXT.split(page)  # text, no text, name of its tag, text, …
    parts[::3] = [SYMBOL.sub(subscripted, text) for text in parts[::3]]
    parts[2::3] = [""] * len(parts[2::3])
    return "".join(parts)


def subscripted(symbol: re.Match) -> str:
    """A letter with its subscript."""
    return f"<i>{symbol[1]}<sub>{symbol[2].strip('()')}</sub></i>"


# ------------------------------------------------------------------ style, script, icons


def lighten(app: Sphinx, error: Exception | None) -> None:
    """Put the light parts into every page that Sphinx wrote in this run."""
    if error or app.builder.name != "html":
        return
    folder = Path(app.outdir)
    static = folder / "_static"
    pages = {path: path.read_text(encoding="utf-8") for path in folder.rglob("*.html")}
    pages = {path: page for path, page in pages.items() if "</body>" in page}
    heavy = [path for path, page in pages.items() if "styles/theme.css" in page]
    parts = static / "course.txt"  # what the sheet and the script are made of, for the next run
    if heavy:
        longest = max((pages[path] for path in heavy), key=lambda page: len(STYLES.findall(page)))
        names = [*STYLES.findall(longest), *SCRIPTS.findall(longest)]
        parts.write_text("\n".join(names), encoding="utf-8")
    names = parts.read_text(encoding="utf-8").split() if parts.exists() else []
    scripts = [name for name in names if name.endswith(".js")]
    scripts = [name for name in scripts if not name.endswith(LEFT_OUT)]
    script = without_measures("\n;".join(read(static, name) for name in scripts))
    used = set(WORD.findall(script))
    for page in pages.values():
        for value in re.findall(r'\b(?:class|id)="([^"]*)"', page):
            used.update(value.split())
    sheets = [name for name in names if name.endswith(".css")]
    styles = "".join(sheet(static, name) for name in sheets)
    (static / "course.css").write_text(cut(styles, used), encoding="utf-8")
    (static / "course.js").write_text(script, encoding="utf-8")
    icons = read(static, "_static/scripts/fontawesome.js")
    plain = plain_ink(read(static, "_static/pygments.css"))
    for path in heavy:
        page = light_page(pages[path], path.name, icons)
        page = CODE.sub(lambda code: joined(plain.sub(r"\1", code[0])), page)
        path.write_text(with_symbols(with_fewer_groups(page)), encoding="utf-8")


def plain_ink(css: str) -> re.Pattern:
    """What finds tokens of code that are set in the ink of the text around them.

    They are four of ten elements of a long page. Operators, numbers and builtins lose their colour
    for it.
    """
    inks: dict[str, set[str]] = {}
    for names, rule in re.findall(r"\.highlight ((?:\.\w+,? ?)+)\{([^}]*)\}", css):
        for name in re.findall(r"\.(\w+)", names):
            inks.setdefault(name, set()).add(rule.strip().lower())
    same = [name for name, rules in inks.items() if rules == inks.get("n")]
    return re.compile(rf'<span class="(?:{"|".join({*same, *QUIET})})">([^<]*)</span>')


def joined(code: str) -> str:
    """Code in which a string that is cut at its prefix and its escapes is one token again."""
    code = code.replace("<span></span>", "")
    code = re.sub(r'<span class="s[ae]">([^<]*)</span>(?=<span class="s[12b]">)', r"\1", code)
    return re.sub(r'(<span class="(\w+)">[^<]*)</span><span class="\2">', r"\1", code)


def with_fewer_groups(page: str) -> str:
    """A page whose figures are as flat as can be."""
    return DRAWING.sub(lambda svg: without_groups(svg[0], page), page)


def without_groups(svg: str, page: str) -> str:
    """A figure without groups that nothing refers to; neighbours with one clip share a group."""
    kept, open_groups = [], []
    for part in re.split(r"(</?g\b[^>]*>)", svg):
        if re.fullmatch(r"<g[^>]*/>", part):
            continue
        if part.startswith("<g"):
            name = re.fullmatch(r'<g(?: id="([^"]*)")?>', part)
            drop = bool(name) and (not name[1] or f"#{name[1]}" not in page)
            open_groups.append(drop)
            kept.append("" if drop else part)
        elif part.startswith("</g"):
            kept.append("" if open_groups.pop() else part)
        else:
            kept.append(part)
    svg, pairs = "".join(kept), 1
    while pairs:
        svg, pairs = CLIPPED.subn(r"\1", svg)
    return svg


def without_measures(script: str) -> str:
    """The scripts of a page, without what the theme measures while it loads."""
    for measure, instead in MEASURES.items():
        if measure not in script:
            logger.warning("the theme's scripts no longer hold %s", measure)
        script = script.replace(measure, instead)
    return script


def read(static: Path, name: str) -> str:
    """A file of `_static`, by its address in a page."""
    return (static / name.split("_static/", 1)[1]).read_text(encoding="utf-8")


def sheet(static: Path, name: str) -> str:
    """A style sheet with those that it imports; addresses are seen from `_static`."""
    folder = name.rpartition("/")[0]

    text, *others = IMPORT.split(read(static, name))  # text, address, text, address, …
    css = with_paths(text, name)
    for address, text in zip(others[::2], others[1::2], strict=True):
        css += sheet(static, posixpath.normpath(f"{folder}/{address}")) + with_paths(text, name)
    return css


def with_paths(css: str, name: str) -> str:
    """A style sheet whose addresses are seen from `_static`."""
    folder = name.split("_static/", 1)[1].rpartition("/")[0]
    if not folder:
        return css
    return re.sub(r"""url\((?!["']?(?:data:|#))(["']?)""", rf"url(\1{folder}/", css)


def light_page(page: str, name: str, icons: str) -> str:
    """One page with the light parts in place of the theme's."""
    root = re.search(r'data-content_root="([^"]*)"', page)[1]
    search = [f"{root}_static/{part}" for part in SEARCH]
    scripts = [f"{root}_static/course.js", *(search if name == "search.html" else [])]
    head = f'\n    <link rel="stylesheet" href="{root}_static/course.css" />'
    head += "".join(f'\n    <script defer src="{source}"></script>' for source in scripts)
    page = STYLES.sub("", page)
    page = SCRIPTS.sub("", page)
    page = re.sub(r'\s*<link rel="preload" as="script"[^>]*>', "", page)
    page = re.sub(r"\s*<script>(?:DOCUMENTATION_OPTIONS\.|window\.MathJax)[^<]*</script>", "", page)
    page = page.replace(UNDECIDED, DECIDED).replace(FIRST, KEPT + FIRST)
    page = page.replace("</head>", f"{head}\n</head>", 1)
    page = re.sub(r"<body[^>]*>", lambda body: SPY.sub("", body[0]), page, count=1)
    # A class asks translators to leave code as it is; some of them read the attribute only.
    page = re.sub(r'(class="[^"]*\bnotranslate\b[^"]*")', r'\1 translate="no"', page)
    page = TIPS.sub("", page).replace(' data-bs-title="', ' title="')
    page = FOLDED.sub(lambda m: m[1] + (m["below"] if m["here"] else ""), page)
    page = page.replace('<img alt="Colab logo"', '<img alt="" loading="lazy"')
    return ICON.sub(lambda match: f"{match[1]}{drawing(match[1], icons)}</{match[2]}>", page)


# ------------------------------------------------------------------ what is laid out later


def mark_later(_app: Sphinx, doctree: nodes.document, _page: str) -> None:
    """Mark what `_static/later.js` lays out once the page is there: all from section three on."""
    top = next(iter(doctree.findall(nodes.section)), None)
    sections = [part for part in top or () if isinstance(part, nodes.section)]
    for section in sections[2:]:
        mark(section)


def mark(section: nodes.section) -> None:
    """Mark a section; where it has fields, which browsers look up at once, mark what has none."""
    inner = [part for part in section.children if isinstance(part, nodes.section)]
    own = [part for part in section.children if part not in inner]
    if any(has_fields(part) for part in section.children):
        for part in own:
            if isinstance(part, nodes.container) and not has_fields(part):
                part["classes"].append("later")
    else:
        section["classes"].append("later")
    for part in inner:
        mark(part)


def has_fields(node: nodes.Node) -> bool:
    """Whether there is something to fill in: a quiz, a prediction, something to play with."""
    return any("prediction" in box["classes"] for box in node.findall(nodes.container)) or any(
        re.search("<input|data-explorable", raw.astext()) for raw in node.findall(nodes.raw)
    )


# ------------------------------------------------------------------ icons, rules of style


def drawing(tag: str, icons: str) -> str:
    """The icon that a tag of the theme names, from the theme's own set, as inline SVG."""
    names = re.findall(r"\bfa-([a-z-]+)", re.search(r'class="([^"]*)"', tag)[1])
    for name in names:
        # "name":[width,height,[other names],"code","path"]; the first set is the solid one
        for width, height, path in re.findall(
            rf'[{{,]"?{name}"?:\[(\d+),(\d+),\[[^\]]*\],"[^"]*","([^"]+)"', icons
        ):
            box = f'viewBox="0 0 {width} {height}"'
            return f'<svg class="icon" aria-hidden="true" {box}><path d="{path}"/></svg>'
    logger.warning("no icon is named in %s", tag)
    return ""


def cut(css: str, used: set[str]) -> str:
    """The rules of a style sheet that can apply where only these classes and ids are used."""
    css = re.sub(r"/\*.*?\*/", "", css, flags=re.DOTALL)
    return "".join(rule for rule in kept_rules(css, used))


def kept_rules(css: str, used: set[str]) -> list[str]:
    """The rules at one level."""
    kept = []
    at = 0
    while match := re.compile(r"\s*([^{};]*)([{;])").match(css, at):
        prelude, at = " ".join(match[1].split()), match.end()
        if match[2] == ";":
            continue  # @charset: all is in this one sheet
        end, depth = at, 1
        while depth:
            brace = re.compile(r"[{}]").search(css, end)
            depth += 1 if brace[0] == "{" else -1
            end = brace.end()
        body, at = css[at : end - 1], end
        if prelude.startswith(("@media", "@supports", "@layer")):
            inner = "".join(kept_rules(body, used))
            kept += [f"{prelude}{{{inner}}}"] if inner else []
        elif prelude.startswith("@font-face"):
            # Those of icons are left out: icons are drawings here.
            kept += [f"{prelude}{{{squeezed(body)}}}"] if "lamplight" in body else []
        elif prelude.startswith("@"):
            kept.append(f"{prelude}{{{squeezed(body)}}}")
        else:
            selectors = [s for s in split_selectors(prelude) if can_apply(s, used)]
            kept += [f"{','.join(selectors)}{{{squeezed(body)}}}"] if selectors else []
    return kept


def squeezed(text: str) -> str:
    """A text in one line."""
    return re.sub(r"\s*\n\s*", " ", text).strip()


def split_selectors(prelude: str) -> list[str]:
    """Selectors between commas that stand outside parentheses."""
    return re.split(r",\s*(?![^()]*(?:\([^()]*\)[^()]*)*\))", prelude)


def can_apply(selector: str, used: set[str]) -> bool:
    """Whether all classes and ids that a selector needs are used; parentheses are not looked at."""
    outside = re.sub(r"\[[^\]]*\]", "", selector)
    while "(" in outside:
        shorter = re.sub(r":[\w-]+\([^()]*\)|\([^()]*\)", "", outside)
        if shorter == outside:
            break
        outside = shorter
    return all(name in used for name in re.findall(r"[.#]([A-Za-z_][\w-]*)", outside))


def setup(app: Sphinx) -> dict[str, object]:
    """Called by Sphinx."""
    app.add_html_math_renderer("mathml", (inline_math, None), (block_math, None))
    app.connect("doctree-resolved", mark_later)
    # After the theme, which writes the colours of code at the end of a build.
    app.connect("build-finished", lighten, priority=900)
    return {"version": "1", "parallel_read_safe": True, "parallel_write_safe": True}
