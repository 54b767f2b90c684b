"""What the history says: attempts, kept texts, and what becomes of them."""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import Path

from autodrill.errors import NOT_YET, AutodrillError
from autodrill.history import (
    Answer,
    Answers,
    Attempt,
    Attempts,
    History,
    Save,
    Snapshot,
    Split,
)
from autodrill.places import history_file
from autodrill.practice.edit import Changed, replace_text
from autodrill.practice.locate import locate
from autodrill.workspace import find_workspace

_KEPT = 10


@dataclass(frozen=True)
class Listed:
    """The latest attempts, and the latest texts of the workspace's own file."""

    attempts: tuple[Attempt, ...]
    texts: tuple[Snapshot, ...]
    notices: tuple[str, ...]


@dataclass(frozen=True)
class Record:
    """One attempt with all that was kept of it, or one text; `text` is what was written.

    `answers` are those of an attempt at the whiteboard, `seed` is that of its graph.
    """

    attempt: Attempt | None
    splits: tuple[Split, ...]
    saves: tuple[Save, ...]
    snapshot: Snapshot | None
    text: bytes
    answers: tuple[Answer, ...] = ()
    seed: int | None = None


def list_history(last: int) -> Listed:
    """Return what the history holds of the workspace here, or all attempts where there is none."""
    workspace = find_workspace(Path.cwd())
    with History(history_file()) as history:
        track = workspace.track.id if workspace else None
        attempts = Attempts(history).latest(track, last)
        texts = history.snapshots(workspace.engine_file, _KEPT) if workspace else []
        return Listed(tuple(attempts), tuple(texts), tuple(history.notices))


def show_record(name: str) -> Record:
    """Return an attempt by its number, or a text by its number with a `t` in front."""
    with History(history_file()) as history:
        return _record(history, name)


def restore(name: str) -> Changed:
    """Put a text of the history in the place of the workspace's file, which is kept for undo."""
    subject = locate()
    with History(history_file()) as history:
        record = _record(history, name)
        if record.snapshot is None:
            raise AutodrillError(
                f"nothing was saved in attempt {name}", "`autodrill history` lists the others"
            )
        lay = Path(record.snapshot.path)
        is_other = record.attempt is not None and record.attempt.track != subject.track.id
        if is_other or lay.suffix != subject.file.suffix:
            raise AutodrillError(
                f"`{name}` is of another track than this workspace",
                hint="`autodrill history show` prints it",
            )
        return replace_text(history, subject.file, record.text)


def _record(history: History, name: str) -> Record:
    found = re.fullmatch(r"(t?)(\d{1,15})", name)
    if found is None:
        raise AutodrillError(
            f"`{name}` is no number of the history",
            hint="attempts are numbered 1, 2, …, and texts t1, t2, …: `autodrill history`",
        )
    number = int(found[2])
    if found[1]:
        kept = history.text(number)
        if kept is not None:
            return Record(None, (), (), *kept)
    else:
        attempts = Attempts(history)
        attempt = attempts.attempt(number)
        if attempt is not None:
            saves = tuple(attempts.saves(number))
            kept = history.text(saves[-1].snapshot) if saves else None
            snapshot, text = kept if kept is not None else (None, b"")
            splits, answers = tuple(attempts.splits(number)), Answers(history)
            given, seed = tuple(answers.of(number)), answers.seed(number)
            return Record(attempt, splits, saves, snapshot, text, given, seed)
    raise AutodrillError(
        f"the history has no `{name}`",
        hint="`autodrill history` lists what there is",
        exit_code=NOT_YET,
    )
