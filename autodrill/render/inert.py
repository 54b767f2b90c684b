"""Text from the learner's file, made harmless: what would act on a terminal is shown instead."""

from __future__ import annotations

import re

_TAB = 4
_LONGEST = 500
_CI_COMMAND = re.compile(r"(?:^|(?<= )):(?=:[A-Za-z])|(?<=#)#(?=\w*\[)")
"""What a CI service obeys: `::name` where a line may begin, `##[name]` and `##vso[` anywhere."""


def inert(text: str) -> str:
    r"""Show a text on one line, every character that is not plain print as Python's repr does.

    Escape codes, control characters, line ends, bidi marks, no-break spaces and lone
    surrogates become `\x1b`, `\n`, `\u202e` and the like.
    """
    shown = text.expandtabs(_TAB)
    if not (shown.isascii() and shown.isprintable()):
        shown = "".join(one if one.isprintable() else _escaped(one) for one in shown)
    return _CI_COMMAND.sub(lambda found: _hex(found.group()), shown)


def inert_lines(text: str) -> list[str]:
    """Split a text at its line ends and make each line inert; the end of a long line is counted."""
    lines = text.replace("\r\n", "\n").rstrip("\n").split("\n")
    return [_capped(inert(line)) for line in lines]


def _escaped(character: str) -> str:
    return character.encode("unicode_escape").decode("ascii")


def _hex(character: str) -> str:
    return f"\\x{ord(character):02x}"


def _capped(line: str) -> str:
    left_out = len(line) - _LONGEST
    return line if left_out <= 0 else f"{line[:_LONGEST]}… ({left_out:,} more characters)"
