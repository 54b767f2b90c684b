"""What was answered at the whiteboard, and the graph that was drawn for it."""

from __future__ import annotations

import time
from dataclasses import dataclass

from autodrill.history.attempts import QUIZ
from autodrill.history.store import Store

DECK = "deck:"
"""What stands before a deck's name where its cards are kept; no track's id has a colon."""


@dataclass(frozen=True)
class Answer:
    """One answer: `run_s` since the start of the attempt, `took_s` for it alone.

    `verdict` is `right`, `wrong` or `revealed`, and for a card that a person rates himself the
    rating.
    """

    question: str
    given: str
    verdict: str
    run_s: float
    took_s: float
    bug: str | None = None
    message: str = ""


@dataclass(frozen=True)
class Reviewed:
    """How often the cards of a deck were answered, and how often in vain."""

    deck: str
    answers: int
    again: int


class Answers:
    """The answers in an open history."""

    def __init__(self, store: Store) -> None:
        self._store = store

    def add(self, attempt: int, answer: Answer) -> None:
        """Note an answer."""
        self._store.write(
            "INSERT INTO answers VALUES (?, ?, ?, ?, ?, ?, ?, ?)",
            (
                attempt,
                answer.run_s,
                answer.took_s,
                answer.question,
                _storable(answer.given),
                answer.verdict,
                answer.bug,
                _storable(answer.message),
            ),
        )

    def of(self, attempt: int) -> list[Answer]:
        """Return the answers of an attempt in order."""
        rows = self._store.read(
            "SELECT question, given, verdict, run_s, took_s, bug, message FROM answers "
            "WHERE attempt_id = ? ORDER BY rowid",
            (attempt,),
        )
        return [Answer(*row) for row in rows]

    def note_seed(self, attempt: int, seed: int) -> None:
        """Note from which seed the graph of an attempt was drawn."""
        self._store.write("INSERT OR REPLACE INTO traces VALUES (?, ?)", (attempt, seed))

    def seed(self, attempt: int) -> int | None:
        """Return the seed of an attempt's graph, None where it had none."""
        rows = self._store.read("SELECT seed FROM traces WHERE attempt_id = ?", (attempt,))
        return int(rows[0][0]) if rows else None

    def due_cards(self, now: float | None = None) -> dict[str, int]:
        """Count the cards of each deck that were seen before and are due again."""
        rows = self._store.read(
            "SELECT track, count(*) FROM cards WHERE track GLOB ? AND due <= ? GROUP BY track",
            (f"{DECK}*", time.time() if now is None else now),
        )
        return {track.removeprefix(DECK): count for track, count in rows}

    def reviewed(self) -> list[Reviewed]:
        """Count the answers to the cards of each deck; a question is `DECK/CARD`."""
        rows = self._store.read(
            "SELECT substr(s.question, 1, instr(s.question, '/') - 1) AS deck, count(*), "
            "sum(s.verdict IN ('wrong', 'again', 'revealed')) FROM answers s "
            "JOIN attempts a ON a.id = s.attempt_id WHERE a.track = ? GROUP BY deck ORDER BY deck",
            (QUIZ,),
        )
        return [Reviewed(*row) for row in rows]


def _storable(text: str) -> str:
    """Write what SQLite does not take, half of a surrogate pair, as its escape."""
    return text.encode("utf-8", "backslashreplace").decode()
