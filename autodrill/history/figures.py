"""What the attempts add up to: tries, best times, bugs, and rows to export."""

from __future__ import annotations

from typing import NamedTuple

from autodrill.history.attempts import Kind, Outcome
from autodrill.history.store import Store


class Try(NamedTuple):
    """One finished try at a target, from whichever attempt it was part of.

    A tuple, since there may be a hundred thousand.
    """

    attempt: int
    target: str
    at: float
    took_s: float
    hints: int
    outcome: Outcome


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

    def tries(self, track: str) -> list[Try]:
        """Return every finished try at the targets of a track, then those at whole runs.

        Each part is the oldest first. A whole run is a try at `ladder` or at `full`; what was
        written from an empty engine counts as no try at one target.
        """
        parts = self._store.read(
            "SELECT a.id, s.target, s.at, s.took_s, s.hints, s.outcome FROM attempts a "
            "CROSS JOIN splits s ON s.attempt_id = a.id "  # in this order nothing is sorted
            "WHERE a.track = ? AND a.kind != 'full' ORDER BY a.id",
            (track,),
        )
        whole = self._store.read(
            "SELECT a.id, a.kind, a.beat, a.run_s, (SELECT count(*) FROM attempt_hints h "
            "WHERE h.attempt_id = a.id), a.state FROM attempts a WHERE a.track = ? "
            "AND a.kind != 'target' AND a.state IN ('passed', 'given up') ORDER BY a.id",
            (track,),
        )
        return list(map(Try._make, parts + whole))

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

    def bugs(self, track: str) -> dict[str, dict[str, int]]:
        """Count of each target the named bugs of its saves, the most frequent first."""
        rows = self._store.read(
            "SELECT s.target, s.bug, count(*) AS met FROM saves s JOIN attempts a "
            "ON a.id = s.attempt_id WHERE a.track = ? AND s.bug IS NOT NULL "
            "GROUP BY s.target, s.bug ORDER BY met DESC, s.bug",
            (track,),
        )
        found: dict[str, dict[str, int]] = {}
        for target, bug, met in rows:
            found.setdefault(target, {})[bug] = met
        return found

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
