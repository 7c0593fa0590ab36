"""The store under the commands: many at once, locked, cut short, full, and newer than we are."""

import sqlite3
import threading
import time

import pytest

from recrawl.cli import session
from recrawl.stores import SqliteStore
from servers.lab import page

N = 25


@pytest.fixture
def site(crawl):
    """A site with a listing and N pages, and its project."""
    listing = page(*(f"/page/{i}" for i in range(N)))
    crawl.serve({"any.test": {"/": listing, "*": {"b": "text", "delay": 0.03}}})
    crawl.project("http://any.test/")
    return crawl


def complete(crawl):
    """Every page was asked for once and is in the store, whole."""
    asked = [a.path for a in crawl.lab.pages()]
    assert len(asked) == len(set(asked)) == N + 1
    with sqlite3.connect(crawl.folder / "recrawl.db") as db:
        assert db.execute("PRAGMA integrity_check").fetchone() == ("ok",)
        assert db.execute("SELECT count(*) FROM page").fetchone() == (N + 1,)
    db.close()


def test_many_commands_at_once(site):  # STO-01
    """One crawls, a dozen read, on a store that is new at first."""
    crawler = site.start("run", "-q")
    until = time.monotonic() + 20
    while not (site.folder / "recrawl.db").exists() and time.monotonic() < until:
        time.sleep(0.01)
    readers = [site.start(c, "--json") for c in ("pages", "hosts", "ledger", "frontier") * 2]
    for process in readers:
        _, err = process.communicate(timeout=60)
        assert process.returncode == 0 and "locked" not in err, err
    _, err = crawler.communicate(timeout=60)
    assert crawler.returncode == 0, err
    complete(site)


def locked_for(crawl, seconds, started):
    """Hold the store's write lock, as a backup might, once the crawl is under way."""
    until = time.monotonic() + 20
    while len(crawl.lab.pages()) < 5 and time.monotonic() < until:
        time.sleep(0.005)
    db = sqlite3.connect(crawl.folder / "recrawl.db", timeout=5, isolation_level=None)
    db.execute("BEGIN IMMEDIATE")
    started.set()
    time.sleep(seconds)
    db.execute("ROLLBACK")
    db.close()


def test_a_short_lock_costs_nothing(site):  # STO-03
    held = threading.Event()
    thread = threading.Thread(target=locked_for, args=(site, 2.0, held))
    thread.start()
    site.run()
    thread.join()
    assert held.is_set()
    complete(site)


def test_a_long_lock_ends_the_run_cleanly(site, monkeypatch):  # STO-03
    def open_store(settings, *, create=True):
        return SqliteStore.open(settings.store, create=create, patience=0.5)

    monkeypatch.setattr(session, "open_store", open_store)
    held = threading.Event()
    thread = threading.Thread(target=locked_for, args=(site, 4.0, held))
    thread.start()
    stopped = site.cli("run", "-q")
    thread.join()
    assert stopped.code == 1 and "locked" in stopped.err
    before = [a.path for a in site.lab.pages()]
    site.run()
    asked = [a.path for a in site.lab.pages()]
    assert len(set(asked)) == N + 1
    assert len(asked) - len(set(asked)) <= 2  # what was in flight
    assert len(before) < N + 1


@pytest.mark.parametrize("left", [0, 1, 100, 5000])
def test_a_store_cut_short_is_never_begun_anew(site, left):  # STO-05
    site.run()
    with (site.folder / "recrawl.db").open("r+b") as file:
        file.truncate(left)
    site.lab.clear()
    for command in (["run", "-q"], ["pages"], ["hosts"]):
        result = site.cli(*command)
        assert result.code == 1 and "recrawl.db" in result.err, command
    assert site.lab.asked == []
    assert (site.folder / "recrawl.db").stat().st_size == left


def test_a_store_of_a_newer_program(site):  # STO-09
    site.run()
    db = sqlite3.connect(site.folder / "recrawl.db")
    (version,) = db.execute("PRAGMA user_version").fetchone()
    db.execute(f"PRAGMA user_version={version + 7}")
    db.commit()
    db.close()
    for command in (["run", "-q"], ["pages"]):
        result = site.cli(*command)
        assert result.code == 1 and "newer" in result.err
    db = sqlite3.connect(site.folder / "recrawl.db")
    assert db.execute("PRAGMA user_version").fetchone() == (version + 7,)
    assert db.execute("SELECT count(*) FROM page").fetchone() == (N + 1,)
    db.close()


def test_a_file_that_can_grow_no_more(site):  # STO-07
    """The limit on a file's size stands for a full disk: a clean stop, and on it goes later."""
    import resource

    def limit():
        resource.setrlimit(resource.RLIMIT_FSIZE, (150_000, 150_000))

    process = site.start("run", "-q", preexec_fn=limit)
    _, err = process.communicate(timeout=60)
    assert process.returncode == 1 and "Traceback" not in err, err
    assert "recrawl.db" in err
    done = {a.path for a in site.lab.pages()}
    assert len(done) < N + 1
    site.run()
    asked = [a.path for a in site.lab.pages()]
    assert len(set(asked)) == N + 1 and len(asked) <= N + 3
