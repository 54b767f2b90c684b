"""The sign and the colour of each verdict; the sign says it all where there is no colour."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from autodrill.render.layout import Style
    from autodrill.results import Verdict

SIGNS: dict[Verdict, tuple[str, Style]] = {
    "pass": ("✓", "good"),
    "todo": ("…", "todo"),
    "blocked": ("·", "quiet"),
    "fail": ("✗", "bad"),
    "error": ("✗", "bad"),
    "timeout": ("✗", "bad"),
    "crash": ("✗", "bad"),
}
