"""What fetching robots.txt says of a host: RFC 9309 2.3 and 2.4, over months of answers."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from recrawl.frontier.robots import (
    MAX_BYTES,
    MAX_REDIRECTS,
    Access,
    Robots,
    access,
    next_hop,
    robots_due,
    settle_robots,
)
from recrawl.model import Host, Kind, Outcome, WireCost
from recrawl.units import DAY, HOUR, MINUTE

T0 = 1_700_000_000.0
RULES = b"User-agent: *\nDisallow: /private/\nCrawl-delay: 4\n"


def host() -> Host:
    return Host(1, "https://h.example")


def answer(
    status: int = 200,
    body: bytes = RULES,
    kind: Kind | None = None,
    retry_after: float | None = None,
    content_type: str = "text/plain",
) -> Outcome:
    if kind is None:
        kind = Kind.OK if status < 300 else Kind.CLIENT_ERROR
    return Outcome(
        kind,
        WireCost(),
        status=status,
        headers=(("content-type", content_type),),
        body=body,
        retry_after=retry_after,
    )


DOWN = answer(503, b"<html>down</html>", Kind.THROTTLED)
SILENT = answer(0, b"", Kind.TIMEOUT)


def settle(h: Host, outcome: Outcome, now: float = T0, **kw: bool) -> tuple[str, ...]:
    return settle_robots(h, outcome, now, agent="MyBot/1.0", **kw)


# one answer to a host never asked


def test_nothing_passes_before_robots_txt_was_read() -> None:
    assert access(host(), T0) is Access.ASK
    assert robots_due(host(), T0)


def test_rules_are_kept_for_a_day() -> None:
    h = host()
    assert settle(h, answer()) == ("rules",)
    assert (h.robots_status, h.robots_at, h.robots_until) == ("rules", T0, T0 + DAY)
    assert (h.robots_body, h.crawl_delay) == (RULES, 4.0)
    assert access(h, T0 + DAY - 1) is Access.RULES
    assert access(h, T0 + DAY) is Access.ASK
    assert not Robots(h.robots_body, "MyBot").allows("/private/x")


@pytest.mark.parametrize("status", [400, 401, 402, 403, 404, 405, 408, 410, 418, 451])
def test_4xx_means_no_rules(status: int) -> None:
    h = host()
    h.crawl_delay = 9.0
    assert settle(h, answer(status, b"User-agent: *\nDisallow: /")) == ("none",)
    assert access(h, T0) is Access.OPEN
    assert (h.robots_body, h.crawl_delay, h.robots_until) == (b"", None, T0 + DAY)


@pytest.mark.parametrize("status", [401, 403])
def test_denied_closes_by_option(status: int) -> None:
    h = host()
    assert settle(h, answer(status), denied_closes=True) == ("unreachable",)
    assert access(h, T0) is Access.CLOSED
    assert settle(host(), answer(404), denied_closes=True) == ("none",)


@pytest.mark.parametrize(
    "outcome",
    [
        DOWN,
        SILENT,
        answer(429, kind=Kind.THROTTLED),
        answer(500, b"<html>down</html>", Kind.SERVER_ERROR),
        answer(599, kind=Kind.SERVER_ERROR),
        answer(999, kind=Kind.CLIENT_ERROR),
        answer(304, b"", Kind.NOT_MODIFIED),  # nothing was asked conditionally
        answer(200, b"User-agent: *\n", Kind.INCOMPLETE),
        answer(200, b"User-agent: *\n", Kind.TIMEOUT),
        answer(200, b"", Kind.DECODE_ERROR),
        answer(0, b"", Kind.DNS_ERROR),
        answer(0, b"", Kind.CONNECT_ERROR),
        answer(0, b"", Kind.TLS_ERROR),
        answer(0, b"", Kind.PROXY_ERROR),
        answer(0, b"", Kind.POLICY),
        answer(0, b"", Kind.INTERNAL),
    ],
)
def test_what_could_not_be_read_closes_the_host(outcome: Outcome) -> None:
    """ROB-01, ROB-03: never 'everything allowed'."""
    h = host()
    assert settle(h, outcome) == ("unreachable",)
    assert access(h, T0) is Access.CLOSED
    assert access(h, T0 + HOUR) is Access.CLOSED
    assert h.robots_until == T0 + MINUTE


def test_retry_after_is_honoured_within_a_day() -> None:
    h = host()
    settle(h, answer(429, kind=Kind.THROTTLED, retry_after=300.0))
    assert h.robots_until == T0 + 300.0
    settle(h, answer(429, kind=Kind.THROTTLED, retry_after=1e9), T0 + 300.0)
    assert h.robots_until == T0 + 300.0 + DAY


def test_429_then_rules() -> None:
    """ROB-03: no page within Retry-After; then the crawl begins."""
    h = host()
    settle(h, answer(429, kind=Kind.THROTTLED, retry_after=30.0))
    assert not robots_due(h, T0 + 29.0)
    assert access(h, T0 + 59.0) is Access.CLOSED
    settle(h, answer(200, b"User-agent: *\nDisallow:\n"), T0 + 60.0)
    assert access(h, T0 + 60.0) is Access.RULES


def test_a_page_in_place_of_robots_txt() -> None:
    """ROB-17."""
    h = host()
    page = b"<!doctype html><pre>\nUser-agent: *\nDisallow: /\n</pre>"
    assert settle(h, answer(200, page, content_type="text/html")) == ("html", "html")
    assert access(h, T0) is Access.OPEN
    assert h.robots_body == b""


def test_an_empty_file_allows_everything() -> None:
    for status in (200, 204):
        h = host()
        assert settle(h, answer(status, b"")) == ("rules",)
        assert access(h, T0) is Access.RULES
        assert Robots(h.robots_body, "MyBot").allows("/x")


def test_flags_of_the_reading_are_returned() -> None:
    body = b"\xef\xbb\xbfUser-agent: *\nCrawl-delay: 9999999\n"
    assert settle(host(), answer(200, body)) == ("rules", "bom", "delay-clamped")


@pytest.mark.parametrize("status", [301, 302, 303, 307, 308, 300])
def test_redirects_that_lead_nowhere_mean_no_rules(status: int) -> None:
    h = host()
    assert settle(h, answer(status, b"", Kind.REDIRECT)) == ("none", "redirect")
    assert access(h, T0) is Access.OPEN


# size


def test_a_body_longer_than_the_cap_reads_the_same_when_loaded_again() -> None:
    h = host()
    body = b"User-agent: *\n" + b"Disallow: /abcdefgh\n" * 60_000
    assert settle(h, answer(200, body)) == ("rules", "truncated")
    assert len(h.robots_body) == MAX_BYTES + 1
    again = Robots(h.robots_body, "MyBot")
    assert "truncated" in again.flags
    assert again.allows("/abc")


@pytest.mark.parametrize("end", [b"\n", b"\r"])
def test_a_capped_body_loses_its_cut_line(end: bytes) -> None:
    h = host()
    body = end.join([b"User-agent: *", b"Disallow: /private/", b"Disallow: /p"])
    settle(h, answer(200, body, Kind.CAPPED))
    found = Robots(h.robots_body, "MyBot")
    assert not found.allows("/private/x")
    assert found.allows("/public")


# an outage over time


def test_the_last_copy_rules_for_a_day_of_outage_then_the_host_closes() -> None:
    h = host()
    settle(h, answer())
    down = T0 + DAY
    settle(h, DOWN, down)
    assert h.robots_status == "unreachable"
    assert h.crawl_delay == 4.0
    assert access(h, down) is Access.RULES
    assert not Robots(h.robots_body, "MyBot").allows("/private/x")
    assert access(h, down + DAY - 1) is Access.RULES
    assert access(h, down + DAY) is Access.CLOSED


def test_an_old_copy_doesnt_come_back() -> None:
    h = host()
    settle(h, answer())
    settle(h, DOWN, T0 + 10 * DAY)
    assert access(h, T0 + 10 * DAY) is Access.CLOSED


def test_retries_double_up_to_a_day_and_after_30_days_the_file_is_absent() -> None:
    h, now, tries = host(), T0, []
    while now < T0 + 40 * DAY:
        settle(h, SILENT, now)
        tries.append(h.robots_until - now)
        allowed = access(h, now)
        assert allowed is (Access.OPEN if now - T0 >= 30 * DAY else Access.CLOSED)
        now = h.robots_until
    assert tries[:5] == [60.0, 60.0, 120.0, 240.0, 480.0]
    assert max(tries) == DAY
    assert len(tries) < 60
    assert access(h, T0 + 30 * DAY - 1) is Access.CLOSED
    assert access(h, T0 + 30 * DAY) is Access.OPEN


def test_coming_back_ends_the_outage() -> None:
    h = host()
    for i in range(20):
        settle(h, DOWN, T0 + i * HOUR)
    settle(h, answer(404), T0 + DAY)
    assert access(h, T0 + DAY) is Access.OPEN
    settle(h, DOWN, T0 + 2 * DAY)
    assert access(h, T0 + 2 * DAY) is Access.CLOSED
    assert h.robots_until == T0 + 2 * DAY + MINUTE  # and the retries begin anew


def test_a_clock_that_stepped_back_doesnt_freeze_robots_txt() -> None:
    h = host()
    settle(h, answer(), T0 + 365 * DAY)
    assert robots_due(h, T0)
    assert access(h, T0) is Access.ASK
    settle(h, DOWN, T0 + 365 * DAY + DAY)
    settle(h, DOWN, T0)
    assert h.robots_until == T0 + MINUTE


outcomes = st.sampled_from([answer(), answer(404), DOWN, SILENT, answer(403), answer(301)])


@given(st.lists(st.tuples(outcomes, st.floats(0, 3 * DAY)), min_size=1, max_size=25))
def test_over_any_history(history: list[tuple[Outcome, float]]) -> None:
    """A retry is always due within a day; rules come only from a 2xx; an outage never opens."""
    h, now, last = host(), T0, None
    for outcome, pause in history:
        settle(h, outcome, now)
        last = outcome
        assert now < h.robots_until <= now + DAY
        found = access(h, now)
        if last.status == 200:
            assert found is Access.RULES
        elif last in (DOWN, SILENT):
            assert found in (Access.RULES, Access.CLOSED) or now - T0 >= 30 * DAY
            if found is Access.RULES:
                assert h.robots_body == RULES
        else:
            assert found is Access.OPEN
            assert h.robots_body == b""
        now += pause


def test_everything_is_read_back_from_the_row() -> None:
    h = host()
    settle(h, answer())
    settle(h, DOWN, T0 + DAY)
    again = Host(**{name: getattr(h, name) for name in Host.__slots__})
    assert access(again, T0 + DAY) is access(h, T0 + DAY) is Access.RULES


# redirects

URL = "https://h.example/robots.txt"


@pytest.mark.parametrize(
    ("location", "target"),
    [
        ("/other.txt", "https://h.example/other.txt"),
        ("//h.example/r.txt", "https://h.example/r.txt"),
        ("http://h.example/robots.txt", "http://h.example/robots.txt"),
        ("https://www.h.example/robots.txt#top", "https://www.h.example/robots.txt"),
        ("https://other.example/robots.txt", "https://other.example/robots.txt"),
        ("robots 2.txt", "https://h.example/robots%202.txt"),
    ],
)
def test_hops_that_are_followed(location: str, target: str) -> None:
    assert next_hop(URL, location, 0) == target


@pytest.mark.parametrize(
    "location",
    [
        None,
        "",
        "http://127.0.0.1:2375/",
        "http://[::1]/robots.txt",
        "http://169.254.169.254/latest",
        "http://2130706433/",
        "http://localhost/robots.txt",
        "http://db.internal/",
        "file:///etc/passwd",
        "ftp://h.example/robots.txt",
        "javascript:alert(1)",
        "https://user:pw@h.example/robots.txt",
        "http://[bad",
    ],
)
def test_hops_that_are_not(location: str | None) -> None:
    """ROB-05."""
    assert next_hop(URL, location, 0) is None


def test_private_hosts_by_option_or_where_we_already_are() -> None:
    assert next_hop(URL, "http://127.0.0.1/r", 0, private_ok=True) == "http://127.0.0.1/r"
    assert next_hop("http://127.0.0.1:80/robots.txt", "/r", 0) == "http://127.0.0.1/r"
    assert next_hop("http://127.0.0.1/robots.txt", "http://127.0.0.2/r", 0) is None


def test_five_redirects_and_no_more() -> None:
    url, hops = URL, 0
    while (target := next_hop(url, "/robots.txt", hops)) is not None:
        url, hops = target, hops + 1
    assert hops == MAX_REDIRECTS == 5


def test_a_url_that_is_none_is_not_followed() -> None:
    assert next_hop("not a url", "/x", 0) is None
