"""The application: its commands, in the order of a learner's day."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from typing import Annotated

import typer

from autodrill.catalog import track_ids
from autodrill.cli import (
    about,
    board,
    check,
    edit,
    engine,
    learn,
    records,
    start,
    time,
    watch,
)
from autodrill.cli.gate import Gate

app = typer.Typer(
    cls=Gate,
    add_completion=False,
    rich_markup_mode=None,
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"]},
    invoke_without_command=True,
)


def _show_version(wanted: bool) -> None:
    if wanted:
        from autodrill import __version__

        typer.echo(f"autodrill {__version__}")
        raise typer.Exit


def _help(command: Callable[..., None]) -> str:
    """Return a command's help, with a track that there is in its example."""
    return (inspect.getdoc(command) or "").replace("TRACK_ID", next(iter(track_ids()), "TRACK"))


def root(
    context: typer.Context,
    version: Annotated[
        bool,
        typer.Option("--version", callback=_show_version, is_eager=True, help="Print the version."),
    ] = False,
) -> None:
    """Practise building an autograd engine in NumPy, graded as you go.

    Example: autodrill start TRACK_ID
    """
    if context.invoked_subcommand is None:
        about.overview()


app.callback(help=_help(root))(root)
for one in (
    start.start,
    check.check,
    watch.watch,
    time.time,
    time.next_,
    board.trace,
    board.quiz,
    learn.hint,
    learn.show,
    edit.reset,
    edit.undo,
    records.history,
    records.stats,
    records.export,
    engine.graph,
    engine.agree,
    engine.bench,
    about.tracks,
    about.where,
    about.verify,
    about.doctor,
):
    app.command(one.__name__.rstrip("_"), help=_help(one))(one)
