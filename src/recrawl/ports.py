"""What the engine asks of the outside world: a store, a fetcher, a clock.

Contracts in words; every adapter passes the conformance suite of `recrawl.testing` for its port.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Protocol

import numpy as np

from recrawl.model import (
    Change,
    Columns,
    Entry,
    Host,
    Outcome,
    Page,
    Purpose,
    Record,
    Request,
    Reservation,
    State,
    Verdict,
    WireCost,
    Writes,
)
from recrawl.units import Spend


class StoreError(Exception):
    """The store can't do what was asked; the message names the file and the fix."""


class StoreFull(StoreError):  # noqa: N818 - the field's word
    """No space left: nothing of the transaction was kept, free space and start again."""


class StoreBusy(StoreError):  # noqa: N818 - the field's word
    """Another process holds the store."""


@dataclass(frozen=True, slots=True)
class Rollup:
    """One row of the day x host x type x purpose x verdict table, from which reports come."""

    day: int  # days since the epoch, UTC
    host_id: int
    page_type: int
    purpose: Purpose
    verdict: Verdict
    status: int
    conditional: bool
    n: int
    up: int
    down: int
    spend: Spend
    discovered: int
    sighted: int


class Store(Protocol):
    """Durable state. Synchronous; called from one thread at a time (the writer), except that the
    reading methods below `commit` may also be called by other processes on the same store.
    """

    def commit(self, writes: Writes) -> None:
        """Make all of `writes` durable in one transaction, or raise and keep nothing.

        `new_pages` insert and are ignored where the key exists; `pages` and `hosts` replace
        whole rows; `entries` also update the rollup and are ignored where one with the same
        (host, key, t, purpose) exists; `settled` removes reservations; `refused`, `meta` upsert.
        Raises StoreFull, StoreBusy, StoreError.
        """

    def load_hosts(self) -> list[Host]:
        """All hosts, by host_id."""

    def scan_hot(self) -> Columns:
        """All pages by the columns of `model.HOT`, sorted by (host_id, key); the caller's own."""

    def load_pages(self, keys: Sequence[tuple[int, int]]) -> list[Page]:
        """The rows of those (host_id, key), in the order asked; unknown ones are left out."""

    def open_reservations(self) -> list[Reservation]:
        """Promises neither settled nor booked: what was in flight when the process ended."""

    def meta(self) -> dict[str, str]:
        """Small named facts (window, pacing, versions)."""

    # reading, for reports and questions

    def get_page(self, host_id: int, key: int) -> Page | None:
        """One page, or None."""

    def get_record(self, host_id: int, key: int) -> Record | None:
        """The last record of a page, or None."""

    def iter_pages(self, host_id: int | None = None, state: State | None = None) -> Iterator[Page]:
        """Pages by (host_id, key), of one host or state if wanted."""

    def iter_records(self) -> Iterator[tuple[Page, Record]]:
        """Every page that has a record, with it."""

    def history(self, host_id: int, key: int, limit: int = 100) -> list[Entry]:
        """The visits of one page, newest first."""

    def entries(
        self, since: float = 0.0, until: float = np.inf, purpose: Purpose | None = None
    ) -> Iterator[Entry]:
        """All entries of [since, until), or those of one purpose, oldest first."""

    def changes(self, since: float = 0.0, until: float = np.inf) -> Iterator[Change]:
        """All changes of [since, until), oldest first."""

    def rollup(self, since_day: int = 0, until_day: int = 1 << 30) -> list[Rollup]:
        """The entries of [since_day, until_day) summed up; days since 1970."""

    def spent(self, since: float = 0.0, until: float = np.inf) -> Spend:
        """The sum of all entries of [since, until)."""

    def refused(self) -> list[tuple[str, str, int]]:
        """(origin, reason, how many)."""

    def state_counts(self) -> dict[tuple[int, int], int]:
        """(host_id, state) -> how many pages."""

    def close(self) -> None:
        """Close it; nothing acknowledged is lost without this."""


class Fetcher(Protocol):
    """The only stage that spends."""

    name: str

    def quote(self, request: Request, body: float, warm: bool) -> tuple[WireCost, WireCost]:
        """(expected, worst) cost of one exchange whose full answer has about `body` bytes.

        Pure; `warm` = a connection to that host is likely open. The worst case bounds what the
        request's limits allow to be transferred, handshake included.
        """

    async def fetch(self, request: Request) -> Outcome:
        """Exactly one wire exchange: no hidden redirects, retries, cookies.

        Never raises except CancelledError; always returns an Outcome with its cost.
        """

    async def aclose(self) -> None:
        """Close all connections."""


class Clock(Protocol):
    """Time, so that a crawl can run on a made-up one."""

    def now(self) -> float:
        """UTC epoch seconds."""

    async def sleep_until(self, t: float) -> None:
        """Return when `now()` has reached `t` (a made-up clock may jump there)."""


def key_pairs(pages: Iterable[Page]) -> list[tuple[int, int]]:
    """The (host_id, key) of each."""
    return [(p.host_id, p.key) for p in pages]
