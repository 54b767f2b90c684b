"""`autodrill trace` and `autodrill quiz`: practice at the whiteboard."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Annotated

import typer

from autodrill.cli.options import Json, play, print_json, say, screen
from autodrill.errors import NOT_YET, PASSED, AutodrillError

if TYPE_CHECKING:
    from autodrill.practice.quiz import View as QuizView
    from autodrill.practice.trace import View as TraceView


def trace(
    level: Annotated[
        int | None,
        typer.Option("--level", min=1, max=5, help="How hard; what is due if left out."),
    ] = None,
    seed: Annotated[
        int | None, typer.Option("--seed", min=0, help="Draw that graph again.")
    ] = None,
    as_json: Json = False,
) -> None:
    """Trace a small graph by hand: order, values and gradients.

    Example: autodrill trace --level 2
    """
    from autodrill.practice import trace as tracing
    from autodrill.render.console import Screen
    from autodrill.render.trace import report, show_event

    out = Screen(sys.stderr) if as_json else screen()
    prompts = _is_live() and not as_json

    def show(view: TraceView) -> None:
        say(view.notices)
        show_event(out, view, prompts=prompts)
        if as_json and view.event == "end":
            print_json(report(view), at_once=True)

    with tracing.begin(level, seed) as run:
        play(run, show)
        raise typer.Exit(PASSED if run.passed else NOT_YET)


def quiz(
    deck: Annotated[
        str | None, typer.Option("--deck", help="The deck; all of them if left out.")
    ] = None,
    cards: Annotated[int, typer.Option("--cards", min=1, help="At most so many cards.")] = 10,
    minutes: Annotated[
        float | None, typer.Option("--minutes", min=0, help="No new card after so many minutes.")
    ] = None,
    list_: Annotated[bool, typer.Option("--list", help="List the decks: cards, due, new.")] = False,
    export: Annotated[
        str | None,
        typer.Option("--export", metavar="FILE.apkg", help="Write the cards for Anki."),
    ] = None,
    as_json: Json = False,
) -> None:
    """Answer the cards that are due, then new ones.

    Example: autodrill quiz --deck vjps
    """
    if list_ and export is not None:
        raise AutodrillError("--list and --export exclude each other")
    if list_:
        _list_decks(as_json)
    elif export is not None:
        _export(export, deck, as_json)
    else:
        _ask(deck, cards, minutes, as_json)


def _ask(deck: str | None, cards: int, minutes: float | None, as_json: bool) -> None:
    from autodrill.practice import quiz as asking
    from autodrill.render.console import Screen
    from autodrill.render.quiz import report, show_event

    out = Screen(sys.stderr) if as_json else screen()
    live = _is_live() and not as_json

    def show(view: QuizView) -> None:
        say(view.notices)
        show_event(out, view, live=live)
        if as_json and view.event == "end":
            print_json(report(view), at_once=True)

    with asking.Quiz(asking.QuizRequest(deck, cards, minutes, live)) as run:
        play(run, show)


def _list_decks(as_json: bool) -> None:
    from autodrill.practice.quiz import list_decks
    from autodrill.render import quiz as shown

    found, notices = list_decks()
    say(notices)
    if as_json:
        print_json(shown.decks(found))
    else:
        shown.show_decks(screen(), found)


def _export(path: str, deck: str | None, as_json: bool) -> None:
    from autodrill.practice.anki import export
    from autodrill.render.quiz import show_exported

    file, cards = export(path, deck)
    if as_json:
        print_json({"schema": "autodrill.anki/1", "file": str(file), "cards": cards})
    else:
        show_exported(screen(), str(file), cards)


def _is_live() -> bool:
    from autodrill.keys import can_read_keys

    return screen().is_live and can_read_keys()
