"""The figures of a timed run: its splits, hints and last verdict, on disk as they come."""

from __future__ import annotations

import time
from dataclasses import replace

from autodrill.catalog import Selection
from autodrill.clock import Clock
from autodrill.history import Attempt, Attempts, Figures, History, Split
from autodrill.history.attempts import Outcome, State
from autodrill.practice.learn import LEVELS, section
from autodrill.practice.legs import Leg, legs_of, whole_par_s, whole_target
from autodrill.practice.timed_grading import Graded
from autodrill.practice.timed_view import Event, LastVerdict, Row, ShownHint, View
from autodrill.results import Failure
from autodrill.schedule import Ended, rate, review
from autodrill.workspace import Workspace

_BEAT_S = 1.0
"""So much of an attempt is lost at most where its process is killed."""


class Board:
    """What is known of an attempt while it is under way."""

    def __init__(self, workspace: Workspace, history: History, attempt: Attempt) -> None:
        attempts, figures = Attempts(history), Figures(history)
        self._together = history.together
        self.attempt = attempt
        self.clock = Clock(attempt.run_s, attempt.paused_s, attempt.slept_s)
        self.legs = legs_of(workspace.track, attempt, figures)
        self.hint: ShownHint | None = None
        self._track, self._folder, self._attempts = workspace.track, workspace.folder, attempts
        self._best_run_s = figures.best_run(attempt.track, attempt.kind)
        self._splits = {one.target: one for one in attempts.splits(attempt.id)}
        self._hints = {
            leg.target.id: attempts.hints(attempt.id, leg.target.id) for leg in self.legs
        }
        self._verdict: LastVerdict | None = None
        self._leg_from_s = max((one.run_s for one in self._splits.values()), default=0.0)
        self._beaten = 0.0

    @property
    def is_open(self) -> bool:
        """Tell whether the attempt has not ended."""
        return self.attempt.state == "open"

    @property
    def open_legs(self) -> list[Leg]:
        """Return the legs that are not green."""
        return [leg for leg in self.legs if not self._is_green(leg)]

    @property
    def leg(self) -> Leg:
        """Return the leg that is worked on, the last where all are green."""
        return next(iter(self.open_legs), self.legs[-1])

    @property
    def leg_before(self) -> Leg | None:
        """Return the leg before the one that is worked on, None at the first."""
        index = self.legs.index(self.leg)
        return self.legs[index - 1] if index else None

    def begin_leg(self) -> None:
        """Count for the next leg from now on."""
        self.hint = None
        self._leg_from_s = self.clock.read().run_s

    def judge(self, graded: Graded) -> list[Leg]:
        """Take in what came of a save, and return the legs that it has turned green.

        A whole run ends when all of it is green together: what is not is open again.
        """
        with self._together():
            return self._judge(graded)

    def give_up(self) -> None:
        """End the attempt with its current leg given up."""
        with self._together():
            run_s = self.clock.read().run_s
            self._split(self.leg, run_s, "given up")
            self._end("given up", run_s)

    def _judge(self, graded: Graded) -> list[Leg]:
        run_s = self.clock.at(graded.saved.saved)
        self._note(graded, run_s)
        if graded.whole:
            for one in graded.results:
                if one.verdict != "pass":
                    self._splits.pop(one.id, None)
        green = {one.id for one in graded.results if one.verdict == "pass"}
        turned = [leg for leg in self.open_legs if leg.target.id in green]
        for leg in turned:
            self._split(leg, run_s, "passed")
        if not self.open_legs:
            self._end("passed", run_s)
        else:
            self.attempt = replace(self.attempt, target=self.leg.target.id)
            self.beat()
        return turned

    def show_hint(self) -> None:
        """Show the next hint on the current target, and count it if it is a new one."""
        target = self.leg.target
        level = min(self._hints[target.id] + 1, LEVELS)
        self.hint = ShownHint(level, *section(self._track, Selection(target), level))
        if level > self._hints[target.id]:
            self._hints[target.id] = level
            run_s = self.clock.read().run_s
            self._attempts.add_hint(self.attempt.id, target.id, level, run_s)

    def beat(self, *, if_due: bool = False) -> None:
        """Write down how far the clock is."""
        if if_due and time.monotonic() - self._beaten < _BEAT_S:
            return
        self._beaten = time.monotonic()
        self._put(self.clock.read().run_s)

    def view(self, event: Event) -> View:
        """Return what to show now, as far as the board knows it."""
        reading, attempt = self.clock.read(), self.attempt
        run_s = reading.run_s if self.is_open else attempt.run_s
        return View(
            event=event,
            attempt=attempt.id,
            track=attempt.track,
            kind=attempt.kind,
            state=attempt.state,
            file=attempt.file.removeprefix(f"{self._folder}/"),
            current=self._row(self.leg),
            rows=tuple(map(self._row, self.legs)),
            run_s=run_s,
            leg_s=max(0.0, run_s - self._leg_from_s),
            paused_s=reading.paused_s,
            slept_s=reading.slept_s,
            par_s=whole_par_s(self._track, attempt.kind),
            best_s=self._best_run_s,
            estimates=self._track.estimates,
            verdict=self._verdict,
            hint=self.hint,
            is_paused=self.clock.is_paused,
        )

    def _is_green(self, leg: Leg) -> bool:
        split = self._splits.get(leg.target.id)
        return split is not None and split.outcome == "passed"

    def _split(self, leg: Leg, run_s: float, outcome: Outcome) -> None:
        target = leg.target.id
        took_s = run_s - self._leg_from_s
        split = Split(target, time.time(), run_s, took_s, self._hints[target], outcome)
        self._splits[target] = split
        self._attempts.add_split(self.attempt, split)
        if self.attempt.kind == "full":
            self._leg_from_s = run_s
        else:
            self._schedule(target, Ended(outcome == "passed", took_s, leg.goal_s, split.hints))

    def _end(self, state: State, run_s: float) -> None:
        self.attempt = replace(self.attempt, state=state)
        self._put(run_s)
        whole = whole_target(self._track)
        if self.attempt.kind == "full" and whole is not None:
            goal_s = whole_par_s(self._track, "full") or self._best_run_s
            hints = sum(self._hints.values())
            self._schedule(whole.id, Ended(state == "passed", run_s, goal_s, hints))

    def _schedule(self, target: str, ended: Ended) -> None:
        rating, now = rate(ended), time.time()
        self._attempts.review(self.attempt.track, target, lambda card: review(card, rating, now))

    def _put(self, run_s: float) -> None:
        reading = self.clock.read()
        self.attempt = replace(
            self.attempt,
            beat=time.time(),
            run_s=run_s,
            paused_s=reading.paused_s,
            slept_s=reading.slept_s,
        )
        self._attempts.put(self.attempt)

    def _note(self, graded: Graded, run_s: float) -> None:
        """Keep a save and what came of it, and have it shown."""
        result = next((one for one in graded.results if one.verdict != "pass"), graded.results[-1])
        failure = result.failures[0] if result.failures else None
        told = graded.problem or failure
        message = told.message if told else ""
        line = told.line if told and (told is not failure or _is_raised(failure)) else None
        bug = failure.diagnosis if failure else None
        self._verdict = LastVerdict(
            result.verdict,
            result.id,
            result.passed,
            result.total,
            message,
            bug.title if bug else None,
            run_s,
            line,
        )
        self._attempts.add_save(
            self.attempt,
            graded.text,
            run_s=run_s,
            target=result.id,
            verdict=result.verdict,
            bug=bug.bug if bug else None,
            message=message,
        )

    def _row(self, leg: Leg) -> Row:
        target, split = leg.target, self._splits.get(leg.target.id)
        return Row(
            target.id,
            target.step,
            target.title,
            leg.par_s,
            leg.best_s,
            split.took_s if split else None,
            self._hints[target.id],
            split.outcome if split else None,
        )


def _is_raised(failure: Failure) -> bool:
    """Tell whether a failure has a line of its own: it raised, hung or crashed there."""
    return failure.what in ("raised", "hang", "crash")
