"""Options that several commands share."""

from __future__ import annotations

import json
import sys
from typing import TYPE_CHECKING, Annotated, Any

import typer

if TYPE_CHECKING:
    from autodrill.render.console import Screen

Json = Annotated[bool, typer.Option("--json", help="Print one JSON object and nothing else.")]
TrackOption = Annotated[
    str | None, typer.Option("--track", help="The track, where no workspace says it.")
]


def print_json(data: Any, *, at_once: bool = False) -> None:
    """Print one JSON object on a line of stdout, in ASCII so that every encoding can carry it."""
    sys.stdout.write(json.dumps(data) + "\n")
    if at_once:
        sys.stdout.flush()


def say(notices: tuple[str, ...] | list[str]) -> None:
    """Print what there is to say besides the result, on stderr."""
    if notices:
        from autodrill.render.errors import warn

        for notice in notices:
            warn(sys.stderr, notice)


def ask(question: str) -> str:
    """Ask on the terminal; Ctrl-D leaves as Ctrl-C does."""
    try:
        return input(question)
    except EOFError:
        raise KeyboardInterrupt from None


def screen() -> Screen:
    """Return the screen on stdout."""
    from autodrill.render.console import Screen

    return Screen(sys.stdout)
