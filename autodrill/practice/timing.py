"""Timed attempts from the outside: begin one, take one up again, or close it."""

from __future__ import annotations

import contextlib
import os
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import BinaryIO

from autodrill.catalog import Target
from autodrill.errors import NOT_YET, AutodrillError
from autodrill.history import Attempt, Attempts, History
from autodrill.places import history_file
from autodrill.practice.attempt_file import (
    claim,
    free_file,
    is_of_last_target,
    put_away,
    put_fresh,
    read,
)
from autodrill.practice.legs import kind_of, whole_target
from autodrill.practice.locate import locate
from autodrill.practice.process import is_running, own_process
from autodrill.practice.timed_run import Run
from autodrill.workspace import Workspace, find_workspace, write_text


@dataclass(frozen=True)
class TimeRequest:
    """What to time: a target, the whole ladder, or all from an empty engine (`full`)."""

    target: str | None = None
    full: bool = False
    edit: bool = False
    poll: bool = False
    live: bool = False


def begin(request: TimeRequest, resumes: Callable[[Attempt], bool] | None = None) -> Run:
    """Begin an attempt with a fresh file.

    `resumes` is asked about an attempt that was interrupted: whether to go on with it, or else
    to close it.

    Raises
    ------
    AutodrillError
        If one was interrupted and there is nobody to ask.
    """
    workspace = _workspace()
    kind, target = kind_of(workspace.track, request.target, full=request.full)
    _edit_needs_a_terminal(request)
    history = History(history_file())
    attempts = Attempts(history)
    for one in interrupted(attempts, workspace):
        if resumes is None:
            raise _still_open(one)
        if resumes(one):
            return _taken_up(workspace, history, one, request)
        _closed(attempts, one)
    history.use_workspace(workspace.folder, workspace.track.id)
    pid, born = own_process()
    symbols = workspace.track.symbols if kind == "full" else target.symbols
    blank, held = b"", None

    def make(number: int, open_ones: Sequence[Attempt]) -> Attempt:
        """Write the file too: an attempt is in the history with a fresh one or not at all."""
        nonlocal blank, held
        file, held = free_file(workspace, {one.file for one in open_ones})
        _put_earlier_away(workspace, attempts, file)
        blank = put_fresh(file, workspace.track, symbols)
        now = time.time()
        return Attempt(
            number,
            now,
            now,
            workspace.track.id,
            kind,
            target.id,
            "open",
            str(workspace.folder),
            str(file),
            pid,
            born,
        )

    attempt = attempts.begin(make)
    return _run(workspace, history, attempt, request, held, blank)


def resume(request: TimeRequest) -> Run:
    """Take up the attempt that was interrupted last, with its file as it is now."""
    workspace = _workspace()
    _edit_needs_a_terminal(request)
    history = History(history_file())
    attempts = Attempts(history)
    return _taken_up(workspace, history, _last_interrupted(attempts, workspace), request)


def _taken_up(
    workspace: Workspace, history: History, attempt: Attempt, request: TimeRequest
) -> Run:
    attempts = Attempts(history)
    with contextlib.suppress(BlockingIOError):
        held = claim(workspace, Path(attempt.file))
        taken = attempts.take_over(attempt, *own_process())
        if taken is not None:
            green = _bring_file_back(workspace, history, attempts, taken)
            return _run(workspace, history, taken, request, held, green=green)
    raise _taken_by_another()


def is_startable(track_id: str) -> bool:
    """Tell whether there is a workspace of a track here to begin an attempt in."""
    workspace = find_workspace(Path.cwd())
    return workspace is not None and workspace.track.id == track_id


def close() -> Attempt:
    """Close the attempt that was interrupted last; it counts neither way."""
    workspace = _workspace()
    with History(history_file()) as history:
        attempts = Attempts(history)
        return _closed(attempts, _last_interrupted(attempts, workspace))


def _closed(attempts: Attempts, attempt: Attempt) -> Attempt:
    taken = attempts.take_over(attempt, *own_process())
    if taken is None:
        raise _taken_by_another()
    closed = replace(taken, beat=attempt.beat, state="closed")
    attempts.put(closed)
    return closed


def interrupted(attempts: Attempts, workspace: Workspace) -> list[Attempt]:
    """Return the open attempts of a workspace that no process works on, the newest first."""
    return [
        one
        for one in attempts.open_attempts()
        if one.folder == str(workspace.folder) and not is_running(one)
    ]


def _run(
    workspace: Workspace,
    history: History,
    attempt: Attempt,
    request: TimeRequest,
    held: BinaryIO | None,
    blank: bytes = b"",
    green: bytes = b"",
) -> Run:
    return Run(
        workspace,
        history,
        attempt,
        live=request.live,
        edit=request.edit,
        poll=request.poll,
        held=held,
        blank=blank,
        green=green,
    )


def _workspace() -> Workspace:
    workspace = locate().workspace
    assert workspace is not None
    return workspace


def _edit_needs_a_terminal(request: TimeRequest) -> None:
    if request.edit and not request.live:
        raise AutodrillError(
            "--edit needs a terminal",
            "leave it out and open the attempt file in an editor yourself",
        )


def _last_interrupted(attempts: Attempts, workspace: Workspace) -> Attempt:
    left = interrupted(attempts, workspace)
    if left:
        return left[0]
    raise AutodrillError(
        "no attempt is open in this workspace",
        hint="`autodrill time TARGET` begins one",
        exit_code=NOT_YET,
    )


def _taken_by_another() -> AutodrillError:
    return AutodrillError("another process has just resumed that attempt", exit_code=NOT_YET)


def _still_open(attempt: Attempt) -> AutodrillError:
    minutes, seconds = divmod(int(attempt.run_s), 60)
    return AutodrillError(
        f"an attempt at {named(attempt)} was interrupted after {minutes}:{seconds:02d}",
        hint="`autodrill time --resume` goes on with it, `autodrill time --close` closes it",
        exit_code=NOT_YET,
    )


def named(attempt: Attempt) -> str:
    """Return what an attempt is at, in words."""
    if attempt.kind == "target":
        return f"`{attempt.target}`"
    words = {"ladder": "the ladder", "full": "the whole engine"}[attempt.kind]
    return f"{words} (at `{attempt.target}`)"


def _put_earlier_away(workspace: Workspace, attempts: Attempts, file: Path) -> None:
    if not os.path.lexists(file):
        return
    last = next((one for one in attempts.latest(None, 1000) if one.file == str(file)), None)
    put_away(workspace, file, last.id if last else 0, last.target if last else "unknown")


def _bring_file_back(
    workspace: Workspace, history: History, attempts: Attempts, attempt: Attempt
) -> bytes:
    """Write an attempt's file again where it is gone or still the last target's.

    It is then as it was last graded, else fresh. Return the last target's green text.
    """
    file, track = Path(attempt.file), workspace.track
    target = track.target(attempt.target)
    is_full = attempt.kind == "full" or whole_target(track) is target
    last, green = _last_green(workspace, history, attempts, attempt)
    if last is not None and is_of_last_target(read(file), green, last, target, track):
        put_away(workspace, file, attempt.id, last.id)
        put_fresh(file, track, target.symbols)
    if os.path.lexists(file):
        return green
    put_fresh(file, track, track.symbols if is_full else target.symbols)
    saves = [one for one in attempts.saves(attempt.id) if is_full or one.target == target.id]
    kept = history.text(saves[-1].snapshot) if saves else None
    if kept is not None:
        write_text(file, kept[1])
    return green


def _last_green(
    workspace: Workspace, history: History, attempts: Attempts, attempt: Attempt
) -> tuple[Target | None, bytes]:
    """Return the last target of a ladder that is green, and the text that made it so."""
    green = [one for one in attempts.saves(attempt.id) if one.verdict == "pass"]
    kept = history.text(green[-1].snapshot) if green and attempt.kind == "ladder" else None
    if kept is None or green[-1].target == attempt.target:
        return None, b""
    return workspace.track.target(green[-1].target), kept[1]
