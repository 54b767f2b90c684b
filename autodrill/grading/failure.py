"""From a finding to a failure: the smallest input, both gradients, the place in the file."""

from __future__ import annotations

from collections.abc import Callable, Container, Iterable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from autodrill.cases.differences import central_differences
from autodrill.cases.judge import Mismatch
from autodrill.cases.outcome import Odd, Outcome, Value
from autodrill.cases.probe import Probe
from autodrill.cases.run import Request
from autodrill.cases.scenario import Case, Scenario
from autodrill.cases.snippet import snippet
from autodrill.catalog import Track, aliases
from autodrill.diagnose import Evidence
from autodrill.grading.grade import Finding, Grade
from autodrill.grading.naming import name
from autodrill.results import Diagnosis, Example, Failure
from autodrill.shrink import shrink

Array = NDArray[Any]

_LARGEST_EXAMPLE = 60
"""Numbers in a snippet; a larger example is described and not written out."""


def explain(
    track: Track,
    grade: Grade,
    finding: Finding,
    test: str,
    file: Path,
    probes: Callable[[], Sequence[Probe]],
    green: frozenset[str] = frozenset(),
    *,
    smallest: bool = True,
) -> Failure:
    """Explain why a test is not green.

    Parameters
    ----------
    track, grade
        The track, and the engines to run smaller inputs on.
    finding, test
        What was found, in which test.
    file : Path
        The engine file; its name is what the snippet imports.
    probes : callable
        Gives all probes of the track, for the name of the bug; none, and none is named.
    green : frozenset of str
        Ids of the targets that have been found green.
    smallest : bool
        Look for the smallest input that fails in this way, else take the one that was found.
    """
    scenario, mismatch = finding.probe.scenario, finding.mismatch
    mismatch = _missing_symbol(scenario, mismatch, grade.missing)
    mismatch = _unwritten(scenario, mismatch, grade)
    found = _Found(finding.request, finding.outcome, mismatch)
    is_wrong = mismatch.verdict == "fail" and mismatch.what != "missing"
    if smallest and is_wrong and scenario.inputs:
        found = _smallest(grade, finding, mismatch)
    mismatch = found.mismatch
    yours, expected = _pair(mismatch, scenario)
    return Failure(
        test=test,
        verdict=mismatch.verdict,  # type: ignore[arg-type]  # the judge writes only these words
        what=mismatch.what,  # type: ignore[arg-type]  # as above
        message=mismatch.message,
        symbol=_symbol(scenario, mismatch, track.symbols),
        of=mismatch.of,
        line=mismatch.line,
        trace=trace_of(found.outcome),
        example=_example(grade, scenario, found, file.stem),
        yours=yours,
        expected=expected,
        finite_differences=_finite_differences(grade, scenario, found) if smallest else None,
        max_abs_diff=max_abs_diff(mismatch),
        tolerance=scenario.tolerance,
        diagnosis=_diagnosis(track, grade, finding, found, probes, green),
        output=found.outcome.output,
        warnings=found.outcome.warnings,
    )


def _diagnosis(
    track: Track,
    grade: Grade,
    finding: Finding,
    found: _Found,
    probes: Callable[[], Sequence[Probe]],
    green: frozenset[str],
) -> Diagnosis | None:
    if found.mismatch.verdict != "fail" or found.mismatch.what == "missing":
        return None
    scenario = finding.probe.scenario
    failing = [
        Evidence(scenario, one.request, one.outcome)
        for one in ((finding,) if found.request is finding.request else (found, finding))
    ]
    return name(track, grade, failing, finding.mismatch, probes(), green)


@dataclass(frozen=True)
class _Found:
    request: Request
    outcome: Outcome
    mismatch: Mismatch


def _smallest(grade: Grade, finding: Finding, mismatch: Mismatch) -> _Found:
    scenario = finding.probe.scenario

    def out_shape(request: Request) -> tuple[int, ...] | None:
        if not isinstance(scenario, Case):
            return None
        out = grade.reference.run(request, scenario.limit_s).values.get("out")
        return out.shape if isinstance(out, np.ndarray) else None

    request = shrink(
        finding.probe,
        finding.request,
        mismatch,
        lambda request: grade.attempt(scenario, request)[0],
        out_shape,
    )
    again, outcome = grade.attempt(scenario, request)
    if again is None:  # it does not fail every time: show what was seen
        return _Found(finding.request, finding.outcome, mismatch)
    return _Found(request, outcome, again)


def _missing_symbol(scenario: Scenario, mismatch: Mismatch, missing: Container[str]) -> Mismatch:
    """Blame the absence of a symbol where that is why the engine raised."""
    absent = [symbol for symbol in scenario.symbols if symbol in missing]
    if mismatch.what != "raised" or not absent:
        return mismatch
    return replace(
        mismatch, verdict="fail", what="missing", of=absent[0], message=f"`{absent[0]}` is missing"
    )


def _unwritten(scenario: Scenario, mismatch: Mismatch, grade: Grade) -> Mismatch:
    """Say that a symbol is still to be written where its stub does something harmless."""
    symbol = scenario.symbols[0] if scenario.symbols else ""
    if mismatch.verdict != "fail" or symbol not in grade.blank():
        return mismatch
    message = f"`{symbol}` is not written yet"
    return replace(mismatch, verdict="todo", what="missing", of=symbol, message=message)


def _symbol(scenario: Scenario, mismatch: Mismatch, symbols: Iterable[str]) -> str | None:
    if mismatch.what == "missing" and mismatch.of:
        for symbol in (*scenario.symbols, *symbols):
            if mismatch.of in aliases(symbol):
                return symbol
    return scenario.symbols[0] if scenario.symbols else None


def trace_of(outcome: Outcome) -> tuple[str, ...]:
    """Return the learner's frames of an exception, as text; of a long trace the innermost."""
    if outcome.raised is None:
        return ()
    frames = outcome.raised.frames
    inner = frames if len(frames) <= 6 else frames[-3:]
    return tuple(f"line {one.line}, in {one.function}: {one.text}" for one in inner)


def _example(grade: Grade, scenario: Scenario, found: _Found, module: str) -> Example | None:
    if found.mismatch.verdict == "todo":
        return None
    size = sum(array.size for array in found.request.inputs.values())
    if size > _LARGEST_EXAMPLE or not (found.request.inputs or scenario.example):
        return None
    raised = found.outcome.raised
    in_backward = raised is not None and raised.stage == "backward"
    request = _with_upstream(found) if isinstance(scenario, Case) else found.request
    backward = found.mismatch.of is not None or in_backward
    return Example(
        code=snippet(
            grade.suite, scenario, request, module, backward=backward, of=found.mismatch.of
        ),
        inputs=request.inputs,
        upstream=request.upstream if isinstance(request.upstream, np.ndarray) else None,
    )


def _with_upstream(found: _Found) -> Request:
    """Write the upstream out where it was still drawn from its seed."""
    out = found.outcome.values.get("out")
    if isinstance(found.request.upstream, int) and isinstance(out, np.ndarray):
        drawn = np.random.default_rng(found.request.upstream).standard_normal(out.shape)
        return replace(found.request, upstream=np.asarray(drawn))
    return found.request


def _finite_differences(grade: Grade, scenario: Scenario, found: _Found) -> Array | None:
    of, request = found.mismatch.of, found.request
    if not isinstance(scenario, Case) or of is None or of not in request.inputs:
        return None
    request = _with_upstream(found)
    upstream = request.upstream
    if not isinstance(upstream, np.ndarray):
        return None

    def forward(array: Array) -> Array:
        moved = replace(request, inputs={**request.inputs, of: array})
        out = grade.reference.run(moved, scenario.limit_s).values["out"]
        assert isinstance(out, np.ndarray)
        return out

    return central_differences(forward, request.inputs[of], upstream)


def max_abs_diff(mismatch: Mismatch) -> float | None:
    """Return the largest difference of two arrays of one shape, None where there are none."""
    yours, expected = mismatch.yours, mismatch.expected
    if not (isinstance(yours, np.ndarray) and isinstance(expected, np.ndarray)):
        return None
    if yours.shape != expected.shape or not yours.size:
        return None
    with np.errstate(all="ignore"):
        return float(np.max(np.abs(yours - expected)))


def _pair(mismatch: Mismatch, scenario: Scenario) -> tuple[Array | str | None, Array | str | None]:
    """Return the learner's value and the right one; of a value that is judged, there is none."""
    pair = mismatch.yours, mismatch.expected
    if all(one is None for one in pair):
        return None, None
    if scenario.judge is not None:
        return shown(mismatch.yours), None
    return shown(mismatch.yours), shown(mismatch.expected)


def shown(value: Value) -> Array | str:
    """Return a value as it is shown: an array as it is, anything else as a text."""
    if isinstance(value, np.ndarray):
        return value
    if isinstance(value, Odd):
        return f"{value.type} {value.text}".strip()
    return repr(value)
