"""How it is going: of each target the tries, the times, the bugs; and what is due."""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from autodrill.catalog import Track, load_track, track_ids
from autodrill.errors import AutodrillError
from autodrill.history import Answers, Attempts, Figures, History, Met, Tally
from autodrill.history.answers import Reviewed
from autodrill.history.attempts import TRACE, Kind
from autodrill.places import history_file
from autodrill.practice.legs import SECONDS, ladder, par_s, whole_par_s, whole_target
from autodrill.practice.locate import locate
from autodrill.practice.whiteboard import DueThere, due_there
from autodrill.schedule import RATED, Due, Ended, Rating, order, rate, read_card, weakness
from autodrill.workspace import find_workspace

TREND = 12
_BUGS = 3
_WHOLE: tuple[Kind, ...] = ("ladder", "full")


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
    bugs: tuple[Met, ...]
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
        bugs = figures.bugs(track.id)
        rows = [
            _figures(
                one.id,
                figures.tally(track.id, one.id, TREND, RATED),
                par_s(one),
                [met for met in bugs if met.target == one.id],
            )
            for one in ladder(track)
        ]
        rows.sort(key=lambda row: row.weakness, reverse=True)
        for kind in _WHOLE:
            tally = figures.run_tally(track.id, kind, TREND, RATED)
            if tally.attempts:
                rows.append(_figures(kind, tally, whole_par_s(track, kind), []))
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


def _traces(figures: Figures) -> tuple[TargetStats, ...]:
    tallies = {
        target: figures.tally(TRACE, target, TREND, RATED) for target in figures.targets(TRACE)
    }
    if not tallies:
        return ()
    from autodrill.trace.levels import LEVELS  # here: it needs NumPy

    bugs = figures.bugs(TRACE)
    rows = [
        _figures(
            one.id,
            tallies[one.id],
            one.minutes * SECONDS,
            [met for met in bugs if met.target == one.id],
        )
        for one in LEVELS
        if one.id in tallies
    ]
    return tuple(sorted(rows, key=lambda row: row.weakness, reverse=True))


def _track(track_id: str | None) -> Track:
    if track_id is not None:
        return load_track(track_id)
    if find_workspace(Path.cwd()) is None and len(track_ids()) == 1:
        return load_track(track_ids()[0])
    return locate().track


def _figures(target: str, tally: Tally, par: float | None, bugs: Sequence[Met]) -> TargetStats:
    return TargetStats(
        target,
        tally.attempts,
        tally.passed,
        par,
        tally.best_s,
        tally.median_s,
        tally.times_s[-1] if tally.times_s else None,
        tally.times_s,
        tuple(bugs[:_BUGS]),
        weakness(_rated(tally, par), par or tally.best_s),
    )


def _rated(tally: Tally, par: float | None) -> list[tuple[Rating, float]]:
    """Rate the last tries as they were rated when they ended: by the par or the best before."""
    best, rated = tally.best_before_s, []
    for one in tally.tries:
        is_passed = one.outcome == "passed"
        ended = Ended(is_passed, one.took_s, par if par is not None else best, one.hints)
        rated.append((rate(ended), one.took_s))
        if is_passed:
            best = one.took_s if best is None else min(best, one.took_s)
    return rated
