"""Find what a command is about: the workspace, or a file and the track it is for."""

from __future__ import annotations

import ast
import contextlib
import os
from dataclasses import dataclass
from pathlib import Path

from autodrill.catalog import Track, aliases, load_track, nearest_hint, track_ids
from autodrill.errors import AutodrillError
from autodrill.workspace import MARKER, Workspace, find_workspace


@dataclass(frozen=True)
class Subject:
    """A track and the learner's file for it; the workspace is None for a file elsewhere."""

    track: Track
    file: Path
    workspace: Workspace | None

    @property
    def shown(self) -> str:
        """Return the file as it is named to the learner."""
        return self.file.name if self.workspace is not None else str(self.file)


def locate(
    file: Path | None = None, track_id: str | None = None, start: Path | None = None
) -> Subject:
    """Find the workspace around the current folder, or take a file anywhere.

    Parameters
    ----------
    file : Path, optional
        A file to use in place of the workspace's; its track is that of the workspace, of
        its name, or of the symbols in it.
    track_id : str, optional
        Says which track a file is for.
    start : Path, optional
        The folder to start from, the current one if left out.

    Raises
    ------
    AutodrillError
        If there is no workspace and no file, or the track of the file is not clear.
    """
    workspace = find_workspace((start or Path.cwd()).absolute())
    if file is not None:
        _need_a_file(file)
        track = _track_of(file, track_id, workspace)
        return Subject(track, file.absolute(), None)
    if workspace is None:
        raise no_workspace()
    if track_id is not None and track_id != workspace.track.id:
        raise AutodrillError(
            f"this workspace is for `{workspace.track.id}`, not `{track_id}`",
            hint=f"go to a workspace of `{track_id}`, or make one: `autodrill start {track_id}`",
        )
    return Subject(workspace.track, workspace.engine_file, workspace)


def _need_a_file(file: Path) -> None:
    """Tell a name that was mistyped from a file that has something wrong with it."""
    with contextlib.suppress(OSError):
        if file.is_dir():
            raise AutodrillError(f"`{file}` is a folder", hint="name the engine file in it")
        if not os.path.lexists(file):
            raise AutodrillError(f"there is no file `{file}`", hint="look at how it is spelt")


def no_workspace() -> AutodrillError:
    """Make the error for a command that needs a workspace and has none."""
    from autodrill.history import History  # here: it brings sqlite3, which few runs need
    from autodrill.places import history_file

    message = "there is no workspace here or above"
    with History(history_file()) as history:
        last = history.last_workspace()
    if last is not None and (last[0] / MARKER).is_file():
        return AutodrillError(message, f"the last one used is `{last[0]}`: `cd` there")
    return AutodrillError(message, f"make one: `autodrill start {track_ids()[0]}`")


def _track_of(file: Path, track_id: str | None, workspace: Workspace | None) -> Track:
    if track_id is not None:
        return load_track(track_id)
    workspace = find_workspace(file.absolute().parent) or workspace
    if workspace is not None:
        return workspace.track
    tracks = [load_track(one) for one in track_ids()]
    named = [track for track in tracks if track.engine_file == file.name]
    if len(named) == 1:
        return named[0]
    scores = [(_share(track, _names_in(file)), track) for track in tracks]
    best = max(score for score, _ in scores)
    fitting = [track for score, track in scores if score == best]
    if best > 0 and len(fitting) == 1:
        return fitting[0]
    raise AutodrillError(
        f"it is not clear which track `{file}` is for",
        hint=f"say it: add `--track {'|'.join(track.id for track in tracks)}`",
    )


def _names_in(file: Path) -> set[str]:
    if not file.is_file():  # reading a pipe might never end
        return set()
    try:
        tree = ast.parse(file.read_bytes())
    except (OSError, SyntaxError, ValueError, RecursionError, MemoryError):
        return set()
    return {
        node.name
        for node in ast.walk(tree)
        if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef))
    }


def _share(track: Track, names: set[str]) -> float:
    """Return how much of a track's symbols a file defines."""
    own = [symbol for symbol in track.symbols if aliases(symbol)[-1] or symbol]
    return sum(symbol.rpartition(".")[2] in names for symbol in own) / max(len(own), 1)


__all__ = ["Subject", "locate", "nearest_hint", "no_workspace"]
