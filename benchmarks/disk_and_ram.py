"""Bytes on disk and in RAM a page: a store filled with realistic rows, then read as a start does.

    python benchmarks/disk_and_ram.py [--pages 1000000]

Every page has been visited, with its validators verbatim, digests and beliefs; then every page
gets one more line in the visit history.
"""

from __future__ import annotations

import argparse
import random
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path

from measured import machine

from recrawl.engine.mirror import Mirror
from recrawl.model import Entry, Host, Page, Purpose, State, Verdict, Writes
from recrawl.stores.sqlite import SqliteStore
from recrawl.units import DAY, Spend

HOSTS, BATCH = 100, 20_000
START = 1_767_225_600.0
MARKS = {"disk a page": 250.0, "disk a visit": 60.0, "RAM a page": 80.0}  # bytes


def page(i: int, rng: random.Random) -> Page:
    """A page that has been read some times."""
    t = START + rng.random() * 30 * DAY
    return Page(
        i % HOSTS + 1,
        rng.getrandbits(64) - (1 << 63),
        f"/category-{i % 977}/some-product-{i}.html",
        State.LIVE,
        value=1.0,
        depth=3,
        first_seen=START,
        last=t,
        last_attempt=t,
        changed_at=t,
        a=1.3,
        b=rng.random() * 1e6,
        va=1.1,
        vb=rng.random() * 1e6,
        body=rng.lognormvariate(9, 0.7),
        etag=f'"{rng.getrandbits(44):x}-{rng.getrandbits(48):x}"' if i % 2 else None,
        last_modified="Thu, 01 Jan 2026 00:00:00 GMT" if i % 2 else None,
        digest1=rng.randbytes(8),
        digest2=rng.randbytes(8),
        n_visits=5,
        n_changes=2,
        n_not_modified=1,
    )


def entry(p: Page) -> Entry:
    """One more visit of a page, that found it the same."""
    return Entry(
        p.last + DAY,
        p.host_id,
        p.key,
        Purpose.BEST_BUY,
        Verdict.SAME,
        0,
        200,
        "ok",
        p.etag is not None,
        310,
        int(p.body),
        Spend(bytes=310 + int(p.body), micro_usd=40, fetches=1, millis=80),
        tau=DAY,
        predicted=0.3,
        gain=1234.5,
        price=4321.0,
        score=0.3,
        bar=0.1,
    )


def batches(pages: int) -> Iterator[list[Page]]:
    rng = random.Random(1)
    for first in range(0, pages, BATCH):
        yield [page(i, rng) for i in range(first, min(first + BATCH, pages))]


def size(folder: Path) -> int:
    return sum(f.stat().st_size for f in folder.iterdir())


def fill(folder: Path, pages: int) -> tuple[int, int]:
    """Bytes of the store's folder after the pages, and after a visit of each."""
    path = folder / "crawl.db"
    with SqliteStore.open(path, create=True) as store:
        store.commit(
            Writes(hosts={h: Host(h, f"http://h{h}.example") for h in range(1, HOSTS + 1)})
        )
        for batch in batches(pages):
            store.commit(Writes(new_pages={(p.host_id, p.key): p for p in batch}))
    after_pages = size(folder)
    with SqliteStore.open(path, create=False) as store:
        for batch in batches(pages):
            store.commit(Writes(entries=[entry(p) for p in batch]))
    return after_pages, size(folder)


def resident() -> int:
    """Bytes of this process in RAM."""
    return int(Path("/proc/self/statm").read_text().split()[1]) * 4096


def load(path: Path) -> None:
    """What a start does with the pages; prints the bytes that it keeps and the seconds it took."""
    with SqliteStore.open(path, create=False, read_only=True) as store:
        before, began = resident(), time.perf_counter()
        mirror = Mirror(store.scan_hot())
        print(resident() - before, time.perf_counter() - began, mirror.n)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--pages", type=int, default=1_000_000)
    parser.add_argument("--load", type=Path, help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.load:
        load(options.load)
        return
    folder = Path(tempfile.mkdtemp())
    try:
        began = time.perf_counter()
        pages, all_of_it = fill(folder, options.pages)
        filled = time.perf_counter() - began
        command = [sys.executable, __file__, "--load", folder / "crawl.db"]
        told = subprocess.run(command, check=True, capture_output=True, text=True).stdout.split()
    finally:
        shutil.rmtree(folder)
    n = int(told[2])
    figures = {
        "disk a page": pages / n,
        "disk a visit": (all_of_it - pages) / n,
        "RAM a page": float(told[0]) / n,
    }
    print(machine())
    print(f"{n:,} pages; filled in {filled:.0f} s, loaded in {float(told[1]):.1f} s")
    for name, figure in figures.items():
        met = "met" if figure <= MARKS[name] else "MISSED"
        print(f"{name:13} {figure:6.1f} B   mark {MARKS[name]:.0f} B: {met}")
    sys.exit(0 if all(figures[k] <= MARKS[k] for k in MARKS) else 1)


if __name__ == "__main__":
    main()
