"""The learner's file as an engine: every request runs in a worker process."""

from __future__ import annotations

import math
import os
from collections import deque
from collections.abc import Callable, Generator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from autodrill.cases.outcome import Ended, Outcome, Raised
from autodrill.cases.run import Request
from autodrill.cases.wire import BadMessage
from autodrill.engines.ending import FORGED, MEMORY_FULL
from autodrill.engines.engine import Engine
from autodrill.engines.process import Gone, Worker
from autodrill.errors import AutodrillError
from autodrill.worker.messages import (
    Loaded,
    loaded_from_plain,
    outcome_from_plain,
    request_to_plain,
)

USUAL_LIMIT_S = 10.0
"""What an import may take, and most scenarios; AUTODRILL_LIMIT_S sets it, the others scale."""
_LATER_LIMITS_S = (3.0, 1.0)
"""After one hang, and after two, a request gets this long: the total stays bounded."""


@dataclass(frozen=True)
class EngineFile:
    """A text to grade: `name` is for tracebacks, `path` where it lies, `text` what is run."""

    path: Path
    text: str
    symbols: tuple[str, ...]
    scenarios: tuple[Path, ...]

    @property
    def name(self) -> str:
        """Return the file's name in ASCII, as `faulthandler` writes it."""
        return self.path.name.encode("ascii", "replace").decode()


class WorkerEngine(Engine):
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
        self._has_begun = False
        self._has_run = False
        self._hangs = 0
        self._scale = _scale()
        self._last_output = ""

    def begin(self) -> None:
        """Have the file imported in a worker; `load` waits for that."""
        worker = self._worker or self._start()
        self._worker, self._has_run, self._has_begun = worker, False, True
        worker.file = self.file.name
        worker.prepare(self.file.scenarios)
        worker.post(
            {
                "do": "load",
                "source": self.file.text,
                "file": self.file.name,
                "path": str(self.file.path),
                "symbols": list(self.file.symbols),
                "limit_s": self._limit_s(USUAL_LIMIT_S),
            }
        )

    def load(self) -> Loaded | Ended:
        """Import the file in a worker, if that has not been done."""
        if self._worker is not None and self._loaded is not None:
            return self._loaded
        if not self._has_begun:
            self.begin()
        self._has_begun = False
        assert self._worker is not None
        try:
            self._loaded = loaded_from_plain(self._worker.answer(self._limit_s(USUAL_LIMIT_S)))
        except Gone as gone:
            return self._lost(gone.ended)
        except BadMessage:
            return self._lost(_FORGED)
        memory = _out_of_memory(self._loaded.raised)
        return self._lost(memory) if memory is not None else self._loaded

    def run(self, request: Request, limit_s: float) -> Outcome:
        """Run one request; a worker that dies of it costs this request alone."""
        [outcome] = self.run_all([(request, limit_s)])
        return outcome

    def run_all(self, requests: Sequence[tuple[Request, float]]) -> Generator[Outcome]:
        """Run requests, the next while the outcome of the last is looked at.

        What the outcomes say was printed is what all have printed so far.
        """
        left = deque(requests)
        while left:
            for outcome in self._run_until_lost(list(left)):
                left.popleft()
                yield outcome

    def _run_until_lost(self, requests: Sequence[tuple[Request, float]]) -> Generator[Outcome]:
        """Run requests on one worker, up to and with the one that it dies of."""
        loaded, done = self.load(), 0
        if isinstance(loaded, Ended):
            yield Outcome(ended=loaded, output=self.output())
            return
        if loaded.raised is not None:  # it could be imported once, and now it can't
            yield Outcome(raised=loaded.raised, output=self.output())
            return
        assert self._worker is not None
        answers = self._worker.ask_all([self._message(*one) for one in requests])
        try:
            for answer in answers:
                outcome = outcome_from_plain(answer, self.output())
                memory = _out_of_memory(outcome.raised)
                if memory is not None:  # what it holds would be held against the next test
                    yield self._after(memory, requests[done])
                    return
                self._has_run = True
                done += 1
                yield outcome
        except Gone as gone:
            yield self._after(gone.ended, requests[done])
        except BadMessage:
            yield self._after(_FORGED, requests[done])
        except GeneratorExit:
            if self._worker is not None and not self._worker.settle():
                self._drop()
            raise

    def _message(self, request: Request, limit_s: float) -> dict[str, Any]:
        limit_s = self._limit_s(limit_s)
        return {"do": "run", "request": request_to_plain(request), "limit_s": limit_s}

    def _after(self, ended: Ended, lost: tuple[Request, float]) -> Outcome:
        """Give what came of a request that the worker has ended at, or is thought to have."""
        was_first = not self._has_run
        outcome = Outcome(ended=self._lost(ended), output=self._last_output)
        if ended.how == "hang" or was_first:
            return outcome
        return self.run(*lost)  # an earlier request may have been the cause

    def output(self) -> str:
        """Return what the file has printed in the last request."""
        return self._worker.output() if self._worker is not None else self._last_output

    def close(self) -> None:
        """End the worker."""
        self._drop()

    def _limit_s(self, usual_s: float) -> float:
        later = _LATER_LIMITS_S[: self._hangs]
        return min(usual_s, *later) * self._scale if later else usual_s * self._scale

    def _lost(self, ended: Ended) -> Ended:
        self._hangs += ended.how == "hang"
        self._drop()
        return ended

    def _drop(self) -> None:
        if self._worker is not None:
            self._worker.kill()
            self._last_output = self._worker.output()
        self._worker = None
        self._loaded = None
        self._has_begun = False


def _scale() -> float:
    """Read from AUTODRILL_LIMIT_S how much longer than usual everything may take."""
    given = os.environ.get("AUTODRILL_LIMIT_S")
    if not given:
        return 1.0
    try:
        seconds = float(given)
    except ValueError:
        seconds = math.nan
    if not 0 < seconds < math.inf:
        raise AutodrillError(
            f"AUTODRILL_LIMIT_S is `{given}`, which is no number of seconds",
            hint=f"it says after how long a test counts as hanging; {USUAL_LIMIT_S:g} is usual",
        )
    return seconds / USUAL_LIMIT_S


def _out_of_memory(raised: Raised | None) -> Ended | None:
    """Make an allocation that failed the same as a process that was ended for its memory."""
    if raised is None or "MemoryError" not in raised.classes:
        return None
    if raised.stage == "import" and not raised.frames:
        return None  # the parser raises one where an expression is nested too deeply
    line, function = None, None
    if raised.frames:  # there was memory left for a traceback
        line, function = raised.frames[-1].line, raised.frames[-1].function
    asked = f" ({raised.message})" if raised.message else ""
    return Ended("memory", MEMORY_FULL + asked, line, function)


_FORGED = Ended("crash", FORGED)
