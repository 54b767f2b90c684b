"""What the commands around a check say: where one is, tracks, paths, what is installed."""

from __future__ import annotations

import shlex
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Literal, cast

from autodrill.render.commands import commands
from autodrill.render.inert import inert
from autodrill.render.layout import Line, Part, Style, blocks, fixed, line, spread
from autodrill.render.signs import SIGNS
from autodrill.render.standing import Standing, standing

if TYPE_CHECKING:
    from autodrill.catalog import Target, Track
    from autodrill.practice.about import Finding
    from autodrill.practice.overview import Overview
    from autodrill.render.console import Screen
    from autodrill.results import Verdict

_INDENT = 2
_NARROW = 60
_STATES: dict[str, tuple[str, Style]] = {
    "ok": ("✓", "good"),
    "missing": ("✗", "bad"),
    "optional": ("·", "quiet"),
}


def show_overview(screen: Screen, overview: Overview) -> None:
    """Show the workspace, where its targets stand, and the next command to type."""
    if overview.track is None:
        shown = [line("there is no workspace here or above")]
        if overview.elsewhere is not None:
            shown += [line("the last one used:"), fixed(_path(overview.elsewhere), indent=_INDENT)]
        screen.write(blocks(shown, commands(("next", inert(overview.next_command)))))
        return
    track, verdicts = overview.track, overview.verdicts
    green = sum(verdicts.get(one.id) == "pass" for one in track.targets)
    left = line((track.id, "strong"), f" · {track.title}", hang=_INDENT)
    right = line(f"{green} of {len(track.targets)} targets green")
    targets = [Standing(_verdict(verdicts, one), one.step, one.id) for one in track.targets]
    after: list[Line] = []
    if overview.next_target is not None:
        one = overview.next_target
        after = [line(f"next is {one.step} {one.id}: {one.title}", hang=_INDENT)]
    screen.write(
        blocks(
            [*spread(left, right, screen.width), standing(targets, screen.width)],
            [*after, *commands(("next", inert(overview.next_command)))],
        )
    )


def show_started(screen: Screen, folder: Path, engine_file: Path, first: str) -> None:
    """Say that a workspace is made, and how to begin."""
    head = [line(SIGNS["pass"], " the workspace is ready"), fixed(_path(folder), indent=_INDENT)]
    begin = commands(
        ("go there", f"cd {shlex.quote(_path(folder))}"),
        ("read", "README.md"),
        ("write", inert(engine_file.name)),
        ("check", f"autodrill check {first}"),
    )
    screen.write(blocks(head, begin))


def show_changed(
    screen: Screen, file: str, symbols: Sequence[str], command: Literal["reset", "undo"]
) -> None:
    """Say what `reset` has blanked, or that `undo` has brought it back."""
    name = f"`{inert(file)}`"
    if command == "undo":
        screen.write([line(SIGNS["pass"], f" {name} is as it was before the reset")])
        return
    what = ", ".join(f"`{inert(one)}`" for one in symbols)
    said = f" {what} in {name}: blank again" if what else f" {name} starts again"
    head = line(SIGNS["pass"], f"{said}; the old text is kept", hang=_INDENT)
    screen.write([head, *commands(("take it back", "autodrill undo"))])


def show_tracks(screen: Screen, tracks: Sequence[Track]) -> None:
    """Show each track with what it is and its targets."""
    shown = [_track(one) for one in tracks]
    start = f"autodrill start {tracks[0].id}" if tracks else None
    screen.write(blocks(*shown, commands(("start one", start))))


def show_where(screen: Screen, paths: Sequence[tuple[str, str]]) -> None:
    """Show what lies where; a path stays whole, so that it can be copied."""
    widest = max((len(name) for name, _ in paths), default=0)
    for name, path in paths:
        if screen.width < _NARROW:
            screen.write([line((name, "quiet")), fixed(inert(path), indent=_INDENT)])
        else:
            screen.write([fixed((f"{name:<{widest}}  ", "quiet"), inert(path))])


def show_doctor(screen: Screen, findings: Sequence[Finding]) -> None:
    """Show what was looked at, what was found, and what to do where that is not well."""
    widest = max((len(one.name) for one in findings), default=0)
    shown: list[Line] = []
    for one in findings:
        name = one.name if screen.width < _NARROW else f"{one.name:<{widest}}"
        hint = inert(one.hint) if one.state != "ok" else ""
        more: tuple[Part, ...] = (("  hint: ", "quiet"), hint) if hint else ()
        text = inert(one.text)
        shown.append(line(_STATES[one.state], f" {name}  ", text, *more, hang=len(name) + 4))
    missing = sum(one.state == "missing" for one in findings)
    are = "thing is" if missing == 1 else "things are"
    verdict: Part = (f"{missing} {are} missing", "bad") if missing else ("all is well", "good")
    screen.write(blocks(shown, [line(verdict)]))


def _track(track: Track) -> Iterable[Line]:
    yield line((track.id, "strong"), f" · {track.title}", hang=_INDENT)
    yield line(track.summary, indent=_INDENT)
    parts: list[Part] = []
    for target in track.targets:
        minutes = "" if target.minutes is None else f"\u00a0{target.minutes:g}\u00a0min"
        parts += ["   "] if parts else []
        parts += [f"{target.step}\u00a0{target.id}", (minutes, "quiet")]
    yield Line(tuple(parts), indent=_INDENT)


def _verdict(verdicts: dict[str, str], target: Target) -> Verdict:
    """Return a verdict as it was kept, `blocked` where there is none that is known."""
    verdict = verdicts.get(target.id, "blocked")
    return cast("Verdict", verdict) if verdict in SIGNS else "blocked"


def _path(path: Path) -> str:
    return inert(str(path))
