"""Rows: anything that a model value can hold comes back; what is rounded is rounded as stated."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import MISSING, fields
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from recrawl.model import HOT, Entry, Host, Page, Purpose, State, Verdict, Writes, hot_row
from recrawl.stores import MemoryStore, SqliteStore
from recrawl.stores.sqlite.encode import (
    HOST_COLUMNS,
    PAGE_COLUMNS,
    from_json,
    from_ms,
    page_of,
    page_row,
    text,
    to_json,
    to_ms,
)
from recrawl.stores.sqlite.visits import OUTCOME_COLUMNS, VISIT_COLUMNS, pack_marks, unpack_marks
from recrawl.testing.samples import a_full_page, a_host, an_entry
from recrawl.testing.store_ledger import MARKS, same_entries
from recrawl.units import DAY, Spend

times = st.integers(0, 10**13).map(lambda ms: ms / 1000) | st.just(math.inf)
small = st.integers(0, 2**31)
words = st.text(st.characters(exclude_categories=["Cs"]), max_size=40)
f32 = st.floats(0, 2**100, width=32)
keys = st.integers(-(2**63), 2**63 - 1)
digests = st.none() | st.binary(max_size=16)

pages = st.builds(
    Page,
    host_id=st.integers(0, 2**31 - 1), key=keys, path=words, state=st.sampled_from(State),
    page_type=st.integers(0, 32767), value=st.floats(0, 1e6, width=32), depth=small, hops=small,
    score=st.integers(-(2**31), 2**31), first_seen=st.integers(0, 2**32 - 1).map(float),
    last=times, last_attempt=times, changed_at=times, due=times, a=f32, b=f32, va=f32, vb=f32,
    body=f32, interval=f32, etag=st.none() | words, last_modified=st.none() | words, variant=words,
    digest1=digests, digest2=digests, fails=small, missing=small, retry_at=times, n_visits=small,
    n_changes=small, n_not_modified=small, target=st.none() | words, canonical=st.none() | words,
)  # fmt: skip


@given(pages)
def test_a_page_is_its_row(page: Page) -> None:
    assert page_of(page_row(page)) == page


def test_no_field_of_the_model_is_forgotten() -> None:
    """A field that is added to the model and has no column would be lost without a word."""
    packed = {"belief": {"a", "b", "va", "vb", "body", "interval"}}
    columns = {name for c in PAGE_COLUMNS for name in packed.get(c, {c})}
    assert columns == {f.name for f in fields(Page)}
    assert {*HOST_COLUMNS, "robots_body"} == {f.name for f in fields(Host)}
    made_of = {
        "t": {"day", "at"},
        "spend": {"bytes", "micro_usd", "microcredits", "fetches", "millis"},
    }
    made_of |= {name: {"marks"} for name in MARKS}
    named = {c for f in fields(Entry) for c in made_of.get(f.name, {f.name})}
    assert named == {*VISIT_COLUMNS, *OUTCOME_COLUMNS} - {"outcome_id"}


@pytest.mark.parametrize(
    ("sample", "required"),
    [
        (a_full_page(1, 2), set()),
        (a_host(1), set()),
        (an_entry(), {"source", "route"}),  # the contract varies these
    ],
    ids=["page", "host", "entry"],
)
def test_the_samples_set_every_field(sample: Any, required: set[str]) -> None:
    """Or the contract's "comes back whole" would say nothing of a field at its default."""
    unset = {
        f.name for f in fields(sample)
        if f.default is not MISSING and getattr(sample, f.name) == f.default
    }  # fmt: skip
    assert unset == required


@settings(
    suppress_health_check=[HealthCheck.function_scoped_fixture], max_examples=25, deadline=None
)
@given(st.lists(pages, max_size=30, unique_by=lambda p: (p.host_id, p.key)))
def test_both_stores_scan_and_load_the_same(tmp_path: Path, some: list[Page]) -> None:
    writes = Writes(pages={(p.host_id, p.key): p for p in some})
    path = tmp_path / "crawl.sqlite"
    path.unlink(missing_ok=True)
    memory = MemoryStore()
    memory.commit(writes)
    with SqliteStore.open(path, create=True) as store:
        store.commit(writes)
        some.sort(key=lambda p: (p.host_id, p.key))
        expected = np.array([hot_row(p) for p in some], HOT)
        for scanned in (store.scan_hot(), memory.scan_hot()):
            np.testing.assert_array_equal(scanned.array(), expected)
        asked = [(p.host_id, p.key) for p in reversed(some)]
        assert store.load_pages(asked) == memory.load_pages(asked) == some[::-1]
        assert list(store.iter_pages()) == list(memory.iter_pages()) == some


@pytest.mark.parametrize("part", [1, 7, 100, 1000])
def test_a_scan_in_parts_is_the_scan(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, part: int
) -> None:
    """Rows that hold more than their default stand anywhere among the others."""
    monkeypatch.setattr("recrawl.stores.sqlite.scan._PART", part)
    some = [
        Page(
            i % 3,
            i,
            f"/{i}",
            a=float(i),
            value=0.5 if i % 5 == 2 else 1.0,
            fails=i if i % 7 else 0,
        )
        for i in range(300)
    ]
    memory, writes = MemoryStore(), Writes(pages={(p.host_id, p.key): p for p in some})
    memory.commit(writes)
    with SqliteStore.open(tmp_path / "crawl.sqlite", create=True) as store:
        store.commit(writes)
        scanned = store.scan_hot()
    np.testing.assert_array_equal(scanned.array(), memory.scan_hot().array())


entry_times = st.integers(0, 10**8).map(lambda ms: 20_000 * DAY + ms / 1000)
counts = st.integers(0, 2**40)
amounts = st.just(0.0) | st.floats(1e-15, 1e15)  # the marks' range: 2^-64 to 2^64
entries = st.builds(
    Entry,
    t=entry_times, host_id=st.integers(0, 3), key=st.integers(-2, 2),
    purpose=st.sampled_from(Purpose), verdict=st.sampled_from(Verdict),
    page_type=st.integers(0, 3), status=st.sampled_from([0, 200, 304, 404, 999]), kind=words,
    conditional=st.booleans(), up=counts, down=counts,
    spend=st.builds(Spend, counts, counts, counts, counts, counts),
    tau=amounts, predicted=st.sampled_from([0.0, 1.0]) | st.floats(1e-8, 1 - 1e-8),
    gain=amounts, price=amounts, score=amounts, bar=st.just(math.inf) | amounts,
    source=words, route=words, discovered=small, sighted=small, evidence=words,
)  # fmt: skip
commits = st.lists(st.lists(entries, max_size=8), max_size=6)


@settings(
    suppress_health_check=[HealthCheck.function_scoped_fixture], max_examples=25, deadline=None
)
@given(commits, entry_times, entry_times)
def test_both_stores_keep_the_same_ledger(
    tmp_path: Path, batches: list[list[Entry]], since: float, until: float
) -> None:
    path = tmp_path / "crawl.sqlite"
    path.unlink(missing_ok=True)
    memory = MemoryStore()
    with SqliteStore.open(path, create=True) as store:
        for batch in batches:
            for each in (store, memory):
                each.commit(Writes(entries=batch))
        for span in ((), (since,), (since, until)):
            same_entries(list(store.entries(*span)), list(memory.entries(*span)), f"{span}")
            assert store.spent(*span) == memory.spent(*span)
        assert store.rollup() == memory.rollup()
        for host_id in range(4):
            for key in (-2, 0, 1):
                got, want = (s.history(host_id, key, 5) for s in (store, memory))
                same_entries(got, want, "history")


@given(st.floats(0, 1e10))
def test_times_are_right_to_the_millisecond(t: float) -> None:
    assert abs(from_ms(to_ms(t)) - t) <= 0.0005 + 1e-6
    assert to_ms(from_ms(to_ms(t))) == to_ms(t)


@given(st.floats(0, allow_nan=False), st.floats(0, allow_nan=False))
def test_times_keep_their_order(t: float, u: float) -> None:
    early, late = sorted((t, u))
    assert to_ms(early) <= to_ms(late) < 2**63


sixes = st.lists(st.floats(1e-15, 1e15), min_size=6, max_size=6)


@given(sixes, st.floats(1e-8, 1 - 1e-8))
def test_marks_are_right_within_a_thousandth(marks: list[float], predicted: float) -> None:
    marks[1] = predicted
    back = unpack_marks(pack_marks(np.array([marks])))[0]
    np.testing.assert_allclose(back, marks, rtol=7e-4)
    assert (1 - back[1]) == pytest.approx(1 - predicted, rel=7e-4)


@given(st.floats(0, 1e15), st.floats(0, 1e15), st.floats(0, 1), st.floats(0, 1))
def test_marks_keep_their_order(x: float, y: float, p: float, q: float) -> None:
    """A score that reached the bar is never shown below it."""
    low, high = sorted((x, y))
    less, more = sorted((p, q))
    back = unpack_marks(pack_marks(np.array([[low, less, 0, 0, 0, 0], [high, more, 0, 0, 0, 0]])))
    assert (back[0] <= back[1]).all()


@pytest.mark.parametrize(
    ("written", "read"),
    [
        (0.0, 0.0),
        (1.0, 1.0),
        (math.inf, math.inf),
        (-1.0, 0.0),
        (math.nan, 0.0),
        (2.0**40, 2.0**40),
    ],
)
def test_marks_at_the_edges(written: float, read: float) -> None:
    back = unpack_marks(pack_marks(np.array([[written] * 6])))[0].tolist()
    chance = min(read, 1.0)
    assert back == [read, chance, read, read, read, read]


def test_a_chance_below_one_never_becomes_certain() -> None:
    """Or the log score of a wrong prediction would be infinite."""
    for p in (1 - 1e-6, 1 - 1e-12, 1e-6, 1e-12, 5e-324):
        back = float(unpack_marks(pack_marks(np.array([[0, p, 0, 0, 0, 0]])))[0, 1])
        assert 0 < back < 1


json_values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text(),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(), inner, max_size=4),
    max_leaves=12,
)


@given(st.none() | st.dictionaries(st.text(), json_values, max_size=5))
def test_fields_are_their_json(value: dict[str, Any] | None) -> None:
    stored = to_json(value)
    assert from_json(stored) == value
    assert stored is None or stored.encode(), "SQLite can hold it"


@given(st.text())
def test_text_is_kept_or_escaped(s: str) -> None:
    kept = text(s)
    assert kept is not None
    assert kept.encode().decode() == kept
    has_surrogate = any("\ud800" <= c <= "\udfff" for c in s)
    assert (kept == s) != has_surrogate


@pytest.mark.parametrize("make", [to_json])
def test_fields_stay_legible(make: Callable[[dict[str, Any]], str | None]) -> None:
    assert make({"prix": "12 €", "名": ["a"]}) == '{"prix":"12 €","名":["a"]}'


def test_a_row_in_ram_is_small_and_its_columns_are_aligned() -> None:
    assert HOT.itemsize == 64
    for name in HOT.names or ():
        kind, offset = HOT.fields[name][:2]  # type: ignore[index]
        assert offset % kind.itemsize == 0, name


@pytest.mark.parametrize(
    "retry_at", [0.0, 0.999, 1e9 + 0.999, 2.0**32 - 1, 2.0**32, 1e30, float("inf")]
)
def test_a_retry_time_never_wraps_around(retry_at: float) -> None:
    row = np.array([hot_row(Page(1, 1, "/", retry_at=retry_at))], HOT)[0]
    assert row["retry_at"] == min(int(min(retry_at, 1e18)), 2**32 - 1)
