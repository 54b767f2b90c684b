"""`autodrill start`."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from autodrill.cli.options import Json, print_json, say


def start(
    track: Annotated[str, typer.Argument(help="The track, such as lab01.")],
    folder: Annotated[
        Path | None, typer.Argument(metavar="[DIR]", help="Where to make it; ./TRACK if left out.")
    ] = None,
    only: Annotated[
        str | None, typer.Option("--only", help="Blank this one target and give the rest.")
    ] = None,
    as_json: Json = False,
) -> None:
    """Make a workspace: the engine file with its parts blank, the guide, the graders.

    Example: autodrill start lab01
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
    from autodrill.render.lists import show_started

    show_started(workspace.folder, workspace.engine_file, started.first)
