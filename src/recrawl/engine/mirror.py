"""The pages in RAM, a cache: HOT's columns and the exact index that finds a page's row."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

import numpy as np

from recrawl.frontier.seen import SeenIndex
from recrawl.model import HOT, Columns, Page, Table, hot_row
from recrawl.model.columns import longer
from recrawl.model.rows import NEVER

MOST_ATTEMPTS = 3  # of one page in one window
CLOSED = 128


class Mirror:
    """Columns of `model.HOT` with room to grow; row numbers are stable while the process lives.

    No page is bought twice in a window, but for one that its host put off (429, 503): that may
    be asked again, `MOST_ATTEMPTS` times in all.
    """

    def __init__(self, hot: Table) -> None:
        """`hot`: all pages, sorted by (host_id, key), as `Store.scan_hot` gives them. Columns are
        taken over, not copied.
        """
        table = Columns.of(hot) if isinstance(hot, np.ndarray) else hot
        self._columns = {name: table[name] for name in HOT.names or ()}
        self.n = self._room = len(table)
        self._bought = np.zeros(self.n, np.uint8)  # attempts, and the CLOSED bit
        self.seen = SeenIndex.from_sorted(table["host_id"], table["key"])

    @property
    def rows(self) -> Columns:
        """A view of the live rows."""
        return Columns(self._columns, slice(0, self.n))

    @property
    def bought(self) -> np.ndarray:
        """Which rows may not be bought again in this window: bool, shape (n,)."""
        return self._bought[: self.n] >= CLOSED

    def row_of(self, host_id: int, key: int) -> int:
        """The row number, or -1 where the page is not known."""
        return self.seen.find(host_id, key)

    def add(self, page: Page) -> int:
        """Append a page that is not known yet; returns its row number."""
        if self.n == self._room:
            self._grow()
        row = self.n
        self._write(row, page)
        self._bought[row] = 0
        self.n += 1
        self.seen.add(page.host_id, page.key, row)
        return row

    def put(self, page: Page) -> None:
        """Write a known page's row again. Raises KeyError where it is not known."""
        row = self.row_of(page.host_id, page.key)
        if row < 0:
            raise KeyError((page.host_id, page.key))
        self._write(row, page)

    def buy(self, host_id: int, key: int) -> None:
        """Mark a page as bought in this window."""
        row = self.row_of(host_id, key)
        if row >= 0:
            self._bought[row] = min((self._bought[row] & (CLOSED - 1)) + 1, CLOSED - 1) | CLOSED

    def put_off(self, host_id: int, key: int) -> bool:
        """Its host put the page off: True where it may be bought once more in this window."""
        row = self.row_of(host_id, key)
        if row < 0 or (self._bought[row] & (CLOSED - 1)) >= MOST_ATTEMPTS:
            return False
        self._bought[row] &= CLOSED - 1
        return True

    @contextmanager
    def without_bought(self) -> Iterator[None]:
        """While this lasts, rows that may not be bought again rest (their `retry_at` is never)."""
        closed, retry_at = np.flatnonzero(self.bought), self.rows["retry_at"]
        saved = retry_at[closed]
        retry_at[closed] = NEVER
        try:
            yield
        finally:
            retry_at[closed] = saved

    def open_window(self) -> None:
        """A new window: every page may be bought again."""
        self._bought[: self.n] = 0

    def _write(self, row: int, page: Page) -> None:
        for column, value in zip(self._columns.values(), hot_row(page), strict=True):
            column[row] = value

    def _grow(self) -> None:
        self._room += max(1024, self._room // 4)
        for name, column in self._columns.items():
            self._columns[name] = longer(column, self._room)
        self._bought = longer(self._bought, self._room)
