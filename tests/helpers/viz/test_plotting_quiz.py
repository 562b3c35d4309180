"""Figures and quizzes are clean, deterministic HTML that says in words what it shows."""

import os
import re
import subprocess
import sys
import warnings
from html.parser import HTMLParser
from xml.etree import ElementTree

import matplotlib.pyplot as plt
import numpy as np
import pytest
from matplotlib.colors import to_rgba

from helpers.viz import plotting, quiz
from tests.conftest import ROOT

ALT = 'A line that rises, "y" < 3 & falls again.'


@pytest.fixture(autouse=True)
def style():
    with plt.rc_context():
        plotting.use_style()
        yield
    plt.close("all")


def line_figure(values=(1.0, 3.0, 2.0)):
    """A figure with everything that makes ids: markers, clip paths, a band, a legend."""
    fig, ax = plt.subplots()
    values = np.asarray(values)
    plotting.plot_series(ax, [0, 1, 2], {"one": values, "three": np.stack([values, values + 1])})
    ax.set_title("a $x^2$ title")
    return fig


def heat_figure():
    fig, ax = plt.subplots()
    values = np.array([[0.5, -1.25], [-np.inf, 2.0]])
    plotting.heatmap(ax, values, rows=["query 1", "query 2"], columns=np.array(["key 1", "key 2"]))
    return fig


FIGURES = {"line": line_figure, "heat": heat_figure}


def ids(html):
    return re.findall(r' id="([^"]+)"', html)


# --------------------------------------------------------------------------- figures


@pytest.mark.parametrize("name", FIGURES)
def test_same_figure_same_text(name):
    fig = FIGURES[name]()
    first = plotting.to_html(fig, ALT)
    assert plotting.to_html(fig, ALT) == first
    assert plotting.to_html(FIGURES[name](), ALT) == first


def test_same_text_in_another_process():
    """Neither the order of sets nor a date nor a random salt gets in."""
    code = (
        "import sys; sys.path.insert(0, '.'); import tests.helpers.viz.test_plotting_quiz as t;"
        "t.plotting.use_style(); sys.stdout.write(t.plotting.to_html(t.line_figure(), t.ALT))"
    )
    result = subprocess.run(
        [sys.executable, "-c", code],
        cwd=ROOT,
        env=os.environ | {"PYTHONHASHSEED": "1", "MPLBACKEND": "agg"},
        capture_output=True,
        text=True,
        check=True,
    )
    assert result.stdout == plotting.to_html(line_figure(), ALT)


@pytest.mark.parametrize("name", FIGURES)
def test_figure_is_well_formed_and_clean(name):
    html = plotting.to_html(FIGURES[name](), ALT)
    figure = ElementTree.fromstring(html)
    assert figure.tag == "figure"
    assert figure.get("class") == "lamplight-figure"
    svg = figure[0]
    assert svg.tag.endswith("svg")
    assert svg.get("role") == "img"
    assert svg.get("aria-label") == ALT  # so it was escaped, or it would not have come back
    for forbidden in ("<style", "<script", "<metadata", "<?xml", "<!DOCTYPE", "<image", "@import"):
        assert forbidden not in html
    # Namespaces are names; nothing is fetched from them.
    addresses = set(re.findall(r"\w+://[^\"' )]+", html))
    assert addresses <= {"http://www.w3.org/2000/svg", "http://www.w3.org/1999/xlink"}
    assert not re.search(r'(?:href|url)\W+(?!#)["\']?\w+:', html.replace("xmlns:xlink", ""))


@pytest.mark.parametrize("name", FIGURES)
def test_ink_follows_the_page(name):
    html = plotting.to_html(FIGURES[name](), ALT)
    assert "currentColor" in html
    assert plotting.INK not in html
    for white_or_black in ("#ffffff", "#000000", "fill: white", "rgb(255"):
        assert white_or_black not in html


def test_figure_ids_and_references_match():
    html = plotting.to_html(line_figure(), ALT)
    references = set(re.findall(r"(?:href=\"|url\()#([\w-]+)", html))
    assert references == set(ids(html))
    assert len(ids(html)) == len(set(ids(html)))


def test_ids_of_two_figures_do_not_meet():
    first = plotting.to_html(line_figure(), "The first of two figures.")
    second = plotting.to_html(line_figure((3.0, 1.0, 2.0)), "The second of two figures.")
    assert ids(first)
    assert not set(ids(first)) & set(ids(second))


def test_measured_figures_are_marked():
    assert " data-measured>" in plotting.to_html(line_figure(), ALT, measured=True)
    assert "data-measured" not in plotting.to_html(line_figure(), ALT)


def test_figure_fits_a_phone():
    """It may shrink to the width of the page, and the drawing keeps its proportions."""
    fig = line_figure()
    fig.set_size_inches(5, 2.5)
    html = plotting.to_html(fig, ALT)
    assert 'viewBox="0 0 360 180"' in html
    assert "width:100%" in html
    assert "height:auto" in html


def test_show_displays_and_closes(monkeypatch):
    shown = []
    monkeypatch.setattr("IPython.display.display", shown.append)
    fig = line_figure()
    expected = plotting.to_html(fig, ALT)
    plotting.show(fig, ALT)
    assert [html.data for html in shown] == [expected]
    assert not plt.fignum_exists(fig.number)


def test_series_band_reaches_from_worst_to_best():
    _, ax = plt.subplots()
    runs = [[1.0, 2.0], [3.0, 6.0], [2.0, 4.0]]  # three: of two, a deviation reaches as far
    plotting.plot_series(ax, [0, 1], {"runs": runs, "one": [0.0, 1.0]})
    mean, one = ax.lines
    assert mean.get_ydata().tolist() == [2.0, 4.0]
    assert one.get_ydata().tolist() == [0.0, 1.0]
    (band,) = ax.collections
    heights = band.get_paths()[0].vertices[:, 1]
    assert (heights.min(), heights.max()) == (1.0, 6.0)
    assert [text.get_text() for text in ax.get_legend().get_texts()] == ["runs", "one"]


def test_series_differ_without_colour():
    _, ax = plt.subplots()
    plotting.plot_series(ax, [0, 1], {str(i): [i, i + 1] for i in range(5)})
    looks = {(line.get_linestyle(), line.get_marker()) for line in ax.lines}
    assert len(looks) == 5


def test_heatmap_cells():
    """Blue above zero, orange below, the strongest colour for the largest number."""
    fig, ax = plt.subplots()
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        plotting.heatmap(ax, np.array([[1.0, -4.0], [0.0, 2.0]]), decimals=1)
    cells = {patch.get_facecolor(): patch.get_path() for patch in ax.patches[:-1]}
    wanted = {(plotting.BLUE, 0.18): (0, 0), (plotting.ORANGE, 0.7): (0, 1)}
    wanted[plotting.BLUE, 0.35] = (1, 1)
    assert set(cells) == {to_rgba(*color) for color in wanted}
    for color, (row, column) in wanted.items():
        box = cells[to_rgba(*color)].get_extents()
        assert (box.x0, box.y0, box.x1, box.y1) == (column, row, column + 1, row + 1)
    assert [t.get_text() for t in ax.texts] == ["1.0", "−4.0", "0.0", "2.0"]
    plt.close(fig)


def test_heatmap_of_zeros_and_of_infinities():
    for values in (np.zeros((2, 2)), np.full((2, 2), -np.inf)):
        fig, ax = plt.subplots()
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            plotting.heatmap(ax, values)
        assert len(ax.patches) == 1  # the lines of the grid
        assert "nan" not in plotting.to_html(fig, ALT)


def test_heatmap_is_one_path_for_each_colour():
    """However many cells there are, wherever they lie."""
    rng = np.random.default_rng(0)
    values = rng.choice([0.0, 0.5, 1.0], size=(20, 30))
    _, ax = plt.subplots()
    plotting.heatmap(ax, values, decimals=None)
    assert len(ax.patches) == 3
    for patch, strength in zip(ax.patches, (0.5, 1.0), strict=False):
        for i, j in np.ndindex(values.shape):
            inside = patch.get_path().contains_point((j + 0.5, i + 0.5))
            assert inside == (values[i, j] == strength)


def test_figure_is_one_line_with_a_readable_width():
    html = plotting.to_html(heat_figure(), ALT)
    assert "\n" not in html
    assert not re.search(r' (?:d|x|y|transform)="[^"]*\d\.\d\d', html)
    assert html.count("font-family") == 1
    width = plt.gcf().get_size_inches()[0] * 72
    assert f"--readable:{width * 1.25:.0f}px" in html  # numbers of 8 points, to be 10 pixels
    assert f"--readable:{width * 10 / 11:.0f}px" in plotting.to_html(line_figure(), ALT)


def test_to_html_leaves_the_settings_alone():
    """`to_html` leaves matplotlib's settings as they were."""
    before = plt.rcParams.copy()
    plotting.to_html(line_figure(), ALT)
    assert plt.rcParams == before


# --------------------------------------------------------------------------- quiz

ONE = (
    "What does `softmax` return for a < b & c?",
    [
        ("Numbers that sum to 1", True, "Each is divided by their sum."),
        ("The `maximum`", False, "That is `max`."),
        ("Nothing", False, 'It "returns" <b>weights</b>.'),
    ],
)
SEVERAL = (
    "Which hold?",
    [("First", True, "Yes."), ("Second", True, "Yes."), ("Third", False, "It does not.")],
)


class Elements(HTMLParser):
    """Every element with its attributes, and the text inside each kind of element."""

    def __init__(self, html):
        super().__init__()
        self.found, self.open, self.text = [], [], []
        self.feed(html)
        assert not self.open, f"not closed: {self.open}"

    def handle_starttag(self, tag, attributes):
        self.found.append((tag, dict(attributes)))
        if tag not in ("input", "br"):
            self.open.append(tag)

    def handle_endtag(self, tag):
        assert self.open.pop() == tag

    def handle_data(self, data):
        if self.open and self.open[0] != "style":
            self.text.append(data)

    def all(self, tag):
        return [attributes for name, attributes in self.found if name == tag]


def test_quiz_structure():
    """Fieldsets with a legend; an input with a label for every option; no script."""
    html = quiz.to_html(ONE, SEVERAL)
    page = Elements(html)
    assert len(page.all("fieldset")) == len(page.all("legend")) == 2
    inputs, labels = page.all("input"), page.all("label")
    assert [i["type"] for i in inputs] == ["radio"] * 3 + ["checkbox"] * 3
    assert [i["id"] for i in inputs] == [label["for"] for label in labels]
    assert len({i["id"] for i in inputs}) == 6
    assert [len({i["name"] for i in inputs[n : n + 3]}) for n in (0, 3)] == [1, 1]
    assert inputs[0]["name"] != inputs[3]["name"]
    assert not page.all("script")
    assert not any(name.startswith("on") for _, a in page.found for name in a)
    assert "http" not in html
    assert "url(" not in html


def test_quiz_shuffles_options_deterministically():
    """Authors tend to write the right option first; readers must not find it there."""
    options = [(f"option {n}", n == 0, f"Reason {n}.") for n in range(6)]
    first = quiz.to_html(("Which?", options))
    assert first == quiz.to_html(("Which?", options[::-1]))
    places = [first.index(f">option {n}<") for n in range(6)]
    assert places != sorted(places)


def test_quiz_gives_a_reason_for_every_answer():
    """Behind each input stands what CSS unfolds when it is checked, announced as a status."""
    page = Elements(quiz.to_html(ONE, SEVERAL))
    verdicts = [a["class"].split()[1] for a in page.all("div") if "why" in a.get("class", "")]
    assert [sorted(verdicts[:3]), sorted(verdicts[3:])] == [
        ["right", "wrong", "wrong"],
        ["right", "right", "wrong"],
    ]
    assert sum(a.get("role") == "status" for a in page.all("div")) == 6
    text = "".join(page.text)
    for _, right, reason in ONE[1] + SEVERAL[1]:
        assert ("Right. " if right else "No. ") + reason.replace("`", "") in text


def test_quiz_answers_are_not_given_away():
    """Until an option is chosen nothing of its verdict is shown: no attribute, hidden by CSS."""
    html = quiz.to_html(ONE)
    assert ".quiz .why{display:none" in html
    assert not any("checked" in a for a in Elements(html).all("input"))


def test_quiz_escapes_and_marks_code():
    html = quiz.to_html(ONE)
    assert "<code>softmax</code> return for a &lt; b &amp; c?" in html
    assert "<b>" not in html
    assert "(several may be right)" not in html
    assert "(several may be right)" in quiz.to_html(SEVERAL)


def test_quiz_is_the_same_every_time(monkeypatch):
    shown = []
    monkeypatch.setattr("IPython.display.display", shown.append)
    quiz.quiz(ONE, SEVERAL)
    assert shown[0].data == quiz.to_html(ONE, SEVERAL)


# --------------------------------------------------------------------------- predictions

GUESS = "What share of `x` is right?"
NUMBER = {"answer": 0.25, "within": 0.02, "reason": "One of four is <it>.", "unit": "of 1"}


def test_choice_prediction_is_a_quiz_question():
    html = quiz.prediction_html(*ONE)
    assert html == quiz.to_html(ONE).replace('class="quiz"', 'class="quiz predict"')


def test_prediction_of_a_number_structure():
    """A label for the input, the answer behind a native fold, one line, the same every time."""
    html = quiz.prediction_html(GUESS, **NUMBER)
    assert html == quiz.prediction_html(GUESS, **NUMBER)
    assert "\n" not in html
    page = Elements(html)
    (field,), (label,) = page.all("input"), page.all("label")
    assert field["id"] == label["for"]
    assert len(page.all("details")) == len(page.all("summary")) == 1
    text = "".join(page.text)
    assert "It is 0.25 of 1, a guess within 0.02 counts as right. One of four is <it>." in text
    assert "<code>x</code>" in html
    assert "http" not in html


@pytest.mark.parametrize("kind", [np.float64, np.float32])
def test_a_measured_answer_is_a_number_in_the_page(kind):
    """NumPy's own way to write one is no number elsewhere."""
    html = quiz.prediction_html(GUESS, **NUMBER | {"answer": kind(0.25), "within": kind(0.5)})
    assert 'data-answer="0.25" data-within="0.5"' in html


def test_predict_displays(monkeypatch):
    shown = []
    monkeypatch.setattr("IPython.display.display", shown.append)
    quiz.predict(GUESS, **NUMBER)
    quiz.predict(*ONE)
    assert [html.data for html in shown] == [
        quiz.prediction_html(GUESS, **NUMBER),
        quiz.prediction_html(*ONE),
    ]


VERDICTS = {
    "0.25": "Right.",
    ".27": "Right.",
    "0,23": "Right.",
    "1/4": "Right.",
    "25 %": "Right.",
    "0.28": "Too high.",
    "1e2": "Too high.",
    "\u22121": "Too low.",
    "": "Please type a number.",
    "some": "Please type a number.",
    "0.2.5": "Please type a number.",
}


def test_number_prediction_answers_with_the_reason(page):
    """By keyboard alone, and the answer is nowhere to be seen before."""
    page.set_content("<main>" + quiz.prediction_html(GUESS, **NUMBER) + "</main>")
    assert not page.get_by_text("It is 0.25").is_visible()
    status = page.get_by_role("status")
    field = page.get_by_label("My guess:")
    for typed, verdict in VERDICTS.items():
        field.fill(typed)
        field.press("Enter")
        assert status.inner_text().startswith(verdict), typed
        assert ("One of four" in status.inner_text()) == ("number" not in verdict)
    page.keyboard.press("Tab")
    assert page.get_by_role("button", name="Compare").evaluate("b => b === document.activeElement")


AS_PRINTED = {
    1275: {"1,275": "Right.", "1275": "Right.", "1 275": "Right.", "1275,5": "Too high."},
    2_500_000: {"2,500,000": "Right.", "2500000": "Right.", "1,000": "Too low."},
    -1275: {"\u22121,275": "Right.", "-1,276": "Too low."},
    12.5: {"12,500": "Right.", "12,5": "Right."},
}


def test_an_answer_may_be_typed_as_it_is_printed(page):
    for answer, verdicts in AS_PRINTED.items():
        page.goto("about:blank")
        page.set_content(quiz.prediction_html("How many?", answer=answer, reason="So it is."))
        field = page.get_by_label("My guess:")
        for typed, verdict in verdicts.items():
            field.fill(typed)
            field.press("Enter")
            assert page.get_by_role("status").inner_text().startswith(verdict), typed


def test_number_prediction_unfolds_without_scripts(browser):
    context = browser.new_context(java_script_enabled=False)
    page = context.new_page()
    page.set_content("<main>" + quiz.prediction_html(GUESS, **NUMBER) + "</main>")
    assert not page.get_by_role("button", name="Compare").is_visible()
    page.get_by_text("Show the answer and why").focus()
    page.keyboard.press("Enter")
    assert page.get_by_text("One of four").is_visible()
    context.close()
