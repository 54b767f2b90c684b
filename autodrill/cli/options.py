"""Options that several commands share."""

from __future__ import annotations

import json
import sys
from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, Annotated, Any, Protocol, TypeVar

import typer

from autodrill.errors import Terminated

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


View_co = TypeVar("View_co", covariant=True)


class Playable(Protocol[View_co]):
    """A drill that goes on by itself and says what to show."""

    def views(self) -> Iterator[View_co]:
        """Yield what to show."""
        ...

    def interrupt(self) -> View_co | None:
        """Take Ctrl-C for giving up."""
        ...


def play(run: Playable[View_co], show: Callable[[View_co], None]) -> None:
    """Show all that a drill has to show, and its end where Ctrl-C gives it up."""
    try:
        for view in run.views():
            show(view)
    except KeyboardInterrupt as stop:
        last = None if isinstance(stop, Terminated) else run.interrupt()
        if last is not None:
            show(last)
        raise


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
