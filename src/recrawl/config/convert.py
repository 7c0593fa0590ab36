"""A checked document -> Settings."""

from __future__ import annotations

from pathlib import Path

from recrawl import __version__
from recrawl.config import document as d
from recrawl.config import settings as s
from recrawl.config.places import scope_of
from recrawl.model import Purpose, Verdict
from recrawl.units import MICRO, Unit
from recrawl.urls.match import PageType, SiteMatcher, SiteRule

_UNPAID = {Verdict.BLOCKED, Verdict.SOFT_ERROR, Verdict.FAILED}


def convert(doc: d.Document, path: Path) -> s.Settings:
    """Plain values; paths are relative to the file's folder."""
    sites = tuple(_site(site) for site in doc.site)
    types = _page_types(sites)
    return s.Settings(
        path=path,
        project=_project(doc.project),
        budget=_budget(doc.budget),
        tariffs=tuple(_tariff(name, tariff) for name, tariff in doc.tariff.items()),
        routes=tuple(
            s.RouteSettings(
                name, route.proxy, route.credentials_env, route.tariff, route.browser_header
            )
            for name, route in doc.route.items()
        ),
        limits=_limits(doc.limits),
        politeness=s.PolitenessSettings(
            doc.politeness.delay,
            doc.politeness.concurrency,
            doc.politeness.total_concurrency,
            doc.politeness.jitter,
        ),
        urls=_urls(doc.urls),
        sites=sites,
        page_types=tuple(t.name for t in types),
        page_modes=tuple(t.mode for t in types),
        policies=_policies(doc.policy),
        store=path.parent / Path(doc.store.path).expanduser(),
    )


def _project(p: d.Project) -> s.ProjectSettings:
    about = f" (+{p.contact})" if p.contact else ""
    return s.ProjectSettings(
        name=p.name,
        contact=p.contact or "",
        goal=p.goal,
        policy=p.policy,
        seeds=p.seeds,
        scope=p.scope or tuple(dict.fromkeys(host for seed in p.seeds for host in scope_of(seed))),
        allow_private=p.allow_private,
        order=p.order,
        user_agent=p.user_agent or f"recrawl/{__version__}{about}",
        honour_nofollow=p.honour_nofollow,
        respect_robots=p.respect_robots,
    )


def _budget(b: d.Budget) -> s.BudgetSettings:
    return s.BudgetSettings(
        per_run=b.per_run,
        per_hour=b.per_hour,
        per_day=b.per_day,
        per_week=b.per_week,
        per_month=b.per_month,
        reset_day=b.reset_day,
        window=b.window,
        min_gap=b.min_gap,
        max_gap=b.max_gap,
        discovery=b.reserves.discovery,
        reestimation=b.reserves.reestimation,
        verification=b.reserves.verification,
    )


def _tariff(name: str, t: d.Tariff) -> s.TariffSettings:
    """Defaults: credits are billed for answers only, everything else for every visit."""
    unit = d.UNITS[t.unit or "bytes"]
    counted = unit in (Unit.CREDITS, Unit.FETCHES)
    smallest = MICRO if unit is Unit.CREDITS else 1
    if t.charged_on is not None:
        charged = {v for v in Verdict if v.word in t.charged_on}
    else:
        charged = set(Verdict) - (_UNPAID if unit is Unit.CREDITS else set())
    return s.TariffSettings(
        name=name,
        unit=unit,
        price_micro_usd=t.price[0] if t.price else 0,
        price_per=t.price[2] if t.price else 1,
        plain=round((t.each.plain if t.each else 1.0) * smallest) if counted else 0,
        browser=round((t.each.browser or 0.0) * MICRO) if t.each else 0,
        charge_header=t.charge_header.lower(),
        charge_max=round((t.charge_max or 0.0) * MICRO),
        charged_on=tuple(sorted(charged | {Verdict.UNKNOWN})),
    )


def _limits(x: d.Limits) -> s.LimitSettings:
    caps = (x.bytes, x.money, x.credits, x.fetches, x.time)
    return s.LimitSettings(
        depth=x.depth,
        per_host=x.per_host,
        pages=x.pages,
        caps=tuple(cap for cap in caps if cap is not None),
        url_length=x.url_length,
        body=x.body,
        decoded=x.decoded,
        connect_time=x.connect_time,
        first_byte_time=x.first_byte_time,
        total_time=x.total_time,
    )


def _urls(u: d.Urls) -> s.UrlSettings:
    return s.UrlSettings(
        profile=u.profile,
        tracking_add=u.tracking.add,
        tracking_keep=u.tracking.keep,
        unsorted_hosts=u.unsorted_hosts,
        include=u.include,
        exclude=u.exclude,
    )


def _policies(p: d.Policy) -> s.PolicySettings:
    return s.PolicySettings(
        backoff_start=p.backoff.start,
        backoff_longer=p.backoff.longer,
        backoff_shorter=p.backoff.shorter,
        backoff_floor=p.backoff.floor,
        backoff_ceiling=p.backoff.ceiling,
        class_intervals=p.classes.intervals,
    )


def _site(site: d.Site) -> s.SiteSettings:
    low, high = site.between or (None, None)
    return s.SiteSettings(
        match=site.match or "",
        type=site.type,
        value=site.value,
        fields=site.fields,
        route=site.route,
        routes=tuple((Purpose[word.upper()], route) for word, route in site.routes.items()),
        tariff=site.tariff,
        mode=site.mode,
        min_gap=low,
        max_gap=high,
    )


def _page_types(sites: tuple[s.SiteSettings, ...]) -> tuple[PageType, ...]:
    rules = [
        SiteRule(x.match, x.type, x.value, dict(x.fields), None, x.min_gap, x.max_gap, x.mode)
        for x in sites
    ]
    return SiteMatcher(rules).types
