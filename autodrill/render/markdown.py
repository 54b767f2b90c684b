"""Guides, hints and references: Markdown and Python source, as autodrill ships them."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from autodrill.render.console import Screen

_THEME = "ansi_dark"
"""The terminal's own colours and no background: readable on a dark screen and on a light one."""


def show(screen: Screen, text: str) -> None:
    """Show Markdown: rendered where there is colour, else as it was written, to be piped."""
    if not screen.colour:
        screen.print(text)
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
