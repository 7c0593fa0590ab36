"""One transaction: what a decision asks to be made durable, as sets of rows.

Only `execute` and `executemany` of a connection are used, so that the tests can run this very code
on another driver, whose file system loses power.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Iterable, Sequence

from recrawl.model import Entry, Host, Writes
from recrawl.stores.sqlite.encode import (
    HOST_COLUMNS,
    PAGE_COLUMNS,
    Row,
    change_row,
    host_row,
    page_row,
    record_row,
    reservation_row,
    text,
)
from recrawl.stores.sqlite.visits import (
    OUTCOME_COLUMNS,
    ROLLUP_KEY,
    ROLLUP_SUMS,
    VISIT_COLUMNS,
    Identity,
    Outcomes,
    rollup_rows,
    visit_rows,
)


def _insert(table: str, columns: Sequence[str], how: str = "INSERT") -> str:
    marks = ", ".join("?" * len(columns))
    return f"{how} INTO {table} ({', '.join(columns)}) VALUES ({marks})"


def _upsert(table: str, columns: Sequence[str], key: Sequence[str], fixed: str = "") -> str:
    moved = ", ".join(f"{c} = excluded.{c}" for c in columns if c not in (*key, fixed))
    return f"{_insert(table, columns)} ON CONFLICT ({', '.join(key)}) DO UPDATE SET {moved}"


def _add(table: str, key: Sequence[str], sums: Sequence[str]) -> str:
    moved = ", ".join(f"{c} = {c} + excluded.{c}" for c in sums)
    return f"{_insert(table, (*key, *sums))} ON CONFLICT ({', '.join(key)}) DO UPDATE SET {moved}"


_PAGE_KEY = ("host_id", "key")
_RECORD = ("host_id", "key", "fields", "digest1", "digest2")
_CHANGE = ("t", "t_before", "host_id", "key", "page_type", "verdict", "before", "after")
_RESERVATION = (
    "lease", "host_id", "key", "t", "purpose", "bytes", "micro_usd", "microcredits", "fetches",
    "millis", "page_type", "route",
)  # fmt: skip

# An origin is a host's identity: left out of what moves, its index is not written at each visit.
HOST = _upsert("host", HOST_COLUMNS, ("host_id",), "origin") + " WHERE origin = excluded.origin"
ROBOTS = _upsert("robots", ("host_id", "body"), ("host_id",))
NEW_PAGE = f"{_insert('page', PAGE_COLUMNS)} ON CONFLICT (host_id, key) DO NOTHING"
PAGE = _insert("page", PAGE_COLUMNS, "REPLACE")
RECORD = _upsert("record", _RECORD, _PAGE_KEY)
OUTCOME = _insert("outcome", ("outcome_id", *OUTCOME_COLUMNS))
VISIT = f"{_insert('visit', VISIT_COLUMNS)} ON CONFLICT DO NOTHING"
ROLLUP = _add("rollup", ROLLUP_KEY, ROLLUP_SUMS)
CHANGE = _insert("change", _CHANGE)
RESERVE = _insert("reservation", _RESERVATION, "REPLACE")
SETTLE = "DELETE FROM reservation WHERE lease = ?"
REFUSED = _add("refused", ("origin", "reason"), ("n",))
META = _upsert("meta", ("name", "value"), ("name",))
_SEEN = "SELECT 1 FROM visit WHERE day = ? AND host_id = ? AND key = ? AND at = ? AND purpose = ?"


class Writer:
    """Makes writes durable. What it remembers of the store moves only when a commit has."""

    def __init__(self, connection: sqlite3.Connection) -> None:
        self._connection = connection
        columns = ", ".join(("outcome_id", *OUTCOME_COLUMNS))
        self._outcomes = Outcomes(connection.execute(f"SELECT {columns} FROM outcome"))  # noqa: S608
        self._robots: dict[int, int] = {}  # host -> hash of the robots.txt that is stored

    def commit(self, writes: Writes) -> None:
        """All of `writes` in one transaction. Raises what the driver raises, or ValueError,
        TypeError or OverflowError for a value that has no row, and keeps nothing.
        """
        try:
            visits = visit_rows(writes.entries, self._outcomes)
            others = self._sets(writes)
            if not self._run(visits, others):
                for known in self._known(visits):
                    del visits[known]
                self._run(visits, others)
        except BaseException:
            self._outcomes.forget()
            raise
        self._outcomes.keep()
        self._robots.update((h.host_id, hash(h.robots_body)) for h in writes.hosts.values())

    def _sets(self, w: Writes) -> list[tuple[str, list[Row]]]:
        """Every statement with its rows, in an order that keeps neighbours together."""
        changed = [h for h in w.hosts.values() if self._robots_changed(h)]
        return [
            (HOST, [host_row(h) for h in w.hosts.values()]),
            (ROBOTS, [(h.host_id, h.robots_body) for h in changed]),
            (NEW_PAGE, [page_row(w.new_pages[k]) for k in sorted(w.new_pages)]),
            (PAGE, [page_row(w.pages[k]) for k in sorted(w.pages)]),
            (RECORD, [record_row(*k, w.records[k]) for k in sorted(w.records)]),
            (OUTCOME, self._outcomes.pending),
            (CHANGE, [change_row(c) for c in w.changes]),
            (RESERVE, [reservation_row(r) for r in w.reserved]),
            (SETTLE, [(lease,) for lease in w.settled]),
            (REFUSED, [(text(o), text(r), n) for (o, r), n in sorted(w.refused.items())]),
            (META, [(text(k), text(v)) for k, v in w.meta.items()]),
        ]

    def _robots_changed(self, host: Host) -> bool:
        """A host's row is written at every visit, its robots.txt only when it is another."""
        return self._robots.get(host.host_id) != hash(host.robots_body)

    def _run(
        self, visits: dict[Identity, tuple[Row, Entry]], sets: list[tuple[str, list[Row]]]
    ) -> bool:
        """The transaction; False, and nothing kept, where a visit was in the store already."""
        run = self._connection
        run.execute("BEGIN IMMEDIATE")
        try:
            for statement, rows in sets:
                if rows and self._changes(statement, rows) != len(rows) and statement == HOST:
                    raise ValueError("a host is known by another origin")
            if visits:
                rows = [visits[k][0] for k in sorted(visits)]
                if self._changes(VISIT, rows) != len(rows):
                    run.execute("ROLLBACK")
                    return False
                run.executemany(ROLLUP, sorted(rollup_rows(visits.values())))
            run.execute("COMMIT")
        except BaseException:
            if run.in_transaction:
                run.execute("ROLLBACK")
            raise
        return True

    def _changes(self, statement: str, rows: list[Row]) -> int:
        """Run a statement for each row; how many rows of the store it changed."""
        before = self._total_changes()
        self._connection.executemany(statement, rows)
        return self._total_changes() - before

    def _total_changes(self) -> int:
        (changes,) = next(iter(self._connection.execute("SELECT total_changes()")))
        return int(changes)

    def _known(self, visits: Iterable[Identity]) -> list[Identity]:
        return [v for v in visits if list(self._connection.execute(_SEEN, v))]
