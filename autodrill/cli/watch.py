"""`autodrill watch`."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from autodrill.cli.options import Json, TrackOption, print_json, say, screen


def watch(
    target: Annotated[
        str | None,
        typer.Argument(metavar="[TARGET]", help="A target, step or symbol; all if left out."),
    ] = None,
    file: Annotated[
        Path | None, typer.Option("--file", help="Watch this file, wherever it lies.")
    ] = None,
    track: TrackOption = None,
    poll: Annotated[
        bool, typer.Option("--poll", help="Look at the file; do not wait for system events.")
    ] = False,
    as_json: Json = False,
) -> None:
    """Grade your file on every save, until Ctrl-C.

    Example: autodrill watch matmul
    """
    from autodrill.practice.check import CheckRequest
    from autodrill.practice.watching import keep
    from autodrill.practice.watching import watch as each_save

    names = (target,) if target else ()
    request = CheckRequest(names, file, track, every_example=as_json)
    if as_json:
        from autodrill.render import report

        for seen in each_save(request, poll=poll):
            if seen.checked is not None and not seen.more:
                print_json(report.check(seen.checked.result), at_once=True)
                say(keep(seen))
        return
    from autodrill.render.live import show_seen

    out = screen()
    for seen in each_save(request, poll=poll):
        result = seen.checked.result if seen.checked is not None else None
        show_seen(out, result, seen.file, seen.turned_green)
        say(keep(seen))
