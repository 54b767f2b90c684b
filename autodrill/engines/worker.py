"""The learner's file as an engine: every request runs in a worker process."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from autodrill.cases.outcome import Ended, Outcome
from autodrill.cases.run import Request
from autodrill.cases.wire import BadMessage
from autodrill.engines.process import Gone, Worker
from autodrill.worker.messages import (
    Loaded,
    loaded_from_plain,
    outcome_from_plain,
    request_to_plain,
)

LOAD_LIMIT_S = 10.0
_LATER_LIMITS_S = (3.0, 1.0)
"""After one hang, and after two, a request gets this long: the total stays bounded."""


@dataclass(frozen=True)
class EngineFile:
    """A text to grade: `name` is for tracebacks, `path` where it lies, `text` what is run."""

    path: Path
    text: str
    symbols: tuple[str, ...]
    scenarios: Path

    @property
    def name(self) -> str:
        """Return the file's name in ASCII, as `faulthandler` writes it."""
        return self.path.name.encode("ascii", "replace").decode()


class WorkerEngine:
    """Run requests on the learner's file, each worker until it dies."""

    def __init__(
        self,
        file: EngineFile,
        worker: Worker | None = None,
        start: Callable[[], Worker] = Worker,
    ) -> None:
        self.file = file
        self._worker = worker
        self._start = start
        self._loaded: Loaded | None = None
        self._hangs = 0

    def load(self) -> Loaded | Ended:
        """Import the file in a worker, if that has not been done."""
        if self._worker is not None and self._loaded is not None:
            return self._loaded
        worker = self._worker or self._start()
        self._worker = worker
        worker.file = self.file.name
        worker.tell({"do": "prepare", "scenarios": str(self.file.scenarios)})
        message = {
            "do": "load",
            "source": self.file.text,
            "file": self.file.name,
            "path": str(self.file.path),
            "symbols": list(self.file.symbols),
            "limit_s": LOAD_LIMIT_S,
        }
        try:
            self._loaded = loaded_from_plain(worker.ask(message))
        except Gone as gone:
            self._drop()
            return gone.ended
        except BadMessage:
            self._drop()
            return _FORGED
        return self._loaded

    def run(self, request: Request, limit_s: float) -> Outcome:
        """Run one request; a worker that dies of it costs this request alone."""
        loaded = self.load()
        if isinstance(loaded, Ended):
            return Outcome(ended=loaded)
        assert self._worker is not None
        limit_s = min(limit_s, *_LATER_LIMITS_S[: self._hangs]) if self._hangs else limit_s
        message = {"do": "run", "request": request_to_plain(request), "limit_s": limit_s}
        worker = self._worker
        try:
            answer = worker.ask(message)
            outcome = outcome_from_plain(answer, worker.output() if worker.printed() else "")
        except Gone as gone:
            self._hangs += gone.ended.how == "hang"
            output = worker.output()
            self._drop()
            return Outcome(ended=gone.ended, output=output)
        except BadMessage:
            self._drop()
            return Outcome(ended=_FORGED)
        if outcome.raised is not None and "MemoryError" in outcome.raised.classes:
            self._drop()  # what it has allocated would be held against the next test
        return outcome

    def output(self) -> str:
        """Return what the file has printed in the last request."""
        return self._worker.output() if self._worker is not None else ""

    def close(self) -> None:
        """End the worker."""
        self._drop()

    def _drop(self) -> None:
        if self._worker is not None:
            self._worker.kill()
        self._worker = None
        self._loaded = None


_FORGED = Ended("crash", "your file wrote to the channel between it and the grader")
