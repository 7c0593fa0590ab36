"""Both stores keep every sentence of the contract, and the contract notices stores that don't."""

from __future__ import annotations

import itertools
from pathlib import Path

import pytest

from recrawl.model import Entry, Page, Writes
from recrawl.ports import Store
from recrawl.stores import MemoryStore, SqliteStore
from recrawl.testing.store import STORE_CHECKS, Check, Make, check_reopened, check_store


@pytest.fixture(params=["memory", "sqlite"])
def make(request: pytest.FixtureRequest, tmp_path: Path) -> Make:
    if request.param == "memory":
        return MemoryStore
    numbers = itertools.count()
    return lambda: SqliteStore.open(tmp_path / f"{next(numbers)}.sqlite", create=True)


@pytest.mark.parametrize("check", STORE_CHECKS, ids=lambda check: check.__name__)
def test_store_keeps_its_contract(check: Check, make: Make) -> None:
    check(make)


def test_sqlite_store_is_there_for_the_next_process(tmp_path: Path) -> None:
    path = tmp_path / "crawl.sqlite"
    check_reopened(
        lambda: SqliteStore.open(path, create=True), lambda: SqliteStore.open(path, create=False)
    )


# the suite itself: a store with one fault does not pass


class ForgetsLateEntries(MemoryStore):
    def commit(self, writes: Writes) -> None:
        super().commit(writes)
        newest = max((e.t for e in self._entries.values()), default=0.0)
        self._entries = {k: e for k, e in self._entries.items() if e.t > newest - 86_400}


class ReplacesKnownPages(MemoryStore):
    def commit(self, writes: Writes) -> None:
        super().commit(Writes(pages={**writes.new_pages, **writes.pages}))


class CountsTwice(MemoryStore):
    def _book(self, e: Entry) -> None:
        known = len(self._entries)
        super()._book(e)
        if len(self._entries) == known:
            self._entries.pop((e.host_id, e.key, e.t, e.purpose))
            super()._book(e)


class KeepsHalf(MemoryStore):
    def commit(self, writes: Writes) -> None:
        self._meta.update(writes.meta)
        super().commit(writes)


class SharesItsRows(MemoryStore):
    def get_page(self, host_id: int, key: int) -> Page | None:
        return self._pages.get((host_id, key))

    def iter_pages(self, host_id: int | None = None, state: int | None = None):  # type: ignore[no-untyped-def]
        yield from self._pages.values()


class NeverSettles(MemoryStore):
    def commit(self, writes: Writes) -> None:
        super().commit(
            Writes(**{**{f: getattr(writes, f) for f in writes.__slots__}, "settled": []})
        )


class TrimsValidators(MemoryStore):
    def get_page(self, host_id: int, key: int) -> Page | None:
        page = super().get_page(host_id, key)
        if page and page.etag:
            page.etag = page.etag.strip()
        return page


FAULTY = (
    ForgetsLateEntries, ReplacesKnownPages, CountsTwice, KeepsHalf, SharesItsRows, NeverSettles,
    TrimsValidators,
)  # fmt: skip


@pytest.mark.parametrize("faulty", FAULTY, ids=lambda store: store.__name__)
def test_suite_notices_a_faulty_store(faulty: type[MemoryStore]) -> None:
    def make() -> Store:
        return faulty()

    with pytest.raises(AssertionError) as failed:
        check_store(make)
    assert str(failed.value), "the failure names the sentence that was broken"
