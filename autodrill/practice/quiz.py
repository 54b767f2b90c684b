"""`autodrill quiz`: cards of the decks against the clock, brought back when they are due."""

from __future__ import annotations

import queue
import time
from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Any, Literal

from autodrill.decks import Card, Deck, deck_ids, is_right, load_deck
from autodrill.history import Attempts, History
from autodrill.history.answers import DECK
from autodrill.history.attempts import QUIZ
from autodrill.keys import Key, reading
from autodrill.places import history_file
from autodrill.practice.sitting import Sitting
from autodrill.schedule import Rating, review

Event = Literal["start", "ask", "tick", "reveal", "rate", "unclear", "rated", "end"]

_TICK_S = 0.2
_RATINGS: dict[str, Rating] = {
    **dict.fromkeys(("a", "1", "again"), "again"),
    **dict.fromkeys(("h", "2", "hard"), "hard"),
    **dict.fromkeys(("g", "3", "good"), "good"),
    **dict.fromkeys(("e", "4", "easy"), "easy"),
}
_QUIT = ("q", "quit")


@dataclass(frozen=True)
class QuizRequest:
    """What to ask: of one deck or of all, so many cards, and no new one after so many minutes."""

    deck: str | None
    cards: int
    minutes: float | None
    live: bool


@dataclass(frozen=True)
class Listed:
    """A deck with what is due in it now, and what was never seen."""

    deck: Deck
    due: int
    new: int


@dataclass(frozen=True)
class Done:
    """A card that was answered, how it was rated, and when it is due again."""

    card: Card
    given: str
    is_right: bool | None
    rating: Rating
    took_s: float
    due: float


@dataclass(frozen=True)
class View:
    """A quiz as it is when something has happened; `attempt` is None where nothing is due."""

    event: Event
    attempt: int | None
    deck: str | None
    state: str
    run_s: float
    total: int
    number: int = 0
    card: Card | None = None
    card_s: float = 0.0
    given: str = ""
    done: tuple[Done, ...] = ()
    next_due: float | None = None
    now: float = 0.0
    notices: tuple[str, ...] = ()
    interrupted: bool = False


class _Left(Exception):
    """Nobody answers any more."""


def list_decks() -> tuple[tuple[Listed, ...], tuple[str, ...]]:
    """Return every deck with what is due and new in it, and what the history has to say."""
    now = time.time()
    with History(history_file()) as history:
        found = []
        for deck in map(load_deck, deck_ids()):
            seen = Attempts(history).cards(f"{DECK}{deck.id}")
            known = [seen[one.id][1] for one in deck.cards if one.id in seen]
            due = sum(one <= now for one in known)
            found.append(Listed(deck, due, len(deck.cards) - len(known)))
        return tuple(found), tuple(history.notices)


class Quiz:
    """A session that is under way; use it as a context manager and show its `views`."""

    def __init__(self, request: QuizRequest) -> None:
        self._request = request
        decks = [load_deck(one) for one in (deck_ids() if request.deck is None else [request.deck])]
        with History(history_file()) as history:
            self._notices = tuple(history.notices)
            self._chosen, self._next_due = _choose(decks, Attempts(history), request.cards)
        self._sitting = Sitting(QUIZ, request.deck or "all")
        self._is_begun = False
        self._card_from_s = 0.0
        self._done: list[Done] = []

    def __enter__(self) -> Quiz:
        if self._chosen:
            self._sitting.__enter__()
            self._is_begun = True
        return self

    def __exit__(self, *_: object) -> None:
        if self._is_begun:
            self._sitting.__exit__()

    def views(self) -> Iterator[View]:
        """Yield what to show whenever something happens and, on a live screen, as time runs."""
        yield self._view("start")
        if not self._chosen:
            yield self._view("end")
            return
        limit_s = None if self._request.minutes is None else self._request.minutes * 60
        try:
            for number, card in enumerate(self._chosen, start=1):
                if limit_s is not None and self._sitting.run_s >= limit_s:
                    break
                self._card_from_s = self._sitting.run_s
                yield from (
                    self._predict(number, card)
                    if card.kind == "predict"
                    else self._recall(number, card)
                )
        except _Left:
            pass
        self._end()
        yield self._view("end")

    def interrupt(self) -> View | None:
        """Take Ctrl-C for leaving, as `q` is; what was rated stays rated."""
        if not self._is_begun or not self._sitting.is_open:
            return None
        self._end()
        return replace(self._view("end"), interrupted=True)

    def _end(self) -> None:
        self._sitting.end("passed" if self._done else "closed")

    def _predict(self, number: int, card: Card) -> Iterator[View]:
        yield self._view("ask", number, card)
        text = self._line().strip()
        right = is_right(card, text)
        rating: Rating = "good" if right else "again"
        yield self._view("reveal", number, card, given=text, right=right, rating=rating)

    def _recall(self, number: int, card: Card) -> Iterator[View]:
        if self._request.live:
            yield from self._recall_by_keys(number, card)
            return
        yield self._view("ask", number, card)
        given = self._line()
        yield self._view("rate", number, card, given=given)
        while True:
            word = self._line().strip().lower()
            if word in _RATINGS:
                break
            yield self._view("unclear", number, card)
        yield self._view("rated", number, card, given=given, rating=_RATINGS[word])

    def _recall_by_keys(self, number: int, card: Card) -> Iterator[View]:
        events: queue.SimpleQueue[Any] = queue.SimpleQueue()
        yield self._view("ask", number, card)
        with reading(events):
            for pressed in self._keys(events):
                if pressed is not None:
                    break
                yield self._view("tick", number, card)
            yield self._view("rate", number, card)
            for pressed in self._keys(events):
                if pressed in _RATINGS:
                    break
        yield self._view("rated", number, card, rating=_RATINGS[str(pressed)])

    def _keys(self, events: queue.SimpleQueue[Any]) -> Iterator[str | None]:
        """Yield each key, and None whenever some time has gone by without one."""
        while True:
            self._sitting.beat()
            try:
                event = events.get(timeout=_TICK_S)
            except queue.Empty:
                yield None
                continue
            if isinstance(event, Key):
                if event.name in _QUIT:
                    raise _Left
                yield event.name

    def _line(self) -> str:
        text = self._sitting.line()
        if text is None or text.strip().lower() in _QUIT:
            raise _Left
        return text

    def _view(
        self,
        event: Event,
        number: int = 0,
        card: Card | None = None,
        *,
        given: str = "",
        right: bool | None = None,
        rating: Rating | None = None,
    ) -> View:
        sitting = self._sitting
        if card is not None and rating is not None:
            self._rate(card, given, right, rating)
        view = View(
            event,
            sitting.attempt.id if self._is_begun else None,
            self._request.deck,
            sitting.attempt.state if self._is_begun else "open",
            sitting.run_s if self._is_begun else 0.0,
            len(self._chosen),
            number,
            card,
            given=given,
            done=tuple(self._done),
            next_due=self._next_due,
            now=time.time(),
            notices=self._notices + (sitting.take_notices() if self._is_begun else ()),
        )
        self._notices = ()
        return replace(view, card_s=max(0.0, view.run_s - self._card_from_s))

    def _rate(self, card: Card, given: str, right: bool | None, rating: Rating) -> None:
        """Keep the answer, and when the card is due again."""
        now, due = time.time(), 0.0

        def change(before: str | None) -> tuple[str, float]:
            nonlocal due
            after, due = review(before, rating, now)
            return after, due

        self._sitting.attempts.review(f"{DECK}{card.deck}", card.id, change)
        verdict = rating if right is None else "right" if right else "wrong"
        answer = self._sitting.note(f"{card.deck}/{card.id}", given, verdict)
        self._done.append(Done(card, given, right, rating, answer.took_s, due))


def _choose(
    decks: list[Deck], attempts: Attempts, most: int
) -> tuple[tuple[Card, ...], float | None]:
    """Choose the cards of a session, and say when the next of the others is due.

    First what is due, the longest overdue first; then new ones, a card of each deck in turn.
    """
    now = time.time()
    due: list[tuple[float, Card]] = []
    later: list[float] = []
    new: list[tuple[int, int, Card]] = []
    for place, deck in enumerate(decks):
        seen = attempts.cards(f"{DECK}{deck.id}")
        fresh = [one for one in deck.cards if one.id not in seen]
        new += [(turn, place, one) for turn, one in enumerate(fresh)]
        for one in deck.cards:
            if one.id in seen:
                at = seen[one.id][1]
                if at <= now:
                    due.append((at, one))
                else:
                    later.append(at)
    due.sort(key=lambda pair: pair[0])
    new.sort(key=lambda triple: triple[:2])
    cards = [one for _, one in due] + [one for *_, one in new]
    return tuple(cards[:most]), min(later, default=None)
