"""Grade a file on every save, one target at a time, and move on when it turns green."""

from __future__ import annotations

import gc
import queue
from collections.abc import Iterator
from dataclasses import dataclass

from autodrill.catalog import Target
from autodrill.engines.standby import Standby
from autodrill.practice.check import Checked, CheckRequest, Grader, save
from autodrill.results import CheckResult
from autodrill.watch import Follower, Saved

_TICK_S = 0.5
"""Waiting is done in steps of this, so that Ctrl-C is heard on every system."""


@dataclass(frozen=True)
class Seen:
    """What came of one save.

    `checked` is None where the file is gone. `turned_green` names the targets that this save
    has turned green; `notices` is what there is to say about the history.
    """

    checked: Checked | None
    file: str
    turned_green: tuple[str, ...] = ()
    notices: tuple[str, ...] = ()


def watch(request: CheckRequest, *, poll: bool = False) -> Iterator[Seen]:
    """Yield what comes of the file as it is, and then of every save, without end.

    With nothing named, the first target that is not green is graded alone at each save, so
    that a verdict takes no longer than it has to; once it is green everything is graded. Where
    the order is free, that is the first target that is wrong, and no target that is blank.
    """
    grader = Grader(request)
    events: queue.SimpleQueue[Saved] = queue.SimpleQueue()
    standby = Standby(grader.subject.track.scenarios)
    follower = Follower(grader.subject.file, events, poll=poll)
    gc.enable()
    try:
        watching = Watching(grader, standby)
        while True:
            saved = _latest(events)
            yield watching.see(saved)
            standby.refill()
            gc.freeze()
    finally:
        follower.close()
        standby.close()


class Watching:
    """What is known from one save to the next: which target is being worked on."""

    def __init__(self, grader: Grader, standby: Standby) -> None:
        self._grader = grader
        self._standby = standby
        self._current: Target | None = None
        self._green: set[str] = set()

    def see(self, saved: Saved) -> Seen:
        """Grade what was saved."""
        shown = self._grader.subject.shown
        if saved.data is None:
            return Seen(None, shown)
        checked = self._grade()
        green = {one.id for one in checked.result.targets if one.verdict == "pass"}
        turned = tuple(one for one in green if self._current and one not in self._green)
        self._green |= green
        if not self._grader.chosen:
            self._current = self._first_not_green(checked.result)
        return Seen(checked, shown, turned, tuple(save(checked)))

    def _grade(self) -> Checked:
        if self._current is not None:
            checked = self._grader.grade(self._standby.take(), self._current)
            if checked.result.verdict != "pass":
                self._green.discard(self._current.id)
                return checked
        return self._grader.grade(self._standby.take())

    def _first_not_green(self, result: CheckResult) -> Target | None:
        for one in result.targets:
            is_free = not self._grader.subject.track.in_order
            if one.verdict == "pass" or (is_free and one.verdict == "todo"):
                continue
            if one.id in {t.id for t in self._targets()}:
                return self._grader.subject.track.target(one.id)
        return None

    def _targets(self) -> tuple[Target, ...]:
        return self._grader.subject.track.targets


def _latest(events: queue.SimpleQueue[Saved]) -> Saved:
    """Wait for a save, and of several take the last."""
    while True:
        try:
            saved = events.get(timeout=_TICK_S)
        except queue.Empty:
            continue
        while not events.empty():
            saved = events.get()
        return saved
