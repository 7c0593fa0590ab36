"""What SQLite complains of, as sentences that name the file and the next step."""

from __future__ import annotations

import errno
import shutil
import sqlite3
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from recrawl.ports import StoreBusy, StoreError, StoreFull

_NO_SPACE = 1 << 20  # an I/O error with less free space than this is a full disk


def primary_code(error: sqlite3.Error) -> int:
    """SQLite's primary result code, 0 where the module itself complains."""
    return (getattr(error, "sqlite_errorcode", None) or 0) & 0xFF


def is_busy(error: sqlite3.Error) -> bool:
    """Someone else holds the lock that was asked for."""
    return primary_code(error) in (sqlite3.SQLITE_BUSY, sqlite3.SQLITE_LOCKED)


def fault(path: Path, error: sqlite3.Error) -> StoreError:
    """The error to raise instead of `error`."""
    code = primary_code(error)
    if code == sqlite3.SQLITE_FULL or (code == sqlite3.SQLITE_IOERR and _disk_is_full(path)):
        return full(path)
    if is_busy(error):
        return StoreBusy(
            f"{path} is locked by another program (a backup, an sqlite3 shell?); "
            "close that one and start again: the crawl goes on where it stopped"
        )
    if code == sqlite3.SQLITE_NOTADB:
        return StoreError(
            f"{path} is not a recrawl store: it is no SQLite file, or its beginning is damaged. "
            "Put a backup back in its place, or choose another path"
        )
    if code == sqlite3.SQLITE_CORRUPT:
        return StoreError(
            f"{path} is damaged or cut short ({error}). Put a backup back in its place, or save "
            f"what is left with: sqlite3 {path} .recover"
        )
    if code in (sqlite3.SQLITE_READONLY, sqlite3.SQLITE_CANTOPEN, sqlite3.SQLITE_PERM):
        return StoreError(
            f"{path} can't be opened for this ({error}); check the permissions of the file and of "
            "its folder, where SQLite keeps its log beside it"
        )
    return StoreError(f"{path}: {error}")


def full(path: Path) -> StoreFull:
    """No space left."""
    return StoreFull(
        f"{path}: no space left on its disk; nothing of the last step was kept. "
        "Free some space and start again: the crawl goes on where it stopped"
    )


@contextmanager
def translated(path: Path) -> Iterator[None]:
    """Raise StoreError, StoreFull or StoreBusy for whatever SQLite or the system raises inside."""
    try:
        yield
    except sqlite3.Error as error:
        raise fault(path, error) from error
    except OSError as error:
        if error.errno in (errno.ENOSPC, errno.EDQUOT):
            raise full(path) from error
        raise StoreError(f"{error.filename or path}: {error.strerror}") from error


def _disk_is_full(path: Path) -> bool:
    try:
        return shutil.disk_usage(path.parent).free < _NO_SPACE
    except OSError:
        return False
