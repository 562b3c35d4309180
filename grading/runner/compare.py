"""The plain data that answers are made of, and the difference between two values.

An answer may hold numbers, strings, booleans, None, arrays and tensors, and lists, tuples,
sets and dictionaries of these. Everything else is refused by its exact type: a class of the
student's own that equals everything must not be asked whether it equals the right answer.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from enum import Enum, auto

import numpy as np

from grading.runner.outcome import Form, FormKind
from grading.runner.tensors import is_tensor, torch_if_there

SCALARS = (bool, int, float, str, type(None))
BITS = 64
"""How many a whole number may have, so that it can be compared with a float."""
TOO_LARGE = "int with more than 64 bits"
NAMED_TUPLES = ("torch.return_types", "numpy.linalg._linalg")
"""Where the tuples with names are defined that functions such as `torch.max` return."""
NUMBERS = {"b": bool, "i": int, "u": int, "f": float}
"""The kinds of entries that an array may have, by NumPy's letters."""


class NotPlain(TypeError):
    """A value holds something that is not plain data."""

    def __init__(self, form: Form) -> None:
        super().__init__(form)
        self.form = form


def plain(value: object) -> object:
    """A copy of a value in which tensors have become NumPy arrays and nothing is shared.

    Raises:
        NotPlain: if the value holds anything else than plain data.
    """
    kind, torch = type(value), torch_if_there()
    if kind is int and value.bit_length() > BITS:
        raise NotPlain(Form(FormKind.OBJECT, TOO_LARGE))
    if kind in SCALARS:
        return value
    if is_tensor(value):
        half = value.dtype in (torch.bfloat16, torch.float16)  # NumPy has no bfloat16
        tensor = value.detach().cpu()
        return _real((tensor.float() if half else tensor).numpy().copy())
    if kind is np.ndarray:
        return _real(value.copy())
    if isinstance(value, np.generic) and kind.__module__ == "numpy":
        item = value.item()
        if type(item) in SCALARS:
            return item
    if kind is tuple or (torch is not None and kind is torch.Size):
        return tuple(plain(item) for item in value)
    if issubclass(kind, tuple) and kind.__module__ in NAMED_TUPLES:
        return tuple(plain(item) for item in tuple.__iter__(value))
    if kind is list:
        return [plain(item) for item in value]
    if kind in (set, frozenset):
        return {plain(item) for item in value}
    if kind is dict and all(type(key) is str for key in value):
        return {key: plain(item) for key, item in value.items()}
    raise NotPlain(form_of(value))


def _real(array: np.ndarray) -> np.ndarray:
    if array.dtype.kind not in NUMBERS:
        raise NotPlain(Form(FormKind.DTYPE, str(array.dtype)))
    return array


def form_of(value: object) -> Form:
    """What a value is, as far as its type and its size tell."""
    if value is None:
        return Form(FormKind.NONE)
    if type(value) is np.ndarray or is_tensor(value):
        return Form(FormKind.ARRAY, size=tuple(value.shape))
    if type(value) in (list, tuple, set, dict):
        return Form(FormKind.CONTAINER, type(value).__name__, (len(value),))
    kind = FormKind.SCALAR if type(value) in SCALARS else FormKind.OBJECT
    return Form(kind, type(value).__name__)


class Aspect(Enum):
    """In what two values differ."""

    FORM = auto()
    """One is an array and the other a number, or lists have different lengths."""
    KEYS = auto()
    SHAPE = auto()
    DTYPE = auto()
    NUMBER = auto()
    VALUE = auto()
    ENTRIES = auto()
    """Entries of two arrays of the same shape."""
    NAN = auto()
    """Entries, and one of them is NaN where a number is expected."""


@dataclass(frozen=True, eq=False)
class Difference:
    """The first difference between a value and what was expected.

    Args:
        aspect: in what they differ.
        path: where, as one would index: `(0, "a")` is `[0]["a"]`.
        got, want: what is different there: two forms, shapes, dtypes, or values.
        wrong, size: how many entries of an array differ, of how many.
        place: the index of the entries `got` and `want` in the array.
        arrays: both arrays, if the difference is one of their entries.
    """

    aspect: Aspect
    path: tuple[int | str, ...]
    got: object
    want: object
    wrong: int = 0
    size: int = 0
    place: tuple[int, ...] = ()
    arrays: tuple[np.ndarray, np.ndarray] | None = None

    @property
    def shown(self) -> bool:
        """Whether both arrays are small enough to be shown."""
        return self.arrays is not None and 1 < self.size <= SHOWN_ENTRIES

    @property
    def in_form(self) -> bool:
        """Whether type, size or shape differ, so that naming what is wanted gives no value away."""
        return self.aspect in (Aspect.FORM, Aspect.KEYS, Aspect.SHAPE, Aspect.DTYPE)


SHOWN_ENTRIES = 16
"""Arrays with more entries are not shown."""


def difference(
    got: object, want: object, rtol: float, atol: float, path: tuple[int | str, ...] = ()
) -> Difference | None:
    """How plain data differs from what was expected; None if it does not.

    Shapes are compared before values, and of the entries of an array the one with the largest
    difference is given. Whole numbers stand for numbers, any precision is accepted, and lists of
    numbers stand for an array as an array does for them. Where whole numbers are wanted, they are
    compared exactly, whatever `rtol` and `atol` allow.

    The two sides are not alike: more forms of `got` are accepted than of `want`. An array of whole
    numbers passes where other numbers are wanted, and an array of one entry where a number is
    wanted, but not the reverse; and `rtol` is a share of `want`.
    """
    if isinstance(want, np.ndarray):
        return _array_difference(_as_array(got), want, rtol, atol, path)
    if isinstance(want, list | tuple):
        return _sequence_difference(got, want, rtol, atol, path)
    if isinstance(want, dict):
        if not isinstance(got, dict) or set(got) != set(want):
            return Difference(Aspect.KEYS, path, form_of(got), sorted(want))
        return _first_difference(got, want, sorted(want), rtol, atol, path)
    return _scalar_difference(got, want, rtol, atol, path)


def _sequence_difference(
    got: object, want: list | tuple, rtol: float, atol: float, path: tuple[int | str, ...]
) -> Difference | None:
    """The difference of a list or a tuple.

    An array may stand for several arrays where all of it is right. Where it is not, the first part
    of it says nothing: several arrays are wanted, and a single one came.
    """
    other_form = Difference(Aspect.FORM, path, form_of(got), form_of(want))
    is_array = isinstance(got, np.ndarray)
    items = got.tolist() if is_array and got.ndim else got
    if not isinstance(items, list | tuple) or len(items) != len(want):
        return other_form
    found = _first_difference(items, want, range(len(want)), rtol, atol, path)
    of_arrays = any(isinstance(item, np.ndarray) for item in want)
    return other_form if found and is_array and of_arrays else found


def _scalar_difference(
    got: object, want: object, rtol: float, atol: float, path: tuple[int | str, ...]
) -> Difference | None:
    """The difference of a number, a text or another single value; see `difference`."""
    if isinstance(got, np.ndarray) and got.size == 1 and isinstance(want, int | float):
        got = got.item()
    if isinstance(want, float) and type(got) in (int, float):
        same = np.isclose(got, want, rtol=rtol, atol=atol, equal_nan=True)
        return None if same else Difference(Aspect.NUMBER, path, got, want)
    if type(want) is int and type(got) is float and got.is_integer():
        got = int(got)
    if type(got) is type(want):
        return None if got == want else Difference(Aspect.VALUE, path, got, want)
    return Difference(Aspect.FORM, path, form_of(got), form_of(want))


def _first_difference(
    got: object,
    want: object,
    keys: Iterable[int | str],
    rtol: float,
    atol: float,
    path: tuple[int | str, ...],
) -> Difference | None:
    """The first difference between two containers that have the same keys."""
    for key in keys:
        found = difference(got[key], want[key], rtol, atol, (*path, key))
        if found is not None:
            return found
    return None


def _as_array(value: object) -> object:
    """The array that lists of numbers stand for; any other value, and ragged lists, as they are."""
    if not isinstance(value, list | tuple | bool | int | float):
        return value
    try:
        array = np.asarray(value)
    except (ValueError, OverflowError):  # ragged, or a number too large
        return value
    return array if array.dtype.kind in NUMBERS else value


def _array_difference(
    got: object, want: np.ndarray, rtol: float, atol: float, path: tuple[int | str, ...]
) -> Difference | None:
    if not isinstance(got, np.ndarray):
        return Difference(Aspect.FORM, path, form_of(got), form_of(want))
    if got.shape != want.shape:
        return Difference(Aspect.SHAPE, path, got.shape, want.shape)
    kinds = NUMBERS[got.dtype.kind], NUMBERS[want.dtype.kind]
    if kinds[0] is not kinds[1] and kinds != (int, float):
        return Difference(Aspect.DTYPE, path, got.dtype, want.dtype)
    whole = kinds == (int, int)
    close = got == want if whole else np.isclose(got, want, rtol=rtol, atol=atol, equal_nan=True)
    if close.all():
        return None
    counts = {"wrong": int((~close).sum()), "size": close.size}
    odd = np.isnan(got) & ~np.isnan(want) if got.dtype.kind == "f" else np.zeros_like(close)
    if odd.any():
        place = tuple(int(i) for i in np.argwhere(odd)[0])
        return Difference(Aspect.NAN, path, got[place], want[place], place=place, **counts)
    with np.errstate(invalid="ignore"):
        gap = np.where(close, -1.0, np.nan_to_num(np.abs(got.astype(float) - want), nan=np.inf))
    place = tuple(int(i) for i in np.unravel_index(gap.argmax(), gap.shape))
    both, entries = (got, want), (got[place], want[place])
    return Difference(Aspect.ENTRIES, path, *entries, place=place, arrays=both, **counts)
