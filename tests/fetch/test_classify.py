"""Statuses, heads and Retry-After: the pure half of the fetcher."""

from datetime import UTC, datetime
from email.utils import format_datetime

import pytest
from hypothesis import given
from hypothesis import strategies as st

from recrawl.fetch.classify import Exchange, classify, final_head, parse_head, retry_after
from recrawl.model import Blame, Kind, Limits, WireCost

EXCHANGE = Exchange(WireCost(100, 200), started=10.0, finished=11.0, final_ip="192.0.2.1")


def judged(status, headers=(), body=b"", **exchange):
    made = Exchange(**{"cost": EXCHANGE.cost, "finished": 11.0, **exchange})
    return classify(status, tuple(headers), body, Limits(), made)


@pytest.mark.parametrize(
    ("status", "headers", "kind", "blame"),
    [
        (200, (), Kind.OK, Blame.NOBODY),
        (203, (), Kind.OK, Blame.NOBODY),
        (204, (), Kind.OK, Blame.NOBODY),
        (206, (), Kind.INCOMPLETE, Blame.TARGET),
        (304, (), Kind.NOT_MODIFIED, Blame.NOBODY),
        (301, (("location", "/x"),), Kind.REDIRECT, Blame.NOBODY),
        (302, (("location", "/x"),), Kind.REDIRECT, Blame.NOBODY),
        (303, (("location", "/x"),), Kind.REDIRECT, Blame.NOBODY),
        (307, (("location", "/x"),), Kind.REDIRECT, Blame.NOBODY),
        (308, (("location", "/x"),), Kind.REDIRECT, Blame.NOBODY),
        (300, (("location", "/x"),), Kind.CLIENT_ERROR, Blame.TARGET),
        (302, (), Kind.CLIENT_ERROR, Blame.TARGET),
        (302, (("location", ""),), Kind.CLIENT_ERROR, Blame.TARGET),
        (400, (), Kind.CLIENT_ERROR, Blame.TARGET),
        (401, (), Kind.DENIED, Blame.TARGET),
        (403, (), Kind.DENIED, Blame.TARGET),
        (407, (), Kind.DENIED, Blame.TARGET),
        (451, (), Kind.DENIED, Blame.TARGET),
        (404, (), Kind.GONE, Blame.NOBODY),
        (410, (), Kind.GONE, Blame.NOBODY),
        (429, (), Kind.THROTTLED, Blame.TARGET),
        (503, (("retry-after", "soon"),), Kind.THROTTLED, Blame.TARGET),
        (503, (), Kind.SERVER_ERROR, Blame.TARGET),
        (500, (("retry-after", "9"),), Kind.SERVER_ERROR, Blame.TARGET),
        (599, (), Kind.SERVER_ERROR, Blame.TARGET),
        (999, (), Kind.CLIENT_ERROR, Blame.TARGET),
        (101, (), Kind.PROTOCOL_ERROR, Blame.TARGET),
    ],
)
def test_what_a_status_means(status, headers, kind, blame):
    outcome = judged(status, headers)
    assert (outcome.kind, outcome.blame) == (kind, blame)
    assert bool(outcome.detail) == (blame is not Blame.NOBODY)  # every fault is explained


@given(st.integers(100, 999), st.booleans())
def test_every_status_is_judged_and_only_the_usual_ones_are_well(status, by_proxy):
    outcome = judged(status, by_proxy=by_proxy)
    assert (outcome.kind is Kind.OK) == (200 <= status < 300 and status != 206)
    assert outcome.cost == EXCHANGE.cost and outcome.status == status
    assert outcome.blame is not Blame.LOCAL


def test_a_407_is_the_routes_fault_only_where_a_proxy_may_have_spoken():
    outcome = judged(407, by_proxy=True)
    assert (outcome.kind, outcome.blame) == (Kind.PROXY_ERROR, Blame.ROUTE)


def test_a_304_that_nobody_asked_for_is_marked():
    assert judged(304).flags == {"unsolicited"}
    assert judged(304, conditional=True).flags == frozenset()


def test_an_empty_answer_is_well_and_marked():
    for status in (204, 205):
        assert judged(status, body=b"junk").flags == {"empty"}
        assert judged(status, body=b"junk").body == b""


def test_everything_of_the_exchange_is_handed_on():
    outcome = classify(200, (("etag", '"a"'),), b"body", Limits(), EXCHANGE)
    assert (outcome.started, outcome.finished, outcome.final_ip) == (10.0, 11.0, "192.0.2.1")
    assert (outcome.body, outcome.wire_body, outcome.header("etag")) == (b"body", b"body", '"a"')


def test_the_body_of_an_error_page_is_read_but_its_damage_is_not_the_outcome():
    import gzip

    coding = (("content-encoding", "gzip"),)
    packed = gzip.compress(b"Are you a robot?")
    assert judged(403, coding, packed).body == b"Are you a robot?"
    broken = judged(403, coding, packed[:-9])
    assert (broken.kind, broken.flags) == (Kind.DENIED, {"truncated"})
    assert judged(200, coding, packed[:-9]).kind is Kind.DECODE_ERROR


@pytest.mark.parametrize(
    ("location", "text"),
    [
        (b"/caf\xc3\xa9", "/café"),
        (b"/caf\xe9", "/café"),
        (b"http://x/a b#f", "http://x/a b#f"),
    ],
)
def test_a_location_is_utf8_or_else_latin1(location, text):
    head = b"HTTP/1.1 301 Moved\r\nLocation: " + location + b"\r\n\r\n"
    assert judged(301, parse_head(head)).location == text


def test_only_a_redirect_has_a_location():
    assert judged(201, (("location", "/x"),)).location is None


# --- heads


def test_a_head_is_parsed_in_order_and_verbatim():
    raw = (
        b'HTTP/1.1 200 OK\r\nETag:  W/"a:b"  \r\nX-A : b\r\nx-fold: 1\r\n\t 2\r\nno colon here\r\n'
        b"X-L: caf\xe9\r\nSet-Cookie: a\r\nset-cookie: b\r\nX-E:\r\n\r\n"
    )
    assert parse_head(raw) == (
        ("etag", 'W/"a:b"'), ("x-a", "b"), ("x-fold", "1 2"), ("x-l", "café"),
        ("set-cookie", "a"), ("set-cookie", "b"), ("x-e", ""),
    )  # fmt: skip


def test_bare_line_feeds_end_lines_too():
    assert parse_head(b"HTTP/1.1 200 OK\nA: 1\nB: 2\n\n") == (("a", "1"), ("b", "2"))


@given(st.binary(max_size=300))
def test_any_bytes_can_be_parsed(raw):
    for name, value in parse_head(raw):
        assert name == name.strip().lower()
        assert "\n" not in name + value


@pytest.mark.parametrize(
    ("lines", "head", "whole"),
    [
        ([], b"", False),
        ([b"HTTP/1.1 200 OK\r\n", b"A: 1\r\n", b"\r\n"], b"HTTP/1.1 200 OK\r\nA: 1\r\n\r\n", True),
        ([b"HTTP/1.1 200 OK\r\n", b"A: 1"], b"HTTP/1.1 200 OK\r\nA: 1", False),
        ([b"HTTP/1.1 200 OK\r\n", b"A: 1\r\n"], b"HTTP/1.1 200 OK\r\nA: 1\r\n", False),
        (
            [b"HTTP/1.1 103 Hints\r\n", b"\r\n", b"HTTP/1.1 200 OK\r\n", b"\r\n"],
            b"HTTP/1.1 200 OK\r\n\r\n",
            True,
        ),
        ([b"HTTP/1.1 103 Hints\r\n", b"\r\n", b"HTTP/1.1 2"], b"HTTP/1.1 2", False),
        (
            [b"HTTP/1.1 200 OK\r\n", b"\r\n", b"X-Trailer: v\r\n", b"\r\n"],
            b"HTTP/1.1 200 OK\r\n\r\n",
            True,
        ),
        (
            [b"HTTP/1.1 200 OK\r\n", b"Via: HTTP/1.1 gw\r\n", b"\r\n"],
            b"HTTP/1.1 200 OK\r\nVia: HTTP/1.1 gw\r\n\r\n",
            True,
        ),
        ([b"HTTP/1.1 200 OK\n", b"A: 1\n", b"\n"], b"HTTP/1.1 200 OK\nA: 1\n\n", True),
    ],
)
def test_the_last_head_counts_and_must_be_whole(lines, head, whole):
    assert final_head(lines) == (head, whole)


# --- Retry-After

NOW = 1_800_000_000.0


@given(st.integers(0, 10**30))
def test_seconds_are_read_and_capped_at_a_day(seconds):
    assert retry_after(str(seconds), NOW) == min(seconds, 86_400)


@given(st.integers(-(10**7), 10**7))
def test_dates_are_read_against_now_and_capped(offset):
    when = format_datetime(datetime.fromtimestamp(NOW + offset, UTC), usegmt=True)
    assert retry_after(when, NOW) == max(0, min(offset, 86_400))


@pytest.mark.parametrize("text", ["", "soon", "-5", "1.5", "٣", "99 bottles", "Fri, 99 Foo 2026"])
def test_garbage_says_nothing(text):
    assert retry_after(text, NOW) is None
    assert judged(429, (("retry-after", text),)).kind is Kind.THROTTLED


@given(st.text(max_size=60))
def test_no_text_breaks_it(text):
    seconds = retry_after(text, NOW)
    assert seconds is None or 0 <= seconds <= 86_400
