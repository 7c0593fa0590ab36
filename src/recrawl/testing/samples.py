"""Rows with every field set to something that is not its default: what a store must give back."""

from __future__ import annotations

from dataclasses import replace

from recrawl.model import (
    Change,
    Entry,
    Host,
    Page,
    Purpose,
    Record,
    Reservation,
    State,
    Verdict,
)
from recrawl.units import DAY, Spend

NOON = 20_000 * DAY + DAY / 2  # of a day in 2024


def a_page(host_id: int, key: int) -> Page:
    """As it is admitted."""
    return Page(host_id, key, f"/p/{key}?q=1", depth=2, first_seen=NOON)


def a_full_page(host_id: int, key: int) -> Page:
    """Read often; the floats are such that float32 and milliseconds hold them."""
    return Page(
        host_id, key, f"/p/{key}?q=%C3%A9", State.LIVE, page_type=3, value=0.1, depth=4, hops=1,
        score=-5, first_seen=NOON - 10 * DAY, last=NOON + 0.123, last_attempt=NOON + 60.5,
        changed_at=NOON - DAY, due=float("inf"), a=1.5, b=86_400.25, va=0.75, vb=3600.0,
        body=20_480.0, etag='W/"5f3a-1b"', last_modified="Sat, 29 Nov 2025 13:02:11 GMT",
        variant="de", digest1=b"\x00\x01\x02\x03\x04\x05\x06\x07", digest2=b"\xff" * 8, fails=2,
        missing=1, retry_at=NOON + 7 * DAY, interval=3.5 * DAY, n_visits=12, n_changes=3,
        n_not_modified=70_000,
        target="http://example.com/x", canonical="http://example.com/y",
    )  # fmt: skip


def a_host(host_id: int) -> Host:
    """Met, throttled, and read its robots.txt."""
    return Host(
        host_id, f"https://host{host_id}.example:8443", n_pages=4_000_000_000, delay=1.5,
        next_ok=NOON + 1 / 3, crawl_delay=2.5, penalty=0.1, throttled_until=float("inf"), fails=1,
        latency=0.0123, robots_status="rules", robots_at=NOON, robots_until=NOON + DAY,
        robots_body=b"User-agent: *\r\nDisallow: /x\xe9\n", handshake=4312.7, n_validator=9,
        n_304=7, note="throttled",
    )  # fmt: skip


def a_record() -> Record:
    """Of every JSON type."""
    fields = {"title": "Für Elise", "price": 12.5, "n": 3, "ok": None, "tags": ["a", "b"]}
    return Record(fields, b"\x00" * 8, b"tier-two")


def an_entry(t: float = NOON, host_id: int = 1, key: int = 1) -> Entry:
    """Bought, conditional, answered in full."""
    return Entry(
        t, host_id, key, Purpose.BEST_BUY, Verdict.CHANGED, page_type=2, status=200, kind="ok",
        conditional=True, up=310, down=20_411, spend=Spend(20_721, 83, 1_000_000, 1, 142),
        tau=3.5 * DAY, predicted=0.37, gain=5123.0, price=20_300.0, score=0.2524, bar=0.2108,
        source="kernel", route="direct", discovered=3, sighted=90, evidence="visible text",
    )  # fmt: skip


def a_robots_entry(t: float = NOON, host_id: int = 1) -> Entry:
    """A visit that no rate predicted: all marks 0, key 0."""
    return replace(
        an_entry(t, host_id, 0), purpose=Purpose.ROBOTS, verdict=Verdict.ROBOTS, status=404,
        kind="gone", conditional=False, tau=0.0, predicted=0.0, gain=0.0, price=0.0, score=0.0,
        bar=0.0, discovered=0, sighted=0, evidence="",
    )  # fmt: skip


def a_change(t: float = NOON, host_id: int = 1, key: int = 1) -> Change:
    """A second reading that differs."""
    return Change(
        t, t - DAY, host_id, key, 2, Verdict.CHANGED, {"price": 12.5}, {"price": 13, "é": None}
    )


def a_reservation(lease: int) -> Reservation:
    """A promise in every unit."""
    spend = Spend(30_000, 120, 1_000_000, 1, 60_000)
    return Reservation(lease, 1, -5, NOON + 0.1, Purpose.VERIFICATION, spend, 2, "eu-proxy")
