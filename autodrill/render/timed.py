"""The screen of a timed run: the time, the splits, the last verdict, and the keys."""

from __future__ import annotations

import os
import re
import signal
from collections.abc import Iterator
from typing import TYPE_CHECKING

from autodrill.render.commands import commands
from autodrill.render.inert import inert, inert_lines
from autodrill.render.layout import Line, Part, blocks, glued, line, rows, spread
from autodrill.render.signs import SIGNS
from autodrill.render.splits import only_current, splits
from autodrill.render.times import clock, figure

if TYPE_CHECKING:
    from autodrill.practice.timed_view import LastVerdict, View
    from autodrill.render.console import Screen

_INDENT = 2
_CONTINUES = re.compile(r" {0,3}(?![-*#|>]|```|\d+\.)\S")
"""A line of Markdown that goes on with the one before: no item, heading, fence or code."""
_RUNS = {"ladder": "the ladder", "full": "from an empty engine"}


class LiveRun:
    """A timed run on a screen that is written over in place; use it as a context manager."""

    def __init__(self, screen: Screen) -> None:
        self._screen = screen
        self._size = (0, 0)

    def __enter__(self) -> LiveRun:
        self._before = signal.signal(signal.SIGTSTP, self._stop)
        return self

    def __exit__(self, *_: object) -> None:
        signal.signal(signal.SIGTSTP, self._before)
        self._screen.show_cursor()

    def show(self, view: View) -> None:
        """Show the run as it is now, unless an editor has the terminal."""
        if view.is_muted:
            if self._size != (0, 0):
                self._screen.show_cursor()
            self._size = (0, 0)
            if view.event == "split":
                self._screen.ring()
            return
        size = self._screen.width, self._screen.height
        body = whole_screen(view, size[0], size[1] - 1)
        if self._size == (0, 0):
            self._screen.hide_cursor()
        self._screen.redraw(body, anew=size != self._size)
        self._size = size

    def _stop(self, *_: object) -> None:
        """Give the cursor back to the shell on Ctrl-Z, and draw anew when the run goes on."""
        self._screen.show_cursor_at_once()
        signal.signal(signal.SIGTSTP, signal.SIG_DFL)
        os.kill(os.getpid(), signal.SIGTSTP)
        signal.signal(signal.SIGTSTP, self._stop)
        self._size = (0, 0)


def show_event(screen: Screen, view: View) -> None:
    """Show what has just happened on a line of its own, where there is no live screen."""
    said = list(_said(view))
    screen.write(blocks(said, _ended(view, screen.width)) if view.event == "end" else said)
    screen.flush()


def whole_screen(view: View, width: int, height: int) -> list[Line]:
    """Lay out the whole screen; what there is no room for is said."""
    head, foot, body = _head(view, width), _foot(view), splits(view, width)
    hint = _hint(view) if view.state == "open" else []
    if _height(blocks(head, body, hint, foot), width) > height:
        body = only_current(view, width)
    room = height - _height(blocks(head, body, foot), width) - 1
    return blocks(head, body, _fitted(view, hint, width, room), foot)


def _hint(view: View) -> list[Line]:
    if view.hint is None:
        return []
    head = line((f"hint {view.hint.level}: {view.hint.heading.lower()}", "strong"), indent=_INDENT)
    return [head, *(line(one, indent=_INDENT) for one in inert_lines(flowing(view.hint.text)))]


def _fitted(view: View, hint: list[Line], width: int, room: int) -> list[Line]:
    """Leave out what of a hint there is no room for, and say where to read it."""
    if view.hint is None or _height(hint, width) <= room:
        return hint
    command = f"autodrill hint {inert(view.current.id)} --level {view.hint.level}"
    more = line(f"… more: {command}", indent=_INDENT)
    shown = list(hint)
    while shown and _height([*shown, more], width) > room:
        shown.pop()
    return [*shown, more]


def flowing(markdown: str) -> str:
    """Join the lines of each paragraph and list item, so that they wrap to the screen."""
    joined: list[str] = []
    is_code = False
    for one in markdown.splitlines():
        if one.startswith("```"):
            is_code = not is_code
        before = joined[-1] if joined else ""
        continues = before.strip() and not before.startswith(("```", "    "))
        if not is_code and continues and _CONTINUES.match(one):
            joined[-1] = f"{before} {one.strip()}"
        else:
            joined.append(one)
    return "\n".join(joined)


def _height(lines: list[Line], width: int) -> int:
    return sum(len(list(rows(one, width))) for one in lines)


# Head -----------------------------------------------------------------------------------------


def _head(view: View, width: int) -> list[Line]:
    title = line((inert(view.track), "strong"), f" · {_run(view)}")
    state: Part = (clock(view.run_s), "strong")
    if view.state != "open":
        state = (figure(view.run_s), "good" if view.state == "passed" else "bad")
    elif view.is_paused:
        state = (f"paused  {clock(view.run_s)}", "todo")
    of = f" of {clock(view.par_s)}" if view.kind != "target" and view.par_s else ""
    lines = spread(title, line(state, (of, "quiet")), width)
    if view.state == "open":
        one = view.current
        lines.append(
            line((f"{one.step} {inert(one.id)}", "strong"), f": {inert(one.title)}", hang=_INDENT)
        )
        lines.append(line((f"in {inert(view.file)}", "quiet")))
    if view.slept_s:
        lines.append(line((f"asleep for {clock(view.slept_s)}, not counted", "todo")))
    return lines


def _run(view: View) -> str:
    return _RUNS.get(view.kind, inert(view.current.id))


# Foot -----------------------------------------------------------------------------------------


def _foot(view: View) -> list[Line]:
    lines = [_verdict_line(view.verdict)] if view.verdict is not None else []
    guide = _guide(view)
    if view.state != "open":
        return blocks(lines, _outcome(view))
    if view.is_grading:
        lines.append(line(("grading …", "quiet")))
    elif view.trouble == "gone":
        back = "(Ctrl-C and `autodrill time --resume` write it again)"
        lines.append(line(("✗", "bad"), f" {_gone(view)} {back}", hang=_INDENT))
    elif view.trouble == "stale":
        lines.append(line((_STALE, "todo")))
    elif guide:
        lines.append(line((guide, "quiet")))
    if view.asks:
        return [*lines, line(("give up? g again gives up, any other key goes on", "todo"))]
    pause = "p goes on" if view.is_paused else "p pause"
    names = [pause, "h hint (counted)", *(["e edit"] if view.can_edit else []), "g give up"]
    return [*lines, line((" · ".join(map(glued, names)), "quiet"))]


def _guide(view: View) -> str:
    """Say what to do at the start of a run and, with a new file, of each target."""
    if view.verdict is None:
        return "each save is graded; the clock stops at green"
    is_fresh = view.kind == "ladder" and view.verdict.verdict == "pass"
    return "the file is a fresh one: reload it in your editor" if is_fresh else ""


def _gone(view: View) -> str:
    return f"{inert(view.file)} is gone; waiting for it to be back"


_STALE = (
    "your editor put back the last target's file; the fresh one is there again: "
    "reload it in the editor"
)


def _verdict_line(seen: LastVerdict) -> Line:
    sign = SIGNS[seen.verdict]
    tests = f" {seen.passed}/{seen.total}" if seen.total else ""
    count = glued(f" {inert(seen.target)}{tests}")
    if seen.verdict == "pass":
        return line(sign, f"{count}  green at {figure(seen.run_s)}", hang=_INDENT)
    bug = f" ({inert(seen.bug)})" if seen.bug else ""
    place = f"line {seen.line}: " if seen.line is not None else ""
    message = f"  {place}{inert(seen.message) or seen.verdict}{bug}"
    at = glued(f"at {figure(seen.run_s)}")
    return line(sign, f"{count}{message}", (f"  {at}", "quiet"), hang=_INDENT)


# Line by line ---------------------------------------------------------------------------------


def _said(view: View) -> Iterator[Line]:
    at: Part = (f"{figure(view.run_s)}  ", "quiet")
    one = view.current
    match view.event:
        case "start":
            yield line(
                f"attempt {view.attempt}: {inert(view.track)}, {_run(view)}; "
                f"write `{inert(one.id)}` in {inert(view.file)}",
                hang=_INDENT,
            )
        case "verdict" | "split" if view.verdict is not None:
            yield _verdict_line(view.verdict)
            if view.event == "split" and view.state == "open":
                yield line(at, f"next: `{inert(one.id)}` in {inert(view.file)}", hang=_INDENT)
        case "gone":
            yield line(at, _gone(view), hang=_INDENT)
        case "stale":
            yield line(at, _STALE, hang=_INDENT)
        case "end":
            if view.state == "given up":
                yield line(at, "given up", hang=_INDENT)


def _ended(view: View, width: int) -> list[Line]:
    return blocks(_head(view, width), splits(view, width), _outcome(view))


def _outcome(view: View) -> list[Line]:
    """Say how a run has ended, beside what was promised and the best, and what to type."""
    parts: list[Part] = [f" attempt {view.attempt}: {view.state}"]
    own = view.current if view.kind == "target" else None
    took_s = view.run_s if own is None else own.took_s or view.run_s
    par_s, best_s = (view.par_s, view.best_s) if own is None else (own.par_s, own.best_s)
    if view.state == "passed":
        if par_s is not None:
            words = "within" if took_s <= par_s else "over"
            whose = "that we estimate" if view.estimates else "of the target"
            parts.append(f", {words} the {clock(par_s)} {whose}")
        if best_s is not None and took_s < best_s:
            parts.append((", a new best", "good"))
    sign = SIGNS["pass" if view.state == "passed" else "fail"]
    return [
        line(sign, *parts, hang=_INDENT),
        *commands(
            ("look back", f"autodrill history show {view.attempt}"), ("next", "autodrill next")
        ),
    ]
