"""The targets of a timed run with their times, ahead of or behind the target and the best."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from autodrill.render.inert import inert
from autodrill.render.layout import Line, Part, Style, fixed, glued, line
from autodrill.render.signs import SIGNS
from autodrill.render.times import apart, clock, figure

if TYPE_CHECKING:
    from autodrill.practice.timed_view import Row, View

_INDENT = 2
_NARROW = 60
_WIDE = 70


def splits(view: View, width: int) -> list[Line]:
    """Lay out the targets of a run with their times, stacked where there is little room."""
    if width < _NARROW:
        return [one for row in view.rows for one in _stacked(view, row)]
    columns = _columns(view, width)
    names = max(len(_name(row)) for row in view.rows)
    head = "".join(f"{one.title:>{one.width}}" for one in columns)
    lines = [fixed((f"{'':{names + 2}}{head}".rstrip(), "quiet"))]
    for row in view.rows:
        lines += _split(view, row, names, columns, width)
    return lines


def only_current(view: View, width: int) -> list[Line]:
    """Show one split where the screen is too low for all."""
    others = len(view.rows) - 1
    more = [line((f"and {others} more targets", "quiet"), indent=_INDENT)] if others else []
    return [*splits(replace(view, rows=(view.current,)), width), *more]


@dataclass(frozen=True)
class _Column:
    title: str
    width: int


def _columns(view: View, width: int) -> list[_Column]:
    """Choose columns; what no target of the track has takes no room."""
    apart, narrower = (9, 0) if width >= _WIDE else (8, 2)
    columns = [_Column("time", apart)]
    if any(row.par_s is not None for row in view.rows):
        goal = "about" if view.estimates else "target"
        columns += [_Column(goal, 9 - narrower), _Column("", apart)]
    return [*columns, _Column("best", apart), _Column("", apart)]


def _split(view: View, row: Row, names: int, columns: list[_Column], width: int) -> Iterator[Line]:
    took_s, style = _took(view, row)
    cells: list[tuple[str, Style]] = [(_time(row, took_s), "")]
    goals = [(row.best_s, figure)]
    if len(columns) > 3:
        goals.insert(0, (row.par_s, clock))
    for goal_s, written in goals:
        behind = _behind(row, took_s, goal_s)
        cells += [("–" if goal_s is None else written(goal_s), "quiet"), (behind, _ahead(behind))]
    padded = [
        (f"{text:>{column.width}}", style)
        for (text, style), column in zip(cells, columns, strict=True)
    ]
    while padded and not padded[-1][0].strip():
        padded.pop()
    used = names + 2 + sum(column.width for column in columns)
    hints = _hints(row)
    beside = hints if used + len(hints) <= width else ""
    if beside:
        beside = " " * (used - names - 2 - sum(len(text) for text, _ in padded)) + hints
    yield fixed(_sign(view, row), (f" {_name(row):<{names}}", style), *padded, (beside, "todo"))
    if hints and not beside:
        yield fixed((hints, "todo"))


def _stacked(view: View, row: Row) -> Iterator[Line]:
    took_s, style = _took(view, row)
    is_current = row.outcome is None and took_s is not None
    of = f" of {clock(row.par_s)}" if is_current and row.par_s is not None else ""
    hints = f"  {glued(_hints(row).strip())}" if row.hints else ""
    name, time = glued(f" {_name(row)}"), glued(f"{_time(row, took_s)}{of}")
    yield line(_sign(view, row), (f"{name}  {time}", style), (hints, "todo"), hang=_INDENT)
    par = "estimate" if view.estimates else "target"
    for goal, goal_s in ((par, row.par_s), ("best", row.best_s)):
        behind = _behind(row, took_s, goal_s)
        if behind:
            yield line((f"{behind} to the {goal}", "quiet"), indent=_INDENT)


def _behind(row: Row, took_s: float | None, goal_s: float | None) -> str:
    """Write how far a target that is green is ahead or behind, or that one under way is behind."""
    if took_s is None or goal_s is None:
        return ""
    if row.outcome == "passed":
        return apart(took_s, goal_s)
    is_late = row.outcome is None and took_s > goal_s
    return f"+{clock(took_s - goal_s)}" if is_late else ""


def _time(row: Row, took_s: float | None) -> str:
    """Write a time that has ended to a tenth of a second, one that goes on to the second."""
    if took_s is None:
        return ""
    return clock(took_s) if row.took_s is None else figure(took_s)


def _took(view: View, row: Row) -> tuple[float | None, Style]:
    if row.took_s is not None:
        return row.took_s, ""
    if row.id == view.current.id and view.state == "open":
        return view.leg_s, "strong"
    return None, "quiet"


def _sign(view: View, row: Row) -> Part:
    if row.outcome is not None:
        return SIGNS["pass" if row.outcome == "passed" else "fail"]
    if row.id == view.current.id and view.state == "open":
        return ("→", "strong")
    return SIGNS["blocked"]


def _name(row: Row) -> str:
    return f"{row.step} {inert(row.id)}"


def _hints(row: Row) -> str:
    if not row.hints:
        return ""
    return f"  {row.hints} hint{'' if row.hints == 1 else 's'}"


def _ahead(difference: str) -> Style:
    return "" if not difference else "bad" if difference.startswith("+") else "good"
