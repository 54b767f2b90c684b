"""What the commands about a workspace say: it was made, changed, or looked at."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from autodrill.render.commands import commands, due_commands
from autodrill.render.inert import inert
from autodrill.render.layout import Line, blocks, fixed, glued, line
from autodrill.render.signs import SIGNS
from autodrill.render.times import clock

if TYPE_CHECKING:
    from autodrill.catalog import Target
    from autodrill.history import Attempt
    from autodrill.practice.whiteboard import DueThere
    from autodrill.render.console import Screen
    from autodrill.results import Verdict

_INDENT = 2


def show_started(screen: Screen, folder: str, engine_file: str, first: str) -> None:
    """Show a workspace that was made, and the three things to do in it."""
    made = [fixed("made ", (inert(folder), "strong"))]
    steps = commands(
        ("go there", f"cd {_quoted(folder)}"),
        ("read", "README.md"),
        ("edit", f"{engine_file}, first `{first}`"),
        ("grade", "autodrill check"),
    )
    screen.write(blocks(made, steps))


def show_changed(
    screen: Screen, file: str, symbols: Sequence[str], *, command: str, kept: bool
) -> None:
    """Show what `reset`, `undo` or `history restore` has done to a file.

    `kept` is False where there was no file, and so no text to keep.
    """
    if command != "reset":
        was = "before the reset" if command == "undo" else "in the history"
        said = [line(f"{inert(file)} is as it was {was}", hang=_INDENT)]
        back = "autodrill undo" if command == "restore" else None
        screen.write(blocks(said, commands(("grade", "autodrill check"), ("undo", back))))
        return
    what = ", ".join(symbols) if symbols else "the whole file"
    rest = "the old text is kept" if kept else "there was no file, and so no text to keep"
    next_ = ("bring it back", "autodrill undo") if kept else ("earlier texts", "autodrill history")
    said = [line(f"blanked in {inert(file)}: {what}", hang=_INDENT), line(rest, hang=_INDENT)]
    screen.write(blocks(said, commands(next_)))


def show_overview(
    screen: Screen,
    title: str,
    folder: Path | None,
    targets: Sequence[Target],
    verdicts: Mapping[str, Verdict],
    next_command: str,
    due: Sequence[str] = (),
    interrupted: Attempt | None = None,
    there: DueThere | None = None,
    *,
    estimates: bool = False,
    is_dated: bool = False,
) -> None:
    """Show where the learner is, and the one next command.

    `estimates` is of the minutes; `is_dated` says that the file has changed since.
    """
    if folder is None:
        where = [line("there is no workspace here or above", hang=_INDENT)]
        screen.write(blocks(where, commands(("next", next_command), *due_commands(there))))
        return
    done = sum(verdicts.get(one.id) == "pass" for one in targets)
    head = [
        line((title, "strong"), hang=_INDENT),
        fixed((inert(str(folder)), "quiet")),
        line(f"{done} of {len(targets)} targets green", hang=_INDENT),
    ]
    if is_dated:
        said = "not of the file as it is now: it has changed, or can't be graded"
        head.append(line(("! ", "todo"), said, hang=_INDENT))
    about = "about " if estimates else ""
    rows = [_standing(one, verdicts.get(one.id), about) for one in targets]
    foot = commands(("next", next_command), *due_commands(there))
    screen.write(blocks(head, rows, _timed(due, interrupted), foot))


def _timed(due: Sequence[str], interrupted: Attempt | None) -> Iterator[Line]:
    """Say what is due, and that an attempt was interrupted."""
    if due:
        names = ", ".join(map(inert, due))
        yield line(("due again: ", "todo"), names, hang=_INDENT)
    if interrupted is not None:
        said = (
            f"attempt {interrupted.id} at `{inert(interrupted.target)}` was interrupted after "
            f"{clock(interrupted.run_s)}; `autodrill time --close` closes it"
        )
        yield line(("! ", "todo"), said, hang=_INDENT)


def _standing(target: Target, verdict: Verdict | None, about: str) -> Line:
    sign = SIGNS[verdict] if verdict is not None else SIGNS["blocked"]
    name = f" {target.step} {target.id}"
    minutes = f" ({about}{target.minutes:g} min)" if target.minutes else ""
    return line(sign, glued(name), "  ", (f"{target.title}{minutes}", "quiet"), hang=_INDENT + 2)


def _quoted(path: str) -> str:
    import shlex

    return shlex.quote(path)
