"""The application: its commands, in the order of a learner's day."""

from __future__ import annotations

from typing import Annotated

import typer

from autodrill.cli import about, check, edit, learn, start
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


@app.callback()
def root(
    context: typer.Context,
    version: Annotated[
        bool,
        typer.Option("--version", callback=_show_version, is_eager=True, help="Print the version."),
    ] = False,
) -> None:
    """Practise building an autograd engine in NumPy, graded as you go.

    Example: autodrill start lab01
    """
    if context.invoked_subcommand is None:
        about.overview()


app.command()(start.start)
app.command()(check.check)
app.command()(learn.hint)
app.command()(learn.show)
app.command()(edit.reset)
app.command()(edit.undo)
app.command()(about.tracks)
app.command()(about.where)
app.command()(about.doctor)
