"""`autodrill trace` and `autodrill quiz`: practice at the whiteboard."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Annotated

import typer

from autodrill.cli.options import Json, print_json, say, screen
from autodrill.errors import NOT_YET, PASSED, Terminated

if TYPE_CHECKING:
    from autodrill.practice.trace import View as TraceView


def trace(
    level: Annotated[
        int | None,
        typer.Option("--level", min=1, max=5, help="How hard; what is due if left out."),
    ] = None,
    seed: Annotated[
        int | None, typer.Option("--seed", min=0, help="Draw that graph again.")
    ] = None,
    as_json: Json = False,
) -> None:
    """Trace a small graph by hand: order, values and gradients.

    Example: autodrill trace --level 2
    """
    from autodrill.practice import trace as tracing
    from autodrill.render.console import Screen
    from autodrill.render.trace import report, show_event

    out = Screen(sys.stderr) if as_json else screen()
    prompts = _is_live() and not as_json

    def show(view: TraceView | None) -> None:
        if view is None:
            return
        say(view.notices)
        show_event(out, view, prompts=prompts)
        if as_json and view.event == "end":
            print_json(report(view), at_once=True)

    with tracing.begin(level, seed) as run:
        try:
            for view in run.views():
                show(view)
        except KeyboardInterrupt as stop:
            if not isinstance(stop, Terminated):
                show(run.interrupt())
            raise
        raise typer.Exit(PASSED if run.passed else NOT_YET)


def _is_live() -> bool:
    from autodrill.keys import can_read_keys

    return screen().is_live and can_read_keys()
