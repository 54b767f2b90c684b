"""Guides, hints and references: Markdown and Python source, as autodrill ships them."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING

from autodrill.render.commands import commands
from autodrill.render.layout import BLANK, Line, line

if TYPE_CHECKING:
    from autodrill.render.console import Screen

_THEME = "ansi_dark"
"""The terminal's own colours and no background: readable on a dark screen and on a light one."""


def show_hint(
    screen: Screen, target: str, level: int, levels: int, heading: str, text: str
) -> None:
    """Show one level of a target's hints, and how to get the next."""
    count = f"  hint {level} of {levels}: {heading}"
    screen.write([line((target, "strong"), (count, "quiet")), BLANK])
    show_markdown(screen, text)
    more = f"autodrill hint {target}" if level < levels else f"autodrill show {target}"
    label = "more" if level < levels else "all of it"
    screen.write([BLANK, *commands((label, more), ("check", f"autodrill check {target}"))])


def show_sources(
    screen: Screen, target: str, title: str, sources: Iterable[tuple[str, str]]
) -> None:
    """Show the reference for a target, symbol by symbol."""
    head: list[Line] = [line((target, "strong"), (f"  {title}", "quiet"), hang=2)]
    screen.write(head)
    for _, source in sources:
        screen.write([BLANK])
        show_source(screen, source)


def show_markdown(screen: Screen, text: str) -> None:
    """Show Markdown: rendered where there is colour, else as it was written, to be piped."""
    if not screen.colour:
        screen.print(text.strip("\n"))
        return
    # Imported here: it brings a Markdown parser and Pygments, which a check never needs.
    from rich.markdown import Markdown

    screen.print(Markdown(text, code_theme=_THEME, hyperlinks=False))


def show_source(screen: Screen, source: str) -> None:
    """Show Python source, highlighted where there is colour; each line stays whole."""
    if not screen.colour:
        screen.print(source)
        return
    # Imported here: Pygments is large.
    from rich.syntax import Syntax

    highlighted = Syntax("", "python", theme=_THEME).highlight(source)
    highlighted.rstrip()
    highlighted.no_wrap = True
    highlighted.overflow = "ignore"
    screen.print(highlighted)
