"""The one SQLite file: opened, brought up to date, and survived where it is no good.

A damaged file, or one of a newer version, is set aside under a new name. Where nothing can
be written, the history is kept in memory for this run; `notices` says so in plain words.
"""

from __future__ import annotations

import contextlib
import os
import sqlite3
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, Self, TypeVar

from autodrill.history.schema import MIGRATIONS, VERSION

_BUSY_S = 5.0
_DAMAGE = (sqlite3.SQLITE_CORRUPT, sqlite3.SQLITE_NOTADB, sqlite3.SQLITE_ERROR)
"""What SQLite says of a file that it can't make out; the last, that a table is not there."""
_T = TypeVar("_T")

Write = Callable[..., sqlite3.Cursor]


class Store:
    """An open file of rows; use it as a context manager."""

    def __init__(self, file: Path) -> None:
        self.file = file
        self.notices: list[str] = []
        self._in_memory = False
        self._is_new = False
        self._held: list[Callable[[Write], object]] | None = None
        self._db = self._open()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self._db.close()

    @property
    def saved(self) -> bool:
        """Tell whether what is written here will still be there tomorrow."""
        return not self._in_memory

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

    def transact(self, work: Callable[[Write], _T]) -> _T:
        """Write in one transaction; a disk that fails costs the history, not the run."""

        def once() -> _T:
            with self._db:
                self._db.execute("BEGIN IMMEDIATE")
                return work(self._db.execute)

        return self._surviving(once)

    def put(self, work: Callable[[Write], object]) -> None:
        """Write in a transaction: one of its own or, within `together`, the common one."""
        if self._held is None:
            self.transact(work)
        else:
            self._held.append(work)

    @contextlib.contextmanager
    def together(self) -> Iterator[None]:
        """Write all that is put within at its end, in one transaction: all of it or nothing."""
        held = self._held = []
        try:
            yield
        finally:
            self._held = None
        self.transact(lambda write: [work(write) for work in held])

    def write(self, statement: str, values: tuple[object, ...]) -> None:
        """Put one statement."""
        self.put(lambda write: write(statement, values))

    def read(self, statement: str, values: tuple[object, ...] = ()) -> list[tuple[Any, ...]]:
        """Return the rows of a query."""
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


class _TooNew(Exception):
    """The file was written by a newer version."""


def key(path: Path) -> str:
    """Write a path as text; SQLite takes none that is not UTF-8, as a path may be."""
    return str(path).encode("utf-8", "backslashreplace").decode()


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
    with connection:
        connection.execute("BEGIN IMMEDIATE")
        (version,) = connection.execute("PRAGMA user_version").fetchone()
        for script in MIGRATIONS[version:]:
            for statement in filter(str.strip, script.split(";")):
                connection.execute(statement)
        connection.execute(f"PRAGMA user_version = {VERSION}")
