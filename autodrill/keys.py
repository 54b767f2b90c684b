"""Single keys from the terminal, without Enter, and lines, with the time going on meanwhile."""

from __future__ import annotations

import contextlib
import os
import queue
import select
import signal
import sys
import threading
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

_LOOK_S = 0.1


@dataclass(frozen=True)
class Key:
    """A key that was pressed, in lower case."""

    name: str


def can_read_keys() -> bool:
    """Tell whether stdin is a terminal of a kind that gives single keys."""
    try:
        import termios  # noqa: F401  # Unix only

        return os.isatty(sys.stdin.fileno())
    except (ImportError, OSError, ValueError):
        return False


@contextlib.contextmanager
def reading(events: queue.SimpleQueue[Any]) -> Iterator[None]:
    """Put a `Key` on the queue for each key; the terminal is as it was afterwards.

    Ctrl-C and Ctrl-Z do what they always do; the shell gives back a terminal that is not ours.
    """
    import termios
    import tty

    descriptor = sys.stdin.fileno()
    before = termios.tcgetattr(descriptor)
    stop = threading.Event()
    thread = threading.Thread(
        target=_read, args=(descriptor, events, stop), name="autodrill-keys", daemon=True
    )

    def take(*_: object) -> None:
        tty.setcbreak(descriptor, termios.TCSADRAIN)

    take()
    continued = signal.signal(signal.SIGCONT, take)
    thread.start()
    try:
        yield
    finally:
        signal.signal(signal.SIGCONT, continued)
        stop.set()
        thread.join(timeout=2)
        with contextlib.suppress(termios.error):  # the terminal may be gone
            termios.tcsetattr(descriptor, termios.TCSADRAIN, before)


def read_line(on_wait: Callable[[], None]) -> str | None:
    """Return the next line of stdin, None at its end; `on_wait` is called while none is there.

    The terminal edits the line itself. What is no terminal is not waited for in this way: it
    may have given several lines at once.
    """
    with contextlib.suppress(AttributeError, OSError, ValueError):  # it may have been read from
        sys.stdin.reconfigure(errors="backslashreplace")  # type: ignore[union-attr]  # suppressed
    if can_read_keys():
        while not select.select([sys.stdin], [], [], _LOOK_S)[0]:
            on_wait()
    try:
        text = sys.stdin.readline()
    except (OSError, ValueError):
        return None
    on_wait()
    return text.rstrip("\r\n") if text else None


def _read(descriptor: int, events: queue.SimpleQueue[Any], stop: threading.Event) -> None:
    while not stop.is_set():
        try:
            if not select.select([descriptor], [], [], _LOOK_S)[0]:
                continue
            data = os.read(descriptor, 64)
        except OSError:
            return
        if not data:
            return
        for name in _names(data):
            events.put(Key(name))


def _names(data: bytes) -> list[str]:
    """Return the keys in what was read, Enter as a line end; an escape sequence is none."""
    if data.startswith(b"\x1b"):
        return []
    text = data.decode("ascii", "ignore").replace("\r", "\n")
    return [one.lower() for one in text if one.isprintable() or one == "\n"]
