"""`autodrill history`, `autodrill stats` and `autodrill export`."""

from __future__ import annotations

import enum
import sys
from dataclasses import asdict
from typing import Annotated

import typer

from autodrill.cli.edit import report
from autodrill.cli.options import Json, TrackOption, print_json, say, screen
from autodrill.errors import AutodrillError


class Do(enum.StrEnum):
    """What to do with the history."""

    list = "list"
    show = "show"
    restore = "restore"


class Format(enum.StrEnum):
    """What to export to."""

    csv = "csv"
    json = "json"


def history(
    do: Annotated[
        Do, typer.Argument(metavar="[list|show|restore]", help="List it, or use one entry.")
    ] = Do.list,
    number: Annotated[
        str | None, typer.Argument(metavar="[N]", help="An attempt (3) or a text (t12).")
    ] = None,
    last: Annotated[
        int, typer.Option("--last", min=1, help="List so many of the latest attempts.")
    ] = 20,
    as_json: Json = False,
) -> None:
    """List attempts and kept texts, show one, or bring a text back.

    Example: autodrill history show 3
    """
    from autodrill.practice import records

    if do is Do.list:
        _list(last, as_json)
        return
    if number is None:
        raise AutodrillError(
            f"`history {do}` needs a number", "`autodrill history` lists what there is"
        )
    if do is Do.restore:
        report(records.restore(number), "restore", as_json)
        return
    found = records.show_record(number)
    from autodrill.render import records as shown

    if as_json:
        print_json(shown.record(found))
    else:
        shown.show_record(screen(), found)


def stats(track: TrackOption = None, as_json: Json = False) -> None:
    """Show times, trend and bugs of each target, the weakest first.

    Example: autodrill stats
    """
    from autodrill.practice.stats import stats as figures
    from autodrill.render import records as shown

    found = figures(track)
    say(found.notices)
    if as_json:
        print_json(shown.stats(found))
    else:
        shown.show_stats(screen(), found)


def export(
    track: TrackOption = None,
    form: Annotated[Format, typer.Option("--format", help="What to write.")] = Format.csv,
    as_json: Json = False,
) -> None:
    """Print all attempts as CSV or JSON.

    Example: autodrill export --format csv
    """
    from autodrill.practice import export as rows

    found = rows.rows(track)
    if as_json or form is Format.json:
        print_json({"schema": "autodrill.export/1", "attempts": found})
    else:
        sys.stdout.write(rows.as_csv(found))


def _list(last: int, as_json: bool) -> None:
    from autodrill.practice.records import list_history
    from autodrill.render import records as shown

    found = list_history(last)
    say(found.notices)
    if as_json:
        attempts, texts = map(asdict, found.attempts), map(asdict, found.texts)
        print_json({"schema": "autodrill.history/1", "attempts": [*attempts], "texts": [*texts]})
    else:
        shown.show_history(screen(), found.attempts, found.texts)
