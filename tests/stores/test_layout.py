"""The marks of the layout: bytes a page and a visit, and that no question scans what it needn't.

The figures of docs/decisions/0004-sqlite-layout.md are those of the slow test, at a million pages.
"""

from __future__ import annotations

import random
import sqlite3
import time
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import pytest

from recrawl.model import Entry, Host, Page, Purpose, State, Verdict, Writes
from recrawl.stores import SqliteStore
from recrawl.stores.sqlite import reading
from recrawl.testing.samples import NOON
from recrawl.units import DAY, Spend

PAGE_BYTES, VISIT_BYTES = 250, 60


class Crawl:
    """A made-up crawl: n pages on hosts of very different size, found and read in random order."""

    def __init__(self, n: int, seed: int = 3) -> None:
        self.n = n
        self.rng = random.Random(seed)
        hosts = max(10, n // 100)
        self.hosts = {h: Host(h, f"https://host{h}.example.com", delay=1.5) for h in range(hosts)}
        self.keys = [
            (int(hosts * self.rng.random() ** 3), self.rng.getrandbits(64) - 2**63)
            for _ in range(n)
        ]

    def found(self, i: int) -> Page:
        host_id, key = self.keys[i]
        path = f"/articles/{2000 + i % 25}/some-title-of-it-{i}"
        return Page(host_id, key, path, depth=2 + i % 4, first_seen=NOON + i * 0.003)

    def read(self, i: int, t: float) -> Page:
        page, rng = self.found(i), self.rng
        page.state, page.last, page.last_attempt = State.LIVE, t, t
        page.changed_at, page.due = t - DAY * (i % 9) / 7, t + rng.random() * 30 * DAY
        page.a, page.b, page.va, page.vb, page.body = (rng.random() * 1e5 for _ in range(5))
        page.etag = f'"{0x5F3A0B2C1D4E0 + i:x}-{20_000 + i:x}"'
        page.last_modified = f"Sat, 29 Nov 2025 13:{i % 60:02}:{i // 60 % 60:02} GMT"
        page.digest1, page.digest2 = rng.randbytes(8), rng.randbytes(8)
        page.n_visits, page.n_changes, page.n_not_modified = i % 40, i % 7, i % 20
        return page

    def visited(self, i: int, t: float) -> Entry:
        host_id, key = self.keys[i]
        same, rng = i % 2 == 0, self.rng
        up, down = 280 + i % 90, 219 + i % 200 if same else 8000 + i % 30_000
        return Entry(
            t, host_id, key, Purpose.BEST_BUY if i % 20 else Purpose.VERIFICATION,
            Verdict.NOT_MODIFIED if same else Verdict.CHANGED if i % 3 else Verdict.SAME,
            i % 3, 304 if same else 200, "not-modified" if same else "ok", True, up, down,
            Spend(up + down, (up + down) * 4 // 1000, 0, 1, 80 + i % 300),
            tau=3 * DAY + i, predicted=rng.random(), gain=rng.random() * 1e4,
            price=rng.random() * 2e4, score=rng.random(), bar=0.0123,
            sighted=0 if same else 80 + i % 40, evidence="" if same else "visible text",
        )  # fmt: skip

    def discoveries(self) -> Iterator[Writes]:
        yield Writes(hosts=self.hosts)
        for first in range(0, self.n, 1000):
            these = range(first, min(first + 1000, self.n))
            yield Writes(new_pages={self.keys[i]: self.found(i) for i in these})

    def visits(self) -> Iterator[Writes]:
        """Each page once, in the course of a day, 100 a commit."""
        order = self.rng.sample(range(self.n), self.n)
        for first in range(0, self.n, 100):
            writes = Writes()
            for j, i in enumerate(order[first : first + 100], first):
                t = round(NOON + DAY / 2 + j * DAY / self.n, 3)
                writes.pages[self.keys[i]] = self.read(i, t)
                writes.entries.append(self.visited(i, t))
                host = self.hosts[self.keys[i][0]]
                host.next_ok = t + host.delay
                writes.hosts[host.host_id] = host
            yield writes


def sizes(path: Path) -> dict[str, tuple[float, float]]:
    """Table -> (bytes of the file, bytes of the rows alone), each by the row."""
    with closing(sqlite3.connect(path)) as connection:
        try:
            measured = connection.execute(
                "SELECT name, sum(pgsize), sum(payload) FROM dbstat GROUP BY name"
            ).fetchall()
        except sqlite3.OperationalError:
            pytest.skip("this SQLite has no dbstat")
        counted = {
            name: connection.execute(f"SELECT count(*) FROM {name}").fetchone()[0]
            for name in ("page", "visit")
        }
    return {
        name: (pages / counted[name], rows / counted[name])
        for name, pages, rows in measured
        if name in counted
    }


def test_a_page_and_a_visit_keep_to_their_bytes(tmp_path: Path) -> None:
    path = tmp_path / "crawl.sqlite"
    crawl = Crawl(10_000)
    with SqliteStore.open(path, create=True) as store:
        for writes in (*crawl.discoveries(), *crawl.visits()):
            store.commit(writes)
        assert len(store.scan_hot()) == crawl.n
    measured = sizes(path)
    assert measured["page"][0] <= PAGE_BYTES, "with half-full pages and all"
    assert measured["visit"][1] + 3 <= VISIT_BYTES, "3: SQLite's own bytes for a row"
    assert measured["visit"][0] <= 1.2 * VISIT_BYTES


QUESTIONS = {
    "get_page": "page WHERE host_id = 1 AND key = 2",
    "iter_pages": "page WHERE host_id = 1 ORDER BY host_id, key",
    "changes": "change WHERE t >= 1 AND t < 2 ORDER BY t, change_id",
    "get_record": "record WHERE host_id = 1 AND key = 2",
    "entries": "visit WHERE day BETWEEN 1 AND 2",
    "spent": "visit WHERE day = 1 AND at >= 2 AND at < 3",
    "rollup": "rollup WHERE day >= 1 AND day < 2",
}


@pytest.mark.parametrize("question", QUESTIONS)
def test_questions_seek(tmp_path: Path, question: str) -> None:
    with SqliteStore.open(tmp_path / "crawl.sqlite", create=True) as store:
        plan = store._all(f"EXPLAIN QUERY PLAN SELECT * FROM {QUESTIONS[question]}")
        history = store._all(f"EXPLAIN QUERY PLAN {reading._HISTORY}", (1, 2, 100))
    assert all("SEARCH" in step or "SCAN" not in step for *_, step in plan), plan
    assert not [s for *_, s in plan if "TEMP B-TREE" in s], plan
    assert [s for *_, s in history if "SEARCH visit USING PRIMARY KEY (day=? AND host_id=?" in s]


@pytest.mark.slow
def test_a_million_pages(tmp_path: Path) -> None:
    """Prints the figures; asserts only what holds on a busy machine."""
    path = tmp_path / "crawl.sqlite"
    crawl = Crawl(1_000_000)
    with SqliteStore.open(path, create=True) as store:
        print(f"\nadmitted: {rate(store, crawl.discoveries(), crawl.n)} a second")
        again = (w for i, w in enumerate(crawl.discoveries()) if i % 5 == 0)
        print(f"known already: {rate(store, again, crawl.n // 5)} a second")
        print(f"outcomes, 100 a commit: {rate(store, crawl.visits(), crawl.n)} a second")
        for _ in range(2):
            began, cpu = time.monotonic(), time.thread_time()
            assert len(store.scan_hot()) == crawl.n
            wall, busy = time.monotonic() - began, time.thread_time() - cpu
            print(f"scan_hot: {wall:.2f} s, {busy:.2f} s of CPU")
        began = time.monotonic()
        assert len(store.load_pages(crawl.keys[::50])) == crawl.n // 50
        print(f"load_pages: {(time.monotonic() - began) / crawl.n * 50e6:.1f} us a page")
        began = time.monotonic()
        assert len(store.history(*crawl.keys[7])) == 1
        print(f"history: {(time.monotonic() - began) * 1e3:.1f} ms")
    for table, (in_file, alone) in sizes(path).items():
        print(f"{table}: {in_file:.1f} B of the file, {alone:.1f} B of it the row")
        assert in_file <= 1.2 * (PAGE_BYTES if table == "page" else VISIT_BYTES)


def rate(store: SqliteStore, batches: Iterator[Writes], n: int) -> int:
    """Rows made durable a second, the making of the batches not counted."""
    spent = 0.0
    for writes in batches:
        began = time.monotonic()
        store.commit(writes)
        spent += time.monotonic() - began
    return round(n / spent)
