"""`autodrill start`."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from autodrill.cli.options import Json, print_json, say, screen


def start(
    track: Annotated[
        str, typer.Argument(metavar="TRACK", help="The track, see `autodrill tracks`.")
    ],
    folder: Annotated[
        Path | None, typer.Argument(metavar="[DIR]", help="Where to make it; ./TRACK if left out.")
    ] = None,
    only: Annotated[
        str | None, typer.Option("--only", help="Blank this one target and give the rest.")
    ] = None,
    as_json: Json = False,
) -> None:
    """Make a workspace: a blank engine file, guide and graders.

    Example: autodrill start TRACK_ID
    """
    from autodrill.practice.start import start as start_workspace

    started = start_workspace(track, folder, only)
    say(started.notices)
    workspace = started.workspace
    if as_json:
        print_json(
            {
                "schema": "autodrill.start/1",
                "track": workspace.track.id,
                "workspace": str(workspace.folder),
                "engine_file": str(workspace.engine_file),
                "first": started.first,
            }
        )
        return
    from autodrill.render.workspace import show_started

    shown = folder or Path(track)
    show_started(screen(), str(shown), workspace.engine_file.name, started.first)
