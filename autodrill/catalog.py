"""The tracks: where the content lies, and what a `track.toml` says."""

from __future__ import annotations

import difflib
import tomllib
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

from autodrill.errors import AutodrillError, broken_track

FORMAT = 1


@dataclass(frozen=True)
class Target:
    """One graded part of a track.

    `tests` are names of test functions; `needs` the ids of the targets that have to be
    green first; `minutes` is None where none are promised.
    """

    id: str
    step: int
    title: str
    symbols: tuple[str, ...]
    tests: tuple[str, ...]
    needs: tuple[str, ...]
    minutes: float | None


@dataclass(frozen=True, eq=False)
class Track:
    """A folder under `drills/` and what it holds.

    `keep` says how many statements after the docstring a stub keeps, by symbol.
    """

    id: str
    title: str
    summary: str
    engine_file: str
    folder: Path
    reference: Path
    targets: tuple[Target, ...]
    keep: Mapping[str, int]
    minutes_are: str

    @property
    def scenarios(self) -> Path:
        """Return the file of the scenarios."""
        return self.folder / "scenarios.py"

    @property
    def tests(self) -> Path:
        """Return the file of the graders."""
        return self.folder / f"test_{self.id}.py"

    @property
    def strict_tests(self) -> Path:
        """Return the file of the graders of the edge cases."""
        return self.folder / f"strict_{self.id}.py"

    @property
    def guide(self) -> Path:
        """Return the file of the guide."""
        return self.folder / "guide.md"

    @property
    def symbols(self) -> tuple[str, ...]:
        """Return the symbols of all targets, in order, each once."""
        return tuple(dict.fromkeys(one for target in self.targets for one in target.symbols))

    def target(self, target_id: str) -> Target:
        """Return the target of that id; KeyError if there is none."""
        return {target.id: target for target in self.targets}[target_id]


@dataclass(frozen=True)
class Selection:
    """What was asked for: a target, or one symbol of a target."""

    target: Target
    symbol: str | None = None


def content_root() -> Path:
    """Return the folder that holds `drills/` and `reference/`, in a wheel or a checkout."""
    package = Path(__file__).resolve().parent
    return package if (package / "drills").is_dir() else package.parent


def track_ids() -> tuple[str, ...]:
    """Return the ids of all tracks, in order of the alphabet."""
    return tuple(sorted(path.parent.name for path in _drills().glob("*/track.toml")))


def load_track(track_id: str) -> Track:
    """Read a track.

    Raises
    ------
    AutodrillError
        If there is no such track (exit 2, with the nearest name), or it is broken (exit 3).
    """
    known = track_ids()
    if track_id not in known:
        raise AutodrillError(
            f"there is no track `{track_id}`", nearest_hint(track_id, known, "tracks")
        )
    return _load(_drills() / track_id)


def resolve(track: Track, name: str) -> Selection:
    """Find the target or the symbol that a name, a step number or an alias stands for.

    A target's id comes before a symbol of the same name; `Tensor.sum`, `sum` and
    `__matmul__` or `matmul` are the ways to name a symbol.
    """
    for target in track.targets:
        if name in (target.id, str(target.step)):
            return Selection(target)
    for target in track.targets:
        for symbol in target.symbols:
            if name in aliases(symbol):
                return Selection(target, symbol)
    known = [target.id for target in track.targets]
    known += [alias for symbol in track.symbols for alias in aliases(symbol)]
    raise AutodrillError(
        f"`{name}` is no target or symbol of {track.id}", nearest_hint(name, known, "targets")
    )


def aliases(symbol: str) -> tuple[str, ...]:
    """Return the ways to write a symbol, the full one first."""
    bare = symbol.rpartition(".")[2]
    return tuple(dict.fromkeys((symbol, bare, bare.strip("_"))))


def nearest_hint(name: str, known: Iterable[str], kind: str) -> str:
    """Return a hint with the names nearest to a mistyped one, or with all of them."""
    names = list(dict.fromkeys(known))
    lower = {one.lower(): one for one in names}
    near = difflib.get_close_matches(name.lower(), lower, n=3, cutoff=0.6)
    if near:
        return "did you mean " + " or ".join(f"`{lower[one]}`" for one in near) + "?"
    return f"the {kind} are " + ", ".join(names)


def _drills() -> Path:
    return content_root() / "drills"


@cache
def _load(folder: Path) -> Track:
    path = folder / "track.toml"
    try:
        data = tomllib.loads(path.read_text(encoding="utf-8"))
        return _track(folder, data)
    except (OSError, ValueError, KeyError, TypeError) as error:
        raise broken_track(f"the track `{folder.name}` can't be read: {error}") from error


def _track(folder: Path, data: Mapping[str, Any]) -> Track:
    if data["format"] != FORMAT:
        raise ValueError(f"format {data['format']} is not {FORMAT}")
    targets = tuple(
        Target(
            id=one["id"],
            step=step,
            title=one["title"],
            symbols=tuple(one["symbols"]),
            tests=tuple(one["tests"]),
            needs=tuple(one.get("needs", ())),
            minutes=one.get("minutes"),
        )
        for step, one in enumerate(data["target"], start=1)
    )
    known = {target.id for target in targets}
    unknown = {need for target in targets for need in target.needs} - known
    if unknown:
        raise ValueError(f"a target needs {sorted(unknown)}, which do not exist")
    return Track(
        id=data["id"],
        title=data["title"],
        summary=data["summary"],
        engine_file=data["engine_file"],
        folder=folder,
        reference=content_root() / "reference" / data["reference"],
        targets=targets,
        keep=dict(data.get("keep", {})),
        minutes_are=data.get("minutes_are", "none"),
    )
