"""`autodrill trace`: a graph on the whiteboard, its questions against the clock, the judge."""

from __future__ import annotations

import random
import time
from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Literal

from autodrill.history import Answer, Attempts, History
from autodrill.history.attempts import TRACE
from autodrill.places import history_file
from autodrill.practice.sitting import Sitting
from autodrill.results import Diagnosis
from autodrill.schedule import Ended, order, rate, read_card, review
from autodrill.trace.answers import FORMS, Unclear
from autodrill.trace.graph import Node, Solved
from autodrill.trace.levels import LEVELS, Level, draw, level_of, listing
from autodrill.trace.questions import Question, answer_to, judge, questions, working

Event = Literal["start", "ask", "unclear", "wrong", "right", "revealed", "end"]

_LARGEST_SEED = 1_000_000
_GIVE_UP, _QUIT, _HELP = ("g", "give up"), ("q", "quit"), ("?", "h", "help")
HELP = (
    f"an array is {FORMS}; `g` gives one answer up and shows it, `q` gives all the rest up, "
    "and Ctrl-C leaves"
)


@dataclass(frozen=True)
class View:
    """A trace as it is when something has happened; `working` derives the answer just found."""

    event: Event
    attempt: int
    level: Level
    seed: int
    solved: Solved
    listing: tuple[Node, ...]
    state: str
    run_s: float
    best_s: float | None
    answers: tuple[Answer, ...]
    count: int
    number: int = 0
    question: Question | None = None
    given: str = ""
    message: str = ""
    diagnosis: Diagnosis | None = None
    expected: str = ""
    working: tuple[str, ...] = ()
    notices: tuple[str, ...] = ()


def begin(level: int | None, seed: int | None) -> Trace:
    """Draw a graph: of the level that is due where none is given, of any seed likewise."""
    chosen = level_of(level if level is not None else due_level())
    if seed is None:
        seed = random.randrange(_LARGEST_SEED)  # noqa: S311  # an exercise, no secret
    return Trace(chosen, seed)


def due_level() -> int:
    """Return the level to practise next: the weakest that is due, else the next new one."""
    with History(history_file()) as history:
        cards = {name: read_card(*card) for name, card in Attempts(history).cards(TRACE).items()}
    first = order([one.id for one in LEVELS], cards, time.time())[0].target
    return next(one.number for one in LEVELS if one.id == first)


class Trace:
    """A trace that is under way; use it as a context manager and show its `views`."""

    def __init__(self, level: Level, seed: int) -> None:
        self._level, self._seed = level, seed
        self._sitting = Sitting(TRACE, level.id)
        self._solved = draw(level, seed)
        self._listing = listing(self._solved.graph, seed)
        self._questions = questions(self._solved.graph)
        self._answers: list[Answer] = []
        self._wrong = self._revealed = 0

    def __enter__(self) -> Trace:
        self._sitting.__enter__()
        self._sitting.answers.note_seed(self._sitting.attempt.id, self._seed)
        return self

    def __exit__(self, *_: object) -> None:
        self._sitting.__exit__()

    @property
    def passed(self) -> bool:
        """Tell whether every answer was found."""
        return self._sitting.attempt.state == "passed"

    def views(self) -> Iterator[View]:
        """Yield what to show whenever something happens."""
        yield self._view("start")
        gave_up = False
        for number, question in enumerate(self._questions, start=1):
            while not gave_up:
                yield self._view("ask", number, question)
                text = self._sitting.line()
                if text is None:
                    yield self._leave()
                    return
                if text.strip().lower() in _QUIT:
                    gave_up = True
                    break
                seen = self._answer(text.strip(), question, number)
                yield seen
                if seen.event in ("right", "revealed"):
                    break
            if gave_up:
                yield self._reveal(question, number)
        self._end("given up" if self._revealed else "passed")
        yield self._view("end")

    def interrupt(self) -> View | None:
        """Take Ctrl-C for leaving: that counts neither way, and gives no answer away."""
        return self._leave() if self._sitting.is_open else None

    def _leave(self) -> View:
        self._sitting.end("closed")
        return self._view("end")

    def _answer(self, text: str, question: Question, number: int) -> View:
        if text.lower() in _HELP:
            return self._view("unclear", number, question, message=HELP)
        if text.lower() in _GIVE_UP:
            return self._reveal(question, number)
        try:
            judged = judge(self._solved, question, text)
        except Unclear as unclear:
            return self._view("unclear", number, question, given=text, message=str(unclear))
        bug = judged.diagnosis.bug if judged.diagnosis else None
        verdict: Literal["right", "wrong"] = "right" if judged.is_right else "wrong"
        self._wrong += not judged.is_right
        note = self._sitting.note(question.asks, text, verdict, bug, judged.message)
        self._answers.append(note)
        return self._view(
            verdict,
            number,
            question,
            given=text,
            message=judged.message,
            diagnosis=judged.diagnosis,
            working=working(self._solved, question) if judged.is_right else (),
        )

    def _reveal(self, question: Question, number: int) -> View:
        self._revealed += 1
        self._answers.append(self._sitting.note(question.asks, "", "revealed"))
        return self._view(
            "revealed",
            number,
            question,
            expected=answer_to(self._solved, question),
            working=working(self._solved, question),
        )

    def _end(self, state: Literal["passed", "given up"]) -> None:
        sitting = self._sitting
        hints = self._wrong + self._revealed
        sitting.end(state, hints=hints)
        ended = Ended(state == "passed", sitting.run_s, self._level.minutes * 60, hints)
        rating, now = rate(ended), time.time()
        sitting.attempts.review(TRACE, self._level.id, lambda card: review(card, rating, now))

    def _view(
        self, event: Event, number: int = 0, question: Question | None = None, **more: object
    ) -> View:
        view = View(
            event,
            self._sitting.attempt.id,
            self._level,
            self._seed,
            self._solved,
            self._listing,
            self._sitting.attempt.state,
            self._sitting.run_s,
            self._sitting.best_s,
            tuple(self._answers),
            len(self._questions),
            number,
            question,
            notices=self._sitting.take_notices(),
        )
        return replace(view, **more)  # type: ignore[arg-type]  # fields by name
