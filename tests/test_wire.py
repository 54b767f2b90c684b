"""Messages between the grader and a worker: what is sent arrives, and what is forged is told."""

import io
import struct

import numpy as np
import pytest

from autodrill.cases import wire
from autodrill.cases.outcome import Odd


def message(header, buffers=b""):
    return struct.pack(">II", len(header), len(buffers)) + header + buffers


FORGED = {
    "a header that is too long": (2**31).to_bytes(4, "big") + bytes(4),
    "buffers that are too long": bytes(4) + (2**31).to_bytes(4, "big"),
    "no JSON": message(b"hello"),
    "no text": message(b"\xff"),
    "no object": message(b"null"),
    "deep lists": message(b"[" * 9000),
    "a buffer that no array has": message(b"{}", bytes(8)),
    "no buffer": message(b'{"a": {"$array": ["<f8", 1]}}'),
    "a negative size": message(b'{"a": {"$array": ["<f8", -1]}}', bytes(8)),
    "a size beyond the largest": message(b'{"a": {"$array": ["<f8", 1e300]}}', bytes(8)),
    "an endless shape": message(b'{"a": {"$array": ["<f8", 1e999]}}', bytes(8)),
    "a shape of text": message(b'{"a": {"$array": ["<f8", "1"]}}', bytes(8)),
    "objects": message(b'{"a": {"$array": ["O", 1]}}', bytes(8)),
    "an empty pair": message(b'{"a": {"$odd": []}}'),
    "a list as a key": message(b'{"a": {"$dict": [[[], 1]]}}'),
    "an unknown kind": message(b'{"a": {"$eval": "1"}}'),
}


@pytest.mark.parametrize("kind", FORGED)
def test_a_forged_message_is_a_bad_message_and_no_other_error(kind):
    with pytest.raises(wire.BadMessage):
        wire.read(io.BytesIO(FORGED[kind]).read)


PLAIN = [
    {"a": None, "b": True, "c": 1, "d": 1.5, "e": "text", "f": [1, [2]], "g": {"h": {}}},
    {"a": (1, (2, "x"), [None]), "b": slice(None, 2), "c": Ellipsis, "d": Odd("set", "{1}")},
    {"a": {1: 2, (1, 2): slice(None)}, "b": {"$tuple": [1]}, "c": {"$x": 1, "y": 2}},
]


@pytest.mark.parametrize("message", PLAIN)
def test_plain_data_comes_over_the_wire_as_it_was(message):
    assert wire.read(io.BytesIO(wire.pack(message)).read) == message


@pytest.mark.parametrize("shape", [(), (1,), (0,), (2, 3), (3, 0, 2)])
@pytest.mark.parametrize("kind", ["<f8", "<f4", "<i8", "|b1"])
def test_arrays_come_over_the_wire_as_they_were(kind, shape):
    one = np.arange(np.prod(shape)).reshape(shape).astype(kind)
    read = wire.read(io.BytesIO(wire.pack({"a": one, "b": [one.T, 1.5]})).read)
    for sent, got in ((one, read["a"]), (one.T, read["b"][0])):
        assert (got.dtype, got.shape, got.tobytes()) == (sent.dtype, sent.shape, sent.tobytes())
        assert got.flags.writeable
