"""What to type next, at the foot of a screen."""

from __future__ import annotations

from autodrill.render.layout import Line, fixed

_INDENT = 2


def commands(*labelled: tuple[str, str | None]) -> list[Line]:
    """Show commands below each other, each whole so that it can be copied."""
    shown = [(f"{label}:", command) for label, command in labelled if command]
    widest = max((len(label) for label, _ in shown), default=0) + 1
    return [
        fixed((f"{label:<{widest}}", "quiet"), (command, "command"), indent=_INDENT)
        for label, command in shown
    ]
