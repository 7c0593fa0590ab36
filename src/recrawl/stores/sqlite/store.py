"""The embedded store: one SQLite file, one writer, as many readers as like to."""

from __future__ import annotations

import random
import sqlite3
import threading
from contextlib import closing
from os import PathLike
from pathlib import Path
from time import monotonic, sleep
from types import TracebackType
from typing import Self

from recrawl.model import Writes
from recrawl.ports import StoreError
from recrawl.stores.sqlite.checkpoint import Checkpointer
from recrawl.stores.sqlite.faults import fault, is_busy, translated
from recrawl.stores.sqlite.files import (
    WriterLock,
    connect,
    make,
    prepare_writer,
    recognise,
    require,
)
from recrawl.stores.sqlite.migrations import apply, back_up, load_steps
from recrawl.stores.sqlite.reading import Reader
from recrawl.stores.sqlite.writing import Writer

PATIENCE = 10.0  # seconds that a commit waits for another program's lock
RETRY = (0.01, 0.1)  # seconds between two tries: drawn, so that two programs fall out of step


class SqliteStore(Reader):
    """A `ports.Store` in one file. Made by `open`; a context manager that closes it.

    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     with SqliteStore.open(f"{folder}/crawl.sqlite", create=True) as store:
    ...         store.commit(Writes(meta={"window": "1"}))
    ...         store.meta()
    {'window': '1'}
    """

    def __init__(self, path: Path, patience: float) -> None:
        super().__init__(path)
        self._patience = patience
        self._turn = threading.Lock()
        self._lock: WriterLock | None = None
        self._writing: sqlite3.Connection | None = None
        self._writer: Writer | None = None
        self._checkpointer: Checkpointer | None = None

    @classmethod
    def open(
        cls,
        path: str | PathLike[str],
        *,
        create: bool,
        read_only: bool = False,
        patience: float = PATIENCE,
    ) -> Self:
        """Open the store at `path`; `create` makes an empty one where no file is.

        `read_only` needs no lock and works while another process writes. `patience` is how many
        seconds a commit waits for a lock that another program holds.
        A store of an older version is backed up beside itself and brought up to date.
        Raises StoreBusy if another process writes to it, StoreError if it is missing, damaged,
        no store, or of a newer program.
        """
        file = Path(path)
        steps = load_steps()
        if create and not file.parent.is_dir():
            raise StoreError(f"{file}: the folder {file.parent} does not exist; create it first")
        lock = None if read_only else _lock(file, create)
        store: Self | None = None
        try:
            with translated(file):
                if create and not file.exists():
                    make(file, steps)
                require(file)
                _bring_up_to_date(file, read_only)
                store = cls(file, patience)
                if lock is not None:
                    store._begin_writing(lock)
        except BaseException:
            if store is not None:
                store.close()
            elif lock is not None:
                lock.release()
            raise
        return store

    def _begin_writing(self, lock: WriterLock) -> None:
        self._lock = lock
        self._writing = connect(self._path, "rw")
        prepare_writer(self._writing)
        self._writer = Writer(self._writing)
        self._checkpointer = Checkpointer(self._path, self._turn)
        self._checkpointer.start()

    def commit(self, writes: Writes) -> None:
        """See `ports.Store.commit`."""
        if self._writer is None or self._checkpointer is None:
            raise StoreError(f"{self._path} was opened for reading only, or is closed")
        deadline = monotonic() + self._patience
        while True:
            try:
                with self._turn:
                    self._writer.commit(writes)
                break
            except sqlite3.Error as error:
                if not is_busy(error) or monotonic() >= deadline:
                    raise fault(self._path, error) from error
            except (TypeError, ValueError, OverflowError) as error:
                raise StoreError(f"{self._path}: a value can't be stored: {error}") from error
            sleep(random.uniform(*RETRY))
        self._checkpointer.committed()

    def close(self) -> None:
        """Let go of the file. More than once does nothing."""
        super().close()
        self._writer = None
        if self._checkpointer is not None:
            self._checkpointer.close()
            self._checkpointer = None
        if self._writing is not None:
            self._writing.close()
            self._writing = None
        if self._lock is not None:
            self._lock.release()
            self._lock = None

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.close()


def _lock(file: Path, may_make: bool) -> WriterLock:
    """The right to write to a store that is there or may be made: no lock file without one."""
    if not may_make:
        require(file)
    return WriterLock(file)


def _bring_up_to_date(file: Path, read_only: bool) -> None:
    """Check what the file is; migrate an older one, after a copy. Raises StoreError."""
    steps = load_steps()
    with closing(connect(file, "ro" if read_only else "rw")) as connection:
        version = recognise(file, connection, newest=len(steps))
        if version == len(steps):
            return
        if read_only:
            raise StoreError(
                f"{file} is of an older recrawl (schema {version}, now {len(steps)}); "
                "run the crawl once with this program, which copies it and brings it up to date"
            )
        backup = back_up(connection, file)
        try:
            apply(connection, steps)
        except sqlite3.Error as error:
            raise StoreError(
                f"{file} is as it was: {error}. A copy from before is at {backup}"
            ) from error
