"""Messages between the grader and a worker: a small JSON header and raw array buffers.

Nothing is unpickled. A message is two lengths of four bytes each (big-endian), that of the
header and that of all buffers; then the header; then the buffers of the arrays that it
describes, in order. What JSON has no form for is an object with one key that begins with `$`.
"""

from __future__ import annotations

import math
import struct
from collections.abc import Callable

# Names are bound here, before the learner's file can patch them in a worker.
from json import JSONDecoder, dumps
from typing import Any

from numpy import dtype as dtype_of
from numpy import frombuffer, ndarray
from numpy.typing import NDArray

from autodrill.cases.outcome import Odd

LARGEST_HEADER = 16 * 2**20
LARGEST_BUFFERS = 512 * 2**20

_LENGTHS = struct.Struct(">II")
_AS_IT_IS = frozenset({type(None), bool, int, float, str})


class BadMessage(Exception):
    """What came over the pipe is no message of ours."""


def pack(message: dict[str, Any]) -> bytes:
    """Turn plain data into bytes.

    Plain data is None, bool, int, float, str, list, tuple, dict, slice, Ellipsis, `Odd` and
    arrays of numbers, nested at will.
    """
    buffers: list[bytes] = []
    header = dumps(_encoded(message, buffers)).encode()
    return b"".join([_LENGTHS.pack(len(header), sum(map(len, buffers))), header, *buffers])


def _encoded(value: Any, buffers: list[bytes]) -> Any:
    kind = type(value)
    if kind in _AS_IT_IS:
        return value
    if kind is dict:
        return _encoded_dict(value, buffers)
    if isinstance(value, ndarray):
        buffers.append(value.tobytes())
        return {"$array": [value.dtype.str, *value.shape]}
    if isinstance(value, tuple):
        return {"$tuple": [_encoded(one, buffers) for one in value]}
    if isinstance(value, list):
        return [_encoded(one, buffers) for one in value]
    if isinstance(value, slice):
        return {"$slice": [_encoded(v, buffers) for v in (value.start, value.stop, value.step)]}
    if value is Ellipsis:
        return {"$ellipsis": True}
    if isinstance(value, Odd):
        return {"$odd": [value.type, value.text]}
    if isinstance(value, dict):
        return _encoded_dict(value, buffers)
    if isinstance(value, (bool, int, float, str)):
        return value
    raise TypeError(f"{kind.__name__} can't be sent")


def _encoded_dict(value: dict[Any, Any], buffers: list[bytes]) -> dict[str, Any]:
    for key in value:
        if type(key) is not str or key[:1] == "$":
            pairs = [[_encoded(k, buffers), _encoded(v, buffers)] for k, v in value.items()]
            return {"$dict": pairs}
    return {key: _encoded(one, buffers) for key, one in value.items()}


def read(receive: Callable[[int], bytes]) -> dict[str, Any]:
    """Read one message; `receive(n)` returns exactly n bytes or raises EOFError."""
    length, size = _LENGTHS.unpack(receive(_LENGTHS.size))
    if length > LARGEST_HEADER:
        raise BadMessage("the header is too long")
    if size > LARGEST_BUFFERS:
        raise BadMessage("the arrays are too large")
    header, decode = receive(length), _Decode(receive(size) if size else b"")
    try:
        message = JSONDecoder(object_hook=decode).decode(header.decode())
    except Exception as error:  # who forges one can make anything of it
        raise BadMessage("the message does not fit its header") from error
    if decode.used != size:
        raise BadMessage("there are more arrays than the header describes")
    if not isinstance(message, dict):
        raise BadMessage("it is no object")
    return message


class _Decode:
    """Gives back what an object of the header stands for; arrays take their turn."""

    def __init__(self, buffers: bytes) -> None:
        self._buffers = buffers
        self.used = 0

    def __call__(self, found: dict[str, Any]) -> Any:
        if len(found) != 1:
            return found
        ((kind, inner),) = found.items()
        if kind[:1] != "$":
            return found
        if kind == "$array":
            return self._array(*inner)
        if kind == "$tuple":
            return tuple(inner)
        if kind == "$dict":
            return dict(inner)
        if kind == "$slice":
            return slice(*inner)
        if kind == "$ellipsis":
            return Ellipsis
        if kind == "$odd":
            return Odd(str(inner[0]), str(inner[1]))
        raise BadMessage(f"unknown kind {kind!r}")

    def _array(self, name: str, *shape: int) -> NDArray[Any]:
        dtype, count = dtype_of(name), math.prod(shape)
        if dtype.kind not in "fiub" or any(type(n) is not int or n < 0 for n in shape):
            raise BadMessage("an array is none of numbers")
        start, self.used = self.used, self.used + count * dtype.itemsize
        return frombuffer(self._buffers, dtype, count, start).reshape(shape).copy()
