"""Grade a file on every save, one target at a time, and move on when it turns green."""

from __future__ import annotations

import gc
import queue
from collections.abc import Iterator
from dataclasses import dataclass, replace

from autodrill.catalog import Target
from autodrill.engines.standby import Standby
from autodrill.errors import AutodrillError
from autodrill.practice.check import Checked, CheckRequest, Grader, save
from autodrill.results import CheckResult
from autodrill.stubs import without
from autodrill.watch import Follower, Saved

_TICK_S = 0.5
"""Waiting is done in steps of this, so that Ctrl-C is heard on every system."""


@dataclass(frozen=True)
class Seen:
    """What came of one save.

    `checked` is None where the file is gone. `turned_green` names the targets that this save
    has turned green; `more` says that this save has another verdict to come.
    """

    checked: Checked | None
    file: str
    turned_green: tuple[str, ...] = ()
    more: bool = False


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
            yield from watching.see(_latest(events))
            standby.refill()
            gc.freeze()
    finally:
        follower.close()
        standby.close()


def keep(seen: Seen) -> list[str]:
    """Note a verdict in the history, and return what there is to say about the history."""
    return save(seen.checked) if seen.checked is not None and not seen.more else []


class Watching:
    """What is known from one save to the next: what is being worked on, and what is green."""

    def __init__(self, grader: Grader, standby: Standby) -> None:
        self._grader = grader
        self._standby = standby
        self._current: Target | None = None
        self._green: set[str] = set()
        self._proved: str | None = None

    def see(self, saved: Saved) -> Iterator[Seen]:
        """Grade what was saved."""
        if saved.data is None:
            yield Seen(None, self._grader.subject.shown)
        elif self._grader.chosen:
            yield self._seen(self._named())
        else:
            yield from self._in_order()

    def _in_order(self) -> Iterator[Seen]:
        """Grade the target that is worked on, and when it is green all of them."""
        turned: tuple[str, ...] = ()
        if self._current is not None:
            seen = self._seen(self._grader.grade(self._standby.take(), self._current))
            if self._current.id not in self._green:
                yield seen
                return
            turned = seen.turned_green
            yield replace(seen, more=True)
        seen = self._seen(self._grader.grade(self._standby.take()))
        assert seen.checked is not None
        self._current = self._first_not_green(seen.checked.result)
        yield replace(seen, turned_green=tuple(dict.fromkeys((*turned, *seen.turned_green))))

    def _named(self) -> Checked:
        """Grade what was named, and what that needs where it may have changed.

        As long as nothing has changed outside the functions that are named, what they need is
        as green as it was.
        """
        beside: str | None = None

        def is_proved(data: bytes) -> bool:
            nonlocal beside
            beside = self._beside(data)
            return beside is not None and beside == self._proved

        checked = self._grader.grade(self._standby.take(), alone=is_proved)
        if beside is None or beside != self._proved:
            done = all(one.verdict not in ("blocked", "error") for one in checked.result.targets)
            self._proved = beside if done else None
        return checked

    def _beside(self, data: bytes) -> str | None:
        """Return what the text holds beside what was named, None where that can't be told."""
        symbols = [one for chosen in self._grader.chosen for one in chosen.target.symbols]
        try:
            return without(data.decode(), symbols)
        except (UnicodeDecodeError, AutodrillError):
            return None

    def _seen(self, checked: Checked) -> Seen:
        """Note which targets are green now, and tell which of them were not before."""
        green = {one.id: one.verdict == "pass" for one in checked.result.targets}
        turned = [id for id, is_green in green.items() if is_green and id not in self._green]
        was_seen = self._current is not None
        self._green -= {id for id, is_green in green.items() if not is_green}
        self._green |= set(turned)
        return Seen(checked, self._grader.subject.shown, tuple(turned) if was_seen else ())

    def _first_not_green(self, result: CheckResult) -> Target | None:
        track = self._grader.subject.track
        done = ("pass",) if track.in_order else ("pass", "todo")
        verdicts = {one.id: one.verdict for one in result.targets}
        for target in track.targets:
            if verdicts.get(target.id, "pass") not in done:
                return target
        return None


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
