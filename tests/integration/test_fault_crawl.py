"""A whole crawl over every fault: each page gets its verdict at a right price, and it goes on."""

import asyncio
import time

import numpy as np
import pytest

from recrawl.engine import Engine, Project
from recrawl.engine.check import check
from recrawl.engine.project import Timing
from recrawl.fetch.http import HttpFetcher
from recrawl.frontier.admit import AdmitLimits, Gate, Scope
from recrawl.frontier.politeness import PaceRules
from recrawl.model import Limits, Purpose, State, Verdict
from recrawl.plan.budget import Budget
from recrawl.plan.policies import get_policy
from recrawl.plan.tariff import Tariff
from recrawl.stores import MemoryStore
from recrawl.units import Unit
from recrawl.urls.canonical import Normalizer
from recrawl.urls.match import SiteMatcher
from recrawl.urls.patterns import PatternSet
from recrawl.worker import Worker
from servers.background import Background
from servers.fault import FaultServer

LIMITS = Limits(
    body=2_000_000, decoded=8_000_000, head=65_536, connect=0.7, first_byte=0.7, total=1.0
)
FAILED, READ = Verdict.FAILED, Verdict.NEW

# Each fault on its own host, so that none rests because of another one's fault.
VERDICTS = {
    "/ok": READ,
    "/gz": READ,
    "/br": READ,
    "/chunked": READ,
    "/continue": READ,
    "/http10": READ,
    "/drop-mid": FAILED,
    "/rst-mid": FAILED,
    "/drop-chunked": FAILED,
    "/drop-head": FAILED,
    "/close-now": FAILED,
    "/rst-now": FAILED,
    "/slow-head": FAILED,
    "/slow-body": FAILED,
    "/stall-head": FAILED,
    "/stall-body": FAILED,
    "/infinite": FAILED,
    "/infinite-chunked": FAILED,
    "/infinite-head": FAILED,
    "/infinite-1xx": FAILED,
    "/hdr-1m": FAILED,
    "/gzip-bomb": FAILED,
    "/br-bomb": FAILED,
    "/gzip-corrupt": FAILED,
    "/gzip-cut": FAILED,
    "/gzip-fake": READ,
    "/gzip-double": READ,
    "/gzip-trail": READ,
    "/429": Verdict.BLOCKED,
    "/429-date": Verdict.BLOCKED,
    "/503-garbage": Verdict.BLOCKED,
    "/503": FAILED,
    "/403": Verdict.BLOCKED,
    "/410": Verdict.GONE,
    "/cl-dup": FAILED,
    "/cl-neg": FAILED,
    "/cl-nan": FAILED,
    "/cl-short": READ,
    "/cl-te": READ,
    "/loop": FAILED,
    "/to-ftp": FAILED,
    "/to-nothing": FAILED,
    "/hdr-nocolon": FAILED,
    "/hdr-nul": FAILED,
    "/hdr-fold": READ,
    "/hdr-lf": READ,
    "/st-abc": FAILED,
    "/garbage": FAILED,
    "/http09": FAILED,
    "/st-999": FAILED,
    "/304-cl": FAILED,
    "/101": FAILED,
    "/bad-charset": READ,
    "/chunk-bad": FAILED,
}


class Wall:
    """The machine's clock."""

    def now(self):
        return time.time()

    async def sleep_until(self, t):
        await asyncio.sleep(max(0.0, t - time.time()))


def project(seeds, **options):
    sites = SiteMatcher([])
    return Project(
        seeds=tuple(seeds),
        agent="test-bot/1.0",
        normalizer=Normalizer(),
        gate=Gate(AdmitLimits(private_ok=True), Scope(["*"]), PatternSet()),
        sites=sites,
        policy=get_policy("freshness"),
        budget=Budget(),
        tariffs={"direct": Tariff("proxy", Unit.BYTES, 0.008)},
        pace=PaceRules(delay=0.0),
        timing=Timing(min_gap=0.0),
        limits=LIMITS,
        private_ok=True,
        **options,
    )


def crawl(made, store):
    """One pass with the real fetcher; the engine afterwards."""
    return worked(made, store).engine


def ended(made, store):
    """One pass, and how it ended."""
    return worked(made, store).progress


def worked(made, store):

    async def run():
        clock = Wall()
        engine = Engine(
            made, store.load_hosts(), store.scan_hot(), store.meta(),
            store.open_reservations(), clock.now(),
        )  # fmt: skip
        fetcher = HttpFetcher({}, made.agent, allow_private=True)
        worker = Worker(engine, store, fetcher, clock, np.random.Generator(np.random.PCG64(1)))
        try:
            await asyncio.wait_for(worker.run(), 60)
        finally:
            await fetcher.aclose()
        return worker

    return asyncio.run(run())


@pytest.fixture(scope="module")
def faults():
    """A fault server reached by as many loopback addresses as there are faults."""
    with FaultServer(host="0.0.0.0") as server:
        yield server


def host_of(i):
    return f"127.0.{1 + i // 200}.{1 + i % 200}"


def test_every_fault_ends_in_its_verdict_and_the_crawl_goes_on(faults):
    store = MemoryStore()
    seeds = [f"http://{host_of(i)}:{faults.port}{path}" for i, path in enumerate(VERDICTS)]
    engine = crawl(project(seeds, obey_robots=False), store)
    assert check(engine.crawl) == []
    origins = {h.host_id: h.origin for h in store.load_hosts()}
    pages = {(p.host_id, p.key): p for p in store.iter_pages()}
    first = {}
    for entry in store.entries():
        page = pages[entry.host_id, entry.key]
        first.setdefault((origins[entry.host_id], page.path), entry)
    said = {
        path: first[f"http://{host_of(i)}:{faults.port}", path] for i, path in enumerate(VERDICTS)
    }
    wrong = {
        path: (entry.verdict, entry.kind, entry.evidence)
        for path, entry in said.items()
        if entry.verdict is not VERDICTS[path]
    }
    assert wrong == {}
    for path, entry in said.items():  # every byte has its price, failures too
        assert entry.spend.bytes == entry.up + entry.down > 0, path
    money = sum(e.spend.micro_usd for e in store.entries())
    assert 0 <= money - 0.008 * sum(e.spend.bytes for e in store.entries()) <= 1
    assert store.open_reservations() == []


def test_a_fault_moves_neither_base_nor_belief(faults):
    store = MemoryStore()
    seeds = [
        f"http://{host_of(i)}:{faults.port}{path}"
        for i, path in enumerate(VERDICTS)
        if VERDICTS[path] in (FAILED, Verdict.BLOCKED)
    ]
    crawl(project(seeds, obey_robots=False), store)
    for page in store.iter_pages():
        if page.path in VERDICTS and VERDICTS[page.path] in (FAILED, Verdict.BLOCKED):
            assert (page.last, page.a, page.digest1, page.etag) == (0.0, 0.0, None, None)
            assert page.state in (State.NEW, State.REFUSED), page.path
            assert page.retry_at > time.time(), page.path


class RobotsSite(Background):
    """Answers robots.txt as told, and everything else with a page that has one link."""

    def __init__(self, robots):
        self.robots = robots
        self.paths = []

    async def begin(self):
        self.port = await self.listen(self._serve)

    async def _serve(self, reader, writer):
        while True:
            head = await reader.readuntil(b"\r\n\r\n")
            path = head.split(b" ", 2)[1].decode()
            self.paths.append(path)
            page = b"HTTP/1.1 200 OK\r\nContent-Type: text/html\r\nContent-Length: 24\r\n\r\n"
            page += b'<a href="/private">x</a>'
            answer = self.robots.get(path, page)
            writer.write(answer)
            await writer.drain()


def text(body, head=b"Content-Type: text/plain\r\n", status=b"200 OK"):
    return b"HTTP/1.1 %s\r\n%sContent-Length: %d\r\n\r\n%s" % (status, head, len(body), body)


RULES = b"User-agent: *\nDisallow: /private\n"
ROBOTS = {
    "rules": ({"/robots.txt": text(RULES)}, {"/"}),
    "BOM": ({"/robots.txt": text(b"\xef\xbb\xbf" + RULES)}, {"/"}),
    "HTML": (
        {"/robots.txt": text(b"<html>Disallow: /</html>", b"Content-Type: text/html\r\n")},
        {"/", "/private"},
    ),
    "5xx": ({"/robots.txt": text(b"down", status=b"500 Oops")}, set()),
    "404": ({"/robots.txt": text(b"no", status=b"404 Not Found")}, {"/", "/private"}),
    "2 MB": ({"/robots.txt": text(RULES + b"# padding\n" * 200_000)}, {"/"}),
    "redirected": (
        {
            "/robots.txt": text(b"", b"Location: /r2.txt\r\n", b"301 Moved Permanently"),
            "/r2.txt": text(RULES),
        },
        {"/"},
    ),
}


@pytest.mark.parametrize("name", ROBOTS)
def test_robots_txt_in_every_shape(name):
    answers, fetched = ROBOTS[name]
    store = MemoryStore()
    with RobotsSite(answers) as site:
        engine = crawl(project([f"http://127.0.0.1:{site.port}/"]), store)
    assert check(engine.crawl) == []
    assert {p for p in site.paths if p not in answers} == fetched
    robots = [e for e in store.entries() if e.purpose is Purpose.ROBOTS]
    hops = sum(p in ("/robots.txt", "/r2.txt") for p in site.paths)
    assert len(robots) == hops, "every hop has a line"
    assert all(e.spend.bytes == e.up + e.down > 0 for e in robots)


@pytest.mark.parametrize("status", [b"429 Too Many Requests", b"503 Service Unavailable"])
@pytest.mark.parametrize("pause", [b"3600", b"99999999999"])
def test_a_run_does_not_wait_out_a_long_retry_after(status, pause):
    busy = text(b"later", b"Retry-After: " + pause + b"\r\n", status)
    links = b'<a href="/a">x</a><a href="/b">x</a><a href="/c">x</a>'
    site = {"/robots.txt": text(b"", status=b"404 Not Found"), "/a": busy, "/b": busy}
    site["/"] = text(links, b"Content-Type: text/html\r\n")
    store = MemoryStore()
    with RobotsSite(site) as server:
        began = time.monotonic()
        done = ended(project([f"http://127.0.0.1:{server.port}/"]), store)
    assert time.monotonic() - began < 15
    assert "can't be asked before" in done.reason
    assert store.open_reservations() == []
