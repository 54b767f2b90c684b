"""What goes wrong, and notices, as sentences on stderr."""

from __future__ import annotations

from typing import TYPE_CHECKING, TextIO

from autodrill.render.console import Screen
from autodrill.render.inert import inert
from autodrill.render.layout import BLANK, Line, Style, fixed, line

if TYPE_CHECKING:
    from autodrill.errors import AutodrillError


def show(stream: TextIO, error: AutodrillError) -> None:
    """Write `error: …` and, after a blank line, `hint: …`."""
    screen = Screen(stream)
    lines = _labelled(screen, "error: ", "bad", error.message)
    if error.hint:
        lines += [BLANK, *_labelled(screen, "hint: ", "command", error.hint)]
    screen.write(lines)


def warn(stream: TextIO, notice: str) -> None:
    """Write `warning: …`, for what does not keep a command from its job."""
    screen = Screen(stream)
    screen.write(_labelled(screen, "warning: ", "todo", notice))


def _labelled(screen: Screen, label: str, style: Style, text: str) -> list[Line]:
    """Lay out a text below its label, wrapped on a terminal only.

    Elsewhere a sentence stays on one line, so that it can be searched for.
    """
    make = line if screen.is_terminal else fixed
    first, *rest = map(inert, text.strip().splitlines() or [""])
    head = Line(((label, style), first), hang=len(label), fixed=not screen.is_terminal)
    return [head, *(make(one, indent=len(label)) for one in rest)]
