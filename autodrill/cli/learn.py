"""`autodrill hint` and `autodrill show`."""

from __future__ import annotations

import sys
from typing import Annotated

import typer

from autodrill.cli.options import Json, TrackOption, print_json, say, screen
from autodrill.errors import AutodrillError


def hint(
    target: Annotated[
        str | None,
        typer.Argument(
            metavar="[TARGET]", help="A target, step or symbol; the first not green if left out."
        ),
    ] = None,
    level: Annotated[
        int | None, typer.Option("--level", help="1 a nudge, 2 the rule, 3 the shape of the code.")
    ] = None,
    track: TrackOption = None,
    as_json: Json = False,
) -> None:
    """Give the next hint on a target, one level further each time.

    Example: autodrill hint matmul
    """
    from autodrill.practice.learn import LEVELS
    from autodrill.practice.learn import hint as next_hint

    found = next_hint(target, level, track)
    say(found.notices)
    if as_json:
        print_json(
            {
                "schema": "autodrill.hint/1",
                "track": found.track,
                "target": found.target,
                "level": found.level,
                "heading": found.heading,
                "text": found.text,
            }
        )
        return
    from autodrill.render.markdown import show as show_markdown

    head = f"## {found.target}, hint {found.level} of {LEVELS}: {found.heading.lower()}"
    more = "" if found.level == LEVELS else f"\n\n`autodrill hint {found.target}` gives the next."
    show_markdown(screen(), f"{head}\n\n{found.text}{more}")


def show(
    target: Annotated[str, typer.Argument(metavar="TARGET", help="A target, step or symbol.")],
    yes: Annotated[bool, typer.Option("--yes", "-y", help="Show it without asking.")] = False,
    track: TrackOption = None,
    as_json: Json = False,
) -> None:
    """Show the reference for a target, with its derivation.

    It asks first while the target is not green.

    Example: autodrill show matmul
    """
    from autodrill.practice.learn import is_green
    from autodrill.practice.learn import show as show_reference

    shown = show_reference(target, track)
    if not yes and not is_green(target, track):
        _ask(shown.target)
    if as_json:
        print_json(
            {
                "schema": "autodrill.show/1",
                "track": shown.track,
                "target": shown.target,
                "symbols": [{"symbol": name, "source": text} for name, text in shown.sources],
            }
        )
        return
    from autodrill.render.markdown import show_source

    show_source(screen(), "\n\n\n".join(text for _, text in shown.sources))


def _ask(target: str) -> None:
    if not (sys.stdin.isatty() and sys.stdout.isatty()):
        raise AutodrillError(
            f"`{target}` is not green yet, so its reference is not shown",
            hint=f"`autodrill hint {target}` gives less away; add --yes to see it all the same",
        )
    try:
        goes_on = typer.confirm(f"`{target}` is not green yet. Show its reference all the same?")
    except typer.Abort:  # Ctrl-C, or the end of the input
        raise KeyboardInterrupt from None
    if not goes_on:
        raise typer.Exit
