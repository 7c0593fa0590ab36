"""What one visit teaches: the page's two rates, its group's, and the size of its answers."""

from __future__ import annotations

import numpy as np

from recrawl.engine.crawl import Crawl
from recrawl.model import Host, Kind, Observation, Outcome, Page, Verdict, Visit

FIXED_LINES = 250  # bytes of request and status lines, Host, User-Agent, Accept-Encoding


def learn(
    crawl: Crawl,
    host: Host,
    page: Page,
    visit: Visit,
    observation: Observation,
    outcome: Outcome,
    now: float,
) -> None:
    """Move the beliefs of a page whose content is now known (before its `last` moves).

    Nothing is learned of rates from a first reading, nor from an outcome that says nothing of
    the content. Only answers to conditional requests speak of the validator.
    """
    verdict = observation.verdict
    if outcome.kind is Kind.CAPPED:
        page.body = max(page.body, declared_length(outcome))
    if not verdict.is_reading:
        return
    _size(crawl, host, page, visit, outcome)
    tau = now - page.last
    if verdict is Verdict.NEW or not page.last or tau <= 0:
        return
    group = (page.host_id, page.page_type)
    changed = verdict is Verdict.CHANGED
    if crawl.keeper is not None:
        intervals = crawl.keeper.after(np.array([page.interval]), np.array([changed]))
        page.interval = float(intervals[0])
    page.a, page.b = crawl.prior.after(page.a, page.b, group, tau, changed)
    crawl.prior.observe(*group, tau, changed, page.n_visits)
    if visit.request.conditional:
        host.n_validator += 1
        kept = verdict is Verdict.NOT_MODIFIED
        host.n_304 += kept
        # The group learns first: a page whose belief began at the default of 50 days would need
        # hundreds of visits to see that its validator moves from hour to hour.
        crawl.validators.observe(*group, tau, not kept, page.n_visits)
        page.va, page.vb = crawl.validators.after(page.va, page.vb, group, tau, not kept)


def declared_length(outcome: Outcome) -> float:
    """What an answer that was cut off said of its size, 0.0 where it said nothing: the next visit
    asks for that much room.
    """
    said = outcome.header("content-length") or ""
    return float(said) if said.isdecimal() and len(said) < 13 else 0.0


def _size(crawl: Crawl, host: Host, page: Page, visit: Visit, outcome: Outcome) -> None:
    cost, handshake = outcome.cost, handshake_bytes(visit, outcome)
    _learn_size(crawl, page, outcome, handshake)
    if cost.connects:
        host.handshake = crawl.sizes.handshake(host.host_id)


def _learn_size(crawl: Crawl, page: Page, outcome: Outcome, handshake: float) -> None:
    cost = outcome.cost
    if outcome.kind is Kind.NOT_MODIFIED:
        crawl.sizes.observe_not_modified(page.host_id, cost, handshake)
        return
    page.body = crawl.sizes.page_body(
        page.body, max(cost.bytes - handshake, 1.0), page.host_id, page.page_type
    )
    crawl.sizes.observe(page.host_id, page.page_type, cost, handshake)


def handshake_bytes(visit: Visit, outcome: Outcome) -> float:
    """What the exchange's new connections cost beyond the exchange itself; 0 on a warm one.

    The exchange is known to the byte from its head and body, but for the fixed request lines.
    """
    if not outcome.cost.connects or not has_handshake(visit.request.url, visit.request.route):
        return 0.0
    sent = len(visit.request.url) + sum(len(k) + len(v) + 4 for k, v in visit.request.headers)
    received = sum(len(k) + len(v) + 4 for k, v in outcome.headers) + len(outcome.wire_body)
    return max(0.0, float(outcome.cost.bytes - sent - received - FIXED_LINES))


def has_handshake(url: str, route: str) -> bool:
    """True where a new connection takes more than TCP's own: TLS, or a proxy's preamble."""
    return url.startswith("https:") or route.partition("/")[0] != "direct"
