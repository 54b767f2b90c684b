"""Cards as people read and rate them, the decks, and both as JSON."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from autodrill.render.commands import commands
from autodrill.render.inert import inert, inert_lines
from autodrill.render.layout import Line, Part, blocks, line, spread
from autodrill.render.times import clock, figure, until

if TYPE_CHECKING:
    from autodrill.decks import Card
    from autodrill.practice.quiz import Done, Listed, View
    from autodrill.render.console import Screen
    from autodrill.render.layout import Style

_INDENT = 2
_RATE = "a again · h hard · g good · e easy"


def show_event(screen: Screen, view: View, *, live: bool) -> None:
    """Show what has just happened; `live` where keys are pressed and the clock is seen."""
    match view.event:
        case "start":
            _show_start(screen, view)
        case "ask":
            _show_card(screen, view, live=live)
        case "tick":
            screen.rewrite(_waiting(view))
        case "rate":
            if live:
                screen.rewrite("")
            screen.write([*_answer(view.card), line((_RATE, "quiet"))])
        case "unclear":
            screen.write([line(("? ", "todo"), _RATE)])
        case "rated":
            screen.write([_rated(view.done[-1], view.now), Line()])
        case "reveal":
            screen.write(_judged(view))
        case "end":
            if live:
                screen.rewrite("")
            elif view.interrupted:
                screen.write([Line()])  # the terminal has written ^C
            screen.write(_end(view, screen.width))
    screen.flush()


def _show_start(screen: Screen, view: View) -> None:
    if not view.total:
        return
    cards = f"{view.total} card{'s' if view.total > 1 else ''}"
    deck = f" · {inert(view.deck)}" if view.deck else ""
    screen.write([line(("quiz", "strong"), f"{deck} · {cards}"), Line()])


def _show_card(screen: Screen, view: View, *, live: bool) -> None:
    card = view.card
    assert card is not None
    head = f"{view.number} of {view.total} · {card.deck} · {card.topic}"
    screen.write([line((head, "quiet")), *_paragraphs(card.prompt, "strong")])
    if card.kind == "predict":
        if live:
            screen.prompt("> ")
    elif live:
        screen.rewrite(_waiting(view))
    else:
        screen.write([line(("your answer, then a line with again, hard, good or easy", "quiet"))])


def _waiting(view: View) -> str:
    return f"{clock(view.card_s)}  any key shows the answer, q ends"


def _paragraphs(text: str, style: Style = "") -> list[Line]:
    return [line((one, style), indent=_INDENT) for one in inert_lines(text)]


def _answer(card: Card | None, *, is_said: bool = False) -> list[Line]:
    assert card is not None
    answer = [] if is_said else [line(("answer", "good")), *_paragraphs(card.answer)]
    if not card.follow_up:
        return answer
    return [*answer, line(("asked next", "quiet")), *_paragraphs(card.follow_up)]


def _judged(view: View) -> list[Line]:
    done = view.done[-1]
    sign: Part = ("✓", "good") if done.is_right else ("✗", "bad")
    said = [line(sign, f" {inert(view.given) or 'nothing'}", hang=_INDENT)]
    return [*said, *_answer(view.card, is_said=bool(done.is_right)), _rated(done, view.now), Line()]


def _rated(done: Done, now: float) -> Line:
    return line((f"{done.rating}, back {until(done.due - now)}", "quiet"))


def _end(view: View, width: int) -> list[Line]:
    if view.attempt is None:
        when = f", the next {until(view.next_due - view.now)}" if view.next_due else ""
        return blocks(
            [line(f"no card is due{when}")], commands(("all decks", "autodrill quiz --list"))
        )
    counts = Counter(one.rating for one in view.done)
    rated = " · ".join(f"{counts[one]} {one}" for one in ("again", "hard", "good", "easy"))
    asked = f"{len(view.done)} of {view.total} cards"
    missed = [one.card for one in view.done if one.rating == "again"]
    head = spread(line((asked, "strong")), line((figure(view.run_s), "strong")), width)
    if missed:
        names = ", ".join(f"{one.deck}/{one.id}" for one in missed)
        missing = [line(("missed: ", "quiet"), names, hang=_INDENT)]
    else:
        missing = []
    foot = commands(("more", _again(view)), ("look back", f"autodrill history show {view.attempt}"))
    return blocks([*head, line(rated)] if view.done else head, missing, foot)


def _again(view: View) -> str:
    return f"autodrill quiz --deck {inert(view.deck)}" if view.deck else "autodrill quiz"


def show_decks(screen: Screen, found: Sequence[Listed]) -> None:
    """Show every deck with its cards, those that are due and those that are new."""
    rows: list[Line] = []
    for one in found:
        due: Part = (f"{one.due} due", "todo") if one.due else "0 due"
        count = f"  {len(one.deck.cards)} cards, "
        rows.append(line((one.deck.id, "strong"), count, due, f", {one.new} new", hang=_INDENT))
        rows.append(line((inert(one.deck.title), "quiet"), indent=_INDENT))
    first = f"autodrill quiz --deck {found[0].deck.id}" if found else None
    screen.write(blocks(rows, commands(("all of them", "autodrill quiz"), ("one", first))))


def show_exported(screen: Screen, file: str, cards: int) -> None:
    """Say that cards were written for Anki."""
    screen.write([line(f"{cards} cards for Anki are in {inert(file)}", hang=_INDENT)])


def decks(found: Sequence[Listed]) -> dict[str, Any]:
    """Return the decks as plain data."""
    rows = [
        {
            "id": one.deck.id,
            "title": one.deck.title,
            "cards": len(one.deck.cards),
            "due": one.due,
            "new": one.new,
        }
        for one in found
    ]
    return {"schema": "autodrill.decks/1", "decks": rows}


def report(view: View) -> dict[str, Any]:
    """Return a quiz that has ended as plain data."""
    cards = [
        {
            "deck": one.card.deck,
            "id": one.card.id,
            "kind": one.card.kind,
            "prompt": one.card.prompt,
            "answer": one.card.answer,
            "given": one.given,
            "right": one.is_right,
            "rating": one.rating,
            "took_s": one.took_s,
            "due": one.due,
        }
        for one in view.done
    ]
    return {
        "schema": "autodrill.quiz/1",
        "attempt": view.attempt,
        "deck": view.deck,
        "state": view.state,
        "run_s": view.run_s,
        "asked": view.total,
        "next_due": view.next_due,
        "cards": cards,
    }
