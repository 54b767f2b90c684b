"""Decks as a file that Anki imports, through the `genanki` package."""

from __future__ import annotations

import html
import os
import zlib
from pathlib import Path

from autodrill.decks import Card, deck_ids, load_deck
from autodrill.errors import BROKEN, AutodrillError

_FIRST_ID = 1 << 30
"""Anki's ids are of this size; ours come from names, so that a second import updates the first."""
_STYLE = ".card { font-family: sans-serif; font-size: 18px; text-align: left; }"


def export(path: str, deck: str | None) -> tuple[Path, int]:
    """Write one deck or all to a new file; return it, and how many cards it holds."""
    chosen = [load_deck(one) for one in (deck_ids() if deck is None else [deck])]
    file = Path(path).expanduser()
    if file.suffix != ".apkg":
        raise AutodrillError(f"`{path}` does not end in `.apkg`", "Anki knows its files by that")
    if os.path.lexists(file):
        raise AutodrillError(f"`{path}` is there already", "move it away, or name another file")
    try:
        import genanki
    except ImportError as error:
        raise AutodrillError(
            "an export for Anki needs genanki, which is not installed",
            "`pip install genanki`",
            exit_code=BROKEN,
        ) from error
    model = genanki.Model(
        _number("model"),
        "autodrill",
        fields=[{"name": "Front"}, {"name": "Back"}],
        templates=[
            {"name": "card", "qfmt": "{{Front}}", "afmt": "{{FrontSide}}<hr id=answer>{{Back}}"}
        ],
        css=_STYLE,
    )
    decks = []
    for one in chosen:
        made = genanki.Deck(_number(one.id), f"autodrill::{one.title}", html.escape(one.about))
        for card in one.cards:
            name = f"{card.deck}/{card.id}"
            made.add_note(
                genanki.Note(
                    model=model, fields=[_html(card.prompt), _back(card)], guid=_guid(name)
                )
            )
        decks.append(made)
    try:
        genanki.Package(decks).write_to_file(str(file))
    except OSError as error:
        why = error.strerror or str(error)
        raise AutodrillError(f"`{path}` can't be written: {why}", exit_code=BROKEN) from error
    return file, sum(len(one.cards) for one in chosen)


def _back(card: Card) -> str:
    follow_up = f"<br><br><i>{_html(card.follow_up)}</i>" if card.follow_up else ""
    return _html(card.answer) + follow_up


def _html(text: str) -> str:
    """Write a text so that Anki shows it as it is, with its line ends and its indents."""
    lines = (html.escape(one, quote=False) for one in text.splitlines())
    return "<br>".join(one.replace("  ", "&nbsp;&nbsp;") for one in lines)


def _number(name: str) -> int:
    return _FIRST_ID + zlib.crc32(f"autodrill {name}".encode()) % _FIRST_ID


def _guid(name: str) -> str:
    return f"autodrill-{name}"
