"""The server plays the web over real HTTP: validators as declared, faults, and a clean end."""

from __future__ import annotations

import gzip
import os
import signal
import socket
import subprocess
import sys
import time
import zlib
from collections.abc import Iterator
from dataclasses import dataclass
from email.utils import formatdate
from http.client import HTTPConnection
from pathlib import Path

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from recrawl.sim.answers import BURST, RATE, RETRY_AFTER
from recrawl.sim.clock import SharedClock
from recrawl.sim.growth import make_web
from recrawl.sim.kinds import Validator
from recrawl.sim.server import RunningWeb, parse, start_web
from recrawl.sim.web import MadeUpWeb, WebSpec
from recrawl.units import DAY, HOUR


@dataclass
class Served:
    """A small web being served, its clock, and a way to ask."""

    web: MadeUpWeb
    clock: SharedClock
    running: RunningWeb

    def ask(
        self, host: int, path: str, method: str = "GET", **headers: str
    ) -> tuple[int, dict[str, str], bytes]:
        connection = HTTPConnection(self.web.hosts[host].ip, self.running.port, timeout=10)
        named = {k.replace("_", "-"): v for k, v in headers.items()}
        connection.request(method, path, headers=named)
        answer = connection.getresponse()
        body = answer.read()
        connection.close()
        return answer.status, {k.lower(): v for k, v in answer.getheaders()}, body


@pytest.fixture(scope="module")
def served(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Served]:
    small = make_web(WebSpec(seed=5, pages=400))
    path = Path(tmp_path_factory.mktemp("clock")) / "now"
    with SharedClock(path, create=True) as clock, start_web(small, clock) as running:
        clock.set(small.spec.start)
        yield Served(small, clock, running)


def host_with(web: MadeUpWeb, validator: Validator) -> int:
    return next(i for i, h in enumerate(web.hosts) if h.validator is validator)


def changing(web: MadeUpWeb, host: int) -> tuple[int, float, float]:
    """A living page of the host, and just before and after a change of its record."""
    for page in web.hosts[host].pages:
        own = web.changes[web.bounds[page] : web.bounds[page + 1]]
        if len(own) and np.isinf(web.died[page]):
            return page, float(own[0]) - 1, float(own[0]) + 1
    raise AssertionError("no page of that host changes")


def conditional(headers: dict[str, str]) -> dict[str, str]:
    out = {}
    if "etag" in headers:
        out["If_None_Match"] = headers["etag"]
    if "last-modified" in headers:
        out["If_Modified_Since"] = headers["last-modified"]
    return out


@pytest.mark.parametrize("validator", [Validator.ETAG, Validator.LAST_MODIFIED])
def test_honest_validators_move_with_the_record_and_only_then(
    served: Served, validator: Validator
) -> None:
    host = host_with(served.web, validator)
    page, before, after = changing(served.web, host)
    path = served.web.paths[page]
    served.clock.set(before - HOUR)  # a throttling host's bucket fills
    served.clock.set(before)
    status, headers, _ = served.ask(host, path)
    assert status == 200
    condition = conditional(headers)
    assert len(condition) == 1
    status, again, body = served.ask(host, path, **condition)
    assert (status, body) == (304, b"")
    assert conditional(again) == condition
    served.clock.set(after)
    status, newer, body = served.ask(host, path, **condition)
    assert status == 200
    assert body
    assert conditional(newer) != condition


def test_a_noisy_etag_moves_where_the_record_stands(served: Served) -> None:
    web = served.web
    host = host_with(web, Validator.NOISY_ETAG)
    page = int(web.hosts[host].pages[0]) + 1
    own = web.moves[web.move_bounds[page] : web.move_bounds[page + 1]]
    move = next(t for t in own if not np.isin(t, web.changes))
    served.clock.set(move - 0.001)
    _, first, _ = served.ask(host, web.paths[page])
    served.clock.set(move + 0.001)
    status, second, _ = served.ask(host, web.paths[page], **conditional(first))
    assert status == 200
    assert first["etag"] != second["etag"]
    assert not web.changed_between(web.url(page, 80), move - 0.001, move + 0.001)


def test_a_host_without_validators_sends_none(served: Served) -> None:
    host = host_with(served.web, Validator.NONE)
    _, headers, _ = served.ask(host, "/")
    assert conditional(headers) == {}
    late = formatdate(served.web.spec.end, usegmt=True)
    status, _, _ = served.ask(host, "/", If_None_Match="*", If_Modified_Since=late)
    assert status == 200


def test_a_host_that_ignores_conditions_sends_an_etag_and_always_200(served: Served) -> None:
    host = host_with(served.web, Validator.IGNORED)
    _, headers, _ = served.ask(host, "/")
    assert "etag" in headers
    status, again, _ = served.ask(host, "/", **conditional(headers))
    assert status == 200
    assert again["etag"] == headers["etag"]


@pytest.mark.parametrize(
    ("sent", "status"),
    [("W/{etag}", 304), ('"other", {etag}', 304), ("*", 304), ('"other"', 200), ("", 200)],
)
def test_if_none_match_takes_lists_weak_tags_and_the_star(
    served: Served, sent: str, status: int
) -> None:
    host = host_with(served.web, Validator.ETAG)
    etag = served.ask(host, "/")[1]["etag"]
    assert served.ask(host, "/", If_None_Match=sent.replace("{etag}", etag))[0] == status


def test_a_date_that_is_none_is_no_condition(served: Served) -> None:
    host = host_with(served.web, Validator.LAST_MODIFIED)
    served.clock.set(served.clock.now() + HOUR)
    assert served.ask(host, "/", If_Modified_Since="yesterday")[0] == 200


def test_gzip_is_one_good_member_and_says_the_same_as_identity(served: Served) -> None:
    for page in (3, 90, 330):
        host = int(served.web.host[page])
        _, packed, body = served.ask(host, served.web.paths[page], Accept_Encoding="gzip, br")
        _, plain, identity = served.ask(host, served.web.paths[page])
        assert packed["content-encoding"] == "gzip"
        assert "content-encoding" not in plain
        stream = zlib.decompressobj(31)
        unpacked = stream.decompress(body)
        assert stream.eof
        assert stream.unused_data == b""
        assert gzip.decompress(body) == unpacked
        lead = identity[identity.index(b"<main>") : identity.index(b"</main>")]
        assert lead in unpacked
        assert len(body) < 0.6 * len(unpacked)


def test_no_two_answers_are_alike(served: Served) -> None:
    bodies = {served.ask(0, "/")[2] for _ in range(5)}
    assert len(bodies) == 5


def test_head_has_the_length_and_no_body(served: Served) -> None:
    status, headers, body = served.ask(0, "/", method="HEAD")
    assert (status, body) == (200, b"")
    assert int(headers["content-length"]) > 1000
    assert served.ask(0, "/", method="DELETE")[0] == 405


def test_redirects_lead_where_they_say_and_loops_loop(served: Served) -> None:
    def follow(path: str) -> tuple[list[int], str]:
        statuses = []
        for _ in range(10):
            status, headers, _ = served.ask(0, path)
            statuses.append(status)
            if status not in (301, 302, 308):
                break
            path = headers["location"]
        return statuses, path

    assert follow("/old/first.html")[0] == [301, 200]
    assert follow("/moved/for-good")[0] == [308, 200]
    assert follow("/today")[0] == [302, 200]
    assert follow("/go/1")[0] == [301, 302, 301, 200]
    assert follow("/loop/a")[0] == [302] * 10
    assert served.ask(0, "/missing/1.html")[0] == 404
    assert served.ask(0, "/nothing/there")[0] == 404


def test_pages_die_on_their_date(served: Served) -> None:
    web = served.web
    for page in np.flatnonzero(np.isfinite(web.died))[:4]:
        host, path = int(web.host[page]), web.paths[page]
        if web.hosts[host].throttled:
            continue
        served.clock.set(web.died[page] - 1)
        assert served.ask(host, path)[0] == 200
        served.clock.set(web.died[page])
        assert served.ask(host, path)[0] == web.gone_status[page]


def test_robots(served: Served) -> None:
    status, headers, body = served.ask(0, "/robots.txt")
    assert (status, headers["content-type"]) == (200, "text/plain")
    assert b"Disallow: /private/" in body
    assert served.ask(0, "/private/panel")[0] == 200  # only politeness keeps crawlers out
    assert served.ask(3, "/robots.txt")[0] == 404


def test_the_throttling_host_throttles_above_its_rate_in_made_up_time(served: Served) -> None:
    host = next(i for i, h in enumerate(served.web.hosts) if h.throttled)
    t = served.clock.now() + DAY
    served.clock.set(t)
    statuses = [served.ask(host, "/")[0] for _ in range(int(BURST) + 3)]
    assert statuses == [200] * int(BURST) + [429] * 3
    status, headers, _ = served.ask(host, "/")
    assert (status, headers["retry-after"]) == (429, str(RETRY_AFTER))
    for k in range(1, 9):  # at its rate, for ever
        served.clock.set(t + k / RATE)
        assert served.ask(host, "/")[0] == 200
    assert served.ask(host, "/")[0] == 429


def test_the_date_is_the_made_up_one(served: Served) -> None:
    t = served.web.spec.start + 12_345.6
    served.clock.set(t)
    assert served.ask(0, "/")[1]["date"] == formatdate(int(t), usegmt=True)


def raw(served: Served, data: bytes, host: int = 0) -> bytes:
    """What comes back, until the server closes or falls silent."""
    with socket.create_connection((served.web.hosts[host].ip, served.running.port)) as sock:
        sock.settimeout(0.2)
        out = b""
        try:
            sock.sendall(data)
            while part := sock.recv(65_536):
                out += part
        except (TimeoutError, ConnectionError):
            pass
        return out


def test_pipelined_requests_are_answered_in_order(served: Served) -> None:
    ask = b"HEAD %b HTTP/1.1\r\nHost: x\r\n\r\n"
    out = raw(served, ask % b"/" + ask % b"/missing/0.html" + ask % b"/go/1")
    statuses = [line.split()[1] for line in out.split(b"\r\n") if line.startswith(b"HTTP/1.1")]
    assert statuses == [b"200", b"404", b"301"]


def test_a_request_in_pieces_is_one_request(served: Served) -> None:
    data = b"HEAD / HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n"
    with socket.create_connection((served.web.hosts[0].ip, served.running.port)) as sock:
        for i in range(len(data)):
            sock.sendall(data[i : i + 1])
        assert sock.makefile("rb").read().startswith(b"HTTP/1.1 200 OK\r\n")


@pytest.mark.parametrize(
    "junk",
    [
        b"\r\n\r\n",
        b"GET\r\n\r\n",
        b"GET / HTTP/2.0\r\n\r\n",
        b"GET  / HTTP/1.1\r\n\r\n",
        b"GET http://x/ HTTP/1.1\r\n\r\n",
        b"GET / HTTP/1.1\r\nno colon\r\n\r\n",
        b"GET / HTTP/1.1\r\nHost : x\r\n\r\n",
        b"POST / HTTP/1.1\r\nContent-Length: 3\r\n\r\nabc",
        b"POST / HTTP/1.1\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n",
        b"\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03\r\n\r\n",
        b"x" * 70_000,
    ],
)
def test_junk_is_refused_and_closed(served: Served, junk: bytes) -> None:
    assert raw(served, junk).startswith(b"HTTP/1.1 400 Bad Request\r\n")
    assert served.ask(0, "/")[0] == 200


@settings(max_examples=300, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(st.binary(max_size=200))
def test_no_head_makes_the_parser_fail(data: bytes) -> None:
    asked = parse(data)
    assert asked is None or asked.target.startswith("/")
    asked = parse(b"GET / HTTP/1.1\r\n" + data)
    assert asked is None or asked.method == "GET"


def small_web() -> MadeUpWeb:
    return make_web(WebSpec(hosts=1, pages=40))


def gone(pid: int) -> bool:
    for _ in range(60):
        try:
            os.kill(pid, 0)
        except ProcessLookupError:
            return True
        if Path(f"/proc/{pid}/stat").read_text().split(")")[1].split()[0] == "Z":
            return True
        time.sleep(0.05)
    return False


def test_leaving_the_block_ends_the_server(tmp_path: Path) -> None:
    with SharedClock(tmp_path / "now", create=True) as clock:
        with start_web(small_web(), clock) as running:
            pid = running.pid
            assert running.origins == [f"http://127.0.0.1:{running.port}"]
        assert gone(pid)
    assert not (tmp_path / "now").exists()


PARENT = """
import sys, time
from pathlib import Path
from recrawl.sim.clock import SharedClock
from recrawl.sim.growth import make_web
from recrawl.sim.server import start_web
from recrawl.sim.web import WebSpec
clock = SharedClock(Path(sys.argv[1]), create=True)
running = start_web(make_web(WebSpec(hosts=1, pages=40)), clock)
print(running.pid, flush=True)
time.sleep(60)
"""


def test_a_killed_parent_leaves_no_server(tmp_path: Path) -> None:
    parent = subprocess.Popen(
        [sys.executable, "-c", PARENT, str(tmp_path / "now")], stdout=subprocess.PIPE, text=True
    )
    assert parent.stdout is not None
    pid = int(parent.stdout.readline())
    assert not gone_now(pid)
    parent.send_signal(signal.SIGKILL)
    parent.wait()
    parent.stdout.close()
    assert gone(pid)


def gone_now(pid: int) -> bool:
    return not Path(f"/proc/{pid}").exists()


def test_a_server_that_can_not_start_says_so(
    tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    clock = SharedClock(tmp_path / "now", create=True)
    clock.close()
    with pytest.raises(RuntimeError, match="did not start"):
        start_web(small_web(), clock)
    assert "FileNotFoundError" in capfd.readouterr().err
