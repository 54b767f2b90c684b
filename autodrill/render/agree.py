"""How far an engine and torch are apart: a histogram, and the smallest graph that shows it."""

from __future__ import annotations

import math
from collections.abc import Iterator
from itertools import groupby
from typing import TYPE_CHECKING, Any

from autodrill.render import report
from autodrill.render.commands import commands
from autodrill.render.inert import inert
from autodrill.render.layout import Line, blocks, fixed, line

if TYPE_CHECKING:
    from autodrill.practice.agree import Agreement
    from autodrill.render.console import Screen

_INDENT = 2
_BAR, _ASCII_BAR = "█", "#"
_LONGEST = 50
_LONG_GAP = 3


def show(screen: Screen, found: Agreement, bar: float) -> None:
    """Show a comparison; `bar` is the disagreement that still passes."""
    sign = _BAR if screen.can_show(_BAR) else _ASCII_BAR
    screen.write(lines(found, bar, screen.width, sign))


def lines(found: Agreement, bar: float, width: int, sign: str = _BAR) -> list[Line]:
    """Lay out a comparison."""
    title = line(
        (inert(found.track), "strong"),
        f" · {inert(found.engine)} beside {inert(f'torch {found.torch}'.strip())}, float64",
        hang=_INDENT,
    )
    if found.problem is not None:
        from autodrill.render.source import explain

        return blocks([title], explain(found.problem, width))
    return blocks([title], _histogram(found, width, sign), _verdict(found, bar, width))


def bars(found: Agreement) -> list[tuple[str, int]]:
    """Return the bars of the histogram: what each is called, and how many graphs it holds."""
    named = [("equal" if one is None else f"1e{one:+03d}", n) for one, n in found.histogram]
    apart = sum(one == math.inf for one in found.apart)
    return [*named, ("no number", apart)] if apart else named


def axis(found: Agreement) -> str:
    """Return what the bars are of."""
    return f"disagreement of {len(found.apart)} random graphs, by power of ten"


def _histogram(found: Agreement, width: int, sign: str) -> list[Line]:
    rows = bars(found)
    names = max(len(name) for name, _ in rows)
    most = max(count for _, count in rows)
    digits = len(str(most))
    room = max(1, min(_LONGEST, width - names - digits - 2 * _INDENT - 2))
    shown = [line((axis(found), "quiet"), hang=_INDENT)]
    for is_gap, group in groupby(_with_gaps(rows), key=lambda row: row[2]):
        if is_gap:
            shown.append(line("…", indent=_INDENT))
            continue
        for name, count, _ in group:
            bar = sign * math.ceil(room * count / most)
            text = f"{name:<{names}}  {count:>{digits}}  "
            shown.append(fixed(text, (bar, "command"), indent=_INDENT))
    return shown


def _with_gaps(rows: list[tuple[str, int]]) -> Iterator[tuple[str, int, bool]]:
    """Mark the rows of a long run of empty ones."""
    for is_empty, group in groupby(rows, key=lambda row: not row[1]):
        run = list(group)
        yield from ((*row, is_empty and len(run) >= _LONG_GAP) for row in run)


def _verdict(found: Agreement, bar: float, width: int) -> list[Line]:
    largest = "no number" if found.largest == math.inf else f"{found.largest:.1e}"
    said = f"the largest disagreement is {largest}; up to {bar:.0e} passes"
    if found.failure is None:
        return [line(("✓ ", "good"), said, hang=_INDENT)]
    from autodrill.render.failure import lines as explain

    count = f"{len(found.failing)} of {len(found.apart)} graphs disagree"
    head = line(("✗ ", "bad"), (count, "strong"), f"; {said}", hang=_INDENT)
    what = line((f"{found.failure.test}, made as small as it still fails", "quiet"), indent=_INDENT)
    look = inert(found.look) if found.look else None
    return blocks([head], [what, *explain(found.failure, width)], commands(("look", look)))


def as_json(found: Agreement, bar: float) -> dict[str, Any]:
    """Return a comparison as plain data; a disagreement that is no number is "inf"."""
    return {
        "schema": "autodrill.agree/1",
        "track": found.track,
        "engine": found.engine,
        "torch": found.torch,
        "seed": found.seed,
        "graphs": len(found.apart),
        "verdict": "pass" if found.passes else "fail",
        "bar": bar,
        "largest": report.number(found.largest),
        "histogram": [{"power": power, "graphs": count} for power, count in found.histogram],
        "failing": list(found.failing),
        "failure": report.failure(found.failure) if found.failure else None,
        "look": found.look,
        "problem": report.problem(found.problem) if found.problem else None,
    }


def need_pictures() -> None:
    """Say at once where no picture can be drawn."""
    from autodrill.render import plot

    plot.need_matplotlib()


def as_picture(found: Agreement, form: str) -> bytes:
    """Return the histogram as the content of an svg or png file."""
    from autodrill.render import plot

    title = f"{found.track}, {found.engine}, beside torch {found.torch}"
    return plot.histogram(bars(found), title, axis(found), form)
