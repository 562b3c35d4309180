"""What `helpers.pieces` refuses, and in which words."""

import pytest
from errors import assert_refused, calls, never_refused

from helpers import pieces

CASES = {
    pieces.Pieces: [
        (
            lambda: pieces.Pieces([("ab", "c")]),
            "merges: got ('ab', 'c'); needed pairs of bytes' signs and of pieces made before",
        ),
        (
            lambda: pieces.Pieces([("a", " ")]),
            "merges: got ('a', ' '); needed pairs of bytes' signs and of pieces made before",
        ),
        (
            lambda: pieces.Pieces.learned(["a"], 255),
            "size: got 255; needed at least 256, one for each byte",
        ),
        (
            lambda: pieces.Pieces().decode([3, 256]),
            "ids: got numbers such as [256]; needed 0 to 255",
        ),
    ],
}

CANNOT_FAIL = {
    pieces.words: "cuts every text",
    pieces.spelled: "every text has bytes",
    pieces.joined: "a pair that does not occur changes nothing",
}


@pytest.mark.parametrize(("call", "message"), calls(CASES))
def test_bad_call(call, message):
    assert_refused(call, message)


def test_every_public_function_has_a_bad_call():
    assert never_refused(pieces, CASES, CANNOT_FAIL) == []
