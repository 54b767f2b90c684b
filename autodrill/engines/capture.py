"""What a process has printed: a beginning and an end of it, at most so many bytes."""

from __future__ import annotations

import threading
from collections import deque
from typing import Any

_HEAD_BYTES = 16 * 2**10
_TAIL_BYTES = 16 * 2**10
_WAIT_S = 0.5


class Capture:
    """The first and the last bytes of a stream, and how many there were in all."""

    def __init__(self) -> None:
        self._lock = threading.Condition()
        self._seen = 0
        self.clear()

    def clear(self) -> None:
        """Forget what was kept."""
        with self._lock:
            self.total = 0
            self._head = bytearray()
            self._tail: deque[bytes] = deque()
            self._tail_size = 0

    def add(self, data: bytes) -> None:
        """Take what has been read from the stream."""
        with self._lock:
            self._seen += len(data)
            self._lock.notify()
            self.total += len(data)
            room = _HEAD_BYTES - len(self._head)
            self._head += data[:room]
            if rest := data[room:]:
                self._tail.append(rest)
                self._tail_size += len(rest)
                while self._tail_size - len(self._tail[0]) > _TAIL_BYTES:
                    self._tail_size -= len(self._tail.popleft())

    def wait_for(self, count: Any) -> None:
        """Wait until `count` bytes have come in all, for as long as is decent."""
        if isinstance(count, int) and count > self._seen:
            with self._lock:
                self._lock.wait_for(lambda: self._seen >= count, timeout=_WAIT_S)

    def text(self) -> str:
        """Return what was kept, with a line that says how much was not."""
        with self._lock:
            tail = b"".join(self._tail)[-_TAIL_BYTES:]
            left_out = self.total - len(self._head) - len(tail)
            gap = f"\n… {left_out:,} bytes left out …\n".encode() if left_out else b""
            return (bytes(self._head) + gap + tail).decode("utf-8", "replace")
