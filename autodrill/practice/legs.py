"""What a timed run consists of: its targets in order, each with its times to beat."""

from __future__ import annotations

from dataclasses import dataclass

from autodrill.catalog import Target, Track, resolve
from autodrill.history import Attempt, Figures
from autodrill.history.attempts import Kind

SECONDS = 60.0


@dataclass(frozen=True)
class Leg:
    """One target of a run; `par_s` is what the track promises, `best_s` the personal best."""

    target: Target
    par_s: float | None
    best_s: float | None

    @property
    def goal_s(self) -> float | None:
        """Return the time to be measured by: the par or, where there is none, the best."""
        return self.par_s if self.par_s is not None else self.best_s


def whole_target(track: Track) -> Target | None:
    """Return the target that covers all of a track, None if there is none."""
    everything = set(track.symbols)
    if len(track.targets) < 2:
        return None
    return next((one for one in track.targets if set(one.symbols) == everything), None)


def ladder(track: Track) -> list[Target]:
    """Return the targets of a track's ladder, in order."""
    whole = whole_target(track)
    return [one for one in track.targets if one is not whole]


def kind_of(track: Track, name: str | None, *, full: bool) -> tuple[Kind, Target]:
    """Return what was asked for, and the target to begin with."""
    whole = whole_target(track)
    chosen = resolve(track, name).target if name is not None else None
    if full or (chosen is not None and chosen is whole):
        return "full", track.targets[0]
    if chosen is not None:
        return "target", chosen
    return "ladder", ladder(track)[0]


def legs_of(track: Track, attempt: Attempt, figures: Figures) -> tuple[Leg, ...]:
    """Return the legs of an attempt with the personal bests as they were before it."""
    kind, target = attempt.kind, attempt.target
    bests = figures.bests(track.id, kind, besides=attempt.id)
    targets = {
        "target": [one for one in track.targets if one.id == target],
        "ladder": ladder(track),
        "full": list(track.targets),
    }[kind]
    whole = whole_target(track)
    return tuple(
        Leg(one, None if kind == "full" and one is whole else par_s(one), bests.get(one.id))
        for one in targets
    )


def par_s(target: Target) -> float | None:
    """Return a target's promised time in seconds, None where none is promised."""
    return target.minutes * SECONDS if target.minutes else None


def whole_par_s(track: Track, kind: Kind) -> float | None:
    """Return the promised time of a whole run, None where none is."""
    whole = whole_target(track)
    if kind == "full" and whole is not None:
        return par_s(whole)
    minutes = [one.minutes for one in ladder(track)]
    return sum(one for one in minutes if one) * SECONDS if all(minutes) else None
