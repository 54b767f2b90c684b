"""The history: one SQLite file with every text that was graded or reset, and every verdict.

A damaged file, or one of a newer version, is set aside under a new name. Where nothing can
be written, the history is kept in memory for this run; `notices` says so in plain words.
"""

from __future__ import annotations

import contextlib
import hashlib
import sqlite3
import time
import zlib
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any

from autodrill.errors import AutodrillError
from autodrill.results import Verdict

VERSION = 1

_SCHEMA_1 = """
CREATE TABLE workspaces (path TEXT PRIMARY KEY, track TEXT NOT NULL, used REAL NOT NULL);
CREATE TABLE texts (hash TEXT PRIMARY KEY, body BLOB NOT NULL);
CREATE TABLE snapshots (
    id INTEGER PRIMARY KEY, at REAL NOT NULL, path TEXT NOT NULL, hash TEXT NOT NULL,
    reason TEXT NOT NULL, undone INTEGER NOT NULL DEFAULT 0
);
CREATE INDEX snapshots_by_path ON snapshots (path, id);
CREATE TABLE checks (
    id INTEGER PRIMARY KEY, at REAL NOT NULL, path TEXT NOT NULL, track TEXT NOT NULL,
    hash TEXT NOT NULL, verdict TEXT NOT NULL, seconds REAL NOT NULL
);
CREATE TABLE verdicts (
    check_id INTEGER NOT NULL REFERENCES checks (id), target TEXT NOT NULL,
    verdict TEXT NOT NULL, bug TEXT, PRIMARY KEY (check_id, target)
);
CREATE INDEX checks_by_path ON checks (path, id);
CREATE TABLE hints (
    path TEXT NOT NULL, target TEXT NOT NULL, level INTEGER NOT NULL, at REAL NOT NULL
);
"""
_MIGRATIONS = (_SCHEMA_1,)
"""What brings a file from version i to version i + 1."""

_BUSY_S = 5.0


class History:
    """An open history; use it as a context manager."""

    def __init__(self, file: Path) -> None:
        self.file = file
        self.notices: list[str] = []
        self._db = self._open()

    def __enter__(self) -> History:
        return self

    def __exit__(self, *_: object) -> None:
        self._db.close()

    @property
    def saved(self) -> bool:
        """Tell whether what is written here will still be there tomorrow."""
        return not self._in_memory

    def use_workspace(self, path: Path, track: str) -> None:
        """Note that a workspace has just been used."""
        self._write(
            "INSERT INTO workspaces VALUES (?, ?, ?) "
            "ON CONFLICT (path) DO UPDATE SET track = excluded.track, used = excluded.used",
            (str(path), track, time.time()),
        )

    def last_workspace(self) -> tuple[Path, str] | None:
        """Return the folder and the track of the workspace that was used last."""
        rows = self._read("SELECT path, track FROM workspaces ORDER BY used DESC LIMIT 1")
        return (Path(rows[0][0]), rows[0][1]) if rows else None

    def keep(self, path: Path, text: bytes, reason: str) -> bool:
        """Keep a text of a file; False if it could not be written to disk."""
        with self._transaction() as write:
            self._keep(write, path, text, reason)
        return not self._in_memory

    def last_reset(self, path: Path) -> tuple[int, bytes] | None:
        """Return the number and the text of the latest reset that was not undone."""
        rows = self._read(
            "SELECT s.id, t.body FROM snapshots s JOIN texts t ON t.hash = s.hash "
            "WHERE s.path = ? AND s.reason = 'reset' AND s.undone = 0 ORDER BY s.id DESC LIMIT 1",
            (str(path),),
        )
        return (rows[0][0], zlib.decompress(rows[0][1])) if rows else None

    def mark_undone(self, snapshot: int) -> None:
        """Note that a reset has been undone."""
        self._write("UPDATE snapshots SET undone = 1 WHERE id = ?", (snapshot,))

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
        with self._transaction() as write:
            digest = self._keep(write, path, text, "check")
            check = write(
                "INSERT INTO checks (at, path, track, hash, verdict, seconds) "
                "VALUES (?, ?, ?, ?, ?, ?)",
                (time.time(), str(path), track, digest, verdict, seconds),
            ).lastrowid
            for target, (one, bug) in targets.items():
                write("INSERT INTO verdicts VALUES (?, ?, ?, ?)", (check, target, one, bug))

    def last_verdicts(self, path: Path) -> dict[str, Verdict]:
        """Return the latest verdict of each target of a file, those never graded left out."""
        rows = self._read(
            "SELECT v.target, v.verdict FROM verdicts v JOIN checks c ON c.id = v.check_id "
            "WHERE c.path = ? AND v.verdict != 'blocked' ORDER BY c.id",
            (str(path),),
        )
        return dict(rows)

    def hint_level(self, path: Path, target: str) -> int:
        """Return the highest level of a target's hints that was shown, 0 for none."""
        rows = self._read(
            "SELECT max(level) FROM hints WHERE path = ? AND target = ?", (str(path), target)
        )
        return int(rows[0][0] or 0) if rows else 0

    def add_hint(self, path: Path, target: str, level: int) -> None:
        """Note that a hint was shown."""
        self._write(
            "INSERT INTO hints VALUES (?, ?, ?, ?)", (str(path), target, level, time.time())
        )

    def _keep(self, write: _Write, path: Path, text: bytes, reason: str) -> str:
        digest = hashlib.sha256(text).hexdigest()
        write("INSERT OR IGNORE INTO texts VALUES (?, ?)", (digest, zlib.compress(text)))
        latest = write(
            "SELECT hash, reason FROM snapshots WHERE path = ? ORDER BY id DESC LIMIT 1",
            (str(path),),
        ).fetchone()
        if latest != (digest, reason) or reason != "check":
            write(
                "INSERT INTO snapshots (at, path, hash, reason) VALUES (?, ?, ?, ?)",
                (time.time(), str(path), digest, reason),
            )
        return digest

    def _open(self) -> sqlite3.Connection:
        self._in_memory = False
        try:
            self.file.parent.mkdir(parents=True, exist_ok=True)
            return _connect(self.file)
        except _TooNew:
            return self._set_aside("is of a newer version of autodrill")
        except sqlite3.OperationalError as error:
            return self._without(str(error))
        except sqlite3.DatabaseError:
            return self._set_aside("is damaged")
        except OSError as error:
            return self._without(error.strerror or str(error))

    def _set_aside(self, why: str) -> sqlite3.Connection:
        kept = self.file.with_name(f"history.{time.strftime('%Y%m%d-%H%M%S')}.set-aside.db")
        try:
            self.file.rename(kept)
            for suffix in ("-wal", "-shm"):
                Path(f"{self.file}{suffix}").unlink(missing_ok=True)
            connection = _connect(self.file)
        except (OSError, sqlite3.Error) as error:
            return self._without(f"the history {why}, and {error}")
        self.notices.append(f"the history {why}; it was set aside as `{kept}` and a new one begun")
        return connection

    def _without(self, why: str) -> sqlite3.Connection:
        self._in_memory = True
        self.notices.append(f"progress is not saved: `{self.file}` can't be written ({why})")
        return _connect(None)

    @contextlib.contextmanager
    def _transaction(self) -> Iterator[_Write]:
        """Write in one transaction; a disk that fails costs the history, not the run."""
        try:
            with self._db:
                self._db.execute("BEGIN IMMEDIATE")
                yield self._db.execute
        except sqlite3.Error as error:
            if self._in_memory:
                raise
            self._db.close()
            self._db = self._without(str(error))

    def _write(self, statement: str, values: tuple[object, ...]) -> None:
        with self._transaction() as write:
            write(statement, values)

    def _read(self, statement: str, values: tuple[object, ...] = ()) -> list[tuple[Any, ...]]:
        try:
            return self._db.execute(statement, values).fetchall()
        except sqlite3.Error as error:
            raise AutodrillError(
                f"the history can't be read: {error}", hint=f"move `{self.file}` away and go on"
            ) from error


_Write = Callable[..., sqlite3.Cursor]


class _TooNew(Exception):
    """The file was written by a newer version."""


def _connect(file: Path | None) -> sqlite3.Connection:
    """Open a file, or a history in memory, and bring its schema up to date."""
    connection = sqlite3.connect(
        file or ":memory:", timeout=_BUSY_S, isolation_level=None, check_same_thread=False
    )
    try:
        (version,) = connection.execute("PRAGMA user_version").fetchone()
        if version > VERSION:
            raise _TooNew
        if file is not None:
            connection.execute("PRAGMA journal_mode = WAL")
            connection.execute("PRAGMA synchronous = NORMAL")
        if version < VERSION:
            _migrate(connection)
    except BaseException:
        connection.close()
        raise
    return connection


def _migrate(connection: sqlite3.Connection) -> None:
    """Run the migrations that are missing, seen anew under the lock: two may start at once."""
    connection.execute("BEGIN IMMEDIATE")
    try:
        (version,) = connection.execute("PRAGMA user_version").fetchone()
        for script in _MIGRATIONS[version:]:
            for statement in filter(str.strip, script.split(";")):
                connection.execute(statement)
        connection.execute(f"PRAGMA user_version = {VERSION}")
        connection.execute("COMMIT")
    except BaseException:
        connection.execute("ROLLBACK")
        raise
