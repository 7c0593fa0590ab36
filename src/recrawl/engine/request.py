"""The request of a visit: conditional headers, route, and caps that the budget can bear."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from recrawl.engine.crawl import Crawl, Planned, RobotsCheck
from recrawl.model import Address, Host, Limits, Page, Purpose, Request, WireCost
from recrawl.observe.record import comparable

ROBOTS_BODY = 5_000_000  # 500 KiB are read (RFC 9309 2.5); a longer file is asked for whole
TIGHT_HEAD = 8_192
SMALLEST_NEW = 65_536  # a page never read isn't worth asking for with less room than this
COMFORTABLE_NEW = 262_144
HANDSHAKE = 10_000  # TLS 1.3 with a long chain, or a proxy's CONNECT, both ways
OVERSHOOT = 16_384  # what a socket buffer may hold when a body is cut off at its cap


def build_request(crawl: Crawl, host: Host, item: Planned | RobotsCheck) -> Request:
    """The request as the project's limits allow it; `affordable` gives tighter ones."""
    project = crawl.project
    if isinstance(item, RobotsCheck):
        return Request(
            item.url,
            limits=replace(project.limits, body=ROBOTS_BODY, decoded=ROBOTS_BODY * 4),
            route=route_of(crawl, host, "/robots.txt", Purpose.ROBOTS),
            private_ok=private_ok(crawl, item.url),
        )
    page = item.page
    headers = conditional_headers(page) if item.conditional else ()
    if not comparable(page, project.specs[page.page_type]):
        headers = ()  # a 304 would leave the page unread by the rules now in force
    route = route_of(crawl, host, page.path, item.purpose)
    asks = project.mode_headers.get((route, mode_of(crawl, item)))
    return Request(
        host.origin + page.path,
        (*headers, asks) if asks else headers,
        project.limits,
        route,
        private_ok(crawl, host.origin),
    )


def mode_of(crawl: Crawl, item: Planned | RobotsCheck) -> str:
    """How a visit is fetched, as tariffs name it."""
    return crawl.project.mode_of(item.page.page_type) if isinstance(item, Planned) else "plain"


def conditional_headers(page: Page) -> tuple[tuple[str, str], ...]:
    """The validators of the last full answer, verbatim (RFC 9110 13.1.2, 13.1.3).

    Only for a page with a base to compare with: a 304 must stand for something we hold.
    """
    headers = []
    if page.etag:
        headers.append(("If-None-Match", page.etag))
    if page.last_modified:
        headers.append(("If-Modified-Since", page.last_modified))
    return tuple(headers)


def route_of(crawl: Crawl, host: Host, path: str, purpose: Purpose) -> str:
    """The route that a visit of this host takes."""
    return crawl.project.route_of(Address(host.origin, path, path, 0), purpose)


def private_ok(crawl: Crawl, url: str) -> bool:
    """True where the project allows private addresses, or a seed named this host and port."""
    place = Address("/".join(url.split("/", 3)[:3]), "/", "/", 0)
    return crawl.project.private_ok or (place.hostname, place.port) in crawl.seed_places


def affordable(
    crawl: Crawl, host: Host, request: Request, item: Planned | RobotsCheck
) -> Iterator[Request]:
    """The request with ever tighter caps on its body, so that a small budget can bear the worst.

    While others are under way only comfortable caps are offered: what they don't use comes back.
    A page that is cut off at a cap all the same is asked for with more room the next time.
    """
    if isinstance(item, RobotsCheck):
        yield request
        yield with_body(request, SMALLEST_NEW)
        return
    # What was affordable last time is about where to begin: most visits are asked for once.
    cap = min(float(request.limits.body), 2 * crawl.window.cap) if crawl.window else 0.0
    if cap >= request.limits.body:
        yield request
        cap = request.limits.body / 2
    least = smallest_body(crawl, host, item.page, request.limits)
    if crawl.flights:
        known, body = item.page.body > 0, _retried_body(crawl, host, item.page)
        comfortable = max(SMALLEST_NEW, 4 * body) if known else max(COMFORTABLE_NEW, 16 * body)
        least = int(min(comfortable, request.limits.body))
    while cap > least:
        yield with_body(request, int(cap))
        cap /= 2
    yield with_body(request, least)


def smallest_body(crawl: Crawl, host: Host, page: Page, limits: Limits) -> int:
    """The tightest cap on its body that a page is asked for with."""
    body = _retried_body(crawl, host, page)
    return int(min(1.25 * body if page.body > 0 else max(SMALLEST_NEW, 2 * body), limits.body))


def _retried_body(crawl: Crawl, host: Host, page: Page) -> float:
    """Its expected bytes; more after each failure, lest it was the cap that cut it off."""
    return expected_body(crawl, host, page) * 4.0**page.fails


def with_body(request: Request, body: int) -> Request:
    """The request with a tight cap on its body and its head."""
    limits = request.limits
    return replace(
        request,
        limits=replace(limits, body=min(body, limits.body), head=min(TIGHT_HEAD, limits.head)),
    )


def expected_body(crawl: Crawl, host: Host, page: Page) -> float:
    """Bytes of a full answer: the page's own, else its group's mean."""
    return page.body or crawl.sizes.group_body(host.host_id, page.page_type)


def worst_cost(request: Request) -> WireCost:
    """The most that one exchange can transfer within its limits, handshake included."""
    headers = sum(len(k) + len(v) + 4 for k, v in request.headers)
    extra = HANDSHAKE if request.url.startswith("https:") or request.route != "direct" else 0
    limits = request.limits
    return WireCost(
        up=len(request.url) + headers + 1024 + extra // 4,
        down=limits.body + limits.body // 8 + limits.head + OVERSHOOT + extra,
        seconds=limits.total,
        connects=1,
        source="reserved",
    )
