"""Blank again, and bring back: `reset` and `undo`."""

from __future__ import annotations

import codecs
import glob
from dataclasses import dataclass
from pathlib import Path

from autodrill.catalog import Track, resolve
from autodrill.errors import NOT_YET, AutodrillError
from autodrill.history import History
from autodrill.places import history_file
from autodrill.practice.locate import locate
from autodrill.stubs import reblank
from autodrill.workspace import stub_source, write_text


@dataclass(frozen=True)
class Changed:
    """A change of the learner's file; `symbols` were blanked, none if it was the whole file."""

    file: Path
    symbols: tuple[str, ...]
    kept: bool
    notices: tuple[str, ...]


def reset(name: str | None = None) -> Changed:
    """Blank a target, a symbol, or the whole file again; the text that was there is kept.

    Raises
    ------
    AutodrillError
        If the text can't be kept anywhere, so that nothing is changed.
    """
    subject = locate()
    track = subject.track
    before = _bytes(subject.file)
    symbols: tuple[str, ...] = ()
    if name is None:
        after = _written_as(before, stub_source(track))
    else:
        chosen = resolve(track, name)
        symbols = (chosen.symbol,) if chosen.symbol else chosen.target.symbols
        after = _blanked(before, subject.file, track, symbols)
    with History(history_file()) as history:
        notices = _keep(history, subject.file, before, "reset")
        write_text(subject.file, after)
        notices += history.notices
    return Changed(subject.file, symbols, before is not None, tuple(notices))


def undo() -> Changed:
    """Bring back the text that the latest reset, of those not undone, has replaced."""
    subject = locate()
    with History(history_file()) as history:
        kept, beside = history.last_reset(subject.file), _latest_beside(subject.file)
        is_beside = beside is not None and (kept is None or beside.stat().st_mtime > kept.at)
        if kept is None and beside is None:
            raise AutodrillError(
                "there is no reset to undo in this workspace",
                hint="; ".join(history.notices) or "`autodrill reset` is what undo takes back",
                exit_code=NOT_YET,
            )
        now = _bytes(subject.file)
        notices = _keep(history, subject.file, now, "undo")
        if beside is not None and is_beside:
            write_text(subject.file, _bytes(beside) or b"")
            beside.unlink(missing_ok=True)
        elif kept is not None:
            write_text(subject.file, kept.text)
            history.mark_undone(kept.snapshot)
        notices += history.notices
        return Changed(subject.file, (), now is not None, tuple(notices))


def replace_text(history: History, file: Path, text: bytes) -> Changed:
    """Put a text in the place of a file's, which `undo` brings back."""
    before = _bytes(file)
    notices = _keep(history, file, before, "reset")
    write_text(file, text)
    return Changed(file, (), before is not None, (*notices, *history.notices))


def _bytes(file: Path) -> bytes | None:
    """Return a file's content, None if there is none."""
    try:
        return file.read_bytes()
    except FileNotFoundError:
        return None
    except OSError as error:
        raise AutodrillError(
            f"`{file}` can't be read: {error.strerror or error}", exit_code=NOT_YET
        ) from error


def _blanked(before: bytes | None, file: Path, track: Track, symbols: tuple[str, ...]) -> bytes:
    start_again = "`autodrill reset` without a target keeps the text and starts the file again"
    if before is None:
        raise AutodrillError(f"`{file.name}` is not there", start_again, NOT_YET)
    try:
        text = before.decode("utf-8")
    except UnicodeDecodeError as error:
        raise AutodrillError(f"`{file.name}` is not UTF-8", start_again, NOT_YET) from error
    source = track.reference.read_text(encoding="utf-8")
    after = reblank(text, source, symbols, track.id, track.keep, track.bodies)
    return after.encode("utf-8")


def _written_as(before: bytes | None, text: str) -> bytes:
    """Give a text the line ends and the byte order mark that the file had."""
    data, before = text.encode("utf-8"), before or b""
    if b"\r\n" in before:
        data = data.replace(b"\n", b"\r\n")
    elif b"\r" in before and b"\n" not in before:
        data = data.replace(b"\n", b"\r")
    return codecs.BOM_UTF8 + data if before.startswith(codecs.BOM_UTF8) else data


def _keep(history: History, file: Path, text: bytes | None, reason: str) -> list[str]:
    """Keep a text in the history or, where that can't be written, beside the file."""
    if text is None or history.keep(file, text, reason):
        return []
    number = 1
    while (beside := file.with_name(f"{file.name}.before-{reason}-{number}")).exists():
        number += 1
    write_text(beside, text)
    return [f"the old text was kept as `{beside.name}`"]


def _latest_beside(file: Path) -> Path | None:
    found = file.parent.glob(f"{glob.escape(file.name)}.before-reset-*")
    return max(found, key=lambda path: path.stat().st_mtime, default=None)
