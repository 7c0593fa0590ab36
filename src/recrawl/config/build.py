"""Settings -> the engine's Project and the routes of its fetcher: where names become objects."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from recrawl.config.settings import Settings, SiteSettings, TariffSettings
from recrawl.engine.project import Project, Timing
from recrawl.extract.fields import FieldSpec
from recrawl.fetch.routes import Route
from recrawl.frontier.admit import AdmitLimits, Gate, Scope
from recrawl.frontier.politeness import PaceRules
from recrawl.frontier.queues import Order
from recrawl.model import Limits, Purpose
from recrawl.plan.budget import Budget
from recrawl.plan.budget import Cap as BudgetCap
from recrawl.plan.policies import get_policy
from recrawl.plan.policies.backoff import Backoff
from recrawl.plan.policies.classes import Classes
from recrawl.plan.reserves import Shares
from recrawl.plan.tariff import Tariff
from recrawl.plan.view import Policy
from recrawl.units import MICRO, Unit
from recrawl.urls.canonical import Normalizer, Profile
from recrawl.urls.match import SiteMatcher, SiteRule
from recrawl.urls.patterns import PatternSet
from recrawl.urls.tracking import TrackingRules

DIRECT = "direct"


def project_of(settings: Settings) -> Project:
    """The rules of a crawl. Settings are checked already: nothing here can fail."""
    s = settings
    sites = SiteMatcher([_rule(site) for site in s.sites])
    scope = Scope([*s.project.scope, *sites.hosts()])
    limits = AdmitLimits(
        s.limits.depth, s.limits.per_host, s.limits.pages, s.limits.url_length,
        private_ok=s.project.allow_private,
    )  # fmt: skip
    return Project(
        seeds=s.project.seeds,
        agent=s.project.user_agent,
        normalizer=normalizer_of(settings),
        gate=Gate(limits, scope, PatternSet(s.urls.include, s.urls.exclude)),
        sites=sites,
        policy=policy_of(s, s.project.goal if s.project.policy == "index" else s.project.policy),
        budget=_budget(settings),
        totals=tuple(BudgetCap(cap.unit, cap.amount) for cap in s.limits.caps),
        specs=tuple(
            {name: FieldSpec.parse(text) for name, text in kind.fields.items()}
            for kind in sites.types
        ),
        tariffs=tariffs_of(settings),
        pace=PaceRules(s.politeness.delay, s.politeness.concurrency, s.politeness.jitter),
        order=Order(s.project.order),
        shares=Shares(s.budget.discovery, s.budget.reestimation, s.budget.verification),
        timing=Timing(s.budget.min_gap, s.budget.max_gap),
        limits=_limits(s),
        concurrency=s.politeness.total_concurrency,
        site_routes={site.match: _site_routes(site) for site in s.sites if _site_routes(site)},
        mode_headers=_mode_headers(s),
        private_ok=s.project.allow_private,
        obey_robots=s.project.respect_robots,
        honour_nofollow=s.project.honour_nofollow,
    )


def policy_of(settings: Settings, name: str) -> Policy:
    """The policy of that name with the project's options. Raises ValueError (get_policy)."""
    policy, o = get_policy(name), settings.policies
    if isinstance(policy, Classes):
        return replace(policy, intervals=o.class_intervals)
    if isinstance(policy, Backoff) and name == "backoff":  # the other is what a crawler ships
        return replace(
            policy,
            start=o.backoff_start,
            longer=o.backoff_longer or policy.longer,
            shorter=o.backoff_shorter or policy.shorter,
            floor=o.backoff_floor,
            ceiling_seconds=o.backoff_ceiling,
        )
    return policy


def normalizer_of(settings: Settings) -> Normalizer:
    """The normalizer with the project's tracking rules."""
    urls = settings.urls
    return Normalizer(
        Profile(urls.profile),
        TrackingRules.default().extended(urls.tracking_add, urls.tracking_keep),
        frozenset(urls.unsorted_hosts),
    )


def routes_of(settings: Settings) -> dict[str, Route]:
    """The ways to the web, the direct one and its dearer twins (a site's own tariff) included."""
    routes = {DIRECT: Route(DIRECT)}
    for route in settings.routes:
        routes[route.name] = Route(route.name, route.proxy, route.credentials_env)
    for site in settings.sites:
        if site.tariff and not site.route:
            routes[_twin(site.tariff)] = Route(_twin(site.tariff))
    return routes


def tariffs_of(settings: Settings) -> dict[str, Tariff]:
    """What each route bills."""
    by_name = {t.name: _tariff(t) for t in settings.tariffs}
    default = settings.default_tariff
    direct = by_name[default.name] if default is not None else Tariff("free")
    out = {DIRECT: direct}
    for route in settings.routes:
        out[route.name] = by_name[route.tariff] if route.tariff else direct
    for site in settings.sites:
        if site.tariff and not site.route:
            out[_twin(site.tariff)] = by_name[site.tariff]
    return out


def tariff_named(settings: Settings, name: str) -> Tariff:
    """The tariff of that name. Raises KeyError."""
    return {t.name: _tariff(t) for t in settings.tariffs}[name]


def _twin(tariff: str) -> str:
    return f"{DIRECT}/{tariff}"


def _site_routes(site: SiteSettings) -> Mapping[Purpose | None, str]:
    """Route by purpose; None = any other purpose."""
    out: dict[Purpose | None, str] = dict(site.routes)
    if site.route:
        out[None] = site.route
    elif site.tariff:
        out[None] = _twin(site.tariff)
    return out


def _limits(s: Settings) -> Limits:
    x = s.limits
    return Limits(
        body=x.body, decoded=x.decoded, connect=x.connect_time, first_byte=x.first_byte_time,
        total=x.total_time,
    )  # fmt: skip


def _mode_headers(s: Settings) -> dict[tuple[str, str], tuple[str, str]]:
    """How each route is asked for a mode."""
    return {(r.name, "browser"): r.browser_header for r in s.routes if r.browser_header}


def _rule(site: SiteSettings) -> SiteRule:
    return SiteRule(
        site.match, site.type, site.value, dict(site.fields), site.route, site.min_gap,
        site.max_gap, site.mode,
    )  # fmt: skip


def _budget(settings: Settings) -> Budget:
    caps = [
        BudgetCap(cap.unit, cap.amount, period, settings.budget.reset_day)  # type: ignore[arg-type] # the periods' names
        for period, named in settings.budget.by_period().items()
        for cap in named
    ]
    return Budget(tuple(caps), settings.budget.window)


def _tariff(t: TariffSettings) -> Tariff:
    """Prices are given per smallest part: credits and seconds are counted whole by the core."""
    whole = {Unit.CREDITS: MICRO, Unit.SECONDS: 1000}.get(t.unit, 1)
    price = t.price_micro_usd * whole / t.price_per if t.price_per else 0.0
    plain = t.plain / MICRO if t.unit is Unit.CREDITS and t.plain else 1.0
    charged = frozenset(t.charged_on)
    by_mode = {"plain": plain, **({"browser": t.browser / MICRO} if t.browser else {})}
    most = t.charge_max / MICRO
    return Tariff(t.name, t.unit, price, by_mode, charged, t.charge_header, most)
