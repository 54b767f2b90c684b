"""Which tests run for what was asked, what they wait for, and the verdict of each target."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from autodrill.catalog import Target, Track
from autodrill.results import Failure, Measure, TargetResult, Verdict, worst


class Plan:
    """The targets of one run, in the track's order, with what they need.

    Parameters
    ----------
    track : Track
    asked : sequence of Target
        The targets to report on.
    go_on : bool
        False stops at the first target that is not green.
    alone : bool
        True leaves out what the targets need, and takes it for green.
    """

    def __init__(
        self, track: Track, asked: Sequence[Target], *, go_on: bool, alone: bool = False
    ) -> None:
        self.track = track
        self.asked = sorted(asked, key=lambda target: target.step)
        self.go_on = go_on
        self.alone = alone
        needed = {need for target in asked for need in _closure(track, target) if not alone}
        ids = {target.id for target in asked} | needed
        self.targets = [target for target in track.targets if target.id in ids]
        self._home: dict[str, Target] = {}
        for target in self.targets:
            for function in target.tests:
                self._home.setdefault(function, target)
        self._results: dict[str, dict[str, Failure | None]] = {}
        self._measured: dict[str, list[Measure]] = {}

    def order(self, function: str) -> int | None:
        """Return the place of a test function in the run, None if it has none."""
        functions = list(self._home)
        return functions.index(function) if function in self._home else None

    def wants(self, function: str) -> bool:
        """Tell whether a test function should still run."""
        home = self._home[function]
        if self._blocked_by(home) is not None:
            return False
        return self.go_on or self._first_not_green_before(home) is None

    def green_before(self, function: str) -> frozenset[str]:
        """Return the ids of the targets that are through and green when a test runs."""
        home = self._home[function]
        needed = {need for target in self.asked for need in _closure(self.track, target)}
        return frozenset(
            one.id
            for one in self.track.targets
            if one.step < home.step and (self._is_green(one) or (self.alone and one.id in needed))
        )

    def has_failed(self, function: str) -> bool:
        """Tell whether a test of the same target has been found wrong, not just unwritten."""
        ran = self._outcomes(self._home[function])
        return any(one is not None and one.verdict != "todo" for one in ran)

    def record(
        self, function: str, test: str, failure: Failure | None, measured: Iterable[Measure] = ()
    ) -> None:
        """Note what one test came to, and what it has counted."""
        self._results.setdefault(function, {})[test] = failure
        self._measured.setdefault(function, []).extend(measured)

    def results(self, totals: dict[str, int]) -> tuple[TargetResult, ...]:
        """Return the verdicts of the targets asked for.

        `totals` holds the number of tests of each test function.
        """
        return tuple(self._result(target, totals) for target in self.asked)

    def _result(self, target: Target, totals: dict[str, int]) -> TargetResult:
        ran = self._outcomes(target)
        failures = tuple(one for one in ran if one is not None)
        total = sum(totals.get(function, 0) for function in target.tests)
        blocked_by = self._blocked_by(target)
        if blocked_by is None and not self.go_on:
            blocked_by = self._first_not_green_before(target)
        return TargetResult(
            id=target.id,
            step=target.step,
            title=target.title,
            verdict="blocked" if blocked_by else self._verdict(target, totals),
            passed=len(ran) - len(failures),
            failed=len(failures),
            total=total,
            blocked_by=blocked_by,
            failures=failures,
            measured=tuple(one for name in target.tests for one in self._measured.get(name, ())),
        )

    def _verdict(self, target: Target, totals: dict[str, int]) -> Verdict:
        """Every expected test has to have been seen to pass."""
        ran = self._outcomes(target)
        if any(one is not None for one in ran):
            return worst(one.verdict for one in ran if one is not None)
        total = sum(totals.get(function, 0) for function in target.tests)
        return "pass" if ran and len(ran) == total else "error"

    def _outcomes(self, target: Target) -> list[Failure | None]:
        return [
            failure
            for function in target.tests
            for failure in self._results.get(function, {}).values()
        ]

    def _is_green(self, target: Target) -> bool:
        """Tell whether nothing that has run of a target was red, and something has run."""
        ran = self._outcomes(target)
        return bool(ran) and all(one is None for one in ran)

    def _blocked_by(self, target: Target) -> str | None:
        for need in () if self.alone else target.needs:
            if not self._is_green(self.track.target(need)):
                return need
        return None

    def _first_not_green_before(self, target: Target) -> str | None:
        for earlier in self.asked:
            if earlier.step < target.step and not self._is_green(earlier):
                return earlier.id
        return None


def _closure(track: Track, target: Target) -> Iterable[str]:
    for need in target.needs:
        yield need
        yield from _closure(track, track.target(need))
