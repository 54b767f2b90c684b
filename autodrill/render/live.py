"""What `watch` shows: the latest check, on a screen of its own where there is a terminal."""

from __future__ import annotations

import time
from collections.abc import Sequence
from typing import TYPE_CHECKING

from autodrill.render.check import lines
from autodrill.render.inert import inert
from autodrill.render.layout import BLANK, Line, blocks, line

if TYPE_CHECKING:
    from autodrill.render.console import Screen
    from autodrill.results import CheckResult


def show_seen(
    screen: Screen, result: CheckResult | None, file: str, turned_green: Sequence[str]
) -> None:
    """Show what came of one save; `result` is None where the file is gone."""
    news = [line(("✓", "good"), f" {one} turned green at {_now()}", hang=2) for one in turned_green]
    if result is None:
        body = [line(("✗", "bad"), f" {inert(file)} is gone; waiting for it to be back", hang=2)]
        foot: list[Line] = []
    else:
        body = lines(result, screen.width)
        took = (
            f"{result.seconds:.2f} s" if result.seconds >= 1 else f"{1000 * result.seconds:.0f} ms"
        )
        words = f"watching {inert(file)} · {_now()} · {took} · Ctrl-C stops"
        foot = [line((words, "quiet"), hang=2)]
    screen.clear()
    screen.write([*blocks(news, body, foot), *([] if screen.is_live else [BLANK])])
    screen.flush()


def _now() -> str:
    return time.strftime("%H:%M:%S")
