"""Workspaces: the folder that `start` makes, its marker, and the learner's file in it."""

from __future__ import annotations

import contextlib
import os
import secrets
import shutil
import stat
import sys
import time
import tomllib
from collections.abc import Collection
from dataclasses import dataclass
from pathlib import Path

from autodrill import __version__
from autodrill.catalog import Track, load_track, track_ids
from autodrill.errors import NOT_YET, AutodrillError, broken_track
from autodrill.stubs import blank

MARKER = Path(".autodrill") / "workspace.toml"
FORMAT = 1

_CONFTEST = '''"""Let plain pytest run the graders: `pytest NAME_OF_THIS_FOLDER` from the one above.

`--impl=solution` grades the reference instead of {engine_file}.
"""

from autodrill.pytest_plugin import *  # noqa: F403
'''

_MARKER = """# Made by autodrill; it says which track this folder is for.
format = {format}
track = "{track}"
autodrill = "{version}"
created = "{created}"
"""


@dataclass(frozen=True)
class Workspace:
    """A folder with a marker; `engine_file` is the one file that the learner edits."""

    folder: Path
    track: Track
    engine_file: Path


def find_workspace(start: Path) -> Workspace | None:
    """Find the workspace that a folder lies in, None if it lies in none.

    Raises
    ------
    AutodrillError
        If the marker is damaged, of a newer version, or names a track that is not there.
    """
    for folder in (start, *start.parents):
        if os.path.lexists(folder / MARKER):
            return _read(folder, folder / MARKER)
    return None


def create_workspace(track: Track, folder: Path, only: Collection[str] = ()) -> Workspace:
    """Make a workspace that was not there: stubs, guide, graders, marker.

    Parameters
    ----------
    track, folder
        What to practise, and where; the folder's parents are made.
    only : collection of str
        The symbols to blank; empty for all of the track.

    Raises
    ------
    AutodrillError
        If there is something at `folder` already, or it can't be written.
    """
    if os.path.lexists(folder):
        raise AutodrillError(
            f"`{folder}` exists already; nothing was changed", _use_instead(folder)
        )
    contents = _contents(track, only)
    built = _temporary(folder)
    try:
        try:
            folder.parent.mkdir(parents=True, exist_ok=True)
            built.mkdir()
            for name, data in contents.items():
                (built / name).parent.mkdir(exist_ok=True)
                (built / name).write_bytes(data)
            built.rename(folder)
        except BaseException:
            shutil.rmtree(built, ignore_errors=True)
            raise
    except OSError as error:
        raise AutodrillError(
            f"the workspace `{folder}` can't be made: {error.strerror or error}",
            hint=f"choose another folder: `autodrill start {track.id} FOLDER`",
            exit_code=NOT_YET,
        ) from error
    return Workspace(folder, track, folder / track.engine_file)


def stub_source(track: Track, only: Collection[str] = ()) -> str:
    """Return the text of a track's engine file with its symbols, or only some, blanked."""
    reference = track.reference.read_text(encoding="utf-8")
    return blank(reference, only or track.symbols, track.id, track.keep, track.bodies)


def write_text(path: Path, data: bytes) -> None:
    """Put new content at a path so that it is the old or the new one at every moment.

    A symbolic link stays one: the file that it leads to is replaced.
    """
    target = Path(os.path.realpath(path))
    temporary = _temporary(target)
    try:
        try:
            with open(temporary, "xb") as stream:
                stream.write(data)
                stream.flush()
                os.fsync(stream.fileno())
            with contextlib.suppress(OSError):
                temporary.chmod(stat.S_IMODE(target.stat().st_mode))
            temporary.replace(target)
        except BaseException:
            with contextlib.suppress(OSError):
                temporary.unlink(missing_ok=True)
            raise
    except OSError as error:
        raise AutodrillError(
            f"`{path}` can't be written: {error.strerror or error}; it is as it was",
            hint="free some space, or make the folder writable",
            exit_code=NOT_YET,
        ) from error


def shadowing_files(folder: Path, expected: Collection[str]) -> list[str]:
    """Name the files beside the engine file that would hide a module, were they imported."""
    hidden = sys.stdlib_module_names | {"numpy", "pytest", "torch", "sitecustomize"}
    try:
        entries = sorted(os.scandir(folder), key=lambda entry: entry.name)
    except OSError:
        return []
    return [
        entry.name
        for entry in entries
        if entry.name not in expected
        and entry.name.partition(".")[0] in hidden
        and (entry.name.endswith(".py") or (entry.is_dir() and "." not in entry.name))
    ]


def _temporary(path: Path) -> Path:
    """Return a name beside a path, on the same disk, for what is to take its place."""
    return path.with_name(f".autodrill-{secrets.token_hex(8)}.partial")


def _contents(track: Track, only: Collection[str]) -> dict[Path, bytes]:
    """Return every file of a new workspace; one that is missing here is our fault."""
    texts = {
        Path(track.engine_file): stub_source(track, only),
        Path("conftest.py"): _CONFTEST.format(engine_file=track.engine_file),
        MARKER: _MARKER.format(
            format=FORMAT,
            track=track.id,
            version=__version__,
            created=time.strftime("%Y-%m-%dT%H:%M:%S%z"),
        ),
    }
    files = (*track.tests, *track.strict_tests, *track.scenarios)
    try:
        copied = {file.relative_to(track.folder): file.read_bytes() for file in files}
        copied[Path("README.md")] = b"\n".join(file.read_bytes() for file in track.guides)
    except OSError as error:
        raise broken_track(f"`{error.filename}` of the track `{track.id}` is missing") from error
    return {name: text.encode("utf-8") for name, text in texts.items()} | copied


def _read(folder: Path, marker: Path) -> Workspace:
    try:
        data = tomllib.loads(marker.read_text(encoding="utf-8"))
    except (OSError, ValueError) as error:
        raise _damaged(marker, f"can't be read: {error}") from error
    version, track_id = data.get("format"), data.get("track")
    if type(version) is not int or version < 1 or not isinstance(track_id, str):
        raise _damaged(marker, "does not say its format and its track")
    if version > FORMAT:
        raise AutodrillError(
            f"`{folder}` was made by a newer autodrill",
            hint="upgrade autodrill; nothing was touched",
        )
    if track_id not in track_ids():
        raise AutodrillError(
            f"`{folder}` is for the track `{track_id}`, which this autodrill does not have",
            hint="`autodrill tracks` lists the ones it has; nothing was touched",
        )
    track = load_track(track_id)
    return Workspace(folder, track, folder / track.engine_file)


def _damaged(marker: Path, why: str) -> AutodrillError:
    return AutodrillError(
        f"the marker `{marker}` {why}",
        hint="your file is untouched; start a new workspace and copy your file into it, "
        "or grade it as it is with `autodrill check --file FILE`",
    )


def _use_instead(folder: Path) -> str:
    if (folder / MARKER).is_file():
        return (
            f"it is a workspace: `cd {folder}` and `autodrill check`, "
            "or `autodrill reset` to blank it again"
        )
    return "name a folder that does not exist yet: `autodrill start TRACK FOLDER`"
