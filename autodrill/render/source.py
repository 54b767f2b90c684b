"""What is shown of the learner's file: its lines, with a caret, and what it printed."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import TYPE_CHECKING

from autodrill.render.inert import inert, inert_lines
from autodrill.render.layout import Line, blocks, fixed, len_cells, line

if TYPE_CHECKING:
    from autodrill.results import Problem

_MOST_PRINTED = 20
_INDENT = 2
_TAB = 4
_MARGIN = 8


def explain(problem: Problem, width: int) -> list[Line]:
    """Say why a file could not be used: the sentence, the place, what it printed, what to do."""
    where: list[Line] = []
    if problem.text and problem.line is not None:
        where = place(problem.line, problem.text, problem.column, width)
    elif problem.line is not None and not problem.trace:
        is_said = says_line(problem.message, problem.line)
        where = [] if is_said else [line(f"at line {problem.line}", indent=_INDENT)]
    hint = [line(("hint: ", "quiet"), inert(problem.hint), indent=_INDENT, hang=_INDENT)]
    return blocks(
        [line(("✗ ", "bad"), (inert(problem.message), "strong"), hang=_INDENT)],
        where,
        trace(problem.trace),
        printed(problem.output),
        hint if problem.hint else [],
    )


def trace(frames: Sequence[str]) -> list[Line]:
    """Show frames, each `line 12, in relu: the source`, with the source below its place."""
    if not frames:
        return []
    shown = [line(("in your file", "quiet"), indent=_INDENT)]
    for frame in frames:
        place, found, text = inert(frame).partition(": ")
        shown.append(line(place, indent=2 * _INDENT, hang=_INDENT))
        if found and text:
            shown.append(fixed((text, "strong"), indent=3 * _INDENT))
    return shown


def place(number: int, text: str, column: int | None, width: int) -> list[Line]:
    """Show a line of the file, and a caret under a column that is counted from 1.

    Of a line longer than the width the part around the caret is shown.
    """
    start = len(text) - len(text.lstrip())
    stripped = text.strip()
    caret = None if column is None else min(max(column - 1 - start, 0), len(stripped))
    shown, at = _window(stripped, caret or 0, width - 2 * _INDENT)
    lines = [line(f"line {number}", indent=_INDENT), fixed(shown, indent=2 * _INDENT)]
    if caret is not None:
        lines.append(fixed(" " * at, ("^", "bad"), indent=2 * _INDENT))
    return lines


def says_line(message: str, number: int) -> bool:
    """Tell whether a message names a line already."""
    return re.search(rf"\bline {number}\b", message) is not None


def printed(output: str) -> list[Line]:
    """Show what the file has printed, the first and the last lines of it if there is much."""
    if not output.strip():
        return []
    lines = inert_lines(output)
    head = "your file printed"
    gap = len(lines) - _MOST_PRINTED
    if gap > 0:
        half = _MOST_PRINTED // 2
        head = f"your file printed {len(lines):,} lines; the first and last {half} are shown"
        lines = [*lines[:half], f"… {gap:,} lines left out …", *lines[-half:]]
    # The bar keeps a line from being read as a command by what shows it, such as a CI service.
    shown = [fixed((f"│ {one}".rstrip(), "quiet"), indent=2 * _INDENT) for one in lines]
    return [line((head, "quiet"), indent=_INDENT, hang=_INDENT), *shown]


def _window(text: str, caret: int, width: int) -> tuple[str, int]:
    """Return a text made inert, cut around a caret where it is too long, and the caret's column."""
    before, after = inert(text[:caret].replace("\t", " " * _TAB)), inert(text[caret:])
    if len_cells(before) + len_cells(after) > width:
        room = max(width - _MARGIN, width // 2)
        if len_cells(before) > room:
            before = "…" + before[-(room - 1) :]
        rest = max(width - len_cells(before) - 1, 1)
        if len_cells(after) > rest:
            after = after[:rest] + "…"
    return before + after, len_cells(before)
