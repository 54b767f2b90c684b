"""Run what will be asked for before it is asked, so that a worker never waits for the grader."""

from __future__ import annotations

from collections import deque
from collections.abc import Generator, Hashable, Iterable
from itertools import takewhile

from autodrill.cases.outcome import Outcome
from autodrill.cases.probe import Probe
from autodrill.cases.run import Request
from autodrill.engines.engine import Engine


class Ahead:
    """Gives the outcomes of probes on an engine, of which it knows what comes next.

    Long chains and training runs wait until they are asked for: an earlier failure may be why
    nobody does.
    """

    def __init__(self, engine: Engine) -> None:
        self._engine = engine
        self._expected: deque[tuple[Probe, Request]] = deque()
        self._outcomes: Generator[Outcome] | None = None
        self._coming: deque[Hashable] = deque()
        self.is_first = True
        """Whether nothing has run before the last outcome, so that all that is printed is its."""

    def expect(self, asked: Iterable[tuple[Probe, Request]]) -> None:
        """Say what will be asked for, in order; some of it may be left out."""
        self._expected = deque(asked)

    def expects(self, probe: Probe) -> bool:
        """Tell whether a probe is to come."""
        return any(one.key == probe.key for one, _ in self._expected)

    def outcome(self, probe: Probe, request: Request) -> Outcome:
        """Return what comes of a probe, and go on to the next ones meanwhile."""
        __tracebackhide__ = True
        self.is_first = not self._coming or self._coming[0] != probe.key
        if self.is_first:
            self.stop()
            self._start(probe, request)
        assert self._outcomes is not None
        self._coming.popleft()
        return next(self._outcomes)

    def stop(self) -> None:
        """Leave the engine to others; what has run for nothing is forgotten."""
        if self._outcomes is not None:
            self._outcomes.close()
        self._outcomes = None
        self._coming.clear()

    def _start(self, probe: Probe, request: Request) -> None:
        asked = [(probe, request)]
        if self.expects(probe):
            while self._expected.popleft()[0].key != probe.key:
                pass
            asked += takewhile(lambda one: one[0].is_cheap, self._expected)
        self._coming.extend(one.key for one, _ in asked)
        self._outcomes = self._engine.run_all([(req, one.scenario.limit_s) for one, req in asked])
