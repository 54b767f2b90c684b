"""Grade a file: what was asked for, from the request to the frozen result."""

from __future__ import annotations

import shlex
import time
from collections.abc import Callable, Hashable, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING

from autodrill.catalog import Selection, Target, Track, resolve
from autodrill.engines.process import Worker
from autodrill.practice.locate import Subject, locate
from autodrill.results import CheckResult, Problem, TargetResult, worst
from autodrill.stubs import unchanged
from autodrill.workspace import shadowing_files, stub_source

if TYPE_CHECKING:
    from autodrill.engines.engine import Engine
    from autodrill.engines.worker import WorkerEngine
    from autodrill.grading.grade import Known


@dataclass(frozen=True)
class CheckRequest:
    """What to grade.

    `names` are target ids, step numbers or symbols, none for the whole track in order.
    `solution` grades the reference. `go_on` does not stop at the first target that is not
    green. `strict` adds the edge cases, `torch` the comparison with live torch, and `full` runs
    what measures memory at its full size. `every_example` has the smallest input looked for in
    every failing test, not only in the one that is shown.
    """

    names: Sequence[str] = ()
    file: Path | None = None
    track: str | None = None
    solution: bool = False
    go_on: bool = False
    strict: bool = False
    torch: bool = False
    full: bool = False
    every_example: bool = False


@dataclass(frozen=True)
class Checked:
    """A result, the text that was graded, for the history, and what to type next."""

    result: CheckResult
    subject: Subject
    text: bytes
    next_command: str


def check(request: CheckRequest) -> Checked:
    """Grade a file.

    The worker is started before anything heavy is imported, so that it imports NumPy while
    this process does.
    """
    worker = Worker()
    try:
        return Grader(request).grade(worker)
    finally:
        worker.kill()


class _NotLoaded(Exception):
    """The file can't be imported."""

    def __init__(self, problem: Problem | None) -> None:
        super().__init__()
        self.problem = problem


class Grader:
    """Grades one file, once or again and again; what the reference makes of it is kept.

    Parameters
    ----------
    request : CheckRequest
    start : callable
        Starts the worker that takes the place of one that died.
    subject : Subject, optional
        The file to grade, where it is not the one that the request asks for.
    """

    def __init__(
        self,
        request: CheckRequest,
        start: Callable[[], Worker] = Worker,
        subject: Subject | None = None,
    ) -> None:
        self.request = request
        self.subject = subject or locate(request.file, request.track)
        chosen = [resolve(self.subject.track, name) for name in request.names]
        self.chosen = list(dict.fromkeys(chosen))
        self._start = start
        self._known: dict[Hashable, Known] = {}

    def grade(
        self,
        worker: Worker,
        only: Target | None = None,
        *,
        alone: Callable[[bytes], bool] | None = None,
        data: bytes | None = None,
    ) -> Checked:
        """Grade the file as it is now, or as it was when `data` was in it; uses up the worker.

        `only` grades one target in place of what was asked for, without what it needs. `alone`
        is asked, while the worker imports the text that it is given, whether that is left out
        of what was asked for, and taken for green.
        """
        started = time.perf_counter()
        request, track = self.request, self.subject.track
        path, shown = self.subject.file, self.subject.shown
        if request.solution:
            path, shown = track.reference, track.reference.name
        data, targets, problem = self._graded(worker, path, shown, only, alone, data)
        result = CheckResult(
            track=track.id,
            track_title=track.title,
            file=shown,
            impl="solution" if request.solution else "exercise",
            verdict=worst(one.verdict for one in targets),
            seconds=round(time.perf_counter() - started, 3),
            targets=targets,
            asked=(only.id,) if only is not None else tuple(request.names),
            problem=problem,
            warnings=() if request.solution else _shadowing(path),
        )
        return Checked(result, self.subject, data, _next_command(request, result))

    def _graded(
        self,
        worker: Worker,
        path: Path,
        shown: str,
        only: Target | None,
        alone: Callable[[bytes], bool] | None,
        data: bytes | None,
    ) -> tuple[bytes, tuple[TargetResult, ...], Problem | None]:
        from autodrill.cases.outcome import Ended
        from autodrill.engines.worker import EngineFile, WorkerEngine
        from autodrill.practice.engine_text import decode, load_problem, read_engine

        track = self.subject.track
        chosen = [Selection(only)] if only is not None else self.chosen
        data, text = read_engine(path, shown) if data is None else (data, decode(data, shown))
        if isinstance(text, Problem):
            return data, _ungraded(track, chosen), text
        file = EngineFile(path, text, track.symbols, track.scenarios)
        engine = WorkerEngine(file, worker, self._start)
        engine.begin()  # meanwhile pytest gets ready
        missing: set[str] = set()

        def ready() -> None:
            loaded = engine.load()
            problem = load_problem(loaded, shown, engine.output())
            if problem is not None or isinstance(loaded, Ended):
                raise _NotLoaded(problem)
            missing.update(loaded.missing)

        try:
            is_alone = only is not None or (alone is not None and alone(data))
            return data, self._verdicts(engine, path, chosen, missing, ready, alone=is_alone), None
        except _NotLoaded as error:
            return data, _ungraded(track, chosen), error.problem
        finally:
            engine.close()

    def _verdicts(
        self,
        engine: WorkerEngine,
        path: Path,
        chosen: Sequence[Selection],
        missing: set[str],
        ready: Callable[[], None],
        *,
        alone: bool,
    ) -> tuple[TargetResult, ...]:
        """Run what was asked for: whole targets, then single symbols, then strict."""
        from autodrill.engines.reference import load_suite, reference_engine
        from autodrill.grading.grade import Grade
        from autodrill.grading.run import grade_strict, grade_symbol, grade_targets

        request, track = self.request, self.subject.track
        torch = _torch(track) if request.torch else None
        suite, reference = load_suite(track), reference_engine(track)
        grade = Grade(
            suite, engine, reference, torch, missing=missing, ready=ready, known=self._known
        )
        if track.bodies:
            grade.blank = cache(
                lambda: unchanged(engine.file.text, stub_source(track), track.bodies)
            )
        grade.full = request.full
        targets = [one.target for one in chosen if one.symbol is None] if chosen else track.targets
        results: list[TargetResult] = []
        if targets:
            go_on = request.go_on or bool(chosen) or not track.in_order
            results += grade_targets(
                track,
                grade,
                targets,
                path,
                go_on=go_on,
                alone=alone,
                every_example=request.every_example,
            )
        for one in chosen:
            if one.symbol is not None:
                results.append(grade_symbol(track, grade, one.target, one.symbol, path))
        if request.strict:
            symbols = [
                symbol
                for one in chosen
                for symbol in ([one.symbol] if one.symbol else one.target.symbols)
            ]
            blocked_by = next((one.id for one in results if one.verdict != "pass"), None)
            results.append(grade_strict(track, grade, symbols, path, blocked_by))
        return tuple(results)


def _next_command(request: CheckRequest, result: CheckResult) -> str:
    """Return what to type after a green check, or to run this one again."""
    words = ["autodrill", "check"]
    if result.verdict != "pass":
        if request == CheckRequest(every_example=request.every_example):
            return ""  # the screen names the target that failed
        words += request.names
    if request.solution:
        words += ["--impl", "solution"]
    if request.file is not None:
        words += ["--file", shlex.quote(str(request.file))]
    if request.track is not None:
        words += ["--track", request.track]
    if result.verdict != "pass":
        return " ".join([*words, *_options(request)])
    if request.names:
        return " ".join(words)
    return "" if request.strict else " ".join([*words, "--strict"])


def _options(request: CheckRequest) -> list[str]:
    asked = (
        ("--all", request.go_on),
        ("--strict", request.strict),
        ("--torch", request.torch),
        ("--full", request.full),
    )
    return [name for name, is_set in asked if is_set]


def _torch(track: Track) -> Engine:
    from autodrill.engines.torch_engine import torch_engine

    return torch_engine(track)


def _ungraded(track: Track, chosen: Sequence[Selection]) -> tuple[TargetResult, ...]:
    """Return a verdict of `error` for every target, where the file could not be graded."""
    asked = [one.target for one in chosen] or list(track.targets)
    return tuple(
        TargetResult(one.id, one.step, one.title, "error", 0, 0, 0) for one in dict.fromkeys(asked)
    )


def _shadowing(path: Path) -> tuple[str, ...]:
    names = shadowing_files(path.parent, {path.name})
    said = "beside your file would hide a module; it is not imported"
    return tuple(f"`{name}` {said}" for name in names)


def save(checked: Checked) -> list[str]:
    """Note a check in the history and return what there is to say about the history."""
    from autodrill.history import History
    from autodrill.places import history_file

    result, subject = checked.result, checked.subject
    if result.impl == "solution":
        return []
    with History(history_file()) as history:
        if subject.workspace is not None:
            history.use_workspace(subject.workspace.folder, subject.track.id)
        if checked.text:
            history.add_check(
                subject.file,
                result.track,
                checked.text,
                result.verdict,
                result.seconds,
                {
                    one.id: (one.verdict, _bug(one))
                    for one in result.targets
                    if one.symbol is None  # a part of a target says nothing of the rest
                },
            )
        return history.notices


def _bug(target: TargetResult) -> str | None:
    for failure in target.failures:
        if failure.diagnosis is not None:
            return failure.diagnosis.bug
    return None
