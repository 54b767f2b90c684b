"""Read the learner's file, or say in one sentence why it can't be read."""

from __future__ import annotations

import stat
import unicodedata
from pathlib import Path

from autodrill.cases.outcome import Ended
from autodrill.results import Problem
from autodrill.worker.messages import Loaded

LARGEST_BYTES = 4 * 2**20
_BACK = "`autodrill history` lists the texts that were kept; `autodrill reset` starts it again"


def read_engine(path: Path, shown: str) -> tuple[bytes, str | Problem]:
    """Return a file's bytes, and its text without a byte order mark or what is wrong with it."""
    try:
        found = path.stat()
        if stat.S_ISDIR(found.st_mode):
            return b"", Problem(f"`{shown}` is a folder", "move it away: the file belongs there")
        if not stat.S_ISREG(found.st_mode):  # reading a pipe or a device might never end
            return b"", Problem(f"`{shown}` is not a file", "move it away: the file belongs there")
        if found.st_size > LARGEST_BYTES:
            return b"", _too_large(shown)
        data = path.read_bytes()
    except FileNotFoundError:
        return b"", Problem(f"`{shown}` is not there", _BACK)
    except OSError as error:
        return b"", Problem(f"`{shown}` can't be read: {error.strerror or error}")
    return data, decode(data, shown)


def decode(data: bytes, shown: str) -> str | Problem:
    """Return the text of what was in a file, or what is wrong with it."""
    if len(data) > LARGEST_BYTES:
        return _too_large(shown)
    if not data.strip():
        return Problem(f"`{shown}` is empty", _BACK)
    if data.startswith((b"\xff\xfe", b"\xfe\xff")):
        return Problem(
            f"`{shown}` is UTF-16, not UTF-8", "save it as UTF-8 (byte 1 says UTF-16)", 1
        )
    try:
        text = data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        line, column = _place(data, error.start)
        return Problem(
            f"`{shown}` is not UTF-8: byte 0x{data[error.start]:02x} at position "
            f"{error.start + 1} (line {line}, column {column})",
            "save it as UTF-8",
            line,
            column,
        )
    if "\0" in text:
        line, column = _place(data, data.index(0))
        return Problem(
            f"`{shown}` has a null byte at line {line}, column {column}",
            "delete it: it is no character of Python",
            line,
            column,
        )
    return text


def _too_large(shown: str) -> Problem:
    return Problem(f"`{shown}` is larger than {LARGEST_BYTES // 2**20} MiB")


def _place(data: bytes, position: int) -> tuple[int, int]:
    """Return the line and the column, from 1, of a byte."""
    before = data[:position].replace(b"\r\n", b"\n").replace(b"\r", b"\n")
    start = before.rfind(b"\n") + 1
    return before.count(b"\n") + 1, len(before[start:].decode("utf-8", "replace")) + 1


def load_problem(loaded: Loaded | Ended, shown: str, output: str) -> Problem | None:
    """Return why a file could not be imported, None if it could."""
    if isinstance(loaded, Ended):
        return Problem(
            f"`{shown}` can't be imported: {loaded.message}", "", loaded.line, output=output
        )
    if loaded.syntax is not None:
        message, line, column, text = loaded.syntax
        return Problem(
            f"`{shown}` is not valid Python: {message}",
            _odd_character(text, column),
            line,
            column,
            text,
            output=output,
        )
    if loaded.raised is None:
        return None
    raised = loaded.raised
    at = raised.frames[-1].line if raised.frames else None
    trace = tuple(f"line {one.line}, in {one.function}: {one.text}" for one in raised.frames[-5:])
    if "SystemExit" in raised.classes:
        message, hint = (
            "your file exited at import",
            "remove the exit, or put it under a main guard",
        )
    elif "EOFError" in raised.classes:
        message = "your file asks for input at import"
        hint = "there is no keyboard while it is graded: remove `input()`"
    else:
        first = raised.message.strip().partition("\n")[0]
        message = f"your file raised {raised.type} at import" + (f": {first}" if first else "")
        hint = ""
    return Problem(message, hint, at, None, "", trace, output)


def _odd_character(text: str, column: int) -> str:
    """Name the character that Python stumbled on, where it is one that hides."""
    if not 1 <= column <= len(text) or text[column - 1].isascii():
        return ""
    character = text[column - 1]
    name = unicodedata.name(character, "an unnamed character")
    plain = {"“": '"', "”": '"', "‘": "'", "’": "'", "\u00a0": "a space"}.get(character)
    advice = f"; type {plain} in its place" if plain else ""
    return f"column {column} holds U+{ord(character):04X}, {name}{advice}"
