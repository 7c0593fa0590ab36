"""The thread that moves what is committed from the log into the file, so that no commit waits.

Inline checkpoints cost half of the durable outcomes a second, and 150 ms at the 99th percentile.
"""

from __future__ import annotations

import logging
import sqlite3
import threading
from pathlib import Path
from time import monotonic

from recrawl.stores.sqlite.files import connect

EVERY = 0.3  # seconds between two looks
IDLE = 1.0  # seconds without a commit after which the log is emptied
MAX_WAL = 256_000_000  # bytes of log at which it is emptied although commits go on

logger = logging.getLogger(__name__)


def checkpoint(connection: sqlite3.Connection, how: str) -> bool:
    """Run `PRAGMA wal_checkpoint`; False where someone was in the way.

    PASSIVE never waits and never makes others wait; TRUNCATE also empties the log, for which
    no reader may be in it.
    """
    (busy, _, _) = next(iter(connection.execute(f"PRAGMA wal_checkpoint({how})")))
    return not busy


class Checkpointer:
    """`turn` is the lock that the writer holds in a transaction: taken here to empty the log."""

    def __init__(self, path: Path, turn: threading.Lock) -> None:
        self._wal = Path(f"{path.resolve()}-wal")
        self._turn = turn
        self._ended = threading.Event()
        self._last_commit = monotonic()
        self._dirty = True
        self._complained = False
        self._connection = connect(path, "rw")
        self._connection.execute("PRAGMA synchronous=FULL")
        self._connection.execute("PRAGMA busy_timeout=0")  # rather later than in the way
        self._thread = threading.Thread(target=self._run, name="checkpointer", daemon=True)

    def start(self) -> None:
        """Begin to checkpoint in the background."""
        self._thread.start()

    def committed(self) -> None:
        """Called after each commit."""
        self._last_commit = monotonic()
        self._dirty = True

    def close(self) -> None:
        """End the thread and empty the log if no reader is in it."""
        self._ended.set()
        self._thread.join()
        self._tick(idle=0.0)
        self._connection.close()

    def _run(self) -> None:
        while not self._ended.wait(EVERY):
            self._tick(IDLE)

    def _tick(self, idle: float) -> None:
        """One look. A failure here loses nothing, the log has it all: the next look tries again,
        and if the disk is full the next commit says so.
        """
        try:
            size = self._wal.stat().st_size if self._wal.exists() else 0
            if size == 0:
                return
            if self._dirty:
                self._dirty = False
                checkpoint(self._connection, "PASSIVE")
            if size > MAX_WAL or monotonic() - self._last_commit >= idle:
                with self._turn:
                    checkpoint(self._connection, "TRUNCATE")
            self._complained = False
        except (sqlite3.Error, OSError) as error:
            self._dirty = True
            if not self._complained:
                logger.warning("checkpoint of %s put off: %s", self._wal, error)
            self._complained = True
