"""Opening a store: many at once, one writer, and files that are no store, or no longer one."""

from __future__ import annotations

import os
import sqlite3
import subprocess
import sys
from pathlib import Path

import pytest

from recrawl.model import Writes
from recrawl.ports import StoreBusy, StoreError
from recrawl.stores import SqliteStore
from recrawl.testing.samples import a_full_page, a_page

MANY = """
import os, sys
from pathlib import Path
from recrawl.stores import SqliteStore

n, folder = int(sys.argv[2]), Path(sys.argv[3])
for i in range(n):
    if os.fork() == 0:
        while not (folder / "go").exists():
            pass
        with SqliteStore.open(sys.argv[1], create=True, read_only=True) as store:
            said = f"{len(store.scan_hot())} {len(list(store.iter_pages()))} {store.meta()}\\n"
        os.write(1, said.encode())  # in one piece
        os._exit(0)
(folder / "go").touch()
sys.exit(sum(os.waitpid(-1, 0)[1] != 0 for i in range(n)))
"""
WRITE = """
import os, sys
from recrawl.model import Writes
from recrawl.ports import StoreBusy
from recrawl.stores import SqliteStore

for i in range(int(sys.argv[2]) - 1):
    if os.fork() == 0:
        break
try:
    with SqliteStore.open(sys.argv[1], create=True) as store:
        store.commit(Writes(meta={"first": "1"}))
        os.write(1, f"wrote {os.getpid()}\\n".encode())
        sys.stdin.readline()
except StoreBusy as busy:
    os.write(1, f"busy {busy}\\n".encode())
"""


def start(script: str, *arguments: object) -> subprocess.Popen[str]:
    return subprocess.Popen(
        [sys.executable, "-c", script, *map(str, arguments)],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )


def filled(path: Path, n: int = 2000) -> Path:
    with SqliteStore.open(path, create=True) as store:
        store.commit(Writes(new_pages={(1, k): a_full_page(1, k) for k in range(n)}))
    return path


@pytest.mark.parametrize("existing", [False, True])
def test_twenty_processes_start_at_once(tmp_path: Path, existing: bool) -> None:
    """STO-01: on a new file and on an old one, all twenty end well."""
    folder = tmp_path / "store"
    folder.mkdir()
    path = folder / "crawl.sqlite"
    if existing:
        filled(path, 100)
    readers = start(MANY, path, 20, tmp_path)
    out, errors = readers.communicate(timeout=60)
    expected = "100 100 {}" if existing else "0 0 {}"
    assert (readers.returncode, out.splitlines()) == (0, [expected] * 20), errors
    left = {p.name for p in folder.iterdir()} - {"crawl.sqlite-wal", "crawl.sqlite-shm"}
    assert left == ({"crawl.sqlite", "crawl.sqlite.lock"} if existing else {"crawl.sqlite"})


def test_readers_work_beside_the_writer_and_see_what_it_commits(tmp_path: Path) -> None:
    path = filled(tmp_path / "crawl.sqlite", 100)
    with SqliteStore.open(path, create=False) as writer:
        out, errors = start(MANY, path, 5, tmp_path).communicate(timeout=60)
        assert out.splitlines() == ["100 100 {}"] * 5, errors
        with SqliteStore.open(path, create=False, read_only=True) as reader:
            writer.commit(Writes(meta={"a": "1"}))
            assert reader.meta() == {"a": "1"}
            with pytest.raises(StoreError, match="reading only"):
                reader.commit(Writes(meta={"b": "1"}))


def test_of_many_writers_on_a_new_file_one_wins_and_the_others_say_who(tmp_path: Path) -> None:
    path = tmp_path / "crawl.sqlite"
    writers = start(WRITE, path, 6)
    assert writers.stdout
    lines = [writers.stdout.readline() for _ in range(6)]
    _, errors = writers.communicate("\n" * 6, timeout=60)
    winners = [line.split()[1] for line in lines if line.startswith("wrote")]
    assert len(winners) == 1, lines
    losers = [line for line in lines if line.startswith("busy")]
    assert len(losers) == 5, lines
    # 'unknown': asked in the instant before the winner wrote its number
    assert {line.split("(process ")[1].split(")")[0] for line in losers} <= {*winners, "unknown"}
    assert all(str(path) in line for line in losers)
    assert errors == ""


def test_the_lock_ends_with_its_process(tmp_path: Path) -> None:
    path = tmp_path / "crawl.sqlite"
    writer = start(WRITE, path, 1)
    assert writer.stdout
    assert writer.stdout.readline().startswith("wrote")
    with pytest.raises(StoreBusy, match=f"process {writer.pid}"):
        SqliteStore.open(path, create=False)
    writer.kill()
    writer.communicate()
    with SqliteStore.open(path, create=False) as store:
        assert store.meta() == {"first": "1"}


def test_a_second_writer_in_the_same_process_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "crawl.sqlite"
    with SqliteStore.open(path, create=True), pytest.raises(StoreBusy):
        SqliteStore.open(path, create=True)
    SqliteStore.open(path, create=False).close()


@pytest.mark.parametrize("read_only", [False, True])
def test_a_missing_store_is_not_made_unless_asked(tmp_path: Path, read_only: bool) -> None:
    path = tmp_path / "none.sqlite"
    with pytest.raises(StoreError, match=r"there is no store at .*none\.sqlite"):
        SqliteStore.open(path, create=False, read_only=read_only)
    assert list(tmp_path.iterdir()) == []
    with pytest.raises(StoreError, match=r"folder .*nowhere does not exist"):
        SqliteStore.open(tmp_path / "nowhere" / "x.sqlite", create=True, read_only=read_only)


def test_a_folder_is_no_store(tmp_path: Path) -> None:
    with pytest.raises(StoreError, match="is not a file"):
        SqliteStore.open(tmp_path, create=True)


def lengths(size: int) -> list[int]:
    return [0, 1, 15, 16, 99, 100, 1000, 4095, 4096, 4097, size // 2, size - 4096, size - 1]


@pytest.mark.parametrize("create", [False, True])
@pytest.mark.parametrize("read_only", [False, True])
def test_a_truncated_store_is_never_a_fresh_crawl(
    tmp_path: Path, create: bool, read_only: bool
) -> None:
    """STO-05: whatever its length is cut to, opening says so and names the file."""
    whole = filled(tmp_path / "whole.sqlite").read_bytes()
    for length in lengths(len(whole)):
        path = tmp_path / f"cut{length}.sqlite"
        path.write_bytes(whole[:length])
        with pytest.raises(StoreError, match=path.name):
            SqliteStore.open(path, create=create, read_only=read_only)
        assert path.read_bytes() == whole[:length], "nothing is written over it"


def test_garbage_is_refused_and_left_alone(tmp_path: Path) -> None:
    whole = filled(tmp_path / "whole.sqlite").read_bytes()
    shown = {
        "text": b"# notes\n" * 1000,
        "random": os.urandom(40_960),
        "zeros": bytes(40_960),
        "header": b"\0" * 100 + whole[100:],
        "schema": whole[:100] + os.urandom(3996) + whole[4096:],
    }
    for name, content in shown.items():
        path = tmp_path / name
        path.write_bytes(content)
        for create in (False, True):
            with pytest.raises(StoreError, match=name):
                SqliteStore.open(path, create=create)
        assert path.read_bytes() == content


def test_damage_inside_is_a_sentence_when_it_is_met(tmp_path: Path) -> None:
    path = filled(tmp_path / "crawl.sqlite")
    content = bytearray(path.read_bytes())
    for at in range(len(content) // 2 & ~4095, len(content), 4096):
        content[at : at + 4096] = os.urandom(4096)
    path.write_bytes(content)
    with SqliteStore.open(path, create=False, read_only=True) as store:
        for question in (store.scan_hot, lambda: list(store.iter_pages()), store.state_counts):
            with pytest.raises(StoreError, match=r"crawl\.sqlite is damaged"):
                question()


def test_another_programs_database_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "other.sqlite"
    other = sqlite3.connect(path)
    other.execute("CREATE TABLE page (x)")
    other.execute("PRAGMA user_version=1")
    other.close()
    before = path.read_bytes()
    with pytest.raises(StoreError, match="not a recrawl store"):
        SqliteStore.open(path, create=True)
    assert path.read_bytes() == before


def test_a_run_that_ended_before_its_first_page_goes_on(tmp_path: Path) -> None:
    """FRO-05, FRO-01: what was given at the start is state from the first write."""
    path = tmp_path / "crawl.sqlite"
    SqliteStore.open(path, create=True).close()  # killed before anything was asked of it
    seeds = Writes(new_pages={(1, 1): a_page(1, 1)}, meta={"seeded": "yes"})
    with SqliteStore.open(path, create=True) as store:
        assert (len(store.scan_hot()), store.meta()) == (0, {})
        store.commit(seeds)
    with SqliteStore.open(path, create=True) as store:
        store.commit(seeds)
        assert list(store.iter_pages()) == [a_page(1, 1)]


def test_the_log_of_a_store_that_is_gone_is_not_replayed_into_a_new_one(tmp_path: Path) -> None:
    """SQLite would take the old log for the new store's, and damage it."""
    path, log = tmp_path / "crawl.sqlite", tmp_path / "crawl.sqlite-wal"
    with SqliteStore.open(path, create=True) as store:
        store.commit(Writes(new_pages={(1, k): a_full_page(1, k) for k in range(100)}))
        left = log.read_bytes()
    path.unlink()
    log.write_bytes(left)
    for read_only in (False, True):
        with pytest.raises(StoreError, match=r"crawl\.sqlite is missing, but its log"):
            SqliteStore.open(path, create=True, read_only=read_only)
    assert (path.exists(), log.read_bytes()) == (False, left)
    log.unlink()
    with SqliteStore.open(path, create=True) as store:
        assert len(store.scan_hot()) == 0


def test_a_file_system_without_hard_links_will_do(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuse(*_: object) -> None:
        raise PermissionError("no hard links here")

    monkeypatch.setattr(os, "link", refuse)
    path = tmp_path / "crawl.sqlite"
    for again in (False, True):
        with SqliteStore.open(path, create=True) as store:
            assert bool(store.meta()) == again
            store.commit(Writes(meta={"a": "1"}))
    assert sorted(p.name for p in tmp_path.iterdir()) == ["crawl.sqlite", "crawl.sqlite.lock"]


@pytest.mark.parametrize("name", ["with space", "100%.sqlite", "a?b#c.sqlite", "é.sqlite"])
def test_any_file_name_works(tmp_path: Path, name: str) -> None:
    with SqliteStore.open(tmp_path / name, create=True) as store:
        store.commit(Writes(meta={"a": "1"}))
    with SqliteStore.open(str(tmp_path / name), create=False) as store:
        assert store.meta() == {"a": "1"}
    assert sorted(p.name for p in tmp_path.iterdir()) == sorted([name, f"{name}.lock"])


def test_settings_are_as_measured(tmp_path: Path) -> None:
    with SqliteStore.open(tmp_path / "crawl.sqlite", create=True) as store:
        writing = store._writing
        assert writing
        for name, want in (("journal_mode", "wal"), ("synchronous", 2), ("wal_autocheckpoint", 0)):
            assert writing.execute(f"PRAGMA {name}").fetchone() == (want,)
        tables = writing.execute(
            "SELECT name, strict FROM pragma_table_list WHERE schema = 'main' AND type = 'table' "
            "AND name NOT LIKE 'sqlite_%'"
        ).fetchall()
    assert len(tables) >= 11
    assert [name for name, strict in tables if not strict] == []


def test_a_closed_store_says_so(tmp_path: Path) -> None:
    store = SqliteStore.open(tmp_path / "crawl.sqlite", create=True)
    store.close()
    store.close()
    with pytest.raises(StoreError, match="closed"):
        store.commit(Writes(meta={"a": "b"}))
    with pytest.raises(StoreError, match="closed"):
        store.meta()
