"""TLS: certificates that must be refused, handshakes that must be paid for."""

import asyncio
import shutil
import socket
import subprocess
import threading
import time

import pytest

from fetch.wire import ask, serve
from recrawl.model import Blame, Kind
from servers.certificates import server_context
from servers.fault import BODY, FaultServer
from servers.gateway import Gateway

CLOSE_NOTIFY = 72  # bytes a connection sends as it is closed, after its last exchange
TEMPORARY = ("client_body", "proxy", "fastcgi", "uwsgi", "scgi")


def test_a_good_certificate_and_the_handshakes_price(make_fetcher, tls_gateway, short):
    url = f"https://localhost:{tls_gateway.port}/ok"
    cold, warm, again = serve(make_fetcher, *[ask(url, short)] * 3)
    assert [o.kind for o in (cold, warm, again)] == [Kind.OK] * 3
    assert cold.body == warm.body == BODY
    assert (cold.cost.connects, warm.cost.connects) == (1, 0)
    assert cold.cost.up > warm.cost.up + 500  # the hello
    assert cold.cost.down > warm.cost.down + 500  # the certificate
    up, down = tls_gateway.settle()
    up -= cold.cost.up + warm.cost.up + again.cost.up
    down -= cold.cost.down + warm.cost.down + again.cost.down
    assert abs(up) + abs(down) <= CLOSE_NOTIFY


@pytest.mark.parametrize("path", ["/drop-mid", "/rst-mid", "/close-now", "/gzip-bomb", "/st-abc"])
def test_failures_within_tls_are_paid_too(make_fetcher, tls_gateway, short, path):
    (outcome,) = serve(make_fetcher, ask(f"https://localhost:{tls_gateway.port}{path}", short))
    assert outcome.kind is not Kind.OK and outcome.cost.source == "kernel"
    up, down = tls_gateway.settle()
    assert abs(up - outcome.cost.up) + abs(down - outcome.cost.down) <= CLOSE_NOTIFY


def test_a_resumed_session_is_cheaper(make_fetcher, tls_gateway, short):
    url = f"https://localhost:{tls_gateway.port}/ok-close"
    first, second = serve(make_fetcher, *[ask(url, short)] * 2)
    assert (first.cost.connects, second.cost.connects) == (1, 1)
    assert second.cost.down < first.cost.down - 300  # no certificate


@pytest.mark.parametrize("name", ["wrong", "expired", "selfsigned"])
def test_bad_certificates_are_refused_and_paid_for(make_fetcher, authority, short, name):
    context = server_context(authority, name)
    with FaultServer(context, name="localhost") as server, Gateway(server.port) as gate:
        (outcome,) = serve(make_fetcher, ask(server.url("/ok", gate.port), short))
        up, down = gate.settle()
        assert (outcome.kind, outcome.blame) == (Kind.TLS_ERROR, Blame.TARGET)
        assert server.requests == []  # nothing was asked over it
    assert outcome.cost.up > 300 and outcome.cost.down > 500
    assert abs(up - outcome.cost.up) <= CLOSE_NOTIFY
    assert 0 <= down - outcome.cost.down <= 600  # what came after libcurl had hung up


def test_an_unknown_authority_is_refused(make_fetcher, tls_faults, short, tmp_path, authority):
    other = tmp_path / "other.crt"
    other.write_bytes((authority / "selfsigned.crt").read_bytes())
    (outcome,) = serve(make_fetcher, ask(tls_faults.url("/ok"), short), ca_file=str(other))
    assert outcome.kind is Kind.TLS_ERROR


def test_an_unreadable_file_of_authorities_is_our_own_fault(make_fetcher, tls_faults, short):
    (outcome,) = serve(make_fetcher, ask(tls_faults.url("/ok"), short), ca_file="/nonexistent")
    assert (outcome.kind, outcome.blame) == (Kind.TLS_ERROR, Blame.LOCAL)


def test_a_handshake_that_stalls_keeps_to_the_connect_limit(make_fetcher, short):
    with socket.socket() as mute:
        mute.bind(("127.0.0.1", 0))
        mute.listen(5)  # accepts in the kernel, says nothing
        port = mute.getsockname()[1]
        (outcome,) = serve(make_fetcher, ask(f"https://localhost:{port}/", short))
    assert (outcome.kind, outcome.blame) == (Kind.TIMEOUT, Blame.TARGET)
    assert 0.6 < outcome.cost.seconds < 0.97
    assert outcome.cost.up > 300  # the hello


def test_tls_to_a_plain_port(make_fetcher, faults, short):
    (outcome,) = serve(make_fetcher, ask(f"https://localhost:{faults.port}/ok", short))
    assert outcome.kind in (Kind.TLS_ERROR, Kind.TIMEOUT)
    assert outcome.blame is Blame.TARGET


def test_plain_http_to_a_tls_port(make_fetcher, tls_faults, short):
    (outcome,) = serve(make_fetcher, ask(f"http://127.0.0.1:{tls_faults.port}/ok", short))
    assert outcome.kind in (Kind.CONNECT_ERROR, Kind.PROTOCOL_ERROR)


def test_the_loop_is_free_while_others_shake_hands(make_fetcher, tls_faults, short):
    async def run():
        fetcher = make_fetcher()
        outcomes = await asyncio.gather(
            *(fetcher.fetch(ask(tls_faults.url("/ok"), short)) for _ in range(20))
        )
        await fetcher.aclose()
        return outcomes

    threads = threading.active_count()
    assert {o.kind for o in asyncio.run(run())} == {Kind.OK}
    assert threading.active_count() <= threads + 1


@pytest.fixture
def http2_server(authority, tmp_path):
    """The port of an nginx that speaks HTTP/2, where there is one."""
    program = shutil.which("nginx") or shutil.which("nginx", path="/usr/sbin")
    if program is None:
        pytest.skip("needs nginx")
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
    (tmp_path / "page").write_bytes(BODY)
    places = "".join(f"{kind}_temp_path {tmp_path}/{kind};" for kind in TEMPORARY)
    (tmp_path / "conf").write_text(
        f"daemon off; master_process off; pid {tmp_path}/pid; error_log {tmp_path}/error;"
        f"events {{}} http {{ access_log off; {places} server {{ listen {port} ssl http2;"
        f"ssl_certificate {authority}/srv.crt; ssl_certificate_key {authority}/srv.key;"
        f"root {tmp_path}; }} }}"
    )
    process = subprocess.Popen([program, "-e", f"{tmp_path}/error", "-c", f"{tmp_path}/conf"])
    try:
        for _ in range(100):
            with socket.socket() as probe:
                if probe.connect_ex(("127.0.0.1", port)) == 0:
                    break
            time.sleep(0.02)
        yield port
    finally:
        process.terminate()
        process.wait(5)


def test_http2_is_cheaper_once_warm_and_counted_as_exactly(make_fetcher, http2_server, short):
    costs = {}
    for http2 in (False, True):
        with Gateway(http2_server) as gate:
            url = f"https://localhost:{gate.port}/page"
            first, *rest = serve(make_fetcher, *[ask(url, short)] * 6, http2=http2)
            assert {o.kind for o in (first, *rest)} == {Kind.OK} and rest[-1].body == BODY
            assert sum(o.cost.connects for o in rest) == 0
            up, down = gate.settle()
            up -= sum(o.cost.up for o in (first, *rest))
            down -= sum(o.cost.down for o in (first, *rest))
            assert abs(up) + abs(down) <= CLOSE_NOTIFY
            costs[http2] = rest[-1].cost.up
    assert costs[True] < costs[False]  # its headers are compressed
