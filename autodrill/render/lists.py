"""Lists of things that have a name: tracks, paths, and what is installed."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Literal

from autodrill.render.commands import commands
from autodrill.render.inert import inert
from autodrill.render.layout import Line, Part, Style, blocks, fixed, line

if TYPE_CHECKING:
    from autodrill.render.console import Screen

State = Literal["ok", "missing", "optional"]

_INDENT = 2
_NARROW = 60
_SIGNS: dict[State, tuple[str, Style]] = {
    "ok": ("✓", "good"),
    "missing": ("✗", "bad"),
    "optional": ("·", "quiet"),
}


def show_tracks(
    screen: Screen, rows: Sequence[tuple[str, str, str]], next_command: str | None = None
) -> None:
    """Show tracks, each an id, what it is, and how large it is or how far it has come."""
    names = _padded([name for name, *_ in rows], screen.width)
    shown = [
        line((name, "strong"), inert(text), *_in_brackets(state), hang=len(name))
        for name, (_, text, state) in zip(names, rows, strict=True)
    ]
    screen.write(blocks(shown, commands(("start", next_command))))


def show_where(screen: Screen, rows: Sequence[tuple[str, str]]) -> None:
    """Show what lies where; a path stays whole, so that it can be copied."""
    names = _padded([name for name, _ in rows], screen.width)
    for name, (_, path) in zip(names, rows, strict=True):
        if screen.width < _NARROW:
            screen.write([line((name, "quiet")), fixed(inert(path), indent=_INDENT)])
        else:
            screen.write([fixed((name, "quiet"), inert(path))])


def show_doctor(screen: Screen, rows: Sequence[tuple[str, str, State, str]]) -> None:
    """Show what was looked at: a name, what was found, its state, and what to do about it."""
    names = _padded([name for name, *_ in rows], screen.width)
    shown: list[Line] = []
    for name, (_, text, state, hint) in zip(names, rows, strict=True):
        hang = len(name) + 2
        shown.append(line(_SIGNS[state], f" {name}", inert(text), hang=hang))
        if hint and state != "ok":
            indent = hang if screen.width >= _NARROW else _INDENT
            shown.append(line(("hint: ", "quiet"), inert(hint), indent=indent, hang=_INDENT))
    missing = sum(state == "missing" for _, _, state, _ in rows)
    are = "thing is" if missing == 1 else "things are"
    verdict: Part = (f"{missing} {are} missing", "bad") if missing else ("all is well", "good")
    screen.write(blocks(shown, [line(verdict)]))


def _padded(names: Sequence[str], width: int) -> list[str]:
    """Pad names to one width, but not where there is little room."""
    shown = [inert(name) for name in names]
    widest = max(map(len, shown), default=0) if width >= _NARROW else 0
    return [f"{name:<{widest}}  " for name in shown]


def _in_brackets(state: str) -> tuple[Part, ...]:
    return ((f" ({inert(state)})", "quiet"),) if state else ()
