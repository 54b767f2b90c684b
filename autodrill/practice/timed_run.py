"""One timed run: the clock, the file, the keys and the grader, brought together."""

from __future__ import annotations

import contextlib
import gc
import queue
import time
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any, BinaryIO, Literal

from autodrill.history import Attempt, History
from autodrill.keys import Key, reading
from autodrill.practice.attempt_file import first_blank, is_of_last_target, put_away, put_fresh
from autodrill.practice.editor import Editor, editor_command
from autodrill.practice.legs import Leg
from autodrill.practice.timed_board import Board
from autodrill.practice.timed_grading import Graded, Grading
from autodrill.practice.timed_view import Event, Trouble, View
from autodrill.watch import Follower, Saved
from autodrill.workspace import Workspace

_TICK_S = 0.2


class Run:
    """An attempt that is under way; use it as a context manager and show its `views`.

    `live` reads keys from the terminal and yields views as time runs. `held` is the claim on
    the file. `blank` is what was written into a fresh file: it is not graded. `green` is the
    text of the last target, in which this one's symbols are given.
    """

    def __init__(
        self,
        workspace: Workspace,
        history: History,
        attempt: Attempt,
        *,
        live: bool = False,
        edit: bool = False,
        poll: bool = False,
        held: BinaryIO | None = None,
        blank: bytes = b"",
        green: bytes = b"",
    ) -> None:
        self._workspace, self._history = workspace, history
        self._live, self._edit, self._poll = live, edit, poll
        self._file = Path(attempt.file)
        self._board = Board(workspace, history, attempt)
        self._events: queue.SimpleQueue[Any] = queue.SimpleQueue()
        self._blank = blank
        self._fresh_at = time.monotonic()
        self._green, self._held = green, held
        self._waiting: Saved | None = None
        self._asks = False
        self._trouble: Trouble | None = None
        self._editor: Editor | None = None
        self._is_muted = False
        self._stack, self._keys = contextlib.ExitStack(), contextlib.ExitStack()

    def __enter__(self) -> Run:
        self._stack.callback(self._history.__exit__)
        if self._held is not None:
            self._stack.enter_context(self._held)
        self._grading = Grading(self._workspace, self._file, self._events)
        self._stack.callback(self._grading.close)
        self._follower = Follower(self._file, self._events, poll=self._poll)
        self._stack.callback(self._follower.close)
        self._stack.callback(self._keys.close)
        gc.enable()
        return self

    def __exit__(self, *_: object) -> None:
        try:
            if self._board.is_open:
                self._board.beat()
        finally:
            self._stack.close()

    @property
    def passed(self) -> bool:
        """Tell whether everything has turned green."""
        return self._board.attempt.state == "passed"

    def views(self) -> Iterator[View]:
        """Yield what to show whenever something happens and, on a live screen, as time runs."""
        self._read_keys()
        yield self._view("start")
        if self._edit:
            yield from map(self._view, self._open_editor())
        while self._board.is_open or self._editor is not None:
            for event in self._next():
                yield self._view(event)
        yield self._view("end")

    @property
    def left(self) -> Attempt | None:
        """Return the attempt if it was left open."""
        return self._board.attempt if self._board.is_open else None

    def interrupt(self) -> View | None:
        """Take Ctrl-C for giving up, where there are no keys to do so with."""
        if self._live or not self._board.is_open:
            return None
        self._board.give_up()
        return self._view("end")

    # What happens ----------------------------------------------------------------------------

    def _next(self) -> Iterator[Event]:
        """Wait for something to happen and say what it was."""
        try:
            event = self._events.get(timeout=_TICK_S)
        except queue.Empty:
            event = None
        self._board.clock.read()
        self._see_the_editor()
        if self._board.is_open:
            yield from self._happened(event)
        if event is None and self._live:
            yield "tick"
        if self._board.is_open:
            self._board.beat(if_due=True)

    def _happened(self, event: object) -> Iterator[Event]:
        if isinstance(event, Saved):
            yield from self._saved(event)
        elif isinstance(event, Graded):
            yield from self._graded(event)
        elif isinstance(event, Key):
            yield from self._pressed(event.name)

    def _saved(self, saved: Saved) -> Iterator[Event]:
        if saved.noticed < self._fresh_at:
            return
        if saved.data == self._blank:
            self._trouble = None if self._trouble == "gone" else self._trouble
            return
        self._trouble = None
        if saved.data is None:
            self._trouble = "gone"
            yield "gone"
        elif self._is_stale(saved.data):
            self._put_fresh()
            self._trouble = "stale"
            yield "stale"
        else:
            self._waiting = saved
            self._grade_waiting()
            yield "save"

    def _grade_waiting(self) -> None:
        """Grade the latest save, unless one is being graded or the clock stands still."""
        if self._waiting is None or self._grading.is_busy or self._board.clock.is_paused:
            return
        saved, self._waiting = self._waiting, None
        is_full = self._board.attempt.kind == "full"
        legs = self._board.open_legs if is_full else [self._board.leg]
        self._grading.submit(saved, [leg.target for leg in legs], whole=is_full)

    def _graded(self, graded: Graded) -> Iterator[Event]:
        self._grading.done()
        if graded.error is not None:
            raise graded.error
        if graded.saved.noticed >= self._fresh_at:
            turned = self._board.judge(graded)
            if turned and self._board.is_open and self._board.attempt.kind == "ladder":
                self._green = graded.text
                self._next_file(turned[-1])
            yield "split" if turned else "verdict"
        if self._board.is_open:
            self._grade_waiting()

    def _pressed(self, key: str) -> Iterator[Event]:
        is_sure, self._asks = self._asks and key in "gq", False
        if is_sure:
            self._board.give_up()
        elif key in "gq":
            self._asks = True
            yield "tick"
        elif key == "p":
            yield self._toggle_pause()
        elif key == "h":
            self._board.show_hint()
            yield "hint"
        elif key == "e" and editor_command():
            yield from self._open_editor()
        else:
            yield "tick"

    def _toggle_pause(self) -> Literal["pause", "resume"]:
        clock = self._board.clock
        if not clock.is_paused:
            clock.pause()
            self._board.beat()
            return "pause"
        clock.resume()
        if self._waiting is not None:  # saved while the clock stood still: it counts from now
            self._waiting = replace(self._waiting, saved=time.monotonic())
        self._grade_waiting()
        return "resume"

    # The terminal ----------------------------------------------------------------------------

    def _open_editor(self) -> Iterator[Event]:
        """Give the terminal to the editor, once what shows the run has let go of it."""
        self._keys.close()
        self._is_muted = True
        yield "edit"
        try:
            line = first_blank(self._file, self._workspace.track)
            self._editor = Editor(self._file, line)
        except BaseException:
            self._read_keys()
            raise

    def _see_the_editor(self) -> None:
        if self._editor is not None and self._editor.has_closed():
            self._editor = None
            self._is_muted = False
            self._read_keys()

    def _read_keys(self) -> None:
        if self._live:
            self._keys.enter_context(reading(self._events))

    def _view(self, event: Event) -> View:
        notices, self._history.notices[:] = list(self._history.notices), []
        return replace(
            self._board.view(event),
            notices=tuple(notices),
            trouble=self._trouble,
            is_grading=self._grading.is_busy,
            is_muted=self._is_muted,
            asks=self._asks,
            can_edit=bool(editor_command()),
        )

    # The file --------------------------------------------------------------------------------

    def _is_stale(self, data: bytes) -> bool:
        last: Leg | None = self._board.leg_before
        if not self._green or last is None:
            return False
        target = self._board.leg.target
        return is_of_last_target(data, self._green, last.target, target, self._workspace.track)

    def _next_file(self, last: Leg) -> None:
        put_away(self._workspace, self._file, self._board.attempt.id, last.target.id)
        self._put_fresh()
        self._waiting = None
        self._board.begin_leg()

    def _put_fresh(self) -> None:
        self._fresh_at = time.monotonic()
        self._follower.forget()
        symbols = self._board.leg.target.symbols
        self._blank = put_fresh(self._file, self._workspace.track, symbols)
