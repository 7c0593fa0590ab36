"""The URL file of the 14-week crawl data set: ids to URLs, on disk, since it holds 18 million."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterable
from pathlib import Path
from tempfile import TemporaryDirectory

from recrawl.audit.account import Account

BATCH = 50_000


class Urls:
    """URLs by id, in a temporary file that is made when the first are loaded."""

    def __init__(self) -> None:
        self._folder: TemporaryDirectory[str] | None = None
        self._db: sqlite3.Connection | None = None

    def close(self) -> None:
        """Delete the file."""
        if self._db is not None:
            self._db.close()
        if self._folder is not None:
            self._folder.cleanup()

    def get(self, key: str, default: str, /) -> str:
        """The URL of an id, or `default`."""
        if self._db is None:
            return default
        row = self._db.execute("SELECT url FROM url WHERE id = ?", (key,)).fetchone()
        return default if row is None else str(row[0])

    def load(self, account: Account, path: Path, lines: Iterable[tuple[int, str]]) -> None:
        """Take in lines of (URL, URL id, host id), tab between; raises what `lines` does."""
        batch: list[tuple[str, str]] = []
        try:
            for number, line in lines:
                cells = line.rstrip("\r\n").split("\t")
                if len(cells) < 2 or not cells[1].strip():
                    account.reject(path, number, "no URL and its id")
                    continue
                url = cells[0].strip().encode("utf-8", "replace").decode()
                batch.append((cells[1].strip(), url if "://" in url else f"http://{url}"))
                if len(batch) == BATCH:
                    self._put(batch)
                    batch = []
        finally:
            self._put(batch)

    def _put(self, batch: list[tuple[str, str]]) -> None:
        if self._db is None:
            self._folder = TemporaryDirectory(prefix="recrawl-audit-")
            self._db = sqlite3.connect(Path(self._folder.name) / "urls.db", isolation_level=None)
            self._db.executescript(
                "PRAGMA journal_mode=OFF; PRAGMA synchronous=OFF;"
                "CREATE TABLE url(id TEXT PRIMARY KEY, url TEXT) WITHOUT ROWID; BEGIN"
            )
        self._db.executemany("INSERT OR IGNORE INTO url VALUES(?,?)", batch)
