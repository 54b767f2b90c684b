"""An attempt at the whiteboard: its clock, its lines from stdin, its place in the history."""

from __future__ import annotations

import time
from dataclasses import replace
from typing import Self

from autodrill.clock import Clock
from autodrill.history import Answer, Answers, Attempt, Attempts, Figures, History, Split
from autodrill.history.attempts import QUIZ, TRACE, Outcome, State
from autodrill.keys import read_line
from autodrill.places import history_file
from autodrill.practice.process import is_running, own_process

_BEAT_S = 1.0


class Sitting:
    """An attempt that is under way; use it as a context manager."""

    def __init__(self, track: str, target: str) -> None:
        self._track, self._target = track, target
        self._beaten = 0.0
        self._answered_s = 0.0

    def __enter__(self) -> Self:
        self._history = History(history_file())
        self.attempts, self.answers = Attempts(self._history), Answers(self._history)
        self._close_abandoned()
        pid, born = own_process()
        now = time.time()
        self.attempt = self.attempts.begin(
            lambda number, _: Attempt(
                number, now, now, self._track, "target", self._target, "open", "", "", pid, born
            )
        )
        self.best_s = Figures(self._history).bests(self._track, "target").get(self._target)
        self.clock = Clock()
        return self

    def __exit__(self, *_: object) -> None:
        try:
            if self.is_open:
                self.beat()
        finally:
            self._history.__exit__()

    @property
    def is_open(self) -> bool:
        """Tell whether the attempt has not ended."""
        return self.attempt.state == "open"

    @property
    def run_s(self) -> float:
        """Return the seconds run."""
        return self.clock.read().run_s if self.is_open else self.attempt.run_s

    def take_notices(self) -> tuple[str, ...]:
        """Return what the history has to say, each only once."""
        notices, self._history.notices[:] = tuple(self._history.notices), []
        return notices

    def line(self) -> str | None:
        """Return the next line of stdin, None at its end."""
        return read_line(self.beat)

    def beat(self) -> None:
        """Read the clock and, once a second, write down how far it is."""
        reading = self.clock.read()
        if time.monotonic() - self._beaten > _BEAT_S:
            self._beaten = time.monotonic()
            self._put(reading.run_s)

    def note(
        self, question: str, given: str, verdict: str, bug: str | None = None, message: str = ""
    ) -> Answer:
        """Keep an answer; what it took counts from the one before."""
        run_s = self.run_s
        answer = Answer(question, given, verdict, run_s, run_s - self._answered_s, bug, message)
        self._answered_s = run_s
        self.answers.add(self.attempt.id, answer)
        return answer

    def end(self, state: State, *, hints: int = 0) -> None:
        """End the attempt; `hints` counts what was not found alone."""
        run_s = self.run_s
        if state != "closed":
            outcome: Outcome = "passed" if state == "passed" else "given up"
            split = Split(self._target, time.time(), run_s, run_s, hints, outcome)
            self.attempts.add_split(self.attempt, split)
        self.attempt = replace(self.attempt, state=state)
        self._put(run_s)

    def _put(self, run_s: float) -> None:
        reading = self.clock.read()
        self.attempt = replace(self.attempt, beat=time.time(), run_s=run_s, slept_s=reading.slept_s)
        self.attempts.put(self.attempt)

    def _close_abandoned(self) -> None:
        """Close what was at the whiteboard when its process was ended: it counts neither way."""
        for one in self.attempts.open_attempts():
            if one.track in (TRACE, QUIZ) and not is_running(one):
                self.attempts.put(replace(one, state="closed"))
