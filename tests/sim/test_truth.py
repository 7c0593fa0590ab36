"""Freshness, changes and prices against slow arithmetic that can be read."""

from __future__ import annotations

import random

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from recrawl.sim.answers import Answers, Asked
from recrawl.sim.growth import make_web
from recrawl.sim.truth import Prices, Readings, changes_found, freshness
from recrawl.sim.web import MadeUpWeb, WebSpec
from recrawl.units import DAY

SMALL = make_web(WebSpec(seed=8, hosts=5, pages=200, days=4))
START, END = SMALL.spec.start, SMALL.spec.end


def slow_freshness(web: MadeUpWeb, log: list[tuple[int, float]], t0: float, t1: float) -> float:
    """Walk through every page's events one by one."""
    fresh = alive = 0.0
    for page in range(len(web)):
        end = min(t1, float(web.died[page]))
        alive += web.value[page] * max(0.0, end - t0)
        events = [(t, "read") for p, t in log if p == page]
        changes = web.changes[web.bounds[page] : web.bounds[page + 1]]
        events += [(float(t), "change") for t in changes]
        since = None
        for t, what in [*sorted(events), (end, "end")]:
            t = min(t, end)
            if what == "read" and since is None:
                since = t
            elif what != "read" and since is not None:
                fresh += web.value[page] * max(0.0, t - max(since, t0))
                since = None
    return fresh / alive


logs = st.lists(st.tuples(st.integers(0, 199), st.floats(-1, 5)), max_size=60).map(
    lambda log: [(page, START + day * DAY) for page, day in log]
)


@settings(max_examples=40, deadline=None)
@given(log=logs, t0=st.floats(0, 2), length=st.floats(0.1, 2))
def test_freshness_is_what_a_walk_through_the_events_gives(
    log: list[tuple[int, float]], t0: float, length: float
) -> None:
    readings = Readings.of(
        np.array([p for p, _ in log], dtype=np.int64), np.array([t for _, t in log], dtype=float)
    )
    a, b = START + t0 * DAY, START + (t0 + length) * DAY
    assert freshness(SMALL, readings, a, b) == pytest.approx(slow_freshness(SMALL, log, a, b))


def test_a_page_read_all_the_time_is_fresh_and_one_never_read_is_stale() -> None:
    every = np.repeat(np.arange(len(SMALL)), 4000)
    times = np.tile(np.linspace(START, END, 4000), len(SMALL))
    assert freshness(SMALL, Readings.of(every, times), START, END) > 0.97
    nothing = Readings.of_log(SMALL, [])
    assert freshness(SMALL, nothing, START, END) == 0.0
    assert changes_found(SMALL, nothing) == 0


def test_values_weigh() -> None:
    """Reading only the products, worth 3, counts for more than their number."""
    products = np.array([i for i, t in enumerate(SMALL.types) if t.name == "product"])
    read = Readings.of(products, np.full(len(products), START))
    share = len(products) / len(SMALL)
    first_hour = freshness(SMALL, read, START, START + 60)
    assert first_hour > 1.5 * share


def test_a_change_is_found_once_and_needs_a_reading_before_it() -> None:
    page = int(np.argmax(np.diff(SMALL.bounds)))
    times = SMALL.changes[SMALL.bounds[page] : SMALL.bounds[page + 1]]
    url = SMALL.url(page, 80)
    before, after = float(times[3]) - 0.5, float(times[3]) + 0.5
    assert changes_found(SMALL, Readings.of_log(SMALL, [(url, after)])) == 0
    seen = Readings.of_log(SMALL, [(url, after), (url, before), (url, after + 0.1)])
    assert changes_found(SMALL, seen) == 1
    assert changes_found(SMALL, seen, t1=after) == 0
    assert changes_found(SMALL, seen, t0=after) == 1
    many = Readings.of_log(SMALL, [(url, float(times[0]) - 1), (url, END)])
    assert changes_found(SMALL, many) == 1  # however many there were


def test_a_log_is_read_by_address_in_any_order() -> None:
    log = [
        (SMALL.url(7, 81), 5.0),
        ("http://127.0.0.1:81/go/1", 3.0),
        ("http://elsewhere.example/", 1.0),
        (SMALL.url(3, 81), 9.0),
        (SMALL.url(7, 81) + "?utm_source=front", 2.0),
    ]
    readings = Readings.of_log(SMALL, log)
    assert readings.pages.tolist() == [3, 7, 7]
    assert readings.times.tolist() == [9.0, 2.0, 5.0]
    assert readings.again().tolist() == [False, False, True]


def test_prices_are_what_the_server_sends() -> None:
    prices = Prices.of_web(SMALL, request_bytes=0)
    for number, host in enumerate(SMALL.hosts):
        pages = slice(host.pages.start, host.pages.stop)
        if host.validator.answers_304:
            assert np.all(prices.unchanged[pages] < 0.15 * prices.full[pages])
        else:
            assert np.array_equal(prices.unchanged[pages], prices.full[pages])
        page = host.home
        sent = Answers(SMALL, random.Random(99), throttling=False).answer(
            number, Asked("GET", "/", {"accept-encoding": "gzip"}), START
        )
        assert prices.full[page] == pytest.approx(len(sent), abs=100)
    more = Prices.of_web(SMALL, request_bytes=500)
    assert np.all(more.full == prices.full + 500)


def test_a_visit_costs_a_304_only_while_the_validator_stands() -> None:
    prices = Prices.of_web(SMALL)
    noisy = next(h for h in SMALL.hosts if h.validator == "noisy etag")
    moved_twice = next(
        p for p in noisy.pages if SMALL.move_bounds[p + 1] - SMALL.move_bounds[p] > 3
    )
    moves = SMALL.moves[SMALL.move_bounds[moved_twice] : SMALL.move_bounds[moved_twice + 1]]
    gap = int(np.argmax(np.diff(moves)))
    a, b = float(moves[gap]), float(moves[gap + 1])
    times = np.array([a + 0.1 * (b - a), a + 0.6 * (b - a), b + 0.001])
    costs = prices.of_readings(SMALL, Readings.of(np.full(3, moved_twice), times))
    full, cheap = prices.full[moved_twice], prices.unchanged[moved_twice]
    assert costs.tolist() == [full, cheap, full]


def test_without_304_every_visit_costs_the_whole_page() -> None:
    prices = Prices.of_web(SMALL)
    page = next(h for h in SMALL.hosts if h.validator == "ignored").home
    costs = prices.of_readings(SMALL, Readings.of(np.full(2, page), np.array([START, START + 1])))
    assert costs.tolist() == [prices.full[page]] * 2
