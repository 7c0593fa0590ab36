"""The fetcher as a whole: what it sends, and that it goes on serving whatever happens."""

import asyncio
import gc
import threading

import pytest

from fetch.wire import ask, open_files, serve
from recrawl.fetch.resolve import Resolver
from recrawl.model import Blame, Kind, Request
from servers.fault import BODY


def sent(server):
    """The request line and fields of the last request a server got."""
    line, *fields = server.requests[-1].decode("latin-1").rstrip("\r\n").split("\r\n")
    return line, {name: value.strip() for name, _, value in (f.partition(":") for f in fields)}


def test_what_a_request_looks_like(make_fetcher, faults, short):
    serve(make_fetcher, ask(faults.url("/echo"), short))
    line, fields = sent(faults)
    assert line == "GET /echo HTTP/1.1"
    assert fields == {
        "Host": f"127.0.0.1:{faults.port}",
        "Accept": "*/*",
        "User-Agent": "recrawl-tests/1 (+mailto:nobody@example.org)",
        "Accept-Encoding": "gzip, br",
    }


def test_the_requests_headers_go_out_verbatim_and_replace_ours(make_fetcher, faults, short):
    odd = 'W/"a:b;c\xe9"'
    serve(
        make_fetcher,
        ask(
            faults.url("/echo"),
            short,
            ("If-None-Match", odd),
            ("If-Modified-Since", "Mon, 30 Nov 2026 22:30:13 GMT"),
            ("accept-encoding", "identity"),
            ("X-Empty", ""),
        ),
    )
    fields = sent(faults)[1]
    assert fields["If-None-Match"] == odd
    assert fields["If-Modified-Since"] == "Mon, 30 Nov 2026 22:30:13 GMT"
    assert fields["accept-encoding"] == "identity" and "Accept-Encoding" not in fields
    assert b"\r\nX-Empty:\r\n" in faults.requests[-1]


@pytest.mark.parametrize(
    "header", [("X", "a\r\nY: b"), ("X: y\r\nZ", "a"), ("", "a"), ("X", "\0")]
)
def test_headers_that_would_break_the_request_are_refused(make_fetcher, faults, short, header):
    before = len(faults.requests)
    (outcome,) = serve(make_fetcher, ask(faults.url("/echo"), short, header))
    assert (outcome.kind, outcome.blame) == (Kind.POLICY, Blame.NOBODY)
    assert len(faults.requests) == before


def test_a_user_name_in_the_url_is_never_sent(make_fetcher, faults, short):
    url = faults.url("/echo").replace("//", "//ann:hunter2@")
    (outcome,) = serve(make_fetcher, ask(url, short))
    assert outcome.kind is Kind.OK
    assert "Authorization" not in sent(faults)[1] and b"ann" not in faults.requests[-1]
    assert "hunter2" not in repr(outcome)


def test_paths_go_out_as_they_are(make_fetcher, faults, short):
    for path in ("/a/../b/./c", "/a%2Fb?x=%zz|'", "/x?", "//double", "/a;b=c"):
        serve(make_fetcher, ask(faults.url(path), short))
        assert faults.requests[-1].startswith(f"GET {path} HTTP/1.1\r\n".encode())


def test_cookies_are_neither_kept_nor_sent(make_fetcher, faults, short):
    serve(make_fetcher, *[ask(faults.url("/echo"), short)] * 2)
    assert "Cookie" not in sent(faults)[1]


@pytest.mark.parametrize("agent", ["", "  ", "a\r\nX: b", "bücher/1"])
def test_a_user_agent_that_says_nothing_or_breaks_the_request(agent):
    from recrawl.fetch.http import HttpFetcher

    with pytest.raises(ValueError, match="one line of ASCII"):
        HttpFetcher({}, agent)


def test_ipv6(make_fetcher, short):
    from servers.fault import FaultServer

    with FaultServer(host="::1", name="[::1]") as server:
        (outcome,) = serve(make_fetcher, ask(server.url("/ok"), short))
    assert (outcome.kind, outcome.final_ip, outcome.cost.source) == (Kind.OK, "::1", "kernel")
    assert outcome.cost.down == 50_067


def test_the_crawls_clock_dates_the_outcome(make_fetcher, faults, short):
    ticks = iter((1_000.0, 2_000.0))
    (outcome,) = serve(make_fetcher, ask(faults.url("/429-date"), short), now=lambda: next(ticks))
    assert (outcome.started, outcome.finished) == (1_000.0, 2_000.0)
    assert outcome.cost.seconds < 1  # real time is paid, not the crawl's


@pytest.mark.parametrize("path", ["/stall-head", "/stall-body", "/slow-body", "/slow-head"])
def test_cancelling_in_mid_transfer_leaves_it_serving(make_fetcher, gateway, short, path):
    base = f"http://127.0.0.1:{gateway.port}"

    async def run():
        fetcher = make_fetcher()
        for _ in range(5):
            task = asyncio.create_task(fetcher.fetch(Request(base + path)))
            await asyncio.sleep(0.02)
            task.cancel()
            assert isinstance(
                (await asyncio.gather(task, return_exceptions=True))[0], asyncio.CancelledError
            )
            gateway.settle()
            gateway.reset()
            outcome = await fetcher.fetch(ask(base + "/ok-close", short))
            assert (outcome.kind, outcome.body) == (Kind.OK, BODY)
            # What the cancelled one moved is not on this one's bill.
            assert (outcome.cost.up, outcome.cost.down) == gateway.settle()
        await fetcher.aclose()

    asyncio.run(run())


def test_cancelling_at_any_moment(make_fetcher, faults, short):
    """From before the first step to after the last: never a hang, never a lost handle."""

    async def run():
        fetcher = make_fetcher()
        for steps in range(30):
            task = asyncio.create_task(fetcher.fetch(ask(faults.url("/ok"), short)))
            for _ in range(steps):
                await asyncio.sleep(0)
            task.cancel()
            await asyncio.gather(task, return_exceptions=True)
        outcome = await fetcher.fetch(ask(faults.url("/ok"), short))
        idle = sum(map(len, fetcher._idle.values()))
        await fetcher.aclose()
        return outcome, idle

    outcome, idle = asyncio.run(run())
    assert outcome.kind is Kind.OK and idle == 1


def test_closing_tells_whoever_waits(make_fetcher, faults):
    async def run():
        fetcher = make_fetcher()
        paths = ("/stall-head", "/stall-body", "/slow-body")
        tasks = [asyncio.create_task(fetcher.fetch(Request(faults.url(p)))) for p in paths]
        await asyncio.sleep(0.02)
        await fetcher.aclose()
        return await asyncio.gather(*tasks)

    for outcome in asyncio.run(run()):
        assert (outcome.kind, outcome.blame) == (Kind.INTERNAL, Blame.LOCAL)
        assert outcome.detail.startswith("the fetcher was closed")
        assert outcome.cost.up > 100  # stopped, but paid


def test_closing_while_a_name_is_looked_up(make_fetcher, short):
    asked, answer = threading.Event(), threading.Event()

    def lookup(host):
        asked.set()
        answer.wait(5)
        return ("127.0.0.1",)

    async def run():
        fetcher = make_fetcher(resolver=Resolver(lookup))
        task = asyncio.create_task(fetcher.fetch(ask("http://a.test:1/", short)))
        await asyncio.to_thread(asked.wait, 5)
        await fetcher.aclose()
        answer.set()
        return await task

    outcome = asyncio.run(run())
    assert (outcome.kind, outcome.detail) == (Kind.INTERNAL, "the fetcher is closed")


def test_two_thousand_mixed_requests_leave_nothing_open(make_fetcher, faults, tls_faults, short):
    paths = ("/ok", "/gz", "/small", "/etag", "/close-now", "/drop-mid", "/ok-close",
             "/none", "/rst-now", "/chunked", "/cl-neg", "/304-cl", "/429")  # fmt: skip

    async def lane(fetcher, number):
        kinds = set()
        for i in range(100):
            path = paths[(number + i) % len(paths)]
            if i % 25 == 7:
                task = asyncio.create_task(fetcher.fetch(Request(faults.url("/stall-body"))))
                await asyncio.sleep(0.001)
                task.cancel()
            server = tls_faults if i % 25 == 3 else faults
            kinds.add((await fetcher.fetch(ask(server.url(path), short))).kind)
        return kinds

    async def run():
        fetcher = make_fetcher()
        kinds = await asyncio.gather(*(lane(fetcher, n) for n in range(20)))
        most = open_files()
        await fetcher.aclose()
        return set().union(*kinds), most

    gc.collect()
    before = open_files()
    kinds, most = asyncio.run(run())
    gc.collect()
    assert Kind.INTERNAL not in kinds and len(kinds) >= 7
    assert most < before + 200
    deadline = 50
    while open_files() > before and (deadline := deadline - 1):  # the servers' ends close too
        import time

        time.sleep(0.05)
    assert open_files() <= before
