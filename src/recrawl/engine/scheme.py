"""What turns a page into numbers: goal, beliefs, prices and hosts, as `plan` takes them."""

from __future__ import annotations

import numpy as np

from recrawl.engine.crawl import Crawl
from recrawl.engine.learn import has_handshake
from recrawl.engine.project import Project
from recrawl.frontier.politeness import effective_delay, ready_at
from recrawl.model import Address, Host, Purpose
from recrawl.plan.appraise import Hosts, Scheme
from recrawl.plan.cost import PriceBook
from recrawl.poisson import Floats
from recrawl.units import Unit

CLOSED_STATUS = "unreachable"  # of robots.txt: nothing of the host is fetched for now


def scheme_of(crawl: Crawl, units: tuple[Unit, ...], now: float, ends: float) -> Scheme:
    """The scheme of a window that lasts from `now` to `ends` (inf = a pass without limit)."""
    return Scheme(
        policy=crawl.project.policy,
        prior=crawl.prior.beliefs,
        validator_prior=crawl.validators.beliefs,
        prices=price_book(crawl),
        hosts=hosts_of(crawl, now, ends),
        units=units,
        horizon=crawl.project.timing.horizon,
    )


def gaps_of(project: Project) -> tuple[float | Floats, float | Floats]:
    """The least and the longest gap between two readings: one for all, or one a page type.

    Types that an older project file had (their pages not read since) get the project's own.
    """
    own, types = project.timing, project.sites.types
    if all(t.min_gap is None and t.max_gap is None for t in types):
        return own.min_gap, own.max_gap
    low, high = np.full(1 << 15, own.min_gap), np.full(1 << 15, own.max_gap)
    for i, kind in enumerate(types):
        low[i] = own.min_gap if kind.min_gap is None else kind.min_gap
        high[i] = own.max_gap if kind.max_gap is None else kind.max_gap
    return low, high


def units_of(crawl: Crawl) -> tuple[Unit, ...]:
    """The units that caps count, each once; bytes where there is no cap."""
    caps = (*crawl.project.budget.caps, *crawl.project.totals)
    return tuple(dict.fromkeys(cap.unit for cap in caps)) or (Unit.BYTES,)


def price_book(crawl: Crawl) -> PriceBook:
    """Sizes, and each host's tariff by the route that its visits take."""
    project = crawl.project
    hosts = crawl.hosts.values()
    plain = [h for h in hosts if not h.origin.startswith("https:")]
    bare = [h.host_id for h in plain if not has_handshake(h.origin, _route(crawl, h))]
    crawl.sizes.bare = np.array(bare, np.int64)
    routes = [project.default_route, *(r for r in project.tariffs if r != project.default_route)]
    tariffs = [project.tariffs[r] for r in routes]
    book = PriceBook(crawl.sizes, tariffs, modes=project.modes, charges=crawl.charges)
    if project.site_routes:
        index = {route: i for i, route in enumerate(routes)}
        for host in hosts:
            book.tariff_of[host.host_id] = index[_route(crawl, host)]
    return book


def _route(crawl: Crawl, host: Host) -> str:
    return crawl.project.route_of(Address(host.origin, "/", "/", 0), Purpose.BEST_BUY)


def hosts_of(crawl: Crawl, now: float, ends: float) -> Hosts:
    """How many visits each host takes until `ends`, and how often it answers."""
    n = max(crawl.hosts, default=0) + 1
    capacity = np.zeros(n, np.int64)
    success = np.ones(n)
    for host in crawl.hosts.values():
        capacity[host.host_id] = host_capacity(crawl, host, now, ends)
        success[host.host_id] = host_success(host)
    return Hosts(capacity, success)


def host_capacity(crawl: Crawl, host: Host, now: float, ends: float) -> int:
    """Visits that politeness leaves room for."""
    begins = max(now, ready_at(host))
    if host.robots_status == CLOSED_STATUS and not host.robots_body:
        begins = max(begins, host.robots_until)
    if begins >= ends:
        return 0
    delay = effective_delay(host, crawl.project.pace)
    jittered = delay * (1.0 + crawl.project.pace.jitter / 2)
    if ends == np.inf or jittered <= 0:
        return 1 << 31
    return int((ends - begins) / jittered) + 1


def host_success(host: Host) -> float:
    """The share of a host's visits that are answered, as its recent faults suggest."""
    return float(0.99 * 0.5 ** min(host.fails, 6))
