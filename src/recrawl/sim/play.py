"""The demo: the real engine, fetcher and store against a made-up web, thirty days in a minute."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable
from pathlib import Path

import numpy as np

from recrawl.engine import Engine, Project
from recrawl.fetch.http import HttpFetcher
from recrawl.frontier.admit import AdmitLimits, Gate, Scope
from recrawl.frontier.politeness import PaceRules
from recrawl.model import Entry, Purpose, Verdict
from recrawl.plan.budget import Budget, Cap
from recrawl.plan.policies import get_policy
from recrawl.plan.tariff import Tariff
from recrawl.progress import Progress
from recrawl.sim.best import best_possible
from recrawl.sim.clock import SharedClock, VirtualClock
from recrawl.sim.demo import USD_PER_GB, DemoPlan, DemoResult, Waste
from recrawl.sim.even import even_visits
from recrawl.sim.growth import make_web
from recrawl.sim.server import RunningWeb, start_web
from recrawl.sim.truth import Prices, Readings, changes_found, freshness
from recrawl.sim.web import WebSpec
from recrawl.stores import SqliteStore
from recrawl.units import HOUR, Unit
from recrawl.urls.canonical import Normalizer
from recrawl.urls.match import SiteMatcher, SiteRule
from recrawl.urls.patterns import PatternSet
from recrawl.worker import Worker

USER_AGENT = "recrawl-demo/0.1 (a made-up web on this machine)"
PACE = PaceRules(delay=0.0, concurrency=8)  # made-up servers don't tire; one of them throttles
NOTHING_FOUND = frozenset({Verdict.SAME, Verdict.NOT_MODIFIED, Verdict.FAILED, Verdict.BLOCKED})


def demo_project(running: RunningWeb, plan: DemoPlan, policy: str = "freshness") -> Project:
    """The project that crawls the made-up web: paid by the byte and month, windows of 1 h."""
    origins = running.origins
    sites = SiteMatcher(
        [
            SiteRule(f"{host.ip}{kind.pattern}", kind.name, kind.value)
            for kind in running.web.page_types()
            for host in running.web.hosts
        ]
    )
    month = round(plan.bytes_a_day * 31)  # the made-up web lives in January
    budget = Budget((Cap(Unit.BYTES, month, "month"),), HOUR)
    scope = Scope([host.ip for host in running.web.hosts])
    return Project(
        seeds=tuple(f"{origin}/" for origin in origins),
        agent=USER_AGENT,
        normalizer=Normalizer(),
        gate=Gate(AdmitLimits(depth=20, private_ok=True), scope, PatternSet()),
        sites=sites,
        policy=get_policy(policy),
        budget=budget,
        specs=tuple({} for _ in sites.types),
        tariffs={"direct": Tariff("residential proxy", Unit.BYTES, USD_PER_GB / 1000)},
        pace=PACE,
        private_ok=True,
    )


async def play(
    plan: DemoPlan,
    folder: Path,
    *,
    policy: str = "freshness",
    on_progress: Callable[[Progress, float], None] | None = None,
) -> DemoResult:
    """Crawl the made-up web for its whole span; the store stays in `folder`.

    `on_progress` gets the run's progress and the made-up days that have passed.
    """
    began = time.monotonic()
    spec = WebSpec(plan.seed, plan.hosts, plan.pages, plan.days)
    web = make_web(spec)
    with SharedClock(folder / "clock", create=True) as shared, start_web(web, shared) as running:
        clock = VirtualClock(shared, spec.start)
        store = SqliteStore.open(folder / "demo.db", create=True)
        fetcher = HttpFetcher({}, USER_AGENT, allow_private=True, now=clock.now)
        project = demo_project(running, plan, policy)

        def show(progress: Progress) -> None:
            if on_progress is not None:
                on_progress(progress, (clock.now() - spec.start) / 86400)

        try:
            engine = Engine(project, [], store.scan_hot(), {}, [], clock.now())
            worker = Worker(
                engine, store, fetcher, clock,
                np.random.Generator(np.random.PCG64(plan.seed)),
                concurrency=64, jumps=True, on_progress=show,
            )  # fmt: skip
            await worker.run(until=spec.end, keep_on=True)
            return judge(plan, running, store, time.monotonic() - began)
        finally:
            await fetcher.aclose()
            store.close()


def judge(plan: DemoPlan, running: RunningWeb, store: SqliteStore, seconds: float) -> DemoResult:
    """Hold the crawl's log against the truth, the best possible and even visits."""
    web = running.web
    start, end, since = web.spec.start, web.spec.end, web.spec.start + plan.judged_after
    entries = list(store.entries())
    readings = Readings.of_log(web, _readings(store, entries))
    spent = float(sum(e.up + e.down for e in entries))
    prices = Prices.of_web(web)
    late = float(sum(e.up + e.down for e in entries if e.t >= since))
    even = even_visits(web, prices, spent, start, end, since)
    best = best_possible(web, prices, late, since, end)
    found = changes_found(web, readings)
    usd_per_byte = USD_PER_GB / 1e9
    return DemoResult(
        now=freshness(web, readings, since, end),
        best=best.freshness,
        even=even.freshness,
        ours_usd_per_change=spent * usd_per_byte / max(found, 1),
        even_usd_per_change=even.bytes * usd_per_byte / max(even.changes, 1),
        visits=len(entries),
        changes=found,
        seconds=seconds,
        waste=waste(running, store),
    )


def _readings(store: SqliteStore, entries: Iterable[Entry]) -> Iterable[tuple[str, float]]:
    urls = page_urls(store)
    for e in entries:
        if e.verdict.is_reading and (e.host_id, e.key) in urls:
            yield urls[e.host_id, e.key], e.t


def page_urls(store: SqliteStore) -> dict[tuple[int, int], str]:
    """(host_id, key) -> URL of every page in the store."""
    origins = {h.host_id: h.origin for h in store.load_hosts()}
    return {(p.host_id, p.key): origins[p.host_id] + p.path for p in store.iter_pages()}


def waste(running: RunningWeb, store: SqliteStore) -> tuple[Waste, ...]:
    """Money by site and page type, and what of it found nothing."""
    names = ["page", *dict.fromkeys(kind.name for kind in running.web.page_types())]
    kinds = {
        host.ip: host.kind.name if hasattr(host.kind, "name") else str(host.kind)
        for host in running.web.hosts
    }
    origins = {h.host_id: h.origin for h in store.load_hosts()}
    sums: dict[tuple[str, str], list[int]] = {}
    for row in store.rollup():
        if row.purpose is Purpose.ROBOTS:
            continue
        ip = origins[row.host_id].partition("://")[2].partition(":")[0]
        name = names[row.page_type] if row.page_type < len(names) else "page"
        cell = sums.setdefault((kinds.get(ip, ip), name), [0, 0, 0])
        cell[0] += row.n
        cell[1] += row.spend.micro_usd
        cell[2] += row.spend.micro_usd if row.verdict in NOTHING_FOUND else 0
    return tuple(Waste(site, kind, *cell) for (site, kind), cell in sums.items())
