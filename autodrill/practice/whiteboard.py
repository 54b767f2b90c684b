"""What the history says of practice at the whiteboard: what is due there."""

from __future__ import annotations

import time
from dataclasses import dataclass

from autodrill.history import Answers, Attempts, History
from autodrill.history.attempts import TRACE


@dataclass(frozen=True)
class DueThere:
    """What was practised at the whiteboard and is due again: levels of `trace`, and cards."""

    levels: tuple[int, ...]
    cards: int


def due_there(history: History) -> DueThere:
    """Return what is due at the whiteboard now; what was never tried is not."""
    now = time.time()
    traced = Attempts(history).cards(TRACE)
    levels = sorted(int(name.rpartition("_")[2]) for name, (_, due) in traced.items() if due <= now)
    return DueThere(tuple(levels), sum(Answers(history).due_cards(now).values()))
