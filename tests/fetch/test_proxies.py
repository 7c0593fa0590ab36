"""Proxied routes: who resolves, who is billed, who is to blame."""

import socket
from base64 import b64encode

import pytest

from fetch.wire import ask, serve
from recrawl.fetch.resolve import Resolver
from recrawl.fetch.routes import Route, RouteError
from recrawl.model import Blame, Kind
from servers.fault import BODY
from servers.proxies import PASSWORD, USER

CLOSE_NOTIFY = 72


def routed(proxy, secret):
    return {"eu": Route("eu", proxy.url, credentials_env=secret)}


def refusing(host):
    raise AssertionError(f"{host} must be resolved by the proxy, not here")


@pytest.fixture(params=["http", "socks"])
def proxy(request, http_proxy, socks_proxy):
    return {"http": http_proxy, "socks": socks_proxy}[request.param]


def test_plain_and_tls_targets_by_names_that_only_the_proxy_knows(
    make_fetcher, faults, tls_faults, proxy, secret, short
):
    """Not trusted: a proxied request must not need leave for the proxy's private address."""
    urls = (f"http://a.site.test:{faults.port}/ok", f"https://b.site.test:{tls_faults.port}/gz")
    outcomes = serve(
        make_fetcher,
        *(ask(url, short, route="eu") for url in urls),
        routes=routed(proxy, secret),
        allow_private=False,
        resolver=Resolver(refusing),
    )
    for outcome in outcomes:
        assert (outcome.kind, outcome.body) == (Kind.OK, BODY), outcome.detail
        assert (outcome.cost.source, outcome.final_ip) == ("kernel", "127.0.0.1")
    up, down = proxy.settle()
    up -= sum(o.cost.up for o in outcomes)
    down -= sum(o.cost.down for o in outcomes)
    assert abs(up) + abs(down) <= CLOSE_NOTIFY


def test_a_plain_exchange_through_the_proxy_is_exact(make_fetcher, faults, proxy, secret, short):
    request = ask(f"http://a.site.test:{faults.port}/ok", short, route="eu")
    outcomes = serve(make_fetcher, request, request, routes=routed(proxy, secret))
    up, down = proxy.settle()
    assert (sum(o.cost.up for o in outcomes), sum(o.cost.down for o in outcomes)) == (up, down)


def test_the_target_gets_our_headers_and_none_of_the_proxys(
    make_fetcher, faults, tls_faults, proxy, secret, short
):
    ports = {"http": faults.port, "https": tls_faults.port}
    for url in (f"{scheme}://a.site.test:{port}/echo" for scheme, port in ports.items()):
        (outcome,) = serve(
            make_fetcher,
            ask(url, short, ("If-None-Match", '"v"'), route="eu"),
            routes=routed(proxy, secret),
        )
        seen = outcome.body.decode().lower()
        assert "user-agent: recrawl-tests/1" in seen and 'if-none-match: "v"' in seen
        assert "accept-encoding: gzip, br" in seen
        assert "proxy" not in seen and USER not in seen.replace("user-agent", "")


def test_the_proxy_is_told_nothing_of_the_targets_exchange(
    make_fetcher, tls_faults, http_proxy, secret, short
):
    url = f"https://a.site.test:{tls_faults.port}/ok?secret-path"
    request = ask(url, short, ("If-None-Match", '"v"'), route="eu")
    serve(make_fetcher, request, routes=routed(http_proxy, secret))
    (head,) = http_proxy.heads
    assert head.startswith(b"CONNECT a.site.test:")
    assert b"If-None-Match" not in head and b"secret-path" not in head


def test_wrong_credentials_are_the_routes_fault(
    make_fetcher, faults, tls_faults, proxy, monkeypatch, short
):
    monkeypatch.setenv("WRONG", f"{USER}:not-that")
    urls = (f"http://a.site.test:{faults.port}/ok", f"https://a.site.test:{tls_faults.port}/ok")
    for outcome in serve(
        make_fetcher, *(ask(u, short, route="eu") for u in urls), routes=routed(proxy, "WRONG")
    ):
        assert (outcome.kind, outcome.blame) == (Kind.PROXY_ERROR, Blame.ROUTE)
        assert outcome.cost.up > 0 and outcome.cost.down > 0  # refused, but paid
        assert "not-that" not in repr(outcome)
    assert (faults.requests[-1:] + tls_faults.requests[-1:]).count(b"/ok") == 0


def test_a_refusal_by_the_proxy_is_exact(make_fetcher, tls_faults, http_proxy, short):
    url = f"https://a.site.test:{tls_faults.port}/ok"
    routes = {"eu": Route("eu", http_proxy.url)}  # no credentials at all
    (outcome,) = serve(make_fetcher, ask(url, short, route="eu"), routes=routes)
    assert (outcome.kind, outcome.blame) == (Kind.PROXY_ERROR, Blame.ROUTE)
    assert (outcome.cost.up, outcome.cost.down) == http_proxy.settle()
    assert "407" in outcome.detail


def test_a_target_that_the_proxy_cannot_reach_is_not_the_targets_fault(
    make_fetcher, proxy, secret, short
):
    with socket.socket() as closed:
        closed.bind(("127.0.0.1", 0))
        url = f"https://a.site.test:{closed.getsockname()[1]}/"
        (outcome,) = serve(make_fetcher, ask(url, short, route="eu"), routes=routed(proxy, secret))
    assert (outcome.kind, outcome.blame) == (Kind.PROXY_ERROR, Blame.ROUTE)


def test_a_proxy_that_is_not_there(make_fetcher, short):
    with socket.socket() as closed:
        closed.bind(("127.0.0.1", 0))
        port = closed.getsockname()[1]
        for scheme in ("http", "https", "socks5h"):
            routes = {"eu": Route("eu", f"{scheme}://127.0.0.1:{port}")}
            for url in ("http://a.site.test/", "https://a.site.test/"):
                (outcome,) = serve(make_fetcher, ask(url, short, route="eu"), routes=routes)
                assert (outcome.kind, outcome.blame) == (Kind.PROXY_ERROR, Blame.ROUTE)
                assert outcome.cost.bytes == 0


def test_a_proxy_without_an_address(make_fetcher, short):
    routes = {"eu": Route("eu", "http://nothing.invalid:3128")}
    (outcome,) = serve(make_fetcher, ask("http://a.example/", short, route="eu"), routes=routes)
    assert (outcome.kind, outcome.blame) == (Kind.PROXY_ERROR, Blame.ROUTE)


def test_a_proxy_that_says_nothing_is_blamed_for_the_time(make_fetcher, short):
    with socket.socket() as mute:
        mute.bind(("127.0.0.1", 0))
        mute.listen(5)
        port = mute.getsockname()[1]
        routes = {s: Route(s, f"{s}://127.0.0.1:{port}") for s in ("http", "socks5h")}
        asked = [ask("https://a.site.test/", short, route=scheme) for scheme in routes]
        for outcome in serve(make_fetcher, *asked, routes=routes, at_once=True):
            assert (outcome.kind, outcome.blame) == (Kind.TIMEOUT, Blame.ROUTE)


def test_faults_of_the_target_stay_the_targets(
    make_fetcher, faults, tls_faults, proxy, secret, short
):
    expected = {
        f"http://a.site.test:{faults.port}/stall-body": Kind.TIMEOUT,
        f"http://a.site.test:{faults.port}/503": Kind.SERVER_ERROR,
        f"http://a.site.test:{faults.port}/drop-mid": Kind.INCOMPLETE,
        f"https://a.site.test:{tls_faults.port}/drop-mid": Kind.INCOMPLETE,
        f"https://a.site.test:{tls_faults.port}/stall-head": Kind.TIMEOUT,
        f"https://bad.other.test:{tls_faults.port}/ok": Kind.TLS_ERROR,
    }
    outcomes = serve(
        make_fetcher,
        *(ask(url, short, route="eu") for url in expected),
        routes=routed(proxy, secret),
        at_once=True,
    )
    assert [(o.kind, o.blame) for o in outcomes] == [
        (kind, Blame.TARGET) for kind in expected.values()
    ]


LOCAL = ("127.0.0.1", "[::1]", "2130706433", "127.1", "0x7f.1", "93.184.215.14", "localhost",
         "printer", "db.internal", "a.local", "x.localhost", "169.254.169.254")  # fmt: skip


@pytest.mark.parametrize("host", LOCAL)
def test_literals_and_local_names_are_not_sent_through_a_proxy(
    make_fetcher, proxy, secret, short, host
):
    request = ask(f"http://{host}/", short, route="eu")
    (outcome,) = serve(make_fetcher, request, routes=routed(proxy, secret), allow_private=False)
    assert (outcome.kind, outcome.blame) == (Kind.POLICY, Blame.NOBODY)
    assert outcome.cost.bytes == 0 and proxy.counts == []


def test_a_request_that_is_trusted_may_send_them(make_fetcher, faults, proxy, secret, short):
    request = ask(f"http://127.0.0.1:{faults.port}/ok", short, route="eu", private_ok=True)
    (outcome,) = serve(make_fetcher, request, routes=routed(proxy, secret), allow_private=False)
    assert outcome.kind is Kind.OK


def test_the_environments_proxies_are_not_used(make_fetcher, faults, short, monkeypatch):
    for name in ("http_proxy", "HTTP_PROXY", "all_proxy", "ALL_PROXY", "https_proxy"):
        monkeypatch.setenv(name, "http://127.0.0.1:1")
    monkeypatch.setenv("no_proxy", "")
    (outcome,) = serve(make_fetcher, ask(faults.url("/ok"), short))
    assert outcome.kind is Kind.OK


def test_the_environment_does_not_lead_around_a_route(
    make_fetcher, faults, http_proxy, secret, short, monkeypatch
):
    monkeypatch.setenv("no_proxy", "*")
    url = f"http://a.site.test:{faults.port}/ok"
    (outcome,) = serve(
        make_fetcher, ask(url, short, route="eu"), routes=routed(http_proxy, secret)
    )
    assert outcome.kind is Kind.OK and len(http_proxy.heads) == 1


def test_an_unknown_route_is_refused(make_fetcher, faults, short):
    (outcome,) = serve(make_fetcher, ask(faults.url("/ok"), short, route="mars"))
    assert (outcome.kind, outcome.blame) == (Kind.POLICY, Blame.LOCAL)
    assert "'mars'" in outcome.detail


def test_missing_credentials_are_found_before_anything_is_fetched(make_fetcher):
    with pytest.raises(RouteError, match="UNSET_VARIABLE"):
        make_fetcher({"eu": Route("eu", "http://p.example:1", credentials_env="UNSET_VARIABLE")})


def test_headers_in_which_a_proxy_repeats_the_credentials_are_cleaned(make_fetcher, secret, short):
    from servers.background import Background

    pair = f"{USER}:{PASSWORD}".encode()

    class Parrot(Background):
        async def begin(self):
            self.port = await self.listen(self._serve)

        async def _serve(self, reader, writer):
            await reader.readuntil(b"\r\n\r\n")
            said = b"X-Said: " + pair + b" " + b64encode(pair) + b"\r\n"
            writer.write(b"HTTP/1.1 200 OK\r\nContent-Length: 0\r\n" + said + b"\r\n")

    with Parrot() as proxy:
        routes = {"eu": Route("eu", f"http://127.0.0.1:{proxy.port}", credentials_env=secret)}
        (outcome,) = serve(
            make_fetcher, ask("http://a.site.test/", short, route="eu"), routes=routes
        )
    assert outcome.header("x-said") == "*** ***"
