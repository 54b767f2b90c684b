"""Name the bug: find the variant of the reference that does what the learner's engine does.

A bug of the catalogue is named only where its variant gives the learner's outcome on the
probe that failed, on all probes of the same symbols, and on all of the symbols that the bug
is in, and where it foretells no failure that the learner's engine does not have. Where
several variants fit, probes on which they differ are added until one is left; what can't be
told apart is listed as such.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from autodrill.bugs import Bug
from autodrill.cases.judge import differs
from autodrill.cases.outcome import Outcome, Raised, Value
from autodrill.cases.probe import Probe
from autodrill.cases.run import Request
from autodrill.cases.scenario import Scenario
from autodrill.engines.engine import Engine
from autodrill.results import Diagnosis

_ANY_EXCEPTION = frozenset({"Exception", "BaseException"})


@dataclass(frozen=True)
class Evidence:
    """One request, and what an engine made of it."""

    scenario: Scenario
    request: Request
    outcome: Outcome


class Witness:
    """An engine with a memory: each probe is run on it once."""

    def __init__(self, engine: Engine) -> None:
        self._engine = engine
        self._seen: dict[tuple[Any, ...], Evidence] = {}

    def run(self, request: Request, scenario: Scenario) -> Outcome:
        """Run a request that belongs to no probe."""
        return self._engine.run(request, scenario.limit_s)

    def evidence(self, probe: Probe) -> Evidence:
        """Run a probe, or recall what came of it."""
        key = (probe.scenario.id, probe.seed, *probe.shapes.sizes.items())
        if key not in self._seen:
            request = probe.request()
            outcome = self.run(request, probe.scenario)
            self._seen[key] = Evidence(probe.scenario, request, outcome)
        return self._seen[key]


@dataclass(frozen=True)
class Suspects:
    """All that an inquiry can ask.

    Attributes
    ----------
    learner, reference : Witness
        The engine that fails, and the one that is right.
    bugs : sequence of Bug
        The track's catalogue.
    variant : callable
        Gives the engine of a bug.
    symbols_run : callable
        Gives the symbols that a request runs: only a bug in one of them can change its outcome.
    probes : sequence of Probe
        All probes of the track.
    """

    learner: Witness
    reference: Witness
    bugs: Sequence[Bug]
    variant: Callable[[Bug], Witness]
    symbols_run: Callable[[Request], frozenset[str]]
    probes: Sequence[Probe]

    def fits(self, bug: Bug, evidence: Evidence) -> bool:
        """Tell whether a bug may be behind what the learner's engine did with a request."""
        outcome = self.variant(bug).run(evidence.request, evidence.scenario)
        return self._may_be(evidence, outcome)

    def fits_probe(self, bug: Bug, probe: Probe) -> bool:
        """Tell whether a bug may be behind what the learner's engine did with a probe."""
        return self._may_be(self.learner.evidence(probe), self.variant(bug).evidence(probe).outcome)

    def shows(self, bug: Bug, probe: Probe) -> bool:
        """Tell whether a bug changes what comes of a probe."""
        return not self._agree(self.variant(bug), self.reference, probe)

    def explains(self, bug: Bug, probe: Probe) -> bool:
        """Tell whether a bug shows in a probe, and just as in the learner's engine."""
        return self.shows(bug, probe) and self._agree(self.variant(bug), self.learner, probe)

    def is_right(self, probe: Probe) -> bool:
        """Tell whether the learner's engine does what the reference does."""
        return self._agree(self.learner, self.reference, probe)

    def _agree(self, one: Witness, other: Witness, probe: Probe) -> bool:
        outcomes = one.evidence(probe).outcome, other.evidence(probe).outcome
        return same(probe.scenario, *outcomes)

    def _may_be(self, evidence: Evidence, outcome: Outcome) -> bool:
        """Tell whether two outcomes agree, or whether it can't be told.

        Where shapes do not fit together, one engine raises, and another goes on and gives some
        gradient or other: which of them depends on the rest of the engine, not on the bug.
        """
        theirs, scenario = evidence.outcome, evidence.scenario
        if same(scenario, theirs, outcome):
            return True
        raised, went_on = (theirs, outcome) if theirs.raised else (outcome, theirs)
        if not _noticed_shapes(raised) or went_on.raised or went_on.ended:
            return False
        right = self.reference.run(evidence.request, scenario)
        forward = {"out": right.values.get("out")}
        return _agree(scenario, forward, {"out": went_on.values.get("out")}) and not same(
            scenario, went_on, right
        )


def name_bug(failing: Sequence[Evidence], suspects: Suspects) -> Diagnosis | None:
    """Name the bug of the catalogue that explains a failure, None if none does.

    Parameters
    ----------
    failing : sequence of Evidence
        What failed on the learner's engine, the cheapest to run first.
    suspects : Suspects
    """
    if any(one.outcome.ended is not None for one in failing):
        return None
    cheap, dear = _by_cost(failing)
    own = list(_probes_within(suspects.probes, failing[0].scenario.symbols))
    bugs = _within_reach(failing, own, suspects)
    for one in cheap:
        bugs = [bug for bug in bugs if suspects.fits(bug, one)]
    for probe in own:
        bugs = [bug for bug in bugs if _allows(bug, probe, suspects)]
    bugs = [bug for bug in bugs if _holds(bug, suspects)]
    for one in dear:
        bugs = [bug for bug in bugs if suspects.fits(bug, one)]
    bugs = [bug for bug in _separate(bugs, suspects) if _tells(bug, failing, own, suspects)]
    if not bugs:
        return None
    first, *others = bugs
    also = dict.fromkeys([*(one.id for one in others), *first.also])
    return Diagnosis(first.id, first.title, first.why, first.hint, "exact", tuple(also))


def same(scenario: Scenario, one: Outcome, other: Outcome) -> bool:
    """Tell whether two outcomes agree: the same values, and the same kind of exception if any."""
    if one.ended is not None or other.ended is not None:
        return False
    if one.raised is None or other.raised is None:
        alike = one.raised is other.raised
    else:
        alike = _alike(one.raised, other.raised)
    return alike and _agree(scenario, one.values, other.values)


def _noticed_shapes(outcome: Outcome) -> bool:
    raised = outcome.raised
    return raised is not None and raised.stage == "backward" and "ValueError" in raised.classes


def _alike(one: Raised, other: Raised) -> bool:
    """Tell whether one exception is of the other's kind, and from the same stage."""
    if one.stage != other.stage:
        return False
    kinds = {one.type, other.type}
    if len(kinds) > 1 and kinds & _ANY_EXCEPTION:
        return False
    return one.type in other.classes or other.type in one.classes


def _agree(scenario: Scenario, one: Mapping[str, Value], other: Mapping[str, Value]) -> bool:
    if one.keys() != other.keys():
        return False
    names = list(one)
    out = one.get("out")
    if isinstance(out, np.ndarray) and not np.all(np.isfinite(out)):
        names = ["out"]  # what flows back from an overflow depends on how a rule is written
    return all(_equal(one[name], other[name], scenario.tolerance) for name in names)


def _equal(one: Value, other: Value, tolerance: float) -> bool:
    if isinstance(one, np.ndarray) and isinstance(other, np.ndarray):
        if one.shape != other.shape or one.dtype != other.dtype:
            return False
        return _equal_numbers(one.astype(float), other.astype(float), tolerance)
    if isinstance(one, list) and isinstance(other, list):
        return len(one) == len(other) and all(
            _equal(a, b, tolerance) for a, b in zip(one, other, strict=True)
        )
    if isinstance(one, float) and isinstance(other, float):
        return _equal_numbers(np.array(one), np.array(other), tolerance)
    return type(one) is type(other) and one == other


def _equal_numbers(one: NDArray[Any], other: NDArray[Any], tolerance: float) -> bool:
    """Compare as the judge does, but for NaN, which here agrees with itself."""
    nan = np.isnan(one)
    if not np.array_equal(nan, np.isnan(other)):
        return False
    return not np.any(differs(one, other, tolerance) & ~nan)


def _by_cost(evidence: Iterable[Evidence]) -> tuple[list[Evidence], list[Evidence]]:
    """Split what has inputs from what has none: those are long chains and training runs."""
    every = list(evidence)
    return [e for e in every if e.request.inputs], [e for e in every if not e.request.inputs][-1:]


def _probes_within(probes: Iterable[Probe], symbols: Iterable[str]) -> Iterator[Probe]:
    """Yield the cheap probes that are about nothing but some symbols."""
    for probe in probes:
        own = set(probe.scenario.symbols)
        if own and own <= set(symbols) and _is_cheap(probe):
            yield probe


def _is_cheap(probe: Probe) -> bool:
    return bool(probe.scenario.inputs) and probe.scenario.judge is None


def _within_reach(
    failing: Sequence[Evidence], own: Sequence[Probe], suspects: Suspects
) -> list[Bug]:
    """Return the bugs in symbols that are run where the learner's engine fails."""
    cheap, dear = _by_cost(failing)
    requests = [one.request for one in cheap[:1]] or [probe.request() for probe in own]
    requests = requests or [one.request for one in dear]
    symbols = frozenset().union(*map(suspects.symbols_run, requests))
    return [bug for bug in suspects.bugs if any(one.symbol in symbols for one in bug.patches)]


def _allows(bug: Bug, probe: Probe, suspects: Suspects) -> bool:
    """Tell whether a probe leaves a bug possible.

    Where the bug does not show, another bug may be why the learner's engine is wrong. That is
    granted to a bug that is confirmed by itself, and not where its own symbols are graded.
    """
    if suspects.fits_probe(bug, probe):
        return True
    if set(probe.scenario.symbols) <= _symbols(bug) or suspects.shows(bug, probe):
        return False
    return _is_confirmed(bug, suspects)


def _symbols(bug: Bug) -> set[str]:
    return {patch.symbol for patch in bug.patches}


def _is_confirmed(bug: Bug, suspects: Suspects) -> bool:
    """Tell whether a bug shows where its symbols are graded by themselves."""
    own = _probes_within(suspects.probes, _symbols(bug))
    return any(suspects.explains(bug, probe) for probe in own)


def _holds(bug: Bug, suspects: Suspects) -> bool:
    """Tell whether the learner's engine has a bug elsewhere too.

    Where the bug's own symbols are graded by themselves, the outcomes have to agree. In one probe
    of each scenario, wherever the bug shows, the learner's engine must be wrong; and mostly in the
    same way, if the bug does not show where its own symbols are graded.
    """
    own = _probes_within(suspects.probes, _symbols(bug))
    if not all(suspects.fits_probe(bug, probe) for probe in own):
        return False
    one_of_each = {one.scenario.id: one for one in suspects.probes if _is_cheap(one)}
    shown = [probe for probe in one_of_each.values() if suspects.shows(bug, probe)]
    if any(suspects.is_right(probe) for probe in shown):
        return False
    alike = sum(suspects.explains(bug, probe) for probe in shown)
    return _is_confirmed(bug, suspects) or 2 * alike >= len(shown)


def _separate(bugs: list[Bug], suspects: Suspects) -> list[Bug]:
    """Run the learner's engine on probes on which the candidates differ."""
    for probe in filter(_is_cheap, suspects.probes):
        if len(bugs) < 2:
            break
        outcomes = {bug: suspects.variant(bug).evidence(probe).outcome for bug in bugs}
        scenario, first = probe.scenario, outcomes[bugs[0]]
        if all(same(scenario, first, outcome) for outcome in outcomes.values()):
            continue
        theirs = suspects.learner.evidence(probe).outcome
        left = [bug for bug in bugs if same(scenario, theirs, outcomes[bug])]
        bugs = left or bugs
    return bugs


def _tells(bug: Bug, failing: Sequence[Evidence], own: Sequence[Probe], suspects: Suspects) -> bool:
    """Tell whether the agreement is more than that both engines raise.

    Where all that is known of the learner's engine is that it raises, the kind of the exception
    says too little, and its message has to be the bug's.
    """
    last = failing[-1]
    outcome = suspects.variant(bug).run(last.request, last.scenario)
    exact = same(last.scenario, last.outcome, outcome)
    if not exact and not any(suspects.explains(bug, probe) for probe in own):
        return False
    if any(one.outcome.raised is None for one in (*failing, *map(suspects.learner.evidence, own))):
        return True
    theirs, ours = last.outcome.raised, outcome.raised
    return theirs is not None and ours is not None and theirs.message == ours.message
