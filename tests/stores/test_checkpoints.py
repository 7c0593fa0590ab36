"""Checkpoints run beside the writer, empty the log, and respect readers."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from recrawl.model import Writes
from recrawl.stores import SqliteStore
from recrawl.stores.sqlite import checkpoint as module
from recrawl.testing.samples import a_full_page, an_entry


def wal(path: Path) -> int:
    log = Path(f"{path}-wal")
    return log.stat().st_size if log.exists() else 0


def until(holds: Callable[[], bool], seconds: float = 10.0) -> bool:
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        if holds():
            return True
        time.sleep(0.01)
    return holds()


def pages(n: int, first: int = 0) -> Writes:
    return Writes(pages={(1, k): a_full_page(1, k) for k in range(first, first + n)})


@pytest.fixture
def quick(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "EVERY", 0.02)
    monkeypatch.setattr(module, "IDLE", 0.1)


def test_no_commit_moves_pages_into_the_file_itself(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(module, "EVERY", 3600.0)
    path = tmp_path / "crawl.sqlite"
    with SqliteStore.open(path, create=True) as store:
        size = path.stat().st_size
        for i in range(30):
            store.commit(pages(600, 600 * i))
        assert path.stat().st_size == size
        assert wal(path) > 1000 * 4096  # SQLite's own limit, at which it would have
    assert (wal(path), path.stat().st_size > size) == (0, True)


@pytest.mark.usefixtures("quick")
def test_the_log_is_emptied_when_nothing_happens(tmp_path: Path) -> None:
    path = tmp_path / "crawl.sqlite"
    with SqliteStore.open(path, create=True) as store:
        store.commit(pages(500))
        assert until(lambda: wal(path) == 0)
        store.commit(pages(500, 500))
        assert until(lambda: wal(path) == 0)
        assert len(store.scan_hot()) == 1000


@pytest.mark.usefixtures("quick")
def test_the_log_stays_bounded_under_a_writer_that_never_rests(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(module, "IDLE", 3600.0)
    monkeypatch.setattr(module, "MAX_WAL", 2_000_000)
    path = tmp_path / "crawl.sqlite"
    largest, written, emptied, last = 0, 0, 0, 0
    with SqliteStore.open(path, create=True) as store:
        end = time.monotonic() + 20
        while emptied < 3 and time.monotonic() < end:
            store.commit(pages(200, written % 5000))
            written += 200
            now = wal(path)
            emptied += now < last
            largest, last = max(largest, now), now
    assert emptied >= 3
    assert largest < 60_000_000


@pytest.mark.usefixtures("quick")
def test_a_reader_in_the_log_is_never_cut_off_nor_waited_for(tmp_path: Path) -> None:
    path = tmp_path / "crawl.sqlite"
    with SqliteStore.open(path, create=True) as store:
        store.commit(pages(3000))
        stream = store.iter_pages()
        next(stream)
        began = time.monotonic()
        for i in range(20):
            store.commit(Writes(entries=[an_entry(i)]))
            time.sleep(0.01)
        assert time.monotonic() - began < 5
        assert len(list(stream)) == 2999
        assert until(lambda: wal(path) == 0), "once the reader is gone, the log is emptied"


@pytest.mark.usefixtures("quick")
def test_a_failing_checkpoint_is_tried_again(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    failing = threading.Event()
    failing.set()
    real = module.checkpoint

    def sometimes(connection: object, how: str) -> bool:
        if failing.is_set():
            raise OSError("no space")
        return real(connection, how)  # type: ignore[arg-type]

    monkeypatch.setattr(module, "checkpoint", sometimes)
    path = tmp_path / "crawl.sqlite"
    with SqliteStore.open(path, create=True) as store:
        store.commit(pages(100))
        assert until(lambda: "put off: no space" in caplog.text)
        time.sleep(0.2)
        assert caplog.text.count("put off") == 1, "said once, not every time"
        assert wal(path) > 0
        failing.clear()
        assert until(lambda: wal(path) == 0)


def test_closing_leaves_one_file(tmp_path: Path) -> None:
    path = tmp_path / "crawl.sqlite"
    threads = threading.active_count()
    with SqliteStore.open(path, create=True) as store:
        store.commit(pages(100))
    assert sorted(p.name for p in tmp_path.iterdir()) == ["crawl.sqlite", "crawl.sqlite.lock"]
    assert threading.active_count() == threads
