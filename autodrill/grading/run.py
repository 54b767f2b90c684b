"""Grade targets, one symbol, or the edge cases, and give the verdicts."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterable, Sequence
from pathlib import Path

from autodrill.catalog import Target, Track
from autodrill.errors import broken_track
from autodrill.grading.grade import Grade
from autodrill.grading.plan import Plan
from autodrill.grading.session import Graded, run_graders
from autodrill.results import Failure, Measure, TargetResult, worst

STRICT = "strict"
"""The id under which the edge cases are reported."""


def grade_targets(
    track: Track,
    grade: Grade,
    targets: Sequence[Target],
    file: Path,
    *,
    go_on: bool,
    alone: bool = False,
    every_example: bool = False,
) -> tuple[TargetResult, ...]:
    """Grade whole targets in order, and before each what it needs.

    `go_on=False` stops at the first that is not green; `alone` leaves out what they need. The
    smallest input that fails is looked for in each target's first failing test, with
    `every_example` in all of them.
    """
    plan = Plan(track, targets, go_on=go_on, alone=alone)

    def record(graded: Graded) -> None:
        green = plan.green_before(graded.function)
        smallest = every_example or not plan.has_failed(graded.function)
        failure = _failure(track, grade, graded, file, green, smallest=smallest)
        plan.record(graded.function, graded.test, failure, graded.measured)

    files = track.tests_of(plan.targets)
    totals = run_graders(files, grade, plan.order, plan.wants, record)
    absent = [f for target in plan.targets for f in target.tests if f not in totals]
    if absent:
        raise broken_track(f"the grader `{absent[0]}` of `{track.id}` is missing")
    return plan.results(totals)


def grade_symbol(
    track: Track, grade: Grade, target: Target, symbol: str, file: Path
) -> TargetResult:
    """Grade one symbol by its own cases, whatever test they sit in.

    What other symbols lack is not held against it: then it is blocked by their target.
    """
    functions = [function for one in track.targets for function in one.tests]
    tests = track.tests_of([target])
    outcomes, measured = _all_of(track, tests, _only(grade, [symbol]), file, functions)
    failures = [one for one in outcomes if one is not None]
    others = [one for one in failures if one.verdict == "todo" and one.symbol != symbol]
    blocked_by = None
    if others and len(others) == len(failures):
        homes = [one.id for one in track.targets if others[0].symbol in one.symbols]
        blocked_by = homes[0] if homes else others[0].symbol
    title = f"{target.title}: {symbol}"
    result = _result(target.id, target.step, title, outcomes, measured)
    result = dataclasses.replace(result, symbol=symbol)
    if blocked_by is None:
        return result
    return dataclasses.replace(result, verdict="blocked", blocked_by=blocked_by)


def grade_strict(
    track: Track, grade: Grade, symbols: Iterable[str], file: Path, blocked_by: str | None
) -> TargetResult:
    """Grade the edge cases beyond the contract, of some symbols or of all."""
    step, title = len(track.targets) + 1, "edge cases beyond the contract"
    if blocked_by is not None:
        return TargetResult(STRICT, step, title, "blocked", 0, 0, 0, blocked_by)
    only = frozenset(symbols)
    homes = [one for one in track.targets if not only or only & {*one.symbols}]
    tests = track.tests_of(homes, "strict")
    strict = dataclasses.replace(_only(grade, only), strict=True)
    outcomes, measured = _all_of(track, tests, strict, file, None)
    outcomes = [
        # There is no hint for a symbol of no target.
        dataclasses.replace(one, symbol=None)
        if one is not None and one.symbol not in track.symbols
        else one
        for one in outcomes
    ]
    return _result(STRICT, step, title, outcomes, measured)


def _only(grade: Grade, symbols: Iterable[str]) -> Grade:
    return dataclasses.replace(grade, only=frozenset(symbols))


def _all_of(
    track: Track, tests: Sequence[Path], grade: Grade, file: Path, functions: Sequence[str] | None
) -> tuple[list[Failure | None], list[Measure]]:
    """Run every test of some grader files that has a probe for what is graded."""
    outcomes: list[Failure | None] = []
    measured: list[Measure] = []

    def order(function: str) -> int | None:
        if functions is None:
            return 0
        return functions.index(function) if function in functions else None

    def record(graded: Graded) -> None:
        outcomes.append(_failure(track, grade, graded, file))
        measured.extend(graded.measured)

    run_graders(tests, grade, order, lambda _: True, record)
    return outcomes, measured


def _result(
    target_id: str,
    step: int,
    title: str,
    outcomes: Sequence[Failure | None],
    measured: Iterable[Measure],
) -> TargetResult:
    failures = tuple(one for one in outcomes if one is not None)
    if not outcomes:
        raise broken_track(f"there is no case to grade `{title}`")
    return TargetResult(
        id=target_id,
        step=step,
        title=title,
        verdict=worst(one.verdict for one in failures),
        passed=len(outcomes) - len(failures),
        failed=len(failures),
        total=len(outcomes),
        failures=failures,
        measured=tuple(measured),
    )


def _failure(
    track: Track,
    grade: Grade,
    graded: Graded,
    file: Path,
    green: frozenset[str] = frozenset(),
    *,
    smallest: bool = True,
) -> Failure | None:
    if graded.finding is None:
        return None
    from autodrill.grading.failure import explain  # here: a green run needs none of it

    finding, probes = graded.finding, graded.probes
    return explain(track, grade, finding, graded.test, file, probes, green, smallest=smallest)
