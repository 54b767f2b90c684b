"""Timed attempts: on disk from their first second, with their splits, saves, hints and cards."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass, fields, replace
from pathlib import Path
from typing import Literal

from autodrill.history.store import Store, Write, key
from autodrill.history.texts import keep_text

TRACE = "trace"
QUIZ = "quiz"
"""What stands for the track of an attempt at the whiteboard; its target is a level or a deck."""

Kind = Literal["target", "ladder", "full"]
State = Literal["open", "passed", "given up", "closed"]
Outcome = Literal["passed", "given up"]


@dataclass(frozen=True)
class Attempt:
    """One timed attempt as it stands.

    `target` is the one that is worked on, or was last. `pid` and `born` name the process
    that runs it; `beat` is when it last said so.
    """

    id: int
    at: float
    beat: float
    track: str
    kind: Kind
    target: str
    state: State
    folder: str
    file: str
    pid: int
    born: float
    run_s: float = 0.0
    paused_s: float = 0.0
    slept_s: float = 0.0


@dataclass(frozen=True)
class Split:
    """How one target of an attempt ended: `run_s` since the start, `took_s` for it alone."""

    target: str
    at: float
    run_s: float
    took_s: float
    hints: int
    outcome: Outcome


@dataclass(frozen=True)
class Save:
    """One graded save of an attempt; `snapshot` is the number of its text."""

    snapshot: int
    run_s: float
    target: str
    verdict: str
    bug: str | None
    message: str


_COLUMNS = tuple(field.name for field in fields(Attempt))
_ATTEMPT = ", ".join(_COLUMNS)
_PUT = (
    f"INSERT INTO attempts ({_ATTEMPT}) VALUES ({', '.join('?' * len(_COLUMNS))}) "  # noqa: S608
    "ON CONFLICT (id) DO UPDATE SET "
    + ", ".join(f"{name} = excluded.{name}" for name in _COLUMNS[1:])
)


class Attempts:
    """The attempts in an open history."""

    def __init__(self, store: Store) -> None:
        self._store = store

    def begin(self, make: Callable[[int, list[Attempt]], Attempt]) -> Attempt:
        """Add an attempt.

        `make` gets its number and the attempts that are open, and returns it; nobody else
        begins one in the meantime.
        """

        def add(write: Write) -> Attempt:
            (number,) = write("SELECT coalesce(max(id), 0) + 1 FROM attempts").fetchone()
            rows = write(f"SELECT {_ATTEMPT} FROM attempts WHERE state = 'open'")  # noqa: S608
            attempt = make(number, [Attempt(*row) for row in rows.fetchall()])
            _put(write, attempt)
            return attempt

        return self._store.transact(add)

    def put(self, attempt: Attempt) -> None:
        """Note how an attempt stands, also where the file that held it is gone."""
        self._store.put(lambda write: _put(write, attempt))

    def take_over(self, attempt: Attempt, pid: int, born: float) -> Attempt | None:
        """Make an open attempt this process's own; None if another has just done so."""
        taken = replace(attempt, pid=pid, born=born, beat=time.time())

        def take(write: Write) -> bool:
            return (
                write(
                    "UPDATE attempts SET pid = ?, born = ?, beat = ? "
                    "WHERE id = ? AND state = 'open' AND pid = ? AND born = ?",
                    (pid, born, taken.beat, attempt.id, attempt.pid, attempt.born),
                ).rowcount
                == 1
            )

        return taken if self._store.transact(take) else None

    def open_attempts(self) -> list[Attempt]:
        """Return the attempts that have not ended, the newest first."""
        return self._attempts("WHERE state = 'open' ORDER BY id DESC")

    def attempt(self, number: int) -> Attempt | None:
        """Return an attempt by its number."""
        return next(iter(self._attempts("WHERE id = ?", (number,))), None)

    def latest(self, track: str | None, last: int) -> list[Attempt]:
        """Return the latest attempts, at one track and the whiteboard or at all, newest first."""
        if track is None:
            return self._attempts("ORDER BY id DESC LIMIT ?", (last,))
        where = "WHERE track IN (?, ?, ?) ORDER BY id DESC LIMIT ?"
        return self._attempts(where, (track, TRACE, QUIZ, last))

    def add_split(self, attempt: Attempt, split: Split) -> None:
        """Note that a target turned green or was given up."""
        own = (split.at, split.run_s, split.took_s, split.hints, split.outcome)

        def add(write: Write) -> None:
            _end_save(write, attempt.id, split.run_s)
            write(
                "INSERT OR REPLACE INTO splits (attempt_id, target, at, run_s, took_s, hints, "
                "outcome, track, alone) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)",
                (attempt.id, split.target, *own, attempt.track, attempt.kind != "full"),
            )

        self._store.put(add)

    def splits(self, attempt: int) -> list[Split]:
        """Return the splits of an attempt in order."""
        rows = self._store.read(
            "SELECT target, at, run_s, took_s, hints, outcome FROM splits "
            "WHERE attempt_id = ? ORDER BY run_s, at",
            (attempt,),
        )
        return [Split(*row) for row in rows]

    def add_save(
        self,
        attempt: Attempt,
        text: bytes,
        *,
        run_s: float,
        target: str,
        verdict: str,
        bug: str | None,
        message: str,
    ) -> None:
        """Keep a save's text and what came of it."""

        def add(write: Write) -> None:
            _, number = keep_text(write, Path(attempt.file), text, "attempt")
            _end_save(write, attempt.id, run_s)
            write(
                "INSERT INTO saves (attempt_id, snapshot_id, run_s, target, verdict, bug, message, "
                "track) VALUES (?, ?, ?, ?, ?, ?, ?, ?)",
                (attempt.id, number, run_s, target, verdict, bug, message, attempt.track),
            )

        self._store.put(add)

    def saves(self, attempt: int) -> list[Save]:
        """Return the saves of an attempt in order."""
        rows = self._store.read(
            "SELECT snapshot_id, run_s, target, verdict, bug, message FROM saves "
            "WHERE attempt_id = ? ORDER BY rowid",
            (attempt,),
        )
        return [Save(*row) for row in rows]

    def add_hint(self, attempt: int, target: str, level: int, run_s: float) -> None:
        """Note that a hint was shown in an attempt."""
        self._store.write(
            "INSERT INTO attempt_hints VALUES (?, ?, ?, ?)", (attempt, target, level, run_s)
        )

    def hints(self, attempt: int, target: str) -> int:
        """Return how many hints were shown on a target in an attempt."""
        rows = self._store.read(
            "SELECT count(*) FROM attempt_hints WHERE attempt_id = ? AND target = ?",
            (attempt, target),
        )
        return int(rows[0][0]) if rows else 0

    def review(
        self, track: str, target: str, change: Callable[[str | None], tuple[str, float]]
    ) -> None:
        """Replace a target's card by what `change` makes of it: the card, and when it is due."""

        def exchange(write: Write) -> None:
            row = write(
                "SELECT card FROM cards WHERE track = ? AND target = ?", (track, target)
            ).fetchone()
            card, due = change(row[0] if row else None)
            write("INSERT OR REPLACE INTO cards VALUES (?, ?, ?, ?)", (track, target, card, due))

        self._store.put(exchange)

    def cards(self, track: str) -> dict[str, tuple[str, float]]:
        """Return the card of each target that was tried, and when it is due."""
        rows = self._store.read("SELECT target, card, due FROM cards WHERE track = ?", (track,))
        return {target: (card, due) for target, card, due in rows}

    def _attempts(self, where: str, values: tuple[object, ...] = ()) -> list[Attempt]:
        rows = self._store.read(f"SELECT {_ATTEMPT} FROM attempts {where}", values)  # noqa: S608
        return [Attempt(*row) for row in rows]


def _end_save(write: Write, attempt: int, run_s: float) -> None:
    """Note until when the latest save was what stood in the file."""
    write("UPDATE saves SET until_s = ? WHERE attempt_id = ? AND until_s IS NULL", (run_s, attempt))


def _put(write: Write, attempt: Attempt) -> None:
    places = [key(Path(one)) if one else "" for one in (attempt.folder, attempt.file)]
    safe = replace(attempt, folder=places[0], file=places[1])
    write(_PUT, tuple(getattr(safe, name) for name in _COLUMNS))
