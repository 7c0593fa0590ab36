"""The real engine on a made-up web, beside the simulator: the same pages, changes and budget.

Store in memory, made-up time, answers without a network; planner, politeness, observation,
learning and ledger as `recrawl run` has them. Reserves are off, as in the simulator.
"""

from __future__ import annotations

import asyncio
from dataclasses import replace

import numpy as np
from policy_worlds import Web

from recrawl.engine import Engine, Project
from recrawl.engine.project import Timing
from recrawl.frontier.admit import AdmitLimits, Gate, Scope
from recrawl.frontier.politeness import PaceRules
from recrawl.model import Blame, Kind, Outcome, Request, WireCost
from recrawl.plan.budget import Budget, Cap
from recrawl.plan.policies import get_policy
from recrawl.plan.reserves import Shares
from recrawl.plan.tariff import Tariff
from recrawl.replay import Lane, Settings, World, replay
from recrawl.replay.score import Visits, expected_freshness
from recrawl.stores import MemoryStore
from recrawl.units import DAY, HOUR, Unit
from recrawl.urls.canonical import Normalizer
from recrawl.urls.match import SiteMatcher, SiteRule
from recrawl.urls.patterns import PatternSet
from recrawl.worker import Worker

START = 1_767_225_600.0  # 2026-01-01, where days begin


class Time:
    """`ports.Clock`: leaps."""

    def __init__(self) -> None:
        self.t = START

    def now(self) -> float:
        """Epoch seconds."""
        return self.t

    async def sleep_until(self, t: float) -> None:
        """Be there at once."""
        self.t = max(self.t, t)
        await asyncio.sleep(0)


class Answers:
    """`ports.Fetcher`: page i of the world says which version it is at."""

    def __init__(self, world: World, clock: Time) -> None:
        self.world, self.clock = world, clock

    async def fetch(self, request: Request) -> Outcome:
        """200 with the version as text."""
        page = int(request.url.rpartition("/")[2])
        begin, end = self.world.changes.start[page : page + 2]
        at = self.clock.now() - START
        version = np.searchsorted(self.world.changes.times[begin:end], at, side="right")
        body = f"<html><body><p>version {int(version)} of it</p></body></html>".encode()
        return Outcome(
            Kind.OK, WireCost(up=100, down=900, seconds=0.01), status=200, body=body,
            wire_body=body, headers=(("content-type", "text/html"),), blame=Blame.NOBODY,
        )  # fmt: skip

    async def aclose(self) -> None:
        """Nothing is held."""


def urls_of(world: World) -> list[str]:
    """One host a group, the value in the path."""
    return [
        f"http://g{g}.example/v{v:g}/{i}"
        for i, (g, v) in enumerate(zip(world.group.tolist(), world.value.tolist(), strict=True))
    ]


def project_of(world: World, policy: str) -> Project:
    """The project without a budget."""
    hosts = sorted({int(g) for g in world.group})
    rules = [
        SiteRule(f"g{g}.example/v{v:g}/*", f"v{v:g}", v)
        for g in hosts
        for v in sorted(set(world.value.tolist()))
    ]
    sites = SiteMatcher(rules)
    return Project(
        seeds=tuple(urls_of(world)),
        agent="benchmark",
        normalizer=Normalizer(),
        gate=Gate(AdmitLimits(), Scope([f"g{g}.example" for g in hosts]), PatternSet()),
        sites=sites,
        policy=get_policy(policy),
        budget=Budget(),
        specs=tuple({} for _ in sites.types),
        tariffs={"direct": Tariff("direct")},
        pace=PaceRules(delay=0.0, concurrency=64, jitter=0.0),
        shares=Shares(0.0, 0.0, 0.0),
        timing=Timing(min_gap=60.0, max_gap=1e9),
        obey_robots=False,
    )


async def crawl(world: World, policy: str, fetches_a_day: int, days: float, seed: int) -> Visits:
    """One pass, then window after window. Returns the readings after the pass."""
    clock, store = Time(), MemoryStore()
    project = project_of(world, policy)
    budget = Budget((Cap(Unit.FETCHES, fetches_a_day, "day"),), HOUR / 2)
    for terms, until in ((project, START), (replace(project, budget=budget), START + days * DAY)):
        engine = Engine(terms, store.load_hosts(), store.scan_hot(), store.meta(), [], clock.now())
        rng = np.random.Generator(np.random.PCG64(seed))
        worker = Worker(engine, store, Answers(world, clock), clock, rng, jumps=True)
        if until > START:
            await worker.run(until=until, keep_on=True)
        else:
            await worker.run()
            clock.t = START
    number = {(p.host_id, p.key): int(p.path.rpartition("/")[2]) for p in store.iter_pages()}
    seen = [e for e in store.entries(START + 1.0) if e.verdict.is_reading]
    page = np.array([number[e.host_id, e.key] for e in seen], np.int64)
    time = np.array([e.t - START for e in seen])
    order = np.lexsort((time, page))
    none = np.zeros(page.size)
    return Visits(page[order], time[order], none.astype(bool), none)


def compare(
    web: Web, policy: str, visits_a_day: float, days: float, seed: int
) -> tuple[float, float]:
    """Freshness by the engine and by the simulator, every page costing one fetch."""
    world = replace(web.world, full=np.ones(len(web.world)), unchanged=np.ones(len(web.world)))
    fetches = round(visits_a_day * len(world))
    since, span = 10 * DAY, days * DAY
    readings = asyncio.run(crawl(world, policy, fetches, days, seed))
    (out,) = replay(
        [Lane(world, fetches / DAY)], get_policy(policy), Settings(span=span, since=since)
    )
    engine = expected_freshness(world, web.rate, readings, since, span)
    return engine, expected_freshness(world, web.rate, out.readings, since, span)
