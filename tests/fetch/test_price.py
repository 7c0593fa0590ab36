"""Quotes: what is likely, what is the worst."""

from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from recrawl.fetch.price import Shape, quote, wire_cap
from recrawl.model import Limits, Request

SHAPE = Shape(sent=150, tls=False, proxied=False, limits=Limits())


def test_a_warm_plain_exchange_is_its_request_and_its_answer():
    expected, _ = quote(SHAPE, 5_000, warm=True)
    assert (expected.up, expected.connects, expected.source) == (150, 0, "estimate")
    assert 5_000 < expected.down < 5_600


def test_a_new_tls_connection_costs_what_was_measured():
    """A cold 304 over TLS 1.3 cost 4,303 B, a warm one 479 B, with classic groups; the hybrid
    key share adds 1.0 to 1.2 kB a way (research)."""
    tls = replace(SHAPE, tls=True)
    cold, warm = (quote(tls, 0, warm=w)[0].bytes for w in (False, True))
    assert 4_303 - 479 < cold - warm < 4_303 - 479 + 2_500


@given(
    st.integers(50, 20_000), st.booleans(), st.booleans(), st.floats(0, 1e9), st.booleans(),
    st.integers(1, 10**8),
)  # fmt: skip
def test_the_worst_bounds_the_expected_and_the_caps(sent, tls, proxied, body, warm, cap):
    limits = Limits(body=cap)
    expected, worst = quote(Shape(sent, tls, proxied, limits), body, warm)
    assert expected.up <= worst.up and expected.down <= worst.down
    assert worst.down > wire_cap(limits) > limits.body + limits.head
    assert worst.source == "reserved" and worst.seconds >= limits.total


@pytest.mark.parametrize("flag", ["tls", "proxied"])
def test_handshakes_are_paid_for_new_connections_only(flag):
    dear = replace(SHAPE, **{flag: True})
    assert quote(dear, 0, warm=True)[0] == quote(SHAPE, 0, warm=True)[0]
    assert quote(dear, 0, warm=False)[0].up > quote(SHAPE, 0, warm=False)[0].up


@pytest.mark.parametrize("url", ["http://127.0.0.1/", "nonsense", "ftp://x/", "https://x:1/?q"])
def test_the_fetcher_quotes_whatever_it_is_asked(make_fetcher, url):
    fetcher = make_fetcher()
    for route in ("direct", "unknown"):
        expected, worst = fetcher.quote(Request(url, route=route), 10_000, warm=False)
        assert 0 < expected.bytes < worst.bytes
    bad = Request(url, (("bad name", "x"),))
    assert fetcher.quote(bad, 10_000, warm=False)[0].bytes > 10_000
