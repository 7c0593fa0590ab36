"""The conformance suite of the `Fetcher` port: what every fetcher must do, played on loopback.

    class TestMine(FetcherContract):
        def make(self) -> Fetcher:
            return MyFetcher(...)  # one that may reach 127.0.0.1

Each test is an ordinary method that raises AssertionError, so any runner that knows classes will
do. The site of the suite is a plain HTTP server in a thread; it counts what it is asked.
"""

from __future__ import annotations

import asyncio
import socket
import threading
from collections.abc import Awaitable, Callable, Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import TypeVar

from recrawl.model import Blame, Kind, Limits, Outcome, Request
from recrawl.ports import Fetcher

T = TypeVar("T")
PAGE = b"<html><title>A page</title>" + b"<p>Nothing new under the sun.</p>" * 60 + b"</html>"
QUICK = Limits(body=200_000, decoded=400_000, connect=0.6, first_byte=0.6, total=1.0)
_STATUS = {"/gone": 404, "/denied": 403, "/broken": 500, "/throttled": 429}


def require(condition: object, message: str) -> None:
    """Raise AssertionError with `message` unless `condition` holds (also under `python -O`)."""
    if not condition:
        raise AssertionError(message)


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    server: Site

    def do_GET(self) -> None:
        self.server.asked.append((self.path, {k.lower(): v for k, v in self.headers.items()}))
        if self.path == "/silent":
            self.server.release.wait(10)
            self.close_connection = True
        elif self.path == "/moved":
            self._send(302, b"", {"Location": "/page"})
        elif self.path == "/page" and self.headers.get("If-None-Match") == '"v1"':
            self.send_response(304)
            self.send_header("ETag", '"v1"')
            self.end_headers()
        elif self.path == "/page":
            self._send(200, PAGE, {"ETag": '"v1"', "Set-Cookie": "sid=1"})
        elif self.path == "/large":
            self._send(200, bytes(400_000), {})
        else:
            headers = {"Retry-After": "7"} if self.path == "/throttled" else {}
            self._send(_STATUS.get(self.path, 404), b"no", headers)

    def _send(self, status: int, body: bytes, headers: dict[str, str]) -> None:
        self.send_response(status)
        for name, value in {**headers, "Content-Length": str(len(body))}.items():
            self.send_header(name, value)
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, format: str, *args: object) -> None:  # noqa: A002 - the parent's name
        """Say nothing: the suite's report is the only output."""


class Site(ThreadingHTTPServer):
    """The suite's web site; `asked` are the (path, header fields) of all requests."""

    daemon_threads = True

    def __init__(self) -> None:
        super().__init__(("127.0.0.1", 0), _Handler)
        self.asked: list[tuple[str, dict[str, str]]] = []
        self.release = threading.Event()

    def url(self, path: str) -> str:
        """The address of a path of this site."""
        return f"http://127.0.0.1:{self.server_address[1]}{path}"

    def handle_error(self, request: object, client_address: object) -> None:
        """A client that hung up is part of the suite."""


@contextmanager
def site() -> Iterator[Site]:
    """The suite's site, while the block runs."""
    server = Site()
    thread = threading.Thread(target=server.serve_forever, args=(0.01,), daemon=True)
    thread.start()
    try:
        yield server
    finally:
        server.release.set()
        server.shutdown()
        server.server_close()
        thread.join(5)


class FetcherContract:
    """Inherit, give `make`, and let the test runner collect it."""

    def make(self) -> Fetcher:
        """A new fetcher that may reach 127.0.0.1; called inside a running event loop."""
        raise TypeError(f"{type(self).__name__} must define make()")

    def _with(self, use: Callable[[Fetcher, Site], Awaitable[T]]) -> T:
        async def run(server: Site) -> T:
            fetcher = self.make()
            try:
                return await use(fetcher, server)
            finally:
                await fetcher.aclose()

        with site() as server:
            return asyncio.run(run(server))

    def _fetch(self, *requests: tuple[str, tuple[tuple[str, str], ...]]) -> list[Outcome]:
        async def use(fetcher: Fetcher, server: Site) -> list[Outcome]:
            return [
                await fetcher.fetch(Request(server.url(path), headers, QUICK))
                for path, headers in requests
            ]

        return self._with(use)

    def test_a_page_is_got_whole_and_paid_for(self) -> None:
        (outcome,) = self._fetch(("/page", ()))
        require(outcome.kind is Kind.OK, f"got {outcome.kind}: {outcome.detail}")
        require(outcome.body == PAGE and outcome.status == 200, "the body is not the page's")
        require(outcome.header("etag") == '"v1"', "header names are lower-case, values verbatim")
        require(outcome.cost.up > 0, "a request was sent, so `up` must be positive")
        require(outcome.cost.down >= len(outcome.wire_body), "`down` holds at least the body")
        require(outcome.finished >= outcome.started > 0, "started and finished are set, in order")

    def test_statuses_become_kinds(self) -> None:
        expected = {
            "/gone": (Kind.GONE, Blame.NOBODY),
            "/denied": (Kind.DENIED, Blame.TARGET),
            "/broken": (Kind.SERVER_ERROR, Blame.TARGET),
            "/throttled": (Kind.THROTTLED, Blame.TARGET),
        }
        outcomes = self._fetch(*((path, ()) for path in expected))
        for (path, ending), outcome in zip(expected.items(), outcomes, strict=True):
            require((outcome.kind, outcome.blame) == ending, f"{path}: {outcome.kind}")
        require(outcomes[-1].retry_after == 7.0, "Retry-After is handed on in seconds")

    def test_conditional_headers_go_out_verbatim(self) -> None:
        (outcome,) = self._fetch(("/page", (("If-None-Match", '"v1"'),)))
        require(outcome.kind is Kind.NOT_MODIFIED and not outcome.body, f"got {outcome.kind}")

    def test_no_redirect_is_followed(self) -> None:
        async def use(fetcher: Fetcher, server: Site) -> tuple[Outcome, int]:
            return await fetcher.fetch(Request(server.url("/moved"))), len(server.asked)

        outcome, asked = self._with(use)
        require(outcome.kind is Kind.REDIRECT, f"got {outcome.kind}")
        require(outcome.location == "/page", "the Location is handed on as it stands")
        require(asked == 1, f"one exchange a call, but the site was asked {asked} times")

    def test_no_cookie_is_sent_back(self) -> None:
        async def use(fetcher: Fetcher, server: Site) -> list[tuple[str, dict[str, str]]]:
            for _ in range(2):
                await fetcher.fetch(Request(server.url("/page")))
            return server.asked

        require(all("cookie" not in h for _, h in self._with(use)), "a cookie was sent back")

    def test_failures_are_outcomes(self) -> None:
        with socket.socket() as closed:
            closed.bind(("127.0.0.1", 0))
            port = closed.getsockname()[1]

            async def use(fetcher: Fetcher, server: Site) -> list[Outcome]:
                urls = (f"http://127.0.0.1:{port}/", "ftp://127.0.0.1/", server.url("/silent"))
                return [await fetcher.fetch(Request(u, limits=QUICK)) for u in urls]

            refused, scheme, silent = self._with(use)
        require(refused.kind is Kind.CONNECT_ERROR, f"refused connection: {refused.kind}")
        require(refused.blame is Blame.TARGET, "a refused connection is the target's fault")
        require(scheme.kind is Kind.POLICY and not scheme.cost.bytes, "only http(s), nothing sent")
        require(silent.kind is Kind.TIMEOUT, f"a silent server: {silent.kind}")
        require(silent.cost.up > 0, "a request that timed out was paid for all the same")

    def test_the_body_cap_holds(self) -> None:
        (outcome,) = self._fetch(("/large", ()))
        require(outcome.kind is Kind.CAPPED, f"got {outcome.kind}")
        require(len(outcome.wire_body) <= QUICK.body, "more was kept than the cap allows")

    def test_a_quote_bounds_the_cost(self) -> None:
        async def use(fetcher: Fetcher, server: Site) -> None:
            for path in ("/page", "/large", "/gone", "/moved", "/silent"):
                request = Request(server.url(path), limits=QUICK)
                expected, worst = fetcher.quote(request, len(PAGE), warm=False)
                require(expected.bytes <= worst.bytes, "the worst case is below the expected one")
                cost = (await fetcher.fetch(request)).cost
                within = cost.up <= worst.up and cost.down <= worst.down
                require(within, f"{path} cost {cost}, quoted at most {worst}")

        self._with(use)

    def test_cancelling_leaves_it_serving(self) -> None:
        async def use(fetcher: Fetcher, server: Site) -> Outcome:
            task = asyncio.ensure_future(fetcher.fetch(Request(server.url("/silent"))))
            await asyncio.sleep(0.1)
            task.cancel()
            (result,) = await asyncio.gather(task, return_exceptions=True)
            require(isinstance(result, asyncio.CancelledError), f"cancelling gave {result!r}")
            return await fetcher.fetch(Request(server.url("/page"), limits=QUICK))

        require(self._with(use).kind is Kind.OK, "after a cancelled fetch it serves no more")

    def test_it_can_be_closed_twice(self) -> None:
        async def use(fetcher: Fetcher, server: Site) -> None:
            await fetcher.fetch(Request(server.url("/page"), limits=QUICK))
            await fetcher.aclose()

        self._with(use)
