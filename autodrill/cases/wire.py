"""Messages between the grader and a worker: a small JSON header and raw array buffers.

Nothing is unpickled. A message is four bytes that give the header's length (big-endian),
the header, and the buffers of the arrays that it names, in order.
"""

from __future__ import annotations

import json
import math
import struct
from collections.abc import Callable
from typing import Any

# Names are bound here, before the learner's file can patch NumPy in a worker.
from numpy import dtype as dtype_of
from numpy import frombuffer, ndarray
from numpy.typing import NDArray

from autodrill.cases.outcome import Odd

LARGEST_HEADER = 16 * 2**20
LARGEST_BUFFERS = 512 * 2**20

_LENGTH = struct.Struct(">I")


class BadMessage(Exception):
    """What came over the pipe is no message of ours."""


def pack(message: Any) -> bytes:
    """Turn plain data into bytes.

    Plain data is None, bool, int, float, str, list, tuple, dict, slice, Ellipsis, `Odd` and
    arrays of numbers, nested at will.
    """
    buffers: list[bytes] = []
    sizes: list[int] = []

    def encode(value: Any) -> Any:
        if isinstance(value, ndarray):
            buffers.append(value.tobytes())
            sizes.append(value.nbytes)
            return {"$array": [value.dtype.str, list(value.shape)]}
        if isinstance(value, dict):
            return {"$dict": [[encode(key), encode(one)] for key, one in value.items()]}
        if isinstance(value, tuple):
            return {"$tuple": [encode(one) for one in value]}
        if isinstance(value, list):
            return [encode(one) for one in value]
        if isinstance(value, slice):
            return {"$slice": [encode(v) for v in (value.start, value.stop, value.step)]}
        if value is Ellipsis:
            return {"$ellipsis": True}
        if isinstance(value, Odd):
            return {"$odd": [value.type, value.text]}
        if value is None or isinstance(value, (bool, int, float, str)):
            return value
        raise TypeError(f"{type(value).__name__} can't be sent")

    tree = encode(message)
    header = json.dumps({"tree": tree, "sizes": sizes}).encode()
    return b"".join([_LENGTH.pack(len(header)), header, *buffers])


def read(receive: Callable[[int], bytes]) -> Any:
    """Read one message; `receive(n)` returns exactly n bytes or raises EOFError."""
    (length,) = _LENGTH.unpack(receive(_LENGTH.size))
    if length > LARGEST_HEADER:
        raise BadMessage("the header is too long")
    try:
        header = json.loads(receive(length))
        tree, sizes = header["tree"], [int(size) for size in header["sizes"]]
    except EOFError:
        raise
    except Exception as error:  # who forges one can make anything of it
        raise BadMessage("the header can't be read") from error
    if any(size < 0 for size in sizes) or sum(sizes) > LARGEST_BUFFERS:
        raise BadMessage("the arrays are too large")
    buffers = iter([receive(size) for size in sizes])
    try:
        return _decode(tree, lambda: next(buffers))
    except Exception as error:
        raise BadMessage("the message does not fit its header") from error


def _decode(value: Any, buffer: Callable[[], bytes]) -> Any:
    if isinstance(value, list):
        return [_decode(one, buffer) for one in value]
    if not isinstance(value, dict):
        return value
    ((kind, inner),) = value.items()
    if kind == "$array":
        return _array(inner, buffer())
    if kind == "$dict":
        return {_decode(key, buffer): _decode(one, buffer) for key, one in inner}
    if kind == "$tuple":
        return tuple(_decode(one, buffer) for one in inner)
    if kind == "$slice":
        return slice(*(_decode(one, buffer) for one in inner))
    if kind == "$ellipsis":
        return Ellipsis
    if kind == "$odd":
        return Odd(str(inner[0]), str(inner[1]))
    raise BadMessage(f"unknown kind {kind!r}")


def _array(described: Any, buffer: bytes) -> NDArray[Any]:
    dtype, shape = dtype_of(described[0]), tuple(int(n) for n in described[1])
    if dtype.kind not in "fiub" or math.prod(shape) * dtype.itemsize != len(buffer):
        raise BadMessage("an array does not fit its buffer")
    return frombuffer(buffer, dtype).reshape(shape).copy()
