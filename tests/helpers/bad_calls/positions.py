"""What `helpers.positions` refuses, and in which words."""

from helpers import positions
from tests.helpers.bad_call import x

CASES = {
    positions.LearnedPositions: [
        (lambda: positions.LearnedPositions(0, 4), "context_length: got 0; needed at least 1"),
        (lambda: positions.LearnedPositions(4, 0), "d_model: got 0; needed at least 1"),
        (lambda: positions.LearnedPositions(4, 3, 0.0), "std: got 0.0; needed a number above 0"),
        (
            lambda: positions.LearnedPositions(4, 3).embed(x(1, 5, 3)),
            "x: got 5 positions; needed at most context_length = 4",
        ),
        (
            lambda: positions.LearnedPositions(4, 3).embed(x(1, 2, 5)),
            "x: got shape (1, 2, 5); needed shape (…, T, 3)",
        ),
        (
            lambda: positions.LearnedPositions(4, 3).embed(x(1, 2, 3), -1),
            "start: got -1; needed at least 0",
        ),
        (
            lambda: positions.LearnedPositions(4, 3).embed(x(1, 2, 3), 3),
            "x: got 5 positions; needed at most context_length = 4",
        ),
    ],
    positions.sinusoidal_codes: [
        (
            lambda: positions.sinusoidal_codes(3, 5),
            "d_model: got 5; needed an even number: sine and cosine come in pairs",
        ),
        (lambda: positions.sinusoidal_codes(3, 0), "d_model: got 0; needed at least 1"),
        (lambda: positions.sinusoidal_codes(-1, 4), "T: got -1; needed at least 0"),
        (
            lambda: positions.sinusoidal_codes(3, 4, start=-2),
            "start: got -2; needed at least 0",
        ),
        (
            lambda: positions.sinusoidal_codes(3, 4, base=0.0),
            "base: got 0.0; needed a number above 0",
        ),
    ],
    positions.SinusoidalPositions: [
        (
            lambda: positions.SinusoidalPositions().embed(x(1, 2, 5)),
            "d_model: got 5; needed an even number: sine and cosine come in pairs",
        ),
        (
            lambda: positions.SinusoidalPositions().embed(x(1, 2, 4), -1),
            "start: got -1; needed at least 0",
        ),
    ],
    positions.RotaryPositions: [
        (lambda: positions.RotaryPositions(-1.0), "base: got -1.0; needed a number above 0"),
        (
            lambda: positions.RotaryPositions(scaling_factor=0.0),
            "scaling_factor: got 0.0; needed a number above 0",
        ),
        (
            lambda: positions.RotaryPositions().rotate(x(1, 1, 2, 3), x(1, 1, 2, 3)),
            "d_k: got 3; needed an even number: rotations act on pairs of features",
        ),
        (
            lambda: positions.RotaryPositions().rotate(x(1, 1, 2, 4), x(1, 1, 2, 6)),
            "k: got shape (1, 1, 2, 6); needed d_k = 4 as last axis, as q has",
        ),
        (
            lambda: positions.RotaryPositions().rotate(x(1, 1, 3, 4), x(1, 1, 2, 4)),
            "q: got 3 positions; needed at most T_k = 2",
        ),
        (
            lambda: positions.RotaryPositions().rotate(x(1, 1, 3, 4), x(1, 1, 3, 4), -1),
            "start: got -1; needed at least 0",
        ),
    ],
    positions.ALiBiPositions: [
        (lambda: positions.ALiBiPositions(0), "n_heads: got 0; needed at least 1"),
        (
            lambda: positions.ALiBiPositions(2).bias(3, 2, x(1)),
            "T_q, T_k: got (3, 2); needed 0 <= T_q <= T_k",
        ),
    ],
}

CANNOT_FAIL = {
    positions.PositionEncoding: "takes everything and changes nothing",
}
