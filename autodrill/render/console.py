"""The screen: a stream, how wide it is, and which colours and signs it can show."""

from __future__ import annotations

import contextlib
import os
from collections.abc import Iterable
from dataclasses import replace
from functools import cached_property
from typing import TYPE_CHECKING, TextIO

from autodrill.render.layout import Line, Part, fixed, plain, rows

if TYPE_CHECKING:
    from rich.console import Console, RenderableType

_USUAL_WIDTH = 80
_LARGEST_WIDTH = 100
_USUAL_HEIGHT = 24
_STYLES: dict[str, str] = {
    "good": "green",
    "bad": "bold red",
    "todo": "yellow",
    "quiet": "dim",
    "strong": "bold",
    "command": "cyan",
    # rich puts code on black, which is a blot on a light screen
    "markdown.code": "bold cyan",
    "markdown.code_block": "cyan",
}
_ASCII = {
    "✓": "ok",
    "✗": "x",
    "·": ".",
    "…": "..",
    "→": "->",
    "•": "*",
    "×": "x",
    "–": "-",
    "—": "-",
    "‘": "'",
    "’": "'",
    "“": '"',
    "”": '"',
    **dict.fromkeys("│┃║▌", "|"),
    **dict.fromkeys("─━═", "-"),
    **dict.fromkeys("┌┐└┘├┤┬┴┼┏┓┗┛┡┩╇╔╗╚╝", "+"),
}


class Screen:
    """Where a command writes what people read.

    Without colour, which is where NO_COLOR is set, the terminal is dumb or the stream is no
    terminal, nothing but plain text is written. The width is looked up whenever something is
    written, so that a resize needs nothing.
    """

    def __init__(self, stream: TextIO, width: int | None = None) -> None:
        self.stream = stream
        self.is_terminal = _is_terminal(stream)
        self.colour = self.is_terminal and _colour_is_wanted()
        self._width = width

    @property
    def width(self) -> int:
        """Return the columns to fill, at most as many as are good to read."""
        return min(self._width or _columns(self.stream), _LARGEST_WIDTH)

    @property
    def height(self) -> int:
        """Return the rows of the terminal, or of a usual one."""
        try:
            return os.get_terminal_size(self.stream.fileno()).lines or _USUAL_HEIGHT
        except (AttributeError, ValueError, OSError):
            return _USUAL_HEIGHT

    @cached_property
    def console(self) -> Console:
        """Return the rich console of the stream; it is plain where the screen is."""
        # Imported here: plain output, and with it the start of every pipeline, needs no rich.
        from rich.console import Console
        from rich.theme import Theme

        return Console(
            file=self.stream,
            width=self._width,
            force_terminal=self.colour,
            color_system="auto" if self.colour else None,
            theme=Theme(_STYLES),
            highlight=False,
            markup=False,
            emoji=False,
        )

    def write(self, lines: Iterable[Line]) -> None:
        """Write lines, wrapped to the width."""
        self.stream.write(self._written(lines))

    def can_show(self, text: str) -> bool:
        """Tell whether the stream's encoding has all of a text's characters."""
        return encodable(text, self._encoding) == text

    @property
    def is_live(self) -> bool:
        """Tell whether the screen can be cleared and written anew."""
        return self.is_terminal and os.environ.get("TERM") not in ("dumb", "unknown", None)

    def clear(self) -> None:
        """Begin again at the top, where that can be done."""
        if self.is_live:
            self.stream.write("\x1b[H\x1b[2J\x1b[3J")

    def redraw(self, lines: Iterable[Line], *, anew: bool) -> None:
        """Write lines over those that stand there, `anew` on an empty screen."""
        text = self._written(lines).replace("\n", "\x1b[K\n")
        begin = "\x1b[H\x1b[2J\x1b[3J" if anew else "\x1b[H"
        self.stream.write(f"{begin}{text}\x1b[J")
        self.flush()

    def hide_cursor(self) -> None:
        """Hide the cursor until `show_cursor`."""
        self.stream.write("\x1b[?25l")

    def show_cursor(self) -> None:
        """Show the cursor again."""
        self.stream.write("\x1b[?25h")
        self.flush()

    def show_cursor_at_once(self) -> None:
        """Show the cursor from a signal handler, which may have cut into a write."""
        with contextlib.suppress(OSError, ValueError):
            os.write(self.stream.fileno(), b"\x1b[?25h")

    def ring(self) -> None:
        """Ring the bell."""
        self.stream.write("\a")
        self.flush()

    def prompt(self, text: str) -> None:
        """Write a text to answer on the same line."""
        self.stream.write(encodable(text, self._encoding))
        self.flush()

    def rewrite(self, text: str) -> None:
        """Write a text in the place of what stands on the last line, cut to the width."""
        shown = encodable(text, self._encoding)[: self.width - 1]
        self.stream.write(f"\r{shown}\x1b[K")
        self.flush()

    def flush(self) -> None:
        """Let what was written be seen."""
        self.stream.flush()

    def print(self, renderable: RenderableType) -> None:
        """Write a text as it is, or anything that rich can render."""
        if isinstance(renderable, str):
            self.write([fixed(one) for one in renderable.splitlines()])
            return
        from rich.segment import Segment, Segments

        options = self.console.options.update(width=self.width)
        segments = [
            segment._replace(text=encodable(segment.text, self._encoding))
            for segment in self.console.render(renderable, options)
            if not segment.control
        ]
        if self.colour:
            self.console.print(Segments(segments), end="", soft_wrap=True)
            return
        text = "".join(segment.text for segment in Segment.remove_color(segments))
        self.stream.write("".join(f"{one.rstrip()}\n" for one in text.splitlines()))

    @property
    def _encoding(self) -> str | None:
        return getattr(self.stream, "encoding", None)

    def _able(self, part: Part) -> Part:
        if isinstance(part, str):
            return encodable(part, self._encoding)
        return encodable(part[0], self._encoding), part[1]

    def _written(self, lines: Iterable[Line]) -> str:
        able = [replace(one, parts=tuple(map(self._able, one.parts))) for one in lines]
        if not self.colour:
            return plain(able, self.width)
        from rich.text import Text

        fitted = [row for one in able for row in rows(one, self.width)]
        with self.console.capture() as captured:
            text = Text("\n").join(Text.assemble(*row) for row in fitted)
            self.console.print(text, soft_wrap=True)
        return captured.get()


def encodable(text: str, encoding: str | None) -> str:
    r"""Write what an encoding does not have in ASCII: a sign of ours, else `\u4e2d` and the like.

    An `encoding` of None, which a stream in memory has, takes everything.
    """
    if encoding is None or text.isascii():
        return text
    try:
        text.encode(encoding)
    except UnicodeEncodeError:
        return "".join(_encodable(one, encoding) for one in text)
    except LookupError:
        return encodable(text, "ascii")
    return text


def _encodable(character: str, encoding: str) -> str:
    try:
        character.encode(encoding)
    except UnicodeEncodeError:
        escaped = character.encode("ascii", "backslashreplace").decode("ascii")
        return _ASCII.get(character, escaped)
    return character


def _is_terminal(stream: TextIO) -> bool:
    try:
        return stream.isatty()
    except (AttributeError, ValueError):  # a bare stand-in for a stream, or a closed one
        return False


def _colour_is_wanted() -> bool:
    return not os.environ.get("NO_COLOR") and os.environ.get("TERM") not in ("dumb", "unknown")


def _columns(stream: TextIO) -> int:
    """Return the width as `COLUMNS` gives it, else the terminal's, else the usual one."""
    given = os.environ.get("COLUMNS", "")
    if given.isdecimal() and int(given):
        return int(given)
    try:
        return os.get_terminal_size(stream.fileno()).columns or _USUAL_WIDTH
    except (AttributeError, ValueError, OSError):
        return _USUAL_WIDTH
