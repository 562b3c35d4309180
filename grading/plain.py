"""The plain data that answers are made of, and what is different between two of them.

An answer may hold numbers, strings, booleans, None, arrays and tensors, and lists, tuples,
sets and dictionaries of these. Everything else is refused by its exact type: a class of the
student's own that equals everything must not be asked whether it equals the right answer.
"""

from __future__ import annotations

import numpy as np

from grading.tensors import is_tensor, torch_if_there

SCALARS = (bool, int, float, str, type(None))
KINDS = {"b": "booleans", "i": "whole numbers", "u": "whole numbers", "f": "numbers"}


class NotPlain(TypeError):
    """An answer holds something that is no plain data; the text says what."""


def plain(value: object) -> object:
    """A copy of a value in which tensors have become NumPy arrays and nothing is shared.

    Raises:
        NotPlain: if the value holds anything else than plain data.
    """
    kind, torch = type(value), torch_if_there()
    if kind in SCALARS:
        return value
    if is_tensor(value):
        tensor = value.detach().cpu()
        if tensor.dtype in (torch.bfloat16, torch.float16):
            tensor = tensor.float()
        return _real(tensor.numpy().copy())
    if kind is np.ndarray:
        return _real(value.copy())
    if isinstance(value, np.generic):
        return value.item()
    if kind is tuple or (torch is not None and kind is torch.Size):
        return tuple(plain(item) for item in value)
    if kind is list:
        return [plain(item) for item in value]
    if kind in (set, frozenset):
        return {plain(item) for item in value}
    if kind is dict and all(type(key) is str for key in value):
        return {key: plain(item) for key, item in value.items()}
    raise NotPlain(f"{describe_type(value)}, which is no plain data")


def _real(array: np.ndarray) -> np.ndarray:
    if array.dtype.kind not in KINDS:
        raise NotPlain(f"an array of {array.dtype}, which is no plain data")
    return array


def describe_type(value: object) -> str:
    """What a value is, in words: "None", "a tensor of shape (2, 3)", "a list of 4"."""
    if value is None:
        return "None"
    if type(value) is np.ndarray or is_tensor(value):
        return f"an array of shape {tuple(value.shape)}"
    if type(value) in (list, tuple, set, dict):
        return f"a {type(value).__name__} of {len(value)}"
    names = {bool: "a boolean", int: "a whole number", float: "a number", str: "a text"}
    return names.get(type(value), f"an object of type {type(value).__name__}")


def difference(
    got: object, want: object, rtol: float, atol: float, where: str = "the result"
) -> str | None:
    """In one or two sentences, how plain data differs from what was expected; None if it does not.

    Shapes are compared before values, and of the values the place with the largest difference is
    named, counted from 0 and written as in Python: result[1], at (0, 2). Whole numbers stand for
    numbers, and any precision is accepted.
    """
    if isinstance(want, np.ndarray):
        return _array_difference(got, want, rtol, atol, where)
    if isinstance(want, list | tuple):
        if not isinstance(got, list | tuple) or len(got) != len(want):
            return f"{where} is {describe_type(got)}; expected {describe_type(want)}."
        parts = ((g, w, _at(where, i)) for i, (g, w) in enumerate(zip(got, want, strict=True)))
        return next(filter(None, (difference(g, w, rtol, atol, n) for g, w, n in parts)), None)
    if isinstance(want, dict):
        if not isinstance(got, dict) or set(got) != set(want):
            return f"{where} is {describe_type(got)}; expected a dict with {sorted(want)}."
        parts = ((got[key], want[key], _at(where, key)) for key in sorted(want))
        return next(filter(None, (difference(g, w, rtol, atol, n) for g, w, n in parts)), None)
    if isinstance(got, np.ndarray) and got.size == 1 and isinstance(want, int | float):
        got = got.item()
    if isinstance(want, float) and type(got) in (int, float):
        same = np.isclose(got, want, rtol=rtol, atol=atol, equal_nan=True)
        return None if same else f"{where} is {got:.6g}; expected {want:.6g}."
    if type(got) is type(want):
        return None if got == want else f"{where} is {got!r}; expected {want!r}."
    return f"{where} is {describe_type(got)}; expected {describe_type(want)}."


def _at(where: str, key: object) -> str:
    """A part of something, as one would write it in Python."""
    return f"{where.removeprefix('the ')}[{key!r}]"


def _array_difference(
    got: object, want: np.ndarray, rtol: float, atol: float, where: str
) -> str | None:
    if not isinstance(got, np.ndarray):
        return f"{where} is {describe_type(got)}; expected {describe_type(want)}."
    if got.shape != want.shape:
        return f"{where} has shape {got.shape}; expected shape {want.shape}."
    kinds = KINDS[got.dtype.kind], KINDS[want.dtype.kind]
    if kinds[0] != kinds[1] and kinds != ("whole numbers", "numbers"):
        return f"{where} holds {kinds[0]} ({got.dtype}); expected {kinds[1]} ({want.dtype})."
    close = np.isclose(got, want, rtol=rtol, atol=atol, equal_nan=True)
    if close.all():
        return None
    sentence = f"{where} differs from what was expected in {(~close).sum()} of {close.size} entries"
    odd = np.isnan(got) & ~np.isnan(want) if got.dtype.kind == "f" else np.zeros_like(close)
    if odd.any():
        place = tuple(int(i) for i in np.argwhere(odd)[0])
        return f"{sentence}. At {place} it is NaN; expected {_show(want[place])}."
    with np.errstate(invalid="ignore"):
        gap = np.where(close, -1.0, np.nan_to_num(np.abs(got.astype(float) - want), nan=np.inf))
    place = tuple(int(i) for i in np.unravel_index(gap.argmax(), gap.shape))
    at = f", most at {place}" if place else ""
    sentence += f"{at}: {_show(got[place])}; expected {_show(want[place])}."
    if 1 < want.size <= 16:
        sentence += f"\n  got:      {_rounded(got)}\n  expected: {_rounded(want)}"
    return sentence


def _show(number: np.generic) -> str:
    return f"{number:.6g}" if np.issubdtype(type(number), np.floating) else str(number)


def _rounded(array: np.ndarray) -> str:
    if array.dtype.kind != "f":
        return str(array.tolist())
    return str(array.astype(float).round(4).tolist())  # rounded in float32, .1723 has 17 digits
