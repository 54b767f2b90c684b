"""The screen of a timed run: the time, the splits, the last verdict, and the keys."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from autodrill.render.commands import commands
from autodrill.render.inert import inert, inert_lines
from autodrill.render.layout import Line, Part, Style, blocks, fixed, glued, line, rows, spread
from autodrill.render.signs import SIGNS
from autodrill.render.times import apart, clock, figure

if TYPE_CHECKING:
    from autodrill.practice.timed_view import LastVerdict, Row, View
    from autodrill.render.console import Screen

_INDENT = 2
_NARROW = 58
_RUNS = {"target": "one target", "ladder": "the ladder", "full": "from an empty engine"}


class LiveRun:
    """A timed run on a screen that is written over in place; use it as a context manager."""

    def __init__(self, screen: Screen) -> None:
        self._screen = screen
        self._size = (0, 0)

    def __enter__(self) -> LiveRun:
        self._screen.hide_cursor()
        return self

    def __exit__(self, *_: object) -> None:
        self._screen.show_cursor()

    def show(self, view: View) -> None:
        """Show the run as it is now, unless an editor has the terminal."""
        if view.is_muted:
            self._size = (0, 0)
            if view.event == "split":
                self._screen.ring()
            return
        size = self._screen.width, self._screen.height
        body = _live(view, size[0], size[1] - 1)
        self._screen.redraw(body, anew=size != self._size)
        self._size = size


def show_event(screen: Screen, view: View) -> None:
    """Show what has just happened on a line of its own, where there is no live screen."""
    said = list(_said(view))
    screen.write(blocks(said, _ended(view, screen.width)) if view.event == "end" else said)
    screen.flush()


def _live(view: View, width: int, height: int) -> list[Line]:
    """Lay out the whole screen; what a hint takes more than there is room for is said."""
    head, foot = _head(view, width), _foot(view)
    hint = [line(one, indent=_INDENT) for one in inert_lines(view.hint)] if view.hint else []
    used = sum(len(list(rows(one, width))) for one in blocks(head, _splits(view, width), foot))
    room = height - used - 1
    fitting: list[Line] = []
    for one in hint:
        room -= len(list(rows(one, width)))
        if room < 1 and len(fitting) + 1 < len(hint):
            command = f"autodrill hint {inert(view.current.id)}"
            fitting.append(line(f"… more: {command}", indent=_INDENT))
            break
        fitting.append(one)
    return blocks(head, _splits(view, width), fitting, foot)


# Head -----------------------------------------------------------------------------------------


def _head(view: View, width: int) -> list[Line]:
    title = line((inert(view.track), "strong"), f" · {_RUNS[view.kind]}")
    state: Part = (clock(view.run_s), "strong")
    if view.state != "open":
        state = (figure(view.run_s), "good" if view.state == "passed" else "bad")
    elif view.is_paused:
        state = (f"paused  {clock(view.run_s)}", "todo")
    lines = spread(title, line(state), width)
    if view.state == "open":
        one = view.current
        lines.append(
            line((f"{one.step} {inert(one.id)}", "strong"), f": {inert(one.title)}", hang=_INDENT)
        )
        lines.append(line((f"in {inert(view.file)}", "quiet"), hang=_INDENT))
    if view.slept_s:
        lines.append(line((f"asleep for {clock(view.slept_s)}, not counted", "todo")))
    return lines


# Splits ---------------------------------------------------------------------------------------


def _splits(view: View, width: int) -> list[Line]:
    if width < _NARROW:
        return [one for row in view.rows for one in _stacked(view, row)]
    widest = max(len(_name(row)) for row in view.rows) + 2
    head = f"{'':{widest + 2}}{'time':>9}{'target':>9}{'':>9}{'best':>9}"
    return [fixed((head.rstrip(), "quiet")), *(_split(view, row, widest) for row in view.rows)]


def _split(view: View, row: Row, widest: int) -> Line:
    took_s, style = _took(view, row)
    par = clock(row.par_s) if row.par_s is not None else "–"
    best = figure(row.best_s) if row.best_s is not None else "–"
    time = "" if took_s is None else figure(took_s) if row.took_s is not None else clock(took_s)
    ended = row.outcome == "passed" and took_s is not None
    to_par = apart(took_s or 0.0, row.par_s) if ended else ""
    to_best = apart(took_s or 0.0, row.best_s) if ended else ""
    return fixed(
        *_sign(view, row),
        (f" {_name(row):<{widest}}", style),
        f"{time:>9}",
        (f"{par:>9}", "quiet"),
        (f"{to_par:>9}", _ahead(to_par)),
        (f"{best:>9}", "quiet"),
        (f"{to_best:>9}" if to_best else "", _ahead(to_best)),
        (_hints(row), "todo"),
    )


def _stacked(view: View, row: Row) -> Iterator[Line]:
    took_s, style = _took(view, row)
    time = "" if took_s is None else figure(took_s) if row.took_s is not None else clock(took_s)
    yield fixed(*_sign(view, row), (f" {_name(row)}", style), f"  {time}", (_hints(row), "todo"))
    if row.outcome == "passed" and took_s is not None:
        for name, other in (("target", row.par_s), ("best", row.best_s)):
            if other is not None:
                yield fixed((f"{apart(took_s, other)} to the {name}", "quiet"), indent=_INDENT)


def _took(view: View, row: Row) -> tuple[float | None, Style]:
    if row.took_s is not None:
        return row.took_s, ""
    if row.id == view.current.id and view.state == "open":
        return view.leg_s, "strong"
    return None, "quiet"


def _sign(view: View, row: Row) -> tuple[Part, ...]:
    if row.outcome is not None:
        return (SIGNS["pass" if row.outcome == "passed" else "fail"],)
    if row.id == view.current.id and view.state == "open":
        return (("→", "strong"),)
    return (SIGNS["blocked"],)


def _name(row: Row) -> str:
    return f"{row.step} {inert(row.id)}"


def _hints(row: Row) -> str:
    if not row.hints:
        return ""
    return f"  {row.hints} hint{'' if row.hints == 1 else 's'}"


def _ahead(difference: str) -> Style:
    return "" if not difference else "bad" if difference.startswith("+") else "good"


# Foot -----------------------------------------------------------------------------------------


def _foot(view: View) -> list[Line]:
    lines = [_verdict_line(view.verdict)] if view.verdict is not None else []
    if view.state != "open":
        return blocks(lines, _outcome(view))
    if view.is_grading:
        lines.append(line(("grading …", "quiet")))
    elif view.event == "gone":
        lines.append(line(("✗", "bad"), f" {inert(view.file)} is gone; waiting for it to be back"))
    elif view.event == "stale":
        lines.append(line((_STALE, "todo")))
    if view.asks:
        return [*lines, line(("give up? g again gives up, any other key goes on", "todo"))]
    pause = "p goes on" if view.is_paused else "p pause"
    names = [pause, "h hint (counted)", *(["e edit"] if view.can_edit else []), "g give up"]
    return [*lines, line((" · ".join(map(glued, names)), "quiet"))]


_STALE = (
    "your editor put back the last target's file; the fresh one is there again: "
    "reload it in the editor"
)


def _verdict_line(seen: LastVerdict) -> Line:
    sign = SIGNS[seen.verdict]
    count = glued(f" {inert(seen.target)} {seen.passed}/{seen.total}")
    if seen.verdict == "pass":
        return line(sign, f"{count}  green at {figure(seen.run_s)}", hang=_INDENT)
    bug = f" ({inert(seen.bug)})" if seen.bug else ""
    message = f"  {inert(seen.message) or seen.verdict}{bug}"
    return line(sign, f"{count}{message}", (f"  at {figure(seen.run_s)}", "quiet"), hang=_INDENT)


# Line by line ---------------------------------------------------------------------------------


def _said(view: View) -> Iterator[Line]:
    at: Part = (f"{figure(view.run_s)}  ", "quiet")
    one = view.current
    match view.event:
        case "start":
            yield line(
                f"attempt {view.attempt}: {inert(view.track)}, {_RUNS[view.kind]}; "
                f"write `{inert(one.id)}` in {inert(view.file)}",
                hang=_INDENT,
            )
        case "verdict" | "split" if view.verdict is not None:
            yield _verdict_line(view.verdict)
            if view.event == "split" and view.state == "open":
                yield line(at, f"next: `{inert(one.id)}` in {inert(view.file)}", hang=_INDENT)
        case "gone":
            yield line(at, f"{inert(view.file)} is gone; waiting for it to be back", hang=_INDENT)
        case "stale":
            yield line(at, _STALE, hang=_INDENT)
        case "end":
            if view.state == "given up":
                yield line(at, "given up", hang=_INDENT)


def _ended(view: View, width: int) -> list[Line]:
    return blocks(_head(view, width), _splits(view, width), _outcome(view))


def _outcome(view: View) -> list[Line]:
    """Say how a run has ended, beside what was promised and the best, and what to type."""
    parts: list[Part] = [f" attempt {view.attempt}: {view.state}"]
    own = view.current if view.kind == "target" else None
    took_s = view.run_s if own is None else own.took_s or view.run_s
    par_s, best_s = (view.par_s, view.best_s) if own is None else (own.par_s, own.best_s)
    if view.state == "passed":
        if par_s is not None:
            words = "within" if took_s <= par_s else "over"
            parts.append(f", {words} the {clock(par_s)} of the target")
        if best_s is not None and took_s < best_s:
            parts.append((", a new best", "good"))
    sign = SIGNS["pass" if view.state == "passed" else "fail"]
    return [
        line(sign, *parts, hang=_INDENT),
        *commands(
            ("look back", f"autodrill history show {view.attempt}"), ("next", "autodrill next")
        ),
    ]
