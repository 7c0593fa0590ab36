"""The seen index: equal to a dict in every answer, small, and fast on the links of a page."""

from __future__ import annotations

import time
import tracemalloc

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, rule

from recrawl.frontier.seen import UNKNOWN, SeenIndex

INT64 = st.integers(-(2**63), 2**63 - 1)
# Few enough to meet again, and the edges of the type.
KEYS = st.one_of(st.integers(-40, 40), st.sampled_from([-(2**63), 2**63 - 1]), INT64)
HOSTS = st.integers(0, 3)


def sorted_rows(pairs: set[tuple[int, int]]) -> tuple[np.ndarray, np.ndarray]:
    rows = sorted(pairs)
    hosts = np.array([h for h, _ in rows], dtype=np.int32)
    return hosts, np.array([k for _, k in rows], dtype=np.int64)


class SeenAgainstDict(RuleBasedStateMachine):
    """Any sequence of steps leaves the index equal to {(host, key): row}."""

    @initialize(pairs=st.sets(st.tuples(HOSTS, KEYS), max_size=200))
    def load(self, pairs: set[tuple[int, int]]) -> None:
        self.seen = SeenIndex.from_sorted(*sorted_rows(pairs))
        self.truth = {pair: row for row, pair in enumerate(sorted(pairs))}

    @rule(host=HOSTS, key=KEYS)
    def add(self, host: int, key: int) -> None:
        row = len(self.truth)
        assert self.seen.add(host, key, row) == ((host, key) not in self.truth)
        self.truth.setdefault((host, key), row)

    @rule(host=HOSTS, start=INT64, n=st.integers(1, 300))
    def add_many(self, host: int, start: int, n: int) -> None:
        """Enough of them to pass through merges."""
        for i in range(n):
            key = (start + i * 0x9E3779B97F4A7C15 + 2**63) % 2**64 - 2**63
            row = len(self.truth)
            self.seen.add(host, key, row)
            self.truth.setdefault((host, key), row)

    @rule(host=HOSTS, key=KEYS)
    def find(self, host: int, key: int) -> None:
        assert self.seen.find(host, key) == self.truth.get((host, key), UNKNOWN)

    @rule(host=HOSTS, keys=st.lists(KEYS, max_size=40))
    def find_many(self, host: int, keys: list[int]) -> None:
        found = [self.seen.find(host, key) for key in keys]
        assert found == [self.truth.get((host, key), UNKNOWN) for key in keys]

    @invariant()
    def sizes(self) -> None:
        assert len(self.seen) == len(self.truth)
        for host in range(4):
            assert self.seen.count(host) == sum(h == host for h, _ in self.truth)

    def teardown(self) -> None:
        for (host, key), row in self.truth.items():
            assert self.seen.find(host, key) == row


SeenAgainstDict.TestCase.settings = settings(
    deadline=None, max_examples=60, stateful_step_count=25
)
TestSeenAgainstDict = SeenAgainstDict.TestCase


def test_an_empty_index_knows_nothing() -> None:
    seen = SeenIndex()
    assert (len(seen), seen.count(7), seen.find(7, 1)) == (0, 0, UNKNOWN)
    assert [seen.find(7, key) for key in [1, 2]] == [UNKNOWN, UNKNOWN]
    empty = SeenIndex.from_sorted(np.empty(0, np.int32), np.empty(0, np.int64))
    assert len(empty) == 0
    assert empty.add(1, 1, 0)


def test_a_known_page_keeps_its_row() -> None:
    seen = SeenIndex.from_sorted(np.array([5]), np.array([10]))
    assert not seen.add(5, 10, 99)
    assert seen.find(5, 10) == 0
    assert seen.add(5, 11, 1)
    assert not seen.add(5, 11, 99)
    assert [seen.find(5, key) for key in [11, 10, 12]] == [1, 0, UNKNOWN]


def test_the_same_key_on_two_hosts_is_two_pages() -> None:
    seen = SeenIndex()
    assert seen.add(1, 10, 0)
    assert seen.add(2, 10, 1)
    assert (seen.find(1, 10), seen.find(2, 10)) == (0, 1)


@pytest.mark.parametrize(
    ("hosts", "keys"),
    [
        ([1, 1], [5, 4]),  # keys out of order
        ([1, 1], [5, 5]),  # twice
        ([1, 2, 1], [1, 1, 2]),  # hosts apart
        ([1], [1, 2]),  # lengths
    ],
)
def test_rows_out_of_order_are_refused(hosts: list[int], keys: list[int]) -> None:
    with pytest.raises(ValueError, match="host"):
        SeenIndex.from_sorted(np.array(hosts, np.int32), np.array(keys, np.int64))


def test_columns_of_a_structured_array_are_taken_as_they_are() -> None:
    rows = np.zeros(4, dtype=[("host_id", "i4"), ("pad", "u1"), ("key", "i8")])
    rows["host_id"] = [1, 1, 2, 9]
    rows["key"] = [-5, 5, 0, 7]
    seen = SeenIndex.from_sorted(rows["host_id"], rows["key"])
    rows["key"] = 0  # the index holds its own copy
    assert [seen.find(h, k) for h, k in ((1, -5), (1, 5), (2, 0), (9, 7))] == [0, 1, 2, 3]


def test_twenty_bytes_a_page_however_it_grew() -> None:
    rng = np.random.Generator(np.random.PCG64(11))
    keys = rng.integers(-(2**63), 2**63 - 1, 100_000)
    tracemalloc.start()
    try:
        before = tracemalloc.get_traced_memory()[0]
        loaded = SeenIndex.from_sorted(np.zeros(100_000, np.int32), np.sort(keys))
        size_loaded = tracemalloc.get_traced_memory()[0] - before
        del loaded
        before = tracemalloc.get_traced_memory()[0]
        grown = SeenIndex()
        worst = 0.0
        for row in range(40_000):
            grown.add(0, keys.item(row), row)
            if row >= 10_000 and row % 500 == 0:
                size = tracemalloc.get_traced_memory()[0] - before
                worst = max(worst, size / (row + 1))
    finally:
        tracemalloc.stop()
    assert size_loaded / 100_000 < 14
    assert worst <= 20


def test_a_million_pages() -> None:
    """Loading, and the links of 1,000 pages, in a small part of a second each."""
    rng = np.random.Generator(np.random.PCG64(12))
    keys = np.unique(rng.integers(-(2**63), 2**63 - 1, 1_000_000))
    t = time.process_time()
    seen = SeenIndex.from_sorted(np.zeros(len(keys), np.int32), keys)
    assert time.process_time() - t < 0.5
    links = [rng.choice(keys, 30).tolist() for _ in range(100)]
    t = time.process_time()
    for _ in range(10):
        for page in links:
            assert UNKNOWN not in [seen.find(0, key) for key in page]
    assert (time.process_time() - t) / 30_000 < 10e-6


@settings(deadline=None, max_examples=20)
@given(st.lists(INT64, unique=True, min_size=1, max_size=1500))
def test_growing_one_by_one_equals_loading_sorted(keys: list[int]) -> None:
    grown = SeenIndex()
    for row, key in enumerate(sorted(keys)):
        grown.add(3, key, row)
    loaded = SeenIndex.from_sorted(*sorted_rows({(3, key) for key in keys}))
    assert [grown.find(3, key) for key in keys] == [loaded.find(3, key) for key in keys]
    assert len(grown) == len(loaded) == len(keys)
