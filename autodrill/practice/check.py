"""Grade a file: what was asked for, from the request to the frozen result."""

from __future__ import annotations

import shlex
import time
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from autodrill.catalog import Selection, Track, resolve
from autodrill.engines.process import Worker
from autodrill.practice.locate import Subject, locate
from autodrill.results import CheckResult, Problem, TargetResult, worst
from autodrill.workspace import shadowing_files

if TYPE_CHECKING:
    from autodrill.engines.engine import Engine
    from autodrill.engines.worker import WorkerEngine


@dataclass(frozen=True)
class CheckRequest:
    """What to grade.

    `names` are target ids, step numbers or symbols, none for the whole track in order.
    `solution` grades the reference. `go_on` does not stop at the first target that is not
    green. `strict` adds the edge cases, `torch` the comparison with live torch.
    """

    names: Sequence[str] = ()
    file: Path | None = None
    track: str | None = None
    solution: bool = False
    go_on: bool = False
    strict: bool = False
    torch: bool = False


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
    started = time.perf_counter()
    worker = Worker()
    try:
        subject = locate(request.file, request.track)
        chosen = [resolve(subject.track, name) for name in request.names]
        return _check(request, subject, chosen, worker, started)
    finally:
        worker.kill()


def _check(
    request: CheckRequest,
    subject: Subject,
    chosen: Sequence[Selection],
    worker: Worker,
    started: float,
) -> Checked:
    from autodrill.engines.worker import EngineFile, WorkerEngine
    from autodrill.practice.engine_text import load_problem, read_engine

    track = subject.track
    path, shown = subject.file, subject.shown
    if request.solution:
        path, shown = track.reference, track.reference.name
    data, text = read_engine(path, shown)
    warnings: list[str] = []
    problem: Problem | None = None
    targets: tuple[TargetResult, ...] = ()
    if isinstance(text, Problem):
        problem = text
    else:
        engine = WorkerEngine(EngineFile(path, text, track.symbols, track.scenarios), worker)
        try:
            loaded = engine.load()
            problem = load_problem(loaded, shown, engine.output())
            if problem is None:
                targets = _grade(request, track, chosen, engine, path)
        finally:
            engine.close()
    if not request.solution:
        warnings = _shadowing(path, track)
    if problem is not None:
        targets = _ungraded(track, chosen)
    verdict = worst(one.verdict for one in targets)
    result = CheckResult(
        track=track.id,
        track_title=track.title,
        file=shown,
        impl="solution" if request.solution else "exercise",
        verdict=verdict,
        seconds=round(time.perf_counter() - started, 3),
        targets=targets,
        asked=tuple(request.names),
        problem=problem,
        warnings=tuple(warnings),
    )
    return Checked(result, subject, data, _next_command(request, result))


def _next_command(request: CheckRequest, result: CheckResult) -> str:
    """Return what to type after a green check, or to run this one again."""
    words = ["autodrill", "check"]
    if result.verdict != "pass":
        if request == CheckRequest():
            return ""  # the screen names the target that failed
        words += request.names
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
    asked = (("--all", request.go_on), ("--strict", request.strict), ("--torch", request.torch))
    return [name for name, is_set in asked if is_set]


def _grade(
    request: CheckRequest,
    track: Track,
    chosen: Sequence[Selection],
    engine: WorkerEngine,
    path: Path,
) -> tuple[TargetResult, ...]:
    """Run the graders that were asked for: whole targets, then single symbols, then strict."""
    from autodrill.cases.outcome import Ended
    from autodrill.engines.reference import load_suite, reference_engine
    from autodrill.grading.grade import Grade
    from autodrill.grading.run import grade_strict, grade_symbol, grade_targets

    loaded = engine.load()
    missing = frozenset() if isinstance(loaded, Ended) else frozenset(loaded.missing)
    torch = _torch(track) if request.torch else None
    grade = Grade(load_suite(track), engine, reference_engine(track), torch, missing=missing)
    targets = [one.target for one in chosen if one.symbol is None] if chosen else track.targets
    results: list[TargetResult] = []
    if targets:
        results += grade_targets(track, grade, targets, path, go_on=request.go_on or bool(chosen))
    for one in chosen:
        if one.symbol is not None:
            results.append(grade_symbol(track, grade, one.target, one.symbol, path))
    if request.strict:
        symbols = [
            s for one in chosen for s in ([one.symbol] if one.symbol else one.target.symbols)
        ]
        blocked_by = next((one.id for one in results if one.verdict != "pass"), None)
        results.append(grade_strict(track, grade, symbols, path, blocked_by))
    return tuple(results)


def _torch(track: Track) -> Engine:
    from autodrill.engines.torch_engine import torch_engine

    return torch_engine(track)


def _ungraded(track: Track, chosen: Sequence[Selection]) -> tuple[TargetResult, ...]:
    """Return a verdict of `error` for every target, where the file could not be graded."""
    asked = [one.target for one in chosen] or list(track.targets)
    return tuple(
        TargetResult(one.id, one.step, one.title, "error", 0, 0, 0) for one in dict.fromkeys(asked)
    )


def _shadowing(path: Path, track: Track) -> list[str]:
    names = shadowing_files(path.parent, {path.name})
    return [f"`{name}` beside your file would hide a module; it is not imported" for name in names]


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
                {one.id: (one.verdict, _bug(one)) for one in result.targets},
            )
        return history.notices


def _bug(target: TargetResult) -> str | None:
    for failure in target.failures:
        if failure.diagnosis is not None:
            return failure.diagnosis.bug
    return None
