"""What there is: tracks, paths, and the state of the installation."""

from __future__ import annotations

import importlib.metadata
import importlib.util
import os
import sys
import tempfile
import time
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from autodrill import __version__
from autodrill.catalog import Track, content_root, load_track, track_ids
from autodrill.errors import AutodrillError
from autodrill.places import data_folder, history_file
from autodrill.workspace import find_workspace

State = Literal["ok", "missing", "optional"]

_NEEDED = ("numpy", "pytest", "typer", "rich", "platformdirs", "psutil", "watchfiles", "fsrs")
_OPTIONAL = (
    ("torch", "`check --torch`, `agree`, `bench`"),
    ("matplotlib", "a picture"),
    ("genanki", "`quiz --export`"),
)


@dataclass(frozen=True)
class Finding:
    """One line of `doctor`: what was looked at, what was found, and whether that is well."""

    name: str
    text: str
    state: State
    hint: str = ""


def tracks() -> list[Track]:
    """Return every track."""
    return [load_track(one) for one in track_ids()]


def where() -> list[tuple[str, str]]:
    """Return every path that autodrill reads or writes, each with what it is."""
    try:
        workspace = find_workspace(Path.cwd())
    except (AutodrillError, OSError):
        workspace = None
    return [
        ("workspace", str(workspace.folder) if workspace else "none here or above"),
        ("engine file", str(workspace.engine_file) if workspace else "none"),
        ("history", str(history_file())),
        ("tracks", str(content_root() / "drills")),
        ("references", str(content_root() / "reference")),
        ("program", str(Path(__file__).resolve().parents[1])),
        ("python", sys.executable),
    ]


def doctor() -> list[Finding]:
    """Look at everything that a check needs, a real worker included."""
    findings = [Finding("autodrill", __version__, "ok"), _python()]
    for name in _NEEDED:
        version = _version(name)
        hint = "" if version else f"`pip install {name}`"
        findings.append(Finding(name, version or "missing", "ok" if version else "missing", hint))
    for name, purpose in _OPTIONAL:
        version = _version(name)
        text = version or f"not installed; needed for {purpose} only"
        hint = "" if version else f"`pip install {name}`"
        findings.append(Finding(name, text, "ok" if version else "optional", hint))
    return [*findings, *_content(), _data(), _worker()]


def _python() -> Finding:
    version = ".".join(map(str, sys.version_info[:3]))
    return Finding("python", version, "ok")


def _version(name: str) -> str | None:
    try:
        return importlib.metadata.version(name)
    except importlib.metadata.PackageNotFoundError:
        return None


def _content() -> list[Finding]:
    if not track_ids():
        text = f"no tracks in `{content_root()}`"
        return [Finding("tracks", text, "missing", "reinstall autodrill")]
    findings = []
    for track_id in track_ids():
        try:
            track = load_track(track_id)
        except AutodrillError as error:
            findings.append(Finding(track_id, error.message, "missing", "reinstall autodrill"))
        else:
            findings.append(Finding(track_id, f"{len(track.targets)} targets", "ok"))
    return findings


def _data() -> Finding:
    folder = data_folder()
    try:
        folder.mkdir(parents=True, exist_ok=True)
        with tempfile.NamedTemporaryFile(dir=folder):
            pass
    except OSError as error:
        text = f"`{folder}` can't be written: {error.strerror or error}; progress is not saved"
        return Finding(
            "history", text, "optional", "set AUTODRILL_HOME to a folder you can write to"
        )
    return Finding("history", f"`{folder}` can be written", "ok")


def _worker() -> Finding:
    """Start a real worker and grade nothing with it."""
    from autodrill.engines.worker import EngineFile, WorkerEngine
    from autodrill.worker.messages import Loaded

    started = time.perf_counter()
    scenarios = load_track(track_ids()[0]).scenarios if track_ids() else (Path(os.devnull),)
    engine = WorkerEngine(EngineFile(Path("nothing.py"), "", (), scenarios))
    try:
        answer = engine.load()
    except AutodrillError as error:
        return Finding("worker", error.message, "missing", "see that Python can start processes")
    finally:
        engine.close()
    if isinstance(answer, Loaded) and answer.raised is None and answer.syntax is None:
        return Finding("worker", f"answers after {time.perf_counter() - started:.2f} s", "ok")
    text = getattr(answer, "message", "does not answer")
    return Finding("worker", text, "missing", "see that Python can start processes here")
