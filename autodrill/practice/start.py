"""Start a workspace."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from autodrill.catalog import load_track, resolve
from autodrill.history import History
from autodrill.places import history_file
from autodrill.workspace import Workspace, create_workspace


@dataclass(frozen=True)
class Started:
    """A workspace that was made; `first` is the target to begin with."""

    workspace: Workspace
    first: str
    notices: tuple[str, ...]


def start(track_id: str, folder: Path | None = None, only: str | None = None) -> Started:
    """Make a workspace of a track, with all its symbols blanked or those of one target.

    Parameters
    ----------
    track_id : str
    folder : Path, optional
        Where to make it; `./TRACK` if left out.
    only : str, optional
        A target, step or symbol to blank; the rest is given.
    """
    track = load_track(track_id)
    chosen = resolve(track, only) if only is not None else None
    symbols: tuple[str, ...] = ()
    if chosen is not None:
        symbols = (chosen.symbol,) if chosen.symbol else chosen.target.symbols
    workspace = create_workspace(track, (folder or Path(track.id)).absolute(), symbols)
    with History(history_file()) as history:
        history.use_workspace(workspace.folder, track.id)
        notices = tuple(history.notices)
    first = chosen.target.id if chosen is not None else track.targets[0].id
    return Started(workspace, first, notices)
