"""What the attempts add up to: tries, best times, bugs, and rows to export."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, NamedTuple

from autodrill.history.attempts import Kind, Outcome
from autodrill.history.store import Store


class Try(NamedTuple):
    """One finished try at a target, from whichever attempt it was part of, or at a whole run."""

    attempt: int
    took_s: float
    hints: int
    outcome: Outcome


@dataclass(frozen=True)
class Tally:
    """What the tries at one target add up to; times are of those that were passed.

    `times_s` and `tries` are the last ones, the oldest first; `best_before_s` is the best time
    before `tries`.
    """

    attempts: int
    passed: int
    best_s: float | None
    median_s: float | None
    times_s: tuple[float, ...]
    tries: tuple[Try, ...]
    best_before_s: float | None


@dataclass(frozen=True)
class Met:
    """A named bug of a target: in how many saves, and how long they stood before the next."""

    target: str
    bug: str
    times: int
    lost_s: float


_AT_TARGET = (
    "FROM (SELECT attempt_id AS id, took_s, hints, outcome FROM splits "
    "WHERE track = ?1 AND target = ?2 AND alone = 1) "
)
_WHOLE_RUN = (
    "FROM (SELECT a.id, a.run_s AS took_s, (SELECT count(*) FROM attempt_hints h "
    "WHERE h.attempt_id = a.id) AS hints, a.state AS outcome FROM attempts a "
    "WHERE a.track = ?1 AND a.kind = ?2 AND a.state IN ('passed', 'given up')) "
)


ROW = (
    "attempt",
    "track",
    "kind",
    "state",
    "started",
    "target",
    "outcome",
    "took_s",
    "hints",
    "run_s",
    "paused_s",
    "slept_s",
    "folder",
)
"""The columns of `Figures.rows`."""


class Figures:
    """The figures in an open history."""

    def __init__(self, store: Store) -> None:
        self._store = store

    def targets(self, track: str) -> list[str]:
        """Return the targets of a track at which there were tries."""
        rows = self._store.read("SELECT DISTINCT target FROM splits WHERE track = ?", (track,))
        return [row[0] for row in rows]

    def tally(self, track: str, target: str, last: int, rated: int) -> Tally:
        """Add up the tries at a target: the times of the `last`, and the last `rated` whole.

        What was written from an empty engine counts as no try at one target.
        """
        return self._tally(_AT_TARGET, track, target, last, rated)

    def run_tally(self, track: str, kind: Kind, last: int, rated: int) -> Tally:
        """Add up the whole runs of one kind."""
        return self._tally(_WHOLE_RUN, track, kind, last, rated)

    def _tally(self, tries: str, track: str, name: str, last: int, rated: int) -> Tally:
        """Ask for each figure by itself: each is a walk along one index.

        A `+` keeps a column from choosing the index; the one that is sorted by has to.
        """

        def ask(what: str, after: str, *values: object) -> list[tuple[Any, ...]]:
            return self._store.read(f"SELECT {what} {tries} {after}", (track, name, *values))

        passed = "WHERE outcome = 'passed'"
        counts = dict(ask("outcome, count(*)", "GROUP BY outcome"))
        count = counts.get("passed", 0)
        middle = ask("took_s", f"{passed} ORDER BY took_s LIMIT ?3 OFFSET ?4", *_middle(count))
        best = ask("took_s", f"{passed} ORDER BY took_s LIMIT 1")
        times = ask("took_s", "WHERE +outcome = 'passed' ORDER BY id DESC LIMIT ?3", last)
        latest = [Try(*row) for row in ask("*", "ORDER BY id DESC LIMIT ?3", rated)][::-1]
        first = latest[0].attempt if latest else 0
        before = ask("took_s", f"{passed} AND +id < ?3 ORDER BY took_s LIMIT 1", first)
        return Tally(
            sum(counts.values()),
            count,
            best[0][0] if best else None,
            sum(row[0] for row in middle) / len(middle) if middle else None,
            tuple(row[0] for row in reversed(times)),
            tuple(latest),
            before[0][0] if before else None,
        )

    def bests(self, track: str, kind: Kind, besides: int = 0) -> dict[str, float]:
        """Return the shortest time in which each target was passed, in runs of one kind.

        Of a target alone and in the ladder the conditions are the same. One attempt is left
        out: the one that is to be compared.
        """
        same = "a.kind = 'full'" if kind == "full" else "a.kind != 'full'"
        rows = self._store.read(
            "SELECT s.target, min(s.took_s) FROM splits s JOIN attempts a "  # noqa: S608
            f"ON a.id = s.attempt_id WHERE a.track = ? AND {same} AND s.outcome = 'passed' "
            "AND a.id != ? GROUP BY s.target",
            (track, besides),
        )
        return dict(rows)

    def best_run(self, track: str, kind: Kind) -> float | None:
        """Return the shortest time of a whole run of one kind."""
        rows = self._store.read(
            "SELECT min(run_s) FROM attempts WHERE track = ? AND kind = ? AND state = 'passed'",
            (track, kind),
        )
        return rows[0][0] if rows else None

    def bugs(self, track: str) -> list[Met]:
        """Return the named bugs of a track's saves or answers, the one that took longest first."""
        rows = self._store.read(
            "SELECT target, bug, count(*), coalesce(sum(lost), 0.0) AS lost_s FROM ("
            "SELECT target, bug, until_s - run_s AS lost FROM saves "
            "WHERE track = ?1 AND bug IS NOT NULL UNION ALL "
            "SELECT a.target, s.bug, s.took_s FROM answers s JOIN attempts a "
            "ON a.id = s.attempt_id WHERE a.track = ?1 AND s.bug IS NOT NULL) "
            "GROUP BY target, bug ORDER BY lost_s DESC, count(*) DESC, bug",
            (track,),
        )
        return [Met(*row) for row in rows]

    def rows(self, track: str | None) -> list[dict[str, object]]:
        """Return a row for each target that ended in an attempt, one for an attempt with none."""
        found = self._store.read(
            "SELECT a.id, a.track, a.kind, a.state, strftime('%Y-%m-%dT%H:%M:%SZ', a.at, "
            "'unixepoch'), coalesce(s.target, a.target), s.outcome, s.took_s, s.hints, a.run_s, "
            "a.paused_s, a.slept_s, a.folder FROM attempts a "
            "LEFT JOIN splits s ON s.attempt_id = a.id "
            "WHERE ?1 IS NULL OR a.track = ?1 ORDER BY a.id, s.run_s",
            (track,),
        )
        return [dict(zip(ROW, row, strict=True)) for row in found]


def _middle(count: int) -> tuple[int, int]:
    """Return how many values make the median of so many, and how many stand before them."""
    return 2 - count % 2, max(0, (count - 1) // 2)
