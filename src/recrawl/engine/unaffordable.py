"""Pages that no cap can ever pay for: their worst case, as small as it is made, is above a cap."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from recrawl.engine.crawl import Crawl, Planned, RobotsCheck
from recrawl.engine.request import (
    SMALLEST_NEW,
    build_request,
    mode_of,
    route_of,
    smallest_body,
    with_body,
    worst_cost,
)
from recrawl.model import Host, Page, Purpose, Request, State
from recrawl.plan.budget import Cap
from recrawl.units import Spend, format_amount

STEPS = 24  # of halving: to the byte, for any cap on bodies below 16 MB


@dataclass(frozen=True, slots=True)
class Need:
    """What a visit must be able to take, and the cap whose whole period has less."""

    worst: Spend
    cap: Cap

    def __str__(self) -> str:
        need = format_amount(self.cap.unit, self.worst.get(self.cap.unit))
        return f"needs {need} a visit; the cap is {self.cap}"


def need_of(crawl: Crawl, host: Host, page: Page) -> Need | None:
    """What no cap covers of a page, or of the robots.txt that is read before it; else None."""
    item = Planned(page, Purpose.BEST_BUY)
    request = build_request(crawl, host, item)
    least = smallest_body(crawl, host, page, request.limits)
    mode = mode_of(crawl, item)
    return _robots(crawl, host) or _short(crawl, with_body(request, least), mode)


def beyond_caps(crawl: Crawl) -> NDArray[np.intp]:
    """Rows of the mirror that no cap can ever pay for, the dearest first.

    Pages that are live or not read yet. A row doesn't hold its address, which is left out of the
    worst case: a page within its length of a cap may be missing here.
    """
    rows, most = crawl.mirror.rows, float(crawl.project.limits.body)
    rooms = _rooms(crawl)
    if not _caps(crawl) or rooms.min(initial=most) >= most:
        return np.zeros(0, np.intp)
    asked = np.flatnonzero(np.isin(rows["state"], (State.NEW, State.LIVE)))
    host, kind = rows["host_id"][asked], rows["page_type"][asked]
    known = rows["body"][asked].astype(np.float64)
    body = crawl.sizes.expected_body(host, kind, known) * 4.0 ** rows["fails"][asked]
    least = np.where(known > 0, 1.25 * body, np.maximum(SMALLEST_NEW, 2 * body))
    browser = np.array([mode != "plain" for mode in crawl.project.modes] or [False])
    column = browser[np.minimum(kind, browser.size - 1)].astype(np.intp)
    least = np.floor(np.minimum(least, most))
    over = np.flatnonzero(least > rooms[host, column])
    out: NDArray[np.intp] = asked[over[np.argsort(-least[over], kind="stable")]]
    return out


def _rooms(crawl: Crawl) -> NDArray[np.float64]:
    """The largest body that the caps bear, [host_id, by browser]; -1 = none at all.

    By the route that a host's pages usually take.
    """
    out = np.full((max(crawl.hosts, default=0) + 1, 2), np.inf)
    found: dict[tuple[str, str, bool], list[float]] = {}
    for host in crawl.hosts.values():
        route = route_of(crawl, host, "/", Purpose.BEST_BUY)
        asked = route_of(crawl, host, "/robots.txt", Purpose.ROBOTS)
        like = (route, asked, host.origin.startswith("https:"))
        if like not in found:
            known = crawl.project.tariff_of(route).credits
            modes = ("plain", "browser" if "browser" in known else "plain")
            found[like] = [_room(crawl, host, route, mode) for mode in modes]
        out[host.host_id] = found[like]
    rooms: NDArray[np.float64] = np.floor(out)
    return rooms


def _room(crawl: Crawl, host: Host, route: str, mode: str) -> float:
    """The largest body whose worst case all caps bear, by halving."""
    if _robots(crawl, host) is not None:
        return -1.0
    widest = Request(host.origin, (), crawl.project.limits, route)
    low, high = -1.0, float(widest.limits.body)
    if _short(crawl, with_body(widest, int(high)), mode) is None:
        return high
    for _ in range(STEPS):
        middle = (low + high) / 2
        fits = middle >= 0 and _short(crawl, with_body(widest, int(middle)), mode) is None
        low, high = (middle, high) if fits else (low, middle)
    return low


def _robots(crawl: Crawl, host: Host) -> Need | None:
    """What no cap covers of a host's robots.txt."""
    if not crawl.project.obey_robots:
        return None
    request = build_request(crawl, host, RobotsCheck(f"{host.origin}/robots.txt"))
    return _short(crawl, with_body(request, SMALLEST_NEW), "plain")


def _short(crawl: Crawl, request: Request, mode: str) -> Need | None:
    """The first cap that is less than the worst case of a request, over its whole period."""
    tariff = crawl.project.tariff_of(request.route)
    worst = tariff.worst(worst_cost(request), mode, crawl.most_told(tariff))
    over = (cap for cap in _caps(crawl) if worst.get(cap.unit) > cap.amount)
    cap = next(over, None)
    return Need(worst, cap) if cap is not None else None


def _caps(crawl: Crawl) -> tuple[Cap, ...]:
    return (*crawl.project.budget.caps, *crawl.project.totals)


@dataclass(frozen=True, slots=True)
class Unaffordable:
    """How many pages no cap can ever pay for, and what the dearest of them need."""

    pages: int = 0
    named: tuple[tuple[str, Need], ...] = ()  # (URL, need)

    def as_dict(self) -> dict[str, Any]:
        """For --json; amounts in the smallest part of the cap's unit."""
        return {
            "pages": self.pages,
            "named": [
                {
                    "url": url,
                    "unit": need.cap.unit.value,
                    "needs": need.worst.get(need.cap.unit),
                    "cap": need.cap.amount,
                    "period": need.cap.period,
                }
                for url, need in self.named
            ],
        }


def unaffordable(
    crawl: Crawl, load: Callable[[Sequence[tuple[int, int]]], list[Page]], most: int = 3
) -> Unaffordable:
    """Count them, and name the dearest `most`. `load`: (host_id, key) -> the store's rows."""
    rows, over = crawl.mirror.rows, beyond_caps(crawl)
    dearest = rows[over[:most]]
    keys = list(zip(dearest["host_id"].tolist(), dearest["key"].tolist(), strict=True))
    named = []
    for page in load(keys):
        host = crawl.hosts[page.host_id]
        need = need_of(crawl, host, page)
        if need is not None:
            named.append((host.origin + page.path, need))
    return Unaffordable(int(over.size), tuple(named))
