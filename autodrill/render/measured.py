"""What was counted on the way to a verdict, as a small table."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING

from autodrill.render.inert import inert
from autodrill.render.layout import Line, glued, len_cells, line

if TYPE_CHECKING:
    from autodrill.results import Measure

_INDENT = 2
_UNITS = ("bytes", "KiB", "MiB", "GiB")


def table(measures: Iterable[Measure]) -> list[Line]:
    """Lay out numbers of bytes, each beside its share of the one it is held against."""
    shown = [(inert(one.label), size(one.bytes), one.share) for one in measures]
    if not shown:
        return []
    widest = max(len_cells(label) for label, _, _ in shown)
    longest = max(map(len, (number for _, number, _ in shown)))
    rows = [
        line(
            label + glued(" " * (widest - len_cells(label))),
            "  ",
            (glued(f"{number:>{longest}}"), "strong"),
            ("" if share is None else glued(f"  {share:.1%}"), "quiet"),
            indent=2 * _INDENT,
            hang=_INDENT,
        )
        for label, number, share in shown
    ]
    return [line(("memory", "quiet"), indent=_INDENT), *rows]


def size(count: float) -> str:
    """Write a number of bytes with three digits: `1.25 MiB`."""
    unit = 0
    while count >= 1000 and unit < len(_UNITS) - 1:
        count, unit = count / 1024, unit + 1
    return f"{count:.0f} {_UNITS[0]}" if unit == 0 else f"{count:.3g} {_UNITS[unit]}"
