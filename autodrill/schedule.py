"""Which drill is next: from how each try ended, with nobody asked how it felt.

The intervals are those of the `fsrs` package; what is decided here is the rating.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import Literal

Rating = Literal["again", "hard", "good", "easy"]

_AGAIN_AFTER = timedelta(minutes=10)
"""A drill that was given up, or that a first try took long for, comes back in this session."""

RATED = 5
"""How many of the last tries tell how weak a target is."""


@dataclass(frozen=True)
class Ended:
    """How one try ended: `par_s` is the target's time or the best one, None where neither is."""

    passed: bool
    took_s: float
    par_s: float | None
    hints: int


@dataclass(frozen=True)
class Card:
    """What is known of a target: when it is due, and for how many days it should hold."""

    due: float
    stability: float


@dataclass(frozen=True)
class Due:
    """One target in the order in which to drill; `due` is None where it was never tried."""

    target: str
    due: float | None
    is_due: bool


def rate(ended: Ended) -> Rating:
    """Grade a try from its outcome."""
    if not ended.passed:
        return "again"
    if ended.hints:
        return "hard"
    if ended.par_s is None:
        return "good"
    if ended.took_s > ended.par_s:
        return "hard"
    return "easy" if ended.took_s <= ended.par_s / 2 else "good"


def review(card: str | None, rating: Rating, at: float) -> tuple[str, float]:
    """Return the card after a try at a moment, as JSON, and when it is due.

    A card that is damaged counts as a new one.
    """
    import fsrs  # here: a check schedules nothing

    scheduler = fsrs.Scheduler(
        learning_steps=(_AGAIN_AFTER,), relearning_steps=(_AGAIN_AFTER,), enable_fuzzing=False
    )
    moment = datetime.fromtimestamp(at, UTC)
    try:
        before = fsrs.Card(due=moment) if card is None else fsrs.Card.from_json(card)
    except (ValueError, KeyError, TypeError):
        before = fsrs.Card(due=moment)
    after, _ = scheduler.review_card(before, fsrs.Rating[rating.capitalize()], moment)
    return after.to_json(), after.due.timestamp()


def read_card(text: str, due: float) -> Card:
    """Read what matters for the order from a card's JSON; a damaged one counts as weak."""
    try:
        return Card(due, float(json.loads(text)["stability"] or 0.0))
    except (ValueError, TypeError, KeyError):
        return Card(due, 0.0)


def order(targets: Sequence[str], cards: Mapping[str, Card], now: float) -> list[Due]:
    """Put targets in the order in which to drill them.

    First what is due, the weakest first; then what was never tried, in the order of the
    ladder; then the rest, the soonest first.
    """
    tried = [one for one in targets if one in cards]
    due = sorted((one for one in tried if cards[one].due <= now), key=lambda x: cards[x].stability)
    later = sorted((one for one in tried if cards[one].due > now), key=lambda x: cards[x].due)
    new = [one for one in targets if one not in cards]
    return [
        *(Due(one, cards[one].due, True) for one in due),
        *(Due(one, None, True) for one in new),
        *(Due(one, cards[one].due, False) for one in later),
    ]


def weakness(tries: Sequence[tuple[Rating, float]], par_s: float | None) -> tuple[float, float]:
    """Return what targets are sorted by, the weakest highest.

    First how badly the last five tries were rated, then how long they took beside the par.
    """
    if not tries:
        return (0.0, 0.0)
    cost: dict[Rating, int] = {"again": 3, "hard": 2, "good": 1, "easy": 0}
    last = tries[-RATED:]
    mean_cost = sum(cost[rating] for rating, _ in last) / len(last)
    mean_s = sum(took_s for _, took_s in last) / len(last)
    return (mean_cost, mean_s / par_s if par_s else mean_s)
