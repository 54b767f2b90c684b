"""Where the targets stand: all of them on one line, which wraps between them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from autodrill.render.inert import inert
from autodrill.render.layout import Line, Part, glued, line, rows
from autodrill.render.signs import SIGNS

if TYPE_CHECKING:
    from autodrill.results import Verdict


@dataclass(frozen=True)
class Standing:
    """One target: its verdict, its step, its id, and a count that says more."""

    verdict: Verdict
    step: int
    id: str
    count: str = ""


def standing(targets: Sequence[Standing], width: int) -> Line:
    """Put targets on one line, closer to each other where they would not fit otherwise."""
    wide, close = (_apart(targets, " " * gap) for gap in (3, 2))
    return wide if len(list(rows(wide, width))) == 1 else close


def _apart(targets: Sequence[Standing], gap: str) -> Line:
    parts: list[Part] = []
    for target in targets:
        sign, style = SIGNS[target.verdict]
        name = glued(f"{sign} {target.step} {inert(target.id)}")
        count = glued(f" {target.count}") if target.count else ""
        parts += [gap] if parts else []
        parts += [(name, style), (count, "quiet")]
    return line(*parts)
