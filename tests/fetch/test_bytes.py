"""The price of an exchange, against what a gateway counted: equal to the byte on plain HTTP."""

import asyncio
import random
from contextlib import ExitStack

import pytest

from fetch.wire import ask, serve
from recrawl.fetch.meter import Meter
from recrawl.model import Kind, Limits
from servers.background import Background
from servers.fault import answer
from servers.gateway import Gateway

PATHS = (
    "/ok", "/small", "/gz", "/br", "/chunked", "/continue", "/etag", "/none", "/loop", "/429",
    "/503", "/hdr-16k", "/304-cl", "/ok-close", "/http10", "/drop-mid", "/drop-chunked",
    "/drop-head", "/close-now", "/rst-now", "/cl-neg", "/chunk-bad", "/gzip-bomb", "/204-body",
)  # fmt: skip


def test_each_exchange_of_a_kept_connection_is_exact(make_fetcher, gateway, short):
    """Counted between the exchanges, so that one's bytes can't hide in another's."""
    kept = ("/ok", "/small", "/gz", "/chunked", "/etag", "/304-cl", "/none", "/429", "/hdr-16k")
    base = f"http://127.0.0.1:{gateway.port}"

    async def run():
        fetcher = make_fetcher()
        seen = (0, 0)
        for path in kept * 3:
            outcome = await fetcher.fetch(ask(base + path, short))
            await asyncio.sleep(0.01)  # the gateway has counted before it passes on
            total = (gateway.up, gateway.down)
            assert (outcome.cost.up, outcome.cost.down) == (total[0] - seen[0], total[1] - seen[1])
            seen = total
        await fetcher.aclose()

    asyncio.run(run())
    assert len(gateway.counts) == 1


@pytest.mark.parametrize("seed", range(3))
def test_hosts_side_by_side_are_exact_whatever_happens(make_fetcher, faults, short, seed):
    """Five hosts, one exchange at a time each (as politeness has it), connections dying all over:
    what is charged equals what the gateways counted, host by host."""
    rng = random.Random(seed)

    async def crawl(fetcher, gate):
        base = f"http://127.0.0.1:{gate.port}"
        return [await fetcher.fetch(ask(base + rng.choice(PATHS), short)) for _ in range(40)]

    async def run(gates):
        fetcher = make_fetcher()
        found = await asyncio.gather(*(crawl(fetcher, gate) for gate in gates))
        await fetcher.aclose()
        return found

    with ExitStack() as stack:
        gates = [stack.enter_context(Gateway(faults.port)) for _ in range(5)]
        estimates = 0
        for gate, outcomes in zip(gates, asyncio.run(run(gates)), strict=True):
            up, down = gate.settle()
            assert sum(o.cost.up for o in outcomes) == up
            # An answer that came and broke within one step of libcurl: only loopback is so fast.
            guessed = [o for o in outcomes if o.cost.source == "estimate"]
            assert 0 <= down - sum(o.cost.down for o in outcomes) <= 90 * len(guessed)
            estimates += len(guessed)
    assert estimates <= 10  # of 200


def test_many_exchanges_of_one_host_at_once_are_exact_in_sum(make_fetcher, gateway, short):
    """A connection may be taken over before its last exchange is charged: only sums are exact."""
    paths = ("/ok", "/small", "/gz", "/chunked", "/none", "/ok-close", "/hdr-16k")
    base = f"http://127.0.0.1:{gateway.port}"
    requests = [ask(base + path, short) for path in paths * 20]
    outcomes = serve(make_fetcher, *requests, at_once=True)
    connects = sum(o.cost.connects for o in outcomes)
    assert sum(o.cost.up for o in outcomes) == gateway.settle(connects=connects)[0]
    assert sum(o.cost.down for o in outcomes) == gateway.down
    assert connects == len(gateway.counts)


def test_a_conditional_request_that_is_answered_304(make_fetcher, gateway, short):
    url = f"http://127.0.0.1:{gateway.port}/etag"
    first, second = serve(
        make_fetcher, ask(url, short), ask(url, short, ("If-None-Match", '"v1"'))
    )
    assert (first.kind, second.kind) == (Kind.OK, Kind.NOT_MODIFIED)
    assert second.flags == frozenset() and second.header("etag") == '"v1"'
    assert (second.cost.connects, second.cost.down) == (
        0,
        len(b'HTTP/1.1 304 Not Modified\r\nETag: "v1"\r\n\r\n'),
    )
    assert first.cost.up + second.cost.up == gateway.settle()[0]
    assert first.cost.down + second.cost.down == gateway.down


def test_a_request_sent_in_vain_on_a_dead_connection_is_paid_by_the_next(make_fetcher):
    """A server that reads the second request, says nothing, and closes: libcurl sends it anew.
    So does every client that keeps connections; the price shows it."""

    class Once(Background):
        async def begin(self):
            self.port = await self.listen(self._serve)

        async def _serve(self, reader, writer):
            await reader.readuntil(b"\r\n\r\n")
            writer.write(answer())
            await reader.readuntil(b"\r\n\r\n")

    with Once() as server, Gateway(server.port) as gate:
        url = f"http://127.0.0.1:{gate.port}/"
        first, second = serve(make_fetcher, *[ask(url, Limits(connect=1, total=2))] * 2)
        up, down = gate.settle()
    assert (first.kind, second.kind) == (Kind.OK, Kind.OK)
    assert (first.cost.connects, second.cost.connects) == (1, 1)
    assert second.cost.up == 2 * first.cost.up
    assert (first.cost.up + second.cost.up, first.cost.down + second.cost.down) == (up, down)


def test_without_the_kernels_count_libcurls_own_is_given_as_an_estimate(
    make_fetcher, gateway, short, monkeypatch
):
    monkeypatch.setattr("recrawl.fetch.meter._TCP_INFO", None)
    url = f"http://127.0.0.1:{gateway.port}"
    paths = ("/ok", "/etag", "/drop-mid", "/chunked")
    outcomes = serve(make_fetcher, *(ask(url + p, short) for p in paths))
    assert {o.cost.source for o in outcomes} == {"estimate"}
    assert sum(o.cost.up for o in outcomes) == gateway.settle()[0]
    framing = gateway.down - sum(o.cost.down for o in outcomes)
    assert 0 < framing < 60  # what libcurl does not count


def test_a_connection_nobody_knows_is_not_guessed():
    meter = Meter()
    assert meter.charge(1, ("127.0.0.1", 2)) is None
    assert meter.pending(1, ("127.0.0.1", 2)) == 0
    assert meter.pending_on(99) == 0
    meter.event(99, released=True)
