"""Name the bug: find the variant of the reference that does what the learner's engine does.

A bug of the catalogue is named only where its variant gives the learner's outcome on the
probe that failed, on all probes of the same symbols, and on all of the symbols that the bug
is in, and where it foretells no failure that the learner's engine does not have. Where
several variants fit, probes on which they differ are added until one is left; what can't be
told apart is listed as such.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable, Sequence
from dataclasses import dataclass, field
from functools import cached_property

from autodrill.bugs import Bug
from autodrill.cases.agree import equal, is_misshapen, same
from autodrill.cases.outcome import Outcome
from autodrill.cases.probe import Probe
from autodrill.cases.run import Request
from autodrill.cases.scenario import Scenario
from autodrill.engines.engine import Engine
from autodrill.results import Diagnosis

_ENOUGH = 10
"""So many scenarios in which a bug shows tell whether the learner's engine has it."""


@dataclass(frozen=True)
class Evidence:
    """One request, and what an engine made of it."""

    scenario: Scenario
    request: Request
    outcome: Outcome


class Witness:
    """An engine with a memory: each probe and each other request is run on it once.

    Witnesses of one inquiry share `requests`, so that each probe is drawn once. `outcomes` is
    what has come of probes elsewhere, and what comes of them here.
    """

    def __init__(
        self,
        engine: Engine,
        requests: dict[Hashable, Request],
        outcomes: dict[Hashable, Outcome] | None = None,
    ) -> None:
        self._engine = engine
        self._requests = requests
        self._probes = {} if outcomes is None else outcomes
        self._others: dict[int, tuple[Request, Outcome]] = {}

    def forget(self) -> None:
        """Forget the requests that are no probes: they come from one engine's failures alone."""
        self._others.clear()

    def run(self, request: Request, scenario: Scenario) -> Outcome:
        """Run a request, or recall what came of it."""
        key = id(request)  # it stays its own, as the request is kept
        if key not in self._others:
            self._others[key] = request, self._engine.run(request, scenario.limit_s)
        return self._others[key][1]

    def evidence(self, probe: Probe) -> Evidence:
        """Run a probe, or recall what came of it."""
        key, request = probe.key, self._request(probe)
        if key not in self._probes:
            self._probes[key] = self._engine.run(request, probe.scenario.limit_s)
        return Evidence(probe.scenario, request, self._probes[key])

    def look_at(self, probes: Iterable[Probe]) -> None:
        """Run probes that will be asked for, all in one go."""
        new = [probe for probe in probes if probe.key not in self._probes]
        requests = [(self._request(probe), probe.scenario.limit_s) for probe in new]
        for probe, outcome in zip(new, self._engine.run_all(requests), strict=True):
            self._probes[probe.key] = outcome

    def _request(self, probe: Probe) -> Request:
        if probe.key not in self._requests:
            self._requests[probe.key] = probe.request()
        return self._requests[probe.key]


@dataclass(frozen=True)
class Inquiry:
    """All that an inquiry can ask.

    Attributes
    ----------
    learner, reference : Witness
        The engine that fails, and the one that is right.
    bugs : callable
        Gives the bugs of the catalogue that are in some symbols.
    variant : callable
        Gives the engine of a bug.
    symbols_run : callable
        Gives the symbols that a request runs: only a bug in one of them can change its outcome.
    probes : sequence of Probe
        All probes of the track.
    trusted : frozenset of str
        Symbols that have been graded and found right.
    named : list of Bug
        What was named so far: the first to be thought of when another test fails.
    """

    learner: Witness
    reference: Witness
    bugs: Callable[[frozenset[str]], Sequence[Bug]]
    variant: Callable[[Bug], Witness]
    symbols_run: Callable[[Request], frozenset[str]]
    probes: Sequence[Probe]
    trusted: frozenset[str] = frozenset()
    named: list[Bug] = field(default_factory=list)

    @cached_property
    def cheap(self) -> list[Probe]:
        """The cheap ones of the probes."""
        return [one for one in self.probes if one.is_cheap]

    def about(self, symbols: Iterable[str]) -> list[Probe]:
        """Return the cheap probes that are about some symbols and nothing else."""
        wanted = frozenset(symbols)
        if wanted not in self._about:
            self._about[wanted] = [
                one
                for one in self.cheap
                if one.scenario.symbols and wanted.issuperset(one.scenario.symbols)
            ]
        return self._about[wanted]

    @cached_property
    def _about(self) -> dict[frozenset[str], list[Probe]]:
        return {}

    def fits(self, bug: Bug, evidence: Evidence) -> bool:
        """Tell whether a bug may be behind what the learner's engine did with a request."""
        outcome = self.variant(bug).run(evidence.request, evidence.scenario)
        return self._may_be(evidence, outcome)

    def fits_probe(self, bug: Bug, probe: Probe) -> bool:
        """Tell whether a bug may be behind what the learner's engine did with a probe."""
        return self._may_be(self.learner.evidence(probe), self.variant(bug).evidence(probe).outcome)

    def has_right_values(self, evidence: Evidence) -> bool:
        """Tell whether what is wrong with the learner's outcome is not a value."""
        if evidence.outcome.raised is not None:
            return False
        right = self.reference.run(evidence.request, evidence.scenario)
        return same(evidence.scenario, evidence.outcome, right)

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

        Where shapes do not fit together, one engine raises, another gives a gradient of a wrong
        shape, and a third broadcasts it to the right one: which of them depends on the rest of
        the engine, not on the bug. All of them are wrong.
        """
        scenario, request, theirs = evidence.scenario, evidence.request, evidence.outcome
        if same(scenario, theirs, outcome):
            return True
        if not any(is_misshapen(request, one) for one in (theirs, outcome)):
            return False
        right = self.reference.run(request, scenario)
        return all(
            equal(one.values.get("out"), right.values.get("out"), scenario.tolerance)
            and not same(scenario, one, right)
            for one in (theirs, outcome)
        )


def name_bug(failing: Sequence[Evidence], inquiry: Inquiry) -> Diagnosis | None:
    """Name the bug of the catalogue that explains a failure, None if none does.

    Parameters
    ----------
    failing : sequence of Evidence
        What failed on the learner's engine, the cheapest to run first.
    inquiry : Inquiry
    """
    if any(one.outcome.ended is not None or inquiry.has_right_values(one) for one in failing):
        return None
    bugs = _fitting(inquiry.named, failing, inquiry) or _search(failing, inquiry)
    if not bugs:
        return None
    first, *others = bugs
    if first not in inquiry.named:
        inquiry.named.append(first)
    also = dict.fromkeys([*(one.id for one in others), *first.also])
    return Diagnosis(first.id, first.title, first.why, first.hint, "exact", tuple(also))


def _search(failing: Sequence[Evidence], inquiry: Inquiry) -> list[Bug]:
    """Look for the bug near the failure first, and further off only if that is called for.

    Near are the symbols that the failing scenario is about. A bug that is found there is the one,
    unless another symbol that is run is wrong as well when it is graded by itself.
    """
    symbols = _symbols_reached(failing, inquiry)
    about = frozenset(failing[0].scenario.symbols)
    bugs = _fitting(inquiry.bugs(symbols & about), failing, inquiry)
    if bugs and all(
        map(inquiry.is_right, _one_of_each(symbols - about - inquiry.trusted, inquiry))
    ):
        return bugs
    return _fitting(inquiry.bugs(symbols), failing, inquiry)


def _one_of_each(symbols: Iterable[str], inquiry: Inquiry) -> list[Probe]:
    """Return a probe of each scenario that is about one of some symbols and nothing else."""
    probes = [probe for one in symbols for probe in inquiry.about({one})]
    chosen = list({probe.scenario.id: probe for probe in probes}.values())
    inquiry.learner.look_at(chosen)
    return chosen


def _fitting(bugs: Iterable[Bug], failing: Sequence[Evidence], inquiry: Inquiry) -> list[Bug]:
    """Return the bugs that explain a failure; what is dear to run comes last."""
    left = list(bugs)
    if not left:
        return []
    own = inquiry.about(failing[0].scenario.symbols)
    cheap, dear = _by_cost(failing)
    for one in cheap:
        left = [bug for bug in left if inquiry.fits(bug, one)]
    if left:
        inquiry.learner.look_at(own)
    for probe in own:
        left = [bug for bug in left if _allows(bug, probe, inquiry)]
    left = [bug for bug in left if _holds(bug, inquiry)]
    for one in dear:
        left = [bug for bug in left if inquiry.fits(bug, one)]
    return [bug for bug in _separate(left, inquiry) if _tells(bug, failing, own, inquiry)]


def _by_cost(evidence: Iterable[Evidence]) -> tuple[list[Evidence], list[Evidence]]:
    """Split what has inputs from what has none: those are long chains and training runs."""
    every = list(evidence)
    return [e for e in every if e.request.inputs], [e for e in every if not e.request.inputs][-1:]


def _symbols_reached(failing: Sequence[Evidence], inquiry: Inquiry) -> frozenset[str]:
    """Return the symbols that are run where the learner's engine fails."""
    cheap, dear = _by_cost(failing)
    requests = [one.request for one in cheap[:1]]
    if not requests:
        own = inquiry.about(failing[0].scenario.symbols)
        requests = [probe.request() for probe in own] or [one.request for one in dear]
    return frozenset().union(*map(inquiry.symbols_run, requests))


def _allows(bug: Bug, probe: Probe, inquiry: Inquiry) -> bool:
    """Tell whether a probe leaves a bug possible.

    Where the bug does not show, another bug may be why the learner's engine is wrong. That is
    granted to a bug that is confirmed by itself, and not where its own symbols are graded.
    """
    if inquiry.fits_probe(bug, probe):
        return True
    if set(probe.scenario.symbols) <= _symbols(bug) or inquiry.shows(bug, probe):
        return False
    return _is_confirmed(bug, inquiry)


def _symbols(bug: Bug) -> set[str]:
    return {patch.symbol for patch in bug.patches}


def _is_confirmed(bug: Bug, inquiry: Inquiry) -> bool:
    """Tell whether a bug shows where its symbols are graded by themselves."""
    own = inquiry.about(_symbols(bug))
    return any(inquiry.explains(bug, probe) for probe in own)


def _holds(bug: Bug, inquiry: Inquiry) -> bool:
    """Tell whether the learner's engine has a bug elsewhere too.

    Where the bug's own symbols are graded by themselves, the outcomes have to agree. Then one
    probe of each scenario about these symbols is tried, or of every scenario if the bug does not
    show where its symbols are graded: wherever it shows, the learner's engine must be wrong, and
    mostly in the same way.
    """
    symbols = _symbols(bug)
    if not all(inquiry.fits_probe(bug, one) for one in inquiry.about(symbols)):
        return False
    confirmed = _is_confirmed(bug, inquiry)
    one_of_each = {
        probe.scenario.id: probe
        for probe in inquiry.cheap
        if not confirmed or symbols & set(probe.scenario.symbols)
    }
    simplest_first = sorted(one_of_each.values(), key=lambda probe: len(probe.scenario.symbols))
    shown = alike = 0
    for probe in simplest_first:
        if shown == _ENOUGH or not inquiry.shows(bug, probe):
            continue
        if inquiry.is_right(probe):
            return False
        shown += 1
        alike += inquiry.explains(bug, probe)
    return confirmed or 2 * alike >= shown


def _separate(bugs: list[Bug], inquiry: Inquiry) -> list[Bug]:
    """Run the learner's engine on probes on which the candidates differ, their own first."""
    symbols = frozenset().union(*map(_symbols, bugs))
    probes = sorted(
        inquiry.cheap,
        key=lambda probe: symbols.isdisjoint(probe.scenario.symbols),
    )
    for probe in probes:
        if len(bugs) < 2:
            break
        outcomes = {bug: inquiry.variant(bug).evidence(probe).outcome for bug in bugs}
        scenario, first = probe.scenario, outcomes[bugs[0]]
        if all(same(scenario, first, outcome) for outcome in outcomes.values()):
            continue
        theirs = inquiry.learner.evidence(probe).outcome
        left = [bug for bug in bugs if same(scenario, theirs, outcomes[bug])]
        bugs = left or bugs
    return bugs


def _tells(bug: Bug, failing: Sequence[Evidence], own: Sequence[Probe], inquiry: Inquiry) -> bool:
    """Tell whether the agreement is more than that both engines raise.

    Where all that is known of the learner's engine is that it raises, the kind of the exception
    says too little, and its message has to be the bug's.
    """
    last = failing[-1]
    outcome = inquiry.variant(bug).run(last.request, last.scenario)
    exact = same(last.scenario, last.outcome, outcome)
    if not exact and not any(inquiry.explains(bug, probe) for probe in own):
        return False
    if any(one.outcome.raised is None for one in (*failing, *map(inquiry.learner.evidence, own))):
        return True
    theirs, ours = last.outcome.raised, outcome.raised
    return theirs is not None and ours is not None and theirs.message == ours.message
