"""why(url): every number behind a page's next visit, so that it can be worked out by hand."""

from __future__ import annotations

import json
import math
from collections.abc import Callable, Mapping

import numpy as np

from recrawl.engine.crawl import Crawl
from recrawl.engine.scheme import gaps_of, scheme_of, units_of
from recrawl.engine.unaffordable import need_of
from recrawl.engine.why import Why, answer
from recrawl.frontier.politeness import ready_at
from recrawl.frontier.robots import Access, access
from recrawl.learn.interval import gamma_interval
from recrawl.model import HOT, Address, Entry, Host, Page, Refusal, State, hot_row
from recrawl.plan.appraise import Appraisal, Scheme, appraise
from recrawl.plan.cost import chance_of_success
from recrawl.plan.due import due_time
from recrawl.poisson import Floats
from recrawl.units import DAY, Unit


def explain(
    crawl: Crawl,
    url: str,
    page: Page | None,
    history: list[Entry],
    bars: Mapping[Unit, float],
    now: float,
) -> Why:
    """Everything about one URL. `page`: its row in the store; `bars`: of the last plan."""
    found = crawl.project.normalizer.normalize(url)
    if isinstance(found, Refusal):
        detail = f" ({found.detail})" if found.detail else ""
        return Why(
            url, "", known=False, answer=f"no page can have this address: {found.reason}{detail}"
        )
    host = crawl.by_origin.get(found.origin)
    if host is None or page is None:
        return Why(url, found.canonical, known=False, answer=_unknown(crawl, found, host))
    why = Why(url, found.canonical, known=True, answer="")
    _describe(why, crawl, host, page, history, now)
    _price(why, crawl, page, bars, now)
    why.unaffordable = str(need_of(crawl, host, page) or "")
    why.answer = answer(why, host, page, now)
    return why


def bars_of(meta: Mapping[str, str]) -> dict[Unit, float]:
    """What the last unit of each cap bought in the last plan (0: the cap didn't bind)."""
    return {Unit(unit): float(bar) for unit, bar in json.loads(meta.get("bars") or "{}").items()}


def find_page(crawl: Crawl, url: str) -> tuple[int, int] | None:
    """The (host_id, key) that a URL has, or None where its host isn't known."""
    found = crawl.project.normalizer.normalize(url)
    if isinstance(found, Refusal):
        return None
    host = crawl.by_origin.get(found.origin)
    return (host.host_id, found.key) if host is not None else None


def _unknown(crawl: Crawl, address: Address, host: Host | None) -> str:
    reason = crawl.project.gate.check(
        address,
        depth=0,
        hops=0,
        host_pages=host.n_pages if host is not None else 0,
        total_pages=crawl.mirror.n,
        seed=False,
    )
    if reason is not None:
        return f"not a page of this project: {reason}"
    return "not known yet: no page that was read links to it; add it to `seeds` to have it visited"


def _describe(
    why: Why, crawl: Crawl, host: Host, page: Page, history: list[Entry], now: float
) -> None:
    why.state = page.state.word
    why.page_type = crawl.project.sites.types[page.page_type].name
    why.value, why.depth = page.value, page.depth
    why.last_read = page.last or None
    why.last_attempt = page.last_attempt or None
    why.retry_at = page.retry_at or None
    why.visits, why.changes, why.not_modified = page.n_visits, page.n_changes, page.n_not_modified
    why.fails, why.target = page.fails, page.target
    why.host_ready = ready_at(host)
    why.robots = _robots(crawl, host, page, now)
    why.history = [
        {
            "t": e.t, "purpose": e.purpose.word, "verdict": e.verdict.word, "status": e.status,
            "bytes": e.up + e.down, "predicted": e.predicted, "score": e.score,
            "evidence": e.evidence,
        }
        for e in history
    ]  # fmt: skip


def _robots(crawl: Crawl, host: Host, page: Page, now: float) -> str:
    if not crawl.project.obey_robots:
        return "not asked (respect_robots = false)"
    may = access(host, now)
    if may is Access.RULES:
        return "allowed" if crawl.robots_of(host).allows(page.path) else "forbidden"
    return {
        Access.ASK: "to be read first",
        Access.OPEN: "no rules",
        Access.CLOSED: "can't be read: nothing is fetched",
    }[may]


def _price(why: Why, crawl: Crawl, page: Page, bars: Mapping[Unit, float], now: float) -> None:
    """Belief, gain, price, score and due time, by the same code as the plan, in float64."""
    _belief(why, crawl, page)
    units = units_of(crawl)
    binding = max(units, key=lambda u: bars.get(u, 0.0))
    top = bars.get(binding, 0.0)
    weights = [bars.get(u, 0.0) / top if top > 0 else float(u is binding) for u in units]
    per_price = crawl.project.policy.per_price
    scheme = scheme_of(crawl, units, now, math.inf)
    row = np.array([hot_row(page)], HOT)

    def looked_at(t: float) -> tuple[Appraisal, Floats, Floats]:
        """All of it at `t`, with the price in the binding cap's unit and the score."""
        seen = appraise(row, t, scheme, np.float64)
        price = sum((w * c.price for w, c in zip(weights, seen.costs, strict=True)), np.zeros(1))
        return seen, price, seen.gain / price if per_price else seen.gain

    seen, price, score = looked_at(now)
    why.policy, why.interval, why.horizon = scheme.policy.name, page.interval, scheme.horizon
    why.unit, why.bar = binding.value, top
    why.weights = {u.value: w for u, w in zip(units, weights, strict=True)}
    why.gain, why.price, why.score = float(seen.gain[0]), float(price[0]), float(score[0])
    _quotes(why, scheme, row, seen)
    own = why.caps[units.index(binding)]
    why.full_cost, why.not_modified_cost = own["full"], own["not_modified"]
    why.failed_cost, why.expected_cost = own["failed"], own["expected"]
    success = scheme.hosts.success[page.host_id]
    why.chance_success = float(chance_of_success(success, page.fails))
    if page.last:
        why.tau = float(seen.tau[0])
        why.chance_stale = float(seen.chance_changed()[0])
        _due(why, crawl, page, lambda tau: looked_at(page.last + float(tau[0]))[2])


def _quotes(why: Why, scheme: Scheme, row: np.ndarray, seen: Appraisal) -> None:
    """What a visit costs in the unit of each cap."""
    for unit, cost in zip(scheme.units, seen.costs, strict=True):
        quoted = scheme.prices.quote(unit, row["host_id"], row["page_type"], row["body"])
        why.caps.append(
            {
                "unit": unit.value,
                "weight": why.weights[unit.value],
                "full": float(quoted.full[0]),
                "not_modified": float(quoted.unchanged[0]),
                "failed": float(quoted.failed[0]),
                "expected": float(cost.expected[0]),
                "price": float(cost.price[0]),
            }
        )


def _belief(why: Why, crawl: Crawl, page: Page) -> None:
    group = page.host_id, page.page_type
    prior = crawl.prior.belief(*group)
    a, b = crawl.prior.of_page(page.a, page.b, *group)
    why.shape, why.scale = a, b
    why.rate_per_day = a / b * DAY
    low, high = gamma_interval(a, b, 0.9)
    why.rate_low, why.rate_high = low * DAY, high * DAY
    why.group_rate_per_day = prior[0] / prior[1] * DAY
    if page.last and (page.etag or page.last_modified):
        own = crawl.validators.of_page(page.va, page.vb, *group)
        why.validator_shape, why.validator_scale = own


def _due(why: Why, crawl: Crawl, page: Page, score: Callable[[Floats], Floats]) -> None:
    """When the score reaches the bar, within min_gap and the floor (max_gap)."""
    low, high = gaps_of(crawl.project)
    kind = page.page_type
    least, most = (g if isinstance(g, float | int) else float(g[kind]) for g in (low, high))
    if why.bar > 0:
        wait = float(due_time(score, 1, why.bar)[0])
        why.too_fast = math.isinf(wait)
    elif crawl.project.budget.caps:  # the budget reaches for every page
        wait = least
    else:
        return
    wait = max(wait, least)
    if page.state is State.LIVE:
        wait = min(wait, most)
    why.due = max(page.last + wait, page.retry_at)
