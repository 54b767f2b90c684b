"""Hints and references: what to read when stuck."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass

from autodrill.catalog import Selection, Target, Track, aliases, load_track, resolve
from autodrill.errors import NOT_YET, AutodrillError, broken_track
from autodrill.history import History
from autodrill.places import history_file
from autodrill.practice.locate import Subject, locate
from autodrill.stubs import text_of

LEVELS = 3


@dataclass(frozen=True)
class Hint:
    """One level of a target's hints, as Markdown."""

    track: str
    target: str
    level: int
    heading: str
    text: str
    notices: tuple[str, ...] = ()


@dataclass(frozen=True)
class Shown:
    """The reference for a target: of each symbol its source, docstring included."""

    track: str
    target: str
    title: str
    sources: tuple[tuple[str, str], ...]


def hint(name: str | None, level: int | None = None, track_id: str | None = None) -> Hint:
    """Return the next hint on a target, or the one of a given level.

    `name` is a target, a step or a symbol; left out, it is the first target that is not
    green. Outside a workspace `track_id` says where to look, and nothing is counted.
    """
    subject = _subject(track_id)
    track = subject.track if subject is not None else load_track(track_id or "")
    with History(history_file()) as history:
        if name is None:
            verdicts = history.last_verdicts(subject.file) if subject is not None else {}
            chosen = Selection(_first_not_green(track, verdicts))
        else:
            chosen = resolve(track, name)
        if level is None:
            level = 1
            if subject is not None:
                level = min(history.hint_level(subject.file, chosen.target.id) + 1, LEVELS)
        elif not 1 <= level <= LEVELS:
            raise AutodrillError(f"there is no level {level}", f"the levels are 1 to {LEVELS}")
        heading, text = section(track, chosen, level)
        if subject is not None:
            history.add_hint(subject.file, chosen.target.id, level)
        return Hint(track.id, chosen.target.id, level, heading, text, tuple(history.notices))


def is_green(name: str, track_id: str | None = None) -> bool:
    """Tell whether a target was green when it was last checked here."""
    subject = _subject(track_id)
    if subject is None:
        return False
    target = resolve(subject.track, name).target
    with History(history_file()) as history:
        return history.last_verdicts(subject.file).get(target.id) == "pass"


def show(name: str, track_id: str | None = None) -> Shown:
    """Return the reference for a target or a symbol."""
    subject = _subject(track_id)
    track = subject.track if subject is not None else load_track(track_id or "")
    chosen = resolve(track, name)
    source = track.reference.read_text(encoding="utf-8")
    symbols = (chosen.symbol,) if chosen.symbol else chosen.target.symbols
    sources = tuple((symbol, text_of(source, symbol)) for symbol in symbols)
    return Shown(track.id, chosen.target.id, chosen.target.title, sources)


def _subject(track_id: str | None) -> Subject | None:
    """Return the workspace, or None where a track was named that is not the workspace's."""
    if track_id is None:
        return locate()
    load_track(track_id)
    try:
        return locate(track_id=track_id)
    except AutodrillError:
        return None


def _first_not_green(track: Track, verdicts: Mapping[str, str]) -> Target:
    for target in track.targets:
        if verdicts.get(target.id) != "pass":
            return target
    raise AutodrillError(
        "every target is green: there is nothing to hint at",
        hint=f"name a target to read its hints again: `autodrill hint {track.targets[0].id}`",
        exit_code=NOT_YET,
    )


def section(track: Track, chosen: Selection, level: int) -> tuple[str, str]:
    """Cut one level out of a target's hints; of a symbol only what concerns it."""
    file = track.hints(chosen.target)
    try:
        parts = re.split(r"^## ", file.read_text(encoding="utf-8"), flags=re.MULTILINE)[1:]
        heading, _, text = parts[level - 1].partition("\n")
    except (OSError, IndexError) as error:
        raise broken_track(f"`{track.id}` has no hint {level} for `{chosen.target.id}`") from error
    if chosen.symbol is not None:
        text = _only_symbol(text, chosen.symbol)
    return heading.strip(), text.strip()


def _only_symbol(text: str, symbol: str) -> str:
    """Keep what stands before the first `###` and the part under the symbol's own heading."""
    common, *parts = re.split(r"^(?=### )", text, flags=re.MULTILINE)
    names = aliases(symbol)
    own = [
        part for part in parts if set(re.findall(r"[\w.]+", part.partition("\n")[0])) & set(names)
    ]
    return "\n".join([common, *(own or parts)])
