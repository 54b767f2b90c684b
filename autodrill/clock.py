"""The clock of a timed attempt: monotonic, with pauses, and honest about a sleep.

A laptop's sleep shows in one of two ways: the monotonic clock stood still while another went
on, or both went on while nobody looked. Either way it is not counted, and shown. Where there
is a clock that tells a sleep, both going on is none: the process was stopped (Ctrl-Z) while
the machine, and perhaps the learner, were awake, so that counts. A wall clock that is set back
or forth changes nothing.
"""

from __future__ import annotations

import time
from collections import deque
from collections.abc import Callable
from dataclasses import dataclass

ASLEEP_S = 20.0
"""The clock is looked at several times a second; after a gap this long it was asleep."""

_MARKS = 4096
"""So many readings are remembered: what was saved is often known to be green only later."""


@dataclass(frozen=True)
class Reading:
    """What a clock shows, in seconds: what counts, and what does not."""

    run_s: float
    paused_s: float
    slept_s: float


class Clock:
    """Counts the seconds of one attempt.

    Parameters
    ----------
    run_s, paused_s, slept_s : float
        What had been counted when an attempt is taken up again.
    now, through : callables
        A monotonic clock in seconds, and one that goes on through a sleep.
    tells_sleep : bool
        Whether the first stands still in a sleep and the second is never set.
    """

    def __init__(
        self,
        run_s: float = 0.0,
        paused_s: float = 0.0,
        slept_s: float = 0.0,
        now: Callable[[], float] = time.monotonic,
        through: Callable[[], float] | None = None,
        tells_sleep: bool = hasattr(time, "CLOCK_BOOTTIME"),
    ) -> None:
        self._now, self._through = now, through or _through_sleep
        self._tells_sleep = tells_sleep
        self._run_s, self._paused_s, self._slept_s = run_s, paused_s, slept_s
        self._last, self._last_through = self._now(), self._through()
        self._marks = deque([(self._last, run_s)], maxlen=_MARKS)
        self.is_paused = False

    def read(self) -> Reading:
        """Bring the count up to now and return it."""
        self._count(self._now(), self._through())
        return Reading(self._run_s, self._paused_s, self._slept_s)

    def at(self, moment: float) -> float:
        """Return the seconds run at a moment, of now or of the last minutes."""
        after = self._run_s + (0.0 if self.is_paused else max(0.0, moment - self._last))
        for marked, run_s in reversed(self._marks):
            if marked <= moment:
                return min(run_s + moment - marked, after)
            after = run_s
        return after

    def pause(self) -> None:
        """Stop counting until `resume`."""
        self.read()
        self.is_paused = True

    def resume(self) -> None:
        """Count again."""
        self.read()
        self.is_paused = False

    def _count(self, now: float, through: float) -> None:
        gap, gap_through = now - self._last, through - self._last_through
        self._last, self._last_through = now, through
        if gap_through - gap > ASLEEP_S:
            self._slept_s += gap_through - gap
        if gap > ASLEEP_S and not self._tells_sleep:
            self._slept_s += gap
        elif self.is_paused:
            self._paused_s += gap
        else:
            self._run_s += gap
        self._marks.append((now, self._run_s))


def _through_sleep() -> float:
    """Read a clock that a sleep does not stop: since boot where there is one, else the wall's."""
    boot = getattr(time, "CLOCK_BOOTTIME", None)
    return time.clock_gettime(boot) if boot is not None else time.time()
