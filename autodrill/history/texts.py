"""Texts and checks: what was graded or reset, each verdict, and the hints that were shown."""

from __future__ import annotations

import hashlib
import time
import zlib
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from autodrill.errors import NOT_YET, AutodrillError
from autodrill.history.store import Store, Write, key
from autodrill.results import Verdict


@dataclass(frozen=True)
class Kept:
    """A text that a reset has replaced: its number in the history, when, and what it was."""

    snapshot: int
    at: float
    text: bytes


@dataclass(frozen=True)
class Snapshot:
    """A text as it was kept: where it lay, why it was kept, and the verdict on it, if any."""

    number: int
    at: float
    path: str
    reason: str
    verdict: str | None


class History(Store):
    """An open history: texts, checks and hints; use it as a context manager."""

    def use_workspace(self, path: Path, track: str) -> None:
        """Note that a workspace has just been used."""
        self.write(
            "INSERT INTO workspaces VALUES (?, ?, ?) "
            "ON CONFLICT (path) DO UPDATE SET track = excluded.track, used = excluded.used",
            (key(path), track, time.time()),
        )

    def last_workspace(self) -> tuple[Path, str] | None:
        """Return the folder and the track of the workspace that was used last."""
        rows = self.read("SELECT path, track FROM workspaces ORDER BY used DESC LIMIT 1")
        return (Path(rows[0][0]), rows[0][1]) if rows else None

    def keep(self, path: Path, text: bytes, reason: str) -> bool:
        """Keep a text of a file; False if it could not be written to disk."""
        self.transact(lambda write: keep_text(write, path, text, reason))
        return self.saved

    def last_reset(self, path: Path) -> Kept | None:
        """Return the latest reset of a file that was not undone."""
        rows = self.read(
            "SELECT s.id, s.at, t.body FROM snapshots s JOIN texts t ON t.hash = s.hash "
            "WHERE s.path = ? AND s.reason = 'reset' AND s.undone = 0 ORDER BY s.id DESC LIMIT 1",
            (key(path),),
        )
        return Kept(rows[0][0], rows[0][1], _text(rows[0][2])) if rows else None

    def snapshots(self, path: Path, last: int) -> list[Snapshot]:
        """Return the latest texts of a file, the newest first, each with its last verdict."""
        rows = self.read(
            "SELECT s.id, s.at, s.path, s.reason, (SELECT verdict FROM checks c WHERE "
            "c.path = s.path AND c.hash = s.hash ORDER BY c.id DESC LIMIT 1) FROM snapshots s "
            "WHERE s.path = ? ORDER BY s.id DESC LIMIT ?",
            (key(path), last),
        )
        return [Snapshot(*row) for row in rows]

    def text(self, number: int) -> tuple[Snapshot, bytes] | None:
        """Return a kept text by its number, None if there is none of that number."""
        rows = self.read(
            "SELECT s.id, s.at, s.path, s.reason, NULL, t.body FROM snapshots s "
            "JOIN texts t ON t.hash = s.hash WHERE s.id = ?",
            (number,),
        )
        return (Snapshot(*rows[0][:5]), _text(rows[0][5])) if rows else None

    def mark_undone(self, snapshot: int) -> None:
        """Note that a reset has been undone."""
        self.write("UPDATE snapshots SET undone = 1 WHERE id = ?", (snapshot,))

    def add_check(
        self,
        path: Path,
        track: str,
        text: bytes,
        verdict: str,
        seconds: float,
        targets: Mapping[str, tuple[str, str | None]],
    ) -> None:
        """Note one run of the grader: the text, and of each target the verdict and the bug."""

        def add(write: Write) -> None:
            digest, _ = keep_text(write, path, text, "check")
            check = write(
                "INSERT INTO checks (at, path, track, hash, verdict, seconds) "
                "VALUES (?, ?, ?, ?, ?, ?)",
                (time.time(), key(path), track, digest, verdict, seconds),
            ).lastrowid
            for target, (one, bug) in targets.items():
                write("INSERT INTO verdicts VALUES (?, ?, ?, ?)", (check, target, one, bug))

        self.transact(add)

    def last_verdicts(self, path: Path) -> dict[str, Verdict]:
        """Return the latest verdict of each target of a file.

        A check that could not import the file leaves the one before; targets that were never
        graded are left out.
        """
        rows = self.read(
            "SELECT v.target, v.verdict FROM verdicts v JOIN checks c ON c.id = v.check_id "
            "WHERE c.path = ? AND v.verdict != 'error' ORDER BY c.id",
            (key(path),),
        )
        return dict(rows)

    def was_graded_last(self, path: Path, text: bytes | None) -> bool:
        """Tell whether the latest check of a file's targets was of this text, and graded it."""
        rows = self.read(
            "SELECT hash, verdict FROM checks c WHERE path = ? AND EXISTS "
            "(SELECT 1 FROM verdicts v WHERE v.check_id = c.id) ORDER BY id DESC LIMIT 1",
            (key(path),),
        )
        if not rows or text is None:
            return False
        digest, verdict = rows[0]
        return bool(digest == hashlib.sha256(text).hexdigest() and verdict != "error")

    def hint_level(self, path: Path, target: str) -> int:
        """Return the highest level of a target's hints that was shown, 0 for none."""
        rows = self.read(
            "SELECT max(level) FROM hints WHERE path = ? AND target = ?", (key(path), target)
        )
        return int(rows[0][0] or 0) if rows else 0

    def add_hint(self, path: Path, target: str, level: int) -> None:
        """Note that a hint was shown."""
        self.write("INSERT INTO hints VALUES (?, ?, ?, ?)", (key(path), target, level, time.time()))


def keep_text(write: Write, path: Path, text: bytes, reason: str) -> tuple[str, int]:
    """Keep a text; return its hash and its number, which is the old one where nothing is new."""
    digest = hashlib.sha256(text).hexdigest()
    write("INSERT OR IGNORE INTO texts VALUES (?, ?)", (digest, zlib.compress(text)))
    latest = write(
        "SELECT hash, reason, id FROM snapshots WHERE path = ? ORDER BY id DESC LIMIT 1",
        (key(path),),
    ).fetchone()
    if latest is not None and reason == "check" and latest[:2] == (digest, reason):
        return digest, int(latest[2])
    number = write(
        "INSERT INTO snapshots (at, path, hash, reason) VALUES (?, ?, ?, ?)",
        (time.time(), key(path), digest, reason),
    ).lastrowid
    return digest, number or 0


def _text(body: bytes) -> bytes:
    try:
        return zlib.decompress(body)
    except zlib.error as error:
        raise AutodrillError(
            f"the text that was kept is damaged: {error}",
            hint="nothing was changed",
            exit_code=NOT_YET,
        ) from error
