"""What `helpers.validation` refuses, and in which words."""

from helpers import validation
from tests.helpers.bad_call import x

CASES = {
    validation.require: [
        (lambda: validation.require(False, "n", 3, "4"), "n: got 3; needed 4"),
    ],
    validation.require_dims: [
        (
            lambda: validation.require_dims("n", x(3), 2, "(a, b)"),
            "n: got shape (3,); needed shape (a, b)",
        ),
    ],
    validation.require_length: [
        (
            lambda: validation.require_length("x", 5, 4),
            "x: got 5 positions; needed at most context_length = 4",
        ),
    ],
    validation.require_sizes: [
        (lambda: validation.require_sizes(n=1, m=None, k=0), "k: got 0; needed at least 1"),
    ],
    validation.require_share: [
        (
            lambda: validation.require_share("p", 1.0),
            "p: got 1.0; needed a share from 0 up to, but not including, 1",
        ),
    ],
    validation.require_broadcastable: [
        (
            lambda: validation.require_broadcastable("n", (2, 3), (3,)),
            "n: got shape (2, 3); needed a shape that broadcasts to (3,)",
        ),
    ],
    validation.require_qkv: [
        (
            lambda: validation.require_qkv(x(2, 4), x(3, 4), x(4, 5)),
            "v: got shape (4, 5); needed shape (3, d_v) to go with k of shape (3, 4)",
        ),
    ],
}

CANNOT_FAIL = {
    validation.shape_text: "writes whatever it is given",
}
