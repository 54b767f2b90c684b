"""Follow one file: say what is in it each time it has settled on something new.

Events of the system only wake the loop; what counts is what the file looks like then. So a
rename, a lock file beside it or a burst of saves needs no rule of its own, and where no
events arrive (some network and container mounts) the file is looked at all the same.
"""

from __future__ import annotations

import os
import queue
import threading
import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

_LOOK_S = 0.25
"""The file is looked at this often where no event arrives."""

_STEP_MS = 2
_STEP_AT_REST_MS = 50
_AT_REST_S = 60.0
"""Waiting for events is done in steps; so long after the last change they become longer."""

_SETTLE_S = 0.004
_SETTLED_BY_S = 0.25
"""A file that changes for longer than this is taken as it is; more is to come."""

_DATED_S = 1.0
"""A date that lies further back than this before the change was noticed is not of this save."""

_EMPTY_FOR_S = 0.12
"""Editors that truncate before they write leave a file empty for a moment."""

_NOTHING = object()


@dataclass(frozen=True)
class Saved:
    """New content of the file, None where the file is gone.

    Both times are monotonic: when it was `noticed`, and when it was `saved`, which the file
    system knows better.
    """

    data: bytes | None
    noticed: float
    saved: float


class Follower:
    """Follows a file in a thread and puts a `Saved` on a queue for each new content.

    Parameters
    ----------
    path : Path
        The file; its first content is put at once.
    events : queue
        Where to put what is found.
    poll : bool
        Look at the file only, and ask the system for no events.
    """

    def __init__(self, path: Path, events: queue.SimpleQueue[Any], *, poll: bool = False) -> None:
        self._path = path
        self._events = events
        self._last: object = _NOTHING
        self._stop = threading.Event()
        self._wake = _Wake(path, self._stop, poll=poll)
        self._thread = threading.Thread(target=self._follow, name="autodrill-watch", daemon=True)
        self._thread.start()

    def forget(self) -> None:
        """Put what is in the file from now on, also if it is what it was last."""
        self._last = _NOTHING

    def close(self) -> None:
        """Stop following."""
        self._stop.set()
        self._thread.join(timeout=2)

    def _follow(self) -> None:
        seen: tuple[int, ...] | None = ()
        while not self._stop.is_set():
            look = _look(self._path)
            if look != seen:
                noticed = self._wake.changed = time.monotonic()
                data, seen = _settled(self._path)
                if data != self._last:
                    self._last = data
                    self._events.put(Saved(data, noticed, _saved_at(seen, noticed)))
            self._wake.wait()


class _Wake:
    """Waits for an event in the file's folder, or until it is time to look again."""

    def __init__(self, path: Path, stop: threading.Event, *, poll: bool) -> None:
        self._path = path
        self._stop = stop
        self._poll = poll
        self._watched: tuple[Path, int] | None = None
        self._events: Iterator[object] = iter(())
        self.changed = time.monotonic()

    def wait(self) -> None:
        folder = Path(os.path.realpath(self._path)).parent
        if self._poll or not folder.is_dir():
            self._watched = None
            self._stop.wait(_LOOK_S)
            return
        is_at_rest = time.monotonic() - self.changed > _AT_REST_S
        wanted = folder, _STEP_AT_REST_MS if is_at_rest else _STEP_MS
        if wanted != self._watched:
            self._watched, self._events = wanted, self._open(*wanted)
        try:
            if next(self._events, None) is None:
                self._stop.wait(_LOOK_S)
        except OSError:  # the system has no more watches to give: looking has to do
            self._poll = True

    def _open(self, folder: Path, step_ms: int) -> Iterator[object]:
        import watchfiles  # here: only the loops need it

        return watchfiles.watch(
            folder,
            watch_filter=None,
            debounce=10 * step_ms,
            step=step_ms,
            rust_timeout=int(1000 * _LOOK_S),
            yield_on_timeout=True,
            stop_event=self._stop,
            raise_interrupt=False,
            recursive=False,
        )


def _look(path: Path) -> tuple[int, ...] | None:
    """Return what tells one state of a file from another, None where it is not there."""
    try:
        found = path.stat()
    except OSError:
        return None
    return found.st_mtime_ns, found.st_size, found.st_ino


def _saved_at(look: tuple[int, ...] | None, noticed: float) -> float:
    """Return when a file was last written, or when that was noticed if its date can't be so."""
    if look is None:
        return noticed
    now, wall_now = _both_clocks()
    saved = now - (wall_now - look[0] / 1e9)
    return saved if noticed - _DATED_S < saved < now else noticed


def _both_clocks() -> tuple[float, float]:
    """Read the monotonic and the wall clock at one moment, though others may want the processor."""
    readings = []
    for _ in range(3):
        before, wall, after = time.monotonic(), time.time(), time.monotonic()
        readings.append((after - before, before, wall))
    _, now, wall_now = min(readings)
    return now, wall_now


def _read(path: Path) -> bytes | None:
    try:
        return path.read_bytes()
    except OSError:
        return None


def _settled(path: Path) -> tuple[bytes | None, tuple[int, ...] | None]:
    """Read a file once it no longer changes, and return how it looked then.

    A file that is empty or gone may be between two steps of an editor's save, so that is
    believed a little later.
    """
    started = time.monotonic()
    look, data = _look(path), _read(path)
    while True:
        time.sleep(_SETTLE_S)
        waited = time.monotonic() - started
        again = _look(path)
        if again == look and (data or waited > _EMPTY_FOR_S):
            return data, look
        if waited > _SETTLED_BY_S:
            return _read(path), again
        look, data = again, _read(path)
