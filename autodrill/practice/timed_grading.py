"""Grade the saves of an attempt beside the clock, so that the screen goes on."""

from __future__ import annotations

import importlib.util
import queue
import threading
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from autodrill.catalog import Target
from autodrill.engines.process import Worker
from autodrill.engines.standby import Standby
from autodrill.practice.check import Checked, CheckRequest, Grader
from autodrill.practice.locate import Subject
from autodrill.results import Problem, TargetResult
from autodrill.watch import Saved
from autodrill.workspace import Workspace


@dataclass(frozen=True)
class Graded:
    """What came of a save: of each target looked at its result, and of a whole run all."""

    saved: Saved
    text: bytes
    results: tuple[TargetResult, ...]
    problem: Problem | None
    whole: bool
    error: BaseException | None = None


class Grading:
    """Grades one save at a time in a thread and puts a `Graded` on the queue for each."""

    def __init__(self, workspace: Workspace, file: Path, events: queue.SimpleQueue[Any]) -> None:
        track = workspace.track
        subject = Subject(track, file, workspace)
        self._events = events
        self._standby = Standby(track.scenarios)
        self._grader = Grader(CheckRequest(), self._start, subject)
        torch = importlib.util.find_spec("torch") is not None
        self._whole = Grader(CheckRequest(torch=torch), self._start, subject)
        self._worker: Worker | None = None
        self._thread: threading.Thread | None = None
        self._closed = False

    @property
    def is_busy(self) -> bool:
        """Tell whether a save is being graded."""
        return self._thread is not None

    def submit(self, saved: Saved, targets: Sequence[Target], *, whole: bool) -> None:
        """Grade a save: each target alone up to the first not green, then all where `whole`."""
        self._thread = threading.Thread(
            target=self._run, args=(saved, targets, whole), name="autodrill-grade", daemon=True
        )
        self._thread.start()

    def done(self) -> None:
        """Note that the result of the latest save was taken."""
        if self._thread is not None:
            self._thread.join()
        self._thread = None

    def close(self) -> None:
        """End the workers, also in the middle of a save."""
        self._closed = True
        if self._worker is not None:
            self._worker.kill()
        if self._thread is not None:
            self._thread.join(timeout=2)
        self._standby.close()

    def _run(self, saved: Saved, targets: Sequence[Target], whole: bool) -> None:
        try:
            self._events.put(self._graded(saved, targets, whole))
        except BaseException as error:  # it is raised again where it can be shown
            self._events.put(Graded(saved, b"", (), None, False, error))
        if not self._closed:
            self._standby.refill()

    def _graded(self, saved: Saved, targets: Sequence[Target], whole: bool) -> Graded:
        results: list[TargetResult] = []
        for target in targets:
            checked = self._grade(self._grader, target, saved)
            results += checked.result.targets
            if checked.result.verdict != "pass":
                problem = checked.result.problem
                return Graded(saved, checked.text, tuple(results), problem, False)
        if whole:
            checked = self._grade(self._whole, None, saved)
            results = list(checked.result.targets)
        return Graded(saved, checked.text, tuple(results), None, whole)

    def _grade(self, grader: Grader, only: Target | None, saved: Saved) -> Checked:
        """Grade what was saved, not what stands in the file by now: that has its own moment."""
        self._worker = worker = self._standby.take()
        try:
            return grader.grade(worker, only, data=saved.data)
        finally:
            self._worker = None

    def _start(self) -> Worker:
        """Start the worker that takes the place of one that died, unless all is over."""
        if self._closed:
            raise SystemExit
        self._worker = Worker()
        return self._worker
