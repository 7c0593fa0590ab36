"""The frontier, discovery, statuses and refusals."""

from __future__ import annotations

from recrawl.model import Purpose, Refused, State, Verdict
from recrawl.report import (
    by_host,
    by_state,
    discovery,
    discovery_by_day,
    limits_reached,
    refused_by_reason,
    status_by_host,
)

ORIGINS = {1: "https://a.example", 2: "https://b.example"}
COUNTS = {(1, 0): 5, (1, 1): 10, (2, 1): 100, (2, 2): 1}


def test_states():
    assert by_state(COUNTS) == {State.NEW: 5, State.LIVE: 110, State.GONE: 1}
    assert by_state({}) == {}


def test_hosts_the_largest_first():
    assert list(by_host({**COUNTS, (3, 0): 1}, ORIGINS).items()) == [
        ("https://b.example", {State.LIVE: 100, State.GONE: 1}),
        ("https://a.example", {State.NEW: 5, State.LIVE: 10}),
        ("host 3", {State.NEW: 1}),
    ]


def test_discovery_falls_on_a_finite_site(line):
    rows = [
        line(Verdict.NEW, day=11, n=10, discovered=0, sighted=50),
        line(Verdict.NEW, day=10, n=4, discovered=40, sighted=50),
        line(Verdict.NEW, day=10, n=6, discovered=20, sighted=50),
        line(Verdict.ROBOTS, Purpose.ROBOTS, day=9, n=1),
    ]
    days = discovery_by_day(rows)
    assert [(d.day, d.ratio) for d in days] == [(10, 6.0), (11, 0.0)]
    assert [d.duplicates for d in days] == [0.4, 1.0]
    whole = discovery(rows)
    assert (whole.visits, whole.ratio, whole.duplicates) == (20, 3.0, 0.6)
    assert whole.as_dict() == {
        "day": None, "visits": 20, "discovered": 60, "sighted": 150, "ratio": 3.0,
        "duplicates": 0.6,
    }  # fmt: skip


def test_discovery_of_nothing():
    assert discovery([]).ratio is None
    assert discovery([]).duplicates is None
    assert discovery_by_day([]) == []


def test_a_host_that_fails_shows_beside_one_that_does_not(line):
    rows = [
        line(host=1, n=5),
        line(host=1, n=5, day=3),
        line(Verdict.FAILED, host=2, status=0, n=7),
        line(Verdict.FAILED, host=2, status=503, n=2),
        line(Verdict.NOT_MODIFIED, host=1, status=304),
    ]
    assert status_by_host(rows, ORIGINS) == {
        "https://a.example": {200: 10, 304: 1},
        "https://b.example": {0: 7, 503: 2},
    }


def test_refusals():
    refused = [
        ("https://a.example", str(Refused.KNOWN), 90),
        ("https://b.example", str(Refused.KNOWN), 9),
        ("https://a.example", str(Refused.HOST_FULL), 3),
        ("", str(Refused.PROJECT_FULL), 2),
        ("https://b.example", str(Refused.TOO_DEEP), 3),
    ]
    assert list(refused_by_reason(refused).items()) == [
        ("already known", 99), ("host is full", 3), ("too deep", 3), ("project is full", 2),
    ]  # fmt: skip
    assert limits_reached(refused) == [
        ("limits.pages", "", 2),
        ("limits.per_host", "https://a.example", 3),
    ]
    assert limits_reached([("x", str(Refused.HOST_FULL), 0)]) == []
