"""The file of a timed attempt: fresh for each target, earlier ones kept and out of sight."""

from __future__ import annotations

import contextlib
import os
from collections.abc import Collection
from pathlib import Path
from typing import BinaryIO

from autodrill.catalog import Target, Track
from autodrill.errors import NOT_YET, AutodrillError
from autodrill.stubs import text_of
from autodrill.workspace import Workspace, stub_source, write_text

FOLDER = "attempts"


def free_file(workspace: Workspace, taken: Collection[str]) -> tuple[Path, BinaryIO | None]:
    """Return the file for a new attempt and the claim on it, beside those others work on."""
    folder = workspace.folder / FOLDER
    name, number = Path(workspace.track.engine_file), 1
    file = folder / name
    while True:
        if str(file) not in taken:
            with contextlib.suppress(BlockingIOError):
                return file, claim(workspace, file)
        number += 1
        file = folder / f"{name.stem}_{number}{name.suffix}"


def claim(workspace: Workspace, file: Path) -> BinaryIO | None:
    """Claim an attempt's file for as long as what is returned stays open.

    The system drops the claim of a process that dies. Where files can't be locked there is
    none, and the history alone keeps two attempts apart.

    Raises
    ------
    BlockingIOError
        If another process has claimed it.
    """
    lock = workspace.folder / ".autodrill" / FOLDER / f"{file.name}.lock"
    try:
        import fcntl  # Unix only

        lock.parent.mkdir(parents=True, exist_ok=True)
        held = lock.open("ab")
    except (ImportError, OSError):
        return None
    try:
        fcntl.flock(held, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        held.close()
        raise
    except OSError:
        held.close()
        return None
    return held


def put_fresh(file: Path, track: Track, symbols: Collection[str]) -> bytes:
    """Write the engine file with some symbols blank and the rest given; return what it says."""
    try:
        file.parent.mkdir(exist_ok=True)
    except OSError as error:
        raise AutodrillError(
            f"`{file.parent}` can't be made: {error.strerror or error}",
            hint="make the workspace writable, or start one elsewhere",
            exit_code=NOT_YET,
        ) from error
    data = stub_source(track, symbols).encode("utf-8")
    write_text(file, data)
    return data


def first_blank(file: Path, track: Track) -> int | None:
    """Return the line of the first stub in a file, None if there is none."""
    mark = f'raise NotImplementedError("{track.id}: implement'
    try:
        lines = file.read_text(encoding="utf-8-sig").splitlines()
    except (OSError, UnicodeDecodeError):
        return None
    return next((n for n, one in enumerate(lines, 1) if one.lstrip().startswith(mark)), None)


def put_away(workspace: Workspace, file: Path, attempt: int, target: str) -> None:
    """Keep what an attempt has left out of sight, under its number and target.

    Where it can, the file stays in its place as well until a fresh one is whole: a disk may be
    too full for that.
    """
    kept = workspace.folder / ".autodrill" / FOLDER / f"{attempt:03d}-{target}"
    number = 1
    while (kept / file.name).exists():
        number += 1
        kept = kept.with_name(f"{attempt:03d}-{target}-{number}")
    with contextlib.suppress(OSError):  # its text is in the history as well
        kept.mkdir(parents=True, exist_ok=True)
        try:
            if file.is_symlink():
                raise OSError("what is written next would go where it leads")
            os.link(file, kept / file.name)
        except OSError:
            file.rename(kept / file.name)


def read(file: Path) -> bytes:
    """Return what is in a file, nothing where it can't be read."""
    try:
        return file.read_bytes()
    except OSError:
        return b""


def is_of_last_target(
    data: bytes, green: bytes, last: Target, target: Target, track: Track
) -> bool:
    """Tell whether an editor has put back the file of the target before.

    There the new target's symbols are given, so it would be green with nothing written.
    """
    if data == green:
        return True
    reference = track.reference.read_text(encoding="utf-8")
    try:
        saved, before = data.decode("utf-8-sig"), green.decode("utf-8-sig")
        own = [text_of(before, one) for one in last.symbols]
        if own == [text_of(reference, one) for one in last.symbols]:
            return False
        return own == [text_of(saved, one) for one in last.symbols] and all(
            text_of(saved, one) == text_of(reference, one) for one in target.symbols
        )
    except (AutodrillError, UnicodeDecodeError):
        return False
