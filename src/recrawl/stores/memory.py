"""A store that ends with the process: for simulations, tests, and questions with no file."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterator, Sequence
from copy import copy
from dataclasses import replace
from typing import Any

import numpy as np

from recrawl.model import (
    HOT,
    Change,
    Columns,
    Entry,
    Host,
    Page,
    Purpose,
    Record,
    Reservation,
    State,
    Writes,
    hot_row,
)
from recrawl.ports import Rollup, StoreError
from recrawl.units import DAY, Spend

Key = tuple[int, int]  # host_id, key
Bucket = tuple[Any, ...]  # a rollup's day, host, type, purpose, verdict, status, conditional


class MemoryStore:
    """A `ports.Store` in dictionaries. It keeps copies: what the caller moves later stays outside.

    >>> store = MemoryStore()
    >>> store.commit(Writes(meta={"window": "1"}))
    >>> store.meta()
    {'window': '1'}
    """

    def __init__(self) -> None:
        self._hosts: dict[int, Host] = {}
        self._pages: dict[Key, Page] = {}
        self._records: dict[Key, Record] = {}
        self._entries: dict[tuple[int, int, float, Purpose], Entry] = {}
        self._changes: list[Change] = []
        self._reserved: dict[int, Reservation] = {}
        self._refused: Counter[tuple[str, str]] = Counter()
        self._meta: dict[str, str] = {}
        self._rollup: dict[Bucket, Rollup] = {}

    def commit(self, writes: Writes) -> None:
        """See `ports.Store.commit`."""
        try:
            records = {k: _plain_record(r) for k, r in writes.records.items()}
            changes = [_plain_change(c) for c in writes.changes]
        except (TypeError, ValueError) as error:
            raise StoreError(f"memory: a value can't be stored: {error}") from error
        self._check_origins(writes.hosts)
        self._hosts.update((k, copy(h)) for k, h in writes.hosts.items())
        for key, page in writes.new_pages.items():
            if key not in self._pages:
                self._pages[key] = copy(page)
        self._pages.update((k, copy(p)) for k, p in writes.pages.items())
        self._records.update(records)
        self._changes += changes
        for entry in writes.entries:
            self._book(entry)
        self._reserved.update((r.lease, r) for r in writes.reserved)
        for lease in writes.settled:
            self._reserved.pop(lease, None)
        self._refused.update(writes.refused)
        self._meta.update(writes.meta)

    def _check_origins(self, hosts: dict[int, Host]) -> None:
        known = {h.origin: h.host_id for h in self._hosts.values()}
        for h in hosts.values():
            here = self._hosts.get(h.host_id, h)
            if here.origin != h.origin or known.setdefault(h.origin, h.host_id) != h.host_id:
                raise StoreError(
                    f"memory: host {h.host_id} or {h.origin} is known by another name"
                )

    def _book(self, e: Entry) -> None:
        identity = (e.host_id, e.key, e.t, e.purpose)
        if identity in self._entries:
            return
        self._entries[identity] = e
        bucket = (
            int(e.t // DAY), e.host_id, e.page_type, e.purpose, e.verdict, e.status, e.conditional,
        )  # fmt: skip
        r = self._rollup.get(bucket) or Rollup(*bucket, 0, 0, 0, Spend(), 0, 0)
        self._rollup[bucket] = replace(
            r, n=r.n + 1, up=r.up + e.up, down=r.down + e.down, spend=r.spend + e.spend,
            discovered=r.discovered + e.discovered, sighted=r.sighted + e.sighted,
        )  # fmt: skip

    # what the engine starts from

    def load_hosts(self) -> list[Host]:
        return [copy(h) for _, h in sorted(self._hosts.items())]

    def scan_hot(self) -> Columns:
        rows = [hot_row(p) for _, p in sorted(self._pages.items())]
        return Columns.of(np.array(rows, HOT))

    def load_pages(self, keys: Sequence[Key]) -> list[Page]:
        return [copy(self._pages[k]) for k in keys if k in self._pages]

    def open_reservations(self) -> list[Reservation]:
        return [r for _, r in sorted(self._reserved.items())]

    def meta(self) -> dict[str, str]:
        return dict(self._meta)

    # pages and records

    def get_page(self, host_id: int, key: int) -> Page | None:
        page = self._pages.get((host_id, key))
        return None if page is None else copy(page)

    def get_record(self, host_id: int, key: int) -> Record | None:
        record = self._records.get((host_id, key))
        return None if record is None else _plain_record(record)

    def iter_pages(self, host_id: int | None = None, state: State | None = None) -> Iterator[Page]:
        for _, page in sorted(self._pages.items()):
            if host_id in (None, page.host_id) and state in (None, page.state):
                yield copy(page)

    def iter_records(self) -> Iterator[tuple[Page, Record]]:
        for key, record in sorted(self._records.items(), key=lambda item: item[0]):
            if key in self._pages:
                yield copy(self._pages[key]), _plain_record(record)

    def state_counts(self) -> dict[tuple[int, int], int]:
        return dict(Counter((p.host_id, p.state.value) for p in self._pages.values()))

    def refused(self) -> list[tuple[str, str, int]]:
        return [(origin, reason, n) for (origin, reason), n in sorted(self._refused.items())]

    # the ledger

    def history(self, host_id: int, key: int, limit: int = 100) -> list[Entry]:
        mine = [e for e in self._entries.values() if (e.host_id, e.key) == (host_id, key)]
        return sorted(mine, key=lambda e: (-e.t, e.purpose))[:limit]

    def entries(
        self, since: float = 0.0, until: float = np.inf, purpose: Purpose | None = None
    ) -> Iterator[Entry]:
        within = [
            e
            for e in self._entries.values()
            if since <= e.t < until and purpose in (None, e.purpose)
        ]
        yield from sorted(within, key=lambda e: (e.t, e.host_id, e.key, e.purpose))

    def changes(self, since: float = 0.0, until: float = np.inf) -> Iterator[Change]:
        within = [c for c in self._changes if since <= c.t < until]
        yield from map(_plain_change, sorted(within, key=lambda c: c.t))

    def rollup(self, since_day: int = 0, until_day: int = 1 << 30) -> list[Rollup]:
        return [r for k, r in sorted(self._rollup.items()) if since_day <= k[0] < until_day]

    def spent(self, since: float = 0.0, until: float = np.inf) -> Spend:
        return sum((e.spend for e in self.entries(since, until)), Spend())

    def close(self) -> None:
        """Nothing is held."""


def _plain_record(record: Record) -> Record:
    return replace(record, fields=_plain(record.fields))


def _plain_change(change: Change) -> Change:
    return replace(change, before=_plain(change.before), after=_plain(change.after))


def _plain(fields: Any) -> Any:
    """A deep copy as JSON keeps it. Raises TypeError or ValueError for what JSON can't say."""
    return json.loads(json.dumps(fields))
