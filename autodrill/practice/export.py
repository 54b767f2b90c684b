"""The attempts as rows for a spreadsheet or a program."""

from __future__ import annotations

import csv
import io
from collections.abc import Iterable, Mapping

from autodrill.catalog import load_track
from autodrill.history import Figures, History
from autodrill.history.figures import ROW
from autodrill.places import history_file

_FORMULA = ("=", "+", "-", "@", "\t", "\r")


def rows(track_id: str | None = None) -> list[dict[str, object]]:
    """Return one row for each target of each attempt, the oldest first."""
    if track_id is not None:
        load_track(track_id)
    with History(history_file()) as history:
        return Figures(history).rows(track_id)


def as_csv(found: Iterable[Mapping[str, object]]) -> str:
    """Write rows as CSV in which no cell is a formula."""
    with io.StringIO(newline="") as stream:
        writer = csv.writer(stream, lineterminator="\n")
        writer.writerow(ROW)
        for row in found:
            writer.writerow([_cell(row[name]) for name in ROW])
        return stream.getvalue()


def _cell(value: object) -> object:
    """Put a quote before a text that a spreadsheet would run; a number is only a number."""
    if isinstance(value, str) and value.startswith(_FORMULA):
        return f"'{value}"
    return "" if value is None else value
