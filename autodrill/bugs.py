"""The bug catalogue of a track: what a `bugs.toml` says."""

from __future__ import annotations

import tomllib
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from typing import Any

from autodrill.catalog import Track
from autodrill.errors import broken_track

FORMAT = 1


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
    path = track.folder / "bugs.toml"
    try:
        data = tomllib.loads(path.read_text(encoding="utf-8"))
        if data["format"] != FORMAT:
            raise ValueError(f"format {data['format']} is not {FORMAT}")
        bugs = tuple(_bug(one) for one in data["bug"])
        targets = {target.id for target in track.targets}
        for bug in bugs:
            if bug.target not in targets:
                raise ValueError(f"`{bug.id}` is of a target `{bug.target}` that does not exist")
        if len({bug.id for bug in bugs}) != len(bugs):
            raise ValueError("two bugs have the same id")
    except (OSError, ValueError, KeyError, TypeError) as error:
        raise broken_track(f"the bug catalogue of `{track.id}` can't be read: {error}") from error
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
