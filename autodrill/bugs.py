"""The bug catalogue of a track: what a `bugs.toml` says."""

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
    bugs = _read(track, _text(track))
    if len({bug.id for bug in bugs}) != len(bugs):
        raise broken_track(f"two bugs of `{track.id}` have the same id")
    return bugs


@cache
def bugs_in(track: Track, symbols: frozenset[str]) -> tuple[Bug, ...]:
    """Read the bugs that patch one of some symbols.

    Parsing TOML is slow beside everything else that a diagnosis takes, so the other entries are
    not parsed.
    """
    head, *entries = _ENTRY.split(_text(track))
    near = [one for one in entries if any(f'symbol = "{symbol}"' in one for symbol in symbols)]
    bugs = _read(track, "[[bug]]".join([head, *near]))
    return tuple(bug for bug in bugs if any(patch.symbol in symbols for patch in bug.patches))


@cache
def find_bug(bug_id: str) -> Bug | None:
    """Return the bug of an id from the first track that has it, reading no other entry."""
    for track in map(load_track, track_ids()):
        head, *entries = _ENTRY.split(_text(track))
        own = [one for one in entries if f'\nid = "{bug_id}"\n' in one]
        if own:
            return _read(track, "[[bug]]".join([head, *own]))[0]
    return None


def _text(track: Track) -> str:
    try:
        return (track.folder / "bugs.toml").read_text(encoding="utf-8")
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
