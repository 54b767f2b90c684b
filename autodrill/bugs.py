"""The bug catalogue of a track: what its `bugs.toml` files say."""

from __future__ import annotations

import re
import tomllib
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from typing import Any

from autodrill.catalog import Track, load_track, track_ids
from autodrill.errors import broken_track

FORMAT = 1

_ENTRY = re.compile(r"^\[\[bug\]\]", re.MULTILINE)


@dataclass(frozen=True)
class Patch:
    """A change of the reference: within a symbol's text, `find` becomes `put`."""

    symbol: str
    find: str
    put: str


@dataclass(frozen=True)
class Bug:
    """A mistake that people make.

    `target` is where it is caught and named; `also` lists the ids of bugs that no input can
    tell from this one.
    """

    id: str
    target: str
    title: str
    why: str
    hint: str
    patches: tuple[Patch, ...]
    also: tuple[str, ...] = ()


@cache
def load_bugs(track: Track) -> tuple[Bug, ...]:
    """Read a track's catalogue; a fault in it is ours (exit 3)."""
    bugs = tuple(bug for text in _texts(track) for bug in _read(track, text))
    if len({bug.id for bug in bugs}) != len(bugs):
        raise broken_track(f"two bugs of `{track.id}` have the same id")
    return bugs


@cache
def bugs_in(
    track: Track, symbols: frozenset[str], but: frozenset[str] = frozenset()
) -> tuple[Bug, ...]:
    """Read the bugs that patch one of some symbols, but not those of some targets.

    Parsing TOML is slow beside everything else that a diagnosis takes, so the other entries are
    not parsed.
    """
    found: list[Bug] = []
    for text in _texts(track):
        head, *entries = _ENTRY.split(text)
        near = [
            one
            for one in entries
            if any(f'symbol = "{symbol}"' in one for symbol in symbols)
            and not any(f'target = "{target}"' in one for target in but)
        ]
        if near:
            found += _read(track, "[[bug]]".join([head, *near]))
    return tuple(
        bug
        for bug in found
        if bug.target not in but and any(patch.symbol in symbols for patch in bug.patches)
    )


@cache
def find_bug(bug_id: str) -> Bug | None:
    """Return the bug of an id from the first track that has it, reading no other entry."""
    for track in map(load_track, track_ids()):
        for text in _texts(track):
            head, *entries = _ENTRY.split(text)
            own = [one for one in entries if f'\nid = "{bug_id}"\n' in one]
            if own:
                return _read(track, "[[bug]]".join([head, *own]))[0]
    return None


def _texts(track: Track) -> list[str]:
    try:
        return [file.read_text(encoding="utf-8") for file in track.bugs]
    except OSError as error:
        raise broken_track(f"the bug catalogue of `{track.id}` can't be read: {error}") from error


def _read(track: Track, text: str) -> tuple[Bug, ...]:
    try:
        data = tomllib.loads(text)
        if data["format"] != FORMAT:
            raise ValueError(f"format {data['format']} is not {FORMAT}")
        bugs = tuple(_bug(one) for one in data.get("bug", ()))
    except (ValueError, KeyError, TypeError) as error:
        raise broken_track(f"the bug catalogue of `{track.id}` can't be read: {error}") from error
    targets = {target.id for target in track.targets}
    for bug in bugs:
        if bug.target not in targets:
            raise broken_track(f"the bug `{bug.id}` is of no target of `{track.id}`: {bug.target}")
    return bugs


def _bug(data: Mapping[str, Any]) -> Bug:
    patches = tuple(Patch(one["symbol"], one["find"], one["put"]) for one in data["patch"])
    return Bug(
        id=data["id"],
        target=data["target"],
        title=data["title"],
        why=data["why"],
        hint=data["hint"],
        patches=patches,
        also=tuple(data.get("also", ())),
    )
