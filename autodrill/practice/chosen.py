"""The engine that is looked at: the learner's file or a reference, in a worker either way."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, NoReturn

from autodrill.catalog import Track, load_track, track_ids
from autodrill.engines.process import Worker
from autodrill.errors import BROKEN, AutodrillError
from autodrill.practice.locate import locate
from autodrill.results import Problem
from autodrill.workspace import find_workspace

if TYPE_CHECKING:
    from autodrill.cases.outcome import Outcome
    from autodrill.cases.run import Request
    from autodrill.engines.worker import WorkerEngine


class Unusable(Exception):
    """The learner's engine can't do what was asked: why, as a problem to be shown."""

    def __init__(self, problem: Problem) -> None:
        super().__init__(problem.message)
        self.problem = problem


@dataclass(frozen=True)
class Chosen:
    """An engine and the track that it is for; `shown` is its name for people."""

    track: Track
    file: Path
    shown: str
    is_reference: bool

    @property
    def module(self) -> str:
        """Return the name under which a snippet imports it."""
        return self.file.stem


def choose(file: Path | None, track_id: str | None) -> Chosen:
    """Take the learner's file where it is named, else the reference of the track.

    The track is the named one, else the workspace's, else the first that there is.
    """
    if file is not None:
        subject = locate(file, track_id)
        return Chosen(subject.track, subject.file, str(file), is_reference=False)
    workspace = find_workspace(Path.cwd()) if track_id is None else None
    track = workspace.track if workspace else load_track(track_id or track_ids()[0])
    return Chosen(track, track.reference, "the reference", is_reference=True)


class Running:
    """A chosen engine in its worker."""

    def __init__(self, chosen: Chosen, engine: WorkerEngine) -> None:
        self.chosen = chosen
        self.engine = engine

    def run(self, request: Request, limit_s: float = 10.0) -> Outcome:
        """Run a request; `Unusable` where the engine hangs, crashes or has a hole in it."""
        outcome = self.engine.run(request, limit_s)
        problem = _problem(outcome)
        if problem is not None:
            self.refuse(problem)
        return outcome

    def values(
        self, request: Request, limit_s: float = 10.0, *, asked: Callable[[str], Exception]
    ) -> dict[str, Any]:
        """Run a request that has to come to an end, and return its values.

        `asked` makes the error for an exception from the reference: it is what was asked for
        that can't be computed. One that the learner's file alone raises is the file's.
        """
        from autodrill.engines.reference import reference_engine

        outcome = self.run(request, limit_s)
        if outcome.raised is None:
            return dict(outcome.values)
        raised = outcome.raised
        if not self.chosen.is_reference:
            right = reference_engine(self.chosen.track).run(request, limit_s)
            if right.raised is None:
                raise Unusable(_raised(outcome))
            raised = right.raised
        raise asked(raised.message.partition("\n")[0] or raised.type)

    def refuse(self, problem: Problem) -> NoReturn:
        """Say that the engine can't be used; a reference has to be right, whatever is asked."""
        if self.chosen.is_reference:
            raise AutodrillError(
                f"the reference can't do this: {problem.message}",
                hint="ask for something smaller; `autodrill verify` proves the reference",
                exit_code=BROKEN,
            )
        raise Unusable(problem)


@contextmanager
def running(chosen: Chosen, worker: Worker) -> Iterator[Running]:
    """Import the engine in a worker that was started before; `Unusable` where that fails."""
    from autodrill.engines.worker import EngineFile, WorkerEngine
    from autodrill.practice.engine_text import load_problem, read_engine

    track = chosen.track
    _, text = read_engine(chosen.file, chosen.shown)
    if isinstance(text, Problem):
        raise Unusable(text)
    file = EngineFile(chosen.file, text, (), track.scenarios)
    engine = WorkerEngine(file, worker)
    found = Running(chosen, engine)
    try:
        problem = load_problem(engine.load(), chosen.shown, engine.output())
        if problem is not None:
            found.refuse(problem)
        yield found
    finally:
        engine.close()


def _problem(outcome: Outcome) -> Problem | None:
    """Return what keeps an engine from any answer: its end, or a part not written yet."""
    from autodrill.cases.judge import todo_symbol

    if outcome.ended is not None:
        ended = outcome.ended
        message = f"your engine hangs: {ended.message}" if ended.how == "hang" else ended.message
        return Problem(message, line=ended.line, output=outcome.output)
    todo = todo_symbol(outcome.raised) if outcome.raised is not None else None
    if todo is None:
        return None
    assert outcome.raised is not None
    frames = outcome.raised.frames
    return Problem(
        f"`{todo}` is not written yet",
        f"`autodrill hint {todo.rpartition('.')[2]}` helps",
        frames[-1].line if frames else None,
    )


def _raised(outcome: Outcome) -> Problem:
    from autodrill.cases.judge import judge
    from autodrill.cases.scenario import Scenario
    from autodrill.grading.failure import trace_of

    mismatch = judge(Scenario("", lambda: {}, (), ()), outcome, None)
    assert mismatch is not None
    trace = trace_of(outcome)
    return Problem(mismatch.message, "", mismatch.line, trace=trace, output=outcome.output)
