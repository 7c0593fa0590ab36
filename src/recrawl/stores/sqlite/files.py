"""The file of a store: made whole or not at all, recognised, opened, and held by one writer."""

from __future__ import annotations

import fcntl
import os
import secrets
import sqlite3
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import Any

import numpy as np

from recrawl.ports import StoreBusy, StoreError
from recrawl.stores.sqlite.migrations import Step, apply, version_of

APPLICATION_ID = 0x72635231  # 'rcR1': tells our files from other SQLite files
BUSY = 0.25  # seconds that SQLite itself waits for a lock; longer waits are ours, with jitter
BUSY_READING = 10.0  # readers are only ever held up while a log is recovered after a crash
CACHE_KIB = 262_144

_plain: Callable[[Any], Any] = np.generic.item
for _kind in (np.int64, np.int32, np.int16, np.uint8, np.uint16, np.uint32, np.bool_, np.float32):
    sqlite3.register_adapter(_kind, _plain)  # what an array held may be written


def connect(path: Path, mode: str) -> sqlite3.Connection:
    """A connection in autocommit; `mode` is SQLite's: ro, rw (never creates) or rwc."""
    return sqlite3.connect(
        f"{path.resolve().as_uri()}?mode={mode}",
        uri=True,
        isolation_level=None,
        timeout=BUSY_READING if mode == "ro" else BUSY,
        check_same_thread=False,
    )


def prepare_writer(connection: sqlite3.Connection) -> None:
    """Settings of the connection that writes: durable at each commit, checkpoints elsewhere."""
    connection.execute("PRAGMA synchronous=FULL")
    connection.execute("PRAGMA wal_autocheckpoint=0")
    connection.execute(f"PRAGMA cache_size=-{CACHE_KIB}")


def make(path: Path, steps: list[Step]) -> None:
    """Make an empty store at `path`, unless one is there.

    It is built under another name, synced, and linked into place: whatever happens, `path` never
    names half a store, and of many that create at once one wins and the others find it.
    Raises StoreError where the log of another store lies: SQLite would replay it into this one.
    """
    log = Path(f"{path.resolve()}-wal")
    if log.exists() and log.stat().st_size and not path.exists():
        raise StoreError(
            f"{path} is missing, but its log {log} is there: the store was moved or deleted "
            "without it. Put the file back beside it; only if none is wanted, delete the log"
        )
    new = path.with_name(f"{path.name}.{secrets.token_hex(4)}.new")
    try:
        connection = connect(new, "rwc")
        try:
            connection.execute("PRAGMA journal_mode=WAL")
            connection.execute(f"PRAGMA application_id={APPLICATION_ID}")
            apply(connection, steps)
        finally:
            connection.close()
        sync(new)
        _put_in_place(new, path)
    except FileExistsError:
        pass  # another process was faster: its store is as good
    finally:
        for leftover in (new, Path(f"{new}-wal"), Path(f"{new}-shm")):
            leftover.unlink(missing_ok=True)
    sync(path.parent)


def _put_in_place(new: Path, path: Path) -> None:
    """Give a finished file its name. Raises FileExistsError if the name is taken."""
    try:
        os.link(new, path)
    except FileExistsError:
        raise
    except OSError:  # a file system without hard links
        if path.exists():
            raise FileExistsError(path) from None
        new.rename(path)


def recognise(path: Path, connection: sqlite3.Connection, newest: int) -> int:
    """The schema version of the store behind `connection`. Raises StoreError if it is none, or
    of a newer program; sqlite3.Error if it can't be read.
    """
    (found,) = connection.execute("PRAGMA application_id").fetchone()
    version = version_of(connection)
    if found != APPLICATION_ID or version < 1:
        raise StoreError(f"{path} is an SQLite file, but not a recrawl store; choose another path")
    _require_whole(path, connection)
    if version > newest:
        raise StoreError(
            f"{path} was written by a newer recrawl (its schema is {version}, this program knows "
            f"up to {newest}); upgrade recrawl to use it"
        )
    return version


def _require_whole(path: Path, connection: sqlite3.Connection) -> None:
    """Raises StoreError for a file that is shorter than it says. (SQLite would notice when it
    came to a page that is missing; with a log beside it, the missing pages may be in there.)
    """
    (size,) = connection.execute(
        "SELECT page_count * page_size FROM pragma_page_count, pragma_page_size"
    ).fetchone()
    log = Path(f"{path.resolve()}-wal")
    if log.exists() and log.stat().st_size:
        return
    if path.stat().st_size < size:
        raise StoreError(
            f"{path} is cut short: {path.stat().st_size} of {size} bytes are there. Put a backup "
            f"back in its place, or save what is left with: sqlite3 {path} .recover"
        )


def require(path: Path) -> None:
    """Raises StoreError unless `path` is a file that could be a store. An empty or missing file
    where a store should be is never taken for a new one.
    """
    if not path.exists():
        raise StoreError(
            f"there is no store at {path}; check the path, or begin one with: recrawl init URL"
        )
    if not path.is_file():
        raise StoreError(f"{path} is not a file; give the path of the store's file")
    if path.stat().st_size == 0:
        raise StoreError(
            f"{path} is empty (0 bytes): the store that was there is lost. Put a backup back in "
            "its place; only if none is wanted, delete the file to begin from nothing"
        )


def sync(path: Path) -> None:
    """Flush a file, or a folder's list of names, to the disk."""
    descriptor = os.open(path, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


class WriterLock:
    """The right to write, held by one process; the system takes it back when that one ends.

    A file of its own beside the store: closing any descriptor of the store's file would drop
    the locks that SQLite holds on it (POSIX), and readers must not be held up.
    """

    def __init__(self, path: Path) -> None:
        """Raises StoreBusy, StoreError."""
        lock = path.with_name(path.name + ".lock")
        try:
            self._descriptor = os.open(lock, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o644)
        except OSError as error:
            raise StoreError(f"{lock} can't be written ({error.strerror})") from error
        try:
            fcntl.flock(self._descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError as error:
            holder = os.pread(self._descriptor, 20, 0).decode(errors="replace").strip()
            os.close(self._descriptor)
            raise StoreBusy(
                f"{path} is being written by another recrawl (process {holder or 'unknown'}); "
                "wait until it has ended, or stop it. Reports can be read meanwhile"
            ) from error
        with suppress(OSError):  # a courtesy to those who come later; a full disk can't grant it
            os.pwrite(self._descriptor, f"{os.getpid():<20}".encode(), 0)

    def release(self) -> None:
        """Let others write."""
        os.close(self._descriptor)
