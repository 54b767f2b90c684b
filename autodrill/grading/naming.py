"""Name the bug behind a finding: first from the catalogue, then by general patterns."""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from dataclasses import dataclass, field, replace
from functools import cache, lru_cache
from typing import Any

import numpy as np
from numpy.typing import NDArray

from autodrill.bugs import Bug, bugs_in
from autodrill.cases.judge import Mismatch, judge
from autodrill.cases.outcome import Outcome
from autodrill.cases.probe import Probe
from autodrill.cases.run import Request
from autodrill.cases.scenario import Case, Scenario
from autodrill.catalog import Track
from autodrill.diagnose import Evidence, Inquiry, Witness, name_bug
from autodrill.engines.engine import Engine
from autodrill.engines.reference import reference_engine
from autodrill.engines.variants import symbols_run, variant
from autodrill.grading.grade import Grade
from autodrill.patterns import Wrong, name_pattern
from autodrill.results import Diagnosis

_PATTERNED = ("forward", "gradient", "shape")


def name(
    track: Track,
    grade: Grade,
    failing: Sequence[Evidence],
    mismatch: Mismatch,
    probes: Sequence[Probe],
    green: frozenset[str] = frozenset(),
) -> Diagnosis | None:
    """Name the bug behind a failure.

    Parameters
    ----------
    track, grade
        The catalogue's track, and the engines.
    failing : sequence of Evidence
        The failing request, shrunk and as it was found.
    mismatch : Mismatch
        What is wrong with the request as it was found.
    probes : sequence of Probe
        All probes of the track; none, and nothing is named.
    green : frozenset of str
        Ids of the targets that have been found green: their bugs are not looked for.
    """
    if not probes or mismatch.verdict != "fail" or failing[0].scenario.judge is not None:
        return None
    file = _file_on(track, _Learner(grade.engine, grade.outcomes))
    told = (failing[0].scenario.id, mismatch.what, mismatch.of, green)
    if told in file.unnamed and mismatch.what in _PATTERNED:
        return file.unnamed[told]
    inquiry = replace(
        file.inquiry,
        probes=probes,
        bugs=lambda symbols: bugs_in(track, symbols, green),
        trusted=frozenset(one for id in green for one in track.target(id).symbols),
    )
    found = name_bug(failing, inquiry)
    is_said = mismatch.message in failing[0].scenario.says.values()
    if found is not None or is_said or mismatch.what not in _PATTERNED:
        return found
    pattern = name_pattern(_wrongs(grade, failing[-1], mismatch, inquiry.learner, probes))
    file.unnamed[told] = pattern
    return pattern


@dataclass(frozen=True, eq=False)
class _Learner:
    """An engine, equal to nothing but itself, and what has come of probes on it."""

    engine: Engine
    outcomes: dict[Hashable, Outcome]

    def __eq__(self, other: object) -> bool:
        return isinstance(other, _Learner) and other.engine is self.engine

    def __hash__(self) -> int:
        return id(self.engine)


@dataclass(frozen=True)
class _File:
    """What is kept for the other failures of the same engine.

    `unnamed` holds what was said, a pattern or nothing, of a scenario that fails in one way
    and by no bug of the catalogue: all its probes were asked for that.
    """

    inquiry: Inquiry
    unnamed: dict[Hashable, Diagnosis | None] = field(default_factory=dict)


@lru_cache(maxsize=1)
def _file_on(track: Track, learner: _Learner) -> _File:
    known = _known(track)
    for witness in (known.reference, *known.variants.values()):
        witness.forget()
    return _File(
        Inquiry(
            Witness(learner.engine, known.requests, learner.outcomes),
            known.reference,
            lambda symbols: bugs_in(track, symbols),
            known.variant,
            lambda request: symbols_run(reference_engine(track), request),
            probes=(),
        )
    )


@dataclass(frozen=True)
class _Known:
    """What is kept of a track for every engine: what the reference and the variants do."""

    track: Track
    reference: Witness
    requests: dict[Hashable, Request]
    variants: dict[Bug, Witness] = field(default_factory=dict)

    def variant(self, bug: Bug) -> Witness:
        """Return the engine of a bug."""
        if bug not in self.variants:
            self.variants[bug] = Witness(variant(self.track, bug), self.requests)
        return self.variants[bug]


@cache
def _known(track: Track) -> _Known:
    requests: dict[Hashable, Request] = {}
    return _Known(track, Witness(reference_engine(track), requests), requests)


def _wrongs(
    grade: Grade,
    evidence: Evidence,
    mismatch: Mismatch,
    learner: Witness,
    probes: Sequence[Probe],
) -> list[Wrong]:
    """Collect the wrong arrays of one scenario that are wrong in the same way."""
    wrongs = _wrong(grade, evidence.scenario, evidence.request, mismatch)
    own = [probe for probe in probes if probe.scenario.id == evidence.scenario.id]
    learner.look_at(own)
    for probe in own:
        other = learner.evidence(probe)
        if other.outcome.ended is not None:
            break
        expected = grade.reference.run(other.request, other.scenario.limit_s)
        again = judge(other.scenario, other.outcome, expected)
        if again is not None and (again.what, again.of) == (mismatch.what, mismatch.of):
            wrongs += _wrong(grade, other.scenario, other.request, again)
    return wrongs


def _wrong(grade: Grade, scenario: Scenario, request: Request, mismatch: Mismatch) -> list[Wrong]:
    yours, expected = mismatch.yours, mismatch.expected
    if not (isinstance(yours, np.ndarray) and isinstance(expected, np.ndarray)):
        return []
    return [Wrong(yours, expected, _with_ones(grade, scenario, request, mismatch))]


def _with_ones(
    grade: Grade, scenario: Scenario, request: Request, mismatch: Mismatch
) -> NDArray[Any] | None:
    """Return what the gradient would be if the upstream were all ones."""
    if not isinstance(scenario, Case) or mismatch.of is None:
        return None
    out = grade.reference.run(request, scenario.limit_s).values.get("out")
    if not isinstance(out, np.ndarray):
        return None
    ones = replace(request, upstream=np.ones(out.shape))
    value = grade.reference.run(ones, scenario.limit_s).values.get(f"{mismatch.of}.grad")
    return value if isinstance(value, np.ndarray) else None
