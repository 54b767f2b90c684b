"""Name the bug behind a finding: first from the catalogue, then by general patterns."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from functools import cache
from typing import Any

import numpy as np
from numpy.typing import NDArray

from autodrill.bugs import load_bugs
from autodrill.cases.judge import Mismatch, judge
from autodrill.cases.probe import Probe
from autodrill.cases.run import Request
from autodrill.cases.scenario import Case, Scenario
from autodrill.catalog import Track
from autodrill.diagnose import Evidence, Suspects, Witness, name_bug
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
    """
    if not probes or mismatch.verdict != "fail" or failing[0].scenario.judge is not None:
        return None
    learner = Witness(grade.engine)
    suspects = Suspects(
        learner,
        _reference(track),
        load_bugs(track),
        cache(lambda bug: Witness(variant(track, bug))),
        lambda request: symbols_run(reference_engine(track), request),
        probes,
    )
    found = name_bug(failing, suspects)
    if found is not None or mismatch.what not in _PATTERNED:
        return found
    return name_pattern(_wrongs(grade, failing[-1], mismatch, learner, probes))


@cache
def _reference(track: Track) -> Witness:
    return Witness(reference_engine(track))


def _wrongs(
    grade: Grade,
    evidence: Evidence,
    mismatch: Mismatch,
    learner: Witness,
    probes: Sequence[Probe],
) -> list[Wrong]:
    """Collect the wrong arrays of one scenario that are wrong in the same way."""
    wrongs = _wrong(grade, evidence.scenario, evidence.request, mismatch)
    for probe in probes:
        if probe.scenario.id != evidence.scenario.id:
            continue
        other = learner.evidence(probe)
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
