"""The next worker, started and prepared before it is needed."""

from __future__ import annotations

from pathlib import Path

from autodrill.engines.process import Worker


class Standby:
    """Keeps one worker ready, with NumPy and a track's scenarios imported."""

    def __init__(self, scenarios: tuple[Path, ...]) -> None:
        self._scenarios = scenarios
        self._next: Worker | None = self._start()

    def take(self) -> Worker:
        """Give the worker that stands by, or start one where none does, or it has died."""
        worker, self._next = self._next, None
        return worker if worker is not None and worker.is_alive else self._start()

    def refill(self) -> None:
        """Start the next worker, unless one stands by."""
        if self._next is None:
            self._next = self._start()

    def close(self) -> None:
        """End the worker that stands by."""
        if self._next is not None:
            self._next.kill()
            self._next = None

    def _start(self) -> Worker:
        worker = Worker()
        worker.prepare(self._scenarios)
        return worker
