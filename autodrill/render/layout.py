"""Lines of text with named styles, and how they are fitted to a width.

A part is what `rich.text.Text.assemble` takes, so nothing here needs rich.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from itertools import groupby
from typing import Literal

Style = Literal["", "good", "bad", "todo", "quiet", "strong", "command"]
Part = str | tuple[str, Style]
Row = tuple[tuple[str, Style], ...]

_GLUE = "\x1f"
"""A space at which no line is broken; it is written as a plain one, and `inert` leaves none."""


@dataclass(frozen=True)
class Line:
    """One line of a screen.

    `indent` is the number of spaces in front, `hang` how many more there are in front of
    what is wrapped. A `fixed` line is never wrapped: the terminal may do so.
    """

    parts: tuple[Part, ...] = ()
    indent: int = 0
    hang: int = 0
    fixed: bool = False


def line(*parts: Part, indent: int = 0, hang: int = 0) -> Line:
    """Make a line that wraps between words."""
    return Line(parts, indent, hang)


def fixed(*parts: Part, indent: int = 0) -> Line:
    """Make a line that stays whole."""
    return Line(parts, indent, fixed=True)


def glued(text: str) -> str:
    """Keep a text on one line where it is part of a line that wraps."""
    return text.replace(" ", _GLUE)


BLANK = Line()


def blocks(*sections: Iterable[Line]) -> list[Line]:
    """Join sections with one blank line between those that are not empty."""
    joined: list[Line] = []
    for section in sections:
        lines = list(section)
        if joined and lines:
            joined.append(BLANK)
        joined += lines
    return joined


def spread(left: Line, right: Line, width: int) -> list[Line]:
    """Put two lines at the ends of one, or below each other where they don't fit."""
    gap = width - sum(len_cells(_text(one)) for one in (left, right))
    if gap < 2:
        return [left, right]
    return [fixed(*left.parts, " " * gap, *right.parts)]


def len_cells(text: str) -> int:
    """Return how many columns a text takes: wide characters two, combining ones none."""
    if text.isascii():
        return len(text)
    return sum(_cells(one) for one in text)


def rows(one: Line, width: int) -> Iterator[Row]:
    """Fit a line to a width; a word that is longer than that is kept whole."""
    styled = [(char, style) for text, style in _pairs(one.parts) for char in text]
    text = "".join(char for char, _ in styled)
    if one.fixed or one.indent + len_cells(text) <= width:
        yield _row(styled, one.indent)
        return
    indent, start, end = one.indent, 0, 0
    for word in re.finditer("[^ ]+", text):
        if end and indent + len_cells(text[start : word.end()]) > width:
            yield _row(styled[start:end], indent)
            indent, start = min(one.indent + one.hang, width // 3), word.start()
        end = word.end()
    yield _row(styled[start:end], indent)


def plain(lines: Iterable[Line], width: int) -> str:
    """Return lines as text without styles, each row ended by a line end."""
    fitted = (row for one in lines for row in rows(one, width))
    return "".join("".join(text for text, _ in row).rstrip(" ") + "\n" for row in fitted)


def _pairs(parts: Iterable[Part]) -> Iterator[tuple[str, Style]]:
    for part in parts:
        yield (part, "") if isinstance(part, str) else part


def _text(one: Line) -> str:
    return "".join(text for text, _ in _pairs(one.parts))


def _row(styled: list[tuple[str, Style]], indent: int) -> Row:
    runs = groupby(styled, key=lambda pair: pair[1])
    parts = tuple(("".join(char for char, _ in run), style) for style, run in runs)
    shown = tuple((text.replace(_GLUE, " "), style) for text, style in parts)
    return ((" " * indent, ""), *shown) if indent and shown else shown


def _cells(character: str) -> int:
    if unicodedata.category(character) in ("Mn", "Me"):
        return 0
    return 2 if unicodedata.east_asian_width(character) in "WF" else 1
