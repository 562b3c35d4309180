"""What `helpers.numpy_attention` refuses, and in which words."""

from helpers import numpy_attention
from tests.helpers.bad_call import array

attend = numpy_attention.scaled_dot_product_attention_numpy
CASES = {
    attend: [
        (
            lambda: attend(array(4), array(3, 4), array(3, 4)),
            "q: got shape (4,); needed shape (…, T, d)",
        ),
        (
            lambda: attend(array(2, 4), array(3, 5), array(3, 4)),
            "k: got shape (3, 5); needed shape (T_k, 4) to go with q of shape (2, 4)",
        ),
        (
            lambda: attend(array(2, 4), array(3, 4), array(2, 4)),
            "v: got shape (2, 4); needed shape (3, d_v) to go with k of shape (3, 4)",
        ),
        (
            lambda: attend(array(2, 4), array(3, 4), array(3, 4), array(2, 3)),
            "mask: got dtype float64; needed bool (True = may attend)",
        ),
        (
            lambda: attend(array(2, 4), array(3, 4), array(3, 4), array(3, 2) == 0),
            "mask: got shape (3, 2); needed a shape that broadcasts to (2, 3)",
        ),
    ],
    numpy_attention.softmax: [
        (
            lambda: numpy_attention.softmax(array(2, 3), axis=2),
            "axis 2 is out of bounds for array of dimension 2",
        ),
    ],
}
