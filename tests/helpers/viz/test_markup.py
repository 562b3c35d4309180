"""Captions, quizzes and tables know two kinds of markup, and everything else is text."""

import pytest

from helpers.viz.markup import figcaption, to_inline


@pytest.mark.parametrize(
    ("text", "html"),
    [
        ("the `mask` of *one* head", "the <code>mask</code> of <em>one</em> head"),
        ("2 * 3 * 4 and a*b*c", "2 * 3 * 4 and a*b*c"),
        ("*two* and *three words here*", "<em>two</em> and <em>three words here</em>"),
        ("a < b & `c > d`", "a &lt; b &amp; <code>c &gt; d</code>"),
        ('<b title="x">', '&lt;b title="x"&gt;'),
    ],
)
def test_to_inline(text, html):
    assert to_inline(text) == html


def test_figcaption_is_empty_without_a_caption():
    assert figcaption("Weights of *one* head.") == (
        "<figcaption>Weights of <em>one</em> head.</figcaption>"
    )
    assert figcaption("") == ""
