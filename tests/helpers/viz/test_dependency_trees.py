"""Dependency trees: annotations are well formed, other text needs a pipeline, drawings repeat."""

import importlib
import re
import sys

import pytest
from axe_playwright_python.sync_playwright import Axe

from helpers.viz import dependency_trees
from helpers.viz.dependency_trees import (
    SENTENCES,
    arcs,
    check_tree,
    draw,
    load_parser,
    parse,
    to_html,
)
from tests.conftest import first_and_full, skip_or_fail

OPENING = "The letters in the drawer under the lamp that hums are unopened."


@pytest.fixture
def no_pipeline(monkeypatch):
    monkeypatch.setattr("spacy.util.is_package", lambda name: False)


@pytest.fixture(params=SENTENCES)
def doc(request):
    return parse(request.param, annotated=True)


def test_words_and_spaces_give_the_sentence_back(doc):
    assert doc.text in SENTENCES
    assert not doc[-2].whitespace_ and not doc[-1].whitespace_


def test_annotated_trees_are_well_formed(doc):
    heads = [word.head.i for word in doc]
    check_tree(heads, [word.dep_ for word in doc], [word.pos_ for word in doc])
    (sentence,) = doc.sents  # spaCy, too, sees one tree
    assert sentence.root.dep_ == "ROOT"
    assert [child for child, _, _ in arcs(doc)] == [w.i for w in doc if w.i != sentence.root.i]


def test_labels_go_with_parts_of_speech(doc):
    """What a slip in the annotation would break."""
    for word in doc:
        above = word.head.pos_
        assert (word.dep_ == "det") <= (word.pos_ == "DET" and above == "NOUN")
        assert (word.dep_ == "pobj") <= (word.pos_ in {"NOUN", "PRON"} and above == "ADP")
        assert word.dep_.startswith("nsubj") <= (above in {"VERB", "AUX"})
        assert word.dep_.startswith("aux") <= (word.pos_ in {"AUX", "PART"} and above == "VERB")
        assert (word.dep_ == "relcl") <= (word.pos_ == "VERB" and above == "NOUN")
        assert (word.pos_ == "PUNCT") == (word.dep_ == "punct") == (not word.text.isalpha())


def test_opening_verb_has_letters_as_subject():
    doc = parse(OPENING, annotated=True)
    links = {(doc[child].text, label, doc[head].text) for child, label, head in arcs(doc)}
    assert ("letters", "nsubj", "are") in links
    assert {("that", "nsubj", "hums"), ("hums", "relcl", "lamp")} <= links


def test_sentences_cover_clauses_pronoun_and_negation():
    """Two of them at least have all three."""
    docs = [parse(text, annotated=True) for text in SENTENCES]
    found = [
        doc.text
        for doc in docs
        if {"neg", "nsubj"} <= {word.dep_ for word in doc}
        and sum(word.dep_.startswith("nsubj") for word in doc) >= 2
        and any(word.pos_ == "PRON" for word in doc)
    ]
    assert len(found) >= 2


def test_other_sentences_need_a_pipeline(no_pipeline):
    with pytest.raises(ValueError, match="en_core_web_sm") as error:
        parse("Nobody annotated this.")
    for text in SENTENCES:
        assert text in str(error.value)
    assert [word.text for word in parse(OPENING)][:2] == ["The", "letters"]


def test_an_installed_pipeline_is_used(monkeypatch):
    monkeypatch.setattr("spacy.util.is_package", lambda name: name == "en_core_web_sm")
    monkeypatch.setattr("spacy.load", lambda name: lambda text: (name, text))
    assert parse("Anything.") == ("en_core_web_sm", "Anything.")
    assert parse(OPENING) == ("en_core_web_sm", OPENING)
    assert parse(OPENING, annotated=True)[1].dep_ == "nsubj"
    with pytest.raises(ValueError, match="text: got 'Anything"):
        parse("Anything.", annotated=True)


def test_without_spacy_it_says_what_to_install(monkeypatch):
    monkeypatch.setitem(sys.modules, "spacy", None)
    with pytest.raises(ImportError, match="pip install spacy"):
        parse(OPENING)


GOOD = {"heads": [1, 1, 1], "deps": ["nsubj", "ROOT", "punct"], "pos": ["PRON", "VERB", "PUNCT"]}


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"heads": [1, 1, 3]}, r"heads: got \[3\]; needed positions from 0 to 2"),
        ({"heads": [1, 1, -1]}, r"heads: got \[-1\]"),
        ({"heads": [0, 1, 1]}, r"heads: got roots at \[0, 1\]"),
        ({"heads": [1, 2, 0]}, r"heads: got roots at \[\]"),
        ({"heads": [2, 1, 0]}, "heads: got a cycle above word 0"),
        ({"deps": ["ROOT", "nsubj", "punct"]}, r"deps: got ROOT at \[0\]; needed ROOT at \[1\]"),
        ({"deps": ["subject", "ROOT", "punct"]}, r"got \['subject'\]"),
        ({"pos": ["PRON", "verb", "PUNCT"]}, r"got \['verb'\]"),
        ({"pos": ["PRON", "VERB"]}, "deps, pos: got 3, 2; needed 3 each"),
        ({"heads": [], "deps": [], "pos": []}, r"heads: got roots at \[\]"),
    ],
)
def test_check_tree_refuses(change, message):
    check_tree(**GOOD)
    with pytest.raises(ValueError, match=message):
        check_tree(**(GOOD | change))


def test_check_tree_does_not_ask_for_projectivity():
    check_tree([2, 3, 2, 2], ["nsubj", "dep", "ROOT", "dep"], ["NOUN"] * 4)


def test_drawing_is_deterministic_and_has_every_arc(doc):
    text = to_html(doc)
    assert text == to_html(parse(doc.text, annotated=True))
    drawn = re.findall(r'class="label"[^>]*>(\w+)<', text)
    assert sorted(drawn) == sorted(label for _, label, _ in arcs(doc) if label != "punct")
    label = re.search(r'role="img" aria-label="([^"]*)"', text)[1]
    for child, relation, head in arcs(doc):
        assert f"{doc[child]} is {relation} of {doc[head]}" in label


def test_a_tree_of_fourteen_words_fits_the_column():
    for text in SENTENCES:
        width = re.search(r'viewBox="0 0 (\d+) ', to_html(parse(text, annotated=True)))[1]
        assert int(width) <= 690


@pytest.mark.parametrize("name", dependency_trees.PIPELINES)
def test_the_parser_is_found_under_either_name(monkeypatch, name):
    monkeypatch.setattr("spacy.util.is_package", lambda asked: asked == name)
    monkeypatch.setattr("spacy.load", lambda asked: f"loaded {asked}")
    assert load_parser() == f"loaded {name}"


def test_without_a_parser_one_line_says_how_to_get_it(no_pipeline, monkeypatch, capsys):
    assert load_parser() is None
    assert "python -m spacy download en_core_web_sm" in capsys.readouterr().out
    monkeypatch.setitem(sys.modules, "spacy", None)
    assert load_parser() is None
    assert capsys.readouterr().out.count("\n") == 1


def test_the_real_parser_takes_the_garden_path():
    """What the lecture says about the opening sentence; it needs the pipeline."""
    parser = load_parser()
    if parser is None:
        skip_or_fail("no English pipeline is installed: make test installs it")
    doc = parser("The letters in the drawer under the lamp that hums lie unopened.")
    words = {word.text: word for word in doc}
    assert words["hums"].pos_ == "NOUN" and words["hums"].head.text == "lie"
    assert words["letters"].dep_ == "ROOT"


def test_drawing_takes_the_colours_of_the_page():
    text = to_html(parse(OPENING, annotated=True))
    assert "currentColor" in text
    assert not re.search(r"#[0-9a-f]{6}\b|#fff|white", text.replace("#arrow", ""))


def test_quotes_in_a_sentence_are_escaped():
    from spacy import blank
    from spacy.tokens import Doc

    words = ["<b>", '"is"']
    heads, deps = [1, 1], ["nsubj", "ROOT"]
    text = to_html(Doc(blank("en").vocab, words, heads=heads, deps=deps, pos=["NOUN", "VERB"]))
    assert "<b>" not in text
    assert 'aria-label="Dependency tree of “&lt;b&gt; &quot;is&quot; ”' in text


def test_draw_displays_the_drawing(monkeypatch):
    displayed = []
    monkeypatch.setattr("IPython.display.display", displayed.append)
    doc = parse(OPENING, annotated=True)
    draw(doc)
    assert displayed[0].data == to_html(doc)


@pytest.mark.parametrize(
    "style", first_and_full("background:#fff;color:#323232", "background:#111;color:#ddd")
)
def test_in_a_browser(page, style):
    """It fits a phone, scrolls inside itself by keyboard too, and no drawing is cut off."""
    figures = "".join(to_html(parse(text, annotated=True)) for text in SENTENCES)
    page.set_viewport_size({"width": 390, "height": 800})
    page.set_content(
        '<!doctype html><html lang="en"><meta charset="utf-8"><title>Trees</title>'
        f'<body style="{style}"><main><h1>Trees</h1>{figures}</main></body></html>'
    )
    assert page.evaluate("document.documentElement.scrollWidth") == 390
    box = page.locator(".tree div").first
    box.focus()
    page.keyboard.press("ArrowRight")
    page.wait_for_function("document.activeElement.scrollLeft > 0", timeout=5000)
    for svg in page.locator("svg").all():
        outer, inner = svg.evaluate(
            "svg => [svg.viewBox.baseVal, svg.getBBox()].map((box) => "
            "[box.x, box.y, box.x + box.width, box.y + box.height])"
        )
        assert outer[0] <= inner[0] and outer[1] <= inner[1]
        assert outer[2] >= inner[2] and outer[3] >= inner[3]
    ink = page.locator(".tree path").first.evaluate("arc => getComputedStyle(arc).stroke")
    assert ink == page.evaluate("getComputedStyle(document.body).color")
    results = Axe().run(page)
    assert results.violations_count == 0, results.generate_report()


def test_module_loads_without_spacy(monkeypatch):
    monkeypatch.setitem(sys.modules, "spacy", None)
    assert importlib.reload(dependency_trees).SENTENCES == SENTENCES
