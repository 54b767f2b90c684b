"""The decks of `quiz`: what a file of cards says, and the judge of a typed answer."""

from __future__ import annotations

import math
import re
import tomllib
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any, Literal

from autodrill.catalog import content_root, nearest_hint
from autodrill.errors import AutodrillError, broken_track

FORMAT = 1
TOLERANCE = 1e-6
_NUMBER = re.compile(
    r"[+-]?(?:inf(?:inity)?\b|nan\b|(?:\d+\.?\d*|\.\d+)(?:e[+-]?\d+)?)", re.IGNORECASE
)
_WRAPPER = re.compile(
    r"^(?:(?:np\.|numpy\.)?array|(?:torch\.)?(?:tensor|Size))\((.*)\)$", re.DOTALL
)
"""What stands around an answer that was copied from what a library prints."""
_LONGEST = 1000
_NO_NUMBERS = re.compile(r"[\s\[\](),;]*$")

Kind = Literal["recall", "predict"]
JudgedAs = Literal["number", "shape", "text"]


@dataclass(frozen=True)
class Card:
    """One card: recalled freely, or an answer that is predicted and judged.

    `judge` says how a prediction is compared, `tolerance` how far a number may be off,
    relatively; `accepts` lists other texts that are right. `check` is code for the project's
    tests, which proves what the card says.
    """

    id: str
    deck: str
    kind: Kind
    topic: str
    prompt: str
    answer: str
    follow_up: str = ""
    judge: JudgedAs = "text"
    tolerance: float = TOLERANCE
    accepts: tuple[str, ...] = ()
    check: str = ""


@dataclass(frozen=True)
class Deck:
    """A file of cards."""

    id: str
    title: str
    about: str
    cards: tuple[Card, ...]


def deck_ids() -> tuple[str, ...]:
    """Return the ids of all decks, in order of the alphabet."""
    return tuple(sorted(path.stem for path in _folder().glob("*.toml")))


def load_deck(deck_id: str) -> Deck:
    """Read a deck; exit 2 with the nearest names if there is none, 3 if it is broken."""
    known = deck_ids()
    if deck_id not in known:
        raise AutodrillError(f"there is no deck `{deck_id}`", nearest_hint(deck_id, known, "decks"))
    return _load(_folder() / f"{deck_id}.toml")


def is_right(card: Card, given: str) -> bool:
    """Judge a prediction: numbers by value, shapes by their lengths, texts by their letters."""
    given = _WRAPPER.sub(r"\1", given[:_LONGEST].strip())
    if card.judge == "number":
        return _same_numbers(_numbers(given), _numbers(card.answer), card.tolerance)
    if card.judge == "shape":
        return _shape(given) is not None and _shape(given) == _shape(card.answer)
    return _letters(given) in {_letters(one) for one in (card.answer, *card.accepts)}


def _numbers(text: str) -> tuple[float, ...] | None:
    """Return the numbers of a text, None where there is anything else in it, or none."""
    plain = text.replace("−", "-")
    if not _NO_NUMBERS.match(_NUMBER.sub(" ", plain)):
        return None
    return tuple(float(one) for one in _NUMBER.findall(plain)) or None


def _same_numbers(
    given: tuple[float, ...] | None, right: tuple[float, ...] | None, tolerance: float
) -> bool:
    if given is None or right is None or len(given) != len(right):
        return False
    pairs = zip(given, right, strict=True)
    return all(
        math.isclose(one, other, rel_tol=tolerance, abs_tol=1e-12)
        or (math.isnan(one) and math.isnan(other))
        for one, other in pairs
    )


def _shape(text: str) -> tuple[int, ...] | None:
    """Return the lengths in a shape; `()` and `scalar` have none."""
    if not re.fullmatch(r"[\s()\[\],x×]*(?:\d+[\s()\[\],x×]*)*|\s*scalar\s*", text, re.IGNORECASE):
        return None
    return tuple(map(int, re.findall(r"\d+", text))) if text.strip() else None


def _letters(text: str) -> str:
    """Return what of a text counts: no spaces, no quotes, no case, no final dot."""
    plain = re.sub(r"[\s`'\"]", "", text).rstrip(".").casefold()
    return plain.rpartition(".")[2] if plain.startswith(("torch.", "np.", "numpy.")) else plain


def _folder() -> Path:
    return content_root() / "drills" / "decks"


@cache
def _load(path: Path) -> Deck:
    try:
        data = tomllib.loads(path.read_text(encoding="utf-8"))
        if data["format"] != FORMAT:
            raise ValueError(f"format {data['format']} is not {FORMAT}")
        cards = tuple(_card(path.stem, one) for one in data["card"])
        if data["id"] != path.stem or len({one.id for one in cards}) != len(cards):
            raise ValueError("its id or those of its cards are not what they should be")
        return Deck(data["id"], data["title"], data["about"], cards)
    except (OSError, ValueError, KeyError, TypeError) as error:
        raise broken_track(f"the deck `{path.stem}` can't be read: {error}") from error


def _card(deck: str, data: Mapping[str, Any]) -> Card:
    if data["kind"] == "predict" and "judge" not in data:
        raise ValueError(f"`{data['id']}` does not say how it is judged")
    more = {**data, "accepts": tuple(data.get("accepts", ()))}
    texts = {name: more[name].strip() for name in ("prompt", "answer")}
    return Card(deck=deck, **{**more, **texts})
