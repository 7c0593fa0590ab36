"""Processes that are really killed while they commit: what was acknowledged is there, whole.

FRO-03, STO-05. A batch that was not acknowledged may be there or not, but never in part.
"""

from __future__ import annotations

import random
import sqlite3
import subprocess
import sys
from collections import Counter
from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path

from recrawl.stores import SqliteStore
from recrawl.stores.sqlite.encode import to_ms

ROWS = 10  # pages, entries, records and changes of a batch; one reservation is left open by each
KILLS = 12

NURSERY = """
import os, signal, sys, time
from collections import Counter
from recrawl.model import Writes
from recrawl.stores import SqliteStore
from recrawl.stores.sqlite import checkpoint
from recrawl.testing.samples import (
    NOON, a_change, a_full_page, a_host, a_record, a_reservation, an_entry,
)

rows = int(sys.argv[1])
checkpoint.EVERY, checkpoint.IDLE, checkpoint.MAX_WAL = 0.005, 0.02, 300_000

def batch(i):
    keys = range(i * rows, (i + 1) * rows)
    host = a_host(1)
    host.next_ok = float(i)
    return Writes(
        hosts={1: host},
        pages={(1, k): a_full_page(1, k) for k in keys},
        records={(1, k): a_record() for k in keys},
        entries=[an_entry(NOON + k, 1, k) for k in keys],
        changes=[a_change(NOON + k, 1, k) for k in keys],
        reserved=[a_reservation(i)], settled=[i - 1],
        refused=Counter({("x", "too deep"): 1}), meta={"batch": str(i)},
    )

def write(path):
    with SqliteStore.open(path, create=True) as store:
        i = int(store.meta().get("batch", -1)) + 1
        while True:
            store.commit(batch(i))
            os.write(1, b"%d\\n" % i)
            i += 1

for line in sys.stdin:
    seconds, path = line.rstrip("\\n").split(" ", 1)
    child = os.fork()
    if child == 0:
        write(path)
    time.sleep(float(seconds))
    os.kill(child, signal.SIGKILL)
    os.waitpid(child, 0)
    os.write(1, b"killed\\n")
"""


@contextmanager
def nursery() -> Iterator[subprocess.Popen[str]]:
    """A process that starts writers and kills them after the seconds that it is told."""
    process = subprocess.Popen(
        [sys.executable, "-c", NURSERY, str(ROWS)],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
        bufsize=1,
    )
    with process:
        yield process
        process.communicate(timeout=30)
    assert process.returncode == 0


def acknowledged(process: subprocess.Popen[str], path: Path, seconds: float) -> list[int]:
    """Let a writer live for so long; the batches that it was told are durable."""
    assert process.stdin
    assert process.stdout
    process.stdin.write(f"{seconds} {path}\n")
    lines = []
    while (line := process.stdout.readline().strip()) != "killed":
        assert line
        lines.append(int(line))
    return lines


def kept_batches(path: Path, read_only: bool) -> int:
    """How many batches there are, each whole; the file in order."""
    with SqliteStore.open(path, create=False, read_only=read_only) as store:
        last = int(store.meta().get("batch", -1))
        n = last + 1
        whole = list(range(n * ROWS))
        assert [p.key for p in store.iter_pages()] == whole
        assert len(store.scan_hot()) == len(whole)
        assert [page.key for page, _ in store.iter_records()] == whole
        assert [e.key for e in store.entries()] == whole
        assert [c.key for c in store.changes()] == whole
        assert sum(r.n for r in store.rollup()) == len(whole)
        if n:
            assert [r.lease for r in store.open_reservations()] == [last]
            assert [h.next_ok for h in store.load_hosts()] == [float(last)]
            assert store.refused() == [("x", "too deep", n)]
    return n


def integrity(path: Path) -> list[tuple[str]]:
    with closing(sqlite3.connect(path)) as connection:
        return connection.execute("PRAGMA integrity_check").fetchall()


def test_nothing_acknowledged_is_lost_to_kill_9(tmp_path: Path) -> None:
    path = tmp_path / "crawl.sqlite"
    rng = random.Random(20)
    total, killed_writing = 0, 0
    with nursery() as process:
        acknowledged(process, path, 0.3)  # a slow start is no kill
        for kill in range(KILLS):
            acked = acknowledged(process, path, rng.uniform(0.03, 0.2))
            read_only = kill % 2 == 0  # the log is read by a reader, or recovered by a writer
            kept = kept_batches(path, read_only)
            if acked:
                assert kept >= acked[-1] + 1, "an acknowledged batch is lost"
                assert kept <= acked[-1] + 2, "at most one was in flight"
                killed_writing += 1
            total = max(total, kept)
    assert integrity(path) == [("ok",)]
    assert killed_writing >= KILLS // 2
    assert total >= KILLS


def test_killed_at_its_very_start_it_can_start_again(tmp_path: Path) -> None:
    """FRO-05: whenever the first process dies, the next one finds a store or makes one."""
    with nursery() as process:
        for attempt in range(3):
            path = tmp_path / f"{attempt}.sqlite"
            for i in range(10):
                acknowledged(process, path, 0.003 * i + 0.001 * attempt)
                if path.exists():
                    kept_batches(path, read_only=True)
            assert acknowledged(process, path, 0.7)
            kept_batches(path, read_only=False)
            assert integrity(path) == [("ok",)]


def test_what_was_open_at_the_kill_is_known(tmp_path: Path) -> None:
    """The promise of a visit in flight is there to be booked as unknown."""
    path = tmp_path / "crawl.sqlite"
    with nursery() as process:
        acked = acknowledged(process, path, 0.7)
    assert acked
    with SqliteStore.open(path, create=False) as store:
        (open_one,) = store.open_reservations()
        assert open_one.lease in (acked[-1], acked[-1] + 1)
        assert open_one.reserved.bytes == 30_000
        assert Counter(to_ms(e.t) for e in store.entries()).most_common(1)[0][1] == 1
