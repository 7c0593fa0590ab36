"""Questions to the store, on read-only connections: no question ever makes the writer wait."""

# ruff: noqa: S608 - statements are put together from our own column names; values are bound

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from contextlib import closing
from pathlib import Path
from typing import Any

import numpy as np

from recrawl.model import (
    Change,
    Columns,
    Entry,
    Host,
    Page,
    Purpose,
    Record,
    Reservation,
    State,
    Verdict,
)
from recrawl.ports import Rollup
from recrawl.stores.sqlite.encode import (
    DAY_MS,
    FOREVER,
    HOST_COLUMNS,
    PAGE_COLUMNS,
    change_of,
    host_of,
    page_of,
    record_of,
    reservation_of,
)
from recrawl.stores.sqlite.faults import translated
from recrawl.stores.sqlite.files import connect
from recrawl.stores.sqlite.scan import scan_hot
from recrawl.stores.sqlite.visits import (
    OUTCOME_COLUMNS,
    ROLLUP_KEY,
    ROLLUP_SUMS,
    VISIT_COLUMNS,
    entries_of,
)
from recrawl.units import Spend

CHUNK = 1000  # rows that a stream takes from SQLite at once
KEYS = 500  # pages that one statement asks for

_PAGE = ", ".join(f"page.{c}" for c in PAGE_COLUMNS)
_RECORD = "record.fields, record.digest1, record.digest2"
_VISIT = ", ".join(
    [f"visit.{c}" for c in VISIT_COLUMNS] + [f"outcome.{c}" for c in OUTCOME_COLUMNS]
)
_SPEND = "bytes, micro_usd, microcredits, fetches, millis"
_RESERVATION = f"lease, host_id, key, t, purpose, {_SPEND}, page_type, route"
_CHANGE = "t, t_before, host_id, key, page_type, verdict, before, after"

_HISTORY = f"""
WITH RECURSIVE days(day) AS (
    SELECT max(day) FROM visit
    UNION ALL
    SELECT (SELECT max(day) FROM visit WHERE day < days.day) FROM days WHERE day IS NOT NULL
)
SELECT {_VISIT} FROM days CROSS JOIN visit USING (day) JOIN outcome USING (outcome_id)
WHERE visit.host_id = ? AND visit.key = ?
ORDER BY visit.day DESC, visit.at DESC, visit.purpose LIMIT ?
"""
_SPENT_PART = """
SELECT sum(ifnull(bytes, up + down)), sum(micro_usd), sum(microcredits), sum(fetches), sum(millis)
FROM visit WHERE day = ? AND at >= ? AND at < ?
"""


def _span(since: float, until: float) -> tuple[int, int]:
    """[since, until) as whole milliseconds, within what SQLite's integers hold."""
    first, end = (max(-FOREVER, min(t * 1000, FOREVER)) for t in (since, until))
    return math.ceil(first), math.ceil(end)


class Reader:
    """Each question sees all that was committed before it; a stream sees its beginning's state."""

    def __init__(self, path: Path) -> None:
        """Raises StoreError."""
        self._path = path
        with translated(path):
            self._connection = connect(path, "ro")

    def close(self) -> None:
        self._connection.close()

    def _all(self, sql: str, values: Sequence[Any] = ()) -> list[tuple[Any, ...]]:
        with translated(self._path):
            return self._connection.execute(sql, values).fetchall()

    def _chunks(self, sql: str, values: Sequence[Any] = ()) -> Iterator[list[tuple[Any, ...]]]:
        """Rows in lists, on a connection of their own, closed when the stream is left."""
        with translated(self._path), closing(connect(self._path, "ro")) as connection:
            cursor = connection.execute(sql, values)
            while rows := cursor.fetchmany(CHUNK):
                yield rows

    # what the engine starts from

    def load_hosts(self) -> list[Host]:
        columns = ", ".join(f"host.{c}" for c in HOST_COLUMNS)
        rows = self._all(
            f"SELECT {columns}, body FROM host LEFT JOIN robots USING (host_id) ORDER BY host_id"
        )
        return [host_of(row) for row in rows]

    def scan_hot(self) -> Columns:
        with translated(self._path):
            return scan_hot(self._connection)

    def load_pages(self, keys: Sequence[tuple[int, int]]) -> list[Page]:
        found: dict[tuple[int, int], Page] = {}
        wanted = sorted(set(keys))
        for i in range(0, len(wanted), KEYS):
            chunk = wanted[i : i + KEYS]
            values = ", ".join(["(?, ?)"] * len(chunk))
            rows = self._all(
                f"WITH wanted(h, k) AS (VALUES {values}) SELECT {_PAGE} FROM wanted "
                "CROSS JOIN page ON host_id = h AND key = k",
                [part for pair in chunk for part in pair],
            )
            for row in rows:
                found[row[0], row[1]] = page_of(row)
        return [found[key] for key in keys if key in found]

    def open_reservations(self) -> list[Reservation]:
        rows = self._all(f"SELECT {_RESERVATION} FROM reservation ORDER BY lease")
        return [reservation_of(row) for row in rows]

    def meta(self) -> dict[str, str]:
        return dict(self._all("SELECT name, value FROM meta"))

    # pages and records

    def get_page(self, host_id: int, key: int) -> Page | None:
        rows = self._all(f"SELECT {_PAGE} FROM page WHERE host_id = ? AND key = ?", (host_id, key))
        return page_of(rows[0]) if rows else None

    def get_record(self, host_id: int, key: int) -> Record | None:
        rows = self._all(
            f"SELECT {_RECORD} FROM record WHERE host_id = ? AND key = ?", (host_id, key)
        )
        return record_of(rows[0]) if rows else None

    def iter_pages(self, host_id: int | None = None, state: State | None = None) -> Iterator[Page]:
        asked = [
            (f"{c} = ?", int(v)) for c, v in (("host_id", host_id), ("state", state))
            if v is not None
        ]  # fmt: skip
        where = "WHERE " + " AND ".join(c for c, _ in asked) if asked else ""
        sql = f"SELECT {_PAGE} FROM page {where} ORDER BY host_id, key"
        for rows in self._chunks(sql, [v for _, v in asked]):
            yield from map(page_of, rows)

    def iter_records(self) -> Iterator[tuple[Page, Record]]:
        n = len(PAGE_COLUMNS)
        sql = f"""SELECT {_PAGE}, {_RECORD} FROM page CROSS JOIN record USING (host_id, key)
                  ORDER BY page.host_id, page.key"""
        for rows in self._chunks(sql):
            yield from ((page_of(row[:n]), record_of(row[n:])) for row in rows)

    def state_counts(self) -> dict[tuple[int, int], int]:
        rows = self._all("SELECT host_id, state, count(*) FROM page GROUP BY host_id, state")
        return {(host_id, state): n for host_id, state, n in rows}

    def refused(self) -> list[tuple[str, str, int]]:
        return self._all("SELECT origin, reason, n FROM refused ORDER BY origin, reason")

    # the ledger

    def history(self, host_id: int, key: int, limit: int = 100) -> list[Entry]:
        return list(entries_of(self._all(_HISTORY, (host_id, key, limit))))

    def entries(
        self, since: float = 0.0, until: float = np.inf, purpose: Purpose | None = None
    ) -> Iterator[Entry]:
        first, end = _span(since, until)
        one = "" if purpose is None else f"AND purpose = {int(purpose)}"
        sql = f"""SELECT {_VISIT} FROM visit JOIN outcome USING (outcome_id)
                  WHERE day BETWEEN ? AND ?
                  AND day * {DAY_MS} + at >= ? AND day * {DAY_MS} + at < ? {one}
                  ORDER BY day, at, host_id, key, purpose"""
        for rows in self._chunks(sql, (first // DAY_MS, end // DAY_MS, first, end)):
            yield from entries_of(rows)

    def changes(self, since: float = 0.0, until: float = np.inf) -> Iterator[Change]:
        sql = f"SELECT {_CHANGE} FROM change WHERE t >= ? AND t < ? ORDER BY t, change_id"
        for rows in self._chunks(sql, _span(since, until)):
            yield from map(change_of, rows)

    def rollup(self, since_day: int = 0, until_day: int = 1 << 30) -> list[Rollup]:
        columns = ", ".join((*ROLLUP_KEY, *ROLLUP_SUMS))
        key = ", ".join(ROLLUP_KEY)
        rows = self._all(
            f"SELECT {columns} FROM rollup WHERE day >= ? AND day < ? ORDER BY {key}",
            (since_day, until_day),
        )
        return [
            Rollup(d, host, kind, Purpose(p), Verdict(v), s, bool(c), n, up, down, Spend(*spend),
                   discovered, sighted)
            for d, host, kind, p, v, s, c, n, up, down, *spend, discovered, sighted in rows
        ]  # fmt: skip

    def spent(self, since: float = 0.0, until: float = np.inf) -> Spend:
        """Whole days from the rollup, the ends from the visits."""
        first, end = _span(since, until)
        day, last_day = -(-first // DAY_MS), end // DAY_MS
        if end <= first:
            return Spend()
        if day > last_day:  # both within one day
            return self._spent_within(last_day, first % DAY_MS, end % DAY_MS)
        sums = "sum(bytes), sum(micro_usd), sum(microcredits), sum(fetches), sum(millis)"
        rows = self._all(f"SELECT {sums} FROM rollup WHERE day >= ? AND day < ?", (day, last_day))
        before = self._spent_within(day - 1, first % DAY_MS, DAY_MS) if first % DAY_MS else Spend()
        after = self._spent_within(last_day, 0, end % DAY_MS)
        return before + _spend(rows[0]) + after

    def _spent_within(self, day: int, first: int, end: int) -> Spend:
        return _spend(self._all(_SPENT_PART, (day, first, end))[0])


def _spend(sums: Sequence[int | None]) -> Spend:
    return Spend(*(n or 0 for n in sums))
