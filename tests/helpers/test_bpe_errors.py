"""What `helpers.bpe` refuses, and in which words."""

import pytest

from helpers import bpe
from tests.helpers.bad_call import assert_refused, calls, never_refused

CASES = {
    bpe.BPETokenizer: [
        (
            lambda: bpe.BPETokenizer([("ab", "c")]),
            "merges: got ('ab', 'c'); needed pairs of bytes' signs and of pieces made before",
        ),
        (
            lambda: bpe.BPETokenizer([("a", " ")]),
            "merges: got ('a', ' '); needed pairs of bytes' signs and of pieces made before",
        ),
        (
            lambda: bpe.BPETokenizer.learned(["a"], 255),
            "size: got 255; needed at least 256, one for each byte",
        ),
        (
            lambda: bpe.BPETokenizer().decode([3, 256]),
            "ids: got numbers such as [256]; needed 0 to 255",
        ),
    ],
}

CANNOT_FAIL = {
    bpe.words: "cuts every text",
    bpe.spelled: "every text has bytes",
    bpe.joined: "a pair that does not occur changes nothing",
}


@pytest.mark.parametrize(("call", "message"), calls(CASES))
def test_bad_call(call, message):
    assert_refused(call, message)


def test_every_public_function_has_a_bad_call():
    assert never_refused(bpe, CASES, CANNOT_FAIL) == []
