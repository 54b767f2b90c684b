"""The `grade` that every grader calls: note its probes, run them, judge what came of each."""

from __future__ import annotations

import math
from collections.abc import Callable, Container, Hashable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from autodrill.cases.judge import Mismatch, judge
from autodrill.cases.outcome import Outcome
from autodrill.cases.probe import Probe, probes
from autodrill.cases.run import Request
from autodrill.cases.scenario import Case, Scenario, Suite
from autodrill.engines.engine import Engine
from autodrill.errors import broken_track
from autodrill.grading.ahead import Ahead
from autodrill.results import Measure


@dataclass(frozen=True)
class Finding:
    """One failing probe: what was run, what came of it, and what is wrong with that."""

    probe: Probe
    request: Request
    outcome: Outcome
    mismatch: Mismatch


class NotGreen(AssertionError):
    """A grader's finding, on its way through pytest."""

    def __init__(self, finding: Finding) -> None:
        super().__init__(finding.mismatch.message)
        self.finding = finding


class Recorder:
    """What graders call as `grade`: it notes the probes of each line, and runs none of them.

    `only` leaves out the scenarios whose first symbol is not among these; `full` has those that
    can be run at their full size.
    """

    def __init__(
        self, suite: Suite, only: frozenset[str] = frozenset(), *, full: bool = False
    ) -> None:
        self.suite = suite
        self.only = only
        self.full = full
        self.probes: list[Probe] = []

    def __call__(self, scenario_id: str, shapes: str | None = None, **params: Any) -> None:
        """Note one scenario at the shapes as written and with all sizes equal."""
        scenario = self.suite[scenario_id]
        if self.only and self.only.isdisjoint(scenario.symbols[:1]):
            return
        if self.full and "full" in scenario.options:
            params = {**params, "full": True}
        self.probes += probes(scenario, shapes, params)


@dataclass
class Known:
    """What the reference made of a probe; it is kept from run to run."""

    request: Request
    expected: Outcome | None = None


@dataclass
class Grade:
    """Grade scenarios on one engine; a grader may also call it with a scenario's id and shapes.

    Attributes
    ----------
    suite, engine, reference
        The scenarios, the engine that is graded and the one that is right.
    torch : Engine or None
        A third engine that cases are compared with as well.
    only : frozenset of str
        Symbols to grade, each by the scenarios that it is the first symbol of; empty for all.
    missing : set of str
        Symbols that the graded file does not have.
    blank : callable
        Gives the symbols whose text is still a stub's that raises nothing.
    ready : callable
        Called before the first test; what it raises ends the run.
    full : bool
        Run the scenarios that take `full` at their full size.
    strict : bool
        Also judge what was changed in place, shared or read-only.
    known : dict
        The request of each probe and what the reference made of it, by the probe's key.
    outcomes : dict
        What came of each probe on the graded engine, by the probe's key.
    measured : list of Measure
        What was counted since it was last emptied.
    """

    suite: Suite
    engine: Engine
    reference: Engine
    torch: Engine | None = None
    only: frozenset[str] = frozenset()
    missing: set[str] = field(default_factory=set)
    blank: Callable[[], Container[str]] = frozenset
    ready: Callable[[], None] = lambda: None
    full: bool = False
    strict: bool = False
    known: dict[Hashable, Known] = field(default_factory=dict)
    outcomes: dict[Hashable, Outcome] = field(default_factory=dict)
    measured: list[Measure] = field(default_factory=list)

    def __post_init__(self) -> None:
        self._ahead = Ahead(self.engine)

    def __call__(self, scenario_id: str, shapes: str | None = None, **params: Any) -> None:
        """Grade one line of a grader at once, so that a debugger stops in it."""
        __tracebackhide__ = True
        recorder = self.recorder()
        recorder(scenario_id, shapes, **params)
        self.run(recorder.probes)

    def recorder(self) -> Recorder:
        """Return what notes the probes of a grader, for `run`."""
        return Recorder(self.suite, self.only, full=self.full)

    def run(self, probes: Sequence[Probe]) -> None:
        """Grade probes in order, up to the first at which something is wrong.

        Raises
        ------
        NotGreen
            With what is wrong.
        """
        __tracebackhide__ = True
        if probes and not self._ahead.expects(probes[0]):
            self.expect(probes)
        for probe in probes:
            known = self._known(probe)
            outcome = self.outcomes[probe.key] = self._ahead.outcome(probe, known.request)
            self.measured += _measures(probe.scenario, outcome)
            mismatch = self._judge(probe, known, outcome)
            if mismatch is not None:
                self._ahead.stop()
                raise NotGreen(self._finding(probe, known, outcome, mismatch))

    def expect(self, probes: Iterable[Probe]) -> None:
        """Say what `run` will be given, in order; it may leave out some."""
        self._ahead.expect((probe, self._known(probe).request) for probe in probes)

    def _finding(self, probe: Probe, known: Known, outcome: Outcome, mismatch: Mismatch) -> Finding:
        if outcome.output and outcome.ended is None and not self._ahead.is_first:
            # Others have run on the same process, and may have printed: ask this one alone.
            again = self.engine.run(known.request, probe.scenario.limit_s)
            outcome = replace(outcome, output=again.output)
        return Finding(probe, known.request, outcome, mismatch)

    def _judge(self, probe: Probe, known: Known, outcome: Outcome) -> Mismatch | None:
        scenario = probe.scenario
        mismatch = judge(scenario, outcome, self._expected(probe, known), strict=self.strict)
        if mismatch is None and self.torch is not None and isinstance(scenario, Case):
            theirs = self.torch.run(known.request, scenario.limit_s)
            return judge(scenario, outcome, theirs)
        return mismatch

    def attempt(self, scenario: Scenario, request: Request) -> tuple[Mismatch | None, Outcome]:
        """Run and judge a request; the mismatch is None too where the reference can't run it."""
        expected = None
        if scenario.judge is None:
            expected = self.reference.run(request, scenario.limit_s)
            if judge(scenario, expected, expected) is not None:
                return None, expected
        outcome = self.engine.run(request, scenario.limit_s)
        return judge(scenario, outcome, expected, strict=self.strict), outcome

    def _known(self, probe: Probe) -> Known:
        if probe.key not in self.known:
            self.known[probe.key] = Known(probe.request())
        return self.known[probe.key]

    def _expected(self, probe: Probe, known: Known) -> Outcome | None:
        scenario = probe.scenario
        if scenario.judge is None and known.expected is None:
            outcome = self.reference.run(known.request, scenario.limit_s)
            wrong = judge(scenario, outcome, outcome)
            if wrong is not None:
                raise broken_track(f"the reference fails `{scenario.id}`: {wrong.message}")
            known.expected = outcome
        return known.expected


def _measures(scenario: Scenario, outcome: Outcome) -> Iterator[Measure]:
    """Yield what a scenario has counted, each with its share of the first."""
    first: float | None = None
    for name, label in scenario.measures.items():
        size = outcome.measured.get(name)
        if size is None or not math.isfinite(size):
            continue
        yield Measure(label, size, size / first if first else None)
        first = size if first is None else first
