"""Prove a track: stubs fail, the reference passes, every bug is caught and named as itself."""

from __future__ import annotations

from collections.abc import Hashable, Iterator, Sequence
from functools import cache
from pathlib import Path

from autodrill.bugs import Bug, load_bugs
from autodrill.catalog import Target, Track
from autodrill.engines.engine import LocalEngine, module_from
from autodrill.engines.reference import load_suite, reference_engine
from autodrill.engines.variants import variant
from autodrill.errors import AutodrillError
from autodrill.grading.failure import explain
from autodrill.grading.grade import Grade, Known
from autodrill.grading.session import Graded, run_graders
from autodrill.results import BugProof, Failure, TargetProof, TrackProof
from autodrill.workspace import stub_source

LEVELS = ("Nudge", "Rule", "Shape of the code")


def prove(track: Track) -> TrackProof:
    """Prove one track; what falls short is in the result, never an exception."""
    stub = module_from(stub_source(track), f"autodrill_stub_{track.id}", track.reference)
    suite = load_suite(track)
    stub_engine = LocalEngine(suite, stub, file=str(track.reference))
    stub_findings = _findings(_grade(track, stub_engine), track.tests)
    findings = _findings(_grade(track, reference_engine(track)), track.tests)
    strict = Grade(suite, reference_engine(track), reference_engine(track), strict=True)
    edge = _findings(strict, track.strict_tests)
    return TrackProof(
        track=track.id,
        targets=tuple(
            _prove_target(track, target, stub_findings, findings) for target in track.targets
        ),
        tests=len(findings),
        strict_tests=len(edge),
        failing=tuple(one.test for one in (*findings, *edge) if one.finding is not None),
        bugs=tuple(_prove_bug(track, bug) for bug in load_bugs(track)),
    )


def _grade(track: Track, engine: LocalEngine) -> Grade:
    return Grade(load_suite(track), engine, reference_engine(track), known=_known(track))


@cache
def _known(track: Track) -> dict[Hashable, Known]:
    """Return what the reference makes of each probe: the same for every stub and bug."""
    return {}


def _findings(grade: Grade, tests: Sequence[Path]) -> list[Graded]:
    found: list[Graded] = []
    run_graders(tests, grade, lambda _: 0, lambda _: True, found.append)
    return found


def _prove_target(
    track: Track, target: Target, stub: list[Graded], reference: list[Graded]
) -> TargetProof:
    own = [one for one in stub if one.function in target.tests]
    passing = [one.test for one in own if one.finding is None]
    missing = [f for f in target.tests if f not in {one.function for one in reference}]
    return TargetProof(
        target=target.id,
        stub_fails=bool(own) and len(passing) < len(own),
        stub_passes_tests=tuple(passing),
        tests_missing=tuple(missing),
        hints=_has_hints(track, target),
    )


def _has_hints(track: Track, target: Target) -> bool:
    try:
        text = track.hints(target).read_text(encoding="utf-8")
    except OSError:
        return False
    headings = [line[3:].strip() for line in text.splitlines() if line.startswith("## ")]
    return headings == list(LEVELS)


def _prove_bug(track: Track, bug: Bug) -> BugProof:
    """Run the tests of a bug's target on its variant until one catches it."""
    target = track.target(bug.target)
    try:
        failure = next(_failures(track, target, variant(track, bug)), None)
    except AutodrillError as error:
        return BugProof(bug.id, target.id, None, None, error.message)
    if failure is None:
        return BugProof(bug.id, target.id, None, None, "no test catches it")
    diagnosis = failure.diagnosis
    named = diagnosis.bug if diagnosis is not None else None
    fault = "" if named == bug.id else f"named as {named or 'nothing'}"
    return BugProof(bug.id, target.id, failure.test, named, fault)


def _failures(track: Track, target: Target, engine: LocalEngine) -> Iterator[Failure]:
    grade = _grade(track, engine)
    caught: list[Failure] = []

    def record(graded: Graded) -> None:
        if graded.finding is not None:
            file = Path(track.engine_file)
            caught.append(explain(track, grade, graded.finding, graded.test, file, graded.probes))

    functions = list(target.tests)
    run_graders(
        track.tests_of([target]),
        grade,
        lambda function: functions.index(function) if function in functions else None,
        lambda _: not caught,
        record,
    )
    yield from caught
