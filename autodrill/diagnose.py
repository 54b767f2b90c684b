"""Name the bug: find the variant of the reference that does what the learner's engine does.

A bug of the catalogue is named only where its variant gives the learner's outcome on every
probe: the one that failed, all of the same symbol, and all of the symbol that the bug is
in. Where several variants fit, probes on which they differ are added until one is left; what
can't be told apart is listed as such.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass

from autodrill.bugs import Bug
from autodrill.cases.judge import judge
from autodrill.cases.outcome import Outcome
from autodrill.cases.probe import Probe
from autodrill.cases.run import Request
from autodrill.cases.scenario import Scenario
from autodrill.engines.engine import Engine, LocalEngine
from autodrill.results import Diagnosis


@dataclass(frozen=True)
class Evidence:
    """One request, and what the learner's engine made of it."""

    scenario: Scenario
    request: Request
    outcome: Outcome


class Learner:
    """The learner's engine with a memory: each probe is run once."""

    def __init__(self, engine: Engine) -> None:
        self._engine = engine
        self._seen: dict[int, Evidence] = {}

    def evidence(self, probe: Probe) -> Evidence:
        """Run a probe, or recall what came of it."""
        key = id(probe)
        if key not in self._seen:
            request = probe.request()
            outcome = self._engine.run(request, probe.scenario.limit_s)
            self._seen[key] = Evidence(probe.scenario, request, outcome)
        return self._seen[key]


def name_bug(
    failing: Sequence[Evidence],
    learner: Learner,
    bugs: Iterable[Bug],
    variant: Callable[[Bug], LocalEngine],
    probes: Sequence[Probe],
) -> Diagnosis | None:
    """Name the bug of the catalogue that explains a failure, None if none does.

    Parameters
    ----------
    failing : sequence of Evidence
        What failed, the cheapest to run first.
    learner : Learner
    bugs, variant
        The catalogue, and how a bug becomes an engine.
    probes : sequence of Probe
        All probes of the track.
    """
    if any(one.outcome.ended is not None for one in failing):
        return None
    scenario = failing[0].scenario
    cheap, dear = _by_cost(failing)
    fitting = [bug for bug in bugs if _fits(variant(bug), cheap)]
    own = [probe for probe in probes if _concerns(probe, scenario)]
    fitting = _sieve(fitting, own, learner, variant)
    fitting = [bug for bug in fitting if _fits(variant(bug), dear)]
    fitting = [bug for bug in fitting if _fits_its_own_symbol(bug, probes, learner, variant)]
    fitting = _separate(fitting, probes, learner, variant)
    if not fitting:
        return None
    first = fitting[0]
    also = dict.fromkeys([*(one.id for one in fitting[1:]), *first.also])
    return Diagnosis(first.id, first.title, first.why, first.hint, "exact", tuple(also))


def same(scenario: Scenario, one: Outcome, other: Outcome) -> bool:
    """Tell whether two outcomes agree: the same values, or the same kind of exception."""
    if one.ended is not None or other.ended is not None:
        return False
    if one.raised is not None or other.raised is not None:
        return (
            one.raised is not None
            and other.raised is not None
            and (one.raised.classes[0], one.raised.stage)
            == (other.raised.classes[0], other.raised.stage)
        )
    if one.values.keys() != other.values.keys():
        return False
    plain = Scenario(scenario.id, scenario.build, (), (), tolerance=scenario.tolerance)
    return judge(plain, one, other) is None and judge(plain, other, one) is None


def _by_cost(evidence: Iterable[Evidence]) -> tuple[list[Evidence], list[Evidence]]:
    """Split what has inputs from what has none: those are long chains and training runs."""
    every = list(evidence)
    return [e for e in every if e.request.inputs], [e for e in every if not e.request.inputs]


def _fits(engine: LocalEngine, evidence: Iterable[Evidence]) -> bool:
    return all(
        same(one.scenario, one.outcome, engine.run(one.request, one.scenario.limit_s))
        for one in evidence
    )


def _concerns(probe: Probe, scenario: Scenario) -> bool:
    """Tell whether a probe is about nothing but what a failing scenario is about."""
    symbols = set(probe.scenario.symbols)
    return bool(symbols) and symbols <= set(scenario.symbols) and _is_cheap(probe)


def _is_cheap(probe: Probe) -> bool:
    return bool(probe.scenario.inputs) and probe.scenario.judge is None


def _sieve(
    bugs: list[Bug],
    probes: Iterable[Probe],
    learner: Learner,
    variant: Callable[[Bug], LocalEngine],
) -> list[Bug]:
    for probe in probes:
        if not bugs:
            break
        evidence = learner.evidence(probe)
        bugs = [bug for bug in bugs if _fits(variant(bug), [evidence])]
    return bugs


def _fits_its_own_symbol(
    bug: Bug,
    probes: Sequence[Probe],
    learner: Learner,
    variant: Callable[[Bug], LocalEngine],
) -> bool:
    """Tell whether the symbol that a bug is in behaves as the bug does, seen by itself."""
    symbols = {patch.symbol for patch in bug.patches}
    own = [
        probe
        for probe in probes
        if probe.scenario.symbols and set(probe.scenario.symbols) <= symbols and _is_cheap(probe)
    ]
    return bool(_sieve([bug], own, learner, variant))


def _separate(
    bugs: list[Bug],
    probes: Sequence[Probe],
    learner: Learner,
    variant: Callable[[Bug], LocalEngine],
) -> list[Bug]:
    """Run the learner's engine on probes on which the candidates differ."""
    for probe in probes:
        if len(bugs) < 2:
            break
        if not _is_cheap(probe):
            continue
        request, scenario = probe.request(), probe.scenario
        outcomes = {bug.id: variant(bug).run(request, scenario.limit_s) for bug in bugs}
        first = outcomes[bugs[0].id]
        if all(same(scenario, first, outcome) for outcome in outcomes.values()):
            continue
        theirs = learner.evidence(probe).outcome
        left = [bug for bug in bugs if same(scenario, theirs, outcomes[bug.id])]
        bugs = left or bugs
    return bugs
