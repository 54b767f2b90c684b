"""How it is going: of each target the tries, the times, the bugs; and what is due."""

from __future__ import annotations

import statistics
import time
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from autodrill.catalog import Track, load_track, track_ids
from autodrill.errors import AutodrillError
from autodrill.history import Answers, Attempts, Figures, History, Try
from autodrill.history.answers import Reviewed
from autodrill.history.attempts import TRACE
from autodrill.places import history_file
from autodrill.practice.legs import SECONDS, ladder, par_s, whole_par_s, whole_target
from autodrill.practice.locate import locate
from autodrill.practice.whiteboard import DueThere, due_there
from autodrill.schedule import RATED, Due, Ended, Rating, order, rate, read_card, weakness
from autodrill.workspace import find_workspace

TREND = 12


@dataclass(frozen=True)
class TargetStats:
    """What is known of one target, or of whole runs; times are of tries that were passed."""

    target: str
    attempts: int
    passed: int
    par_s: float | None
    best_s: float | None
    median_s: float | None
    last_s: float | None
    trend_s: tuple[float, ...]
    bugs: tuple[tuple[str, int], ...]
    weakness: tuple[float, float]


@dataclass(frozen=True)
class Stats:
    """The figures of a track, the weakest target first, whole runs last.

    `track` is None where there is no workspace; `traces` are the levels that were traced at the
    whiteboard, `decks` what the cards of each deck add up to. `estimates` tells whether the times
    to beat are estimates.
    """

    track: str | None
    targets: tuple[TargetStats, ...]
    traces: tuple[TargetStats, ...]
    decks: tuple[Reviewed, ...]
    notices: tuple[str, ...]
    estimates: bool = False


@dataclass(frozen=True)
class Next:
    """What to drill in a track, in order."""

    track: str
    order: tuple[Due, ...]
    there: DueThere
    now: float
    notices: tuple[str, ...]


def stats(track_id: str | None = None) -> Stats:
    """Return the figures of the workspace's track, or of a named one, and of the whiteboard.

    Where there is no workspace, what was done at the whiteboard is all there is to tell.
    """
    with History(history_file()) as history:
        figures = Figures(history)
        traces, decks = _traces(figures), tuple(Answers(history).reviewed())
        try:
            track = _track(track_id)
        except AutodrillError:
            if track_id is not None or not (traces or decks):
                raise
            return Stats(None, (), traces, decks, tuple(history.notices))
        by_target = _by_target(figures, track.id)
        bugs = figures.bugs(track.id)
        names = [one.id for one in ladder(track)]
        rows = [
            _figures(name, by_target.get(name, []), par_s(track.target(name)), bugs.get(name, {}))
            for name in names
        ]
        rows.sort(key=lambda row: row.weakness, reverse=True)
        for kind in ("ladder", "full"):
            if kind in by_target:
                rows.append(_figures(kind, by_target[kind], whole_par_s(track, kind), {}))
        return Stats(track.id, tuple(rows), traces, decks, tuple(history.notices), track.estimates)


def next_drill(track_id: str | None = None) -> Next:
    """Return what is due in the workspace's track, or in a named one."""
    track = _track(track_id)
    with History(history_file()) as history:
        due, there = due_order(track, history), due_there(history)
        return Next(track.id, due, there, time.time(), tuple(history.notices))


def due_order(track: Track, history: History) -> tuple[Due, ...]:
    """Put a track's targets in the order in which to drill them, the whole last of the new."""
    cards = {
        target: read_card(card, due)
        for target, (card, due) in Attempts(history).cards(track.id).items()
    }
    whole = whole_target(track)
    names = [one.id for one in ladder(track)] + ([whole.id] if whole else [])
    return tuple(order(names, cards, time.time()))


def _by_target(figures: Figures, track: str) -> dict[str, list[Try]]:
    found: dict[str, list[Try]] = {}
    for one in figures.tries(track):
        found.setdefault(one.target, []).append(one)
    return found


def _traces(figures: Figures) -> tuple[TargetStats, ...]:
    by_level = _by_target(figures, TRACE)
    if not by_level:
        return ()
    from autodrill.trace.levels import LEVELS  # here: it needs NumPy

    bugs = figures.bugs(TRACE)
    rows = [
        _figures(one.id, by_level[one.id], one.minutes * SECONDS, bugs.get(one.id, {}))
        for one in LEVELS
        if one.id in by_level
    ]
    return tuple(sorted(rows, key=lambda row: row.weakness, reverse=True))


def _track(track_id: str | None) -> Track:
    if track_id is not None:
        return load_track(track_id)
    if find_workspace(Path.cwd()) is None and len(track_ids()) == 1:
        return load_track(track_ids()[0])
    return locate().track


def _figures(
    target: str, tries: Sequence[Try], par: float | None, bugs: dict[str, int]
) -> TargetStats:
    times = [one.took_s for one in tries if one.outcome == "passed"]
    return TargetStats(
        target,
        len(tries),
        len(times),
        par,
        min(times, default=None),
        statistics.median(times) if times else None,
        times[-1] if times else None,
        tuple(times[-TREND:]),
        tuple(bugs.items())[:3],
        weakness(_rated(tries, par), par or min(times, default=None)),
    )


def _rated(tries: Sequence[Try], par: float | None) -> list[tuple[Rating, float]]:
    """Rate the last tries as they were rated when they ended: by the par or the best before."""
    before, last = tries[:-RATED], tries[-RATED:]
    best = min((one.took_s for one in before if one.outcome == "passed"), default=None)
    rated = []
    for one in last:
        is_passed = one.outcome == "passed"
        ended = Ended(is_passed, one.took_s, par if par is not None else best, one.hints)
        rated.append((rate(ended), one.took_s))
        if is_passed:
            best = one.took_s if best is None else min(best, one.took_s)
    return rated
