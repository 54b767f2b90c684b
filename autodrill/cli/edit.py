"""`autodrill reset` and `autodrill undo`."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import typer

from autodrill.cli.options import Json, print_json, say, screen

if TYPE_CHECKING:
    from autodrill.practice.edit import Changed


def reset(
    target: Annotated[
        str | None,
        typer.Argument(
            metavar="[TARGET]", help="A target, step or symbol; the whole file if left out."
        ),
    ] = None,
    as_json: Json = False,
) -> None:
    """Blank a target or the whole file again; your text is kept.

    Example: autodrill reset matmul
    """
    from autodrill.practice.edit import reset as reset_text

    report(reset_text(target), "reset", as_json)


def undo(as_json: Json = False) -> None:
    """Bring back what the latest reset has taken away.

    Example: autodrill undo
    """
    from autodrill.practice.edit import undo as undo_reset

    report(undo_reset(), "undo", as_json)


def report(changed: Changed, command: str, as_json: bool) -> None:
    """Print what was changed."""
    say(changed.notices)
    if as_json:
        print_json(
            {
                "schema": f"autodrill.{command}/1",
                "file": str(changed.file),
                "symbols": list(changed.symbols),
                "kept": changed.kept,
            }
        )
        return
    from autodrill.render.workspace import show_changed

    show_changed(screen(), changed.file.name, changed.symbols, command=command, kept=changed.kept)
