"""What `helpers.viz.passages` refuses, and in which words."""

from helpers.viz import passages


def show(pieces, logits, span, function=passages.to_html):
    return lambda: function(pieces, logits, span, question="who ?", caption="A passage.")


BAD = [
    (["ada", "hid"], [[0.0, 1.0], [0.0]], (0, 0)),
    (["ada", "hid"], [[0.0, 1.0], [0.0, 1.0]], (1, 0)),
]
MESSAGES = (
    "logits: got [2, 1]; needed two rows of 2, one for each token",
    "span: got (1, 0); needed first and last token, of 2",
)
CASES = {
    function: [(show(*bad, function), message) for bad, message in zip(BAD, MESSAGES, strict=True)]
    for function in (passages.show_passage, passages.to_html)
}
