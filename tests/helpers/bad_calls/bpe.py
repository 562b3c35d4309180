"""What `helpers.bpe` refuses, and in which words."""

from helpers import bpe

CASES = {
    bpe.BPETokenizer: [
        (
            lambda: bpe.BPETokenizer([("ab", "c")]),
            "merges: got ('ab', 'c'); needed pairs of bytes' signs and of tokens made before",
        ),
        (
            lambda: bpe.BPETokenizer([("a", " ")]),
            "merges: got ('a', ' '); needed pairs of bytes' signs and of tokens made before",
        ),
        (
            lambda: bpe.BPETokenizer.train(["a"], 255),
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
    bpe.merge: "a pair that does not occur changes nothing",
}
