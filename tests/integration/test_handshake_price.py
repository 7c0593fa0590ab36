"""A visit's price holds what its connection costs: real curl over loopback TLS."""

import asyncio

import numpy as np
import pytest

from recrawl.engine.learn import handshake_bytes
from recrawl.fetch.http import HttpFetcher
from recrawl.model import Kind, Limits, Purpose, Request, Visit, WireCost
from recrawl.plan.sizes import SizeModel
from recrawl.units import Spend
from servers.certificates import make_authority, server_context
from servers.fault import FaultServer

HOST, TYPE = 1, 0
AGENT = "recrawl-tests/1 (+mailto:nobody@example.org)"
TAUGHT, TRIED = 40, 20


def visited(url, authority, n, *, afresh):
    """(visit, outcome) of n exchanges; `afresh`: each by a fetcher of its own, nothing kept."""
    request = Request(url, (), Limits())
    visit = Visit(1, HOST, 1, Purpose.BEST_BUY, request, Spend())

    async def run():
        found = []
        fetcher = None
        for _ in range(n):
            if fetcher is None or afresh:
                if fetcher is not None:
                    await fetcher.aclose()
                fetcher = HttpFetcher(
                    {}, AGENT, ca_file=str(authority / "ca.crt"), allow_private=True
                )
            found.append((visit, await fetcher.fetch(request)))
        await fetcher.aclose()
        return found

    return asyncio.run(run())


@pytest.fixture(scope="module")
def authority(tmp_path_factory):
    return make_authority(tmp_path_factory.mktemp("ca"))


@pytest.mark.parametrize(
    ("path", "afresh"),
    [("/ok", True), ("/ok-close", False), ("/ok", False)],
    ids=["new", "resumed", "warm"],
)
def test_expected_bytes_are_what_the_kernel_counts(authority, path, afresh):
    sizes, body = SizeModel(), 0.0
    with FaultServer(server_context(authority), name="localhost") as server:
        exchanges = visited(server.url(path), authority, TAUGHT + TRIED, afresh=afresh)
    for visit, outcome in exchanges[:TAUGHT]:
        assert outcome.kind is Kind.OK and outcome.cost.source == "kernel"
        handshake = handshake_bytes(visit, outcome)
        body = sizes.page_body(body, outcome.cost.bytes - handshake, HOST, TYPE)
        sizes.observe(HOST, TYPE, outcome.cost, handshake)
    expected = sizes.expected(np.array([HOST]), np.array([TYPE]), np.array([body])).full[0]
    counted = sum(o.cost.bytes for _, o in exchanges[TAUGHT:]) / TRIED
    assert expected == pytest.approx(counted, abs=200)  # a handshake has 2,500 and more


def test_a_resumed_connection_is_priced_below_a_new_one(authority):
    def connect(path, afresh):
        sizes = SizeModel()
        with FaultServer(server_context(authority), name="localhost") as server:
            for visit, outcome in visited(server.url(path), authority, TAUGHT, afresh=afresh):
                sizes.observe(HOST, TYPE, outcome.cost, handshake_bytes(visit, outcome))
        return sizes.connect_bytes(np.array([HOST]))[0]

    new, resumed, warm = connect("/ok", True), connect("/ok-close", False), connect("/ok", False)
    assert warm < 200 < resumed < new - 300


def test_plain_connections_have_no_handshake_in_their_price():
    sizes = SizeModel()
    sizes.bare = np.array([HOST])
    sizes.observe(HOST, TYPE, WireCost(down=500, connects=1), 0.0)
    assert sizes.connect_bytes(np.array([HOST, 2])).tolist() == pytest.approx([0.0, 800.0])
