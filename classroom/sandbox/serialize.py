"""Plain data as JSON and back: the only thing that crosses the border of a sandbox.

Nothing is ever unpickled. What comes back was written by a stranger, so `decode` takes nothing on
trust: kinds, sizes, depth and dtypes are checked before an array is made of them. The memory layout
of an array is not kept: it arrives contiguous.
"""

from __future__ import annotations

import base64
import binascii
import math

import numpy as np

from grading.runner.tensors import torch_if_there

DEPTH = 16
ITEMS = 200_000
BYTES = 8_000_000
DTYPES = {"bool", "uint8", "uint16", "uint32", "uint64", "int8", "int16", "int32", "int64"}
DTYPES |= {"float16", "float32", "float64"}
SEQUENCES = {"tuple": tuple, "set": set}


class SerializeError(ValueError):
    """Something cannot cross; the text says what."""


def encode(value: object, depth: int = 0) -> object:
    """What `json.dumps` can write of a value.

    Raises:
        SerializeError: if it holds anything but plain data, or lies too deep.
    """
    if depth > DEPTH:
        raise SerializeError(f"something that lies more than {DEPTH} levels deep")
    kind = type(value)
    if value is None or kind in (bool, str):
        return value
    if kind is int:
        if abs(value) >= 2**64:
            raise SerializeError("a whole number of more than 64 bits")
        return value
    if kind is float:
        return value if math.isfinite(value) else {"is": "float", "value": str(value)}
    if kind is list:
        return [encode(item, depth + 1) for item in value]
    if kind in (tuple, set):
        items = [encode(item, depth + 1) for item in value]
        return {"is": kind.__name__, "items": items}
    if kind is dict:
        items = [[encode(k, depth + 1), encode(v, depth + 1)] for k, v in value.items()]
        return {"is": "dict", "items": items}
    torch = torch_if_there()
    if torch is not None and kind is torch.Tensor:
        half = value.dtype == torch.bfloat16
        stored = value.detach().cpu()
        array = (stored.view(torch.int16) if half else stored).numpy()
        return {
            **_encode_array(array, "tensor"),
            **({"bfloat16": True} if half else {}),
            **({"grad": True} if value.requires_grad else {}),
        }
    if kind is np.ndarray:
        return _encode_array(value, "array")
    if isinstance(value, np.generic):
        return _encode_array(np.asarray(value), "scalar")
    raise SerializeError(f"an object of type {kind.__name__}, which is not plain data")


def _encode_array(array: np.ndarray, kind: str) -> dict:
    if array.dtype.name not in DTYPES:
        raise SerializeError(f"an array of {array.dtype}, which is not plain data")
    data = np.ascontiguousarray(array, dtype=array.dtype.newbyteorder("<"))
    if data.nbytes > BYTES:
        raise SerializeError(f"an array of {data.nbytes:,} bytes; {BYTES:,} is the most")
    text = base64.b64encode(data.tobytes()).decode()
    return {"is": kind, "dtype": array.dtype.name, "shape": list(array.shape), "data": text}


def decode(coded: object) -> object:
    """The value that `encode` wrote.

    Raises:
        SerializeError: on anything that `encode` would not have written.
    """
    return _decode(coded, 0, [ITEMS])


def _decode(coded: object, depth: int, left: list[int]) -> object:
    left[0] -= 1
    if depth > DEPTH or left[0] < 0:
        raise SerializeError("too deep, or too many items")
    kind = type(coded)
    if coded is None or kind in (bool, str):
        return coded
    if kind is int and abs(coded) < 2**64:
        return coded
    if kind is float and math.isfinite(coded):
        return coded
    if kind is list:
        return [_decode(item, depth + 1, left) for item in coded]
    if kind is not dict:
        raise SerializeError("a number out of bounds")
    is_a = coded.get("is")
    if is_a == "float" and coded.get("value") in ("nan", "inf", "-inf"):
        return float(coded["value"])
    if is_a in ("array", "tensor", "scalar"):
        return _decode_array(coded)
    items = coded.get("items")
    if type(items) is list and is_a in ("tuple", "set", "dict"):
        try:
            if is_a == "dict":
                pairs = ((_decode(k, depth + 1, left), v) for k, v in items)
                return {key: _decode(value, depth + 1, left) for key, value in pairs}
            return SEQUENCES[is_a]([_decode(item, depth + 1, left) for item in items])
        except TypeError as error:
            raise SerializeError("a key or member that cannot be one") from error
        except ValueError as error:
            raise SerializeError(str(error)) from error
    raise SerializeError("an unknown kind of value")


def _decode_array(coded: dict) -> object:
    name, shape, data = coded.get("dtype"), coded.get("shape"), coded.get("data")
    if type(name) is not str or name not in DTYPES or type(shape) is not list or len(shape) > 16:
        raise SerializeError("an array without a known dtype and shape")
    if not all(type(size) is int and 0 <= size < 2**31 for size in shape):
        raise SerializeError("an array of an impossible shape")
    if type(data) is not str or not data.isascii() or len(data) > 2 * BYTES:
        raise SerializeError("an array without data")
    dtype = np.dtype(name).newbyteorder("<")
    try:
        raw = base64.b64decode(data, validate=True)
        if math.prod(shape) * dtype.itemsize != len(raw):
            raise SerializeError("an array whose data does not fill its shape")
        array = np.frombuffer(raw, dtype).astype(np.dtype(name)).reshape(shape)
    except (binascii.Error, ValueError) as error:
        raise SerializeError(str(error)) from error
    if name == "bool" and raw.strip(b"\0\1"):
        raise SerializeError("truth values that are neither")
    if coded["is"] == "scalar":
        if shape:
            raise SerializeError("a scalar with a shape")
        return array[()]
    if coded["is"] == "array":
        return array
    import torch

    try:
        tensor = torch.from_numpy(array)
        if coded.get("bfloat16"):
            tensor = tensor.view(torch.bfloat16)
        return tensor.requires_grad_(bool(coded.get("grad")))
    except (RuntimeError, TypeError) as error:
        raise SerializeError(str(error)) from error
