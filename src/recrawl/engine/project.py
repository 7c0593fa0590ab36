"""What a crawl is asked to do, as the engine needs it: every stage's rules, already checked."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from recrawl.extract.fields import FieldSpec
from recrawl.frontier.admit import Gate
from recrawl.frontier.politeness import PaceRules
from recrawl.frontier.queues import Order
from recrawl.model import Address, Limits, Purpose
from recrawl.plan.budget import Budget, Cap
from recrawl.plan.reserves import Shares
from recrawl.plan.tariff import Tariff
from recrawl.plan.view import Policy
from recrawl.units import DAY, HOUR, MINUTE, WEEK
from recrawl.urls.canonical import Normalizer
from recrawl.urls.match import SiteMatcher, SiteRule


@dataclass(frozen=True, slots=True)
class Timing:
    """How the calendar bounds the plan; all in seconds."""

    min_gap: float = 10 * MINUTE  # no page is bought sooner than this after its last reading
    max_gap: float = 90 * DAY  # the floor: no live page waits longer, re-estimation pays
    horizon: float = 30 * DAY  # over which a page never read is priced
    retry_base: float = 4 * HOUR  # a failed page waits base x 2^k
    retry_cap: float = WEEK
    recheck: float = WEEK  # gone, moved and refused pages: base of a doubling wait
    recheck_cap: float = 60 * DAY
    confirm: float = HOUR  # a first 404 is asked again after this


@dataclass(frozen=True, slots=True)
class Project:
    """A crawl's rules. `specs` is aligned with `sites.types` (fields by page type).

    `mode_headers`: the header by which a request of (route, mode) asks for that mode.
    """

    seeds: tuple[str, ...]
    agent: str  # product token that robots.txt rules are matched with
    normalizer: Normalizer
    gate: Gate
    sites: SiteMatcher
    policy: Policy
    budget: Budget
    specs: tuple[Mapping[str, FieldSpec], ...] = ({},)
    tariffs: Mapping[str, Tariff] = field(default_factory=dict)  # by route name
    pace: PaceRules = field(default_factory=PaceRules)
    order: Order = Order.FIFO
    shares: Shares = field(default_factory=Shares)
    timing: Timing = Timing()
    limits: Limits = field(default_factory=Limits)
    concurrency: int = 64  # exchanges under way in all
    totals: tuple[Cap, ...] = ()  # caps of the whole project, over all runs
    default_route: str = "direct"
    site_routes: Mapping[str, Mapping[Purpose | None, str]] = field(default_factory=dict)
    mode_headers: Mapping[tuple[str, str], tuple[str, str]] = field(default_factory=dict)
    private_ok: bool = False
    obey_robots: bool = True
    honour_nofollow: bool = True
    confirmations: int = 2  # 404 answers before a page is gone; 410 needs one
    mass_gone: float = 0.5  # share of a host's answers in a window that are 404: not believed

    def route_of(self, address: Address, purpose: Purpose) -> str:
        """Which route a visit takes, by site and purpose."""
        if not self.site_routes:
            return self.default_route
        rule = self.sites.classify(address)[2]
        routes = self.site_routes.get(rule.match) if rule is not None else None
        if routes is None:
            return self.default_route
        return routes.get(purpose) or routes.get(None) or self.default_route

    def tariff_of(self, route: str) -> Tariff:
        """The tariff of a route; a route without one costs bytes and no money."""
        return self.tariffs.get(route) or self.tariffs[self.default_route]

    @property
    def modes(self) -> tuple[str, ...]:
        """How pages are fetched, by page type; empty where all are plain."""
        modes = tuple(kind.mode for kind in self.sites.types)
        return modes if set(modes) != {"plain"} else ()

    def mode_of(self, page_type: int) -> str:
        """How pages of a type are fetched."""
        types = self.sites.types
        return types[page_type].mode if page_type < len(types) else "plain"

    def classify(self, address: Address) -> tuple[int, float, SiteRule | None]:
        """Page type, value and the site rule of an address."""
        return self.sites.classify(address)
