"""What goes wrong outside: locks held by others, full disks, values that have no row."""

from __future__ import annotations

import ctypes
import os
import sqlite3
import threading
import time
from collections.abc import Iterator
from contextlib import closing, contextmanager
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from recrawl.model import Entry, Writes
from recrawl.ports import StoreBusy, StoreError, StoreFull
from recrawl.stores import SqliteStore
from recrawl.stores.sqlite import store as store_module
from recrawl.testing.samples import a_full_page, a_host, a_page, a_record, an_entry


def integrity(path: Path) -> list[tuple[str]]:
    with closing(sqlite3.connect(path)) as connection:
        return connection.execute("PRAGMA integrity_check").fetchall()


@contextmanager
def locked(path: Path, seconds: float) -> Iterator[threading.Timer]:
    """Another program holds the write lock for a while."""
    other = sqlite3.connect(path, isolation_level=None, check_same_thread=False)
    other.execute("BEGIN EXCLUSIVE")
    release = threading.Timer(seconds, other.rollback)
    release.start()
    try:
        yield release
    finally:
        release.cancel()
        release.join()
        other.close()


def test_a_short_lock_is_waited_for(tmp_path: Path) -> None:
    """STO-03: longer than SQLite's own patience, shorter than ours: no loss, no error."""
    path = tmp_path / "crawl.sqlite"
    with SqliteStore.open(path, create=True, patience=20) as store:
        began = time.monotonic()
        with locked(path, 0.8):
            store.commit(Writes(entries=[an_entry()]))
        assert time.monotonic() - began >= 0.75
        assert len(list(store.entries())) == 1


def test_a_long_lock_ends_in_a_sentence_and_nothing_is_lost(tmp_path: Path) -> None:
    path = tmp_path / "crawl.sqlite"
    writes = Writes(new_pages={(1, 1): a_page(1, 1)}, entries=[an_entry()])
    with SqliteStore.open(path, create=True, patience=0.4) as store:
        with locked(path, 60) as _:
            with pytest.raises(StoreBusy, match=r"crawl\.sqlite is locked by another program"):
                store.commit(writes)
            assert len(store.scan_hot()) == 0, "reading goes on meanwhile"
        store.commit(writes)
        assert (len(store.scan_hot()), sum(r.n for r in store.rollup())) == (1, 1)


def test_a_full_file_keeps_nothing_of_the_transaction_and_goes_on(tmp_path: Path) -> None:
    """STO-07, by SQLite's own limit: at whichever row space ends, all or nothing."""
    path = tmp_path / "crawl.sqlite"
    with SqliteStore.open(path, create=True) as store:
        store.commit(Writes(new_pages={(0, 0): a_page(0, 0)}, entries=[an_entry(host_id=0)]))
        before = store.scan_hot().array(), list(store.entries()), store.meta()
        connection = store._writing
        assert connection
        (pages,) = connection.execute("PRAGMA page_count").fetchone()
        for room in (0, 1, 5, 40, 90):
            connection.execute(f"PRAGMA max_page_count={pages + room}")
            with pytest.raises(StoreFull, match="Free some space and start again"):
                store.commit(much(1))
            assert (store.scan_hot().array() == before[0]).all()
            assert (list(store.entries()), store.meta()) == before[1:]
        connection.execute("PRAGMA max_page_count=1000000")
        store.commit(much(1))
        assert len(store.scan_hot()) == 1 + 700
        assert sum(r.n for r in store.rollup()) == 1 + 700
    assert integrity(path) == [("ok",)]


def much(host_id: int) -> Writes:
    """Far more than the room that is left."""
    return Writes(
        new_pages={(host_id, k): a_full_page(host_id, k) for k in range(700)},
        records={(host_id, k): replace(a_record(), fields={"x": "y" * 900}) for k in range(700)},
        entries=[replace(an_entry(host_id=host_id, key=k), evidence=f"e{k}") for k in range(700)],
        meta={"much": "yes"},
    )


@pytest.fixture
def small_disk(tmp_path: Path) -> Iterator[Path]:
    """A real file system of 3 MB; only root can mount one."""
    libc = ctypes.CDLL(None, use_errno=True)
    target = str(tmp_path).encode()
    if os.geteuid() != 0 or libc.mount(b"tmpfs", target, b"tmpfs", 0, b"size=3m") != 0:
        pytest.skip("may not mount a small file system")
    try:
        yield tmp_path
    finally:
        libc.umount2(target, 2)


def test_a_full_disk_ends_in_a_sentence_and_the_crawl_goes_on(small_disk: Path) -> None:
    """STO-07, on a disk that is really full."""
    path = small_disk / "crawl.sqlite"
    acknowledged = 0
    with SqliteStore.open(path, create=True) as store:
        ballast = small_disk / "ballast"
        ballast.write_bytes(bytes(600_000))
        with pytest.raises(StoreFull, match=r"crawl\.sqlite: no space left"):
            for host_id in range(100):
                store.commit(much(host_id))
                acknowledged += 1
        assert len(store.scan_hot()) == acknowledged * 700
        ballast.unlink()
        store.commit(Writes(meta={"freed": "yes"}))
    with SqliteStore.open(path, create=False) as store:
        assert store.meta()["freed"] == "yes"
        assert len(store.scan_hot()) == len(list(store.entries())) == acknowledged * 700
    assert integrity(path) == [("ok",)]


def test_a_store_can_be_opened_and_closed_on_a_full_disk(small_disk: Path) -> None:
    path = small_disk / "crawl.sqlite"
    with SqliteStore.open(path, create=True) as store:
        store.commit(Writes(meta={"a": "1"}))
    with pytest.raises(OSError, match="No space"), (small_disk / "ballast").open("wb") as ballast:
        while True:
            ballast.write(bytes(4096))
    try:
        with SqliteStore.open(path, create=False) as store:
            assert store.meta() == {"a": "1"}
            store.commit(much(1))
    except StoreFull as full:
        assert "crawl.sqlite" in str(full)
    else:
        pytest.fail("there was no room for this")
    with pytest.raises(StoreFull, match=r"new\.sqlite"):
        SqliteStore.open(small_disk / "new.sqlite", create=True)
    assert not (small_disk / "new.sqlite").exists()
    (small_disk / "ballast").unlink()
    with SqliteStore.open(path, create=False) as store:
        assert store.meta() == {"a": "1"}


@pytest.mark.parametrize(
    "bad",
    [
        Writes(pages={(1, 1): replace(a_page(1, 1), n_visits=2**63)}),
        Writes(pages={(1, 1): replace(a_page(1, 1), last=float("nan"))}),
        Writes(pages={(1, 1): replace(a_page(1, 1), value=float("nan"))}),
        Writes(pages={(1, 1): replace(a_page(1, 1), a=1e300)}),
        Writes(pages={(1, 1): replace(a_page(1, 1), path=None)}),  # type: ignore[arg-type]
        Writes(records={(1, 1): replace(a_record(), fields={"x": {1, 2}})}),
        Writes(entries=[replace(an_entry(), up="many")]),  # type: ignore[arg-type]
        Writes(hosts={1: replace(a_host(1), delay=float("nan"))}),
    ],
    ids=lambda w: next(name for name in w.__slots__ if getattr(w, name)),
)
def test_a_value_without_a_row_is_a_store_error_and_keeps_nothing(
    tmp_path: Path, bad: Writes
) -> None:
    bad.merge(Writes(new_pages={(2, 2): a_page(2, 2)}, meta={"b": "1"}))
    with SqliteStore.open(tmp_path / "crawl.sqlite", create=True) as store:
        with pytest.raises(StoreError, match=r"crawl\.sqlite"):
            store.commit(bad)
        assert (len(store.scan_hot()), store.meta(), store.load_hosts()) == (0, {}, [])
        store.commit(Writes(entries=[an_entry()]))
        assert next(iter(store.entries())).evidence == an_entry().evidence


def test_what_an_array_held_may_be_written(tmp_path: Path) -> None:
    keys = np.array([5, -6])
    page = replace(
        a_page(1, 1), host_id=np.int32(1), key=keys[0], fails=np.uint8(3), n_visits=np.int16(4),
        last=np.float64(8.5), a=np.float32(1.5), b=np.float32(2.0), value=np.float32(0.5),
    )  # fmt: skip
    entry = replace(an_entry(), key=keys[1], down=np.int64(7), conditional=np.bool_(True))
    with SqliteStore.open(tmp_path / "crawl.sqlite", create=True) as store:
        store.commit(Writes(pages={(1, 5): page}, entries=[entry]))
        assert store.load_pages([(np.int64(1), keys[0])]) == [page]
        (read,) = store.history(1, -6)
        assert (read.down, read.conditional) == (7, True)


def test_a_failed_commit_forgets_the_outcomes_that_it_named(tmp_path: Path) -> None:
    """A number given to a way of ending doesn't outlive the transaction that should keep it."""
    unfit = replace(a_record(), digest1=object())  # type: ignore[arg-type]
    path = tmp_path / "crawl.sqlite"
    with SqliteStore.open(path, create=True) as store:
        for evidence in ("first", "second"):
            entry = replace(an_entry(), evidence=evidence)
            with pytest.raises(StoreError):
                store.commit(Writes(entries=[entry], records={(1, 1): unfit}))
        kept = [replace(an_entry(i), evidence=e) for i, e in enumerate(("third", "second"))]
        store.commit(Writes(entries=kept))
        assert [e.evidence for e in store.entries()] == ["third", "second"]


def test_a_store_in_a_folder_that_may_not_be_written(tmp_path: Path) -> None:
    if os.geteuid() == 0:
        pytest.skip("root may write anywhere")
    path = tmp_path / "crawl.sqlite"
    SqliteStore.open(path, create=True).close()
    tmp_path.chmod(0o500)
    try:
        with pytest.raises(StoreError, match=r"crawl\.sqlite"):
            SqliteStore.open(path, create=False)
    finally:
        tmp_path.chmod(0o700)


def test_a_failed_open_lets_go_of_the_lock(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "crawl.sqlite"
    SqliteStore.open(path, create=True).close()
    with monkeypatch.context() as patch:

        def fail(*_: object) -> None:
            raise sqlite3.OperationalError("disk I/O error")

        patch.setattr(store_module, "prepare_writer", fail)
        with pytest.raises(StoreError, match="I/O"):
            SqliteStore.open(path, create=False)
    SqliteStore.open(path, create=False).close()


def test_evidence_without_end_does_not_swell_the_table_of_outcomes(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("recrawl.stores.sqlite.visits.MAX_OUTCOMES", 20)
    path = tmp_path / "crawl.sqlite"

    def entries(first: int) -> list[Entry]:
        return [
            replace(an_entry(i), evidence=f"word {i}" if i % 3 else "", status=200 + i % 5)
            for i in range(first, first + 100)
        ]

    for first in (0, 100):
        with SqliteStore.open(path, create=True) as store:
            store.commit(Writes(entries=entries(first)))
    with SqliteStore.open(path, create=False) as store:
        assert [(e.evidence, e.status) for e in store.entries()] == [
            (e.evidence, e.status) for e in entries(0) + entries(100)
        ]
        assert store._writing
        assert store._writing.execute("SELECT count(*) FROM outcome").fetchone()[0] <= 25
