"""Where the learner is: the workspace, what is green, and the one next command."""

from __future__ import annotations

import shlex
from dataclasses import dataclass
from pathlib import Path

from autodrill.catalog import Target, Track, track_ids
from autodrill.history import Attempt, Attempts, History
from autodrill.places import history_file
from autodrill.practice.stats import due_order
from autodrill.practice.timing import interrupted
from autodrill.practice.whiteboard import DueThere, due_there
from autodrill.results import Verdict
from autodrill.schedule import Due
from autodrill.workspace import find_workspace


@dataclass(frozen=True)
class Overview:
    """What `autodrill` alone shows.

    `verdicts` holds the latest verdict of each target that was graded; `is_dated` says that they
    are not of the file as it is now. `elsewhere` is the workspace that was used last, where there
    is none here. `due` holds what was timed and is due again, `interrupted` an attempt whose
    process was ended, `there` what is due at the whiteboard.
    """

    track: Track | None
    folder: Path | None
    verdicts: dict[str, Verdict]
    next_target: Target | None
    next_command: str
    elsewhere: Path | None
    due: tuple[Due, ...]
    interrupted: Attempt | None
    there: DueThere
    notices: tuple[str, ...]
    is_dated: bool = False


def overview() -> Overview:
    """Look around from the current folder."""
    workspace = find_workspace(Path.cwd())
    with History(history_file()) as history:
        there = due_there(history)
        if workspace is None:
            last = history.last_workspace()
            elsewhere = last[0] if last is not None and last[0].is_dir() else None
            command = (
                f"cd {shlex.quote(str(elsewhere))}"
                if elsewhere
                else f"autodrill start {track_ids()[0]}"
            )
            return Overview(
                None, None, {}, None, command, elsewhere, (), None, there, tuple(history.notices)
            )
        verdicts = history.last_verdicts(workspace.engine_file)
        open_targets = [one for one in workspace.track.targets if verdicts.get(one.id) != "pass"]
        target = open_targets[0] if open_targets else None
        command = f"autodrill check {target.id}" if target else "autodrill check --strict"
        file = workspace.engine_file
        is_dated = bool(verdicts) and not history.was_graded_last(file, _text(file))
        if not verdicts or is_dated:
            command = "autodrill check"
        due = tuple(
            one for one in due_order(workspace.track, history) if one.is_due and one.due is not None
        )
        left = interrupted(Attempts(history), workspace)
        if left:
            command = "autodrill time --resume"
        elif target is None and due:
            command = "autodrill next"
        return Overview(
            workspace.track,
            workspace.folder,
            verdicts,
            target,
            command,
            None,
            due,
            left[0] if left else None,
            there,
            tuple(history.notices),
            is_dated,
        )


def _text(file: Path) -> bytes | None:
    """Return what is in a file, None where it can't be read; a pipe might never end."""
    try:
        return file.read_bytes() if file.is_file() else None
    except OSError:
        return None
