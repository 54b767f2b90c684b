"""What to type next, at the foot of a screen."""

from __future__ import annotations

from typing import TYPE_CHECKING

from autodrill.render.layout import Line, fixed

if TYPE_CHECKING:
    from autodrill.practice.whiteboard import DueThere

_INDENT = 2


def commands(*labelled: tuple[str, str | None]) -> list[Line]:
    """Show commands below each other, each whole so that it can be copied."""
    shown = [(f"{label}:", command) for label, command in labelled if command]
    widest = max((len(label) for label, _ in shown), default=0) + 1
    return [
        fixed((f"{label:<{widest}}", "quiet"), (command, "command"), indent=_INDENT)
        for label, command in shown
    ]


def due_commands(there: DueThere | None) -> list[tuple[str, str]]:
    """Return the commands for what is due at the whiteboard, each with what it is for."""
    if there is None:
        return []
    cards = f"{there.cards} card{'s' if there.cards > 1 else ''} due"
    return [
        *([(cards, "autodrill quiz")] if there.cards else []),
        *((f"level {one} due", f"autodrill trace --level {one}") for one in there.levels),
    ]
