"""The history: one SQLite file with every text that was graded or reset, and every verdict.

A damaged file, or one of a newer version, is set aside under a new name. Where nothing can
be written, the history is kept in memory for this run; `notices` says so in plain words.
"""

from __future__ import annotations

import contextlib
import hashlib
import os
import sqlite3
import time
import zlib
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypeVar

from autodrill.errors import NOT_YET, AutodrillError
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
_DAMAGE = (sqlite3.SQLITE_CORRUPT, sqlite3.SQLITE_NOTADB, sqlite3.SQLITE_ERROR)
"""What SQLite says of a file that it can't make out; the last, that a table is not there."""
_T = TypeVar("_T")


@dataclass(frozen=True)
class Kept:
    """A text that a reset has replaced: its number in the history, when, and what it was."""

    snapshot: int
    at: float
    text: bytes


class History:
    """An open history; use it as a context manager."""

    def __init__(self, file: Path) -> None:
        self.file = file
        self.notices: list[str] = []
        self._in_memory = False
        self._is_new = False
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
            (_key(path), track, time.time()),
        )

    def last_workspace(self) -> tuple[Path, str] | None:
        """Return the folder and the track of the workspace that was used last."""
        rows = self._read("SELECT path, track FROM workspaces ORDER BY used DESC LIMIT 1")
        return (Path(rows[0][0]), rows[0][1]) if rows else None

    def keep(self, path: Path, text: bytes, reason: str) -> bool:
        """Keep a text of a file; False if it could not be written to disk."""
        self._transact(lambda write: _keep(write, path, text, reason))
        return not self._in_memory

    def last_reset(self, path: Path) -> Kept | None:
        """Return the latest reset of a file that was not undone."""
        rows = self._read(
            "SELECT s.id, s.at, t.body FROM snapshots s JOIN texts t ON t.hash = s.hash "
            "WHERE s.path = ? AND s.reason = 'reset' AND s.undone = 0 ORDER BY s.id DESC LIMIT 1",
            (_key(path),),
        )
        return Kept(rows[0][0], rows[0][1], _text(rows[0][2])) if rows else None

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

        def add(write: _Write) -> None:
            digest = _keep(write, path, text, "check")
            check = write(
                "INSERT INTO checks (at, path, track, hash, verdict, seconds) "
                "VALUES (?, ?, ?, ?, ?, ?)",
                (time.time(), _key(path), track, digest, verdict, seconds),
            ).lastrowid
            for target, (one, bug) in targets.items():
                write("INSERT INTO verdicts VALUES (?, ?, ?, ?)", (check, target, one, bug))

        self._transact(add)

    def last_verdicts(self, path: Path) -> dict[str, Verdict]:
        """Return the latest verdict of each target of a file, those never graded left out."""
        rows = self._read(
            "SELECT v.target, v.verdict FROM verdicts v JOIN checks c ON c.id = v.check_id "
            "WHERE c.path = ? AND v.verdict != 'blocked' ORDER BY c.id",
            (_key(path),),
        )
        return dict(rows)

    def hint_level(self, path: Path, target: str) -> int:
        """Return the highest level of a target's hints that was shown, 0 for none."""
        rows = self._read(
            "SELECT max(level) FROM hints WHERE path = ? AND target = ?", (_key(path), target)
        )
        return int(rows[0][0] or 0) if rows else 0

    def add_hint(self, path: Path, target: str, level: int) -> None:
        """Note that a hint was shown."""
        self._write(
            "INSERT INTO hints VALUES (?, ?, ?, ?)", (_key(path), target, level, time.time())
        )

    def _open(self) -> sqlite3.Connection:
        try:
            self.file.parent.mkdir(parents=True, exist_ok=True)
        except OSError as error:
            return self._without(error.strerror or str(error))
        self._opened = _identity(self.file)
        try:
            return _connect(self.file)
        except (_TooNew, sqlite3.Error) as error:
            return self._recovered(error)

    def _recovered(self, error: Exception) -> sqlite3.Connection:
        """Go on after an error: with a new file where the old one is no good, or with none."""
        why = _why_no_good(error)
        if why is None or self._is_new:
            return self._without(str(error))
        self._is_new = True
        try:
            with _alone(self.file):
                if _identity(self.file) == self._opened:  # else another process has just done it
                    kept = _set_aside(self.file)
                    self.notices.append(
                        f"the history {why}; it was set aside as `{kept}` and a new one begun"
                    )
                return _connect(self.file)
        except (_TooNew, OSError, sqlite3.Error) as second:
            return self._without(f"it {why}, and {second}")

    def _without(self, why: str) -> sqlite3.Connection:
        self._in_memory = True
        self.notices.append(f"progress is not saved: `{self.file}` can't be used ({why})")
        return _connect(None)

    def _transact(self, work: Callable[[_Write], _T]) -> _T:
        """Write in one transaction; a disk that fails costs the history, not the run."""

        def once() -> _T:
            with self._db:
                self._db.execute("BEGIN IMMEDIATE")
                return work(self._db.execute)

        return self._surviving(once)

    def _write(self, statement: str, values: tuple[object, ...]) -> None:
        self._transact(lambda write: write(statement, values))

    def _read(self, statement: str, values: tuple[object, ...] = ()) -> list[tuple[Any, ...]]:
        return self._surviving(lambda: self._db.execute(statement, values).fetchall())

    def _surviving(self, work: Callable[[], _T]) -> _T:
        """Do what is asked, again on a new file or in memory where the file is no good."""
        while True:
            try:
                return work()
            except sqlite3.DatabaseError as error:
                if self._in_memory or isinstance(error, sqlite3.ProgrammingError):
                    raise
                self._db.close()
                self._db = self._recovered(error)


_Write = Callable[..., sqlite3.Cursor]


class _TooNew(Exception):
    """The file was written by a newer version."""


def _key(path: Path) -> str:
    """Write a path as text; SQLite takes none that is not UTF-8, as a path may be."""
    return str(path).encode("utf-8", "backslashreplace").decode()


def _keep(write: _Write, path: Path, text: bytes, reason: str) -> str:
    digest = hashlib.sha256(text).hexdigest()
    write("INSERT OR IGNORE INTO texts VALUES (?, ?)", (digest, zlib.compress(text)))
    latest = write(
        "SELECT hash, reason FROM snapshots WHERE path = ? ORDER BY id DESC LIMIT 1", (_key(path),)
    ).fetchone()
    if latest != (digest, reason) or reason != "check":
        write(
            "INSERT INTO snapshots (at, path, hash, reason) VALUES (?, ?, ?, ?)",
            (time.time(), _key(path), digest, reason),
        )
    return digest


def _text(body: bytes) -> bytes:
    try:
        return zlib.decompress(body)
    except zlib.error as error:
        raise AutodrillError(
            f"the text that was kept is damaged: {error}",
            hint="nothing was changed",
            exit_code=NOT_YET,
        ) from error


def _why_no_good(error: Exception) -> str | None:
    """Say what is wrong with the file, None where it is the disk that can't be used."""
    if isinstance(error, _TooNew):
        return "is of a newer version of autodrill"
    if isinstance(error, sqlite3.Error) and error.sqlite_errorcode & 0xFF in _DAMAGE:
        return "is damaged"
    return None


def _identity(file: Path) -> tuple[int, int] | None:
    with contextlib.suppress(OSError):
        found = file.stat()
        return found.st_dev, found.st_ino
    return None


def _set_aside(file: Path) -> Path:
    """Give a file and what SQLite keeps beside it another name, and return that."""
    stamp, number = time.strftime("%Y%m%d-%H%M%S"), 1
    kept = file.with_name(f"history.{stamp}.set-aside.db")
    while os.path.lexists(kept):
        number += 1
        kept = file.with_name(f"history.{stamp}-{number}.set-aside.db")
    for suffix in ("-wal", "-shm", ""):  # the latest rows may be in the first
        with contextlib.suppress(FileNotFoundError):
            Path(f"{file}{suffix}").rename(f"{kept}{suffix}")
    return kept


@contextlib.contextmanager
def _alone(file: Path) -> Iterator[None]:
    """Keep other processes from doing the same; what is left by one that died is taken over."""
    lock = file.with_name("history.lock")
    end = time.monotonic() + _BUSY_S
    while time.monotonic() < end:
        try:
            lock.touch(exist_ok=False)
            break
        except FileExistsError:
            time.sleep(0.02)
    try:
        yield
    finally:
        lock.unlink(missing_ok=True)


def _connect(file: Path | None) -> sqlite3.Connection:
    """Open a file, or a history in memory, and bring its schema up to date.

    Two processes that make a new file at once get in each other's way where SQLite does not
    wait by itself, so this waits.
    """
    end = time.monotonic() + _BUSY_S
    while True:
        connection = sqlite3.connect(
            file or ":memory:", timeout=_BUSY_S, isolation_level=None, check_same_thread=False
        )
        try:
            _set_up(connection, file)
            return connection
        except BaseException as error:
            connection.close()
            is_busy = getattr(error, "sqlite_errorcode", None) == sqlite3.SQLITE_BUSY
            if not is_busy or time.monotonic() > end:
                raise
        time.sleep(0.02)


def _set_up(connection: sqlite3.Connection, file: Path | None) -> None:
    (version,) = connection.execute("PRAGMA user_version").fetchone()
    if version > VERSION:
        raise _TooNew
    if file is not None:
        connection.execute("PRAGMA journal_mode = WAL")
        connection.execute("PRAGMA synchronous = NORMAL")
    if version < VERSION:
        _migrate(connection)


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
