"""The `grade` that every grader calls: run a scenario, judge it, explain what is wrong."""

from __future__ import annotations

import math
from collections.abc import Hashable, Iterator
from dataclasses import dataclass, field
from typing import Any

from autodrill.cases.judge import Mismatch, judge
from autodrill.cases.outcome import Outcome
from autodrill.cases.probe import Probe, probes
from autodrill.cases.run import Request
from autodrill.cases.scenario import Case, Scenario, Suite
from autodrill.engines.engine import Engine
from autodrill.errors import broken_track
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


@dataclass
class Grade:
    """Grade scenarios on one engine; a grader calls it with a scenario's id and shapes.

    Attributes
    ----------
    suite, engine, reference
        The scenarios, the engine that is graded and the one that is right.
    torch : Engine or None
        A third engine that cases are compared with as well.
    only : frozenset of str
        Symbols to grade, each by the scenarios that it is the first symbol of; empty for all.
    missing : frozenset of str
        Symbols that the graded file does not have.
    full : bool
        Run the scenarios that take `full` at their full size.
    strict : bool
        Also judge what was changed in place, shared or read-only.
    expected : dict
        What the reference made of each probe, by the probe's key; kept from run to run.
    ran : int
        How many probes have run since it was last set to zero.
    measured : list of Measure
        What was counted since it was last emptied.
    """

    suite: Suite
    engine: Engine
    reference: Engine
    torch: Engine | None = None
    only: frozenset[str] = frozenset()
    missing: frozenset[str] = frozenset()
    full: bool = False
    strict: bool = False
    expected: dict[Hashable, Outcome] = field(default_factory=dict)
    ran: int = 0
    measured: list[Measure] = field(default_factory=list)

    def __call__(self, scenario_id: str, shapes: str | None = None, **params: Any) -> None:
        """Grade one scenario at the shapes as written and with all sizes equal.

        Raises
        ------
        NotGreen
            With the first thing that is wrong.
        """
        __tracebackhide__ = True
        scenario = self.suite[scenario_id]
        if self.only and self.only.isdisjoint(scenario.symbols[:1]):
            return
        if self.full and "full" in scenario.options:
            params = {**params, "full": True}
        for probe in probes(scenario, shapes, params):
            self.ran += 1
            self._grade(probe)

    def _grade(self, probe: Probe) -> None:
        __tracebackhide__ = True
        scenario, request = probe.scenario, probe.request()
        expected = self._expected(probe, request)
        outcome = self.engine.run(request, scenario.limit_s)
        self.measured += _measures(scenario, outcome)
        mismatch = judge(scenario, outcome, expected, strict=self.strict)
        if mismatch is None and self.torch is not None and isinstance(scenario, Case):
            theirs = self.torch.run(request, scenario.limit_s)
            mismatch = judge(scenario, outcome, theirs)
        if mismatch is not None:
            raise NotGreen(Finding(probe, request, outcome, mismatch))

    def attempt(self, scenario: Scenario, request: Request) -> tuple[Mismatch | None, Outcome]:
        """Run and judge a request; the mismatch is None too where the reference can't run it."""
        expected = None
        if scenario.judge is None:
            expected = self.reference.run(request, scenario.limit_s)
            if judge(scenario, expected, expected) is not None:
                return None, expected
        outcome = self.engine.run(request, scenario.limit_s)
        return judge(scenario, outcome, expected, strict=self.strict), outcome

    def _expected(self, probe: Probe, request: Request) -> Outcome | None:
        scenario = probe.scenario
        if scenario.judge is not None:
            return None
        if probe.key not in self.expected:
            outcome = self.reference.run(request, scenario.limit_s)
            wrong = judge(scenario, outcome, outcome)
            if wrong is not None:
                raise broken_track(f"the reference fails `{scenario.id}`: {wrong.message}")
            self.expected[probe.key] = outcome
        return self.expected[probe.key]


def _measures(scenario: Scenario, outcome: Outcome) -> Iterator[Measure]:
    """Yield what a scenario has counted, each with its share of the first."""
    first: float | None = None
    for name, label in scenario.measures.items():
        size = outcome.measured.get(name)
        if size is None or not math.isfinite(size):
            continue
        yield Measure(label, size, size / first if first else None)
        first = size if first is None else first


class Recorder:
    """Stands in for `grade` to learn which probes a grader makes, and runs none of them."""

    def __init__(self, suite: Suite) -> None:
        self.suite = suite
        self.probes: list[Probe] = []

    def __call__(self, scenario_id: str, shapes: str | None = None, **params: Any) -> None:
        """Note the probes of one line of a grader."""
        self.probes += probes(self.suite[scenario_id], shapes, params)
