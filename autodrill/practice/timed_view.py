"""What a timed run shows at one moment; frozen, for the screen and for a line in a pipe."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from autodrill.history.attempts import Kind, Outcome, State
from autodrill.results import Verdict

Event = Literal[
    "start",
    "tick",
    "save",
    "verdict",
    "split",
    "stale",
    "hint",
    "pause",
    "resume",
    "edit",
    "gone",
    "end",
]

Trouble = Literal["stale", "gone"]
"""What is wrong with the file: it is the last target's, or it is not there."""


@dataclass(frozen=True)
class Row:
    """One target of a run: its times to beat and, once it has ended, its own."""

    id: str
    step: int
    title: str
    par_s: float | None
    best_s: float | None
    took_s: float | None = None
    hints: int = 0
    outcome: Outcome | None = None


@dataclass(frozen=True)
class LastVerdict:
    """The verdict on the latest save in one line, when it was saved, and where it raised."""

    verdict: Verdict
    target: str
    passed: int
    total: int
    message: str
    bug: str | None
    run_s: float
    line: int | None = None


@dataclass(frozen=True)
class ShownHint:
    """A level of the current target's hints, as Markdown."""

    level: int
    heading: str
    text: str


@dataclass(frozen=True)
class View:
    """A timed run at one moment; `event` is why it is shown.

    `run_s` counts the whole run, `leg_s` the current target. `is_muted` while an editor has
    the terminal, `trouble` until the next save, `asks` while a key waits to be confirmed;
    `estimates` tells whether the times to beat are estimates.
    """

    event: Event
    attempt: int
    track: str
    kind: Kind
    state: State
    file: str
    current: Row
    rows: tuple[Row, ...]
    run_s: float
    leg_s: float
    paused_s: float
    slept_s: float
    par_s: float | None
    best_s: float | None
    estimates: bool = False
    verdict: LastVerdict | None = None
    hint: ShownHint | None = None
    trouble: Trouble | None = None
    is_paused: bool = False
    is_grading: bool = False
    is_muted: bool = False
    asks: bool = False
    can_edit: bool = False
    notices: tuple[str, ...] = ()
