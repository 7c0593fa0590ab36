"""A simulated power cut: what was not synced to the disk is lost, in part, sector by sector.

The store's own writing code runs on another SQLite driver, whose file system notes every write
and every sync. Then the power fails at any moment: of each file there is what was synced, and of
what was written since, any part. With synchronous=FULL nothing acknowledged may be missing; the
weaker settings show that the test would notice.
"""

from __future__ import annotations

import random
import sqlite3
from contextlib import closing
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest

from recrawl.model import Writes
from recrawl.ports import StoreError
from recrawl.stores import SqliteStore
from recrawl.stores.sqlite.checkpoint import checkpoint
from recrawl.stores.sqlite.files import prepare_writer
from recrawl.stores.sqlite.writing import Writer
from recrawl.testing.samples import NOON, a_full_page, a_host, a_reservation, an_entry

apsw = pytest.importorskip("apsw", reason="the power cut needs a file system in Python: apsw")

SECTOR = 512
BATCHES, ROWS = 50, 10


@dataclass
class Disk:
    """All that happened, in order."""

    log: list[tuple[Any, ...]] = field(default_factory=list)

    def files_at(self, moment: int, before: bytes, rng: random.Random) -> dict[str, bytes]:
        """What a disk holds whose power failed at that moment."""
        past = self.log[:moment]
        synced = {name: i for i, (what, name, *_) in enumerate(past) if what == "sync"}
        files = {"crawl.sqlite": bytearray(before)}
        for i, (what, name, *change) in enumerate(past):
            content = (
                files.setdefault(name, bytearray()) if what in ("write", "cut") else bytearray()
            )
            certain = i < synced.get(name, -1)
            if what == "write":
                data, offset = change
                for start in range(0, len(data), SECTOR):
                    if certain or rng.random() < 0.5:
                        end = offset + min(start + SECTOR, len(data))
                        content.extend(bytes(max(0, end - len(content))))
                        content[offset + start : end] = data[start : start + SECTOR]
            elif what == "cut" and (certain or rng.random() < 0.5):
                del content[change[0] :]
        return {name: bytes(content) for name, content in files.items()}

    def acknowledged(self, moment: int) -> int:
        return sum(what == "ack" for what, *_ in self.log[:moment])


def file_system(disk: Disk, name: str) -> Any:
    """The real one, with notes. Keep the answer: it is registered for as long as it lives."""

    class Noted(apsw.VFSFile):  # type: ignore[misc]
        def __init__(self, path: Any, flags: list[int]) -> None:
            super().__init__("", path, flags)
            self.name = Path(path if isinstance(path, str) else path.filename()).name
            if flags[0] & apsw.SQLITE_OPEN_WAL:
                self.name = "crawl.sqlite-wal"

        def xWrite(self, data: bytes, offset: int) -> None:  # noqa: N802
            disk.log.append(("write", self.name, bytes(data), offset))
            super().xWrite(data, offset)

        def xTruncate(self, size: int) -> None:  # noqa: N802
            disk.log.append(("cut", self.name, size))
            super().xTruncate(size)

        def xSync(self, flags: int) -> None:  # noqa: N802
            disk.log.append(("sync", self.name))
            super().xSync(flags)

    class System(apsw.VFS):  # type: ignore[misc]
        def __init__(self) -> None:
            super().__init__(name, "")

        def xOpen(self, path: Any, flags: list[int]) -> Noted:  # noqa: N802
            return Noted(path, flags)

    return System()


def batch(i: int) -> Writes:
    keys = range(i * ROWS, (i + 1) * ROWS)
    scattered = {(k * 7919 % 50, k): a_full_page(k * 7919 % 50, k) for k in keys}
    return Writes(
        hosts={1: a_host(1)},
        pages=scattered,
        entries=[an_entry(NOON + k, h, k) for h, k in scattered],
        reserved=[a_reservation(i)],
        settled=[i - 1],
        meta={"batch": str(i)},
    )


def crawl_noted(path: Path, synchronous: str) -> tuple[Disk, bytes]:
    """A crawl with checkpoints now and then, all of it noted; and the file before it."""
    SqliteStore.open(path, create=True).close()
    before = path.read_bytes()
    disk, rng = Disk(), random.Random(5)
    name = f"noted-{path.parent.name}-{synchronous}"
    system = file_system(disk, name)
    connection = apsw.Connection(str(path), vfs=name)
    try:
        list(connection.execute("PRAGMA locking_mode=EXCLUSIVE"))  # no shared memory in Python
        prepare_writer(connection)
        if synchronous != "FULL":
            list(connection.execute(f"PRAGMA synchronous={synchronous}"))
        writer = Writer(connection)
        for i in range(BATCHES):
            writer.commit(batch(i))
            disk.log.append(("ack", "", i))
            if rng.random() < 0.2:
                checkpoint(connection, rng.choice(["PASSIVE", "PASSIVE", "TRUNCATE"]))
    finally:
        connection.close()
        system.unregister()
    return disk, before


def cut(tmp_path: Path, synchronous: str, cuts: int) -> tuple[int, int]:
    """(commits lost, files damaged) over so many power cuts."""
    disk, before = crawl_noted(tmp_path / "crawl.sqlite", synchronous)
    rng = random.Random(11)
    lost = damaged = 0
    for moment in sorted(rng.sample(range(1, len(disk.log)), cuts)):
        folder = tmp_path / f"cut{moment}"
        folder.mkdir()
        for name, content in disk.files_at(moment, before, rng).items():
            (folder / name).write_bytes(content)
        try:
            kept = kept_batches(folder / "crawl.sqlite")
        except StoreError:
            damaged += 1
        else:
            lost += max(0, disk.acknowledged(moment) - kept)
    return lost, damaged


def kept_batches(path: Path) -> int:
    """How many batches there are, each whole. Raises StoreError if the file is damaged."""
    with SqliteStore.open(path, create=False) as store:
        n = int(store.meta().get("batch", -1)) + 1
        whole = list(range(n * ROWS))
        pages = sorted(p.key for p in store.iter_pages())
        visits = [e.key for e in store.entries()]
        counted = sum(r.n for r in store.rollup())
    with closing(sqlite3.connect(path)) as connection:
        if connection.execute("PRAGMA integrity_check").fetchall() != [("ok",)]:
            raise StoreError("damaged")
    assert (pages, visits, counted) == (whole, whole, len(whole)), "a batch is there in part"
    return n


def test_a_power_cut_loses_nothing_that_was_acknowledged(tmp_path: Path) -> None:
    assert cut(tmp_path, "FULL", 40) == (0, 0)


def test_the_simulation_notices_commits_that_are_not_synced(tmp_path: Path) -> None:
    """NORMAL syncs only at checkpoints: commits are lost, the file is not damaged."""
    lost, damaged = cut(tmp_path, "NORMAL", 20)
    assert lost > 10
    assert damaged == 0


def test_the_simulation_notices_a_file_that_is_not_synced(tmp_path: Path) -> None:
    """OFF never syncs: commits are lost or files damaged."""
    lost, damaged = cut(tmp_path, "OFF", 12)
    assert lost + damaged > 5
