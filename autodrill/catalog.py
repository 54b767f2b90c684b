"""The tracks: where the content lies, and what a `track.toml` says.

A small track lies in one folder. A large one has a folder for each target, with a
`target.toml` and the same files in each.
"""

from __future__ import annotations

import difflib
import sys
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

    `parts` are the folders that hold scenarios, graders, bugs and hints: the track's own, or one
    for each target. `keep` says how many statements after the docstring a stub keeps, by symbol;
    `bodies` what a stub does in place of raising, where what is given calls it. `in_order` is False
    where the targets are independent of each other.
    """

    id: str
    title: str
    summary: str
    engine_file: str
    folder: Path
    parts: tuple[Path, ...]
    reference: Path
    targets: tuple[Target, ...]
    keep: Mapping[str, int]
    bodies: Mapping[str, str]
    minutes_are: str
    in_order: bool

    @property
    def scenarios(self) -> tuple[Path, ...]:
        """Return the files of the scenarios."""
        return tuple(part / "scenarios.py" for part in self.parts)

    @property
    def tests(self) -> tuple[Path, ...]:
        """Return the files of the graders."""
        return self.tests_of(self.targets)

    def tests_of(self, targets: Iterable[Target], kind: str = "test") -> tuple[Path, ...]:
        """Return the files that hold the graders of some targets."""
        parts = dict.fromkeys(map(self._part, targets))
        return tuple(part / f"{kind}_{part.name}.py" for part in parts)

    @property
    def strict_tests(self) -> tuple[Path, ...]:
        """Return the files of the graders of the edge cases."""
        return self.tests_of(self.targets, "strict")

    @property
    def bugs(self) -> tuple[Path, ...]:
        """Return the files of the bug catalogue."""
        return tuple(part / "bugs.toml" for part in self.parts)

    @property
    def guides(self) -> tuple[Path, ...]:
        """Return the files that make up the guide, in order."""
        return tuple(dict.fromkeys(one / "guide.md" for one in (self.folder, *self.parts)))

    def hints(self, target: Target) -> Path:
        """Return the file of a target's hints."""
        own = self._part(target)
        return own / "hints.md" if own != self.folder else own / "hints" / f"{target.id}.md"

    def _part(self, target: Target) -> Path:
        own = self.folder / target.id
        return own if own in self.parts else self.folder

    @property
    def estimates(self) -> bool:
        """Tell whether the minutes are estimates of ours, and promised by nobody."""
        return self.minutes_are == "estimated"

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
    """Return the ids of all tracks, in the order in which to take them."""
    files = _drills().glob("*/track.toml")
    return tuple(sorted((file.parent.name for file in files), key=lambda one: (_place(one), one)))


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


def _place(track_id: str) -> int:
    """Read a track's place among the others; a damaged one comes last, and is told of later."""
    try:
        text = (_drills() / track_id / "track.toml").read_text(encoding="utf-8")
        return int(tomllib.loads(text)["place"])
    except (OSError, ValueError, KeyError, TypeError):
        return sys.maxsize


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
    files = sorted(folder.glob("*/target.toml"))
    apart = [tomllib.loads(file.read_text(encoding="utf-8")) for file in files]
    described = data.get("target") or sorted(apart, key=lambda one: one["step"])
    targets = tuple(_target(step, one) for step, one in enumerate(described, start=1))
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
        parts=tuple(folder / target.id for target in targets) if apart else (folder,),
        reference=content_root() / "reference" / data["reference"],
        targets=targets,
        keep={s: n for one in (data, *apart) for s, n in one.get("keep", {}).items()},
        bodies={s: text for one in (data, *apart) for s, text in one.get("bodies", {}).items()},
        minutes_are=data.get("minutes_are", "none"),
        in_order=data.get("in_order", True),
    )


def _target(step: int, one: Mapping[str, Any]) -> Target:
    return Target(
        id=one["id"],
        step=step,
        title=one["title"],
        symbols=tuple(one["symbols"]),
        tests=tuple(one["tests"]),
        needs=tuple(one.get("needs", ())),
        minutes=one.get("minutes"),
    )
