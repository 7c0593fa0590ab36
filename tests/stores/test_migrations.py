"""Migrations: from every older version, and failing at every statement (STO-09)."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import pytest

from recrawl.model import Writes
from recrawl.ports import StoreError
from recrawl.stores import SqliteStore
from recrawl.stores.sqlite import files, migrations
from recrawl.stores.sqlite.migrations import Step, apply, load_steps, statements, version_of
from recrawl.testing.samples import a_change, a_full_page, a_host, a_record, an_entry

LATER = {
    "0002_language.sql": """
        -- a column; more than one statement; a ';' in a text
        ALTER TABLE page ADD COLUMN language TEXT;
        INSERT INTO meta (name, value) VALUES ('moved', 'a;b');
        UPDATE page SET language = 'de' WHERE key > 2;
    """,
    "0003_split.sql": """
        CREATE TABLE page_text (host_id INTEGER, key INTEGER, language TEXT) STRICT;
        INSERT INTO page_text SELECT host_id, key, language FROM page;
        CREATE TRIGGER noted AFTER DELETE ON page_text BEGIN
            INSERT INTO meta (name, value) VALUES ('deleted', 'x');
        END;
        ALTER TABLE page DROP COLUMN language;
    """,
}  # made up: there is only version 1 yet; each real one joins the harness by being in the folder
N = 7


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """The migrations of the package, and made-up ones after them."""
    folder = tmp_path / "migrations"
    folder.mkdir()
    for file in migrations.FOLDER.iterdir():
        if file.name.endswith(".sql"):
            (folder / file.name).write_text(file.read_text("utf-8"))
    for name, sql in LATER.items():
        (folder / name).write_text(sql)
    return folder


def store_of_version(path: Path, steps: list[Step], version: int) -> Path:
    """A store as the program of that version left it, with something in each table."""
    files.make(path, steps[:1])
    known = load_steps()
    assert len(known) == 1, "write the rows through each version's own program from now on"
    with SqliteStore.open(path, create=False) as store:
        store.commit(
            Writes(
                hosts={1: a_host(1)},
                pages={(1, k): a_full_page(1, k) for k in range(N)},
                records={(1, k): a_record() for k in range(N)},
                entries=[an_entry(key=k) for k in range(N)],
                changes=[a_change(key=k) for k in range(N)],
            )
        )
    with closing(files.connect(path, "rw")) as connection:
        apply(connection, steps[:version])
        assert version_of(connection) == version
    return path


def everything(path: Path) -> tuple[int, list[str]]:
    """The version, and the whole content as SQL."""
    with closing(sqlite3.connect(path)) as connection:
        return version_of(connection), list(connection.iterdump())


def rows(path: Path) -> dict[str, int]:
    with closing(sqlite3.connect(path)) as connection:
        return {
            table: connection.execute(f"SELECT count(*) FROM {table}").fetchone()[0]
            for table in (
                "host",
                "page",
                "record",
                "visit",
                "rollup",
                "change",
                "outcome",
                "robots",
            )
        }


@pytest.mark.parametrize("version", [1, 2, 3])
def test_from_every_version_to_the_newest(
    tmp_path: Path, folder: Path, monkeypatch: pytest.MonkeyPatch, version: int
) -> None:
    steps = load_steps(folder)
    path = store_of_version(tmp_path / "crawl.sqlite", steps, version)
    before, counts = everything(path), rows(path)
    monkeypatch.setattr(migrations, "FOLDER", folder)
    SqliteStore.open(path, create=False).close()
    assert version_of(sqlite3.connect(path)) == len(steps)
    assert rows(path) == counts
    assert counts["page"] == counts["visit"] == N
    backup = tmp_path / f"crawl.sqlite.v{version}.bak"
    assert backup.exists() == (version < len(steps))
    if backup.exists():
        assert everything(backup) == before
    with SqliteStore.open(path, create=False) as store:
        assert sorted(p.key for p in store.iter_pages()) == list(range(N))


def broken(steps: list[Step]) -> Iterator[tuple[int, list[Step]]]:
    """Every way to fail: before each statement of each step, and at its end."""
    for step in steps[1:]:
        parts = list(statements(step.sql))
        for i in range(len(parts) + 1):
            sql = "".join([*parts[:i], "INSERT INTO nowhere VALUES (1);\n", *parts[i:]])
            yield (
                step.version,
                [Step(s.version, s.name, sql if s is step else s.sql) for s in steps],
            )


@pytest.mark.parametrize("version", [1, 2])
def test_a_failed_step_leaves_the_version_before_it(
    tmp_path: Path, folder: Path, version: int
) -> None:
    steps = load_steps(folder)
    tried = 0
    for fails_at, faulty in broken(steps):
        if fails_at <= version:
            continue
        path = store_of_version(tmp_path / f"{tried}.sqlite", steps, version)
        reached = store_of_version(tmp_path / f"{tried}.want", steps, fails_at - 1)
        with closing(files.connect(path, "rw")) as connection:
            with pytest.raises(sqlite3.Error, match=f"000{fails_at}.*undone.*nowhere"):
                apply(connection, faulty)
            assert not connection.in_transaction
        assert everything(path) == everything(reached)
        assert rows(path)["page"] == N
        with closing(files.connect(path, "rw")) as connection:
            apply(connection, steps)  # mended, it goes through
        tried += 1
    assert tried >= 5


def test_a_failed_migration_is_a_sentence_and_the_copy_stays(
    tmp_path: Path, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = store_of_version(tmp_path / "crawl.sqlite", load_steps(folder), 1)
    before = everything(path)
    (folder / "0002_language.sql").write_text("DROP TABLE page; SELECT no_such_function();")
    monkeypatch.setattr(migrations, "FOLDER", folder)
    with pytest.raises(StoreError, match=r"0002_language.sql failed.*crawl\.sqlite\.v1\.bak"):
        SqliteStore.open(path, create=False)
    assert everything(path) == before == everything(tmp_path / "crawl.sqlite.v1.bak")
    with pytest.raises(StoreError, match="0002"):  # not StoreBusy: the lock was let go
        SqliteStore.open(path, create=False)


def test_a_reader_never_migrates(
    tmp_path: Path, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = store_of_version(tmp_path / "crawl.sqlite", load_steps(folder), 1)
    before = everything(path)
    monkeypatch.setattr(migrations, "FOLDER", folder)
    with pytest.raises(StoreError, match="older recrawl"):
        SqliteStore.open(path, create=False, read_only=True)
    assert everything(path) == before


@pytest.mark.parametrize("read_only", [False, True])
def test_a_newer_store_is_refused(tmp_path: Path, read_only: bool) -> None:
    path = tmp_path / "crawl.sqlite"
    SqliteStore.open(path, create=True).close()
    with closing(sqlite3.connect(path)) as newer:
        newer.execute(f"PRAGMA user_version={len(load_steps()) + 1}")
    before = everything(path)
    with pytest.raises(StoreError, match=r"newer recrawl.*upgrade"):
        SqliteStore.open(path, create=True, read_only=read_only)
    assert everything(path) == before


def test_the_folder_must_be_numbered_without_gap(folder: Path) -> None:
    assert [s.version for s in load_steps(folder)] == [1, 2, 3]
    (folder / "0005_gap.sql").write_text("SELECT 1;")
    with pytest.raises(StoreError, match="numbered 1, 2, 3"):
        load_steps(folder)
    (folder / "0005_gap.sql").rename(folder / "0003_twin.sql")
    with pytest.raises(StoreError, match="once each"):
        load_steps(folder)
    (folder / "0003_twin.sql").rename(folder / "notes.txt")
    with pytest.raises(StoreError, match=r"notes\.txt.*named like"):
        load_steps(folder)


def test_statements_are_split_where_sql_ends() -> None:
    script = LATER["0003_split.sql"] + "-- the end\nSELECT ';' -- not finished\n"
    parts = list(statements(script))
    assert len(parts) == 5
    assert "END;" in parts[2]
    assert list(statements("-- only a remark\n\n")) == []
