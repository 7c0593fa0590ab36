"""Where the budget went: sums are exact, heaps partition, costs are per change."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from recrawl.model import Purpose, Verdict
from recrawl.ports import Rollup
from recrawl.report import (
    Heap,
    by_purpose,
    by_site_and_type,
    heap_of,
    total,
    type_name,
    unit_of_account,
)
from recrawl.units import Spend, Unit

ORIGINS = {1: "https://a.example", 2: "https://b.example"}
TYPES = ("page", "product")


def test_the_articles_example(line):
    """A million pages a day and ten thousand changes: a hundred fetches each."""
    rows = [
        line(Verdict.CHANGED, n=10_000, micro_usd=10_000),
        line(Verdict.SAME, n=600_000, micro_usd=600_000),
        line(Verdict.NOT_MODIFIED, n=390_000, micro_usd=39_000, status=304),
    ]
    tally = total(rows)
    assert tally.visits / tally.changes == 100
    assert tally.nothing_share == 0.99
    assert tally.per_change(Unit.USD) == 64.9
    assert tally.per_change(Unit.FETCHES) == 100


def test_each_result_has_its_heap():
    expected = {
        Verdict.NEW: Heap.FIRST,
        Verdict.CHANGED: Heap.CHANGE,
        Verdict.SAME: Heap.UNCHANGED,
        Verdict.NOT_MODIFIED: Heap.NOT_MODIFIED,
        Verdict.GONE: Heap.GONE,
        Verdict.MOVED: Heap.MOVED,
        Verdict.BLOCKED: Heap.FAILED,
        Verdict.SOFT_ERROR: Heap.FAILED,
        Verdict.FAILED: Heap.FAILED,
        Verdict.ROBOTS: Heap.OVERHEAD,
        Verdict.UNKNOWN: Heap.FAILED,
    }
    assert set(expected) == set(Verdict)
    for verdict, heap in expected.items():
        assert heap_of(Purpose.BEST_BUY, verdict) is heap
        assert heap_of(Purpose.VERIFICATION, verdict) is Heap.VERIFICATION
        assert heap_of(Purpose.ROBOTS, verdict) is Heap.OVERHEAD


def test_a_change_found_by_verification_counts_as_change_and_is_paid_by_verification(line):
    tally = total([line(Verdict.CHANGED, Purpose.VERIFICATION, n=3, micro_usd=9)])
    assert tally.changes == 3
    assert tally.heaps == {Heap.VERIFICATION: Spend(1000, 9, 0, 3, 30)}


def test_robots_txt_is_a_request_but_no_visit(line):
    tally = total([line(Verdict.ROBOTS, Purpose.ROBOTS, n=2), line(Verdict.SAME, n=3)])
    assert (tally.visits, tally.requests) == (3, 5)
    assert tally.nothing_share == 1.0
    assert tally.spend.fetches == 5


def test_a_repeated_404_is_no_change(line):
    tally = total([line(Verdict.GONE, n=5, status=404)])
    assert (tally.changes, tally.nothing, tally.visits) == (0, 0, 5)
    assert tally.per_change(Unit.BYTES) is None


def test_bytes_per_useful_page_counts_all_bytes(line):
    tally = total(
        [line(Verdict.NEW, n=2), line(Verdict.CHANGED), line(Verdict.FAILED), line(Verdict.SAME)]
    )
    assert tally.bytes_per_useful_page == pytest.approx(4000 / 3)
    assert total([line(Verdict.SAME)]).bytes_per_useful_page is None


def test_nothing_at_all():
    tally = total([])
    assert tally.nothing_share is None
    assert tally.per_change(Unit.USD) is None
    assert tally.as_dict()["spent_on"] == {}
    assert by_site_and_type([], {}, ()) == {}


def test_by_site_and_type_dearest_first(line):
    rows = [
        line(host=1, micro_usd=5),
        line(host=2, kind=1, micro_usd=50),
        line(host=1, kind=1, micro_usd=20),
        line(host=1, kind=1, micro_usd=20, day=20_001),
        line(Verdict.ROBOTS, Purpose.ROBOTS, host=2, micro_usd=1),
        line(host=9, kind=7),
    ]
    found = by_site_and_type(rows, ORIGINS, TYPES)
    assert [(k, t.spend.micro_usd) for k, t in found.items()] == [
        (("https://b.example", "product"), 50),
        (("https://a.example", "product"), 40),
        (("https://a.example", "page"), 5),
        (("https://b.example", "robots.txt"), 1),
        (("host 9", "type 7"), 0),
    ]


def test_by_purpose_in_their_order(line):
    rows = [line(purpose=Purpose.ROBOTS), line(purpose=Purpose.BEST_BUY, n=2), line(n=3)]
    assert {p: t.requests for p, t in by_purpose(rows).items()} == {
        Purpose.BEST_BUY: 5,
        Purpose.ROBOTS: 1,
    }
    assert list(by_purpose(rows)) == [Purpose.BEST_BUY, Purpose.ROBOTS]


def test_the_unit_of_account_is_the_first_that_was_spent():
    assert unit_of_account(Spend(bytes=5, micro_usd=1, microcredits=2)) is Unit.USD
    assert unit_of_account(Spend(bytes=5, microcredits=2)) is Unit.CREDITS
    assert unit_of_account(Spend(bytes=5)) is Unit.BYTES
    assert unit_of_account(Spend()) is Unit.BYTES


def test_a_type_that_the_project_dropped_has_a_stand_in():
    assert type_name(1, TYPES) == "product"
    assert type_name(2, TYPES) == "type 2"
    assert type_name(-1, TYPES) == "type -1"


def test_as_dict_is_plain(line):
    d = total([line(Verdict.CHANGED, n=2, micro_usd=8), line(micro_usd=2)]).as_dict()
    assert d["micro_usd_per_change"] == 5.0
    assert d["nothing_share"] == pytest.approx(1 / 3)
    assert d["spent_on"]["change"] == {
        "requests": 2, "bytes": 1000, "micro_usd": 8, "microcredits": 0, "fetches": 2,
        "millis": 20,
    }  # fmt: skip
    assert list(d["spent_on"]) == ["change", "unchanged"]


NAT = st.integers(0, 10**9)
ROWS = st.lists(
    st.builds(
        lambda day, host, kind, p, v, n, up, down, usd: Rollup(
            day, host, kind, p, v, 200, False, n, up, down, Spend(up + down, usd, 0, n), 0, 0
        ),
        NAT, st.integers(1, 4), st.integers(0, 2), st.sampled_from(Purpose),
        st.sampled_from(Verdict), NAT, NAT, NAT, NAT,
    )
)  # fmt: skip


@given(ROWS)
def test_every_split_adds_up_to_the_whole(rows):
    whole = total(rows)
    for split in (by_site_and_type(rows, ORIGINS, TYPES), by_purpose(rows)):
        assert sum((t.spend for t in split.values()), Spend()) == whole.spend
        assert sum(t.visits for t in split.values()) == whole.visits
        assert sum(t.changes for t in split.values()) == whole.changes
    assert sum(whole.heaps.values(), Spend()) == whole.spend
    assert sum(whole.in_heap.values()) == whole.requests
