"""The twenty-four fault cases that a crawler must survive: each ends in its kind, is paid for to
the byte, and harms no other exchange. Redirects are not followed by a fetcher, so for cases 17 to
19 this holds the fetcher's half: one hop, its price, and what it refuses to send."""

import asyncio
import socket
import time
from dataclasses import replace

import pytest

from fetch.wire import Peak, ask, serve
from recrawl.model import Blame, Kind, Limits, Request
from servers.fault import BODY

TARGET, NOBODY = Blame.TARGET, Blame.NOBODY
FAILED = (Kind.INCOMPLETE, TARGET)
BROKEN = (Kind.PROTOCOL_ERROR, TARGET)
OK = (Kind.OK, NOBODY)

# case: path -> kind, blame, flags
WHOLE = {  # the server is done with the answer: bytes must be equal to the last one
    "1 /drop-mid": (*FAILED, ()),
    "2 /rst-mid": (*FAILED, ()),
    "3 /drop-chunked": (*FAILED, ()),
    "4 /drop-head": (*FAILED, ()),
    "5 /close-now": (Kind.CONNECT_ERROR, TARGET, ()),
    "5 /rst-now": (Kind.CONNECT_ERROR, TARGET, ()),
    "10 /hdr-16k": (*OK, ()),
    "10 /hdr-many": (*OK, ()),
    "11 /gzip-bomb": (Kind.CAPPED, TARGET, ("decoded-cap",)),
    "11 /br-bomb": (Kind.CAPPED, TARGET, ("ratio-cap",)),
    "12 /gzip-corrupt": (Kind.DECODE_ERROR, TARGET, ("truncated",)),
    "12 /gzip-cut": (Kind.DECODE_ERROR, TARGET, ("truncated",)),
    "13 /gzip-fake": (*OK, ("mislabelled-encoding",)),
    "13 /enc-unknown": (*OK, ("unknown-encoding",)),
    "13 /gzip-double": (*OK, ()),
    "13 /gzip-trail": (*OK, ("trailing-data",)),
    "14 /429": (Kind.THROTTLED, TARGET, ()),
    "14 /429-date": (Kind.THROTTLED, TARGET, ()),
    "14 /503-garbage": (Kind.THROTTLED, TARGET, ()),
    "14 /503": (Kind.SERVER_ERROR, TARGET, ()),
    "15 /cl-dup": (*BROKEN, ()),
    "15 /cl-neg": (*BROKEN, ()),
    "15 /cl-nan": (*BROKEN, ()),
    "16 /cl-short": (*OK, ()),
    "16 /cl-te": (*OK, ()),
    "17 /loop": (Kind.REDIRECT, NOBODY, ()),
    "18 /to-ftp": (Kind.REDIRECT, NOBODY, ()),
    "18 /to-nothing": (Kind.CLIENT_ERROR, TARGET, ()),
    "18 /to-empty": (Kind.CLIENT_ERROR, TARGET, ()),
    "19 /to-utf8": (Kind.REDIRECT, NOBODY, ()),
    "20 /hdr-nocolon": (*BROKEN, ()),
    "20 /hdr-nul": (*BROKEN, ()),
    "20 /hdr-spacecolon": (*OK, ()),
    "20 /hdr-fold": (*OK, ()),
    "20 /hdr-latin1": (*OK, ()),
    "20 /hdr-lf": (*OK, ()),
    "21 /st-abc": (*BROKEN, ()),
    "21 /garbage": (*BROKEN, ()),
    "21 /http09": (*BROKEN, ()),
    "21 /st-999": (Kind.CLIENT_ERROR, TARGET, ()),
    "21 /304-cl": (Kind.NOT_MODIFIED, NOBODY, ("unsolicited",)),
    "21 /204-body": (*OK, ("empty",)),
    "22 /bad-charset": (*OK, ()),
    "/chunk-bad": (*BROKEN, ()),
    "/chunk-huge": (*BROKEN, ()),
    "/206": (*FAILED, ()),
    "/403": (Kind.DENIED, TARGET, ()),
    "/410": (Kind.GONE, NOBODY, ()),
    "/http10": (*OK, ()),
    "/continue": (*OK, ()),
    "/chunked": (*OK, ()),
}
SLOW = {  # path -> seconds it may take at most (first_byte 0.7, total 1.0)
    "7 /slow-head": 1.5,
    "7 /stall-head": 1.4,
    "8 /slow-body": 1.5,
    "8 /stall-body": 1.5,
    "21 /101": 1.5,
}
ENDLESS = {
    "9 /infinite": (Kind.CAPPED, 1.0),
    "9 /infinite-chunked": (Kind.CAPPED, 1.0),
    "9 /infinite-ext": (Kind.CAPPED, 1.0),
    "10 /infinite-head": (Kind.PROTOCOL_ERROR, 1.0),
    "10 /infinite-1xx": (Kind.PROTOCOL_ERROR, 1.0),
    "10 /hdr-1m": (Kind.PROTOCOL_ERROR, 1.0),
}


def path(case):
    return case.partition("/")[1] + case.partition("/")[2]


@pytest.mark.parametrize("case", WHOLE)
def test_each_ends_as_it_should_and_is_paid_to_the_byte(make_fetcher, gateway, short, case):
    kind, blame, flags = WHOLE[case]
    url = f"http://127.0.0.1:{gateway.port}{path(case)}"
    (outcome,) = serve(make_fetcher, ask(url, short))
    assert (outcome.kind, outcome.blame, outcome.flags) == (kind, blame, frozenset(flags))
    assert (outcome.cost.up, outcome.cost.down) == gateway.settle()
    assert (outcome.cost.source, outcome.cost.connects) == ("kernel", 1)
    assert len(gateway.counts) == 1  # no hidden retry
    assert bool(outcome.detail) == (blame is not NOBODY)


def test_slow_ones_end_in_time_all_at_once_and_paid(make_fetcher, faults, short):
    """One gateway for each, so that the counts are apart; all in the time of the slowest."""
    from contextlib import ExitStack

    from servers.gateway import Gateway

    with ExitStack() as stack:
        gates = {case: stack.enter_context(Gateway(faults.port)) for case in SLOW}
        requests = [ask(f"http://127.0.0.1:{g.port}{path(c)}", short) for c, g in gates.items()]
        outcomes = serve(make_fetcher, *requests, at_once=True)
        for (case, gate), outcome in zip(gates.items(), outcomes, strict=True):
            assert (outcome.kind, outcome.blame) == (Kind.TIMEOUT, TARGET), case
            assert 0.6 < outcome.cost.seconds < SLOW[case], case
            up, down = gate.settle()
            assert outcome.cost.up == up, case
            assert 0 <= down - outcome.cost.down <= 4, case  # a drip or two may be under way


@pytest.mark.parametrize("case", ENDLESS)
def test_endless_ones_are_cut_off(make_fetcher, gateway, short, case):
    kind, seconds = ENDLESS[case]
    request = ask(f"http://127.0.0.1:{gateway.port}{path(case)}", short)
    with Peak() as memory:
        (outcome,) = serve(make_fetcher, request)
    assert (outcome.kind, outcome.blame) == (kind, TARGET)
    assert outcome.cost.seconds < seconds
    assert len(outcome.wire_body) <= short.body
    # What the kernel took in is what the gateway pushed, save what was still under way.
    assert outcome.cost.up == gateway.settle()[0]
    assert 0 <= gateway.down - outcome.cost.down < 600_000
    worst = make_fetcher().quote(request, 0, warm=False)[1]
    assert outcome.cost.down <= worst.down
    assert memory.grown < 40_000_000


def test_a_capped_body_costs_little_more_than_the_cap(make_fetcher, faults, short):
    (outcome,) = serve(make_fetcher, ask(faults.url("/infinite"), short))
    assert short.body <= outcome.cost.down < short.body + 600_000


def test_a_declared_size_beyond_the_cap_is_not_even_begun(make_fetcher, faults):
    (outcome,) = serve(make_fetcher, ask(faults.url("/ok"), Limits(body=10_000)))
    assert (outcome.kind, outcome.wire_body) == (Kind.CAPPED, b"")
    assert outcome.flags == {"body-cap"}


def test_the_head_cap_is_the_requests(make_fetcher, faults):
    tight = Limits(head=10_000)
    long, short_head = serve(
        make_fetcher, ask(faults.url("/hdr-16k"), tight), ask(faults.url("/ok"), tight)
    )
    assert (long.kind, long.detail) == (Kind.PROTOCOL_ERROR, "the head is longer than allowed")
    assert short_head.kind is Kind.OK


def test_partial_bodies_are_kept(make_fetcher, faults, short):
    mid, corrupt, chunked = serve(
        make_fetcher,
        *(ask(faults.url(p), short) for p in ("/drop-mid", "/gzip-cut", "/drop-chunked")),
    )
    assert mid.wire_body == chunked.wire_body == BODY[:20_000] and mid.body == b""
    assert BODY.startswith(corrupt.body) and len(corrupt.body) > 1_000
    assert corrupt.wire_body[:2] == b"\x1f\x8b"


def test_what_is_asked_to_wait_says_how_long(make_fetcher, faults, short):
    paths = ("/429", "/429-date", "/503-garbage", "/503")
    outcomes = serve(make_fetcher, *(ask(faults.url(p), short) for p in paths))
    assert [o.retry_after for o in outcomes] == [7.0, 86_400.0, None, None]


def test_decoded_bodies_are_right(make_fetcher, faults, short):
    paths = ("/ok", "/gz", "/br", "/deflate", "/gzip-double", "/gzip-trail", "/gzip-fake")
    for outcome in serve(make_fetcher, *(ask(faults.url(p), short) for p in paths)):
        assert outcome.body == BODY


def test_case_6_a_kept_connection_that_was_closed_costs_a_new_one(make_fetcher, gateway, short):
    url = f"http://127.0.0.1:{gateway.port}"

    async def run():
        fetcher = make_fetcher()
        outcomes = []
        for _ in range(3):
            outcomes.append(await fetcher.fetch(ask(f"{url}/idle-close", short)))
            await asyncio.sleep(0.05)
        await fetcher.aclose()
        return outcomes

    outcomes = asyncio.run(run())
    assert [(o.kind, o.cost.connects) for o in outcomes] == [(Kind.OK, 1)] * 3
    assert sum(o.cost.up for o in outcomes) == gateway.settle()[0]
    assert sum(o.cost.down for o in outcomes) == gateway.down


def test_case_18_schemes_and_ports_that_are_never_sent(make_fetcher, short):
    urls = (
        "ftp://127.0.0.1/", "file:///etc/passwd", "javascript:alert(1)",
        "http://127.0.0.1:99999/", "http://127.0.0.1:0/", "http://", "",
    )  # fmt: skip
    for outcome in serve(make_fetcher, *(ask(url, short) for url in urls)):
        assert (outcome.kind, outcome.blame) == (Kind.POLICY, NOBODY)
        assert outcome.cost.bytes == outcome.cost.connects == 0


def test_case_19_a_location_is_handed_on_and_odd_urls_are_encoded(make_fetcher, faults, short):
    moved, ok = serve(
        make_fetcher,
        ask(faults.url("/to-utf8"), short),
        ask(faults.url("/ok?q=ñandú x#part"), short),
    )
    assert moved.location == "/ok?q=ñandú"
    assert ok.kind is Kind.OK
    assert faults.requests[-1].startswith(b"GET /ok?q=%C3%B1and%C3%BA%20x HTTP/1.1\r\n")


def test_case_23_no_name_no_listener_no_answer_to_a_connect(make_fetcher, short):
    with socket.socket() as free, socket.socket() as full:
        free.bind(("127.0.0.1", 0))  # bound, not listening: refused
        full.bind(("127.0.0.1", 0))
        full.listen(0)  # its queue is filled: SYNs are dropped
        fill = [socket.socket() for _ in range(3)]
        for sock in fill:
            sock.setblocking(False)
            sock.connect_ex(full.getsockname())
        time.sleep(0.05)
        refused, hole, nobody = serve(
            make_fetcher,
            ask(f"http://127.0.0.1:{free.getsockname()[1]}/", short),
            ask(f"http://127.0.0.1:{full.getsockname()[1]}/", short),
            ask("http://nothing.invalid/", short),
            at_once=True,
        )
        for sock in fill:
            sock.close()
    assert (refused.kind, refused.blame, refused.cost.bytes) == (Kind.CONNECT_ERROR, TARGET, 0)
    assert (hole.kind, hole.blame) == (Kind.TIMEOUT, TARGET)
    assert 0.6 < hole.cost.seconds < 0.97  # the connect limit, not the total
    assert nobody.kind is Kind.DNS_ERROR and nobody.cost.bytes == 0
    assert nobody.blame in (TARGET, Blame.LOCAL)  # as the resolver here can tell or not


def test_all_at_once_harm_nobody_and_stay_small(make_fetcher, faults, short):
    """Every fault at the same time, with good pages between: those come whole and soon."""
    cases = [path(case) for case in (*WHOLE, *SLOW, *ENDLESS)]
    patient = replace(short, connect=2.0, first_byte=2.0, total=2.5)  # servers share our CPU here
    requests = [
        Request(faults.url(p), limits=patient) for case in cases for p in (case, "/ok", "/gz")
    ]
    with Peak() as memory:
        outcomes = serve(make_fetcher, *requests, at_once=True)
    expected = {path(c): e[0] for c, e in WHOLE.items()} | {
        path(c): Kind.TIMEOUT for c in SLOW
    } | {path(c): kind for c, (kind, _) in ENDLESS.items()}  # fmt: skip
    for case, outcome in zip(cases, outcomes[::3], strict=True):
        assert outcome.kind is expected[case], case
    good = outcomes[1::3] + outcomes[2::3]
    assert {o.kind for o in good} == {Kind.OK}
    assert all(o.body == BODY for o in good)
    assert memory.grown < 120_000_000  # of which two pages and a fault's buffers each
